"""Claims of the chapter *Closing the gap*."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import comb, factorial, log, prod, sqrt

import numpy as np
import pandas as pd
import sympy as sp
from scipy import integrate, stats

import crowder as cr
from book.companion.claims import agreement, also, bounded, exceeds, identity, of_chapter, simulation, trend
from book.companion.empirical import mean_and_error
from crowder.beyond import learned_densities
from crowder.beyond.log_likelihood import absorb, log_ratios, question, sum_evidence
from crowder.counting.evidence_counts import expected_evidence_queries, prob_wrong_first
from crowder.counting.lower_bounds import product_tv

claim, check = of_chapter(__name__)

BEYOND = "beyond the paper"
EVIDENCE, LEARNED = "test_evidence_ordering.py::test_", "test_learned_densities.py::test_"
LOWER = "test_lower_bounds.py::test_"
E = sp.Symbol("epsilon", positive=True)


@claim("B121", place=BEYOND, status="holds", basis="exact",
       statement=r"""The evidence of two components is the sum of the log-likelihood ratios across them: under Dist-1 a
           difference of votes times $\ln\frac{1+\epsilon}{1-\epsilon}$; under Dist-2 it is zero, or proves a match or a
           non-match.""",
       code=[cr.EvidenceOrdering, log_ratios],
       test=[EVIDENCE + "the_first_questions_by_hand", "test_log_likelihood.py::test_log_ratios_by_hand"])  # fmt: skip
def evidence_of_two_components(epsilons=(0.05, 0.1, 0.2, 1 / 3)):
    r, a, b = sp.symbols("r a b", positive=True)
    above, below = (1 + E) / (1 - E), (1 - E) / (1 + E)  # f_g/f_r of Dist-1, above and below one half
    yield identity("Dist-1: the two ratios are $r$ and $1/r$; $a$ votes for and $b$ against sum to $(a-b)\\ln r$",
                   above * below - 1, sp.expand_log(sp.log(r**a * (1 / r) ** b)) - (a - b) * sp.log(r))  # fmt: skip
    at = np.array([0.03, 0.12, 0.3, 0.49, 0.51, 0.7, 0.88, 0.97])
    found, by_hand = [], []
    for epsilon in epsilons:
        found += _evidence(cr.dist1(epsilon), at).tolist()
        by_hand += [log((1 + epsilon) / (1 - epsilon)) * (1 if x > 0.5 else -1) for x in at]
        found += np.sign(_evidence(cr.dist2(epsilon), at)).tolist()
        by_hand += [-1 if x < epsilon else 1 if x > 1 - epsilon else 0 for x in at]
    yield agreement("evidence of a pair in the code (Dist-2: its sign), against the formulas",
                    found, by_hand, tolerance=1e-6)  # fmt: skip


@claim("B122", place=BEYOND, status="holds", basis="exact",
       statement=r"""Between two clusters of $m$ records under Dist-1, summed evidence identifies the cluster of a
           record with probability $\frac12 + c_m\epsilon$ to first order, $c_m \approx \sqrt{m/\pi}$; the most similar
           pair with probability $\frac12 + b_m\epsilon$, $b_m \to \frac12$.""",
       code=product_tv, test=LOWER + "small_epsilon_gives_the_sum_a_slope_that_grows_as_a_root")  # fmt: skip
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
    yield agreement("both slopes against both probabilities at $\\epsilon = 10^{-4}$",
                    [(chance - 0.5) / tiny for chance in chances],
                    [float(slope(m)) for slope in (slope_evidence, slope_best) for m in few],
                    tolerance=1e-3)  # fmt: skip
    many = np.geomspace(10, 1e6, 30).round()
    log_slope = np.log(2 * many - 1) + stats.binom.logpmf(many - 1, 2 * many - 2, 0.5) - log(2)
    yield also(trend("$c_m$ grows as $\\sqrt m$", many, np.exp(log_slope), exponent=0.5, within=0.005))
    yield also(agreement("$c_m / \\sqrt{m/\\pi}$ at $m = 10^6$", np.exp(log_slope[-1]) / sqrt(1e6 / np.pi), 1,
                         tolerance=1e-5))  # fmt: skip


@claim("B123", place=BEYOND, status="holds", basis="exact",
       statement="""The form "pairs" asks the same questions, in the same order, as a naive version that adds up all
           votes again for each question.""",
       code=[cr.EvidenceOrdering, question, absorb],
       test="test_log_likelihood.py::test_questions_are_those_of_the_naive_version")  # fmt: skip
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
    yield agreement("runs of ten records in which the first 16 questions, before the correlation is estimated, are the "
                    f"same (of {len(same)})", sum(same), len(same))  # fmt: skip


@claim("B124", place=BEYOND, status="holds", basis="simulated",
       statement="""Ties are broken without bias: with equal similarities the mean number of questions is that over all
           orders, and records listed cluster by cluster cost as much as shuffled ones.""",
       code=cr.EvidenceOrdering, test=EVIDENCE + "ties_are_broken_without_bias")  # fmt: skip
def ties_are_broken_without_bias(runs=240, seed=1):
    flat, model = np.full(3, 0.7), cr.dist1(0.5)
    total = cr.enumeration.orders_by_questions([0, 0, 1])
    exact = sum(q * c for q, c in total.items()) / sum(total.values())
    three = [mean_and_error([cr.evidence_ordering(flat, cr.Truth(labels), model, form="pairs", rng=s).n_queries
                             for s in range(seed, seed + runs)])
             for labels in ([0, 0, 1], [0, 1, 0], [1, 0, 0])]  # fmt: skip
    yield simulation("three records with equal similarities, for each position of the match: the mean over all orders",
                     *np.transpose(three), exact, size=runs, limit=5)  # fmt: skip
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


@claim("B125", place=BEYOND, status="holds", basis="simulated",
       statement="""With known densities evidence ordering asks no more questions than the better of the two heuristics
           on any row of Table 1; under Dist-1 it asks clearly fewer on every row, and under Dist-2 it stays within one
           per cent of the ideal.""",
       code=[cr.EvidenceOrdering, cr.expected_queries],
       test=EVIDENCE + "it_asks_less_than_the_heuristics_and_learning_costs_little")  # fmt: skip
def fewer_questions_on_table_1(runs=None, edge_exact=None, ideal=None):
    """`runs`: a row for each data set, with its row of Table 1, the model's name, the questions of each ordering, and
    whether all found the clusters. `edge_exact`: the expected questions of edge ordering, row by row."""
    if runs is None:
        runs, edge_exact, ideal = _small_rows()
    ways, each = ["edge", "node", "evidence"], runs.groupby("row")
    mean, error = each[ways].mean(), each[ways].std() / sqrt(repetitions := runs["repetition"].nunique())
    better = runs[["edge", "node"]].min(axis=1)
    weak = runs["model"] == "Dist-1"
    gain = [mean_and_error(part) for _, part in (better - runs["evidence"])[weak].groupby(runs["row"])]
    yield exceeds("the better heuristic of each data set less evidence ordering, each row of Dist-1",
                  *np.transpose(gain), size=repetitions, limit=4)  # fmt: skip
    yield bounded("Dist-2, every run: evidence ordering within 1 % of the ideal, and so never clearly above a "
                  "heuristic", runs["evidence"][~weak], 1.01 * ideal)  # fmt: skip
    yield bounded("the mean of each row, less the ideal, against that of the better heuristic plus two questions",
                  mean["evidence"] - ideal, mean[["edge", "node"]].min(axis=1) - ideal + 2)  # fmt: skip
    yield also(agreement("every run ends with the true clusters", int(runs["right"].sum()), len(runs)))
    df = len(mean) * (repetitions - 1)
    yield also(simulation("edge ordering, all rows together, less the exact expectation",
                          (mean["edge"] - edge_exact).sum(), sqrt((error["edge"] ** 2).sum()), 0, size=len(runs),
                          limit=float(np.round(stats.t.isf(5e-6, df), 1))))  # fmt: skip


@claim("B176", place=BEYOND, status="holds", basis="proved",
       proof="11-closing-the-gap#prop-gap-records",
       prose="when the wrong cluster is asked about, and that arrival does not depend on the similarities",
       statement=r"""With known densities and records in random order, evidence ordering by records asks in expectation
           exactly $n - k + \sum_{i \ne j} m_i \sum_{s,t} p_{ij}(s, t)\, W(s, t)$ questions.""",
       code=[expected_evidence_queries, prob_wrong_first],
       test=["test_evidence_counts.py::test_few_records_against_all_orders_and_votes",
             "test_evidence_counts.py::test_proofs_outweigh_everything",
             "test_evidence_counts.py::test_runs_of_the_ordering_have_this_mean"])  # fmt: skip
def records_exactly(runs=None, exact=None):
    """`runs`: as for B125, with the form "records"; `exact`: its expected questions, row by row."""
    M, a = sp.symbols("M a", positive=True)
    beta = sp.gamma(a + 1) * sp.gamma(M - a) / sp.gamma(M + 1)  # the integral of x^a (1 - x)^(M - 1 - a)
    choose = sp.gamma(M) / (sp.gamma(a + 1) * sp.gamma(M - a))
    yield identity("the probability that certain $a = s + t$ of $M - 1$ other records arrive before a record",
                   (beta, 1 / (M * choose)))  # fmt: skip
    few = [(0, 0, 1), (0, 0, 1, 1), (0, 0, 0, 1), (0, 0, 1, 2)]
    yield also(agreement("three and four records, all orders of arrival and all votes, in fractions",
                         [expected_evidence_queries(cr.dist1(Fraction(1, 3)), np.bincount(labels)) for labels in few],
                         [float(_over_all_votes(labels, Fraction(2, 3))) for labels in few],
                         tolerance=1e-12))  # fmt: skip
    if runs is None:
        runs, exact = _small_records()
    each = runs.groupby("row")["records"]
    repetitions, gap = int(each.size().min()), each.mean().to_numpy() - np.asarray(exact)
    error = np.maximum(each.std(), 0.5) / sqrt(repetitions)
    yield also(simulation("the mean of the runs of each row, less the expectation", gap, error, 0, size=repetitions,
                          limit=float(np.round(stats.t.isf(5e-6 / len(gap), repetitions - 1), 1))))  # fmt: skip


@claim("B126", place=BEYOND, status="holds", basis="simulated",
       statement="""With densities learned from the answers, evidence ordering asks at most a tenth more than with known
           ones over all rows of Table 1, and at most 15 per cent more on any row.""",
       code=[cr.EvidenceOrdering, learned_densities.learned_densities],
       test=[EVIDENCE + "it_asks_less_than_the_heuristics_and_learning_costs_little",
             LEARNED + "many_answers_outweigh_the_prior"])  # fmt: skip
def cost_of_learning_the_densities(runs=None):
    """`runs`: as for B125."""
    runs = _small_rows()[0] if runs is None else runs
    spare = (1.1 * runs["evidence"] - runs["learned"]).groupby(runs["repetition"]).sum()
    mean = runs.groupby("row")[["evidence", "learned"]].mean()
    yield exceeds("all rows together: 1.1 times the questions with known densities, less those with learned ones",
                  *mean_and_error(spare),
                  size=len(spare), limit=1)  # fmt: skip
    largest = (mean["learned"] / mean["evidence"]).max() - 1
    yield bounded(f"row by row, at most 15 % more (the largest: {largest:.1%})",
                  mean["learned"], 1.15 * mean["evidence"])  # fmt: skip


@claim("B127", place=BEYOND, status="holds", basis="trend",
       statement=r"""Under Dist-1, fewer than one of the $k - 1$ other clusters on average has more evidence than a
           record's own once clusters have about $z^2/(2\epsilon^2)$ records, $\Phi(z) = 1 - \frac1{k-1}$.""",
       code=product_tv, test=LOWER + "small_epsilon_gives_the_sum_a_slope_that_grows_as_a_root")  # fmt: skip
def cluster_size_needed(numbers=(5, 14)):
    """`numbers`: numbers of clusters."""
    dial = np.geomspace(1e-4, 0.2, 25)
    least = {k: np.array([least_size(epsilon, k) for epsilon in dial]) for k in numbers}
    for k, found in least.items():
        yield trend(f"$m^*$ for $k = {k}$", dial, found, exponent=-2, within=0.03)
    yield agreement("$m^*\\epsilon^2$ against $z^2/2$ at the smallest $\\epsilon$, $k$ = " + ", ".join(map(str, least)),
                    [found[0] * dial[0] ** 2 for found in least.values()], [half_z_squared(k) for k in least],
                    tolerance=1e-3, relative=True)  # fmt: skip
    checked = [(m, epsilon) for m in (1, 5, 40, 150) for epsilon in (0.05, 0.2)]
    yield also(agreement("the probability for one other cluster: votes against the code's distance of product measures",
                         [mean_ahead(m, epsilon, 2) for m, epsilon in checked],
                         [(1 - product_tv(cr.dist1(epsilon), m)) / 2 for m, epsilon in checked],
                         tolerance=1e-9))  # fmt: skip


@claim("B128", place=BEYOND, status="holds", basis="simulated",
       statement="""On cora evidence ordering asks slightly more than the better heuristic, because the similarities are
           dependent: permuted among the matches and among the non-matches, they bring it to the ideal, below both
           heuristics.""",
       code=[cr.EvidenceOrdering, learned_densities.dependence],
       test=[EVIDENCE + "dependent_evidence_is_noticed_on_cora_and_not_among_independent_draws",
             LEARNED + "dependence_is_the_intraclass_correlation"])  # fmt: skip
def dependence_on_cora(runs=None, data=None, model=None, steps=None, ideal=None):
    """`runs`: a row for each run, with "as it is" or "dealt anew" (permuted), the questions of each ordering, and ρ.
    `model`: the two histograms of the data, between `steps`."""
    if runs is None:
        runs, data, model, steps, ideal = _small_cora()
    parts = dict(tuple(runs.groupby("similarities")))
    real, anew = parts["as it is"], parts["dealt anew"]
    better = real[["edge", "node"]].min(axis=1)
    yield exceeds("permuted: the better heuristic less evidence ordering",
                  *mean_and_error(anew[["edge", "node"]].min(axis=1) - anew["evidence"]), size=len(anew))  # fmt: skip
    yield bounded("original: the better heuristic asks less on average", better.mean(), real["evidence"].mean())
    yield bounded("original, every run: at most 1.5 % above the better heuristic, 5 % with learned densities",
                  np.r_[real["evidence"] / better, real["learned"] / better],
                  np.repeat([1.015, 1.05], len(real)))  # fmt: skip
    yield bounded("permuted, every run: within 0.1 % of the ideal, and below both heuristics",
                  np.r_[anew["evidence"], anew["learned"], anew["evidence"]],
                  np.r_[np.full(2 * len(anew), 1.001 * ideal), anew[["edge", "node"]].min(axis=1)])  # fmt: skip
    by_variance = correlation(*standard_sums(data.condensed, data.labels, model, steps), errors=3)
    yield also(agreement("ρ of the true clusters in the code, against an analysis of variance",
                         _measured(data, model, steps), by_variance, tolerance=1e-6))  # fmt: skip
    yield also(bounded("the ordering estimates a large ρ on cora, and almost none when permuted",
                       [0.3, anew["ρ"].max()], [real["ρ"].min(), 0.02]))  # fmt: skip


# --- also used in the chapter ---------------------------------------------------------------------------------------


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


def standard_sums(w, labels, model, steps):
    """For each two clusters: the number of terms of their evidence, and the deviation of their sum from its mean, in
    standard deviations of a sum of independent terms."""
    i, j = np.triu_indices(len(labels), 1)
    across = labels[i] != labels[j]
    terms = _evidence(model, (steps[1:] + steps[:-1]) / 2)[_step(w, steps)[across]]
    ends = np.stack([labels[i], labels[j]])[:, across]
    cell = ends.min(axis=0) * (labels.max() + 1) + ends.max(axis=0)
    frame = pd.DataFrame({"cell": cell, "x": (terms - terms.mean()) / terms.std()})
    both = frame.groupby("cell")["x"].agg(["size", "sum"])
    return both["size"], both["sum"] / np.sqrt(both["size"])


def correlation(count, sums, errors=0):
    """ρ by analysis of variance (a sum of m terms has m(1 + ρ(m - 1)) times the variance of one), less some standard
    errors."""
    some = count > 1
    proven = (sums[some] ** 2 - 1).sum() - errors * sqrt(2 * some.sum())
    return float(max(0, proven / (count[some] - 1).sum()))


# --- independent computations ----------------------------------------------------------------------------------------


def _evidence(model, similarities):
    """The evidence of a pair of each similarity in the code, in nats."""
    return cr.EvidenceOrdering(np.array([[1, 0.5], [0.5, 1]]), model, rng=1).evidence(similarities)


def _step(w, steps):
    return np.clip(np.searchsorted(steps, w, side="right") - 1, 0, len(steps) - 2)


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


def _measured(data, model, steps):
    """ρ as the code estimates it when all clusters are known to differ."""
    n, (i, j) = data.n, np.triu_indices(data.n, 1)
    name = np.unique(data.labels, return_index=True)[1][data.labels]  # of each record's cluster
    size = np.bincount(name, minlength=n)
    state = sum_evidence(np.zeros((n, n), np.int64))._replace(total=np.ones((n, n), np.int64), name=name, size=size)
    state.asked[:] = True
    square = np.zeros((n, n), np.uint8)
    square[i, j] = square[j, i] = _step(data.condensed, steps)
    ratio = _evidence(model, (steps[1:] + steps[:-1]) / 2)
    return learned_densities.dependence(state, square, ratio, 1)


def _over_all_votes(labels, p):
    """The mean questions of the form "records" over all orders of arrival and all votes, each right with probability
    p."""
    pairs, total = list(combinations(range(len(labels)), 2)), 0
    for votes in product((1, -1), repeat=len(pairs)):
        right = [(vote == 1) == (labels[i] == labels[j]) for (i, j), vote in zip(pairs, votes, strict=True)]
        chance = prod(p if good else 1 - p for good in right)
        vote = dict(zip(map(frozenset, pairs), votes, strict=True))
        total += chance * sum(_placed(order, labels, vote) for order in permutations(range(len(labels))))
    return total / factorial(len(labels))


def _placed(order, labels, vote):
    """Questions of one run: clusters by falling sums, of equals the one founded first."""
    clusters, asked = [], 0
    for v in order:
        tried = sorted(clusters, key=lambda members: -sum(vote[frozenset((u, v))] for u in members))
        match = [labels[members[0]] == labels[v] for members in tried]
        asked += match.index(True) + 1 if any(match) else len(tried)
        if any(match):
            tried[match.index(True)].append(v)
        else:
            clusters.append([v])
    return asked


# --- small runs, for a check without the notebook -------------------------------------------------------------------


@cache
def _small_rows(sizes=(50, 25, 25, 12, 12, 7, 5), repetitions=3):
    lines, models = [], {"Dist-1": cr.dist1(0.5), "Dist-2": cr.dist2(0.4)}
    for row, (name, model) in enumerate(models.items()):
        for r, rng in enumerate(np.random.default_rng(row).spawn(repetitions)):
            drawn = cr.datasets.synthetic(list(sizes), model, rng=rng)
            crowd, w = cr.Truth(drawn.labels), drawn.condensed
            runs = {"edge": cr.edge_ordering(w, crowd, rng=rng), "node": cr.node_ordering(w, crowd, rng=rng),
                    "evidence": cr.evidence_ordering(w, crowd, model, rng=rng),
                    "learned": cr.evidence_ordering(w, crowd, rng=rng)}  # fmt: skip
            right = all(np.array_equal(run.clusters, drawn.labels) for run in runs.values())
            lines.append({"row": row, "model": name, "repetition": r, "right": right}
                         | {way: run.n_queries for way, run in runs.items()})  # fmt: skip
    exact = np.array([cr.expected_queries(model, list(sizes), "edge") for model in models.values()])
    return pd.DataFrame(lines), exact, cr.ideal_queries(list(sizes))


def _small_cora(n=450, repetitions=2):
    """A quarter of the records of cora."""
    cora, steps, rng = cr.datasets.cora(), np.linspace(0, 1, 51), np.random.default_rng(1)
    kept = np.sort(rng.choice(cora.n, n, replace=False))
    labels = np.unique(cora.labels[kept], return_inverse=True)[1]
    data = cr.datasets.Dataset("part of cora", cora.similarity[np.ix_(kept, kept)][np.triu_indices(n, 1)], labels,
                               cora.provenance)  # fmt: skip
    sides = data.matching, ~data.matching
    model = cr.SimilarityModel.from_steps(
        steps, *(np.histogram(data.condensed[side], steps, density=True)[0] for side in sides))  # fmt: skip
    lines, crowd = [], cr.Truth(labels)
    for r in range(repetitions):
        dealt = data.condensed.copy()
        for side in sides:
            dealt[side] = rng.permutation(dealt[side])
        for name, w in (("as it is", data.condensed), ("dealt anew", dealt)):
            known = cr.EvidenceOrdering(w, model, rng=r)
            by = {"edge": cr.EdgeOrdering(w, rng=r), "node": cr.NodeOrdering(w, rng=r), "evidence": known,
                  "learned": cr.EvidenceOrdering(w, rng=r)}  # fmt: skip
            asked = {way: ordering.run(crowd).n_queries for way, ordering in by.items()}
            lines.append({"similarities": name, **asked, "ρ": known.dependence})
    return pd.DataFrame(lines), data, model, steps, cr.ideal_queries(data.sizes)


@cache
def _small_records(sizes=(12, 8, 5, 3), repetitions=60):
    models, lines = [cr.dist1(0.5), cr.dist1(0.2), cr.dist2(0.1)], []
    for row, model in enumerate(models):
        for rng in np.random.default_rng(row).spawn(repetitions):
            drawn = cr.datasets.synthetic(list(sizes), model, rng=rng)
            run = cr.evidence_ordering(drawn.condensed, cr.Truth(drawn.labels), model, form="records", rng=rng)
            lines.append({"row": row, "records": run.n_queries})
    return pd.DataFrame(lines), [expected_evidence_queries(model, sizes) for model in models]
