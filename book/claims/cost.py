"""Claims of the chapter *How cost grows*."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import optimize

import crowder as cr
from book.companion import measured
from book.companion.claims import Evidence, agreement, also, of_chapter, says, trend
from crowder.orderings import EdgeOrdering, NodeOrdering
from crowder.sorting import edge_walk

__all__ = ["COMPLETE", "NAMES", "beyond", "check", "costs_of_one", "predicted"]

claim, check = of_chapter(__name__)

COMPLETE = "test_benchmarks.py::test_the_committed_orderings_are_complete"
NAMES = {"edge": "edge ordering", "node": "node ordering"}


# --- the measured times of the orderings ---------------------------------------------------------------------------


def beyond(sweep: str, way: str) -> pd.DataFrame:
    """The rows of one ordering, with the time beyond the fixed cost, which is that of the smallest run."""
    times = measured.read("orderings").query("contestant == @way")
    plainest = times[times["sweep"] == "plainest"]
    part = times[times["sweep"] == sweep]
    return part.assign(beyond=part["seconds"] - plainest.loc[plainest["n"].idxmin(), "seconds"])


def growth_rows() -> pd.DataFrame:
    works = {"records": "all pairs", "pairs": "few pairs"}
    return pd.concat([beyond(one, way).assign(work=work) for one, work in works.items() for way in NAMES])


def predicted(rows: pd.DataFrame, way: str, cost) -> pd.Series:
    """a m ln m + b q for edge ordering, a m + b q ln k for node ordering."""
    if way == "edge":
        return cost[0] * rows["pairs"] * np.log(rows["pairs"]) + cost[1] * rows["questions"]
    return cost[0] * rows["pairs"] + cost[1] * rows["questions"] * np.log(rows["k"])


def costs_of_one() -> dict[str, np.ndarray]:
    """The two nonnegative constants of each ordering, by least squares of relative errors."""
    found = {}
    for way in NAMES:
        rows = beyond("clusters", way)
        columns = [predicted(rows, way, cost) / rows["beyond"] for cost in ((1, 0), (0, 1))]
        found[way] = optimize.nnls(np.stack(columns, axis=1), np.ones(len(rows)))[0]
    return found


def _recounted(way: str, largest: int) -> Evidence:
    """The questions of the smaller runs of the benchmark, counted again, against the recorded numbers."""
    times, run = measured.read("orderings"), {"edge": cr.edge_ordering, "node": cr.node_ordering}[way]
    rows = times[times["sweep"].isin(["plainest", "peer", "records"]) & (times["contestant"] == way)
                 & (times["n"] <= largest)]  # fmt: skip
    counts = []
    for row in rows.itertuples():  # the benchmark draws with seed 7 from Dist-1 with ε = 1/4
        sizes = [row.n // row.k + (c < row.n % row.k) for c in range(row.k)]
        drawn = cr.datasets.synthetic(sizes, cr.dist1(0.25), rng=7)
        counts.append(run(drawn.similarity, cr.Truth(drawn.labels), rng=7).n_queries)
    return agreement(f"questions of {len(rows)} timed runs, counted again", counts, rows["questions"].tolist())


def _same_as_naive(way: str) -> Evidence:
    times = measured.read("orderings").query("sweep == 'plainest'")
    plain = times.pivot(index="n", columns="contestant", values="questions")
    return agreement("the naive version asks the same number", plain[way].tolist(), plain[f"{way}, plainest"].tolist())


@claim("B151")
def edge_ordering_in_pairs(growth=None, largest=130):
    growth = growth_rows() if growth is None else growth
    for work, line in growth[growth["contestant"] == "edge"].groupby("work", sort=False):
        pairs, slope = line["pairs"], measured.slope(line["pairs"], line["beyond"] / np.log(line["pairs"])).exponent
        yield says(trend(f"{work}: time beyond the fixed cost, over $\\log m$", pairs,
                         line["beyond"] / np.log(pairs), exponent=1, within=0.15),
                   f"From {pairs.min():,} to {pairs.max():,} pairs ({work}), the time over $\\log m$ grows as $m$ "
                   f"to the power {slope:.2f}.")  # fmt: skip
    yield also(_recounted("edge", largest))
    yield also(_same_as_naive("edge"))


@claim("B152")
def node_ordering_in_pairs(growth=None, costs=None, largest=130):
    growth, costs = growth_rows() if growth is None else growth, costs_of_one() if costs is None else costs
    lines = dict(list(growth[growth["contestant"] == "node"].groupby("work")))
    few, every = lines["few pairs"], lines["all pairs"]
    slope = measured.slope(few["pairs"], few["beyond"]).exponent
    yield says(trend("few pairs: time beyond the fixed cost", few["pairs"], few["beyond"], exponent=1, within=0.15),
               f"From {few['pairs'].min():,} to {few['pairs'].max():,} pairs, twenty for each record, time grows as "
               f"$m$ to the power {slope:.2f}.")  # fmt: skip
    yield trend(r"all pairs: time over $am + bq\log k$, with $a$ and $b$ fitted to runs with one number of pairs",
                every["pairs"], every["beyond"] / predicted(every, "node", costs["node"]), exponent=0,
                within=0.15)  # fmt: skip
    yield also(_recounted("node", largest))
    yield also(_same_as_naive("node"))
