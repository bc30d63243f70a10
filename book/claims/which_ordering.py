"""Claims of the chapter *Which ordering for my data?*."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd

import crowder as cr
from book.companion.claims import bounded, of_chapter, says

__all__ = ["CASES", "CHOICE", "CORA", "EPSILON", "check"]

claim, check = of_chapter(__name__)

#: Of the invented data.
EPSILON = Fraction(1, 5)
LARGE, SMALL = [40] * 4 + [20] * 6 + [10] * 4, [3] * 60 + [1] * 60
#: Invented data: a model of the scores, and the sizes of the clusters.
CASES = {
    "clear scores, large clusters": (cr.dist2(EPSILON), LARGE),
    "clear scores, small clusters": (cr.dist2(EPSILON), SMALL),
    "weak scores, large clusters": (cr.dist1(EPSILON), LARGE),
    "weak scores, small clusters": (cr.dist1(EPSILON), SMALL),
}
CORA = "real, dependent scores (cora)"
#: What the chapter recommends: the simplest ordering that is nearly the best.
CHOICE = dict.fromkeys([*CASES, CORA], "edge") | {"weak scores, large clusters": "evidence"}
WITHIN = 1.05


def _small() -> pd.DataFrame:
    """One data set a case."""
    rows = {}
    orderings = {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering, "evidence": cr.EvidenceOrdering}
    for case, (model, sizes) in CASES.items():
        data = cr.datasets.synthetic(sizes, model, rng=7)
        runs = {name: make(data.similarity, rng=7).run(cr.Truth(data.labels)) for name, make in orderings.items()}
        rows[case] = {name: int((run.recall(data.labels) < 0.95).sum()) for name, run in runs.items()}
    return pd.DataFrame(rows).T


@claim("B165")
def recommended(to=None):
    to = _small() if to is None else to
    chosen = [to.loc[case, CHOICE[case]] for case in to.index]
    least = to.min(axis=1).to_numpy()
    worst = max(a / b for a, b in zip(chosen, least, strict=True)) - 1
    yield says(
        bounded(f"{len(to)} cases, mean questions", chosen, WITHIN * least, where=f"the {len(to)} cases of the table"),
        f"In all {len(to)} cases the recommended ordering asks at most {worst:.1%} more than the best of the three.",
    )
