"""A figure with a slider: what book/static/slider.js shows, and its still picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from book.companion import figures, results
from book.companion.drawn import drawn


def show(
    states: Mapping[Any, tuple[Figure, str]],
    name: str,
    *,
    label: str,
    at: Any,
    caption: str,
    alt: str,
    data: pd.DataFrame,
) -> None:
    """Display one picture of several, chosen by a slider, with a sentence that says what it shows.

    `states` maps values of what the slider is about, `label`, to a picture and its sentence. The picture at the value
    `at` is the still one, which remains where no scripts run, and in print. The other arguments are those of
    `book.companion.figures.show`.
    """
    given = {
        "label": label,
        "at": list(states).index(at),
        "values": [str(value) for value in states],
        "pictures": [figures.drawing(fig).decode() for fig, _ in states.values()],
        "words": [words for _, words in states.values()],
    }
    figures.show(states[at][0], name, caption=caption, alt=alt, data=data)
    if (folder := results.folder()) is not None:
        shown = {f"{label} {value}": {"says": words, "drawn": drawn(fig)} for value, (fig, words) in states.items()}
        results.write(folder / "sliders" / f"{name}.json", results.as_json(shown))
    for fig, _ in states.values():
        plt.close(fig)
    results.chart("slider", name, given)
