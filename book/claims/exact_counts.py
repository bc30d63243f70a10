"""Claims of the chapter *How many questions, exactly*."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import comb, exp, log

import numpy as np
import pandas as pd
import sympy as sp
from scipy import integrate, special

import crowder as cr
from book.companion import naive, published
from book.companion.claims import (
    agreement,
    also,
    bounded,
    corrected,
    counterexample,
    identity,
    limit,
    of_chapter,
    says,
    simulation,
    trend,
)
from crowder.counting.asymptotics import edge_limit, node_limit
from crowder.counting.exact_counts import connected_polynomials
from crowder.counting.expected_counts import expected_across
from crowder.counting.random_graphs import component_numbers, connected
from crowder.perfect_crowd import edge_questions, node_questions

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


def _count_once(model, sizes, rng):
    """Questions of one data set; ties have probability 0."""
    data = cr.datasets.synthetic(sizes, model, rng=rng)
    orders = {"edge": None, "node": "random", "sorted": "expected-size"}
    return {
        name: edge_questions(data.similarity, data.labels, ties="index") if order is None
        else node_questions(data.similarity, data.labels, ties="index", order=order, rng=rng)
        for name, order in orders.items()
    }  # fmt: skip


def rows_of_table_1(repetitions, seed, n_jobs=1):
    """For each row and ordering of Table 1 the published number, the bound as printed, the exact count and simulated
    runs; and by how much the mean of node ordering changes when records arrive by expected size."""
    sizes, rows = published.cluster_sizes(announced=True), published.read()["table-1"].frame()
    named = {"Dist-1": cr.dist1, "Dist-2": cr.dist2}
    models = [named[name](float(Fraction(epsilon))) for name, epsilon in rows[["model", "ε"]].to_numpy()]
    runs = cr.experiments.sweep(_count_once, [{"model": model} for model in models], repetitions,
                                rng=np.random.default_rng(seed), n_jobs=n_jobs, sizes=sizes)  # fmt: skip
    groups = runs.groupby(np.repeat(np.arange(len(models)), repetitions))[["edge", "node", "sorted"]]
    mean, spread, parts = groups.mean(), groups.std(), []
    for ordering, bound in (("edge", cr.edge_bound), ("node", cr.node_bound)):
        exact = np.array([cr.expected_queries(model, sizes, ordering) for model in models])
        # Nearly every run may ask the ideal count: a whole number with mean p < 1 has variance at least p(1 - p).
        rare = np.clip(exact - cr.ideal_queries(sizes), 0, 1)
        error = np.maximum(spread[ordering], np.sqrt(rare * (1 - rare))) / np.sqrt(repetitions)
        parts.append(rows[["model", "ε"]].assign(
            ordering=ordering, published=rows[ordering], bound=[bound(model, sizes) for model in models], exact=exact,
            simulated=mean[ordering], error=error, z=(mean[ordering] - exact) / error,
        ))  # fmt: skip
    return pd.concat(parts, ignore_index=True), mean["sorted"] / mean["node"] - 1


@claim("B60")
def table_1(table=None, runs=60, limit=5):
    table = pd.concat([_few_runs("edge"), _few_runs("node")]) if table is None else table
    off = ((table["simulated"] - table["exact"]) / table["error"]).abs().max()
    said = f"All {len(table)} simulated means are within {off:.1f} standard errors of the exact expectation."
    for ordering, part in table.groupby("ordering"):
        piece = simulation(f"{ordering} ordering, all rows", part["simulated"], part["error"], part["exact"], size=runs,
                           limit=limit)  # fmt: skip
        yield says(piece, said) if ordering == "edge" else piece


# --- components of a random graph ----------------------------------------------------------------------------------


def _every_graph(m):
    """The number of pairs of a graph on m vertices and a component, by component size and number of edges."""
    pairs, seen = list(combinations(range(m), 2)), Counter()
    for present in product((0, 1), repeat=len(pairs)):
        edges = [pair for pair, there in zip(pairs, present, strict=True) if there]
        seen.update((len(part), len(edges)) for part in naive.components(range(m), edges))
    return seen, len(pairs)


@claim("B62")
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
    said = f"The recursion gives the {len(recursion)} polynomials that all graphs on up to {vertices} vertices give."
    yield says(agreement("$N(a)$ by the recursion and over all graphs on up to five vertices, as polynomials in $q$",
                    recursion, drawn), said)  # fmt: skip
    yield agreement("the same in floating point", *zip(*floats, strict=True), tolerance=1e-12, relative=True)
    yield also(agreement("$\\sum_a a\\,N(a) / m = 1$, sparse to dense, up to $m = 2000$", whole, [1] * len(whole),
                         tolerance=1e-9))  # fmt: skip


# --- no logarithm ------------------------------------------------------------------------------------------------


# --- large clusters ------------------------------------------------------------------------------------------------

#: λ = f_r/f_g at the largest similarities, for the models with growing clusters.
RATIO = {"no information": 1.0, "ε = 0.1": (1 - 0.1) / (1 + 0.1), "ε = ½": (1 - 0.5) / (1 + 0.5)}


@cache
def growing_clusters(sizes=(1, 10, 250, 1000)):
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


def approach(growth, ordering, constants, within):
    """The counts per record on the way to their limits."""
    for (name, ratio), constant in zip(RATIO.items(), constants, strict=True):
        sizes, values = _curve(growth, name, ordering)
        what = f"{ordering} ordering, {name}: exact count per record, $\\lambda = {ratio:.2g}$, $m$ to {sizes[-1]:,}"
        yield limit(what, sizes, values, float(constant), within=within)


def extrapolated_limits(growth, ordering):
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


def limiting_constants(points):
    return [_by_iteration(ratio, points) for ratio in RATIO.values()]


def decades(growth):
    for name in RATIO:
        sizes, values = _curve(growth, name, "edge")
        yield trend(
            f"$E[Q_{{ij}}]$ of edge ordering against $m$, {name}", sizes, values * sizes, exponent=1, within=0.1
        )


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
            (extrapolated_limits(growth, "edge")[1], extrapolated_limits(growth, "node")[1]),  # of ε = 0.1
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


@claim("C19")
def ratio_tends_to_a_constant(growth=None, k=1000, low=10, high=1000, points=1000):
    """`k` clusters of `m` records each, for each m of `growth`; `low` and `high` are two of them."""
    growth = growing_clusters() if growth is None else growth
    wide = growth.pivot(index=["model", "m"], columns="ordering", values="per record").reset_index()
    matched, pairs = k * (wide["m"] - 1), k * (k - 1) / 2
    times = (matched + pairs * wide["m"] * wide["edge"]) / (matched + pairs * wide["m"] * wide["node"])
    tenth = times[wide["model"] == "ε = 0.1"].set_axis(wide["m"][wide["model"] == "ε = 0.1"])
    closed = [K * (1 + r) / (2 * r) for K, r in zip(limiting_constants(points), RATIO.values(), strict=True)]
    least = [(ratio, value) for name, ratio in RATIO.items() for value in _curve(growth, name, "node")[1]]
    said = (
        f"From $n/k = {low}$ to ${high:,}$ the ratio grows by a factor of {tenth[high] / tenth[low]:.2f}, and "
        f"the logarithm by one of {log(high) / log(low):.1f}."
    )
    yield says(counterexample(
        f"edge over node ordering, Dist-1 with ε = 0.1, {k:,} clusters: growth of the ratio from $n/k = {low}$ to "
        f"${high}$, where the logarithm grows by a factor of three",
        value=tenth[high] / tenth[low], relation="at least",
        printed=log(high) / log(low), margin=0.5), said)  # fmt: skip
    size, number, edge, node = sp.symbols("m k K N", positive=True)
    whole = [number * (size - 1) + number * (number - 1) / 2 * size * each for each in (edge, node)]
    yield corrected(identity(
        "the limits of the ratio, from those of the questions across two clusters",
        (sp.limit(whole[0] / whole[1], size, sp.oo), (2 + (number - 1) * edge) / (2 + (number - 1) * node)),
        (sp.limit((2 + (number - 1) * edge) / (2 + (number - 1) * node), number, sp.oo), edge / node)))  # fmt: skip
    for ordering, within in (("edge", 0.02), ("node", 0.002)):
        constants = limiting_constants(points) if ordering == "edge" else [2 * r / (1 + r) for r in RATIO.values()]
        for piece in approach(growth, ordering, constants, within):
            yield corrected(also(piece))
    yield corrected(also(agreement(
        "edge over node ordering, extrapolated, against $K(\\lambda)(1+\\lambda)/(2\\lambda)$",
        np.divide(extrapolated_limits(growth, "edge"), extrapolated_limits(growth, "node")), closed, tolerance=2e-3,
        relative=True)))  # fmt: skip
    yield corrected(
        also(
            bounded(
                f"edge over node ordering, {k:,} clusters of 1 to {wide['m'].max():,}, against $\\frac32$", times, 1.5
            )
        )
    )
    yield from (corrected(also(piece)) for piece in decades(growth))
    yield corrected(also(bounded("node ordering asks at least $\\lambda m$", *zip(*least, strict=True))))
    limits = [edge_limit(r) / node_limit(r) for r in RATIO.values()]
    yield corrected(also(agreement("`edge_limit` over `node_limit`", limits, closed, tolerance=1e-4, relative=True)))
    yield from (corrected(also(piece)) for piece in _further(growth))


# --- Dist-2 --------------------------------------------------------------------------------------------------------
