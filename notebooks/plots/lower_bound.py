"""The figures of the chapter *What no algorithm can avoid*."""

from itertools import pairwise
from math import sqrt

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, CORRECTED, EDGE, FEWEST, GREY, INK, MATCH, NODE, NONMATCH, ORANGE, PRINTED, RED
from notebooks.plots.shared import graph

TITLES = {"dist1": "Dist-1", "dist2": "Dist-2"}


def example(groups, shares):
    """A smallest set of questions that settles all pairs of the records in `groups`, and their similarities."""
    a, b, c = groups
    same, other = MATCH.line | {"lw": 2.4}, NONMATCH.line | {"lw": 1.6}
    questions = [(*ends, same) for group in groups for ends in pairwise(group)]
    questions += [(a[0], b[2], other), (b[3], c[0], other), (a[4], c[1], other)]
    fig, (ax, bars) = plt.subplots(1, 2, figsize=(6.4, 3.2), width_ratios=[1.15, 1])
    place = {}
    for (x, y), group in zip([(0, 1), (2.6, 1.5), (2.2, -1.1)], groups, strict=True):
        turn = np.arange(len(group)) * 2 * np.pi / len(group) + 0.3
        place |= dict(zip(group, zip(x + 0.8 * np.cos(turn), y + 0.8 * np.sin(turn), strict=True), strict=True))
    graph(ax, place, questions)
    ax.set(aspect="equal", title="questions that suffice", xlim=(-1.2, 3.8), ylim=(-2.2, 2.7))
    for (name, look), shift in zip((("matches", MATCH), ("non-matches", NONMATCH)), (-0.2, 0.2), strict=True):
        bars.bar(np.arange(len(shares)) + shift, shares[name], width=0.36, label=name, **look.fill)
    bars.set(xticks=range(len(shares)), xticklabels=shares["step"], xlabel="similarity", title="share of pairs")
    bars.set(ylim=(0, 0.95))
    bars.legend(loc="upper right")
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
        ax.set(title=title, ylim=(0.49, 0.92), xlabel=r"$\epsilon$")
    axes[0].set_ylabel("right with probability")
    axes[0].text(0.0105, 0.868, r"$\frac{1}{2}(1 + 1/\sqrt{2})$, for $a=1/(8H^2)$", fontsize=9.5)
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
