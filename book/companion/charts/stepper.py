"""The chart that steps through runs of orderings: what book/static/stepper.js draws, and its still picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from book.companion import figures, results
from book.companion.charts import replay
from book.companion.figures import EDGE, GREEN, INK, NODE, ORANGE, RED
from crowder.resolution import Resolution

#: The steps of each run, by name.
Replays: TypeAlias = Mapping[str, Sequence[replay.Step]]

#: The MIME type of the chart in an executed notebook.
STEPPER = "application/vnd.crowder.stepper+json"
#: How a pair was settled, and whether it is a match: how its line is drawn. These are the colours of stepper.js, too.
KINDS = {
    ("asked", True): {"label": "asked: match", "color": GREEN, "lw": 2.6, "ls": "-"},
    ("asked", False): {"label": "asked: no match", "color": RED, "lw": 1.8, "ls": (0, (5, 3))},
    ("inferred", True): {"label": "inferred: match", "color": GREEN, "lw": 1.1, "ls": "-"},
    ("inferred", False): {"label": "inferred: no match", "color": RED, "lw": 0.7, "ls": (0, (2, 3))},
}
#: Background colours of clusters: light, so that dark text is legible.
TINTS = ["#bfe3f7", "#efcfe0", "#c4ead9", "#dcdcf2", "#f9cfb4", "#e4e4e4", "#f8dfa3"]
SINGLE = "#ffffff"
#: Colour and dashes of the progress of each run; their number limits that of the runs.
RUNS = [(EDGE.color, "-"), (NODE.color, "--"), (INK, ":"), (RED, "-.")]


def show(
    runs: Mapping[str, Resolution],
    names: Sequence[str],
    name: str,
    *,
    caption: str,
    alt: str,
    question: int,
    similarity: np.ndarray | None = None,
) -> None:
    """Display a chart that steps through runs: on the page it takes the place of a still picture of one question.

    The runs, at most four, are of the same records, and are shown side by side. `names` are those of the records, in
    their order on the circle. A sentence for each step is what readers have who cannot see the chart; with a matrix
    of similarities it includes that of the pair asked about. The still picture remains where no scripts run, and in
    print. The other arguments are those of `book.companion.figures.show`.
    """
    replays = {ordering: replay.steps(run) for ordering, run in runs.items()}
    figures.show(still(replays, names, question), name, caption=caption, alt=alt, data=frame(replays))
    given = results.as_json(settings(replays, names, similarity)).decode()
    text = f"[stepper {name}: on the page of the book]"
    results.display({STEPPER: given, "text/plain": text}, {"kind": "stepper", "name": name})


def frame(replays: Replays) -> pd.DataFrame:
    """The data behind the chart: when and how each pair of each run was settled."""
    parts = [replay.settled(steps).assign(ordering=name) for name, steps in replays.items()]
    return pd.concat(parts, ignore_index=True)[["ordering", "a", "b", "at", "how", "same"]]


def settings(replays: Replays, names: Sequence[str], similarity: np.ndarray | None = None) -> dict[str, Any]:
    """What stepper.js draws: for each run its settled pairs, and for each step the tints, the progress and a sentence.

    A pair is its two records, the number of the question, and whether it was asked and is a match, as 0 or 1.
    """
    runs = {}
    for name, steps in replays.items():
        table = replay.settled(steps)
        columns = (table.a, table.b, table["at"], (table.how == "asked").astype(int), table.same.astype(int))
        runs[name] = {
            "pairs": np.transpose(columns).tolist(),
            "tints": tints(steps),
            "settled": [step.asked + step.inferred for step in steps],
            "words": [replay.words(steps, at, names, similarity) for at in range(len(steps))],
        }
    return {"names": list(names), "runs": runs}


def tints(steps: Sequence[replay.Step]) -> list[list[str]]:
    """The background of every record after every question, coloured in clusters of at least two records.

    When clusters merge, the largest keeps its colour. No two have the same colour unless the colours run out.
    """
    found, used = [], {}
    for step in steps:
        joined = [part for part in step.components if len(part) > 1]
        before, used = used, {part: used[part] for part in joined if part in used}
        for part in joined:
            if part not in used:
                kept = [old for old in before if set(old) <= set(part)]
                free = [tint for tint in TINTS if tint not in used.values()] or TINTS
                used[part] = before[max(kept, key=len)] if kept else free[0]
        tint_of = {record: tint for part, tint in used.items() for record in part}
        found.append([tint_of.get(record, SINGLE) for record in range(sum(map(len, step.components)))])
    return found


def still(replays: Replays, names: Sequence[str], question: int) -> Figure:
    """The chart at a question: for each run the records on a circle with their settled pairs, and their progress."""
    fig = plt.figure(figsize=(3.2 * max(2, len(replays)), 5))
    circles, progress = fig.subfigures(2, 1, height_ratios=[3.1, 1.4])
    axes = circles.subplots(1, len(replays), squeeze=False)[0]
    for (name, steps), ax in zip(replays.items(), axes, strict=True):
        _circle(ax, steps, names, min(question, len(steps) - 1))
        ax.set_title(f"{name}\n{min(question, len(steps) - 1)} questions", fontsize=10)
    looks = [plt.Line2D([], [], **look) for look in KINDS.values()]
    circles.legend(handles=looks, loc="lower center", ncols=4, fontsize=8.5, handlelength=2.4, columnspacing=1.2)
    ax = progress.subplots()
    for (name, steps), (color, dashes) in zip(replays.items(), RUNS, strict=False):
        settled, at = [step.asked + step.inferred for step in steps], min(question, len(steps) - 1)
        ax.step(range(len(steps)), settled, where="post", color=color, ls=dashes, label=name)
        ax.plot(at, settled[at], "o", ms=7, color=color, mec=INK)
    ax.set(xlabel="questions asked", ylabel="pairs settled", ylim=(0, settled[-1] * 1.1))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="upper left", fontsize=8.5)
    return fig


def _circle(ax: Axes, steps: Sequence[replay.Step], names: Sequence[str], at: int) -> None:
    """The records on a circle, with the pairs that are settled after a question."""
    angle = 2 * np.pi * np.arange(len(names)) / len(names)
    x, y = np.sin(angle), np.cos(angle)
    if (pair := steps[at].pair) is not None:
        ax.plot(x[list(pair)], y[list(pair)], color=ORANGE, lw=9, alpha=0.55, solid_capstyle="round")
    table = replay.settled(steps)
    table = table[table["at"] <= at]
    for (how, same), look in KINDS.items():
        chosen = table[(table.how == how) & (table.same == same)]
        ax.plot(x[chosen[["a", "b"]]].T, y[chosen[["a", "b"]]].T, **look | {"label": None})
    ax.scatter(x, y, s=360, c=tints(steps)[at], edgecolors=INK, linewidths=1.2, zorder=3)
    for record, text in enumerate(names):
        ax.text(x[record], y[record], text, ha="center", va="center", fontsize=9, zorder=4)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal")
    ax.axis("off")
