"""Edge ordering counted and bounded: the model that exceeds the printed bound, the bounds, and runs beside them."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb, sqrt

import numpy as np
import pandas as pd
from scipy.special import gammaln

import crowder as cr
from book.companion import by_hand, published
from crowder.counting.bounds import edge_tree_bound
from crowder.experiments import repeat
from crowder.perfect_crowd import edge_questions

__all__ = [
    "bounds_of_table_1", "bounds_of_two_clusters", "excess", "gap_count", "gap_model",
    "printed_bound", "questions_asked", "questions_counted", "repaired_bound",
    "small_models", "tree_in_fractions",
]  # fmt: skip


def gap_model(p):
    """Three steps: a match is on the highest with probability p, else on the lowest; non-matches are between."""
    third = Fraction(1, 3)
    return cr.SimilarityModel.from_steps(
        [0, third, 2 * third, 1], green=[3 * (1 - p), 0, 3 * p], red=[0, 3, 0], name="three steps"
    )


def gap_count(sizes, p):
    """E[Q] in the model on three steps."""
    components = {m: by_hand.expected_components(m, p) for m in set(sizes)}
    return sum(sizes) - len(sizes) + sum(components[a] * components[b] for a, b in combinations(sizes, 2))


def excess(clusters, m):
    """For clusters of m in the model on three steps, at the p = u/m with the largest ratio: the exact count, the
    printed bound of Theorem 2, the one with the union-bound factor, and the first over the second."""
    models, sizes = [gap_model(u / m) for u in (0.5, 0.65, 0.8, 1, 1.3)], [m] * clusters
    counts = [(cr.expected_queries(model, sizes), cr.edge_bound(model, sizes), model) for model in models]
    exact, printed, model = max(counts, key=lambda count: count[0] / count[1])
    return {"k": clusters, "m": m, "exact": exact, "printed": printed, "repaired": repaired_bound(model, sizes),
            "ratio": exact / printed}  # fmt: skip


def printed_bound(model, sizes):
    """Theorem 2 as printed: the bound, and the s at which it is attained."""
    n, k = sum(sizes), len(sizes)
    L = cache(lambda ell: by_hand.integral(model, comb(ell, 2)))

    def bracket(s):
        return comb(k, 2) * s**2 + n * sum(ell * L(ell) for size in sizes for ell in range(s, size + 1))

    value, s = min((bracket(s), s) for s in range(1, n + 1))
    return n + value, s


def repaired_bound(model, sizes):
    """Theorem 2 with the union-bound factor, in floats."""
    n, k, sizes = sum(sizes), len(sizes), np.asarray(sizes)[:, None]
    s = np.arange(1, sizes.max() + 1)
    inside = s < sizes
    choices = gammaln(sizes + 1) - gammaln(s + 2) - gammaln(np.where(inside, sizes - s, 1))  # ln C(m, s + 1)
    chance = np.log(np.maximum(cr.L(model, s * (s + 1) / 2), 1e-300))
    in_more = np.where(inside, sizes * (n - sizes) * np.exp(np.minimum(choices + chance, 600)), 0).sum(axis=0)
    return n - k + float(np.min(comb(k, 2) * s**2 + in_more))


def tree_in_fractions(sizes):
    n, k = sum(sizes), len(sizes)
    return n - k + sum(min(Fraction(2 * a * b, a + 1), Fraction(2 * a * b, b + 1)) for a, b in combinations(sizes, 2))


def small_models():
    """One model of each kind, with few steps."""
    backwards = cr.SimilarityModel.from_steps([0, Fraction(1, 2), 1], green=[2, 0], red=[0, 2])
    quarter = Fraction(1, 4)
    return [cr.uniform(), cr.dist1(quarter), cr.dist2(quarter), gap_model(quarter), backwards]


def questions_asked(sizes, model, rng):
    """Questions that edge ordering asks on one data set."""
    data = cr.datasets.synthetic(sizes, model, rng=rng)
    return cr.edge_ordering(data.condensed, cr.Truth(data.labels), rng=rng).n_queries


def questions_counted(sizes, model, rng):
    """The same, only counted."""
    data = cr.datasets.synthetic(sizes, model, rng=rng)
    return edge_questions(data.condensed, data.labels, rng=rng)


def bounds_of_table_1(repetitions, rng):
    """For each row of the edge column of Table 1: published number, runs, exact count, and bounds."""
    sizes, rows = published.cluster_sizes(announced=True), []
    for _, row in published.read()["table-1"].frame(as_code="model").iterrows():
        model = getattr(cr, row["model"])(Fraction(row["ε"]))
        runs = repeat(questions_counted, repetitions, rng=rng, sizes=sizes, model=model)
        exact = cr.expected_queries(model, sizes)
        # Where needless questions are rare, a few runs may show none. Questions are whole numbers, so the variance of
        # mu expected ones is at least mu (1 - mu).
        rare = min(max(exact - cr.ideal_queries(sizes), 0), 1)
        error = max(np.std(runs, ddof=1), sqrt(rare * (1 - rare))) / sqrt(repetitions)
        rows.append({
            "model": row["model"], "epsilon": float(Fraction(row["ε"])), "published": row["edge"],
            "simulated": np.mean(runs), "error": error, "exact": exact, "printed": cr.edge_bound(model, sizes),
            "corrected": cr.edge_bound(model, sizes, printed=False), "tree": edge_tree_bound(model, sizes),
        })  # fmt: skip
    return pd.DataFrame(rows)


def bounds_of_two_clusters(members, on_top, epsilon, rng):
    """For two clusters of each size, in the model with three steps and under Dist-1: exact count, a run, both bounds.

    In the first model a record has about `on_top` matches on the highest step.
    """
    rows = []
    for m in members:
        three, likely, sizes = gap_model(on_top / m), cr.dist1(epsilon), [m, m]
        for model, bound in ((three, repaired_bound(three, sizes)), (likely, edge_tree_bound(likely, sizes))):
            run = questions_counted(sizes, model, rng) if m <= 300 else None
            exact, printed = cr.expected_queries(model, sizes), cr.edge_bound(model, sizes)
            rows.append({"model": model.name, "m": m, "exact": exact, "one run": run, "printed": printed,
                         "corrected": bound})  # fmt: skip
    return pd.DataFrame(rows)
