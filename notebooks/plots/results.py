"""Figures of the chapter *Results beyond the paper*."""

from math import inf

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, EDGE, EVIDENCE, FEWEST, GREEN, GREY, INK, MATCH, NODE, NONMATCH, PURPLE, SKY


def walks(evidence, enough, mean, asked):
    """The evidence of records over the members of a cluster, with the threshold; and who is asked about, in order.

    Each member of the own cluster adds `mean` on average.
    """
    members = np.ceil(enough / mean)
    fig, (ax, strip) = plt.subplots(2, 1, figsize=(6.4, 4.2), height_ratios=[8, 1])
    for name, style in (("own", MATCH), ("another", NONMATCH)):
        ax.plot(evidence.filter(regex=f"^{name} "), lw=1.1, **style.line, label=[f"{name} cluster", *[None] * 9])
    ends = np.array([0, len(evidence)])
    ax.plot(ends, mean * ends, color=INK, lw=1)
    ax.axhline(enough, color=INK, ls=":", label="threshold $T$")
    ax.plot(enough / mean, enough, "o", color=INK, ms=6)
    ax.axvspan(members, len(evidence), color=SKY, alpha=0.25, lw=0)
    ax.axvline(members, color=GREY, lw=0.8)
    for x, words in ((members / 2, "asked"), ((members + len(evidence)) / 2, "accepted unasked")):
        ax.text(x, 0.97, words, ha="center", va="top", transform=ax.get_xaxis_transform())
    ax.set(xlabel="members of the cluster", ylabel="evidence", xlim=(0, len(evidence)))
    ax.set_ylim(top=1.2 * evidence.max().max())
    ax.legend(loc="lower left")
    strip.vlines(np.flatnonzero(asked) + 1, 0, 1, color=INK, lw=0.6)
    strip.axvspan(1, len(asked), color=SKY, alpha=0.25, lw=0)
    strip.set(xlabel="records in order of arrival (lines: asked about)", xlim=(1, len(asked)), ylim=(0, 1), yticks=[])
    strip.xaxis.set_major_formatter("{x:,.0f}")
    strip.spines["left"].set_visible(False)
    return fig


def errors(questions, clusters, match):
    """Questions over ln(1/δ), certainty at the right end, for several numbers of records; a match adds `match`."""
    fig, ax = plt.subplots(figsize=(6.4, 4.4))
    *at, _ = questions.index
    certain, (*sizes, least) = 1.12 * at[-1], questions.columns
    looks = [(color, marker) for color, marker in zip((PURPLE, BLUE, GREEN), "^os", strict=True)]
    for n, (color, marker) in zip([*sizes, least], [*looks[-len(sizes) :], (GREEN, "")], strict=True):
        column, style = questions[n], "--" if n == least else "-"
        label = f"lower bound ($n$ = {sizes[-1]:,d})" if n == least else f"$n$ = {n:,d}"
        ax.plot(at, column.iloc[:-1], style, color=color, marker=marker, ms=5, label=label)
        ax.plot([at[-1], certain], column.iloc[-2:], color=color, ls=":", lw=1)
        ax.plot(certain, column.iloc[-1], color=color, marker=marker, ms=7, clip_on=False)
        if n != least:
            ax.plot(match * n / clusters, column.iloc[-1], "o", ms=11, mfc="none", mec=INK)
    slope, (top, passed) = clusters / match, questions[sizes[-1]].loc[[inf, 80]]
    ends = np.array([0, 80 + (top - passed) / slope])
    ax.plot(ends, passed + slope * (ends - 80), color=INK, ls=":", label="slope $k/D_g$")
    ticks = [*range(0, int(at[-1]) + 1, 100)]
    ax.set_xticks([*ticks, certain], [*ticks, "certain"])
    ax.set(xlabel=r"$\ln(1/\delta)$", ylabel="questions", xlim=(0, certain), ylim=(0, None))
    ax.yaxis.set_major_formatter("{x:,.0f}")
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def few(questions):
    """Questions times H² over ln(1/H), for three clusters: simulated beside k², and from below."""
    fig, axes = plt.subplots(2, 1, figsize=(6.4, 4.2), height_ratios=[5, 3], sharex=True)
    looks = {"simulated": {"marker": "v"}, "at least": {"ls": "--", "marker": "o", "mfc": "none"}}
    for ax, (name, look) in zip(axes, looks.items(), strict=True):
        label = "mean, simulated" if name == "simulated" else "lower bound, worst case"
        ax.plot(questions["ln(1/H)"], questions[name], color=INK, **look, label=label)
        ax.set_ylim(0, 1.15 * questions[name].max())
    axes[0].axhline(9, color=GREY, ls=":", label="$k^2$ = 9")
    axes[1].set(xlabel=r"$\ln(1/H)$")
    fig.supylabel("questions × $H^2$", fontsize=11)
    for ax in axes:
        ax.legend(loc="lower right")
    return fig


def growth(questions):
    """Questions over the number of records, for the heuristics and for placing."""
    fig, ax = plt.subplots(figsize=(6.4, 3.6))
    for name, style in {
        "edge ordering": EDGE.line, "node ordering": NODE.line, "certainty": EVIDENCE.line,
        "fewest for certainty": FEWEST.line, "nothing known": {"color": GREEN, "ls": "-", "marker": "s", "ms": 4},
        "densities known": {"color": INK, "ls": "--", "marker": "v", "ms": 4},
    }.items():  # fmt: skip
        ax.plot(questions["n"], questions[name], label=name, **style)
    ax.set(xscale="log", yscale="log", xlabel="records $n$", ylabel="questions")
    fig.legend(loc="outside upper center", ncols=2)
    return fig
