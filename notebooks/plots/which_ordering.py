"""Figures of the chapter *Which ordering for my data?*."""

import matplotlib.pyplot as plt
from book.companion.figures import EDGE, EVIDENCE, NODE

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-which-answers": (
        "Three panels over the number of answers. On cora, recall of edge and evidence ordering rises steeply and "
        "that of node ordering slowly. On allsports and gym, F1 rises and ends below one for all three."
    ),
}

LOOKS = {"edge": EDGE, "node": NODE, "evidence": EVIDENCE}


def answers_paid_for(cora, real):
    """Recall on cora with a perfect crowd; F1 on two real crowds."""
    fig, axes = plt.subplots(1, 3, figsize=(6.4, 2.9), sharey=True, width_ratios=(1.2, 1, 1))
    parts = [("cora, perfect crowd", cora, "recall")]
    parts += [(name, real[real["crowd"] == name], "F1") for name in ("allsports", "gym")]
    for ax, (title, frame, what) in zip(axes, parts, strict=True):
        for ordering, curve in frame.groupby("ordering"):
            ax.plot(curve["answers"] / 1000, curve[what], **LOOKS[ordering].line, label=ordering)
        ax.set(title=title, xlabel="answers (thousands)", ylim=(0, 1.02), xlim=(0, None))
    axes[0].set(ylabel="recall, or F1")
    axes[0].legend(loc="lower right")
    return fig
