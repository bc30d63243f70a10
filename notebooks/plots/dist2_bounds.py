"""The figures of the appendix *Approximations and bounds for the integral*."""

import matplotlib.pyplot as plt
from book.companion.figures import BLUE, GREEN, INK, PURPLE


def bounds(frame, few, many):
    """By what factors the bounds for Dist-2 are too large, for two values of ε."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.7))
    looks = zip([GREEN, PURPLE, BLUE], ["-", "--", "-."], strict=True)
    for (color, dash), (label, part) in zip(looks, frame.groupby("base", sort=False), strict=True):
        for epsilon, width in ((few, 1.3), (many, 2.4)):
            line = part[(part["epsilon"] == epsilon) & part["t"].notna()]
            left.semilogy(line["t"], line["bound over L"], color=color, ls=dash, lw=width)
        growth = part[part["growth"].notna()]
        right.plot(growth["epsilon"], growth["growth"], color=color, ls=dash, label=label)
    left.set(xlabel="$t$", title=r"bound over $L_{g,r}(t)$", ylim=(0.8, 1e4))
    left.text(1, 3000, rf"thick: $\epsilon = {many:g}$", fontsize=9)
    left.text(40, 3.5, rf"thin: $\epsilon = {few:g}$", ha="right", fontsize=9)
    right.set(xlabel=r"$\epsilon$", title="growth factor per unit of $t$", ylim=(0.97, 2.2))
    handles = right.get_legend_handles_labels()
    fig.legend(*handles, loc="outside upper center", ncols=3, title="base of the bound")
    return fig


def simplifications(frame):
    """What the two simplifications for Dist-1 lose."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.5))
    first, second = (frame[frame["simplification"] == which] for which in (1, 2))
    groups = first.groupby("epsilon", sort=False)
    for marker, (epsilon, part) in zip("os^Dvp", groups, strict=False):
        label = rf"$\epsilon = {epsilon:g}$"
        left.semilogy(part["t"], 100 * part["lost"], marker=marker, ms=4, lw=1.2, label=label)
    left.set(xlabel="$t$", title="the first loses (%)", ylim=(1e-6, 300), xticks=range(0, 13, 3))
    left.legend()
    right.plot(second["epsilon"], 100 * second["lost"], color=INK)
    right.set(xlabel=r"$\epsilon$", title="the second loses (%)", ylim=(0, 104), xlim=(0, 0.51))
    return fig
