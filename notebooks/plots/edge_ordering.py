"""The figures of the chapter *Edge ordering*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import CORRECTED, EDGE, FEWEST, PRINTED, PURPLE

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-edge-bounds": (
        "Two log-log plots. Left: the exact count starts below the printed bound, crosses it between 30 and 50 "
        "records and rises more steeply; the corrected bound stays above it. Right: exact count, corrected bound "
        "and, far above both, the printed bound."
    ),
    "fig-edge-table": (
        "Nine rows. In the six of Dist-1, published, simulated and exact counts lie close together between 4,000 "
        "and 10,000; the tree bound at twelve thousand, the corrected bound at 16,000 to 32,000, and the printed "
        "one beyond 30,000. For Dist-2 the counts are near the dotted line, the corrected bound at or above them."
    ),
}


def two_clusters(frame, epsilon):
    """Two clusters of m: exact count, single runs and both bounds, in the model with three steps and under Dist-1."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharey=True)
    titles = {"three steps": "three steps", "dist1": rf"Dist-1, $\epsilon = {epsilon:g}$"}
    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        part = frame[frame["model"] == name]
        for column, look, up in (("printed", PRINTED, 0), ("corrected", CORRECTED, 6), ("exact", EDGE, -6)):
            ax.loglog(part["m"], part[column], **look.line)
            ax.annotate(column, part[["m", column]].iloc[-1], xytext=(4, up), textcoords="offset points",
                        color=look.color, va="center")  # fmt: skip
        ax.loglog(part["m"], part["one run"], **EDGE.points, mfc="none", ms=5)
        ax.set(xlabel="records in each cluster, $m$", title=title)
    axes[0].set(ylabel="questions", ylim=(8, 4e6))
    return fig


def table_1(frame, ideal):
    """Bounds, counts, runs and published numbers of Table 1; `ideal` is the least possible."""
    place = np.arange(len(frame))[::-1]
    fig, ax = plt.subplots(figsize=(6.4, 4.9))
    for column, label, look in [
        ("printed", "Theorem 2, printed", PRINTED.points | {"ms": 8, "mew": 1.6}),
        ("corrected", "corrected", CORRECTED.points | {"ms": 6}),
        ("tree", "tree bound", CORRECTED.points | {"ms": 6, "mfc": "none"}),
        ("published", "published", {"color": PURPLE, "marker": "*", "ms": 9, "ls": "none"}),
    ]:
        ax.plot(frame[column], place, label=label, **look)
    ax.errorbar(frame["simulated"], place, xerr=2 * frame["error"], fmt="o", ms=9, mfc="none",
                color=EDGE.color, label="simulated")  # fmt: skip
    ax.plot(frame["exact"], place, ls="none", marker="|", ms=15, mew=2, color=EDGE.color, label="exact")
    ax.axvline(ideal, **FEWEST.line, lw=1.2)
    ax.set(xscale="log", xlabel="questions", xlim=(1100, 100_000), ylim=(-0.6, len(frame) - 0.4))
    ticks = [2000, 5000, 10_000, 20_000, 50_000]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.minorticks_off()
    names = [f"Dist-{row.model[-1]}, ε = {row.epsilon}" for row in frame.itertuples()]
    ax.set_yticks(place, names)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig
