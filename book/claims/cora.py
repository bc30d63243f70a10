"""Claims of the chapter *cora: a real bibliography*."""

from collections import Counter
from functools import cache
from itertools import combinations
from math import comb, isqrt, log

import numpy as np
import pandas as pd
from scipy import sparse

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
    of_chapter,
    readings,
    says,
)
from crowder.cora.family import FAMILY, family_similarities
from crowder.counting.enumeration import questions_of_order

claim, check = of_chapter(__name__)

HEURISTICS = {"edge": cr.edge_ordering, "node": cr.node_ordering}
#: Printed for cora: the questions of full runs, and the recall of both orderings within a number of questions.
QUESTIONS = published.read()["cora-questions"].numbers
RECALL = published.read()["cora-recall"].numbers["node"]
WITHIN = published.read()["cora-within"].numbers["node"]
FINER = ["exact", "to tenths"]  # all roundings except the coarsest


@claim("C29")
def numbers_of_records_and_clusters(data=None):
    data = data or cr.datasets.cora()
    printed = published.read()["cora-records"].numbers
    sizes, again = data.sizes, pd.Series(data.labels).value_counts()
    n, k, pairs, largest = data.n, len(sizes), comb(data.n, 2), int(max(sizes))
    from_pairs = (1 + isqrt(1 + 8 * printed["pairs"])) // 2
    of_two, two = "clusters of two or more", int((sizes > 1).sum())
    matching = int((sizes * (sizes - 1) // 2).sum())
    yield says(counterexample("pairs of as many records as are printed",
                              value=comb(printed["records"], 2), relation="equal", printed=printed["pairs"]),
               f"{printed['pairs']:,} pairs are those of {from_pairs:,} records, not of {printed['records']:,}; and "
               f"{two} clusters have two or more records, not {printed[of_two]}.")  # fmt: skip
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


@claim("C31")
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
    yield says(readings(
        "fields used by the unnamed function; for each, the closest function, exact or rounded to tenths",
        {on: round(100 * miss, 1) for on, miss in of_fields.items()},
        fits="title", unit="larger of the two errors, in per cent"),
        f"The closest function reads only the title and misses the published counts by {of_fields['title']:.1%}; with "
        "all "
        f"fields the closest misses them by {of_fields['all fields']:.1%}.")  # fmt: skip
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


def never_above(recall, bound):
    """Whether a curve is at most a bound, as far as both extend."""
    shared = min(len(recall), len(bound))
    return bool((recall[:shared] <= bound[:shared] + 1e-12).all())


def small_data(sizes=(6, 4, 3, 1, 1)):
    """A few records with similarities of a model, for fast runs."""
    return cr.datasets.synthetic(sizes, cr.dist1(0.4), rng=3, shuffle=True)


@claim("B84")
def ideal_is_fastest(data=None, curves=None):
    data = data or small_data()
    if curves is None:
        runs = [ask(data.similarity, cr.Truth(data.labels), rng=1) for ask in HEURISTICS.values()]
        curves = {"ideal": cr.ideal_recall(data.labels), **{i: run.recall(data.labels) for i, run in enumerate(runs)}}
    by_hand = np.cumsum(np.concatenate([np.arange(1, m) for m in data.sizes]))
    by_hand = np.r_[0, by_hand / by_hand[-1], np.ones(comb(len(data.sizes), 2))]
    yield says(agreement("the recall of the ideal, by direct summation", curves["ideal"], by_hand, tolerance=1e-12),
               "After every number of questions, the recall of both orderings is at most that of the ideal, which is "
               "complete "
               f"after {data.n - len(data.sizes):,}.")  # fmt: skip
    yield cases(
        "recall increases from 0 to 1, and is at most that of the ideal",
        *((np.diff(r) >= 0).all() and r[0] == 0 and r[-1] == 1 for r in curves.values()),
        *(never_above(r, curves["ideal"]) for r in curves.values()),
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


def least_of_node_ordering(sizes, shares):
    """M + C(j, 2): the least number of questions of any node ordering for each of these values of recall."""
    matches_at = np.cumsum(np.concatenate([np.arange(1, m) for m in sizes]))
    fewest_matches = np.searchsorted(matches_at, matches_at[-1] * np.asarray(shares) - 1e-6) + 1
    return [int(m) + comb(j, 2) for m, j in zip(fewest_matches, _fewest_clusters(sizes, shares), strict=True)]


@claim("C32")
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
    yield says(readings(
        f"fields used by the unnamed function; for each, questions of node ordering until recall {RECALL}",
        of_fields.round().to_dict(), fits="all fields", unit=f"questions, on average; printed: below {WITHIN:,}"),
        f"Node ordering takes at least {node['min'].min():,} questions to recall {RECALL} with every function, and "
        "edge ordering "
        f"at most {more['max'].max():,} with those that read more than the title.")  # fmt: skip
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
            least_of_node_ordering(data.sizes, [RECALL]),
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


@claim("B83")
def no_implied_question_is_asked(data=None, first=None, kinds=None):
    data = data or small_data()
    labels, n, k = data.labels, data.n, len(data.sizes)
    first = first or {o: ask(data.similarity, cr.Truth(labels), rng=1) for o, ask in HEURISTICS.items()}
    kinds = kinds or [x for run in first.values() for x in (run.n_matches, _first_non_matches(run, labels))]
    new, old = first["node"].queries.T
    turn = np.diff(new) != 0  # the next record's turn
    w = {name: data.similarity[tuple(run.queries.T)] for name, run in first.items()}
    yield says(agreement(
        "questions that were necessary when asked, against questions asked",
        *zip(*((_replay(run, labels), run.n_queries) for run in first.values()), strict=True)),
        f"A second program finds each of the {sum(run.n_queries for run in first.values()):,} questions of two runs "
        "necessary "
        "when it was asked, and no pair left open.")  # fmt: skip
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
