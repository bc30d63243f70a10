"""Figures of the chapter *The integral L(t)*."""

import matplotlib.pyplot as plt
from book.companion.figures import BLUE, INK, ORANGE, PURPLE, RED

NAMES = {"uniform": "Uniform", "dist1": "Dist-1", "dist2": "Dist-2"}
LINES = {"uniform": (INK, ":"), "dist1": (BLUE, "-"), "dist2": (ORANGE, "--")}


def area(frame, epsilon):
    """The integrand for several t: a panel a model."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.5), sharey=True)
    looks = list(zip(("--", "-", "-.", ":"), (2.2, 1.8, 1.5, 1.5), strict=True))
    for ax, (name, panel) in zip(axes, frame.groupby("model", sort=False), strict=True):
        for (dash, width), (t, part) in zip(looks, panel.groupby("t", sort=False), strict=True):
            ax.fill_between(part["x"], part["height"], color=RED, alpha=0.14, lw=0)
            ax.plot(part["x"], part["height"], color=RED, lw=width, ls=dash, label=f"$t = {t}$")
        title = rf"{NAMES[name]}, $\epsilon = {epsilon:g}$"
        ax.set(title=title, xlabel="similarity $x$", xlim=(0, 1.02))
    axes[0].set(ylabel="$F_g(x)^t f_r(x)$", ylim=(0, 1.05 * frame["height"].max()))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return fig


def races(frame):
    """Simulated over exact, with intervals: a panel a model."""
    place = {t: k for k, t in enumerate(sorted(set(frame["t"])))}
    count = frame["epsilon"].nunique()
    marks = list(zip((BLUE, ORANGE, PURPLE), "os^", strict=True))
    fig, axes = plt.subplots(3, 1, figsize=(6.2, 6.2), sharex=True)
    for ax, name in zip(axes, NAMES, strict=True):
        ax.axhline(1, color=INK, lw=0.8)
        ax.set_ylabel(NAMES[name])
        groups = frame[frame["model"] == name].groupby("epsilon", dropna=False)
        for k, (epsilon, part) in enumerate(groups):
            x = part["t"].map(place) + (0 if name == "uniform" else 0.24 * (k - (count - 1) / 2))
            ratio, (color, marker) = part["simulated"] / part["exact"], marks[k % len(marks)]
            ends = [abs(part[end] - part["simulated"]) / part["exact"] for end in ("low", "high")]
            label = "" if name == "uniform" else rf"$\epsilon = {epsilon:g}$"
            whiskers = {"elinewidth": 1.4, "capsize": 2.5}
            ax.errorbar(x, ratio, ends, fmt=marker, ms=4.5, color=color, label=label, **whiskers)
            missed = {"ms": 13, "mfc": "none", "mec": RED, "mew": 1.6}
            ax.plot(x[part["misses"]], ratio[part["misses"]], "o", **missed)
        if name != "uniform":
            ax.legend(loc="upper left", ncols=count)
    axes[-1].set_xticks(list(place.values()), map(str, place))
    axes[-1].set_xlabel("$t$")
    return fig


def shape(frame):
    """The integral of the three models, on logarithmic axes."""
    fig, ax = plt.subplots(figsize=(6.2, 4.0))
    first = frame["epsilon"].min()
    for (name, epsilon), part in frame.groupby(["model", "epsilon"], sort=False, dropna=False):
        color, dash = LINES[name]
        width = 1.3 if epsilon == first else 2.2
        ax.loglog(part["t"] + 1, part["L"], color=color, ls=dash, lw=width)
        end = part[part["L"] > 2e-7].iloc[-1]
        label = NAMES[name] + ("" if name == "uniform" else f", {epsilon:g}")
        up = {"uniform": 8, "dist2": 6}.get(name, -2 if epsilon == first else -11)
        style = {"textcoords": "offset points", "va": "center", "fontsize": 9.5}
        ax.annotate(label, (end["t"] + 1, end["L"]), (6, up), **style)
    ax.set(xlabel="$t + 1$", ylabel="$L_{g,r}(t)$", ylim=(1e-7, 1.6), xlim=(0.9, 4500))
    return fig


def simplifications(frame):
    """What the two simplifications for Dist-1 lose."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.5))
    first, second = (frame[frame["simplification"] == which] for which in (1, 2))
    groups = first.groupby("epsilon", sort=False)
    for marker, (epsilon, part) in zip("os^Dvp", groups, strict=False):
        label = rf"$\epsilon = {epsilon:g}$"
        left.semilogy(part["t"], 100 * part["lost"], marker=marker, ms=4, lw=1.2, label=label)
    left.set(xlabel="$t$", title="the first loses (%)", ylim=(1e-6, 300), xticks=range(0, 13, 3))
    left.legend()
    right.plot(second["epsilon"], 100 * second["lost"], color=INK)
    right.set(xlabel=r"$\epsilon$", title="the second loses (%)", ylim=(0, 104), xlim=(0, 0.51))
    return fig
