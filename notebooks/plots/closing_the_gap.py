"""Figures of the chapter *Closing the gap*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import EDGE, EVIDENCE, FEWEST, GREY, INK, MATCH, NODE, NONMATCH, PURPLE, Style

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-gap-cora": (
        "Two panels of four bars on a logarithmic axis. Left, cora as it is: those of edge ordering, node ordering and "
        "evidence ordering with learned densities are the shortest; with known densities it is longer. Right, made "
        "independent: the bars of evidence ordering are far shorter than those of both heuristics."
    ),
    "fig-gap-record": (
        "Two rows of dots between 0 and 1. The rightmost dot of all, ringed, lies in the row of the other "
        "cluster; more dots of the row of its own cluster lie above one half."
    ),
    "fig-gap-dependence": (
        "Two histograms on a logarithmic scale. Shuffled, the sums lie within about five deviations; as they "
        "are, they reach beyond thirty on both sides."
    ),
    "fig-gap-rows": (
        "For each row the marks of evidence ordering lie left of both heuristics: nearly on the ideal for Dist-2 "
        "and for Dist-1 down to one fifth, then moving right as ε falls."
    ),
}

#: What the table of all rows shows.
COLUMNS = ["node", "edge", "edge exact", "evidence", "learned", "records", "records exact", "lower bound"]

#: Evidence ordering that learns the densities.
LEARNED = Style(
    PURPLE,
    {"color": PURPLE, "linestyle": (0, (1, 1))},
    {"color": PURPLE, "linestyle": "none", "marker": "v", "mfc": "none"},
    {},
)
NAMES = {
    "edge": ("edge ordering", EDGE),
    "node": ("node ordering", NODE),
    "evidence": ("evidence ordering", EVIDENCE),
    "learned": ("evidence, learned", LEARNED),
}


def cora(mean, ideal):
    """Questions beyond the fewest possible, with cora's similarities as they are and shuffled."""
    fig, axes = plt.subplots(1, 2, figsize=(4.8, 2.5), sharex=True, sharey=True)
    names = [label for label, _ in NAMES.values()]
    for ax, (name, title) in zip(axes, {"as it is": "cora, as it is", "shuffled": "shuffled"}.items(), strict=True):
        beyond = mean.loc[name, list(NAMES)] - ideal
        ax.barh(names, beyond, color=[look.color for _, look in NAMES.values()], height=0.55, left=0.1)
        for y, number in enumerate(beyond):
            ax.text(1.25 * (number + 0.1), y, f"{number:,.{int(number < 10)}f}", va="center")
        ax.set(title=title, xscale="log", xlim=(0.1, 9000))
        ax.set_xticks([0.1, 10, 1000], ["0.1", "10", "1,000"])
        ax.minorticks_off()
        ax.tick_params(axis="y", length=0)
    axes[0].invert_yaxis()
    fig.supxlabel("questions beyond the fewest possible", fontsize=11)
    return fig


def record(similarities):
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
    fig.legend(loc="outside upper center", ncols=3)
    return fig


def dependence(sums):
    """The standardised evidence between two different clusters, as it is and shuffled."""
    fig, ax = plt.subplots(figsize=(6.4, 2.9))
    width = sums["from"].iloc[1] - sums["from"].iloc[0]
    edges = np.append(sums["from"], sums["from"].iloc[-1] + width)
    for name, color, dash in (("as it is", EVIDENCE.color, "-"), ("shuffled", INK, "--")):
        ax.stairs(sums[name], edges, color=color, ls=dash, lw=1.6, label=name)
    ax.set(yscale="log", ylim=(3e-5, 1), ylabel="share of cluster pairs")
    ax.set(xlabel="evidence between two different clusters, standardised")
    ax.legend(loc="upper left")
    return fig
