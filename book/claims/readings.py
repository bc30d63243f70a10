"""Claims of the appendix *Every reading of the synthetic experiment*."""

from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import sympy as sp

import crowder as cr
from book.claims.every_order import mean_over_orders
from book.claims.synthetic import (
    FALSE_ALARM,
    distance,
    expected,
    family_limit,
    model_of,
    printed_table,
    second_implementation,
)
from book.companion import published, table1_readings
from book.companion.claims import (
    agreement,
    also,
    corrected,
    counterexample,
    identity,
    of_chapter,
    readings,
    says,
    simulation,
)
from crowder.counting.exact_counts import expected_queries_exact
from crowder.experiments import count_questions

claim, check = of_chapter(__name__)

FITS = "first clusters, as drawn, ties none, arrival expected size"


def _few_scores(rows=(7, 8), runs=2):
    """Scores of three readings, from a few data sets of two rows."""
    printed, sizes = printed_table(), published.cluster_sizes(announced=True)
    only, found = table1_readings.select(ties="random", arrival="expected size"), []
    for row, rng in zip(rows, np.random.default_rng(2).spawn(len(rows)), strict=True):
        for child in rng.spawn(runs):
            counted = table1_readings.count_readings(sizes, model_of(printed.iloc[row]), rng=child, only=only)
            found += [{"row": row, "printed": printed[run["ordering"]][row], **run} for run in counted]
    keys = ["rounding", "ordering", "row", "printed"]
    cell = pd.DataFrame(found).groupby(keys)["questions"].agg(["mean", "std"]).reset_index()
    cell["z"] = table1_readings.one_more_run(cell["printed"], cell["mean"], cell["std"], runs)
    rms = {rounding: table1_readings.joint_score(part["z"], runs)["rms"] for rounding, part in cell.groupby("rounding")}
    return {FITS: rms.pop("as drawn"), **rms}


@claim("C26")
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
        yield says(counterexample(
            f"{worst['ordering']} ordering, Dist-2, ε = {worst['ε']}, {rounding}: {how}, standard deviation of a run "
            f"{worst['sd']:.0f}", value=round(value, 1), relation="equal", printed=int(worst["printed"]),
            margin=limit * max(1.0, worst["sd"])),
            f"Rounded {'to the nearest tenth' if rounding == 'nearest' else rounding}, {worst['ordering']} ordering "
            "under Dist-2 "
            f"with ε = {worst['ε']} would ask {value:,.0f} questions; {worst['printed']:,} are printed.")  # fmt: skip
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
    yield from (corrected(also(piece)) for piece in second_implementation(seed))


@cache
def _few_rounded(rows=(7, 8), runs=24):
    """Both orderings on a few data sets of the last two rows of the table, under three roundings."""
    printed, sizes, lines = printed_table(), published.cluster_sizes(announced=True), []
    only = table1_readings.select(ties="random", arrival="expected size")
    for row, rng in zip(rows, np.random.default_rng(6).spawn(len(rows)), strict=True):
        model = model_of(printed.iloc[row])
        drawn = [table1_readings.count_readings(sizes, model, rng=child, only=only) for child in rng.spawn(runs)]
        found = pd.DataFrame([run for one in drawn for run in one])
        for (rounding, ordering), asked in found.groupby(["rounding", "ordering"], sort=False)["questions"]:
            lines.append({"ε": printed["ε"][row], "rounding": rounding, "ordering": ordering, "runs": runs,
                          "printed": printed[ordering][row], "mean": asked.mean(), "sd": asked.std(),
                          "expected": expected(model, sizes, ordering, rounding, "random")})  # fmt: skip
    return pd.DataFrame(lines)


def _moved(seed):
    """Questions of both orderings on the last row of the table, rounded down and rounded up."""
    sizes, model = published.cluster_sizes(announced=True), model_of(printed_table().iloc[-1])
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


@claim("B72")
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
    yield says(also(simulation(
        f"mean questions for rounded similarities, random ties: {len(cells)} rows, orderings and roundings",
        cells["mean"], cells["sd"].clip(lower=0.5) / np.sqrt(cells["runs"]), cells["expected"], size=runs,
        limit=family_limit(len(cells), runs, FALSE_ALARM))),
        f"The means of the runs agree with the formula in all {len(cells)} cases with rounded "
        "similarities.")  # fmt: skip


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


@claim("B71")
def uninformative_similarities(asked=None, sizes=(3, 2)):
    """`asked`: questions of edge ordering on data sets of these sizes."""
    if asked is None:
        children = np.random.default_rng(5).spawn(200)
        asked = [count_questions(list(sizes), cr.uniform(), rng=rng)["edge"] for rng in children]
    orders = cr.enumeration.orders_by_questions(np.repeat(np.arange(len(sizes)), sizes))
    total = sum(orders.values())
    mean = sum(q * c for q, c in orders.items()) / total
    spread = np.sqrt(sum(q * q * c for q, c in orders.items()) / total - mean**2)
    yield says(simulation("the mean over all orders of the pairs of five records", np.mean(asked),
                          spread / np.sqrt(len(asked)), mean, size=len(asked)),
               f"{len(asked):,} simulated data sets of five records ask {np.mean(asked):.3f} questions on average; the "
               "exact mean is "
               f"{float(mean):.3f}.")  # fmt: skip
