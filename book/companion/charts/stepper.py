"""The interactive chart of `book.companion.charts.replay`: it steps through runs of orderings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence, Sized
from math import cos, pi, sin
from typing import Any

import pandas as pd

from book.companion.charts import replay
from book.companion.figures import EDGE, GREEN, INK, NODE, ORANGE, RED
from book.companion.interactive import Words, legible
from crowder import validation
from crowder.resolution import Resolution

__all__ = ["frame", "stepper"]

KINDS = {
    # (how, same): label, colour, dash
    ("asked", True): ("asked: match", GREEN, [1, 0]),
    ("asked", False): ("asked: no match", RED, [7, 4]),
    ("inferred", True): ("inferred: match", GREEN, [1, 0]),
    ("inferred", False): ("inferred: no match", RED, [2, 3]),
}
#: Line widths of the first and the last kind; Vega-Lite interpolates the others.
WIDTHS = [4, 0.7]
#: Background colours of clusters: light, so that dark text is legible.
TINTS = ["#bfe3f7", "#efcfe0", "#c4ead9", "#dcdcf2", "#f9cfb4", "#e4e4e4", "#f8dfa3"]
SINGLE = "white"
#: Dashes of the lines of the runs; their number limits that of the runs.
DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2]]


def frame(runs: Mapping[str, Resolution]) -> pd.DataFrame:
    """The data behind the chart: when and how each pair of each run was settled.

    Examples
    --------
    >>> frame({"edge": Resolution([[0, 1]], [True], [0, 0])}).to_dict("records")
    [{'ordering': 'edge', 'a': 0, 'b': 1, 'at': 1, 'how': 'asked', 'same': True}]
    """
    validation.kind(runs, Mapping, "runs must be a mapping from names to resolutions")
    parts = [replay.settled(replay.steps(run)).assign(ordering=name) for name, run in runs.items()]
    table = pd.concat(parts, ignore_index=True)
    return table[["ordering", *table.columns.drop("ordering")]]


def stepper(
    runs: Mapping[str, Resolution], names: Sequence[str], *, similarity=None, size: int = 300
) -> tuple[Any, Words]:
    """A chart that steps through runs on the same records, and its sentences.

    At most four runs, by name; the first is shown initially. `names` are those of the records, in their order on the
    circle, and `size` is the width in pixels. With a matrix of similarities, the sentences include that of each pair
    asked about. The chart has the parameters "ordering" and "question".

    Examples
    --------
    >>> chart, words = stepper({"edge": Resolution([[0, 1]], [True], [0, 0])}, ["a", "b"])
    >>> words.texts["edge", 1]
    'Question 1 of 1: a and b? Yes. This settles no more pairs. Known to be one: a b. Asked 1, inferred 0, open 0.'
    """
    import altair as alt

    validation.kind(runs, Mapping, "runs must be a mapping from names to resolutions")
    for run in runs.values():
        validation.kind(run, Resolution, "a run must be a Resolution")
    validation.kind(names, Sized, "names must be a list of the records' names")
    if similarity is not None:
        similarity = validation.numbers(similarity, "similarity")
        if similarity.shape != (len(names), len(names)):
            raise ValueError(f"similarity must be ({len(names)}, {len(names)}), not {similarity.shape}")
    validation.whole(size, "size, the width in pixels,", least=1)
    if not 1 <= len(runs) <= len(DASHES):
        raise ValueError(f"the chart can show one to {len(DASHES)} runs, not {len(runs)}")
    if any(len(run.clusters) != len(names) for run in runs.values()):
        raise ValueError(f"every run must have {len(names)} records, one per name")
    replays = {name: replay.steps(run) for name, run in runs.items()}
    last = max(len(steps) for steps in replays.values()) - 1
    words = Words(
        ["ordering", "question"],
        {(name, at): replay.words(replays[name], at, names, similarity) for name in runs for at in range(last + 1)},
    )
    ordering = alt.param(
        name="ordering", value=next(iter(runs)),
        bind=alt.binding_select(options=list(runs), name="Order "),
    )  # fmt: skip
    question = alt.param(name="question", value=0, bind=alt.binding_range(min=0, max=last, step=1, name="Question "))
    chart = legible(
        alt.vconcat(_circle(alt, runs, names, size), _progress(alt, replays, size), spacing=14)
        .add_params(ordering, question)
        .resolve_scale(color="independent", strokeDash="independent", strokeWidth="independent")
    )
    return chart, words


def tints(steps: Sequence[replay.Step]) -> list[list[str]]:
    """The background of every record after every question, coloured in clusters of at least two records.

    When clusters merge, the largest keeps its colour. No two have the same colour unless the colours run out.

    Examples
    --------
    >>> rows = tints(replay.steps(Resolution([[0, 1], [1, 2]], [True, False], [0, 0, 1])))
    >>> [[tint == SINGLE for tint in row] for row in rows]
    [[True, True, True], [False, False, True], [False, False, True]]
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


def _tint_spans(replays: Mapping[str, list[replay.Step]], last: int) -> list[dict[str, Any]]:
    """For every run and record, the ranges of questions with the same background."""
    rows = []
    for name, steps in replays.items():
        for record, spans in enumerate(zip(*tints(steps), strict=True)):
            begins = [at for at, tint in enumerate(spans) if at == 0 or tint != spans[at - 1]]
            for begin, end in zip(begins, [*(at - 1 for at in begins[1:]), last], strict=True):
                rows.append({"ordering": name, "record": record, "from": begin, "to": end, "tint": spans[begin]})
    return rows


def _circle(alt: Any, runs: Mapping[str, Resolution], names: Sequence[str], size: int) -> Any:
    """The records on a circle, with a line for each settled pair."""
    at = [(round(sin(2 * pi * i / len(names)), 4), round(cos(2 * pi * i / len(names)), 4)) for i in range(len(names))]
    pairs = frame(runs)
    pairs["kind"] = [KINDS[key][0] for key in zip(pairs.how, pairs.same, strict=True)]
    for column, record, axis in (("x", "a", 0), ("y", "a", 1), ("x2", "b", 0), ("y2", "b", 1)):
        pairs[column] = [at[r][axis] for r in pairs[record]]
    look = list(KINDS.values())
    legend = alt.Legend(title=None, orient="bottom", columns=2, symbolType="stroke", symbolSize=500, columnPadding=16)

    def scaled(values: list, key: str) -> Any:
        return getattr(alt, key)(
            "kind:O", sort=None, legend=legend, scale=alt.Scale(domain=[kind for kind, *_ in look], range=values)
        )

    def place(axis: str, field: str) -> Any:
        return getattr(alt, axis)(f"{field}:Q", axis=None, scale=alt.Scale(domain=[-1.12, 1.12]))

    # The pairs of the chosen ordering that are settled at the chosen question.
    lines = alt.Chart(pairs[["ordering", "at", "how", "kind", "x", "y", "x2", "y2"]]).transform_filter(
        "datum.ordering == ordering && datum.at <= question"
    )
    drawn = {
        "x": place("X", "x"), "y": place("Y", "y"), "x2": "x2", "y2": "y2",
        "color": scaled([color for _, color, _ in look], "Color"),
        "strokeDash": scaled([dash for _, _, dash in look], "StrokeDash"),
        "strokeWidth": scaled(WIDTHS, "StrokeWidth"),
    }  # fmt: skip
    now = lines.transform_filter("datum.at == question && datum.how == 'asked'").mark_rule(
        stroke=ORANGE, strokeWidth=13, opacity=0.55, strokeCap="round"
    )
    inferred, asked = (
        lines.transform_filter(f"datum.how == '{how}'").mark_rule().encode(**drawn).properties(name=how)
        for how in ("inferred", "asked")
    )
    replays = {name: replay.steps(run) for name, run in runs.items()}
    spans = pd.DataFrame(_tint_spans(replays, max(map(len, replays.values())) - 1))
    spans = spans.assign(**{axis: [at[r][i] for r in spans.record] for i, axis in enumerate("xy")})
    here = {"x": place("X", "x"), "y": place("Y", "y")}
    nodes = alt.Chart(pd.DataFrame([{"name": name, "x": x, "y": y} for name, (x, y) in zip(names, at, strict=True)]))
    circles = (
        alt.Chart(spans)
        .transform_filter("datum.ordering == ordering && datum.from <= question && question <= datum.to")
        .mark_circle(size=620, stroke=INK, strokeWidth=1.4, opacity=1)
        .encode(**here, fill=alt.Fill("tint:N", scale=None))
        .properties(name="records")
    )
    label = nodes.mark_text(fontSize=12.5, color=INK, baseline="middle").encode(**here, text="name:N")
    return alt.layer(
        now.encode(x=drawn["x"], y=drawn["y"], x2="x2", y2="y2").properties(name="now"), inferred, asked, circles, label
    ).properties(width=size, height=size * 0.86)


def _progress(alt: Any, replays: Mapping[str, list[replay.Step]], size: int) -> Any:
    """Pairs settled after each question, for every ordering, with a point at the chosen question."""
    rows = [
        {"run": name, "q": at, "pairs": step.asked + step.inferred}
        for name, steps in replays.items()
        for at, step in enumerate(steps)
    ]
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X("q:Q", title="questions asked", axis=alt.Axis(tickMinStep=1, format="d")),
        y=alt.Y("pairs:Q", title="pairs settled", axis=alt.Axis(tickMinStep=1, tickCount=4, format="d")),
    )
    legend = alt.Legend(title=None, orient="bottom", symbolType="stroke", symbolSize=500, columns=2)
    colors, dashes = [EDGE.color, NODE.color, INK, RED], DASHES  # edge and node ordering come first
    count = len(replays)
    line = base.mark_line(interpolate="step-after", strokeWidth=2).encode(
        color=alt.Color("run:N", scale=alt.Scale(domain=list(replays), range=colors[:count]), legend=legend),
        strokeDash=alt.StrokeDash("run:N", scale=alt.Scale(domain=list(replays), range=dashes[:count]), legend=legend),
    )
    # Beyond its last question, the point of a run stays at the end.
    last = {name: len(steps) - 1 for name, steps in replays.items()}
    end = " : ".join([*(f"ordering == {json.dumps(name)} ? {at}" for name, at in last.items()), "0"])
    here = base.transform_filter(f"datum.run == ordering && datum.q == min(question, {end})")
    point = here.mark_point(size=110, filled=True, color=ORANGE, stroke=INK, opacity=1).properties(name="here")
    return alt.layer(line, point).properties(width=size, height=90)
