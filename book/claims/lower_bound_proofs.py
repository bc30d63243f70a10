"""Claims of the appendix *Proofs for the lower bound*."""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product
from math import comb, exp, log1p, prod, sqrt

import numpy as np
import pandas as pd
import sympy as sp
from scipy import stats

import crowder as cr
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    identity,
    inequality,
    of_chapter,
    says,
    simulation,
)
from crowder.counting.decision_trees import certificate, fewest_expected, partitions
from crowder.counting.lower_bounds import chain, evidence, hidden_size, product_tv, question_bound

claim, check = of_chapter(__name__)

HALF, QUARTER, FIFTH = Fraction(1, 2), Fraction(1, 4), Fraction(1, 5)
R = sp.Rational
n, k, h, x, y = sp.symbols("n k h x y", positive=True)
e = sp.Symbol("epsilon", positive=True)
#: Standard errors; exceeded by a true mean once in two million times.
LIMIT = 5
GAMES, LOWER = "test_decision_trees.py::", "test_lower_bounds.py::"


def rests_on(name, pieces):
    """The evidence for another claim, as one piece: support for what rests on that claim."""
    return also(cases(f"the evidence for {name}", *(piece.holds for piece in pieces), where=f"the cases of {name}"))


def _small_models():
    three_steps = cr.SimilarityModel.from_steps(
        [0, QUARTER, HALF, 1], green=[HALF, 3 * HALF, 1], red=[3 * HALF, 1, 3 * QUARTER]
    )
    return [cr.dist1(QUARTER), cr.dist1(HALF), cr.dist2(FIFTH), three_steps]


# --- one record, two clusters ------------------------------------------------------------------------------------


def _masses(model):
    """The masses of f_g and f_r on each step."""
    widths = [b - a for a, b in pairwise(model.green.edges)]
    return [[w * height for w, height in zip(widths, law.heights, strict=True)] for law in (model.green, model.red)]


def _by_definition(model, a, b):
    """TV and affinity of the product measures, over all assignments of a + b similarities to steps."""
    g, r = _masses(model)
    tv, affinity = Fraction(0), 0.0
    for steps in product(range(len(g)), repeat=a + b):
        first = prod(g[s] for s in steps[:a]) * prod(r[s] for s in steps[a:])
        second = prod(r[s] for s in steps[:a]) * prod(g[s] for s in steps[a:])
        tv, affinity = tv + abs(first - second) / 2, affinity + sqrt(first * second)
    return tv, affinity


def _rank_by_definition(model, clusters, a):
    """E R - 1 over all assignments of the similarities to steps, in fractions."""
    g, r = _masses(model)
    total = Fraction(0)
    for steps in product(range(len(g)), repeat=clusters * a):
        blocks = [steps[c * a : (c + 1) * a] for c in range(clusters)]
        inside, across = ([prod(law[s] for s in block) for block in blocks] for law in (g, r))
        chance = [inside[c] * prod(across[:c]) * prod(across[c + 1 :]) for c in range(clusters)]
        ahead = sum((c > chance[0]) + Fraction(c == chance[0], 2) for c in chance[1:])
        total += chance[0] * ahead
    return total


@cache
def _enumerated():
    shapes = [(1, 1), (2, 1), (1, 3), (2, 2), (3, 3)]
    models = _small_models()
    return agreement(
        "the distance against all outcomes, in fractions, four models and five pairs of sizes",
        [product_tv(model, *shape) for model in models for shape in shapes],
        [_by_definition(model, *shape)[0] for model in models for shape in shapes], tolerance=1e-12,
    )  # fmt: skip


def tv_in_closed_form(name, epsilon, a):
    """TV for Dist-1, from two binomial distributions, and for Dist-2."""
    if name == "dist2":
        return 1 - ((1 - 2 * epsilon) / (1 - epsilon)) ** (2 * a)
    first, second = (stats.binom.pmf(np.arange(2 * a + 1), 2 * a, (1 + sign * epsilon) / 2) for sign in (1, -1))
    return np.abs(first - second).sum() / 2


def chain_exact(chains, links):
    """`chains`: entries of the chain for Dist-1 and Dist-2; `links`: for random models."""
    if chains is None:
        dials = {"dist1": np.geomspace(0.02, 0.484, 12), "dist2": np.geomspace(0.004, 1 / 9, 12)}
        chains = pd.concat([
            pd.DataFrame([chain(getattr(cr, name)(v)) for v in dial]).assign(model=name, epsilon=dial)
            for name, dial in dials.items()
        ])  # fmt: skip
    if links is None:
        tilts = [([1, 1, 2], [1, 2, 1], 0.2), ([2, 1, 1], [1, 1, 3], 0.1), ([1, 1, 1], [1, 2, 0], 0.1)]
        masses = [(np.array(g) / sum(g), np.array(r) / sum(r), share) for g, r, share in tilts]
        edges = np.linspace(0, 1, 4)
        links = [chain(cr.SimilarityModel.from_steps(edges, 3 * g, 3 * ((1 - share) * g + share * r)))
                 for g, r, share in masses]  # fmt: skip
    yield _enumerated()
    yield agreement(
        f"the closed forms for Dist-1 and Dist-2, {len(chains) // 2} values of $\\epsilon$ each", list(chains["tv"]),
        [tv_in_closed_form(*row) for row in zip(chains["model"], chains["epsilon"], chains["size"], strict=True)],
        tolerance=1e-9,
    )  # fmt: skip
    columns = ["tv", "affine", "hellinger", "subadditive"]
    table = np.vstack([chains[columns].to_numpy(), np.array([link[1:] for link in links])])
    yield bounded(
        f"each entry of the chain against the next, and $1/\\sqrt2$: both models, {len(links)} random step densities",
        table, np.column_stack([table[:, 1:], np.full(len(table), sqrt(1 / 2))]),
    )  # fmt: skip


@cache
def chain_support():
    rationals = [Fraction(j, 100) for j in range(1, 49)]
    h1 = [1 - sp.sqrt(1 - sp.Rational(v) ** 2) for v in rationals]
    models = _small_models()
    return [
        agreement(
            "$\\sqrt2\\,H(P', P'')$ against all outcomes, $a \\le 3$",
            [chain(model, a).hellinger for model in models for a in (1, 2, 3)],
            [sqrt(2 - 2 * _by_definition(model, a, a)[1]) for model in models for a in (1, 2, 3)], tolerance=1e-7,
        ),
        agreement(
            "$a = \\lfloor 1/(8H^2) \\rfloor$ in exact arithmetic, 48 values of $\\epsilon$, both models",
            [hidden_size(law(v)) for law in (cr.dist1, cr.dist2) for v in rationals],
            [*(int(sp.floor(1 / (8 * value))) for value in h1), *(int((1 - v) / (8 * v)) for v in rationals)],
        ),
    ]  # fmt: skip


def drawn_tests(drawn, draws):
    """Simulated tests against the exact probability of a correct decision; empty without a simulation."""
    if drawn is not None:
        yield simulation("share of correct decisions, best test", drawn["simulated"], drawn["error"], drawn["exact"],
                         size=draws, limit=LIMIT)  # fmt: skip


@claim("B32")
def hellinger_chain(chains=None, links=None, drawn=None, draws=1):
    """`chains`, `links`: see `chain_exact`; `drawn`: simulated tests, with `draws` draws each."""
    rho, a = sp.symbols("rho a", positive=True)
    yield identity("$1 - \\rho^2 = 2(1 - \\rho) - (1 - \\rho)^2$, and $2H^2(P', P'')$ of the second",
                   (1 - rho**2) - 2 * (1 - rho) + (1 - rho) ** 2,
                   sp.sqrt(2 - 2 * rho) * sp.sqrt(2 + 2 * rho) / 2 - sp.sqrt(1 - rho**2))  # fmt: skip
    yield inequality("Bernoulli: $(1 - H^2)^{2a} \\ge 1 - 2aH^2$", (1 - h) ** (2 * a) - 1 + 2 * a * h,
                     over={h: (0, 1), a: (1, sp.oo)})  # fmt: skip
    enumerated, *others = chain_exact(chains, links)
    yield also(says(enumerated, "The exact distance equals the sum over all outcomes, in fractions, for "
                                f"{len(_small_models())} models and several cluster sizes."))  # fmt: skip
    for piece in (*others, *chain_support(), *drawn_tests(drawn, draws)):
        yield also(piece)


@claim("B33")
def mean_rank(ranks=None, draws=1):
    """`ranks`: rows of a model, K, a, and the mean and standard error of simulated ranks less one, of `draws` each."""
    tried = [(model, *shape) for model in _small_models() for shape in ((2, 2), (3, 1), (3, 2), (4, 1))]
    i, K, tv = *sp.symbols("i K", positive=True, integer=True), sp.Symbol("TV", positive=True)
    yield identity("the mean number of wrong clusters that come first",
                   (sp.summation((1 - tv) / 2, (i, 1, K - 1)), (K - 1) * (1 - tv) / 2))  # fmt: skip
    ranked = agreement("all outcomes for four models, $K \\le 4$, in fractions",
                       [(c - 1) * (1 - product_tv(model, a)) / 2 for model, c, a in tried],
                       [_rank_by_definition(*one) for one in tried], tolerance=1e-12)  # fmt: skip
    yield also(says(ranked, f"In {len(tried)} small cases, the formula equals the mean rank summed over all outcomes."))
    if ranks is not None:
        yield also(simulation(
            "simulated ranks among 5 to 20 clusters", [mean for *_, mean, _ in ranks], [error for *_, error in ranks],
            [(c - 1) * (1 - product_tv(model, a)) / 2 for model, c, a, _, _ in ranks], size=draws, limit=LIMIT,
        ))  # fmt: skip


# --- the theorem -------------------------------------------------------------------------------------------------


def shown_and_hidden(clusters, hidden):
    """Clusterings of one visible record for each cluster and some hidden ones."""
    yield from (tuple(range(clusters)) + rest for rest in product(range(clusters), repeat=hidden))


@cache
def unequal_prior():
    """An optimal strategy for unequal probabilities, by hand: a case in which a faulty search may fail."""
    return agreement(
        "an optimal strategy when $\\{1, 2\\}$ is twice as likely to match as $\\{1, 3\\}$ and $\\{2, 3\\}$, by hand",
        [fewest_expected({(0, 0, 1): HALF, (0, 1, 0): HALF / 2, (0, 1, 1): HALF / 2})], [1 + HALF],
    )  # fmt: skip


def best_play(model, small, hidden):
    """Expected questions of the best strategy that is never wrong, about hidden records in `small` clusters."""
    g, r = _masses(model)
    clusterings = list(shown_and_hidden(small, hidden))
    seen = [(u, v) for u, v in combinations(range(small + hidden), 2) if v >= small]
    total = Fraction(0)
    for steps in product(range(len(g)), repeat=len(seen)):  # all similarities
        weights = {w: prod((g if w[u] == w[v] else r)[s] for (u, v), s in zip(seen, steps, strict=True))
                   for w in clusterings}  # fmt: skip
        weights = {w: weight for w, weight in weights.items() if weight}
        if weights:
            total += fewest_expected(weights) * sum(weights.values())
    return float(total / len(clusterings))


def exact_bound(model, small, hidden):
    """The first bound of the theorem with the exact distances, for an error of 0."""
    errors = []
    for places in product(range(small), repeat=hidden - 1):
        errors.append((1 - product_tv(model, 1 + places.count(0), 1 + places.count(1))) / 2)
    return hidden * (small - 1) / 2 * sum(errors) / len(errors)


def hellinger_bound(model, small, hidden):
    """The same in terms of the Hellinger distance."""
    affinity = (1 - model.hellinger2) ** (2 * (1 + (hidden - 1) / small))
    return hidden * (small - 1) / 4 * (1 - sqrt(1 - affinity**2))


def transcribed(h2, records, clusters, delta):
    """Both bounds of the theorem in their Hellinger form, by a loop."""

    def excess(similarities):
        return (1 - sqrt(1 - (1 - h2) ** (2 * similarities))) / 2 - delta

    first = [count * (clusters - 2) / 2 * excess(2 + 2 * (count - 1) / (clusters - 1))
             for count in range(1, records - clusters + 1)]  # fmt: skip
    return max(*first, (clusters - 2) * (clusters + 1) / 2 * excess(2), 0)


def theorem_steps():
    p1, p2, p3, p4 = sp.symbols("p1:5", positive=True)
    ranked = [p1, p2, p3, p4, 1 - p1 - p2 - p3 - p4]
    tails = sum(1 - sum(ranked[:d]) for d in range(1, 5)) - sum(r * chance for r, chance in enumerate(ranked))
    u = sp.exp(-x)
    bend = sp.diff(1 - sp.sqrt(1 - u), x, 2) - u * (2 - u) / (4 * (1 - u) ** sp.Rational(3, 2))
    return identity("the tails of five ranks sum to the mean rank less one; the second derivative of "
                    "$1 - \\sqrt{1 - e^{-x}}$ is positive", tails, bend)  # fmt: skip


@cache
def _played():
    cases = [(model, *shape) for model in (cr.dist1(HALF), cr.dist2(FIFTH)) for shape in ((2, 2), (3, 1))]
    return pd.DataFrame({"hellinger": [hellinger_bound(*case) for case in cases],
                         "theorem": [exact_bound(*case) for case in cases],
                         "best": [best_play(*case) for case in cases]})  # fmt: skip


def theorem_support(played):
    """`played`: expected questions of optimal strategies, by search, and the bounds that should be below them."""
    played = _played() if played is None else played
    settings = [(v, *setting) for v in (0.02, 0.1, 0.4)
                for setting in ((4, 3, 0), (50, 6, 0), (1000, 14, 0.01), (40, 35, 0), (300, 3, 0.02))]  # fmt: skip
    h2 = {cr.dist1: lambda v: 1 - sqrt(1 - v * v), cr.dist2: lambda v: v / (1 - v)}
    yield bounded("the theorem against optimal strategies, by search", played["theorem"], played["best"])
    yield bounded("its Hellinger form against the theorem", played["hellinger"], np.maximum(played["theorem"], 1e-300))
    yield agreement(
        "the code against a transcription of {eq}`eq-lower-hidden` to {eq}`eq-lower-hellinger`",
        [question_bound(law(v), r, c, error=d) for law in h2 for v, r, c, d in settings],
        [transcribed(h2[law](v), r, c, d) for law in h2 for v, r, c, d in settings], tolerance=1e-9,
    )  # fmt: skip
    yield _enumerated()
    yield unequal_prior()


@claim("B34")
def theorem_with_constants(played=None):
    """`played`: see `theorem_support`."""
    yield theorem_steps()
    against_search, *others = theorem_support(played)
    cases = _played() if played is None else played
    closest = (cases["theorem"] / cases["best"]).max()
    yield also(says(against_search, f"In {len(cases)} small cases the bound lies below the best strategy found by "
                                    f"search, at most at {closest:.0%} of it."))  # fmt: skip
    for piece in others:
        yield also(piece)


# --- two clusters ------------------------------------------------------------------------------------------------


def _wrong_at_worst(mass, records):
    """Largest probability that another partition is as likely as the truth, over all two-valued similarities."""
    pairs = list(combinations(range(records), 2))
    splits = [bits for bits in product((0, 1), repeat=records) if bits[0] == 0]
    values = np.array(list(product((0, 1), repeat=len(pairs))))
    law = np.log([[mass, 1 - mass], [1 - mass, mass]])  # rows: non-match, match
    chance = np.array([sum(law[int(split[u] == split[v])][values[:, j]] for j, (u, v) in enumerate(pairs))
                       for split in splits])  # fmt: skip
    rival = [np.delete(chance, s, axis=0).max(axis=0) for s in range(len(splits))]
    return max(np.exp(own)[other >= own - 1e-9].sum() for own, other in zip(chance, rival, strict=True))


def _wrong_sum(affinity, records):
    return sum(comb(records, t) * affinity ** (t * (records - t)) for t in range(1, records // 2 + 1))


def wrong_at_most(h2, records):
    """An upper bound on the error probability for two clusters without any question, in closed form."""
    return float(np.expm1(records * log1p(exp(records / 2 * log1p(-h2)))))


@cache
def two_exact():
    masses, counts = (0.02, 0.05, 0.1, 0.2), (3, 4, 5)
    pairs_of = [(2 * sqrt(mass * (1 - mass)), c) for mass in masses for c in counts]
    return [
        bounded("the exact error probability: all partitions, all two-valued similarities of 3 to 5 records",
                [_wrong_at_worst(mass, c) for mass in masses for c in counts],
                [_wrong_sum(*pair) for pair in pairs_of]),
        bounded("the sum against its closed form", [_wrong_sum(*pair) for pair in pairs_of],
                [wrong_at_most(1 - affinity, c) for affinity, c in pairs_of]),
        agreement(
            "the code's $1 - H^2$ for these similarities, against $2\\sqrt{x(1-x)}$",
            [1 - cr.SimilarityModel.from_steps([0, HALF, 1], [2 * v, 2 - 2 * v], [2 - 2 * v, 2 * v]).hellinger2
             for v in masses], [2 * sqrt(v * (1 - v)) for v in masses], tolerance=1e-12),
    ]  # fmt: skip


@claim("B35")
def two_clusters_need_no_questions():
    t = sp.Symbol("t", positive=True)
    yield identity("$t(n-t) - tn/2 = t(n-2t)/2$, nonnegative for $t \\le n/2$; $H^4$; and $n H^4 \\to 0$",
                   t * (n - t) - t * n / 2 - t * (n - 2 * t) / 2,
                   sp.exp(-(4 / h * sp.log(1 / h)) * h / 2) - h**2, sp.limit(4 * h * sp.log(1 / h), h, 0, "+"),
    )  # fmt: skip
    by_enumeration, *others = two_exact()
    yield also(says(by_enumeration, "Over all partitions of three to five records and all two-valued similarities, "
                                    "the exact error lies below the bound."))  # fmt: skip
    for piece in others:
        yield also(piece)


# --- never wrong -------------------------------------------------------------------------------------------------


def surplus():
    c, d = sp.symbols("c d", positive=True)
    return identity(
        "non-matches for matches, $c = k + d$: the surplus is $(d-1)(k-2) + (k(k+1) - 4)/2$, positive for $k \\ge 2$",
        ((n - c + c * (k - 1) - k * (k - 1) / 2) - (n - k)).subs(c, k + d)
        - (d - 1) * (k - 2) - (k * (k + 1) - 4) / 2,
    )  # fmt: skip


@cache
def certificates():
    small = [p for size in (2, 3, 4, 5) for p in partitions(size)]  # labels 0, 1, ... by first appearance
    several = [p for p in small if max(p) >= 1]
    return [
        agreement("fewest answers that determine the partition, all partitions of 2 to 5 records, $k$ given",
                  [certificate(p, known=True) for p in several], [len(p) - max(p) - 1 for p in several]),
        agreement("the same, $k$ unknown", [certificate(p) for p in small],
                  [len(p) - max(p) - 1 + comb(max(p) + 1, 2) for p in small]),
    ]  # fmt: skip


@claim("B37")
def fewest_questions_for_certainty():
    yield surplus()
    given, unknown = certificates()
    yield also(says(given, "An exhaustive search finds these minima for all partitions of two to five records."))
    yield also(unknown)
