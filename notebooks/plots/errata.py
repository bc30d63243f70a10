"""Figures of the chapter *Errata*."""

import matplotlib.pyplot as plt
from book.companion.figures import CORRECTED, GREY, PRINTED

LIMIT = {"color": GREY, "lw": 1}


def printed_and_corrected(frame, all_pairs):
    """Two errata, printed and corrected; `all_pairs` is the most that can be asked in the second."""
    excess, needed = (frame[frame["erratum"] == name] for name in ("C09", "C07"))
    fig, (one, two) = plt.subplots(2, 1, figsize=(6.4, 4.2))
    for name, style, words in (("bound", PRINTED, "printed bound"), ("repaired", CORRECTED, "corrected bound")):
        one.loglog(excess["m"], excess["exact"] / excess[name], **style.line, label=f"over the {words}")
    one.axhline(1, **LIMIT)
    one.set(xlabel="records $m$ in each of two clusters", ylabel="asked / bound", title="Theorem 2 (C09)")
    two.loglog(needed["epsilon"], needed["printed"], **PRINTED.line, label="printed, $k^2/H^2$, up to a constant")
    two.loglog(needed["epsilon"], needed["holds"], **CORRECTED.line, label="what holds, with its constant")
    two.axhline(all_pairs, **LIMIT, label="all pairs")
    two.set(xlabel=r"$\epsilon$ of Dist-1", ylabel="questions", title="Corollary 1 (C07)")
    one.legend(fontsize=9, loc="upper left")
    two.legend(fontsize=9, loc="upper right")
    return fig
