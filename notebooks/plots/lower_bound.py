"""The figure of the chapter *What no algorithm can avoid*."""

import crowder as cr
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from book.companion.figures import CORRECTED, EDGE, FEWEST, GREY, NODE, PRINTED
from crowder.counting.lower_bounds import question_bound

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-lower-table": (
        "Two panels over epsilon on logarithmic axes. The printed bound rises steeply as epsilon falls, and "
        "crosses nk and then the number of all pairs. The bound that holds stays flat below nk. The numbers of "
        "Table 1 lie between it and nk."
    ),
}

TITLES = {"dist1": "Dist-1", "dist2": "Dist-2"}


def table_1(frame, levels, ideal):
    """The printed bound, one that holds, and Table 1; `levels` names horizontal lines."""
    fig, axes = plt.subplots(1, 2, figsize=(6.6, 3.6), sharey=True)
    for ax, (name, title) in zip(axes, TITLES.items(), strict=True):
        part = frame[frame["model"] == name]
        lines, points = part[part["printed"].notna()], part[part["node"].notna()]
        epsilon = lines["epsilon"]
        ax.loglog(epsilon, lines["printed"], **PRINTED.line, lw=2.2, label="$n + k^2/H^2$ (Corollary 1)")
        ax.loglog(epsilon, lines["holds"], **CORRECTED.line, label="lower bound that holds")
        for text, value in levels.items():
            ax.axhline(value, color=GREY, lw=0.9)
            ax.text(0.62, 1.15 * value, text, fontsize=9.5, va="bottom", ha="right")
        ax.axhline(ideal, **FEWEST.line, label=r"fewest possible, $n - k + \binom{k}{2}$")
        for column, style in (("node", NODE), ("edge", EDGE)):
            ax.plot(points["epsilon"], points[column], **style.points, ms=6, label=f"{column} ordering, Table 1")
        ax.set(title=title, xlabel=r"$\epsilon$", xlim=(0.9 * epsilon.min(), 0.65), ylim=(15, 3e7))
    axes[0].set_ylabel("questions")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


def bounds(smallest, n, k):
    """The printed bound and one that holds, over epsilon: a table for each model."""
    dial = np.geomspace(smallest, 0.499, 120)
    for law in (cr.dist1, cr.dist2):
        laws = [law(epsilon) for epsilon in dial]
        printed = [n + k**2 / model.hellinger2 for model in laws]
        holds = [question_bound(model, n, k) for model in laws]
        yield pd.DataFrame({"model": laws[0].name, "epsilon": dial, "printed": printed, "holds": holds})
