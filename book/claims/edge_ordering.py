"""Claims of the chapter *Edge ordering*."""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations, product
from math import comb, sqrt

import numpy as np
import sympy as sp
from scipy.cluster.hierarchy import DisjointSet

import crowder as cr
from book.companion import by_hand, naive
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    identity,
    of_chapter,
    says,
    simulation,
)
from book.companion.edge_bounds import (
    gap_count,
    gap_model,
    printed_bound,
    questions_asked,
    repaired_bound,
    small_models,
    tree_in_fractions,
)
from crowder.counting.bounds import edge_tree_bound
from crowder.counting.enumeration import questions_of_order

claim, check = of_chapter(__name__)

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
n, k, x = sp.symbols("n k x", positive=True)
#: The smallest known instance that exceeds the printed bound.
COUNTER_SIZES, COUNTER_P = (38, 37), Fraction(1, 56)
#: Cluster sizes for formulas in fractions, and for formulas that are cheap.
TINY = [[2, 1], [3, 2], [4, 4, 1], [4, 3, 2, 2]]
MORE = [*TINY, [1] * 6, [60, 7, 7, 2], [200] * 2 + [100] * 4 + [50] * 8]
#: One record against clusters of these sizes.
LONE = [1, 2, 3, 4, 7, 20, 100, 250]
BOUNDS = "test_bounds.py::"


# --- formulas in fractions ---------------------------------------------------------------------------------------


def _repaired_in_fractions(model, sizes):
    n, k = sum(sizes), len(sizes)
    L = {s: by_hand.integral(model, comb(s + 1, 2)) for s in range(1, max(sizes) + 1)}
    return n - k + min(comb(k, 2) * s**2 + sum(m * (n - m) * comb(m, s + 1) * L[s] for m in sizes) for s in L)


def _pairwise_bound(model, sizes):
    """n - k, and min{ab, 1 + ab (D_a + D_b)} for each two clusters, by quadrature."""
    x, w = np.polynomial.legendre.leggauss(40)
    D, c = np.zeros(max(sizes) + 1), 0.0  # Pr(a cluster of m is not connected when a non-match comes)
    for _, _, g, h in by_hand.steps(model):
        for u, weight in zip((x + 1) / 2, w / 2, strict=True):
            D += float(h) * weight * (1 - np.array(by_hand.connected(max(sizes), 1 - c - float(g) * u)))
        c += float(g)
    most = (min(a * b, 1 + a * b * (D[a] + D[b])) for a, b in combinations(sizes, 2))
    return sum(sizes) - len(sizes) + sum(most)


def _random_models(count, seed=2017):
    """Random densities of four steps with some cluster sizes, and the model on three steps."""
    rng = np.random.default_rng(seed)
    found = [(gap_model(Fraction(1, d)), [d // 2, d // 2]) for d in (4, 10)]
    for _ in range(count):
        rows = [rng.integers(0, 5, 4) * rng.integers(0, 2, 4) for _ in "gr"]
        heights = [[4 * Fraction(int(v), int(row.sum())) if row.any() else Fraction(1) for v in row] for row in rows]
        model = cr.SimilarityModel.from_steps([Fraction(i, 4) for i in range(5)], *heights)
        found.append((model, rng.integers(1, 8, size=rng.integers(2, 6)).tolist()))
    return found


# --- all orders, all graphs --------------------------------------------------------------------------------------


def _orders(labels):
    """Every order of all pairs of the records."""
    return permutations(combinations(range(len(labels)), 2))


def graphs(m):
    """Every graph on m vertices, as its edges."""
    pairs = list(combinations(range(m), 2))
    return (edges for size in range(len(pairs) + 1) for edges in combinations(pairs, size))


@cache
def some_orders(count):
    """Random orders of the pairs of six records."""
    rng, pairs = np.random.default_rng(2017), list(combinations(range(6), 2))
    return [rng.permutation(pairs).tolist() for _ in range(count)]


def _bound_holds(order, labels):
    """For each two clusters and all s, s': questions <= s s' + non-matches while a cluster has more components."""
    questions = questions_of_order(order, labels)
    for one, other in combinations(sorted(set(labels)), 2):
        across = [t for t, (i, j) in enumerate(order) if {labels[i], labels[j]} == {one, other}]
        a, b = ([v for v, label in enumerate(labels) if label == name] for name in (one, other))
        met = [[len(naive.components(own, order[:t])) for own in (a, b)] for t in across]
        count = sum({labels[i], labels[j]} == {one, other} for i, j in questions)
        for s, t in product(range(1, len(a) + 1), range(1, len(b) + 1)):
            if count > s * t + sum(c > s or d > t for c, d in met):
                return False
    return True


@cache
def _bound_in_every_order():
    return [_bound_holds(order, labels) for labels in ("aab", "aabb", "aaab", "aabc") for order in _orders(labels)]


@cache
def _bound_in_some_orders():
    return _bound_in(some_orders(300))


def _bound_in(orders):
    """The same for orders of six records, divided among three partitions."""
    share = -(-len(orders) // 3)
    kinds = [("aaabbb", "aaaabb", "aabbcc")[place // share] for place in range(len(orders))]
    return [_bound_holds(order, labels) for order, labels in zip(orders, kinds, strict=True)]


@cache
def _connected_ask_once():
    """For all orders of the pairs of two clusters, whether at most one non-match is asked about besides those that come
    while a cluster is not connected."""
    found = []
    for labels in map(naive.labels_of, ([1, 1], [2, 1], [2, 2], [3, 1])):
        for order in _orders(labels):
            parts, known, asked, early = DisjointSet(range(len(labels))), [], 0, 0
            for i, j in order:
                if labels[i] == labels[j]:
                    parts.merge(i, j)
                else:
                    early += parts.n_subsets > 2
                    asked += not any({parts[u], parts[v]} == {parts[i], parts[j]} for u, v in known)
                    known.append((i, j))
            found.append(asked <= 1 + early)
    return found


def questions_and_components(orders=None):
    return also(cases(
        "questions and components", *_bound_in_every_order(),
        *(_bound_in_some_orders() if orders is None else _bound_in(orders)),
        where="every order of the pairs of up to four records, and random orders for six",
        shows="never more questions than the bound",
    ))  # fmt: skip


def sum_over_pairs():
    """The sum of m m' (P + P') over all pairs of clusters, by clusters."""
    m, chance = sp.symbols("m1:7", positive=True), sp.symbols("P1:7", positive=True)
    return identity("the sum over pairs of clusters is one over clusters, $\\sum_i m_i (n - m_i) P_i$; two to six", *(
        sum(m[i] * m[j] * (chance[i] + chance[j]) for i, j in combinations(range(some), 2))
        - sum(m[i] * (sum(m[:some]) - m[i]) * chance[i] for i in range(some)) for some in range(2, 7)))  # fmt: skip


def _union_bound():
    def independent(m, edges, s):
        """Choices of s + 1 vertices without an edge among them."""
        choices = map(set, combinations(range(m), s + 1))
        return sum(not any(i in chosen and j in chosen for i, j in edges) for chosen in choices)

    return also(cases(
        "components and independent sets",
        *(independent(m, edges, s) >= (len(naive.components(range(m), edges)) > s)
          for m in (2, 3, 4, 5) for edges in graphs(m) for s in range(1, m)),
        where="every graph on up to five vertices",
        shows="more than $s$ components imply an independent set of $s + 1$",
    ))  # fmt: skip


def _spanning_tree(order):
    """The pairs that join two components."""
    parts = DisjointSet({v for pair in order for v in pair})
    return [pair for pair in order if parts.merge(*pair)]


def _about(v, order, labels):
    """Questions about record v with the answer "different"."""
    return {(i, j) for i, j in questions_of_order(order, labels) if v in (i, j) and labels[i] != labels[j]}


def asks_its_tree(v, order, labels):
    order = [tuple(pair) for pair in order]
    return _about(v, order, labels) == {edge for edge in _spanning_tree(order) if v in edge}


@cache
def tree_in_every_order():
    return [asks_its_tree(m, order, labels) for m, labels in ((2, "aab"), (3, "aaab")) for order in _orders(labels)]


def _single_records(order, labels, one, other):
    """Questions between two clusters, and the sum of those for the records of the second taken separately."""

    def between(kept):
        pairs = [(i, j) for i, j in order if i in kept and j in kept]
        return sum({labels[i], labels[j]} == {one, other} for i, j in questions_of_order(pairs, labels))

    firsts, seconds = ({v for v, label in enumerate(labels) if label == name} for name in (one, other))
    return between(firsts | seconds), sum(between(firsts | {v}) for v in seconds)


def _exchanged(order, labels):
    """The orders in which one non-match directly before a match is exchanged with it."""
    for t, (first, second) in enumerate(pairwise(order)):
        if labels[first[0]] != labels[first[1]] and labels[second[0]] == labels[second[1]]:
            yield (*order[:t], second, first, *order[t + 2 :])


@cache
def separately():
    both = (_single_records(order, labels, "a", "b") for labels in ("aab", "aabb", "aaab") for order in _orders(labels))
    return [together <= singly for together, singly in both]


@cache
def exchanges_ask_nothing_new():
    return [_about(3, lower, "aaab") <= _about(3, order, "aaab")
            for order in _orders("aaab") for lower in _exchanged(order, "aaab")]  # fmt: skip


def tree_sums():
    a, b = sp.symbols("a b", positive=True)  # two cluster sizes, the smaller a and the larger a + b
    return [2 * a - 2 * a * (a + b) / (a + b + 1) - 2 * a / (a + b + 1), a + (a + b) - 2 * a - b,
            (n - k) + (k - 1) * n - k * (n - 1)]  # fmt: skip


def tree_formula():
    return agreement(
        "`edge_tree_bound` against the formula in fractions", [edge_tree_bound(cr.uniform(), s) for s in MORE],
        [tree_in_fractions(s) for s in MORE], tolerance=1e-12, relative=True,
    )  # fmt: skip


# --- the paper ---------------------------------------------------------------------------------------------------


def _repaired_in_numbers():
    models = small_models()
    exact, repaired = float(gap_count(COUNTER_SIZES, COUNTER_P)), repaired_bound(gap_model(COUNTER_P), COUNTER_SIZES)
    said = f"On the counterexample the bound allows {repaired:,.1f} questions, where {exact:.1f} are expected."
    yield says(bounded("the counterexample", exact, repaired),
               said)  # fmt: skip
    yield agreement(
        "the bound, against fractions", [repaired_bound(model, sizes) for model in models for sizes in TINY],
        [_repaired_in_fractions(model, sizes) for model in models for sizes in TINY], tolerance=1e-11, relative=True,
    )  # fmt: skip


@claim("C09")
def theorem_2(runs=None, shapes=([1] * 9, [2] * 5, [9, 4, 1]), random=6):
    """`runs`: questions in runs on the counterexample; `shapes`: cluster sizes for the models of the paper; `random`:
    number of random models."""
    sizes, p = COUNTER_SIZES, COUNTER_P
    model, models = gap_model(p), small_models()
    exact, printed = gap_count(sizes, p), printed_bound(model, sizes)[0]
    if runs is None:
        rng = np.random.default_rng(2017)
        runs = [questions_asked(sizes, model, rng) for _ in range(100)]
    said = (
        f"Clusters of {' and '.join(map(str, sizes))} records take {float(exact):.1f} questions on average, "
        f"and the printed bound allows {float(printed):.1f}."
    )
    yield says(counterexample(
        f"expected questions: clusters of {' and '.join(map(str, sizes))}, one match in {p.denominator} more similar "
        "than all non-matches, the others less", value=exact, relation="at most", printed=printed), said)  # fmt: skip
    yield counterexample(
        "the step of the proof: three records not yet connected, $p = \\frac14$; probability that a non-match comes "
        "first", value=1 - by_hand.connected(3, QUARTER)[3], relation="at most", printed=1 - QUARTER)  # fmt: skip
    yield also(agreement("`cr.expected_queries` and `cr.edge_bound` there",
                         [cr.expected_queries(model, sizes), cr.edge_bound(model, sizes)], [exact, printed],
                         tolerance=1e-10, relative=True))  # fmt: skip
    yield also(simulation("simulated runs", np.mean(runs), np.std(runs, ddof=1) / sqrt(len(runs)), float(exact),
                          size=len(runs), limit=5))  # fmt: skip
    yield also(agreement(
        "`cr.edge_bound` against {eq}`eq-edge-printed` in fractions, other models and sizes",
        [cr.edge_bound(model, sizes) for model in models for sizes in TINY],
        [printed_bound(model, sizes)[0] for model in models for sizes in TINY], tolerance=1e-11, relative=True,
    ))  # fmt: skip
    yield corrected(sum_over_pairs())
    yield corrected(questions_and_components())
    yield corrected(_union_bound())
    for piece in _repaired_in_numbers():
        yield corrected(also(piece))
    yield corrected(also(cases(
        "with 1 for $s$: at most one question besides the non-matches that come while a cluster is not connected",
        *_connected_ask_once(), where="every order of the pairs of two clusters of up to four records")))  # fmt: skip
    tried = _random_models(random)
    yield corrected(also(bounded(
        f"exact counts against $n - k + \\sum_{{i<j}} \\min\\{{m_i m_j, 1 + m_i m_j (D_i + D_j)\\}}$, {len(tried)} "
        "models and sizes", [cr.expected_queries(*case) for case in tried],
        [_pairwise_bound(*case) for case in tried])))  # fmt: skip
    own = [cr.uniform(), *(cr.dist1(v) for v in (0.05, 0.25, 0.5)), *(cr.dist2(v) for v in (0.01, 0.2, 0.45))]
    own = list(product(own, shapes))
    yield corrected(also(bounded(
        f"models of the paper: exact counts against the printed bound, {len(own)} cases",
        [cr.expected_queries(*case) for case in own],
        [float(by_hand.theorem_2(case[1], lambda t, model=case[0]: cr.L(model, t))) for case in own])))  # fmt: skip


# --- beyond the paper --------------------------------------------------------------------------------------------


@claim("B43")
def questions_are_tree_edges(orders=None):
    """`orders` of six records."""
    orders = some_orders(200) if orders is None else orders
    alike = cr.SimilarityModel.from_steps([0, QUARTER, 1], [QUARTER, 5 * QUARTER], [QUARTER, 5 * QUARTER])
    yield identity("expected degree: an equal share of $2m$ edge ends", ((2 * x) / (x + 1) * (x + 1), 2 * x))
    said = (
        f"In all {len(tree_in_every_order()) + len(orders):,} orders tried, the questions are the record's "
        "edges in the tree."
    )
    yield says(also(cases(
        "questions and tree", *tree_in_every_order(),
        *(asks_its_tree(5, order, "aaaaab") for order in orders), shows="the same pairs",
        where="every order of the pairs of three and four records, and random orders for six",
    )), said)  # fmt: skip
    yield also(agreement(
        "`cr.expected_queries`, two models with $f_g = f_r$, $m$ to 250",
        [cr.expected_queries(model, [m, 1]) - (m - 1) for model in (cr.uniform(), alike) for m in LONE],
        [Fraction(2 * m, m + 1) for _ in range(2) for m in LONE], tolerance=1e-9,
    ))  # fmt: skip


@claim("B44")
def tree_bound():
    yield identity("the sums", *tree_sums())
    said = (
        f"In all {len(separately()):,} orders of up to four records, a cluster takes no more questions than "
        "its records one by one."
    )
    yield says(also(cases("one record at a time", *separately(), where="every order of the pairs of up to four records",
                     shows="never more questions together")), said)  # fmt: skip
    yield also(cases("exchanging a non-match of a single record with the next match", *exchanges_ask_nothing_new(),
                     where="every order", shows="no new questions"))  # fmt: skip
    yield also(tree_formula())
    yield also(bounded("the bound against $k(n-1)$", [tree_in_fractions(s) for s in MORE],
                       [len(s) * (sum(s) - 1) for s in MORE]))  # fmt: skip


@claim("B46")
def model_with_three_steps():
    few = [([2, 1], HALF), ([4, 3, 1], Fraction(1, 5)), ([12, 12, 7], Fraction(1, 9)), ([30, 30], Fraction(1, 40))]
    times = (0, 1, 2, 10, 300)
    said = (
        f"On clusters of up to {max(max(sizes) for sizes, _ in few)} records the formula and the general "
        "computation give the same count."
    )
    yield says(agreement("`cr.expected_queries` against $E[Q]$ in fractions",
                    [cr.expected_queries(gap_model(p), sizes) for sizes, p in few],
                    [gap_count(sizes, p) for sizes, p in few], tolerance=1e-11, relative=True), said)  # fmt: skip
    yield agreement("`cr.L` against $(1-p)^t$", [cr.L(gap_model(p), t) for _, p in few for t in times],
                    [(1 - p) ** t for _, p in few for t in times], tolerance=1e-12, relative=True)  # fmt: skip


@claim("B47")
def theorem_2_repaired():
    yield sum_over_pairs()
    yield questions_and_components()
    yield _union_bound()
    for piece in _repaired_in_numbers():
        yield also(piece)
