"""Figures of the chapter *A crowd that errs*."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from book.companion.figures import BLUE, EDGE, GREEN, GREY, INK, MATCH, NODE, NONMATCH, RED, SKY
from notebooks.plots import real_crowds

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-faulty-ways": (
        "Four rising curves. The noisy ordering climbs fastest and ends close to one. Edge ordering stops early "
        "at about three quarters. Member votes and control queries climb slowly and end, after more answers, "
        "below the noisy ordering."
    ),
    "fig-faulty-once": (
        "Four scatter plots over the place of the mistake. Matches called different leave precision at one; their "
        "loss of recall is largest early on and small later. Non-matches called the same lower precision, in "
        "edge ordering only at the end of the run, where they merge whole clusters."
    ),
    "fig-faulty-votes": (
        "Logarithmic plot of lines against the number of votes. Those for p below one half fall straight, the "
        "steeper the smaller p. One at one half is level. One at 0.6 rises towards one."
    ),
    "fig-faulty-stay": (
        "A level dashed line at 0.2 for repeated questions. Falling marks for fresh answers, and beside each, one "
        "answer to the right at the same height, a diamond for the members of two clusters."
    ),
    "fig-faulty-members": (
        "Two plots against the size of a cluster. Crosses for repeated questions lie on the squares for single "
        "answers, low and level. Members lie higher, a second look highest, near one from ten records on at the "
        "smaller error rate and from twenty on at the larger."
    ),
}

#: How each ordering is drawn.
LOOKS = {
    "edge": {"color": EDGE.color, "ls": "-", "marker": "D"},
    "node": {"color": NODE.color, "ls": "--", "marker": "o"},
}
OPEN = {"mfc": "none", "mew": 1.4}


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
    ax.set(xlabel="answers paid", ylabel="F1", xlim=(0, up_to), ylim=(0, 1.03))
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def votes(frame, below):
    """The error of a vote: exact, its upper bound, and simulated; `below` are the rates below ½."""
    fig, ax = plt.subplots(figsize=(6.4, 4.0))
    for rate, marker in zip([*below, 0.5, 0.6], [*"osD^v"[: len(below)], "", "P"], strict=True):
        part = frame[frame["p"] == rate]
        line, points = part[part["simulated"].isna()], part[part["simulated"].notna()]
        style = "-" if rate < 0.5 else "--"
        ax.semilogy(line["votes"], line["error"], lw=1.4, ls=style, label=f"$p = {rate:g}$")
        color = ax.lines[-1].get_color()
        ax.plot(points["votes"], points["simulated"], marker, ms=6, color=color, **OPEN)
        if rate < 0.5:
            ax.semilogy(line["votes"], line["upper bound"], ":", lw=1.2, color=color)
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


def stay(frame, rate):
    """Errors that persist: repeated questions, fresh answers, and the members of two clusters."""
    fig, ax = plt.subplots(figsize=(6.4, 3.6))
    ax.axhline(rate, color=RED, lw=1.2, label="the same question again")
    ax.semilogy(frame["votes"], frame["error"], color=BLUE, lw=0.8)
    ax.semilogy(frame["votes"], frame["error"], "o", ms=5, color=BLUE, label="fresh answers")
    words = "all members of two clusters, asked once"
    ax.semilogy(frame["votes"] + 1, frame["error"], "D", ms=6, color=GREEN, label=words, **OPEN)
    ax.set(xlabel="answers", ylabel="probability of an error", xlim=(0, 43), ylim=(1e-6, 1))
    fig.legend(loc="outside upper center", ncols=2)
    return fig


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
