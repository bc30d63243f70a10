"""The chart that steps through runs of orderings: what book/static/stepper.js draws, and its still picture."""

from __future__ import annotations

import textwrap
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
from book.companion.figures import EDGE, GREEN, INK, NODE, RED
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
#: The band of the question that is being asked; no ordering has its colour.
ASKING = {"color": INK, "alpha": 0.22, "solid_capstyle": "round"}
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
    texts: Sequence[str] | None = None,
    asks: str = "The same?",
) -> None:
    """Display a chart that steps through runs: on the page it takes the place of a still picture of one question.

    The runs, at most four, are of the same records, and are shown side by side. `names` are those of the records, in
    their order on the circle. With the `texts` of the records, each question is shown in full below its circle: both
    texts, tinted by the clusters known so far, what is asked of them (`asks`), their similarity, and the answer. A
    sentence for each step is what readers have who cannot see the chart. The chart begins at `question`, that of the
    still picture, which remains where no scripts run, and in print. The other arguments are those of
    `book.companion.figures.show`.
    """
    replays = {ordering: replay.steps(run) for ordering, run in runs.items()}
    told = settings(replays, names, similarity, texts, asks) | {"at": question}
    figures.show(still(replays, names, question, told), name, caption=caption, alt=alt, data=frame(replays))
    given = results.as_json(told).decode()
    text = f"[stepper {name}: on the page of the book]"
    results.display({STEPPER: given, "text/plain": text}, {"kind": "stepper", "name": name})


def frame(replays: Replays) -> pd.DataFrame:
    """The data behind the chart: when and how each pair of each run was settled."""
    parts = [replay.settled(steps).assign(ordering=name) for name, steps in replays.items()]
    return pd.concat(parts, ignore_index=True)[["ordering", "a", "b", "at", "how", "same"]]


def settings(
    replays: Replays,
    names: Sequence[str],
    similarity: np.ndarray | None = None,
    texts: Sequence[str] | None = None,
    asks: str = "",
) -> dict[str, Any]:
    """What stepper.js draws: for each run its settled pairs, and for each step the tints, the progress and a sentence.

    A pair is its two records, the number of the question, and whether it was asked and is a match, as 0 or 1. With
    texts there is also, for each step, what stands below the two texts.
    """
    runs: dict[str, dict[str, Any]] = {}
    for name, steps in replays.items():
        table = replay.settled(steps)
        columns = (table.a, table.b, table["at"], (table.how == "asked").astype(int), table.same.astype(int))
        runs[name] = {
            "pairs": np.transpose(columns).tolist(),
            "tints": tints(steps),
            "settled": [step.asked + step.inferred for step in steps],
            "words": [replay.words(steps, at, names, similarity, texts) for at in range(len(steps))],
        }
        if texts is not None:
            runs[name]["said"] = ["No question yet.", *(_said(step, similarity, asks) for step in steps[1:])]
    return {"names": list(names), "runs": runs} | ({} if texts is None else {"texts": list(texts)})


def _said(step: replay.Step, similarity: np.ndarray | None, asks: str) -> str:
    """What is asked about two records, and the answer."""
    beside = "" if similarity is None else f" Similarity {similarity[step.pair]:.2f}."
    return f"{asks}{beside} {replay.said(step)}"


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


def still(replays: Replays, names: Sequence[str], question: int, told: Mapping[str, Any]) -> Figure:
    """The chart at a question: for each run the records on a circle with their settled pairs, and their progress.

    `told` is what the chart is given; where it has texts, the question stands below its circle.
    """
    with_texts = "texts" in told
    fig = plt.figure(figsize=(3.2 * max(2, len(replays)), 7.2 if with_texts else 5))
    circles, progress = fig.subfigures(2, 1, height_ratios=[5.6 if with_texts else 3.1, 1.4])
    axes = circles.subplots(
        2 if with_texts else 1, len(replays), squeeze=False, height_ratios=[1, 0.8][: 1 + with_texts]
    )
    for number, (name, steps) in enumerate(replays.items()):
        at = min(question, len(steps) - 1)
        _circle(axes[0, number], steps, names, at)
        axes[0, number].set_title(f"{name}\n{at} questions", fontsize=10)
        if with_texts:
            _question(axes[1, number], steps[at].pair, names, told["texts"], told["runs"][name]["said"][at])
    looks = [plt.Line2D([], [], **look) for look in KINDS.values()]
    looks.append(plt.Line2D([], [], lw=7, label="this question", **ASKING))
    circles.legend(handles=looks, loc="lower center", ncols=3, fontsize=8.5, handlelength=2.4, columnspacing=1.2)
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
        ax.plot(x[list(pair)], y[list(pair)], lw=10, **ASKING)
    table = replay.settled(steps)
    table = table[table["at"] <= at]
    for (how, same), look in KINDS.items():
        chosen = table[(table.how == how) & (table.same == same)]
        ax.plot(x[chosen[["a", "b"]]].T, y[chosen[["a", "b"]]].T, **look | {"label": None})
    widths = [2.6 if record in (pair or ()) else 1.2 for record in range(len(names))]
    ax.scatter(x, y, s=360, c=tints(steps)[at], edgecolors=INK, linewidths=widths, zorder=3)
    for record, text in enumerate(names):
        ax.text(x[record], y[record], text, ha="center", va="center", fontsize=9, zorder=4)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal")
    ax.axis("off")


def _question(ax: Axes, pair: replay.Pair | None, names: Sequence[str], texts: Sequence[str], said: str) -> None:
    """The texts of the two records that are asked about, and what is asked and answered."""
    parts = [f"{names[record]}: {texts[record]}" for record in pair or ()]
    lines = [textwrap.fill(part, 32, subsequent_indent="     ") for part in parts] + [textwrap.fill(said, 32)]
    ax.text(0, 1, "\n".join(lines), va="top", fontsize=9.5, transform=ax.transAxes)
    ax.axis("off")
