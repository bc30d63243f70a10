"""Figures of the chapter *Errata*."""

import matplotlib.pyplot as plt
from book.companion.figures import CORRECTED, GREY, PRINTED

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-errata-results": "The dotted line crosses one and keeps rising, while the dashed line stays below one.",
}


def printed_and_corrected(frame):
    """Expected questions over the bound of Theorem 2, as printed and as corrected."""
    fig, ax = plt.subplots(figsize=(6.4, 2.9))
    for name, style, words in (("bound", PRINTED, "printed bound"), ("repaired", CORRECTED, "corrected bound")):
        ax.loglog(frame["m"], frame["exact"] / frame[name], **style.line, label=f"over the {words}")
    ax.axhline(1, color=GREY, lw=1)
    ax.set(xlabel="records $m$ in each of two clusters", ylabel="questions / bound")
    ax.legend(loc="upper left")
    return fig
