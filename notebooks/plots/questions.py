"""Figures of the chapter *Questions and transitivity*."""

from itertools import combinations

import matplotlib.pyplot as plt
from book.companion.figures import INK, MATCH, NONMATCH, SKY
from crowder.counting.enumeration import questions_of_order

#: Where the records r1 to r5 are drawn.
POSITION = [(0.05, 1.15), (-0.6, 0.5), (0.2, -0.1), (1.6, 1.05), (1.75, 0.2)]


def good_order(questions, labels):
    """What is known after each question of a good order."""
    fig, axes = plt.subplots(2, 2, figsize=(6.4, 4.2))
    for q, ax in enumerate(axes.flat, start=1):
        _knowledge(ax, questions[:q], labels)
    return fig


def _knowledge(ax, questions, labels):
    """What is known after these questions: heavy lines are asked, thin ones implied."""
    for i, j in combinations(range(len(labels)), 2):
        if len(questions_of_order([*questions, (i, j)], labels)) == len(questions):  # settled
            kind = MATCH if labels[i] == labels[j] else NONMATCH
            asked = (i, j) in questions
            weight = {"lw": 2.8, "alpha": 1} if asked else {"lw": 0.9, "alpha": 0.75}
            ax.plot(*zip(POSITION[i], POSITION[j], strict=True), **kind.line | weight, zorder=1)
    for record, (x, y) in enumerate(POSITION, start=1):
        ax.plot(x, y, "o", ms=18, mfc="white", mec=INK, mew=1, zorder=2)
        ax.text(x, y, f"$r_{record}$", ha="center", va="center", zorder=3, fontsize=11)
    ax.set(xlim=(-0.85, 2.0), ylim=(-0.3, 1.3), title=f"after question {len(questions)}")
    ax.axis("off")


def all_orders(frame):
    """Shares of all orders by the number of questions that they ask."""
    fig, ax = plt.subplots(figsize=(6.4, 2.9))
    ax.bar(frame["questions"], 100 * frame["share"], color=SKY, width=0.7)
    for questions, count, share in frame.itertuples(index=False):
        ax.text(questions, 100 * share + 0.8, f"{count:,}", ha="center", fontsize=9)
    mean = (frame["questions"] * frame["share"]).sum()
    ax.axvline(mean, color=INK, lw=1.2, ls=":")
    ax.text(mean + 0.06, 47, f"mean {mean:.2f}", fontsize=9.5)
    ax.set(xlabel="questions asked", ylabel="share of all orders (%)", ylim=(0, 51))
    return fig
