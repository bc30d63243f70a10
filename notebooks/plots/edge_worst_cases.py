"""The figures of the appendix *Edge ordering: worst cases, and a bound for every model*."""

import matplotlib.pyplot as plt
from book.companion.figures import EDGE, FEWEST, INK, PURPLE


def worst(frame):
    """Questions when every non-match is more similar than every match, and the fewest possible."""
    n = frame["n"]
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    ax.loglog(n, n**2 / 4 + n - 2, **EDGE.line, label="$n^2/4 + n - 2$")
    ax.loglog(n, frame["questions"], **EDGE.points, ms=6, mfc="none", mew=1.5, label="edge ordering, run")
    ax.loglog(n, frame["fewest"], **FEWEST.line, label="the fewest, $n - 1$")
    ax.set(xlabel="records $n$, in two clusters", ylabel="questions")
    ax.legend(loc="upper left")
    return fig


def ratio(frame):
    """Exact count over the printed bound, and over the one with its factor restored."""
    fig, ax = plt.subplots(figsize=(6.2, 4.2))
    ax.axhline(1, color=INK, lw=1)
    for (k, part), color, marker in zip(frame.groupby("k"), (INK, PURPLE), "os", strict=True):
        style = {"color": color, "marker": marker, "ms": 4.5}
        restored = part["exact"] / part["repaired"]
        ax.loglog(part["m"], part["ratio"], ls="-", label=f"printed, $k = {k}$", **style)
        ax.loglog(part["m"], restored, ls=":", mfc="none", label=f"restored, $k = {k}$", **style)
    ax.set(xlabel="records in each cluster, $m$", ylabel="exact count over bound", ylim=(0.25, 40))
    ax.legend(ncols=1, loc="upper left")
    return fig
