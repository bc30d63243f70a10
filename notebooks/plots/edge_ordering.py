"""The figures of the chapter *Edge ordering*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, GREEN, GREY, INK, ORANGE, PURPLE


def worst(frame):
    """Questions when every non-match is more similar than every match, and the fewest possible."""
    n = frame["n"]
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    ax.loglog(n, n**2 / 4 + n - 2, color=ORANGE, label="$n^2/4 + n - 2$")
    ax.loglog(n, frame["questions"], "D", ms=6, mfc="none", mew=1.5, color=ORANGE,
              label="edge ordering, run")  # fmt: skip
    ax.loglog(n, frame["fewest"], color=GREY, ls=":", label="the fewest, $n - 1$")
    ax.set(xlabel="records $n$, in two clusters", ylabel="questions")
    ax.legend(loc="upper left")
    return fig


def ratio(frame):
    """Exact count over the printed bound, and over the one with its factor restored."""
    fig, ax = plt.subplots(figsize=(6.2, 4.2))
    ax.axhline(1, color=INK, lw=1)
    for (k, part), color, marker in zip(frame.groupby("k"), (BLUE, ORANGE), "os", strict=True):
        style = {"color": color, "marker": marker, "ms": 4.5}
        restored = part["exact"] / part["repaired"]
        ax.loglog(part["m"], part["ratio"], ls="-", label=f"printed, $k = {k}$", **style)
        ax.loglog(part["m"], restored, ls=":", mfc="none", label=f"restored, $k = {k}$", **style)
    ax.set(xlabel="records in each cluster, $m$", ylabel="exact count over bound", ylim=(0.25, 40))
    ax.legend(ncols=1, loc="upper left")
    return fig


def table_1(frame, ideal):
    """Bounds, counts, runs and published numbers of Table 1; `ideal` is the least possible."""
    place = np.arange(len(frame))[::-1]
    fig, ax = plt.subplots(figsize=(6.4, 4.9))
    for column, label, color, marker, size in [
        ("printed", "Theorem 2, printed", GREY, ">", 7), ("corrected", "corrected", BLUE, "v", 7),
        ("tree", "tree bound", PURPLE, "D", 6), ("published", "published", INK, "x", 8),
    ]:  # fmt: skip
        ax.plot(frame[column], place, ls="none", marker=marker, ms=size, color=color, label=label,
                mfc="none" if column == "tree" else color)  # fmt: skip
    ax.errorbar(frame["simulated"], place, xerr=2 * frame["error"], fmt="o", ms=9, mfc="none",
                color=ORANGE, label="simulated")  # fmt: skip
    ax.plot(frame["exact"], place, ls="none", marker="|", ms=15, mew=2, color=GREEN, label="exact")
    ax.axvline(ideal, color=INK, lw=0.8, ls=":")
    ax.set(xscale="log", xlabel="questions", xlim=(1100, 100_000), ylim=(-0.6, len(frame) - 0.4))
    ticks = [2000, 5000, 10_000, 20_000, 50_000]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.minorticks_off()
    names = [f"Dist-{row.model[-1]}, ε = {row.epsilon}" for row in frame.itertuples()]
    ax.set_yticks(place, names)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


def dist1(frame):
    """What ε saves under Dist-1: the count of non-matches, the chance D, and the two factors."""
    epsilon, D, counts = (frame[column] for column in ("epsilon", "D", "non-matches asked"))
    fig, ax = plt.subplots(figsize=(6.2, 3.7))
    ax.plot(epsilon, 1 - 2 * epsilon, color=GREY, ls="--", label=r"$1 - 2\epsilon$, printed")
    ax.plot(epsilon, (1 - epsilon) / (1 + epsilon), color=INK, ls="-",
            label=r"$(1-\epsilon)/(1+\epsilon)$")  # fmt: skip
    ax.plot(epsilon, D / D[0], color=BLUE, ls="none", marker="s", mfc="none", ms=7,
            label="$D$, of the corrected bound")  # fmt: skip
    ax.plot(epsilon, counts / counts[0], color=ORANGE, ls="none", marker="o", ms=5,
            label="exact count of non-matches")  # fmt: skip
    ax.set(xlabel=r"$\epsilon$", ylabel="share of the uniform value")
    ax.set(xlim=(0, 0.51), ylim=(0, 1.03))
    ax.legend(loc="lower left")
    return fig


def dist2(frame):
    """Questions between two clusters under Dist-2, scaled by ε."""
    fig, ax = plt.subplots(figsize=(6.2, 3.7))
    looks = zip((PURPLE, ORANGE, BLUE, GREEN), "^so.", strict=True)
    curves = frame.groupby("epsilon", sort=False)
    for (epsilon, part), (color, marker) in zip(curves, looks, strict=True):
        ax.plot(part["scaled size"], part["scaled questions"], color=color, marker=marker, ms=4,
                lw=1.2, ls="-", label=rf"$\epsilon = {epsilon:g}$")  # fmt: skip
    ax.set(xlabel=r"$\epsilon m$", ylabel=r"$\epsilon\,\cdot$ questions")
    ax.set(xlim=(0, 12), ylim=(0, 0.7))
    ax.legend()
    return fig
