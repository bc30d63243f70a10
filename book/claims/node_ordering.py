"""Claims of the chapter *Node ordering*."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, permutations
from math import comb

import numpy as np
import pandas as pd
import sympy as sp
from scipy import stats

import crowder as cr
from book.companion import by_hand, published
from book.companion.claims import (
    Evidence,
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    identity,
    inequality,
    of_chapter,
    says,
    trend,
)
from book.companion.naive import splits
from crowder.counting.arrival_orders import expected_queries_in_order, prob_nonmatch_first
from crowder.counting.bounds import node_bound
from crowder.counting.exact_counts import expected_queries_exact
from crowder.counting.expected_counts import expected_queries
from crowder.orderings import NodeOrdering
from crowder.perfect_crowd import node_questions
from crowder.resolution import ideal_queries

claim, check = of_chapter(__name__)

# --- symbols, and formulas derived in the chapter -------------------------------------------------------------------

n, k, m, e, theta = sp.symbols("n k m epsilon theta", positive=True)
half = sp.Rational(1, 2)
LEAST = n - k + k * (k - 1) / 2
MOST = n * k - k * (k + 1) / 2

#: Sizes of a cluster beside a singleton: the instances that attain the sharper bound.
MATES = (1, 2, 5, 20)

_three_steps = cr.SimilarityModel.from_steps(
    [0, Fraction(1, 4), Fraction(1, 2), 1], [1, 2, Fraction(1, 2)], [2, 0, 1])  # fmt: skip
MODELS = [cr.uniform(), cr.dist1(Fraction(1, 4)), cr.dist2(Fraction(1, 3)), _three_steps]


def sizes_of(records: Iterable[int]) -> list[tuple[int, ...]]:
    return [sizes for total in records for sizes in splits(total)]


def evenly(total: int, clusters: int) -> np.ndarray:
    return np.full(clusters, total // clusters) + (np.arange(clusters) < total % clusters)


def _least(sizes: Sequence[int]) -> sp.Expr:
    return LEAST.subs({n: sum(sizes), k: len(sizes)})


def _most(sizes: Sequence[int]) -> sp.Expr:
    return MOST.subs({n: sum(sizes), k: len(sizes)})


def sharp(model: cr.SimilarityModel, sizes: Sequence[int]) -> float:
    """The first form of the corrected theorem; `node_bound` is the second."""
    return node_bound(model, sizes, printed=False) - len(sizes) - comb(len(sizes), 2)


def _theorem_3(model: cr.SimilarityModel, sizes: Sequence[int], *, printed: bool) -> Fraction:
    """The bound in fractions, term by term: as printed, or with s from 0 and k - 1."""
    L = partial(by_hand.integral, model)
    return by_hand.theorem_3(sizes, L) if printed else len(sizes) + by_hand.theorem_3(sizes, L, corrected=True)


# --- evidence that several claims share ----------------------------------------------------------------------------


@cache
def every_order(records: int = 5) -> np.ndarray:
    """Over all arrival orders: the highest and the mean count, the count by `expected_queries`, the sharper bound."""
    rows = []
    for model in MODELS:
        for sizes in sizes_of(range(2, records + 1)):
            orders = set(permutations(np.repeat(range(len(sizes)), sizes).tolist()))
            counts = [expected_queries_in_order(model, order) for order in orders]
            rows.append((max(counts), np.mean(counts), expected_queries(model, sizes, "node"), sharp(model, sizes)))
    return np.array(rows).T


def order_bounded() -> Evidence:
    highest, _, _, sharp = every_order()
    return bounded("every arrival order of up to five records, four models", highest, sharp + 1e-12)


@cache
def theorem_3_proof() -> list[Evidence]:
    """What the proof of the corrected theorem rests on."""
    F, t = sp.symbols("F t", positive=True)
    return [
        inequality("$t - 1$ further non-matches do not help: $F_r^{t-1} \\le 1$", 1 - F**t, over={F: (0, 1)}),
        identity("the second form less the first: the terms with $s = 0$ are $k - 1$ each",
                 (n + k * (k - 1) - LEAST, k + k * (k - 1) / 2)),
    ]  # fmt: skip


def count_checked() -> Evidence:
    _, average, integral, _ = every_order()
    return agreement("`cr.expected_queries` against the mean over all arrival orders",
                     integral, average, tolerance=1e-9,
                     relative=True)  # fmt: skip


@cache
def from_all_orders() -> list[Evidence]:
    """Counts against all orders of the pairs and of arrival; counts against the bound for all small partitions."""
    d1, d2 = cr.dist1(Fraction(1, 4)), cr.dist2(Fraction(1, 3))
    cases = [(cr.uniform(), "aab"), (cr.uniform(), "abc"), (cr.uniform(), "aabb"), (d1, "aab"), (d2, "aab")]
    means = [by_hand.node_mean(*case) for case in cases]
    cases = [(model, list(Counter(labels).values())) for model, labels in cases]
    small = [(model, sizes) for model in (cr.uniform(), d1, d2) for sizes in sizes_of(range(2, 5))]
    return [
        agreement("the counts in fractions against all orders of the pairs and of arrival",
                  [expected_queries_exact(*case, "node") for case in cases], means),
        agreement("`cr.expected_queries` against them", [expected_queries(*case, "node") for case in cases], means,
                  tolerance=1e-9),
        bounded(f"all partitions of up to four records, three models: counts against the bound less $k$, {len(small)} "
                "cases", [expected_queries(*case, "node") for case in small],
                [float(_theorem_3(*case, printed=False)) - len(case[1]) for case in small]),
    ]  # fmt: skip


def _cases() -> list[tuple[cr.SimilarityModel, list[int]]]:
    sizes = [*sizes_of(range(2, 6)), [7, 3, 3, 1], [12, 1, 1, 1, 1], [30, 20]]
    return [(model, one) for model in MODELS for one in sizes]


def bound_checked() -> Evidence:
    return agreement(
        "the corrected sum, against fractions", [node_bound(*case, printed=False) for case in _cases()],
        [_theorem_3(*case, printed=False) for case in _cases()], tolerance=1e-12, relative=True)  # fmt: skip


def _ideal_checked(sizes: Sequence[Sequence[int]]) -> Evidence:
    return agreement(
        "the least number of questions is the ideal", [ideal_queries(s) for s in sizes], [_least(s) for s in sizes]
    )


def _worst_instance(sizes: Sequence[int]) -> tuple[np.ndarray, cr.Truth]:
    """The worst-case instance of the chapter with all pairs stored: those that it leaves out have similarity 0."""
    labels, first = np.repeat(np.arange(len(sizes)), sizes), np.cumsum(sizes) - sizes
    w = np.zeros((len(labels),) * 2)
    for i, j in combinations(range(len(labels)), 2):
        if i in first and j in first:
            w[i, j] = w[j, i] = 1
        elif i in first or j in first:
            w[i, j] = w[j, i] = (1 if labels[i] == labels[j] else 2) / (4 * len(labels))
    return w, cr.Truth(labels)


def questions_asked(similarity, truth: cr.Truth, rng=7, **settings) -> int:
    return cr.node_ordering(similarity, truth, rng=rng, **settings).n_queries


def _worst_runs(cases: Iterable[tuple[int, int]]) -> pd.DataFrame:
    rows = [(a, b, questions_asked(*_worst_instance(evenly(a, b))), ideal_queries(evenly(a, b))) for a, b in cases]
    return pd.DataFrame(rows, columns=["n", "k", "asked", "least"])


def bounds_of_one_size(model, records, members, rng) -> pd.DataFrame:
    """For so many records in clusters of each size: exact count, one run, both bounds, and the fewest."""
    rows = []
    for m in members:
        sizes = [m] * (records // m)
        data = cr.datasets.synthetic(sizes, model, rng=rng)
        rows.append({
            "m": m, "exact": expected_queries(model, sizes, "node"),
            "one run": node_questions(data.condensed, data.labels, rng=rng, order="random"),
            "printed": node_bound(model, sizes), "corrected": sharp(model, sizes), "fewest": ideal_queries(sizes),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _random_density(edges, rng):
    steps = len(edges) - 1
    heights = rng.gamma(0.5, size=steps) * (rng.random(steps) < 0.75)
    heights = heights if heights.any() else np.ones(steps)
    return heights / (heights @ np.diff(edges))


def random_search(searched, rng) -> pd.DataFrame:
    """Exact counts and bounds for random models of 2 to 5 steps, some of them empty, and 2 to 30 clusters."""
    rows = []
    for _ in range(searched):
        edges = np.r_[0, np.sort(rng.random(rng.integers(1, 5))), 1]
        model = cr.SimilarityModel.from_steps(edges, _random_density(edges, rng), _random_density(edges, rng))
        chance = 1 / rng.choice([1.3, 3, 10, 40])  # small clusters to large
        sizes = rng.geometric(chance, size=rng.integers(2, 31))
        rows.append({
            "n": sum(sizes), "k": len(sizes), "exact": expected_queries(model, sizes, "node"),
            "printed": node_bound(model, sizes), "corrected": node_bound(model, sizes, printed=False),
            "sharp": sharp(model, sizes),
        })  # fmt: skip
    return pd.DataFrame(rows)


def runs_of_table_1(repetitions, rng) -> pd.DataFrame:
    """For the rows of Table 1: questions by expected size and in random order, and how well the expected size sorts."""
    sizes = published.cluster_sizes(announced=True)
    rows = published.read()["table-1"].frame(as_code="model")
    models = [getattr(cr, name)(Fraction(epsilon)) for name, epsilon in rows[["model", "ε"]].to_numpy()]

    def both_orders(row, rng):
        data = cr.datasets.synthetic(sizes, models[row], rng=rng)
        size, similar = np.array(sizes)[data.labels], data.similarity.sum(axis=1)
        little = np.sort(similar[size == min(sizes)])
        one, other = (node_questions(data.similarity, data.labels, rng=rng, order=order)
                      for order in ("expected-size", "random"))  # fmt: skip
        ahead = np.searchsorted(little, similar[size == max(sizes)]).mean() / len(little)
        rank = stats.spearmanr(similar, size).statistic
        return {"sorted": one, "random": other, "saved": other - one, "rank": rank, "ahead": ahead}

    return cr.experiments.sweep(both_orders, [{"row": row} for row in range(len(rows))], repetitions, rng=rng)


# --- the worst case ------------------------------------------------------------------------------------------------


def _extremes(sizes: Sequence[int]) -> tuple[int, int]:
    """Fewest and most questions over all arrival orders and all similarities, record by record."""

    @cache
    def rest(left: tuple[int, ...]) -> tuple[int, int]:
        opened = sum(now < size for now, size in zip(left, sizes, strict=True))
        ways = []
        for i, now in enumerate(left):
            if now:
                low, high = rest((*left[:i], now - 1, *left[i + 1 :]))
                ways.append((low + (1 if now < sizes[i] else opened), high + opened))
        lows, highs = zip(*ways, strict=True) if ways else ((0,), (0,))
        return min(lows), max(highs)

    return rest(tuple(sizes))


@claim("B51")
def least_and_most_questions(sizes=None, easy=None, worst=None):
    sizes = sizes_of(range(1, 6)) if sizes is None else sizes
    if easy is None:
        labels = [np.repeat(np.arange(len(s)), s) for s in sizes]
        easy = [questions_asked(np.equal.outer(one, one) * 1.0, cr.Truth(one)) for one in labels]
        worst = [questions_asked(*_worst_instance(s)) for s in sizes]
    yield identity(
        "the maximum: all necessary and all possible unnecessary questions", LEAST + (n - k) * (k - 1) - MOST
    )
    yield also(agreement(
        f"least and most for all cluster sizes of up to {max(map(sum, sizes))} records, record by record",
        [_extremes(s) for s in sizes], [(_least(s), _most(s)) for s in sizes]))  # fmt: skip
    said = f"Runs for all {len(sizes)} lists of sizes of up to {max(map(sum, sizes))} records reach both ends."
    yield says(also(agreement("runs on the worst-case instance", worst, [_most(s) for s in sizes])), said)
    yield also(agreement("runs with similarities 0 and 1", easy, [ideal_queries(s) for s in sizes]))
    yield also(_ideal_checked(sizes))


@claim("C04")
def worst_case(runs=None, clusters=2, usual=None, sizes=None):
    if runs is None:
        runs = _worst_runs([*((a, clusters) for a in (10, 100)), (8, 4), (20, 6)])
        grown = pd.DataFrame({"n": [10, 100, 1000, 10_000]})  # these runs take quadratic time; the formula does not
        grown["asked"] = [float(_most(evenly(a, clusters))) for a in grown["n"]]
    else:
        grown = runs[runs["k"] == clusters]
    if usual is None:
        drawn = cr.datasets.synthetic([9, 5, 3, 1], cr.dist1(0.25), rng=7)
        usual = [questions_asked(drawn.similarity, cr.Truth(drawn.labels))]
    yield identity("$k$ times the least, less the most, is $k(k-1)^2/2$", k * LEAST - MOST - k * (k - 1) ** 2 / 2)
    yield inequality("this is nonnegative, and the most is less than $nk$", k * (k - 1) ** 2 / 2, n * k - MOST)
    most = runs.loc[runs["asked"].astype(float).idxmax()]
    said = (
        f"The longest of these runs takes {most['asked']:,.0f} questions about {most['n']:,.0f} records in "
        f"{most['k']:,.0f} clusters; $nk$ is {most['n'] * most['k']:,.0f}."
    )
    yield says(also(agreement("runs on the worst-case instance", runs["asked"],
                              [MOST.subs({n: a, k: b}) for a, b in zip(runs["n"], runs["k"], strict=True)])),
               said)  # fmt: skip
    yield also(trend(f"questions on the worst-case instance against $n$, $k = {clusters}$",
                     grown["n"], grown["asked"], exponent=1,
                     within=0.03))  # fmt: skip
    yield also(bounded("runs on 18 records in 4 clusters, Dist-1", usual, float(MOST.subs({n: 18, k: 4}))))
    yield also(_ideal_checked(sizes_of(range(1, 6)) if sizes is None else sizes))


@claim("B52")
def exact_worst_factor(runs=None):
    runs = _worst_runs([(8, 4), (20, 6)]) if runs is None else runs
    quadratic = 2 * n**2 - 3 * k * n + k**2 * (k + 1) / 2
    ratio = sp.lambdify((n, k), MOST / LEAST)
    table = np.array([(a, b) for a in range(1, 301) for b in range(1, a + 1) if a + b > 2], dtype=float).T
    decades = np.logspace(2, 6, 9)
    more = sp.Symbol("j", nonnegative=True)  # k = 2 + j
    yield identity("$2n$ times the least, less $k$ times the most; its discriminant; $k = 1$",
                   2 * n * LEAST - k * MOST - quadratic, sp.discriminant(quadratic, n) - k**2 * (5 - 4 * k),
                   quadratic.subs(k, 1) - (2 * n - 1) * (n - 1))  # fmt: skip
    yield inequality("the discriminant is negative for $k \\ge 2$", 4 * (2 + more) - 5)
    share = ratio(*table) / np.minimum(table[1], 2 * table[0] / table[1])
    said = f"For all {len(share):,} pairs of $k$ and $n$ the factor is at most {share.max():.0%} of the bound."
    yield says(
        also(bounded("all $k \\le n \\le 300$", ratio(*table), np.minimum(table[1], 2 * table[0] / table[1]))), said
    )
    yield also(agreement("the factor on the worst-case instance",
                         runs["asked"] / runs["least"], ratio(runs["n"], runs["k"]),
                         tolerance=1e-12))  # fmt: skip
    yield also(trend(r"the factor at $k = \sqrt{2n}$, against $n$",
                     decades, ratio(decades, np.sqrt(2 * decades)), exponent=0.5,
                     within=0.02))  # fmt: skip


# --- Theorem 3 -----------------------------------------------------------------------------------------------------


def _searched(cases: int = 12) -> pd.DataFrame:
    """Random models with three steps and random sizes."""
    rng, rows = np.random.default_rng(7), []
    for _ in range(cases):
        densities = [3 * rng.dirichlet([0.5] * 3) for _ in range(2)]
        model = cr.SimilarityModel.from_steps([0, 1 / 3, 2 / 3, 1], *densities)
        sizes = rng.integers(1, 9, size=rng.integers(2, 7))
        rows.append((expected_queries(model, sizes, "node"), node_bound(model, sizes, printed=False),
                     sharp(model, sizes)))  # fmt: skip
    return pd.DataFrame(rows, columns=["exact", "corrected", "sharp"])


@claim("C10")
def theorem_3(asked=None, search=None):
    four, model = [1, 1, 1, 1], cr.dist2(Fraction(1, 3))
    if asked is None:
        drawn = cr.datasets.synthetic(four, model, rng=7)
        asked = questions_asked(drawn.similarity, cr.Truth(drawn.labels))
    search = _searched() if search is None else search
    printed = _theorem_3(model, four, printed=True)
    said = (
        f"Four singletons take {ideal_queries(four)} questions; with Dist-2 and $\\epsilon = 1/3$ the printed "
        f"bound allows {float(printed):.1f}."
    )
    yield says(counterexample("four singletons, Dist-2, $\\epsilon = 1/3$", value=ideal_queries(four),
                              relation="at most", printed=printed), said)  # fmt: skip
    yield also(agreement("the printed sum, against fractions", [node_bound(*case) for case in _cases()],
                         [_theorem_3(*case, printed=True) for case in _cases()], tolerance=1e-12,
                         relative=True))  # fmt: skip
    yield also(
        agreement("the six questions, in a run and by $\\binom42$", [ideal_queries(four), asked], [comb(4, 2)] * 2)
    )
    yield also(identity("$n$ singletons, Dist-1: pairs, less the printed sum",
                        n * (n - 1) / 2 - (n + n * (n - 1) * (1 - e) / 2) - n * (e * (n - 1) / 2 - 1)))  # fmt: skip
    yield also(cases("for fewer records even the worst case is at most $n$",
                     *(bool(_most(sizes) <= sum(sizes)) for sizes in sizes_of(range(1, 4))),
                     where="all sizes of up to three records"))  # fmt: skip
    for piece in theorem_3_proof():
        yield corrected(piece)
    yield corrected(also(bounded(f"{len(search)} random models and sizes: exact count, against the corrected bound",
                                 search["exact"], search["corrected"])))  # fmt: skip
    yield corrected(also(order_bounded()))
    yield corrected(also(bound_checked()))
    yield corrected(also(count_checked()))
    yield from (corrected(also(piece)) for piece in from_all_orders())


@claim("B53")
def theorem_3_corrected(search=None):
    search = _searched() if search is None else search
    single_first = [[expected_queries_in_order(model, [1] + [0] * m) for m in MATES] for model in MODELS]
    summed = [[m + sum(float(by_hand.integral(model, s)) for s in range(1, m)) for m in MATES] for model in MODELS]
    lengths, runners = np.arange(13), np.arange(1, 13)
    grid = np.array([prob_nonmatch_first(model, lengths[-1], runners[-1]) for model in MODELS])
    union = np.array([np.minimum(1, np.outer(cr.L(model, lengths), runners)) for model in MODELS])
    yield from theorem_3_proof()
    yield also(order_bounded())
    said = (
        f"For {len(search)} random models the exact count is at most "
        f"{(search['exact'] / search['sharp']).max():.0%} of the bound."
    )
    yield says(
        also(bounded(f"{len(search)} random models and sizes, random order", search["exact"], search["sharp"])), said
    )
    yield also(agreement("attained when a singleton arrives before all others", single_first, summed, tolerance=1e-12,
                         relative=True))  # fmt: skip
    yield also(bounded("the union bound {eq}`eq-node-race`", grid[:, :, 1:], union * (1 + 1e-12)))
    yield also(agreement("for one non-match it is $L_{g,r}$", grid[:, :, 1],
                         [[float(by_hand.integral(model, int(s))) for s in lengths] for model in MODELS],
                         tolerance=1e-12))  # fmt: skip
    yield also(agreement("uniform: $P(s, t) = t/(s+t)$", grid[0, :, 1:], runners / (lengths[:, None] + runners),
                         tolerance=1e-12))  # fmt: skip
    yield also(agreement("`cr.node_bound` for these",
                         [[sharp(model, [m, 1]) for m in MATES] for model in MODELS], summed,
                         tolerance=1e-12, relative=True))  # fmt: skip
    yield also(bound_checked())
    yield also(count_checked())


# --- Dist-2 ----------------------------------------------------------------------------------------------------------


# --- any arrival order ---------------------------------------------------------------------------------------------


# --- the arrival order ---------------------------------------------------------------------------------------------
