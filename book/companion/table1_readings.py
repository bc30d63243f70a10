"""What the text of the paper's synthetic experiment leaves open, and every way to read it, run on the same data.

Section "Experimental Observations", data sets (i), and Table 1. Open are the cluster sizes (`size_readings`), how
similarities were brought to tenths (`ROUNDINGS`), which of two equally similar pairs comes first (`TIES`), and in which
order records arrive at node ordering (`ARRIVALS`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
import pandas as pd
from scipy import stats

from crowder import validation
from crowder.datasets import synthetic
from crowder.models import SimilarityModel
from crowder.oracles import Truth
from crowder.orderings import edge_ordering, node_ordering
from crowder.resolution import cluster_sizes
from crowder.similarity.functions import discretize

__all__ = [
    "ARRIVALS",
    "ROUNDINGS",
    "TIES",
    "count_readings",
    "joint_score",
    "one_more_run",
    "size_readings",
    "spread",
]

#: Reading of "discretized" to the rule of :func:`crowder.similarity.discretize`. Down and up put pairs in one and the
#: same order: all values but the multiples themselves, which have probability 0, differ by exactly one step.
ROUNDINGS: Mapping[str, str | None] = MappingProxyType({"as drawn": None, "nearest": "round", "down or up": "floor"})

#: Order of equally similar pairs: at random; by the records' numbers, which say nothing; by the records' numbers when
#: the records are listed cluster after cluster.
TIES = ("random", "index", "index, listed")

#: Order of arrival of node ordering.
ARRIVALS: Mapping[str, str] = MappingProxyType({"expected size": "expected-size", "random": "random"})


def size_readings(listed: Sequence[int], records: int, clusters: int, rest: int = 10) -> dict[str, list[int]]:
    """Ways to read a list of cluster sizes that holds more records than are announced.

    Parameters
    ----------
    listed : sequence of int
        The sizes, in the order of the list.
    records, clusters : int
        As announced.
    rest : int
        The size of "the rest of the clusters".

    Returns
    -------
    dict
        "first clusters": as many of the list as are announced; "whole list": all that are listed; "cut list": every
        listed size, but of the most frequent one only as many as leave some of the announced records for the rest.

    Examples
    --------
    >>> {name: (sum(sizes), len(sizes)) for name, sizes in size_readings([6, 3, 3, 3, 2, 2], 15, 4, rest=1).items()}
    {'first clusters': (15, 4), 'whole list': (19, 6), 'cut list': (15, 6)}
    """
    listed = cluster_sizes(listed).tolist()
    if not listed or min(records, clusters, rest) < 1:
        raise ValueError(f"needs a list of sizes and positive numbers, not {listed}, {records}, {clusters}, {rest}")
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


def count_readings(
    sizes: Sequence[int],
    model: SimilarityModel,
    *,
    rng,
    only: Mapping[str, str] | None = None,
) -> list[dict]:
    """Draw one data set and count both heuristics' questions under every reading of what follows.

    Parameters
    ----------
    sizes : sequence of int
        Cluster sizes.
    model : SimilarityModel
    rng : int or numpy.random.Generator, keyword only
        Draws the similarities and the order of the records, then breaks ties and draws arrivals.
    only : mapping, keyword only
        Keep the readings with these values, such as ``{"rounding": "as drawn", "arrival": "expected size"}``.

    Returns
    -------
    list of dict
        ``rounding``, ``ties`` (None where no two values are equal), ``arrival`` (None for edge ordering),
        ``ordering`` and ``questions``.

    Notes
    -----
    7 runs of edge ordering and 14 of node ordering, O(n² log n) each for n records.

    Examples
    --------
    >>> from crowder.models import dist1
    >>> runs = count_readings([3, 2], dist1(0.3), rng=7)
    >>> len(runs), min(run["questions"] for run in runs)  # n - k + C(k, 2) = 4 is the least
    (21, 4)
    """
    rng = validation.generator(rng, "similarities and ties")
    data = synthetic(sizes, model, rng=rng)
    order = rng.permutation(data.n)
    wanted, found = dict(only or {}), []
    known = {"rounding": ROUNDINGS, "ties": TIES, "arrival": ARRIVALS}
    for key, value in wanted.items():
        if key not in known or value not in known[key]:
            raise ValueError(
                f"no reading has {key} = {value!r}; there are { ({k: list(v) for k, v in known.items()}) }"
            )

    def run(similarity, labels, rounding, ties):
        by_index = ties in ("index", "index, listed")
        for arrival in (*ARRIVALS, None):
            reading = {"rounding": rounding, "ties": ties, "arrival": arrival}
            if any(reading[key] != value for key, value in wanted.items() if reading[key] is not None):
                continue
            rule = {"rng": rng, "ties": "index" if by_index else "random"}
            if arrival is None:
                done = edge_ordering(similarity, labels, **rule)
            else:
                done = node_ordering(similarity, labels, order=ARRIVALS[arrival], **rule)
            found.append(
                {
                    **reading,
                    "ordering": "node" if arrival else "edge",
                    "questions": done.n_queries,
                }
            )

    for rounding, rule in ROUNDINGS.items():
        if wanted.get("rounding", rounding) != rounding:
            continue
        square = data.similarity if rule is None else discretize(data.similarity, rule)
        for ties in (None,) if rule is None else TIES:
            if ties == "index":
                run(
                    square[np.ix_(order, order)],
                    Truth(data.labels[order]),
                    rounding,
                    ties,
                )
            else:
                run(square, Truth(data.labels), rounding, ties)
    return found


def spread(model: SimilarityModel, rounding: str, levels: int = 10) -> SimilarityModel:
    """The model whose pairs fall in the same order as discretised ones with ties at random.

    Each atom's mass is spread evenly over the values that went into it, so
    :func:`crowder.expected_queries` applies: for edge ordering, and for node ordering with random arrival.

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
    >>> blurred = spread(dist2(0.05), "down or up")  # both densities are the same in all tenths but the first and last
    >>> blurred.hellinger2 < dist2(0.05).hellinger2
    True
    """
    if rounding not in ROUNDINGS:
        raise ValueError(f"no rounding is called {rounding!r}; there are {', '.join(ROUNDINGS)}")
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
    """How far printed counts lie from a reading, each as one more run: z = (printed - mean) / (s √(1 + 1/r)).

    Parameters
    ----------
    printed, mean, sd : array_like
        The printed counts; mean and standard deviation of one run, over `runs` runs.
    runs : int
        r, at least 2.
    least : float, keyword only
        A standard deviation below this counts as this: where every run asks the same, a count that is off by one
        question is one unit away, not infinitely far.

    Examples
    --------
    >>> one_more_run([110, 5], [100, 5], [10, 0], 50).round(2)
    array([0.99, 0.  ])
    """
    if validation.whole(runs, "runs", least=1) < 2:
        raise ValueError(f"runs must be at least 2, not {runs}: a spread needs two")
    away = np.asarray(printed, float) - np.asarray(mean, float)
    return away / (np.maximum(np.asarray(sd, float), least) * np.sqrt(1 + 1 / runs))


def joint_score(z, runs: int) -> pd.Series:
    """What the distances of many printed counts come to.

    Parameters
    ----------
    z : array_like
        From `one_more_run`.
    runs : int
        Behind each.

    Returns
    -------
    pandas.Series
        ``rms``, the root of the mean of z² (about 1 if every count is one more run); ``worst``, the largest |z|;
        ``beyond``, how many have |z| > 3; ``chance``, the probability that the worst of so many independent runs is as
        far out (Student's t with runs - 1 degrees of freedom).

    Examples
    --------
    >>> joint_score([0.5, -1.0, 4.0], 50).round(3).to_dict()
    {'rms': 2.398, 'worst': 4.0, 'beyond': 1.0, 'chance': 0.001}
    """
    z = np.abs(np.asarray(z, float))
    if not z.size or runs < 2:
        raise ValueError(f"needs a distance, and at least 2 runs behind it, not {z.size} and {runs}")
    inside = 1 - 2 * stats.t.sf(z.max(), runs - 1)
    return pd.Series({
        "rms": np.sqrt(np.mean(z**2)), "worst": z.max(), "beyond": int((z > 3).sum()), "chance": 1 - inside ** z.size
    })  # fmt: skip
