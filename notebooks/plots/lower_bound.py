"""The figures of the chapter *What no algorithm can avoid*, and of its appendix."""

from math import sqrt

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, CORRECTED, EDGE, FEWEST, GREY, INK, MATCH, NODE, NONMATCH, ORANGE, PRINTED, RED

TITLES = {"dist1": "Dist-1", "dist2": "Dist-2"}


def piles(laws, counts):
    """The similarities of a record with two clusters, and the two laws of its log-odds, which have areas of one half.

    `counts` are how many similarities with the first cluster lie below one half, and above; with the second it is the
    other way round.
    """
    fig, (ax, odds) = plt.subplots(1, 2, figsize=(6.4, 3.3), width_ratios=[1, 1.4])
    for left, pile, look in ((0, counts, MATCH), (1.35, counts[::-1], NONMATCH)):
        for x, count in zip((0.25, 0.75), pile, strict=True):
            place = np.arange(count)
            ax.plot(left + x + 0.2 * (place % 2) - 0.1, place // 2, **look.points, ms=4.5)
            ax.text(left + x, (count - 1) // 2 + 0.8, count, ha="center", fontsize=10.5)
        ax.plot([left, left + 1], [-0.9, -0.9], color=INK, lw=0.8, ls="-")
        ax.plot([left + 0.5] * 2, [-0.9, 7.4], color=GREY, lw=0.8, ls=":")
        for at, text in ((0, "0"), (0.5, "½"), (1, "1")):
            ax.text(left + at, -1.2, text, ha="center", va="top", fontsize=10.5)
    for x, text in ((0.5, "with the\nfirst"), (1.85, "with the\nsecond")):
        ax.text(x, 10, text, ha="center", va="top", fontsize=10.5)
    ax.set(xlim=(-0.1, 2.45), ylim=(-2.1, 10), xlabel="similarity")
    for part in (ax.xaxis, ax.yaxis):
        part.set_ticks([])
    ax.spines[["left", "bottom"]].set_visible(False)
    x, step = laws["log-odds"], laws["log-odds"].diff().iloc[-1]
    edges = np.r_[x - step / 2, x.iloc[-1] + step / 2]
    odds.stairs(laws[["of the first", "of the second"]].min(axis=1), edges, fill=True, color="0.72")
    for name, color, dash in (("of the first", BLUE, "-"), ("of the second", ORANGE, "--")):
        odds.stairs(laws[name], edges, color=color, ls=dash, lw=1.6, label=name)
    odds.plot([0, 0], [0, 0.06], color=INK, lw=0.8, ls=":")
    odds.set(xlabel="log-odds for the first", ylabel="probability", xlim=(-6, 6), ylim=(0, 0.082))
    odds.set(xticks=[-5, 0, 5], yticks=[0, 0.02, 0.04, 0.06])
    odds.legend(loc="upper center", ncols=1, handlelength=1.5)
    return fig


def table_1(frame, levels, ideal):
    """The printed bound, one that holds, and Table 1; `levels` names horizontal lines."""
    fig, axes = plt.subplots(1, 2, figsize=(6.6, 3.6), sharey=True)
    for ax, (name, title) in zip(axes, TITLES.items(), strict=True):
        part = frame[frame["model"] == name]
        lines, points = part[part["printed"].notna()], part[part["node"].notna()]
        epsilon = lines["epsilon"]
        ax.loglog(epsilon, lines["printed"], **PRINTED.line, lw=2.2, label="$n + k^2/H^2$ (Corollary 1)")
        ax.loglog(epsilon, lines["holds"], **CORRECTED.line, label="lower bound that holds")
        for text, value in levels.items():
            ax.axhline(value, color=GREY, lw=0.9)
            ax.text(0.62, 1.15 * value, text, fontsize=9.5, va="bottom", ha="right")
        ax.axhline(ideal, **FEWEST.line, label=r"fewest possible, $n - k + \binom{k}{2}$")
        for column, style in (("node", NODE), ("edge", EDGE)):
            ax.plot(points["epsilon"], points[column], **style.points, ms=6, label=f"{column} ordering, Table 1")
        ax.set(title=title, xlabel=r"$\epsilon$", xlim=(0.9 * epsilon.min(), 0.65), ylim=(15, 3e7))
    axes[0].set_ylabel("questions")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


#: The bounds of the remark: column, label, colour, dash.
LINKS = [
    ("subadditive", r"last bound, $\frac{1}{2}(1+\sqrt{4aH^2})$", RED, ":"),
    ("affine", r"first bound, $\frac{1}{2}(1+\sqrt{1-(1-H^2)^{4a}})$", ORANGE, "--"),
    ("tv", r"exact, $\frac{1}{2}(1+\mathrm{TV})$", BLUE, "-"),
]


def best_test(frame):
    """How often the best test is right: exactly, and at most by two bounds."""
    fig, axes = plt.subplots(1, 2, figsize=(6.6, 3.4), sharey=True)
    for ax, (name, title) in zip(axes, TITLES.items(), strict=True):
        part = frame[frame["model"] == name]
        ax.axhline((1 + sqrt(1 / 2)) / 2, color=INK, lw=1, ls=(0, (1, 1)))
        for column, label, color, dash in LINKS:
            ax.semilogx(part["epsilon"], (1 + part[column]) / 2, color=color, ls=dash, lw=1.6, label=label)
        ax.set(title=title, ylim=(0.49, 0.95), xlabel=r"$\epsilon$")
    axes[0].set_ylabel("right with probability")
    axes[0].text(0.0105, 0.888, r"$\frac{1}{2}(1 + 1/\sqrt{2})$, for $a=1/(8H^2)$", fontsize=9.5)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


def proofs(proved):
    """What similarities prove under Dist-2: questions asked, and how often nothing needs to be asked."""
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 6.8), sharex=True)
    look = {0.05: (ORANGE, "s", "--"), 0.2: (BLUE, "o", "-")}
    for v, (color, marker, dash) in look.items():
        part = proved[proved["epsilon"] == v]
        lines, points = part[part["printed"].notna()], part[part["asked"].notna()]
        style, label = {"color": color, "ms": 6, "mfc": "white"}, rf"$\epsilon = {v:g}$"
        top.loglog(lines["n"], lines["printed"], color=color, ls=":", lw=2.2, label=rf"$n + k^2/\epsilon$, {label}")
        top.loglog(lines["n"], lines["most"], color=color, ls=dash, lw=1.4, label=r"$\min\{k^2/p, nk\}$")
        top.plot(points["n"], points["asked"], marker, label="simulated", **style)
        bottom.semilogx(lines["n"], lines["alone"], color=color, ls=dash, label=label)
        bottom.plot(points["n"], points["proved"], marker, **style)
    top.set(ylabel="mean questions", ylim=(8, 2500))
    bottom.set(ylabel="all proved, nothing asked", xlabel="$n$")
    fig.legend(*top.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    bottom.legend(loc="upper left")
    return fig
