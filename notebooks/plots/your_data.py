"""Figures of the chapter *Your own data*."""

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from book.companion.figures import BLUE, GREY, INK, ORANGE

LOOKS = {"learned": (BLUE, ""), "tf-idf": (ORANGE, (4, 2)), "q-grams": (GREY, (5, 1.5, 1, 1.5))}


def similarities(tried: pd.DataFrame):
    """Matches found against questions: a panel for each kind of data, a line for each file or order of ties."""
    color, dashes = ({name: look[i] for name, look in LOOKS.items()} for i in (0, 1))
    fig, axes = plt.subplots(1, tried["data"].nunique(), figsize=(6.4, 2.9), sharex=True, sharey=True)
    for ax, (name, part) in zip(axes, tried.groupby("data", sort=False), strict=True):
        drawn = {"x": "questions", "y": "share", "hue": "similarity", "palette": color, "style": "similarity", "ax": ax}
        sns.lineplot(part, **drawn, dashes=dashes, units="trial", estimator=None, lw=1.2, legend=ax is axes[0])
        sns.scatterplot(part[part["share"] == part["share"].max()], **drawn, markers=["o", "s", "^"], legend=False)
        ax.set(xscale="log", title=name, xlabel="questions", ylabel="matches found", ylim=(0, 1.03))
    lines, names = axes[0].get_legend_handles_labels()
    axes[0].get_legend().remove()
    fig.legend(lines, names, loc="outside upper center", ncols=3)
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
