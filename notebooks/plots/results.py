"""Figures of the chapter *Results beyond the paper* and of its proofs."""

import matplotlib.pyplot as plt
import seaborn as sns
from book.companion.figures import EDGE, EVIDENCE, FEWEST, GREEN, GREY, INK, MATCH, NODE, NONMATCH, SKY


def walks(frame, enough):
    """The evidence of some records for a cluster, over its members, and how much is enough to accept them."""
    fig, ax = plt.subplots(figsize=(6.4, 3.2))
    for name, look in (("own", MATCH), ("another", NONMATCH)):
        first, *_ = ax.plot(frame.filter(regex=f"^{name} "), lw=1.1, **look.line)
        first.set_label(f"{name} cluster")
    ax.axhline(enough, color=INK, ls=":", label="$T$, enough to accept")
    ax.set(xlabel="members of the cluster", ylabel="evidence", xlim=(0, len(frame)))
    ax.legend(loc="lower left")
    return fig


def growth(frame):
    """Questions over the number of records; runs that allow an error, and those that do not."""
    fig, ax = plt.subplots(figsize=(6.4, 3.6))
    looks = {
        "edge ordering": EDGE.line, "node ordering": NODE.line, "certainty": EVIDENCE.line,
        "fewest for certainty": FEWEST.line, "nothing known": {"color": GREEN, "ls": "-", "marker": "s", "ms": 4},
        "densities known": {"color": INK, "ls": "--", "marker": "v", "ms": 4},
    }  # fmt: skip
    for name, look in looks.items():
        ax.plot(frame["n"], frame[name], label=name, **look)
    ax.set(xscale="log", yscale="log", xlabel="records $n$", ylabel="questions")
    fig.legend(loc="outside upper center", ncols=2)
    return fig


def kappas(frame, kappa):
    """Questions across two clusters of m records, divided by m."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    sns.lineplot(frame.set_index("m"), palette=[EDGE.color, INK, SKY], markers=[*"Dvs"], dashes=False, ms=7)
    ax.axhline(kappa, color=GREY, lw=1, ls="--", label=r"$\kappa$")
    ax.set(xscale="log", xlabel="$m$", title="expected questions across two clusters, divided by $m$", ylim=(0, 1.7))
    ax.legend(loc="lower right", ncols=2)
    return fig
