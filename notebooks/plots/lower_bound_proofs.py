"""The figure of the appendix *Proofs for the lower bound*."""

from math import sqrt

import matplotlib.pyplot as plt
from book.companion.figures import BLUE, INK, ORANGE, RED

TITLES = {"dist1": "Dist-1", "dist2": "Dist-2"}
#: The links of the Hellinger chain: column, label, colour, dash.
LINKS = [
    ("subadditive", r"chain, $\frac{1}{2}(1+\sqrt{4aH^2})$", RED, ":"),
    ("affine", r"first link, $\frac{1}{2}(1+\sqrt{1-(1-H^2)^{4a}})$", ORANGE, "--"),
    ("tv", r"exact, $\frac{1}{2}(1+\mathrm{TV})$", BLUE, "-"),
]


def best_test(frame):
    """How often the best test is right, exactly, by the chain, and simulated."""
    fig, axes = plt.subplots(2, 1, figsize=(6.4, 6.2), sharey=True)
    for ax, (name, title) in zip(axes, TITLES.items(), strict=True):
        part = frame[frame["model"] == name]
        lines, points = part[part["tv"].notna()], part[part["simulated"].notna()]
        ax.axhline((1 + sqrt(1 / 2)) / 2, color=INK, lw=1, ls=(0, (1, 1)))
        for column, label, color, dash in LINKS:
            right = (1 + lines[column]) / 2
            ax.semilogx(lines["epsilon"], right, color=color, ls=dash, lw=1.6, label=label)
        ax.errorbar(points["epsilon"], points["simulated"], 1.96 * points["error"], fmt="o", ms=5,
                    color=INK, mfc="white", capsize=2.5, label="simulated")  # fmt: skip
        ax.set(title=title, ylim=(0.49, 0.9), ylabel="right with probability")
    limit = r"$\frac{1}{2}(1 + 1/\sqrt{2})$, the proof's limit"
    axes[0].text(0.0105, 0.866, limit, fontsize=9.5)
    axes[-1].set_xlabel(r"$\epsilon$")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig
