"""Figures of the appendix *An audit*."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from book.companion.figures import EDGE, EVIDENCE, FEWEST, GREY, INK, NODE, SKY
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

#: Color, marker and line of each data set, in their order.
LOOKS = [
    (EDGE.color, "D", "-"),
    (NODE.color, "o", "-"),
    (EVIDENCE.color, "^", "-"),
    (INK, "s", "--"),
    (SKY, "v", "--"),
    (GREY, "P", ":"),
]


def cost(rows: pd.DataFrame) -> Figure:
    """Questions until a recall is certified, as a share of those that settle every pair."""
    fig, ax = plt.subplots(figsize=(6.4, 3.6))
    for (name, own), (color, marker, ls) in zip(rows.groupby("data", sort=False), LOOKS, strict=False):
        ax.plot(own["target"], own["questions"] / own["all"], ls, marker=marker, ms=6, color=color, label=name)
    ax.axhline(1, **{**FEWEST.line, "label": "every pair settled"})
    ax.set_xticks(rows["target"].unique())
    ax.xaxis.set_major_formatter(PercentFormatter(1, 0))
    ax.yaxis.set_major_formatter(PercentFormatter(1, 0))
    ax.set(xlabel="recall to be certified", ylabel="questions", ylim=(0, 1.12))
    fig.legend(loc="outside upper center", ncols=3)
    return fig


def errors(shares: pd.DataFrame) -> Figure:
    """The exact probability of an error against the number of matches, for each α."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    for (alpha, own), (color, marker, ls) in zip(shares.groupby("α", sort=False), LOOKS, strict=False):
        ax.plot(own["matches"], own["errors"] / alpha, ls, marker=marker, ms=5, color=color, label=f"α = {alpha:g}")
    ax.axhline(1, color=GREY, ls=":")
    ax.set(xlabel="matches among the open pairs", ylabel="probability of an error / α", ylim=(0, 1.08))
    ax.set_xticks(np.arange(0, shares["matches"].max() + 1, 2))
    fig.legend(loc="outside upper center", ncols=3)
    return fig
