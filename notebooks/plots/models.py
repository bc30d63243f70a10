"""Figures of the chapter *Two similarity models*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, GREY, INK, MATCH, NONMATCH, ORANGE

NAMES = {"dist1": "Dist-1", "dist2": "Dist-2"}
LINES = {"dist1": {"color": BLUE, "ls": "-"}, "dist2": {"color": ORANGE, "ls": "--"}}
LAWS = {"green": (MATCH, "$f_g$, matches"), "red": (NONMATCH, "$f_r$, non-matches")}


def densities(frame):
    """Corners of the densities: a row of panels a model, a column a value of ε."""
    fig, axes = plt.subplots(2, 2, figsize=(6.2, 4.8), sharex=True, sharey=True)
    panels = frame.groupby(["model", "epsilon"], sort=False)
    for ax, ((name, epsilon), panel) in zip(axes.flat, panels, strict=True):
        for law, part in panel.groupby("density_of", sort=False):
            style, label = LAWS[law]
            ax.fill_between(part["x"], part["density"], **style.fill, alpha=0.55)
            ax.plot(part["x"], part["density"], **style.line, lw=2.2, label=label)
        ax.set(title=rf"{NAMES[name]}, $\epsilon = {epsilon:g}$", xlim=(-0.03, 1.03))
    ax.set_ylim(0, 1.08 * frame["density"].max())
    fig.supxlabel("similarity", fontsize=10.5)
    fig.supylabel("density", fontsize=10.5)
    fig.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig


def thumb(frame):
    """The squared Hellinger distance, its approximation for small ε, and what that misses."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.3))
    for name, style in LINES.items():
        left.loglog(frame["epsilon"], frame[f"H2 {name}"], **style)
        left.loglog(frame["epsilon"], frame[f"thumb {name}"], color=INK, lw=1, ls=":")
        right.plot(frame["epsilon"], 100 * frame[f"short {name}"], **style)
    left.set(xlabel=r"$\epsilon$", title=r"$H^2(f_g, f_r)$", ylim=(1e-6, 2))
    left.text(0.012, 0.035, "Dist-2", ha="center")
    left.text(0.03, 6e-5, "Dist-1", ha="left")
    left.text(0.0021, 0.5, "dotted: approximations", fontsize=9)
    right.set(xlabel=r"$\epsilon$", title="relative error (%)", ylim=(0, 52))
    right.text(0.27, 34, "Dist-2", ha="center")
    right.text(0.38, 7, "Dist-1", ha="center")
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
