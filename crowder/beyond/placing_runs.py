"""Runs of placing ordering for which only the counts are drawn, for more records than fit in a matrix.

The ordering looks at nothing but how often each value, or bin, of the similarities occurs between a record and each
cluster so far. As long as no record is placed wrongly these are the true clusters, and the counts are multinomial.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.component_evidence import UNIT, log_ratios
from crowder.beyond.placing_ordering import cautious_ratios, in_band, upper_ends
from crowder.counting.bounds import acceptance_threshold
from crowder.models import SimilarityModel, common_steps
from crowder.validation import Seed

__all__ = ["draw", "learn", "simulate_placing"]

#: Bands are computed anew for each of this many records, and then for every STRIDE-th one. Evidence by bands of any
#: earlier time is also valid.
EACH, STRIDE = 1000, 100


def simulate_placing(
    densities: SimilarityModel | ArrayLike,
    labels: ArrayLike,
    model: SimilarityModel | ArrayLike | None = None,
    *,
    delta: float,
    rng: Seed,
    ends: Callable[[np.ndarray, float], np.ndarray] = upper_ends,
) -> tuple[int, bool, bool]:
    r"""Simulate placing ordering without a matrix of similarities, up to its first failure.

    Of the similarities between the v-th record and a cluster of m, only the counts of their q values are drawn. With
    the weights g or r of the values, for the record's own cluster and for another, they are

    .. math:: N \sim \mathrm{Multinomial}(m, g) \quad\text{or}\quad N \sim \mathrm{Multinomial}(m, r) ,

    and the evidence is :math:`\sum_w N_w \ln \ell(w)`. All else is as in `PlacingOrdering`, but ties are decided for
    wrong clusters, and bands are found anew at other times.

    Parameters
    ----------
    densities : SimilarityModel or array_like
        From which similarities are drawn: a model, whose steps are the values; or the weights of q values for matches
        and for non-matches, (2, q), in any unit.
    labels : array_like, shape (n,)
        The cluster of each record, in order of arrival.
    model : SimilarityModel or array_like, optional
        What the ordering takes for `densities`, in the same form; the truth or not. Without it, nothing is known.
    delta : float, keyword only
        δ in [0, 1], as for the ordering. With 0, every record is asked about; this needs a model.
    rng : int or numpy.random.Generator, keyword only
        Gives the counts.
    ends : callable, keyword only
        A function of counts and error, as `upper_ends` is. Another one shows what happens without its guarantee.

    Returns
    -------
    questions : int
        How many questions are asked before the first failure, or in the whole run.
    wrong : bool
        Whether this is a wrong placement.
    failed : bool
        Whether a confidence band misses the true weight of its value by then; never with a model.

    Raises
    ------
    ValueError
        If `densities` or `model` are neither a model nor such weights, or not of the same values; if `rng` or a label
        is missing; or if `delta` is out of its range, or 0 without a model.
    TypeError
        If weights are not numbers, or labels not of one type.

    See Also
    --------
    crowder.beyond.PlacingOrdering : the ordering, which does not know when it fails.
    crowder.evidence_bound : a bound on the expected number of questions for known densities.

    Notes
    -----
    O(nkq) time and memory for k clusters: half a second for 200,000 records of five clusters and two values.

    Examples
    --------
    Questions about 200,000 records, with densities known and with nothing known:

    >>> from crowder import dist1
    >>> rng = np.random.default_rng(7)
    >>> labels = rng.permutation(np.repeat(range(5), 40_000))
    >>> [simulate_placing(dist1(0.5), labels, model, delta=0.2, rng=rng)[0] for model in (dist1(0.5), None)]
    [148, 162]
    """
    true, *believed = _weights(densities, model)
    labels = validation.labels(labels)
    delta = float(validation.probability(delta, "delta"))
    generator = validation.generator(rng, "the counts")
    if delta == 0 and not believed:
        raise ValueError("delta must be greater than 0 without a model: unknown densities are never known for sure")
    counts, before = draw(true, labels, generator)
    x: Any
    if believed:
        ratios, x = log_ratios(*believed[0])[None], 1 - np.sqrt(believed[0].prod(axis=0)).sum()
        failed = np.zeros(len(labels), bool)
    else:
        ratios, x, failed = learn(counts, labels, true, delta, ends)
    present = before > 0
    sums = np.where(present, (counts @ ratios[:, :, None])[..., 0], -np.inf)
    own = labels[:, None] == np.arange(before.shape[1])
    right = np.where(own, sums, -np.inf).max(axis=1, initial=-np.inf)
    ahead = present & ~own & (sums >= right[:, None])
    top = sums.max(axis=1, initial=-np.inf)
    accepted = np.zeros(len(labels), bool)
    if delta > 0:
        clusters = np.maximum(present.sum(axis=1), 1)  # the first record has no evidence, and so is not accepted
        accepted = top >= UNIT * acceptance_threshold(clusters, np.arange(1, len(labels) + 1), x, delta)
    wrong = accepted & (ahead & (sums == top[:, None])).any(axis=1)
    asked = (ahead.sum(axis=1) + (right > -np.inf)) * ~accepted
    end = np.append(np.flatnonzero(wrong | failed), len(labels))[0]
    return int(asked[:end].sum()), bool(wrong[: end + 1].any()), bool(failed[: end + 1].any())


def draw(weights: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """How often each value occurs between a record and each cluster so far, (n, k, q); and the sizes so far, (n, k)."""
    own = labels[:, None] == np.arange(labels.max(initial=-1) + 1)
    before = own.cumsum(axis=0) - own
    counts = np.empty((*own.shape, weights.shape[1]), np.int64)
    for pairs, chances in zip((own, ~own), weights, strict=True):
        counts[pairs] = rng.multinomial(before[pairs], chances)
    return counts, before


def learn(
    counts: np.ndarray, labels: np.ndarray, true: np.ndarray, delta: float, ends: Callable
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each record the evidence of a value with the least affinity so far, in multiples of 1/UNIT nat; x, which is
    -inf where nothing is known; and whether a band fails."""
    n = len(labels)
    matches = counts[np.arange(n), labels]
    both = np.array([matches, counts.sum(axis=1) - matches])
    seen = both.cumsum(axis=1) - both
    known = np.flatnonzero((seen.sum(axis=2) > 0).all(axis=0))
    ratios, x, failed = np.zeros(matches.shape, np.int64), np.full(n, -np.inf), np.zeros(n, bool)
    if len(known):
        looks = known[(known < known[0] + EACH) | (known % STRIDE == 0)]
        found, affinity = cautious_ratios(seen[0, looks], seen[1, looks], delta, ends)
        best = np.maximum.accumulate(np.where(affinity <= np.minimum.accumulate(affinity), range(len(looks)), 0))
        best = best[np.searchsorted(looks, known, side="right") - 1]
        ratios[known], x[known] = found[best], 1 - affinity[best]
        inside = in_band(seen[:, looks], delta / (8 * true.shape[1]))(true[:, None])
        failed[looks] = ~inside.all(axis=(0, 2))
    return ratios, x, failed


def _weights(densities: Any, model: Any) -> list[np.ndarray]:
    """The probabilities of the values for matches and non-matches, (2, q), in truth and, if there is one, by the model;
    those of models are of all steps of both."""
    of = {"densities": densities} | ({} if model is None else {"model": model})
    models = [each for each in of.values() if isinstance(each, SimilarityModel)]
    if len(models) == len(of):
        edges = reduce(np.union1d, (common_steps(each.green, each.red)[0] for each in models))
        middle = (edges[1:] + edges[:-1]) / 2
        rows = [np.diff(edges) * [each.green.pdf(middle), each.red.pdf(middle)] for each in models]
    elif models:
        raise ValueError("model must have the values of densities: two models, or lists of weights for both")
    else:
        rows = [validation.numbers(each, name) for name, each in of.items()]
    for name, each in zip(of, rows, strict=True):
        two = each.ndim == 2 and len(each) == 2 and (each >= 0).all() and np.isfinite(each).all()
        if not two or not each.any(axis=1).all():
            raise ValueError(
                f"{name} must be a SimilarityModel, or two lists of weights, at least 0 and not all 0, not {of[name]!r}"
            )
    if len({each.shape for each in rows}) > 1:
        raise ValueError("model must have the values of densities: as many weights")
    return [each / each.sum(axis=1, keepdims=True) for each in rows]
