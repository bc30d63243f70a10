"""Figures and tables: one house style, each saved with its data.

A chapter draws a figure and passes it on once::

    fig, ax = plt.subplots()
    ax.plot(x, model.green.pdf(x), **MATCH.line, label="matches")
    figure(fig, "fig-dist1", caption="...", alt="...", data=frame)

In a plain Jupyter session this only shows the figure and, below it, its caption. During a build, the environment
variable ``CROWDER_RESULTS`` names a folder, and the same call also writes ``fig-dist1.svg``, ``.csv`` and ``.json``
there.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib import font_manager
from matplotlib.figure import Figure
from matplotlib.text import Text

from book.companion import results
from book.companion.drawn import drawn
from book.companion.printing import markdown_table

# The colours of Okabe and Ito, distinguishable with every common form of colour blindness; their orange, too pale for a
# line on white, is darkened.
GREEN = "#009e73"
RED = "#d55e00"
BLUE = "#0072b2"
ORANGE = "#bf8300"
PURPLE = "#cc79a7"
SKY = "#56b4e9"
INK = "#222222"
GREY = "#767676"

#: A phone shows a figure of this width, in inches, with text of the least size, in points, at eleven pixels or more.
WIDEST = 4.9
LEAST_TEXT = 10.5
_FONTS = [Path(__file__).parents[1] / "data" / "fonts" / f"{name}.ttf" for name in ("sans", "sans-semibold")]


class Style(NamedTuple):
    """How one kind of pair is drawn, distinguished by more than its colour: keyword arguments."""

    color: str
    line: dict[str, Any]  # for ``ax.plot``
    points: dict[str, Any]  # for ``ax.plot`` or ``ax.scatter``, with markers only
    fill: dict[str, Any]  # for ``ax.fill_between``, ``ax.bar`` or ``ax.hist``


def _style(color: str, linestyle: Any, marker: str, hatch: str) -> Style:
    return Style(
        color,
        {"color": color, "linestyle": linestyle},
        {"color": color, "linestyle": "none", "marker": marker},
        # No face: in Matplotlib's SVG a translucent face would hide the hatch.
        {"facecolor": "none", "edgecolor": color, "hatch": hatch, "linewidth": 0.8},
    )


#: The paper's "green" pairs: both records belong to one entity.
MATCH = _style(GREEN, "-", "o", "///")
#: The paper's "red" pairs: the records belong to different entities.
NONMATCH = _style(RED, "--", "s", "\\\\\\")

# Each ordering and each bound looks the same in all figures.
EDGE = _style(ORANGE, "-", "D", "//")
NODE = _style(BLUE, "--", "o", "\\\\")
EVIDENCE = _style(PURPLE, "-.", "^", "..")
NOISY = _style(INK, "-", "o", "oo")
#: The fewest possible questions, n - k + C(k, 2), from answers alone.
FEWEST = _style(GREY, ":", "_", "--")
#: The paper's upper bounds, as printed and as corrected.
PRINTED = _style(RED, (0, (1, 1)), "x", "xx")
CORRECTED = _style(INK, (0, (6, 2)), "D", "++")


def use_style() -> None:
    """Set the house style for every figure drawn afterwards, as the import of this module does.

    Text in figures becomes outlines, so that it does not depend on the reader's fonts. Identifiers are hashed with a
    constant salt, so that equal figures are equal files.
    """
    known = {font.fname for font in font_manager.fontManager.ttflist}
    for path in _FONTS:
        if str(path) not in known:
            font_manager.fontManager.addfont(path)
    colors = [BLUE, ORANGE, GREEN, PURPLE, RED, SKY]
    dashes = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1))]
    mpl.rcParams.update({
        "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
        "axes.prop_cycle": mpl.cycler(color=colors) + mpl.cycler(linestyle=dashes),
        "axes.spines.right": False, "axes.spines.top": False,
        # Text as on the pages; other characters, and the letters of formulas, from fonts that Matplotlib has.
        "font.family": ["Companion Sans", "DejaVu Sans"],
        "mathtext.fontset": "custom", "mathtext.rm": "Companion Sans", "mathtext.bf": "Companion Sans:bold",
        **dict.fromkeys(["mathtext.it", "mathtext.cal"], "STIXGeneral:italic"), "mathtext.fallback": "stix",
        "axes.titlesize": 11.5, "axes.labelsize": 11,
        "xtick.labelsize": LEAST_TEXT, "ytick.labelsize": LEAST_TEXT,
        "legend.fontsize": LEAST_TEXT, "legend.title_fontsize": LEAST_TEXT, "legend.frameon": False,
        "axes.linewidth": 0.8, "xtick.major.width": 0.8, "ytick.major.width": 0.8, "xtick.major.size": 4,
        "ytick.major.size": 4, "xtick.minor.size": 2, "ytick.minor.size": 2, "xtick.minor.width": 1,
        "ytick.minor.width": 1, "lines.linewidth": 1.8, "lines.solid_capstyle": "round", "hatch.linewidth": 0.6,
        "patch.edgecolor": "w", "patch.force_edgecolor": True,
        "axes.axisbelow": True, "grid.color": ".8", "grid.linewidth": 1, "font.size": 12,
        # Transparent, so that the page's own background shows, light or dark.
        "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
        "figure.figsize": (WIDEST, 3.2), "figure.constrained_layout.use": True, "figure.dpi": 100,
        "svg.fonttype": "path", "svg.hashsalt": "crowder",
    })  # fmt: skip


def show(
    fig: Figure,
    name: str,
    *,
    caption: str,
    alt: str,
    data: pd.DataFrame,
    picture: bytes | None = None,
) -> None:
    """Display a figure and, during a build, save it with its data; close it.

    The name, such as "fig-line", is that of the files and the label for ``{numref}``; `caption` is a paragraph of
    Markdown, and `alt` what a reader who cannot see the figure needs to know, as plain text. The numbers plotted,
    `data`, are saved as CSV with full precision. A notebook shows `picture`, a PNG, in place of the figure if it is
    given.

    >>> fig, ax = plt.subplots()
    >>> frame = pd.DataFrame({"x": [0, 1], "y": [1, 0]})
    >>> show(fig, "fig-line", caption="A line.", alt="A line falls from one to zero.", data=frame)
    [figure fig-line: A line falls from one to zero.]
    A line.
    """
    facts = _facts("figure", name, data, caption=caption, alt=alt)
    svg, png = drawing(fig), picture or as_png(fig)
    _save(facts | {"drawn": drawn(fig)}, svg=svg, csv=_csv(data))
    plt.close(fig)
    text = f"[figure {name}: {facts['alt']}]"
    _show_anchor(facts)
    results.display({"image/png": base64.b64encode(png).decode(), "text/plain": text}, facts)
    _show_caption(facts)


def drawing(fig: Figure) -> bytes:
    """The figure as SVG, legible on a phone."""
    _for_a_phone(fig)
    return _lean(_as_svg(fig))


def table(
    frame: pd.DataFrame,
    name: str,
    *,
    caption: str,
    formats: Mapping[str, str | Callable[[Any], str]] | None = None,
    shown: pd.DataFrame | None = None,
) -> None:
    """Display a table and, during a build, save its data as CSV with full precision.

    An index other than 0, 1, 2, … becomes the first column. The page shows `shown`, if that differs from the data, such
    as a mean and its interval in one cell. `formats` maps columns to a format specification or a function from a value
    to text; other columns have integers with a comma between thousands, and floats with four significant digits.

    >>> table(pd.DataFrame({"t": [1, 2], "L": [0.5, 0.25]}), "tab-l", caption="The integral.", formats={"L": ".2f"})
    |   t |    L |
    |----:|-----:|
    |   1 | 0.50 |
    |   2 | 0.25 |
    The integral.
    """
    facts = _facts("table", name, frame, caption=caption)
    markdown = markdown_table(_columns(frame if shown is None else shown), formats or {})
    _save(facts, csv=_csv(frame))
    _show_anchor(facts)
    results.display({"text/markdown": markdown, "text/plain": markdown}, facts)
    _show_caption(facts)


def _show_caption(facts: dict[str, str]) -> None:
    """Display the caption below its figure or table, for readers of the notebook; the page has it from `facts`.

    It has the number of the page.
    """
    number = results.NUMBERED.get(facts["name"], "")
    caption = f"**{number}.** " * bool(number) + facts["caption"]
    results.display({"text/markdown": caption, "text/plain": caption}, {"kind": "caption", "name": facts["name"]})


def _show_anchor(facts: dict[str, str]) -> None:
    """Let links in the notebook lead to the top of its figure or table."""
    anchor = f'<a id="{facts["name"]}"></a>'
    results.display({"text/markdown": anchor, "text/plain": ""}, {"kind": "caption", "name": facts["name"]})


def _facts(kind: str, name: str, data: pd.DataFrame, **texts: str) -> dict[str, str]:
    """Check the texts of a figure or table of these data; return them as the metadata of the output."""
    if data.attrs.get("basis") == "recorded" and "recorded" not in texts["caption"].lower():
        raise ValueError(f"{kind} {name}: the caption must say that the data were recorded")
    for what, text in texts.items():
        if not text.strip():
            raise ValueError(f"{kind} {name}: {what} is empty")
    return {"kind": kind, "name": name} | {what: " ".join(text.split()) for what, text in texts.items()}


def _columns(data: pd.DataFrame) -> pd.DataFrame:
    """The frame, with an index that carries information turned into columns."""
    return data if isinstance(data.index, pd.RangeIndex) and data.index.name is None else data.reset_index()


def _for_a_phone(fig: Figure) -> None:
    """Narrow the figure to `WIDEST`, and enlarge text below `LEAST_TEXT`."""
    width, height = fig.get_size_inches()
    fig.set_size_inches(min(width, WIDEST), height)
    for text in fig.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), LEAST_TEXT))


def _as_svg(fig: Figure) -> bytes:
    buffer, undated = io.BytesIO(), {"Date": None, "Creator": None}
    fig.savefig(buffer, format="svg", bbox_inches="tight", pad_inches=0.05, transparent=True, metadata=undated)
    return buffer.getvalue()


def as_png(fig: Figure) -> bytes:
    """The picture that a notebook shows; the page has the SVG.

    JupyterLab shows no SVG in a notebook that is not trusted. The picture is opaque, because its text is dark and the
    theme of JupyterLab may also be.
    """
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", dpi=110, bbox_inches="tight", pad_inches=0.05, facecolor="white",
                metadata={"Software": None})  # fmt: skip
    return buffer.getvalue()


def _lean(svg: bytes) -> bytes:
    """Shrink an SVG to about half its size by rounding coordinates to hundredths of a point."""
    text = re.sub(r"<metadata>.*?</metadata>", "", svg.decode(), flags=re.DOTALL)
    text = re.sub(r'(?<= )(?:d|x|y|points)="[^"]*"', _hundredths, text)
    return re.sub(r">\s+<", "><", text).encode()


def _hundredths(attribute: re.Match[str]) -> str:
    short = re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), attribute[0])
    return " ".join(short.split()).replace(' "', '"')


def _csv(frame: pd.DataFrame) -> bytes:
    # Without a float format, pandas writes the shortest text that gives the same float when read.
    return _columns(frame).to_csv(index=False, lineterminator="\n").encode()


def _save(facts: dict[str, Any], **files: bytes) -> None:
    """Write name.svg, name.csv, …, and name.json with caption, alternative text and what is drawn."""
    if (folder := results.folder()) is not None:
        for suffix, content in (files | {"json": results.as_json(facts)}).items():
            results.write(folder / f"{facts['name']}.{suffix}", content)


use_style()
