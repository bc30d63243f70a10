"""The fonts of ``book/data/fonts`` within a style sheet: even from a folder, they are there before a page is drawn.

Text is set in Source Serif 4, Source Sans 3 and Source Code Pro, renamed as their licence asks, and formulas in STIX
Two Math; all are reduced to the characters that the pages need.
"""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

SHEET = "fonts.css"
FONTS = Path(__file__).parents[1] / "data" / "fonts"
#: File -> family, weight and style.
FACES = {
    "serif.woff": ("Companion Serif", 400, "normal"),
    "serif-italic.woff": ("Companion Serif", 400, "italic"),
    "serif-semibold.woff": ("Companion Serif", 600, "normal"),
    "sans.ttf": ("Companion Sans", 400, "normal"),  # these two are in the figures as well
    "sans-semibold.ttf": ("Companion Sans", 600, "normal"),
    "code.woff": ("Companion Code", 400, "normal"),
    "maths.woff": ("Maths", 400, "normal"),
}


def sheet() -> str:
    """The style sheet."""
    rule = '@font-face {{ font-family: "{}"; font-weight: {}; font-style: {}; src: url(data:font/{};base64,{}); }}\n'
    return "".join(
        rule.format(*face, file.rpartition(".")[2], b64encode((FONTS / file).read_bytes()).decode())
        for file, face in FACES.items()
    )


def write(app: Any) -> None:
    path = Path(app.outdir, "_static", SHEET)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(sheet(), encoding="utf-8")


def setup(app: Any) -> None:
    app.add_css_file(SHEET)
    app.connect("builder-inited", write)
