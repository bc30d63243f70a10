"""Figures of the chapter *A crowd that errs*."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from book.companion.figures import BLUE, GREY, INK, MATCH, NONMATCH, RED, SKY
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from notebooks.plots import real_crowds
from scipy.spatial import ConvexHull


def _places():
    """Where the twelve citations are drawn: three groups, with r4 and r9 next to each other."""
    rings = [
        ((0.0, 0.0), 1.0, [72, 144, 216, 0, 288]),
        ((3.1, 0.0), 0.9, [90, 0, 270, 180]),
        ((1.55, -2.4), 0.7, [90, 210, 330]),
    ]
    angles = [(center, radius, np.radians(angle)) for center, radius, turns in rings for angle in turns]
    return np.array([(x + r * np.cos(angle), y + r * np.sin(angle)) for (x, y), r, angle in angles])


def example(asked, ends, wrong):
    """The answers that two strategies buy about the twelve citations, and the clusters with which they end."""
    fig, axes = plt.subplots(1, len(asked), figsize=(6.4, 2.95))
    at = _places()
    for ax, (way, rows) in zip(axes, asked.items(), strict=True):
        for cluster in np.unique(ends[way]):
            points = at[ends[way] == cluster]
            corners = points[ConvexHull(points).vertices]
            ax.add_patch(Polygon(corners, fc="#e3e6e9", ec="#e3e6e9", lw=26, joinstyle="round", zorder=0))
        for i, j, same in rows:
            look = (MATCH if same else NONMATCH).line | {"lw": 1.6 if same else 1.0}
            if {i, j} == set(wrong):
                look = {"color": BLUE, "lw": 4.0}
            ax.plot(*at[[i, j]].T, **look, zorder=1)
        ax.plot(*at.T, "o", ms=19, mfc="w", mec=INK, mew=0.8, zorder=2)
        for record, place in enumerate(at, start=1):
            ax.text(*place, f"r{record}", ha="center", va="center", size=10.5, color="k", zorder=3)
        ax.set(title=f"{way}: {len(rows)} answers", xlim=(-1.6, 4.6), ylim=(-3.15, 1.5), aspect="equal")
        ax.axis("off")
    lines = [Line2D([], [], **MATCH.line), Line2D([], [], color=BLUE, lw=4), Line2D([], [], **NONMATCH.line, lw=1)]
    fig.legend(lines, ["yes", "wrong yes", "no"], loc="outside lower center", ncols=3)
    return fig


def evidence(worth, most_for, most_against):
    """The evidence of votes that agree, and its limits."""
    fig, ax = plt.subplots(figsize=(6.4, 2.7))
    for (yes, part), most in zip(worth.groupby("yes", sort=False), (most_for, -most_against), strict=True):
        look, said = (MATCH, "yes") if yes else (NONMATCH, "no")
        ax.plot(part["votes"], part["evidence"], **look.line, marker="os"[not yes], label=f"all say {said}")
        ax.axhline(most, color=look.color, ls=":", lw=1.2)
    ax.axhline(0, color=GREY, lw=0.8)
    ax.set(xlabel="votes on one pair", ylabel="evidence (nats)", xlim=(0, 8.2), ylim=(-2.6, 5.2))
    ax.legend(loc="center right")
    return fig


def ways(curves, ends, up_to):
    """F1 against answers for each way to ask: means of the runs, and the range of the last way."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    answers = np.arange(0, up_to + 1, 10)
    for (way, part), marker in zip(curves.groupby("way", sort=False), "Ds^o", strict=True):
        look, rows = {"lw": 1.6} | real_crowds.LOOKS[way.removesuffix(" ordering")], []
        for _, run in part.groupby("run"):
            at = np.searchsorted(run["answers"], answers, side="right") - 1
            rows.append(np.where(at < 0, 0, run["F1"].to_numpy()[at]))
        if way == curves["way"].iloc[-1]:
            ax.fill_between(answers, np.min(rows, axis=0), np.max(rows, axis=0), color=look["color"], alpha=0.12, lw=0)
        end = ends.loc[ends["way"] == way, ["answers", "F1"]].mean()
        mean, inside = np.mean(rows, axis=0), answers <= end["answers"]
        ax.plot(answers[inside], mean[inside], **look, label=way)
        ax.plot(end["answers"], end["F1"], marker, ms=7, color=look["color"])
    ax.set(xlabel="answers paid for", ylabel="F1", xlim=(0, up_to), ylim=(0, 1.03))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def votes(frame):
    """The error of a vote: exact, its upper bound, and simulated, for each rate."""
    fig, ax = plt.subplots(figsize=(6.4, 4.0))
    for number, (rate, part) in enumerate(frame.groupby("p")):
        style, marker = "-" if rate < 0.5 else "--", "osD^vXP"[number % 7]
        (line,) = ax.semilogy(part["votes"], part["exact"], lw=1.4, ls=style, label=f"$p = {rate:g}$")
        ax.semilogy(part["votes"], part["upper bound"], ":", lw=1.2, color=line.get_color())
        ax.plot(part["votes"], part["simulated"], marker, ms=4.5, color=line.get_color(), mfc="none", mew=1.4)
    ax.set(xlabel="votes $r$", ylabel="probability that the vote errs", ylim=(3e-8, 2), xlim=(0, 42))
    fig.legend(loc="outside upper center", ncols=4)
    return fig


def _panels(frame, size, **how):
    """Small multiples of seaborn, with their legend above."""
    # While it draws, seaborn has a layout of its own, and warns of any other.
    with plt.rc_context({"figure.constrained_layout.use": False}):
        grid = sns.relplot(frame, **how)
    grid.figure.set(size_inches=size, layout_engine="constrained")
    sns.move_legend(grid, "outside upper center", ncols=4, title=None, handlelength=1.6, columnspacing=1.0)
    return grid


def once(frame):
    """Precision and recall after one wrong answer, by its place in the run."""
    words = {"different": "a match called different", "same": "a non-match called the same"}
    long = frame.replace({"answer": words}).melt(["ordering", "place", "answer"], ["precision", "recall"], "share")
    grid = _panels(
        long, (6.4, 4.8), x="place", y="value", row="share", col="ordering", hue="answer", style="answer",
        palette=[MATCH.color, NONMATCH.color], markers=[*"os"], s=25, facet_kws={"margin_titles": True},
    )  # fmt: skip
    grid.set_titles(col_template="{col_name} ordering", row_template="{row_name}")
    return grid.set_axis_labels("place of the mistake in the run", "").figure


def members(frame, asked):
    """The share of records placed right by edge ordering, in four ways, for each error rate: means of the runs."""
    grid = _panels(
        frame[frame["ordering"] == "edge"], (6.4, 3.6), kind="line", x="size", y="placed", errorbar=None, ms=7, col="p",
        hue="way", style="way", palette=[GREY, RED, SKY, INK], markers=[*"sXoD"], dashes=[(1, 1), (0, 9), (4, 2), ""],
    )  # fmt: skip
    grid.set(xscale="log", xlabel="records in a cluster", ylabel="records placed correctly", ylim=(0, 1.04))
    for ax, (wrong, most) in zip(grid.axes.flat, asked.items(), strict=True):
        ax.set_title(f"$p = {wrong:g}$, up to {most} members")
        ax.set_xticks([5, 10, 20, 50], ["5", "10", "20", "50"])
        ax.minorticks_off()
    return grid.figure
