"""Races drawn in the page over a figure with a slider: what book/static/races.js draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

import crowder as cr
from book.companion import results


def unit(ax: Axes, panel: int) -> None:
    """Mark the unit square of a panel, without drawing it: the script finds there where 0 and 1 are."""
    ax.add_patch(Rectangle((0, 0), 1, 1, fill=False, lw=0, gid=f"unit-{panel}"))


def show(models: Mapping[str, cr.SimilarityModel], name: str, *, lengths: Iterable[int]) -> None:
    """Let the reader draw races in the figure `name`, with a slider whose values are these numbers of matches.

    Each model has a panel there, in this order, whose unit square is marked by `unit`. The page has the steps of the
    models, and the integrals on which the shares of races won settle. Without scripts nothing is added to the figure.
    """
    steps = {
        model: {
            kind: {"edges": [float(x) for x in law.edges], "heights": [float(h) for h in law.heights]}
            for kind, law in (("green", of.green), ("red", of.red))
        }
        for model, of in models.items()
    }
    integrals = {str(t): {model: float(cr.L(of, t)) for model, of in models.items()} for t in lengths}
    given = results.as_json({"models": steps, "integrals": integrals}).decode()
    results.display({"application/vnd.crowder.races+json": given, "text/plain": ""}, {"kind": "races", "name": name})
