"""The figures of the chapter *Edge ordering*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import CORRECTED, EDGE, PRINTED

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-edge-bounds": (
        "Two log-log plots. Left: the exact count starts below the printed bound, crosses it between 30 and 50 "
        "records and rises more steeply; the corrected bound stays above it. Right: exact count, corrected bound "
        "and, far above both, the printed bound."
    ),
    "fig-edge-components": (
        "Two blocks of 38 dots. Some are joined in chains, and about half stand alone, so that each "
        "block has about 25 parts."
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


def components(clusters):
    """For each cluster, given the sizes of its components, its records in rows, those of one component as a chain."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 2.6))
    for ax, sizes in zip(axes, clusters, strict=True):
        place = np.arange(sum(sizes))
        across = int(np.ceil(np.sqrt(2 * len(place))))
        y, x = np.divmod(place, across)
        x = np.where(y % 2, across - 1 - x, x)  # every other row from right to left: neighbours in a chain are adjacent
        ends = np.cumsum(sorted(sizes, reverse=True))[:-1]
        ax.plot(np.insert(x.astype(float), ends, np.nan), np.insert(-y, ends, 0), color=EDGE.color, lw=20 / across)
        ax.plot(x, -y, "o", color=EDGE.color, ms=60 / across)
        ax.set(aspect="equal", title=f"{len(sizes)} components")
        ax.axis("off")
    return fig
