"""Figures of the chapter *Real crowds*."""

from itertools import cycle

import matplotlib.pyplot as plt
import pandas as pd
from book.companion.figures import EDGE, EVIDENCE, GREEN, GREY, INK, MATCH, NODE, NOISY, NONMATCH, RED, SKY
from matplotlib.ticker import PercentFormatter

#: The strategies with thicker lines: noisy ordering, alone or after edge ordering, edge ordering itself, and the best
#: of the others.
NAMED = ("noisy", "edge, then noisy", "most similar once", "edge")

#: How each strategy is drawn.
LOOKS = {
    "noisy": NOISY.line | {"lw": 2.6, "zorder": 3},
    "edge, then noisy": {"color": NOISY.color, "linestyle": (0, (2, 1)), "lw": 1.2, "zorder": 2},
    "most similar once": {"color": RED, "linestyle": (0, (5, 1.5))},
    "control queries": {"color": GREEN, "linestyle": (0, (3, 1, 1, 1))},
    "member votes": {"color": GREY, "linestyle": (0, (1, 1.2))},
    "edge": EDGE.line,
    "node": NODE.line,
    "evidence": EVIDENCE.line,
    "hybrid": {"color": SKY, "linestyle": (0, (6, 1, 1, 1, 1, 1))},
}


def where_wrong(shares):
    """The share of wrong votes on each crowd, from the most similar matches and non-matches to the least similar."""
    names = shares["crowd"].unique()
    fig, (axes,) = plt.subplots(1, len(names), figsize=(6.4, 2.9), squeeze=False)
    for ax, (crowd, part) in zip(axes, shares.groupby("crowd", sort=False), strict=True):
        for match, look, marker in ((True, MATCH, "o"), (False, NONMATCH, "s")):
            own = part[part["match"] == match]
            words = "matches, wrongly called different" if match else "non-matches, wrongly called the same"
            ax.plot(own["group"], own["wrong"], marker=marker, ms=5, **look.line, label=words)
        ax.set(title=crowd, ylim=(0, None), xlim=(0.5, shares["group"].max() + 0.5), xticks=[])
        ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes[len(axes) // 2].set_xlabel("most similar   →   least similar")
    axes[0].set_ylabel("wrong votes")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=1)
    return fig


def answers_paid_for(curves, level):
    """F1 of each strategy on each crowd."""
    names = curves["crowd"].unique()
    fig, (axes,) = plt.subplots(1, len(names), figsize=(6.4, 3.9), sharey=True, squeeze=False)
    for ax, (crowd, part) in zip(axes, curves.groupby("crowd", sort=False), strict=True):
        for name, look in LOOKS.items():
            own = part[(part["ordering"] == name) & (part["answers"] > 0)]
            width = {"lw": 1.8} if name in NAMED else {"lw": 1.0, "zorder": 1}
            ax.plot(own["answers"], own["F1"], **(width | look), label=name)
        ax.set(title=crowd, xlabel="answers paid for")
        ax.set(ylim=(0, 1.02), xscale="log", xlim=(20, part["answers"].max()))
        ax.axhline(level, color=GREY, lw=0.8)
    axes[0].set_ylabel("F1")
    lines = {line.get_label(): line for line in axes[0].get_lines()}
    shown = {name: lines[name] for name in LOOKS}
    fig.legend(shown.values(), shown, loc="outside upper center", ncols=3, columnspacing=1.0, handlelength=2.4)
    return fig


def votes_wrong(counts):
    """Pairs of gym by how many of five votes are wrong: counted, and expected of two models."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.2))
    for ax, match in zip(axes, (True, False), strict=True):
        part = counts[counts["match"] == match]
        ax.bar(part["wrong"], part["pairs"], width=0.7, **(MATCH if match else NONMATCH).fill, label="counted")
        ax.plot(part["wrong"], part["looks"], "-", marker="s", ms=5, color=INK, label="model of looks")
        ax.plot(part["wrong"], part["independent"], ":", marker="o", ms=5, color=GREY, label="independent")
        ax.set(title="matches" if match else "non-matches", xlabel="wrong votes of five", yscale="log")
        ax.set(ylim=(0.5, None), xticks=range(6))
    axes[0].set_ylabel("pairs")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


def reliability(bins, least):
    """The share of records that are right, against what is stated, in bins with at least `least` records."""
    fig, ax = plt.subplots(figsize=(6.4, 3.6))
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--")
    bins = bins[bins["records"] >= least]
    for (crowd, part), marker in zip(bins.groupby("crowd", sort=False), cycle("os^DvP")):
        ax.plot(part["stated"], part["right"], marker=marker, ms=5, label=crowd, clip_on=False)
    ax.set(xlabel="stated", ylabel="right", xlim=(0, 1), ylim=(0, 1.02))
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def beside(rows, index, forms, crowds):
    """What a table shows: a row for each value of the index, and these columns for each crowd; and their formats."""
    wide = rows.pivot(index=index, columns="crowd", values=[*forms]).reindex(rows[index].unique())
    both = {f"{crowd}: {column}": (column, crowd) for crowd in crowds for column in forms}
    shown = pd.DataFrame({name: wide[at] for name, at in both.items()}).reset_index()
    return {"shown": shown, "formats": {name: forms[column] for name, (column, _) in both.items()}}
