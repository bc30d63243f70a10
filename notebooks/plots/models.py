"""Figures of the chapter *Two similarity models*."""

from itertools import product

import crowder as cr
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from book.companion.figures import BLUE, GREY, INK, MATCH, NONMATCH, ORANGE
from notebooks.plots.shared import corners, densities

NAMES = {"dist1": "Dist-1", "dist2": "Dist-2"}
LINES = {"dist1": {"color": BLUE, "ls": "-"}, "dist2": {"color": ORANGE, "ls": "--"}}
#: The non-matches of the example that a figure names.
NAMED = ["r2, r6", "r4, r9"]


def citations(pairs, model):
    """Each pair as a dot at its similarity, and below the densities of the model, on its steps."""
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 3.6), sharex=True, height_ratios=(1.25, 1))
    width = 0.025
    for match, (style, side) in {True: (MATCH, 1), False: (NONMATCH, -1)}.items():
        part = pairs[pairs["match"] == match].sort_values("similarity")
        column = (part["similarity"] / width).round()
        place = side * (part.groupby(column).cumcount() + 1)
        top.plot(column * width, place, **style.points, ms=5.5, mew=0)
        for _, row in part[part["pair"].isin(NAMED)].iterrows():
            at = row["similarity"], place[row.name]
            top.annotate(row["pair"], at, (row["similarity"] + 0.03, -4.4), ha="left", va="center",
                         arrowprops={"arrowstyle": "-", "color": INK, "lw": 0.8, "shrinkB": 4})  # fmt: skip
        noun = "matches" if match else "non-matches"
        top.text(1.02, side * 2.6, f"{len(part)} {noun}", ha="right", va="center", color=style.color)
    top.axhline(0, color=INK, lw=0.8)
    top.set(ylim=(-10.6, 5), yticks=[])
    top.spines["left"].set_visible(False)
    densities(bottom, corners(model.green), corners(model.red))
    for ax, edge in product((top, bottom), model.green.edges[1:-1]):
        ax.axvline(float(edge), color=GREY, lw=0.8, ls=":")
    bottom.set(xlabel="similarity", ylabel="density", xlim=(-0.03, 1.03))
    bottom.legend(loc="upper right")
    return fig


def models(frame, epsilon):
    """Left the densities of both models at one ε, right their squared Hellinger distance as ε grows."""
    fig, panels = plt.subplot_mosaic([["dist1", "H2"], ["dist2", "H2"]], figsize=(6.4, 3.5), width_ratios=(1.15, 1))
    outlines, curves = frame[frame["density"].notna()], frame[frame["H2"].notna()]
    top = 1.1 * outlines["density"].max()
    for name, panel in outlines[outlines["epsilon"] == epsilon].groupby("model", sort=False):
        ax = panels[name]
        densities(ax, *((part["x"], part["density"]) for _, part in panel.groupby("density_of")))
        ax.set(title=rf"{NAMES[name]}, $\epsilon = {epsilon:g}$", xlim=(-0.03, 1.03), ylim=(0, top), ylabel="density")
    panels["dist1"].set_xticklabels([])
    panels["dist2"].set_xlabel("similarity")
    fig.legend(*panels["dist1"].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    ax = panels["H2"]
    for name, part in curves.groupby("model", sort=False):
        ax.loglog(part["epsilon"], part["H2"], **LINES[name])
        ends = part.iloc[[0, -1]]  # straight on these axes
        ax.loglog(ends["epsilon"], ends["approximation"], color=INK, lw=1, ls=":")
        here = getattr(cr, name)(epsilon).hellinger2
        ax.plot(epsilon, here, "o", ms=8, color=LINES[name]["color"])
    ax.set(xlabel=r"$\epsilon$", title="$H^2$", xlim=(0.01, 0.56), ylim=(3e-5, 1.5))
    ax.set_xticks([0.01, 0.1, 0.4], ["0.01", "0.1", "0.4"])
    ax.set_yticks([1e-4, 1e-2, 1])
    ax.minorticks_off()
    ax.text(0.012, 0.1, "Dist-2")
    ax.text(0.06, 6e-4, "Dist-1")
    return fig


def looks(frame, epsilons):
    """How often the best guess is right, by the number of similarities, for two values of ε."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.5), sharey=True)
    scale = np.geomspace(0.01, 5, 200)
    least, most = 1 - np.exp(-scale), np.sqrt(1 - np.exp(-2 * scale))
    right.fill_between(scale, 50 * (1 + least), 50 * (1 + most), color=GREY, alpha=0.2, lw=0)
    shown = frame[frame["epsilon"].isin(epsilons)]
    for (name, epsilon), part in shown.groupby(["model", "epsilon"]):
        style = LINES[name] | {"lw": 1.2 if epsilon == epsilons[0] else 2.4}
        label = rf"{NAMES[name]}, $\epsilon = {epsilon:g}$"
        left.semilogx(part["m"], 100 * part["right"], **style, label=label)
        right.semilogx(part["m H2"], 100 * part["right"], **style)
    left.set(xlabel="similarities $m$", ylabel="best guess is right (%)", ylim=(49, 101))
    right.set(xlabel="$m\\,H^2$", xlim=(0.01, 5))
    right.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    fig.get_layout_engine().set(wspace=0.12)
    fig.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


def states(epsilons):
    """The pictures of `models` with a sentence each, by ε, and what they draw."""
    parts, pictures = [], {}
    for epsilon, name, law in product(epsilons, NAMES, ("green", "red")):
        x, density = corners(getattr(getattr(cr, name)(epsilon), law))
        columns = {"model": name, "epsilon": epsilon, "density_of": law, "x": x, "density": density}
        parts.append(pd.DataFrame(columns))
    dial = np.geomspace(0.01, 0.49, 30)
    for name, near in (("dist1", dial**2 / 2), ("dist2", dial)):
        distance = [getattr(cr, name)(epsilon).hellinger2 for epsilon in dial]
        parts.append(pd.DataFrame({"model": name, "epsilon": dial, "H2": distance, "approximation": near}))
    drawn = pd.concat(parts)
    for epsilon in epsilons:
        hint, proof = cr.dist1(epsilon), cr.dist2(epsilon)
        pictures[epsilon] = (
            models(drawn, epsilon),
            (
                f"H² is {hint.hellinger2:.3f} for Dist-1 and {proof.hellinger2:.3f} for Dist-2; "
                f"the total variation is {hint.total_variation:.2f} and {proof.total_variation:.2f}."
            ),
        )
    return pictures, drawn


def extremes(frame):
    """Total variation against squared Hellinger distance, and the bounds between them."""
    fig, ax = plt.subplots(figsize=(5.6, 4.4))
    others = frame[frame["model"] == "random"]
    ax.plot(others["H2"], others["TV"], ".", ms=3.5, color=GREY, alpha=0.7)
    h = np.linspace(0, 1, 201)
    ax.plot(h, np.sqrt(2 * h), color=INK, lw=1, ls=":")
    ax.plot(h, np.sqrt(h * (2 - h)), color=INK, lw=0.8, ls="-")
    ax.plot(h, h, color=INK, lw=0.8, ls="-")
    places = {"dist1": ("o", "right", (-9, 4)), "dist2": ("s", "left", (9, -10))}
    for name, (marker, side, shift) in places.items():
        for _, row in frame[frame["model"] == NAMES[name]].iterrows():
            at = row["H2"], row["TV"]
            ax.plot(*at, marker, ms=7, color=LINES[name]["color"])
            label = f"{NAMES[name]}, {row['epsilon']:g}"
            ax.annotate(label, at, shift, textcoords="offset points", fontsize=9, ha=side)
    for _, row in frame[frame["model"] == "citations"].iterrows():
        ax.plot(row["H2"], row["TV"], "D", ms=7, color=INK)
        ax.annotate("citations", (row["H2"], row["TV"]), (-30, 8), textcoords="offset points", fontsize=9, ha="right")
    ax.text(0.8, 0.77, r"$H^2$", va="top")
    ax.text(0.72, 1.0, r"$H\sqrt{2-H^2}$", ha="center", va="bottom")
    ax.text(0.33, 0.93, r"$\sqrt{2}\,H$", ha="right", va="bottom")
    ax.set(xlabel=r"$H^2(f_g, f_r)$", xlim=(-0.22, 1.02), xticks=np.linspace(0, 1, 6))
    ax.set(ylabel=r"$\mathrm{TV}(f_g, f_r)$", ylim=(0, 1.1))
    return fig
