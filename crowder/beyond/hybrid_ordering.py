r"""Hybrid ordering: place records one by one as long as it pays, then ask by falling similarity.

Source: Firmani, Saha and Srivastava, "Online Entity Resolution Using an Oracle", PVLDB 9(5), 2016. Node ordering soon
finds the large clusters, and wastes questions on records that match nothing; edge ordering is the reverse. The hybrid
places records as node ordering does, postpones what promises little, and ends as edge ordering.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.orderings import SIZE_DECIMALS, EdgeOrdering, Ordering, arrival_order
from crowder.validation import Seed

__all__ = ["BENEFITS", "HybridOrdering"]

#: The benefit of comparing a record with a cluster: the sum of their similarities, or the largest of them.
BENEFITS = ("sum", "largest")


class HybridOrdering(EdgeOrdering):
    r"""Compare each record with the clusters of largest benefit, at most `tau` of them; then continue as edge ordering.

    The benefit of comparing record v with cluster C is the expected number of matching pairs that are found,

    .. math:: b(v, C) = \sum_{u \in C} w_{uv} .

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1]. Every pair is a candidate.
    tau : int, optional, keyword only
        The largest number of questions about a record while it is placed, by default :math:`\lceil \log_2 n \rceil`.
        With 0 this is edge ordering.
    theta : float, keyword only
        A record is not compared with a cluster if :math:`b(v, C) < \theta |C|`, that is, if their mean similarity is
        less; for ``benefit="largest"``, if their largest similarity is less.
    benefit : {"sum", "largest"}, keyword only
        b as above, or :math:`\max_{u \in C} w_{uv}`. With "largest", ``tau=n`` and ``theta=0`` this is node ordering.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties.

    Raises
    ------
    ValueError
        If the similarity is not one of these, tau is negative, theta is not in [0, 1], the benefit is unknown, or rng
        is missing.

    See Also
    --------
    crowder.EdgeOrdering : the second phase.
    crowder.NodeOrdering : it compares a record with all clusters, and with the one of the largest similarity first.

    Notes
    -----
    *From the paper:* the records in decreasing order of expected cluster size, as in node ordering; the benefit, and
    clusters in decreasing order of it; two parameters that postpone questions, a largest number of questions about a
    record and a least benefit relative to the size of the cluster; the second phase by edge ordering over all pairs
    that are not implied.

    *Chosen here:* the default values; which member of a cluster is asked about (the most similar one, as in node
    ordering); that a record to which nothing more is asked is from then on a cluster of its own; the benefit "largest";
    and ties, which are broken at random between pairs of the second phase and between records of equal expected size.

    The number of questions is at least :math:`n - k + \binom k2`, as for every ordering.

    *Cost:* O(n log n) for a question; memory O(n²).

    Examples
    --------
    >>> from crowder import Truth
    >>> similarity = [[1.0, 0.9, 0.8], [0.9, 1.0, 0.1], [0.8, 0.1, 1.0]]
    >>> HybridOrdering(similarity, rng=7).run(Truth([0, 0, 1])).queries  # record 0 is placed first, and 1 joins it
    array([[1, 0],
           [2, 0]])
    """

    def __init__(
        self,
        similarity: ArrayLike,
        *,
        tau: int | None = None,
        theta: float = 0.3,
        benefit: str = "sum",
        rng: Seed | None = None,
    ) -> None:
        generator = validation.generator(rng, "random ties")
        super().__init__(similarity, rng=generator)
        if not self.every_pair:
            raise ValueError("similarity must have every pair, dense or condensed, for hybrid ordering")
        if not isinstance(benefit, str) or benefit not in BENEFITS:
            raise ValueError(f"benefit must be one of {', '.join(BENEFITS)}, not {benefit!r}")
        self.tau = math.ceil(math.log2(max(self.n, 1))) if tau is None else validation.whole(tau, "tau")
        self.theta = float(validation.probability(theta, "theta"))
        self.benefit = benefit
        self._w = self._candidates.square()
        self._arrivals = arrival_order(self._candidates, "expected-size", generator, True)
        self._placed, self._asked = 0, 0  # how many records are placed; the questions about the next one

    def next_question(self) -> tuple[int, int] | None:
        while self.tau and self._placed < self.n:
            if self._asked < self.tau and (member := self._best_member()) is not None:
                return int(self._arrivals[self._placed]), member
            self._placed, self._asked = self._placed + 1, 0
        return super().next_question()

    def tell(self, pair: tuple[int, int], same: bool) -> None:
        super().tell(pair, same)
        self._asked += 1

    def _best_member(self) -> int | None:
        """The placed record to compare the next one with; None if there is none, or it has found its cluster."""
        record, placed = self._arrivals[self._placed], self._arrivals[: self._placed]
        components, w = self._knowledge.component[placed], self._w[record, placed]
        if (components == self._knowledge.component[record]).any():
            return None
        _, cluster = np.unique(components, return_inverse=True)
        by_similarity = np.lexsort((-w, cluster))
        first = np.searchsorted(cluster[by_similarity], np.arange(cluster.max(initial=-1) + 1))
        best = by_similarity[first]  # the most similar member of each cluster
        promise = w[best] if self.benefit == "largest" else np.bincount(cluster, weights=w) / np.bincount(cluster)
        rank = promise if self.benefit == "largest" else promise * np.bincount(cluster)
        for c in np.argsort(-np.round(rank, SIZE_DECIMALS), kind="stable"):
            if round(promise[c], SIZE_DECIMALS) >= self.theta and not self._settled(record, placed[best[c]]):
                return int(placed[best[c]])
        return None

    def decided_by(self) -> tuple[np.ndarray, ...]:
        settings = np.array([self.tau, self.theta, BENEFITS.index(self.benefit)])
        return (*super().decided_by(), self._arrivals, settings)

    def _run(self, labels: np.ndarray) -> None:
        Ordering._run(self, labels)  # not the compiled loop of edge ordering
