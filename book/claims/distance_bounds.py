"""Claims of the appendix *Hellinger distance and total variation*."""

import numpy as np
import sympy as sp

import crowder as cr
from book.claims.models import derive, inside
from book.companion.claims import agreement, also, bounded, identity, of_chapter, says
from crowder.densities import hellinger2, total_variation

claim, check = of_chapter(__name__)


@claim("B12")
def total_variation_between_hellinger_bounds(models=None):
    derived = derive()
    f, h = sp.symbols("f h", positive=True)  # two densities at a point
    rise, fall = sp.sqrt(f) + sp.sqrt(h), sp.sqrt(f) - sp.sqrt(h)
    w, a, b = (sp.symbols(f"{letter}1:4", positive=True) for letter in "wab")  # three steps: widths, two factors
    sums = [sum(map(sp.prod, zip(w, *pair, strict=True))) for pair in ((a, a), (b, b), (a, b))]
    lagrange = sum(w[i] * w[j] * (a[i] * b[j] - a[j] * b[i]) ** 2 for i in range(3) for j in range(3)) / 2
    H2 = sp.Symbol("H2", positive=True)
    yield identity(
        "the factors, and the Cauchy-Schwarz inequality with its remainder (a sum of squares)",
        rise * fall - (f - h),
        rise**2 - fall**2 - 4 * sp.sqrt(f * h),
        sums[0] * sums[1] - sums[2] ** 2 - lagrange,
        (2 * H2 * (4 - 2 * H2) / 4, H2 * (2 - H2)),
    )
    yield identity(
        "equality for Dist-1, and for Dist-2",
        (inside(derived["TV", "dist1"] ** 2), inside(derived["H2", "dist1"] * (2 - derived["H2", "dist1"]))),
        (inside(derived["TV", "dist2"]), inside(derived["H2", "dist2"])),
    )
    rng = np.random.default_rng(1)
    models = models or [random_model(rng) for _ in range(40)]
    h2, tv = np.array([(model.hellinger2, model.total_variation) for model in models]).T
    green, red = (np.array([getattr(model, law).heights for model in models]) for law in ("green", "red"))
    by_hand = [((np.sqrt(green) - np.sqrt(red)) ** 2).mean(1) / 2, abs(green - red).mean(1) / 2]
    yield also(
        agreement(
            f"both distances of {len(models)} random models, from their definitions",
            np.ravel([h2, tv]),
            np.ravel(by_hand),
            tolerance=1e-12,
        )
    )
    below = bounded(r"$H^2 \le \mathrm{TV}$ on them", h2, tv)
    yield also(says(below, f"All {len(models)} random models lie between the two bounds, each attained by a model."))
    yield also(bounded(r"$\mathrm{TV} \le H\sqrt{2 - H^2}$ on them", tv, np.sqrt(h2 * (2 - h2))))


def random_model(rng):
    """Four steps of equal width with random heights, some of them empty."""
    heights = rng.exponential(size=(2, 4)) * (rng.random((2, 4)) > 0.15) + 1e-12
    heights *= 4 / heights.sum(axis=1, keepdims=True)
    return cr.SimilarityModel.from_steps([0, 1 / 4, 1 / 2, 3 / 4, 1], *heights)
