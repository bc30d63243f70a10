"""Claims of the appendix *Stopping: checks and a budget*."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, exp, log, prod, sqrt

import numpy as np
import pandas as pd

import crowder as cr
from book.claims.stopping import (
    BEYOND,
    SLOPE,
    TESTS,
    WAYS,
    draw,
    guessed_odds,
    ordering,
    prior_sizes,
    saved_rows,
    similarities,
    stop,
    synthetic,
)
from book.companion.claims import agreement, bounded, exceeds, of_chapter, says, simulation
from book.companion.empirical import mean_and_error
from book.companion.naive import clusterings
from crowder.beyond.posterior import left_open

claim, check = of_chapter(__name__)


@claim("B131")
def posterior_bound_of_an_open_pair(stopped=None, model=None):
    """`stopped`: for each run its similarities, the prior odds and the result of `Stopping.run`."""
    stopped, model = (stopped, model) if stopped is not None else _small_runs()
    stated = np.concatenate([run.chance for _, _, run in stopped])
    exact = np.concatenate([exact_chances(w, model, odds, run) for w, odds, run in stopped])
    by_hand = np.concatenate([_printed_bound(w, model, odds, run) for w, odds, run in stopped])
    lone = np.concatenate([open_to_no_other(run) for _, _, run in stopped])
    yield says(
        bounded(
            f"exact posterior of {len(exact)} open pairs, by enumeration, against the stated bound",
            exact,
            stated + 1e-6,
        ),
        f"For {len(exact)} open pairs, the exact posterior probability of a match is at most the bound.",
    )
    yield agreement("stated bounds against the formula, summed record by record", stated, by_hand, tolerance=1e-5)
    yield agreement("pairs open to no other component: stated bound and exact posterior", stated[lone], exact[lone],
                    tolerance=1e-5)  # fmt: skip


@claim("B132")
def bounds_for_a_whole_run(stopped=None, model=None):
    """`stopped`: as for B131."""
    stopped, model = (stopped, model) if stopped is not None else _small_runs()
    lines = []
    for w, odds, run in stopped:
        size = np.bincount(run.clusters)[run.clusters]
        pairs = size[run.declared].prod(axis=1)
        by_hand = _printed_bound(w, model, odds, run)
        apart = sum(c for p, c in exact_posterior(w, model, odds, run).items() if max(p) == run.clusters.max())
        lines.append({
            "miss": 1 - float(apart), "stated": run.run_bound, "printed": min(1, sum(by_hand)),
            "lost": pairs @ exact_chances(w, model, odds, run), "stated lost": run.missed_bound,
            "printed lost": pairs @ by_hand,
        })  # fmt: skip
    runs = pd.DataFrame(lines)
    yield says(
        bounded(
            f"exact probability of a miss, {len(runs)} stopped runs, against the sum of the bounds",
            runs["miss"],
            runs["stated"] + 1e-6,
        ),
        f"In {len(runs)} stopped runs the exact probability of a miss is at most the sum of the bounds.",
    )
    yield bounded("exact expected number of missed pairs against its bound", runs["lost"], runs["stated lost"] + 1e-6)
    stated, printed = (np.r_[runs[what], runs[f"{what} lost"]] for what in ("stated", "printed"))
    yield agreement("both bounds as stated, against the formula", stated, printed, tolerance=1e-4)


@claim("B133")
def guarantee_of_each_rule(data=None, model=None, promised=None, promised_model=None, odds=0.5, delta=0.1, budget=10):
    """`promised`: for each run the rule, "pair_delta" or "run_delta", its similarities and its result."""
    if data is None:
        model, data = cr.dist1(0.5), synthetic([12, 8, 4, 2], cr.dist1(0.5))
    if promised is None:
        promised_model, promised = cr.dist1(0.5), _promised(cr.dist1(0.5), odds, delta)
    w, labels, same, first = data.condensed, data.labels, [], []
    for way in WAYS:
        for r in range(2):
            plain = ordering(way, w, model, r).run(cr.Truth(labels)).queries.tolist()
            same += [stop(way, w, labels, model, r, **how).queries.tolist() == plain
                     for how in ({"pair_delta": 0}, {"run_delta": 0})]  # fmt: skip
            cut = stop(way, w, labels, model, r, budget=budget * r).queries.tolist()
            first.append(cut == plain[: budget * r])
    yield agreement(f"runs with δ = 0 that ask the same questions (of {len(same)})", sum(same), len(same))
    yield agreement(f"runs with a budget of q that ask the first q (of {len(first)})", sum(first), len(first))
    left, separated = [], []
    for rule, square, run in promised:
        chances = _printed_bound(square, promised_model, odds, run)
        left.append(max(chances, default=0) if rule == "pair_delta" else sum(chances))
        answered = {frozenset(run.clusters[pair].tolist()) for pair in run.queries[~run.answers]}
        separated.append(len(answered) + len(run.declared) == comb(run.clusters.max() + 1, 2))
    yield says(
        bounded(
            f"δ = {delta:g}, all orderings: the bound for each pair left at the end, or their sum, against δ",
            left,
            np.full(len(left), delta + 1e-6),
        ),
        f"At the end of {len(left)} runs with δ = {delta:g}, what is left keeps the bound that was asked for.",
    )
    yield agreement("every two clusters are separated by an answer or declared", sum(separated), len(separated))


@claim("B135")
def effect_of_the_prior_odds(data=None, guessed=None):
    """`guessed`: a row for each run, with the prior odds, the number of the data set, the expected number of wrong
    declarations and their number."""
    data = synthetic([12, 8, 4, 2], cr.dist1(0.5)) if data is None else data
    guessed = guessed_odds() if guessed is None else guessed
    model, asked = cr.dist1(0.5), []
    for delta, odds in ((0.1, 1.0), (1 / 91, 0.1), (0.5, 9.0)):  # each δ/(1-δ)/o is one ninth
        for way in WAYS:
            run = stop(way, data.condensed, data.labels, model, 1, pair_delta=delta, odds=odds)
            asked.append(run.queries.tolist())
    yield agreement("equal δ/(1-δ)/o, equal questions: pairs of runs",
                    sum(asked[i] == asked[i % 3] for i in range(3, 9)), 6)  # fmt: skip
    low = guessed[guessed["odds"] < 0.5]
    excess = (low["wrong"] - low["stated"]).groupby(low["data"]).sum()  # all models together
    yield says(
        exceeds(
            "odds far too low: wrong declarations less the stated number",
            *mean_and_error(excess),
            size=len(low),
            limit=3,
        ),
        f"With odds far too low, {low['wrong'].mean():.1f} declarations are wrong on average in a run, "
        f"where {low['stated'].mean():.2f} was stated.",
    )
    yield bounded("odds of a hundred to one: wrong declarations in all runs together",
                  guessed["wrong"][guessed["odds"] == 100].sum(), 2)  # fmt: skip


@claim("B136")
def certain_pairs_under_dist2(saved=None, ideal=None, seed=1, tries=4000):
    """`saved`: a row for each run, with the model's name, the ordering, the questions of the full and of the stopped
    run, the stated probability and the number of wrong declarations. `ideal`: the least number of questions. `seed`:
    for all other draws."""
    if saved is None:
        sizes = [14, 11, 9, 8, 7, 6, 5]
        saved, ideal = saved_rows("Dist-2", cr.dist2(0.4), "2/5", sizes), cr.ideal_queries(sizes)
    rng = np.random.default_rng(seed)
    proven, single = [], []
    for epsilon in (0.05, 0.2, 0.4):
        for a, b in ((1, 1), (1, 3), (2, 3)):
            below = (cr.dist2(epsilon).red.sample((tries, a * b), rng=rng) < epsilon).any(axis=1)
            expected = 1 - ((1 - 2 * epsilon) / (1 - epsilon)) ** (a * b)
            proven.append((below.mean(), sqrt(expected * (1 - expected) / tries), expected))
    for epsilon in (0.05, 0.2, 0.4):  # as `Stopped.chance` has it: forty records, all different, nothing asked
        drawn = cr.datasets.synthetic([1] * 40, cr.dist2(epsilon), rng=rng)
        run = stop("edge", drawn.condensed, drawn.labels, cr.dist2(epsilon), 1, budget=0)
        expected = epsilon / (1 - epsilon)
        single.append((np.mean(run.chance == 0), sqrt(expected * (1 - expected) / 780), expected))
    yield says(
        simulation(
            "share of components proved to differ, nine settings, against the formula",
            *np.transpose(proven),
            size=tries,
            limit=5,
        ),
        f"In {len(proven)} settings the formula agrees with {tries:,} simulated pairs of components each.",
    )
    yield simulation("singletons: share of certain non-matches", *np.transpose(single), size=780, limit=5)
    rows = saved[saved["model"] == "Dist-2"]
    edge = rows[rows["way"] == "edge"]["questions"]
    yield agreement("Dist-2 rows of the table above: wrong declarations, and the stated probability",
                    [rows["wrong"].sum(), rows["stated"].sum()], [0, 0])  # fmt: skip
    yield bounded("every stopped run asks less than the full run, edge ordering less than the ideal",
                  np.r_[rows["questions"], edge], np.r_[rows["full"], np.full(len(edge), ideal)] - 1)  # fmt: skip


@claim("B138")
def recall_under_a_budget(bought=None, least=None, most=None):
    """`bought`: a row for each budget and run, with the ordering, whether it omitted improbable matches, the number of
    the data set, recall and precision. `least`, `most`: the budgets of the claim."""
    if bought is None:
        bought, least, most = _bought()
    table = bought.pivot_table(index=["data", "budget"], columns=["way", "passing"], values="recall")
    early = table[table.index.get_level_values("budget").to_series().between(least, most).to_numpy()]
    first = early["evidence", False] - early[[("edge", False), ("node", False)]].max(axis=1)
    node = early["node", True] - early["node", False]
    yield says(
        exceeds(
            f"budgets {least} to {most}: recall of evidence ordering less that of the better heuristic",
            *mean_and_error(first.groupby("data").mean()),
            size=bought["data"].nunique(),
            limit=4,
        ),
        f"With {least} to {most} questions, evidence ordering has a recall {first.mean():.2f} higher than the better "
        "heuristic.",
    )
    yield exceeds("the same budgets: recall of node ordering with omissions, less without",
                  *mean_and_error(node.groupby("data").mean()), size=bought["data"].nunique(), limit=4)  # fmt: skip
    yield agreement("precision, every run", bought["precision"].to_numpy(), np.ones(len(bought)))


@claim("B191")
def bounds_with_a_crowd_that_errs(erring=None):
    """`erring`: a row for each run, with the answers that may be wrong ("any" or "no"), whether a match was missed, the
    number of missed pairs, the bounds on both, and the estimate that takes the answers for true."""
    erring = pd.DataFrame(erring_runs(1200, 0.02, 1)) if erring is None else erring
    for kind, runs in erring.groupby("errors"):
        yield exceeds(f"{kind} answers wrong: bound on a miss, less the share of runs with one",
                      *mean_and_error(runs["bound"] - runs["miss"]), size=len(runs), limit=3)  # fmt: skip
        yield exceeds(f"{kind} answers wrong: bound on the missed pairs, less their number",
                      *mean_and_error(runs["missed bound"] - runs["missed"]), size=len(runs), limit=3)  # fmt: skip
    no = erring[erring["errors"] == "no"]
    yield says(
        exceeds(
            "no answers wrong: share of runs with a miss, less the estimate without errors",
            *mean_and_error(no["miss"] - no["estimate"]),
            size=len(no),
            limit=3,
        ),
        f"If *no* about a match may be wrong, {no['miss'].mean():.1%} of {len(no):,} runs miss one: the bound states "
        f"{no['bound'].mean():.1%}, and the estimate that takes the answers for true {no['estimate'].mean():.1%}.",
    )


# --- the posterior by its definition, and the bound from its formula -------------------------------------------------


def exact_posterior(w, model, odds, run):
    """Every partition that agrees with the answers, and its exact probability.

    A priori each additional entity makes a partition 1/odds times as probable; the likelihood is the product of f_g or
    f_r over all pairs. Computed in fractions.
    """
    n = len(run.clusters)
    pairs = list(combinations(range(n), 2))
    green, red = ([Fraction(x) for x in f.pdf(w).tolist()] for f in (model.green, model.red))
    answered = list(zip(run.queries.tolist(), run.answers.tolist(), strict=True))
    weight = {p: odds ** -(max(p) + 1)
              * prod(g if p[a] == p[b] else r for (a, b), g, r in zip(pairs, green, red, strict=True))
              for p in clusterings(n) if all((p[a] == p[b]) == same for (a, b), same in answered)}  # fmt: skip
    whole = sum(weight.values())
    return {p: value / whole for p, value in weight.items()}


def exact_chances(w, model, odds, run):
    """The probability that each declared pair is a match: the sum over the partitions in which its records match."""
    posterior = exact_posterior(w, model, odds, run)
    return np.array([float(sum(c for p, c in posterior.items() if p[a] == p[b])) for a, b in run.declared])


def open_to_no_other(run):
    """Which declared pairs consist of two components that are open to no other component."""
    ends = run.declared.ravel().tolist()
    return np.array([ends.count(a) == ends.count(b) == 1 for a, b in run.declared], bool)


def _printed_bound(w, model, odds, run):
    """The bound of the proposition for every declared pair, from its formula, by loops over records."""
    pairs = combinations(range(len(run.clusters)), 2)
    ratio = dict(zip(pairs, np.log(model.green.pdf(w) / model.red.pdf(w)), strict=True))
    part = {c: np.flatnonzero(run.clusters == c) for c in range(run.clusters.max() + 1)}
    opened = {frozenset(run.clusters[pair].tolist()) for pair in run.declared}
    evidence = {o: sum(ratio[min(u, v), max(u, v)] for u in part[min(o)] for v in part[max(o)]) for o in opened}
    bounds = []
    for a, b in run.clusters[run.declared].tolist():
        both = [c for c in part if frozenset((a, c)) in opened and frozenset((b, c)) in opened]
        least = min(sum(max(0, evidence[frozenset((x, c))]) for c in both) for x in (a, b))
        bounds.append(1 / (1 + exp(-log(odds) - evidence[frozenset((a, b))] - least)))
    return np.array(bounds)


def erring_runs(runs, error, seed, odds=0.5, records=10):
    """Runs with a crowd whose answers, or only whose *no* about a match, are wrong with probability `error`."""
    rng, shares = np.random.default_rng(seed), prior_sizes(records, odds)
    for r in range(runs):
        labels, w = draw(shares, SLOPE, rng)
        errors = ("any", "no")[r % 2]

        def crowd(i, j, labels=labels, errors=errors):
            same = bool(labels[i] == labels[j])
            return same != ((same or errors == "any") and rng.random() < error)

        inner = ordering(WAYS[r % 3], w, SLOPE, r)
        run = cr.Stopping(inner, SLOPE, run_delta=0.1, odds=odds, errors=error).run(crowd)
        together, found = (np.equal.outer(x, x) for x in (labels, run.clusters))
        missed = (together & ~found).sum() // 2
        yield {"errors": errors, "miss": missed > 0, "missed": missed, "bound": run.run_bound,
               "missed bound": run.missed_bound, "estimate": run.run_estimate}  # fmt: skip


# --- small runs, for a check without the notebook -------------------------------------------------------------------


def _small_runs():
    """Five records with any labels: the bound holds given similarities and answers."""
    rng, model, stopped = np.random.default_rng(1), cr.dist1(Fraction(1, 2)), []
    for r in range(16):
        labels, odds = rng.integers(3, size=5), (Fraction(1), Fraction(1, 4), Fraction(3))[r % 3]
        w = similarities(labels, model, rng)
        run = stop("edge", w, labels, model, r, budget=r % 8, odds=float(odds))
        stopped += [(w, odds, run)] if len(run.declared) else []
    return stopped, model


def _promised(model, odds, delta):
    rng, promised = np.random.default_rng(1), []
    for r in range(12):
        labels, rule = rng.integers(4, size=9), ("pair_delta", "run_delta")[r % 2]
        w = similarities(labels, model, rng)
        promised.append((rule, w, stop(WAYS[r % 3], w, labels, model, r, odds=odds, **{rule: delta})))
    return promised


def _bought(sizes=(50, 25, 25, 12, 12, 7, 5), data_sets=4):
    model, n, lines = cr.dist1(Fraction(1, 2)), sum(sizes), []
    marks = [n * s // 8 for s in range(8, 16)]
    for r in range(data_sets):
        drawn = synthetic(list(sizes), model, r)
        for way in WAYS:
            for passing in (False, True):
                run = stop(way, drawn.condensed, drawn.labels, model, r, odds=max(sizes), budget=marks[-1],
                            pair_delta=0.01 if passing else 0)  # fmt: skip
                recall = run.recall(drawn.labels)
                lines += [{"way": way, "passing": passing, "data": r, "budget": q,
                           "recall": recall[min(q, len(recall) - 1)], "precision": run.precision(drawn.labels)[-1]}
                          for q in marks]  # fmt: skip
    return pd.DataFrame(lines), marks[0], marks[-1]
