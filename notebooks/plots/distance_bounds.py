"""The figure of the appendix *Hellinger distance and total variation*."""

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import GREY, INK
from notebooks.plots.models import LINES, NAMES


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
