"""Claims of the chapter *How many questions, exactly*."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product
from math import comb, exp, log, pi

import numpy as np
import pandas as pd
import sympy as sp
from scipy import integrate, special

import crowder as cr
from book.companion import naive
from book.companion.claims import (
    agreement,
    also,
    bounded,
    corrected,
    counterexample,
    identity,
    inequality,
    limit,
    of_chapter,
    simulation,
    trend,
)
from crowder.counting.asymptotics import edge_limit, giant_share, linear_bound, node_limit
from crowder.counting.exact_counts import connected_polynomials
from crowder.counting.expected_counts import expected_across
from crowder.counting.random_graphs import component_numbers, connected
from crowder.theory import EPSILON

claim, check = of_chapter(__name__)


# --- Table 1 ------------------------------------------------------------------------------------------------------


def _few_runs(ordering, sizes=(9, 6, 5, 4), runs=60):
    """Simulated and exact means of both models on small clusters."""
    found = []
    for model in (cr.dist1(0.25), cr.dist2(0.05)):
        asked = []
        for rng in np.random.default_rng(3).spawn(runs):
            data = cr.datasets.synthetic(list(sizes), model, rng=rng)
            w, truth = data.similarity, cr.Truth(data.labels)
            if ordering == "edge":
                asked.append(cr.edge_ordering(w, truth, rng=rng).n_queries)
            else:
                asked.append(cr.node_ordering(w, truth, order="random", rng=rng).n_queries)
        exact = cr.expected_queries(model, list(sizes), ordering)
        found.append((ordering, np.mean(asked), np.std(asked, ddof=1) / np.sqrt(runs), exact))
    return pd.DataFrame(found, columns=["ordering", "simulated", "error", "exact"])


@claim(
    "B60",
    place="beyond the paper",
    status="holds",
    basis="simulated",
    statement="""On the rows of Table 1 the exact expectations are what simulation gives, for edge ordering and for node
        ordering with records in random order.""",
    code=[cr.expected_queries],
    test="test_expected_counts.py::test_table_1_is_what_simulation_gives",
)
def table_1(table=None, runs=60, limit=5):
    table = pd.concat([_few_runs("edge"), _few_runs("node")]) if table is None else table
    for ordering, part in table.groupby("ordering"):
        yield simulation(f"{ordering} ordering, all rows", part["simulated"], part["error"], part["exact"], size=runs,
                         limit=limit)  # fmt: skip


# --- components of a random graph ----------------------------------------------------------------------------------


def _every_graph(m):
    """The number of pairs of a graph on m vertices and a component, by component size and number of edges."""
    pairs, seen = list(combinations(range(m), 2)), Counter()
    for present in product((0, 1), repeat=len(pairs)):
        edges = [pair for pair, there in zip(pairs, present, strict=True) if there]
        seen.update((len(part), len(edges)) for part in naive.components(range(m), edges))
    return seen, len(pairs)


@claim(
    "B62",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement="""The probability that a random graph is connected, by a recursion without subtraction, and the expected
        number of components of each size.""",
    code=[connected, component_numbers, connected_polynomials],
    test=[
        "test_random_graphs.py::test_numbers_are_those_of_all_graphs_on_up_to_five_vertices",
        "test_random_graphs.py::test_the_recursion_of_positive_terms_is_the_one_that_subtracts",
        "test_random_graphs.py::test_component_sizes_add_up_to_all_vertices",
    ],
)
def connectivity_and_components(vertices=4, sizes=(50,)):
    q, recursion, drawn, floats = sp.Symbol("q"), [], [], []
    for m in range(1, vertices + 1):
        C = connected_polynomials(m, q)
        seen, pairs = _every_graph(m)
        for a in range(1, m + 1):
            N = sum(many * (1 - q) ** E * q ** (pairs - E) for (size, E), many in seen.items() if size == a)
            drawn.append(sp.expand(N))
            recursion.append(sp.expand(comb(m, a) * C[a - 1] * q ** (a * (m - a))))
            floats += [(component_numbers(m, p)[a - 1], N.subs(q, 1 - p)) for p in (0.03, 0.4, 0.9)]
    whole = [component_numbers(m, c / m) @ np.arange(1, m + 1) / m for m in sizes for c in (0.5, 1, 1.5, 10)]
    yield agreement("$N(a)$ by the recursion and over all graphs on up to five vertices, as polynomials in $q$",
                    recursion, drawn)  # fmt: skip
    yield agreement("the same in floating point", *zip(*floats, strict=True), tolerance=1e-12, relative=True)
    yield also(agreement("$\\sum_a a\\,N(a) / m = 1$, sparse to dense, up to $m = 2000$", whole, [1] * len(whole),
                         tolerance=1e-9))  # fmt: skip


# --- no logarithm ------------------------------------------------------------------------------------------------


def masses(edges, heights):
    """The mass of each step of a density."""
    return [
        sp.sympify(height * (right - left)) for height, (left, right) in zip(heights, pairwise(edges), strict=True)
    ]  # fmt: skip


@claim(
    "B65",
    proof="07-exact-counts#cor-counts-totals",
    prose="the theorem from which it starts (B64)",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement="For Dist-2 edge ordering asks in expectation at most $n - k + 2k(k-1)/H^2$ questions.",
    code=[linear_bound],
    test="test_asymptotics.py::test_the_bound_without_logarithm",
)
def linear_totals(tried=([20] * 10, [30, 4, 4, 7])):
    """`tried`: lists of cluster sizes."""
    sums, counts, rounded = [], [], []
    for k in range(2, 7):
        ms = sp.symbols(f"m1:{k + 1}")
        sums.append((sum((x + y) / 2 for x, y in combinations(ms, 2)), sp.Rational(k - 1, 2) * sum(ms)))
    edges, green, _ = cr.models.steps("dist2", EPSILON)
    above = (masses(edges, green)[-1], EPSILON / (1 - EPSILON))  # p, and H²
    for sizes in tried:
        n, k = sum(sizes), len(sizes)
        for model in (cr.uniform(), cr.dist1(0.25), cr.dist2(0.05)):
            bound = linear_bound(model, sizes)
            counts.append((cr.expected_queries(model, sizes, nodes=8), bound))
            rounded.append((bound, n - k + 2 * n * (k - 1)))
            if model.name == "dist2":
                rounded.append((bound, n - k + 2 * k * (k - 1) * (1 - 0.05) / 0.05))
    equal = [(linear_bound(cr.dist1(0.25), [m] * 30), 30 * (m - 1) + 2 * 30 * m * 29) for m in (1, 7, 200)]
    equal += [(linear_bound(cr.dist2(0.05), [m] * 30), 30 * (m - 1) + 2 * 30 * 29 * 19) for m in (20, 500)]
    yield identity("the sum over pairs of two to six clusters, and $p = H^2$ for Dist-2", *sums, above)
    yield also(bounded("exact counts, up to a million records, against the sum of {eq}`eq-counts-nolog`",
                       *zip(*counts, strict=True)))  # fmt: skip
    yield also(bounded("that sum against the corollary", *zip(*rounded, strict=True)))
    yield also(agreement("equality for equal clusters, which are large for Dist-2", *zip(*equal, strict=True),
                         tolerance=1e-6))  # fmt: skip


# --- large clusters ------------------------------------------------------------------------------------------------

#: λ = f_r/f_g at the largest similarities, for the models with growing clusters.
RATIO = {"no information": 1.0, "ε = 0.1": (1 - 0.1) / (1 + 0.1), "ε = ½": (1 - 0.5) / (1 + 0.5)}


@cache
def _little_growth(sizes=(1, 10, 250, 1000)):
    """Exact counts across two equal clusters, per record."""
    models = {"no information": cr.uniform(), "ε = 0.1": cr.dist1(0.1), "ε = ½": cr.dist1(0.5)}
    rows = [
        (name, ordering, m, expected_across(model, m, m, ordering, nodes=8) / m)
        for (name, model), ordering, m in product(models.items(), ("edge", "node"), sizes)
    ]
    return pd.DataFrame(rows, columns=["model", "ordering", "m", "per record"])


def _curve(growth, name, ordering):
    part = growth[(growth["model"] == name) & (growth["ordering"] == ordering)]
    return part["m"].to_numpy(), part["per record"].to_numpy()


def _approach(growth, ordering, constants, within):
    """The counts per record on the way to their limits."""
    for (name, ratio), constant in zip(RATIO.items(), constants, strict=True):
        sizes, values = _curve(growth, name, ordering)
        what = f"{ordering} ordering, {name}: exact count per record, $\\lambda = {ratio:.2g}$, $m$ to {sizes[-1]:,}"
        yield limit(what, sizes, values, float(constant), within=within)


def _limits(growth, ordering):
    """The limits of the counts per record, extrapolated from two sizes: the error is of order m^(-2/3), or 1/m for node
    ordering."""
    found = []
    for name in RATIO:
        sizes, values = _curve(growth, name, ordering)
        power = 2 / 3 if ordering == "edge" else 1
        found.append(values[-1] + (values[-1] - values[-2]) / ((sizes[-1] / sizes[-2]) ** power - 1))
    return found


@cache
def _by_iteration(ratio, points=4000, rounds=4000):
    """K(λ) independently: both equations solved by iteration, the integral by the trapezoidal rule."""
    c = 1 + np.linspace(0, 6, points) ** 2
    theta, gamma = np.ones(points), np.zeros(points)
    for _ in range(rounds):
        theta = 1 - np.exp(-c * theta)
        gamma = np.exp(-ratio * c * theta + c * (gamma - 1))
    return ratio * (1 + np.trapezoid((1 - theta) ** 2 + 2 * theta * gamma, c))


def _constants(points):
    return [_by_iteration(ratio, points) for ratio in RATIO.values()]


def _decades(growth):
    for name in RATIO:
        sizes, values = _curve(growth, name, "edge")
        yield trend(
            f"$E[Q_{{ij}}]$ of edge ordering against $m$, {name}", sizes, values * sizes, exponent=1, within=0.1
        )


@claim(
    "B67",
    proof="13a-limits#cor-results-limit",
    prose="the size of the giant component, and dominated convergence",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""The expected questions of edge ordering across two clusters of $m$ records tend to $K(\lambda)\,m$,
        where $K$ is an integral; without information to $1.4286\,m$.""",
    code=[edge_limit],
    test=[
        "test_asymptotics.py::test_exact_counts_tend_to_the_limit",
        "test_asymptotics.py::test_the_limit_is_the_series",
    ],
)
def limit_of_edge_ordering(growth=None, points=1000):
    growth = _little_growth() if growth is None else growth
    c = np.linspace(1, 60, 25 * points + 1)
    first_term = 1 + np.trapezoid([(1 - giant_share(value)) ** 2 for value in c], c)
    c_, ratio = sp.symbols("c lambda", positive=True)
    yield inequality("the ratio of the geometric series is at most one half from $c = 8$ on",
                     sp.Rational(1, 2) - c_ * sp.exp(1 - c_ / 2), over={c_: (8, sp.oo)})  # fmt: skip
    yield identity("the dominating function has a finite integral: its antiderivative",
                   (sp.diff(-2 / ratio * sp.exp(-ratio * c_ / 2), c_), sp.exp(-ratio * c_ / 2)))  # fmt: skip
    yield from map(also, _approach(growth, "edge", _constants(points), within=0.02))
    yield also(agreement("the same counts, extrapolated, against $K(\\lambda)$", _limits(growth, "edge"),
                         _constants(points), tolerance=2e-3, relative=True))  # fmt: skip
    yield also(agreement("`edge_limit` against $K(\\lambda)$ by iteration", [edge_limit(r) for r in RATIO.values()],
                         _constants(points), tolerance=1e-4, relative=True))  # fmt: skip
    yield also(agreement("the first term is $\\pi^2/3 - 2$", first_term, pi**2 / 3 - 2, tolerance=1e-5))
    yield from map(also, _decades(growth))


@claim(
    "B68",
    proof="13a-limits#cor-results-limit",
    prose="dominated convergence",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""The expected questions of node ordering across two clusters of $m$ records tend to
        $\frac{2\lambda}{1+\lambda}\,m$; for Dist-1 this is $(1-\epsilon)\,m$.""",
    code=[node_limit],
    test="test_asymptotics.py::test_exact_counts_tend_to_the_limit",
)
def limit_of_node_ordering(growth=None):
    growth = _little_growth() if growth is None else growth
    closed = [2 * r / (1 + r) for r in RATIO.values()]
    x, u, ratio = sp.symbols("x u lambda", positive=True)
    inner = sp.simplify(sp.integrate(x * sp.exp(-x * (1 + ratio) * u), (u, 0, sp.oo)))
    double = sp.integrate(inner, (x, 0, 1))
    yield identity("the double integral", (2 * ratio * double, 2 * ratio / (1 + ratio)))
    yield from map(also, _approach(growth, "node", closed, within=0.002))
    yield also(agreement("the same counts, extrapolated", _limits(growth, "node"), closed, tolerance=1e-4,
                         relative=True))  # fmt: skip
    yield also(agreement("`node_limit`", [node_limit(r) for r in RATIO.values()], closed, tolerance=1e-14))


def _kappa():
    """K(1): 1 for the questions before there is a giant component, and an integral by Lambert's function."""

    def integrand(c):
        beta = 1 + special.lambertw(-c * exp(-c)).real / c  # the share of the giant component
        tree = -special.lambertw(-c * exp(-c * (1 + beta))).real
        return (1 - beta) ** 2 + 2 * beta / c * tree

    return 1 + sum(integrate.quad(integrand, *ends, epsabs=1e-12)[0] for ends in ((1, 4), (4, 60)))


def _further(growth):
    """The ratio for a few clusters; without information, for all sizes; and the constant once more."""
    few, limits = (
        [(2 + (j - 1) * edge) / (2 + (j - 1) * node) for j in (2, 3, 14)]
        for edge, node in (
            (_limits(growth, "edge")[1], _limits(growth, "node")[1]),  # of ε = 0.1
            (edge_limit(RATIO["ε = 0.1"]), 1 - 0.1),
        )
    )
    yield agreement("2, 3 and 14 clusters, ε = 0.1: the ratio of all questions, extrapolated, against its limit", few,
                    limits, tolerance=2e-3, relative=True)  # fmt: skip
    a, b = sp.symbols("a b", positive=True)  # the smaller cluster, and by how much the other is larger
    edge, node = 2 * a * (a + b) / (a + b + 1), 2 * a * (a + b) / (2 * a + b)
    yield identity(
        r"without information, $m \le m'$: twice the $\frac{2mm'}{m+m'}$ of node ordering, less the bound "
        r"$\frac{2mm'}{m'+1}$ for edge ordering, is positive",
        2 * node - edge - 2 * a * (a + b) * (b + 2) / ((2 * a + b) * (a + b + 1)))  # fmt: skip
    shapes = [[901] + [1] * 99, [100] * 10, [50, 20, 5, 5, 1], [3, 2]]
    across = {o: [cr.expected_queries(cr.uniform(), s, o) - sum(s) + len(s) for s in shapes] for o in ("edge", "node")}
    yield bounded(f"non-matches of edge ordering against twice those of node ordering, {len(shapes)} lists of sizes",
                  across["edge"], 2 * np.array(across["node"]))  # fmt: skip
    yield bounded("without information, non-matches per record, against four (see {ref}`app-no-logarithm`)",
                  _curve(growth, "no information", "edge")[1], 4)  # fmt: skip
    yield agreement("the integral $K(1)$, with Lambert's function", edge_limit(1), _kappa(), tolerance=1e-8)
    small = list(product((cr.uniform(), cr.dist1(Fraction(1, 4))), ([2, 1], [3, 2], [2, 2, 1])))
    yield agreement("the counts, in floats and in fractions", [cr.expected_queries(*case) for case in small],
                    [float(cr.expected_queries_exact(*case)) for case in small], tolerance=1e-9)  # fmt: skip


@claim(
    "C19",
    touches=("Dist-1", "experiments"),
    place="After Propositions 3 to 5, and in the observations on Table 1",
    status="refuted",
    basis="proved",
    proof="13a-limits#cor-results-limit",
    prose="the limits of the two orderings (B67, B68), and for all sizes the bounds of B44 and B66",
    statement=r"For Dist-1, edge ordering asks more than node ordering by a factor of the order of $\log\frac nk$.",
    corrected=r"""By a constant factor. For $k$ equal clusters that grow, the ratio tends to $\frac{2 + (k-1)K}{2 +
        (k-1)(1-\epsilon)}$, where $K = K(\lambda)$, $\lambda = \frac{1-\epsilon}{1+\epsilon}$; as $k$ grows, too, to
        $\frac{K}{1-\epsilon}$: between 1.43 as $\epsilon \to 0$ and 1.09 at $\epsilon = \frac12$. Without information,
        at most twice as many non-matches, for all sizes.""",
    affects="the remark that explains Table 1 by this factor, and the comparison of the two upper bounds for Dist-1.",
    stands="""The two upper bounds; and that edge ordering asks more than node ordering if there is little
        information.""",
    code=[cr.expected_queries, edge_limit, node_limit],
    test=[
        "test_asymptotics.py::test_exact_counts_tend_to_the_limit",
        "test_asymptotics.py::test_edge_over_node_tends_to_a_constant",
    ],
)
def ratio_tends_to_a_constant(growth=None, k=1000, low=10, high=1000, points=1000):
    """`k` clusters of `m` records each, for each m of `growth`; `low` and `high` are two of them."""
    growth = _little_growth() if growth is None else growth
    wide = growth.pivot(index=["model", "m"], columns="ordering", values="per record").reset_index()
    matched, pairs = k * (wide["m"] - 1), k * (k - 1) / 2
    times = (matched + pairs * wide["m"] * wide["edge"]) / (matched + pairs * wide["m"] * wide["node"])
    tenth = times[wide["model"] == "ε = 0.1"].set_axis(wide["m"][wide["model"] == "ε = 0.1"])
    closed = [K * (1 + r) / (2 * r) for K, r in zip(_constants(points), RATIO.values(), strict=True)]
    least = [(ratio, value) for name, ratio in RATIO.items() for value in _curve(growth, name, "node")[1]]
    yield counterexample(
        f"edge over node ordering, Dist-1 with ε = 0.1, {k:,} clusters: growth of the ratio from $n/k = {low}$ to "
        f"${high}$, where the logarithm grows by a factor of three",
        value=tenth[high] / tenth[low], relation="at least",
        printed=log(high) / log(low), margin=0.5)  # fmt: skip
    size, number, edge, node = sp.symbols("m k K N", positive=True)
    whole = [number * (size - 1) + number * (number - 1) / 2 * size * each for each in (edge, node)]
    yield corrected(identity(
        "the limits of the ratio, from those of the questions across two clusters",
        (sp.limit(whole[0] / whole[1], size, sp.oo), (2 + (number - 1) * edge) / (2 + (number - 1) * node)),
        (sp.limit((2 + (number - 1) * edge) / (2 + (number - 1) * node), number, sp.oo), edge / node)))  # fmt: skip
    for ordering, within in (("edge", 0.02), ("node", 0.002)):
        constants = _constants(points) if ordering == "edge" else [2 * r / (1 + r) for r in RATIO.values()]
        for piece in _approach(growth, ordering, constants, within):
            yield corrected(also(piece))
    yield corrected(also(agreement(
        "edge over node ordering, extrapolated, against $K(\\lambda)(1+\\lambda)/(2\\lambda)$",
        np.divide(_limits(growth, "edge"), _limits(growth, "node")), closed, tolerance=2e-3,
        relative=True)))  # fmt: skip
    yield corrected(
        also(
            bounded(
                f"edge over node ordering, {k:,} clusters of 1 to {wide['m'].max():,}, against $\\frac32$", times, 1.5
            )
        )
    )
    yield from (corrected(also(piece)) for piece in _decades(growth))
    yield corrected(also(bounded("node ordering asks at least $\\lambda m$", *zip(*least, strict=True))))
    limits = [edge_limit(r) / node_limit(r) for r in RATIO.values()]
    yield corrected(also(agreement("`edge_limit` over `node_limit`", limits, closed, tolerance=1e-4, relative=True)))
    yield from (corrected(also(piece)) for piece in _further(growth))


# --- Dist-2 --------------------------------------------------------------------------------------------------------


def _by_series(start, terms):
    """The limit of edge ordering as an integral over c, with the Borel distribution of the small components."""
    a, c = np.arange(1, terms), start + np.linspace(0, 30, terms + 1)
    theta = np.array([giant_share(value) for value in c])[:, None]
    law = np.exp(-np.outer(c, a) + (a - 1) * np.log(np.outer(c, a)) - np.cumsum(np.log(a)))
    gamma = (law * np.exp(-(c - start)[:, None] * theta * a)).sum(axis=1)
    return np.trapezoid((1 - theta[:, 0]) ** 2 + 2 * theta[:, 0] * gamma, c)


@cache
def _share(ordering, epsilon, c):
    """The exact count of Dist-2 across two clusters of about c/H² records, over its limit."""
    H2 = epsilon / (1 - epsilon)
    m = max(1, round(c / H2))
    per_record = {"edge": edge_limit, "node": node_limit}[ordering]
    return expected_across(cr.dist2(epsilon), m, m, ordering, nodes=8) / (m * per_record(1, m * H2))


def _towards(ordering, halving):
    """These shares, extrapolated from two values of ε, at three sizes of the clusters."""
    power = 2 / 3 if ordering == "edge" else 1
    for c in (0.5, 1.0, 2.0):
        first, second = (_share(ordering, epsilon, c) for epsilon in halving)
        yield second + (second - first) / ((halving[0] / halving[1]) ** power - 1)


@claim(
    "B69",
    proof="13a-limits#cor-results-limit",
    prose="the size of the giant component, and dominated convergence",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement="""For Dist-2 with $mH^2 = c_0$ fixed, the expected questions across two clusters, in units of $1/H^2$,
        tend to a function of $c_0$: for edge ordering an integral, for node ordering $1 - e^{-c_0}$.""",
    code=[edge_limit, node_limit],
    test="test_asymptotics.py::test_dist2_has_a_worst_cluster_size",
)
def limit_for_dist2(halving=(0.008, 0.004), terms=1000):
    dial = np.array([0.4, 0.04, 0.004, 0.0004])
    x, degree, start = sp.symbols("x c c_0", positive=True)
    rest = -sp.exp(-x * (2 * degree - start))  # an antiderivative in c that vanishes at infinity
    yield identity("the double integral of node ordering",
                   (sp.diff(rest, degree), 2 * x * sp.exp(-x * (2 * degree - start))),
                   (-rest.subs(degree, start), sp.exp(-start * x)),
                   (start * sp.integrate(sp.exp(-start * x), (x, 0, 1)), 1 - sp.exp(-start)))  # fmt: skip
    yield inequality("the ratio of the geometric series is at most one half from $c = 8$ on",
                     sp.Rational(1, 2) - degree * sp.exp(1 - degree / 2), over={degree: (8, sp.oo)})  # fmt: skip
    for ordering, c in product(("edge", "node"), (0.5, 1.0, 2.0)):
        yield also(limit(
            f"{ordering} ordering, $c_0 = {c:g}$: exact counts over the limit, ε from {dial[0]} to {dial[-1]}",
            1 / dial, [_share(ordering, epsilon, c) for epsilon in dial], 1.0, within=0.01))  # fmt: skip
    for ordering in ("edge", "node"):
        yield also(agreement(
            f"{ordering} ordering: exact counts at ε = {halving[0]} and {halving[1]}, extrapolated, over the limit, "
            "$c_0$ = ½, 1, 2", list(_towards(ordering, halving)), [1] * 3, tolerance=0.01))  # fmt: skip
    starts = (1.2, 2, 4)
    yield also(agreement("the integral with the distribution of small components, $c_0$ = 1.2, 2, 4",
                         [edge_limit(1, c) for c in starts], [_by_series(c, terms) for c in starts], tolerance=1e-3,
                         relative=True))  # fmt: skip
    fine = np.linspace(0.02, 8, 400)
    yield also(agreement("`node_limit` against $1 - e^{-c_0}$", [c * node_limit(1, c) for c in fine], 1 - np.exp(-fine),
                         tolerance=1e-12))  # fmt: skip
