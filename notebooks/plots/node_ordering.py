"""The figures of the chapter *Node ordering*."""

from math import comb

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import CORRECTED, FEWEST, GREEN, GREY, INK, MATCH, NODE, NONMATCH, PRINTED, RED
from matplotlib.patches import Patch, Rectangle
from notebooks.plots.shared import graph

#: The kinds of question, and how each is drawn: the edge and hatch of its box, and its name.
KINDS = {
    "match": {"facecolor": "none", "edgecolor": GREEN, "lw": 2},
    "opening": {"facecolor": "none", "edgecolor": GREY, "lw": 1.4, "ls": ":"},
    "detour": {"facecolor": "none", "edgecolor": RED, "lw": 2, "ls": "--"},
}


def arrivals(frame):
    """The questions about each record, in the order of arrival, as boxes with the record that it is compared with."""
    order = [frame["compared with"].iloc[0], *frame["record"].unique()]
    fig, ax = plt.subplots(figsize=(6.4, 2.5))
    for place, record in enumerate(order):
        for level, (_, row) in enumerate(frame[frame["record"] == record].iterrows()):
            ax.add_patch(Rectangle((place - 0.43, level + 0.08), 0.86, 0.84, **KINDS[row["kind"]]))
            ax.text(place, level + 0.47, row["compared with"], ha="center", va="center")
    ax.set(xlim=(-0.6, len(order) - 0.4), ylim=(0, 3.05), yticks=[1, 2], ylabel="questions")
    ax.set_xticks(range(len(order)), order)
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel("records in the order of arrival")
    handles = [Patch(label=kind, **look) for kind, look in KINDS.items()]
    ax.legend(handles=handles, loc="upper left", ncols=3, borderaxespad=0)
    return fig


def race(frame, own):
    """The similarities of an arriving record to the placed ones, one row for each cluster, the largest named."""
    fig, ax = plt.subplots(figsize=(6.4, 2.1))
    clusters = frame["cluster"].unique().tolist()
    for row, (cluster, part) in enumerate(frame.groupby("cluster", sort=False)):
        look = MATCH if cluster == own else NONMATCH
        ax.plot(part["similarity"], np.full(len(part), -row), **look.points, ms=7, mfc="none")
        best = part.loc[part["similarity"].idxmax()]
        ax.plot(best["similarity"], -row, **look.points, ms=7)
        ax.text(best["similarity"] + 0.008, -row + 0.12, best["record"], va="bottom")
    ax.set_yticks(-np.arange(len(clusters)), clusters)
    ax.set(xlabel="similarity with the arriving record", ylim=(0.4 - len(clusters), 0.6), xlim=(-0.015, 0.46))
    return fig


def four(parts, asked):
    """Left, four records no two of which are alike; right, what they ask and what the two bounds allow."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.4), width_ratios=(1, 1.9))
    corners = {1: (0, 0), 2: (1, 0), 3: (1, 1), 4: (0, 1)}
    graph(left, corners, [(i, j, NONMATCH.line) for i in corners for j in range(1, i)], size=20, fontsize=12)
    left.set(xlim=(-0.2, 1.2), ylim=(-0.2, 1.2), aspect="equal")
    rows = [("asked", [asked], NODE), ("printed", parts, PRINTED), ("corrected", [comb(4, 2)], CORRECTED)]
    for row, (_, pieces, look) in enumerate(rows):
        start = 0.0
        for piece in map(float, pieces):
            right.barh(-row, piece, left=start, height=0.55, **look.fill | {"hatch": None, "linewidth": 1.8})
            start += piece
        right.text(float(asked) + 0.12, -row, f"{start:g}", va="center")
    right.axvline(float(asked), color=GREY, lw=1, ls=":", zorder=0)
    right.set_yticks([0, -1, -2], [name for name, *_ in rows])
    right.set(xlim=(0, 7), xlabel="questions")
    return fig


def lead(frame):
    """Exact count, one run, both bounds and the fewest questions, against the size of the clusters."""
    fig, ax = plt.subplots(figsize=(6.4, 3.1))
    ax.loglog(frame["m"], frame["corrected"], **CORRECTED.line, label="corrected bound")
    ax.loglog(frame["m"], frame["printed"], **PRINTED.line, lw=2.2, label="printed bound")
    ax.loglog(frame["m"], frame["exact"], **NODE.line, lw=2.2, label="exact, random order")
    ax.loglog(frame["m"], frame["one run"], **NODE.points, mfc="none", ms=6, label="simulated, one run")
    ax.loglog(frame["m"], frame["fewest"], **FEWEST.line, label="fewest possible")
    ax.set(xlabel="records in each cluster, $m$", ylabel="questions")
    ax.legend(loc="upper right")
    return fig


def worst(frame, total):
    """The worst case over the fewest questions against the number of clusters, and the bound on it."""
    k = frame["k"]
    fig, ax = plt.subplots(figsize=(5.4, 3.0))
    ax.loglog(k, frame["worst over fewest"], **NODE.line, label="worst case / fewest")
    ax.loglog(k, frame["run"], **NODE.points, label="run")
    ax.loglog(k, np.minimum(k, 2 * total / k), color=INK, lw=1, ls="-.", label=r"$\min\{k, 2n/k\}$")
    ax.set(xlabel="clusters, $k$", ylabel=f"factor, $n = {total:,}$")
    ax.legend(loc="lower center")
    return fig
