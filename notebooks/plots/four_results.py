"""Figures of the chapter *Four results beyond the paper*."""

import matplotlib.pyplot as plt
from book.companion.figures import BLUE, GREEN, GREY, ORANGE, PURPLE


def evidence(frame, least):
    """Questions of the three orderings on equal clusters against 1/H², with the bound of Theorem A."""
    fig, ax = plt.subplots(figsize=(6.4, 3.4))
    x = 1 / frame["H²"]
    ax.plot(x, frame["edge"], "D-", color=ORANGE, ms=4, label="edge ordering")
    ax.plot(x, frame["node"], "o--", color=BLUE, ms=4, label="node ordering")
    ax.plot(x, frame["bound"], ":", color=PURPLE, lw=2, label="Theorem A")
    ax.plot(x, frame["evidence"], "s-", color=GREEN, ms=4, label="by evidence")
    ax.axhline(least, color=GREY, lw=1, ls="--", label="least possible")
    ax.set(xscale="log", yscale="log", xlabel=r"$1/H^2$", title="expected questions")
    ax.legend()
    return fig


def worst_case(frame):
    """Each model's count relative to that without information."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    ax.plot(frame["area"], frame["ratio"], ".", color=BLUE, ms=3, alpha=0.5, label="random models")
    ax.axhline(1, color=GREY, lw=1, ls="--", label="no information")
    ax.set(xlabel="probability that a match is more similar than a non-match")
    ax.set(title="expected questions, relative to no information", ylim=(0, 1.05))
    ax.legend(loc="lower left")
    return fig


def constant(frame, kappa):
    """Questions across two clusters of m records, divided by m."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    looks = zip(frame.columns[1:], (ORANGE, BLUE, GREEN), ("D-", "o--", "s-."), strict=True)
    for name, color, look in looks:
        ax.plot(frame["m"], frame[name], look, color=color, ms=4, label=name)
    ax.axhline(kappa, color=GREY, lw=1, ls="--", label=r"$\kappa$")
    ax.set(xscale="log", xlabel="$m$", title="expected questions across two clusters, divided by $m$", ylim=(0, 1.7))
    ax.legend(loc="lower right", ncols=2)
    return fig


def arrivals(frame):
    """Counts of node ordering relative to the formula for arrival by expected size, row by row."""
    fig, ax = plt.subplots(figsize=(6.4, 2.8))
    place = range(len(frame))
    ax.plot(place, frame["random"] / frame["expected size"], "o", color=BLUE, ms=5, label="random arrival, exact")
    ax.plot(place, frame["printed"] / frame["expected size"], "x", color=ORANGE, ms=7, mew=1.6, label="printed")
    ax.axhline(1, color=GREY, lw=1, ls="--", label="formula")
    names = [f"{model}\n{epsilon}" for model, epsilon in zip(frame["model"], frame["ε"], strict=True)]
    ax.set_xticks(list(place), names, fontsize=7)
    ax.set(title="questions of node ordering, relative to the formula")
    ax.legend()
    return fig
