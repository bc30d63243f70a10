"""Claims of the chapter *An explorer*."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
from scipy import stats
from scipy.integrate import quad

import crowder as cr
from book.companion.charts.explorer import grid, questions, shaped
from book.companion.claims import Evidence, agreement, also, bounded, of_chapter, says, simulation
from crowder.counting.expected_counts import expected_queries
from crowder.resolution import ideal_queries

__all__ = ["check"]

claim, check = of_chapter(__name__)

ORDERINGS = {"edge": cr.edge_ordering, "node": cr.node_ordering}
_MODELS = {"Dist-1": cr.dist1, "Dist-2": cr.dist2, "uniform": lambda epsilon: cr.uniform()}


def _grid() -> pd.DataFrame:
    return grid(_MODELS, [0.1, 0.26, 0.48], 24, [3, 8])


def _drawn(repetitions: int = 60) -> pd.DataFrame:
    """As in the chapter, with 24 records: mean, error, exact mean and runs of each ordering."""
    rng, rows = np.random.default_rng(7), []
    for name, k, shape in (("Dist-1", 3, "one large"), ("Dist-2", 4, "equal")):
        model, sizes = _MODELS[name](0.26), shaped(24, k, shape)
        exact, asked = questions(model, sizes), {ordering: [] for ordering in ORDERINGS}
        for _ in range(repetitions):
            data = cr.datasets.synthetic(sizes, model, rng=rng)
            for ordering, run in ORDERINGS.items():
                order = {"order": "random"} if ordering == "node" else {}
                asked[ordering].append(run(data.similarity, cr.Truth(data.labels), rng=rng, **order).n_queries)
        for ordering, counts in asked.items():
            rows.append((np.mean(counts), max(1.0, np.std(counts, ddof=1)) / np.sqrt(repetitions),
                         exact[f"{ordering}, exact"], repetitions))  # fmt: skip
    return pd.DataFrame(rows, columns=["mean", "error", "exact", "runs"])


def _simulated(drawn: pd.DataFrame | None) -> Evidence:
    drawn = _drawn() if drawn is None else drawn
    runs = int(drawn["runs"].iloc[0])
    return simulation(
        f"mean questions in {len(drawn)} settings like those of the grid",
        drawn["mean"], drawn["error"], drawn["exact"],
        size=runs, limit=float(np.ceil(10 * stats.t.isf(2e-6, runs - 1)) / 10),
    )  # fmt: skip


def _small_counts() -> Evidence:
    exactly = {"Dist-1": cr.dist1(Fraction(1, 4)), "Dist-2": cr.dist2(Fraction(1, 4)), "uniform": cr.uniform()}
    pairs = [
        (questions(_MODELS[name](0.25), sizes)[f"{ordering}, exact"],
         float(cr.expected_queries_exact(model, sizes, ordering)))
        for (name, model), sizes, ordering in product(exactly.items(), ([2, 2], [3, 1, 1]), ORDERINGS)
    ]  # fmt: skip
    return agreement(f"{len(pairs)} counts for four and five records, against fractions", *zip(*pairs, strict=True),
                     tolerance=1e-10)  # fmt: skip


@claim("B111")
def between_the_least_and_nk(counted=None, records=24, drawn=None):
    counted = _grid() if counted is None else counted
    sizes = [shaped(records, k, shape) for k, shape in zip(counted["clusters"], counted["shape"], strict=True)]
    at_least = [sum(m - 1 for m in row) + len(list(combinations(row, 2))) for row in sizes]  # by hand
    at_most = [sum(row) * len(row) for row in sizes]
    both = np.array([counted[f"{ordering}, exact"] for ordering in ORDERINGS])
    yield says(
        bounded(f"the least possible, against the counts in {len(counted):,} settings, both orderings", at_least, both),
        f"In all {len(counted):,} settings both counts lie between the fewest possible and $nk$; the closest is "
        f"{np.min(both / np.array(at_least)):.3f} times the fewest.",
    )
    yield bounded("the counts, against $nk$", both, at_most)
    yield also(_small_counts())
    yield also(_simulated(drawn))
    yield also(agreement("the lines of the chart: the least possible, and $nk$",
                         [counted["least possible"], counted["nk"]],
                         [at_least, at_most]))  # fmt: skip
    yield also(bounded("the counts, against the correct bounds", both,
                       [counted[f"{ordering}, bound that holds"] * (1 + 1e-9) for ordering in ORDERINGS]))  # fmt: skip


@claim("B112")
def counts_are_means_of_runs(counted=None, records=24, drawn=None):
    counted = _grid() if counted is None else counted
    drawn = _drawn() if drawn is None else drawn
    off = np.abs(drawn["mean"] / drawn["exact"] - 1).max()
    yield says(_simulated(drawn), f"The means of {drawn['runs'].iloc[0]} runs are within {off:.1%} of the counts in "
               f"all {len(drawn)} cases.")  # fmt: skip
    yield also(_small_counts())
    finer = []
    for _, row in counted.iloc[:: max(1, len(counted) // 9)].iterrows():
        sizes = shaped(records, row["clusters"], row["shape"])
        again = questions(_MODELS[row["model"]](row["epsilon"]), sizes, nodes=24)
        finer += [(row[f"{ordering}, exact"], again[f"{ordering}, exact"]) for ordering in ORDERINGS]
    yield also(agreement("counts of the grid, against those with twice the nodes",
                         *zip(*finer, strict=True), tolerance=1e-9,
                         relative=True))  # fmt: skip
    epsilons = sorted(set(counted["epsilon"]))
    middle = epsilons[len(epsilons) // 2]
    areas = [(cr.L(model, t), _quadrature(model, t, middle))
             for model in (make(middle) for make in _MODELS.values()) for t in (1, 7, 60)]  # fmt: skip
    yield also(agreement("$L_{g,r}(t)$ of three models, against quadrature", *zip(*areas, strict=True), tolerance=1e-8))


def _quadrature(model: cr.SimilarityModel, t: int, epsilon: float) -> float:
    jumps = [epsilon, 0.5, 1 - epsilon]  # of the densities
    return quad(lambda x: model.green.cdf(x) ** t * model.red.pdf(x), 0, 1, points=jumps)[0]


@claim("B113")
def near_one_half(records=240, cluster_numbers=(12, 4, 40, 120), drawn=None):
    near_half, few, far = 0.48, 1.02, 4 / 3
    close, apart = ([questions(make(near_half), shaped(records, k, "equal")) for k in cluster_numbers]
                    for make in (cr.dist2, cr.dist1))  # fmt: skip
    least = np.array([records - k + k * (k - 1) / 2 for k in cluster_numbers])
    over, under = ([[c[f"{ordering}, exact"] for c in counted] / least for ordering in ORDERINGS]
                   for counted in (close, apart))  # fmt: skip
    sentence = (f"Over {len(least)} numbers of clusters, the counts are at most {np.max(over):.4f} times the fewest "
                f"under Dist-2, and at least {np.min(under):.2f} times under Dist-1.")  # fmt: skip
    for ordering in ORDERINGS:
        yield says(bounded(f"Dist-2, {ordering} ordering, against {few} times the least",
                           [c[f"{ordering}, exact"] for c in close], few * least), sentence)  # fmt: skip
    for ordering in ORDERINGS:
        yield bounded(f"4/3 of the least, against Dist-1, {ordering} ordering", far * least,
                      [c[f"{ordering}, exact"] for c in apart])  # fmt: skip
    yield also(_small_counts())
    yield also(_simulated(drawn))
