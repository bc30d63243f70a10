"""Figures of the chapter *Closing the gap*."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from book.companion.figures import BLUE, GREY, INK, MATCH, NONMATCH, ORANGE, PURPLE
from matplotlib.figure import Figure

COLORS = {"edge": ORANGE, "node": BLUE, "evidence": PURPLE, "learned": INK}


def record(similarities: pd.DataFrame) -> Figure:
    """The similarities of one record to its own cluster and to another, with the votes."""
    own, other = similarities["own"], similarities["other"]
    fig, ax = plt.subplots(figsize=(6.4, 2.3))
    for y, values, style in ((1, own, MATCH), (0, other, NONMATCH)):
        ax.plot(values, np.full(len(values), y), **style.points, ms=7)
        votes = f"{(values > 0.5).sum()} : {(values < 0.5).sum()}"
        ax.text(1.04, y, votes, va="center", fontsize=11)
    ax.plot(other.max(), 0, "o", ms=15, mfc="none", mec=INK, mew=1.3)
    ax.axvline(0.5, color=GREY, lw=1, ls=":")
    ax.text(1.04, 1.52, "votes", va="center", fontsize=10)
    ax.set_yticks([0, 1], ["another\ncluster", "its own\ncluster"])
    ax.set(xlabel="similarity", xlim=(0, 1.02), ylim=(-0.5, 1.5))
    return fig


def right(chances: pd.DataFrame) -> Figure:
    """How often either test finds the cluster of a record, against the size of the clusters."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    for epsilon, part in chances.groupby("epsilon"):
        style = {0.05: {"lw": 1.2, "ls": "--"}, 0.2: {"lw": 2}}[epsilon]
        by_sum, by_best = f"summed evidence, ε = {epsilon:g}", f"most similar pair, ε = {epsilon:g}"
        ax.plot(part["m"], part["evidence"], color=PURPLE, label=by_sum, **style)
        ax.plot(part["m"], part["best pair"], color=ORANGE, label=by_best, **style)
    ax.set(xscale="log", xlabel="records in each of the two clusters, $m$")
    ax.set(ylabel="chance to be right", ylim=(0.49, 1.01))
    ax.set_xticks([1, 10, 100], ["1", "10", "100"])
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def rows(table: pd.DataFrame, error: pd.DataFrame) -> Figure:
    """Questions of each ordering on each row, with two standard errors, and both lower bounds."""
    fig, ax = plt.subplots(figsize=(6.4, 4.2))
    place = np.arange(len(table))[::-1]
    looks = {
        "edge": ("D", 0.12, "edge ordering"),
        "node": ("o", -0.12, "node ordering"),
        "evidence": ("s", 0.12, "evidence, known"),
        "learned": ("x", -0.12, "evidence, learned"),
    }
    for way, (mark, shift, label) in looks.items():
        look = {"fmt": mark, "color": COLORS[way], "ms": 6, "capsize": 2, "ls": "none"}
        ax.errorbar(table[way], place + shift, xerr=2 * error[way], label=label, **look)
    look = {"ms": 14, "mew": 1.6, "color": GREY}
    ax.plot(table["lower bound"].clip(lower=1), place, "|", label="lower bound", **look)
    ax.axvline(table["ideal"].iloc[0], color=GREY, lw=1, ls=":", label="ideal")
    names = zip(table["model"], table["ε"], strict=True)
    ax.set_yticks(place, [f"{model}, {epsilon}" for model, epsilon in names])
    ax.set(xlabel="questions asked", xlim=(0, None))
    fig.legend(loc="outside upper center", ncols=3)
    return fig


def recall(curves: pd.DataFrame) -> Figure:
    """Recall of each ordering, and of the ideal, against the questions asked."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    dashes = {"edge": "--", "node": "-", "evidence": "-", "learned": "-.", "ideal": ":"}
    for way, part in curves.groupby("way", sort=False):
        name = f"{'evidence, ' if way == 'learned' else ''}{way}: {part['questions'].max():,}"
        look = {"color": COLORS.get(way, GREY), "ls": dashes[way], "lw": 1.8}
        ax.plot(part["questions"], part["recall"], label=name, **look)
    ax.set(xlabel="questions asked", ylabel="recall")
    ax.legend(loc="lower right", title="questions in all", fontsize=9)
    return fig


def sweep(swept: pd.DataFrame, turn: float) -> Figure:
    """What is saved against m ε², for two sizes; from `turn` on clusters can be told apart."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    shown = swept[swept["scale"] > 0]
    for (m, part), mark, dash in zip(shown.groupby("m"), "os", ("-", "--"), strict=True):
        by_sum = {"color": PURPLE, "label": f"evidence, m = {m}"}
        by_node = {"color": BLUE, "mfc": "none", "label": f"node, m = {m}"}
        ax.plot(part["scale"], part["evidence saves"], mark, ls=dash, **by_sum)
        ax.plot(part["scale"], part["node saves"], mark, ls=dash, **by_node)
    ax.axvline(turn, color=GREY, ls=":", lw=1)
    ax.text(turn * 1.1, 0.03, "$z^2/2$", fontsize=10)
    ax.set(xscale="log", xlabel="$m\\epsilon^2$", ylabel="share of the excess saved")
    ax.set(ylim=(-0.05, 1.05))
    ax.legend(loc="upper left", fontsize=9)
    return fig


def learned(weights: pd.DataFrame) -> Figure:
    """What a pair is believed to weigh, after so many questions, and the truth."""
    fig, ax = plt.subplots(figsize=(6.4, 3))
    beliefs = [column for column in weights if column.startswith("after ")]
    look = {"ls": "-", "lw": 1.6, "drawstyle": "steps-mid"}
    for i, column in enumerate(beliefs):
        color, label = plt.cm.Blues(0.35 + 0.13 * i), f"after {int(column[6:]):,}"
        ax.plot(weights["similarity"], weights[column], color=color, label=label, **look)
    look |= {"ls": "--", "lw": 1.4}
    ax.plot(weights["similarity"], weights["true"], color=INK, label="true", **look)
    ax.set(xlabel="similarity", ylabel="weight of a pair, nats")
    fig.legend(loc="outside right center")
    return fig


def dependence(sums: pd.DataFrame) -> Figure:
    """The standardised evidence between two different clusters, as it is and dealt anew."""
    fig, ax = plt.subplots(figsize=(6.4, 2.9))
    width = sums["from"].iloc[1] - sums["from"].iloc[0]
    edges = np.append(sums["from"], sums["from"].iloc[-1] + width)
    for name, color, dash in (("as it is", PURPLE, "-"), ("dealt anew", INK, "--")):
        ax.stairs(sums[name], edges, color=color, ls=dash, lw=1.6, label=name)
    ax.set(yscale="log", ylim=(3e-5, 1), ylabel="share of cluster pairs")
    ax.set(xlabel="evidence between two different clusters, standardised")
    ax.legend(loc="upper left")
    return fig
