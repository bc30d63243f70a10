r"""Strategies with which the book compares `crowder.beyond.NoisyOrdering`, as `crowder.crowds.replay` takes them.

`MemberVotes`, `control_queries`, `hybrid_ordering` and `member_votes` are those of other papers; `edge_then_noisy` and
`most_similar_once` are simple ones. Each but `MemberVotes`, an oracle for any ordering, is a generator: it asks a
crowd, and yields its clusters (n,) from time to time. It raises a ValueError if an argument is out of its range, and a
TypeError if the crowd is not callable, or an answer is neither True nor False.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf, log, log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import checks
from crowder.beyond.answers import Answers
from crowder.beyond.clustering import likeliest
from crowder.beyond.errors import PRIOR, two_rates
from crowder.beyond.noisy import NoisyOrdering
from crowder.checks import Seed, generator
from crowder.oracles import Oracle, callable_oracle, odd
from crowder.orderings import SIZE_DECIMALS, EdgeOrdering, Ordering
from crowder.pairs import Candidates, candidates, unpack

__all__ = ["MemberVotes", "control_queries", "edge_then_noisy", "hybrid_ordering", "member_votes", "most_similar_once"]

#: Sums of evidence that differ by less than this are equal.
ROUNDING = 1e-9

#: β: control queries for each record and each doubling of its cluster. With 0 a single answer decides.
BETA = 2.0

#: The confidence required, in [½, 1), that two clusters differ. With ½ a single *no* is enough.
CONFIDENCE = 0.95

#: θ: `hybrid_ordering` compares a record with clusters of at least this mean similarity.
THETA = 0.3

#: In `member_votes` so many members vote, and it ends with so many second looks.
VOTES, LOOKS = 3, 2

#: `most_similar_once` clusters its answers this many times, first after so many answers.
TIMES, FIRST = 60, 10

#: Before that, it learns the two rates of error from its clusters in so many rounds, within limits.
ROUNDS, LIMITS = 2, (1e-4, 0.49)


class MemberVotes:
    """An oracle for an ordering: whether most of up to r pairs of members of the two clusters are answered "same".

    The paper's remedy for errors that stay with a pair (Section "System model"): ask ``crowd(i, j)`` about other
    members of the clusters, which it reads from the `ordering` that will ask. No pair is asked twice; new pairs come
    first, since the answers that placed a record in a cluster would count twice in its favour. Of an even number of
    pairs the last is left out: a majority of 2s answers is no better than one of 2s - 1. With `early` it stops as soon
    as the majority is decided, which saves answers and changes no majority. Two singletons are one pair, hence one
    answer, and a run never revises an answer: `second_look` asks again once the clusters have grown. A ValueError if
    the number r of votes is not odd.

    Examples
    --------
    >>> from crowder.oracles import Faulty, Truth
    >>> from crowder.orderings import NodeOrdering
    >>> ordering = NodeOrdering([0.5] * 66, ties="index")
    >>> crowd = MemberVotes(Faulty(Truth([0] * 12), 0.2, rng=0, persistent=True), 5, ordering)
    >>> clusters = ordering.run(crowd).clusters
    >>> clusters  # two early records were not recognised because of one wrong answer each
    array([0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0])
    >>> crowd.second_look(clusters, rng=1)
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    """

    def __init__(self, crowd: Oracle, votes: int, ordering: Ordering, *, early: bool = True) -> None:
        self.crowd, self.votes, self.early = callable_oracle(crowd), odd(votes), checks.flag(early, "early")
        self.ordering = checks.kind(ordering, Ordering, "ordering must be an ordering, such as NodeOrdering")
        self.said: dict[tuple[int, int], bool] = {}

    @property
    def asked(self) -> int:
        """The number of answers so far."""
        return len(self.said)

    def __call__(self, i: int, j: int) -> bool:
        clusters = self.ordering.resolution.clusters
        # the pair itself is asked first
        here, there = (sorted(np.flatnonzero(clusters == clusters[x]).tolist(), key=x.__ne__) for x in (i, j))
        return self.majority(here, there)

    def majority(self, here: list[int], there: list[int]) -> bool:
        """Whether most of up to r pairs are "same": new ones first, of these the ones near the start of both lists."""
        new: list[tuple[int, int]] = []
        known: list[tuple[int, int]] = []
        for distance in range(len(here) + len(there) - 1):
            for a in range(max(0, distance - len(there) + 1), min(distance + 1, len(here))):
                u, v = sorted((here[a], there[distance - a]))
                (known if (u, v) in self.said else new).append((u, v))
            if len(new) >= self.votes:
                break
        pairs = (new + known)[: self.votes]
        size = len(pairs) if len(pairs) % 2 else len(pairs) - 1
        count = [0, 0]
        for pair in pairs[:size]:
            if pair not in self.said:
                self.said[pair] = checks.flag(self.crowd(*pair), f"the answer to {pair}")
            count[self.said[pair]] += 1
            if self.early and max(count) > size // 2:
                break
        return count[True] > count[False]

    def second_look(self, clusters: np.ndarray, *, rng: Seed) -> np.ndarray:
        """The clusters after another vote on every record: misplaced records move, and split clusters are joined.

        First each record leaves its cluster if a vote with the others there says "different". Then the clusters, the
        largest first, and the records that left join the first cluster before them for which a vote says "same".
        """
        rng, clusters = generator(rng, "the choice of members"), checks.labels(clusters, self.ordering.n)
        for v in range(len(clusters)):
            mates = [u for u in rng.permutation(np.flatnonzero(clusters == clusters[v])).tolist() if u != v]
            if mates and not self.majority([v], mates):
                clusters[v] = len(clusters) + v
        names, sizes = np.unique(clusters, return_counts=True)
        kept: list[list[int]] = []
        for name in names[np.argsort(-sizes, kind="stable")]:
            part = rng.permutation(np.flatnonzero(clusters == name)).tolist()
            for other in kept:
                if self.majority(part, other):
                    other.extend(part)
                    rng.shuffle(other)
                    break
            else:
                kept.append(part)
        for number, members in enumerate(kept):
            clusters[members] = number
        return clusters


def control_queries(
    similarity: ArrayLike, crowd: Oracle, *, errors: tuple[float, float] = (0.05, 0.2), rng: Seed
) -> Iterator[np.ndarray]:
    r"""Edge ordering in which clusters A and B are joined only if the answers to several pairs between them agree.

    With :math:`e_+` the probability of a *yes* about a non-match and :math:`e_-` that of a *no* about a match
    (`errors`, both in (0, ½)), a *yes* between A and B adds the evidence :math:`\ln \frac{1 - e_-}{e_+}` and a *no*
    :math:`\ln \frac{e_-}{1 - e_+}`. A and B are joined if the sum is positive and there are

    .. math:: \min\bigl(\lceil \beta \log_2(|A| + |B|) \min(|A|, |B|) \rceil,\ |A| |B|\bigr)

    answers between them, so that the questions inside a cluster form an expander: a wrong join takes many wrong
    answers. They are told apart with fewer if the sum says that they differ with `CONFIDENCE`. The similarity has every
    pair; no pair is asked twice; `rng` chooses the control queries and breaks ties. Yields the clusters (n,) after each
    answer, and once more at the end, when records may have moved.

    Source: Galhotra, Firmani, Saha and Srivastava, "Robust Entity Resolution Using Random Graphs", SIGMOD 2018. Theirs
    are random control queries in a number that grows with the logarithm of the cluster, the decision by all answers
    across, and revisits. The rest is chosen here: the order; the demand above; two rates of error; telling clusters
    apart early; that of the smaller side a record with the fewest answers across is asked about. When all pairs have
    been seen, each record of a cluster C is asked about until it has :math:`\min(|C| - 1, \lceil \beta \log_2 |C|
    \rceil)` answers inside C, and moves to the cluster with the largest sum of its answers, or is alone if no sum is
    positive; then all pairs are seen again, until nothing is asked or moved. O(n²) comparisons in each round.

    Examples
    --------
    >>> from crowder import Faulty, Truth, edge_ordering
    >>> labels = [0] * 20 + [1] * 20
    >>> similarity = np.random.default_rng(0).random(780)  # says nothing
    >>> crowd = Faulty(Truth(labels), 0.1, rng=3, persistent=True)
    >>> *_, clusters = control_queries(similarity, crowd, errors=(0.1, 0.1), rng=0)
    >>> np.unique(clusters, return_counts=True)[1]
    array([20, 20])
    >>> np.bincount(edge_ordering(similarity, crowd, rng=0).clusters)  # wrong answers are never revised
    array([11,  9, 10,  2,  8])
    """
    rng, (false_yes, false_no) = generator(rng, "control queries"), two_rates(errors, "errors")
    crowd, pairs = callable_oracle(crowd), _complete(similarity)
    weight = log(false_no / (1 - false_yes)), log((1 - false_no) / false_yes)  # of no, of yes
    n, walk = pairs.n, _falling(pairs, rng).tolist()
    label, asked, evidence = np.arange(n), np.zeros((n, n), bool), np.zeros((n, n))

    def across(a: int, b: int) -> tuple[int, float, int]:
        """The answers between two clusters, their evidence, and how many are needed to join them."""
        here, there = label == a, label == b
        between, (m, k) = np.ix_(here, there), sorted((int(here.sum()), int(there.sum())))
        need = min(max(1, ceil(BETA * log2(m + k) * m - ROUNDING)), m * k)
        return int(asked[between].sum()), float(evidence[between].sum()), need

    def control(a: int, b: int) -> tuple[int, int]:
        """A pair between two clusters, with a record of the smaller one that has the fewest answers between them."""
        here, there = sorted((np.flatnonzero(label == a), np.flatnonzero(label == b)), key=len)
        known = asked[np.ix_(here, there)]
        row = rng.choice(np.flatnonzero(known.sum(axis=1) == known.sum(axis=1).min()))
        return int(here[row]), int(there[rng.choice(np.flatnonzero(~known[row]))])

    def ask(u: int, v: int) -> np.ndarray:
        """Keep the answer, join the two clusters if it settles that, and return the clusters."""
        asked[u, v] = asked[v, u] = True
        evidence[u, v] = evidence[v, u] = weight[checks.flag(crowd(u, v), f"the answer to {(u, v)}")]
        if label[u] != label[v]:
            count, total, need = across(label[u], label[v])
            if count >= need and total > ROUNDING:
                label[label == label[v]] = label[u]
        return label.copy()

    idle = False
    while not idle:
        idle = True
        for u, v in walk:
            while label[u] != label[v]:
                count, total, need = across(label[u], label[v])
                if count and total <= (log(1 / CONFIDENCE - 1) if count < need else 0.0) + ROUNDING:
                    break  # they are told apart
                idle = False
                if count >= need:
                    label[label == label[v]] = label[u]
                else:
                    yield ask(*(control(label[u], label[v]) if asked[u, v] else (u, v)))
        for record in range(n):
            while True:
                mates = np.setdiff1d(np.flatnonzero(label == label[record]), record)
                new = mates[~asked[record, mates]]
                if len(mates) - len(new) >= min(ceil(BETA * log2(len(mates) + 1) - ROUNDING), len(mates)):
                    break
                idle = False
                yield ask(record, int(rng.choice(new)))
            sums = np.bincount(label, evidence[record], n)
            best = int(sums.argmax())
            if max(sums[best], 0) > sums[label[record]] + ROUNDING:
                idle = False
                unused = np.flatnonzero(np.bincount(label, minlength=n) == 0)
                label[record] = best if sums[best] > ROUNDING else unused[0]
    yield label.copy()


def hybrid_ordering(similarity: ArrayLike, crowd: Oracle, *, rng: Seed) -> Iterator[np.ndarray]:
    r"""Place records in clusters that are similar enough; then ask by falling similarity about what is open.

    Records v come in decreasing order of expected cluster size. Each is compared with clusters C for which

    .. math:: \frac1{|C|} \sum_{u \in C} w(u, v) \ge \theta ,

    in decreasing order of the sum, by the most similar member, until an answer is *yes*, and with at most
    :math:`\lceil \log_2 n \rceil` of them. Then edge ordering goes on from all answers. Yields the clusters (n,) before
    each question, and at the end.

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1]. A ValueError if it is sparse.
    crowd : callable
        ``crowd(i, j)`` answers; every answer is believed. A TypeError if it or an answer has another form.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties.

    See Also
    --------
    crowder.NodeOrdering : compares a record with all clusters.
    crowder.crowds.replay : compares the clusters with the truth.

    Notes
    -----
    Source: Firmani, Saha and Srivastava, "Online Entity Resolution Using an Oracle", VLDB 2016, which leaves θ (here
    0.3), the number of clusters and the member open. Sums and means are rounded, so that equal ones are ties. O(n²),
    and O(n) for each question.

    Examples
    --------
    >>> from crowder import Truth, datasets
    >>> data = datasets.citations()
    >>> *_, clusters = hybrid_ordering(data.condensed, Truth(data.labels), rng=7)
    >>> clusters
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    """
    pairs: Any = _complete(similarity)
    crowd = callable_oracle(crowd)
    rng = generator(rng, "random ties")
    w, size, clusters = pairs.square(), pairs.sums.round(SIZE_DECIMALS), list[list[int]]()
    ordering = EdgeOrdering(pairs, rng=rng)
    for record in np.lexsort((rng.permutation(len(w)), -size)).tolist():
        sums = {number: w[record, cluster].sum().round(SIZE_DECIMALS) for number, cluster in enumerate(clusters)}
        near = [number for number in sums if w[record, clusters[number]].mean().round(SIZE_DECIMALS) >= THETA]
        for number in sorted(near, key=lambda number: -sums[number])[: ceil(log2(len(w)))]:
            yield ordering.resolution.clusters
            member = clusters[number][w[record, clusters[number]].argmax()]
            same = crowd(record, member)
            ordering.learn((record, member), same)
            if same:
                clusters[number].append(record)
                break
        else:
            clusters.append([record])
    yield from _believing(ordering, crowd)


def member_votes(similarity: Any, crowd: Oracle, *, rng: Seed) -> Iterator[np.ndarray]:
    """Edge ordering in which members of the two clusters vote, and two second looks at the end.

    An answer is the majority of what the crowd says of up to three pairs between the clusters of the two records.
    Yields the clusters (n,) before each question of edge ordering, at its end, and after each second look, in which
    records move and clusters are joined.

    Parameters
    ----------
    similarity, crowd
        As for `edge_then_noisy`, but any number of records. No pair is asked twice.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties, and chooses who votes in a second look.

    See Also
    --------
    crowder.beyond.NoisyOrdering : asks several questions only where they are needed.
    crowder.crowds.replay : compares the clusters with the truth.

    Notes
    -----
    Source: Mazumdar and Saha (AAAI 2017), section "System model", whose remedy it is for errors that stay with a pair.
    The second looks, and which members vote (`MemberVotes`), are chosen here. O(n) for each question besides edge
    ordering.

    Examples
    --------
    The second looks mend what the first answer, a wrong *yes*, does:

    >>> w, labels = np.full((8, 8), 0.5), np.repeat([0, 1], 4)
    >>> w[3, 7] = w[7, 3] = 0.9
    >>> def crowd(i, j): return labels[i] == labels[j] or {i, j} == {3, 7}
    >>> *_, before, once, twice = member_votes(w, crowd, rng=7)
    >>> before, twice
    (array([0, 0, 0, 1, 1, 1, 1, 1]), array([1, 1, 1, 1, 0, 0, 0, 0]))
    """
    ordering = EdgeOrdering(similarity, rng=rng)
    members = MemberVotes(crowd, VOTES, ordering, early=False)
    yield from _believing(ordering, members)
    clusters, rng = ordering.resolution.clusters, generator(rng, "the choice of members")
    for _ in range(LOOKS):
        clusters = members.second_look(clusters, rng=rng)
        yield clusters


def edge_then_noisy(similarity: Any, crowd: Oracle, *, rng: Seed) -> Iterator[np.ndarray]:
    """Edge ordering to its end; then noisy ordering, which starts from its answers.

    Yields the clusters (n,) before each question of edge ordering and at its end; then those of noisy ordering.

    Parameters
    ----------
    similarity : array_like or scipy.sparse matrix
        Symmetric (n, n), condensed in ``pdist`` order, or sparse with the candidate pairs stored; in [0, 1].
        A ValueError if it is none of these, or there are more than 4,000 records.
    crowd : callable
        ``crowd(i, j)`` answers. A TypeError as by `hybrid_ordering`.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties, and draws starts of the search for clusters.

    See Also
    --------
    crowder.beyond.NoisyOrdering : the second part, which may also begin.
    crowder.crowds.replay : compares the clusters with the truth.

    Notes
    -----
    The cost is that of the two parts. The book's own: where the most similar pair is better evidence than a sum, edge
    ordering finds most matches early, and noisy ordering then corrects its errors.

    Examples
    --------
    Edge ordering does not notice that its first answer, a *yes*, is wrong:

    >>> w, labels = np.full((8, 8), 0.5), np.repeat([0, 1], 4)
    >>> w[3, 7] = w[7, 3] = 0.9
    >>> def crowd(i, j): return labels[i] == labels[j] or {i, j} == {3, 7}
    >>> from crowder import edge_ordering
    >>> edge_ordering(w, crowd, rng=7).clusters
    array([0, 0, 0, 1, 1, 1, 1, 1])
    >>> *_, clusters = edge_then_noisy(w, crowd, rng=7)
    >>> clusters
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    pairs: Any = candidates(similarity)
    edge, noisy, crowd = EdgeOrdering(pairs, rng=rng), NoisyOrdering(pairs, rng=rng), callable_oracle(crowd)
    yield from _believing(edge, crowd)
    asked = edge.resolution
    noisy.take(Answers.read(zip(*asked.queries.T.tolist(), asked.answers.tolist(), strict=True)))
    yield noisy.clusters
    while (pair := noisy.ask()) is not None:
        noisy.tell(pair, checks.flag(crowd(*pair), f"the answer to {pair}"))
        yield noisy.clusters


def most_similar_once(
    similarity: ArrayLike, crowd: Oracle, *, unasked: float = -0.05, rng: Seed
) -> Iterator[np.ndarray]:
    r"""Ask about all pairs by falling similarity, each once; now and then, find the likeliest clusters.

    As in `control_queries`, a *yes* is :math:`\ln \frac{1 - e_-}{e_+}` nats of evidence for a match, a *no* :math:`\ln
    \frac{e_-}{1 - e_+}`, and a pair that was not asked about counts as `unasked` nats. The likeliest clusters have the
    largest sum of evidence within clusters; both rates are learned from them in turn. Yields every record alone, and
    then the clusters (n,) after 10, ..., n(n-1)/2 answers, numbers that grow by a constant factor.

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1]. A ValueError if it is sparse.
    crowd, rng
        As for `edge_then_noisy`.
    unasked : float, keyword only
        At most 0, otherwise a ValueError. On the book's real crowds, the default has the largest area under F1 of
        values from 0 to -1.

    See Also
    --------
    crowder.beyond.resolve : clusters from answers that exist already.
    crowder.crowds.replay : compares the clusters with the truth.

    Notes
    -----
    A simple strategy to compare others with, of no paper. 60 searches for clusters, of O(n²) for each of their rounds.

    Examples
    --------
    All other answers contradict the first one, a *yes*:

    >>> w, labels = np.full((8, 8), 0.5), np.repeat([0, 1], 4)
    >>> w[3, 7] = w[7, 3] = 0.9
    >>> def crowd(i, j): return labels[i] == labels[j] or {i, j} == {3, 7}
    >>> *_, clusters = most_similar_once(w, crowd, rng=7)
    >>> clusters
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """
    crowd, pairs = callable_oracle(crowd), _complete(similarity)
    unasked, rng = checks.number(unasked, "unasked", least=-inf, most=0.0), generator(rng, "random ties")
    falling, clusters, answers = _falling(pairs, rng), np.arange(pairs.n), list[bool]()
    prior = np.array([PRIOR.false_yes, PRIOR.false_no])  # wrong and right answers
    yield clusters
    m = len(falling)
    for k in np.unique(np.geomspace(min(FIRST, m), m, TIMES).astype(int)).tolist() if m else []:
        for pair in map(tuple, falling[len(answers) : k].tolist()):
            answers.append(checks.flag(crowd(*pair), f"the answer to {pair}"))
        (i, j), said, rates = falling[:k].T, np.array(answers), prior[:, 0] / prior.sum(axis=1)
        for _ in range(ROUNDS):
            false_yes, false_no = rates
            evidence = np.full((pairs.n, pairs.n), unasked)
            evidence[i, j] = np.where(said, log((1 - false_no) / false_yes), log(false_no / (1 - false_yes)))
            evidence[j, i] = evidence[i, j]
            clusters = likeliest(evidence, 0.0, start=clusters, rng=rng)
            same = clusters[i] == clusters[j]
            wrong = np.array([(said & ~same).sum(), (~said & same).sum()])
            rates = (wrong + prior[:, 0]) / (np.array([(~same).sum(), same.sum()]) + prior.sum(axis=1))
            rates = rates.clip(*LIMITS)
        yield clusters


def _complete(similarity: Any) -> Candidates:
    """The candidate pairs of a similarity that has all of them."""
    pairs = candidates(similarity)
    if not pairs.complete:
        raise ValueError("similarity must have every pair, dense or condensed")
    return pairs


def _falling(pairs: Candidates, rng: np.random.Generator) -> np.ndarray:
    """The pairs by falling similarity, ties at random, (m, 2)."""
    w, codes = pairs.listed()
    return np.column_stack(unpack(codes[np.lexsort((rng.random(len(w)), -w))]))


def _believing(ordering: EdgeOrdering, crowd: Oracle) -> Iterator[np.ndarray]:
    """The clusters of an ordering that believes every answer, before each question and at the end."""
    yield ordering.resolution.clusters
    while (pair := ordering.ask()) is not None:
        ordering.tell(pair, crowd(*pair))
        yield ordering.resolution.clusters
