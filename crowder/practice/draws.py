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
from numba import njit
from scipy.special import expit, ndtr

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
    tables = np.zeros(pairs.n, np.int64)  # as bits
    if pairs.tables is not None:
        tables = np.where(pairs.tables < 63, 1 << pairs.tables.clip(max=62), 0)
    given, answered = _packed(*(pairs.known or ((), ()))), _packed(asked, same)
    said_about, said = np.r_[given[0], answered[0]], np.r_[given[1], answered[1]]
    new, log_size = informative(tables, said_about, said)
    edges = np.unique(np.geomspace(1, len(codes) + 1, 1000).astype(int)) - 1
    level, width = _level(falling, falling[(edges[1:] + edges[:-1]) // 2]), np.diff(edges)
    values, listed = pairs.listed()
    place = np.searchsorted(listed, said_about[new])
    place[place == len(listed)] = 0
    seen = listed[place] == said_about[new] if len(listed) else np.zeros(len(new), bool)
    known = _level(falling, -values[place[seen]]), log_size[seen], said[new][seen]
    draws = []
    for half, unlike, g, soft in _parameters(pairs.n, known, number, rng):
        left = np.cumsum((width * expit(_log_odds(half - level, unlike, soft)))[::-1])[::-1]
        stop = edges[np.argmax(left < NEGLIGIBLE)] if len(left) and left[-1] < NEGLIGIBLE else len(codes)
        run = random_run(
            tables, said_about, said, len(given[0]), falling, codes, stop, half, unlike, TAIL, g, soft, 1 - LAPSE, rng
        )
        draws.append(Draw(*run))
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


# --- Runs of edge ordering with random answers -----------------------------------------------------------------------


class Groups(NamedTuple):
    """Groups of records that match, and what they differ from.

    `name` gives the group of each record, `ring` links its members in a circle; by group, `size` counts them, `tables`
    has the set of their tables as bits, and `last` is an entry of the circle of its non-matches, or -1. An entry is a
    record that differs (`other`); entries are linked by `link`. The number of entries is in ``count[0]``.
    """

    name: np.ndarray
    ring: np.ndarray
    size: np.ndarray
    tables: np.ndarray
    last: np.ndarray
    link: np.ndarray
    other: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # a field of this name hides a method of tuples


@njit(cache=True)
def _groups(tables, answers):
    n = len(tables)
    return Groups(
        np.arange(n), np.arange(n), np.ones(n, np.int64), tables.copy(), np.full(n, -1),
        np.empty(2 * answers, np.int64), np.empty(2 * answers, np.int32), np.zeros(1, np.int64),
    )  # fmt: skip


@njit(cache=True)
def _key(a, b):
    return min(a, b) << 32 | max(a, b)


@njit(cache=True)
def _settle(groups, apart, i, j, same):
    """Record an answer about records of two groups not known to differ; `apart` has the keys of those known to."""
    name, ring, size, last, link, other = groups.name, groups.ring, groups.size, groups.last, groups.link, groups.other
    a, b = name[i], name[j]
    if not same:
        apart.add(_key(a, b))
        for group, differs in ((a, j), (b, i)):
            e = groups.count[0]
            groups.count[0] += 1
            other[e], link[e] = differs, e
            if last[group] >= 0:
                link[e], link[last[group]] = link[last[group]], e
            last[group] = e
        return
    if size[a] < size[b]:
        a, b = b, a
    size[a] += size[b]
    groups.tables[a] |= groups.tables[b]
    member = b
    while name[member] == b:
        name[member] = a
        member = ring[member]
    ring[a], ring[b] = ring[b], ring[a]
    if last[b] < 0:
        return
    e = last[b]
    while True:  # a now differs from everything that b differs from
        apart.add(_key(a, name[other[e]]))
        e = link[e]
        if e == last[b]:
            break
    if last[a] >= 0:
        link[last[a]], link[last[b]] = link[last[b]], link[last[a]]
    last[a] = last[b]


@njit(cache=True)
def informative(tables, codes, same):
    """Which answers earlier ones do not imply, and the logarithm of the number of pairs between the two groups then."""
    groups, apart = _groups(tables, len(codes)), {np.int64(-1)}
    new, log_size = np.empty(len(codes), np.int64), np.empty(len(codes), np.float64)
    count = 0
    for q in range(len(codes)):
        i, j = codes[q] >> 32, codes[q] & 0xFFFFFFFF
        a, b = groups.name[i], groups.name[j]
        if a != b and _key(a, b) not in apart:
            new[count], log_size[count] = q, np.log(groups.size[a] * groups.size[b])
            count += 1
            _settle(groups, apart, i, j, same[q])
    return new[:count].copy(), log_size[:count].copy()


@njit(cache=True)
def random_run(tables, said_about, said, free, falling, codes, stop, half, unlike, tail, g, soft, most, rng):
    """Edge ordering after some answers, of which the first `free` were no questions, with random ones from there.

    They are "same" with the odds of this module up to position `stop`, and "different" thereafter, or if the groups
    share a table. The similarities are negated, as `crowder.sorting.edge_sort` returns them; `half` and `unlike` are
    logarithms. Returns the fields of a `Draw`.
    """
    n = len(tables)
    at, found = np.empty(n, np.int64), np.empty(n, np.int64)
    groups, apart = _groups(tables, len(said) + len(codes)), {np.int64(-1)}
    name, size = groups.name, groups.size
    asked, merges, alike = 0, 0, 0
    steep = flat = 0.0
    countable = 2 * len(codes) == n * (n - 1) and not np.any(tables)
    for q in range(len(said) + len(codes)):
        p = q - len(said)
        if p == stop and countable:
            break
        if p == alike:  # the next pairs that are equally similar, which share their mean rank
            while alike < len(codes) and falling[alike] == falling[p]:
                alike += 1
            above = half - np.log((p + 1 + alike) / 2)
            steep, flat = above / soft, unlike + tail * above
        code = codes[p] if p >= 0 else said_about[q]
        i, j = code >> 32, code & 0xFFFFFFFF
        a, b = name[i], name[j]
        if a == b or _key(a, b) in apart or (p >= 0 and groups.tables[a] & groups.tables[b]):
            continue
        asked += q >= free
        pairs = size[a] * size[b]
        if p < 0:
            same = said[q]
        else:
            odds = max(steep, flat) + np.log1p(np.exp(-abs(steep - flat))) - g * np.log(pairs)
            same = p < stop and rng.random() * (1 + np.exp(-odds)) < most
        _settle(groups, apart, i, j, same)
        if same:
            at[merges], found[merges] = asked, pairs
            merges += 1
    if countable and stop < len(codes):  # every two groups that are not known to differ are asked about once more
        k = (name == np.arange(n)).sum()
        asked += k * (k - 1) // 2
        for key in apart:
            low, high = key >> 32, key & 0xFFFFFFFF
            asked -= key != -1 and name[low] == low and name[high] == high
    return name, at[:merges].copy(), found[:merges].copy(), asked
