"""Figures of the chapter *The integral L(t)*."""

import crowder as cr
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import sympy as sp
from book.companion.figures import BLUE, INK, ORANGE, PURPLE, RED

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-integral-shape": (
        "Uniform is a straight line falling with slope minus one; the Dist-1 lines are parallel just below it; "
        "the Dist-2 lines start beside them and then plunge, the one with the larger epsilon first."
    ),
    "fig-integral-races": (
        "Three panels of points with error bars around the line at one; the bars grow with t. {} of {} intervals "
        "do not cover one."
    ),
}

#: Models at the same distance, and how a table names them.
TWINS = {
    "uniform": "no information",
    "bottom": "differ at the bottom only",
    "dist2": r"Dist-2, $\epsilon = \frac13$",
}
NAMES = {"uniform": "Uniform", "dist1": "Dist-1", "dist2": "Dist-2"}
#: The symbols of the chapter.
T, EPSILON = sp.Symbol("t", nonnegative=True), sp.Symbol("epsilon", positive=True)
LINES = {"uniform": (INK, ":"), "dist1": (BLUE, "-"), "dist2": (ORANGE, "--")}


def races(frame):
    """Simulated over exact, with intervals: a panel a model."""
    place = {t: k for k, t in enumerate(sorted(set(frame["t"])))}
    count = frame["epsilon"].nunique()
    marks = list(zip((BLUE, ORANGE, PURPLE), "os^", strict=True))
    fig, axes = plt.subplots(3, 1, figsize=(6.2, 4.6), sharex=True)
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
    """The integral of the three models and the paper's approximations, on logarithmic axes."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    first = frame["epsilon"].min()
    for (name, epsilon), part in frame.groupby(["model", "epsilon"], sort=False, dropna=False):
        color, dash = LINES[name]
        width = 1.3 if epsilon == first else 2.2
        ax.loglog(part["t"] + 1, part["L"], color=color, ls=dash, lw=width)
        ax.loglog(part["t"] + 1, part["paper"], color=color, ls=(0, (1, 1.5)), lw=0.9)
        end = part[part["L"] > 2e-7].iloc[-1]
        label = NAMES[name] + ("" if name == "uniform" else f", {epsilon:g}")
        up = {"uniform": 8, "dist2": 6}.get(name, -2 if epsilon == first else -11)
        style = {"textcoords": "offset points", "va": "center", "fontsize": 9.5}
        left = name == "dist2" and epsilon != first  # on the right is the approximation
        where = {"ha": "right" if left else "left"}
        ax.annotate(label, (end["t"] + 1, end["L"]), (-6 if left else 6, up), **style, **where)
    ax.set(xlabel="$t + 1$", ylabel="$L_{g,r}(t)$", ylim=(1e-7, 1.6), xlim=(0.9, 4500))
    return fig


def integrals(models, near):
    """What `shape` draws, for models with their names and ε, and the approximations by name."""
    whole = np.unique(np.round(np.geomspace(1, 1000, 120)).astype(int)) - 1
    parts = []
    for name, epsilon, model in models:
        paper = sp.lambdify((T, EPSILON), near[name])(whole, epsilon)
        columns = {"t": whole, "L": cr.L(model, whole), "paper": paper}
        parts.append(pd.DataFrame({"model": name, "epsilon": epsilon} | columns))
    return pd.concat(parts)


def twins(runs, distances):
    """Mean questions of both orderings with their intervals, for each model in `TWINS`."""
    shown = {"model": TWINS.values(), "$H^2$": distances}
    for ordering in ("edge", "node"):
        means = [cr.experiments.mean_interval(runs.loc[runs["model"] == name, ordering]) for name in TWINS]
        shown[f"{ordering} ordering asks"] = [f"{mean:,.0f} ± {high - mean:,.0f}" for mean, _, high in means]
    return pd.DataFrame(shown)
