"""The chart that steps through runs of orderings: what book/static/stepper.js draws, and its still picture."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from book.companion import figures, results
from book.companion.figures import EDGE, GREEN, INK, NODE, RED
from crowder.orderings import EdgeOrdering, Ordering
from crowder.resolution import Resolution

#: Whether a pair was asked about, and whether it is a match: how its line is drawn, as in stepper.js.
KINDS = {
    (True, True): {"label": "asked: match", "color": GREEN, "lw": 2.6, "ls": "-"},
    (True, False): {"label": "asked: no match", "color": RED, "lw": 1.8, "ls": (0, (5, 3))},
    (False, True): {"label": "inferred: match", "color": GREEN, "lw": 1.1, "ls": "-"},
    (False, False): {"label": "inferred: no match", "color": RED, "lw": 0.7, "ls": (0, (2, 3))},
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
    similarity: np.ndarray,
    texts: Sequence[str] | None = None,
    asks: str = "",
) -> None:
    """Display a chart that steps through runs: on the page it takes the place of a still picture of one question.

    The runs, at most four, are of the same records, and are shown side by side; none asks about a settled pair. `names`
    are those of the records, in their order on the circle. With the `texts` of the records, each question is shown in
    full below its circle: both texts, tinted by the clusters known so far, what is asked of them (`asks`), their
    similarity, and the answer. A sentence for each step is what readers have who cannot see the chart. The chart begins
    at `question`, that of the still picture, which remains where no scripts run, and in print. The other arguments are
    those of `book.companion.figures.show`.
    """
    told = {ordering: replayed(run, names, similarity, texts, asks) for ordering, run in runs.items()}
    given = {"names": list(names), "runs": told} | ({} if texts is None else {"texts": list(texts)}) | {"at": question}
    data = pd.concat([settled(run).assign(ordering=ordering) for ordering, run in runs.items()], ignore_index=True)
    data = data[["ordering", "a", "b", "at", "how", "same"]]
    figures.show(still(given), name, caption=caption, alt=alt, data=data)
    results.chart("stepper", name, given)


def learned(run: Resolution) -> Iterator[Ordering]:
    """Before the first question of a run and after each: one ordering, which learns the answers so far.

    >>> run = Resolution([[1, 2], [2, 0]], [False, True], [0, 1, 0])
    >>> [ordering.resolution.clusters.tolist() for ordering in learned(run)]
    [[0, 1, 2], [0, 1, 2], [0, 1, 0]]
    """
    ordering = EdgeOrdering(np.eye(len(run.clusters)), ties="index")
    yield ordering
    for pair, same in zip(run.queries, run.answers, strict=True):
        ordering.learn(pair, same)
        yield ordering


def settled(run: Resolution) -> pd.DataFrame:
    """All settled pairs, with when and how they were settled.

    Columns: a and b, the records of the pair; at, the number of the question that settled it; how, "asked" or
    "inferred"; same, whether it is a match. Rows are in the order of the questions, with the asked pair first.

    >>> settled(Resolution([[0, 1], [2, 1]], [True, False], [0, 0, 1]))
       a  b  at       how   same
    0  0  1   1     asked   True
    1  1  2   2     asked  False
    2  0  2   2  inferred  False
    """
    a, b = np.triu_indices(len(run.clusters), 1)
    at, same = np.zeros(len(a), np.int64), run.clusters[a] == run.clusters[b]
    for question, ordering in enumerate(learned(run)):
        for pair in np.flatnonzero(at == 0):
            if ordering.settled(a[pair], b[pair]):
                at[pair] = question
    asked = (np.sort(run.queries[at - 1]) == np.transpose([a, b])).all(axis=1)
    table = pd.DataFrame({"a": a, "b": b, "at": at, "how": np.where(asked, "asked", "inferred"), "same": same})
    return table.iloc[np.lexsort((~same, ~asked, at))].query("at > 0").reset_index(drop=True)


def replayed(
    run: Resolution, names: Sequence[str], similarity: np.ndarray, texts: Sequence[str] | None, asks: str
) -> dict[str, Any]:
    """What stepper.js draws of a run: its settled pairs, and for each step the tints, the progress and a sentence.

    A pair is its two records, the number of the question, and whether it was asked and is a match, as 0 or 1. With
    texts there is also, for each step, what stands below the two texts.
    """
    table, last = settled(run), run.n_queries
    columns = (table["a"], table["b"], table["at"], table["how"] == "asked", table["same"])
    new = np.bincount(table["at"], minlength=last + 1)
    total, done = comb(len(names), 2), new.cumsum().tolist()
    full = names if texts is None else [f"{name} ({text})" for name, text in zip(names, texts, strict=True)]
    words, said = [], ["No question yet."]
    for at, ordering in enumerate(learned(run)):
        joined = "; ".join(" ".join(names[record] for record in part) for part in _joined(ordering))
        counted = f"Asked {at}, inferred {done[at] - at}, open {total - done[at]}."
        known = f"Known to match: {joined or 'none yet'}. {counted}"
        if at == 0:
            words.append(f"Before the first of {last} questions. {known}")
            continue
        (i, j), more = sorted(run.queries[at - 1].tolist()), int(new[at]) - 1
        alike = f"{similarity[i, j]:.2f}"
        answer = f"{'Yes' if run.answers[at - 1] else 'No'}. This settles {more or 'no'} more pair{'s' * (more != 1)}."
        words.append(f"Question {at} of {last}: {full[i]} and {full[j]}, similarity {alike}? {answer} {known}")
        said.append(f"{asks} Similarity {alike}. {answer}")
    made = {"pairs": np.transpose(columns).astype(int).tolist(), "tints": tints(run), "settled": done, "words": words}
    return made if texts is None else made | {"said": said}


def _joined(ordering: Ordering) -> list[tuple[int, ...]]:
    """The clusters known so far of at least two records."""
    labels = ordering.resolution.clusters
    return [tuple(part.tolist()) for one in np.unique(labels) if len(part := np.flatnonzero(labels == one)) > 1]


def tints(run: Resolution) -> list[list[str]]:
    """The background of every record after every question, coloured in clusters of at least two records.

    When clusters merge, the largest keeps its colour. No two have the same colour unless the colours run out.
    """
    found, used = [], {}
    for ordering in learned(run):
        joined = _joined(ordering)
        before, used = used, {part: used[part] for part in joined if part in used}
        for part in joined:
            if part not in used:
                kept = [old for old in before if set(old) <= set(part)]
                free = [tint for tint in TINTS if tint not in used.values()] or TINTS
                used[part] = before[max(kept, key=len)] if kept else free[0]
        tint_of = {record: tint for part, tint in used.items() for record in part}
        found.append([tint_of.get(record, SINGLE) for record in range(ordering.n)])
    return found


def still(given: Mapping[str, Any]) -> Figure:
    """The chart at the question where it begins: for each run the records on a circle, and their progress.

    `given` is what the page is given; where it has texts, the question stands below its circle.
    """
    runs, with_texts = given["runs"], "texts" in given
    fig = plt.figure(figsize=(3.2 * max(2, len(runs)), 7.2 if with_texts else 5))
    circles, progress = fig.subfigures(2, 1, height_ratios=[5.6 if with_texts else 3.1, 1.4])
    axes = circles.subplots(2 if with_texts else 1, len(runs), squeeze=False, height_ratios=[1, 0.8][: 1 + with_texts])
    ax = progress.subplots()
    for number, (name, run) in enumerate(runs.items()):
        done, (color, dashes) = run["settled"], RUNS[number]
        at = min(given["at"], len(done) - 1)
        asked = next(([a, b] for a, b, when, how, _ in run["pairs"] if when == at and how), [])
        _circle(axes[0, number], given["names"], run, at, asked)
        axes[0, number].set_title(f"{name}\n{at} questions", fontsize=10)
        if with_texts:
            _question(axes[1, number], [f"{given['names'][r]}: {given['texts'][r]}" for r in asked], run["said"][at])
        ax.step(range(len(done)), done, where="post", color=color, ls=dashes, label=name)
        ax.plot(at, done[at], "o", ms=7, color=color, mec=INK)
    looks = [plt.Line2D([], [], **look) for look in KINDS.values()]
    looks.append(plt.Line2D([], [], lw=7, label="this question", **ASKING))
    circles.legend(handles=looks, loc="lower center", ncols=3, fontsize=8.5, handlelength=2.4, columnspacing=1.2)
    ax.set(xlabel="questions asked", ylabel="pairs settled", ylim=(0, done[-1] * 1.1))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="upper left", fontsize=8.5)
    return fig


def _circle(ax: Axes, names: Sequence[str], run: Mapping[str, Any], at: int, asked: list[int]) -> None:
    """The records on a circle, with the pairs that are settled after a question."""
    angle = 2 * np.pi * np.arange(len(names)) / len(names)
    x, y = np.sin(angle), np.cos(angle)
    if asked:
        ax.plot(x[asked], y[asked], lw=10, **ASKING)
    pairs = np.array([pair for pair in run["pairs"] if pair[2] <= at]).reshape(-1, 5)
    for kind, look in KINDS.items():
        chosen = pairs[(pairs[:, 3:] == kind).all(axis=1), :2]
        ax.plot(x[chosen].T, y[chosen].T, **look | {"label": None})
    widths = [2.6 if record in asked else 1.2 for record in range(len(names))]
    ax.scatter(x, y, s=360, c=run["tints"][at], edgecolors=INK, linewidths=widths, zorder=3)
    for record, text in enumerate(names):
        ax.text(x[record], y[record], text, ha="center", va="center", fontsize=9, zorder=4)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal")
    ax.axis("off")


def _question(ax: Axes, parts: list[str], said: str) -> None:
    """The texts of the two records that are asked about, and what is asked and answered."""
    lines = [textwrap.fill(part, 32, subsequent_indent="     ") for part in parts] + [textwrap.fill(said, 32)]
    ax.text(0, 1, "\n".join(lines), va="top", fontsize=9.5, transform=ax.transAxes)
    ax.axis("off")
