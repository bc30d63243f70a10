"""Figures of the chapter *Closing the gap*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import EDGE, EVIDENCE, FEWEST, GREY, INK, MATCH, NODE, NONMATCH

#: Evidence ordering that learns the densities.
LEARNED = EVIDENCE._replace(points=EVIDENCE.points | {"marker": "v", "mfc": "none"})
NAMES = {
    "edge": ("edge ordering", EDGE),
    "node": ("node ordering", NODE),
    "evidence": ("evidence ordering", EVIDENCE),
    "learned": ("evidence, learned", LEARNED),
}


def evidence(others, sums):
    """The similarities of one record to two clusters, and the evidence in them, with its sums."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.5), sharey=True)
    names, places, top = [], [], 0
    for (paper, own), look in zip(others.groupby("paper"), (MATCH, NONMATCH), strict=True):
        y = top + np.arange(len(own) + 1)
        axes[0].barh(y[:-1], own["similarity"], height=0.6, color=look.color)
        axes[1].barh(y[:-1], own["evidence"], height=0.6, color=look.color)
        axes[1].barh(y[-1], sums[paper], height=0.6, **look.fill)
        axes[1].text(max(sums[paper], 0) + 0.2, y[-1], f"{sums[paper]:+.2f}".replace("-", "−"), va="center")
        for at, w in zip(y, own["similarity"], strict=False):
            axes[0].text(w + 0.01, at, f"{w:.2f}", va="center")
        names, places, top = [*names, *own.index, "sum"], [*places, *y], y[-1] + 1.7
        axes[0].text(0.52, y[0] - 0.75, ("its own paper", "another paper")[paper], ha="right", color=look.color)
    best = others["similarity"].to_numpy().argmax()
    at = [place for place, name in zip(places, names, strict=True) if name != "sum"][best]
    axes[0].barh(at, others["similarity"].iloc[best], height=0.6, fill=False, edgecolor=INK, lw=1.6)
    axes[1].axvline(0, color=GREY, lw=1)
    axes[0].set(xlim=(0, 0.52), xlabel="similarity to r2", yticks=places, yticklabels=names, ylim=(top - 1, -1.1))
    axes[1].set(xlim=(-3.2, 2.2), xlabel="evidence for a match")
    for ax in axes:
        ax.tick_params(axis="y", length=0)
    return fig


def cora(mean, ideal):
    """Questions beyond the fewest possible, with cora's similarities as they are and shuffled."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 2.5), sharex=True, sharey=True)
    names = [label for label, _ in NAMES.values()]
    for ax, (name, title) in zip(axes, {"as it is": "cora, as it is", "shuffled": "shuffled"}.items(), strict=True):
        beyond = mean.loc[name, list(NAMES)] - ideal
        ax.barh(names, beyond, color=[look.color for _, look in NAMES.values()], height=0.6)
        for y, number in enumerate(beyond):
            ax.text(number + 12, y, f"{number:,.{int(number < 10)}f}", va="center")
        ax.set(title=title, xlim=(0, 800))
        ax.tick_params(axis="y", length=0)
    axes[0].invert_yaxis()
    fig.supxlabel("questions beyond the fewest possible", fontsize=11)
    return fig


def rows(table, error):
    """Questions of each ordering on each row, with two standard errors, and both lower bounds."""
    fig, ax = plt.subplots(figsize=(6.4, 4.2))
    place = np.arange(len(table))[::-1]
    for (way, (label, look)), shift in zip(NAMES.items(), (0.12, -0.12, 0.12, -0.12), strict=True):
        ax.errorbar(table[way], place + shift, xerr=2 * error[way], label=label, ms=6, capsize=2, **look.points)
    look = {"ms": 14, "mew": 1.6, "color": GREY}
    ax.plot(table["lower bound"].clip(lower=1), place, "|", label="lower bound", **look)
    ax.axvline(table["ideal"].iloc[0], label="fewest possible", **FEWEST.line | {"lw": 1.2})
    names = zip(table["model"], table["ε"], strict=True)
    ax.set_yticks(place, [f"{model}, {epsilon}" for model, epsilon in names])
    ax.set(xlabel="questions asked", xlim=(0, None))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    fig.legend(loc="outside upper center", ncols=3)
    return fig
