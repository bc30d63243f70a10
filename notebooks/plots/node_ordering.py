"""The figures of the chapter *Node ordering*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import CORRECTED, FEWEST, INK, NODE, PRINTED, PURPLE, SKY

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-node-bounds": (
        "Log-log plot of falling curves. For small clusters the printed bound lies below the exact count, by a "
        "factor of three for singletons; from clusters of about five records on it lies above it, together with "
        "the corrected bound."
    ),
    "fig-node-worst": (
        "Left: two parallel rising lines, the worst case five times above the least. Right: the factor rises "
        "along k, peaks near the square root of 2n, and falls back to one."
    ),
    "fig-node-search": (
        "A scatter of points. Many lie left of one, a good number right of one, up to about ten. All lie below "
        "one on the vertical axis."
    ),
    "fig-node-table1": (
        "Nine rows. In each, the two bounds lie together far to the right. The exact count and the simulation in "
        "random order coincide; simulation by expected size is lower for Dist-1, and the printed number lies near "
        "it."
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


def worst(frame, tried):
    """Left: questions in the worst case. Right: worst case over least; `tried` are runs, k to factor."""
    runs, curve = frame[frame["asked"].notna()], frame[frame["asked"].isna()]
    clusters, total = int(runs["k"].iloc[0]), int(curve["n"].iloc[0])
    few, k = runs[runs["k"] == clusters], curve["k"]
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.6))
    left.loglog(few["n"], few["n"] * clusters, color=INK, ls="-.", lw=1, label="$nk$")
    left.loglog(few["n"], few["asked"], **NODE.points, label="worst case, run")
    left.loglog(few["n"], few["least"], **FEWEST.line, label="fewest")
    left.set(xlabel="$n$", title=f"questions, $k = {clusters}$")
    left.legend(loc="upper left")
    right.loglog(k, curve["most over least"], **NODE.line, label="worst case / fewest")
    right.loglog(list(tried), list(tried.values()), **NODE.points, label="run")
    right.loglog(k, np.minimum(k, 2 * total / k), color=INK, lw=1, ls="-.", label=r"$\min\{k, 2n/k\}$")
    right.set(xlabel="$k$", title=f"factor, $n = {total:,}$")
    right.legend(loc="lower center")
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


def table_1(frame, spread):
    """Bounds, counts, runs and the printed numbers; `spread` has the deviations of one run."""
    place = np.arange(len(frame))[::-1]
    names = {"dist1": "Dist-1", "dist2": "Dist-2"}
    drawn = [
        ("bound, printed", "bound", "x", PRINTED.color, 0, 7),
        ("bound, corrected", "corrected", "D", CORRECTED.color, 0, 5),
        ("exact, random order", "exact", "|", NODE.color, 0.22, 13),
        ("simulated, random order", "random", "o", NODE.color, 0.22, 5),
        ("simulated, by expected size", "sorted", "v", SKY, -0.05, 5),
        ("published", "printed", "*", PURPLE, -0.32, 8),
    ]
    fig, ax = plt.subplots(figsize=(6.4, 5.2))
    for label, column, marker, color, shift, size in drawn:
        values = frame[column]
        look = {"color": color, "ms": size, "mew": 1.6, "mfc": "none", "ls": "none"}
        ax.plot(values, place + shift, marker, label=label, **look)
        if column in spread:
            low, high = values - 2 * spread[column], values + 2 * spread[column]
            ax.hlines(place + shift, low, high, color=color, lw=1.2)
    rows = zip(frame["model"].map(names), frame["ε"], strict=True)
    ax.set_yticks(place, [f"{name}, {epsilon}" for name, epsilon in rows])
    ax.set(xscale="log", xlabel="questions")
    ticks = [1500, 2500, 4000, 6000, 10_000, 15_000]
    ax.set_xticks(ticks, [f"{value:,}" for value in ticks])
    ax.minorticks_off()
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig
