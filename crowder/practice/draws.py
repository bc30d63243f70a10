r"""Clusterings that are plausible given the similarities and the answers so far, drawn at random.

Number the candidate pairs by falling similarity; equally similar pairs share their mean rank r. Edge ordering asks
about a pair between groups of a and b records. Say that it is a match with odds

.. math:: \left[(R/r)^{1/u} + h\,(R/r)^{5/3}\right] (ab)^{-g}.

About half of the pairs of rank R match. The number u says how slowly matches become rare after it, h how many matches
are hardly similar; and larger groups have more pairs, so that it says less that their best is similar. Draw R, u, h and
g from a prior times the likelihood of the answers, and let edge ordering go on after the answers, with random ones by
these odds. The groups that it ends with are a plausible clustering, and its run says how many questions find its
matches.

The prior is uniform in the square root of u (less 0.02), and lognormal in R, h and g. Ranks alone count, so that any
scores will do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from crowder.engine import Knowledge, no_knowledge, random_run, replay
from crowder.pairs import Candidates

__all__ = ["Draw", "draw_clusterings"]

#: Median, and standard deviation of the logarithm: of R, for each record; of h; and of g. These and the constants below
#: were chosen on people (invented, of Febrl and of RLdata10000), citations (cora) and invented products; only that the
#: square root of u is uniform, also on the other records that chapter 16 plans for.
HALF, UNLIKE, SIZE = (0.4, 1.6), (0.02, 2.0), (1.0, 1.4)

#: u is between these, and TAIL is the power of the matches that are hardly similar. (With a power of 1 or less, most
#: matches would be among the least similar pairs.) A pair that is as similar as any is no match with probability LAPSE.
SHARP, SOFT, TAIL, LAPSE = 0.02, 0.6, 5 / 3, 0.03

#: q answers count as q / (1 + q / TRUST), because no data follow the model in every detail; about MOST are used.
TRUST, MOST = 400, 2000

#: Points of the prior, among which the answers choose; steps of Metropolis's algorithm from there.
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
    >>> all(draw.labels[0] == draw.labels[1] for draw in drawn), {int(draw.at[0]) for draw in drawn}
    (True, {1})
    """
    falling, codes = pairs.sorted
    size, table = np.ones(pairs.n, np.int64), np.zeros(pairs.n, np.int64)
    if pairs.tables is not None:
        table = np.where(pairs.tables < 63, 1 << pairs.tables.clip(max=62), 0)
    given, answered = _packed(*(pairs.known or ((), ()))), _packed(asked, same)
    knowledge, first, before, free, log_first = replay(no_knowledge(pairs.n), *given, size, table)
    knowledge, new, at, found, log_size = replay(knowledge, *answered, size, table)
    at, found = np.r_[0 * before, at], np.r_[free, found]
    edges = np.unique(np.geomspace(1, len(codes) + 1, 1000).astype(int)) - 1
    level, width = _level(falling, falling[(edges[1:] + edges[:-1]) // 2]), np.diff(edges)
    values, listed = pairs.listed()
    codes_said, said = (np.r_[part[first], more[new]] for part, more in zip(given, answered, strict=True))
    place = np.searchsorted(listed, codes_said)
    place[place == len(listed)] = 0
    seen = listed[place] == codes_said if len(listed) else np.zeros(len(said), bool)
    known = _level(falling, -values[place[seen]]), np.r_[log_first, log_size][seen], said[seen]
    draws = []
    for half, unlike, g, soft in _parameters(pairs.n, known, number, rng):
        left = np.cumsum((width * expit(_log_odds(half - level, unlike, soft)))[::-1])[::-1]
        stop = edges[np.argmax(left < NEGLIGIBLE)] if len(left) and left[-1] < NEGLIGIBLE else len(codes)
        copied = Knowledge(*(part.copy() for part in knowledge)), size.copy(), table.copy()
        labels, more, gained, end = random_run(
            *copied, falling, codes, stop, half, unlike, TAIL, g, soft, 1 - LAPSE, rng
        )
        draws.append(Draw(labels, np.r_[at, len(new) + more], np.r_[found, gained], len(new) + end))
    return draws


def _packed(pairs: Any, same: Any) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1).T
    return low << 32 | high, np.asarray(same, dtype=bool)


def _level(falling: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The logarithms of the mean ranks, from 1, of the pairs that are as similar as these; both negated."""
    return np.log((np.searchsorted(falling, values) + np.searchsorted(falling, values, "right") + 1) / 2)


def _log_odds(above: np.ndarray, unlike: Any, soft: Any) -> np.ndarray:
    """Log-odds of a match between single records, by log R - log r, log h and u."""
    return np.logaddexp(above / soft, unlike + TAIL * above)


def _parameters(n: int, known: Any, number: int, rng: np.random.Generator) -> np.ndarray:
    """Draws (number, 4) of log R, log h, g and u, from the prior times the likelihood of the answers."""
    level, log_size, same = (part[:: 1 + len(known[0]) // MOST] for part in known)
    power = len(known[0]) / max(1, len(level)) / (1 + len(known[0]) / TRUST)

    def log_likelihood(z: np.ndarray) -> np.ndarray:
        half, unlike, g, soft = _scaled(z, n).T[:, :, None]
        p = expit(_log_odds(half - level, unlike, soft) - g * log_size) * (1 - LAPSE)
        return power * np.log(np.where(same, p, 1 - p) + 1e-300).sum(axis=1)

    z = rng.standard_normal((PROPOSALS, 4))
    log = np.concatenate([log_likelihood(part) for part in np.array_split(z, 40)])
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    at = np.searchsorted(np.cumsum(weight), (rng.random() + np.arange(number)) / number).clip(max=PROPOSALS - 1)
    z, log = z[at], log[at] - (z[at] ** 2).sum(axis=1) / 2
    # Few proposals may have nearly all of the weight: some steps of Metropolis's algorithm spread the draws.
    for step in range(STEPS):
        new = z + (1.4, 0.5, 0.15)[step % 3] * np.maximum(z.std(axis=0), 0.01) * rng.standard_normal(z.shape)
        log_new = log_likelihood(new) - (new**2).sum(axis=1) / 2
        better = np.log(rng.random(number)) < log_new - log
        z, log = np.where(better[:, None], new, z), np.where(better, log_new, log)
    return rng.permutation(_scaled(z, n))


def _scaled(z: np.ndarray, n: int) -> np.ndarray:
    """What four standard normal variables mean: log R, log h, g and u."""
    median, spread = np.array([(HALF[0] * n, HALF[1]), UNLIKE, SIZE]).T
    half, unlike, log_g = (np.log(median) + spread * z[:, :3]).T
    return np.c_[half, unlike, np.exp(log_g), SHARP + (SOFT - SHARP) * ndtr(z[:, 3]) ** 2]
