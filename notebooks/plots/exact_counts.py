"""Figures of the chapter *How many questions, exactly*."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from book.companion.figures import CORRECTED, EDGE, FEWEST, INK, MATCH, NODE, NONMATCH, PRINTED
from notebooks.plots.shared import graph

LOOK = {name: look.line | {"marker": look.points["marker"]} for name, look in (("edge", EDGE), ("node", NODE))}
LINES = {
    "edge": {**LOOK["edge"], "label": "edge"},
    "node": {**LOOK["node"], "label": "node"},
    "edge, stated": {**PRINTED.line, "label": "stated"},
    "node, stated": {"color": PRINTED.color, "linestyle": (0, (5, 1, 1, 1)), "label": "stated, node"},
    "both, stated": {**PRINTED.line, "label": None},
    "no log": {**CORRECTED.line, "label": r"$n + k^2/\epsilon$"},
    "ideal": {**FEWEST.line, "label": "fewest"},
}


def citations(frame, exact, asked):
    """How many questions each ordering asks when the similarities are shuffled, with the formula's mean."""
    fig, axes = plt.subplots(2, 1, figsize=(6.4, 3.3), sharex=True, sharey=True)
    for ax, (ordering, look) in zip(axes, (("edge", EDGE), ("node", NODE)), strict=True):
        part = frame[frame["ordering"] == ordering]
        ax.bar(part["questions"], 100 * part["share"], width=0.8, **look.fill)
        ax.axvline(exact[ordering], color=INK, lw=1.4, ls="-.")
        ax.text(exact[ordering] + 0.12, 50, f"expected {exact[ordering]:.1f}", va="top")
        ax.set(ylabel="shuffles (%)", title=f"{ordering} ordering", ylim=(0, 50), yticks=[0, 20, 40])
    axes[-1].set(xlabel=f"questions ({asked} on the citations as they are)")
    axes[-1].set_xticks(range(frame["questions"].min(), frame["questions"].max() + 1))
    return fig


def known(data, queries, pair, settles):
    """What a run knows of the first two clusters when it asks about a pair, and another pair that this settles."""
    names, rows = data.records["id"], []
    for u, v in np.sort(queries).tolist():
        if (names[u], names[v]) == pair:
            break
        if max(data.labels[[u, v]]) < 2:
            answer = "match" if data.labels[u] == data.labels[v] else "non-match"
            rows.append((names[u], names[v], data.similarity[u, v], answer))
    for (a, b), kind in ((pair, "question"), (settles, "settled")):
        u, v = (int((names == name).argmax()) for name in (a, b))
        rows.append((a, b, data.similarity[u, v], kind))
    return pd.DataFrame(rows, columns=["a", "b", "similarity", "kind"])


def moment(frame, left, right, pair):
    """Two clusters when a pair across them is reached: what is known, the question, and the pairs that it settles."""
    fig, ax = plt.subplots(figsize=(4.9, 3.4))
    at = {}
    for x, own in ((0, left), (3, right)):
        at |= {name: (x, len(left) - 1 - place) for place, name in enumerate(own)}
    looks = {
        "match": ("answered: match", MATCH.line | {"lw": 2.6}),
        "non-match": ("answered: no match", NONMATCH.line | {"lw": 1.2}),
        "question": ("asked now", NONMATCH.line | {"lw": 3}),
        "settled": ("settled by it", {"color": INK, "ls": ":", "lw": 1.6}),
    }
    lines = []
    for kind, (label, look) in looks.items():
        for a, b in frame.loc[frame["kind"] == kind, ["a", "b"]].to_numpy():
            lines.append((a, b, look | {"label": label}))
            label = None
    graph(ax, at, lines, size=21, fontsize=12, width=lambda name: 2 if name in pair else 0.8)
    ax.set(xlim=(-0.4, 3.4), ylim=(-0.5, 4.5))
    fig.legend(loc="outside lower center", ncols=2, handlelength=2.4)
    return fig


def three(at_level, areas):
    """Left: three records joined or apart, with the pairs asked about; right: the rates of both, with their areas."""
    names = dict(zip(("apart", "joined"), areas, strict=True))
    fig, axes = plt.subplot_mosaic(
        [["apart", "rates"], ["joined", "rates"]], figsize=(6.4, 3.5), gridspec_kw={"width_ratios": [1, 1.5]}
    )
    at = {"a": (0, 1), "b": (0, 0), "c": (1, 0.5)}
    looks = {
        "match": ("answered: match", MATCH.line | {"lw": 2.6}),
        "asked": ("asked about", NONMATCH.line | {"lw": 2}),
        "settled": ("settled", {"color": INK, "ls": ":", "lw": 1.6}),
    }
    drawn = {
        "apart": [("a", "c", "asked"), ("b", "c", "asked")],
        "joined": [("a", "b", "match"), ("a", "c", "asked"), ("b", "c", "settled")],
    }
    for name, lines in drawn.items():
        graph(axes[name], at, [(a, b, looks[kind][1]) for a, b, kind in lines], size=20, fontsize=12)
        axes[name].set(xlim=(-0.25, 1.25), ylim=(-0.35, 1.35), title=names[name])
    ax, below = axes["rates"], np.zeros(len(at_level))
    for (name, case), hatch, face in zip(names.items(), ("", "///"), ("#8ccdb8", "#f2cf86"), strict=True):
        top = below + at_level[case]
        ax.fill_between(at_level["level"], below, top, facecolor=face, hatch=hatch, edgecolor=INK, lw=0.3)
        inside, beside = (
            (0.45, np.interp(0.45, at_level["level"], below + top) / 2),
            {"apart": (0.9, 0.6), "joined": (0.4, 1.75)}[name],
        )
        line = {"arrowstyle": "-", "color": INK} if name == "joined" else None
        ax.annotate(f"{name}: {areas[case]}", inside, beside, va="center", arrowprops=line)
        below = top
    ax.set(xlim=(1, 0), ylim=(0, None), xlabel=r"level $\tau$, from 1 down", title="questions about c, by level")
    lines = [plt.Line2D([], [], **look, label=label) for label, look in looks.values()]
    fig.legend(handles=lines, loc="outside lower center", ncols=3, handlelength=2.2)
    return fig


def million(counts):
    """Questions per record as n grows: exact, stated and ideal."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 4.4), sharey=True)
    for ax, (name, part) in zip(axes, counts.groupby("model"), strict=True):
        for what, look in LINES.items():
            line = part[part["what"] == what]
            if len(line):
                ax.loglog(line["n"], line["questions"] / line["n"], ms=4, **{"lw": 1.4, **look})
        ax.set(xlabel="records, $n$", title=name, ylim=(0.7, 1e4))
        ax.minorticks_off()
        ax.set_xticks([1e2, 1e4, 1e6], ["100", "10,000", "1,000,000"])
        ax.set_yticks([1, 100, 10000], ["1", "100", "10,000"])
    axes[0].set_ylabel("questions per record")
    lines = {line.get_label(): line for ax in axes for line in ax.get_lines() if line.get_label()[0] != "_"}
    fig.legend(lines.values(), lines.keys(), loc="outside upper center", ncols=3)
    return fig


def in_words(counts):
    """A sentence about the largest numbers of records that `million` draws."""
    largest = counts[counts["n"] == counts["n"].max()].set_index(["model", "what"])["questions"]
    n, epsilon, at = counts["n"].max(), counts["ε"].iloc[0], largest / 1e6
    return (
        f"{n:,} records, ε = {epsilon:g}, in millions of questions: under Dist-1 edge ordering asks "
        f"{at['Dist-1', 'edge']:,.0f} and node ordering {at['Dist-1', 'node']:,.0f}; under Dist-2 they ask "
        f"{at['Dist-2', 'edge']:.2f} and {at['Dist-2', 'node']:.2f}, where {at['Dist-2', 'ideal']:.2f} "
        "are the fewest possible."
    )


def gap(frame):
    """Edge over node ordering: left, as clusters grow; right, the limit for each ε."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True)
    growing, limits = (frame[frame["panel"] == panel] for panel in ("left", "right"))
    looks = zip(("-", "--", "-."), "so^", strict=True)
    for (name, part), (dash, marker) in zip(growing.groupby("model", sort=False), looks, strict=True):
        left.semilogx(part["m"], part["times"], ls=dash, marker=marker, ms=4, label=name)
    logs = np.geomspace(1, 9, 60)
    left.semilogx(logs, np.log(logs), color=INK, lw=1, ls="-")
    left.text(8.5, 1.95, r"$\log\frac{n}{k}$", va="top")
    left.set(xlabel="$n/k$", title="edge over node", ylim=(0, 2.1))
    left.minorticks_off()
    left.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
    left.legend(loc="lower right")
    right.plot(limits["ε"], limits["times"], color=INK)
    right.set(xlabel=r"$\epsilon$", title="its limit for large clusters")
    return fig
