"""Claims of the appendix *Arrival by expected size*."""

from functools import cache

import numpy as np
import pandas as pd
import sympy as sp
from scipy import stats

import crowder as cr
from book.companion import published
from book.companion.claims import also, bounded, exceeds, identity, of_chapter, says, simulation
from book.companion.empirical import mean_and_error
from crowder.counting.expected_size import nonmatches_by_expected_size
from crowder.counting.quadrature import panels
from crowder.densities import common_steps
from crowder.models import SimilarityModel
from crowder.perfect_crowd import node_questions

claim, check = of_chapter(__name__)

BEYOND = "beyond the paper"
TESTS = "test_expected_size.py::test_"
RUNS, OWN_MODEL = TESTS + "table_1_is_what_runs_give", TESTS + "the_integral_is_the_mean_of_its_own_model"
FEW = TESTS + "few_records_are_within_half_a_per_cent"

#: The probability that a true formula is rejected, over all means of a claim together.
LEVEL = 0.001

#: Models and sizes for few records. In the last model f_g and f_r differ in variance, and f_r is skewed.
SKEWED = SimilarityModel.from_steps([0, 0.1, 0.5, 1], [0.5, 1, 1.1], [6, 0.5, 0.4], name="skewed")
MODELS = {"Dist-1, ε = 1/2": cr.dist1(0.5), "Dist-2, ε = 1/5": cr.dist2(0.2), "Dist-2, ε = 1/20": cr.dist2(0.05),
          "skewed": SKEWED}  # fmt: skip
SIZES = ([5, 4, 3], [10, 10, 10], [40, 20, 10, 10], [50] * 6)


# --- also used in the appendix -------------------------------------------------------------------------------------


def by_expected_size(model, sizes):
    """The formula."""
    return cr.expected_queries(model, sizes, "node", arrival="expected size")


def runs_by_expected_size(model, sizes, runs, rng):
    """The questions of node ordering by expected size, on so many data sets."""
    counts = []
    for child in np.random.default_rng(rng).spawn(runs):
        data = cr.datasets.synthetic(sizes, model, rng=child)
        counts.append(node_questions(data.condensed, data.labels, rng=child))
    return np.array(counts)


def without_weights(model, sizes, nodes=24):
    """The count if arrival depended on the expected sizes, but these did not depend on the similarities compared.

    A record that is z standard deviations above its mean then finds each other record placed with a probability that
    depends on z alone, in place of the share that has arrived in random order.
    """
    different, many = np.unique(sizes, return_counts=True)
    n = sum(sizes)
    means = (different - 1) * float(model.green.mean) + (n - different) * float(model.red.mean)
    spread = np.sqrt((n - 2) * (float(model.green.variance) + float(model.red.variance)) / 2)
    x, weight = np.polynomial.legendre.leggauss(8 * nodes)
    z, density = 8 * x, 8 * weight * stats.norm.pdf(8 * x)
    edges, _, heights = common_steps(model.green, model.red)
    total = n - len(sizes)
    for low, high, r in zip(edges, edges[1:], heights, strict=False):
        if r == 0:
            continue
        depth, width = map(np.concatenate, zip(*panels(high - low, 1 / max(sizes), nodes), strict=True))
        above_g, above_r = (1 - law.cdf(high - depth)[:, None] for law in (model.green, model.red))
        for i, m in enumerate(different):
            placed = stats.norm.sf((means[i] - means[:, None]) / spread + z)
            for j, other in enumerate(different):
                pairs = many[i] * (many[j] - (i == j)) * m * other
                missed = (1 - placed[i] * above_g) ** (m - 1) * (1 - placed[j] * above_r) ** (other - 1)
                total += pairs * r * width @ missed @ (placed[j] * density)
    return float(total)


def family_limit(means, runs):
    """The limit that the largest of so many |t|, each from so many runs, exceeds with probability LEVEL."""
    return float(np.round(stats.t.isf(LEVEL / 2 / means, runs - 1), 2))


# --- the claims ----------------------------------------------------------------------------------------------------


@claim("B171")
def common_part():
    n, s = sp.symbols("n sigma", positive=True)
    eps = sp.Symbol("epsilon", positive=True)
    yield identity("variance and covariance", ((n - 3) * s**2 + s**2, (n - 2) * s**2), (s**2, s**2))
    variances = []
    for name in ("dist1", "dist2"):
        edges, *both = cr.models.steps(name, eps)
        green, red = (_variance(edges, heights) for heights in both)
        variances.append((sp.cancel(green), sp.cancel(red)))
    said = "Under Dist-1 and under Dist-2, matches and non-matches have the same variance."
    yield says(identity("under Dist-1 and under Dist-2 the two variances are equal", *variances), said)
    yield also(_drawn_sums())


def _variance(edges, heights):
    ends = list(zip(map(sp.sympify, edges), map(sp.sympify, edges[1:]), heights, strict=False))
    first, second = (sum(h * (b**p - a**p) / p for a, b, h in ends) for p in (2, 3))
    return second - first**2


def _drawn_sums(n=8, runs=4000):
    """Covariances of the sums of records 1, 2, ... without record 0, all pairs uniform."""
    w = np.random.default_rng(171).random((runs, n, n))
    w = np.triu(w, 1) + np.triu(w, 1).transpose(0, 2, 1)
    sums = w[:, 1:, 1:].sum(axis=2) - (n - 2) / 2  # less their mean
    products = [sums[:, 0] ** 2, sums[:, 0] * sums[:, 1]]
    means = np.transpose([mean_and_error(product) for product in products])
    return simulation(f"variance and covariance of drawn sums, {n} records", *means, [(n - 2) / 12, 1 / 12], size=runs)


@claim("B172")
def weighted_sums():
    """In generating functions: similarities of one density and of another, on two levels each."""
    y, a, b = sp.symbols("y a b", positive=True)
    weighted, masses = [], []
    for name in "gr":
        f, h = sp.symbols(f"f_{name}:2", positive=True), sp.symbols(f"h_{name}:2", positive=True)
        weighted.append(sum(f[i] * h[i] * y**level for i, level in enumerate((a, b))))
        masses.append(sum(f[i] * h[i] for i in range(2)))
    (one, other), (Z, rest) = weighted, masses
    said = "Both sides are the same polynomial for three similarities of two densities."
    yield says(identity("one similarity, and two of one density and one of another, on two levels",
                   (one, Z * sp.expand(one / Z)),
                   (sp.expand(one**2 * other), sp.expand(Z**2 * rest * (one / Z) ** 2 * (other / rest)))),
               said)  # fmt: skip


@claim("B173")
def table_1_by_expected_size(rows=None, runs=None):
    """`rows`: formula, mean and standard error of `runs` runs, for each row of Table 1."""
    rows, runs = (_few_rows(), 40) if rows is None else (rows, runs)
    said = (
        f"On all {len(rows)} rows the formula is within {(rows['formula'] / rows['mean'] - 1).abs().max():.2%} "
        f"of the mean of {runs} runs."
    )
    yield says(simulation("the mean of the runs on each data set, less the formula", rows["mean"] - rows["formula"],
                     rows["error"], 0, size=runs, limit=family_limit(len(rows), runs)), said)  # fmt: skip


@claim("B174")
def weights_matter(rows=None, runs=None):
    """`rows`: as for B173, with the model and the count without weights."""
    rows, runs = (_few_rows(), 40) if rows is None else (rows, runs)
    second = rows[rows["model"] == "Dist-2"]
    excess = second["without weights"] / second["mean"] - 1
    said = f"Without weights the count is {excess.min():.1%} to {excess.max():.1%} too high under Dist-2."
    yield says(exceeds("the count without weights, less the mean of the runs",
                       second["without weights"] - second["mean"], second["error"], size=runs, limit=3),
               said)  # fmt: skip
    yield also(bounded("and at most 5 % too many", second["without weights"], 1.05 * second["mean"]))


@claim("B175")
def few_records(small=None, runs=None):
    """`small`: formula, mean and standard error of `runs` runs, for a few sizes and models."""
    small, runs = (few_rows(300), 300) if small is None else (small, runs)
    said = (
        f"For {len(small)} models and lists of sizes the formula is within "
        f"{(small['formula'] / small['mean'] - 1).abs().max():.1%} of the mean."
    )
    yield says(simulation("the mean of the runs, less the formula", small["mean"] - small["formula"], small["error"], 0,
                     size=runs, limit=family_limit(len(small), runs)), said)  # fmt: skip


@claim("B177")
def random_densities(tried=None, runs=None):
    """`tried`: formula, mean and standard error of `runs` runs, for random models and sizes."""
    tried, runs = (random_rows(8, 150), 150) if tried is None else (tried, runs)
    away = (tried["mean"] - tried["formula"]).abs()
    said = (
        f"For {len(tried)} random models the formula is within {(away / tried['mean']).max():.1%} of the mean "
        "of the runs."
    )
    yield says(exceeds(f"{len(tried)} models: three per cent of the mean, less the distance of the formula",
                  0.03 * tried["mean"] - away, tried["error"].clip(lower=1e-3), size=runs, limit=3), said)  # fmt: skip


# --- runs ----------------------------------------------------------------------------------------------------------


def few_rows(runs, rng=175, sizes=SIZES):
    """Formula and runs for each of the models and sizes."""
    lines = []
    for (name, model), child in zip(MODELS.items(), np.random.default_rng(rng).spawn(len(MODELS)), strict=True):
        for size, grandchild in zip(sizes, child.spawn(len(sizes)), strict=True):
            mean, error = mean_and_error(runs_by_expected_size(model, size, runs, grandchild))
            lines.append({"model": name, "sizes": " + ".join(map(str, size)), "records": sum(size), "mean": mean,
                          "error": error, "formula": by_expected_size(model, size)})  # fmt: skip
    return pd.DataFrame(lines)


def random_rows(models, runs, rng=177):
    """Formula and runs for random models and sizes."""
    lines, rng = [], np.random.default_rng(rng)
    while len(lines) < models:
        green, red = (_random_density(rng) for _ in range(2))
        sizes = [int(size) for size in rng.choice([1, 2, 5, 10, 20, 40, 60], size=rng.integers(2, 9))]
        if sum(sizes) < 20:
            continue
        model = SimilarityModel(green, red)
        mean, error = mean_and_error(runs_by_expected_size(model, sizes, runs, rng))
        lines.append({"records": sum(sizes), "clusters": len(sizes), "variance of f_g": float(green.variance),
                      "variance of f_r": float(red.variance), "mean": mean, "error": error,
                      "formula": by_expected_size(model, sizes)})  # fmt: skip
    return pd.DataFrame(lines)


def _random_density(rng):
    """One to five steps of random widths and heights, some nearly 0."""
    steps = int(rng.integers(1, 6))
    edges = np.concatenate([[0], np.sort(rng.random(steps - 1)), [1]])
    heights = rng.exponential(size=steps) ** rng.choice([1, 3]) * (rng.random(steps) < 0.8) + 1e-12
    return cr.densities.StepDensity(edges, heights / (heights @ np.diff(edges)))


@cache
def _few_rows(runs=40, rng=173):
    sizes, lines = published.cluster_sizes(announced=True), []
    rows = (("Dist-1", cr.dist1(0.5)), ("Dist-1", cr.dist1(0.05)), ("Dist-2", cr.dist2(0.1)))
    for (name, model), child in zip(rows, np.random.default_rng(rng).spawn(3), strict=True):
        mean, error = mean_and_error(runs_by_expected_size(model, sizes, runs, child))
        lines.append({"model": name, "mean": mean, "error": error, "formula": by_expected_size(model, sizes),
                      "without weights": without_weights(model, sizes)})  # fmt: skip
    return pd.DataFrame(lines)
