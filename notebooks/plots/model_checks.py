"""The figure of the appendix *The models by quadrature and from draws*."""

import crowder as cr
import matplotlib.pyplot as plt
import numpy as np
from book.companion.figures import INK
from notebooks.plots.models import LAWS, NAMES


def sample(frame, epsilon):
    """Histograms of the similarities of one data set a model, and the densities they come from."""
    fig, axes = plt.subplots(2, 2, figsize=(6.2, 4.4), sharex=True)
    panels = frame.groupby(["model", "density_of"], sort=False)
    for ax, ((name, law), part) in zip(axes.flat, panels, strict=True):
        ax.bar(part["from"], part["pairs"], width=0.1, align="edge", **LAWS[law][0].fill)
        density, pairs = getattr(getattr(cr, name)(epsilon), law), part["pairs"].sum()
        height = np.r_[0, np.repeat(density.heights, 2), 0].astype(float)
        across = np.repeat(density.edges, 2).astype(float)
        ax.plot(across, height * pairs * 0.1, color=INK, lw=1.4)
        ax.set_title(f"{NAMES[name]}, {pairs} {'matches' if law == 'green' else 'non-matches'}")
        ax.set_ylim(0, 1.15 * max(part["pairs"].max(), part["expected"].max()))
    fig.supxlabel("similarity", fontsize=10.5)
    fig.supylabel("pairs", fontsize=10.5)
    return fig
