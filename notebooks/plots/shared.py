"""What the figures of several chapters have in common."""

import numpy as np
from book.companion.figures import INK, MATCH, NONMATCH


def graph(ax, places, lines, *, size=18, fontsize=10.5, width=lambda _: 1):
    """Records as circles with their names, and lines between them: two records, and how their line is drawn.

    `width` is that of a record's circle.
    """
    for a, b, look in lines:
        ax.plot(*zip(places[a], places[b], strict=True), **look, zorder=1)
    for record, (x, y) in places.items():
        ax.plot(x, y, "o", ms=size, mfc="white", mec=INK, mew=width(record), zorder=2)
        ax.text(x, y, record, ha="center", va="center", fontsize=fontsize, zorder=3)
    ax.axis("off")


def corners(density):
    """The corners of a density, for a line from zero to zero."""
    heights = np.r_[0, np.repeat(density.heights, 2), 0].astype(float)
    return np.repeat(density.edges, 2).astype(float), heights


def densities(ax, green, red):
    """The densities of matches and of non-matches, each given by its corners."""
    for (x, height), look, label in ((green, MATCH, "$f_g$, matches"), (red, NONMATCH, "$f_r$, non-matches")):
        ax.fill_between(x, height, **look.fill, alpha=0.55)
        ax.plot(x, height, **look.line, lw=2.2, label=label)
