"""Figures of the appendix *Summed evidence*."""

import matplotlib.pyplot as plt
from book.companion.figures import EDGE, EVIDENCE, FEWEST, GREY, INK, NODE
from notebooks.plots.closing_the_gap import LEARNED

LOOKS = {"edge": EDGE.line, "node": NODE.line, "evidence": EVIDENCE.line, "learned": LEARNED.line, "ideal": FEWEST.line}


def right(chances):
    """How often either test finds the cluster of a record, against the size of the clusters."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    for epsilon, part in chances.groupby("epsilon"):
        style = {0.05: {"lw": 1.2, "ls": "--"}, 0.2: {"lw": 2, "ls": "-"}}[epsilon]
        by_sum, by_best = f"summed evidence, ε = {epsilon:g}", f"most similar pair, ε = {epsilon:g}"
        ax.plot(part["m"], part["evidence"], color=EVIDENCE.color, label=by_sum, **style)
        ax.plot(part["m"], part["best pair"], color=EDGE.color, label=by_best, **style)
    ax.set(xscale="log", xlabel="records in each of the two clusters, $m$")
    ax.set(ylabel="chance to be right", ylim=(0.49, 1.01))
    ax.set_xticks([1, 10, 100], ["1", "10", "100"])
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def recall(curves):
    """Recall of each ordering, and of the ideal, against the questions asked."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    for way, part in curves.groupby("way", sort=False):
        name = f"{'evidence, ' if way == 'learned' else ''}{way}: {part['questions'].max():,}"
        ax.plot(part["questions"], part["recall"], label=name, **LOOKS[way])
    ax.set(xlabel="questions asked", ylabel="recall")
    ax.legend(loc="lower right", title="questions in all", fontsize=9)
    return fig


def sweep(swept, turn):
    """What is saved against m ε², for two sizes; from `turn` on clusters can be told apart."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    shown = swept[swept["scale"] > 0]
    for (m, part), mark, dash in zip(shown.groupby("m"), "os", ("-", "--"), strict=True):
        by_sum = {"color": EVIDENCE.color, "label": f"evidence, m = {m}"}
        by_node = {"color": NODE.color, "mfc": "none", "label": f"node, m = {m}"}
        ax.plot(part["scale"], part["evidence saves"], mark, ls=dash, **by_sum)
        ax.plot(part["scale"], part["node saves"], mark, ls=dash, **by_node)
    ax.axvline(turn, color=GREY, ls=":", lw=1)
    ax.text(turn * 1.1, 0.03, "$z^2/2$", fontsize=10)
    ax.set(xscale="log", xlabel="$m\\epsilon^2$", ylabel="share of the excess saved")
    ax.set(ylim=(-0.05, 1.05))
    ax.legend(loc="upper left", fontsize=9)
    return fig


def learned(weights):
    """The learned evidence of a pair at several points of a run, and the true one."""
    fig, ax = plt.subplots(figsize=(6.4, 3))
    beliefs = [column for column in weights if column.startswith("after ")]
    look = {"ls": "-", "lw": 1.6, "drawstyle": "steps-mid"}
    for i, column in enumerate(beliefs):
        color, label = plt.cm.Blues(0.35 + 0.13 * i), f"after {int(column[6:]):,}"
        ax.plot(weights["similarity"], weights[column], color=color, label=label, **look)
    look |= {"ls": "--", "lw": 1.4}
    ax.plot(weights["similarity"], weights["true"], color=INK, label="true", **look)
    ax.set(xlabel="similarity", ylabel="weight of a pair, nats")
    fig.legend(loc="outside right center")
    return fig
