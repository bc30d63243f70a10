"""What the published constants of "Clustering with Noisy Queries" require at a given number of records.

Source: Mazumdar and Saha, NIPS 2017 (arXiv:1706.07510); the algorithm is in `crowder.beyond.noisy_queries`. Its
guarantee is for large n. With these constants it asks about every pair of the records that the book has.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from crowder import validation

__all__ = ["SAMPLE", "VOTES", "Counts", "least_records", "published_counts"]

#: The published constants: c log n votes with c = VOTES/(1 - 2p)², and SAMPLE k² log n/(1 - 2p)⁴ records in the sample
#: of the algorithm that takes polynomial time.
VOTES, SAMPLE = 16.0, 64.0


class Counts(NamedTuple):
    """What n records in k clusters require.

    Attributes
    ----------
    votes : int
        c log n: the size at which a cluster counts as found, and the questions about a record for each such cluster.
    sample : int
        The sample of the algorithm that takes polynomial time, before it is limited to n.
    bound : int
        nk votes: an upper bound on the questions of the other algorithm, before it is limited to all pairs.
    pairs : int
        n(n - 1)/2, all questions.
    """

    votes: int
    sample: int
    bound: int
    pairs: int


def published_counts(n: int, k: int, error: float, *, votes: float = VOTES, sample: float = SAMPLE) -> Counts:
    r"""The numbers of questions that the constants imply:

    .. math:: s = \Bigl\lceil \frac{16 \ln n}{(1 - 2p)^2} \Bigr\rceil, \quad
              N = \Bigl\lceil \frac{64 k^2 \ln n}{(1 - 2p)^4} \Bigr\rceil, \quad nks, \quad \binom n2 .

    Nothing is saved if s exceeds the size of the largest cluster, because then no cluster is ever found; nor, in
    polynomial time, if N is at least n. Natural logarithms make the least of the constants.

    Parameters
    ----------
    n, k : int
        Records and clusters, at least 1.
    error : float
        p, in [0, ½).
    votes, sample : float, keyword only
        The constants 16 and 64.

    Returns
    -------
    Counts

    Raises
    ------
    ValueError
        If an argument is not as described.

    See Also
    --------
    least_records : from how many records on something is saved.
    crowder.beyond.noisy_queries.NoisyQueries : the algorithm.

    Notes
    -----
    What the constants are for: a majority of s answers is wrong with probability at most
    :math:`e^{-2 s (1/2 - p)^2} \le n^{-8}` (Hoeffding). In a sample of N records a cluster of N/k of them has
    :math:`pN + (1 - 2p) N/k = pN + \frac{8}{1 - 2p} \sqrt{N \ln n}` expected neighbours a record, and 6 instead of 8
    are demanded (`crowder.beyond.signed_graphs.same_neighbours`).

    Examples
    --------
    >>> published_counts(94, 12, 0.1)  # at most 94 records, and each of them would need 114 votes
    Counts(votes=114, sample=102225, bound=128592, pairs=4371)
    """
    n, k = validation.whole(n, "n", least=1), validation.whole(k, "k", least=1)
    gap = (1 - 2 * _error(error)) ** 2
    each = math.ceil(_positive(votes, "votes") * math.log(n) / gap)
    return Counts(each, math.ceil(_positive(sample, "sample") * k**2 * math.log(n) / gap**2), n * k * each,
                  n * (n - 1) // 2)  # fmt: skip


def least_records(k: int, error: float, *, votes: float = VOTES, sample: float = SAMPLE) -> tuple[int, int]:
    """The fewest records in k clusters at which the constants guarantee a saving: nks below all pairs; N below n.

    Parameters
    ----------
    k, error, votes, sample
        As in `published_counts`.

    Returns
    -------
    bound, sample : int
        For the algorithm without k, and for the one that takes polynomial time.

    Raises
    ------
    ValueError
        If an argument is not as described.

    See Also
    --------
    published_counts : the numbers that are compared.

    Examples
    --------
    >>> least_records(12, 0.1)
    (5138, 282401)
    """

    def least(saves: Callable[[int, Counts], bool]) -> int:
        # From a record that saves nothing on, the difference only grows: double, then halve the interval.
        def saved(n: int) -> bool:
            return saves(n, published_counts(n, k, error, votes=votes, sample=sample))

        high = 2 * k + 2
        while not saved(high):
            high *= 2
        return bisect_left(range(high), True, lo=high // 2, key=saved)

    return least(lambda n, counts: counts.bound < counts.pairs), least(lambda n, counts: counts.sample < n)


def _error(value: float) -> float:
    if not 0 <= validation.probability(value, "error") < 0.5:
        raise ValueError(f"error must be below 0.5, not {value!r}")
    return float(value)


def _positive(value: float, what: str) -> float:
    number = validation.numbers(value, what)
    if number.ndim or not 0 < number < math.inf:
        raise ValueError(f"{what} must be a positive number, not {value!r}")
    return float(number)
