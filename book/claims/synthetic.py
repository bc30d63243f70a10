"""Claims of the chapter *Synthetic experiments*."""

from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import sympy as sp
from scipy import stats

import crowder as cr
from book.claims.every_order import mean_over_orders
from book.companion import published, table1_readings
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
from crowder.counting.enumeration import questions_of_order
from crowder.counting.exact_counts import expected_queries_exact
from crowder.experiments import count_questions
from crowder.perfect_crowd import edge_questions, node_questions

claim, check = of_chapter(__name__)

#: The probability that true means are rejected, and the level of the test of the printed numbers.
FALSE_ALARM, LEVEL = 1e-5, 0.01
#: The rows used by default: ε = 1/20 under both models.
SMALL_ROWS = (5, 8)


def _table_1():
    printed = published.read()["table-1"].frame()
    printed["ε"] = printed["ε"].map(Fraction)
    return printed


def _model(row):
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
    printed, sizes = _table_1(), published.cluster_sizes(announced=True)
    lines = []
    for row, rng in zip(rows, np.random.default_rng(1).spawn(len(rows)), strict=True):
        for repetition, child in enumerate(rng.spawn(runs)):
            asked = count_questions(sizes, _model(printed.iloc[row]), rng=child)
            lines.append({"row": row, "repetition": repetition, **asked})
    return pd.DataFrame(lines)


# --- the cluster sizes ---------------------------------------------------------------------------------------------


@claim(
    "C25",
    place="Experimental Observations, data sets (i)",
    status="misprint",
    basis="exact",
    kind="misprint",
    statement="""Two clusters of 200, four of 100, eight of 50, two each of 30 and 20, and the rest of 10, are 1,200
        records in 14 clusters.""",
    corrected="""The first three entries are already 1,200 records in 14 clusters; the least number of questions for
        them is 1,277, the smallest number in Table 1.""",
    affects="the description of the data sets of Table 1; no theorem, and no number of the table",
    touches="experiments",
    code=[cr.ideal_queries],
    test="test_resolution.py::test_the_ideal_of_larger_clusters_by_hand",
)
def listed_sizes(first=None, fewest=None):
    listed = published.read()["listed-sizes"].numbers
    records, clusters = published.read()["data-sets"].numbers.values()
    lowest, sizes = int(_table_1()["edge"].min()), published.cluster_sizes()
    first = published.cluster_sizes(announced=True) if first is None else first
    entries = np.cumsum(list(listed.values()))  # clusters up to the end of each entry
    fewest = [cr.ideal_queries(sizes[:k]) for k in entries] if fewest is None else list(fewest)
    fits = next(i for i, k in enumerate(entries) if (sum(sizes[:k]), k) == (records, clusters))
    by_hand = [
        sum(m - 1 for m in sizes[:k]) + len(list(combinations(sizes[:k], 2))) for k in entries
    ]  # fmt: skip
    yield counterexample("records in the listed clusters, without those of size 10",
                         value=sum(sizes), relation="equal", printed=records)  # fmt: skip
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
def _second_road(seed):
    """Heuristics, distribution functions and draws of the nine rows, each against an independent computation."""
    x, walks, cdfs, drawn = np.linspace(0, 1, 201), [], [], []
    rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(5)[4])  # the chapter has the others
    for _, row in _table_1().iterrows():
        model = _model(row)
        small = cr.datasets.synthetic([9, 6, 5, 3, 1], model, rng=rng)
        w, truth = small.similarity, cr.Truth(small.labels)
        asked = [f(w, truth, rng=rng).n_queries for f in (cr.node_ordering, cr.edge_ordering)]
        counted = [f(w, small.labels, rng=1) for f in (node_questions, edge_questions)]  # what the chapter calls
        walks += [(way, _walked(w, small.labels.tolist())) for way in (asked, counted)]
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


def _summary(counts):
    """Printed, mean and standard deviation of each row and ordering, row by row; and the expected number."""
    printed, parts, sizes = _table_1(), [], published.cluster_sizes(announced=True)
    for ordering in ("node", "edge"):
        by_row = counts.groupby("row")[ordering]
        part = pd.DataFrame({"mean": by_row.mean(), "sd": by_row.std()}).assign(ordering=ordering)
        part["expected"] = [expected(_model(printed.iloc[row]), sizes, ordering) for row in part.index]
        parts.append(part.assign(printed=printed[ordering]))
    table = pd.concat(parts).sort_index(kind="stable")
    return table.assign(runs=len(counts) // counts["row"].nunique()).reset_index(names="row")


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


@claim(
    "C24",
    place="Experimental Observations, Table 1",
    status="holds",
    basis="simulated",
    statement=r"""The eighteen numbers of questions of Table 1: node and edge ordering, six values of $\epsilon$ under
        Dist-1, three under Dist-2.""",
    touches=["Dist-1", "Dist-2", "experiments"],
    code=[cr.expected_queries, count_questions, cr.EdgeOrdering, cr.NodeOrdering, cr.datasets.synthetic],
    test=[
        "test_experiments.py::test_rows_of_table_1_are_what_a_run_may_give",
        "test_orderings.py::test_edge_ordering_asks_what_the_naive_reference_asks",
        "test_orderings.py::test_node_ordering_asks_what_the_naive_reference_asks",
    ],
)
def table_1(counts=None, table=None, data=None, runs=None, sizes=None, seed=2017):
    """`counts`: a row for each data set. `table`: printed number, expected number (NaN where it is not known), mean and
    standard deviation of `runs` runs, for each row and ordering."""
    counts = _few_runs() if counts is None else counts
    sizes = published.cluster_sizes(announced=True) if sizes is None else sizes
    table = _summary(counts) if table is None else table
    z = distance(*(table[name].to_numpy() for name in ("printed", "expected", "mean", "sd", "runs")))
    repetitions = int(table["runs"].min())
    yield simulation(
        f"{len(table)} printed numbers, each as a single run, in standard deviations; limit for all at {LEVEL:.0%}",
        z, 1, 0, size=repetitions, limit=family_limit(len(table), repetitions))  # fmt: skip
    known = table[np.isfinite(table["expected"])]
    if len(known):
        yield also(simulation(
            "the mean of the runs against the expected number", known["mean"],
            known["sd"].clip(lower=0.5) / np.sqrt(repetitions), known["expected"], size=repetitions,
            limit=family_limit(len(known), repetitions, FALSE_ALARM)))  # fmt: skip
    yield from map(also, _second_road(seed))
    yield also(_complete(data, runs, sizes))
    yield also(bounded("node ordering, against $nk$", counts["node"], sum(sizes) * len(sizes)))


@claim(
    "C27",
    place="Experimental Observations, Observation",
    status="holds with a caveat",
    basis="simulated",
    kind="condition",
    statement="Under Dist-1 edge ordering consistently asks more questions than node ordering.",
    corrected="""It does in five of the six printed rows, and on average over regenerated data sets in all six; under
        Dist-2 it asks fewer.""",
    affects=r"the remark on Table 1 at $\epsilon = \frac12$ under Dist-1, a single run; no theorem",
    touches=["Dist-1", "experiments"],
    code=[cr.expected_queries, count_questions],
    test="test_experiments.py::test_rows_of_table_1_are_what_a_run_may_give",
)
def edge_above_node(counts=None, seed=2017):
    counts, printed = _few_runs() if counts is None else counts, _table_1()
    more = (counts["edge"] - counts["node"]).groupby(counts["row"])
    excess, runs = more.mean(), int(more.size().min())
    error = more.std() / np.sqrt(runs)
    dist1 = (printed["model"] == "Dist-1")[excess.index]
    least = printed[(printed["model"] == "Dist-1") & (printed["edge"] < printed["node"])].iloc[0]
    yield counterexample(f"edge against node ordering, {least['model']}, ε = {least['ε']}, as printed",
                         value=int(least["edge"]), relation="at least", printed=int(least["node"]))  # fmt: skip
    yield corrected(exceeds("edge ordering less node ordering on the same data, every ε of Dist-1",
                            excess[dist1], error[dist1], size=runs))  # fmt: skip
    yield corrected(also(exceeds("node ordering less edge ordering, every ε of Dist-2",
                                 -excess[~dist1], error[~dist1], size=runs)))  # fmt: skip
    sizes, weak = published.cluster_sizes(announced=True), printed[printed["model"] == "Dist-1"].index
    means = [[expected(_model(printed.iloc[row]), sizes, o) for o in ("edge", "node")] for row in weak]
    yield corrected(also(cases("the exact mean of edge ordering is above the expected number of node ordering",
                               *(edge > node for edge, node in means), where="Dist-1, every ε")))  # fmt: skip
    yield from (corrected(also(piece)) for piece in _second_road(seed))


@claim(
    "C28",
    place="Experimental Observations, Observation",
    status="holds",
    basis="simulated",
    statement=r"At the same $\epsilon$, Dist-2 needs far fewer questions than Dist-1 (less than half).",
    touches=["Dist-1", "Dist-2", "experiments"],
    code=[count_questions],
    test="test_experiments.py::test_rows_of_table_1_are_what_a_run_may_give",
)
def dist2_below_dist1(counts=None, seed=2017):
    counts, printed, both = _few_runs() if counts is None else counts, _table_1(), ["node", "edge"]
    by_epsilon = printed.groupby("ε").groups.values()
    pairs = sorted(tuple(rows) for rows in by_epsilon if len(rows) == 2)  # Dist-1, Dist-2
    share = [[printed[o][two] / printed[o][one] for o in both] for one, two in pairs]
    yield bounded("printed counts: the ratio of Dist-2 to Dist-1, against one half", share, 0.5)
    by_row = counts.groupby("row")[both]
    runs = int(by_row.size().min())
    one, two = np.transpose([pair for pair in pairs if set(pair) <= set(counts["row"])])
    mean, error = by_row.mean(), by_row.std() / np.sqrt(runs)
    yield exceeds(
        "half of Dist-1 less Dist-2, regenerated, both orderings",
        mean.loc[one].to_numpy() / 2 - mean.loc[two].to_numpy(),
        np.hypot(error.loc[one].to_numpy() / 2, error.loc[two].to_numpy()), size=runs)  # fmt: skip
    yield from map(also, _second_road(seed))


# --- the readings of the text --------------------------------------------------------------------------------------

FITS = "first clusters, as drawn, ties none, arrival expected size"


def _few_scores(rows=(7, 8), runs=2):
    """Scores of three readings, from a few data sets of two rows."""
    printed, sizes = _table_1(), published.cluster_sizes(announced=True)
    only, found = table1_readings.select(ties="random", arrival="expected size"), []
    for row, rng in zip(rows, np.random.default_rng(2).spawn(len(rows)), strict=True):
        for child in rng.spawn(runs):
            counted = table1_readings.count_readings(sizes, _model(printed.iloc[row]), rng=child, only=only)
            found += [{"row": row, "printed": printed[run["ordering"]][row], **run} for run in counted]
    keys = ["rounding", "ordering", "row", "printed"]
    cell = pd.DataFrame(found).groupby(keys)["questions"].agg(["mean", "std"]).reset_index()
    cell["z"] = table1_readings.one_more_run(cell["printed"], cell["mean"], cell["std"], runs)
    rms = {rounding: table1_readings.joint_score(part["z"], runs)["rms"] for rounding, part in cell.groupby("rounding")}
    return {FITS: rms.pop("as drawn"), **rms}


@claim(
    "C26",
    place="Experimental Observations, data sets (i)",
    status="misprint",
    basis="simulated",
    kind="misprint",
    statement=r"The similarities were discretized to the values $0, 0.1, \dots, 1$.",
    corrected=r"""The numbers of Table 1 are those of similarities as they are drawn, or discretized to steps too fine
        to matter. With random ties, no rounding to tenths gives the numbers for Dist-2: to the nearest tenth both
        orderings would ask more at $\epsilon = \frac1{10}$; down or up, several times as many at $\frac1{20}$.""",
    affects="the description of the data sets of Table 1; no theorem, and no number of the table",
    touches=["Dist-2", "experiments"],
    code=[cr.expected_queries, table1_readings.spread, table1_readings.count_readings, cr.similarity.discretize],
    test=[
        "test_table1_readings.py::test_a_spread_atom_asks_what_random_ties_ask",
        "test_table1_readings.py::test_every_reading_is_counted_once",
        "test_table1_readings.py::test_ties_by_index_in_listed_order_are_those_of_the_orderings",
        "test_experiments.py::test_rounding_up_asks_what_rounding_down_asks",
        "test_similarity.py::test_discretize",
    ],
)
def discretized_to_tenths(cells=None, scores=None, seed=2017):
    """`cells`: Dist-2 with random ties and arrival by expected size: ε, rounding, ordering, printed, expected (NaN
    where it is not known), mean and sd of `runs` runs. `scores`: reading, in words, to the root mean square of z."""
    cells, scores = _few_rounded() if cells is None else cells, _few_scores() if scores is None else scores
    cells = cells.assign(z=distance(*(cells[c].to_numpy() for c in ("printed", "expected", "mean", "sd", "runs"))))
    runs = int(cells["runs"].min())
    limit = family_limit(len(cells), runs)
    for rounding, part in cells[cells["rounding"] != "as drawn"].groupby("rounding", sort=False):
        worst = part.loc[part["z"].abs().idxmax()]
        known = np.isfinite(worst["expected"])
        value, how = (worst["expected"], "exact mean") if known else (worst["mean"], f"mean of {runs} runs")
        yield counterexample(
            f"{worst['ordering']} ordering, Dist-2, ε = {worst['ε']}, {rounding}: {how}, standard deviation of a run "
            f"{worst['sd']:.0f}", value=round(value, 1), relation="equal", printed=int(worst["printed"]),
            margin=limit * max(1.0, worst["sd"]))  # fmt: skip
    drawn = cells[cells["rounding"] == "as drawn"]
    yield corrected(simulation(
        f"the {len(drawn)} printed numbers for Dist-2, as drawn, each as a single run, in standard deviations",
        drawn["z"], 1, 0, size=runs, limit=limit))  # fmt: skip
    yield corrected(also(readings(f"{len(scores)} readings of the experiment, compared with the eighteen numbers",
                                  scores, fits=FITS, unit="root mean square of z")))  # fmt: skip
    fine = np.linspace(0.003, 0.997, 500)
    tenths = {"round": np.floor(10 * fine + 0.5), "floor": np.floor(10 * fine), "ceil": -np.floor(-10 * fine)}
    yield corrected(also(agreement("the three rules, against their definitions",
                         np.ravel([cr.similarity.discretize(fine, rule) for rule in tenths]),
                         np.ravel(list(tenths.values())) / 10, tolerance=1e-12)))  # fmt: skip
    yield corrected(also(agreement("questions with rounding down and with rounding up, same draws", *_moved(seed))))
    yield from (corrected(also(piece)) for piece in _second_road(seed))


@cache
def _few_rounded(rows=(7, 8), runs=24):
    """Both orderings on a few data sets of the last two rows of the table, under three roundings."""
    printed, sizes, lines = _table_1(), published.cluster_sizes(announced=True), []
    only = table1_readings.select(ties="random", arrival="expected size")
    for row, rng in zip(rows, np.random.default_rng(6).spawn(len(rows)), strict=True):
        model = _model(printed.iloc[row])
        drawn = [table1_readings.count_readings(sizes, model, rng=child, only=only) for child in rng.spawn(runs)]
        found = pd.DataFrame([run for one in drawn for run in one])
        for (rounding, ordering), asked in found.groupby(["rounding", "ordering"], sort=False)["questions"]:
            lines.append({"ε": printed["ε"][row], "rounding": rounding, "ordering": ordering, "runs": runs,
                          "printed": printed[ordering][row], "mean": asked.mean(), "sd": asked.std(),
                          "expected": expected(model, sizes, ordering, rounding, "random")})  # fmt: skip
    return pd.DataFrame(lines)


def _moved(seed):
    """Questions of both orderings on the last row of the table, rounded down and rounded up."""
    sizes, model = published.cluster_sizes(announced=True), _model(_table_1().iloc[-1])
    for rule in ("floor", "ceil"):
        data = cr.datasets.synthetic(sizes, model, rng=np.random.default_rng(seed), discretize=rule)
        truth = cr.Truth(data.labels)
        yield [f(data.similarity, truth, rng=seed).n_queries for f in (cr.node_ordering, cr.edge_ordering)]


def _few_cells(sizes=(9, 6, 5, 4), runs=60):
    """Mean and standard deviation of the questions for rounded similarities, random ties, and the exact mean."""
    only, found = table1_readings.select(ties="random", arrival="random"), []
    for model in (cr.dist1(0.25), cr.dist2(0.05)):
        for child in np.random.default_rng(4).spawn(runs):
            counted = table1_readings.count_readings(list(sizes), model, rng=child, only=only)
            found += [{"model": model.name, **run} for run in counted]
    cell = pd.DataFrame(found).groupby(["model", "rounding", "ordering"])["questions"].agg(["mean", "std", "size"])
    cell = cell.rename(columns={"std": "sd", "size": "runs"})
    models = {model.name: model for model in (cr.dist1(0.25), cr.dist2(0.05))}
    cell["expected"] = [
        cr.expected_queries(table1_readings.spread(models[name], rounding), list(sizes), ordering)
        for name, rounding, ordering in cell.index
    ]
    return cell


@claim(
    "B72",
    place="beyond the paper",
    status="holds",
    basis="proved",
    proof="08-synthetic#prop-syn-ties",
    prose="that the questions depend on the order of the pairs alone",
    statement="""With similarities discretized to tenths and random ties, the expected number of questions is that for
        similarities whose mass is spread evenly over the values that were rounded to the same tenth: for edge ordering,
        and for node ordering in random order.""",
    code=[table1_readings.spread, cr.expected_queries],
    test="test_table1_readings.py::test_a_spread_atom_asks_what_random_ties_ask",
)
def exact_count_for_rounded_similarities(cells=None):
    """`cells`: for each row, ordering and rounding the mean and standard deviation of `runs` runs, and the expected
    number."""
    cells = _few_cells() if cells is None else cells
    runs = int(cells["runs"].min())
    x, h = sp.symbols("x1:5", positive=True), sp.Symbol("h", positive=True)
    ordered, orders = sp.Integer(1), []
    for p in range(4):  # the volume in which x1 < x2 < ... < x(p + 1) < h
        ordered = sp.integrate(ordered, (x[p], 0, x[p + 1] if p < 3 else h))
        orders.append((ordered.subs(x[p + 1], h) / h ** (p + 1) if p < 3 else ordered / h**4, 1 / sp.factorial(p + 1)))
    yield identity("an order of up to four similarities that are spread evenly over a bin of width $h$ has probability "
                   "$1/p!$", *((one * h, other * h) for one, other in orders))  # fmt: skip
    yield also(agreement("three records under Dist-2, all orders and all ways to round, in fractions",
                         *zip(*_rounded_in_fractions(), strict=True), where="two roundings"))  # fmt: skip
    yield also(simulation(
        f"mean questions for rounded similarities, random ties: {len(cells)} rows, orderings and roundings",
        cells["mean"], cells["sd"].clip(lower=0.5) / np.sqrt(cells["runs"]), cells["expected"], size=runs,
        limit=family_limit(len(cells), runs, FALSE_ALARM)))  # fmt: skip


def _rounded_in_fractions(epsilon=Fraction(1, 10)):
    """For two records that match and a third one: the mean over all ways to round, and the formula with even bins."""
    for half in (0, Fraction(1, 20)):  # down, nearest
        edges = sorted({Fraction(0), Fraction(1), *(Fraction(i, 10) - half for i in range(1, 11))})
        reached = [_cdf(law, edges) for law in (cr.dist2(epsilon).green, cr.dist2(epsilon).red)]
        masses = [[b - a for a, b in pairwise(F)] for F in reached]
        widths = [b - a for a, b in pairwise(edges)]
        even = cr.SimilarityModel.from_steps(
            edges, *([mass / width for mass, width in zip(part, widths, strict=True)] for part in masses))  # fmt: skip
        for ordering in ("edge", "node"):
            walked = mean_over_orders((0, 0, 1), ordering, *masses)
            yield Fraction(int(walked.p), int(walked.q)), expected_queries_exact(even, [2, 1], ordering)


def _cdf(law, at):
    """The distribution function in fractions."""
    ends = list(zip(law.edges, law.edges[1:], law.heights, strict=False))
    return [sum(h * (min(b, x) - a) for a, b, h in ends if x > a) for x in at]


@claim(
    "B71",
    place="beyond the paper",
    status="holds",
    basis="simulated",
    statement="""With uninformative similarities, edge ordering asks on average as many questions as a uniformly random
        order of the pairs.""",
    code=[count_questions, cr.enumeration.orders_by_questions],
    test="test_enumeration.py::test_edge_ordering_on_noise_has_the_mean_over_all_orders",
)
def uninformative_similarities(asked=None, sizes=(3, 2)):
    """`asked`: questions of edge ordering on data sets of these sizes."""
    if asked is None:
        children = np.random.default_rng(5).spawn(200)
        asked = [count_questions(list(sizes), cr.uniform(), rng=rng)["edge"] for rng in children]
    orders = cr.enumeration.orders_by_questions(np.repeat(np.arange(len(sizes)), sizes))
    total = sum(orders.values())
    mean = sum(q * c for q, c in orders.items()) / total
    spread = np.sqrt(sum(q * q * c for q, c in orders.items()) / total - mean**2)
    yield simulation("the mean over all orders of the pairs of five records", np.mean(asked),
                     spread / np.sqrt(len(asked)), mean, size=len(asked))  # fmt: skip
