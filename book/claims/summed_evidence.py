"""Claims of the appendix *Summed evidence*."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log, sqrt

import numpy as np
import pandas as pd
import sympy as sp
from scipy import integrate, stats

import crowder as cr
from book.claims.closing_the_gap import BEYOND, EVIDENCE, E
from book.companion.claims import agreement, also, identity, of_chapter, says, simulation, trend
from book.companion.empirical import mean_and_error
from crowder.beyond.log_likelihood import absorb, question
from crowder.counting.lower_bounds import product_tv

claim, check = of_chapter(__name__)

LOWER = "test_lower_bounds.py::test_"


@claim("B122")
def advantage_grows_as_the_root(most=6):
    x, m = sp.symbols("x m", positive=True)
    low = (1 - E, (1 - E) * x, (1 + E) * x)  # f_g, F_g, F_r below one half
    high = (1 + E, (1 + E) * x - E, (1 - E) * x + E)  # and above
    derived = [sp.simplify(sp.diff(m * G ** (m - 1) * g * R**m, E).subs(E, 0)) for g, G, R in (low, high)]
    area = (1 - sp.Rational(1, 2) ** (2 * m - 1)) * m / (2 * m - 1)
    primitive = m * x ** (2 * m - 1) / (2 * m - 1)
    yield identity("the derivative of the integrand for the most similar pair, below and above ½, and its integral",
                   derived[0], derived[1] - m * x ** (2 * m - 2), sp.diff(primitive, x) - m * x ** (2 * m - 2),
                   primitive.subs(x, 1) - primitive.subs(x, sp.Rational(1, 2)) - area)  # fmt: skip
    tried = range(1, most + 1)
    slopes = [Fraction(str(sp.diff(_prob_right_by_votes(t, (1 + E) / 2), E).subs(E, 0))) for t in tried]
    yield agreement(f"$c_m$ against the derivative of the definition, $b_m$ against its integral, $m \\le {most}$",
                    [slope_evidence(t) for t in tried] + [slope_best(t) for t in tried],
                    slopes + [Fraction(str(area.subs(m, t))) for t in tried])  # fmt: skip
    settings = [(m, s) for m in (1, 2, 7, 30) for s in (0.05, 0.2, 0.5)]
    yield agreement("probability of being right by evidence: the code against the definition",
                    [right_by_evidence(m, cr.dist1(s)) for m, s in settings],
                    [_prob_right_by_votes(m, (1 + s) / 2) for m, s in settings], tolerance=1e-9)  # fmt: skip
    tiny, few = 1e-4, (1, 2, 7, 30)
    chances = [right(m, cr.dist1(tiny)) for right in (right_by_evidence, right_by_best) for m in few]
    yield says(agreement("both slopes against both probabilities at $\\epsilon = 10^{-4}$",
                         [(chance - 0.5) / tiny for chance in chances],
                         [float(slope(m)) for slope in (slope_evidence, slope_best) for m in few], tolerance=1e-3),
               f"With {few[-1]} records in each cluster the slope is {float(slope_evidence(few[-1])):.2f} for summed "
               "evidence and "
               f"{float(slope_best(few[-1])):.2f} for the most similar pair.")  # fmt: skip
    many = np.geomspace(10, 1e6, 30).round()
    log_slope = np.log(2 * many - 1) + stats.binom.logpmf(many - 1, 2 * many - 2, 0.5) - log(2)
    yield also(trend("$c_m$ grows as $\\sqrt m$", many, np.exp(log_slope), exponent=0.5, within=0.005))
    yield also(agreement("$c_m / \\sqrt{m/\\pi}$ at $m = 10^6$", np.exp(log_slope[-1]) / sqrt(1e6 / np.pi), 1,
                         tolerance=1e-5))  # fmt: skip


@claim("B123")
def form_pairs_is_the_naive_version(runs=20, seed=1):
    rng, same = np.random.default_rng(seed), []
    for model, vote_of in (
        (cr.dist1(0.3), lambda w: np.where(w > 0.5, 1, -1)),
        (cr.dist2(0.2), lambda w: np.where(w > 0.8, 1, 0) - np.where(w < 0.2, 1, 0)),
    ):
        for _ in range(runs // 2):
            drawn = cr.datasets.synthetic([5, 3, 2], model, rng=rng, shuffle=True)
            start = int(rng.integers(2**32))
            run = cr.evidence_ordering(drawn.similarity, cr.Truth(drawn.labels), model, form="pairs", rng=start)
            mine = _naive(vote_of(drawn.similarity), drawn.labels, start)
            same.append([sorted(p) for p in mine[:16]] == [sorted(p) for p in run.queries[:16].tolist()])
    yield says(agreement("runs of ten records in which the first 16 questions, before the correlation is estimated, "
                         f"are the same (of {len(same)})", sum(same), len(same)),
               f"In {sum(same)} of {len(same)} runs the ordering asks the same first questions as the naive "
               "version.")  # fmt: skip


@claim("B124")
def ties_are_broken_without_bias(runs=240, seed=1):
    flat, model = np.full(3, 0.7), cr.dist1(0.5)
    total = cr.enumeration.orders_by_questions([0, 0, 1])
    exact = sum(q * c for q, c in total.items()) / sum(total.values())
    three = [mean_and_error([cr.evidence_ordering(flat, cr.Truth(labels), model, form="pairs", rng=s).n_queries
                             for s in range(seed, seed + runs)])
             for labels in ([0, 0, 1], [0, 1, 0], [1, 0, 0])]  # fmt: skip
    yield says(simulation(
        "three records with equal similarities, for each position of the match: the mean over all orders",
        *np.transpose(three), exact, size=runs, limit=5),
        f"With equal similarities, three records take {exact:.2f} questions on average over all orders, wherever the "
        "match stands; "
        "the runs agree.")  # fmt: skip
    weak, listed = cr.dist1(0.2), []
    for form in ("auto", "pairs", "records"):
        for children in zip(*(np.random.SeedSequence([seed, i]).spawn(runs // 8) for i in (1, 2)), strict=True):
            counts = []
            for shuffle, child in zip((False, True), children, strict=True):
                rng = np.random.default_rng(child)
                drawn = cr.datasets.synthetic([8, 4, 2], weak, rng=rng, shuffle=shuffle)
                run = cr.evidence_ordering(drawn.similarity, cr.Truth(drawn.labels), weak, form=form, rng=rng)
                counts.append(run.n_queries)
            listed.append((form, counts[0] - counts[1]))
    gaps = [mean_and_error(part) for _, part in pd.DataFrame(listed).groupby(0)[1]]
    yield simulation("records in order of their clusters, less shuffled, three forms: no difference",
                     *np.transpose(gaps), 0,
                     size=runs // 8, limit=5.5)  # fmt: skip


@claim("B127")
def cluster_size_needed(numbers=(5, 14)):
    """`numbers`: numbers of clusters."""
    dial = np.geomspace(1e-4, 0.2, 25)
    least = {k: np.array([least_size(epsilon, k) for epsilon in dial]) for k in numbers}
    for k, found in least.items():
        yield trend(f"$m^*$ for $k = {k}$", dial, found, exponent=-2, within=0.03)
    k, found = next(reversed(least.items()))
    named = ", ".join(map(str, least))
    yield says(agreement(f"$m^*\\epsilon^2$ against $z^2/2$ at the smallest $\\epsilon$, $k$ = {named}",
                    [found[0] * dial[0] ** 2 for found in least.values()], [half_z_squared(k) for k in least],
                    tolerance=1e-3, relative=True),
               f"For k = {k} and the smallest ε tried, m*ε² is {found[0] * dial[0] ** 2:.3f}, and z²/2 is "
               f"{half_z_squared(k):.3f}.")  # fmt: skip
    checked = [(m, epsilon) for m in (1, 5, 40, 150) for epsilon in (0.05, 0.2)]
    yield also(agreement("the probability for one other cluster: votes against the code's distance of product measures",
                         [mean_ahead(m, epsilon, 2) for m, epsilon in checked],
                         [(1 - product_tv(cr.dist1(epsilon), m)) / 2 for m, epsilon in checked],
                         tolerance=1e-9))  # fmt: skip


# --- also used in the chapters ----------------------------------------------------------------------------------------


def slope_evidence(m):
    """c_m of the proposition."""
    return Fraction((2 * m - 1) * comb(2 * m - 2, m - 1), 2 ** (2 * m - 1))


def slope_best(m):
    """b_m of the proposition."""
    return Fraction(m, 2 * m - 1) * (1 - Fraction(2, 4**m))


def right_by_evidence(m, model):
    """The probability that the summed evidence of m + m pairs is larger for the right cluster."""
    return (1 + product_tv(model, m)) / 2


def right_by_best(m, model):
    """The probability that the most similar of m + m pairs is in the right cluster: ∫ m F_g^(m-1) f_g F_r^m."""
    green, red = model.green, model.red

    def density(x):
        return m * float(green.cdf(x)) ** (m - 1) * float(green.pdf(x)) * float(red.cdf(x)) ** m

    return sum(integrate.quad(density, *ends)[0] for ends in ((0, 0.5), (0.5, 1)))


def mean_ahead(m, epsilon, k):
    """The mean number of k - 1 other clusters with more evidence than a record's own; a tie counts half.

    Its own cluster and another give 2m votes, each right with probability (1 + ε)/2.
    """
    votes = 2 * m, (1 + epsilon) / 2
    return (k - 1) * (1 - (stats.binom.sf(m, *votes) + stats.binom.pmf(m, *votes) / 2))


def least_size(epsilon, k):
    """m*: the least m with fewer than one other cluster ahead, by bisection, since that number decreases with m."""
    low, high = 1, 1
    while mean_ahead(high, epsilon, k) >= 1:
        low, high = high, 2 * high
    while high - low > 1:
        half = (low + high) // 2
        low, high = (half, high) if mean_ahead(half, epsilon, k) >= 1 else (low, half)
    return high


def half_z_squared(k):
    """z²/2 with Φ(z) = 1 - 1/(k - 1)."""
    return stats.norm.isf(1 / (k - 1)) ** 2 / 2


# --- independent computations ----------------------------------------------------------------------------------------


def _prob_right_by_votes(m, p):
    """The probability of more right than wrong votes among 2m, plus half that of a tie, by the definition."""
    chance = [comb(2 * m, j) * p**j * (1 - p) ** (2 * m - j) for j in range(m, 2 * m + 1)]
    return chance[0] / 2 + sum(chance[1:])


def _naive(vote, labels, rng):
    """The questions of a naive version of the form "pairs", in order, with votes in whole numbers."""
    order = np.random.default_rng(rng).permutation(len(labels))
    parts = {a: [v] for a, v in enumerate(order)}  # components, named by the index of a record
    settled, asked = set(), []
    while open_pairs := [(a, b) for a in sorted(parts) for b in sorted(parts) if a < b and (a, b) not in settled]:
        weight = {(a, b): sum(vote[u, v] for u in parts[a] for v in parts[b]) for a, b in open_pairs}
        a, b = max(open_pairs, key=weight.get)  # of equals, the first
        asked.append((int(order[a]), int(order[b])))
        if labels[order[a]] != labels[order[b]]:
            settled.add((a, b))
            continue
        keep, gone = (b, a) if len(parts[b]) > len(parts[a]) else (a, b)
        parts[keep] += parts.pop(gone)
        differ = {c for p in settled if {a, b} & set(p) for c in p} - {a, b}
        settled |= {(min(keep, c), max(keep, c)) for c in differ}
    return asked
