"""Figures of the chapter *Two similarity models*."""

from itertools import product

import crowder as cr
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from book.companion.figures import BLUE, GREY, INK, MATCH, NONMATCH, ORANGE

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-models-densities": (
        "Dist-1: the match density steps up at one half, the non-match density steps down. Dist-2: two blocks of "
        "equal height, matches shifted right, non-matches left. Right, on logarithmic axes: two rising lines, "
        "Dist-2 above Dist-1 and less steep."
    ),
    "fig-models-looks": (
        "Left: four rising curves, from a few similarities to hundreds. Right: the same curves over m times H "
        "squared lie close together inside a grey band, and are near certainty at five."
    ),
    "fig-models-extremes": (
        "Total variation against squared Hellinger distance. Dots fill a lens between a diagonal and an arch; "
        "Dist-1 lies on the arch, Dist-2 on the diagonal; a dotted outer bound runs above the arch."
    ),
}

NAMES = {"dist1": "Dist-1", "dist2": "Dist-2"}
LINES = {"dist1": {"color": BLUE, "ls": "-"}, "dist2": {"color": ORANGE, "ls": "--"}}
LAWS = {"green": (MATCH, "$f_g$, matches"), "red": (NONMATCH, "$f_r$, non-matches")}


def models(frame, epsilon):
    """Left the densities of both models, right their squared Hellinger distance and its approximation."""
    fig, panels = plt.subplot_mosaic([["dist1", "H2"], ["dist2", "H2"]], figsize=(6.4, 3.5), width_ratios=(1.15, 1))
    corners, curves = frame[frame["density"].notna()], frame[frame["H2"].notna()]
    for name, panel in corners.groupby("model", sort=False):
        ax = panels[name]
        for law, part in panel.groupby("density_of", sort=False):
            style, label = LAWS[law]
            ax.fill_between(part["x"], part["density"], **style.fill, alpha=0.55)
            ax.plot(part["x"], part["density"], **style.line, lw=2.2, label=label)
        top = 1.1 * corners["density"].max()
        ax.set(title=rf"{NAMES[name]}, $\epsilon = {epsilon:g}$", xlim=(-0.03, 1.03), ylim=(0, top), ylabel="density")
    panels["dist1"].set_xticklabels([])
    panels["dist2"].set_xlabel("similarity")
    fig.legend(*panels["dist1"].get_legend_handles_labels(), loc="outside upper left", ncols=2)
    ax = panels["H2"]
    for name, part in curves.groupby("model", sort=False):
        ax.loglog(part["epsilon"], part["H2"], **LINES[name])
        ax.loglog(part["epsilon"], part["approximation"], color=INK, lw=1, ls=":")
    ax.set(xlabel=r"$\epsilon$", title="$H^2$", xlim=(0.01, 0.5), ylim=(3e-5, 1.5))
    ax.set_xticks([0.01, 0.03, 0.1, 0.3], ["0.01", "0.03", "0.1", "0.3"])
    ax.minorticks_off()
    ax.text(0.02, 0.05, "Dist-2")
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
    fig.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


def outlines_and_distances(epsilon, dial, distances):
    """What `models` draws: the corners of the densities, and H² and its approximation as ε grows."""
    parts = []
    for name, law in product(NAMES, LAWS):
        density = getattr(getattr(cr, name)(epsilon), law)
        heights = np.r_[0, np.repeat(density.heights, 2), 0].astype(float)
        outline = {"x": np.repeat(density.edges, 2).astype(float), "density": heights}
        parts.append(pd.DataFrame({"model": name, "epsilon": epsilon, "density_of": law} | outline))
    for name, (distance, near) in distances.items():
        parts.append(pd.DataFrame({"model": name, "epsilon": dial, "H2": distance, "approximation": near}))
    return pd.concat(parts)


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
    ax.text(0.8, 0.77, r"$H^2$", va="top")
    ax.text(0.72, 1.0, r"$H\sqrt{2-H^2}$", ha="center", va="bottom")
    ax.text(0.33, 0.93, r"$\sqrt{2}\,H$", ha="right", va="bottom")
    ax.set(xlabel=r"$H^2(f_g, f_r)$", xlim=(-0.22, 1.02), xticks=np.linspace(0, 1, 6))
    ax.set(ylabel=r"$\mathrm{TV}(f_g, f_r)$", ylim=(0, 1.1))
    return fig
