"""Figures of the chapter *How many questions, exactly*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import CORRECTED, EDGE, FEWEST, GREY, INK, NODE, PRINTED

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-counts-table1": (
        "Left, relative to the exact counts, the bars of simulation contain one, and the published numbers are within "
        "a tenth of it. Right, the printed bounds are two to three times the count of node ordering and up to eight "
        "times that of edge ordering."
    ),
    "fig-counts-gap": (
        "Left: three curves between 0.85 and 1.43, nearly flat over three decades, while log n/k leaves the "
        "picture at once. Right: a curve that falls from 1.43 to 1.09."
    ),
    "fig-counts-million": (
        "Left: for Dist-1 both exact curves rise as parallel straight lines; the stated one for edge ordering is "
        "steeper. Right: for Dist-2 edge ordering rises to a hump and comes down to the ideal, node ordering "
        "rises slowly above it; the stated curves lie far higher."
    ),
}

LOOK = {name: look.line | {"marker": look.points["marker"]} for name, look in (("edge", EDGE), ("node", NODE))}
LINES = {
    "edge": {**LOOK["edge"], "label": "edge, exact"},
    "node": {**LOOK["node"], "label": "node, exact"},
    "edge, stated": {**PRINTED.line, "label": r"edge, stated: $nk(1-2\epsilon)\,\log\frac{n}{k}$"},
    "node, stated": {
        "color": PRINTED.color,
        "linestyle": (0, (5, 1, 1, 1)),
        "label": r"node, stated: $nk(1-\epsilon^2)$",
    },
    "both, stated": {**PRINTED.line, "label": r"stated: $n + k^2\,\log n\,/\epsilon$"},
    "no log": {**CORRECTED.line, "label": r"$n + k^2/\epsilon$"},
    "ideal": {**FEWEST.line, "label": "fewest possible"},
}


def table_1(table):
    """The nine rows of Table 1, relative to the exact counts: the published numbers and simulation; and the bounds."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharey=True, width_ratios=(1.5, 1))
    for ordering, shift, look in (("node", 0.17, NODE), ("edge", -0.17, EDGE)):
        part = table[table["ordering"] == ordering]
        place, exact = np.arange(len(part))[::-1], part["exact"]
        bar = {"fmt": "none", "ecolor": look.color, "elinewidth": 5, "alpha": 0.35}
        axes[0].errorbar(part["simulated"] / exact, place + shift, xerr=4 * part["error"] / exact, **bar)
        for ax, what in zip(axes, ("published", "bound"), strict=True):
            ax.plot(part[what] / exact, place + shift, **look.points, ms=5, label=f"{ordering} ordering")
    axes[0].set(title="published / exact")
    axes[1].set(title="printed bound / exact", xlim=(0, None))
    for ax in axes:
        ax.axvline(1, color=GREY, lw=1)
    axes[0].set_yticks(place, (part["model"] + ", ε = " + part["ε"]).tolist())
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


def million(counts):
    """Questions per record as n grows: exact, stated and ideal."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 4.6), sharey=True)
    for ax, (name, part) in zip(axes, counts.groupby("model"), strict=True):
        for what, look in LINES.items():
            line = part[part["what"] == what]
            if len(line):
                ax.loglog(line["n"], line["questions"] / line["n"], ms=4, **{"lw": 1.4, **look})
        title = rf"{name}, $\epsilon = {part['ε'].iloc[0]:g}$"
        ax.set(xlabel="records, $n$", title=title, ylim=(0.7, 1e6))
        ax.legend(loc="upper left", fontsize=9)
    axes[0].set_ylabel("questions per record")
    return fig


def gap(frame):
    """Edge over node ordering: left, as clusters grow; right, the limit for each ε."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True)
    growing, limits = (frame[frame["panel"] == panel] for panel in ("left", "right"))
    looks = zip(("-", "--", "-."), "so^", strict=True)
    for (name, part), (dash, marker) in zip(growing.groupby("model", sort=False), looks, strict=True):
        left.semilogx(part["m"], part["times"], ls=dash, marker=marker, ms=4, label=name)
    logs = np.geomspace(1, 9, 60)
    left.semilogx(logs, np.log(logs), color=INK, lw=1, ls="-")
    left.text(8.5, 1.95, r"$\log\frac{n}{k}$", va="top")
    left.set(xlabel="$n/k$", title="edge over node", ylim=(0, 2.1))
    left.legend(loc="lower right")
    right.plot(limits["ε"], limits["times"], color=INK)
    right.set(xlabel=r"$\epsilon$", title="its limit for large clusters")
    return fig
