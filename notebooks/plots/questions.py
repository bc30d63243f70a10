"""A figure of the chapter *Questions and transitivity*."""

import matplotlib.pyplot as plt
from book.companion.figures import INK, MATCH, NONMATCH

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-all-orders": (
        "Bar chart: from {} to {} questions; {} is the most common number, and the bars fall steeply towards {}."
    ),
    "fig-good-order": (
        "Five records after each of {} questions. Two matches join r1, r2 and r3 and imply a third; a match joins "
        "r4 and r5; one non-match between r1 and r5 then implies the other five non-matches."
    ),
}

#: Where the records r1 to r5 are drawn.
POSITION = [(0.05, 1.15), (-0.6, 0.5), (0.2, -0.1), (1.6, 1.05), (1.75, 0.2)]


def good_order(questions, known, same):
    """What is known after each question: heavy lines are asked, thin ones implied."""
    fig, axes = plt.subplots(2, 2, figsize=(6.4, 4.2))
    for q, ax in enumerate(axes.flat):
        _knowledge(ax, questions[: q + 1], known[q], same)
    return fig


def _knowledge(ax, questions, settled, same):
    for i, j in settled:
        kind = MATCH if same(i, j) else NONMATCH
        weight = {"lw": 2.8, "alpha": 1} if (i, j) in questions else {"lw": 0.9, "alpha": 0.75}
        ax.plot(*zip(POSITION[i], POSITION[j], strict=True), **kind.line | weight, zorder=1)
    for record, (x, y) in enumerate(POSITION, start=1):
        ax.plot(x, y, "o", ms=18, mfc="white", mec=INK, mew=1, zorder=2)
        ax.text(x, y, f"$r_{record}$", ha="center", va="center", zorder=3, fontsize=11)
    ax.set(xlim=(-0.85, 2.0), ylim=(-0.3, 1.3), title=f"after question {len(questions)}")
    ax.axis("off")
