"""What a figure shows, in lines that a reviewer can compare: axes, words, legend and, by its look, what is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import Collection, PathCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch


def drawn(fig: Figure) -> list[str]:
    """The lines of a figure.

    Points of one look, such as all green dashed lines, are summed up: how many parts and points there are, and the sums
    of x, of y, and of their products, in which an order counts.

    >>> from matplotlib import pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> _ = ax.plot([0, 1, 2], [0, 1, 4], "k--", linewidth=2, label="squares"), ax.set_title("A parabola"), ax.legend()
    >>> for line in drawn(fig):
    ...     print(line)
    axes 1: A parabola
    axes 1, x: linear from -0.1 to 2.1
    axes 1, y: linear from -0.2 to 4.2
    axes 1, legend: squares: line #000000 2 --
    axes 1, line #000000 2 --: 1 with 3 points; sums 3, 5, 9
    >>> plt.close(fig)
    """
    lines = [f"figure: {_words(text.get_text())}" for text in fig.texts if text.get_text()]
    lines += [f"figure, legend: {line}" for legend in fig.legends for line in _legend(legend)]
    for number, ax in enumerate(fig.axes, start=1):
        lines += [f"axes {number}{line}" for line in _axes(ax)]
    return lines


def _axes(ax: Axes) -> Iterator[str]:
    yield from (f": {_words(title)}" for where in ("left", "center", "right") if (title := ax.get_title(loc=where)))
    for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        if ax.axison and axis.get_visible():
            low, high = axis.get_view_interval() if not axis.get_inverted() else axis.get_view_interval()[::-1]
            label = f"{_words(axis.get_label_text())}, " if axis.get_label_text() else ""
            yield f", {name}: {label}{axis.get_scale()} from {_shown(low)} to {_shown(high)}"
            ticks = [_words(tick.get_text()) for tick in axis.get_ticklabels()]
            if any(tick and not tick.strip("−-").replace(".", "").isdigit() for tick in ticks):
                yield f", {name}, ticks: {' | '.join(ticks)}"
    if ax.get_legend():
        yield from (f", legend: {line}" for line in _legend(ax.get_legend()))
    if texts := [text for text in ax.texts if text.get_text()]:
        places = (f"{_words(text.get_text())} at {', '.join(map(_shown, text.get_position()))}" for text in texts)
        yield f", texts: {' | '.join(places)}"
    looks: dict[str, list[np.ndarray]] = {}
    for artist in (*ax.lines, *ax.patches, *ax.collections, *ax.images):
        if artist.get_visible():
            looks.setdefault(_look(artist), []).append(_points(artist))
    for look, parts in looks.items():
        points = np.concatenate(parts)
        sums = (points[:, 0].sum(), points[:, 1].sum(), (points[:, 0] * points[:, 1]).sum())
        yield f", {look}: {len(parts)} with {len(points)} points; sums {', '.join(map(_shown, sums))}"


def _legend(legend: Any) -> Iterator[str]:
    if title := legend.get_title().get_text():
        yield _words(title)
    for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
        yield f"{_words(text.get_text())}: {_look(handle)}"


def _look(artist: Artist) -> str:
    """How something is drawn: its kind, colours, dashes, marker and hatch."""
    if isinstance(artist, Line2D):
        dashes, marker = (None if str(mark) in ("None", "none", "") else str(mark)
                          for mark in (artist.get_linestyle(), artist.get_marker()))  # fmt: skip
        width = f"{artist.get_linewidth():g}" if dashes else None
        return " ".join(filter(None, ["line", to_hex(artist.get_color()), width, dashes, marker]))
    kind = type(artist).__name__
    if isinstance(artist, Patch):
        face, edge = artist.get_facecolor(), artist.get_edgecolor()
        return " ".join(filter(None, [kind, to_hex(face if face[3] else edge), artist.get_hatch()]))
    if isinstance(artist, Collection):
        face, edge = artist.get_facecolor(), artist.get_edgecolor()
        colours = face if len(face) and face[:, 3].any() else edge
        found = list(dict.fromkeys(to_hex(colour) for colour in colours))
        return " ".join(filter(None, [kind, ", ".join(found[:6]), artist.get_hatch()]))
    return kind


def _points(artist: Artist) -> np.ndarray:
    """The points by which something is drawn, in the coordinates of its data."""
    if isinstance(artist, Line2D):
        found = artist.get_xydata()
    elif isinstance(artist, Patch):
        found = artist.get_path().transformed(artist.get_patch_transform()).vertices
    elif isinstance(artist, (QuadMesh, AxesImage)):
        values = np.ma.filled(np.ma.asarray(artist.get_array(), dtype=float), np.nan).ravel()
        found = np.column_stack([np.arange(len(values)) % 97, values])  # so that exchanged values count
    elif isinstance(artist, PathCollection):
        found = artist.get_offsets()
    else:
        found = np.concatenate([np.empty((0, 2)), *(path.vertices for path in artist.get_paths())])
    found = np.ma.filled(np.ma.asarray(found, dtype=float), np.nan).reshape(-1, 2)
    return found[np.isfinite(found).all(axis=1)]


def _words(text: str) -> str:
    return " ".join(text.split())


def _shown(number: float) -> str:
    """Six digits; what is left where rounding errors cancel is 0."""
    return f"{round(float(number), 9) + 0.0:.6g}"
