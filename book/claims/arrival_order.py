"""Claims of the appendix *Does the order of arrival matter?*."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import sympy as sp
from scipy import stats

import crowder as cr
from book.claims.node_ordering import (
    bound_checked,
    count_checked,
    e,
    every_order,
    from_all_orders,
    half,
    m,
    n,
    order_bounded,
    questions_asked,
    theorem_3_proof,
)
from book.companion import by_hand
from book.companion.claims import (
    Evidence,
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    exceeds,
    identity,
    of_chapter,
    readings,
    says,
    simulation,
)
from crowder.counting.arrival_orders import expected_queries_in_order
from crowder.counting.bounds import node_bound
from crowder.counting.expected_counts import expected_queries
from crowder.models import steps
from crowder.orderings import NodeOrdering, expected_sizes
from crowder.pairs import candidates

claim, check = of_chapter(__name__)

#: The constant c of the paper.
HALVES = {"dist1": 2, "dist2": 1}


def _moment(name: str, which: int, order: int) -> sp.Expr:
    """E[w^order] of matches (which = 1) and non-matches (2)."""
    edges, heights = (steps(name, e)[i] for i in (0, which))
    power = order + 1
    ends = zip(pairwise(edges), heights, strict=True)
    return sp.simplify(sum(h * (b**power - a**power) / power for (a, b), h in ends))


@cache
def _means() -> dict[tuple[str, int], sp.Expr]:
    return {(name, which): _moment(name, which, 1) for name in HALVES for which in (1, 2)}


def _stated(name: str) -> sp.Expr:
    """The mean expected size, as printed."""
    c = HALVES[name]
    return e / c * m + (half - e / (2 * c)) * n


#: Variances of a similarity, the same for matches and non-matches.
NOISE = {"dist1": sp.Rational(1, 12) - e**2 / 16, "dist2": (1 - e) ** 2 / 12}

_TRIED = [cr.dist1(0.3), cr.dist2(0.3)]


@claim("C20")
def mean_of_the_expected_size(sums=None, sizes=(12, 6, 2)):
    means, first = _means(), np.cumsum(sizes) - np.array(sizes)
    if sums is None:
        rng = np.random.default_rng(7)
        sums = [[expected_sizes(candidates(cr.datasets.synthetic(sizes, model, rng=rng).similarity))[first]
                 for _ in range(60)] for model in _TRIED]  # fmt: skip
    sums = np.array(sums)
    left_out = [_stated(model.name) - means[model.name, 1] for model in _TRIED]  # the record itself
    expected = [[float(one.subs({n: sum(sizes), m: size, e: 0.3})) for size in sizes] for one in left_out]
    yield identity("both models",
                   *(m * means[name, 1] + (n - m) * means[name, 2] - _stated(name) for name in HALVES))  # fmt: skip
    yield also(agreement("means of the densities", [[model.green.mean, model.red.mean] for model in _TRIED],
                         [[float(means[model.name, i].subs(e, 0.3)) for i in (1, 2)] for model in _TRIED],
                         tolerance=1e-12))  # fmt: skip
    said = f"Means over {sums.shape[1]} data sets agree with the formula, for both models and each cluster."
    yield says(also(simulation("without the record itself", sums.mean(axis=1),
                          sums.std(axis=1, ddof=1) / np.sqrt(sums.shape[1]), expected, size=sums.shape[1],
                          limit=5)), said)  # fmt: skip


def _ahead(model: cr.SimilarityModel, a: int, b: int, total: int) -> float:
    """Φ of the proposition: the probability that a record of a cluster of a arrives before one of b."""
    noise = 2 * (total - 2) * float(NOISE[model.name].subs(e, model.epsilon))
    return stats.norm.cdf(float(model.epsilon) / HALVES[model.name] * (a - b) / np.sqrt(noise))


class _Rows:
    """Runs with both arrival orders on the rows of a table: those of the chapter, or small ones with 100 records."""

    def __init__(self, table, models, sizes) -> None:
        if table is None:
            models, sizes = [cr.dist1(Fraction(2, 5)), cr.dist2(Fraction(1, 5))], [40, 20, 20, 10, 10]
            table = self._drawn(models, sizes)
        groups = table.groupby("row")
        self.table, self.models, self.sizes = table, models, sizes
        self.mean, self.error, self.repetitions = groups.mean(), groups.sem(), len(groups.get_group(0))
        self.surely = float(round(stats.t.isf(1e-6, self.repetitions - 1), 1))  # standard errors, 1 in 10⁶
        self.dist1 = np.array([model.name == "dist1" for model in models])

    @staticmethod
    def _drawn(models, sizes, repetitions: int = 30) -> pd.DataFrame:
        rng, rows = np.random.default_rng(7), []
        for (row, model), repetition in ((one, i) for one in enumerate(models) for i in range(repetitions)):
            data = cr.datasets.synthetic(sizes, model, rng=rng)
            truth, size = cr.Truth(data.labels), np.array(sizes)[data.labels]
            similar = data.similarity.sum(axis=1)
            before = np.greater.outer(similar[size == max(sizes)], similar[size == min(sizes)]).mean()
            asked = [questions_asked(data.similarity, truth, rng, order=order) for order in ("expected-size", "random")]
            rows.append((row, repetition, *asked, asked[1] - asked[0], before))
        return pd.DataFrame(rows, columns=["row", "repetition", "sorted", "random", "saved", "ahead"])

    def sorting(self) -> Evidence:
        large, little, total = max(self.sizes), min(self.sizes), sum(self.sizes)
        return simulation(
            f"probability that a record of {large} precedes one of {little}, rows of Table 1", self.mean["ahead"],
            self.error["ahead"] + 2e-4, [_ahead(model, large, little, total) for model in self.models],
            size=self.repetitions, limit=self.surely)  # fmt: skip


@claim("B57")
def mean_and_variance_of_the_difference(table=None, models=None, sizes=None):
    a, b = sp.symbols("a b", positive=True)
    differences = []
    for name, c in HALVES.items():
        means = [_means()[name, which] for which in (1, 2)]
        variances = [_moment(name, which, 2) - mean**2 for which, mean in zip((1, 2), means, strict=True)]
        (mean_u, mean_v), (var_u, var_v) = (
            [(size - 1) * green + (n - size - 1) * red for size in (a, b)] for green, red in (means, variances)
        )
        differences += [mean_u - mean_v - e / c * (a - b), var_u + var_v - 2 * (n - 2) * NOISE[name]]
    yield identity("mean and variance, both models", *differences)
    three = [cr.dist1(Fraction(1, 4)), cr.dist1(Fraction(1, 10)), cr.dist2(Fraction(1, 3))]
    yield also(cases(
        "three records, of which two match, in fractions: each of the two arrives before the third with probability "
        r"$1 - L_{g,r}(1) > \frac12$",
        *(_sorted_three(model)[1] == 1 - by_hand.integral(model, 1) > Fraction(1, 2) for model in three),
        where="three models"))  # fmt: skip
    rows = _Rows(table, models, sizes)
    ahead = rows.mean["ahead"]
    said = (
        "On the rows of Table 1 a record of a largest cluster comes before one of a smallest in "
        f"{ahead.min():.0%} to {ahead.max():.0%} of all cases."
    )
    yield says(also(rows.sorting()), said)
    yield also(agreement("variances of the densities", [[model.green.variance, model.red.variance] for model in _TRIED],
                         [[float(NOISE[model.name].subs(e, 0.3))] * 2 for model in _TRIED],
                         tolerance=1e-12))  # fmt: skip


def misleading_model() -> cr.SimilarityModel:
    """A model for which the order by expected size exceeds the bound, with clusters of 430 and 400."""
    p, h = Fraction(1, 40), Fraction(1, 3000)
    return cr.SimilarityModel.from_steps(
        [0, Fraction(1, 50), Fraction(47, 50), Fraction(48, 50), Fraction(49, 50), 1],
        [0, 0, 50 * (1 - p), 0, 50 * p], [50 * (1 - h), 0, 0, 50 * h, 0])  # fmt: skip


def _misleading_runs(runs: int = 10) -> tuple[cr.SimilarityModel, list[int], np.ndarray]:
    """A few runs of this model in both arrival orders."""
    model = misleading_model()
    sizes, rng, rows = [430, 400], np.random.default_rng(7), []
    for _ in range(runs):
        data = cr.datasets.synthetic(sizes, model, rng=rng)
        truth = cr.Truth(data.labels)
        rows.append(
            [questions_asked(data.similarity, truth, rng, order=order) for order in ("expected-size", "random")]
        )
    return model, sizes, np.array(rows)


def _sorted_three(model: cr.SimilarityModel) -> tuple[Fraction, Fraction]:
    """Records 0 and 1 match, 2 is a singleton; arrival by expected size.

    The probability that the non-match comes first if the last record has a match; the probability that record 0
    arrives before record 2.
    """
    pairs, with_match, detour, before = [(0, 1), (0, 2), (1, 2)], Fraction(0), Fraction(0), Fraction(0)
    for order, chance in by_hand.orders(model, "grr").items():
        top = pairs[order[0]]  # its two records have the largest sums
        last = 3 - sum(top)
        asked, _ = by_hand.node_questions("aab", [pairs[i] for i in order], [*top, last])
        with_match += chance * (last != 2)
        detour += chance * (last != 2 and asked == 3)
        before += chance * (order.index(0) < order.index(2))  # the sums differ by w(0,1) - w(1,2)
    return detour / with_match, before


def _own_models(runs: int) -> tuple[list[float], list[float]]:
    """Mean questions by expected size for the models of the paper, and the corrected bound."""
    rng, means, bounds = np.random.default_rng(2017), [], []
    for model in (cr.uniform(), cr.dist1(0.1), cr.dist1(0.5), cr.dist2(0.05), cr.dist2(0.3)):
        drawn = [cr.datasets.synthetic([20, 10, 5, 5, 2, 1, 1], model, rng=rng) for _ in range(runs)]
        means.append(np.mean([questions_asked(data.similarity, cr.Truth(data.labels), rng) for data in drawn]))
        bounds.append(node_bound(model, [20, 10, 5, 5, 2, 1, 1], printed=False))
    return means, bounds


@claim("E03")
def order_of_arrival(misleading=None, sizes=None, misleading_runs=None, runs=3):
    """`misleading_runs`: questions by expected size and in random order; `runs`: for each model of the paper."""
    if misleading_runs is None:
        misleading, sizes, misleading_runs = _misleading_runs()
    asked, law = misleading_runs[:, 0], cr.dist1(Fraction(1, 4))
    printed, limit = (node_bound(misleading, sizes, printed=form) for form in (True, False))
    said = (
        f"For one model {asked.mean():.1f} questions are asked on average by expected size, where the "
        f"corrected theorem would allow {limit:.1f}."
    )
    yield says(counterexample(
        f"clusters of {' and '.join(map(str, sizes))}, four levels, by expected size: mean questions (the corrected "
        f"theorem would allow {limit:.1f})", value=float(asked.mean()), relation="at most", printed=printed,
        margin=float(limit - printed + 4 * asked.std(ddof=1) / np.sqrt(len(asked)))), said)  # fmt: skip
    yield counterexample(
        r"the step of the proof: three records, Dist-1 with $\epsilon = \frac14$, by expected size; probability that "
        "the non-match is first, against $L_{g,r}(1)$", value=_sorted_three(law)[0], relation="at most",
        printed=by_hand.integral(law, 1))  # fmt: skip
    for piece in theorem_3_proof():
        yield corrected(piece)
    yield corrected(also(order_bounded()))
    yield corrected(also(bounded(f"models of the paper, by expected size, {runs} data sets each: means, against the "
                                 "corrected theorem", *_own_models(runs))))  # fmt: skip
    yield from (corrected(also(piece)) for piece in from_all_orders())


@claim("C21")
def arbitrary_arrival_order(
    table=None, models=None, sizes=None, fixed=None, misleading=None, misleading_sizes=None, misleading_runs=None
):
    rows = _Rows(table, models, sizes)
    if fixed is None:
        labels = np.repeat(np.arange(len(rows.sizes)), rows.sizes)
        fixed = np.array([[expected_queries_in_order(one, order) for order in (labels, labels[::-1])]
                          for one in rows.models])  # fmt: skip
    fixed = np.asarray(fixed)
    if misleading_runs is None:
        misleading, misleading_sizes, misleading_runs = _misleading_runs()
    bound = np.array([node_bound(model, rows.sizes, printed=False) for model in rows.models])
    exact = [expected_queries(model, rows.sizes, "node") for model in rows.models]
    allowed, expected = (
        node_bound(misleading, misleading_sizes, printed=False),
        expected_queries(misleading, misleading_sizes, "node"),
    )
    mean, error = misleading_runs.mean(axis=0), misleading_runs.std(axis=0, ddof=1) / np.sqrt(len(misleading_runs))
    t_limit = float(round(stats.t.isf(1e-6 if len(misleading_runs) > 15 else 1e-3, len(misleading_runs) - 1), 1))
    highest, _, _, sharp = every_order()
    one = rows.mean[rows.dist1]
    said = (
        f"Under Dist-1 random order takes up to {(one['random'] / one['sorted']).max() - 1:.1%} more questions "
        "than order by expected size."
    )
    yield says(readings(
        "what holds for an arbitrary order: three readings, and the largest ratio of a count to its bound",
        {
            "the bound, for orders independent of the similarities": max(
                (highest / sharp).max(), (fixed / bound[:, None]).max()),
            "the bound, for every order": mean[0] / allowed,
            "the count itself": (one["random"] / one["sorted"]).max(),
        },
        fits="the bound, for orders independent of the similarities", unit="ratio"), said)  # fmt: skip
    pooled = rows.table[rows.table["row"].isin(np.flatnonzero(rows.dist1))].groupby("repetition")["saved"].sum()
    yield also(exceeds(
        f"the {rows.dist1.sum()} Dist-1 rows of Table 1: questions in random order less those by expected size",
        pooled.mean(), pooled.sem(), size=rows.repetitions, limit=rows.surely))  # fmt: skip
    yield also(exceeds(
        f"clusters of {' and '.join(map(str, misleading_sizes))}, four levels: mean by expected size, above the "
        "corrected Theorem 3", mean[0], error[0], allowed, size=len(misleading_runs), limit=t_limit))  # fmt: skip
    yield also(bounded("orders independent of the similarities, rows of Table 1: exact count against corrected bound",
                       fixed,
                       bound[:, None]))  # fmt: skip
    yield also(order_bounded())
    yield also(rows.sorting())
    yield also(simulation("random order, rows of Table 1, against the exact count", rows.mean["random"],
                          rows.error["random"], exact, size=rows.repetitions, limit=rows.surely))  # fmt: skip
    yield also(bounded("by expected size, rows of Table 1, against the corrected bound", rows.mean["sorted"], bound))
    yield also(agreement("random order, four levels", mean[1], expected, tolerance=float(t_limit * error[1])))
    yield also(bound_checked())
    yield also(count_checked())
