r"""Claims of the chapter *The integral $L_{g,r}(t)$*, and independent computations of its numbers."""

from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import comb

import numpy as np
import pandas as pd
import sympy as sp
from scipy import integrate, stats

import crowder as cr
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    exceeds,
    identity,
    inequality,
    of_chapter,
    says,
    simulation,
)
from crowder.densities import hellinger2, total_variation
from crowder.theory import EPSILON as e
from crowder.theory import T as t
from crowder.theory import step_integral

__all__ = [
    "BASES", "FIRST", "H2", "PRINTED", "QUARTER", "SECOND", "SHARES", "TOP", "as_powers",
    "by_counting", "chain", "check", "counted", "derive", "derived_again", "random_steps", "score", "tangent",
]  # fmt: skip

claim, check = of_chapter(__name__)

NAMES = {"uniform": "Uniform", "dist1": "Dist-1", "dist2": "Dist-2"}
EPSILONS = (0.1, 0.3)
QUARTER = Fraction(1, 4)

#: The closed forms in the paper: in the proof for uniform noise; in the appendix, for Dist-1 and Dist-2.
PRINTED = {
    "uniform": 1 / (t + 1),
    "dist1": (1 - e) / ((1 + e) * (t + 1)) * (1 + e * ((1 - e) / 2) ** (t - 1)),
    "dist2": ((1 - 2 * e) / (1 - e)) ** (t + 1) / (t + 1),
}
#: The contribution of each step of a model to the integral, in readable form; F_g(1/2) is (1 - ε)/2 under Dist-1.
SHARES = {
    "uniform": [1 / (t + 1)],
    "dist1": [
        (1 + e) / (1 - e) * ((1 - e) / 2) ** (t + 1) / (t + 1),
        (1 - e) / (1 + e) * (1 - ((1 - e) / 2) ** (t + 1)) / (t + 1),
    ],
    "dist2": [e / (1 - e) * sp.Integer(0) ** t, ((1 - 2 * e) / (1 - e)) ** (t + 1) / (t + 1), sp.Integer(0)],
}
#: Two simplifications of the closed form for Dist-1: in the appendix, and in the proof of the bound for edge ordering.
FIRST, SECOND = (1 - e) / ((1 + e) * (t + 1)), (1 - 2 * e) / (t + 1)
#: For Dist-2 the integral and its bounds are powers of these, with exponent t + 1, over t + 1.
H2 = e / (1 - e)
BASES = {"exact": 1 - H2, r"$e^{-H^2}$": sp.exp(-H2), r"$1 - \epsilon$": 1 - e, r"$e^{-\epsilon}$": sp.exp(-e)}
#: Two models with the same distances, whose densities differ at the bottom or at the top of the scale.
BOTTOM = cr.SimilarityModel.from_steps([0, QUARTER, 2 * QUARTER, 1], green=[0, 2, 1], red=[2, 0, 1], name="bottom")
TOP = cr.dist2(Fraction(1, 3))

#: With ε = 1 - 2q, powers of (1 - ε)/2 = q combine; s stands for t > 0.
_q, _s = sp.symbols("q s", positive=True)


# --- claims ---------------------------------------------------------------------------------------------------------


@claim("B21")
def contribution_of_a_step():
    b, c, g, h = sp.symbols("b c g h", positive=True)
    share = step_integral(c, g, h, b, t)
    yield identity(
        "the contribution of a step",
        share - h / g * ((c + g * b) ** (t + 1) - c ** (t + 1)) / (t + 1),
        step_integral(c, 0, h, b, t) - h * b * c**t,
        shows="every $g$, $h$, $b$, $c$, $t$",
    )
    by_derivative = identity(
        "zero at $b = 0$, with the integrand as derivative", share.subs(b, 0), sp.diff(share, b) - (c + g * b) ** t * h
    )
    yield says(
        by_derivative, "For all symbols, the contribution is zero at $b = 0$ and its derivative is the integrand."
    )


@claim("C08")
def integral_is_a_probability(models=None, derived=None, races=None, trials=4000, alarm=1e-5, epsilons=EPSILONS):
    models = models or _random_models()
    by_fractions = agreement(
        f"the probability, in fractions, against the integral; {len(models)} random models, $t = 0, \\dots, 8$",
        [cr.L(m, length) for m in models for length in range(9)],
        [float(by_counting(m, length)) for m in models for length in range(9)],
        tolerance=1e-12,
    )
    races = _races(trials, epsilons) if races is None else races
    yield says(
        by_fractions,
        f"The integral equals the probability counted in fractions for {len(models)} random models, and agrees with "
        f"{trials:,} simulated races in each of {len(races)} settings.",
    )
    points = list(product(_settings(epsilons), (0, 0.5, 1, 2, 3, 7, 20, 99.5)))  # t need not be whole
    yield agreement(
        "`cr.L` against quadrature",
        [cr.L(_model(*setting), length) for setting, length in points],
        [_by_quadrature(_model(*setting), length) for setting, length in points],
        tolerance=1e-9,
        relative=True,
    )
    yield from (also(counted(name)) for name in ("dist1", "dist2", "uniform"))
    yield also(_in_symbols(derived, epsilons))
    yield also(
        simulation(
            f"simulated comparisons, {len(races)} settings",
            races["score"],
            1,
            0,
            size=trials,
            limit=float(np.round(stats.norm.isf(alarm / len(races) / 2), 1)),
        )
    )


@claim("C22")
def closed_form_for_dist1(derived=None):
    derived = derived or derive()
    yield says(
        identity(
            "the closed form for Dist-1, and its value at $t = 0$",
            _left("dist1", derived),
            PRINTED["dist1"].subs(t, 0) - 1,
            shows=r"every $t \ge 0$, every $\epsilon$",
        ),
        r"The sum over the steps is identical with the printed form, for every $t \ge 0$ and every $\epsilon$.",
    )
    ratio = PRINTED["dist1"] / FIRST
    yield identity(r"its approximation: a relative error that vanishes with $\epsilon$ and with large $t$",
                   (ratio - 1, e * ((1 - e) / 2) ** (t - 1)))  # fmt: skip
    yield from map(also, (derived_again("dist1", derived), _as_tabulated("dist1"), counted("dist1")))


@claim("C23")
def closed_form_for_dist2(derived=None):
    derived = derived or derive()
    one, at_zero = by_counting(cr.dist2(QUARTER), 0), PRINTED["dist2"].subs(t, 0)
    limit = np.exp(-float(QUARTER))
    yield says(
        counterexample(
            r"the bound for Dist-2 at $t = 0$, $\epsilon = 1/4$", value=one, relation="at most", printed=limit
        ),
        rf"At $t = 0$ and $\epsilon = {QUARTER}$ the integral is {one}, more than the bound {limit:.3f}. From $t = 1$ "
        "on both statements hold.",
    )
    yield also(
        counterexample("the closed form there", value=one, relation="equal", printed=at_zero.subs(e, sp.Rational(1, 4)))
    )
    yield also(agreement("`cr.L` there", cr.L(cr.dist2(QUARTER), 0), 1.0))
    yield corrected(as_powers(derived))
    yield corrected(tangent())
    at_one = derived["dist2"].subs(t, 0)
    yield corrected(identity("with the term in $0^t$, at $t = 0$", at_one - at_zero - e / (1 - e), at_one - 1))
    further = [derived_again("dist2", derived), _as_tabulated("dist2"), counted("dist2"), *chain()]
    yield from (corrected(also(piece)) for piece in further if r"$e^{-H^2}$" not in piece.what)


@claim("B22")
def limit_depends_on_the_largest_similarities(models=None, derived=None, epsilons=EPSILONS):
    models, third = models or _random_models(), sp.Rational(1, 3)
    scaled = [((t + 1) * form).subs({e: third, t: _s}) for form in (derived or derive()).values()]
    ratios = [1, (1 - third) / (1 + third), 0]
    yield also(identity(
        r"the limits of $(t+1)\,L_{g,r}(t)$ at $\epsilon = \frac13$",
        *(sp.limit(form, _s, sp.oo) - ratio for form, ratio in zip(scaled, ratios, strict=True)),
        shows=", ".join(f"${sp.latex(ratio)}$" for ratio in ratios),
    ))  # fmt: skip
    exact = [model for name in NAMES for model in _in_fractions(name)] + models
    rest = [
        _remainder(model, by_counting(model, length), length)
        for model in exact
        if model.green.heights[-1] > 0
        for length in range(9)
    ]
    c, power = sp.symbols("c p", positive=True)
    top = (1 - c * power) / (_s + 1)  # the contribution of the top step, times g/h, with p = c^t
    yield identity("what is missing to $h/g$ when multiplied by $t + 1$", ((_s + 1) * top, 1 - c * power))
    within = cases(r"$0 \le \rho \le c^t$ in fractions", *(0 <= rho <= limit for rho, limit in rest),
                   where=r"the three models and random models, $t \le 8$")  # fmt: skip
    yield also(says(within, rf"In fractions, $0 \le \rho \le c^t$ in all {len(rest)} cases: the three models and "
                            "random ones."))  # fmt: skip
    yield also(counted("random models", models))
    yield also(_in_symbols(derived, epsilons))
    whole = np.unique(np.round(np.geomspace(1, 1000, 120)).astype(int)) - 1
    far = [
        _remainder(model, cr.L(model, length), length)
        for model in (_model(*setting) for setting in _settings(epsilons))
        for length in whole
    ]
    yield also(bounded(f"$\\rho \\le c^t$, up to $t = {whole[-1]}$", *np.add(np.transpose(far), [[0], [1e-12]])))


@claim("B25")
def same_distances_different_integrals(models=(BOTTOM, TOP), runs=None):
    lengths = range(1, 31)
    half = [Fraction(1, 2) ** (length + 1) / (length + 1) for length in lengths]
    yield agreement(
        r"$H^2$ and $\mathrm{TV}$ of both models",
        [round(x, 12) for m in models for x in (m.hellinger2, m.total_variation)],
        [0.5] * 4,
    )
    yield says(
        agreement(
            "both integrals, in fractions",
            [by_counting(m, length) for m in models for length in lengths],
            [*(Fraction(1, length + 1) - x for length, x in zip(lengths, half, strict=True)), *half],
        ),
        rf"Counted in fractions, the two integrals are as stated for all $t$ up to {lengths[-1]}; at $t = 1$ they are "
        f"{by_counting(models[0], 1)} and {by_counting(models[1], 1)}.",
    )
    yield also(
        agreement(
            "`cr.L`",
            [cr.L(m, length) for m in models for length in lengths],
            [float(by_counting(m, length)) for m in models for length in lengths],
            tolerance=1e-12,
        )
    )
    runs = _runs() if runs is None else runs
    asked = runs.groupby("model")[["edge", "node"]]
    repetitions = int(asked.size().min())
    mean, error = asked.mean(), asked.std(ddof=1) / np.sqrt(repetitions)
    yield also(
        exceeds(
            "questions in one model less twice those in the other, edge and node ordering",
            mean.loc["bottom"] - 2 * mean.loc["dist2"],
            np.hypot(error.loc["bottom"], 2 * error.loc["dist2"]),
            size=repetitions,
        )
    )


# --- also used in the chapter -----------------------------------------------------------------------------------------


def random_steps(rng, steps=4):
    """A model in fractions: steps of random widths and random masses, some of them zero."""
    edges = [0, *sorted(Fraction(int(x), 100) for x in rng.choice(np.arange(1, 100), steps - 1, replace=False)), 1]
    mass = [rng.multinomial(60, rng.dirichlet([0.5] * steps)).tolist() for _ in range(2)]
    heights = [[Fraction(m, 60) / (b - a) for m, (a, b) in zip(part, pairwise(edges), strict=True)] for part in mass]
    return cr.SimilarityModel.from_steps(edges, *heights)


def score(wins, trials, chance):
    """The normal score with the p-value of so many wins under the exact binomial distribution.

    Small numbers of wins are not approximately normal.
    """
    p_value = stats.binomtest(wins, trials, min(max(chance, 0), 1)).pvalue
    return np.copysign(stats.norm.isf(min(p_value, 1) / 2), wins / trials - chance)


# --- shared by several claims -----------------------------------------------------------------------------------------


def _model(name, epsilon=None):
    return cr.uniform() if name == "uniform" else getattr(cr, name)(epsilon)


def _settings(epsilons):
    return [("uniform", None), *product(("dist1", "dist2"), epsilons)]


def _in_fractions(name):
    values = [Fraction(1, 10), Fraction(1, 3), Fraction(49, 100)]
    return [cr.uniform()] if name == "uniform" else [_model(name, x) for x in values]


def _random_models(count=5):
    rng = np.random.default_rng(1)
    return [random_steps(rng) for _ in range(count)]


@cache
def _shares(name):
    edges, green, red = cr.models.steps(name, e)
    found, c = [], sp.Integer(0)
    for (left, right), g, h in zip(pairwise(edges), green, red, strict=True):
        found.append(step_integral(c, g, h, right - left, t))
        c = sp.simplify(c + g * (right - left))
    return found


def derive():
    return {name: sum(_shares(name)) for name in NAMES}


def _left(name, derived):
    """The difference from the printed form, for every t > 0 and ε."""
    return (derived[name] - PRINTED[name]).subs({t: _s, e: 1 - 2 * _q})


def derived_again(name, derived):
    again = derived[name] - cr.L_symbolic(name)
    return identity("`cr.L_symbolic`, and 1 at $t = 0$", again, derived[name].subs(t, 0) - 1)


def _as_tabulated(name):
    gaps = [share - readable for share, readable in zip(_shares(name), SHARES[name], strict=True)]
    return identity("the contribution of each step, in readable form", *gaps)


def _in_symbols(derived, epsilons):
    derived = derived or derive()
    points = list(product(_settings(epsilons), (0, 0.5, 1, 2, 3, 7, 20, 99.5)))
    values = [{t: length} | ({} if epsilon is None else {e: epsilon}) for (_, epsilon), length in points]
    return agreement(
        "`cr.L` against the symbolic form",
        [cr.L(_model(*setting), length) for setting, length in points],
        [float(derived[name].subs(value)) for ((name, _), _), value in zip(points, values, strict=True)],
        tolerance=1e-9,
        relative=True,
    )


def by_counting(model, t):
    """The probability that R is at least the largest of t values G, by the steps that they fall in; exact.

    If R falls on a step with j of the G, and the others fall below, R is the largest with probability 1/(j + 1).
    """
    total, below = 0, 0
    for (a, b), g, h in zip(pairwise(model.green.edges), model.green.heights, model.red.heights, strict=True):
        here = g * (b - a)
        total += sum(comb(t, j) * here**j * below ** (t - j) * h * (b - a) / (j + 1) for j in range(t + 1))
        below += here
    return total


def counted(name, models=None):
    models = models or _in_fractions(name)
    return agreement(
        f"`cr.L` against the probability in fractions, {NAMES.get(name, name)}, $t \\le 8$",
        [cr.L(m, length) for m in models for length in range(9)],
        [float(by_counting(m, length)) for m in models for length in range(9)],
        tolerance=1e-12,
    )


def _by_quadrature(model, t):
    def integrand(x):
        return model.green.cdf(x) ** t * model.red.pdf(x)

    steps = pairwise(model.green.edges)
    return sum(integrate.quad(integrand, *step, epsabs=0, epsrel=1e-11)[0] for step in steps)


def _races(trials, epsilons):
    """As in the chapter, for fewer t."""
    rng, rows = np.random.default_rng(1), []
    for setting in _settings(epsilons):
        model = _model(*setting)
        for length in (0, 1, 3):
            best = model.green.sample((length, trials), rng=rng).max(axis=0, initial=0)
            wins = int((model.red.sample(trials, rng=rng) >= best).sum())
            rows.append(score(wins, trials, cr.L(model, length)))
    return pd.DataFrame({"score": rows})


def _remainder(model, value, t):
    """L(t) less the contribution of the top step, and the bound c^t, in the arithmetic of the arguments."""
    top, width = model.red.heights[-1] / model.green.heights[-1], model.green.edges[-1] - model.green.edges[-2]
    c = 1 - model.green.heights[-1] * width
    return value - top * (1 - c ** (t + 1)) / (t + 1), c**t


def as_powers(derived):
    return identity(
        "the powers, with $y = -H^2$, $H^2$ and $-\\epsilon$",
        _left("dist2", derived),
        PRINTED["dist2"] - BASES["exact"] ** (t + 1) / (t + 1),
        1 / (1 - e) - (1 + H2),
    )


def tangent():
    y = sp.Symbol("y", positive=True)
    return inequality("$1 + y \\le e^y$, on both sides of 0", sp.exp(y) - 1 - y, sp.exp(-y) - 1 + y)


def chain():
    """The bases in increasing order, and the integral against the power of each, the tightest first."""
    dial, lengths = np.linspace(0.001, 0.499, 499), np.arange(1, 41)
    bases = np.array([sp.lambdify(e, base)(dial) for base in BASES.values()])
    values = np.array([cr.L(cr.dist2(x), lengths) for x in dial])
    ordered = bounded(f"the bases in increasing order, at {len(dial)} values of $\\epsilon$", bases[:-1], bases[1:])
    powers = {label: base[:, None] ** (lengths + 1) / (lengths + 1) for label, base in zip(BASES, bases, strict=True)}
    return [ordered] + [
        bounded(f"`cr.L` against the power of {label}, $1 \\le t \\le 40$", values, power)
        for label, power in powers.items()
        if label != "exact"
    ]


def _runs(sizes=(15,) * 5, repetitions=4):
    rows, rng = [], np.random.default_rng(1)
    for model, _ in product((BOTTOM, TOP), range(repetitions)):
        asked = cr.experiments.count_questions(list(sizes), model, rng=rng)
        rows.append({"model": model.name} | asked)
    return pd.DataFrame(rows)
