"""Figures of the appendix *cora in detail*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, GREEN, MATCH, NONMATCH, PURPLE
from notebooks.plots.cora import points

__all__ = ["arrival", "integral", "points", "similarities", "sizes"]


def sizes(frame):
    """Cluster sizes by rank, and the shares of matching pairs and of records that they hold."""
    fig, (top, low) = plt.subplots(2, 1, figsize=(6.4, 5), sharex=True)
    top.fill_between(frame["rank"], 0.7, frame["size"], step="mid", color=BLUE)
    top.set(yscale="log", ylabel="records in it", ylim=(0.7, None))
    top.set_yticks([1, 10, 100], ["1", "10", "100"])
    low.plot(frame["rank"], frame["matching pairs so far"], label="of all matching pairs")
    low.plot(frame["rank"], frame["records so far"], label="of all records")
    low.set(xlabel="clusters, largest first", ylabel="share so far", ylim=(0, 1.04))
    low.legend(loc="lower right")
    return fig


def similarities(frame, family):
    """Two histograms for each function: matches, and non-matches."""
    fig, axes = plt.subplots(6, 2, figsize=(4.6, 9), sharex=True)
    for (name, part), ax in zip(frame.groupby("function", sort=False), axes.flat, strict=True):
        for kind, style in (("matches", MATCH), ("non-matches", NONMATCH)):
            side = part[part["pairs"] == kind]
            width = 1 / len(side)
            ax.bar(side["from"], side["density"], width, align="edge", label=kind, **style.fill)
        ax.set_title(f"{family[name].similarity}\n{family[name].on}", fontsize=9)
        ax.set(yticks=[], xlim=(0, 1))
        ax.set_xticks([0, 0.5, 1], ["0", "½", "1"])
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    fig.supxlabel("similarity", fontsize=10.5)
    fig.get_layout_engine().set(w_pad=0.14)
    return fig


def integral(frame):
    """L(t) on cora and in the models."""
    fig, ax = plt.subplots(figsize=(6.4, 3.8))
    for name, width in zip(frame.columns[1:], (2.6, 1.6, 1.6, 1.6), strict=True):
        ax.plot(frame["t"], frame[name], lw=width, label=name)
    bottom = 10.0 ** np.floor(np.log10(max(frame["cora"].min(), 1e-9)) - 1)
    ax.set(xscale="log", yscale="log", ylim=(bottom, 1), xlabel="$t$", ylabel="$L_{g,r}(t)$")
    ax.legend(loc="upper right")
    return fig


def arrival(frame):
    """Recall of node ordering by order of arrival; the first is the bound."""
    fig, ax = plt.subplots(figsize=(6.4, 3.8))
    colors, dashes = ["#bbbbbb", PURPLE, BLUE, GREEN], ["-", "-.", "-", "--"]
    curves = frame.groupby("arrival", sort=False)
    for (name, part), color, dash in zip(curves, colors, dashes, strict=True):
        width = 5 if name == "fastest possible" else 1.8
        ax.plot(part["questions"], part["recall"], color=color, ls=dash, lw=width, label=name)
    ax.set(xlabel="questions asked", ylabel="recall", xlim=(0, None), ylim=(0, 1.04))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.legend(loc="lower right", title="records arrive by", title_fontsize=9.5)
    return fig
