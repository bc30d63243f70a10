r"""Clusterings that are plausible given the similarities and the answers so far, drawn at random.

Edge ordering asks about a pair of similarity w, between groups of a and b records. Say that it is a match with log-odds
:math:`x = (w - t)/s - g \log ab` (larger groups have more pairs, so that it says less that their best is similar), and
with :math:`x - 0.12\,x^2` if x is negative (the mass of dissimilar pairs has hardly any matches). Draw t, s and g from
a prior times the likelihood of the answers, and let edge ordering go on after the answers, with random ones by these
odds. The groups that it ends with are a plausible clustering, and its run says how many questions find its matches.

The prior is uniform in t, and lognormal in s, in g and in the share of the merges of single linkage that are right. It
depends on the similarities only up to their place and scale, so that any scores will do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import expit

from crowder.engine import LOW, Knowledge, no_knowledge, random_run, replay
from crowder.pairs import Candidates

__all__ = ["Draw", "draw_clusterings"]

#: Median, and standard deviation of the logarithm: of s, as a share of the range of the heights at which single linkage
#: merges; of g; and of the share of right merges. These and the constants below were chosen on people (invented, of
#: Febrl and of RLdata10000), citations (cora) and invented products.
SOFTNESS, SIZE, RIGHT = (0.052, 0.62), (1.0, 1.4), (0.15, 1.2)

#: The log-odds x are less by BEND x² below t, and a pair that is as similar as any is no match with probability LAPSE.
BEND, LAPSE = 0.12, 0.03

#: t is between the lowest height, less this share of the range, and the highest one, plus the other.
BELOW, ABOVE = 0.1, 0.3

#: q answers count as q / (1 + q / TRUST), because no data follow the model in every detail; about MOST are used.
TRUST, MOST = 100, 2000

#: Triples (t, s, g) from the prior, among which the answers choose; steps of Metropolis's algorithm from there.
PROPOSALS, STEPS = 4000, 40

#: Answers are random until fewer matches than this are expected among all pairs that are left.
NEGLIGIBLE = 0.05


class Draw(NamedTuple):
    """A plausible clustering: labels (n,); after which questions of edge ordering its merges are found, and how many
    matches each merge finds; and the number of questions until every pair is settled."""

    labels: np.ndarray
    at: np.ndarray
    found: np.ndarray
    end: int


def draw_clusterings(pairs: Candidates, asked: Any, same: Any, number: int, *, rng: np.random.Generator) -> list[Draw]:
    """Plausible clusterings that agree with every answer.

    Parameters
    ----------
    pairs : Candidates
        With the answers known in advance, and the tables of which no two records match, if it has these: they are not
        questions. Tables after the 63rd do not count.
    asked, same : array_like of int (q, 2) and of bool (q,)
        The answers so far, in any order, without contradictions.
    number : int
    rng : numpy.random.Generator, keyword only

    Returns
    -------
    list of Draw
        Questions are counted from the first answer; answers that others imply are not counted.

    Notes
    -----
    O(m log m) for m candidate pairs, and O(m) for a draw.

    Examples
    --------
    >>> from crowder.pairs import candidates
    >>> drawn = draw_clusterings(candidates([0.9, 0.1, 0.2]), [(0, 1)], [True], 20, rng=np.random.default_rng(7))
    >>> all(draw.labels[0] == draw.labels[1] for draw in drawn), drawn[0].at.tolist(), drawn[0].end
    (True, [1], 2)
    """
    falling, codes = pairs.sorted
    size, table = np.ones(pairs.n, np.int64), np.zeros(pairs.n, np.int64)
    if pairs.tables is not None:
        table = np.where(pairs.tables < 63, 1 << pairs.tables.clip(max=62), 0)
    knowledge = no_knowledge(pairs.n)
    knowledge, _, before, free, _ = replay(knowledge, *_packed(*(pairs.known or ((), ()))), size, table)
    answered = _packed(asked, same)
    knowledge, new, at, found, log_size = replay(knowledge, *answered, size, table)
    at, found = np.r_[0 * before, at], np.r_[free, found]
    edges = np.unique(np.r_[0, np.geomspace(1, len(codes) + 1, 250), np.linspace(0, len(codes), 1000)].astype(int))
    edges = edges[edges <= len(codes)]
    middle, width = -falling[(edges[1:] + edges[:-1]) // 2], np.diff(edges)
    values, listed = pairs.listed()
    place = np.searchsorted(listed, answered[0][new])
    place[place == len(listed)] = 0
    seen = listed[place] == answered[0][new] if len(listed) else np.zeros(len(new), bool)
    known = values[place[seen]], log_size[seen], answered[1][new][seen]
    draws = []
    # Single linkage merges at the similarities of a spanning tree. (An edge of length zero would be none.)
    graph = sparse.coo_array((2 - values, (listed >> 32, listed & LOW)), shape=(pairs.n, pairs.n))
    heights = 2 - minimum_spanning_tree(graph.tocsr()).data
    for t, s, g in _triples(heights, pairs.n, known, number, rng):
        left = np.cumsum((width * expit(_bent((middle - t) / s)))[::-1])[::-1]
        stop = edges[np.argmax(left < NEGLIGIBLE)] if len(left) and left[-1] < NEGLIGIBLE else len(codes)
        copied = Knowledge(*(part.copy() for part in knowledge)), size.copy(), table.copy()
        labels, more, gained, end = random_run(*copied, falling, codes, stop, t, s, g, BEND, 1 - LAPSE, rng)
        draws.append(Draw(labels, np.r_[at, len(new) + more], np.r_[found, gained], len(new) + end))
    return draws


def _packed(pairs: Any, same: Any) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1).T
    return low << 32 | high, np.asarray(same, dtype=bool)


def _triples(heights: np.ndarray, n: int, known: Any, number: int, rng: np.random.Generator) -> np.ndarray:
    """Draws (number, 3) of t, s and g."""
    if not len(heights):
        return np.tile([0.5, 0.1, 1.0], (number, 1))
    value, log_size, same = (part[:: 1 + len(known[0]) // MOST] for part in known)
    power = len(known[0]) / max(1, len(value)) / (1 + len(known[0]) / TRUST)
    low, high = heights.min(), heights.max()
    span = max(high - low, 1e-3)
    least, most = low - BELOW * span, high + ABOVE * span
    quantiles = np.quantile(heights, np.linspace(0, 1, 100))

    def log_weight(z: np.ndarray) -> np.ndarray:
        t, s, g = _unscaled(z, span).T[:, :, None]
        share = expit(_bent((quantiles - t) / s)).mean(axis=1) * len(heights) / max(1, n - 1)
        spread = (np.log(np.maximum(share, 0.1 / n)) - np.log(RIGHT[0])) / RIGHT[1]
        p = expit(_bent((value - t) / s - g * log_size)) * (1 - LAPSE)
        said = np.log(np.where(same, p, 1 - p) + 1e-300).sum(axis=1)
        total = power * said - spread**2 / 2
        return np.where((z[:, 0] >= least) & (z[:, 0] <= most), total, -np.inf)

    z = np.c_[rng.uniform(least, most, PROPOSALS), rng.standard_normal((PROPOSALS, 2))]
    log = np.concatenate([log_weight(part) for part in np.array_split(z, 40)])
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    at = np.searchsorted(np.cumsum(weight), (rng.random() + np.arange(number)) / number).clip(max=PROPOSALS - 1)
    z, log = z[at], log[at] - (z[at, 1:] ** 2).sum(axis=1) / 2
    # Few proposals may have nearly all of the weight: some steps of Metropolis's algorithm spread the draws.
    for step in range(STEPS):
        scale = (1.4, 0.5, 0.15)[step % 3] * np.maximum(z.std(axis=0), 0.01 * span)
        new = z + scale * rng.standard_normal(z.shape)
        log_new = log_weight(new) - (new[:, 1:] ** 2).sum(axis=1) / 2
        better = np.log(rng.random(number)) < log_new - log
        z, log = np.where(better[:, None], new, z), np.where(better, log_new, log)
    return rng.permutation(_unscaled(z, span))


def _bent(x: np.ndarray) -> np.ndarray:
    return x - BEND * np.minimum(x, 0) ** 2


def _unscaled(z: np.ndarray, span: float) -> np.ndarray:
    spread = [
        np.exp(np.log(median) + deviation * x) for x, (median, deviation) in zip(z.T[1:], (SOFTNESS, SIZE), strict=True)
    ]
    return np.c_[z[:, 0], span * spread[0], spread[1]]
