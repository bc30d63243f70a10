"""The figures of the chapter *Node ordering*."""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, SKY


def worst(frame, tried):
    """Left: questions of the trap. Right: worst case over least; `tried` are runs, k to factor."""
    runs, curve = frame[frame["asked"].notna()], frame[frame["asked"].isna()]
    clusters, total = int(runs["k"].iloc[0]), int(curve["n"].iloc[0])
    few, k = runs[runs["k"] == clusters], curve["k"]
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.6))
    left.loglog(few["n"], few["n"] * clusters, color=GREY, ls=":", label="$nk$")
    left.loglog(few["n"], few["asked"], "o", color=BLUE, label="the trap, run")
    left.loglog(few["n"], few["least"], color=INK, lw=1.2, label="least")
    left.set(xlabel="$n$", title=f"questions, $k = {clusters}$")
    left.legend(loc="upper left")
    right.loglog(k, curve["most over least"], color=BLUE, label="most / least")
    right.loglog(list(tried), list(tried.values()), "o", color=BLUE, label="the trap, run")
    right.loglog(k, np.minimum(k, 2 * total / k), color=ORANGE, ls="--", label=r"$\min\{k, 2n/k\}$")
    right.set(xlabel="$k$", title=f"factor, $n = {total:,}$")
    right.legend(loc="lower center")
    return fig


def search(frame):
    """Exact counts over the printed and over the corrected bound, on random models and sizes."""
    broken = frame["exact"] > frame["printed"] * (1 + 1e-9)
    fig, ax = plt.subplots(figsize=(6.0, 4.0))
    for part, color, marker, label in (
        (~broken, BLUE, "o", "within the printed bound"),
        (broken, RED, "s", "beyond it"),
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
        ("bound as printed", "bound", ">", RED, 0, 7),
        ("bound, corrected", "corrected", "<", ORANGE, 0, 7),
        ("exact, random order", "exact", "|", INK, 0.22, 13),
        ("simulated, random order", "random", "o", BLUE, 0.22, 5),
        ("simulated, by expected size", "sorted", "D", GREEN, -0.05, 5),
        ("Table 1", "printed", "x", INK, -0.32, 7),
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


def dist1(frame):
    """Dist-1: the exact count as a share of nk, below both lines of the proposition."""
    dial = frame["epsilon"].drop_duplicates().to_numpy()
    ratio = (1 - dial) / (1 + dial)
    fig, ax = plt.subplots(figsize=(6.0, 4.0))
    ax.plot(dial, 1 - dial**2, color=RED, ls="--", label=r"$1 - \epsilon^2$")
    ax.plot(dial, ratio * (1 - np.log(ratio)), color=ORANGE, ls="-.", label=r"$r\,(1 - \ln r)$")
    ax.plot(dial, (1 - dial) / 2, color=GREEN, lw=6, alpha=0.3, label=r"$(1 - \epsilon)/2$")
    looks = zip((SKY, BLUE, INK), ("-", "--", ":"), strict=True)
    for (n, part), (color, dash) in zip(frame.groupby("n"), looks, strict=True):
        ax.plot(dial, part["share of nk"], color=color, ls=dash, label=f"exact, n = {n:,}")
    ax.set(xlabel=r"$\epsilon$", ylabel="questions / $nk$", ylim=(0, 1.03), xlim=(0, 0.51))
    ax.legend(loc="lower left", ncols=2, fontsize=9)
    return fig


def dist2(frame):
    """Dist-2: non-matches that two equal clusters cost, exactly and as allowed by both bounds."""
    fig, ax = plt.subplots(figsize=(6.2, 4.2))
    looks = zip((BLUE, PURPLE, ORANGE), ("-", "--", "-."), strict=True)
    for (eps, part), (color, dash) in zip(frame.groupby("epsilon"), looks, strict=True):
        ax.loglog(part["size"], part["theorem"], color=color, ls=dash, lw=1.1)
        name = rf"$\epsilon = {eps:g}$"
        ax.loglog(part["size"], part["exact"], color=color, ls=dash, lw=2.6, label=name)
        ax.plot(part["size"].max() * 1.4, part["limit"].iloc[0], "<", color=color, ms=8)
    ax.set(xlabel="records in each cluster", ylabel="non-matches for each two clusters")
    ax.legend(loc="upper left")
    ticks = [1, 2, 5, 10, 20, 50, 100, 200]
    ax.set_yticks(ticks, map(str, ticks))
    ax.minorticks_off()
    return fig


def sizes(frame, jitter):
    """Expected size and true size of the cluster, under Dist-1; `jitter` moves the points apart."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.8), sharey=True)
    groups = zip(axes, frame.groupby("epsilon", sort=False), jitter, strict=True)
    for ax, (eps, part), moved in groups:
        ends, green, red = np.array([30, 220]), 0.5 + eps / 4, 0.5 - eps / 4
        ax.plot(part["expected size"], part["cluster"] + moved, ".", color=BLUE, ms=2.5, alpha=0.5)
        ax.plot((ends - 1) * green + (len(part) - ends) * red, ends, color=INK)
        ax.set_title(rf"Dist-1, $\epsilon = {Fraction(eps).limit_denominator(100)}$")
        ax.set(xlabel="expected size", yticks=sorted(set(part["cluster"])))
    axes[0].set_ylabel("records in the cluster")
    return fig
