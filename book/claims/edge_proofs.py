"""Claims of the appendix *Edge ordering: the paper's propositions*."""

from fractions import Fraction
from functools import cache
from itertools import product
from math import log, sqrt

import numpy as np
import sympy as sp
from scipy import stats

import crowder as cr
from book.claims.edge_ordering import (
    BOUNDS,
    LONE,
    QUARTER,
    asks_its_tree,
    exchanges_ask_nothing_new,
    questions_and_components,
    separately,
    some_orders,
    tree_formula,
    tree_in_every_order,
    tree_sums,
    x,
)
from book.claims.edge_worst_cases import exact_D
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
    says,
    simulation,
    trend,
    vanishing,
)
from book.companion.edge_bounds import questions_asked, tree_in_fractions
from crowder.counting.bounds import disconnected, edge_tree_bound

claim, check = of_chapter(__name__)

EPSILON, T = cr.theory.EPSILON, cr.theory.T

#: Values of ε for the closed forms of the counts with sizes 2 and 1.
TWO_ONE = [Fraction(1, 20), Fraction(1, 5), Fraction(9, 20)]

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45)


@cache
def _on_trees():
    """The steps in the proof of the tree bound, order by order."""
    some = [asks_its_tree(5, order, "aaaaab") for order in some_orders(200)]
    return [*tree_in_every_order(), *some, *separately(), *exchanges_ask_nothing_new()]


def _tree_cases():
    return also(cases("the steps of {prf:ref}`thm-edge-likely`", *_on_trees(),
                      where="every order of the pairs of up to four records, and random orders for six"))  # fmt: skip


def _runs_agree(runs, model, size):
    """Runs with the sizes of Table 1, or a few small ones."""
    if runs is None:
        rng, sizes, law = np.random.default_rng(2017), [12, 8, 3, 1], getattr(cr, model)(0.2)
        counts = [questions_asked(sizes, law, rng) for _ in range(size)]
        mean, error, expected = np.mean(counts), np.std(counts, ddof=1) / sqrt(size), cr.expected_queries(law, sizes)
    else:
        part = runs[runs["model"] == model]
        mean, error, expected = part["simulated"], part["error"], part["exact"]
    limit = float(stats.t.isf(1e-6, size - 1))  # standard errors, exceeded by chance twice in a million rows
    return simulation("runs with the sizes of Table 1", mean, error, expected, size=size, limit=round(limit, 1))


def _spread(rng, n, k):
    """k cluster sizes that sum to n, some of them tiny."""
    return (1 + rng.multinomial(n - k, rng.dirichlet([0.3] * k))).tolist()


@claim("C15")
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
    said = "Two singletons always take a question, and $nk \\ln\\frac nk$ is zero for them."
    yield says(counterexample(r"two singletons: expected questions, against any multiple of $nk \ln\frac nk$",
                         value=cr.expected_queries_exact(cr.uniform(), [1, 1]), relation="at most",
                         printed=0), said)  # fmt: skip
    yield counterexample("a step of the proof, a cluster of two, $s = 4$: the empty sum, against the logarithm",
                         value=0, relation="at most", printed=log(Fraction(2 - 1, 4 - 2)))  # fmt: skip
    yield corrected(identity(r"$E[Q] \le k(n-1)$, by {prf:ref}`thm-edge-likely`: the sums", *tree_sums(),
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
        tree_formula(),
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
            count, sum_of_pairs = cr.expected_queries(cr.dist1(v), sizes), tree_in_fractions(sizes) - 3 * (m - 1)
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
    yield tree_formula()
    yield _runs_agree(runs, "dist1", repetitions)


@claim("C16")
def proposition_3(runs=None, repetitions=60, largest=25):
    """`runs`: the rows of Table 1, simulated with this number of `repetitions` and exact; `largest`: the largest size
    of three equal clusters."""
    sizes = published.cluster_sizes(announced=True)
    close = 0.5 - 10.0 ** -np.arange(1, 6)
    over = [cr.expected_queries(cr.dist1(v), [10] * 4) / (160 * (1 - 2 * v) * log(10)) for v in close]
    at_one = cr.L_symbolic("dist1").subs(T, 1)  # (1 - ε)/2, against (1 - 2ε)/2
    said = (
        f"Two clusters of two always take {cr.ideal_queries([2, 2])} questions, and the printed bound tends to "
        "0 as $\\epsilon$ tends to a half."
    )
    yield says(vanishing(
        r"two clusters of two, $\epsilon \to \frac12$ from below: $nk(1-2\epsilon) \ln\frac nk$, divided by the three "
        "questions that every strategy needs", 8 * (1 - 2 * EPSILON) * sp.log(2) / cr.ideal_queries([2, 2]), EPSILON,
        sp.Rational(1, 2), direction="-"), said)  # fmt: skip
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


@claim("C17")
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
    yield questions_and_components()
    yield also(cases("$\\frac12 < \\ln 2$", sp.Rational(1, 2) < sp.log(2), where="two numbers"))
    yield identity(
        "the tail, and $F_g(1 - \\epsilon) = 1 - H^2$ against $1 - \\epsilon$",
        records * records * 2 / records**2 / sp.sqrt(4 * logarithm / e) - sp.sqrt(e / logarithm),
        (1 - e) - (1 - h2) - e**2 / (1 - e),
    )
    said = f"All {len(exact):,} exact counts are at most {max(np.divide(exact, bound)):.0%} of the bound."
    yield says(also(bounded("exact counts against {eq}`eq-edge-dist2`, equal and unequal clusters, $n$ to $10^6$",
                       exact, bound)), said)  # fmt: skip
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
    yield also(tree_formula())
    yield also(_runs_agree(runs, "dist2", repetitions))


def _printed_tail(n, sizes, epsilon):
    """The sum over ℓ of Theorem 2 at the s of the paper's proof, with the exact L."""
    s = int(np.ceil(sqrt(4 * log(n) / epsilon) + 1))
    terms = (np.arange(s, m + 1) for m in sizes)
    return n * sum(float(ell @ cr.L(cr.dist2(epsilon), ell * (ell - 1) / 2)) for ell in terms)


@claim("B48")
def dist1_with_its_factor(runs=None, repetitions=60, largest=25):
    """See `proposition_3`."""
    sizes = published.cluster_sizes(announced=True)
    first, *others = _dist1_dominates()
    most, simple = edge_tree_bound(cr.dist1(QUARTER), sizes), len(sizes) * (sum(sizes) - 1)
    said = f"For the clusters of Table 1 at most {most:,.0f} questions are expected, and $k(n-1)$ is {simple:,}."
    yield says(first, said)
    yield from others
    for piece in _dist1_in_numbers(runs, repetitions, largest):
        yield also(piece)


@claim("B45")
def prob_of_being_disconnected(largest=100):
    """`largest`: the largest m."""
    m = np.arange(2, largest + 1)
    D = disconnected(cr.uniform(), m)
    said = (
        f"For every $m$ from 2 to {largest:,} the bound holds; at the last one $m\\,D(m)$ is "
        f"{m[-1] * D[-1]:.2f} and the bound {np.log(largest) + np.euler_gamma:.2f}."
    )
    yield says(
        bounded(rf"$m\,D(m)$ against $\ln m + \gamma$, $m$ from 2 to {largest:,}", m * D, np.log(m) + np.euler_gamma),
        said,
    )
    yield agreement("$D(2), D(3), D(4)$ over all graphs", D[:3],
                    [exact_D(cr.uniform(), few) for few in (2, 3, 4)], tolerance=1e-12)  # fmt: skip
