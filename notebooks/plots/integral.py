"""Figures of the chapter *The integral L(t)*."""

from itertools import pairwise

import crowder as cr
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import sympy as sp
from book.companion.figures import BLUE, GREY, INK, MATCH, NONMATCH, ORANGE, SKY

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-integral-race": (
        "Left, on the scale of similarity: the four matches of r2 lie between 0.15 and 0.32, and the non-match r6 to "
        "the right of all of them, at 0.4. Right: bars for one to four matches, falling from 0.15 to about 0.05, "
        "with diamonds close to their tops."
    ),
    "fig-integral-area": (
        "Three panels, for the citations, Dist-1 and Dist-2. In each a dashed outline, the density of non-matches, and "
        "below it a filled area, which leaves out the small similarities; in the panel of Dist-2 little is left of it."
    ),
    "fig-integral-shape": (
        "Uniform is nearly a straight line falling with slope minus one; the Dist-1 lines run parallel below it; "
        "the Dist-2 lines start beside them and then plunge, the one with the larger epsilon first."
    ),
    "fig-integral-twin": (
        "Two panels of step densities. Left, matches and non-matches differ on the lowest two quarters only and are "
        "equal on the upper half. Right, Dist-2: only non-matches on the lowest third, both on the middle one, only "
        "matches on the highest."
    ),
}

NAMES = {"uniform": "Uniform", "dist1": "Dist-1", "dist2": "Dist-2"}
#: The symbols of the chapter.
T, EPSILON = sp.Symbol("t", nonnegative=True), sp.Symbol("epsilon", positive=True)
LINES = {"uniform": (INK, ":"), "dist1": (BLUE, "-"), "dist2": (ORANGE, "--")}


def race(similarities, match, chances):
    """Left one non-match against the matches of the same record, right how often such a race is lost to a non-match."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 2.6), width_ratios=(1.35, 1))
    left.axhline(0, color=GREY, lw=0.8)
    for k, (name, value) in enumerate(sorted(similarities.items(), key=lambda item: item[1])):
        style = MATCH if match[name] else NONMATCH
        left.plot(value, 0, **style.points, ms=9)
        up = 0.35 if k % 2 == 0 else -0.35
        left.annotate(name, (value, 0), (value, up), ha="center", va="center", color=style.color)
    left.set(xlim=(0.1, 0.46), ylim=(-1.1, 1.1), yticks=[], xlabel="similarity to r2")
    left.spines["left"].set_visible(False)
    left.text(0.11, 0.85, "matches", color=MATCH.color)
    left.text(0.45, 0.85, "a non-match", color=NONMATCH.color, ha="right")
    right.bar(chances["t"], chances["citations"], color=SKY, width=0.65, label="all pairs")
    right.plot(chances["t"], chances["three steps"], "D", color=INK, ms=5, label="three steps")
    right.set(xlabel="matches $t$", xticks=list(chances["t"]), ylabel="non-match wins", ylim=(0, 0.24))
    right.legend(loc="upper right")
    return fig


def areas(models, t):
    """The integrand of L(t) as an area below f_r, a panel a model."""
    fig, axes = plt.subplots(1, 3, figsize=(6.4, 2.7))
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        edges, heights = np.array(model.red.edges, float), np.array(model.red.heights, float)
        ax.plot(np.repeat(edges, 2), np.r_[0, np.repeat(heights, 2), 0], **NONMATCH.line, lw=1.6)
        parts = [np.linspace(a, b, 16) for a, b in pairwise(edges)]
        x = np.concatenate(parts)
        below = np.repeat(heights, 16) * np.array(model.green.cdf(x), float) ** t
        ax.fill_between(x, below, color=BLUE, alpha=0.55, lw=0)
        ax.set(title=f"{name}\n$L({t}) = {_short(cr.L(model, t))}$", xlim=(-0.03, 1.03))
        ax.set(ylim=(0, 1.08 * heights.max()), xticks=[0, 1], yticks=[])
    axes[0].set_ylabel("density")
    axes[1].set_xlabel("similarity")
    return fig


def _short(value):
    """Three decimals, or a power of ten."""
    if value >= 0.001:
        return f"{value:.3f}"
    digits, exponent = f"{value:.0e}".split("e")
    return rf"{digits} \cdot 10^{{{int(exponent)}}}"


def shape(frame):
    """The integral of the three models and the paper's approximations, on logarithmic axes."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    first = frame["epsilon"].min()
    for (name, epsilon), part in frame.groupby(["model", "epsilon"], sort=False, dropna=False):
        color, dash = LINES[name]
        width = 1.3 if epsilon == first else 2.2
        ax.loglog(part["t"], part["L"], color=color, ls=dash, lw=width)
        if name != "uniform":  # for which there is nothing to approximate
            ax.loglog(part["t"], part["paper"], color=color, ls=(0, (1, 1.5)), lw=0.9)
        end = part[part["L"] > 2e-7].iloc[-1]
        label = NAMES[name] + ("" if name == "uniform" else f", {epsilon:g}")
        up = {"uniform": 8, "dist2": 6}.get(name, -2 if epsilon == first else -11)
        style = {"textcoords": "offset points", "va": "center", "fontsize": 9.5}
        left = name == "dist2" and epsilon != first  # on the right is the approximation
        where = {"ha": "right" if left else "left"}
        ax.annotate(label, (end["t"], end["L"]), (-6 if left else 6, up), **style, **where)
    ax.plot([], [], color=INK, ls=(0, (1, 1.5)), lw=0.9, label="approximation")
    ax.legend(loc="upper right")
    ax.set(xlabel="$t$", ylabel="$L_{g,r}(t)$", ylim=(1e-7, 1.6), xlim=(0.9, 4500))
    return fig


def integrals(models, near):
    """What `shape` draws, for models with their names and ε, and the approximations by name."""
    whole = np.unique(np.round(np.geomspace(1, 1000, 120)).astype(int))
    parts = []
    for name, epsilon, model in models:
        paper = sp.lambdify((T, EPSILON), near[name])(whole, epsilon)
        columns = {"t": whole, "L": cr.L(model, whole), "paper": paper}
        parts.append(pd.DataFrame({"model": name, "epsilon": epsilon} | columns))
    return pd.concat(parts)


def twins(frame):
    """The densities of two models side by side."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 2.6), sharey=True)
    for ax, (name, panel) in zip(axes, frame.groupby("model", sort=False), strict=True):
        for law, style, label in (("g", MATCH, "$f_g$, matches"), ("r", NONMATCH, "$f_r$, non-matches")):
            part = panel[panel["density_of"] == law]
            ax.fill_between(part["x"], part["density"], **style.fill, alpha=0.55)
            ax.plot(part["x"], part["density"], **style.line, lw=2.2, label=label)
        ax.set(title=name, xlabel="similarity", xlim=(-0.03, 1.03), ylim=(0, 2.2))
    axes[0].set_ylabel("density")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


def outlines(models):
    """What `twins` draws: the corners of the densities of these models, by what a figure calls them."""
    parts = []
    for name, model in models.items():
        for law, density in (("g", model.green), ("r", model.red)):
            x, heights = np.repeat(density.edges, 2), np.r_[0, np.repeat(density.heights, 2), 0]
            columns = {"model": name, "density_of": law, "x": x.astype(float), "density": heights.astype(float)}
            parts.append(pd.DataFrame(columns))
    return pd.concat(parts)
