"""The possible readings of the paper's synthetic experiment, run on the same data.

It is described in "Experimental Observations", data sets (i), and Table 1. The text leaves open the cluster sizes
(`size_readings`), how similarities were discretised (`ROUNDINGS`), how ties between pairs are broken (`TIES`), and in
which order records arrive in node ordering (`ARRIVALS`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial.distance import squareform

from crowder import validation
from crowder.datasets import synthetic
from crowder.models import SimilarityModel
from crowder.oracles import Truth
from crowder.orderings import edge_ordering, node_ordering
from crowder.pairs import candidates
from crowder.resolution import cluster_sizes
from crowder.similarity.functions import discretize

__all__ = [
    "ARRIVALS",
    "ROUNDINGS",
    "TIES",
    "chance_over_looks",
    "chance_together",
    "count_readings",
    "joint_score",
    "one_more_run",
    "select",
    "size_readings",
    "spread",
]

#: Reading of "discretized" -> rule of :func:`crowder.similarity.discretize`. Rounding down and up give pairs the same
#: order: the values differ by exactly one step, except at the multiples, which have probability 0.
ROUNDINGS: Mapping[str, str | None] = MappingProxyType({"as drawn": None, "nearest": "round", "down or up": "floor"})

#: Order of equally similar pairs: random; by the records' numbers, which are random; by the records' numbers if the
#: records are listed cluster by cluster.
TIES = ("random", "index", "index, listed")

#: Order of arrival in node ordering.
ARRIVALS: Mapping[str, str] = MappingProxyType({"expected size": "expected-size", "random": "random"})


def size_readings(listed: Sequence[int], records: int, clusters: int, rest: int = 10) -> dict[str, list[int]]:
    """Readings of a list of cluster sizes with more records than the paper states.

    Parameters
    ----------
    listed : sequence of int
        The sizes, in the order of the list.
    records, clusters : int
        The stated numbers.
    rest : int
        The size of "the rest of the clusters".

    Returns
    -------
    dict
        "first clusters": the first ones, up to the stated number; "whole list": all of them; "cut list": fewer clusters
        of the most frequent size, so that some of the stated records remain for the rest.

    Examples
    --------
    >>> {name: (sum(sizes), len(sizes)) for name, sizes in size_readings([6, 3, 3, 3, 2, 2], 15, 4, rest=1).items()}
    {'first clusters': (15, 4), 'whole list': (19, 6), 'cut list': (15, 6)}
    """
    listed = cluster_sizes(listed).tolist()
    if not listed or min(records, clusters, rest) < 1:
        raise ValueError(
            f"a list of sizes and positive numbers are needed, not {listed}, {records}, {clusters}, {rest}"
        )
    frequent = max(dict.fromkeys(listed), key=listed.count)
    cut = list(listed)
    while sum(cut) >= records and frequent in cut:
        cut.remove(frequent)
    cut += [rest] * ((records - sum(cut)) // rest)
    return {
        "first clusters": listed[:clusters],
        "whole list": listed,
        "cut list": cut,
    }


def select(**values: str) -> list[tuple[str, str, str]]:
    """The readings (rounding, ties, arrival) with the given values; similarities as drawn have no ties ("none").

    Examples
    --------
    >>> len(select()), select(rounding="as drawn")
    (14, [('as drawn', 'none', 'expected size'), ('as drawn', 'none', 'random')])
    """
    known = {"rounding": ROUNDINGS, "ties": TIES, "arrival": ARRIVALS}
    for key, value in values.items():
        if key not in known or value not in known[key]:
            raise ValueError(
                f"no reading has {key} = {value!r}; there are { ({k: list(v) for k, v in known.items()}) }"
            )
    every = [
        (rounding, ties, arrival)
        for rounding, rule in ROUNDINGS.items()
        for ties in (("none",) if rule is None else TIES)
        for arrival in ARRIVALS
    ]
    return [
        reading for reading in every
        if all(value in ("none", values.get(key, value)) for key, value in zip(known, reading, strict=True))
    ]  # fmt: skip


def count_readings(
    sizes: Sequence[int],
    model: SimilarityModel,
    *,
    rng,
    only: Sequence[tuple[str, str, str]] | None = None,
) -> list[dict]:
    """Draw one data set and count the questions of both heuristics under every reading.

    Parameters
    ----------
    sizes : sequence of int
        Cluster sizes.
    model : SimilarityModel
    rng : int or numpy.random.Generator, keyword only
        For similarities, the order of the records, ties and arrivals.
    only : sequence of tuple, keyword only
        The readings to count, from `select`; by default all.

    Returns
    -------
    list of dict
        ``rounding``, ``ties`` ("none" if no two values are equal), ``arrival`` ("none" for edge ordering),
        ``ordering`` and ``questions``.

    Notes
    -----
    At most 7 runs of edge ordering and 14 of node ordering. Each has a generator of its own, so its count does not
    depend on which others are made.

    Examples
    --------
    >>> from crowder.models import dist1
    >>> runs = count_readings([3, 2], dist1(0.3), rng=7)
    >>> len(runs), min(run["questions"] for run in runs) >= 4  # n - k + C(k, 2) = 4 is the least
    (21, True)
    """
    rng = validation.generator(rng, "similarities and ties")
    data = synthetic(sizes, model, rng=rng)
    shuffled = rng.permutation(data.n)
    wanted, found = set(select() if only is None else only), []
    generators = iter(rng.spawn(3 * len(select())))
    for rounding, ties in dict.fromkeys(reading[:2] for reading in select()):
        own = {arrival: next(generators) for arrival in (*ARRIVALS, "none")}
        arrivals = [arrival for arrival in ARRIVALS if (rounding, ties, arrival) in wanted]
        if not arrivals:
            continue
        values, labels = data.condensed, data.labels
        if ties == "index":
            values = squareform(data.similarity[np.ix_(shuffled, shuffled)], checks=False)
            labels = labels[shuffled]
        if ROUNDINGS[rounding] is not None:
            values = discretize(values, ROUNDINGS[rounding])
        pairs = candidates(values)  # checked, squared and summed once for all three runs
        rule, crowd = "random" if ties == "random" else "index", Truth(labels)  # as drawn, no two values are equal
        for arrival in (*arrivals, "none"):
            if arrival == "none":
                order = own[arrival].random(len(values)) if rule == "random" else rule
                run = edge_ordering(pairs, crowd, ties=order)
            else:
                run = node_ordering(pairs, crowd, rng=own[arrival], ties=rule, order=ARRIVALS[arrival])
            ordering = "edge" if arrival == "none" else "node"
            names = {"rounding": rounding, "ties": ties, "arrival": arrival, "ordering": ordering}
            found.append({**names, "questions": run.n_queries})
    return found


def spread(model: SimilarityModel, rounding: str, levels: int = 10) -> SimilarityModel:
    """A model that orders pairs as discretised similarities with random ties do.

    The mass of each atom is spread evenly over the values rounded to it. :func:`crowder.expected_queries` then applies
    to edge ordering, and to node ordering with random arrival.

    Parameters
    ----------
    model : SimilarityModel
    rounding : str
        A name in `ROUNDINGS`.
    levels : int
        Steps from 0 to 1.

    Examples
    --------
    >>> from crowder.models import dist2
    >>> blurred = spread(dist2(0.05), "down or up")  # only the first and last tenth tell the densities apart
    >>> blurred.hellinger2 < dist2(0.05).hellinger2
    True
    """
    if rounding not in ROUNDINGS:
        raise ValueError(f"unknown rounding {rounding!r}; expected one of {', '.join(ROUNDINGS)}")
    rule = ROUNDINGS[rounding]
    if rule is None:
        return model
    inner = np.arange(1, levels) / levels if rule == "floor" else (np.arange(levels) + 0.5) / levels
    edges = np.concatenate([[0.0], inner, [1.0]])
    heights = [np.diff(law.cdf(edges)) / np.diff(edges) for law in (model.green, model.red)]
    return SimilarityModel.from_steps(
        edges,
        *heights,
        name=f"{model.name}, {rounding}",
        epsilon=model.epsilon,
    )


def one_more_run(printed, mean, sd, runs: int, *, least: float = 1.0) -> np.ndarray:
    """Distances of printed counts from a reading, each treated as one more run: z = (printed - mean) / (s √(1 + 1/r)).

    Parameters
    ----------
    printed, mean, sd : array_like
        The printed counts; mean and standard deviation of one run, over `runs` runs.
    runs : int
        r, at least 2.
    least : float, keyword only
        Lower limit on the standard deviation: if all runs give the same count, a count that is off by one question is
        one unit away, not infinitely far.

    Examples
    --------
    >>> one_more_run([110, 5], [100, 5], [10, 0], 50).round(2)
    array([0.99, 0.  ])
    """
    if validation.whole(runs, "runs", least=1) < 2:
        raise ValueError(f"runs must be at least 2, not {runs}")
    away = np.asarray(printed, float) - np.asarray(mean, float)
    return away / (np.maximum(np.asarray(sd, float), least) * np.sqrt(1 + 1 / runs))


def chance_together(z, runs: int) -> float:
    """The probability that independent single runs are together so far off: Fisher's combination of their
    probabilities.

    Parameters
    ----------
    z : array_like
        From `one_more_run`; of the true reading they follow Student's t with runs - 1 degrees of freedom.
    runs : int
        Runs behind each.

    Examples
    --------
    >>> round(chance_together([2.0], 50), 4), round(chance_together([2.0] * 9, 50), 7)  # a single one; nine of them
    (0.0511, 2.16e-05)
    """
    logs = np.log(2) + stats.t.logsf(np.abs(np.asarray(z, float)), runs - 1)
    return float(stats.chi2.sf(-2 * logs.sum(), 2 * len(logs)))


def chance_over_looks(parts, runs: int, looks: int) -> float:
    """An upper bound on the probability that the true reading is, at some look, so far off in some part.

    Parameters
    ----------
    parts : sequence of array_like
        From `one_more_run`: the z of each heuristic. The parts may depend on each other.
    runs : int
        Runs behind each z at this look.
    looks : int
        How often the readings are looked at, each time with the runs so far.

    Examples
    --------
    >>> round(chance_over_looks([[2.0] * 9, [0.5] * 9], 50, 4), 6)  # eight times that of the worse part
    0.000173
    """
    return min(1.0, looks * len(parts) * min(chance_together(z, runs) for z in parts))


def joint_score(z, runs: int) -> pd.Series:
    """Summary of the distances of many printed counts.

    Parameters
    ----------
    z : array_like
        From `one_more_run`.
    runs : int
        Runs behind each.

    Returns
    -------
    pandas.Series
        ``rms``, the root mean square of z (about 1 if every count is one more run); ``worst``, the largest |z|;
        ``beyond``, how many |z| exceed 3; ``chance``, the probability that the largest |z| of so many independent runs
        is at least as large (Student's t with runs - 1 degrees of freedom).

    Examples
    --------
    >>> joint_score([0.5, -1.0, 4.0], 50).round(3).to_dict()
    {'rms': 2.398, 'worst': 4.0, 'beyond': 1.0, 'chance': 0.001}
    """
    z = np.abs(np.asarray(z, float))
    if not z.size or runs < 2:
        raise ValueError(f"at least one distance and 2 runs are needed, not {z.size} and {runs}")
    inside = 1 - 2 * stats.t.sf(z.max(), runs - 1)
    return pd.Series({
        "rms": np.sqrt(np.mean(z**2)), "worst": z.max(), "beyond": int((z > 3).sum()), "chance": 1 - inside ** z.size
    })  # fmt: skip
