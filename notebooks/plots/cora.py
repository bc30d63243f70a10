"""Figures of the chapter *cora: a real bibliography*."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from book.companion.figures import EDGE, FEWEST, GREY, INK, MATCH, NODE, PURPLE, SKY
from scipy.spatial.distance import squareform

#: What a function reads.
READS = {"all fields": INK, "author and title": SKY, "title": PURPLE}
LOOKS = {"ideal": FEWEST, "edge ordering": EDGE, "node ordering": NODE}
#: Where the name of each curve stands, in the panel of the first questions: question, recall.
NAMES = {"ideal": (250, 0.9), "edge ordering": (1480, 0.3), "node ordering": (2300, 0.68)}
#: Markers of the levels of recall, and of the end.
MARKERS = ("o", "^", "D", "s", "|")


def recall(frame, zoom):
    """Recall against questions: the first `zoom` questions, and to the end."""
    fig, axes = plt.subplots(2, 1, figsize=(4.8, 3.7))
    for name, look in LOOKS.items():
        part = frame[frame["ordering"] == name]
        early = part[part["questions"] <= zoom]
        axes[0].plot(early["questions"], early["recall"], **look.line)
        axes[1].plot(part["questions"], part["recall"], label=name, **look.line)
        axes[0].text(*NAMES[name], name, color=look.color, fontsize=11)
    for ax in axes:
        ax.set(ylim=(0, 1.04), xlim=(0, None), yticks=[0, 0.5, 1])
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.tick_params(labelsize=11)
        ax.set_ylabel("recall", fontsize=11)
    axes[1].set_xlabel("questions asked", fontsize=11)
    return fig


def shuffle(given, mixed, sizes):
    """Two lists of similarities as matrices, with a frame around each cluster."""
    fig, axes = plt.subplots(1, 2, figsize=(4.8, 2.7))
    for ax, values, title in zip(axes, (given, mixed), ("as they are", "shuffled"), strict=True):
        matrix = np.ma.masked_array(squareform(values), np.eye(sum(sizes)))
        ax.imshow(matrix, cmap="Greys", vmin=0, vmax=0.8)
        for end, size in zip(np.cumsum(sizes), sizes, strict=True):
            corner = (end - size - 0.5, end - size - 0.5)
            ax.add_patch(plt.Rectangle(corner, size, size, fill=False, edgecolor=MATCH.color, lw=2))
        ax.set_title(title, fontsize=12)
        ticks = [0, 3, 8, 11]
        names = [f"r{i + 1}" for i in ticks]
        ax.set(xticks=ticks, xticklabels=names, yticks=ticks, yticklabels=names)
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)
    return fig


def levels(frame, family, *, ends, recall, within):
    """Questions to levels of recall and to the end: a panel for each ordering, a row for each function.

    `ends` are the published totals; according to the paper, `recall` is reached `within` this number of questions.
    """
    fig, axes = plt.subplots(2, 1, figsize=(4.8, 8.4), sharex=True)
    columns = [column for column in frame.columns if column.startswith("recall")] + ["end"]
    solid = (f"recall {recall:g}", "end")
    looks = {c: {"marker": m, "ls": "none", "ms": 10 if m == "|" else 6, "mew": 1.8 if m == "|" else 1}
             for c, m in zip(columns, MARKERS, strict=True)}  # fmt: skip
    names = []  # a header for the fields that are read, and the functions that read them
    for fields in ("all fields", "author and title", "title"):
        names += [fields, *(name for name, member in family.items() if member.on == fields)]
    labels = [f"  {family[name].similarity}" if name in family else f"{name}:" for name in names]
    place = dict(zip(names, range(len(names), 0, -1), strict=True))
    for ax, (ordering, look) in zip(axes, {"edge": EDGE, "node": NODE}.items(), strict=True):
        part = frame[frame["ordering"] == ordering]
        y = part["function"].map(place)
        ax.hlines(y, part[columns[0]], part["end"], color=GREY, lw=0.6)
        for column in columns:
            ax.plot(part[column], y, mec=look.color, mfc=look.color if column in solid else "white", **looks[column])
        for x in (within, ends[ordering]):
            ax.axvline(x, ymax=0.97, color=GREY, lw=1)
            ax.text(x, len(names) + 0.5, f"{x:,}", ha="center", fontsize=11, color=GREY)
        ax.set(xscale="log", ylim=(0.3, len(names) + 0.6), xlim=(1200, 33_000))
        ax.set_title(f"{ordering} ordering", fontsize=12, pad=16)
        ax.set_yticks(list(place.values()), labels, fontsize=11)
        ax.minorticks_off()
        ticks = [2000, 5000, 10_000, 20_000]
        ax.set_xticks(ticks, ["2,000", "5,000", "10,000", "20,000"], fontsize=11)
        ax.tick_params(axis="y", length=0)
    axes[1].set_xlabel("questions asked", fontsize=11)
    handles = [plt.Line2D([], [], mec=INK, mfc=INK if c in solid else "white", **looks[c]) for c in columns]
    shown = [column.removeprefix("recall ") for column in columns]
    fig.legend(handles, shown, loc="outside upper center", ncols=5, fontsize=11, handletextpad=0, columnspacing=0.8,
               title="recall", title_fontsize=11)  # fmt: skip
    return fig


def totals(frame, steps, printed, fewest, *, percent):
    """Questions of node over edge ordering: a point for each function and rounding, and a box for what would agree."""
    fig, ax = plt.subplots(figsize=(4.8, 5.4))
    sns.scatterplot(
        frame, x="edge", y="node", hue="reads", palette=READS, style="rounded", style_order=steps, ax=ax, s=42,
        markers=dict(zip(steps, "oDs^vP" * len(steps), strict=False)), alpha=0.75, edgecolor="white",
    )  # fmt: skip
    sides = [2 * percent / 100 * printed[ordering] for ordering in ("edge", "node")]
    corner = [printed[ordering] - side / 2 for ordering, side in zip(("edge", "node"), sides, strict=True)]
    ax.add_patch(plt.Rectangle(corner, *sides, facecolor="none", edgecolor=INK, lw=1.2))
    ax.plot(printed["edge"], printed["node"], "x", color=INK, ms=8, mew=1.8)
    ax.text(printed["edge"], corner[1] - 50, "printed", ha="center", va="top")
    ax.plot(fewest, fewest, "+", color=GREY, ms=11, mew=1.8)
    ax.text(fewest, fewest - 100, "fewest possible", va="top", color=GREY)
    ax.axline((fewest, fewest), slope=1, color=GREY, lw=0.8, ls=":")
    ax.set(xlabel="questions of edge ordering", ylabel="questions of node ordering", aspect="equal",
           xlim=(19_500, 23_000), ylim=(19_500, 23_700))  # fmt: skip
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(plt.MultipleLocator(1000))
        axis.set_major_formatter("{x:,.0f}")
    sns.move_legend(ax, "lower right", handletextpad=0.2, labelspacing=0.3)
    return fig


def points(curve, zoom):
    """About 800 places that show a curve of recall, half of them in the first `zoom` questions."""
    last = len(curve) - 1
    early, all_over = np.linspace(0, min(zoom, last), 400), np.linspace(0, last, 400)
    return np.unique(np.r_[early, all_over].astype(int))


def curves(recalls, zoom):
    """What `recall` draws: the recall of each ordering at some questions."""
    at = {name: points(recall, zoom) for name, recall in recalls.items()}
    return pd.concat(
        pd.DataFrame({"ordering": name, "questions": at[name], "recall": recall[at[name]]})
        for name, recall in recalls.items()
    )
