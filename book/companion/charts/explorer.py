"""The explorer: expected numbers of questions on a grid of ε and cluster sizes, and their interactive chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from book.companion.figures import BLUE, GREY, INK, PURPLE
from book.companion.interactive import Words, legible
from crowder import validation
from crowder.counting.bounds import edge_bound, node_bound
from crowder.counting.expected_counts import expected_queries
from crowder.models import SimilarityModel
from crowder.resolution import ideal_queries

__all__ = ["QUESTIONS", "SHAPES", "explorer", "grid", "questions", "shaped", "words"]

SHAPES = ("equal", "one large", "as 1/i")

#: Each quantity and how it is drawn (colour, dash).
QUESTIONS = {
    "edge, exact": (BLUE, [1, 0]),
    "node, exact": (PURPLE, [1, 0]),
    "edge, bound as printed": (BLUE, [7, 3]),
    "node, bound as printed": (PURPLE, [7, 3]),
    "edge, bound that holds": (BLUE, [2, 2]),
    "node, bound that holds": (PURPLE, [2, 2]),
    "least possible": (INK, [1, 0]),
    "nk": (GREY, [9, 3, 2, 3]),
}

#: Half the usual number of nodes; the chapter checks how much accuracy that costs.
NODES = 12


def shaped(n: int, k: int, shape: str) -> list[int]:
    """Sizes of k clusters with n records in total.

    Parameters
    ----------
    n, k : int
    shape : {"equal", "one large", "as 1/i"}
        As equal as possible; half of the records in one cluster, the others equal; the i-th in proportion to 1/i.
        Each has at least 1 record, and the remainder of the rounding goes to the largest.

    Returns
    -------
    list of int
        Largest first.

    Raises
    ------
    ValueError
        For an unknown shape, or if k clusters need more than n records.

    Examples
    --------
    >>> shaped(24, 4, "equal"), shaped(24, 4, "one large"), shaped(24, 4, "as 1/i")
    ([6, 6, 6, 6], [12, 4, 4, 4], [12, 6, 4, 2])
    """
    if shape not in SHAPES:
        raise ValueError(f"unknown shape {shape!r}; expected one of {', '.join(SHAPES)}")
    n, k = validation.whole(n, "n"), validation.whole(k, "k")
    if not 1 <= k <= n:
        raise ValueError(f"{n} records cannot form {k} clusters")
    if shape == "equal":
        return [n // k + (i < n % k) for i in range(k)]
    if shape == "one large":
        other = max(1, (n - n // 2) // max(1, k - 1))
        return [n - (k - 1) * other, *[other] * (k - 1)]
    share = 1 / np.arange(1, k + 1)
    sizes = np.maximum(1, np.floor(share / share.sum() * n + 1e-9)).astype(int)
    while sizes.sum() > n:  # so many clusters of one record that the large ones must shrink
        sizes[np.flatnonzero(sizes == sizes.max())[-1]] -= 1
    sizes[: n - sizes.sum()] += 1
    return sizes.tolist()


def questions(model: SimilarityModel, sizes: Sequence[int], *, nodes: int = NODES) -> dict[str, float]:
    """All quantities that the explorer shows for one model and one clustering.

    Parameters
    ----------
    model : SimilarityModel
    sizes : sequence of int
        The cluster sizes.
    nodes : int, keyword only
        Of the quadrature in `crowder.counting.expected_counts.expected_queries`.

    Returns
    -------
    dict
        For each key of `QUESTIONS` the expected number of questions, or a bound on it. In node ordering, records
        arrive in random order, as its bound assumes.

    Notes
    -----
    O(m²) per node for a largest cluster of m records (see `expected_counts` and `bounds` in `crowder.counting`).

    Examples
    --------
    >>> from crowder.models import uniform
    >>> {name: round(count, 6) for name, count in questions(uniform(), [2, 1]).items()}["edge, exact"]
    2.333333
    """
    n, k = sum(sizes), len(sizes)
    return {
        "edge, exact": expected_queries(model, sizes, "edge", nodes=nodes),
        "node, exact": expected_queries(model, sizes, "node", nodes=nodes),
        "edge, bound as printed": edge_bound(model, sizes),
        "node, bound as printed": node_bound(model, sizes),
        "edge, bound that holds": edge_bound(model, sizes, printed=False),
        "node, bound that holds": node_bound(model, sizes, printed=False),
        "least possible": float(ideal_queries(sizes)),
        "nk": float(n * k),
    }


def grid(
    models: Mapping[str, Callable[[float], SimilarityModel]],
    epsilons: Sequence[float],
    n: int,
    clusters: Sequence[int],
) -> pd.DataFrame:
    """`questions` for every model, ε, number of clusters and shape.

    Parameters
    ----------
    models : mapping
        Name to a function of ε. "uniform" does not depend on ε and is computed once.
    epsilons : sequence of float
    n : int
        Number of records.
    clusters : sequence of int
        Numbers of clusters.

    Returns
    -------
    DataFrame
        Columns model, epsilon, clusters, shape, sizes (as text) and the keys of `QUESTIONS`.

    Notes
    -----
    One call of `questions` per row, except for the uniform model.

    Examples
    --------
    >>> from crowder.models import dist1
    >>> grid({"Dist-1": dist1}, [0.2, 0.4], 11, [3])[["epsilon", "shape", "sizes", "least possible"]].iloc[-2:]
       epsilon   shape                           sizes  least possible
    4      0.2  as 1/i  3 clusters: 6, 3 and 2 records            11.0
    5      0.4  as 1/i  3 clusters: 6, 3 and 2 records            11.0
    """
    rows, known = [], {}
    for k in clusters:
        for shape in SHAPES:
            sizes = shaped(n, k, shape)
            for name, make in models.items():
                for epsilon in epsilons:
                    case = (name, k, shape, None if name == "uniform" else epsilon)
                    if case not in known:
                        known[case] = questions(make(epsilon), sizes)
                    where = {
                        "model": name,
                        "epsilon": epsilon,
                        "clusters": k,
                        "shape": shape,
                        "sizes": _in_words(sizes),
                    }
                    rows.append(where | known[case])
    return pd.DataFrame(rows)


def _in_words(sizes: Sequence[int]) -> str:
    """Cluster sizes in words."""
    if len(set(sizes)) == 1:
        clusters, records = ("" if number == 1 else "s" for number in (len(sizes), sizes[0]))
        return f"{len(sizes)} cluster{clusters} of {sizes[0]} record{records}"
    if len(sizes) > 6:
        return f"{len(sizes)} clusters: {', '.join(map(str, sizes[:5]))}, … records"
    return f"{len(sizes)} clusters: {', '.join(map(str, sizes[:-1]))} and {sizes[-1]} records"


def words(counted: pd.DataFrame) -> Words:
    """A sentence for each setting of the explorer.

    Parameters
    ----------
    counted : DataFrame
        From `grid`.

    Returns
    -------
    book.companion.interactive.Words

    Examples
    --------
    >>> row = {"model": "uniform", "epsilon": 0.2, "clusters": 2, "shape": "equal", "sizes": "2 and 1 records"}
    >>> sentences = words(pd.DataFrame([row | dict.fromkeys(QUESTIONS, 3.0)]))
    >>> sentences.texts["uniform", 0.2, 2, "equal"][:49]
    'uniform (it has no ε), 2 and 1 records. Questions'
    """
    by, texts = ["model", "epsilon", "clusters", "shape"], {}
    for row in counted.to_dict("records"):
        which = "uniform (it has no ε)" if row["model"] == "uniform" else f"{row['model']} with ε = {row['epsilon']:g}"
        counts = {name: f"{row[name]:,.0f}" for name in QUESTIONS}
        texts[tuple(row[name] for name in by)] = (
            f"{which}, {row['sizes']}. Questions on average: {counts['edge, exact']} for edge ordering, "
            f"{counts['node, exact']} for node ordering; least possible {counts['least possible']}, nk {counts['nk']}. "
            f"Bounds as printed: {counts['edge, bound as printed']} for edge, {counts['node, bound as printed']} for "
            f"node ordering; bounds that hold: {counts['edge, bound that holds']} and "
            f"{counts['node, bound that holds']}."
        )
    return Words(by, texts)


def explorer(counted: pd.DataFrame, curves: pd.DataFrame, *, size: int = 300) -> Any:
    """The chart of the explorer: L above, questions as a function of ε below.

    Parameters
    ----------
    counted : DataFrame
        From `grid`.
    curves : DataFrame
        Columns model, epsilon, t and L.
    size : int, keyword only
        Width in pixels.

    Returns
    -------
    altair.VConcatChart
        Parameters "model", "epsilon", "clusters" and "shape".

    Examples
    --------
    >>> row = {"model": "uniform", "epsilon": 0.2, "clusters": 2, "shape": "equal", "sizes": "2 and 1 records"}
    >>> curves = pd.DataFrame({"model": ["uniform"], "epsilon": [0.2], "t": [1], "L": [0.5]})
    >>> chart = explorer(pd.DataFrame([row | dict.fromkeys(QUESTIONS, 3.0)]), curves)
    >>> [entry["name"] for entry in chart.to_dict()["params"]]
    ['model', 'epsilon', 'clusters', 'shape']
    """
    import altair as alt

    values = sorted(set(counted.epsilon))
    step = values[1] - values[0] if len(values) > 1 else 1

    def choice(name: str, label: str) -> Any:
        options = list(dict.fromkeys(counted[name].tolist()))
        return alt.param(name=name, value=options[0], bind=alt.binding_select(options=options, name=label))

    slider = alt.binding_range(min=values[0], max=values[-1], step=round(step, 9), name="ε ")
    middle = values[len(values) // 2]
    chart = alt.vconcat(
        _integral(alt, curves, size), _questions(alt, counted.drop(columns="sizes"), size), spacing=16
    ).add_params(
        choice("model", "Similarities "), alt.param(name="epsilon", value=middle, bind=slider),
        choice("clusters", "Clusters "), choice("shape", "Their sizes "),
    )  # fmt: skip
    return legible(chart.resolve_scale(color="independent", strokeDash="independent"))


#: Smaller values are not drawn. The line (colour, dash) of each model.
FLOOR = 1e-5
LINES = {"Dist-1": (INK, [1, 0]), "Dist-2": (INK, [7, 3]), "uniform": (GREY, [2, 2])}
#: The tolerance allows for the rounding of decimal fractions in slider and table.
CHOSEN = "abs(datum.epsilon - epsilon) < 1e-9"


def _integral(alt: Any, curves: pd.DataFrame, size: int) -> Any:
    shown = curves.assign(L=[float(f"{value:.4g}") for value in curves.L])
    legend = alt.Legend(title=None, orient="bottom", symbolType="stroke", symbolSize=500, columns=3)
    names, colors, dashes = list(LINES), [color for color, _ in LINES.values()], [dash for _, dash in LINES.values()]
    base = alt.Chart(shown[shown.L >= FLOOR]).encode(
        x=alt.X("t:Q", scale=alt.Scale(type="log"), title="t", axis=alt.Axis(values=[1, 3, 10, 30, 100], format="d")),
        y=alt.Y(
            "L:Q", title="L(t)", scale=alt.Scale(type="log", domain=[FLOOR, 1]), axis=alt.Axis(tickCount=4, format="~e")
        ),
        color=alt.Color("model:N", scale=alt.Scale(domain=names, range=colors), legend=legend),
        strokeDash=alt.StrokeDash("model:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
    )
    heavy = alt.condition("datum.model == model", alt.value(3.2), alt.value(1.3))
    lines = base.transform_filter(CHOSEN).mark_line().encode(strokeWidth=heavy)
    return lines.properties(width=size, height=120, name="integral")


def _questions(alt: Any, counted: pd.DataFrame, size: int) -> Any:
    names = list(QUESTIONS)
    rounded = counted.assign(**{name: [float(f"{value:.4g}") for value in counted[name]] for name in names})
    legend = alt.Legend(title=None, orient="bottom", symbolType="stroke", symbolSize=500, columns=2, columnPadding=8)
    look = list(QUESTIONS.values())
    base = (
        alt.Chart(rounded)
        .transform_filter("datum.model == model && datum.clusters == clusters && datum.shape == shape")
        .transform_fold(names, as_=["what", "count"])
        .encode(
            x=alt.X("epsilon:Q", title="ε", axis=alt.Axis(tickCount=5), scale=alt.Scale(zero=False)),
            y=alt.Y(
                "count:Q",
                title="questions",
                scale=alt.Scale(type="log", nice=False, padding=10),
                axis=alt.Axis(tickCount=5, format="~s"),
            ),
            color=alt.Color("what:N", scale=alt.Scale(domain=names, range=[c for c, _ in look]), legend=legend),
        )
    )
    dash = alt.StrokeDash("what:N", scale=alt.Scale(domain=names, range=[d for _, d in look]), legend=legend)
    here = base.transform_filter(CHOSEN)
    level = alt.Chart(rounded[["epsilon"]].drop_duplicates()).transform_filter(CHOSEN)
    return alt.layer(
        level.mark_rule(color=GREY).encode(x="epsilon:Q"),
        base.mark_line(strokeWidth=2).encode(strokeDash=dash),
        here.mark_point(filled=True, size=55, opacity=1, stroke=INK).properties(name="here"),
    ).properties(width=size, height=230)
