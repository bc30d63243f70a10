"""Claims of the appendix *cora in detail*."""

from math import comb

import numpy as np
import pandas as pd
import sympy as sp
from scipy import stats

import crowder as cr
from book.claims.cora import RECALL, least_of_node_ordering, never_above, small_data
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    identity,
    of_chapter,
    readings,
    says,
    simulation,
)
from crowder.cora.family import family_similarities
from crowder.densities import StepDensity, hellinger2, total_variation

claim, check = of_chapter(__name__)

# --- Dist-1 or Dist-2? ---------------------------------------------------------------------------------------------

MODELS = {"Dist-1": cr.dist1, "Dist-2": cr.dist2}
#: The only case in which cora is closer to Dist-1.
ODD = ("tfidf-cosine-title", "total variation")


def _area(p, q):
    x = (np.arange(2000) + 0.5) / 2000
    return float(np.abs(p.cdf(x) - q.cdf(x)).mean())


DISTANCES = {"total variation": total_variation, "squared Hellinger": hellinger2, "area": _area}


def _best_fit(f_g, f_r, distance, models):
    found = [(distance(f_g, m.green), distance(f_r, m.red)) for m in models.values()]
    best = int(np.argmin(np.sum(found, axis=1)))
    return list(models)[best], *found[best]


def _histograms(names, bins=20):
    found = {}
    for name in names:
        data = cr.datasets.cora(name)
        sides = data.condensed[data.matching], data.condensed[~data.matching]
        found[name] = [np.histogram(side, bins, (0, 1), density=True)[0] for side in sides]
    return found


def _fits(histograms, best_fit, tried):
    rows = []
    for name, pair in histograms.items():
        laws = [StepDensity(np.linspace(0, 1, len(law) + 1), law) for law in pair]
        rows += [
            (name, kind, model, *best_fit(*laws, distance, tried[model]))
            for kind, distance in DISTANCES.items()
            for model in MODELS
        ]
    fits = pd.DataFrame(rows, columns=["function", "distance", "model", "best ε", "matches", "non-matches"])
    return fits.assign(both=fits["matches"] + fits["non-matches"])


def _written(model, epsilon, x):
    """f_g, f_r, F_g and F_r from the definition of the models."""
    if model == "Dist-1":
        f_g = np.where(x < 0.5, 1 - epsilon, 1 + epsilon)
        F_g = np.where(x < 0.5, (1 - epsilon) * x, 1 - (1 + epsilon) * (1 - x))
        return f_g, 2 - f_g, F_g, 2 * x - F_g
    f_g, f_r = (x > epsilon) / (1 - epsilon), (x < 1 - epsilon) / (1 - epsilon)
    return f_g, f_r, *(np.clip((x - a) / (1 - epsilon), 0, 1) for a in (epsilon, 0))


def _nearest_again(pair, model, epsilons):
    """The three distances at their best ε, by sums over 2,000 midpoints."""
    x = (np.arange(2000) + 0.5) / 2000
    f = [np.repeat(np.asarray(law, float), 2000 // len(law)) for law in pair]
    F = [np.cumsum(law) / 2000 - law / 4000 for law in f]
    found = []
    for epsilon in epsilons:
        g = _written(model, epsilon, x)
        found.append([
            sum(abs(a - b).mean() / 2 for a, b in zip(f, g[:2], strict=True)),
            sum(((a**0.5 - b**0.5) ** 2).mean() / 2 for a, b in zip(f, g[:2], strict=True)),
            sum(abs(a - b).mean() for a, b in zip(F, g[2:], strict=True)),
        ])  # fmt: skip
    return np.min(found, axis=0)


@claim("C30")
def closer_to_dist2(histograms=None, fits=None, best_fit=_best_fit, epsilons=None):
    epsilons = np.arange(1, 20) / 40 if epsilons is None else epsilons
    tried = {name: {e: model(e) for e in epsilons} for name, model in MODELS.items()}
    histograms = histograms or _histograms(["jaccard-tokens", ODD[0]])
    fits = _fits(histograms, best_fit, tried) if fits is None else fits
    both = fits.pivot(index=["function", "distance"], columns="model", values="both")
    ratio, others = both["Dist-2"] / both["Dist-1"], both.drop(ODD)
    once_more = {
        (name, model): dict(zip(DISTANCES, _nearest_again(pair, model, epsilons), strict=True))
        for name, pair in histograms.items()
        for model in MODELS
    }
    known = [(model, d, MODELS[model](0.3)) for d in DISTANCES.values() for model in MODELS]
    yield says(readings(
        "distances that may measure the resemblance",
        ratio.groupby(level="distance").max().round(3).to_dict(), fits="area",
        unit=f"ratio of the distance to Dist-2 to that to Dist-1, the largest of {len(histograms)} functions"),
        f"By three distances and {len(histograms)} functions, cora is nearer to Dist-2 in {int((ratio < 1).sum())} of "
        f"{len(ratio)} cases.")  # fmt: skip
    yield also(bounded(f"closer to Dist-2, in all cases except {' by '.join(ODD)}", others["Dist-2"], others["Dist-1"]))
    yield also(
        agreement(
            "the distances, against sums over midpoints",
            both[list(MODELS)].to_numpy().ravel(),
            [once_more[name, model][kind] for name, kind in both.index for model in MODELS],
            tolerance=1e-9,
        )
    )
    yield also(
        agreement(
            "the best ε of known models is recovered",
            [best_fit(m.green, m.red, d, tried[model])[0] for model, d, m in known],
            [0.3] * len(known),
            tolerance=1e-9,
        )
    )


# --- the integral --------------------------------------------------------------------------------------------------


def _law(green, red):
    """The distinct similarities of non-matches, their numbers, and the share of matches up to each."""
    values, count = np.unique(red, return_counts=True)
    return values, count, np.searchsorted(np.sort(green), values, side="right") / len(green)


@claim("B81")
def integral_of_real_values(data=None, law=None, curve=None, trials=20_000, rng=0):
    data = data or cr.datasets.cora()
    green, red = data.condensed[data.matching], data.condensed[~data.matching]
    values, count, F_g = law or _law(green, red)

    def L_hat(t):
        return float((F_g**t * count).sum() / len(red))

    curve = [L_hat(t) for t in (1, 10, 100, 1000)] if curve is None else curve
    rng, scores = np.random.default_rng(rng), []
    for t in (1, 2, 5):
        best_match = rng.choice(green, (t, trials)).max(axis=0)
        hits = int(np.sum(rng.choice(red, trials) >= best_match))
        p_value = stats.binomtest(hits, trials, min(L_hat(t), 1)).pvalue
        scores.append(np.copysign(stats.norm.isf(min(p_value, 1) / 2), hits / trials - L_hat(t)))
    few_red = red[:: len(red) // 400]
    part_of = np.searchsorted(values, few_red)
    yield says(agreement(
        f"the average over {len(few_red)} of the non-matches, in two ways",
        [float((F_g[part_of] ** t).mean()) for t in (0, 1, 7)],
        [float(np.mean([(green <= w).mean() ** t for w in few_red])) for t in (0, 1, 7)], tolerance=1e-12),
        f"The formula agrees with a direct count, and {3 * trials:,} simulated comparisons of real similarities agree "
        "with "
        "it.")  # fmt: skip
    yield bounded(
        "the share of non-matches that no match exceeds, against the integral", (red >= green.max()).mean(), curve
    )
    yield also(
        simulation("simulated comparisons of real similarities, $t = 1, 2, 5$", scores, 1, 0, size=trials, limit=5)
    )
    yield also(
        agreement(
            "the number of non-matches",
            int(count.sum()),
            comb(data.n, 2) - sum(comb(int(m), 2) for m in data.sizes),
        )
    )


# --- how fast node ordering can be ---------------------------------------------------------------------------------


@claim("B82")
def recall_of_node_ordering(data=None, bound=None, attained=None, arrivals=None):
    data = data or small_data()
    truth, sizes = cr.Truth(data.labels), data.sizes
    if bound is None:
        gains = np.concatenate([np.r_[np.zeros(j), np.arange(1, m)] for j, m in enumerate(sizes)])
        bound = np.r_[0, np.cumsum(gains) / gains.sum()]
        together = np.lexsort((data.labels, -np.bincount(data.labels)[data.labels]))
        perfect = (data.labels[:, None] == data.labels).astype(float)
        attained = cr.node_ordering(perfect, truth, order=together, ties="index").recall(data.labels)
        arrivals = {
            order: cr.node_ordering(data.similarity, truth, rng=1, order=order).recall(data.labels)
            for order in ("expected-size", "random")
        }
    levels = [0.1, 0.5, 0.9, 0.99, RECALL, 1]
    i, j = sp.symbols("i j", positive=True, integer=True)
    yield identity("$i - 1$ non-matches for the $i$-th cluster", (sp.summation(i - 1, (i, 1, j)), j * (j - 1) / 2))
    least = least_of_node_ordering(sizes, levels)
    yield says(also(agreement(
        "$M + \\binom{j}{2}$, against a perfect similarity with clusters by size, at six levels",
        least, [int(np.argmax(attained >= level - 1e-12)) for level in levels])),
        "With a perfect similarity and clusters in order of size, node ordering attains the bound at all "
        f"{len(levels)} levels "
        "tried, and no run is faster.")  # fmt: skip
    yield also(agreement("the whole curve", bound, attained, tolerance=1e-12))
    yield also(
        cases(
            "no run of node ordering exceeds it",
            *(never_above(recall, bound) for recall in [bound, *arrivals.values()]),
            where=f"{len(arrivals)} arrival orders",
        )
    )
