"""The figures of the appendix *Does the order of arrival matter?*."""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import BLUE, INK


def sizes(frame, jitter):
    """Expected size and true size of the cluster, under Dist-1; `jitter` moves the points apart."""
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.8), sharey=True)
    groups = zip(axes, frame.groupby("epsilon", sort=False), jitter, strict=True)
    for ax, (eps, part), moved in groups:
        ends, green, red = np.array([30, 220]), 0.5 + eps / 4, 0.5 - eps / 4
        ax.plot(part["expected size"], part["cluster"] + moved, ".", color=BLUE, ms=2.5, alpha=0.5)
        ax.plot((ends - 1) * green + (len(part) - ends) * red, ends, color=INK)
        ax.set_title(rf"Dist-1, $\epsilon = {Fraction(eps).limit_denominator(100)}$")
        ax.set(xlabel="expected size", yticks=sorted(set(part["cluster"])))
    axes[0].set_ylabel("records in the cluster")
    return fig
