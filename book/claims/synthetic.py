"""Claims of the chapter *Synthetic experiments*."""

from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

import crowder as cr
from book.companion import published, table1_readings
from book.companion.claims import (
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    exceeds,
    of_chapter,
    says,
    simulation,
)
from crowder.counting.enumeration import questions_of_order
from crowder.experiments import count_questions, mean_interval, repeat

claim, check = of_chapter(__name__)

#: The probability that true means are rejected, and the level of the test of the printed numbers.
FALSE_ALARM, LEVEL = 1e-5, 0.01
#: The rows used by default: ε = 1/20 under both models.
SMALL_ROWS = (5, 8)


def printed_table():
    """Table 1 of the paper, a line for each data set, ε as a fraction."""
    printed = published.read()["table-1"].frame()
    printed["ε"] = printed["ε"].map(Fraction)
    return printed


def model_of(row):
    """The model of a line of the table."""
    return (cr.dist1 if row["model"] == "Dist-1" else cr.dist2)(float(row["ε"]))


def family_limit(values, runs, level=LEVEL):
    """The limit that the largest of so many |t| exceeds with at most this probability (Bonferroni).

    Each is Student's t with runs - 1 degrees of freedom.
    """
    return float(np.round(stats.t.isf(level / 2 / values, runs - 1), 2))


def expected(model, sizes, ordering, rounding="as drawn", ties="none", arrival="expected size"):
    """The expected questions under a reading: exact, by the formula for expected sizes, or NaN if neither applies."""
    random_ties, by_size = ties in ("none", "random"), ordering == "node" and arrival == "expected size"
    if not random_ties or (by_size and rounding != "as drawn"):
        return float("nan")
    blurred = table1_readings.spread(model, rounding)
    return cr.expected_queries(blurred, sizes, ordering, arrival=arrival if ordering == "node" else None)


@cache
def _few_runs(rows=SMALL_ROWS, runs=8):
    """Both heuristics on a few data sets of the printed size: a row for each data set."""
    printed, sizes = printed_table(), published.cluster_sizes(announced=True)
    lines = []
    for row, rng in zip(rows, np.random.default_rng(1).spawn(len(rows)), strict=True):
        for repetition, child in enumerate(rng.spawn(runs)):
            asked = count_questions(sizes, model_of(printed.iloc[row]), rng=child)
            lines.append({"row": row, "repetition": repetition, **asked})
    return pd.DataFrame(lines)


# --- the cluster sizes ---------------------------------------------------------------------------------------------


@claim("C25")
def listed_sizes(first=None, fewest=None):
    listed = published.read()["listed-sizes"].numbers
    records, clusters = published.read()["data-sets"].numbers.values()
    lowest, sizes = int(printed_table()["edge"].min()), published.cluster_sizes()
    first = published.cluster_sizes(announced=True) if first is None else first
    entries = np.cumsum(list(listed.values()))  # clusters up to the end of each entry
    fewest = [cr.ideal_queries(sizes[:k]) for k in entries] if fewest is None else list(fewest)
    fits = next(i for i, k in enumerate(entries) if (sum(sizes[:k]), k) == (records, clusters))
    by_hand = [
        sum(m - 1 for m in sizes[:k]) + len(list(combinations(sizes[:k], 2))) for k in entries
    ]  # fmt: skip
    yield says(counterexample("records in the listed clusters, without those of size 10",
                              value=sum(sizes), relation="equal", printed=records),
               f"The listed clusters have at least {sum(sizes):,} records, not {records:,}; the first three entries "
               "have "
               f"exactly {sum(first):,} in {len(first)} clusters.")  # fmt: skip
    yield also(counterexample("listed clusters, without those of size 10",
                              value=len(sizes), relation="equal", printed=clusters))  # fmt: skip
    yield corrected(agreement(
        "the first three entries: records, clusters, fewest questions; printed, and the smallest number of the table",
        [sum(first), len(first), cr.ideal_queries(first)], [records, clusters, lowest]))  # fmt: skip
    yield corrected(also(agreement("the least number of questions, by direct summation", fewest, by_hand)))
    above = (least > lowest for least in fewest[fits + 1 :])
    yield corrected(also(cases("the least number of questions exceeds it", *above, where="all longer lists")))


# --- a second, naive implementation --------------------------------------------------------------------------------


def _walked(w, labels):
    """Questions of node and edge ordering, pair by pair, without the engine."""
    n = len(labels)
    every = sorted(combinations(range(n), 2), key=lambda pair: -w[pair])
    arrivals = sorted(range(n), key=lambda v: w[v, v] - w[v].sum())  # by expected size
    node = [(v, u) for a, v in enumerate(arrivals) for u in sorted(arrivals[:a], key=lambda u: -w[v, u])]
    return [len(questions_of_order(order, labels)) for order in (node, every)]


def _distributions(model, epsilon, x):
    """F_g and F_r from the definition of the models."""
    if model == "Dist-1":
        low = (1 - epsilon, 1 + epsilon)  # heights below one half
        return [np.where(x < 0.5, f * x, 1 - (2 - f) * (1 - x)) for f in low]
    return [np.clip((x - start) / (1 - epsilon), 0, 1) for start in (epsilon, 0)]


@cache
def second_implementation(seed):
    """Heuristics, distribution functions and draws of the nine rows, each against an independent computation."""
    x, walks, cdfs, drawn = np.linspace(0, 1, 201), [], [], []
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(5)[4])  # the chapter has the others
    for _, row in printed_table().iterrows():
        model = model_of(row)
        small = cr.datasets.synthetic([9, 6, 5, 3, 1], model, rng=rng)
        w, truth = small.similarity, cr.Truth(small.labels)
        asked = [f(w, truth, rng=rng).n_queries for f in (cr.node_ordering, cr.edge_ordering)]
        walks.append((asked, _walked(w, small.labels.tolist())))
        large = cr.datasets.synthetic([60] * 8, model, rng=rng)
        parts = (large.condensed[large.matching], large.condensed[~large.matching])
        written = _distributions(row["model"], float(row["ε"]), x)
        for law, again, part in zip((model.green, model.red), written, parts, strict=True):
            cdfs.append((law.cdf(x), again))
            mean = 1 - np.trapezoid(again, x)  # exact: straight between the points
            drawn.append((part.mean(), part.std(ddof=1) / np.sqrt(len(part)), mean))
    return (
        agreement("small data sets of the nine rows, against the naive implementation",
                  *(np.ravel(side) for side in zip(*walks, strict=True))),
        agreement("both distribution functions of the nine rows, against their definitions",
                  *(np.ravel(side) for side in zip(*cdfs, strict=True)), tolerance=1e-12),
        simulation("the mean similarity of drawn matches and non-matches", *zip(*drawn, strict=True),
                   size=8 * 60 * 59 // 2, limit=5),
    )  # fmt: skip


# --- the numbers of Table 1 ----------------------------------------------------------------------------------------


def run_rows(models, sizes, repetitions, rng, only=None, rows=None, n_jobs=1):
    """All runs of these rows of the table: a line for each run of a heuristic under a reading."""
    rows, lines = range(len(models)) if rows is None else rows, []
    for row, child in zip(rows, rng.spawn(len(rows)), strict=True):
        drawn = repeat(table1_readings.count_readings, repetitions, rng=child, n_jobs=n_jobs,
                       sizes=sizes, model=models[row], only=only)  # fmt: skip
        for r, found in enumerate(drawn):
            lines += [{"row": row, "repetition": r, **run} for run in found]
    return pd.DataFrame(lines)


def run_table(models, sizes, repetitions, rng, reading, n_jobs=1):
    """The questions of both orderings under one reading: a line for each row of the table and each data set."""
    lines = run_rows(models, sizes, repetitions, rng, table1_readings.select(**reading), n_jobs=n_jobs)
    wide = lines.pivot(index=["row", "repetition"], columns="ordering", values="questions")
    return wide.reset_index()


def beside_printed(counts, sizes=None, rounding="as drawn", ties="none", arrival="expected size"):
    """Printed and expected number, mean with interval, and standard deviation of each row and ordering, row by row.

    `counts` has a row for each data set: the row of the table, and the questions of both orderings.
    """
    printed, parts = printed_table(), []
    sizes = published.cluster_sizes(announced=True) if sizes is None else sizes
    for ordering in ("node", "edge"):
        by_row = counts.groupby("row")[ordering]
        rows = list(by_row.groups)
        mean, low, high = np.transpose([mean_interval(asked) for _, asked in by_row])
        part = printed.loc[rows, ["model", "ε"]].assign(
            row=rows, ordering=ordering, printed=printed[ordering],
            expected=[expected(model_of(printed.loc[row]), sizes, ordering, rounding, ties, arrival) for row in rows],
            mean=mean, low=low, high=high, sd=by_row.std(), runs=by_row.size())  # fmt: skip
        part["z"] = distance(*(part[name].to_numpy() for name in ("printed", "expected", "mean", "sd", "runs")))
        parts.append(part)
    table = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
    return table.assign(ε=table["ε"].astype(str), best=table["expected"].fillna(table["mean"]))


def over_epsilon(sizes, rounding="as drawn", ties="none", arrival="expected size", points=13):
    """Both upper bounds, as printed and as corrected, and the expected number, over ε for both models."""
    rows, bounds = [], {"edge": cr.edge_bound, "node": cr.node_bound}
    for name, make, most in (("Dist-1", cr.dist1, 0.5), ("Dist-2", cr.dist2, 0.45)):
        for epsilon in np.geomspace(0.05, most, points):
            model = make(epsilon)
            rows += [{
                "model": name, "ε": epsilon, "ordering": ordering, "printed bound": bound(model, sizes),
                "corrected bound": bound(model, sizes, printed=False),
                "expected": expected(model, sizes, ordering, rounding, ties, arrival),
            } for ordering, bound in bounds.items()]  # fmt: skip
    return pd.DataFrame(rows)


def side_by_side(table):
    """Printed, mean with the half-width of its interval, expected and z, for both orderings in one row."""
    node, edge = (table[table["ordering"] == o].reset_index(drop=True) for o in ("node", "edge"))
    shown = node[["model", "ε"]].copy()
    for ordering, part in (("node", node), ("edge", edge)):
        shown[f"{ordering} printed"] = part["printed"]
        half = (part["high"] - part["mean"]).map("{:.0f}".format)
        shown[f"{ordering} mean"] = part["mean"].map("{:,.0f}".format) + "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}" + half
        if table["expected"].notna().all():
            shown[f"{ordering} expected"] = part["expected"].round().astype(int)
        shown[f"{ordering} z"] = part["z"]
    return shown


def distance(printed, expected, mean, sd, runs):
    """Printed numbers, each as a single run: distance from the expected number, or from the mean where it is NaN."""
    known = np.isfinite(expected)
    spread = np.maximum(sd, 1) * np.sqrt(1 + ~known / np.asarray(runs))  # of one new run less our mean
    return (printed - np.where(known, expected, mean)) / spread


def _complete(data, runs, sizes):
    if data is None:
        data = cr.datasets.synthetic(sizes, cr.dist1(0.25), rng=3)
        truth = cr.Truth(data.labels)
        runs = {"node": cr.node_ordering(data.similarity, truth, rng=1),
                "edge": cr.edge_ordering(data.similarity, truth, rng=1)}  # fmt: skip
    matches = data.n - len(sizes)
    return cases(
        f"{matches:,} matches and the true clusters",
        *(np.array_equal(run.clusters, data.labels) for run in runs.values()),
        *(run.n_matches == matches for run in runs.values()),
        where="the run shown",
    )


@claim("C24")
def table_1(counts=None, table=None, data=None, runs=None, sizes=None, seed=2017):
    """`counts`: a row for each data set. `table`: printed number, expected number (NaN where it is not known), mean and
    standard deviation of `runs` runs, for each row and ordering."""
    counts = _few_runs() if counts is None else counts
    sizes = published.cluster_sizes(announced=True) if sizes is None else sizes
    table = beside_printed(counts) if table is None else table
    z = distance(*(table[name].to_numpy() for name in ("printed", "expected", "mean", "sd", "runs")))
    repetitions = int(table["runs"].min())
    limit = family_limit(len(table), repetitions)
    yield says(simulation(
        f"{len(table)} printed numbers, each as a single run, in standard deviations; limit for all at {LEVEL:.0%}",
        z, 1, 0, size=repetitions, limit=limit),
        f"The farthest of the {len(table)} published numbers is {np.abs(z).max():.2f} standard deviations of a run "
        "from the "
        f"expected one; the limit for all of them is {limit:.2f}.")  # fmt: skip
    known = table[np.isfinite(table["expected"])]
    if len(known):
        yield also(simulation(
            "the mean of the runs against the expected number", known["mean"],
            known["sd"].clip(lower=0.5) / np.sqrt(repetitions), known["expected"], size=repetitions,
            limit=family_limit(len(known), repetitions, FALSE_ALARM)))  # fmt: skip
    yield from map(also, second_implementation(seed))
    yield also(_complete(data, runs, sizes))
    yield also(bounded("node ordering, against $nk$", counts["node"], sum(sizes) * len(sizes)))


@claim("C27")
def edge_above_node(counts=None, seed=2017):
    counts, printed = _few_runs() if counts is None else counts, printed_table()
    more = (counts["edge"] - counts["node"]).groupby(counts["row"])
    excess, runs = more.mean(), int(more.size().min())
    error = more.std() / np.sqrt(runs)
    dist1 = (printed["model"] == "Dist-1")[excess.index]
    least = printed[(printed["model"] == "Dist-1") & (printed["edge"] < printed["node"])].iloc[0]
    yield says(counterexample(
        f"edge against node ordering, {least['model']}, ε = {least['ε']}, as printed",
        value=int(least["edge"]), relation="at least", printed=int(least["node"])),
        f"At ε = {least['ε']} the paper itself prints {least['edge']:,} questions for edge ordering and "
        f"{least['node']:,} for "
        "node ordering; on average edge ordering asks more.")  # fmt: skip
    yield corrected(exceeds("edge ordering less node ordering on the same data, every ε of Dist-1",
                            excess[dist1], error[dist1], size=runs))  # fmt: skip
    yield corrected(also(exceeds("node ordering less edge ordering, every ε of Dist-2",
                                 -excess[~dist1], error[~dist1], size=runs)))  # fmt: skip
    sizes, weak = published.cluster_sizes(announced=True), printed[printed["model"] == "Dist-1"].index
    means = [[expected(model_of(printed.iloc[row]), sizes, o) for o in ("edge", "node")] for row in weak]
    yield corrected(also(cases("the exact mean of edge ordering is above the expected number of node ordering",
                               *(edge > node for edge, node in means), where="Dist-1, every ε")))  # fmt: skip
    yield from (corrected(also(piece)) for piece in second_implementation(seed))


@claim("C28")
def dist2_below_dist1(counts=None, seed=2017):
    counts, printed, both = _few_runs() if counts is None else counts, printed_table(), ["node", "edge"]
    by_epsilon = printed.groupby("ε").groups.values()
    pairs = sorted(tuple(rows) for rows in by_epsilon if len(rows) == 2)  # Dist-1, Dist-2
    share = [[printed[o][two] / printed[o][one] for o in both] for one, two in pairs]
    yield says(bounded("printed counts: the ratio of Dist-2 to Dist-1, against one half", share, 0.5),
               f"The published counts under Dist-2 are {np.min(share):.0%} to {np.max(share):.0%} of those under "
               "Dist-1 at the "
               "same ε.")  # fmt: skip
    by_row = counts.groupby("row")[both]
    runs = int(by_row.size().min())
    one, two = np.transpose([pair for pair in pairs if set(pair) <= set(counts["row"])])
    mean, error = by_row.mean(), by_row.std() / np.sqrt(runs)
    yield exceeds(
        "half of Dist-1 less Dist-2, regenerated, both orderings",
        mean.loc[one].to_numpy() / 2 - mean.loc[two].to_numpy(),
        np.hypot(error.loc[one].to_numpy() / 2, error.loc[two].to_numpy()), size=runs)  # fmt: skip
    yield from map(also, second_implementation(seed))
