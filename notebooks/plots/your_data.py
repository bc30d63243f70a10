"""Figures of the chapter *Your own data*."""

import matplotlib.pyplot as plt
import pandas as pd
from book.companion.figures import BLUE, EDGE, EVIDENCE, GREY, INK, NODE, RED, SKY
from book.companion.printing import escape_markup

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-plan-recall": (
        "Recall against the number of questions on a logarithmic scale, a band that rises from zero to one."
    ),
    "fig-plan-shrinks": "A band of planned questions around a dashed line, as answers come in.",
    "fig-plan-held": "Two panels of horizontal intervals, before any answer and after some. Most contain one.",
}

LOOKS = {"edge": EDGE, "node": NODE, "evidence": EVIDENCE}


def recall(curve, strategy, actual=None):
    """Recall as planned, with what is plausible, and the actual numbers if they are known."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    band = {"color": SKY, "alpha": 0.3, "lw": 0, "label": "plausible"}
    ax.fill_between(curve["questions"], curve["from"], curve["to"], **band)
    plan = LOOKS[strategy].line | {"label": "the plan"}
    ax.plot(curve["questions"], curve["recall"], **plan)
    if actual is not None:
        found = actual.iloc[:-1]  # the last row is the end of the run
        dots = {"color": INK, "label": "actual, by the labels"}
        ax.plot(found["questions"], found["recall"], "o", ms=4, **dots)
    ax.set(xlabel="questions", ylabel="matches found", xscale="log")
    ax.set(ylim=(-0.03, 1.03), xlim=(1, None))
    ax.legend(loc="lower right")
    return fig


def priced(planned, actual=None):
    """The table of a plan with its intervals in words, and the actual numbers of questions if they are known."""
    intervals = zip(planned["from"], planned["to"], strict=True)
    costs = planned[["cost", "cost_from", "cost_to"]].itertuples(index=False)
    shown = {
        "until": planned.index,
        "questions": planned["questions"].to_numpy(),
        "interval": [f"{low:,} – {high:,}" for low, high in intervals],
        "cost": [f"{cost:,.2f} ({low:,.2f} – {high:,.2f})" for cost, low, high in costs],
    }
    if actual is not None:
        shown["actual"] = actual["questions"].to_numpy()
    return pd.DataFrame(shown)


def side_by_side(sheet, fields):
    """The questions of a sheet, one record beside the other."""

    def one_line(row: pd.Series, side: str) -> str:
        cells = (row[f"{field}_{side}"].strip() for field in fields)
        return escape_markup(", ".join(filter(None, cells)))

    columns = {"record": "a", "the same as?": "b"}
    shown = {name: [one_line(row, side) for _, row in sheet.iterrows()] for name, side in columns.items()}
    return pd.DataFrame(shown | {"differs": sheet["differs"].map(escape_markup)})


def shrinks(plans):
    """The planned questions, batch after batch, around the actual number."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    band = {"color": SKY, "alpha": 0.3, "lw": 0, "label": "interval"}
    ax.fill_between(plans["answers"], plans["from"], plans["to"], **band)
    middle = {"color": EDGE.color, "marker": "o", "ms": 3.5, "label": "middle"}
    ax.plot(plans["answers"], plans["questions"], **middle)
    ax.axhline(plans["actual"].iloc[0], color=INK, ls="--", lw=1.2, label="actual")
    ax.set(xlabel="answers so far", ylabel="questions, as planned", yscale="log")
    ax.legend(loc="lower right")
    return fig


def held(before, after):
    """Planned questions as multiples of the actual number, before and after some answers."""
    titles = ("before any answer", f"after {after['answers'].max()} answers")
    fig, axes = plt.subplots(1, 2, figsize=(6.4, 3.6), sharey=True)
    for ax, part, title in zip(axes, (before, after), titles, strict=True):
        part = part.sort_values("actual", ignore_index=True)
        for y, line in part.iterrows():
            color, mark = (BLUE, "o") if line["held"] else (RED, "X")
            low, high = line["from"] / line["actual"], line["to"] / line["actual"]
            ax.plot([low, high], [y, y], lw=1.6, ls="-", color=color)
            ax.plot(line["questions"] / line["actual"], y, mark, ms=4, color=INK)
        ax.axvline(1, color=GREY, ls=":", lw=1.2)
        ax.set(xscale="log", xlabel="planned / actual questions", title=title)
        ax.minorticks_off()
    axes[0].set(ylabel="data set", yticks=[])
    return fig


def holds(real, stage):
    """Whether the interval of a stage, "before" any answer or after the "pilot", contains the actual number."""
    return real[f"{stage}_actual"].between(real[f"{stage}_from"], real[f"{stage}_to"])


def real(tried):
    """Plans of public records, a line for each sample."""

    def interval(stage: str) -> pd.Series:
        ends = [tried[f"{stage}_{end}"].map("{:,.0f}".format) for end in ("from", "to")]
        return ends[0] + " to " + ends[1] + holds(tried, stage).map({True: "", False: " ✗"})

    shown = {"records": tried["data"], "constants": tried["chosen_on"].map({True: "yes", False: ""})}
    shown |= {"number": tried["records"], "needed": tried["needed"].map("{:,}".format)}
    shown |= {"before any answer": interval("before"), "after the pilot": interval("pilot")}
    return pd.DataFrame(
        shown | {"asked": tried["asked"].map("{:,}".format), "recall": tried["recall"].map("{:.1%}".format)}
    )
