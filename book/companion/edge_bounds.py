"""How far the printed bound for edge ordering is exceeded, for the figure of the errata."""

from __future__ import annotations

import crowder as cr
from crowder.counting.bounds import edge_union_bound, three_steps

__all__ = ["excess"]


def excess(clusters, m):
    """For clusters of m in the model on three steps, at the p = u/m with the largest ratio: the exact count, the
    printed bound of Theorem 2, the one with the union-bound factor, and the first over the second."""
    models, sizes = [three_steps(u / m) for u in (0.5, 0.65, 0.8, 1, 1.3)], [m] * clusters
    counts = [(cr.expected_queries(model, sizes), cr.edge_bound(model, sizes), model) for model in models]
    exact, printed, model = max(counts, key=lambda count: count[0] / count[1])
    return {"k": clusters, "m": m, "exact": exact, "printed": printed, "repaired": edge_union_bound(model, sizes),
            "ratio": exact / printed}  # fmt: skip
