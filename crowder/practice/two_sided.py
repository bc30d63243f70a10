r"""An audit of both sides of a decision made without asking: of pairs accepted as matches, and of those rejected.

All open pairs are in one of two urns, from which pairs are drawn at random, without replacement, and asked about. A
*hit* is a pair that was decided wrongly. Let g of the urn's pairs be hits, F of them drawn when R pairs are left: the
next draw is a hit with probability (g - F)/R. So `crowder.beyond.audit` applies: with k hits so far, g is rejected once

.. math:: H(g) = -\sum_s \ln\Bigl(1 - \frac{g - F_s}{R_s}\Bigr) \ge c_k,

a sum over the draws s without a hit. The true g is ever rejected with probability at most α.
"""

from __future__ import annotations

import numpy as np

from crowder.beyond.audit import limits

__all__ = ["Urn"]


class Urn:
    """Pairs, packed, in random order, and what the draws so far have shown.

    Examples
    --------
    >>> urn = Urn(np.arange(1000), np.random.default_rng(7))
    >>> for _ in range(100):
    ...     urn.show(False)
    >>> urn.most(0.05)  # of 1,000 pairs, if 100 draws are no hits
    30
    """

    def __init__(self, codes: np.ndarray, rng: np.random.Generator) -> None:
        self.codes = np.sort(codes)
        self.order = rng.permutation(self.codes)
        self.drawn = self.hits = 0
        self._hits_before: list[int] = []  # of each draw that was no hit
        self._left: list[int] = []

    def show(self, hit: bool) -> None:
        """Take what is known of the next pair."""
        if hit:
            self.hits += 1
        else:
            self._hits_before.append(self.hits)
            self._left.append(len(self.order) - self.drawn)
        self.drawn += 1

    def most(self, alpha: float) -> int:
        """The largest number of hits in the urn, those drawn included, that is not rejected."""
        limit = limits(alpha, 16 << max(0, self.hits.bit_length() - 4))[self.hits]
        before, left = np.array(self._hits_before, float), np.array(self._left, float)
        low, high = self.hits, self.hits + len(self.order) - self.drawn + 1  # of these many, a draw would be one more
        while high - low > 1:
            middle = (low + high) // 2
            share = (middle - before) / left
            rejected = (share >= 1).any() or -np.log1p(-share).sum() >= limit
            low, high = (low, middle) if rejected else (middle, high)
        return low
