"""An ordering for a crowd that errs, which asks where the clustering is least certain and revises it; `resolve`.

`crowder.Ordering` never asks what an earlier answer implies, so it never meets a contradiction. Here such questions are
asked on purpose, and every answer is kept as evidence: a wrong *same* is found by asking across the weakest cut of a
cluster, a wrong *different* by asking about other records of the two clusters. It goes beyond the paper.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from crowder import checks
from crowder.beyond import clustering
from crowder.beyond.answers import Answers
from crowder.beyond.clustering import correlation, improve, likeliest, sums_tell, tally
from crowder.beyond.errors import ErrorRates, informative, learn_errors
from crowder.checks import Seed, Shown
from crowder.oracles import Crowd, answer_and_worker, begin, callable_oracle, checked, same_records, two_records
from crowder.pairs import candidates, unpack
from crowder.resolution import by_first_record

__all__ = ["NoisyOrdering", "Resolved", "resolve"]

#: Limits of the correlation of similarities: an undamped sum outweighs every answer, and one that is damped to its mean
#: joins no clusters before there is an answer for each two records.
CORRELATIONS = 0.2, 0.8

#: Inside clusters a similarity counts with 2 (1 - γ) / (this + m), where m is the size of the larger cluster of its two
#: records: so those of a record with its whole cluster never outweigh a few answers.
INSIDE = 10

#: An additional cluster gains this share of the prior log-odds against a match.
PARSIMONY = 0.4

#: The largest number of records.
MOST_RECORDS = 4000

#: Rates and similarities are learned after this many answers, and again whenever their number has grown by this factor.
FIRST_UPDATE, GROWTH = 8, 1.1

#: The number of starts of the search for the likeliest clusters at those times.
STARTS = 4

#: `NoisyOrdering.take` ends with at most this many rounds, each with this many starts.
ROUNDS, FINAL_STARTS = 20, 8

#: Before any answer, the pair of rank r is a match with probability 1/(1 + 2r/n); this counts as much as this many
#: pairs in each block.
PRIOR_PAIRS = 1.0

#: Blocks of ranks grow by this factor, and no block has a chance of a match below `LEAST` or above 1 - `LEAST`.
BLOCK, LEAST = 1.3, 1e-4


@dataclass(frozen=True)
class Resolved:
    """The likeliest clusters given answers, and how well each record fits where it is if all others are right.

    Parameters
    ----------
    clusters : ndarray of int64, shape (n,)
        The cluster of each record, numbered in order of their first record.
    given_others : ndarray of float64, shape (n,)
        The probability that a record belongs where it is, *if all others are where they belong*; too high where others
        are misplaced as well. If the rates were learned, it is multiplied by the probability that the answers are not
        noise (`crowder.beyond.errors.informative`).
    errors : ErrorRates
        The rates of error, given or learned.

    See Also
    --------
    crowder.beyond.resolve : makes it from answers.

    Examples
    --------
    >>> from crowder.beyond import resolve
    >>> resolve([(0, 1, "yes"), (0, 1, "yes"), (1, 2, "no"), (0, 2, "no")], rng=7).clusters
    array([0, 0, 1])
    """

    clusters: np.ndarray
    given_others: np.ndarray
    errors: ErrorRates

    def __post_init__(self) -> None:
        for name in ("clusters", "given_others"):
            object.__setattr__(self, name, checks.owned(getattr(self, name)))


class NoisyOrdering(Shown):
    r"""Ask about the decision with the most expected wrong pairs, and keep the likeliest clusters.

    A decision separates two clusters, or keeps the two sides of a cut through a cluster together. With the log-odds λ
    that it is wrong (`crowder.beyond.clustering`) and m pairs of records across, its urgency is

    .. math:: \ln \bigl( m \cdot \min(e^{\lambda}, 1) \bigr) ,

    nearly the logarithm of the expected number of wrong pairs. Nothing is asked about a decision with fewer expected
    wrong pairs than `doubt`. Where the most similar pair identifies an entity better than all pairs together (see
    Notes), the decisions that are left are taken in nearly the order of `crowder.EdgeOrdering`: then m is the smaller
    number of records, and λ of two clusters has the evidence of their most similar pair. The question is the most
    similar pair across that has no answer. A ValueError if an argument is out of its range, or there are more than
    4,000 records.

    Parameters
    ----------
    similarity : array_like or scipy.sparse matrix
        Symmetric (n, n), condensed in ``pdist`` order, or sparse with the candidate pairs stored; in [0, 1]. Only
        candidates are asked about.
    errors : ErrorRates, optional
        How the crowd errs. By default learned from the answers.
    doubt : float, keyword only
        In [0, 1): stop when no decision has this many expected wrong pairs. It is an estimate, not a guarantee. With 0,
        ask until every pair has an answer.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties, and draws starts of the search for clusters.

    Attributes
    ----------
    errors : ErrorRates
        The rates given, or learned so far.
    correlation : float
        γ: how strongly the similarities between two clusters depend on one another, from 0 to 1.

    See Also
    --------
    crowder.beyond.resolve : clusters from answers that exist already.
    crowder.EdgeOrdering : for a crowd that never errs.

    Notes
    -----
    *Similarities* count twice. Across clusters, the probability that a pair of a given rank matches is learned from the
    pairs decided so far; its log-odds are summed and damped by their intraclass correlation γ, within the limits
    `CORRELATIONS`. Inside clusters they count little (`INSIDE`), and never more than a few answers. Whether sums or the
    most similar pair tell a record's cluster from others is compared at each update, over pairs without an answer
    (`crowder.beyond.clustering.sums_tell`).

    *Learning:* error rates, similarities and γ are learned anew whenever the number of answers has grown by a tenth,
    error rates as if the clusters were right: so they rise only where answers contradict one another. Then all records
    are clustered from several starts. In between, when an answer contradicts the clusters, the two clusters concerned
    are clustered again.

    *Before it ends*, it doubts clusters whose records are similar once more. Clusters are fitted to the answers, and of
    the many splits of one entity there may be one with hardly a "yes" across. So the logarithm of the number of splits
    is added to λ of two such clusters; otherwise halves of an entity could stay apart for ever.

    *Where it fails:* with a crowd that never errs it still doubts. On samples of 300 and 600 records of cora, its F1
    reaches 0.95 after up to 1.25 times as many questions as that of edge ordering. Where a crowd errs about a few dozen
    records, its F1 may be far behind for some answers, though not by 0.05 on average. Errors are taken to stay with a
    pair: where they stay with a record, because its picture shows another side, say, a few answers "no" are believed,
    and the record stays apart.

    *Cost:* O(n²) for a question; at an update, O(n²) for each start and round. Memory O(n²). A question about 1,000
    records takes 28 ms, about 4,000, the most that are allowed, 0.7 s and 2.2 GB. Not in the paper.

    Examples
    --------
    >>> from crowder import Faulty, Truth, datasets, dist2, edge_ordering
    >>> data = datasets.synthetic([20, 15, 10, 5], dist2(0.2), rng=1)
    >>> crowd = Faulty(Truth(data.labels), 0.1, rng=1, persistent=True)
    >>> ordering = NoisyOrdering(data.similarity, rng=1)
    >>> np.bincount(ordering.run(crowd)), ordering.n_answers
    (array([20, 15, 10,  5]), 128)
    >>> np.bincount(edge_ordering(data.similarity, crowd, rng=1).clusters)
    array([19,  1, 19,  1,  8,  2])
    """

    def __init__(
        self, similarity: ArrayLike, *, errors: ErrorRates | None = None, doubt: float = 1e-3, rng: Seed | None = None
    ) -> None:
        self._candidates = candidates(similarity)
        self.n = n = self._candidates.n
        if n > MOST_RECORDS:
            raise ValueError(f"NoisyOrdering is for at most {MOST_RECORDS:,} records, not {n:,}: time and memory grow "
                             "with n². Resolve groups of records that share no candidate pair one by one, or use "
                             "EdgeOrdering with a MajorityVote")  # fmt: skip
        self._answers: list[tuple[int, int, bool | None, Hashable]] = []
        self._pending: tuple[int, int] | None = None
        self._rng = checks.generator(rng, "ties and starts")
        if checks.probability(doubt, "doubt") == 1:
            raise ValueError(f"doubt must be in [0, 1), not {doubt!r}")
        self._least = log(doubt) if doubt > 0 else -np.inf  # the log-odds below which nothing is asked
        if errors is not None:
            checks.kind(errors, ErrorRates, "errors must be ErrorRates")
        self._given = errors
        values, codes = self._candidates.listed()
        falling = np.lexsort((self._rng.random(len(values)), -values))
        self._i, self._j = unpack(codes[falling])
        self._tied = np.unique(-values[falling], return_inverse=True)[1]
        self._rank = np.full((n, n), len(values))
        self._rank[self._i, self._j] = self._rank[self._j, self._i] = np.arange(len(values))
        self._s = np.zeros((n, n))
        self._free = self._rank < len(values)  # candidates without an answer
        self._table, self._votes = Answers(n), defaultdict[tuple[int, int], tuple[list, list]](lambda: ([], []))
        self._labels = np.arange(n)
        self._update_at: float = FIRST_UPDATE
        self._learn_errors()
        self._learn_similarities(self._s)
        self._tally()

    # --- what is learned ----------------------------------------------------------------------------------------------

    def _learn_errors(self) -> None:
        """The error rates given, or learned from the answers as if the clusters were right."""
        i, j = self._table.pairs.T
        self.errors = self._given or learn_errors(self._table, (self._labels[i] == self._labels[j]).astype(float))
        self._s[i, j] = self._s[j, i] = self.errors.evidence(self._table)

    def _learn_similarities(self, chance: np.ndarray) -> None:
        """P(match) as a falling function of the rank of a pair, from the pairs that are decided so far."""
        m, every = len(self._i), self.n * (self.n - 1) / 2
        self._e, self._base, self.correlation = np.zeros((self.n, self.n)), 0.0, CORRELATIONS[1]
        self._by_sums = True
        if m == 0:
            return
        one, other = self._labels[self._i], self._labels[self._j]
        told = np.zeros((self.n, self.n), bool)  # clusters with an answer between them
        i, j = self._table.pairs.T
        told[self._labels[i], self._labels[j]] = told[self._labels[j], self._labels[i]] = True
        decided = (one == other) | told[one, other]
        ends = np.unique(np.minimum(np.ceil(10 * BLOCK ** np.arange(80)), m).astype(np.int64))
        starts = np.append(0, ends[:-1])
        middle = (starts + ends) / 2
        number = np.add.reduceat(decided, starts, dtype=np.float64) + PRIOR_PAIRS
        share = np.add.reduceat(chance[self._i, self._j] * decided, starts)
        share = (share + PRIOR_PAIRS / (1 + 2 * middle / self.n)) / number
        share = isotonic_regression(share, weights=number, increasing=False).x.clip(LEAST, 1 - LEAST)
        odds = np.interp(np.log(np.arange(1, m + 1)), np.log(middle), np.log(share / (1 - share)))
        odds = (np.bincount(self._tied, odds) / np.bincount(self._tied))[self._tied]  # equal similarities, equal odds
        mean = ((1 / (1 + np.exp(-odds))).sum() + (every - m) * LEAST) / every  # no other pair is a candidate
        self._base = log(mean / (1 - mean))
        self._e[:] = log(LEAST) - self._base
        np.fill_diagonal(self._e, 0.0)
        self._e[self._i, self._j] = self._e[self._j, self._i] = odds - self._base
        self.correlation = float(np.clip(correlation(self._e, self.clusters), *CORRELATIONS))
        self._by_sums = sums_tell(self._e, self._free, self.clusters, self.correlation)

    def _tally(self) -> None:
        self._size = np.bincount(self._labels, minlength=self.n)
        self._answered, self._similar, self._unasked = (
            tally(values, self._labels) for values in (self._s, self._e, self._free)
        )
        self._nearest = self._similar if self._by_sums else clustering.most(self._e, self._labels)  # unused by sums

    @property
    def _cost(self) -> float:
        return max(0.0, -PARSIMONY * self._base)

    def _evidence(self) -> np.ndarray:
        """The evidence of pairs inside one cluster: that of the answers, and a little of the similarities."""
        size = self._size[self._labels]
        weight = 2 * (1 - self.correlation) / np.maximum(np.maximum(size[:, None], size), INSIDE)
        return self._s + weight * self._e

    def _update(self, starts: int = STARTS) -> None:
        """Learn rates and similarities from all answers, and cluster all records again."""
        self._update_at = int(self.n_answers * GROWTH) + 1
        weak, _, parent, order = self._weak_cuts()
        chance = clustering.probable(self._answered, self._similar, self._size, self._labels, self._base,
                                     self.correlation, weak, parent, order)  # fmt: skip
        self._learn_errors()
        self._learn_similarities(chance)
        self._cluster(starts)

    def _cluster(self, starts: int) -> None:
        self._labels = likeliest(self._evidence(), self._cost, start=self._labels, rng=self._rng, starts=starts)
        self._tally()

    # --- questions and answers ----------------------------------------------------------------------------------------

    def _facts(self) -> dict[str, Any]:
        return {"records": self.n, "answers": self.n_answers}

    @property
    def n_answers(self) -> int:
        """The number of answers so far, unsure ones included; two answers about one pair count as two."""
        return len(self._answers)

    @property
    def answers(self) -> list[tuple[int, int, bool | None, Hashable]]:
        """All answers in order: two records, whether the worker said "same" (None if unsure), and the worker."""
        return list(self._answers)

    def ask(self) -> tuple[int, int] | None:
        """The next question, None at the end. Calling it again before `tell` returns the same pair."""
        if self._pending is None:
            across, least = self._across()
            self._pending = self._inside(least) or across or self._across(fitted=True)[0]
        return self._pending

    def tell(self, pair: tuple[int, int], same: bool | None, worker: Hashable = None) -> None:
        """Keep the answer to the open question. Nothing is kept if there is an error, here or in `learn`.

        `pair` is what `ask` returned, in either order, otherwise a ValueError; `same` is None for unsure, an answer
        that was paid for, but is no evidence; `worker` is the name of who gave it.
        """
        if self._pending is None or not self._is_open(pair):
            state = "no question is open" if self._pending is None else f"the open question is {self._pending}"
            raise ValueError(f"pair {pair!r} was not asked: {state}")
        self.learn(self._pending, same, worker)

    def learn(self, pair: tuple[int, int], same: bool | None, worker: Hashable = None) -> None:
        """Keep an answer about any pair, from a question sheet for example; parameters as in `tell`.

        A ValueError if these are not two different records, or the worker is a missing value such as NaN; a TypeError
        if `same` is neither a boolean nor None, or `worker` is not hashable. Nothing is then kept.
        """
        i, j = two_records(pair, self.n)
        same, worker = checked(same, worker, f"the answer to {(i, j)}")
        self._keep(i, j, same, worker)
        if self._is_open(pair):
            self._pending = None
        a, b = self._labels[i], self._labels[j]
        if self.n_answers >= self._update_at:
            self._update()
        elif same is not None and same != (a == b):
            self._reconsider(a, b)

    def _is_open(self, pair: Any) -> bool:
        return same_records(pair, self._pending)

    def run(self, oracle: Crowd, budget: int | None = None) -> np.ndarray:
        """Ask `oracle` until nothing is left to ask, or until there are `budget` answers in all; return `clusters`.

        ``oracle(i, j)`` returns True, False, None (unsure), or a tuple of one of these and the worker. If it has a
        method ``vote``, that is called, with the number 0: no pair is asked about twice (`crowder.oracles`). A
        TypeError if it is not callable or an answer has another form; the answers before it are kept, and `run` can be
        called again.
        """
        begin(callable_oracle(oracle), self)
        most = None if budget is None else checks.whole(budget, "budget")
        while (most is None or self.n_answers < most) and (pair := self.ask()) is not None:
            self.tell(pair, *answer_and_worker(oracle, *pair, 0))
        return self.clusters

    def _keep(self, i: int, j: int, same: bool | None, worker: Hashable) -> None:
        """Add an answer to the evidence, but leave the clusters as they are."""
        self._table.add(i, j, same, worker)  # may refuse the worker
        self._answers.append((i, j, same, worker))
        change = 0.0
        if same is not None:
            said, workers = self._votes[min(i, j), max(i, j)]
            said.append(same)
            workers.append(worker)
            change = self.errors.of_votes(said, workers) - self._s[i, j]
        for x, y in ((i, j), (j, i)):
            between = self._labels[x], self._labels[y]  # what a cluster has with itself is not used
            self._s[x, y] += change
            self._answered[between] += change
            self._unasked[between] -= self._free[x, y]
            self._free[x, y] = False

    def take(self, answers: Answers) -> None:
        """Learn from `Answers` about any pairs, in their order, until the clusters no longer change.

        Those that are unsure are not taken: they are no evidence. A ValueError if they name records that do not exist,
        a TypeError if they are not `Answers`; nothing is then learned.
        """
        checks.kind(answers, Answers, "answers must be Answers")
        if answers.n > self.n:
            raise ValueError(f"answers must be about the {self.n} records, 0 to {self.n - 1}, but name {answers.n - 1}")
        pairs, workers = answers.pairs[answers.pair].tolist(), answers.workers
        for (i, j), yes, worker in zip(pairs, answers.yes.tolist(), answers.worker.tolist(), strict=True):
            self._keep(i, j, yes, workers[worker])
        self._pending = None
        self._cluster(FINAL_STARTS)  # by the rates so far: those learned from single records would be wrong
        for _ in range(ROUNDS):
            before = self.clusters
            self._update(FINAL_STARTS)
            if (self.clusters == before).all():
                break

    def _reconsider(self, a: int, b: int) -> None:
        """Cluster the records of these two clusters again."""
        records = np.flatnonzero((self._labels == a) | (self._labels == b))
        _, labels = np.unique(self._labels[records], return_inverse=True)
        evidence = np.ascontiguousarray(self._evidence()[np.ix_(records, records)])
        improve(evidence, self._cost, labels, self._rng.permutation(len(records)))
        names = [a, b] if a != b else [a]
        names += np.flatnonzero(self._size == 0).tolist()[: labels.max() + 1]
        found = np.array(names)[labels]
        if (found != self._labels[records]).any():
            self._labels[records] = found
            self._tally()

    # --- the next question --------------------------------------------------------------------------------------------

    def _weak_cuts(self) -> tuple:
        order_by = self._s - 1e-9 * self._rank
        return clustering.weak_cuts(self._s, self._e, self._labels, self._base, self.correlation, order_by)

    def _across(self, fitted: bool = False) -> tuple[tuple[int, int] | None, float]:
        """The question about the most urgent pair of clusters, and its urgency."""
        a, b, urgency = clustering.most_urgent(
            self._answered, self._similar, self._nearest, self._unasked, self._size, self._base, self.correlation,
            self._least, self._by_sums, fitted)  # fmt: skip
        if a == -1:
            return None, urgency
        return self._closest(*(np.flatnonzero(self._labels == name) for name in (a, b))), urgency

    def _inside(self, least: float) -> tuple[int, int] | None:
        """The question across the most urgent cut of a cluster, if it is more urgent than `least`."""
        weak, below, parent, order = self._weak_cuts()
        above = np.maximum(self._size[self._labels] - below, 1)  # 1 for a root, which is no cut
        surely, wrong = np.minimum(-weak, 0), below * above
        urgency = surely + np.log(wrong if self._by_sums else np.minimum(below, above))
        urgency[surely + np.log(wrong) <= self._least] = -np.inf
        for top in np.argsort(-urgency, kind="stable"):
            if urgency[top] <= least:
                break
            here = np.zeros(self.n, bool)
            here[top] = True
            for x in order:
                here[x] |= parent[x] != -1 and here[parent[x]]
            rest = np.flatnonzero((self._labels == self._labels[top]) & ~here)
            if (pair := self._closest(np.flatnonzero(here), rest)) is not None:
                return pair
        return None

    def _closest(self, here: np.ndarray, there: np.ndarray) -> tuple[int, int] | None:
        """The most similar pair between two groups that has no answer, None if there is none."""
        within = np.ix_(here, there)
        rank = np.where(self._free[within], self._rank[within], self.n**2)
        x, y = np.unravel_index(rank.argmin(), rank.shape)
        return (int(here[x]), int(there[y])) if rank[x, y] < self.n**2 else None

    # --- results ------------------------------------------------------------------------------------------------------

    @property
    def clusters(self) -> np.ndarray:
        return by_first_record(self._labels)

    @property
    def resolved(self) -> Resolved:
        """The clusters so far, and how well each record fits where it is if all others are right."""
        given_others = clustering.certainty(self._s, self._e, self._base, self.correlation, self.clusters)
        seen = 1.0 if self._given else informative(self._table, self._labels)
        return Resolved(self.clusters, seen * given_others, self.errors)


def resolve(answers: Any, similarity: Any = None, *, n: int | None = None, rng: Seed) -> Resolved:
    """The likeliest clusters, given answers that exist already.

    Parameters
    ----------
    answers : Answers, DataFrame or iterable of tuple
        As `Answers.read` takes them, with its errors: the numbers of two records, "yes", "no" or "unsure", and perhaps
        the worker.
    similarity : array_like, optional
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1]. It helps where the answers leave doubt. Errors are
        those of `NoisyOrdering`.
    n : int, keyword only
        The number of records; a ValueError if it is not that of the similarity, the default. Without a similarity one
        more than the largest one named.
    rng : int or numpy.random.Generator, keyword only
        Draws the starts of the search.

    See Also
    --------
    crowder.beyond.NoisyOrdering : also chooses the questions.
    crowder.beyond.Answers : the answers, and what may be wrong with a table of them.

    Notes
    -----
    Rates and clusters are learned in turn, at most `crowder.beyond.noisy.ROUNDS` times: O(a + n²) for each
    round, with a answers; memory O(n²). Somebody chose the pairs, perhaps because they are alike: without similarities,
    the share of matches among them is the prior of a match, and clusters that nobody compared with a record are not
    taken for its own.

    Examples
    --------
    One of three workers contradicts the others:

    >>> rows = [(i, j, "yes", who) for i, j in [(0, 1), (0, 2), (1, 2), (3, 4)] for who in ("ann", "bob")]
    >>> rows += [(i, j, "no", who) for i, j in [(0, 3), (1, 4), (2, 3)] for who in ("ann", "bob")]
    >>> rows += [(0, 1, "no", "eve"), (1, 4, "yes", "eve"), (3, 4, "unsure", "eve")]
    >>> result = resolve(rows, rng=7)
    >>> result.clusters, result.given_others.round(2)
    (array([0, 0, 0, 1, 1]), array([0.84, 0.84, 0.84, 0.81, 0.81]))
    """
    given = None if n is None else checks.whole(n, "n, the number of records,")
    if similarity is not None:
        similarity = candidates(similarity)
        if given not in (None, similarity.n):
            raise ValueError(f"n must be {similarity.n}, the number of records of similarity, not {given}")
        given = similarity.n
    if not isinstance(answers, Answers):
        answers = Answers.read(answers, given)
    records = answers.n if given is None else given
    if records > MOST_RECORDS:
        raise ValueError(f"answers must be about at most {MOST_RECORDS:,} records, not {records:,}; number those that "
                         "they name 0, 1, 2, ..., or resolve groups that no answer connects one by one")  # fmt: skip
    values: Any = np.zeros((records, records)) if similarity is None else similarity
    ordering = NoisyOrdering(values, rng=rng)
    ordering.take(answers)
    return ordering.resolved
