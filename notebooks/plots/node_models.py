"""The figures of the appendix *Node ordering on the two models*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, CORRECTED, GREY, INK, PRINTED, SKY


def dist1(frame):
    """Dist-1: the exact count as a share of nk, below both lines of the proposition."""
    dial = frame["epsilon"].drop_duplicates().to_numpy()
    ratio = (1 - dial) / (1 + dial)
    fig, ax = plt.subplots(figsize=(6.0, 4.0))
    ax.plot(dial, 1 - dial**2, **PRINTED.line, label=r"$1 - \epsilon^2$")
    ax.plot(dial, ratio * (1 - np.log(ratio)), **CORRECTED.line, label=r"$r\,(1 - \ln r)$")
    ax.plot(dial, (1 - dial) / 2, color=GREY, lw=6, alpha=0.3, label=r"$(1 - \epsilon)/2$")
    looks = zip((SKY, BLUE, INK), ("-", "--", ":"), strict=True)
    for (n, part), (color, dash) in zip(frame.groupby("n"), looks, strict=True):
        ax.plot(dial, part["share of nk"], color=color, ls=dash, label=f"exact, n = {n:,}")
    ax.set(xlabel=r"$\epsilon$", ylabel="questions / $nk$", ylim=(0, 1.03), xlim=(0, 0.51))
    ax.legend(loc="lower left", ncols=2, fontsize=9)
    return fig


def dist2(frame):
    """Dist-2: non-matches that two equal clusters cost, exactly and as allowed by both bounds."""
    fig, ax = plt.subplots(figsize=(6.2, 4.2))
    looks = zip((SKY, BLUE, INK), ("-", "--", "-."), strict=True)
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
