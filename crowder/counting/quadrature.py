"""Integrals over the similarity that an ordering has reached, from the top down."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from crowder.models import SimilarityModel, common_steps

__all__ = ["NODES", "Step", "panels", "steps_down"]

#: Gauss-Legendre nodes for each panel. Half as many already give twelve correct digits.
NODES = 24

_gauss = cache(np.polynomial.legendre.leggauss)


class Step(NamedTuple):
    """A step of both densities, described from its upper end, where decreasing similarities enter it."""

    width: float
    green: float  # height of f_g
    red: float
    seen_green: float  # share of f_g above the step
    seen_red: float


def steps_down(model: SimilarityModel) -> Iterator[Step]:
    """The common steps of f_g and f_r, from the top down."""
    edges, green, red = common_steps(model.green, model.red)
    width = np.diff(edges)
    green, red = green / (green @ width), red / (red @ width)  # a mass may differ from one by a rounding error
    seen_green = seen_red = 0.0
    for w, g, r in zip(width[::-1], green[::-1], red[::-1], strict=True):
        yield Step(w, g, r, seen_green, seen_red)
        seen_green, seen_red = min(1.0, seen_green + g * w), min(1.0, seen_red + r * w)


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
