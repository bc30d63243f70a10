"""Claims of the chapter *Closing the gap*."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from math import factorial, log, prod, sqrt

import numpy as np
import pandas as pd
import sympy as sp
from scipy import stats

import crowder as cr
from book.companion.claims import agreement, also, bounded, exceeds, identity, of_chapter, says, simulation
from book.companion.empirical import mean_and_error
from crowder.beyond import learned_densities
from crowder.beyond.log_likelihood import log_ratios, sum_evidence
from crowder.counting.evidence_counts import expected_evidence_queries, prob_wrong_first

claim, check = of_chapter(__name__)

BEYOND = "beyond the paper"
EVIDENCE, LEARNED = "test_evidence_ordering.py::test_", "test_learned_densities.py::test_"
E = sp.Symbol("epsilon", positive=True)


@claim("B121")
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
    yield says(agreement("evidence of a pair in the code (Dist-2: its sign), against the formulas",
                         found, by_hand, tolerance=1e-6),
               f"For {len(found)} similarities under Dist-1 and Dist-2 the code gives the evidence of the "
               "formulas.")  # fmt: skip


@claim("B125")
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
    least, most = (f([part for part, _ in gain]) for f in (min, max))
    yield says(exceeds("the better heuristic of each data set less evidence ordering, each row of Dist-1",
                       *np.transpose(gain), size=repetitions, limit=4),
               f"Under Dist-1 evidence ordering asks {least:,.0f} to {most:,.0f} questions less than the better "
               "heuristic, row by "
               "row.")  # fmt: skip
    yield bounded("Dist-2, every run: evidence ordering within 1 % of the ideal, and so never clearly above a "
                  "heuristic", runs["evidence"][~weak], 1.01 * ideal)  # fmt: skip
    yield bounded("the mean of each row, less the ideal, against that of the better heuristic plus two questions",
                  mean["evidence"] - ideal, mean[["edge", "node"]].min(axis=1) - ideal + 2)  # fmt: skip
    yield also(agreement("every run ends with the true clusters", int(runs["right"].sum()), len(runs)))
    df = len(mean) * (repetitions - 1)
    yield also(simulation("edge ordering, all rows together, less the exact expectation",
                          (mean["edge"] - edge_exact).sum(), sqrt((error["edge"] ** 2).sum()), 0, size=len(runs),
                          limit=float(np.round(stats.t.isf(5e-6, df), 1))))  # fmt: skip


@claim("B176")
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
    limit = float(np.round(stats.t.isf(5e-6 / len(gap), repetitions - 1), 1))
    yield says(also(simulation("the mean of the runs of each row, less the expectation", gap, error, 0,
                               size=repetitions, limit=limit)),
               f"The means of the runs differ from the formula by at most {np.abs(gap / error).max():.1f} standard "
               "errors, over "
               f"{len(gap)} data sets.")  # fmt: skip


@claim("B126")
def cost_of_learning_the_densities(runs=None):
    """`runs`: as for B125."""
    runs = _small_rows()[0] if runs is None else runs
    spare = (1.1 * runs["evidence"] - runs["learned"]).groupby(runs["repetition"]).sum()
    mean = runs.groupby("row")[["evidence", "learned"]].mean()
    yield exceeds("all rows together: 1.1 times the questions with known densities, less those with learned ones",
                  *mean_and_error(spare),
                  size=len(spare), limit=1)  # fmt: skip
    largest = (mean["learned"] / mean["evidence"]).max() - 1
    yield says(bounded(f"row by row, at most 15 % more (the largest: {largest:.1%})",
                       mean["learned"], 1.15 * mean["evidence"]),
               f"Learning the densities costs at most {largest:.1%} more questions on any row of Table 1.")  # fmt: skip


@claim("B128")
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
    yield says(bounded("original: the better heuristic asks less on average", better.mean(), real["evidence"].mean()),
               f"Evidence ordering asks {real['evidence'].mean() - better.mean():,.0f} questions more than the better "
               f"heuristic, with learned densities {real['learned'].mean() - better.mean():,.0f}; "
               f"with permuted similarities it is {anew['evidence'].mean() - ideal:,.1f} above the ideal.")  # fmt: skip
    yield bounded("original, every run: at most 1.5 % above the better heuristic, 1 % with learned densities",
                  np.r_[real["evidence"] / better, real["learned"] / better],
                  np.repeat([1.015, 1.01], len(real)))  # fmt: skip
    yield bounded("permuted, every run: within 0.1 % of the ideal, and below both heuristics",
                  np.r_[anew["evidence"], anew["learned"], anew["evidence"]],
                  np.r_[np.full(2 * len(anew), 1.001 * ideal), anew[["edge", "node"]].min(axis=1)])  # fmt: skip
    by_variance = correlation(*standard_sums(data.condensed, data.labels, model, steps), errors=3)
    yield also(agreement("ρ of the true clusters in the code, against an analysis of variance",
                         _measured(data, model, steps), by_variance, tolerance=1e-6))  # fmt: skip
    yield also(bounded("the ordering estimates a large ρ on cora, and almost none when permuted",
                       [0.3, anew["ρ"].max()], [real["ρ"].min(), 0.02]))  # fmt: skip


# --- also used in the chapter ---------------------------------------------------------------------------------------


def dealt_anew(data, rng):
    """The similarities of a data set, shuffled among the matches and among the non-matches."""
    values = data.condensed.copy()
    for side in (data.matching, ~data.matching):
        values[side] = rng.permutation(values[side])
    return values


def questions(w, crowd, model, seed):
    """The questions of each ordering, and the dependence that evidence ordering with this model measures."""
    known = cr.EvidenceOrdering(w, model, rng=seed)
    orderings = {"edge": cr.EdgeOrdering(w, rng=seed), "node": cr.NodeOrdering(w, rng=seed), "evidence": known,
                 "learned": cr.EvidenceOrdering(w, rng=seed)}  # fmt: skip
    return {way: ordering.run(crowd).n_queries for way, ordering in orderings.items()} | {"ρ": known.dependence}


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
        for name, w in (("as it is", data.condensed), ("dealt anew", dealt_anew(data, rng))):
            lines.append({"similarities": name, **questions(w, crowd, model, r)})
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
