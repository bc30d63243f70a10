"""A figure with a slider: what book/static/slider.js shows, its still picture, and all pictures side by side."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
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
    `at` is the still one, which remains where no scripts run, and in print. A notebook shows all of them. The other
    arguments are those of `book.companion.figures.show`.
    """
    given = {
        "label": label,
        "at": list(states).index(at),
        "values": [str(value) for value in states],
        "pictures": [figures.drawing(fig).decode() for fig, _ in states.values()],
        "words": [words for _, words in states.values()],
    }
    every = side_by_side({f"{label}: {value}": fig for value, (fig, _) in states.items()})
    figures.show(states[at][0], name, caption=caption, alt=alt, data=data, picture=every)
    if (folder := results.folder()) is not None:
        shown = {f"{label} {value}": {"says": words, "drawn": drawn(fig)} for value, (fig, words) in states.items()}
        results.write(folder / "sliders" / f"{name}.json", results.as_json(shown))
    for fig, _ in states.values():
        plt.close(fig)
    results.chart("slider", name, given)


def side_by_side(pictures: Mapping[str, Figure]) -> bytes:
    """These figures under their titles, in two columns, as a PNG."""
    drawn = {title: plt.imread(BytesIO(figures.as_png(fig))) for title, fig in pictures.items()}
    high, wide = (max(picture.shape[side] for picture in drawn.values()) for side in (0, 1))
    rows = -(-len(drawn) // 2)
    whole, axes = plt.subplots(rows, 2, figsize=(9, rows * (4.5 * high / wide + 0.3)), squeeze=False)
    for ax in axes.flat:
        ax.axis("off")
    for ax, (title, picture) in zip(axes.flat, drawn.items(), strict=False):
        ax.imshow(picture)
        ax.set_title(title)
    png = figures.as_png(whole)
    plt.close(whole)
    return png
