"""The explorer: its numbers, and what the page needs to compute them itself.

The page computes with book/static/counts.js, which a test holds equal to `questions`; book/static/explorer.js draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from book.companion import figures, results
from crowder.counting.bounds import edge_bound, node_bound
from crowder.counting.expected import expected_queries
from crowder.datasets import Dataset
from crowder.models import SimilarityModel, dist1, dist2, uniform
from crowder.resolution import ideal_queries

#: Half the usual number of nodes; a test holds how little accuracy that costs.
NODES = 12


def questions(model: SimilarityModel, sizes: Sequence[int], *, nodes: int = NODES) -> dict[str, float]:
    """All quantities that the explorer shows for one model and one clustering: expected questions and bounds on them.

    The quadrature of `crowder.counting.expected.expected_queries` has this number of `nodes`. In node ordering, records
    arrive in random order, as its bound assumes.

    >>> round(questions(uniform(), [2, 1])["edge, exact"], 6)
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


def setting(address: str, cora: Mapping[str, Sequence[float]] | None = None) -> tuple[SimilarityModel, list[int]]:
    """The model and the cluster sizes of a state of the explorer, as the page has it in its address.

    For example "model=dist1&epsilon=0.26&clusters=20*12, 5" (twelve clusters of 20 records, one of 5), or
    "model=own&green=...&red=...&clusters=..." with ten heights each; `cora` has those of the model "cora".

    >>> model, sizes = setting("model=dist2&epsilon=0.2&clusters=3*2,1")
    >>> model.name, sizes
    ('dist2', [3, 3, 1])
    """
    given = dict(part.partition("=")[::2] for part in address.split("&"))
    sizes = [int(size) for part in given["clusters"].split(",")
             for size, _, many in [part.partition("*")] for _ in range(int(many or 1))]  # fmt: skip
    name = given["model"]
    if name in ("dist1", "dist2"):
        return {"dist1": dist1, "dist2": dist2}[name](float(given["epsilon"])), sizes
    if name == "uniform":
        return uniform(), sizes
    heights = cora if name == "cora" else {
        which: [float(height) for height in given[which].split(",")] for which in ("green", "red")}  # fmt: skip
    green, red = (np.divide(heights[which], np.mean(heights[which])) for which in ("green", "red"))
    return SimilarityModel.from_steps(np.linspace(0, 1, 11), green, red), sizes


def states(addresses: Mapping[str, str], cora: Mapping[str, Sequence[float]] | None = None) -> pd.DataFrame:
    """The numbers of some states of the explorer.

    `addresses` maps names to addresses as in `setting`; columns: state, Hellinger distance and those of `questions`.
    """
    rows = [(name, *setting(address, cora)) for name, address in addresses.items()]
    return pd.DataFrame(
        {"state": name, "Hellinger distance": float(np.sqrt(model.hellinger2))} | questions(model, sizes)
        for name, model, sizes in rows
    )


def tenths(data: Dataset) -> dict[str, list[float]]:
    """The heights, on ten bins of [0, 1], of the densities of a data set's matches, "green", and non-matches, "red"."""
    i, j = np.triu_indices(data.n, 1)
    w, same = data.similarity[i, j], data.labels[i] == data.labels[j]
    return {
        which: np.histogram(w[kind], 10, (0, 1), density=True)[0].tolist()
        for which, kind in (("green", same), ("red", ~same))
    }


def show(fig: Figure, name: str, *, caption: str, alt: str, data: pd.DataFrame, settings: Mapping[str, Any]) -> None:
    """Display the explorer: on the page it takes the place of a still picture, which remains where no scripts run.

    The arguments are those of `book.companion.figures.show`, and `settings`: start, the state shown first, as in
    `setting`; links, the states that links in the text set, by name; clusters, examples by name ("20*12"); cora, the
    ten heights of each of its densities, "green" and "red".
    """
    figures.show(fig, name, caption=caption, alt=alt, data=data)
    results.chart("explorer", name, {**settings, "figure": name})
