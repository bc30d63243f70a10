"""Figures of the chapter *Synthetic experiments*."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from book.companion.figures import EDGE, FEWEST, GREY, INK, NODE, PRINTED
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.lines import Line2D

#: |z| up to these, and the colour that stands for it.
CLASSES = {"up to 2": 2, "to 3": 3, "to 10": 10, "to 100": 100, "more": np.inf}
SHADES = ["#f4f1e6", "#cfe0c3", "#7fb7b0", "#3d7a9e", "#1b2a5c"]


def counts(table, fewest):
    """Table 1, a row for each model and ε: on the left questions and bounds, on the right the distance z."""
    fig, axes = plt.subplots(1, 2, figsize=(4.8, 4.4), sharey=True, width_ratios=[1.5, 1])
    rows = table.drop_duplicates(["model", "ε"])
    place = {(model, ε): len(rows) - i for i, (model, ε) in enumerate(zip(rows["model"], rows["ε"], strict=True))}
    for (ordering, look), above in zip({"edge": EDGE, "node": NODE}.items(), (0.17, -0.17), strict=True):
        part = table[table["ordering"] == ordering]
        y = np.array([place[row] for row in zip(part["model"], part["ε"], strict=True)]) + above
        left, right = axes
        left.plot(part["printed bound"], y, ls="none", marker="|", ms=8, mew=1.8, color=PRINTED.color)
        left.plot(part["corrected bound"], y, ls="none", marker="|", ms=8, mew=1.8, color=INK)
        left.plot(part["expected"], y, **look.points, ms=3.5)
        left.plot(part["printed"], y, ls="none", marker="s", ms=7.5, mfc="none", mec=INK, mew=0.9)
        right.plot(part["z"], y, **look.points, ms=4.5)
    shuffled = (part["printed"] - part["random order"]) / part["sd"]  # of node ordering
    right.plot(shuffled, y, **NODE.points, ms=6.5, mfc="none", zorder=1)
    axes[0].axvline(fewest, **FEWEST.line, lw=1.2)
    axes[0].set(xscale="log", xlim=(1000, 130_000))
    axes[0].minorticks_off()
    axes[0].set_xticks([1000, 10_000, 100_000], ["1,000", "10,000", "100,000"])
    axes[0].set_xlabel("questions", fontsize=11)
    axes[1].axvspan(-2, 2, color=GREY, alpha=0.15, lw=0)
    axes[1].axvline(0, color=GREY, lw=0.8)
    axes[1].set(xlim=(min(-4.2, shuffled.min() - 0.5), 4.2), xticks=[-5, -2, 0, 2])
    axes[1].set_xlabel("z", fontsize=11)
    axes[0].set_yticks([*place.values()], [f"{model}, {ε}" for model, ε in place])
    axes[0].set_ylim(0.4, len(place) + 0.6)
    for ax in axes:
        ax.tick_params("y", length=0)
        ax.axhline(len(place) - (rows["model"] == "Dist-1").sum() + 0.5, color=GREY, lw=0.6)
    key = {"published": Line2D([], [], ls="none", marker="s", ms=7.5, mfc="none", mec=INK, mew=0.9),
           "edge, expected": Line2D([], [], **EDGE.points, ms=4.5),
           "node, expected": Line2D([], [], **NODE.points, ms=4.5),
           "in random order": Line2D([], [], **NODE.points, ms=6.5, mfc="none"),
           "corrected bound": Line2D([], [], ls="none", marker="|", ms=8, mew=1.8, color=INK),
           "printed bound": Line2D([], [], ls="none", marker="|", ms=8, mew=1.8, color=PRINTED.color)}  # fmt: skip
    fig.legend(key.values(), key, loc="outside upper center", ncols=3, handletextpad=0.2, columnspacing=1)
    return fig


def dozen(by_count, expected, sd, own):
    """Runs by the number of questions; the run with the similarities of the citations themselves is marked."""
    fig, ax = plt.subplots(figsize=(4.8, 2.2))
    ax.axvspan(expected - 2 * sd, expected + 2 * sd, color=GREY, alpha=0.15, lw=0)
    ax.bar(by_count["questions"], by_count["runs"], width=0.7, color=EDGE.color)
    ax.axvline(expected, color=INK, lw=1.2, ls=":")
    top = by_count["runs"].max()
    ax.text(expected - 0.15, 1.16 * top, f"expected {expected:.2f}", ha="right", va="top", fontsize=11)
    ax.plot(own, 1.07 * top, "v", color=INK, ms=8)
    ax.text(own + 0.4, 1.16 * top, f"the citations: {own}", va="top", fontsize=11)
    ax.set(xlabel="questions of edge ordering", ylabel="runs", ylim=(0, 1.2 * top), xticks=by_count["questions"])
    return fig


def readings(rank, epsilons):
    """|z| of each printed number under each reading."""
    grid = np.abs(np.stack(rank["z"].to_list()))
    labels = [f"{row['rounding']}; {row['ties']}; {row['arrival']}".replace("none; ", "") for _, row in rank.iterrows()]
    fig, ax = plt.subplots(figsize=(6.4, 5.6))
    bounds = [0, *list(CLASSES.values())[:-1], 1e9]
    sns.heatmap(
        grid, ax=ax, cmap=ListedColormap(SHADES), norm=BoundaryNorm(bounds, len(SHADES)), cbar=False, linewidths=1,
        yticklabels=[f"{label}   {rms:,.1f}" for label, rms in zip(labels, rank["rms"], strict=True)],
        xticklabels=[str(e) for e in epsilons] * 2,
    )  # fmt: skip
    ax.tick_params(length=0)
    ax.tick_params("x", rotation=90)
    ax.axvline(9, color=INK, lw=2)
    for x, text in ((3, "Dist-1"), (7.5, "Dist-2"), (12, "Dist-1"), (16.5, "Dist-2")):
        ax.text(x, -0.2, text, ha="center", fontsize=8.5)
    for x, text in ((4.5, "node ordering"), (13.5, "edge ordering")):
        ax.text(x, -1, text, ha="center", fontsize=9.5)
    handles = [plt.Rectangle((0, 0), 1, 1, color=shade) for shade in SHADES]
    fig.legend(
        handles, CLASSES, ncols=5, loc="outside lower center", title="$|z|$", handlelength=1.2, columnspacing=1
    )  # fmt: skip
    return fig
