"""Figures of the chapter *Synthetic experiments*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, GREY, INK, ORANGE
from matplotlib.colors import BoundaryNorm, ListedColormap

LOOK = {"ideal": (GREY, ":"), "node ordering": (BLUE, "-"), "edge ordering": (ORANGE, "--")}
#: |z| up to these, and the colour that stands for it.
CLASSES = {"up to 2": 2, "to 3": 3, "to 10": 10, "to 100": 100, "more": np.inf}
SHADES = ["#f4f1e6", "#cfe0c3", "#7fb7b0", "#3d7a9e", "#1b2a5c"]


def recall(curves):
    """Recall against questions; a curve an ordering, with the questions it asks in all."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    for name, part in curves.groupby("ordering", sort=False):
        color, dash = LOOK[name]
        label = f"{name}: {part['questions'].iloc[-1]:,} questions"
        ax.plot(part["questions"], part["recall"], color=color, ls=dash, label=label)
    ax.set(xlabel="questions asked", ylabel="recall")
    ax.legend(loc="lower right")
    return fig


def table_1(table, fewest):
    """Mean and spread of each number of Table 1, and the printed number as a cross."""
    fig, ax = plt.subplots(figsize=(6.4, 4.6))
    for ordering, shift, color, marker in (("node", 0.17, BLUE, "o"), ("edge", -0.17, ORANGE, "D")):
        part = table[table["ordering"] == ordering]
        place = np.arange(len(part))[::-1]
        ax.errorbar(
            part["mean"], place + shift, xerr=2 * part["sd"], fmt=marker, color=color, ms=5, capsize=3, ls="none",
            label=f"{ordering} ordering, mean ± 2 standard deviations",
        )  # fmt: skip
        ax.plot(
            part["printed"], place + shift, "x", color=INK, ms=8, mew=1.6, ls="none",
            label="printed" if ordering == "edge" else None,
        )  # fmt: skip
    ax.axvline(fewest, color=GREY, lw=1, ls=":", label="fewest possible")
    ax.set_yticks(place, (part["model"] + ", ε = " + part["ε"]).tolist())
    ax.set(xlabel="questions asked", xlim=(0, None))
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def readings(rank, epsilons):
    """|z| of each printed number under readings: all with the best clusters, and the best others."""
    best = rank.iloc[0]
    drawn = rank[(rank["clusters"] == best["clusters"]) | ~rank.duplicated("clusters")]
    grid = np.abs(np.stack(drawn["z"].to_list()))
    labels = [
        f"{row['rounding']}; {row['ties']}; {row['arrival']}".replace("none; ", "")
        if row["clusters"] == best["clusters"]
        else f"{row['clusters']}: {row['rounding']}; {row['arrival']}"
        for _, row in drawn.iterrows()
    ]
    fig, ax = plt.subplots(figsize=(6.4, 6.2))
    bounds = [0, *list(CLASSES.values())[:-1], 1e9]
    ax.imshow(grid, cmap=ListedColormap(SHADES), norm=BoundaryNorm(bounds, len(SHADES)), aspect="auto")
    for y, x in zip(*np.nonzero(grid > 2), strict=True):
        text = f"{grid[y, x]:.0f}" if grid[y, x] < 999.5 else f"{grid[y, x] / 1000:.0f}k"
        ax.text(
            x,
            y,
            text,
            ha="center",
            va="center",
            fontsize=7.5,
            color="white" if grid[y, x] > 10 else "black",
        )
    ticks = [f"{label}   {rms:,.1f}" for label, rms in zip(labels, drawn["rms"], strict=True)]
    ax.set_yticks(range(len(labels)), ticks)
    ax.set_xticks(range(18), [str(e) for e in epsilons] * 2, rotation=90)
    ax.tick_params(length=0)
    ax.set_xticks(np.arange(-0.5, 18), minor=True)
    ax.set_yticks(np.arange(-0.5, len(labels)), minor=True)
    ax.grid(which="minor", color="white", lw=1)
    ax.axvline(8.5, color=INK, lw=2)
    for x, text in ((2.5, "Dist-1"), (7, "Dist-2"), (11.5, "Dist-1"), (16, "Dist-2")):
        ax.text(x, -0.7, text, ha="center", fontsize=8.5)
    for x, text in ((4, "node ordering"), (13, "edge ordering")):
        ax.text(x, -1.5, text, ha="center", fontsize=9.5)
    handles = [plt.Rectangle((0, 0), 1, 1, color=shade) for shade in SHADES]
    fig.legend(
        handles, CLASSES, ncols=5, loc="outside lower center", title="$|z|$", handlelength=1.2, columnspacing=1
    )  # fmt: skip
    for spine in ax.spines.values():
        spine.set_visible(False)
    return fig
