"""The figure of the appendix *Similarities that prove a match*."""

import matplotlib.pyplot as plt
from book.companion.figures import BLUE, ORANGE

#: Of the two values of ε under Dist-2: colour, marker, dash.
LOOK = {0.05: (ORANGE, "s", "--"), 0.2: (BLUE, "o", "-")}


def proofs(frame):
    """Dist-2: printed and proved bounds with data; below, the chance that everything is proved."""
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(6.4, 6.8), sharex=True)
    for epsilon, (color, marker, dash) in LOOK.items():
        part = frame[frame["epsilon"] == epsilon]
        lines, points = part[part["printed"].notna()], part[part["asked"].notna()]
        style = {"color": color, "ms": 6, "mfc": "white"}
        top.loglog(lines["n"], lines["printed"], color=color, ls=":", lw=2.2,
                   label=rf"$n + k^2/\epsilon$, $\epsilon = {epsilon:g}$")  # fmt: skip
        top.loglog(lines["n"], lines["most"], color=color, ls=dash, lw=1.4,
                   label=r"$\min\{k^2/p, nk\}$")  # fmt: skip
        top.plot(points["n"], points["asked"], marker, label="simulated", **style)
        label = rf"$\epsilon = {epsilon:g}$"
        bottom.semilogx(lines["n"], lines["alone"], color=color, ls=dash, label=label)
        bottom.plot(points["n"], points["proved"], marker, **style)
    top.set(ylabel="mean questions", ylim=(8, 2500))
    bottom.set(ylabel="all proved, nothing asked", xlabel="$n$")
    fig.legend(*top.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    bottom.legend(loc="upper left")
    return fig
