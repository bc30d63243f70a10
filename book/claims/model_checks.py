"""Claims of the appendix *The models by quadrature and from draws*."""

from itertools import pairwise, product

import numpy as np
import pandas as pd
from scipy import integrate, stats

import crowder as cr
from book.claims.models import CLOSED, EPSILONS, LAWS, MOMENTS, THUMB, as_defined, densities, e
from book.companion.claims import agreement, also, cases, of_chapter, says, simulation
from crowder.densities import StepDensity

claim, check = of_chapter(__name__)


@claim("B17")
def means_and_distances(ways=None, draws=4000, alarm=1e-5, epsilons=EPSILONS):
    ways = three_computations(epsilons, draws, np.random.default_rng(1), alarm) if ways is None else ways
    yield says(
        agreement("quadrature", ways["quadrature"], ways["closed form"], tolerance=1e-12),
        f"All {len(ways)} means and distances agree with numerical integration and with {draws:,} draws each.",
    )
    yield also(
        simulation(
            "means and distances from draws",
            ways["mean"],
            ways["error"],
            ways["closed form"],
            size=draws,
            limit=float(np.round(_z(epsilons, alarm), 1)),
        )
    )


@claim("B16")
def synthetic_data(samples=None, epsilon=0.4, epsilons=EPSILONS):
    rng = np.random.default_rng(1)
    if samples is None:
        models = {name: getattr(cr, name)(epsilon) for name in THUMB}
        samples = {name: cr.datasets.synthetic([12, 9, 6, 3], model, rng=rng) for name, model in models.items()}
    bins, rows = np.linspace(0, 1, 11), []
    for name, data in samples.items():
        for law, density, chosen in zip(LAWS, densities(name, epsilon), (data.matching, ~data.matching), strict=True):
            seen, expected = np.histogram(data.condensed[chosen], bins)[0], chosen.sum() * np.diff(density.cdf(bins))
            possible = expected > 1e-9
            fit = stats.chisquare(seen[possible], seen.sum() * expected[possible] / expected[possible].sum()).pvalue
            mean, variance = (float(formula.subs(e, epsilon)) for formula in MOMENTS[name, law])
            rows.append(
                (
                    data.condensed[chosen].mean(),
                    np.sqrt(variance / chosen.sum()),
                    mean,
                    seen[~possible].sum() == 0,
                    bool(fit > 1e-6),
                )
            )
    seen, error, mean, empty, fits = zip(*rows, strict=True)
    yield simulation(
        "mean similarity of matches and non-matches, Dist-1 and Dist-2",
        seen,
        error,
        mean,
        size=int(samples["dist1"].matching.sum()),
        limit=5,
    )
    yield says(
        cases("no values where the density is zero; chi-square p above $10^{-6}$", *empty, *fits,
              where=f"{len(rows)} samples"),
        f"All {len(rows)} samples have values only where their density is positive, and fit it by a chi-square test.",
    )  # fmt: skip
    yield also(as_defined(epsilons))


def three_computations(epsilons, draws, rng, alarm):
    """Means and distances of Dist-1 and Dist-2: closed forms, quadrature, and averages over draws with intervals.

    For correct code all intervals hold together, except with probability `alarm`.
    """
    by_definition = {  # the integrand, from the similarity x and both densities there
        "mean of f_g": lambda x, g, r: x * g,
        "mean of f_r": lambda x, g, r: x * r,
        "H2": lambda x, g, r: (np.sqrt(g) - np.sqrt(r)) ** 2 / 2,
        "TV": lambda x, g, r: abs(g - r) / 2,
        "KL": lambda x, g, r: g * np.log(g / r),
    }
    by_draws = {  # what to average over draws G from f_g and R from f_r
        "mean of f_g": lambda g, r, G, R: G,
        "mean of f_r": lambda g, r, G, R: R,
        "H2": lambda g, r, G, R: 1 - np.sqrt(g(R) / r(R)),
        "TV": lambda g, r, G, R: 1.0 * (g(G) > r(G)) - (g(R) > r(R)),
        "KL": lambda g, r, G, R: np.log(g(G) / r(G)),
    }
    closed = {(f"mean of {law}", name): mean for (name, law), (mean, _) in MOMENTS.items()} | CLOSED
    rows = []
    for name, epsilon in product(THUMB, epsilons):
        green, red = densities(name, epsilon)
        G, R = (density.sample(draws, rng=rng) for density in (green, red))
        for what, integrand in by_definition.items():
            if (what, name) == ("KL", "dist2"):  # infinite
                continue
            quadrature = sum(
                integrate.quad(lambda x, f=integrand, g=green, r=red: f(x, g.pdf(x), r.pdf(x)), *step)[0]
                for step in pairwise(green.edges)
            )
            values = by_draws[what](green.pdf, red.pdf, G, R)
            rows.append(
                (
                    name,
                    epsilon,
                    what,
                    float(closed[what, name].subs(e, epsilon)),
                    quadrature,
                    values.mean(),
                    values.std(ddof=1) / np.sqrt(draws),
                )
            )
    ways = pd.DataFrame(rows, columns=["model", "epsilon", "quantity", "closed form", "quadrature", "mean", "error"])
    z = _z(epsilons, alarm)
    return ways.assign(low=ways["mean"] - z * ways["error"], high=ways["mean"] + z * ways["error"])


def _z(epsilons, alarm):
    """A simultaneous limit for normal scores of five quantities, two models and each ε."""
    return stats.norm.isf(alarm / (2 * len(epsilons) * 5) / 2)
