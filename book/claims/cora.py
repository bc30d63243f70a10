"""Claims of the chapter *cora: a real bibliography*."""

from collections import Counter
from functools import cache
from itertools import combinations
from math import comb, isqrt, log

import numpy as np
import pandas as pd
import sympy as sp
from scipy import sparse, stats

import crowder as cr
from book.companion import published
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    exceeds,
    identity,
    of_chapter,
    readings,
    simulation,
)
from crowder.cora.family import FAMILY, family_similarities
from crowder.counting.enumeration import questions_of_order
from crowder.densities import StepDensity, hellinger2, total_variation

claim, check = of_chapter(__name__)

HEURISTICS = {"edge": cr.edge_ordering, "node": cr.node_ordering}
#: Printed for cora: the questions of full runs, and the recall of both orderings within a number of questions.
QUESTIONS = published.read()["cora-questions"].numbers
RECALL = published.read()["cora-recall"].numbers["node"]
WITHIN = published.read()["cora-within"].numbers["node"]
FINER = ["exact", "to tenths"]  # all roundings except the coarsest


@claim(
    "C29",
    place="Experimental Observations, data sets (ii)",
    status="misprint",
    basis="exact",
    kind="misprint",
    statement="""cora has 1,878 records in 191 clusters, 124 of them of two or more, the largest of 236; 1,764,381
         pairs.""",
    corrected="""It has 1,879 records, consistent with 1,764,381 pairs, in 191 clusters, 123 of them of two or more, the
         largest of 236.""",
    affects="nothing else: the experiments use the data, not these numbers",
    touches="experiments",
    code=cr.datasets.cora,
    test="test_datasets.py::test_cora_has_the_known_facts",
)
def numbers_of_records_and_clusters(data=None):
    data = data or cr.datasets.cora()
    printed = published.read()["cora-records"].numbers
    sizes, again = data.sizes, pd.Series(data.labels).value_counts()
    n, k, pairs, largest = data.n, len(sizes), comb(data.n, 2), int(max(sizes))
    from_pairs = (1 + isqrt(1 + 8 * printed["pairs"])) // 2
    of_two, two = "clusters of two or more", int((sizes > 1).sum())
    matching = int((sizes * (sizes - 1) // 2).sum())
    yield counterexample(
        "pairs of as many records as are printed",
        value=comb(printed["records"], 2),
        relation="equal",
        printed=printed["pairs"],
    )
    yield also(counterexample(of_two, value=two, relation="equal", printed=printed[of_two]))
    yield corrected(
        agreement(
            "records, clusters, records in the largest, pairs",
            [from_pairs, k, largest, pairs],
            [n, printed["clusters"], printed["records in the largest cluster"], printed["pairs"]],
        )
    )
    yield corrected(agreement("clusters of two or more, counted in two ways", two, int((again > 1).sum())))
    yield corrected(
        also(
            agreement(
                "pairs and matching pairs, by the formula and in the data",
                [pairs, matching],
                [len(data.condensed), int(data.matching.sum())],
            )
        )
    )
    yield corrected(also(agreement("sizes, counted in two ways", sorted(again), sorted(sizes.tolist()))))


# --- Dist-1 or Dist-2? ---------------------------------------------------------------------------------------------

MODELS = {"Dist-1": cr.dist1, "Dist-2": cr.dist2}
#: The only case in which cora is closer to Dist-1.
ODD = ("tfidf-cosine-title", "total variation")


def _area(p, q):
    x = (np.arange(2000) + 0.5) / 2000
    return float(np.abs(p.cdf(x) - q.cdf(x)).mean())


DISTANCES = {"total variation": total_variation, "squared Hellinger": hellinger2, "area": _area}


def _best_fit(f_g, f_r, distance, models):
    found = [(distance(f_g, m.green), distance(f_r, m.red)) for m in models.values()]
    best = int(np.argmin(np.sum(found, axis=1)))
    return list(models)[best], *found[best]


def _histograms(names, bins=20):
    found = {}
    for name in names:
        data = cr.datasets.cora(name)
        sides = data.condensed[data.matching], data.condensed[~data.matching]
        found[name] = [np.histogram(side, bins, (0, 1), density=True)[0] for side in sides]
    return found


def _fits(histograms, best_fit, tried):
    rows = []
    for name, pair in histograms.items():
        laws = [StepDensity(np.linspace(0, 1, len(law) + 1), law) for law in pair]
        rows += [
            (name, kind, model, *best_fit(*laws, distance, tried[model]))
            for kind, distance in DISTANCES.items()
            for model in MODELS
        ]
    fits = pd.DataFrame(rows, columns=["function", "distance", "model", "best ε", "matches", "non-matches"])
    return fits.assign(both=fits["matches"] + fits["non-matches"])


def _written(model, epsilon, x):
    """f_g, f_r, F_g and F_r from the definition of the models."""
    if model == "Dist-1":
        f_g = np.where(x < 0.5, 1 - epsilon, 1 + epsilon)
        F_g = np.where(x < 0.5, (1 - epsilon) * x, 1 - (1 + epsilon) * (1 - x))
        return f_g, 2 - f_g, F_g, 2 * x - F_g
    f_g, f_r = (x > epsilon) / (1 - epsilon), (x < 1 - epsilon) / (1 - epsilon)
    return f_g, f_r, *(np.clip((x - a) / (1 - epsilon), 0, 1) for a in (epsilon, 0))


def _nearest_again(pair, model, epsilons):
    """The three distances at their best ε, by sums over 2,000 midpoints."""
    x = (np.arange(2000) + 0.5) / 2000
    f = [np.repeat(np.asarray(law, float), 2000 // len(law)) for law in pair]
    F = [np.cumsum(law) / 2000 - law / 4000 for law in f]
    found = []
    for epsilon in epsilons:
        g = _written(model, epsilon, x)
        found.append([
            sum(abs(a - b).mean() / 2 for a, b in zip(f, g[:2], strict=True)),
            sum(((a**0.5 - b**0.5) ** 2).mean() / 2 for a, b in zip(f, g[:2], strict=True)),
            sum(abs(a - b).mean() for a, b in zip(F, g[2:], strict=True)),
        ])  # fmt: skip
    return np.min(found, axis=0)


@claim(
    "C30",
    place="Figure 2(a) and the paragraph on it",
    status="undecided",
    statement="""The similarities of cora resemble Dist-2 more than Dist-1. (Neither the similarity function nor the
         measure of resemblance is named. With twelve functions and three distances to the best fit of each model, it
         holds in all cases except one, total variation with tf-idf of the title.)""",
    touches="experiments",
    stands="""cora is nearer to Dist-2 by every measure tried for eleven of twelve functions, and by two of three for
         the other.""",
    code=[total_variation, hellinger2, family_similarities],
    test="test_datasets.py::test_cora_is_nearer_to_dist2_than_to_dist1",
)
def closer_to_dist2(histograms=None, fits=None, best_fit=_best_fit, epsilons=None):
    epsilons = np.arange(1, 20) / 40 if epsilons is None else epsilons
    tried = {name: {e: model(e) for e in epsilons} for name, model in MODELS.items()}
    histograms = histograms or _histograms(["jaccard-tokens", ODD[0]])
    fits = _fits(histograms, best_fit, tried) if fits is None else fits
    both = fits.pivot(index=["function", "distance"], columns="model", values="both")
    ratio, others = both["Dist-2"] / both["Dist-1"], both.drop(ODD)
    once_more = {
        (name, model): dict(zip(DISTANCES, _nearest_again(pair, model, epsilons), strict=True))
        for name, pair in histograms.items()
        for model in MODELS
    }
    known = [(model, d, MODELS[model](0.3)) for d in DISTANCES.values() for model in MODELS]
    yield readings(
        "distances that may measure the resemblance",
        ratio.groupby(level="distance").max().round(3).to_dict(),
        fits="area",
        unit=f"ratio of the distance to Dist-2 to that to Dist-1, the largest of {len(histograms)} functions",
    )
    yield also(bounded(f"closer to Dist-2, in all cases except {' by '.join(ODD)}", others["Dist-2"], others["Dist-1"]))
    yield also(
        agreement(
            "the distances, against sums over midpoints",
            both[list(MODELS)].to_numpy().ravel(),
            [once_more[name, model][kind] for name, kind in both.index for model in MODELS],
            tolerance=1e-9,
        )
    )
    yield also(
        agreement(
            "the best ε of known models is recovered",
            [best_fit(m.green, m.red, d, tried[model])[0] for model, d, m in known],
            [0.3] * len(known),
            tolerance=1e-9,
        )
    )


# --- the integral --------------------------------------------------------------------------------------------------


def _law(green, red):
    """The distinct similarities of non-matches, their numbers, and the share of matches up to each."""
    values, count = np.unique(red, return_counts=True)
    return values, count, np.searchsorted(np.sort(green), values, side="right") / len(green)


@claim(
    "B81",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement="""For real similarities the integral is an average over the non-matches, and it is at least the share of
         non-matches that no match exceeds in similarity.""",
    code=cr.datasets.cora,
    test="test_datasets.py::test_cora_has_non_matches_that_no_match_beats",
)
def integral_of_real_values(data=None, law=None, curve=None, trials=20_000, rng=0):
    data = data or cr.datasets.cora()
    green, red = data.condensed[data.matching], data.condensed[~data.matching]
    values, count, F_g = law or _law(green, red)

    def L_hat(t):
        return float((F_g**t * count).sum() / len(red))

    curve = [L_hat(t) for t in (1, 10, 100, 1000)] if curve is None else curve
    rng, scores = np.random.default_rng(rng), []
    for t in (1, 2, 5):
        best_match = rng.choice(green, (t, trials)).max(axis=0)
        hits = int(np.sum(rng.choice(red, trials) >= best_match))
        p_value = stats.binomtest(hits, trials, min(L_hat(t), 1)).pvalue
        scores.append(np.copysign(stats.norm.isf(min(p_value, 1) / 2), hits / trials - L_hat(t)))
    few_red = red[:: len(red) // 400]
    part_of = np.searchsorted(values, few_red)
    yield agreement(
        f"the average over {len(few_red)} of the non-matches, in two ways",
        [float((F_g[part_of] ** t).mean()) for t in (0, 1, 7)],
        [float(np.mean([(green <= w).mean() ** t for w in few_red])) for t in (0, 1, 7)],
        tolerance=1e-12,
    )
    yield bounded(
        "the share of non-matches that no match exceeds, against the integral", (red >= green.max()).mean(), curve
    )
    yield also(
        simulation("simulated comparisons of real similarities, $t = 1, 2, 5$", scores, 1, 0, size=trials, limit=5)
    )
    yield also(
        agreement(
            "the number of non-matches",
            int(count.sum()),
            comb(data.n, 2) - sum(comb(int(m), 2) for m in data.sizes),
        )
    )


# --- full runs of both heuristics ----------------------------------------------------------------------------------


@cache
def _few_runs(functions=("jaccard-tokens", "tfidf-cosine-title"), repetitions=2):
    """The table of runs in the chapter, for two functions."""
    rows, rng = [], np.random.default_rng(1)
    for name in functions:
        data = cr.datasets.cora(name)
        n, k, truth = data.n, len(data.sizes), cr.Truth(data.labels)
        for ordering, ask in HEURISTICS.items():
            for _ in range(repetitions):
                run = ask(data.condensed, truth, rng=rng)
                recall = run.recall(data.labels)
                right = np.array_equal(run.clusters, data.labels) and run.n_matches == n - k
                rows.append(
                    {
                        "ordering": ordering,
                        "function": name,
                        "rounded": "exact",
                        "questions": run.n_queries,
                        "right": right,
                        "within": recall[WITHIN],
                        RECALL: int(np.argmax(recall >= RECALL)),
                    }
                )
    return pd.DataFrame(rows)


@cache
def _first():
    """A run of each heuristic on cora."""
    data = cr.datasets.cora()
    return {name: ask(data.similarity, cr.Truth(data.labels), rng=1) for name, ask in HEURISTICS.items()}


def _walked(w, labels):
    """Questions of both orderings, pair by pair, without the engine."""
    here = range(len(labels))
    every = sorted(combinations(here, 2), key=lambda pair: -w[pair])
    arrivals = sorted(here, key=lambda v: w[v, v] - w[v].sum())  # by expected size
    node = [(v, u) for a, v in enumerate(arrivals) for u in sorted(arrivals[:a], key=lambda u: -w[v, u])]
    return [len(questions_of_order(order, labels)) for order in (every, node)]


def _second_road(data, runs, parts, rng):
    """Small parts of cora against the naive version, with small random numbers added to avoid ties; all runs."""
    rng, walks, engine = np.random.default_rng(rng), [], []
    for _ in range(parts):
        part = rng.choice(data.n, 40, replace=False)
        part = np.r_[part, rng.choice(np.flatnonzero(data.labels == data.labels[part[0]]), 5)]
        part = np.unique(part)
        grain = np.triu(rng.random((len(part), len(part))), 1) * 1e-6
        w = data.similarity[np.ix_(part, part)] * (1 - 1e-5) + grain + grain.T
        crowd = cr.Truth(data.labels[part])
        engine.append([ask(w, crowd, rng=rng).n_queries for ask in HEURISTICS.values()])
        walks.append(_walked(w, data.labels[part].tolist()))
    n, k = data.n, len(data.sizes)
    most = {"edge": n - k + int((~data.matching).sum()), "node": n * k}
    yield agreement(f"{parts} parts of cora, against the naive version", np.ravel(engine), np.ravel(walks))
    yield cases("the true clusters and $n - k$ matches", *runs["right"], where=f"all {len(runs)} runs")
    yield bounded("every count, against the maximum", runs["questions"], runs["ordering"].map(most))


def _of_rows(runs):
    return runs.groupby(["function", "rounded", "ordering"], sort=False)


def _reads(index):
    """The fields that the function of each row uses."""
    return index.get_level_values("function").map({name: member.on for name, member in FAMILY.items()})


def _edits(a, b):
    row = range(len(b) + 1)
    for i, x in enumerate(a):
        last, row = row, [i + 1]
        for j, y in enumerate(b):
            row.append(min(last[j + 1] + 1, row[j] + 1, last[j] + (x != y)))
    return row[-1]


def _plain_functions(places):
    """Similarity functions from their definitions."""
    words, grams = [set(p.split()) for p in places], [{p[i : i + 3] for i in range(len(p) - 2)} for p in places]
    found_in = Counter(word for part in words for word in part)
    rare = {word: log((1 + len(places)) / (1 + count)) + 1 for word, count in found_in.items()}

    def weight(terms):
        return sum(rare[word] ** 2 for word in terms)

    plain = {
        "jaccard-tokens": lambda i, j: len(words[i] & words[j]) / len(words[i] | words[j]),
        "jaccard-qgrams": lambda i, j: len(grams[i] & grams[j]) / len(grams[i] | grams[j]),
        "levenshtein": lambda i, j: 1 - _edits(places[i], places[j]) / max(len(places[i]), len(places[j])),
        "tfidf-cosine": lambda i, j: weight(words[i] & words[j]) / (weight(words[i]) * weight(words[j])) ** 0.5,
    }
    return plain | {"field-mean": plain["jaccard-tokens"]}  # names have one field


@claim(
    "C31",
    place="Figure 2(b) and the paragraph on it",
    status="undecided",
    statement="""On cora edge ordering asks 21,099 questions and node ordering 23,243, very close to optimal. (They
         are 6.4 % and 17.2 % above the least possible number. The similarity function is not named. Of twelve, those
         that use only the title are closest, with errors of about five per cent, and none gives both numbers.)""",
    touches="experiments",
    stands="""With every function tried both orderings ask far less than one question for each record and cluster, and
         edge ordering less than node ordering.""",
    code=[family_similarities, cr.EdgeOrdering, cr.NodeOrdering, cr.ideal_queries],
    test=[
        "test_datasets.py::test_cora_takes_few_questions_more_than_the_ideal",
        "test_datasets.py::test_cora_counts_near_the_printed_ones_come_from_the_title",
    ],
)
def printed_counts(data=None, runs=None, names=None, roundings=(10, 2), parts=2, rng=0):
    data, runs = data or cr.datasets.cora(), _few_runs() if runs is None else runs
    means = _of_rows(runs)["questions"].mean().unstack()
    misses = (means / pd.Series(QUESTIONS) - 1).abs().max(axis=1)
    misses = misses[misses.index.get_level_values("rounded").isin(FINER)]
    of_fields = misses.groupby(_reads(misses.index)).min()
    ideal = cr.ideal_queries(data.sizes)
    by_hand = sum(m - 1 for m in data.sizes) + len(list(combinations(range(len(data.sizes)), 2)))
    names = cr.datasets.disney().records["name"] if names is None else names
    places = [name.lower().replace(",", "") for name in names]
    plain, two_of = _plain_functions(places), list(combinations(range(len(places)), 2))
    x = np.linspace(0.003, 0.997, 500)
    yield readings(
        "fields used by the unnamed function; for each, the closest function, exact or rounded to tenths",
        {on: round(100 * miss, 1) for on, miss in of_fields.items()},
        fits="title",
        unit="larger of the two errors, in per cent",
    )
    yield from map(also, _second_road(data, runs, parts, rng))
    yield also(agreement("the least number of questions, by direct summation", ideal, int(by_hand)))
    yield also(bounded("the least number, against every count", ideal, runs["questions"]))
    yield also(
        agreement(
            "similarities of the five places of Figure 1, from the definitions",
            [cr.similarity.compute(places, name).tolist() for name in plain],
            [[again(*pair) for pair in two_of] for again in plain.values()],
            tolerance=1e-11,
        )
    )
    yield also(
        agreement(
            "Jaro-Winkler, by direct calculation",
            cr.similarity.compute(["martha", "marhta"], "jaro-winkler")[0],
            17 / 18 + 0.3 / 18,
            tolerance=1e-12,
        )
    )
    yield also(
        agreement(
            "rounding, from its definition",
            np.ravel([cr.similarity.discretize(x, "round", m) for m in roundings]),
            np.ravel([np.floor(m * x + 0.5) / m for m in roundings]),
            tolerance=1e-12,
        )
    )
    yield also(
        agreement(
            "the printed counts over the least number",
            [count / ideal for count in QUESTIONS.values()],
            [1.064, 1.172],
            tolerance=5e-4,
        )
    )


# --- recall against questions --------------------------------------------------------------------------------------


def _never_above(recall, bound):
    """Whether a curve is at most a bound, as far as both extend."""
    shared = min(len(recall), len(bound))
    return bool((recall[:shared] <= bound[:shared] + 1e-12).all())


def _small(sizes=(6, 4, 3, 1, 1)):
    """A few records with similarities of a model, for fast runs."""
    return cr.datasets.synthetic(sizes, cr.dist1(0.4), rng=3, shuffle=True)


@claim(
    "B84",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement="""No order of the pairs has higher recall after any number of questions than the ideal of Figure 2(b):
         all matches first, the largest cluster first.""",
    code=cr.ideal_recall,
    test="test_resolution.py::test_no_run_gains_recall_faster_than_the_ideal",
)
def ideal_is_fastest(data=None, curves=None):
    data = data or _small()
    if curves is None:
        runs = [ask(data.similarity, cr.Truth(data.labels), rng=1) for ask in HEURISTICS.values()]
        curves = {"ideal": cr.ideal_recall(data.labels), **{i: run.recall(data.labels) for i, run in enumerate(runs)}}
    by_hand = np.cumsum(np.concatenate([np.arange(1, m) for m in data.sizes]))
    by_hand = np.r_[0, by_hand / by_hand[-1], np.ones(comb(len(data.sizes), 2))]
    yield agreement("the recall of the ideal, by direct summation", curves["ideal"], by_hand, tolerance=1e-12)
    yield cases(
        "recall increases from 0 to 1, and is at most that of the ideal",
        *((np.diff(r) >= 0).all() and r[0] == 0 and r[-1] == 1 for r in curves.values()),
        *(_never_above(r, curves["ideal"]) for r in curves.values()),
        where=f"every number of questions, {len(curves) - 1} runs",
    )


def _plain_recall(data, run, at):
    """Recall after `at` questions, from matching pairs within components computed by SciPy."""
    joined = run.queries[:at][run.answers[:at]]
    graph = sparse.coo_matrix((np.ones(len(joined)), joined.T), (data.n, data.n))
    part = np.bincount(sparse.csgraph.connected_components(graph, directed=False)[1])
    return float((part * (part - 1) // 2).sum() / data.matching.sum())


def _fewest_clusters(sizes, shares):
    """j: the least number of clusters that contain each of these shares of all matching pairs."""
    held = np.cumsum(sizes * (sizes - 1) / 2) / (sizes * (sizes - 1) / 2).sum()
    return [int(np.argmax(held >= share - 1e-12)) + 1 for share in shares]


def _least_of_node_ordering(sizes, shares):
    """M + C(j, 2): the least number of questions of any node ordering for each of these values of recall."""
    matches_at = np.cumsum(np.concatenate([np.arange(1, m) for m in sizes]))
    fewest_matches = np.searchsorted(matches_at, matches_at[-1] * np.asarray(shares) - 1e-6) + 1
    return [int(m) + comb(j, 2) for m, j in zip(fewest_matches, _fewest_clusters(sizes, shares), strict=True)]


@claim(
    "C32",
    place="the paragraph on Figure 2(b)",
    status="undecided",
    statement="""On cora both orderings exceed a recall of 0.996 in fewer than 4,000 questions. (The similarity function
         is not named. Edge ordering does so with each of eight functions that use more than the title, exact or rounded
         to tenths, and needs more questions with only the title. Node ordering needs more with each of twelve
         functions; but the lower bound for node ordering is less, so it may be possible with another function.)""",
    touches="experiments",
    stands="Both orderings find most matches early; edge ordering with more than the title as early as the text says.",
    code=[cr.Resolution.recall, cr.NodeOrdering, family_similarities],
    test="test_datasets.py::test_cora_recall_within_the_printed_questions",
)
def recall_within(data=None, runs=None, first=None, similarity="jaccard-tokens", parts=2, rng=0):
    data, first = data or cr.datasets.cora(), first or _first()
    runs = _few_runs() if runs is None else runs
    level = _of_rows(runs)[RECALL].agg(["mean", "min", "max", "std"])
    edge, node = (level.xs(ordering, level="ordering") for ordering in HEURISTICS)
    finer = edge.index.get_level_values("rounded").isin(FINER)
    title_only = _reads(edge.index) == "title"
    more, title = edge[finer & ~title_only], edge[finer & title_only]
    of_fields = node["mean"][node.index.get_level_values("rounded").isin(FINER)]
    of_fields = of_fields.groupby(_reads(of_fields.index)).min()
    mine = runs[(runs["function"] == similarity) & (runs["rounded"] == "exact") & (runs["ordering"] == "node")]
    repetitions = len(mine)
    levels = [(o, at) for o, run in first.items() for at in (0, 1000, WITHIN, run.n_queries)]
    yield readings(
        f"fields used by the unnamed function; for each, questions of node ordering until recall {RECALL}",
        of_fields.round().to_dict(),
        fits="all fields",
        unit=f"questions, on average; printed: below {WITHIN:,}",
    )
    yield also(
        bounded(
            f"recall of node ordering after {WITHIN:,} questions, {similarity}, the best of "
            f"{repetitions} runs, against the printed {RECALL}",
            float(mine["within"].max()),
            RECALL,
        )
    )
    yield also(
        bounded(
            f"the least number of questions of any node ordering, against {WITHIN:,}",
            _least_of_node_ordering(data.sizes, [RECALL]),
            WITHIN,
        )
    )
    yield also(
        exceeds(
            f"{WITHIN:,} less the questions of edge ordering with more than the title, {len(more)} rows",
            WITHIN - more["mean"],
            more["std"] / np.sqrt(repetitions),
            size=repetitions,
        )
    )
    yield also(bounded("these questions in every run", more["max"], WITHIN))
    yield also(
        bounded(f"{WITHIN:,}, against those of edge ordering with only the title, every run", WITHIN, title["min"])
    )
    yield also(bounded(f"{WITHIN:,}, against those of node ordering, every run and row", WITHIN, node["min"]))
    yield also(
        agreement(
            "recall, from components by SciPy",
            [float(first[o].recall(data.labels)[at]) for o, at in levels],
            [_plain_recall(data, first[o], at) for o, at in levels],
            tolerance=1e-12,
        )
    )
    yield from map(also, _second_road(data, runs, parts, rng))


@claim(
    "B82",
    proof="09-cora#prop-node-recall",
    prose="that the first record of a cluster needs an answer about each cluster before it",
    place="beyond the paper",
    status="holds",
    basis="proved",
    statement=r"""A node ordering with recall $\rho$ has asked at least $M(\rho) + \binom{j(\rho)}2$ questions, and this
         bound is attained.""",
    code=cr.NodeOrdering,
    test="test_orderings.py::test_node_ordering_pays_for_each_cluster_it_opens",
)
def recall_of_node_ordering(data=None, bound=None, attained=None, arrivals=None):
    data = data or _small()
    truth, sizes = cr.Truth(data.labels), data.sizes
    if bound is None:
        gains = np.concatenate([np.r_[np.zeros(j), np.arange(1, m)] for j, m in enumerate(sizes)])
        bound = np.r_[0, np.cumsum(gains) / gains.sum()]
        together = np.lexsort((data.labels, -np.bincount(data.labels)[data.labels]))
        perfect = (data.labels[:, None] == data.labels).astype(float)
        attained = cr.node_ordering(perfect, truth, order=together, ties="index").recall(data.labels)
        arrivals = {
            order: cr.node_ordering(data.similarity, truth, rng=1, order=order).recall(data.labels)
            for order in ("expected-size", "random")
        }
    levels = [0.1, 0.5, 0.9, 0.99, RECALL, 1]
    i, j = sp.symbols("i j", positive=True, integer=True)
    yield identity("$i - 1$ non-matches for the $i$-th cluster", (sp.summation(i - 1, (i, 1, j)), j * (j - 1) / 2))
    yield also(
        agreement(
            "$M + \\binom{j}{2}$, against a perfect similarity with clusters by size, at six levels",
            _least_of_node_ordering(sizes, levels),
            [int(np.argmax(attained >= level - 1e-12)) for level in levels],
        )
    )
    yield also(agreement("the whole curve", bound, attained, tolerance=1e-12))
    yield also(
        cases(
            "no run of node ordering exceeds it",
            *(_never_above(recall, bound) for recall in [bound, *arrivals.values()]),
            where=f"{len(arrivals)} arrival orders",
        )
    )


# --- where the questions go ----------------------------------------------------------------------------------------


def _replay(run, labels):
    """The number of questions of a run that were necessary and answered correctly; -1 if any pair is left open."""
    n = len(labels)
    members, part, needed = {record: {record} for record in range(n)}, list(range(n)), 0
    apart = {record: set() for record in range(n)}  # known to differ
    for (u, v), same in zip(run.queries.tolist(), run.answers, strict=True):
        a, b = part[u], part[v]
        if a == b or b in apart[a] or same != (labels[u] == labels[v]):
            continue
        needed += 1
        if not same:
            apart[a].add(b)
            apart[b].add(a)
            continue
        members[a] |= members.pop(b)
        for record in members[a]:
            part[record] = a
        for c in apart.pop(b):
            apart[c] = apart[c] - {b} | {a}
            apart[a].add(c)
    return needed if all(len(others) == len(members) - 1 for others in apart.values()) else -1


def _first_non_matches(run, labels):
    """The number of non-matches that are the first between their two clusters."""
    return len({frozenset(labels[pair].tolist()) for pair in run.queries[~run.answers]})


@claim(
    "B83",
    place="beyond the paper",
    status="holds",
    basis="exact",
    statement="""On cora neither ordering asks a question whose answer is implied, and both settle every pair; edge
         ordering in decreasing order of similarity, node ordering record by record.""",
    code=[cr.EdgeOrdering, cr.NodeOrdering],
    test=[
        "test_orderings.py::test_edge_ordering_asks_what_the_naive_reference_asks",
        "test_orderings.py::test_node_ordering_asks_what_the_naive_reference_asks",
    ],
)
def no_implied_question_is_asked(data=None, first=None, kinds=None):
    data = data or _small()
    labels, n, k = data.labels, data.n, len(data.sizes)
    first = first or {o: ask(data.similarity, cr.Truth(labels), rng=1) for o, ask in HEURISTICS.items()}
    kinds = kinds or [x for run in first.values() for x in (run.n_matches, _first_non_matches(run, labels))]
    new, old = first["node"].queries.T
    turn = np.diff(new) != 0  # the next record's turn
    w = {name: data.similarity[tuple(run.queries.T)] for name, run in first.items()}
    yield agreement(
        "questions that were necessary when asked, against questions asked",
        *zip(*((_replay(run, labels), run.n_queries) for run in first.values()), strict=True),
    )
    yield also(cases("edge ordering: similarity never increases", *(np.diff(w["edge"]) <= 0), where="every question"))
    yield also(
        cases(
            "node ordering: record by record, similarity never increases and no cluster is asked about twice",
            turn.sum() == n - 2,  # the first record has none
            (np.diff(w["node"])[~turn] <= 0).all(),
            len(np.unique(new * k + labels[old])) == len(new),
            where="every question",
        )
    )
    yield also(agreement("$n - k$ matches, $\\binom{k}{2}$ first non-matches, in both", kinds, [n - k, comb(k, 2)] * 2))
