"""Claims of the chapter *Edge ordering*."""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations, product
from math import comb, log, sqrt

import numpy as np
import sympy as sp
from scipy import stats
from scipy.cluster.hierarchy import DisjointSet
from scipy.special import gammaln

import crowder as cr
from book.companion import by_hand, naive, published
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    identity,
    inequality,
    of_chapter,
    simulation,
    trend,
    vanishing,
)
from crowder.counting.bounds import disconnected, edge_tree_bound
from crowder.counting.enumeration import questions_of_order

claim, check = of_chapter(__name__)

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
EPSILON, T = cr.theory.EPSILON, cr.theory.T
n, k, x = sp.symbols("n k x", positive=True)
#: The smallest known instance that exceeds the printed bound.
COUNTER_SIZES, COUNTER_P = (38, 37), Fraction(1, 56)
#: Cluster sizes for formulas in fractions, and for formulas that are cheap.
TINY = [[2, 1], [3, 2], [4, 4, 1], [4, 3, 2, 2]]
MORE = [*TINY, [1] * 6, [60, 7, 7, 2], [200] * 2 + [100] * 4 + [50] * 8]
#: One record against clusters of these sizes.
LONE = [1, 2, 3, 4, 7, 20, 100, 250]
#: Values of ε for the closed forms of the counts with sizes 2 and 1.
TWO_ONE = [Fraction(1, 20), Fraction(1, 5), Fraction(9, 20)]
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45)
BOUNDS = "test_bounds.py::"


# --- formulas in fractions ---------------------------------------------------------------------------------------


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


def _repaired_in_fractions(model, sizes):
    n, k = sum(sizes), len(sizes)
    L = {s: by_hand.integral(model, comb(s + 1, 2)) for s in range(1, max(sizes) + 1)}
    return n - k + min(comb(k, 2) * s**2 + sum(m * (n - m) * comb(m, s + 1) * L[s] for m in sizes) for s in L)


def _tree_in_fractions(sizes):
    n, k = sum(sizes), len(sizes)
    return n - k + sum(min(Fraction(2 * a * b, a + 1), Fraction(2 * a * b, b + 1)) for a, b in combinations(sizes, 2))


@cache
def _connected_graphs(m):
    """The numbers of connected graphs on m vertices with 0, 1, 2, ... edges."""
    tally = [0] * (comb(m, 2) + 1)
    for edges in _graphs(m):
        tally[len(edges)] += len(naive.components(range(m), edges)) == 1
    return tally


def exact_D(model, m):
    """The probability that a cluster of m is not connected at the level of a non-match, over all graphs."""
    y, total, below = sp.Symbol("y"), sp.Integer(0), sp.Integer(0)
    for (a, b), g, h in zip(pairwise(model.green.edges), model.green.heights, model.red.heights, strict=True):
        a, b, g, h = map(sp.nsimplify, (a, b, g, h))
        p, pairs = 1 - below - g * y, comb(m, 2)
        whole = sum(many * p**e * (1 - p) ** (pairs - e) for e, many in enumerate(_connected_graphs(m)))
        total += sp.integrate(sp.expand(h * (1 - whole)), (y, 0, b - a))
        below += g * (b - a)
    return total


def _corners_in_fractions(model, sizes):
    """The corrected bound, from its formula."""
    D = {m: exact_D(model, m) for m in set(sizes)}
    return sum(sizes) - len(sizes) + sum(
        min(a * b, a + a * b * D[b], b + a * b * D[a], 1 + a * b * (D[a] + D[b])) for a, b in combinations(sizes, 2)
    )  # fmt: skip


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


def small_models():
    """One model of each kind, with few steps."""
    backwards = cr.SimilarityModel.from_steps([0, HALF, 1], green=[2, 0], red=[0, 2])
    return [cr.uniform(), cr.dist1(QUARTER), cr.dist2(QUARTER), gap_model(QUARTER), backwards]


# --- all orders, all graphs --------------------------------------------------------------------------------------


def _orders(labels):
    """Every order of all pairs of the records."""
    return permutations(combinations(range(len(labels)), 2))


def _graphs(m):
    """Every graph on m vertices, as its edges."""
    pairs = list(combinations(range(m), 2))
    return (edges for size in range(len(pairs) + 1) for edges in combinations(pairs, size))


@cache
def _some_orders(count):
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
    return _bound_in(_some_orders(300))


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


def _questions_and_components(orders=None):
    return also(cases(
        "questions and components", *_bound_in_every_order(),
        *(_bound_in_some_orders() if orders is None else _bound_in(orders)),
        where="every order of the pairs of up to four records, and random orders for six",
        shows="never more questions than the bound",
    ))  # fmt: skip


def _sum_over_pairs():
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
          for m in (2, 3, 4, 5) for edges in _graphs(m) for s in range(1, m)),
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


def _asks_its_tree(v, order, labels):
    order = [tuple(pair) for pair in order]
    return _about(v, order, labels) == {edge for edge in _spanning_tree(order) if v in edge}


@cache
def _tree_in_every_order():
    return [_asks_its_tree(m, order, labels) for m, labels in ((2, "aab"), (3, "aaab")) for order in _orders(labels)]


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
def _separately():
    both = (_single_records(order, labels, "a", "b") for labels in ("aab", "aabb", "aaab") for order in _orders(labels))
    return [together <= singly for together, singly in both]


@cache
def _exchanges_ask_nothing_new():
    return [_about(3, lower, "aaab") <= _about(3, order, "aaab")
            for order in _orders("aaab") for lower in _exchanged(order, "aaab")]  # fmt: skip


@cache
def _on_trees():
    """The steps in the proof of the tree bound, order by order."""
    some = [_asks_its_tree(5, order, "aaaaab") for order in _some_orders(200)]
    return [*_tree_in_every_order(), *some, *_separately(), *_exchanges_ask_nothing_new()]


def _tree_cases():
    return also(cases("the steps of {prf:ref}`thm-edge-likely`", *_on_trees(),
                      where="every order of the pairs of up to four records, and random orders for six"))  # fmt: skip


def _tree_sums():
    a, b = sp.symbols("a b", positive=True)  # two cluster sizes, the smaller a and the larger a + b
    return [2 * a - 2 * a * (a + b) / (a + b + 1) - 2 * a / (a + b + 1), a + (a + b) - 2 * a - b,
            (n - k) + (k - 1) * n - k * (n - 1)]  # fmt: skip


def _tree_formula():
    return agreement(
        "`edge_tree_bound` against the formula in fractions", [edge_tree_bound(cr.uniform(), s) for s in MORE],
        [_tree_in_fractions(s) for s in MORE], tolerance=1e-12, relative=True,
    )  # fmt: skip


# --- random runs, random sizes -----------------------------------------------------------------------------------


def _asked(sizes, model, rng):
    """Questions that edge ordering asks on one data set."""
    data = cr.datasets.synthetic(sizes, model, rng=rng)
    return cr.edge_ordering(data.condensed, cr.Truth(data.labels), rng=rng).n_queries


def _runs_agree(runs, model, size):
    """Runs with the sizes of Table 1, or a few small ones."""
    if runs is None:
        rng, sizes, law = np.random.default_rng(2017), [12, 8, 3, 1], getattr(cr, model)(0.2)
        counts = [_asked(sizes, law, rng) for _ in range(size)]
        mean, error, expected = np.mean(counts), np.std(counts, ddof=1) / sqrt(size), cr.expected_queries(law, sizes)
    else:
        part = runs[runs["model"] == model]
        mean, error, expected = part["simulated"], part["error"], part["exact"]
    limit = float(stats.t.isf(1e-6, size - 1))  # standard errors, exceeded by chance twice in a million rows
    return simulation("runs with the sizes of Table 1", mean, error, expected, size=size, limit=round(limit, 1))


def _spread(rng, n, k):
    """k cluster sizes that sum to n, some of them tiny."""
    return (1 + rng.multinomial(n - k, rng.dirichlet([0.3] * k))).tolist()


# --- the paper ---------------------------------------------------------------------------------------------------


@claim(
    "C03",
    proof="05-edge-ordering#prop-edge-worst",
    prose="the number of questions when all non-matches come first",
    touches="general densities",
    place="Introduction, the heuristic of Wang et al.",
    status="holds", basis="proved",
    statement=r"On some instances edge ordering asks of order $n$ times as many questions as an optimal strategy.",
    code=[cr.EdgeOrdering, cr.ideal_queries],
    test=BOUNDS + "test_backwards_similarities_cost_a_quarter_of_n_times_the_optimum",
)  # fmt: skip
def factor_of_order_n(runs=None, ratios=None):
    """`runs` and `ratios`: from n to the questions asked, and to expected questions over the optimum."""
    backwards = cr.SimilarityModel.from_steps([0, HALF, 1], green=[2, 0], red=[0, 2])
    if runs is None:
        rng = np.random.default_rng(2017)
        runs = {size: _asked([size // 2] * 2, backwards, rng) for size in (4, 10, 40, 100)}
    if ratios is None:
        ratios = {size: cr.expected_queries(backwards, [size // 2] * 2) / (size - 1) for size in (50, 1000, 50_000)}
    count = n**2 / 4 + n - 2
    yield identity(
        "the count, and both sides of the inequalities", (n / 2) ** 2 + (n - 2) - count,
        count - n / 4 * (n - 1) - (5 * n / 4 - 2), n * (n - 1) / 2 / (n - 1) - n / 2,
        k * (k - 1) / 2 - (k - 1) - (k - 1) * (k - 2) / 2,
        shows="$n^2/4 + n - 2$ questions where $n - 1$ are enough: at least $n/4$, at most $n/2$ times the optimum",
    )  # fmt: skip
    if max(runs) >= 1000 * min(runs):
        yield also(trend("questions of the runs, against $n$", list(runs), list(runs.values()), exponent=2, within=0.1))
    yield also(trend("expected questions over the optimum, against $n$", list(ratios), list(ratios.values()),
                     exponent=1, within=0.02))  # fmt: skip
    yield also(agreement(f"`cr.edge_ordering` asks $n^2/4 + n - 2$, up to $n = {max(runs):,}$",
                         list(runs.values()), [size**2 // 4 + size - 2 for size in runs]))  # fmt: skip
    yield also(agreement("`cr.ideal_queries` is $n - 1$", [cr.ideal_queries([size // 2] * 2) for size in runs],
                         [size - 1 for size in runs]))  # fmt: skip


def _repaired_in_numbers():
    models = small_models()
    yield bounded("the counterexample", float(gap_count(COUNTER_SIZES, COUNTER_P)),
                  repaired_bound(gap_model(COUNTER_P), COUNTER_SIZES))  # fmt: skip
    yield agreement(
        "the bound, against fractions", [repaired_bound(model, sizes) for model in models for sizes in TINY],
        [_repaired_in_fractions(model, sizes) for model in models for sizes in TINY], tolerance=1e-11, relative=True,
    )  # fmt: skip


@claim(
    "C09",
    proof="05-edge-ordering#thm-edge-corrected",
    prose="questions counted by pairs of components, and the union bound",
    touches="general densities",
    place="Theorem 2 (edge ordering) and its proof",
    status="refuted", basis="proved",
    statement=r"""Edge ordering asks at most $n + \min_{1\le s\le n} \bigl[\binom k2 s^2 + n \sum_i
        \sum_{\ell=s}^{|V_i|} \ell\, L_{g,r}(\binom\ell2)\bigr]$ questions.""",
    corrected=r"""With a union-bound factor for the choice of the unconnected records: at most $n - k + \min_{s \ge 1}
        \bigl[\binom k2 s^2 + \sum_i m_i (n - m_i) \binom{m_i}{s+1} L_{g,r}(\binom{s+1}2)\bigr]$, $m_i = |V_i|$.""",
    affects="general densities, if a few matches are more similar than all non-matches and most are less similar.",
    stands=r"""For the models of the paper no violation was found at the sizes tried, nor for any model with $F_g \le
        F_r$ that was tried. Propositions 2 to 4 have proofs that do not use the theorem.""",
    code=[cr.edge_bound, cr.L, cr.expected_queries],
    test=[BOUNDS + "test_seventy_five_records_exceed_theorem_2",
          BOUNDS + "test_edge_bound_is_its_formula_in_fractions",
          BOUNDS + "test_theorem_2_with_its_factor_holds_on_random_models"],
)  # fmt: skip
def theorem_2(runs=None, shapes=([1] * 9, [2] * 5, [9, 4, 1]), random=6):
    """`runs`: questions in runs on the counterexample; `shapes`: cluster sizes for the models of the paper; `random`:
    number of random models."""
    sizes, p = COUNTER_SIZES, COUNTER_P
    model, models = gap_model(p), small_models()
    exact, printed = gap_count(sizes, p), printed_bound(model, sizes)[0]
    if runs is None:
        rng = np.random.default_rng(2017)
        runs = [_asked(sizes, model, rng) for _ in range(100)]
    yield counterexample(
        f"expected questions: clusters of {' and '.join(map(str, sizes))}, one match in {p.denominator} more similar "
        "than all non-matches, the others less", value=exact, relation="at most", printed=printed)  # fmt: skip
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
    yield corrected(_sum_over_pairs())
    yield corrected(_questions_and_components())
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


@claim(
    "C15",
    proof="05-edge-ordering#prop-edge-uniform",
    prose="the theorem from which it starts (B44)",
    touches="F_g <= F_r",
    place="Proposition 2 (uniform noise) and its proof",
    status="holds with a caveat", basis="proved", kind="condition",
    statement=r"""Without information, $L_{g,r}(t) = 1/(t + 1)$ and edge ordering asks $O(nk \log\frac nk)$
        questions.""",
    corrected=r"""For $n \ge 2k$. For all $k \le n$ it asks at most $k(n - 1)$, hence $O(nk(1 + \log\frac nk))$.""",
    affects=r"""$k$ close to $n$, where the logarithm vanishes and the questions do not; and the step of the proof that
        sums over $\ell$, for clusters of fewer than $s - 1$ records.""",
    stands="""The proposition, through the argument with spanning trees instead of Theorem 2; even without the
        logarithm.""",
    code=[edge_tree_bound, cr.L_symbolic, cr.L, cr.expected_queries],
    test=[BOUNDS + "test_without_information_fewer_than_nk_questions",
          BOUNDS + "test_steps_of_the_printed_proof_for_uniform_similarities"],
)  # fmt: skip
def proposition_2(largest=20):
    """`largest`: the largest size of equal clusters."""
    grid = [[m] * clusters for m in (1, 2, 5, 20, 100) if m <= largest for clusters in (2, 3, 10, 1000)]
    rng = np.random.default_rng(2017)
    grid += [_spread(rng, records, clusters) for records in (30, 300) for clusters in (2, 5, 15)]
    spreads = [(s, _spread(rng, s * s * clusters, clusters))
               for s in (3, 4, 5, 8) for clusters in (1, 2, 3, 6) for _ in range(25)]  # fmt: skip
    ell = sp.Symbol("ell", positive=True)
    slack = 2 / (ell - 1) - ell / (ell * (ell - 1) / 2 + 1)
    times = [0, 1, 2, 10, 500]
    small = [sizes for size in range(2, 8) for sizes in naive.splits(size)]
    rough = [(rng.integers(1, top, size=clusters).tolist(), s)
             for top in (2, 3, 10, 100, 500) for clusters in (1, 2, 5, 30) for s in (3, 4, 7, 20, 60)]  # fmt: skip
    yield counterexample(r"two singletons: expected questions, against any multiple of $nk \ln\frac nk$",
                         value=cr.expected_queries_exact(cr.uniform(), [1, 1]), relation="at most",
                         printed=0)  # fmt: skip
    yield counterexample("a step of the proof, a cluster of two, $s = 4$: the empty sum, against the logarithm",
                         value=0, relation="at most", printed=log(Fraction(2 - 1, 4 - 2)))  # fmt: skip
    yield corrected(identity(r"$E[Q] \le k(n-1)$, by {prf:ref}`thm-edge-likely`: the sums", *_tree_sums(),
                             shows="$E[Q] < nk$, without a logarithm"))  # fmt: skip
    yield corrected(inequality(r"$\ln\frac nk \ge \ln 2$ for $n = (2 + x)k$", sp.log(2 + x) - sp.log(2)))
    yield corrected(_tree_cases())
    yield corrected(identity("`cr.L_symbolic`, and the integral by sympy", (cr.L_symbolic("uniform"), 1 / (T + 1)),
                             (sp.integrate(x**T, (x, 0, 1)), 1 / (T + 1)), shows="$L_{g,r}(t) = 1/(t+1)$"))  # fmt: skip
    further = [
        bounded(f"exact counts against $k(n-1)$, {len(grid)} lists of sizes",
                [cr.expected_queries(cr.uniform(), s) for s in grid], [len(s) * (sum(s) - 1) for s in grid]),
        bounded(f"exact counts in fractions against $nk$, all {len(small)} partitions of up to seven records",
                [float(cr.expected_queries_exact(cr.uniform(), s)) for s in small], [sum(s) * len(s) for s in small]),
        agreement("`cr.L` at $t = 0, 1, 2, 10, 500$", cr.L(cr.uniform(), times),
                  [Fraction(1, t + 1) for t in times], tolerance=1e-14),
        agreement("one record against $m$, $2m/(m+1)$", [cr.expected_queries(cr.uniform(), [m, 1]) for m in LONE],
                  [m - 1 + Fraction(2 * m, m + 1) for m in LONE], tolerance=1e-9),
        _tree_formula(),
        identity("printed proof, slack of the first step: $4/((\\ell-1)(\\ell^2-\\ell+2))$",
                 slack - 4 / ((ell - 1) * (ell**2 - ell + 2))),
        bounded(r"printed proof at $s = \sqrt{n/k} \ge 3$: sums over clusters",
                [float(sum(true_sum(m, s) for m in sizes)) for s, sizes in spreads],
                [by_concavity(sizes, s) for s, sizes in spreads]),
        bounded(rf"its double sum for any sizes and $s \ge 3$, with $k \ln(1 + \frac{{n}}{{k(s-2)}})$ for the "
                f"logarithms, {len(rough)} cases",
                [sum(2 * v / (v * (v - 1) + 2) for m in sizes for v in range(s, m + 1)) for sizes, s in rough],
                [2 * len(sizes) * log(1 + sum(sizes) / (len(sizes) * (s - 2))) for sizes, s in rough]),
    ]  # fmt: skip
    yield from (corrected(also(piece)) for piece in further)


def true_sum(m, s):
    """The sum of 1/(ℓ - 1) over ℓ = s, ..., m."""
    return sum(Fraction(1, ell - 1) for ell in range(s, m + 1))


def by_concavity(sizes, s):
    """The upper bound on these sums over all clusters in the printed proof for uniform similarities."""
    return len(sizes) * log((sum(sizes) - len(sizes)) / len(sizes) / (s - 2))


def _second_asked(v):
    """Dist-1, sizes 2 and 1: both non-matches are asked about if both are above the match, ∫ f_g (1 - F_r)²."""
    lower = (1 - v) * (1 - ((1 - v) / 2) ** 3) / (3 * (1 + v))
    return lower + (1 + v) * (1 - v) ** 2 / 24


def _dist1_factor():
    return (1 - EPSILON) / (1 + EPSILON)


def _dist1_dominates():
    sizes, half = published.cluster_sizes(announced=True), sp.Rational(1, 2)
    low, high = ((1 + EPSILON) * x - (1 - EPSILON) * x, (1 + EPSILON) * (1 - x) - (1 - EPSILON) * (1 - x))
    return [
        inequality(r"$F_g \le F_r$ on both steps, and $\frac{1-\epsilon}{1+\epsilon} \ge \frac13$", low, high,
                   _dist1_factor() - sp.Rational(1, 3), over={EPSILON: (0, half), x: (0, 1)},
                   shows="$E[Q] \\le k(n-1)$, by {prf:ref}`thm-edge-likely`"),
        _tree_cases(),
        also(cases("`edge_tree_bound` for the sizes of Table 1, against $k(n-1)$", *(
            bool(edge_tree_bound(cr.dist1(v), sizes) <= len(sizes) * (sum(sizes) - 1))
            for v in np.linspace(0.01, 0.5, 50)), where="50 values of ε")),
    ]  # fmt: skip


@cache
def _beyond_ideal(largest):
    """Questions beyond the ideal for three equal clusters, and the factor times the sum of the tree bound."""
    rows = []
    for v, m in product((0.01, 0.1, 0.2, 0.3, 0.4, 0.5), (1, 2, 3, 5, 10, 25, 60, 120)):
        if m <= largest:
            sizes = [m] * 3
            count, sum_of_pairs = cr.expected_queries(cr.dist1(v), sizes), _tree_in_fractions(sizes) - 3 * (m - 1)
            rows.append((max(count - cr.ideal_queries(sizes), 0), float((1 - v) / (1 + v) * sum_of_pairs)))
    return rows


def _two_and_one_dist1():
    return agreement("sizes 2 and 1, in fractions", [cr.expected_queries(cr.dist1(v), [2, 1]) for v in TWO_ONE],
                     [2 + _second_asked(v) for v in TWO_ONE], tolerance=1e-12)  # fmt: skip


def _dist1_in_numbers(runs, repetitions, largest):
    rows = _beyond_ideal(largest)
    yield bounded("equal clusters: questions beyond the ideal, against the factor times {eq}`eq-edge-likely`'s sum",
                  [got for got, _ in rows], [limit for _, limit in rows])  # fmt: skip
    yield _two_and_one_dist1()
    yield _tree_formula()
    yield _runs_agree(runs, "dist1", repetitions)


@claim(
    "C16",
    proof="05-edge-ordering#prop-edge-dist1",
    prose="the theorem from which it starts (B44)",
    touches="Dist-1",
    place="Proposition 3 (Dist-1) and its proof",
    status="holds with a caveat", basis="proved", kind="condition",
    statement=r"""Under Dist-1, $0 < \epsilon < \frac12$, edge ordering asks $O(nk(1 - 2\epsilon) \log\frac nk)$
        questions; the proof takes $\epsilon$ to be small.""",
    corrected=r"""For small $\epsilon$, or any that is bounded away from $\frac12$. For all $\epsilon$, with the factor
        before the expansion: $O\bigl(nk\,\frac{1-\epsilon}{1+\epsilon} \log\frac nk\bigr)$ for $n \ge 2k$, and in fact
        at most $k(n - 1)$; the factor lies between $\frac13$ and 1.""",
    affects=r"how the count falls as $\epsilon$ grows: $1 - 2\epsilon$ tends to 0 at $\frac12$, the count does not.",
    stands=r"""The proposition for small $\epsilon$, as its proof has it, and the order in $n$ and $k$ for each
        $\epsilon$. The experiments do not use the bound.""",
    code=[cr.expected_queries, edge_tree_bound, cr.L_symbolic],
    test=[BOUNDS + "test_dist1_at_one_half_asks_questions_all_the_same",
          BOUNDS + "test_dist1_saves_the_corrected_factor"],
)  # fmt: skip
def proposition_3(runs=None, repetitions=60, largest=25):
    """`runs`: the rows of Table 1, simulated with this number of `repetitions` and exact; `largest`: the largest size
    of three equal clusters."""
    sizes = published.cluster_sizes(announced=True)
    close = 0.5 - 10.0 ** -np.arange(1, 6)
    over = [cr.expected_queries(cr.dist1(v), [10] * 4) / (160 * (1 - 2 * v) * log(10)) for v in close]
    at_one = cr.L_symbolic("dist1").subs(T, 1)  # (1 - ε)/2, against (1 - 2ε)/2
    yield vanishing(
        r"two clusters of two, $\epsilon \to \frac12$ from below: $nk(1-2\epsilon) \ln\frac nk$, divided by the three "
        "questions that every strategy needs", 8 * (1 - 2 * EPSILON) * sp.log(2) / cr.ideal_queries([2, 2]), EPSILON,
        sp.Rational(1, 2), direction="-")  # fmt: skip
    near = Fraction(49, 100)
    yield also(bounded(rf"these, and those for the sizes of Table 1, against the expected ones at $\epsilon = {near}$",
                       [3, cr.ideal_queries(sizes)],
                       [float(cr.expected_queries_exact(cr.dist1(near), [2, 2])),
                        cr.expected_queries(cr.dist1(near), sizes)]))  # fmt: skip
    points = [(Fraction(i, 20), s) for i in range(1, 11) for s in (1, 2, 3, 8)]
    yield also(cases(
        r"$\frac{1-2\epsilon}{t+1} < \frac{1-\epsilon}{(1+\epsilon)(t+1)} < L_{g,r}(t) \le \frac{1-\epsilon}{t+1}$, in "
        "fractions", *((1 - 2 * v) / Fraction(s + 1) < (1 - v) / ((1 + v) * (s + 1))
                       < by_hand.integral(cr.dist1(v), s) <= (1 - v) / Fraction(s + 1)
                       for v, s in points), where=f"{len(points)} points"))  # fmt: skip
    yield also(_two_and_one_dist1())
    yield also(trend(r"close to $\frac12$: $E[Q]$ over $nk(1-2\epsilon)\ln\frac nk$, against $1/(1-2\epsilon)$",
                     1 / (1 - 2 * close), over, exponent=1, within=0.02))  # fmt: skip
    yield also(identity(r"$L_{g,r}(1)$ exceeds $(1-2\epsilon)/2$ by $\epsilon/2$",
                        at_one - (1 - 2 * EPSILON) / 2 - EPSILON / 2))  # fmt: skip
    yield also(_runs_agree(runs, "dist1", repetitions))
    for piece in _dist1_dominates():
        yield corrected(piece)
    for piece in _dist1_in_numbers(runs, repetitions, largest):
        yield corrected(also(piece))


@claim(
    "C17",
    proof="05b-edge-proofs#edge-dist2-proof",
    prose="the theorems from which it starts (B41, B44), and the union bound over splits of a cluster",
    touches="Dist-2",
    place="Proposition 4 (Dist-2) and its proof",
    status="holds", basis="proved",
    statement=r"""Under Dist-2 edge ordering asks $O(n + k^2 \log n/\epsilon)$ questions; at $s = \sqrt{4 \ln
        n/\epsilon} + 1$ the sum of Theorem 2 is below 1.""",
    code=[edge_tree_bound, disconnected, cr.L, cr.expected_queries],
    test=[BOUNDS + "test_dist2_within_its_explicit_bound",
          BOUNDS + "test_the_printed_tail_for_dist2_is_below_one"],
)  # fmt: skip
def proposition_4(compared=None, runs=None, repetitions=60):
    """`compared`: exact counts and bounds of equal clusters; `runs`: the rows of Table 1, simulated and exact."""
    e = EPSILON
    if compared is None:
        small = [(v, m, clusters) for v in (0.05, 0.3, 0.45) for m in (1, 3, 12) for clusters in (2, 10)]
        exact = [cr.expected_queries(cr.dist2(v), [m] * clusters) for v, m, clusters in small]
        bound = [clusters * m + 6 * clusters**2 * log(clusters * m) / v for v, m, clusters in small]
    else:
        exact, bound = list(compared["exact"]), list(compared["bound"])
    rng = np.random.default_rng(2017)
    for v in EPSILONS[1::2] if compared is not None else EPSILONS[3:4]:
        for unequal in (_spread(rng, records, clusters) for records in (20, 100) for clusters in (2, 5)):
            exact.append(cr.expected_queries(cr.dist2(v), unequal))
            bound.append(sum(unequal) + 6 * len(unequal) ** 2 * log(sum(unequal)) / v)
    tails = [(_printed_tail(sum(s), s, v), sqrt(v / log(sum(s)))) for v in (*EPSILONS, 0.499)
             for s in ([2], [1, 1], [9], [30], [50, 3], [100], [300, 10], [40] * 10, [200] * 5)]  # fmt: skip
    large = [(m, v) for v in (0.2, 0.3, 0.45) for m in (60, 100, 150, 250) if m * v > 6 * log(m)]
    times = (1, 2, 5, 30)
    records, logarithm, h2 = sp.Symbol("N", positive=True), sp.Symbol("ln_n", positive=True), e / (1 - e)
    a = sp.Symbol("a", positive=True)
    yield inequality(
        r"$F_g(1 - \epsilon) \le e^{-\epsilon}$; $a(m - a) \ge \frac{am}2$ for $m = 2a + x$; the geometric series, and "
        "$m m' \\le n^2/4$ of it", sp.exp(-e) - (1 - 2 * e) / (1 - e), a * (a + x) - a * (2 * a + x) / 2,
        sp.Rational(4, 3) / records**2 - records**-2 / (1 - records**-2),
        2 - (1 + records**2 / 4 * sp.Rational(8, 3) / records**2), (a + x) ** 2 / 4 - a * x,
        over={e: (0, sp.Rational(1, 2)), records: (2, sp.oo)}, shows=r"$E[Q] \le n + 6 k^2 \ln n / \epsilon$",
    )  # fmt: skip
    yield _tree_cases()
    yield _questions_and_components()
    yield also(cases("$\\frac12 < \\ln 2$", sp.Rational(1, 2) < sp.log(2), where="two numbers"))
    yield identity(
        "the tail, and $F_g(1 - \\epsilon) = 1 - H^2$ against $1 - \\epsilon$",
        records * records * 2 / records**2 / sp.sqrt(4 * logarithm / e) - sp.sqrt(e / logarithm),
        (1 - e) - (1 - h2) - e**2 / (1 - e),
    )
    yield also(bounded("exact counts against {eq}`eq-edge-dist2`, equal and unequal clusters, $n$ to $10^6$",
                       exact, bound))  # fmt: skip
    yield also(bounded("the printed sum, against $\\sqrt{\\epsilon/\\ln n}$", *map(list, zip(*tails, strict=True))))
    yield also(bounded(r"$D(m)$ against $\frac43 m^{-2}$ where $\epsilon m > 6 \ln m$",
                       [disconnected(cr.dist2(v), [m])[0] for m, v in large],
                       [4 / 3 / m**2 for m, _ in large]))  # fmt: skip
    yield also(agreement("sizes 2 and 1: $2 + (1 - H^2)^3/3$",
                         [cr.expected_queries(cr.dist2(v), [2, 1]) for v in TWO_ONE],
                         [2 + ((1 - 2 * v) / (1 - v)) ** 3 / 3 for v in TWO_ONE], tolerance=1e-12))  # fmt: skip
    yield also(agreement("`cr.L` and its closed form", [cr.L(cr.dist2(v), t) for v in TWO_ONE for t in times],
                         [((1 - 2 * v) / (1 - v)) ** (t + 1) / (t + 1) for v in TWO_ONE for t in times],
                         tolerance=1e-12, relative=True))  # fmt: skip
    yield also(_tree_formula())
    yield also(_runs_agree(runs, "dist2", repetitions))


def _printed_tail(n, sizes, epsilon):
    """The sum over ℓ of Theorem 2 at the s of the paper's proof, with the exact L."""
    s = int(np.ceil(sqrt(4 * log(n) / epsilon) + 1))
    terms = (np.arange(s, m + 1) for m in sizes)
    return n * sum(float(ell @ cr.L(cr.dist2(epsilon), ell * (ell - 1) / 2)) for ell in terms)


# --- beyond the paper --------------------------------------------------------------------------------------------


@claim(
    "B41",
    proof="05-edge-ordering#thm-edge-corrected",
    prose="questions counted by pairs of components, whose levels are independent of the matches",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""In every model, at most $s s' + m m' (\Pr(c(R) > s) + \Pr(c'(R) > s'))$ questions are asked between
        two clusters; with $s$ and $s'$ either 1 or all records, this gives the smallest of four numbers.""",
    code=[cr.edge_bound, disconnected],
    test=[BOUNDS + "test_corrected_edge_bound_is_its_formula_with_every_graph_listed",
          BOUNDS + "test_the_corrected_edge_bound_holds_on_random_models"],
)  # fmt: skip
def bound_for_every_model(orders=None):
    """`orders` of six records."""
    models = small_models()
    yield _sum_over_pairs()
    yield _questions_and_components(orders)
    yield also(agreement(
        "`cr.edge_bound(…, printed=False)` against the formula, over all graphs",
        [cr.edge_bound(model, sizes, printed=False) for model in models for sizes in TINY],
        [_corners_in_fractions(model, sizes) for model in models for sizes in TINY], tolerance=1e-10, relative=True,
    ))  # fmt: skip


@claim(
    "B42",
    proof="05-edge-ordering#prop-edge-factor",
    prose="that a match reduces the number of components by at most one, and linearity of expectation",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""The printed bound of Theorem 2 can be too small by any factor: at least $m/(24 \ln m)$ for two
        clusters of $m$, in the limit.""",
    code=[cr.edge_bound, cr.expected_queries],
    test=BOUNDS + "test_theorem_2_can_be_exceeded_by_any_factor",
)  # fmt: skip
def any_factor(points=4):
    """`points`: values of m from 10 to 10,000."""
    allowed = 2 * x + 4 + (2 + sp.sqrt(6 * x * sp.log(x))) ** 2
    limit = sp.limit((x + 1) ** 2 / 4 / allowed * sp.log(x) / x, x, sp.oo)
    sizes = np.unique(np.geomspace(10, 10_000, points).astype(int))
    instances = [(gap_model(1 / m), [int(m)] * 2) for m in sizes]
    exact = np.array([cr.expected_queries(*instance) for instance in instances])
    printed = np.array([cr.edge_bound(*instance) for instance in instances])
    root = sp.sqrt(6 * x * sp.log(x))  # s - 1
    yield identity("components, exponent and limit", (x - x * (x - 1) / 2 / x, (x + 1) / 2),
                   (root**2 / 2, 3 * x * sp.log(x)), (x * limit, x / 24),
                   shows=rf"exact over printed at $m = {sizes[-1]:,}$: {exact[-1] / printed[-1]:.0f}")  # fmt: skip
    yield inequality("$\\ln(1 - p) \\le -p$", -x - sp.log(1 - x), over={x: (0, 1)})
    yield also(cases("components, and the tail", *(
        by_hand.expected_components(m, Fraction(1, m)) >= Fraction(m + 1, 2) for m in range(2, 41)), *(
        log(1 - 1 / m) * comb(1 + int(np.ceil(sqrt(6 * m * log(m)))), 2) <= -3 * log(m) for m in range(2, 2000)),
        where="$m$ up to 40, and up to 2,000"))  # fmt: skip
    yield also(
        bounded(f"$\\frac14(m+1)^2$ against the exact count, $m$ up to {sizes[-1]:,}", (sizes + 1) ** 2 / 4, exact)
    )
    yield also(bounded("the printed bound against an upper bound on it", printed,
                       sp.lambdify(x, allowed)(sizes.astype(float))))  # fmt: skip
    yield also(trend("non-matches asked about, against $m$", sizes, exact - 2 * (sizes - 1), exponent=2, within=0.1))
    yield also(trend(r"the printed bound, against $m \ln m$", sizes * np.log(sizes), printed, exponent=1, within=0.1))


@claim(
    "B43",
    proof="05-edge-ordering#prop-edge-tree",
    prose="that questions are tree edges, and exchangeability",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""The questions of edge ordering about one record and a cluster of $m$ are the record's edges in a
        maximum spanning tree; if $f_g = f_r$, their expected number is $2m/(m + 1)$.""",
    code=[cr.expected_queries],
    test=BOUNDS + "test_one_record_against_a_cluster_is_asked_about_less_than_twice",
)  # fmt: skip
def questions_are_tree_edges(orders=None):
    """`orders` of six records."""
    orders = _some_orders(200) if orders is None else orders
    alike = cr.SimilarityModel.from_steps([0, QUARTER, 1], [QUARTER, 5 * QUARTER], [QUARTER, 5 * QUARTER])
    yield identity("expected degree: an equal share of $2m$ edge ends", ((2 * x) / (x + 1) * (x + 1), 2 * x))
    yield also(cases(
        "questions and tree", *_tree_in_every_order(),
        *(_asks_its_tree(5, order, "aaaaab") for order in orders), shows="the same pairs",
        where="every order of the pairs of three and four records, and random orders for six",
    ))  # fmt: skip
    yield also(agreement(
        "`cr.expected_queries`, two models with $f_g = f_r$, $m$ to 250",
        [cr.expected_queries(model, [m, 1]) - (m - 1) for model in (cr.uniform(), alike) for m in LONE],
        [Fraction(2 * m, m + 1) for _ in range(2) for m in LONE], tolerance=1e-9,
    ))  # fmt: skip


@claim(
    "B44",
    proof="05-edge-ordering#thm-edge-likely",
    prose="one record at a time, and that lower non-matches cause no new question",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""If $F_g \le F_r$, edge ordering asks at most $n - k + \sum_{i<j} 2 m_i m_j / (\max(m_i, m_j) + 1) \le
        k(n - 1)$ questions.""",
    code=[edge_tree_bound],
    test=[BOUNDS + "test_the_tree_bound_is_its_formula",
          BOUNDS + "test_the_tree_bound_holds_on_random_models_with_dominance"],
)  # fmt: skip
def tree_bound():
    yield identity("the sums", *_tree_sums())
    yield also(cases("one record at a time", *_separately(), where="every order of the pairs of up to four records",
                     shows="never more questions together"))  # fmt: skip
    yield also(cases("exchanging a non-match of a single record with the next match", *_exchanges_ask_nothing_new(),
                     where="every order", shows="no new questions"))  # fmt: skip
    yield also(_tree_formula())
    yield also(bounded("the bound against $k(n-1)$", [_tree_in_fractions(s) for s in MORE],
                       [len(s) * (sum(s) - 1) for s in MORE]))  # fmt: skip


@claim(
    "B46",
    place="beyond the paper",
    status="holds", basis="exact",
    statement=r"In the model with three steps, $E[Q] = n - k + \sum_{i<j} E[c_i] E[c_j]$ and $L_{g,r}(t) = (1 - p)^t$.",
    code=[cr.expected_queries, cr.L],
    test=BOUNDS + "test_the_model_on_three_steps",
)  # fmt: skip
def model_with_three_steps():
    few = [([2, 1], HALF), ([4, 3, 1], Fraction(1, 5)), ([12, 12, 7], Fraction(1, 9)), ([30, 30], Fraction(1, 40))]
    times = (0, 1, 2, 10, 300)
    yield agreement("`cr.expected_queries` against $E[Q]$ in fractions",
                    [cr.expected_queries(gap_model(p), sizes) for sizes, p in few],
                    [gap_count(sizes, p) for sizes, p in few], tolerance=1e-11, relative=True)  # fmt: skip
    yield agreement("`cr.L` against $(1-p)^t$", [cr.L(gap_model(p), t) for _, p in few for t in times],
                    [(1 - p) ** t for _, p in few for t in times], tolerance=1e-12, relative=True)  # fmt: skip


@claim(
    "B47",
    proof="05-edge-ordering#thm-edge-corrected",
    prose="questions counted by pairs of components, and the union bound",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""Theorem 2 with the union-bound factor: at most $n - k + \min_{s \ge 1} \bigl[\binom k2 s^2 + \sum_i
        m_i (n - m_i) \binom{m_i}{s+1} L_{g,r}(\binom{s+1}2)\bigr]$ questions, in every model.""",
    code=[cr.L, cr.expected_queries],
    test=BOUNDS + "test_theorem_2_with_its_factor_holds_on_random_models",
)  # fmt: skip
def theorem_2_repaired():
    yield _sum_over_pairs()
    yield _questions_and_components()
    yield _union_bound()
    for piece in _repaired_in_numbers():
        yield also(piece)


@claim(
    "B48",
    proof="05-edge-ordering#prop-edge-dist1",
    prose="the theorem from which it starts (B44)",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""Under Dist-1, $E[Q] \le k(n - 1) \le \frac3{\ln 2}\, nk\, \frac{1-\epsilon}{1+\epsilon} \ln\frac nk$
        for $n \ge 2k$.""",
    code=[edge_tree_bound, cr.expected_queries],
    test=BOUNDS + "test_dist1_saves_the_corrected_factor",
)  # fmt: skip
def dist1_with_its_factor(runs=None, repetitions=60, largest=25):
    """See `proposition_3`."""
    yield from _dist1_dominates()
    for piece in _dist1_in_numbers(runs, repetitions, largest):
        yield also(piece)
