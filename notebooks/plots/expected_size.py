"""The figure of the appendix *Arrival by expected size*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import GREY, INK, NODE


def differences(rows):
    """How far two calculations are from the mean of the runs, in per cent of it, data set by data set."""
    fig, ax = plt.subplots(figsize=(6.4, 3.8))
    place = np.arange(len(rows))[::-1]
    bars = 200 * rows["error"] / rows["mean"]
    ax.barh(place, 2 * bars, left=-bars, height=0.6, color=GREY, alpha=0.35, label="two standard errors of the runs")
    looks = {"without weights": (INK, "s"), "formula": (NODE.color, "o")}
    for column, (color, marker) in looks.items():
        ax.plot(100 * (rows[column] / rows["mean"] - 1), place, marker, color=color, ms=6, label=column)
    ax.axvline(0, color=GREY, lw=0.8)
    ax.set(xlabel="per cent above the mean of the runs", xlim=(-1.2 * bars.max(), None))
    ax.set_yticks(place, (rows["model"] + ", ε = " + rows["ε"]).tolist())
    fig.legend(loc="outside upper center", ncols=3)
    return fig
