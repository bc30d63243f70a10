"""Pieces of evidence: each function computes whether the evidence holds, and the number that shows it.

`book.companion.claims` derives the status of a claim from them. Evidence that contains NaN does not hold but raises no
error: a broken formula changes the status of its claim, and the chapter goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import numpy as np
import sympy as sp

from book.companion.printing import exactly, number
from crowder import checks
from crowder.checks import is_symbolic

#: At most this many values or readings are listed.
_FEW = 4


class Evidence(NamedTuple):
    """One piece of evidence."""

    kind: str  # the basis that it gives if it holds; or "counterexample", "readings"
    holds: bool
    figure: str  # the number that shows it (Markdown)
    where: str = ""  # at which cases something was tried, if it was not derived for all: "exact at ..."
    corrected: bool = False  # whether it concerns the corrected statement
    also: bool = False  # whether it shows by weaker means what another piece shows, too
    what: str = ""  # its code (Markdown), which `check` reads
    compared: tuple[str, ...] = ()  # the symbolic forms, as they reached the comparison


def identity(*differences) -> Evidence:
    """Symbolic identities: each difference of two sides simplifies to zero.

    A pair stands for the difference of its two sides, and keeps symbols that sympy would cancel as soon as the
    difference is written down. If no difference has a free symbol, they compare numbers, which proves nothing beyond
    these numbers: the evidence is then "exact".

    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> identity((x + 1) ** 2 - x**2 - 2 * x - 1)[:2]
    ('proved', True)
    """
    pairs = [
        tuple(checks.expression(side, "identity: a difference") for side in sides)
        for sides in (each if isinstance(each, tuple) else (each, 0) for each in nonempty(differences, "identity"))
    ]
    left = [rest for rest in (sp.simplify(one - other) for one, other in pairs) if rest != 0]
    size = _plural(len(pairs), "identity", "identities")
    figure = f"difference ${sp.latex(left[0])}$" if left else f"{size}, difference 0"
    general = any(side.free_symbols for sides in pairs for side in sides)
    forms = tuple(f"{one} = {other}" for one, other in pairs)
    return Evidence("proved" if general else "exact", not left, figure, compared=forms)


def inequality(*expressions, over: Mapping | None = None) -> Evidence:
    """Symbolic inequalities: each expression is proved to be nonnegative for all values of its symbols.

    Symbols range over the positive numbers, or between the ends that `over` gives, such as ``{e: (0, 1)}``; the upper
    one may be infinite.

    An expression is factored. Its factors have a sign if sympy says so by their assumptions, if they are even powers,
    or if they are polynomials whose coefficients all have one sign once each range is mapped to the positive numbers by
    a rational function. What remains is nonnegative if it is real and continuous, monotone in one symbol, by the same
    rules for its derivative, and nonnegative at the end where it is least. What they do not decide does not hold.

    >>> import sympy as sp
    >>> e = sp.Symbol("e", positive=True)
    >>> inequality(1 - e**2, e - sp.log(1 + e), over={e: (0, 1)}).figure
    '2 inequalities'
    """
    nonempty(expressions, "inequality")
    expressions = [checks.expression(one, "inequality: an expression") for one in expressions]
    if not any(one.free_symbols for one in expressions):
        raise ValueError("inequality: one between numbers is no proof of one for all")
    ranges = {symbol: (over or {}).get(symbol, (0, sp.oo)) for one in expressions for symbol in one.free_symbols}
    real = {symbol: sp.Dummy(symbol.name, real=True, positive=ends[0] >= 0 or None) for symbol, ends in ranges.items()}
    ends = {real[symbol]: tuple(map(sp.sympify, ends)) for symbol, ends in ranges.items()}
    open_ones = [i for i, one in enumerate(expressions, start=1) if not _is_nonnegative(one.subs(real), ends, depth=3)]
    size = _plural(len(expressions), "inequality", "inequalities")
    figure = f"inequality {open_ones[0]} of {len(expressions)} is not proved" if open_ones else size
    return Evidence("proved", not open_ones, figure, compared=tuple(f"{one} >= 0" for one in expressions))


def _is_nonnegative(expression, ends: dict, depth: int) -> bool:
    """Whether an expression is provably nonnegative where each symbol is between its ends."""
    if expression.has(sp.nan, sp.oo, -sp.oo, sp.zoo, sp.I):
        return False
    factors = sp.Mul.make_args(sp.factor(sp.together(expression)))
    signs = [_sign(factor, ends) for factor in factors]
    rest = sp.Mul(*(sign or factor for factor, sign in zip(factors, signs, strict=True)))
    if not rest.free_symbols:
        return bool(rest.is_nonnegative)
    forms = (rest, expression)  # as a product, and as a sum
    if not depth or not all(_onto_positive(form, ends).is_real for form in forms):
        return False
    if expression.atoms(sp.Function) != expression.atoms(sp.exp, sp.log):
        return False
    for form, symbol in product(forms, sorted(rest.free_symbols, key=str)):
        slope, (low, high) = sp.diff(form, symbol), ends[symbol]
        for way, end, side in ((1, low, "+"), (-1, high, "-")):
            if _is_nonnegative(way * slope, ends, depth - 1):
                least = sp.limit(form, symbol, end, side)
                return least == sp.oo or (bool(least.is_finite) and _is_nonnegative(least, ends, depth - 1))
    return False


def _onto_positive(expression, ends: dict):
    """The expression with a rational function of a positive symbol for each of its symbols."""
    onto = {}
    for symbol, (low, high) in ends.items():
        z = sp.Dummy(symbol.name, positive=True)
        onto[symbol] = low + z if high == sp.oo else (low + high * z) / (1 + z)
    return sp.factor(sp.together(expression.subs(onto)))


def _sign(factor, ends: dict) -> int:
    """1 or -1 if a factor has this sign, or is 0, between the ends; 0 if that is open."""
    sign = 1
    for part in sp.Mul.make_args(_onto_positive(factor, ends)):
        base, exponent = part.as_base_exp()
        if part.is_nonnegative or (base.is_real and exponent.is_even):
            continue
        signs = set()
        if part.is_nonpositive:
            signs = {-1}
        elif exponent.is_integer and base.is_polynomial():
            signs = {int(sp.sign(coefficient)) for coefficient in sp.Poly(base, *base.free_symbols).coeffs()}
        if len(signs) != 1:
            return 0
        sign *= signs.pop() ** int(exponent.is_odd if exponent.is_integer else 1)
    return sign


def agreement(
    value, expected, *, tolerance: float = 0, relative: bool = False, basis: str = "", where: str = ""
) -> Evidence:
    """Numbers that should be equal, to a stated tolerance; with tolerance 0, exactly (fractions, integers, symbols).

    With `relative`, differences are relative to the expected values, which must not be 0. Numbers of another shape do
    not agree. `basis` is that of the numbers (`based`). `where` says at which cases, to follow "exact at".

    >>> agreement([0.3333, 0.6667], [1 / 3, 2 / 3], tolerance=1e-4).figure
    'largest difference 3.3e-05 (tolerance 0.0001, 2 values)'
    >>> agreement([4, 9], [4, 9]).figure
    'equal: 4, 9'
    """
    basis = based(basis, "agreement", value, expected)
    value, expected = np.asarray(value, dtype=object), np.asarray(expected, dtype=object)
    nonempty(expected.ravel(), "agreement")
    if value.shape != expected.shape:
        return Evidence(basis, False, f"shape {value.shape} is not {expected.shape}", where=where)
    pairs = list(zip(value.ravel(), expected.ravel(), strict=True))
    gaps = [_gap(a, b) for a, b in pairs]
    size = _plural(len(pairs), "value", "values")
    if tolerance == 0:
        wrong = [(a, b) for (a, b), gap in zip(pairs, gaps, strict=True) if gap != 0]
        if wrong:
            figure = " is not ".join(map(exactly, wrong[0]))
        else:
            figure = f"equal: {', '.join(exactly(b) for _, b in pairs)}" if len(pairs) <= _FEW else f"equal ({size})"
        return Evidence(basis, not wrong, figure, where=where)
    whole = [abs(_float(b)) if relative else 1.0 for _, b in pairs]
    sizes = [abs(_float(gap)) / w if w else np.inf for gap, w in zip(gaps, whole, strict=True)]
    largest = float(np.max(sizes))  # NaN stays NaN
    measure = "relative difference" if relative else "difference"
    return Evidence(basis, bool(largest <= tolerance < np.inf),
                    f"largest {measure} {largest:.2g} (tolerance {tolerance:g}, {size})", where=where)  # fmt: skip


def bounded(value, limit, *, basis: str = "", where: str = "") -> Evidence:
    """Values that must not exceed their limits, at every point evaluated.

    Values and limits are broadcast together; without finite values and finite, positive limits the evidence does not
    hold. `basis` is that of the numbers (`based`). `where` says at which cases.

    >>> bounded(np.linspace(0.1, 1, 10) ** 2, np.linspace(0.1, 1, 10)).figure
    'largest ratio to the limit 1 (10 points)'
    """
    basis = based(basis, "bounded", value, limit)
    value, limit = np.broadcast_arrays(*(checks.numbers(x, "bounded: values and limits") for x in (value, limit)))
    points = _plural(nonempty(value.ravel(), "bounded").size, "point", "points")
    # Rounding may push a value above a limit that it equals in exact arithmetic.
    holds = np.isfinite(value) & np.isfinite(limit) & (limit > 0) & (value <= limit * (1 + 1e-12))
    with np.errstate(all="ignore"):
        figure = f"largest ratio to the limit {np.max(value / limit):.4g} ({points})"
    return Evidence(basis, bool(holds.all()), figure, where=where)


def simulation(mean, error, expected, *, size: int, limit: float = 4.0, basis: str = "") -> Evidence:
    """Means of seeded simulations compared with their expected values.

    `size` is the number of draws or runs per mean, and `limit` how many standard errors a mean may be off. At 4, a true
    claim fails once in 16,000 times for each mean. Means that were read and not computed in this build are "recorded".

    >>> simulation(0.503, 0.005, 0.5, size=10_000).figure
    'distance 0.6 standard errors (10,000 runs, limit 4)'
    """
    z = _scores("simulation", mean, error, expected)
    worst = float(z[np.argmax(np.abs(z))])  # NaN, if there is one
    name = "distance" if z.size == 1 else f"largest of {z.size} distances"
    figure = f"{name} {worst:.1f} standard errors ({size:,} runs, limit {limit:g})"
    basis = based(basis, "simulation", mean, error, expected, known=("simulated", "recorded"))
    return Evidence(basis, bool(abs(worst) <= limit < np.inf), figure)


def exceeds(mean, error, floor=0.0, *, size: int, limit: float = 4.0, basis: str = "") -> Evidence:
    """Means of seeded simulations, with their numbers of runs, that lie at least `limit` standard errors above a floor.

    >>> exceeds(0.6, 0.005, 0.5, size=10_000).figure
    'distance 20.0 standard errors (10,000 runs, at least 4)'
    """
    z = _scores("exceeds", mean, error, floor)
    least = float(np.min(z))
    name = "distance" if z.size == 1 else f"least of {z.size} distances"
    figure = f"{name} {least:.1f} standard errors ({size:,} runs, at least {limit:g})"
    basis = based(basis, "exceeds", mean, error, floor, known=("simulated", "recorded"))
    return Evidence(basis, bool(least >= limit), figure)


def _scores(name: str, mean, error, expected) -> np.ndarray:
    """Distances in standard errors; NaN where a value or an error is not finite."""
    found = (checks.numbers(x, f"{name}: means, errors and expected values") for x in (mean, error, expected))
    mean, error, expected = np.broadcast_arrays(*found)
    nonempty(mean.ravel(), name)
    # With a standard error of 0, the mean must be exact.
    with np.errstate(invalid="ignore"):  # where both are infinite
        gap = mean - expected
        z = np.divide(gap, error, out=np.where(gap == 0, 0.0, np.copysign(np.inf, gap)), where=error != 0)
    return np.where((error >= 0) & np.isfinite(error) & np.isfinite(gap), z, np.nan).ravel()


def trend(x, y, *, exponent: float, within: float) -> Evidence:
    """A power law fitted by least squares in logarithms, over at least three decades of x.

    The fitted exponent may be off by `within`; with a y that is not positive, the evidence does not hold.

    >>> n = np.array([10, 100, 1000, 10_000])
    >>> trend(n, 3 * n**2.0, exponent=2, within=0.01).figure
    'exponent 2.000, constant 3 over 3.0 decades (claimed 2, within 0.01)'
    """
    x, y = checks.numbers(x, "trend: x"), checks.numbers(y, "trend: y")
    decades = float(np.log10(x.max() / x.min())) if (nonempty(x, "trend") > 0).all() else np.nan
    if not decades >= 3 - 1e-9:
        raise ValueError(f"trend: positive x over three decades are needed, not {decades:.2f}")
    if not (np.isfinite(y) & (y > 0)).all():
        return Evidence("trend", False, "not all values are positive")
    slope, level = np.polyfit(np.log(x), np.log(y), 1)
    figure = (f"exponent {slope:.3f}, constant {np.exp(level):.3g} over {decades:.1f} decades "
              f"(claimed {exponent:g}, within {within:g})")  # fmt: skip
    return Evidence("trend", bool(abs(slope - exponent) <= within < np.inf), figure)


_RELATIONS = {
    "at most": lambda value, printed: value <= printed,
    "at least": lambda value, printed: value >= printed,
    "equal": lambda value, printed: value == printed,
    "a positive multiple of": lambda value, printed: value != 0 or not printed > 0,
}


def counterexample(value, relation: str, printed, *, margin: float = 0.0) -> Evidence:
    """One instance in which the printed statement is false.

    The statement says that the value is "at most", "at least" or "equal" to what is `printed`; or "a positive multiple
    of" it, as a lower bound of some order does, which is false where nothing is needed and its form is positive. To
    contradict it, the two must be more than `margin` apart, which is 0 for exact numbers.

    >>> counterexample(3, "at most", 2.5).figure
    '3, instead of at most 2.5 as printed'
    """
    words = "" if relation == "equal" else f"{relation} "
    apart = abs(value - printed)  # infinite or NaN unless both are finite
    breaks = not bool(_RELATIONS[relation](value, printed)) and bool(apart > margin) and bool(apart < float("inf"))
    stands = "instead of" if breaks else "which agrees with"
    return Evidence("counterexample", breaks, f"{number(value)}, {stands} {words}{number(printed)} as printed")


def vanishing(ratio, variable, to, *, direction: str = "+") -> Evidence:
    """A counterexample to an order of growth, whatever its constant: what is needed, over the printed form, tends to 0.

    The limit of the ratio, an expression of one variable, is taken from above, or from below with ``direction="-"``.

    >>> import sympy as sp
    >>> n = sp.Symbol("n", positive=True)
    >>> vanishing(n * (n - 1) / 2 / n**3, n, sp.oo).figure
    'tends to $0$, instead of staying above a positive constant as printed'
    """
    ratio = checks.expression(ratio, "vanishing: the ratio")
    if ratio.free_symbols != {variable}:
        raise ValueError(f"vanishing: the ratio must have {variable!r} as its only symbol")
    found = sp.limit(ratio, variable, to, direction)
    figure = f"tends to ${sp.latex(found)}$, instead of staying above a positive constant as printed"
    return Evidence("counterexample", found == 0, figure, compared=(f"{ratio} -> 0 as {variable} -> {to}",))


def readings(scores: Mapping[str, float], *, fits: str, unit: str) -> Evidence:
    """Several readings of one statement, each run and scored; the best must be the one that the page names.

    `scores` maps readings to their scores; the smallest fits best. `fits` is the reading that the page names, and
    `unit` what a score is.

    >>> readings({"none": 1.2, "to tenths": 15.0}, fits="none", unit="worst |z|").figure
    'none: 1.2; to tenths: 15 (worst |z|)'
    """
    if len(scores) < 2:
        raise ValueError("readings: at least two readings are needed")
    order = sorted(scores, key=scores.get)
    numbers = all(float(score) > -np.inf for score in scores.values())  # NaN is not; a reading may be infinitely bad
    holds = numbers and order[0] == fits and bool(scores[order[0]] < scores[order[1]])
    best, rest = order[:_FEW], order[_FEW:]
    figure = "; ".join(f"{name}: {number(scores[name])}" for name in best)
    if rest:
        figure += f"; {len(rest)} more from {number(scores[rest[0]])}"
    return Evidence("readings", bool(holds), f"{figure} ({unit})")


def based(basis: str, name: str, *values, known: tuple[str, ...] = ("exact", "simulated", "recorded")) -> str:
    """The basis of numbers, which is that of what they were computed from; without `basis`, what they say themselves.

    It is "exact", "simulated" for what random runs gave, "recorded" for what was read and not computed in this build.
    What `repeat`, `sweep` and `recorded` return, and what pandas makes of it, has its basis in ``attrs``, and cannot be
    passed off as more. Numbers that left their frame do not know it any longer, and for them `basis` is needed.
    """
    if basis and basis not in known:
        raise ValueError(f"{name}: numbers are {' or '.join(known)}, not {basis!r}")
    parts = [part for value in values for part in (value, *(value if isinstance(value, (list, tuple)) else ()))]
    own = {getattr(part, "attrs", {}).get("basis") for part in parts}
    found = max(own.intersection(known), key=known.index, default=known[0])
    if basis and known.index(basis) < known.index(found):
        raise ValueError(f"{name}: these numbers are {found}, not {basis}")
    return basis or found


def nonempty(values, name: str):
    """The values, at least one: any statement would hold for none."""
    if len(values) == 0:
        raise ValueError(f"{name}: there is nothing to check")
    return values


def _plural(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _gap(a, b):
    """The difference of two values; 0 for equal infinities."""
    gap = 0 if a == b else a - b
    return gap.simplify() if is_symbolic(gap) else gap


def _float(value) -> float:
    """A value as a float; NaN if it is not a number, such as an expression with a free symbol."""
    try:
        return float(value)
    except TypeError:
        return float("nan")
