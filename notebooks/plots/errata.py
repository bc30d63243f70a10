"""Figures of the chapter *Errata*."""

import matplotlib.pyplot as plt
from book.companion.figures import BLUE, INK, ORANGE

HOLDS, PRINTED = {"color": BLUE}, {"color": ORANGE, "ls": "--"}
LIMIT = {"color": INK, "lw": 0.8, "ls": ":"}


def printed_and_corrected(frame, all_pairs):
    """Three errata, printed dashed and corrected solid; `all_pairs` is the most that can be asked in the second."""
    excess, needed, factor = (frame[frame["erratum"] == name] for name in ("C09", "C07", "C16"))
    fig, (one, two, three) = plt.subplots(3, 1, figsize=(5.6, 8.2))
    over = {name: excess["exact"] / excess[name] for name in ("bound", "repaired")}
    one.loglog(excess["m"], over["bound"], **PRINTED, marker="s", ms=4, label="over the printed bound")
    one.loglog(excess["m"], over["repaired"], **HOLDS, marker="o", ms=4, label="over the corrected bound")
    one.axhline(1, **LIMIT)
    one.set(xlabel="records $m$ in each of two clusters", ylabel="asked over bound", title="C09: Theorem 2")
    two.loglog(needed["epsilon"], needed["printed"], **PRINTED, label="printed, $k^2/H^2$, up to a constant")
    two.loglog(needed["epsilon"], needed["holds"], **HOLDS, label="what holds")
    two.axhline(all_pairs, **LIMIT, label="all pairs")
    two.set(xlabel=r"$\epsilon$ of Dist-1", ylabel="questions", title="C07: Corollary 1")
    three.plot(factor["epsilon"], factor["printed"], **PRINTED, label=r"printed, $1 - 2\epsilon$")
    three.plot(factor["epsilon"], factor["holds"], **HOLDS, label=r"what holds, $(1-\epsilon)/(1+\epsilon)$")
    three.set(xlabel=r"$\epsilon$ of Dist-1", ylabel="factor", ylim=(0, 1.05), title="C16: Proposition 3")
    for ax in (one, two, three):
        ax.legend(fontsize=9)
    return fig
