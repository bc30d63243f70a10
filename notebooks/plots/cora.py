"""Figures of the chapter *cora: a real bibliography*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, GREEN, GREY, INK, MATCH, NONMATCH, ORANGE, PURPLE

#: How each curve of recall is drawn.
LOOKS = {
    "ideal": {"color": GREY, "ls": ":"},
    "edge ordering": {"color": ORANGE, "ls": "--"},
    "node ordering": {"color": BLUE, "ls": "-"},
}

#: The fields that a similarity function reads, in the figure of all functions.
FIELDS = {
    "all fields": {"color": BLUE, "ls": "-"},
    "author and title": {"color": ORANGE, "ls": "--"},
    "title": {"color": PURPLE, "ls": "-."},
}


def sizes(frame):
    """Cluster sizes by rank, and the shares of matching pairs and of records that they hold."""
    fig, (top, low) = plt.subplots(2, 1, figsize=(6.4, 5), sharex=True)
    top.fill_between(frame["rank"], 0.7, frame["size"], step="mid", color=BLUE)
    top.set(yscale="log", ylabel="records in it", ylim=(0.7, None))
    top.set_yticks([1, 10, 100], ["1", "10", "100"])
    low.plot(frame["rank"], frame["matching pairs so far"], label="of all matching pairs")
    low.plot(frame["rank"], frame["records so far"], label="of all records")
    low.set(xlabel="clusters, largest first", ylabel="share so far", ylim=(0, 1.04))
    low.legend(loc="lower right")
    return fig


def similarities(frame, family):
    """Two histograms for each function: matches, and non-matches."""
    fig, axes = plt.subplots(6, 2, figsize=(4.6, 9), sharex=True)
    for (name, part), ax in zip(frame.groupby("function", sort=False), axes.flat, strict=True):
        for kind, style in (("matches", MATCH), ("non-matches", NONMATCH)):
            side = part[part["pairs"] == kind]
            width = 1 / len(side)
            ax.bar(side["from"], side["density"], width, align="edge", label=kind, **style.fill)
        ax.set_title(f"{family[name].similarity}\n{family[name].on}", fontsize=9)
        ax.set(yticks=[], xlim=(0, 1))
        ax.set_xticks([0, 0.5, 1], ["0", "½", "1"])
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    fig.supxlabel("similarity", fontsize=10.5)
    fig.get_layout_engine().set(w_pad=0.14)
    return fig


def integral(frame):
    """L(t) on cora and in the models."""
    fig, ax = plt.subplots(figsize=(6.4, 3.8))
    for name, width in zip(frame.columns[1:], (2.6, 1.6, 1.6, 1.6), strict=True):
        ax.plot(frame["t"], frame[name], lw=width, label=name)
    bottom = 10.0 ** np.floor(np.log10(max(frame["cora"].min(), 1e-9)) - 1)
    ax.set(xscale="log", yscale="log", ylim=(bottom, 1), xlabel="$t$", ylabel="$L_{g,r}(t)$")
    ax.legend(loc="upper right")
    return fig


def recall(frame, zoom):
    """Recall against questions: to the end, and the first `zoom` questions."""
    fig, axes = plt.subplots(2, 1, figsize=(6.4, 6))
    for name, look in LOOKS.items():
        part = frame[frame["ordering"] == name]
        axes[0].plot(part["questions"], part["recall"], label=name, **look)
        early = part[part["questions"] <= zoom]
        axes[1].plot(early["questions"], early["recall"], **look)
    for ax in axes:
        ax.set(ylabel="recall", ylim=(0, 1.04), xlim=(0, None))
        ax.xaxis.set_major_formatter("{x:,.0f}")
    axes[0].set_title("to the end")
    axes[1].set(title=f"the first {zoom:,} questions", xlabel="questions asked")
    axes[0].legend(loc="lower right")
    fig.get_layout_engine().set(h_pad=0.12)
    return fig


def family(frame, ideal, family, *, recall, within, floor):
    """Recall of all functions, stretched towards 1: a panel an ordering.

    `ideal` is the ideal's curve, `recall` and `within` are the printed ones; `floor` is the least
    missing share that is drawn.
    """

    def stretched(share):
        return -np.log10(np.maximum(1 - share, floor))

    fig, axes = plt.subplots(2, 1, figsize=(6.4, 7), sharex=True)
    ticks = [0, 0.9, 0.99, recall, 0.9999]
    best = {"ls": ":", "color": INK}
    for ax, (ordering, panel) in zip(axes, frame.groupby("ordering", sort=False), strict=True):
        for name, part in panel.groupby("function", sort=False):
            look = FIELDS[family[name].on]
            ax.plot(part["questions"], stretched(part["recall"]), lw=1.2, **look)
        ax.plot(ideal[0], stretched(ideal[1]), lw=2.4, **best)
        ax.axvline(within, color=GREY, lw=0.9)
        ax.axhline(stretched(recall), color=GREY, lw=0.9)
        ax.set(title=f"{ordering} ordering", ylabel="recall", xlim=(0, None), ylim=(0, None))
        ax.set_yticks([*map(stretched, ticks), stretched(1)], [*map(str, ticks), "1"])
        ax.xaxis.set_major_formatter("{x:,.0f}")
    axes[1].set_xlabel("questions asked")
    looks = FIELDS | {"ideal": best}
    handles = {what: axes[0].plot([], **look)[0] for what, look in looks.items()}
    fig.legend(handles.values(), handles, loc="outside upper center", ncols=4, columnspacing=1)
    return fig


def arrival(frame):
    """Recall of node ordering by order of arrival; the first is the bound."""
    fig, ax = plt.subplots(figsize=(6.4, 3.8))
    colors, dashes = ["#bbbbbb", PURPLE, BLUE, GREEN], ["-", "-.", "-", "--"]
    curves = frame.groupby("arrival", sort=False)
    for (name, part), color, dash in zip(curves, colors, dashes, strict=True):
        width = 5 if name == "fastest possible" else 1.8
        ax.plot(part["questions"], part["recall"], color=color, ls=dash, lw=width, label=name)
    ax.set(xlabel="questions asked", ylabel="recall", xlim=(0, None), ylim=(0, 1.04))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.legend(loc="lower right", title="records arrive by", title_fontsize=9.5)
    return fig


def points(curve, zoom):
    """About 800 places that show a curve of recall, half of them in the first `zoom` questions."""
    last = len(curve) - 1
    early, all_over = np.linspace(0, min(zoom, last), 400), np.linspace(0, last, 400)
    return np.unique(np.r_[early, all_over].astype(int))
