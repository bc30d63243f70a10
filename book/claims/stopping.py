"""Claims of the chapter *When to stop*, and what its runs are made of."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb, sqrt

import numpy as np
import pandas as pd

import crowder as cr
from book.companion.claims import agreement, bounded, exceeds, of_chapter, says, simulation
from book.companion.empirical import mean_and_error
from book.companion.learned_stops import learned_stop, recorded
from book.companion.naive import clusterings

claim, check = of_chapter(__name__)

BEYOND = "beyond the paper"
TESTS = "test_stopping.py::test_"
WAYS = ("edge", "node", "evidence")

QUARTERS = [0, Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), 1]
RISING = [Fraction(height, 4) for height in (1, 3, 5, 7)]
#: Two densities of four steps each, which are mirror images of one another.
SLOPE = cr.SimilarityModel.from_steps(QUARTERS, RISING, RISING[::-1], name="slope")


@claim("B134")
def stated_probabilities_are_calibrated(calibration=None):
    """`calibration`: a row for each run, with the model's name, the ordering, the rule, its δ, the number of the data
    set, the expected number of wrong declarations and their number."""
    if calibration is None:
        calibration = _calibration()
    promised = calibration[calibration["rule"] == "run_delta"]
    tight = promised[~promised["model"].str.startswith("Dist-2")]
    per_data = tight.groupby(["model", "data"])[["wrong", "stated"]].mean()  # the orderings share data sets
    gap, error = (per_data["wrong"] - per_data["stated"]).mean(), sqrt(per_data["stated"].mean() / len(per_data))
    shares = tight["wrong"].mean(), tight["stated"].mean()
    yield says(
        simulation(
            "sloped densities and Dist-1: wrong declarations in a run, less the sum of the stated bounds",
            gap,
            error,
            0,
            size=len(tight),
            limit=4.5,
        ),
        f"In {len(tight):,} runs a mean of {shares[0]:.3f} declarations is wrong, where {shares[1]:.3f} was stated.",
    )
    each = promised.groupby("way")[["wrong", "stated"]].agg(["mean", "size"])
    # Rare events: the variance of their number is its mean.
    most = each["stated", "mean"] + 5 * np.sqrt(each["stated", "mean"] / each["stated", "size"])
    yield bounded("each ordering: wrong declarations per run, against the stated number plus five standard errors",
                  each["wrong", "mean"], most)  # fmt: skip
    yield bounded("every run: the sum of the stated bounds, against δ", promised["stated"], promised["δ"])


@claim("B137")
def savings_of_stopping(saved=None, guessed=None):
    """`saved`: as for B136, with ε and δ. `guessed`: as for B135, with ε and the questions of the full and of the
    stopped run."""
    if saved is None:
        saved = saved_rows("Dist-1", cr.dist1(0.5), "1/2", [120] * 2 + [60] * 4 + [30] * 6)
    guessed = guessed_odds() if guessed is None else guessed
    strong = saved[(saved["model"] == "Dist-1") & (saved["ε"] == "1/2") & (saved["δ"] == 1e-3)].set_index("way")
    share = 1 - strong["questions"] / strong["full"]
    small = guessed[(guessed["ε"] == "1/2") & (guessed["odds"] == 100)]
    yield bounded("every run: questions of the stopped run, against those of the full run plus five",
                  saved["questions"], saved["full"] + 5)  # fmt: skip
    yield says(
        bounded(
            "ε = ½, δ = 0.001: one half and one tenth, against the shares saved by node and edge ordering",
            [0.5, 0.1],
            [share["node"], share["edge"]],
        ),
        f"With δ = 0.001 node ordering saves {share['node']:.0%} of its questions and edge ordering "
        f"{share['edge']:.0%}.",
    )
    yield exceeds("ε = ½ at a quarter of the size, δ = 0.05: share that node ordering saves, above one fifth",
                  *mean_and_error(1 - small["questions"] / small["full"]), 0.2, size=len(small), limit=4)  # fmt: skip
    yield bounded("wrong declarations in all runs together", saved["wrong"].sum(), 2)
    yield bounded("every run: the stated probability of a miss, against δ", saved["stated"], saved["δ"])


@claim("B139")
def stopping_on_cora(runs=None, delta=0.01):
    """`runs`: a row for each run, with the variant, the questions of the full and of the stopped run, the expected
    number of wrong declarations, their number, and recall."""
    runs = _on_cora(delta) if runs is None else runs
    parts = dict(tuple(runs.groupby("cora")))
    asis, anew = parts["as it is"], parts["permuted"]
    yield exceeds("original similarities: wrong declarations in a run, less the stated number",
                  *mean_and_error(asis["wrong"] - asis["stated"]), size=len(asis), limit=2)  # fmt: skip
    yield says(
        bounded(
            "original, every run: ten times the stated number of wrong declarations, against the actual number",
            10 * asis["stated"],
            asis["wrong"],
        ),
        f"At most {asis['stated'].max():.3f} wrong declarations were stated for a run, and at least "
        f"{asis['wrong'].min():.0f} are wrong.",
    )
    yield bounded("original, every run: questions against a fifth of the full run, and 0.99 against recall",
                  np.r_[asis["questions"], np.full(len(asis), 0.99)],
                  np.r_[asis["to the end"] / 5, asis["recall"]])  # fmt: skip
    yield bounded("permuted: wrong declarations in all runs together", anew["wrong"].sum(), 2)
    yield bounded("every run: the sum of the stated bounds, against δ", runs["stated"], np.full(len(runs), delta))


@claim("B190")
def estimates_of_a_learned_model(runs=None):
    """`runs`: a row for each run, as `book.companion.learned_stops.learned_stop` returns it."""
    if runs is None:
        data = cr.datasets.cora("tfidf-cosine")
        runs = [learned_stop("tfidf-cosine", data.labels, data.condensed, rng=0)]
    runs = pd.DataFrame(runs)
    yield says(
        bounded(
            "cora: a thousand times the estimated number of missed pairs, against their actual number",
            1000 * runs["estimated"],
            runs["missed"],
        ),
        f"The largest estimate of missed pairs in {len(runs)} runs is {runs['estimated'].max():.2f}; the fewest "
        f"missed are {runs['missed'].min():,}.",
    )
    yield bounded("cora: the estimated probability that anything was missed, against δ", runs["chance"],
                  np.full(len(runs), 0.01))  # fmt: skip
    yield agreement("gym and allsports, as recorded: pairs missed", recorded()["missed"].sum(), 0)


# --- runs ---------------------------------------------------------------------------------------------------------


def ordering(way, w, model, rng):
    """One of the three orderings, by name."""
    if way == "evidence":
        return cr.EvidenceOrdering(w, model, rng=rng)
    return (cr.EdgeOrdering if way == "edge" else cr.NodeOrdering)(w, rng=rng)


def stop(way, w, labels, model, rng, **how):
    """A run that is stopped, with a perfect crowd."""
    return cr.Stopping(ordering(way, w, model, rng), model, **how).run(cr.Truth(labels))


def prior_sizes(n, odds):
    """For each m up to n, how likely is each size of the cluster that has the first of m records.

    Under the prior in which each further entity makes a partition 1/odds times as likely.
    """
    whole, shares = [1.0], [None]
    for m in range(1, n + 1):
        ways = [comb(m - 1, s - 1) / odds * whole[m - s] for s in range(1, m + 1)]
        whole.append(sum(ways))
        shares.append(np.array(ways) / whole[-1])
    return shares


def draw(shares, model, rng):
    """Labels from the prior of `prior_sizes`, one cluster after another, and similarities from a model."""
    n = len(shares) - 1
    labels, left, cluster = np.zeros(n, int), rng.permutation(n), 0
    while len(left):
        size = 1 + rng.choice(len(left), p=shares[len(left)])
        labels[left[:size]] = cluster
        left, cluster = left[size:], cluster + 1
    same = np.equal(*labels[np.array(np.triu_indices(n, 1))])
    green, red = (density.sample(len(same), rng=rng) for density in (model.green, model.red))
    return labels, np.where(same, green, red)


def synthetic(sizes, model, rng=1):
    return cr.datasets.synthetic(sizes, model, rng=np.random.default_rng(rng), shuffle=True)


def similarities(labels, model, rng):
    same = [a == b for a, b in combinations(labels, 2)]
    return np.where(same, model.green.sample(len(same), rng=rng), model.red.sample(len(same), rng=rng))


def _calibration(records=6, runs=150, odds=0.2):
    """Runs on labels drawn from the prior, by enumeration of all partitions."""
    rng, every, lines = np.random.default_rng(1), np.array(list(clusterings(records))), []
    weight = odds ** -(every.max(axis=1) + 1.0)
    for name, model in (("Dist-1, ½", cr.dist1(0.5)), ("Dist-2, ⅕", cr.dist2(0.2))):
        for r in range(runs):
            labels = every[rng.choice(len(every), p=weight / weight.sum())]
            w, delta = similarities(labels, model, rng), (0.3, 0.1)[r % 2]
            for way in WAYS:
                run = stop(way, w, labels, model, r, run_delta=delta, odds=odds)
                lines.append({"model": name, "way": way, "rule": "run_delta", "δ": delta, "data": r,
                              "stated": run.chance.sum(), "wrong": run.wrong(labels).sum()})  # fmt: skip
    return pd.DataFrame(lines)


def guessed_odds(sizes=(50, 25, 25, 12, 12, 7, 5), data_sets=4):
    lines = []
    for r in range(data_sets):
        drawn = synthetic(list(sizes), cr.dist1(0.5), r)
        full = ordering("node", drawn.condensed, None, r).run(cr.Truth(drawn.labels)).n_queries
        for odds in (1 / 13, 100.0):
            run = stop("node", drawn.condensed, drawn.labels, cr.dist1(0.5), r, run_delta=0.05, odds=odds)
            lines.append({"ε": "1/2", "odds": odds, "data": r, "full": full, "questions": run.n_queries,
                          "stated": run.chance.sum(), "wrong": run.wrong(drawn.labels).sum()})  # fmt: skip
    return pd.DataFrame(lines)


def saved_rows(name, model, epsilon, sizes):
    drawn, lines = synthetic(sizes, model), []
    for way in ("edge", "node"):
        full = ordering(way, drawn.condensed, model, 1).run(cr.Truth(drawn.labels)).n_queries
        for delta in (1e-2, 1e-3):
            run = stop(way, drawn.condensed, drawn.labels, model, 1, run_delta=delta, odds=max(sizes))
            lines.append({"model": name, "ε": epsilon, "way": way, "full": full, "δ": delta, "questions": run.n_queries,
                          "stated": run.run_bound, "wrong": run.wrong(drawn.labels).sum()})  # fmt: skip
    return pd.DataFrame(lines)


def _on_cora(delta):
    """About half of the records of cora."""
    cora, steps, rng = cr.datasets.cora(), np.linspace(0, 1, 51), np.random.default_rng(1)
    kept = np.sort(rng.choice(cora.n, 900, replace=False))
    labels, above = cora.labels[kept], np.triu_indices(900, 1)
    asis = cora.similarity[np.ix_(kept, kept)][above]
    dealt, same = asis.copy(), labels[above[0]] == labels[above[1]]
    heights = [np.histogram(asis[side], steps, density=True)[0] for side in (same, ~same)]
    own = cr.SimilarityModel.from_steps(steps, *heights)
    for side in (same, ~same):
        dealt[side] = rng.permutation(dealt[side])
    lines = []
    for what, w in (("as it is", asis), ("permuted", dealt)):
        for way in ("edge", "node"):
            full = ordering(way, asis, own, 0).run(cr.Truth(labels)).n_queries
            run = stop(way, w, labels, own, 0, run_delta=delta)
            lines.append({"cora": what, "to the end": full, "questions": run.n_queries, "stated": run.chance.sum(),
                          "wrong": run.wrong(labels).sum(), "recall": run.recall(labels)[-1]})  # fmt: skip
    return pd.DataFrame(lines)
