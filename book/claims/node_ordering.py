"""Claims of the chapter *Node ordering*."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, pairwise, permutations
from math import comb

import numpy as np
import pandas as pd
import sympy as sp
from scipy import stats

import crowder as cr
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
    inequality,
    of_chapter,
    readings,
    simulation,
    trend,
)
from book.companion.naive import splits
from crowder.counting.arrival_orders import expected_queries_in_order, prob_nonmatch_first
from crowder.counting.bounds import node_bound
from crowder.counting.exact_counts import expected_queries_exact
from crowder.counting.expected_counts import expected_queries
from crowder.models import steps
from crowder.orderings import NodeOrdering, expected_sizes
from crowder.pairs import candidates
from crowder.resolution import ideal_queries

__all__ = [
    "LEAST", "UNEVEN", "adversarial_run", "any_order", "bound_checked", "certainty", "check", "count_checked", "evenly",
    "misleading_model", "sharp", "sizes_of",
]  # fmt: skip

claim, check = of_chapter(__name__)

# --- symbols, and formulas derived in the chapter -------------------------------------------------------------------

n, k, m, e, theta = sp.symbols("n k m epsilon theta", positive=True)
half = sp.Rational(1, 2)
LEAST = n - k + k * (k - 1) / 2
MOST = n * k - k * (k + 1) / 2

#: The constant c of the paper.
HALVES = {"dist1": 2, "dist2": 1}
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
def _every_order(records: int = 5) -> np.ndarray:
    """Over all arrival orders: the highest and the mean count, the count by `expected_queries`, the sharper bound."""
    rows = []
    for model in MODELS:
        for sizes in sizes_of(range(2, records + 1)):
            orders = set(permutations(np.repeat(range(len(sizes)), sizes).tolist()))
            counts = [expected_queries_in_order(model, order) for order in orders]
            rows.append((max(counts), np.mean(counts), expected_queries(model, sizes, "node"), sharp(model, sizes)))
    return np.array(rows).T


def _order_bounded() -> Evidence:
    highest, _, _, sharp = _every_order()
    return bounded("every arrival order of up to five records, four models", highest, sharp + 1e-12)


@cache
def _theorem_3_proof() -> list[Evidence]:
    """What the proof of the corrected theorem rests on."""
    F, t = sp.symbols("F t", positive=True)
    return [
        inequality("$t - 1$ further non-matches do not help: $F_r^{t-1} \\le 1$", 1 - F**t, over={F: (0, 1)}),
        identity("the second form less the first: the terms with $s = 0$ are $k - 1$ each",
                 (n + k * (k - 1) - LEAST, k + k * (k - 1) / 2)),
    ]  # fmt: skip


def count_checked() -> Evidence:
    _, average, integral, _ = _every_order()
    return agreement("`cr.expected_queries` against the mean over all arrival orders",
                     integral, average, tolerance=1e-9,
                     relative=True)  # fmt: skip


@cache
def _from_all_orders() -> list[Evidence]:
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


def _asked(similarity, truth: cr.Truth, rng=7, **settings) -> int:
    return cr.node_ordering(similarity, truth, rng=rng, **settings).n_queries


def _worst_runs(cases: Iterable[tuple[int, int]]) -> pd.DataFrame:
    rows = [(a, b, _asked(*_worst_instance(evenly(a, b))), ideal_queries(evenly(a, b))) for a, b in cases]
    return pd.DataFrame(rows, columns=["n", "k", "asked", "least"])


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


@claim(
    "B51",
    proof="06-node-ordering#prop-node-kinds",
    prose="the count of the three kinds of questions, and the two constructions",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""Node ordering asks at least $n - k + \binom k2$ questions and at most $(n - k)(k - 1)$ more; both are
    attained for all cluster sizes, so the exact worst case is $nk - \frac{k(k+1)}2$.""",
    code=NodeOrdering,
    test="test_orderings.py::test_node_ordering_at_its_worst",
)
def least_and_most_questions(sizes=None, easy=None, worst=None):
    sizes = sizes_of(range(1, 6)) if sizes is None else sizes
    if easy is None:
        labels = [np.repeat(np.arange(len(s)), s) for s in sizes]
        easy = [_asked(np.equal.outer(one, one) * 1.0, cr.Truth(one)) for one in labels]
        worst = [_asked(*_worst_instance(s)) for s in sizes]
    yield identity(
        "the maximum: all necessary and all possible unnecessary questions", LEAST + (n - k) * (k - 1) - MOST
    )
    yield also(agreement(
        f"least and most for all cluster sizes of up to {max(map(sum, sizes))} records, record by record",
        [_extremes(s) for s in sizes], [(_least(s), _most(s)) for s in sizes]))  # fmt: skip
    yield also(agreement("runs on the worst-case instance", worst, [_most(s) for s in sizes]))
    yield also(agreement("runs with similarities 0 and 1", easy, [ideal_queries(s) for s in sizes]))
    yield also(_ideal_checked(sizes))


@claim(
    "C04",
    proof="06-node-ordering#thm-node-worst",
    prose="that no run asks more than the three kinds of questions allow, and no method fewer than the ideal",
    touches="general densities",
    place='Introduction, on Vesdapunt et al.; section "The two heuristic algorithms"',
    status="holds",
    basis="proved",
    statement=r"""Node ordering asks at most $nk$ questions in the worst case, and so at most $O(k)$ times as many as an
    optimal algorithm.""",
    code=[NodeOrdering, ideal_queries],
    test=[
        "test_orderings.py::test_node_ordering_at_its_worst",
        "test_orderings.py::test_node_ordering_never_asks_more_than_its_worst_case",
    ],
)
def worst_case(runs=None, clusters=2, usual=None, sizes=None):
    if runs is None:
        runs = _worst_runs([*((a, clusters) for a in (10, 100)), (8, 4), (20, 6)])
        grown = pd.DataFrame({"n": [10, 100, 1000, 10_000]})  # these runs take quadratic time; the formula does not
        grown["asked"] = [float(_most(evenly(a, clusters))) for a in grown["n"]]
    else:
        grown = runs[runs["k"] == clusters]
    if usual is None:
        drawn = cr.datasets.synthetic([9, 5, 3, 1], cr.dist1(0.25), rng=7)
        usual = [_asked(drawn.similarity, cr.Truth(drawn.labels))]
    yield identity("$k$ times the least, less the most, is $k(k-1)^2/2$", k * LEAST - MOST - k * (k - 1) ** 2 / 2)
    yield inequality("this is nonnegative, and the most is less than $nk$", k * (k - 1) ** 2 / 2, n * k - MOST)
    yield also(agreement("runs on the worst-case instance", runs["asked"],
                         [MOST.subs({n: a, k: b}) for a, b in zip(runs["n"], runs["k"], strict=True)]))  # fmt: skip
    yield also(trend(f"questions on the worst-case instance against $n$, $k = {clusters}$",
                     grown["n"], grown["asked"], exponent=1,
                     within=0.03))  # fmt: skip
    yield also(bounded("runs on 18 records in 4 clusters, Dist-1", usual, float(MOST.subs({n: 18, k: 4}))))
    yield also(_ideal_checked(sizes_of(range(1, 6)) if sizes is None else sizes))


@claim(
    "B52",
    proof="06-node-ordering#prop-node-factor",
    prose="that a quadratic without zeros keeps its sign, and that a minimum is at most the root of a product",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""The worst case of node ordering is at most $\min\{k, 2n/k\} \le \sqrt{2n}$ times the least possible
    number of questions.""",
    code=ideal_queries,
    test="test_orderings.py::test_node_ordering_at_its_worst",
)
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
    yield also(bounded("all $k \\le n \\le 300$", ratio(*table), np.minimum(table[1], 2 * table[0] / table[1])))
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


@claim(
    "C10",
    proof="06-node-ordering#thm-node-corrected",
    prose="the union bound, and independence of the past",
    touches=("general densities", "Dist-1", "Dist-2"),
    place="Theorem 3 (node ordering)",
    status="refuted",
    basis="proved",
    statement=r"""Node ordering asks at most $n + \sum_i \sum_{s=1}^{|V_i|} \min\{k, \ell_i(s)\}$ questions in
    expectation, with $\ell_i(s) = (n - |V_i|)\, L_{g,r}(s)$.""",
    corrected=r"""With $s$ from 0 to $|V_i| - 1$, and $k - 1$ in place of $k$, for every arrival order that is
    independent of the similarities.""",
    affects="""clusterings with many small clusters, above all singletons, under any model: the first record of each
    cluster is left out, a term of at most $k^2$.""",
    stands="""All that the paper derives from the theorem: Proposition 5 has such a term. For clusters as large as those
    of Table 1 the two bounds hardly differ.""",
    code=node_bound,
    test=[
        "test_bounds.py::test_node_bound_is_its_sum_in_fractions",
        "test_bounds.py::test_four_singletons_refute_theorem_3_as_printed_and_nothing_smaller_does",
        "test_bounds.py::test_theorem_3_as_printed_also_fails_on_clusters_of_two_and_on_many_small_ones",
        "test_bounds.py::test_the_corrected_node_bound_holds_for_every_order_and_is_reached",
        "test_bounds.py::test_the_corrected_node_bound_holds_on_random_models",
    ],
)
def theorem_3(asked=None, search=None):
    four, model = [1, 1, 1, 1], cr.dist2(Fraction(1, 3))
    if asked is None:
        drawn = cr.datasets.synthetic(four, model, rng=7)
        asked = _asked(drawn.similarity, cr.Truth(drawn.labels))
    search = _searched() if search is None else search
    yield counterexample("four singletons, Dist-2, $\\epsilon = 1/3$", value=ideal_queries(four), relation="at most",
                         printed=_theorem_3(model, four, printed=True))  # fmt: skip
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
    for piece in _theorem_3_proof():
        yield corrected(piece)
    yield corrected(also(bounded(f"{len(search)} random models and sizes: exact count, against the corrected bound",
                                 search["exact"], search["corrected"])))  # fmt: skip
    yield corrected(also(_order_bounded()))
    yield corrected(also(bound_checked()))
    yield corrected(also(count_checked()))
    yield from (corrected(also(piece)) for piece in _from_all_orders())


@claim(
    "B53",
    proof="06-node-ordering#thm-node-corrected",
    prose="the union bound, and independence of the past",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""For every arrival order that is independent of the similarities, the expected count is at most $n - k
    + \binom k2 + \sum_i \sum_{s=1}^{|V_i|-1} \min\{k - 1, \ell_i(s)\}$, with $\ell_i(s) = (n - |V_i|)\, L_{g,r}(s)$.
    The bound is attained.""",
    code=[prob_nonmatch_first, expected_queries_in_order, node_bound],
    test=[
        "test_bounds.py::test_the_corrected_node_bound_holds_for_every_order_and_is_reached",
        "test_arrival_orders.py::test_a_fixed_order_against_all_orders_of_the_pairs",
        "test_arrival_orders.py::test_averaged_over_all_orders_it_is_the_count_for_random_arrival",
    ],
)
def theorem_3_corrected(search=None):
    search = _searched() if search is None else search
    single_first = [[expected_queries_in_order(model, [1] + [0] * m) for m in MATES] for model in MODELS]
    summed = [[m + sum(float(by_hand.integral(model, s)) for s in range(1, m)) for m in MATES] for model in MODELS]
    lengths, runners = np.arange(13), np.arange(1, 13)
    grid = np.array([prob_nonmatch_first(model, lengths[-1], runners[-1]) for model in MODELS])
    union = np.array([np.minimum(1, np.outer(cr.L(model, lengths), runners)) for model in MODELS])
    yield from _theorem_3_proof()
    yield also(_order_bounded())
    yield also(bounded(f"{len(search)} random models and sizes, random order", search["exact"], search["sharp"]))
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

UNEVEN = [[500] + [1] * 100, [50] * 5 + [10] * 20 + [2] * 50, np.arange(1, 60), 2 ** np.arange(10)]


def _certain() -> tuple[sp.Expr, sp.Expr]:
    """Dist-2: the probability that a match is determined; the density of non-matches there."""
    edges, green, red = steps("dist2", e)
    return green[-1] * (edges[-1] - edges[-2]), red[-1]


def certainty() -> Evidence:
    certain, _ = _certain()
    detours = k * (k - 1) * (1 - theta) / theta
    return identity(
        "$\\theta = H^2$; the sum over one cluster; over all",
        certain - e / (1 - e), certain - (1 - (1 - 2 * e) / (1 - e)),
        (1 - theta) / (1 - (1 - theta)) - (1 - theta) / theta,
        LEAST + detours - (n - k + k * (k - 1) / 2 * (2 / theta - 1)),
        1 / e - (2 / certain - 1) / 2 - sp.Rational(3, 2),  # half the last bracket is below 1/ε
    )  # fmt: skip


@claim(
    "B55",
    proof="06-node-ordering#prop-node-certain",
    prose="that a record with a certain match makes no detour",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""If a match is more similar than every possible non-match with probability $\theta > 0$, an arrival
    order independent of the similarities takes at most $n - k + \binom k2 (\frac2\theta - 1)$ questions; for Dist-2 at
    most $n + k^2/\epsilon$, without a logarithm.""",
    code=[prob_nonmatch_first, expected_queries],
    test=[
        "test_bounds.py::test_node_ordering_on_dist2_needs_no_logarithm",
        "test_bounds.py::test_races_of_dist2_need_bad_luck",
    ],
)
def certain_matches(totals=(30,), epsilons=(0.05, 0.3)):
    _, non_matches = _certain()
    yield certainty()
    yield also(cases("above $1 - \\epsilon$ there are only matches", non_matches == 0, steps("dist2", e)[1][-1] != 0,
                     where="every ε"))  # fmt: skip
    shapes = [evenly(a, b) for a in totals for b in (2, 5, a // 10, a // 2, a)] + UNEVEN[1:3]
    rows = []
    for eps in epsilons:
        for sizes in shapes:
            model, labels, chance = cr.dist2(eps), np.repeat(range(len(sizes)), sizes), eps / (1 - eps)
            limit = sum(sizes) - len(sizes) + comb(len(sizes), 2) * (2 / chance - 1)
            rows.append((limit, expected_queries(model, sizes, "node"), expected_queries_in_order(model, labels)))
    limit, random_order, in_turn = np.array(rows).T
    table = np.array([prob_nonmatch_first(cr.dist2(eps), 40, 40) for eps in epsilons])
    undetermined = np.array([(1 - eps / (1 - eps)) ** np.arange(41)[:, None] for eps in epsilons])
    yield also(bounded("$P(s, t) \\le (1 - \\theta)^s$, since all $s$ matches are undetermined; $s, t \\le 40$",
                       table, undetermined * (1 + 1e-9)))  # fmt: skip
    yield also(bounded(f"exact counts, random order, {len(rows)} instances", random_order, limit))
    yield also(bounded("exact counts, arrival cluster by cluster", in_turn, limit))
    yield also(count_checked())


# --- any arrival order ---------------------------------------------------------------------------------------------

#: Cluster sizes of the runs with an adversarial arrival order.
ADVERSARIAL = [6, 5, 4, 2]


def _independent(joined: np.ndarray) -> list[int]:
    """A largest independent set of the records."""
    for many in range(len(joined), 0, -1):
        for some in combinations(range(len(joined)), many):
            if not joined[np.ix_(some, some)].any():
                return list(some)
    return []


def adversarial_run(rng: np.random.Generator) -> tuple[list[int], int]:
    """Questions under three arrival orders, one of them adversarial, and the bound from the independent sets."""
    data = cr.datasets.synthetic(ADVERSARIAL, cr.dist2(0.2), rng=rng)
    truth, best, others = cr.Truth(data.labels), [], []
    for i in range(len(ADVERSARIAL)):
        own = np.flatnonzero(data.labels == i)
        chosen = _independent(data.similarity[np.ix_(own, own)] * (1 - np.eye(len(own))) > 0.8)
        best.append(own[chosen])
        others.append(np.delete(own, chosen))
    limit = ideal_queries(ADVERSARIAL) + (len(ADVERSARIAL) - 1) * sum(len(one) - 1 for one in best)
    orders = ("expected-size", "random", np.concatenate(best + others))
    return [_asked(data.similarity, truth, rng, order=order) for order in orders], limit


def _mean_alpha(records: int, chance: float) -> float:
    """E[α] of G(m, θ), over all graphs."""
    pairs, total = list(combinations(range(records), 2)), 0.0
    for graph in range(2 ** len(pairs)):
        joined = np.zeros((records, records), dtype=bool)
        there = [pair for bit, pair in enumerate(pairs) if graph >> bit & 1]
        for i, j in there:
            joined[i, j] = joined[j, i] = True
        weight = chance ** len(there) * (1 - chance) ** (len(pairs) - len(there))
        total += weight * len(_independent(joined))
    return total


def _union_alpha(records: int, chance: float) -> float:
    """The sum of the bounds on Pr(α ≥ a), each at most 1."""
    a = np.arange(1, min(records, 60_000) + 1)
    logs = np.cumsum(np.log((records + 1 - a) / a)) + a * (a - 1) / 2 * np.log1p(-chance)
    return np.exp(np.minimum(logs, 0)).sum()


def any_order() -> tuple[Evidence, ...]:
    """The algebra and the inequalities of the proof for any arrival order."""
    certain, i = _certain()[0], sp.Symbol("i", integer=True)
    return (
        identity("Dist-2, any order: the constants",
                 k * (k - 1) / 2 + k * (k - 1) * (sp.E - 1) - k * (k - 1) * (sp.E - half),
                 2 / certain - (2 / e - 2), sp.summation(1 / sp.factorial(i), (i, 1, sp.oo)) - (sp.E - 1)),
        inequality("$4 \\ln 2 \\le \\frac2\\epsilon \\ln n$", 2 / e * sp.log(n) - 4 * sp.log(2),
                   over={e: (0, half), n: (2, sp.oo)}),
        also(cases("$\\mathrm e - 1/2 < 4 \\ln 2$", sp.E - half < 4 * sp.log(2), where="two numbers")),
    )  # fmt: skip


@claim(
    "B56",
    proof="06-node-ordering#prop-node-any",
    prose="that records that make detours are an independent set, and the union bound",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""For any arrival order, even one computed from the similarities, node ordering takes at most $n - k +
    \binom k2$ questions and $(k - 1) \sum_i (\mathrm e - 1 + \frac2\theta \ln |V_i|)$ more; for Dist-2 at most $n + 4
    k^2 \ln n / \epsilon$.""",
    code=NodeOrdering,
    test=[
        "test_bounds.py::test_node_ordering_on_dist2_in_any_order",
        "test_bounds.py::test_mean_independence_number_is_within_its_bound",
    ],
)
def certain_matches_any_order(adversarial=None, records=4):
    if adversarial is None:
        rng = np.random.default_rng(7)
        adversarial = [adversarial_run(rng) for _ in range(5)]
    chances = (0.02, 0.1, 0.25, 0.5, 0.9)
    alphas = [(_mean_alpha(a, c), np.e + 2 / c * np.log(a)) for c in chances for a in range(1, records + 1)]
    unions = [(_union_alpha(a, c), np.e + 2 / c * np.log(a))
              for c in chances for a in (1, 3, 10, 100, 1000, 30_000)]  # fmt: skip
    yield from any_order()
    yield also(bounded(f"$E[\\alpha]$ over all graphs of up to {records} records", *zip(*alphas, strict=True)))
    yield also(bounded("the sum of {eq}`eq-node-independent`, up to 30,000 records", *zip(*unions, strict=True)))
    yield also(bounded(f"{len(adversarial)} runs under three arrival orders, one of them adversarial, run by run",
                       [asked for asked, _ in adversarial], [[limit] * 3 for _, limit in adversarial]))  # fmt: skip


# --- the arrival order ---------------------------------------------------------------------------------------------


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


@claim(
    "C20",
    proof="06-node-ordering#expected-size",
    prose="that the mean of a sum is the sum of the means",
    touches=("Dist-1", "Dist-2"),
    place='Section "Analysis of the Node ordering algorithm", first paragraph',
    status="holds",
    basis="proved",
    statement=r"""The expected cluster size of a record of $V_i$ has mean $\frac\epsilon c |V_i| + (\frac12 -
    \frac\epsilon{2c}) n$, with $c = 2$ for Dist-1 and $c = 1$ for Dist-2.""",
    code=[expected_sizes, steps],
    test="test_orderings.py::test_the_expected_size_has_the_mean_and_the_spread_of_the_paper_s_models",
)
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
    yield also(simulation("without the record itself", sums.mean(axis=1),
                          sums.std(axis=1, ddof=1) / np.sqrt(sums.shape[1]), expected, size=sums.shape[1],
                          limit=5))  # fmt: skip


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
            asked = [_asked(data.similarity, truth, rng, order=order) for order in ("expected-size", "random")]
            rows.append((row, repetition, *asked, asked[1] - asked[0], before))
        return pd.DataFrame(rows, columns=["row", "repetition", "sorted", "random", "saved", "ahead"])

    def sorting(self) -> Evidence:
        large, little, total = max(self.sizes), min(self.sizes), sum(self.sizes)
        return simulation(
            f"probability that a record of {large} precedes one of {little}, rows of Table 1", self.mean["ahead"],
            self.error["ahead"] + 2e-4, [_ahead(model, large, little, total) for model in self.models],
            size=self.repetitions, limit=self.surely)  # fmt: skip


@claim(
    "B57",
    proof="06-node-ordering#prop-node-noise",
    prose="which terms the two sums share, and that all others are independent",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""The difference of the expected sizes of records in clusters of $a$ and $b$ has mean $\frac\epsilon c
    (a - b)$ and variance $2 (n - 2) \sigma^2$, $\sigma^2 = \frac1{12} - \frac{\epsilon^2}{16}$ (Dist-1) or $\frac{(1 -
    \epsilon)^2}{12}$ (Dist-2).""",
    code=[expected_sizes, steps],
    test="test_orderings.py::test_the_expected_size_has_the_mean_and_the_spread_of_the_paper_s_models",
)
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
    yield also(_Rows(table, models, sizes).sorting())
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
        rows.append([_asked(data.similarity, truth, rng, order=order) for order in ("expected-size", "random")])
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
        means.append(np.mean([_asked(data.similarity, cr.Truth(data.labels), rng) for data in drawn]))
        bounds.append(node_bound(model, [20, 10, 5, 5, 2, 1, 1], printed=False))
    return means, bounds


@claim(
    "E03",
    proof="06-node-ordering#thm-node-corrected",
    prose="the union bound, and independence of the past",
    touches="general densities",
    about="C10",
    place="Theorem 3 and its proof: the order in which records arrive",
    status="refuted",
    basis="proved",
    statement="""The theorem is stated for the algorithm as described, which sorts the records by expected size. Its
    proof sets this order aside, and takes the similarities of an arriving record to be independent of the past.""",
    corrected="""The corrected theorem holds for every arrival order that is independent of the similarities, such as a
    random one.""",
    affects="Theorem 3 for the algorithm as described, under general models.",
    stands="""The theorem, corrected, if the order is chosen without looking at the similarities; Proposition 5, in any
    order. For Dist-1 and Dist-2 no violation of the bound was found by expected size.""",
    code=[NodeOrdering, node_bound, expected_queries],
    test=[
        "test_errata.py::test_three_records_sorted_by_expected_size",
        "test_bounds.py::test_the_corrected_node_bound_needs_an_order_independent_of_the_similarities",
    ],
)
def order_of_arrival(misleading=None, sizes=None, misleading_runs=None, runs=3):
    """`misleading_runs`: questions by expected size and in random order; `runs`: for each model of the paper."""
    if misleading_runs is None:
        misleading, sizes, misleading_runs = _misleading_runs()
    asked, law = misleading_runs[:, 0], cr.dist1(Fraction(1, 4))
    printed, limit = (node_bound(misleading, sizes, printed=form) for form in (True, False))
    yield counterexample(
        f"clusters of {' and '.join(map(str, sizes))}, four levels, by expected size: mean questions (the corrected "
        f"theorem would allow {limit:.1f})", value=float(asked.mean()), relation="at most", printed=printed,
        margin=float(limit - printed + 4 * asked.std(ddof=1) / np.sqrt(len(asked))))  # fmt: skip
    yield counterexample(
        r"the step of the proof: three records, Dist-1 with $\epsilon = \frac14$, by expected size; probability that "
        "the non-match is first, against $L_{g,r}(1)$", value=_sorted_three(law)[0], relation="at most",
        printed=by_hand.integral(law, 1))  # fmt: skip
    for piece in _theorem_3_proof():
        yield corrected(piece)
    yield corrected(also(_order_bounded()))
    yield corrected(also(bounded(f"models of the paper, by expected size, {runs} data sets each: means, against the "
                                 "corrected theorem", *_own_models(runs))))  # fmt: skip
    yield from (corrected(also(piece)) for piece in _from_all_orders())


@claim(
    "C21",
    touches=("general densities", "Dist-1", "Dist-2", "experiments"),
    stands="The corrected theorem for orders that ignore the similarities; Proposition 5 in any order.",
    place='Section "Analysis of the Node ordering algorithm", first paragraph',
    status="undecided",
    statement="""As a biased estimate, the expected size may carry no information, so the arrival order may be taken to
    be arbitrary.""",
    affects="how far Theorem 3 applies to the algorithm as described: see E03.",
    code=[NodeOrdering, expected_queries_in_order, node_bound],
    test=[
        "test_orderings.py::test_the_order_of_arrival_matters",
        "test_bounds.py::test_the_corrected_node_bound_needs_an_order_independent_of_the_similarities",
        "test_bounds.py::test_the_corrected_node_bound_holds_for_every_order_and_is_reached",
    ],
)
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
    highest, _, _, sharp = _every_order()
    one = rows.mean[rows.dist1]
    yield readings(
        "what holds for an arbitrary order: three readings, and the largest ratio of a count to its bound",
        {
            "the bound, for orders independent of the similarities": max(
                (highest / sharp).max(), (fixed / bound[:, None]).max()),
            "the bound, for every order": mean[0] / allowed,
            "the count itself": (one["random"] / one["sorted"]).max(),
        },
        fits="the bound, for orders independent of the similarities", unit="ratio")  # fmt: skip
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
    yield also(_order_bounded())
    yield also(rows.sorting())
    yield also(simulation("random order, rows of Table 1, against the exact count", rows.mean["random"],
                          rows.error["random"], exact, size=rows.repetitions, limit=rows.surely))  # fmt: skip
    yield also(bounded("by expected size, rows of Table 1, against the corrected bound", rows.mean["sorted"], bound))
    yield also(agreement("random order, four levels", mean[1], expected, tolerance=float(t_limit * error[1])))
    yield also(bound_checked())
    yield also(count_checked())
