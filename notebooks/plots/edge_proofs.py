"""The figures of the appendix *Edge ordering: the paper's propositions*."""

import matplotlib.pyplot as plt
from book.companion.figures import CORRECTED, EDGE, INK, ORANGE, PRINTED


def dist1(frame):
    """What ε saves under Dist-1: the count of non-matches, the chance D, and the two factors."""
    epsilon, D, counts = (frame[column] for column in ("epsilon", "D", "non-matches asked"))
    fig, ax = plt.subplots(figsize=(6.2, 3.7))
    ax.plot(epsilon, 1 - 2 * epsilon, **PRINTED.line, label=r"$1 - 2\epsilon$, printed")
    ax.plot(epsilon, (1 - epsilon) / (1 + epsilon), **CORRECTED.line,
            label=r"$(1-\epsilon)/(1+\epsilon)$")  # fmt: skip
    ax.plot(epsilon, D / D[0], color=INK, ls="none", marker="s", mfc="none", ms=7,
            label="$D$, of the corrected bound")  # fmt: skip
    ax.plot(epsilon, counts / counts[0], color=EDGE.color, ls="none", marker="D", ms=5,
            label="exact count of non-matches")  # fmt: skip
    ax.set(xlabel=r"$\epsilon$", ylabel="share of the uniform value")
    ax.set(xlim=(0, 0.51), ylim=(0, 1.03))
    ax.legend(loc="lower left")
    return fig


def dist2(frame):
    """Questions between two clusters under Dist-2, scaled by ε."""
    fig, ax = plt.subplots(figsize=(6.2, 3.7))
    looks = zip(("#d9a441", ORANGE, "#8a5e00", INK), "^so.", strict=True)
    curves = frame.groupby("epsilon", sort=False)
    for (epsilon, part), (color, marker) in zip(curves, looks, strict=True):
        ax.plot(part["scaled size"], part["scaled questions"], color=color, marker=marker, ms=4,
                lw=1.2, ls="-", label=rf"$\epsilon = {epsilon:g}$")  # fmt: skip
    ax.set(xlabel=r"$\epsilon m$", ylabel=r"$\epsilon\,\cdot$ questions")
    ax.set(xlim=(0, 12), ylim=(0, 0.7))
    ax.legend()
    return fig
