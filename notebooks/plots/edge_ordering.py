"""The figures of the chapter *Edge ordering*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import CORRECTED, EDGE, GREY, INK, MATCH, NONMATCH, PRINTED
from matplotlib.patches import Patch, Rectangle
from notebooks.plots.shared import graph

#: The records of the first two papers in the order in which they are drawn, from the top.
COLUMNS = [["r1", "r4", "r2", "r3", "r5"], ["r9", "r6", "r7", "r8"]]


def wasted(asked):
    """All questions by falling similarity, and what is known of the first two papers at the one about r2 and r6."""
    (at,) = asked.index[(asked["first"] == "r2") & (asked["second"] == "r6")]
    fig, (bars, state) = plt.subplots(1, 2, figsize=(6.4, 3.6), width_ratios=[1.25, 1])
    for place, row in enumerate(asked.itertuples()):
        look, drawn = (MATCH if row.match else NONMATCH), {} if place != at else {"linewidth": 2.4, "edgecolor": INK}
        bars.barh(place, row.similarity, height=0.72, **look.fill | drawn)
        bars.text(row.similarity + 0.02, place, f"{row.first}, {row.second}", va="center", fontsize=10.5)
    for look, label, y in ((MATCH, "match", 11.4), (NONMATCH, "non-match", 13)):
        bars.barh(y, 0.1, left=0.55, height=0.9, **look.fill)
        bars.text(0.68, y, label, va="center", fontsize=10.5)
    bars.set(xlabel="similarity", xlim=(0, 0.98), yticks=[0, 4, 9, 14], yticklabels=[1, 5, 10, 15])
    bars.set(ylim=(len(asked) - 0.4, -0.6), ylabel="question")

    places = [{r: (x, 4 - y * 4 / (len(column) - 1)) for y, r in enumerate(column)} for x, column in enumerate(COLUMNS)]
    spot, lines = places[0] | places[1], []
    for place, row in enumerate(asked[: at + 1].itertuples()):
        if row.first not in spot or row.second not in spot:
            continue
        look = MATCH.line | {"lw": 2.6} if row.match else NONMATCH.line | {"lw": 1.6}
        lines.append((row.first, row.second, look if place != at else look | {"color": INK, "lw": 2.8}))
        if not row.match:
            height = (spot[row.first][1] + spot[row.second][1]) / 2 + 0.12
            words = f"{row.similarity:.2f}" + "?" * (place == at)
            state.text(0.5, height, words, ha="center", va="bottom", fontsize=10.5)
    graph(state, spot, lines, size=19)
    for x, name in enumerate(("first paper", "second paper")):
        state.text(x, 4.6, name, ha="center", fontsize=11)
    state.set(xlim=(-0.4, 1.4), ylim=(-0.5, 5), title=f"at question {at + 1}")
    return fig


def three_records(frame):
    """The eight graphs of the matches reached among three records; above and shaded those that are not connected."""
    fig, ax = plt.subplots(figsize=(6.4, 3.6))
    corner = {"a": (0, 0.7), "b": (-0.55, 0), "c": (0.55, 0)}
    rows = [part for _, part in frame.groupby(frame["chosen"].isna())]
    ax.add_patch(Rectangle((-0.95, -0.75), 7.3, 2.25, facecolor="0.87", edgecolor="none", zorder=0))
    for down, (part, name) in enumerate(zip(rows, ("not connected", "connected"), strict=True)):
        total = part["probability"].sum()
        ax.text(-0.85, 1.13 - 2.3 * down, f"{name}: {total} = {float(total):.2f}", fontsize=11.5)
        for across, row in enumerate(part.itertuples()):
            x, y = 1.8 * across, -2.3 * down
            place = {each: (x + u, y + v) for each, (u, v) in corner.items()}
            lines = [(*pair, MATCH.line | {"lw": 2.6}) for pair in row.reached]
            if row.chosen:
                lines.append((*row.chosen, {"color": INK, "ls": ":", "lw": 2.2}))
            graph(ax, place, lines, size=15)
            ax.text(x, y - 0.32, f"{row.probability}", ha="center", va="top")
    ax.set(aspect="equal", xlim=(-1, 6.4), ylim=(-2.95, 1.55))
    return fig


def three_steps(model, frame, p):
    """The two densities of the model, and for three records over p what the second step claims, and what holds."""
    fig, (ax, chances) = plt.subplots(1, 2, figsize=(6.4, 2.9))
    swatches = []
    for law, look, label in ((model.green, MATCH, "matches $f_g$"), (model.red, NONMATCH, "non-matches $f_r$")):
        edges, heights = [float(x) for x in law.edges], [float(x) for x in law.heights]
        ax.stairs(heights, edges, **look.fill)
        swatches.append(Patch(**look.fill, label=label))
    ax.text(1 / 6, 3 * (1 - p) + 0.2, "$1 - p$", ha="center")
    ax.text(5 / 6, 3 * p + 0.2, "$p$", ha="center")
    ax.set(xlabel="similarity", title="densities", ylim=(0, 5.1))
    ax.legend(handles=swatches, loc="upper right", handlelength=1.2)
    chances.plot(frame["p"], frame["not connected"], color=EDGE.color, label="not connected")
    chances.plot(frame["p"], frame["allowed"], **PRINTED.line | {"color": INK}, label="allowed by step 2")
    ends = frame.loc[frame["p"] == p, ["allowed", "not connected"]].iloc[0]
    chances.plot([p, p], ends, "o-", color=GREY, lw=1, mfc=INK, mec=INK, ms=4)
    chances.set(xlabel="$p$", title="three records", ylim=(0, 1.5), yticks=[0, 0.5, 1])
    chances.legend(loc="upper right")
    return fig


def two_clusters(frame, crossing, epsilon):
    """Two clusters of m: exact count, single runs and both bounds, in the model with three steps and under Dist-1."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharey=True)
    titles = {"three steps": "three steps", "dist1": rf"Dist-1, $\epsilon = {epsilon:g}$"}
    looks = {"printed": PRINTED.line | {"color": INK}, "corrected": CORRECTED.line, "exact": EDGE.line | {"lw": 2.4}}
    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        part = frame[frame["model"] == name]
        for (column, look), up in zip(looks.items(), (0, 6, -6), strict=True):
            ax.loglog(part["m"], part[column], **look)
            ax.annotate(column, part[["m", column]].iloc[-1], xytext=(4, up), textcoords="offset points",
                        color=look["color"], va="center")  # fmt: skip
        ax.loglog(part["m"], part["one run"], **EDGE.points, mfc="none", ms=5)
        ax.set(xlabel="records in each cluster, $m$", title=title)
    axes[0].plot(*crossing, "o", ms=14, mfc="none", mec=INK, mew=1.6)
    axes[0].annotate(f"$m = {crossing[0]}$", crossing, xytext=(10, -16), textcoords="offset points", va="top")
    axes[0].set(ylabel="questions", ylim=(8, 4e6))
    return fig


def components(clusters, left):
    """Two clusters, each component a chain of its records; and the pairs of components as an area, next to `left`.

    `left` is the number of questions that the bound leaves for non-matches: a square, of the same size in all pictures.
    """
    fig, (*both, area) = plt.subplots(1, 3, figsize=(6.4, 2.2))
    across = int(np.ceil(np.sqrt(max(map(sum, clusters)))))
    for ax, sizes in zip(both, clusters, strict=True):
        place = np.arange(sum(sizes))
        y, x = np.divmod(place, across)
        x = np.where(y % 2, across - 1 - x, x)  # every other row from right to left: neighbours in a chain are adjacent
        ends = np.cumsum(sizes)[:-1]
        ax.plot(np.insert(x.astype(float), ends, np.nan), np.insert(-y, ends, 0), color=EDGE.color, lw=14 / across)
        ax.plot(x, -y, "o", color=EDGE.color, ms=40 / across)
        ax.set(aspect="equal", xlim=(-0.5, across - 0.5), ylim=(0.5 - across, 0.5), title=f"{len(sizes)} components")
        ax.axis("off")
    a, b = map(len, clusters)
    width, height = np.array([a, b]) / np.sqrt(left)
    area.add_patch(Rectangle((0, 0), width, height, **EDGE.fill | {"linewidth": 1.6}))
    area.add_patch(Rectangle((0, 0), 1, 1, facecolor="none", edgecolor=INK, ls=PRINTED.line["linestyle"], lw=2))
    area.text(width / 2, max(height, 1) + 0.05, a, ha="center", va="bottom", fontsize=10.5)
    area.text(max(width, 1) + 0.08, height / 2, b, va="center", fontsize=10.5)
    area.text(0, max(height, 1) + 0.4, f"{a} · {b} = {a * b:,}", fontsize=11.5)
    area.set(aspect="equal", xlim=(-0.05, 2.25), ylim=(-0.05, 2.45))
    area.axis("off")
    return fig


def dominance(frame):
    """The distribution functions of matches and non-matches, for the citations and for the model with three steps."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 2.9), sharey=True)
    for ax, (name, part) in zip(axes, frame.groupby("of", sort=False), strict=True):
        how = "steps-post" if name == "citations" else "default"
        for column, look, label in (("F_g", MATCH, "matches $F_g$"), ("F_r", NONMATCH, "non-matches $F_r$")):
            ax.plot(part["x"], part[column], **look.line, drawstyle=how, label=label)
        ax.set(xlabel="similarity $x$", title=name, xlim=(0, 1), ylim=(0, 1.03), xticks=[0, 0.5, 1])
    axes[0].set_ylabel("at most $x$")
    fig.get_layout_engine().set(wspace=0.12)  # between the ends of both scales
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig
