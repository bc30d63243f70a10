"""Figures of the chapter *When to stop* and of the appendix *Audits, and prior odds*."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from book.companion.figures import EDGE, EVIDENCE, FEWEST, GREY, INK, NODE, SKY
from scipy import stats

LOOK = {"edge": (EDGE.color, "D"), "node": (NODE.color, "o"), "evidence": (EVIDENCE.color, "^")}


def curve(ordering, rule, recall):
    """A part of what `cora` draws: the recall of one run at some questions."""
    at = np.unique(np.linspace(0, len(recall) - 1, 400).astype(int))
    return pd.DataFrame({"ordering": ordering, "rule": rule, "questions": at, "recall": recall[at]})


def cora(recall):
    """Recall against questions, to the end and stopped, for both orderings."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    for way, style in (("edge", EDGE), ("node", NODE)):
        own = recall[recall["ordering"] == way]
        whole, part = own[own["rule"] == "to the end"], own[own["rule"] == "stopped"]
        ax.plot(whole["questions"], whole["recall"], **style.line, label=f"{way} ordering, to the end")
        ax.plot(part["questions"], part["recall"], color=style.color, lw=0.9)
        end = part.iloc[-1]
        marks = {"ms": 10, "mew": 1.5, "mec": "white", "color": style.color, "marker": LOOK[way][1], "ls": ""}
        ax.plot(end["questions"], end["recall"], **marks, zorder=3, label=f"{way} ordering, stopped")
    ax.set(xlabel="questions", ylabel="recall", ylim=(0, 1.05), xlim=(0, None))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.legend(loc="lower right")
    return fig


def components(steps):
    """What `rule` draws: all pairs of components of some states of a run, with p(A, B) if they are open."""
    rows = []
    for now in steps:
        first = np.unique(now.clusters, return_index=True)[1]  # a record of each component
        size = np.bincount(now.clusters)
        chance = {tuple(now.clusters[pair]): p for pair, p in zip(now.declared, now.chance, strict=True)}
        for a, b in zip(*np.triu_indices(len(size), 1), strict=True):
            rows.append((now.n_queries, first[a], first[b], size[a], size[b], chance.get((a, b))))
    return pd.DataFrame(rows, columns=["answers", "record", "other", "records", "others", "p"])


def rule(pairs, delta):
    """The components of some states of a run, and p(A, B) for each open pair of them."""
    panels = pairs.groupby("answers")
    fig, axes = plt.subplots(1, len(panels), figsize=(4.9, 3.0))
    ends = sorted({*pairs["record"], *pairs["other"]})
    angle = np.linspace(0.75, 0.75 - 2, len(ends), endpoint=False) * np.pi
    at = dict(zip(ends, np.column_stack([np.cos(angle), np.sin(angle)]), strict=True))
    for ax, (answers, part) in zip(axes, panels, strict=True):
        for _, row in part.iterrows():
            (x, y), (x1, y1) = at[row["record"]], at[row["other"]]
            if np.isnan(row["p"]):
                ax.plot([x, x1], [y, y1], color=GREY, lw=1, ls="-", zorder=0)
                continue
            ax.plot([x, x1], [y, y1], color=NODE.color, lw=1.8, ls=(0, (3, 2)), zorder=1)
            where = 0.62 if part["p"].count() > 2 else 0.5
            middle = where * x + (1 - where) * x1, where * y + (1 - where) * y1
            box = {"fc": "white", "ec": "none", "pad": 1.2}
            ax.text(*middle, f"{row['p']:.2f}", ha="center", va="center", color=NODE.color, bbox=box, zorder=2)
        sizes = {*zip(part["record"], part["records"], strict=True), *zip(part["other"], part["others"], strict=True)}
        for record, size in sorted(sizes):
            ax.plot(*at[record], "o", ms=13 + 2 * size, mfc="white", mec=INK, zorder=3)
            ax.text(*at[record], size, ha="center", va="center", zorder=4, color="k")
        total = part["p"].sum()
        ax.set_title(f"{answers} answers, sum {total:.2f}:\n{'stop' if total <= delta else 'ask on'}")
        ax.set(xlim=(-1.4, 1.4), ylim=(-1.35, 1.35), aspect="equal")
        ax.axis("off")
    return fig


def calibration(shares):
    """Measured against stated: runs in which anything was missed, and single declared pairs."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.3))
    for ax, what, at in ((left, "run", "δ"), (right, "pair", "stated")):
        for shift, (way, (color, marker)) in zip((0.9, 1, 1.11), LOOK.items(), strict=True):
            own = shares[(shares["what"] == what) & (shares["way"] == way)]
            if own.empty:
                continue
            counts = zip(own["sum"].astype(int), own["size"].astype(int), strict=True)
            intervals = [stats.binomtest(s, n).proportion_ci(method="wilson") for s, n in counts]
            low, high = np.transpose(intervals)
            share = (own["sum"] / own["size"]).to_numpy()
            bars = {"yerr": [share - low, high - share], "ms": 5, "capsize": 2}
            ax.errorbar(own[at] * shift, share, fmt=marker, color=color, label=way, **bars)
        ax.plot([2e-3, 0.5], [2e-3, 0.5], color=GREY, ls=":", lw=1)
        ax.set(xscale="log", yscale="log", ylim=(1.5e-3, 0.7))
        ax.set_yticks([0.003, 0.01, 0.03, 0.1, 0.3], ["0.003", "0.01", "0.03", "0.1", "0.3"])
        ax.set_yticks([], minor=True)
    left.set(xlabel="δ of the run", ylabel="share of runs with a miss", xlim=(0.02, 0.45))
    left.set_xticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
    left.set_xticks([], minor=True)
    right.set(xlabel="stated for a pair", ylabel="share of pairs that match")
    right.set(xlim=(3e-3, 0.5))
    right.set_xticks([0.01, 0.1], ["0.01", "0.1"])
    fig.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


def rows(saved, ideal):
    """Questions to the end and when stopped, on each row of the table."""
    fig, ax = plt.subplots(figsize=(6.4, 3.8))
    settings = dict.fromkeys(zip(saved["model"], saved["ε"], strict=True))
    names = [f"{model}, {epsilon}" for model, epsilon in settings]
    places = np.arange(len(names))[::-1]
    for way, shift in (("edge", 0.14), ("node", -0.14)):
        color, marker = LOOK[way]
        own = saved[saved["way"] == way]
        loose, strict = own[own["δ"] == 1e-2], own[own["δ"] == 1e-3]
        y = places + shift
        ax.hlines(y, loose["questions"], loose["full"], color=color, lw=1, ls=":")
        ax.plot(loose["full"], y, marker, mfc="none", ms=7, color=color, label=f"{way}, to the end")
        ax.plot(strict["questions"], y, "|", ms=12, mew=2, color=color, label=f"{way}, δ = 0.001")
        ax.plot(loose["questions"], y, marker, ms=5, color=color, label=f"{way}, δ = 0.01")
    ax.axvline(ideal, **FEWEST.line)
    ax.set_yticks(places, names)
    ax.set(xlabel="questions (dotted: fewest possible)", xlim=(0, None), ylim=(-0.6, len(names) - 0.4))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def cost(compared):
    """Questions until a recall is certified, as a share of those that settle every pair."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    ax.axvline(1, **FEWEST.line)
    recall = compared["recall"].map("{:.0%}".format)
    looks = {"palette": [SKY, EVIDENCE.color, NODE.color, INK], "markers": ["v", "^", "o", "D"], "s": 60}
    sns.scatterplot(compared, x="questions", y="data", hue=recall, style=recall, ax=ax, clip_on=False, **looks)
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.set(xlabel="questions (dotted: every pair settled)", ylabel="", xlim=(0, 1.1))
    ax.margins(y=0.1)
    sns.move_legend(ax, "lower center", bbox_to_anchor=(0.5, 1), ncols=4, title="recall to be certified")
    return fig


def errors(shares):
    """The exact probability of an error against the number of matches, for each α."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    for (alpha, own), (color, marker) in zip(shares.groupby("α", sort=False), LOOK.values(), strict=False):
        ax.plot(own["matches"], own["errors"] / alpha, "-", marker=marker, ms=5, color=color, label=f"α = {alpha:g}")
    ax.axhline(1, color=GREY, ls=":")
    ax.set(xlabel="matches among the open pairs", ylabel="probability of an error / α", ylim=(0, 1.08))
    ax.set_xticks(np.arange(0, shares["matches"].max() + 1, 2))
    fig.legend(loc="outside upper center", ncols=3)
    return fig
