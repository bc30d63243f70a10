"""Figures of the appendices on the logarithm and on the results beyond the paper."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from book.companion.figures import EDGE, GREY, INK, NODE, SKY

LOOK = {name: look.line | {"marker": look.points["marker"]} for name, look in (("edge", EDGE), ("node", NODE))}


def giant(frame):
    """Left: records by the kind of their component; right: questions across, by the same."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.5))
    shares = {"alone": "alone", "small": "in small ones", "large": "in large ones"}
    sns.lineplot(frame.set_index("c")[[*shares]].rename(columns=shares), ax=left)
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


def constants(growth):
    """Questions per record as two equal clusters grow, and their limits."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.9), sharex=True, sharey=True)
    logs, largest = np.geomspace(1, 9, 60), growth["m"].max()
    for ax, ordering in zip(axes, ("edge", "node"), strict=True):
        half = growth[growth["ordering"] == ordering]
        for (name, part), dash in zip(half.groupby("model", sort=False), ("-", "--", "-."), strict=True):
            ax.semilogx(part["m"], part["per record"], ms=4, **LOOK[ordering] | {"linestyle": dash}, label=name)
            value = part["limit"].iloc[0]
            ax.axhline(value, color=GREY, lw=0.8, ls=":")
            ax.text(1.6 * largest, value + 0.03, f"{value:.3f}", fontsize=9)
        ax.set(xlabel="$m = n/k$", title=f"{ordering} ordering", ylim=(0, 2.1), xlim=(0.8, 12 * largest))
    axes[0].semilogx(logs, np.log(logs), color=INK, lw=1, ls="-")
    axes[0].text(9, 1.95, r"$\log m$", va="top")
    axes[1].legend(loc="upper right", handlelength=3)
    axes[0].set_ylabel("$E[Q_{ij}]\\,/\\,m$")
    return fig


def kappas(frame, kappa):
    """Questions across two clusters of m records, divided by m."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    sns.lineplot(frame.set_index("m"), palette=[EDGE.color, INK, SKY], markers=[*"Dvs"], dashes=False, ms=7)
    ax.axhline(kappa, color=GREY, lw=1, ls="--", label=r"$\kappa$")
    ax.set(xscale="log", xlabel="$m$", title="expected questions across two clusters, divided by $m$", ylim=(0, 1.7))
    ax.legend(loc="lower right", ncols=2)
    return fig


def budget(frame):
    """Disjoint events one below the other, each from where the one before ends; and their total."""
    fig, ax = plt.subplots(figsize=(6.4, 2.6))
    ends = frame["probability"].cumsum()
    ax.barh(frame["output is wrong about"], frame["probability"], left=ends - frame["probability"], **EDGE.fill)
    ax.axvline(ends.iloc[-1], color=INK, ls="--", label="any wrong output")
    ax.set(xlabel="probability, summed up", ylim=(len(frame) - 0.4, -0.6), xlim=(0, 1.06 * ends.iloc[-1]))
    ax.legend(loc="upper center")
    return fig


def dist2(profile, limits):
    """Questions across two clusters for Dist-2, in units of 1/H², and the limiting curves."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True)
    named = profile.assign(ε=[f"ε = {epsilon:g}" for epsilon in profile["ε"]])
    for ax, ordering in zip(axes, ("edge", "node"), strict=True):
        ax.plot(limits["c"], limits[ordering], color=INK, lw=1.3, label=r"$\epsilon \to 0$")
        half, color = named[named["ordering"] == ordering], LOOK[ordering]["color"]
        sns.lineplot(half, x="c", y="scaled", style="ε", markers=True, ms=6, lw=1, color=color, ax=ax)
        ax.set(xlabel="$mH^2$", title=f"{ordering} ordering", ylim=(0, 1.05))
        ax.legend(loc="upper right" if ordering == "edge" else "lower right")
    axes[0].set_ylabel("$H^2\\, E[Q_{ij}]$")
    return fig
