"""The paper's definitions at their plainest, for a few records, in fractions where possible.

They use no formula of `crowder`, which is held against them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb

__all__ = [
    "connected", "integral", "node_questions", "steps", "theorem_2", "theorem_3",
]  # fmt: skip


def steps(model) -> Iterator[tuple[Fraction, Fraction, Fraction, Fraction]]:
    """Each step of a model of step densities: its two ends, and the masses of f_g and f_r on it."""
    edges = sorted({Fraction(x) for density in (model.green, model.red) for x in density.edges})
    for a, b in pairwise(edges):
        yield a, b, *(_height(density, a, b) * (b - a) for density in (model.green, model.red))


def _height(density, a: Fraction, b: Fraction) -> Fraction:
    """The height of a step density between two edges; 0 outside its support."""
    parts = zip(pairwise(density.edges), density.heights, strict=True)
    return sum(Fraction(height) for (x, y), height in parts if Fraction(x) <= a and b <= Fraction(y))


def integral(model, t: int) -> Fraction:
    """L_{g,r}(t) by its definition: on each step, F_g rises from c to c + g and f_r has mass h.

    >>> import crowder as cr
    >>> integral(cr.dist1(Fraction(1, 4)), 1)
    Fraction(3, 8)
    """
    total, c = Fraction(0), Fraction(0)
    for _, _, g, h in steps(model):
        total += h * (((c + g) ** (t + 1) - c ** (t + 1)) / (g * (t + 1)) if g else c**t)
        c += g
    return total


def node_questions(labels: Sequence, order: Sequence[tuple[int, int]], arrival: Sequence[int]) -> tuple[int, int]:
    """The questions of node ordering for these orders of pairs and records, and how many of them are non-matches.

    >>> node_questions("aab", [(0, 2), (0, 1), (1, 2)], [0, 1, 2])
    (2, 1)
    """
    rank = {frozenset(pair): place for place, pair in enumerate(order)}
    clusters, asked, apart = [], 0, 0
    for v in arrival:
        for c in sorted(clusters, key=lambda c: min(rank[frozenset((v, u))] for u in c)):
            asked += 1
            if labels[c[0]] == labels[v]:
                c.append(v)
                break
            apart += 1
        else:
            clusters.append([v])
    return asked, apart


def connected(m: int, p) -> list:
    """The chance that the random graph G(a, p) is connected, for a = 0, ..., m.

    >>> connected(3, Fraction(1, 4))
    [0, Fraction(1, 1), Fraction(1, 4), Fraction(5, 32)]
    """
    c = [0, p**0]
    for a in range(2, m + 1):  # the first vertex is in a component of b < a vertices
        c.append(1 - sum(comb(a - 1, b - 1) * c[b] * (1 - p) ** (b * (a - b)) for b in range(1, a)))
    return c


def theorem_2(sizes: Sequence[int], L: Callable):
    """Theorem 2 as printed: n + min over s of C(k,2) s² + n Σ_i Σ_{ℓ=s}^{m_i} ℓ L(C(ℓ,2)).

    >>> theorem_2([2, 1], lambda t: Fraction(1, t + 1))
    Fraction(10, 1)
    """
    n, k, top = sum(sizes), len(sizes), max(sizes)
    term = [0] + [ell * L(comb(ell, 2)) * sum(m >= ell for m in sizes) for ell in range(1, top + 1)]
    return n + min(comb(k, 2) * s**2 + n * sum(term[s:]) for s in range(1, n + 1))


def theorem_3(sizes: Sequence[int], L: Callable, *, corrected: bool = False):
    """Theorem 3: n + Σ_i Σ_{s=1}^{m_i} min{k, (n - m_i) L(s)}; corrected: s from 0, and k - 1, n - k for k, n.

    >>> theorem_3([2, 2], lambda s: Fraction(1, s + 1)), theorem_3([2, 2], lambda s: Fraction(1, s + 1), corrected=True)
    (Fraction(22, 3), 6)
    """
    n, k = sum(sizes), len(sizes)
    first, most, matches = (0, k - 1, n - k) if corrected else (1, k, n)
    return matches + sum(min(most, (n - m) * L(s)) for m in sizes for s in range(first, first + m))
