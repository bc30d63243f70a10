"""Strategies with which the book compares `crowder.beyond.NoisyOrdering`, as `crowder.experiments.replay` takes them.

`hybrid_ordering` and `member_votes` are those of other papers; `edge_then_noisy` and `most_similar_once` are simple
ones. Each is a generator: it asks a crowd, and yields its clusters before the first answer and from time to time.
`crowder.beyond.other_strategies` has what `member_votes` is made of, and control queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, inf, log, log2
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.answers import Answers
from crowder.beyond.clustering import likeliest
from crowder.beyond.error_rates import PRIOR
from crowder.beyond.noisy_ordering import NoisyOrdering
from crowder.beyond.other_strategies import MemberVotes
from crowder.oracles import Oracle, callable_oracle
from crowder.orderings import SIZE_DECIMALS, EdgeOrdering
from crowder.pairs import Candidates, candidates
from crowder.validation import Seed, generator

__all__ = ["edge_then_noisy", "hybrid_ordering", "member_votes", "most_similar_once"]

#: `member_votes` ends with this many second looks.
LOOKS = 2

#: `most_similar_once` clusters its answers this many times, first after so many answers.
TIMES, FIRST = 60, 10

#: Before that, it learns the two rates of error from its clusters in so many rounds, within limits.
ROUNDS, LIMITS = 2, (1e-4, 0.49)


def hybrid_ordering(similarity: ArrayLike, crowd: Oracle, *, theta: float = 0.3, rng: Seed) -> Iterator[np.ndarray]:
    r"""Place records in clusters that are similar enough; then ask by falling similarity about what is open.

    Records v come in decreasing order of expected cluster size. Each is compared with clusters C for which

    .. math:: \frac1{|C|} \sum_{u \in C} w(u, v) \ge \theta ,

    in decreasing order of the sum, by the most similar member, until an answer is *yes*, and with at most
    :math:`\lceil \log_2 n \rceil` of them. Then edge ordering goes on from all answers.

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1].
    crowd : callable
        ``crowd(i, j)`` answers; every answer is believed.
    theta : float, keyword only
        θ in [0, 1].
    rng : int or numpy.random.Generator, keyword only
        Breaks ties.

    Yields
    ------
    ndarray of int64, shape (n,)
        The clusters before each question, and at the end.

    Raises
    ------
    ValueError
        If the similarity is sparse, or an argument is out of its range.
    TypeError
        If the crowd is not callable, or an answer is neither True nor False.

    See Also
    --------
    crowder.EdgeOrdering : its second part.
    crowder.NodeOrdering : compares a record with all clusters.
    crowder.experiments.replay : compares the clusters with the truth.

    Notes
    -----
    Source: Firmani, Saha and Srivastava, "Online Entity Resolution Using an Oracle", VLDB 2016, which leaves θ, the
    number of clusters and the member open. Sums and means are rounded, so that equal ones are ties. O(n²), and O(n) for
    each question.

    Examples
    --------
    >>> from crowder import Truth, datasets
    >>> data = datasets.citations()
    >>> *_, clusters = hybrid_ordering(data.condensed, Truth(data.labels), rng=7)
    >>> clusters
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2])
    """
    pairs, crowd = _complete(similarity), callable_oracle(crowd)
    theta, rng = float(validation.probability(theta, "theta")), generator(rng, "random ties")
    w, size, clusters = pairs.square(), pairs.sums.round(SIZE_DECIMALS), list[list[int]]()
    ordering = EdgeOrdering(similarity, rng=rng)
    for record in np.lexsort((rng.permutation(len(w)), -size)).tolist():
        sums = {number: w[record, cluster].sum().round(SIZE_DECIMALS) for number, cluster in enumerate(clusters)}
        near = [number for number in sums if w[record, clusters[number]].mean().round(SIZE_DECIMALS) >= theta]
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


def member_votes(similarity: Any, crowd: Oracle, *, votes: int = 3, rng: Seed) -> Iterator[np.ndarray]:
    """Edge ordering in which members of the two clusters vote, and two second looks at the end.

    An answer is the majority of what the crowd says of up to `votes` pairs between the clusters of the two records.

    Parameters
    ----------
    similarity : array_like or scipy.sparse matrix
        Symmetric (n, n), condensed in ``pdist`` order, or sparse with the candidate pairs stored; in [0, 1].
    crowd : callable
        ``crowd(i, j)`` answers; no pair is asked twice.
    votes : int, keyword only
        An odd number.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties, and chooses who votes in a second look.

    Yields
    ------
    ndarray of int64, shape (n,)
        The clusters before each question of edge ordering, at its end, and after each second look, in which records
        move and clusters are joined.

    Raises
    ------
    ValueError
        If the similarity or the number of votes is not one of these.
    TypeError
        If the crowd is not callable, or an answer is neither True nor False.

    See Also
    --------
    crowder.EdgeOrdering : the same with single answers.
    crowder.beyond.NoisyOrdering : asks several questions only where they are needed.
    crowder.experiments.replay : compares the clusters with the truth.

    Notes
    -----
    Source: Mazumdar and Saha (AAAI 2017), section "System model", whose remedy it is for errors that stay with a pair.
    The second looks, and which members vote (`crowder.beyond.other_strategies.MemberVotes`), are chosen here. O(n) for
    each question besides edge ordering.

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
    members = MemberVotes(crowd, votes, ordering, early=False)
    yield from _believing(ordering, members)
    clusters, rng = ordering.resolution.clusters, generator(rng, "the choice of members")
    for _ in range(LOOKS):
        clusters = members.second_look(clusters, rng=rng)
        yield clusters


def edge_then_noisy(similarity: Any, crowd: Oracle, *, rng: Seed) -> Iterator[np.ndarray]:
    """Edge ordering to its end; then noisy ordering, which starts from its answers.

    Parameters
    ----------
    similarity : array_like or scipy.sparse matrix
        Symmetric (n, n), condensed in ``pdist`` order, or sparse with the candidate pairs stored; in [0, 1].
    crowd : callable
        ``crowd(i, j)`` answers.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties, and draws starts of the search for clusters.

    Yields
    ------
    ndarray of int64, shape (n,)
        The clusters before each question of edge ordering and at its end; then those of noisy ordering.

    Raises
    ------
    ValueError
        If the similarity is none of these, or there are more than 4,000 records.
    TypeError
        If the crowd is not callable, or an answer is neither True nor False.

    See Also
    --------
    crowder.EdgeOrdering : the first part.
    crowder.beyond.NoisyOrdering : the second part, which may also begin.
    crowder.experiments.replay : compares the clusters with the truth.

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
    edge, noisy, crowd = EdgeOrdering(similarity, rng=rng), NoisyOrdering(similarity, rng=rng), callable_oracle(crowd)
    yield from _believing(edge, crowd)
    asked = edge.resolution
    noisy.take(Answers.read(zip(*asked.queries.T.tolist(), asked.answers.tolist(), strict=True)))
    yield noisy.clusters
    while (pair := noisy.ask()) is not None:
        noisy.tell(pair, validation.flag(crowd(*pair), f"the answer to {pair}"))
        yield noisy.clusters


def most_similar_once(
    similarity: ArrayLike, crowd: Oracle, *, unasked: float = -0.05, rng: Seed
) -> Iterator[np.ndarray]:
    r"""Ask about all pairs by falling similarity, each once; now and then, find the likeliest clusters.

    With :math:`e_+` the probability of a *yes* about a non-match and :math:`e_-` that of a *no* about a match, a *yes*
    is :math:`\ln \frac{1 - e_-}{e_+}` nats of evidence for a match, a *no* :math:`\ln \frac{e_-}{1 - e_+}`, and a pair
    that was not asked about counts as `unasked` nats. The likeliest clusters have the largest sum of evidence within
    clusters; both rates are learned from them in turn.

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1].
    crowd : callable
        ``crowd(i, j)`` answers.
    unasked : float, keyword only
        At most 0. On the book's real crowds, the default has the largest area under F1 of values from 0 to -1.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties, and draws starts of the search for clusters.

    Yields
    ------
    ndarray of int64, shape (n,)
        Every record alone, and then the clusters after 10, ..., n(n-1)/2 answers, numbers that grow by a constant
        factor.

    Raises
    ------
    ValueError
        If the similarity is sparse, or an argument is out of its range.
    TypeError
        If the crowd is not callable, or an answer is neither True nor False.

    See Also
    --------
    crowder.beyond.NoisyOrdering : chooses each question by what is still in doubt.
    crowder.beyond.resolve : clusters from answers that exist already.
    crowder.experiments.replay : compares the clusters with the truth.

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
    pairs, crowd = _complete(similarity), callable_oracle(crowd)
    unasked, rng = validation.number(unasked, "unasked", least=-inf, most=0.0), generator(rng, "random ties")
    w, (i, j), clusters = pairs.listed()[0], np.triu_indices(pairs.n, 1), np.arange(pairs.n)
    order = np.lexsort((rng.random(len(w)), -w))
    i, j, answers = i[order], j[order], list[bool]()
    yield clusters
    for k in np.unique(np.geomspace(min(FIRST, len(w)), len(w), TIMES).astype(int)).tolist() if len(w) else []:
        for pair in zip(i[len(answers) : k].tolist(), j[len(answers) : k].tolist(), strict=True):
            answers.append(validation.flag(crowd(*pair), f"the answer to {pair}"))
        clusters = _clustered(pairs.n, i[:k], j[:k], np.array(answers), clusters, unasked, rng)
        yield clusters


def _clustered(n: int, i: np.ndarray, j: np.ndarray, said: np.ndarray, start: np.ndarray, unasked: float,
               rng: np.random.Generator) -> np.ndarray:  # fmt: skip
    """The likeliest clusters given what was said of pairs (i, j); the rates of error are learned from them in turn."""
    clusters, prior = start, np.array([PRIOR.false_yes, PRIOR.false_no])  # wrong and right answers
    rates = prior[:, 0] / prior.sum(axis=1)
    for _ in range(ROUNDS):
        false_yes, false_no = rates
        evidence = np.full((n, n), unasked)
        evidence[i, j] = np.where(said, log((1 - false_no) / false_yes), log(false_no / (1 - false_yes)))
        evidence[j, i] = evidence[i, j]
        clusters = likeliest(evidence, 0.0, start=clusters, rng=rng)
        same = clusters[i] == clusters[j]
        wrong = np.array([(said & ~same).sum(), (~said & same).sum()])
        rates = (wrong + prior[:, 0]) / (np.array([(~same).sum(), same.sum()]) + prior.sum(axis=1))
        rates = rates.clip(*LIMITS)
    return clusters


def _complete(similarity: Any) -> Candidates:
    """The candidate pairs of a similarity that has all of them."""
    pairs = candidates(similarity)
    if not pairs.complete:
        raise ValueError("similarity must have every pair, dense or condensed")
    return pairs


def _believing(ordering: EdgeOrdering, crowd: Oracle) -> Iterator[np.ndarray]:
    """The clusters of an ordering that believes every answer, before each question and at the end."""
    yield ordering.resolution.clusters
    while (pair := ordering.ask()) is not None:
        ordering.tell(pair, crowd(*pair))
        yield ordering.resolution.clusters
