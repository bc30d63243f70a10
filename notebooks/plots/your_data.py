"""Figures of the chapter *Your own data*."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from book.companion.figures import BLUE, EDGE, EVIDENCE, GREY, INK, MATCH, NODE, RED, SKY
from matplotlib.figure import Figure

LOOKS = {"edge": EDGE, "node": NODE, "evidence": EVIDENCE}


def merges(heights: pd.DataFrame, accident: float) -> Figure:
    """Heights of merges and of accidental ones, and how likely a merge is right."""
    at = heights["height"].to_numpy()
    half = (at[1] - at[0]) / 2
    edges = np.append(at - half, at[-1] + half)
    fig, (top, low) = plt.subplots(2, 1, figsize=(6.4, 4.2), sharex=True, height_ratios=[3, 2])
    top.stairs(heights["merges"], edges, color=INK, lw=1.6, label="merges of the records")
    accidental = {"color": RED, "ls": "--", "lw": 1.4, "label": "merges of shuffled records"}
    top.stairs(heights["shuffled"], edges, **accidental)
    top.set(ylabel="merges", yscale="symlog")
    fig.legend(loc="outside upper center", ncols=2)
    low.plot(at, heights["right"], **MATCH.line)
    low.axvline(accident, color=GREY, ls=":", lw=1.2)
    low.set(xlabel="similarity at which two groups merge", ylabel="chance that\nit is right")
    low.set(ylim=(-0.03, 1.03))
    return fig


def recall(curve: pd.DataFrame, strategy: str) -> Figure:
    """Recall as planned, with the plausible runs, and the actual one if it is known."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    band = {"color": SKY, "alpha": 0.3, "lw": 0, "label": "plausible runs"}
    ax.fill_between(curve["share"], curve["from"], curve["to"], **band)
    ax.plot(curve["share"], curve["recall"], **LOOKS[strategy].line, label="the plan")
    if "actual" in curve:
        actual = {"color": INK, "ls": "--", "label": "actual, by the labels"}
        ax.plot(curve["share"], curve["actual"], **actual)
    ax.set(xlabel="share of the run's questions", ylabel="matching pairs found")
    ax.set(ylim=(-0.03, 1.03))
    ax.legend(loc="lower right")
    last = float(curve["share"][np.argmax(curve["from"] >= 0.999)])
    ax.set_xlim(-0.02 * min(1, 2 * last), min(1, 2 * last) or 1)
    return fig


def shrinks(plans: pd.DataFrame) -> Figure:
    """The planned questions, batch after batch, around the actual number."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    band = {"color": SKY, "alpha": 0.3, "lw": 0, "label": "interval"}
    ax.fill_between(plans["answers"], plans["from"], plans["to"], **band)
    middle = {"color": EDGE.color, "marker": "o", "ms": 3.5, "label": "middle"}
    ax.plot(plans["answers"], plans["middle"], **middle)
    ax.axhline(plans["actual"].iloc[0], color=INK, ls="--", lw=1.2, label="actual")
    ax.set(xlabel="answers so far", ylabel="questions in all, as planned", ylim=(0, None))
    ax.legend(loc="lower right")
    return fig


def held(plans: pd.DataFrame) -> Figure:
    """Planned questions as multiples of the actual number, before and after some answers."""
    before, after = (part for _, part in plans.groupby("answers"))
    titles = ("before any answer", f"after {after['answers'].max()} answers")
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True)
    for ax, part, title in zip(axes, (before, after), titles, strict=True):
        part = part.sort_values("actual", ignore_index=True)
        for y, line in part.iterrows():
            color, mark = (BLUE, "o") if line["held"] else (RED, "X")
            low, high = line["from"] / line["actual"], line["to"] / line["actual"]
            ax.plot([low, high], [y, y], lw=1.6, ls="-", color=color)
            ax.plot(line["planned"] / line["actual"], y, mark, ms=4, color=INK)
        ax.axvline(1, color=GREY, ls=":", lw=1.2)
        ax.set(xscale="log", xlabel="planned / actual questions", title=title)
        ax.set_xticks([0.3, 1, 3], ["0.3", "1", "3"])
        ax.minorticks_off()
    axes[0].set(ylabel="data set", yticks=[])
    return fig
