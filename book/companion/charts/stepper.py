"""The interactive chart of `book.companion.charts.replay`, in Vega-Lite: it steps through runs of orderings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from book.companion import figures, results
from book.companion.charts import replay
from book.companion.figures import EDGE, GREEN, INK, NODE, ORANGE, RED
from crowder.resolution import Resolution

__all__ = ["show"]

#: The steps of each run, by name.
Replays: TypeAlias = Mapping[str, Sequence[replay.Step]]

#: The MIME type of a chart in Jupyter, from which `to_myst` reads the specification.
VEGALITE = "application/vnd.vegalite.v6+json"
#: The width in pixels.
SIZE = 300
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
    """Display a chart that steps through runs and, during a build, save a still picture of one question with the data.

    The runs, at most four, are of the same records; the first is shown initially. `names` are those of the records, in
    their order on the circle. A sentence for each setting is what readers have who cannot see the chart; with a matrix
    of similarities it includes that of the pair asked about. On the page the chart takes the place of the still
    picture, which remains where no scripts run, and in print. The other arguments are those of
    `book.companion.figures.show`.
    """
    facts = figures._facts("figure", name, caption=caption, alt=alt) | {"kind": "interactive"}
    replays = {ordering: replay.steps(run) for ordering, run in runs.items()}
    spec = chart(replays, names).to_dict()
    texts = sentences(replays, names, similarity)
    spec["usermeta"] = {"crowder": {"by": ["ordering", "question"], "words": texts, "step": "question"}}
    svg, png = _still(spec, question)
    figures._save(facts, None, svg=svg, png=png, csv=figures._csv(frame(replays)))
    # A front end without Vega-Lite shows the still picture.
    text = f"[interactive {name}: {facts['alt']}]"
    results.display({VEGALITE: spec, "image/svg+xml": svg.decode(), "text/plain": text}, facts)


def frame(replays: Replays) -> pd.DataFrame:
    """The data behind the chart: when and how each pair of each run was settled."""
    parts = [replay.settled(steps).assign(ordering=name) for name, steps in replays.items()]
    return pd.concat(parts, ignore_index=True)[["ordering", "a", "b", "at", "how", "same"]]


def sentences(replays: Replays, names: Sequence[str], similarity=None) -> dict[str, dict[str, str]]:
    """What each question of each run shows, up to the end of the longest."""
    last = max(map(len, replays.values()))
    return {
        name: {str(at): replay.words(steps, at, names, similarity) for at in range(last)}
        for name, steps in replays.items()
    }


def chart(replays: Replays, names: Sequence[str]) -> Any:
    """The chart, with the parameters "ordering" and "question"."""
    import altair as alt

    last = max(map(len, replays.values())) - 1
    ordering = alt.param(
        name="ordering", value=next(iter(replays)),
        bind=alt.binding_select(options=list(replays), name="Order "),
    )  # fmt: skip
    question = alt.param(name="question", value=0, bind=alt.binding_range(min=0, max=last, step=1, name="Question "))
    # Legible on a phone.
    letters = {"labelFontSize": 12, "titleFontSize": 12.5, "titleFontWeight": "normal"}
    letters |= {"labelColor": INK, "titleColor": INK}
    return (
        alt.vconcat(_circle(alt, replays, names), _progress(alt, replays), spacing=14)
        .add_params(ordering, question)
        .resolve_scale(color="independent", strokeDash="independent", strokeWidth="independent")
        # The text beside the chart says what it shows, so a screen reader may treat it as one image.
        .configure(background="transparent", font="sans-serif", aria=False)
        .configure_axis(**letters, grid=False, domainColor=INK, tickColor=INK)
        .configure_legend(**letters, labelLimit=0)
        .configure_view(stroke=None)
    )


def _still(spec: Mapping[str, Any], question: int) -> tuple[bytes, bytes]:
    """The chart at a question, without its controls, as SVG and PNG."""
    import vl_convert  # here, because it takes a second and few chapters need it

    at = {entry["name"]: entry["value"] for entry in spec["params"]} | {"question": question}
    shown = {**spec, "params": [{"name": name, "value": value} for name, value in at.items()]}
    svg = vl_convert.vegalite_to_svg(shown)
    # The PNG may be used elsewhere, for example on slides, on any background.
    shown["config"] = shown["config"] | {"background": "white"}
    return svg.encode(), vl_convert.vegalite_to_png(shown, scale=2)


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


def _tint_spans(replays: Replays) -> list[dict[str, Any]]:
    """For every run and record, the ranges of questions with the same background."""
    rows, last = [], max(map(len, replays.values())) - 1
    for name, steps in replays.items():
        for record, spans in enumerate(zip(*tints(steps), strict=True)):
            begins = [at for at, tint in enumerate(spans) if at == 0 or tint != spans[at - 1]]
            for begin, end in zip(begins, [*(at - 1 for at in begins[1:]), last], strict=True):
                rows.append({"ordering": name, "record": record, "from": begin, "to": end, "tint": spans[begin]})
    return rows


def _circle(alt: Any, replays: Replays, names: Sequence[str]) -> Any:
    """The records on a circle, with a line for each settled pair."""
    at = [(round(sin(2 * pi * i / len(names)), 4), round(cos(2 * pi * i / len(names)), 4)) for i in range(len(names))]
    pairs = frame(replays)
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
    spans = pd.DataFrame(_tint_spans(replays))
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
    ).properties(width=SIZE, height=SIZE * 0.86)


def _progress(alt: Any, replays: Replays) -> Any:
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
    return alt.layer(line, point).properties(width=SIZE, height=90)
