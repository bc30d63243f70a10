"""Claims of the chapter *What no algorithm can avoid*."""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product
from math import comb, exp, log1p, prod, sqrt

import numpy as np
import pandas as pd
import sympy as sp
from scipy import stats

import crowder as cr
from book.companion import by_hand
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    identity,
    inequality,
    none_needed,
    of_chapter,
    simulation,
    vanishing,
)
from crowder.counting.decision_trees import certificate, fewest_expected, partitions
from crowder.counting.determined_pairs import certain_mass, expected_undetermined, prob_fully_determined
from crowder.counting.lower_bounds import chain, evidence, hidden_size, product_tv, question_bound

claim, check = of_chapter(__name__)

HALF, QUARTER, FIFTH = Fraction(1, 2), Fraction(1, 4), Fraction(1, 5)
R = sp.Rational
n, k, h, x, y = sp.symbols("n k h x y", positive=True)
e = sp.Symbol("epsilon", positive=True)
#: Standard errors; exceeded by a true mean once in two million times.
LIMIT = 5
GAMES, LOWER, CERTAIN = "test_decision_trees.py::", "test_lower_bounds.py::", "test_determined_pairs.py::"


def _rests_on(name, pieces):
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


def _chain_exact(chains, links):
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
def _chain_support():
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


def _tests_drawn(drawn, draws):
    """Simulated tests against the exact probability of a correct decision; empty without a simulation."""
    if drawn is not None:
        yield simulation("share of correct decisions, best test", drawn["simulated"], drawn["error"], drawn["exact"],
                         size=draws, limit=LIMIT)  # fmt: skip


@claim(
    "B32",
    proof="04-lower-bound#prop-lower-chain",
    prose="the inequality of Cauchy and Schwarz, and what the best test sees under the two models",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""The total variation distance of the two product measures of the proof of Theorem 1, exactly; in closed
        form for Dist-1 and Dist-2; and each inequality of the Hellinger chain: $\mathrm{TV} \le \sqrt{1 -
        (1-H^2)^{4a}}$, which is at most $\sqrt2\,H(P', P'')$, which is at most $\sqrt{4aH^2}$.""",
    code=[product_tv, chain, hidden_size, evidence],
    test=[LOWER + "test_the_distance_against_all_outcomes",
          LOWER + "test_each_link_of_the_chain_is_at_most_the_next",
          LOWER + "test_closed_forms_for_the_two_models",
          LOWER + "test_the_size_of_the_proof_in_exact_arithmetic"],
)  # fmt: skip
def hellinger_chain(chains=None, links=None, drawn=None, draws=1):
    """`chains`, `links`: see `_chain_exact`; `drawn`: simulated tests, with `draws` draws each."""
    rho, a = sp.symbols("rho a", positive=True)
    yield identity("$1 - \\rho^2 = 2(1 - \\rho) - (1 - \\rho)^2$, and $2H^2(P', P'')$ of the second",
                   (1 - rho**2) - 2 * (1 - rho) + (1 - rho) ** 2,
                   sp.sqrt(2 - 2 * rho) * sp.sqrt(2 + 2 * rho) / 2 - sp.sqrt(1 - rho**2))  # fmt: skip
    yield inequality("Bernoulli: $(1 - H^2)^{2a} \\ge 1 - 2aH^2$", (1 - h) ** (2 * a) - 1 + 2 * a * h,
                     over={h: (0, 1), a: (1, sp.oo)})  # fmt: skip
    for piece in (*_chain_exact(chains, links), *_chain_support(), *_tests_drawn(drawn, draws)):
        yield also(piece)


@claim(
    "B33",
    proof="04-lower-bound#prop-lower-rank",
    prose="that each wrong cluster comes first with the probability that the best test errs",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""If $K$ clusters of $a$ records are sorted by their likelihood given the similarities of a record, the
        right one has mean rank $1 + (K-1)(1 - \mathrm{TV}(P', P''))/2$.""",
    code=[product_tv],
    test=LOWER + "test_the_mean_rank_of_the_right_cluster",
)  # fmt: skip
def mean_rank(ranks=None, draws=1):
    """`ranks`: rows of a model, K, a, and the mean and standard error of simulated ranks less one, of `draws` each."""
    tried = [(model, *shape) for model in _small_models() for shape in ((2, 2), (3, 1), (3, 2), (4, 1))]
    i, K, tv = *sp.symbols("i K", positive=True, integer=True), sp.Symbol("TV", positive=True)
    yield identity("the mean number of wrong clusters that come first",
                   (sp.summation((1 - tv) / 2, (i, 1, K - 1)), (K - 1) * (1 - tv) / 2))  # fmt: skip
    yield also(agreement("all outcomes for four models, $K \\le 4$, in fractions",
                         [(c - 1) * (1 - product_tv(model, a)) / 2 for model, c, a in tried],
                         [_rank_by_definition(*one) for one in tried], tolerance=1e-12))  # fmt: skip
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


def dist2_bound(p, records, clusters):
    """The larger of both bounds of the theorem for Dist-2, with the exact distance; p is H²."""
    m = np.arange(1, records - clusters + 1)
    hidden = m * (clusters - 2) / 4 * (1 - p) ** 2 * (1 - 2 * p / (clusters - 1)) ** (m - 1)
    return max(hidden.max(), (clusters - 2) * (clusters + 1) / 4 * (1 - p) ** 2)


def transcribed(h2, records, clusters, delta):
    """Both bounds of the theorem in their Hellinger form, by a loop."""

    def excess(similarities):
        return (1 - sqrt(1 - (1 - h2) ** (2 * similarities))) / 2 - delta

    first = [count * (clusters - 2) / 2 * excess(2 + 2 * (count - 1) / (clusters - 1))
             for count in range(1, records - clusters + 1)]  # fmt: skip
    return max(*first, (clusters - 2) * (clusters + 1) / 2 * excess(2), 0)


def _theorem():
    p1, p2, p3, p4 = sp.symbols("p1:5", positive=True)
    ranked = [p1, p2, p3, p4, 1 - p1 - p2 - p3 - p4]
    tails = sum(1 - sum(ranked[:d]) for d in range(1, 5)) - sum(r * chance for r, chance in enumerate(ranked))
    u = sp.exp(-x)
    bend = sp.diff(1 - sp.sqrt(1 - u), x, 2) - u * (2 - u) / (4 * (1 - u) ** sp.Rational(3, 2))
    return identity("the tails of five ranks sum to the mean rank less one; the second derivative of "
                    "$1 - \\sqrt{1 - e^{-x}}$ is positive", tails, bend)  # fmt: skip


def _theorem_support(played):
    """`played`: expected questions of optimal strategies, by search, and the bounds that should be below them."""
    if played is None:
        cases = [(model, *shape) for model in (cr.dist1(HALF), cr.dist2(FIFTH)) for shape in ((2, 2), (3, 1))]
        played = pd.DataFrame({"hellinger": [hellinger_bound(*case) for case in cases],
                               "theorem": [exact_bound(*case) for case in cases],
                               "best": [best_play(*case) for case in cases]})  # fmt: skip
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


@claim(
    "B34",
    proof="04-lower-bound#thm-lower-ours",
    prose="the count of questions about one hidden record, and Jensen's inequality",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""Lower bounds with explicit constants on the expected questions of randomised algorithms that know
        $f_g$, $f_r$, $k$ and the similarities, and err with probability at most $\delta$.""",
    code=[question_bound, product_tv],
    test=[LOWER + "test_the_bound_is_the_loop_over_hidden_records",
          LOWER + "test_best_play_on_one_hidden_record_is_above_the_bound"],
)  # fmt: skip
def theorem_with_constants(played=None):
    """`played`: see `_theorem_support`."""
    yield _theorem()
    for piece in _theorem_support(played):
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
def _two_exact():
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


@claim(
    "B35",
    proof="04-lower-bound#prop-lower-two",
    prose="Markov's inequality for the ratio of the likelihoods, and the union bound",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""For $k \le 2$, the most likely partition, without any question, is wrong with probability at most $(1
        + (1-H^2)^{n/2})^n - 1$.""",
    code=["crowder.densities.hellinger2"],
    test=LOWER + "test_two_clusters_need_no_questions",
)  # fmt: skip
def two_clusters_need_no_questions():
    t = sp.Symbol("t", positive=True)
    yield identity("$t(n-t) - tn/2 = t(n-2t)/2$, nonnegative for $t \\le n/2$; $H^4$; and $n H^4 \\to 0$",
                   t * (n - t) - t * n / 2 - t * (n - 2 * t) / 2,
                   sp.exp(-(4 / h * sp.log(1 / h)) * h / 2) - h**2, sp.limit(4 * h * sp.log(1 / h), h, 0, "+"),
    )  # fmt: skip
    for piece in _two_exact():
        yield also(piece)


# --- Theorem 1 ---------------------------------------------------------------------------------------------------


def grid():
    """Values of H², k and n at which bounds are evaluated."""
    return [(h2, c, r) for h2 in np.geomspace(1e-5, 0.25, 24) for c in (3, 4, 10, 60)
            for r in (c + 1, 2 * c - 1, 2 * c, 10 * c, 500 * c)]  # fmt: skip


@cache
def constants():
    """The steps of the proof of Theorem 1 with its constant that can be checked by computation."""
    bracket = (1 - sp.sqrt(1 - R(3, 4) ** R(36, 5))) / 2 - R(1, 100)
    bracket_pair = (1 - sp.sqrt(1 - R(3, 4) ** 4)) / 2 - R(1, 100)
    return [
        also(cases("the two brackets, and the three constants", bracket >= R(1, 45), bracket_pair >= R(7, 100),
                   R(2, 9) / 450 >= R(1, 2025), R(1, 540) >= R(1, 2025), R(7, 900) >= R(1, 2025),
                   where="five numbers")),
        inequality("the two quadratics less $\\frac29 k^2$", (7 * k - 6) * (k - 3) / 9, (5 * k + 6) * (k - 3) / 18,
                   over={k: (3, sp.oo)}),
        identity(
            "the exponent at $H^2 = \\frac14$; the chord of $-\\ln(1-x)$, which is convex; the two quadratics in $k$",
            16 * R(1, 4) + R(16, 5) - R(36, 5), -sp.log(1 - R(1, 4)) - sp.log(R(4, 3)),
            sp.diff(-sp.log(1 - x), x, 2) - 1 / (1 - x) ** 2,
            (k - 1) * (k - 2) - 2 * k**2 / 9 - (7 * k - 6) * (k - 3) / 9,
            (k - 2) * (k + 1) / 2 - 2 * k**2 / 9 - (5 * k + 6) * (k - 3) / 18),
    ]  # fmt: skip


@cache
def _on_the_grid():
    evaluated = [question_bound(cr.dist2(h2 / (1 + h2)), r, c, error=0.01) for h2, c, r in grid()]
    return bounded("the corrected bound against {eq}`eq-lower-hidden` or {eq}`eq-lower-one-pair`, on a grid",
                   [min(c * c / h2, r * c) / 2025 for h2, c, r in grid()], np.maximum(evaluated, 1e-300))  # fmt: skip


def _corrected_theorem(played):
    """The evidence for B36."""
    return [*constants(), _on_the_grid(), _rests_on("B34", [_theorem(), *_theorem_support(played)])]


@claim(
    "B36",
    proof="04-lower-bound#thm-lower-corrected",
    prose="that a convex function lies below its chord, and the three cases",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""Theorem 1 with its constant, for $3 \le k < n$, $H^2 \le \frac14$ and $\delta \le \frac1{100}$:
        $\min\{k^2/H^2, nk\}/2025$ questions.""",
    code=[question_bound],
    test=LOWER + "test_the_corrected_theorem_is_below_the_bound_that_it_comes_from",
)  # fmt: skip
def theorem_1_with_its_constant(played=None):
    """`played`: see `_theorem_support`."""
    yield from constants()
    for piece in (_on_the_grid(), _rests_on("B34", [_theorem(), *_theorem_support(played)])):
        yield also(piece)


@claim(
    "C06",
    proof="04-lower-bound#thm-lower-corrected",
    prose="the theorem from which it starts (B34), convexity, and the three cases",
    touches=("general densities", "Dist-1", "Dist-2"),
    place="Theorem 1 and the sketch of its proof",
    status="holds with a caveat", basis="proved", kind="condition",
    statement=r"""Given $k$, $f_g$ and $f_r$, a correct result with high probability takes $\Omega(\min\{k^2/H^2, nk\})$
        questions.""",
    corrected=r"""For $3 \le k < n$ and $H^2$ bounded away from 1: if $H^2 \le \frac14$, an algorithm with error
        probability at most $\frac1{100}$ asks in expectation, on some partition, at least $\min\{k^2/H^2, nk\}/2025$
        questions.""",
    affects="""the boundary: two clusters, as many clusters as records, and densities that hardly overlap.""",
    stands=r"""The argument, and the theorem for every setting of Table 1 ($k = 14$, $H^2 \le \frac14$).""",
    code=[question_bound, chain, product_tv, hidden_size],
    test=[LOWER + "test_the_corrected_theorem_is_below_the_bound_that_it_comes_from",
          LOWER + "test_each_link_of_the_chain_is_at_most_the_next",
          LOWER + "test_two_clusters_need_no_questions"],
)  # fmt: skip
def theorem_1(chains=None, links=None, drawn=None, draws=1, played=None, records=2_000_000):
    """As B32 and B36; `records`: their number in two clusters that need no questions."""
    apart = cr.SimilarityModel.from_steps([0, HALF, 1], green=[0, 2], red=[2, 0], name="apart")  # H² = 1
    # At most all pairs, if the similarities do not determine everything.
    to_ask = (1 - prob_fully_determined(apart, [2, 2, 1])) * comb(5, 2)
    p = QUARTER  # probability that a pair is determined, under Dist-2 with ε = 1/5
    yield none_needed("five records in three clusters, disjoint supports ($H^2 = 1$): questions needed", to_ask,
                       min(9 / apart.hellinger2, 15))  # fmt: skip
    yield none_needed("three records, $k = 3$ given: questions needed", certificate("abc", known=True), 9)
    yield counterexample(
        f"$k = 2$, Dist-1 with $\\epsilon = 0.01$, {records:,} records, no questions: error probability "
        "(printed: the least error of the best test by the chain of the proof)",
        value=wrong_at_most(float(cr.dist1(0.01).hellinger2), records), relation="at least",
        printed=(1 - sqrt(1 / 2)) / 2,
    )  # fmt: skip
    yield also(_rests_on("B32", [*_chain_exact(chains, links), *_chain_support(), *_tests_drawn(drawn, draws)]))
    yield also(agreement(
        "probability that similarities determine everything, clusters of 2 and 1, of 3, of 2 and 2, by hand",
        [prob_fully_determined(cr.dist2(FIFTH), sizes) for sizes in ([2, 1], [3], [2, 2])],
        [p * (1 - (1 - p) ** 2), p**3 + 3 * p**2 * (1 - p), p**2 * (1 - (1 - p) ** 4)], tolerance=1e-12,
    ))  # fmt: skip
    yield also(_rests_on("B35", _two_exact()))
    for piece in (*constants(), _rests_on("B36", _corrected_theorem(played))):
        yield corrected(piece)


# --- never wrong -------------------------------------------------------------------------------------------------


def _surplus():
    c, d = sp.symbols("c d", positive=True)
    return identity(
        "non-matches for matches, $c = k + d$: the surplus is $(d-1)(k-2) + (k(k+1) - 4)/2$, positive for $k \\ge 2$",
        ((n - c + c * (k - 1) - k * (k - 1) / 2) - (n - k)).subs(c, k + d)
        - (d - 1) * (k - 2) - (k * (k + 1) - 4) / 2,
    )  # fmt: skip


@cache
def _certificates():
    small = [p for size in (2, 3, 4, 5) for p in partitions(size)]  # labels 0, 1, ... by first appearance
    several = [p for p in small if max(p) >= 1]
    return [
        agreement("fewest answers that determine the partition, all partitions of 2 to 5 records, $k$ given",
                  [certificate(p, known=True) for p in several], [len(p) - max(p) - 1 for p in several]),
        agreement("the same, $k$ unknown", [certificate(p) for p in small],
                  [len(p) - max(p) - 1 + comb(max(p) + 1, 2) for p in small]),
    ]  # fmt: skip


@claim(
    "B37",
    proof="04-lower-bound#prop-lower-certificate",
    prose="that the noes between two clusters connect them",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""If similarities never determine a pair, certainty about $k$ clusters takes at least $n - k$ questions
        if $k \ge 2$ is given, and $n - k + \binom k2$ if it is not; both bounds are attained.""",
    code=[certificate],
    test=GAMES + "test_the_fewest_answers_that_leave_no_doubt",
)  # fmt: skip
def fewest_questions_for_certainty():
    yield _surplus()
    for piece in _certificates():
        yield also(piece)


def series():
    return identity("the geometric series, for up to eight terms", *(
        sum((1 - y) ** j for j in range(size)) - (1 - (1 - y) ** size) / y for size in range(1, 9)))  # fmt: skip


def undetermined(laws):
    """`laws`: models Dist-2 and cluster sizes."""
    return agreement(
        "$p$ and the sum in the code, against $\\epsilon/(1-\\epsilon)$ and the series",
        [v for model, sizes in laws for v in (*certain_mass(model), expected_undetermined(model, sizes))],
        [v for model, sizes in laws for p in [model.epsilon / (1 - model.epsilon)]
         for v in (p, p, sum((1 - p) ** j for size in sizes for j in range(size)))], tolerance=1e-9,
    )  # fmt: skip


def _upper_bound():
    """The evidence for B38 without its simulation."""
    laws = [(cr.dist2(v), [size] * 5) for v, size in ((0.05, 5), (0.2, 2), (0.2, 40))]
    return _rests_on("B38", [series(), undetermined(laws)])


def _corrected_corollary(played):
    """The steps from Theorem 1 to the corollary."""
    return [
        _rests_on("B36", _corrected_theorem(played)), _rests_on("B37", [_surplus(), *_certificates()]),
        identity("$k \\le n/2$: $n - k$ against $n/2$; $k > n/2$: $4k^2$ against $n^2$",
                 n - k - n / 2 - (n - 2 * k) / 2, 4 * k**2 - n**2 - (2 * k - n) * (2 * k + n)),
    ]  # fmt: skip


#: H² of Dist-1 and Dist-2, section "Illustration".
H_DIST1, H_DIST2 = 1 - sp.sqrt(1 - e**2), e / (1 - e)


@cache
def _dist_steps():
    return [
        identity("Dist-1: $H^2 (2 - H^2) = \\epsilon^2$, so $H^2 \\le \\epsilon^2$", H_DIST1 * (2 - H_DIST1) - e**2),
        identity("Dist-2: $\\frac54\\epsilon - H^2$, nonnegative for $\\epsilon \\le \\frac15$; $p - \\epsilon$",
                 R(5, 4) * e - H_DIST2 - e * (1 - 5 * e) / (4 * (1 - e)), H_DIST2 - e - e**2 / (1 - e)),
        identity(
            "{eq}`eq-lower-dist2`: the mean of $(1-p)^{S+S'}$, for up to six hidden records",
            *(sum(sp.binomial(j, i) * (2 / (k - 1)) ** i * (1 - 2 / (k - 1)) ** (j - i) * (1 - y) ** (2 + i)
                  for i in range(j + 1)) - (1 - y) ** 2 * (1 - 2 * y / (k - 1)) ** j for j in range(6))),
        inequality("Dist-2: both are", e * (1 - 5 * e) / (4 * (1 - e)), e**2 / (1 - e), over={e: (0, R(1, 5))}),
        also(cases("$H^2 \\le \\frac14$ at the ends of both ranges; the constants",
                   H_DIST1.subs(e, R(1, 2)) <= R(1, 4), H_DIST2.subs(e, R(1, 5)) <= R(1, 4),
                   R(3, 4) ** 6 * R(2, 9) / 8 >= R(1, 203), R(3, 4) ** 6 / 24 >= R(1, 203),
                   R(9, 16) / 18 >= R(1, 203), R(4, 5) / 203 >= R(1, 254), where="six numbers")),
    ]  # fmt: skip


@cache
def _distances():
    rationals = [Fraction(j, 100) for j in range(1, 49)]
    return agreement(
        "$H^2$ in the code against its closed forms",
        [law(float(v)).hellinger2 for law in (cr.dist1, cr.dist2) for v in rationals],
        [float(form.subs(e, sp.Rational(v))) for form in (H_DIST1, H_DIST2) for v in rationals], tolerance=1e-12,
    )  # fmt: skip


@cache
def _dist2_exactly():
    shapes = [(small, hidden) for small in (2, 3, 4) for hidden in (1, 2, 3, 4)]
    return [
        agreement(
            "{eq}`eq-lower-dist2` against the theorem with exact distances, Dist-2 with $\\epsilon = \\frac15$",
            [hidden * (small - 1) / 4 * (3 / 4) ** 2 * (1 - 1 / (2 * small)) ** (hidden - 1)
             for small, hidden in shapes],
            [exact_bound(cr.dist2(FIFTH), small, hidden) for small, hidden in shapes], tolerance=1e-12),
        bounded("the bound for Dist-2 against {eq}`eq-lower-dist2` or {eq}`eq-lower-one-pair`, on the grid of B36",
                [min(c * c / h2, r * c) / 203 for h2, c, r in grid()], [dist2_bound(h2, r, c) for h2, c, r in grid()]),
    ]  # fmt: skip


@claim(
    "B39",
    proof="04-lower-bound#cor-lower-corrected",
    prose="the theorems from which it starts (B36 to B38), and that a maximum is at least the mean",
    place="beyond the paper",
    status="holds", basis="proved",
    statement=r"""Corollary 1 and its proposition, corrected, with constants; for Dist-2 with $\epsilon \le \frac15$ the
        lower and the upper bound are both of order $\min\{k^2/\epsilon, nk\}$.""",
    code=[question_bound, expected_undetermined],
    test=[LOWER + "test_the_corrected_bounds_for_the_two_models",
          CERTAIN + "test_questions_about_undetermined_records_do_not_grow_with_n"],
)  # fmt: skip
def corollary_corrected(played=None):
    """As B36."""
    yield from _corrected_corollary(played)
    yield from _dist_steps()
    yield _upper_bound()
    for piece in (_distances(), *_dist2_exactly()):
        yield also(piece)


MANY = 999_999
#: A strategy that is never wrong needs at most so many, on average, for three clusters of `y` records and ε = 1/5.
ENOUGH = 3 * 3 * (1 - R(3, 4) ** y) / R(1, 4)
FOR_ENOUGH = r"three equal clusters, Dist-2 with $\epsilon = \frac15$, $n \to \infty$: enough questions, divided by "


def _enough():
    return agreement(f"that many questions are enough, at {MANY:,} records",
                     3 * expected_undetermined(cr.dist2(FIFTH), [MANY // 3] * 3), float(ENOUGH.subs(y, MANY // 3)),
                     tolerance=1e-9)  # fmt: skip


@claim(
    "C07",
    proof="04-lower-bound#cor-lower-corrected",
    prose="the theorems from which it starts (B36, B37), and that a maximum is at least the mean",
    touches=("general densities", "Dist-1", "Dist-2"),
    place="Corollary 1",
    status="refuted", basis="proved",
    statement=r"Given $f_g$, $f_r$ with $H > 0$, and $k$, certainty takes $\Omega(n + k^2/H^2)$ questions.",
    corrected=r"""It takes at least $(n + \min\{k^2/H^2, nk\})/4050$ questions in expectation, on some partition, for $3
        \le k < n$, $H^2 \le \frac14$, and densities that vanish on the same set. For other densities the term $n$ may
        be unnecessary.""",
    affects=r"""small $H$ for fixed $n$ and $k$; the term $n$, if similarities can prove a match; and the proposition on
        Dist-1 and Dist-2, which is derived from it.""",
    stands=r"""Theorem 1, and $k^2/H^2$ as the order wherever it is below $nk$. The upper bounds and the experiments do
        not use the corollary.""",
    code=[question_bound, certificate, expected_undetermined],
    test=[LOWER + "test_as_the_densities_meet_the_printed_corollary_wants_more_than_all_pairs",
          GAMES + "test_the_fewest_answers_that_leave_no_doubt",
          CERTAIN + "test_questions_about_undetermined_records_do_not_grow_with_n"],
)  # fmt: skip
def corollary_1(played=None, records=(4, 10, 100), clusters=(3, 5, 30)):
    """`played`: as B36; `records`, `clusters`: their numbers, for the bound."""
    yield vanishing(
        "three records in two clusters, $H \\to 0$: the number of pairs divided by $n + k^2/H^2$", 3 / (3 + 4 / h), h, 0
    )
    yield vanishing(FOR_ENOUGH + "$n + k^2/H^2$", ENOUGH / (3 * y + 9 / R(1, 4)), y, sp.oo)
    yield also(_enough())
    yield also(identity("all pairs over the printed bound, as $H \\to 0$, for every $n$ and $k$",
                        sp.limit(n * (n - 1) / 2 / (n + k**2 / h), h, 0)))  # fmt: skip
    proved = by_hand.connected(30, HALF)[30] ** 2 * (1 - HALF**900)  # both clusters connected, one non-match between
    yield also(agreement(
        r"probability that the similarities determine two clusters of 30, Dist-2 with $\epsilon = \frac13$",
        prob_fully_determined(cr.dist2(Fraction(1, 3)), [30, 30]), float(proved), tolerance=1e-12))  # fmt: skip
    yield also(agreement("questions that determine three records in two clusters, $k$ given",
                         [certificate("aab", known=True)], [1]))  # fmt: skip
    yield also(_distances())
    yield also(_upper_bound())
    for piece in _corrected_corollary(played):
        yield corrected(piece)
    weak = [cr.uniform(), *map(cr.dist1, (0.01, 0.1, 0.3, 0.5)), *map(cr.dist2, (0.01, 0.1, 0.2))]
    cases = [(model, r, c) for model in weak for r in records for c in clusters if c < r]
    yield corrected(also(bounded(
        rf"$\frac1{{4050}} \min\{{k^2/H^2, nk\}}$ against the lower bound for all algorithms, {len(cases)} cases",
        [min(c * c / model.hellinger2 if model.hellinger2 else r * c, r * c) / 4050 for model, r, c in cases],
        [question_bound(*case, error=0) / 2 for case in cases])))  # fmt: skip


@claim(
    "C14",
    proof="04-lower-bound#cor-lower-corrected",
    prose="the theorems from which it starts (B36 to B38), and that a maximum is at least the mean",
    touches=("Dist-1", "Dist-2"),
    place="Proposition 1 (lower bound for Dist-1 and Dist-2)",
    status="refuted", basis="proved",
    statement=r"""Certainty takes $\Omega(n + k^2/\epsilon^2)$ questions for Dist-1 and $\Omega(n + k^2/\epsilon)$ for
        Dist-2.""",
    corrected=r"""For $3 \le k < n$ it takes $\Omega(n + \min\{k^2/\epsilon^2, nk\})$ for Dist-1 and, for $\epsilon \le
        \frac15$, $\Omega(\min\{k^2/\epsilon, nk\})$ for Dist-2, where this order is also sufficient.""",
    affects=r"""Dist-1 and Dist-2 for small $\epsilon$, Dist-2 also for large $n$ and for $\epsilon$ close to
        $\frac12$.""",
    stands=r"""$k^2/\epsilon^2$ and $k^2/\epsilon$ as the orders wherever they are below $nk$. The upper bounds and the
        experiments do not use the proposition.""",
    code=[question_bound, expected_undetermined, certain_mass],
    test=[LOWER + "test_the_corrected_bounds_for_the_two_models",
          CERTAIN + "test_questions_about_undetermined_records_do_not_grow_with_n",
          CERTAIN + "test_what_proves_itself_under_the_two_models"],
)  # fmt: skip
def lower_bound_of_the_two_models(played=None):
    """As B36."""
    yield vanishing(
        r"three records in two clusters, Dist-1, $\epsilon \to 0$: the number of pairs divided by $n + k^2/\epsilon^2$",
        3 / (3 + 4 / e**2), e, 0)  # fmt: skip
    yield vanishing(FOR_ENOUGH + r"$n + k^2/\epsilon$", ENOUGH / (3 * y + 9 * 5), y, sp.oo)
    yield vanishing(
        r"six records in three clusters, Dist-2, $\epsilon \to \frac12$: mean undetermined pairs, divided by "
        r"$n + k^2/\epsilon$", comb(6, 2) * (1 - H_DIST2) / (6 + 9 / e), e, R(1, 2), direction="-")  # fmt: skip
    yield also(_enough())
    yield also(agreement(r"a pair is undetermined with probability $1 - H^2$, Dist-2 with $\epsilon = 0.499$",
                         [1 - mass for mass in certain_mass(cr.dist2(0.499))], [float(1 - H_DIST2.subs(e, 0.499))] * 2,
                         tolerance=1e-12))  # fmt: skip
    yield also(_distances())
    yield also(_upper_bound())
    for piece in (*_corrected_corollary(played), *_dist_steps()):
        yield corrected(piece)
    for piece in (_distances(), *_dist2_exactly(), _upper_bound()):
        yield corrected(also(piece))
