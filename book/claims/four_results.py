"""Claims of the chapter *Four results beyond the paper*."""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations
from math import comb, e, exp

import mpmath
import numpy as np
import pandas as pd
import sympy as sp

import crowder as cr
from book.companion import naive, published
from book.companion.claims import agreement, also, bounded, cases, identity, inequality, of_chapter, says
from book.companion.empirical import mean_and_error
from crowder.counting.asymptotics import edge_limit
from crowder.counting.bounds import evidence_bound
from crowder.counting.evidence_counts import expected_evidence_queries
from crowder.counting.expected_counts import expected_across
from crowder.counting.lower_bounds import evidence, two_sided_bound

claim, check = of_chapter(__name__)

TESTS = "test_four_results.py::"


# --- A: placing records by their evidence ---------------------------------------------------------------------------


def prob_misplaced(model, largest):
    """The probability that t non-matches have at least as much evidence as s matches, for s and t up to `largest`.

    From all outcomes; a tie is decided for the non-matches.
    """
    outcomes = [evidence(model, size) for size in range(1, largest + 1)]
    found = np.empty((largest, largest))
    for t, (wrong, _, mass) in enumerate(outcomes):
        at_least = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
        for s, (right, chance, _) in enumerate(outcomes):
            # Sums of logarithms that are equal may differ by a rounding error.
            near = np.where(np.isfinite(right), 1e-9, 0)
            found[s, t] = chance @ at_least[np.searchsorted(wrong, right - near)]
    return found


@cache
def _arrivals(m, other):
    """The probability, for s and t, that record s + 1 of a cluster of m comes after t of another; shape (m, t)."""
    every = comb(m + other, m)
    return np.array([[comb(s + t, s) * comb(m - s - 1 + other - t, other - t) / every for t in range(other + 1)]
                     for s in range(m)])  # fmt: skip


def expected_by_evidence(model, sizes):
    """The expected questions in random arrival order, exactly, if a tie is always decided for the wrong cluster."""
    different = sorted(set(sizes))
    largest = different[-1]
    wrong = np.zeros((largest + 1, largest + 1))
    wrong[0, 1:] = 1.0  # the first record of a cluster is compared with every cluster so far
    wrong[1:, 1:] = prob_misplaced(model, largest)
    across = {(a, b): float((_arrivals(a, b) * wrong[:a, : b + 1]).sum()) for a in different for b in different}
    pairs = combinations(sizes, 2)
    return sum(sizes) - len(sizes) + sum(across[a, b] + across[b, a] for a, b in pairs)


def random_model(rng):
    """Two densities on two to four equal steps: close to each other or not, with or without zeros."""
    steps = int(rng.integers(2, 5))
    rows = rng.random((2, steps)) ** rng.choice([0.2, 1, 4])
    if rng.random() < 0.3:
        rows *= rng.random((2, steps)) < 0.7
        rows[rows.sum(axis=1) == 0] = 1.0
    if rng.random() < 0.5:
        rows[1] = rows[0] * (1 + rng.choice([0.02, 0.2, 0.6]) * rng.uniform(-1, 1, steps))
    heights = steps * rows / rows.sum(axis=1, keepdims=True)
    return cr.SimilarityModel.from_steps(np.arange(steps + 1) / steps, *heights)


def random_models(models, rng, largest=6):
    """Exact count and Theorem A for random models and cluster sizes."""
    rows = []
    for _ in range(models):
        model, sizes = random_model(rng), rng.integers(1, largest + 1, size=rng.integers(2, 7)).tolist()
        rows.append({"H²": model.hellinger2, "records": sum(sizes), "clusters": len(sizes),
                     "exact": expected_by_evidence(model, sizes), "bound": evidence_bound(model, sizes)})  # fmt: skip
    return pd.DataFrame(rows).assign(ratio=lambda frame: frame["exact"] / frame["bound"])


def runs_by_evidence(model, sizes, runs, rng):
    """The questions of runs of the form "records" with known densities."""
    found = []
    for _ in range(runs):
        data = cr.datasets.synthetic(list(sizes), model, rng=rng)
        crowd = cr.Truth(data.labels)
        found.append(cr.evidence_ordering(data.similarity, crowd, model, form="records", rng=rng).n_queries)
    return np.array(found)


def sweep_of_dist1(sizes):
    """Expected questions under Dist-1 for several ε: by evidence and its bound, and by both heuristics."""
    rows = []
    for epsilon in (0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5):
        model = cr.dist1(epsilon)
        row = {"H²": model.hellinger2, "bound": evidence_bound(model, sizes),
               "evidence": expected_evidence_queries(model, sizes)}  # fmt: skip
        rows.append(row | {ordering: cr.expected_queries(model, sizes, ordering) for ordering in ("edge", "node")})
    return pd.DataFrame(rows)


def rows_of_table_1(sizes, repetitions, rng):
    """Theorem A on the rows of Table 1: the bound, the exact count, and runs."""
    rows = []
    for name, epsilon in published.read()["table-1"].frame()[["model", "ε"]].itertuples(index=False):
        model = {"Dist-1": cr.dist1, "Dist-2": cr.dist2}[name](float(Fraction(epsilon)))
        mean, error = mean_and_error(runs_by_evidence(model, sizes, repetitions, rng))
        bound = evidence_bound(model, sizes)
        rows.append({"model": name, "ε": epsilon, "bound": bound, "exact": expected_evidence_queries(model, sizes),
                     "simulated": mean, "error": error})  # fmt: skip
    return pd.DataFrame(rows).assign(ratio=lambda table: table["bound"] / table["exact"])


@claim("B161")
def theorem_a(tried=None, models=40, runs=30):
    g, r, h = sp.symbols("f_g f_r H2", positive=True)
    rho, m, n, k = sp.symbols("rho M n k", positive=True)
    tried = random_models(models, np.random.default_rng(2017)) if tried is None else tried
    yield identity("the square root of the ratio has the mean 1 - H² on each step, under either density",
                   (r * sp.sqrt(g / r), sp.sqrt(g * r)), (g * sp.sqrt(r / g), sp.sqrt(g * r)))  # fmt: skip
    yield identity("the sum over r: its value, and its increase from M to M + 1",
                   (rho**2 * (1 - rho ** (m - 2)) / (1 - rho)).subs(m, 2),
                   rho**2 * (rho ** (m - 2) - rho ** (m - 1)) / (1 - rho) - rho**m)  # fmt: skip
    yield inequality("what is left of 1/H²", 1 / h - (1 + (1 - h) ** 2 / h), over={h: (0, 1)})
    yield identity("without information: the worst case",
                   n - k + (k - 1) * n - k * (k - 1) / 2 - (n * k - k * (k + 1) / 2))  # fmt: skip
    yield also(
        says(
            bounded(f"exact counts of {len(tried):,} random models, ties decided for the wrong cluster",
                    tried["exact"], tried["bound"]),
            f"For {len(tried):,} random models the exact count is at most {tried['ratio'].max():.3f} times the bound.",
        )
    )  # fmt: skip
    both, model = np.add.outer(np.arange(1, 7), np.arange(1, 7)), cr.dist2(0.2)
    yield also(agreement("under Dist-2 the bound of each step is attained, ties decided for the wrong cluster",
                         prob_misplaced(model, 6), (1 - model.hellinger2) ** both, tolerance=1e-12))  # fmt: skip
    model, sizes = cr.dist1(0.4), [6, 5, 3, 2]
    asked = runs_by_evidence(model, sizes, runs, np.random.default_rng(2017))
    least = asked.mean() - 4 * asked.std(ddof=1) / runs**0.5
    yield also(
        bounded(f"{runs} runs under Dist-1: mean less four standard errors", least, evidence_bound(model, sizes))
    )


@claim("B162")
def tight(epsilons=(0.05, 0.2, 0.5), settings=((40, 4), (300, 10), (1200, 14), (5000, 3))):
    rho, x, n, k = sp.symbols("rho x n k", positive=True)
    term = (rho**2 - rho**x) / (1 - rho)  # of two clusters with x records
    yield identity("the second derivative of a term in the number of records, which is negative: a concave function",
                   sp.diff(term, x, 2) + rho**x * sp.log(rho) ** 2 / (1 - rho))  # fmt: skip
    yield inequality("and it has this sign", rho**x * sp.log(rho) ** 2 / (1 - rho), over={rho: (0, 1)})
    yield identity("its mean argument", ((k - 1) * n / (k * (k - 1) / 2), 2 * n / k))
    cases = [(cr.dist1(epsilon), *setting) for epsilon in epsilons for setting in settings]
    found = [two_sided_bound(*case) for case in cases]
    order = [n + min(k**2 / model.hellinger2, n * k) for model, n, k in cases]
    yield also(
        says(
            bounded("the upper bound against the order", [both.upper for both in found], order),
            f"In {len(cases)} settings the upper bound is at most, and the lower bound of, the stated order.",
        )
    )
    yield also(bounded("the order against 4,050 times the lower bound", order, [4050 * both.lower for both in found]))


# --- B: no information is the worst case ---------------------------------------------------------------------------


def swaps(labels, order, places=None):
    """For each place: the questions about two successive pairs of an order, as they are and exchanged.

    Only where a non-match is directly before a match. Also whether both leave the same knowledge.
    """
    name, apart = list(range(len(labels))), set()

    def ask(pair, name, apart):
        a, b = sorted(name[x] for x in pair)
        if a == b or (a, b) in apart:
            return 0, name, apart
        if labels[pair[0]] != labels[pair[1]]:
            return 1, name, apart | {(a, b)}
        joined = [a if x == b else x for x in name]
        return 1, joined, {tuple(sorted(a if x == b else x for x in two)) for two in apart}

    for place, (first, second) in enumerate(pairwise(order)):
        different = labels[first[0]] != labels[first[1]]
        if different and labels[second[0]] == labels[second[1]] and (places is None or place in places):
            found = []
            for two in ((first, second), (second, first)):
                asked, *state = ask(two[0], name, apart)
                more, *state = ask(two[1], *state)
                found.append((asked + more, state))
            (now, left), (exchanged, right) = found
            yield now, exchanged, left == right
        _, name, apart = ask(first, name, apart)


def exchanges(most=4, orders=200, largest=9, rng=None):
    """Exchanges of a non-match and the match after it: in every order of few records, and in random orders of more."""
    rng = np.random.default_rng(2017) if rng is None else rng
    found = []
    for n in range(2, most + 1):
        pairs = list(combinations(range(n), 2))
        for labels in map(naive.labels_of, naive.splits(n)):
            for order in permutations(pairs):
                found += ((n, *swap) for swap in swaps(labels, order))
    for _ in range(orders):
        n = int(rng.integers(most + 1, largest + 1))
        labels = rng.integers(0, rng.integers(2, n), size=n).tolist()
        pairs = list(combinations(range(n), 2))
        order = [pairs[i] for i in rng.permutation(len(pairs))]
        found += ((n, *swap) for swap in swaps(labels, order))
    return pd.DataFrame(found, columns=["records", "as it is", "exchanged", "same"])


def dominated_model(rng, steps=4):
    """A random model with F_g ≤ F_r: the larger of two random distribution functions is F_r."""
    grid = np.sort(rng.random((2, steps - 1)) ** rng.choice([0.3, 1, 3]), axis=1)
    low, high = np.minimum(*grid), np.maximum(*grid)
    heights = [steps * np.diff(np.concatenate([[0.0], values, [1.0]])) for values in (low, high)]
    return cr.SimilarityModel.from_steps(np.arange(steps + 1) / steps, *heights)


def dominated_models(models, rng, largest=8):
    """Exact counts under random models with F_g ≤ F_r and without information, for random cluster sizes."""
    rows = []
    for _ in range(models):
        model, sizes = dominated_model(rng), rng.integers(1, largest + 1, size=rng.integers(2, 5)).tolist()
        edges = np.linspace(0, 1, 5)
        area = float(np.trapezoid(model.red.cdf(edges), model.green.cdf(edges)))  # Pr(a match exceeds a non-match)
        rows.append({"area": area, "asked": cr.expected_queries(model, sizes, nodes=8),
                     "uniform": cr.expected_queries(cr.uniform(), sizes, nodes=8)})  # fmt: skip
    return pd.DataFrame(rows).assign(ratio=lambda frame: frame["asked"] / frame["uniform"])


def lowered(runs, rng, most=12):
    """Questions of edge ordering on the same data set, before and after its non-matches become less similar."""
    rows = []
    for _ in range(runs):
        n = int(rng.integers(3, most + 1))
        labels = rng.integers(0, rng.integers(2, n), size=n)
        w = rng.random(n * (n - 1) // 2)
        i, j = np.triu_indices(n, 1)
        less = np.where(labels[i] == labels[j], w, w * rng.random(len(w)))  # the order of the non-matches changes, too
        rows.append([cr.edge_ordering(v, cr.Truth(labels), rng=1).n_queries for v in (w, less)])
    return np.array(rows)


def curves(models, rng, sizes):
    """Exact counts of random models, of the same with uniform matches, and of others with a higher curve."""
    rows = []
    for _ in range(models):
        x = np.concatenate([[0.0], np.sort(rng.random(3)), [1.0]])
        green, red = (np.concatenate([[0.0], np.sort(rng.random(3)), [1.0]]) for _ in "gr")
        higher = np.concatenate([[0.0], 1 - (1 - red[1:-1]) * rng.random(), [1.0]])
        steps = [(x, np.diff(green) / np.diff(x), np.diff(red) / np.diff(x)),
                 (green, np.ones(4), np.diff(red) / np.diff(green)),
                 (x, np.diff(green) / np.diff(x), np.diff(higher) / np.diff(x))]  # fmt: skip
        rows.append([cr.expected_queries(cr.SimilarityModel.from_steps(*one), sizes) for one in steps])
    return pd.DataFrame(rows, columns=["asked", "transformed", "higher"])


@claim("B163")
def theorem_b(tried=None, models=None, pulled=None, curved=None, sizes=(5, 4, 2)):
    u, count, d, joined = sp.symbols("u ab d d'", positive=True)
    curve = sp.Function("phi")(u)
    tried = exchanges(3) if tried is None else tried
    models = dominated_models(30, np.random.default_rng(2017)) if models is None else models
    pulled = lowered(200, np.random.default_rng(2017)) if pulled is None else pulled
    curved = curves(30, np.random.default_rng(2017), sizes) if curved is None else curved
    few = tried["records"].min(), tried["records"].max()
    yield identity("the integrand of the exact count is a derivative in the curve",
                   sp.diff(curve**count, u) - count * curve ** (count - 1) * sp.diff(curve, u))  # fmt: skip
    yield inequality("two components known to differ before a match are so after it",
                     (1 - (1 - d) * (1 - joined)) - d, over={d: (0, 1), joined: (0, 1)})  # fmt: skip
    yield also(
        says(
            cases(f"{len(tried):,} exchanges: never more questions, and the same knowledge",
                  *(tried["exchanged"] <= tried["as it is"]), *tried["same"],
                  where=f"orders of {few[0]} to {few[1]} records"),
            f"In {len(tried):,} exchanges the count never increases, and the same is known afterwards.",
        )
    )  # fmt: skip
    yield also(agreement(f"{len(curved):,} models, each against the one with uniform matches and the same curve",
                         curved["asked"], curved["transformed"], tolerance=1e-9))  # fmt: skip
    yield also(bounded("each with a higher curve, against it", curved["higher"], curved["asked"]))
    yield also(bounded(f"exact counts of {len(models):,} random models with $F_g \\le F_r$, against no information",
                       models["asked"], models["uniform"]))  # fmt: skip
    yield also(bounded(f"{len(pulled):,} data sets, with non-matches made less similar",
                       pulled[:, 1] + 1, pulled[:, 0] + 1))  # fmt: skip


# --- C: the constant of edge ordering -------------------------------------------------------------------------------


def kappa_by_another_quadrature(digits=20):
    """κ by an integral over the mean degree c, with θ and the tree function by Newton's method, in many digits."""
    with mpmath.workdps(digits + 10):

        def at(c):
            theta = mpmath.findroot(lambda t: 1 - t - mpmath.exp(-c * t), _first_guess(c)) if c > 1 else mpmath.mpf(0)
            z = c * mpmath.exp(-c * (1 + theta))
            y = z
            for _ in range(200):  # y e^(-y) = z, the smaller solution, by Newton's method from below
                change = (z * mpmath.exp(y) - y) / (1 - z * mpmath.exp(y))
                y += change
                if abs(change) < mpmath.mpf(10) ** (-digits - 6):
                    break
            return (1 - theta) ** 2 + 2 * theta * y / c

        above = mpmath.quad(lambda u: at(1 + u**2) * 2 * u, [0, 0.5, 1, 2, 4, 8])  # smooth in u = sqrt(c - 1) at c = 1
        return 1 + above


def _first_guess(c):
    return min(2 * (c - 1) / c, 1 - exp(-c)) if c < 1.5 else 1 - mpmath.exp(-c)


def across_large(sizes):
    """The questions between two clusters of m records without information, by m: exact, divided by m."""
    exact = [expected_across(cr.uniform(), m, m, nodes=12) / m for m in sizes]
    return pd.DataFrame({"m": sizes, "without information": exact})


@claim("B164")
def theorem_c(growth=None, digits=20):
    growth = across_large([10, 100, 400]) if growth is None else growth
    q, c = sp.symbols("q c", positive=True)
    primitive = sp.integrate(-q * sp.log(q), q)  # of the integrand times 1 - q
    yield identity("the first term by parts: $c = -\\ln q/(1-q)$, $q = 1 - \\theta$",
                   sp.diff(q**2 * -sp.log(q) / (1 - q), q) - 2 * q * -sp.log(q) / (1 - q)
                   - q**2 * sp.diff(-sp.log(q) / (1 - q), q), sp.diff(primitive, q) + q * sp.log(q))  # fmt: skip
    yield inequality("the ratio of the geometric series is at most one half from $c = 8$ on",
                     sp.Rational(1, 2) - c * sp.exp(1 - c / 2), over={c: (8, sp.oo)})  # fmt: skip
    kappa = edge_limit(1.0)
    yield also(
        says(
            agreement(f"κ by quadrature over θ, and over $c$ with {digits} digits", kappa,
                      float(kappa_by_another_quadrature(digits)), tolerance=1e-12),
            f"Two computations of κ, in different variables, agree: {kappa:.12f}.",
        )
    )  # fmt: skip
    apart = np.abs(growth["without information"] / kappa - 1)
    yield also(bounded("exact counts: how far from κ, for larger and larger clusters", apart.to_numpy()[1:],
                       apart.to_numpy()[:-1]))  # fmt: skip
    yield also(bounded("the probability of a component of at most m/2, against $2e\\,e^{-c/2}$",
                       *dominated()))  # fmt: skip


def dominated(sizes=(20, 60, 200), degrees=(8, 9, 12, 20)):
    """The probability that a record's component has at most half of the records, and its bound."""
    from crowder.counting.random_graphs import component_numbers

    cases = [(m, c) for m in sizes for c in degrees if c <= m]
    small = [float(np.arange(1, m // 2 + 1) @ component_numbers(m, c / m)[: m // 2]) / m for m, c in cases]
    return small, [2 * e * exp(-c / 2) for _, c in cases]


# --- D: node ordering by expected size ------------------------------------------------------------------------------


def arrivals_of_table_1(sizes):
    """Node ordering on the rows of Table 1: the formula for arrival by expected size, random arrival, as printed."""
    rows = []
    for name, epsilon, printed in published.read()["table-1"].frame()[["model", "ε", "node"]].itertuples(index=False):
        model = {"Dist-1": cr.dist1, "Dist-2": cr.dist2}[name](float(Fraction(epsilon)))
        count = {arrival: cr.expected_queries(model, sizes, "node", arrival=arrival)
                 for arrival in ("expected size", "random")}  # fmt: skip
        rows.append({"model": name, "ε": epsilon, **count, "printed": printed})
    return pd.DataFrame(rows)
