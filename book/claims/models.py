"""Claims of the chapter *Two similarity models*."""

from fractions import Fraction
from functools import cache
from itertools import pairwise, product

import numpy as np
import pandas as pd
import sympy as sp
from scipy import stats

import crowder as cr
from book.companion.by_hand import steps as steps_by_hand
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
)
from crowder.densities import hellinger2, total_variation

__all__ = [
    "CLOSED", "EPSILONS", "FROM_UNIFORM", "LAWS", "MOMENTS", "SHORT", "THUMB",
    "as_defined", "check", "densities", "derive", "e", "inside", "many_tv",
]  # fmt: skip

claim, check = of_chapter(__name__)

e = sp.Symbol("epsilon", positive=True)
LAWS = ("f_g", "f_r")
EPSILONS = (0.1, 0.2, 0.4)

#: Distances between f_g and f_r, as stated in the paper (H2) and in the chapter.
CLOSED = {
    ("H2", "uniform"): 0,
    ("H2", "dist1"): 1 - sp.sqrt(1 - e**2),
    ("H2", "dist2"): e / (1 - e),
    ("TV", "uniform"): 0,
    ("TV", "dist1"): e,
    ("TV", "dist2"): e / (1 - e),
    ("KL", "uniform"): 0,
    ("KL", "dist1"): e * sp.log((1 + e) / (1 - e)),
    ("KL", "dist2"): sp.oo,
}
#: Distances of f_g, or of f_r, from the uniform density.
FROM_UNIFORM = {
    ("TV", "dist1"): e / 2,
    ("TV", "dist2"): e,
    ("H2", "dist1"): 1 - (sp.sqrt(1 + e) + sp.sqrt(1 - e)) / 2,
    ("H2", "dist2"): 1 - sp.sqrt(1 - e),
}
#: Mean and variance of each density.
MOMENTS = {
    ("uniform", "f_g"): (sp.Rational(1, 2), sp.Rational(1, 12)),
    ("uniform", "f_r"): (sp.Rational(1, 2), sp.Rational(1, 12)),
    ("dist1", "f_g"): (sp.Rational(1, 2) + e / 4, sp.Rational(1, 12) - e**2 / 16),
    ("dist1", "f_r"): (sp.Rational(1, 2) - e / 4, sp.Rational(1, 12) - e**2 / 16),
    ("dist2", "f_g"): (sp.Rational(1, 2) + e / 2, (1 - e) ** 2 / 12),
    ("dist2", "f_r"): (sp.Rational(1, 2) - e / 2, (1 - e) ** 2 / 12),
}
#: The approximations of H2 in the paper for small ε, and their relative errors.
THUMB = {"dist1": e**2 / 2, "dist2": e}
SHORT = {"dist1": CLOSED["H2", "dist1"] / 2, "dist2": e}


# --- claims ---------------------------------------------------------------------------------------------------------


@claim("C11")
def densities_and_distances(derived=None, points=None, epsilons=EPSILONS):
    derived = derived or derive()
    printed = " and ".join(f"${sp.latex(CLOSED['H2', name], order='rev-lex')}$" for name in THUMB)
    yield says(
        identity("the printed $H^2$", *_closed("H2", derived), shows=printed),
        rf"Summed over the steps, $H^2$ is {printed}, as printed, for every $\epsilon$.",
    )
    yield identity(
        r"mass one, for every $\epsilon$",
        *((sum(width * heights[law] for width, heights in _steps(name)), 1) for name, law in MOMENTS),
    )
    yield identity(
        r"the approximations, in the limit $\epsilon \to 0$",
        *((sp.series(CLOSED["H2", name], e, 0, 3).removeO().coeff(e, order) * e**order, THUMB[name])
          for name, order in (("dist1", 2), ("dist2", 1))),
    )  # fmt: skip
    yield also(as_defined(epsilons, points))
    yield also(
        identity(
            r"at $\epsilon = 0$, mean and variance of the uniform density",
            *(_moment(*key, 1).subs(e, 0) - sp.Rational(1, 2) for key in MOMENTS),
            *(_variance(*key).subs(e, 0) - sp.Rational(1, 12) for key in MOMENTS),
        )
    )
    yield also(_in_numbers())


@claim("C12")
def distance_from_uniform(derived=None, epsilons=EPSILONS):
    derived = derived or derive()
    quarter = Fraction(1, 4)
    # Two halves, with |f - 1| on each.
    by_hand = sum(Fraction(1, 2) * abs(height - 1) for height in (1 - quarter, 1 + quarter)) / 2
    yield says(
        counterexample(
            r"$\mathrm{TV}$ of a density of Dist-1 from uniform, $\epsilon = 1/4$",
            value=by_hand,
            relation="equal",
            printed=quarter,
        ),
        rf"At $\epsilon = {quarter}$ a density of Dist-1 is {by_hand} from uniform in total variation, not {quarter}.",
    )
    yield also(
        agreement(
            "the same from the code",
            [_from_flat("TV", "dist1", law, quarter) for law in LAWS],
            [by_hand] * 2,
        )
    )
    yield corrected(
        identity(
            r"$f_g$ and $f_r$ from uniform, every $\epsilon$",
            *_off_uniform("TV", derived),
            shows=r"$\epsilon/2$ for Dist-1, $\epsilon$ for Dist-2",
        )
    )
    yield corrected(inequality(r"so $\epsilon$ is an upper bound", e - e / 2))
    yield corrected(also(as_defined(epsilons)))
    yield corrected(also(_from_uniform(epsilons)))
    pairs = [
        (density, expected)
        for x in (Fraction(1, 10), quarter, Fraction(2, 5))
        for model, expected in ((cr.dist1(x), x / 2), (cr.dist2(x), x))
        for density in (model.green, model.red)
    ]
    halves = [_from_flat_in_fractions(density) for density, _ in pairs]
    yield corrected(also(agreement("the same in fractions", halves, [expected for _, expected in pairs])))


@claim("C13")
def dist1_is_closer_in_hellinger_distance(derived=None, epsilons=EPSILONS):
    derived = derived or derive()
    gap = FROM_UNIFORM["H2", "dist2"] - FROM_UNIFORM["H2", "dist1"]
    gap_as_proved = (sp.sqrt(1 + e) - sp.sqrt(1 - e)) / 2
    yield says(
        identity(
            "the distances in the proof",
            *_off_uniform("H2", derived),
            gap - gap_as_proved,
            *_closed("H2", derived),
            CLOSED["H2", "dist1"] - e**2 / (1 + sp.sqrt(1 - e**2)),
            shows=r"$f_g$, $f_r$ and the pair, every $0 < \epsilon < \frac12$",
        ),
        rf"From uniform, $H^2$ of Dist-2 exceeds that of Dist-1 by ${_tex(gap_as_proved)}$, which is positive.",
    )
    root = sp.Symbol("s", positive=True)  # √(1 - ε²)
    yield inequality(
        "the signs",
        (1 + e) - (1 - e),
        e**2 - e**2 / (1 + root),
        e - e**2,
        CLOSED["H2", "dist2"] - e,
        over={e: (0, sp.Rational(1, 2))},
    )
    yield from map(also, (as_defined(epsilons), _from_uniform(epsilons), _in_numbers()))


@claim("B11")
def errors_of_the_approximations(derived=None):
    derived = derived or derive()
    first, second = (f"{float(SHORT[name].subs(e, sp.Rational(1, 10))):.2%}" for name in THUMB)
    yield says(
        identity(
            "the relative errors",
            *_closed("H2", derived),
            *(THUMB[name] - CLOSED["H2", name] * (1 - SHORT[name]) for name in THUMB),
            shows="; ".join(f"${sp.latex(sp.sympify(share), order='rev-lex')}$" for share in SHORT.values()),
        ),
        rf"At $\epsilon = {sp.Rational(1, 10)}$ the approximations are {first} (Dist-1) and "
        f"{second} (Dist-2) too small.",
    )
    yield also(_in_numbers())


@claim("B13")
def dist1_is_closer_in_total_variation(derived=None, epsilons=EPSILONS):
    derived = derived or derive()
    gap = FROM_UNIFORM["TV", "dist2"] - FROM_UNIFORM["TV", "dist1"]
    ratio = (1 + sp.sqrt(1 - e**2)) / (e * (1 - e))
    yield says(
        identity(
            "total variation",
            *_off_uniform("TV", derived),
            (gap, e / 2),
            (inside(derived["TV", "dist2"] / derived["TV", "dist1"]), inside(1 / (1 - e))),
            CLOSED["H2", "dist2"] / CLOSED["H2", "dist1"] - ratio,
            shows=r"from uniform by $\epsilon/2$, between the densities by the factor $1/(1 - \epsilon)$",
        ),
        rf"At $\epsilon = {sp.Rational(1, 10)}$ the densities of Dist-2 are "
        rf"{float(1 / (1 - sp.Rational(1, 10))):.2f} times as far apart as those of Dist-1 in total variation, and "
        rf"{float(ratio.subs(e, sp.Rational(1, 10))):.0f} times in $H^2$.",
    )
    root = sp.Symbol("s", positive=True)  # √(1 - ε²)
    yield inequality(
        r"a factor of 1 to 2, and at least $1/\epsilon$ in $H^2$",
        gap,
        1 / (1 - e) - 1,
        2 - 1 / (1 - e),
        (1 + root) / (e * (1 - e)) - 1 / e,
        over={e: (0, sp.Rational(1, 2))},
    )
    yield from map(also, (as_defined(epsilons), _from_uniform(epsilons), _in_numbers()))


@claim("B14")
def moments_and_other_distances(derived=None, moments=None, epsilons=EPSILONS):
    derived = derived or derive()
    ours = [key for key in CLOSED if key[0] in ("TV", "KL") and CLOSED[key] is not sp.oo]
    first, second = (f"${sp.latex(CLOSED['TV', name], order='rev-lex')}$" for name in THUMB)
    yield says(
        identity(
            "total variation and Kullback–Leibler divergence",
            *((inside(sp.logcombine(derived[key], force=True)), inside(CLOSED[key])) for key in ours),
            shows=f"total variation {first} and {second}",
        ),
        rf"Summed over the steps, the total variation is {first} for Dist-1 and {second} for Dist-2.",
    )
    yield also(cases("the Kullback–Leibler divergence of Dist-2 is infinite", derived["KL", "dist2"] is sp.oo,
                     where=r"every $\epsilon$"))  # fmt: skip
    moments = moments or {key: (_moment(*key, 1), _variance(*key)) for key in MOMENTS}
    yield identity(
        "means and variances",
        *(
            (found, closed)
            for key in MOMENTS
            if key[0] != "uniform"
            for found, closed in zip(moments[key], MOMENTS[key], strict=True)
        ),
    )
    yield also(as_defined(epsilons))


@claim("B15")
def hellinger_distance_of_many_similarities(distances=None, epsilons=EPSILONS):
    tried = [(name, epsilon, m) for name, epsilon in product(THUMB, epsilons) for m in range(1, 8)]
    hellinger = [1 - (1 - _model(name, epsilon).hellinger2) ** m for name, epsilon, m in tried]
    patterns = np.transpose([_by_patterns(*one) for one in tried])
    yield says(
        agreement(
            "both distances for up to 7 similarities, over all patterns of steps",
            np.ravel([hellinger, [many_tv(*one) for one in tried]]),
            np.ravel(patterns),
            tolerance=1e-12,
        ),
        f"Both distances of up to {max(m for *_, m in tried)} similarities equal the sums over all patterns of steps, "
        f"in {len(tried)} settings.",
    )
    yield also(as_defined(epsilons))
    yield also(_in_numbers())
    if distances is None:
        distances = pd.DataFrame({"H2": hellinger, "TV": [many_tv(*one) for one in tried]})
    yield also(
        bounded(f"$H_m^2 \\le \\mathrm{{TV}}$, {len(distances)} values of $m$", distances["H2"], distances["TV"] + 1e-9)
    )
    yield also(
        bounded(
            r"$\mathrm{TV} \le H_m\sqrt{2 - H_m^2}$",
            distances["TV"],
            np.sqrt(distances["H2"] * (2 - distances["H2"])) + 1e-9,
        )
    )


# --- also used in the chapter -----------------------------------------------------------------------------------------


def many_tv(name, epsilon, m):
    """Total variation between m independent draws from f_g and m from f_r.

    Under Dist-1 only the number of draws above ½ matters, which is binomial. Under Dist-2 it is the probability that at
    least one draw falls where only one of the densities is positive.
    """
    if name == "dist2":
        return 1 - ((1 - 2 * epsilon) / (1 - epsilon)) ** m
    above = np.arange(m + 1)
    green, red = (stats.binom.pmf(above, m, (1 + tilt) / 2) for tilt in (epsilon, -epsilon))
    return np.abs(green - red).sum() / 2


# --- shared by several claims -----------------------------------------------------------------------------------------


def _model(name, epsilon):
    return cr.uniform() if name == "uniform" else getattr(cr, name)(epsilon)


def densities(name, epsilon):
    model = _model(name, epsilon)
    return model.green, model.red


def _steps(name):
    """For each step: its width, and the heights of f_g, f_r and the uniform density."""
    edges, green, red = cr.models.steps(name, e)
    widths = [b - a for a, b in pairwise(edges)]
    return [
        (width, {"f_g": sp.sympify(g), "f_r": sp.sympify(r), "uniform": sp.Integer(1)})
        for width, g, r in zip(widths, green, red, strict=True)
    ]


@cache
def _moment(name, law, order):
    """E[x^order], by integrating each step."""
    x, edges = sp.Symbol("x"), cr.models.steps(name, e)[0]
    steps = zip(pairwise(edges), _steps(name), strict=True)
    return sp.factor(sum(sp.integrate(heights[law] * x**order, (x, a, b)) for (a, b), (_, heights) in steps))


def _variance(name, law):
    return sp.factor(_moment(name, law, 2) - _moment(name, law, 1) ** 2)


@cache
def derive():
    """Distances between f_g and f_r, and of each from uniform, summed over the steps."""
    at_a_point = {
        "H2": lambda g, r: (sp.sqrt(g) - sp.sqrt(r)) ** 2 / 2,
        "TV": lambda g, r: sp.Abs(g - r) / 2,
        "KL": lambda g, r: sp.Integer(0) if g == 0 else sp.oo if r == 0 else g * sp.log(g / r),
    }

    def distance(which, name, first, second):
        return sum(width * at_a_point[which](heights[first], heights[second]) for width, heights in _steps(name))

    derived = {(which, name): distance(which, name, "f_g", "f_r") for which, name in CLOSED}
    return derived | {(*key, law): distance(*key, law, "uniform") for key in FROM_UNIFORM for law in LAWS}


def _off_uniform(which, derived):
    """The distances from uniform, and their closed forms."""
    return [
        (inside(derived[*key, law]), inside(FROM_UNIFORM[key]))
        for key in FROM_UNIFORM
        if key[0] == which
        for law in LAWS
    ]


def _closed(which, derived):
    """The distances between f_g and f_r, and their closed forms."""
    return [(inside(derived[which, name]), inside(CLOSED[which, name])) for name in THUMB]


def inside(expression):
    """Simplified for all 0 < ε < 1/2: d / (1 + 2d) with d > 0 takes exactly these values, and signs become known."""
    d = sp.Symbol("d", positive=True)
    return sp.simplify(sp.sympify(expression).subs(e, d / (1 + 2 * d)))


def as_defined(epsilons, points=None):
    """The densities of `crowder` against the definition."""
    points = np.random.default_rng(1).random(1000) if points is None else points
    defined = {
        "dist1": (lambda x, e: np.where(x < 1 / 2, 1 - e, 1 + e), lambda x, e: np.where(x < 1 / 2, 1 + e, 1 - e)),
        "dist2": (lambda x, e: (x >= e) / (1 - e), lambda x, e: (x <= 1 - e) / (1 - e)),
    }
    kinds = list(product(THUMB, epsilons, (0, 1)))
    return agreement(
        f"the steps against the definition, at {len(points):,} points",
        np.ravel([densities(name, epsilon)[law].pdf(points) for name, epsilon, law in kinds]),
        np.ravel([defined[name][law](points, epsilon) for name, epsilon, law in kinds]),
        tolerance=1e-13,
    )


def _tex(expression):
    return sp.latex(sp.sympify(expression), order="rev-lex")


def _in_numbers():
    dial = np.linspace(0.01, 0.49, 25)
    return agreement(
        r"numerically, at 25 values of $\epsilon$",
        [_model(name, x).hellinger2 for name in THUMB for x in dial],
        [float(CLOSED["H2", name].subs(e, x)) for name in THUMB for x in dial],
        tolerance=1e-12,
    )


def _from_flat(which, name, law, epsilon):
    density = densities(name, epsilon)[LAWS.index(law)]
    return {"TV": total_variation, "H2": hellinger2}[which](density, cr.uniform().green)


def _from_flat_in_fractions(density):
    """Total variation from uniform, step by step."""
    both = cr.SimilarityModel(density, cr.uniform().green)
    return sum(abs(mass - flat) for *_, mass, flat in steps_by_hand(both)) / 2


def _from_uniform(epsilons):
    cases = list(product(FROM_UNIFORM, LAWS, epsilons))
    return agreement(
        "distances from uniform, numerically",
        [_from_flat(*key, law, x) for key, law, x in cases],
        [float(FROM_UNIFORM[key].subs(e, x)) for key, _, x in cases],
        tolerance=1e-12,
    )


def _by_patterns(name, epsilon, m):
    """Both distances for m similarities, over all patterns of steps."""
    edges, *laws = cr.models.steps(name, epsilon)
    mass = [[h * (b - a) for h, (a, b) in zip(law, pairwise(edges), strict=True)] for law in laws]
    green, red = np.array([[np.prod(p) for p in product(law, repeat=m)] for law in np.array(mass, dtype=float)])
    return ((np.sqrt(green) - np.sqrt(red)) ** 2).sum() / 2, abs(green - red).sum() / 2
