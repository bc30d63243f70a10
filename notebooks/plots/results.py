"""Figures of the chapter *Results beyond the paper* and of its proofs."""

import matplotlib.pyplot as plt
import seaborn as sns
from book.companion.figures import EDGE, EVIDENCE, FEWEST, GREEN, GREY, INK, NODE, SKY

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-results-growth": (
        "Questions against the number of records, both on logarithmic axes. Edge ordering, node ordering and placing "
        "with certainty rise in parallel, with slope one; the two curves that allow an error rise at first and are "
        "flat from about two hundred records on."
    ),
    "fig-results-evidence": (
        "Against one over the squared Hellinger distance, the questions by evidence rise from the least possible "
        "number to that of the heuristics, always below the bound; edge and node ordering stay high throughout."
    ),
    "fig-results-worst": (
        "Points below the line at one; they fall as the probability that a match is more similar than a non-match "
        "increases from a half to one."
    ),
    "fig-results-kappa": (
        "Three curves over cluster sizes from ten to a thousand; the one without information approaches a dashed "
        "line at 1.43, the others stay below it."
    ),
}


def growth(frame):
    """Questions over the number of records; runs that allow an error, and those that do not."""
    fig, ax = plt.subplots(figsize=(6.4, 3.6))
    looks = {
        "edge ordering": EDGE.line, "node ordering": NODE.line, "certainty": EVIDENCE.line,
        "fewest for certainty": FEWEST.line, "nothing known": {"color": GREEN, "ls": "-", "marker": "s", "ms": 4},
        "densities known": {"color": INK, "ls": "--", "marker": "v", "ms": 4},
    }  # fmt: skip
    for name, look in looks.items():
        ax.plot(frame["n"], frame[name], label=name, **look)
    ax.set(xscale="log", yscale="log", xlabel="records $n$", ylabel="questions")
    fig.legend(loc="outside upper center", ncols=3)
    return fig


def evidence(frame, least):
    """Questions of the three orderings on equal clusters against 1/H², with the bound for certainty."""
    fig, ax = plt.subplots(figsize=(6.4, 3.3))
    x = 1 / frame["H²"]
    ax.plot(x, frame["edge"], marker="D", ms=4, **EDGE.line, label="edge ordering")
    ax.plot(x, frame["node"], marker="o", ms=4, **NODE.line, label="node ordering")
    ax.plot(x, frame["bound"], "-", color=INK, lw=1.2, label="bound")
    ax.plot(x, frame["evidence"], marker="^", ms=5, **EVIDENCE.line, label="by evidence")
    ax.axhline(least, **FEWEST.line, label="fewest possible")
    ax.set(xscale="log", yscale="log", xlabel=r"$1/H^2$", ylabel="expected questions")
    fig.legend(loc="outside upper center", ncols=3)
    return fig


def worst_case(frame):
    """Each model's count relative to that without information."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    ax.plot(frame["area"], frame["ratio"], ".", color=EDGE.color, ms=3, alpha=0.5, label="random models")
    ax.axhline(1, color=GREY, lw=1, ls="--", label="no information")
    ax.set(xlabel="probability that a match is more similar than a non-match")
    ax.set(title="expected questions, relative to no information", ylim=(0, 1.05))
    ax.legend(loc="lower left")
    return fig


def kappas(frame, kappa):
    """Questions across two clusters of m records, divided by m."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    sns.lineplot(frame.set_index("m"), palette=[EDGE.color, INK, SKY], markers=[*"Dvs"], dashes=False, ms=7)
    ax.axhline(kappa, color=GREY, lw=1, ls="--", label=r"$\kappa$")
    ax.set(xscale="log", xlabel="$m$", title="expected questions across two clusters, divided by $m$", ylim=(0, 1.7))
    ax.legend(loc="lower right", ncols=2)
    return fig
