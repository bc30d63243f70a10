"""Figures of the chapter *Synthetic experiments*."""

from fractions import Fraction

import crowder as cr
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from book.companion import published
from book.companion.figures import EDGE, FEWEST, GREY, INK, NODE, PRINTED
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.lines import Line2D

#: |z| up to these, and the colour that stands for it.
CLASSES = {"up to 2": 2, "to 3": 3, "to 10": 10, "to 100": 100, "more": np.inf}
SHADES = ["#f4f1e6", "#cfe0c3", "#7fb7b0", "#3d7a9e", "#1b2a5c"]


def counts(table, fewest):
    """Table 1, a row for each model and ε: on the left questions and bounds, on the right the distance z."""
    fig, axes = plt.subplots(1, 2, figsize=(4.8, 4.4), sharey=True, width_ratios=[1.5, 1])
    place = _places(table)
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
    axes[0].set_ylim(0.4, len(place) + 0.6)
    for ax in axes:
        _name_rows(ax, place)
    key = {"published": Line2D([], [], ls="none", marker="s", ms=7.5, mfc="none", mec=INK, mew=0.9),
           "edge, expected": Line2D([], [], **EDGE.points, ms=4.5),
           "node, expected": Line2D([], [], **NODE.points, ms=4.5),
           "in random order": Line2D([], [], **NODE.points, ms=6.5, mfc="none"),
           "corrected bound": Line2D([], [], ls="none", marker="|", ms=8, mew=1.8, color=INK),
           "printed bound": Line2D([], [], ls="none", marker="|", ms=8, mew=1.8, color=PRINTED.color)}  # fmt: skip
    fig.legend(key.values(), key, loc="outside upper center", ncols=3, handletextpad=0.2, columnspacing=1)
    return fig


def expectations():
    """The published numbers of Table 1 and the expected ones, with the clusters that make its numbers of both."""
    table, sizes = published.read()["table-1"].frame(), published.cluster_sizes(announced=True)
    rows = []
    for model, epsilon, node, edge in table[["model", "ε", "node", "edge"]].values:
        law = {"Dist-1": cr.dist1, "Dist-2": cr.dist2}[model](float(Fraction(epsilon)))
        for ordering, asked, arrival in (("edge", edge, None), ("node", node, "expected size")):
            count = cr.expected_queries(law, sizes, ordering, arrival=arrival)
            rows.append((model, epsilon, ordering, asked, count, cr.ideal_queries(sizes)))
    return pd.DataFrame(rows, columns=["model", "ε", "ordering", "published", "expected", "fewest"])


def published_and_expected(table):
    """The published numbers as squares, on the marks of the expected ones; a row for each model and ε."""
    fig, ax = plt.subplots(figsize=(4.8, 3.6))
    place = _places(table)
    ax.axvline(table["fewest"].iloc[0], **FEWEST.line, lw=1.2)
    for (ordering, look), above in zip({"edge": EDGE, "node": NODE}.items(), (0.19, -0.19), strict=True):
        part = table[table["ordering"] == ordering]
        y = np.array([place[row] for row in zip(part["model"], part["ε"], strict=True)]) + above
        ax.plot(part["expected"], y, **look.points, ms=4.5, label=f"{ordering} ordering, expected")
        ax.plot(part["published"], y, ls="none", marker="s", ms=8, mfc="none", mec=INK, mew=0.9)
    ax.plot([], [], ls="none", marker="s", ms=8, mfc="none", mec=INK, mew=0.9, label="published")
    ax.set(xlabel="questions", xlim=(0, 10_000), ylim=(0.4, len(place) + 0.6))
    ax.set_xticks([0, 2500, 5000, 7500, 10_000], ["0", "2,500", "5,000", "7,500", "10,000"])
    _name_rows(ax, place)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2, handletextpad=0.2, columnspacing=1)
    return fig


def _places(table):
    """Where the row of each model and ε is, from the top."""
    rows = [*table[["model", "ε"]].drop_duplicates().itertuples(index=False, name=None)]
    return {row: len(rows) - i for i, row in enumerate(rows)}


def _name_rows(ax, place):
    """The names of the rows, and a line between the models."""
    ax.set_yticks([*place.values()], [f"{model}, {ε}" for model, ε in place])
    ax.tick_params("y", length=0)
    ax.axhline(len(place) - sum(model == "Dist-1" for model, _ in place) + 0.5, color=GREY, lw=0.6)


def readings(rank, epsilons):
    """|z| of each printed number under each reading: of node ordering, and below it of edge ordering."""
    grid = np.abs(np.stack(rank["z"].to_list()))
    labels = [f"{row['rounding']}; {row['ties']}; {row['arrival']}".replace("none; ", "") for _, row in rank.iterrows()]
    labels = [f"{label}   {rms:,.1f}" for label, rms in zip(labels, rank["rms"], strict=True)]
    fig, axes = plt.subplots(2, 1, figsize=(6.4, 8.6), sharex=True)
    bounds = [0, *list(CLASSES.values())[:-1], 1e9]
    for ax, ordering, part in zip(axes, ("node", "edge"), np.split(grid, 2, axis=1), strict=True):
        sns.heatmap(
            part, ax=ax, cmap=ListedColormap(SHADES), norm=BoundaryNorm(bounds, len(SHADES)), cbar=False, linewidths=1,
            yticklabels=labels, xticklabels=[str(e) for e in epsilons],
        )  # fmt: skip
        ax.tick_params(length=0)
        ax.tick_params("x", rotation=90, labelbottom=True)
        ax.axvline(6, color=INK, lw=2)
        ax.text(3, -0.3, "Dist-1", ha="center")
        ax.text(7.5, -0.3, "Dist-2", ha="center")
        ax.set_title(f"{ordering} ordering", pad=22)
    handles = [plt.Rectangle((0, 0), 1, 1, color=shade) for shade in SHADES]
    fig.legend(
        handles, CLASSES, ncols=5, loc="outside lower center", title="$|z|$", handlelength=1.2, columnspacing=1
    )  # fmt: skip
    return fig
