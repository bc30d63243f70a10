"""The figure of the chapter *Which ordering for my data?*."""

import matplotlib.pyplot as plt
from notebooks.plots.real_crowds import LOOKS


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
