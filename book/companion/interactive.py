"""Interactive figures: Vega-Lite charts with controls.

A chapter builds an Altair chart whose parameters are bound to inputs, with a sentence on what each setting shows::

    cr.interactive.show(chart, "fig-stepper", caption="...", alt="...", data=frame, words=..., still={"question": 3})

In a Jupyter session this shows the chart. During a build, a still picture and the data are saved as for a figure. On
the page the chart replaces the still picture if scripts run; otherwise, and in print, the still picture remains.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from book.companion import figures, results
from book.companion.figures import INK
from crowder import validation

__all__ = ["Words", "legible", "show"]

#: The MIME type of a chart in Jupyter, from which `to_myst` reads the specification.
VEGALITE = "application/vnd.vegalite.v6+json"


class Words:
    """A sentence for every setting of some parameters, for readers who cannot see the chart.

    `by` names parameters of the chart; `texts` maps each tuple of their values, in this order, to the sentence.

    Examples
    --------
    >>> Words(["model", "epsilon"], {("dist1", 0.1): "Few.", ("dist1", 0.2): "More."}).nested()
    {'dist1': {'0.1': 'Few.', '0.2': 'More.'}}
    """

    def __init__(self, by: Sequence[str], texts: Mapping[tuple, str]) -> None:
        validation.kind(by, (list, tuple), "by must be a list of names of parameters")
        for name in by:
            validation.kind(name, str, "the name of a parameter must be text")
        validation.kind(texts, Mapping, "texts must be a mapping from settings to sentences")
        self.by, self.texts = list(by), dict(texts)
        if not self.texts or any(not isinstance(key, tuple) or len(key) != len(self.by) for key in self.texts):
            raise ValueError(f"words are needed for settings of {', '.join(self.by)}: tuples of {len(self.by)} values")
        values = [dict.fromkeys(setting[at] for setting in self.texts) for at in range(len(self.by))]
        for setting in product(*values):
            if not str(self.texts.get(setting, "")).strip():
                raise ValueError(f"no words for {dict(zip(self.by, setting, strict=True))}")

    def nested(self) -> dict[str, Any]:
        """The sentences as nested mappings, from the text of each value in turn."""
        found: dict[str, Any] = {}
        for setting, text in self.texts.items():
            inner = found
            for value in setting[:-1]:
                inner = inner.setdefault(_key(value), {})
            inner[_key(setting[-1])] = text
        return found


def show(
    chart: Any,
    name: str,
    *,
    caption: str,
    alt: str,
    data: pd.DataFrame,
    words: Words,
    step: str | None = None,
    still: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> None:
    """Display an interactive chart and, during a build, save a still picture of it with its data.

    Parameters
    ----------
    chart : altair.TopLevelMixin or dict
        A chart, or its Vega-Lite specification, with named top-level parameters that are bound to inputs.
    name, caption, alt, data, parameters
        As for `book.companion.figures.show`.
    words : Words
        What each setting shows; screen readers announce it when the setting changes.
    step : str, optional
        The parameter that the buttons "Back" and "Next" move.
    still : mapping, optional
        Values of parameters in the still picture; the others keep their initial value.

    Examples
    --------
    >>> spec = {"data": {"values": [{"x": 1}]}, "mark": "point", "encoding": {"x": {"field": "x"}},
    ...         "params": [{"name": "k", "value": 1, "bind": {"input": "range", "min": 1, "max": 2, "step": 1}}]}
    >>> show(spec, "fig-k", caption="One k.", alt="A point.", data=pd.DataFrame({"x": [1]}),
    ...      words=Words(["k"], {(1,): "One.", (2,): "Two."}))
    [interactive fig-k: A point.]
    """
    facts = figures._facts("figure", name, caption=caption, alt=alt) | {"kind": "interactive"}
    if not isinstance(chart, dict) and not hasattr(chart, "to_dict"):
        raise TypeError(f"figure {name}: expected a chart or its specification, not {chart!r}")
    validation.kind(words, Words, f"figure {name}: words must be Words")
    validation.kind(step, (str, type(None)), f"figure {name}: step must be the name of a parameter")
    validation.kind(still, (Mapping, type(None)), f"figure {name}: still must be a mapping from parameters to values")
    spec = copy.deepcopy(chart if isinstance(chart, dict) else chart.to_dict())
    bound = {entry["name"] for entry in spec.get("params", []) if "bind" in entry}
    for what in [*words.by, *([step] if step else []), *(still or {})]:
        if what not in bound:
            raise ValueError(f"figure {name}: no parameter {what!r} is bound to an input; there are {sorted(bound)}")
    spec["usermeta"] = {"crowder": {"by": words.by, "words": words.nested(), "step": step}}
    frame = figures._columns(data, name)
    svg, png = _still(spec, still or {})
    figures._save(facts, parameters, svg=svg, png=png, csv=figures._csv(frame))
    # A front end without Vega-Lite shows the still picture.
    text = f"[interactive {name}: {facts['alt']}]"
    results.display({VEGALITE: spec, "image/svg+xml": svg.decode(), "text/plain": text}, facts)


def legible(chart: Any) -> Any:
    """Apply the house style to an Altair chart: a transparent background, and text that is legible on a phone.

    Examples
    --------
    >>> import altair as alt
    >>> legible(alt.Chart().mark_point()).to_dict()["config"]["background"]
    'transparent'
    """
    letters = {"labelFontSize": 12, "titleFontSize": 12.5, "titleFontWeight": "normal"}
    letters |= {"labelColor": INK, "titleColor": INK}
    return (
        # The text beside the chart says what it shows, so a screen reader may treat it as one image.
        chart.configure(background="transparent", font="sans-serif", aria=False)
        .configure_axis(**letters, grid=False, domainColor=INK, tickColor=INK)
        .configure_legend(**letters, labelLimit=0)
        .configure_view(stroke=None)
    )


def _still(spec: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[bytes, bytes]:
    """The chart without its controls, as SVG and PNG."""
    import vl_convert  # here, because it takes a second and few chapters need it

    shown = copy.deepcopy(dict(spec))
    for entry in shown["params"]:
        entry.pop("bind", None)
        if entry["name"] in values:
            entry["value"] = values[entry["name"]]
    svg = vl_convert.vegalite_to_svg(shown)
    # The PNG may be used elsewhere, for example on slides, on any background.
    shown["config"] = shown.get("config", {}) | {"background": "white"}
    return svg.encode(), vl_convert.vegalite_to_png(shown, scale=2)


def _key(value: Any) -> str:
    """The text into which the script on a page converts a value."""
    return f"{value:.15g}" if isinstance(value, (int, float)) else str(value)
