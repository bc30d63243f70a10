"""Gauss-Legendre quadrature on panels that become short where the integrands of the expected counts are steep."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np

__all__ = ["panels"]

_gauss = cache(np.polynomial.legendre.leggauss)


def panels(width: float, finest: float, nodes: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes and weights on [0, width], on panels that halve towards 0 until one is no wider than `finest`.

    Examples
    --------
    >>> at, weight = zip(*panels(1.0, 0.25, 2))  # [0, 1/4], [1/4, 1/2], [1/2, 1]
    >>> round(float(sum(w @ x**3 for x, w in zip(at, weight))), 12)  # exact for cubic polynomials
    0.25
    """
    x, weight = _gauss(nodes)
    halvings = max(0, int(np.ceil(np.log2(width / finest))))
    ends = np.concatenate([[0.0], width * 0.5 ** np.arange(halvings, -1, -1)])
    for low, high in pairwise(ends):
        yield low + (high - low) * (x + 1) / 2, weight * (high - low) / 2
