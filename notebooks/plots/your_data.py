"""Figures of the chapter *Your own data*."""

import matplotlib.pyplot as plt
import pandas as pd
from book.companion.figures import BLUE, GREY, INK, ORANGE

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-similarities": (
        "Panels of data sets, matches found against questions on a logarithmic scale. In the first, the learned "
        "similarity reaches 95 % long before tf-idf, and q-grams reach it last; in the others they differ less."
    ),
    "fig-certified": (
        "The true recall rises to almost one and stays there. The certified recall stays near zero until the audit "
        "begins, and then rises in steps to 0.95."
    ),
}

LOOKS = {
    "learned": {"color": BLUE, "ls": "-", "marker": "o"},
    "tf-idf": {"color": ORANGE, "ls": "--", "marker": "s"},
    "q-grams": {"color": GREY, "ls": "-.", "marker": "^"},
}

TITLES = {"people": "invented people", "cora": "cora", "febrl3": "febrl, data set 3"}


def similarities(tried: pd.DataFrame):
    """Matches found against questions, a panel for each data set and a line for each similarity; one seed of each."""
    names = [name for name in TITLES if name in set(tried["data"])]
    fig, axes = plt.subplots(1, len(names), figsize=(6.4, 2.9), sharey=True)
    for ax, name in zip(axes, names, strict=True):
        part = tried[(tried["data"] == name) & (tried["seed"] == 0)]
        right = 2 * part["to_95"].max()
        for similarity, look in LOOKS.items():
            line = part[(part["similarity"] == similarity) & (part["questions"] > 0)]
            ax.plot(line["questions"], line["found"], lw=1.5, label=similarity, **look | {"marker": ""})
            ax.plot(line["to_95"].iloc[:1], [0.95], look["marker"], color=look["color"], ms=6)
        ax.set(xscale="log", title=TITLES[name], xlabel="questions", xlim=(100, right), ylim=(0, 1.03))
    axes[0].set(ylabel="matches found")
    axes[0].legend(loc="lower right")
    return fig


def course(recall: pd.DataFrame):
    """Certified and true recall against questions, and where the audit begins."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    ax.plot(recall["questions"], recall["found"], color=INK, lw=1.5, label="true, by the labels")
    ax.plot(recall["questions"], recall["certified"], color=BLUE, ls="--", lw=1.5, label="certified")
    begins = recall[recall["audit"]]["questions"]
    if len(begins):
        ax.axvline(begins.iloc[0], color=GREY, ls=":", lw=1.2)
    ax.set(xlabel="questions", ylabel="recall among the candidate pairs", ylim=(0, 1.03), xlim=(0, None))
    ax.legend(loc="lower right")
    return fig
