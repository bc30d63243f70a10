"""The figures of the chapter *Node ordering*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import CORRECTED, FEWEST, INK, NODE, PRINTED

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-node-bounds": (
        "Log-log plot of falling curves. For small clusters the printed bound lies below the exact count, by a "
        "factor of three for singletons; from clusters of about five records on it lies above it, together with "
        "the corrected bound."
    ),
    "fig-node-worst": (
        "A curve on logarithmic scales. The factor rises along k, peaks near the square root of 2n, and falls back "
        "to one; runs lie on it."
    ),
    "fig-node-search": (
        "A scatter of points. Many lie left of one, a good number right of one, up to about seven. All lie below "
        "one on the vertical axis."
    ),
}


def lead(frame):
    """Exact count, one run, both bounds and the fewest questions, against the size of the clusters."""
    fig, ax = plt.subplots(figsize=(6.4, 3.1))
    ax.loglog(frame["m"], frame["corrected"], **CORRECTED.line, label="corrected bound")
    ax.loglog(frame["m"], frame["printed"], **PRINTED.line, lw=2.2, label="printed bound")
    ax.loglog(frame["m"], frame["exact"], **NODE.line, lw=2.2, label="exact, random order")
    ax.loglog(frame["m"], frame["one run"], **NODE.points, mfc="none", ms=6, label="simulated, one run")
    ax.loglog(frame["m"], frame["fewest"], **FEWEST.line, label="fewest possible")
    ax.set(xlabel="records in each cluster, $m$", ylabel="questions")
    ax.legend(loc="upper right")
    return fig


def worst(frame, total):
    """The worst case over the fewest questions against the number of clusters, and the bound on it."""
    k = frame["k"]
    fig, ax = plt.subplots(figsize=(5.4, 3.0))
    ax.loglog(k, frame["worst over fewest"], **NODE.line, label="worst case / fewest")
    ax.loglog(k, frame["run"], **NODE.points, label="run")
    ax.loglog(k, np.minimum(k, 2 * total / k), color=INK, lw=1, ls="-.", label=r"$\min\{k, 2n/k\}$")
    ax.set(xlabel="clusters, $k$", ylabel=f"factor, $n = {total:,}$")
    ax.legend(loc="lower center")
    return fig


def search(frame):
    """Exact counts over the printed and over the corrected bound, on random models and sizes."""
    broken = frame["exact"] > frame["printed"] * (1 + 1e-9)
    fig, ax = plt.subplots(figsize=(6.0, 4.0))
    for part, color, marker, label in (
        (~broken, NODE.color, "o", "within the printed bound"),
        (broken, PRINTED.color, "s", "beyond it"),
    ):
        some = frame[part]
        x, y = some["exact"] / some["printed"], some["exact"] / some["corrected"]
        ax.plot(x, y, marker, color=color, ms=4, mfc="none", label=f"{label} ({len(some)})")
    ax.axvline(1, color=INK, lw=1)
    ax.axhline(1, color=INK, lw=1)
    ax.set(xscale="log", xlabel="exact count / printed bound", ylim=(0, 1.06))
    ax.set_ylabel("exact count / corrected bound")
    ax.set_xticks([0.25, 0.5, 1, 2, 4, 8], ["¼", "½", "1", "2", "4", "8"])
    ax.minorticks_off()
    ax.legend(loc="lower right")
    return fig
