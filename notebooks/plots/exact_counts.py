"""Figures of the chapter *How many questions, exactly*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, GREEN, GREY, INK, ORANGE, PURPLE

LOOK = {"edge": {"color": ORANGE, "marker": "D"}, "node": {"color": BLUE, "marker": "o"}}
LINES = {
    "edge": {**LOOK["edge"], "label": "edge, exact"},
    "node": {**LOOK["node"], "ls": "--", "label": "node, exact"},
    "edge, stated": {"color": ORANGE, "ls": ":", "label": r"$nk(1-2\epsilon)\,\log\frac{n}{k}$"},
    "node, stated": {"color": BLUE, "ls": (0, (5, 1, 1, 1)), "label": r"$nk(1-\epsilon^2)$"},
    "both, stated": {"color": PURPLE, "ls": ":", "label": r"$n + k^2\,\log n\,/\epsilon$"},
    "no log": {"color": GREEN, "ls": "-.", "label": r"$n + k^2/\epsilon$"},
    "ideal": {"color": GREY, "ls": (0, (1, 1)), "label": "ideal"},
}


def giant(frame):
    """Left: records by the kind of their component; right: questions across, by the same."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.5))
    labels = {"alone": "alone", "small": "in small ones", "large": "in large ones"}
    for (column, label), dash in zip(labels.items(), ("-", "--", "-."), strict=True):
        left.plot(frame["c"], frame[column], label=label, ls=dash)
    left.set(xlabel="$c$", title="share of records", ylim=(0, 1.02))
    left.legend(loc="center right", bbox_to_anchor=(1, 0.55))
    below = np.zeros(len(frame))
    kinds = ("two small", "small and large", "two large")
    for kind, hatch, face in zip(kinds, ("", "///", "..."), ("#8ccdb8", "#f2cf86", "#c9a0c8"), strict=True):
        top = below + frame[kind]
        right.fill_between(frame["c"], below, top, facecolor=face, hatch=hatch, edgecolor=INK, lw=0.3, label=kind)
        below = top
    right.set(xlabel="$c$", title="questions across", ylim=(0, 1.1))
    right.legend(loc="upper right")
    return fig


def table_1(table, fewest):
    """The nine rows of Table 1: bounds, exact counts, simulation and the published numbers."""
    fig, ax = plt.subplots(figsize=(6.4, 5.2))
    for ordering, shift in (("node", 0.17), ("edge", -0.17)):
        part, color = table[table["ordering"] == ordering], LOOK[ordering]["color"]
        place = np.arange(len(part))[::-1]
        y = place + shift
        ax.hlines(y, part["exact"], part["bound"], color=color, lw=0.7, ls=":")
        ax.plot(
            part["bound"],
            y,
            "<",
            color=color,
            ms=7,
            mfc="none",
            label=f"{ordering}: bound, as printed",
        )
        bar = {"fmt": "none", "ecolor": color, "elinewidth": 5, "alpha": 0.45}
        ax.errorbar(part["simulated"], y, xerr=4 * part["error"], **bar)
        ax.plot(part["exact"], y, ls="none", ms=4.5, **LOOK[ordering], label=f"{ordering}: exact")
        label = "published" if ordering == "edge" else None
        ax.plot(part["published"], y, "x", color=INK, ms=7, mew=1.4, label=label)
    ax.axvline(fewest, color=GREY, lw=1, ls="--", label="fewest possible")
    ax.set(xscale="log", xlabel="questions")
    ax.minorticks_off()
    ticks = [1000, 2000, 5000, 10000, 20000, 50000]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_yticks(place, (part["model"] + ", ε = " + part["ε"]).tolist())
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def constants(growth):
    """Questions per record as two equal clusters grow, and their limits."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.9), sharex=True, sharey=True)
    logs, largest = np.geomspace(1, 9, 60), growth["m"].max()
    for ax, ordering in zip(axes, ("edge", "node"), strict=True):
        half = growth[growth["ordering"] == ordering]
        for (name, part), dash in zip(half.groupby("model", sort=False), ("-", "--", "-."), strict=True):
            ax.semilogx(part["m"], part["per record"], ms=4, ls=dash, **LOOK[ordering], label=name)
            value = part["limit"].iloc[0]
            ax.axhline(value, color=GREY, lw=0.8, ls=":")
            ax.text(1.6 * largest, value + 0.03, f"{value:.3f}", fontsize=9)
        ax.set(
            xlabel="$m = n/k$",
            title=f"{ordering} ordering",
            ylim=(0, 2.1),
            xlim=(0.8, 12 * largest),
        )
    axes[0].semilogx(logs, np.log(logs), color=INK, lw=1, ls="-")
    axes[0].text(9, 1.95, r"$\log m$", va="top")
    axes[1].legend(loc="upper right", handlelength=3)
    axes[0].set_ylabel("$E[Q_{ij}]\\,/\\,m$")
    return fig


def dist2(profile, limits):
    """Questions across two clusters for Dist-2, in units of 1/H², and the limiting curves."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True)
    for ax, ordering in zip(axes, ("edge", "node"), strict=True):
        ax.plot(limits["c"], limits[ordering], color=INK, lw=1.3, label=r"$\epsilon \to 0$")
        half, color = profile[profile["ordering"] == ordering], LOOK[ordering]["color"]
        looks = zip("so^v", (":", "--", "-.", (0, (1, 1))), strict=True)
        for (epsilon, part), (marker, dash) in zip(half.groupby("ε", sort=False), looks, strict=False):
            label = f"ε = {epsilon:g}"
            ax.plot(
                part["c"],
                part["scaled"],
                marker=marker,
                ms=4,
                ls=dash,
                lw=1,
                color=color,
                label=label,
            )
        ax.set(xlabel="$mH^2$", title=f"{ordering} ordering", ylim=(0, 1.05))
        ax.legend(loc="upper right" if ordering == "edge" else "lower right")
    axes[0].set_ylabel("$H^2\\, E[Q_{ij}]$")
    return fig


def million(counts):
    """Questions per record as n grows: exact, stated and ideal."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 4.6), sharey=True)
    for ax, (name, part) in zip(axes, counts.groupby("model"), strict=True):
        for what, look in LINES.items():
            line = part[part["what"] == what]
            if len(line):
                ax.loglog(line["n"], line["questions"] / line["n"], lw=1.4, ms=4, **look)
        title = rf"{name}, $\epsilon = {part['ε'].iloc[0]:g}$"
        ax.set(xlabel="records, $n$", title=title, ylim=(0.7, 1e6))
        ax.legend(loc="upper left", fontsize=9)
    axes[0].set_ylabel("questions per record")
    return fig


def dials(counts, records, clusters, size):
    """Exact counts as the number of clusters changes, and as ε changes."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 4.2))
    for ax, (_, half) in zip(axes, counts.groupby("dial", sort=False), strict=True):
        asked = half[half["what"] != "ideal"]
        for (name, what), part in asked.groupby(["model", "what"], sort=False):
            line = {"ls": "-"} if name == "Dist-1" else {"ls": "--", "mfc": "none"}
            ax.loglog(
                part["at"],
                part["questions"],
                ms=4,
                lw=1.3,
                **LOOK[what],
                **line,
                label=f"{name}, {what}",
            )
        ideal = half[(half["what"] == "ideal") & (half["model"] == "Dist-1")]
        ax.loglog(ideal["at"], ideal["questions"], **LINES["ideal"])
    axes[0].set(title=f"{records:,} records", ylabel="questions", xlabel="clusters, $k$")
    axes[1].set(title=f"{clusters} clusters of {size}", xlabel=r"$\epsilon$", ylim=(1e4, 1e6))
    axes[1].yaxis.set_minor_formatter(plt.NullFormatter())
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=9)
    return fig


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
    left.legend(loc="lower right")
    right.plot(limits["ε"], limits["times"], color=INK)
    right.set(xlabel=r"$\epsilon$", title="its limit for large clusters")
    return fig
