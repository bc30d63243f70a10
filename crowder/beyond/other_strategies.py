r"""Two strategies of other papers for a crowd that errs, with which the book compares `crowder.beyond.NoisyOrdering`.

Both ask about several pairs of two clusters where an ordering asks about one: `MemberVotes` lets any ordering take the
majority, and `control_queries` joins clusters only if the answers agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil, log, log2

import numpy as np

from crowder import validation
from crowder.beyond.error_rates import two_rates
from crowder.oracles import Oracle, callable_oracle, odd
from crowder.orderings import Ordering
from crowder.pairs import candidates
from crowder.validation import Seed, generator

__all__ = ["MemberVotes", "control_queries"]

#: Sums of evidence that differ by less than this are equal.
ROUNDING = 1e-9

#: β: control queries for each record and each doubling of its cluster. With 0 a single answer decides.
BETA = 2.0

#: The confidence required, in [½, 1), that two clusters differ. With ½ a single *no* is enough.
CONFIDENCE = 0.95


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
        self.crowd, self.votes, self.early = callable_oracle(crowd), odd(votes), validation.flag(early, "early")
        self.ordering = validation.kind(ordering, Ordering, "ordering must be an ordering, such as NodeOrdering")
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
                self.said[pair] = validation.flag(self.crowd(*pair), f"the answer to {pair}")
            count[self.said[pair]] += 1
            if self.early and max(count) > size // 2:
                break
        return count[True] > count[False]

    def second_look(self, clusters: np.ndarray, *, rng: Seed) -> np.ndarray:
        """The clusters after another vote on every record: misplaced records move, and split clusters are joined.

        First each record leaves its cluster if a vote with the others there says "different". Then the clusters, the
        largest first, and the records that left join the first cluster before them for which a vote says "same".
        """
        rng, clusters = generator(rng, "the choice of members"), validation.labels(clusters, self.ordering.n)
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
    similarity: np.ndarray,
    crowd: Callable[[int, int], bool],
    *,
    errors: tuple[float, float] = (0.05, 0.2),
    rng: Seed,
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
    pairs, crowd = candidates(similarity), callable_oracle(crowd)
    if not pairs.complete:
        raise ValueError("similarity must have every pair, dense or condensed")
    similarity, _ = pairs.listed()
    weight = log(false_no / (1 - false_yes)), log((1 - false_no) / false_yes)  # of no, of yes
    n = pairs.n
    i, j = np.triu_indices(n, 1)
    falling = np.lexsort((rng.random(len(similarity)), -similarity))
    walk = list(zip(i[falling].tolist(), j[falling].tolist(), strict=True))
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
        evidence[u, v] = evidence[v, u] = weight[validation.flag(crowd(u, v), f"the answer to {(u, v)}")]
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
