"""Figures of the chapter *Synthetic experiments*."""

from fractions import Fraction
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from book.companion.figures import CORRECTED, EDGE, FEWEST, INK, NODE, PRINTED
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.lines import Line2D

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-counts": (
        "Four panels, Dist-1 above and Dist-2 below, edge ordering on the left and node ordering on the right, "
        "all on one logarithmic scale. In each, the eighteen published numbers and the means of the runs lie on "
        "the line of expected counts, which falls as ε grows. The bounds lie above: for edge ordering under "
        "Dist-1 the corrected one by a factor of about three and the printed one by about eight. Under Dist-2 "
        "edge ordering needs hardly more than the fewest possible questions."
    ),
    "fig-one-run": (
        "Three rising curves. The ideal is at recall one first, by far; node ordering rises almost steadily; edge "
        "ordering stays near zero for a third of its questions, then climbs and ends last."
    ),
    "fig-readings": (
        "A grid of readings by printed numbers. The top row, similarities as drawn with arrival by expected size, "
        "is light almost throughout. All others have dark cells: one or two for the nearest tenth, whole blocks "
        "for records listed by cluster."
    ),
}

LOOK = {"ideal": FEWEST, "node ordering": NODE, "edge ordering": EDGE}
#: |z| up to these, and the colour that stands for it.
CLASSES = {"up to 2": 2, "to 3": 3, "to 10": 10, "to 100": 100, "more": np.inf}
SHADES = ["#f4f1e6", "#cfe0c3", "#7fb7b0", "#3d7a9e", "#1b2a5c"]


def recall(curves):
    """Recall against questions; a curve an ordering, with the questions it asks in all."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    for name, part in curves.groupby("ordering", sort=False):
        label = f"{name}: {part['questions'].iloc[-1]:,} questions"
        ax.plot(part["questions"], part["recall"], **LOOK[name].line, label=label)
    ax.set(xlabel="questions asked", ylabel="recall")
    fig.legend(loc="outside upper center", ncols=3, fontsize=9)
    return fig


def counts(curves, table, fewest):
    """Questions over ε, a panel for each model and ordering: bounds, expected counts, runs and published numbers."""
    fig, axes = plt.subplots(2, 2, figsize=(4.8, 3.3), sharex=True, sharey=True)
    for (model, ordering), ax in zip(product(("Dist-1", "Dist-2"), ("edge", "node")), axes.flat, strict=True):
        look = EDGE if ordering == "edge" else NODE
        line, part = (f[(f["model"] == model) & (f["ordering"] == ordering)] for f in (curves, table))
        ax.loglog(line["ε"], line["printed bound"], **PRINTED.line, lw=2)
        ax.loglog(line["ε"], line["corrected bound"], **CORRECTED.line, lw=1.4)
        ax.loglog(line["ε"], line["expected"], **look.line, lw=2.2)
        ax.axhline(fewest, **FEWEST.line, lw=1.6)
        at = [float(Fraction(e)) for e in part["ε"]]
        spread = [part["mean"] - part["low"], part["high"] - part["mean"]]
        ax.errorbar(at, part["mean"], yerr=spread, **look.points, ms=3.5, capsize=2.5, lw=1)
        ax.plot(at, part["printed"], ls="none", marker="s", ms=8, mfc="none", mec=INK, mew=1.1)
    for ax, ordering in zip(axes[0], ("Edge ordering", "Node ordering"), strict=True):
        ax.set_title(ordering, fontsize=12)
    for ax, model in zip(axes[:, 1], ("Dist-1", "Dist-2"), strict=True):
        ax.annotate(model, (1.03, 0.5), xycoords="axes fraction", rotation=-90, va="center", fontsize=12)
    _name_lines(axes)
    ticks, epsilons = [1000, 3000, 10_000, 30_000, 100_000], [Fraction(1, m) for m in (20, 10, 5, 2)]
    axes[0, 0].set_ylim(900, 130_000)
    axes[0, 0].set_xlim(0.043, 0.58)
    for ax in axes.flat:
        ax.minorticks_off()
        ax.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
        ax.set_xticks([float(e) for e in epsilons], [str(e) for e in epsilons])
        ax.tick_params(labelsize=11)
    fig.supxlabel("ε: the larger, the more similarities tell", fontsize=11)
    fig.supylabel("questions", fontsize=11)
    return fig


def _name_lines(axes):
    """Name each line and marker once, beside it."""
    dist1, dist2 = axes[0], axes[1]
    for ax, at, text, color in (
        (dist1[0], (0.05, 86_000), "bound, printed", PRINTED.color),
        (dist1[0], (0.05, 17_500), "corrected", CORRECTED.color),
        (dist1[0], (0.05, 3_900), "expected", EDGE.color),
        (dist1[1], (0.05, 3_500), "expected", NODE.color),
        (dist1[1], (0.05, 19_500), "both bounds", INK),
        (dist1[0], (0.05, 1_450), "fewest possible", FEWEST.color),
    ):
        ax.text(*at, text, color=color, fontsize=11)
    key = [Line2D([], [], ls="none", marker="s", ms=8, mfc="none", mec=INK, mew=1.1),
           Line2D([], [], ls="none", marker="o", ms=3.5, color=INK)]  # fmt: skip
    dist2[0].legend(key, ["published", "our mean"], loc="upper right", fontsize=11, handletextpad=0.1, borderaxespad=0)


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
