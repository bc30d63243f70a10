"""Figures of the chapters *Real crowds* and *Which ordering for my data?*."""

import matplotlib.pyplot as plt
import pandas as pd
from book.companion.figures import EDGE, EVIDENCE, GREEN, GREY, NODE, NOISY, RED, SKY

#: The strategies with thicker lines: noisy ordering, alone or after edge ordering, edge ordering itself, and the best
#: of the others.
NAMED = ("noisy", "edge, then noisy", "most similar once", "edge")

#: How each strategy is drawn.
LOOKS = {
    "noisy": NOISY.line | {"lw": 2.6, "zorder": 3},
    "edge, then noisy": {"color": NOISY.color, "linestyle": (0, (2, 1)), "lw": 1.2, "zorder": 2},
    "most similar once": {"color": RED, "linestyle": (0, (5, 1.5))},
    "control queries": {"color": GREEN, "linestyle": (0, (3, 1, 1, 1))},
    "member votes": {"color": GREY, "linestyle": (0, (1, 1.2))},
    "edge": EDGE.line,
    "node": NODE.line,
    "evidence": EVIDENCE.line,
    "hybrid": {"color": SKY, "linestyle": (0, (6, 1, 1, 1, 1, 1))},
}


def answers_paid_for(curves, level):
    """F1 of each strategy on each crowd."""
    names = curves["crowd"].unique()
    fig, (axes,) = plt.subplots(1, len(names), figsize=(6.4, 3.9), sharey=True, squeeze=False)
    for ax, (crowd, part) in zip(axes, curves.groupby("crowd", sort=False), strict=True):
        for name, look in LOOKS.items():
            own = part[(part["ordering"] == name) & (part["answers"] > 0)]
            width = {"lw": 1.8} if name in NAMED else {"lw": 1.0, "zorder": 1}
            ax.plot(own["answers"], own["F1"], **(width | look), label=name)
        ax.set(title=crowd, xlabel="answers paid for")
        ax.set(ylim=(0, 1.02), xscale="log", xlim=(20, part["answers"].max()))
        ax.axhline(level, color=GREY, lw=0.8)
    axes[0].set_ylabel("F1")
    shown = axes[0].get_legend_handles_labels()
    fig.legend(*shown, loc="outside upper center", ncols=3, columnspacing=1.0, handlelength=2.4)
    return fig


def answers(curves):
    """F1 against the answers paid for, a panel for each data set."""
    panels = curves.groupby("data", sort=False)
    fig, axes = plt.subplots((len(panels) + 1) // 2, 2, figsize=(4.8, 0.5 + 0.95 * len(panels)), sharey=True)
    for ax, (title, panel) in zip(axes.flat, panels, strict=False):
        for ordering, curve in panel.groupby("ordering", sort=False):
            ax.plot(curve["answers"], curve["F1"], **LOOKS[ordering], label=ordering)
        ax.set(title=title, ylim=(0, 1.02), xlim=(0, None), yticks=[0, 0.5, 1])
        ax.xaxis.set_major_locator(plt.MaxNLocator(4))
        ax.xaxis.set_major_formatter("{x:,.0f}")
    for left_over in axes.flat[len(panels) :]:
        left_over.remove()
    fig.supxlabel("answers", fontsize=11)
    fig.supylabel("F1", fontsize=11)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return fig


def beside(rows, index, forms, crowds):
    """What a table shows: a row for each value of the index, and these columns for each crowd; and their formats."""
    wide = rows.pivot(index=index, columns="crowd", values=[*forms]).reindex(rows[index].unique())
    both = {f"{crowd}: {column}": (column, crowd) for crowd in crowds for column in forms}
    shown = pd.DataFrame({name: wide[at] for name, at in both.items()}).reset_index()
    return {"shown": shown, "formats": {name: forms[column] for name, (column, _) in both.items()}}
