"""Figures of the chapter *Questions and transitivity*."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import INK, MATCH, NONMATCH, SKY
from notebooks.plots.shared import graph

#: Where the records of the good order are drawn: those of one cluster on the left, those of the other on the right.
POSITION = [(1.75, 0.2), (1.6, 1.05), (-0.6, 0.5), (0.05, 1.15), (0.2, -0.1)]


def similarities(data):
    """The similarity of each pair as a shade and a number; pairs of one entity are outlined."""
    fig, ax = plt.subplots(figsize=(4.9, 3.4))
    names, w = data.records["id"], data.similarity
    shades = np.where(np.tri(data.n, k=-1, dtype=bool), w, np.nan)[1:, :-1]
    ax.imshow(shades, cmap="Blues", vmin=0, vmax=1.1, aspect="auto")
    for i, j in combinations(range(data.n), 2):
        ax.text(i, j - 1, f"{w[i, j]:.2f}"[1:], ha="center", va="center", color="white" if w[i, j] > 0.65 else INK)
    for label in np.unique(data.labels):
        first, *_, last = np.flatnonzero(data.labels == label)
        stairs = [(x, y) for row in range(first, last) for x, y in ((row + 0.5, row - 0.5), (row + 0.5, row + 0.5))]
        around = [(first - 0.5, first - 0.5), *stairs, (first - 0.5, last - 0.5), (first - 0.5, first - 0.5)]
        ax.plot(*zip(*around, strict=True), color=MATCH.color, ls="-", lw=2.4, clip_on=False)
    ax.plot([], [], color=MATCH.color, ls="-", lw=2.4, label="citations of one paper")
    ax.legend(loc="upper right")
    ax.set_xticks(range(data.n - 1), names[:-1])
    ax.set_yticks(range(data.n - 1), names[1:])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return fig


def good_order(questions, known, same, names):
    """What is known after each question: heavy lines are asked, thin ones implied."""
    fig, axes = plt.subplots(2, 2, figsize=(6.4, 4.2))
    place = dict(zip(names, POSITION, strict=True))
    for q, ax in enumerate(axes.flat):
        _graph(ax, place, known[q], same, set(questions[: q + 1]))
        ax.set(xlim=(-0.85, 2.0), ylim=(-0.3, 1.3), title=f"after question {q + 1}")
    return fig


def all_orders(frame, mean):
    """The share of all orders that ask each number of questions, as bars with the number of orders."""
    fig, ax = plt.subplots(figsize=(6.4, 2.9))
    ax.bar(frame["questions"], 100 * frame["share"], color=SKY, width=0.7)
    for questions, count, share in frame.itertuples(index=False):
        ax.text(questions, 100 * share + 0.8, f"{count:,}", ha="center", fontsize=9)
    ax.axvline(mean, color=INK, lw=1.2, ls=":")
    ax.text(mean + 0.06, 47, f"mean {mean:.2f}", fontsize=9.5)
    ax.set(xlabel="questions asked", ylabel="share of all orders (%)", ylim=(0, 51))
    return fig


def ends(fewest, most, same, n):
    """The questions of a best and of a worst order, on a circle of records."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 2.9))
    angle = 2 * np.pi * np.arange(n) / n
    place = dict(enumerate(zip(np.sin(angle), np.cos(angle), strict=True)))
    for ax, asked, name in zip(axes, (fewest, most), ("fewest", "most"), strict=True):
        _graph(ax, place, asked, same, set(fewest) if name == "fewest" else set(), size=17)
        ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal", title=f"{name}: {len(asked)} questions")
    return fig


def _graph(ax, place, pairs, same, heavy, **how):
    lines = []
    for i, j in pairs:
        kind = MATCH if same(i, j) else NONMATCH
        weight = {"lw": 2.8, "alpha": 1} if (i, j) in heavy else {"lw": 0.9, "alpha": 0.75}
        lines.append((f"r{i + 1}", f"r{j + 1}", kind.line | weight))
    graph(ax, {f"r{record + 1}": at for record, at in place.items()}, lines, **how)
