"""The figures of the chapter *How cost grows*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, EDGE, GREY, INK, NODE, ORANGE, PURPLE

NAMES = {
    "argsort": "one sort", "edge": "edge ordering", "node": "node ordering", "FFQS": "FFQS",
    "edge, plainest": "edge, plain Python", "node, plainest": "node, plain Python",
}  # fmt: skip
#: Ways to run repetitions: backend and workers.
WHO = {
    ("sequential", 1): "one process", ("loky", 2): "2 processes, joblib's own",
    ("dask", 1): "Dask, 1 worker", ("dask", 2): "Dask, 2 workers",
}  # fmt: skip
#: Records from which on memory is drawn: with fewer, most of it is Python's own.
MEMORY_FROM = 100_000

_LOOK = {
    "argsort": dict(color=GREY, ls=":", marker="."),
    "edge": dict(EDGE.line, marker="D"),
    "node": dict(NODE.line, marker="o"),
    "FFQS": dict(color=PURPLE, ls="-.", marker="^"),
    "edge, plainest": dict(color=INK, ls="-", marker="D", mfc="white"),
    "node, plainest": dict(color=INK, ls="--", marker="o", mfc="white"),
}


def span(seconds):
    """A time as people say it."""
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.0f} s"


def rivals(frame):
    """Processor time of the engine, of plain Python and of FFQS against the number of records."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharey=True)
    sweeps = zip(axes, ("plainest", "peer"), ("4 clusters", "8 clusters"), strict=True)
    for ax, name, title in sweeps:
        for contestant, part in frame[frame["sweep"] == name].groupby("contestant", sort=False):
            if contestant != "argsort":
                label = NAMES[contestant]
                ax.errorbar(part["n"], part["seconds"], **_LOOK[contestant], ms=5, label=label)
        ax.set(xscale="log", yscale="log", xlabel="records", title=title)
        ax.set_xticks(part["n"], [str(n) for n in part["n"]])
        ax.minorticks_off()
    axes[0].set_ylabel("seconds")
    pairs = [ax.get_legend_handles_labels() for ax in axes]
    handles = {label: handle for found in pairs for handle, label in zip(*found, strict=True)}
    fig.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=3)
    return fig


def pairs(frame):
    """Processor time beyond the fixed cost against the number of candidate pairs."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.3), sharey=True)
    for ax, (work, part) in zip(axes, frame.groupby("work", sort=False), strict=True):
        for way, line in part.groupby("contestant", sort=False):
            ax.plot(line["pairs"], line["beyond"], **_LOOK[way], ms=5, label=NAMES[way])
        ax.set(xscale="log", yscale="log", xlabel="candidate pairs", title=work)
    axes[0].set_ylabel("seconds beyond the fixed cost")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


def clusters(frame, formula):
    """Questions and time against the number of clusters; `formula` is the time by ordering."""
    fig, (above, below) = plt.subplots(2, 1, figsize=(6.4, 5), sharex=True)
    for way, seconds in formula.items():
        part = frame[frame["contestant"] == way]
        above.plot(part["k"], part["questions"], **_LOOK[way], ms=5, label=NAMES[way])
        below.plot(part["k"], part["seconds"], **_LOOK[way], ms=5)
        label = "formula" if way == "edge" else None
        below.plot(part["k"], seconds, color=INK, lw=0.9, ls=":", label=label)
    every = frame["pairs"].iloc[0]
    above.set(yscale="log", ylabel="questions")
    above.axhline(every, color=GREY, ls=":", lw=1.2)
    above.text(2, every * 0.8, "all pairs", va="top", fontsize=9.5)
    above.legend(loc="lower right")
    below.legend(loc="upper left")
    xlabel = f"clusters among {frame['n'].iloc[0]:,} records"
    below.set(xscale="log", yscale="log", xlabel=xlabel, ylabel="seconds")
    return fig


def scale(frame):
    """Processor time and the largest memory against the number of records."""
    looks = {
        ("sparse", "edge"): ("edge ordering, in memory", _LOOK["edge"]),
        ("sparse", "node"): ("node ordering, in memory", _LOOK["node"]),
        ("stream", "edge"): ("edge ordering, from disk", _LOOK["edge"] | dict(mfc="white", lw=1)),
        ("stream", "node"): ("node ordering, from disk", _LOOK["node"] | dict(mfc="white", lw=1)),
    }
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.4))
    for key, part in frame.groupby(["kind", "ordering"], sort=False):
        name, look = looks[key]
        axes[0].plot(part["records"], part["seconds"], **look, ms=5, label=name)
        part = part[part["records"] >= MEMORY_FROM]
        axes[1].plot(part["records"], part["peak_mb"], **look, ms=5)
    titles = "processor time, seconds", "largest memory, MB"
    for ax, title in zip(axes, titles, strict=True):
        ax.set(xscale="log", yscale="log", xlabel="records", title=title)
    axes[1].yaxis.set_major_formatter("{x:,.0f}")
    axes[1].yaxis.set_minor_formatter("")
    axes[1].set_yticks([500, 1000, 2000])
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


def plan(frame):
    """Measured against predicted seconds of a sweep, with a band from half to twice that."""
    looks = {("loky", 2): ("o", BLUE), ("dask", 1): ("^", ORANGE), ("dask", 2): ("s", PURPLE)}
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    for key, part in frame.groupby(["backend", "workers"]):
        marker, color = looks[key]
        ax.plot(part["predicted"], part["seconds"], ls="none", marker=marker, color=color, ms=7,
                mfc="none", mew=1.6, label=WHO[key])  # fmt: skip
    seconds = frame[["predicted", "seconds"]].to_numpy()
    ends = np.array([0.8, 1.25]) * [seconds.min(), seconds.max()]
    ax.plot(ends, ends, color=INK, lw=1, ls="-")
    ax.fill_between(ends, ends / 2, ends * 2, color=GREY, alpha=0.15, lw=0)
    ax.set(xscale="log", yscale="log", xlim=ends)
    ax.set(xlabel="predicted, seconds", ylabel="measured, seconds")
    ax.legend(loc="upper left")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("")
    ticks = [1, 2, 3, 5, 10, 20, 30, 50]
    ax.set_xticks([t for t in ticks if ends[0] <= t <= ends[1]])
    ax.set_yticks([t for t in ticks if ends[0] / 2 <= t <= 2 * ends[1]])
    return fig
