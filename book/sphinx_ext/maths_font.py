"""The fonts of the pages, within style sheets: from a folder, too, they are there before a page is drawn.

Text is set in the fonts of ``book/data/fonts``: Source Serif 4, Source Sans 3 and Source Code Pro, reduced to the
characters of European languages with the signs of formulas, and renamed, as their licence asks.

Formulas are set in STIX Two Math, reduced to the characters that the pages use, and adapted to browsers. These set
stretched delimiters and roots with two flaws, which are cured in the font:

- A delimiter of any height is as wide as its widest variant, so a small one would stand between gaps, and a root be
  followed by one. Here all variants have the width of a small one; the few that are wider stick out on both sides.
- TeX's prime is a large one set as a superscript. The font has a small raised one at its place.

Its italic g is the one of TeX, with a single storey.
"""

from __future__ import annotations

import re
from base64 import b64encode
from html import unescape
from importlib.metadata import distribution
from io import BytesIO
from pathlib import Path
from typing import Any

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

SHEET = "maths.css"
TEXT_SHEET = "fonts.css"
FONTS = Path(__file__).parents[1] / "data" / "fonts"
#: File -> family, weight and style.
FACES = {
    "serif": ("Companion Serif", 400, "normal"),
    "serif-italic": ("Companion Serif", 400, "italic"),
    "serif-semibold": ("Companion Serif", 600, "normal"),
    "sans": ("Companion Sans", 400, "normal"),
    "sans-semibold": ("Companion Sans", 600, "normal"),
    "code": ("Companion Code", 400, "normal"),
}
DELIMITERS = "()[]{}⌊⌋⌈⌉⟨⟩|‖√"
PRIMES = "′″‴"
ITALIC_G = 0x1D454
# A single letter is written as itself, and shown in the italics of these blocks.
ITALICS = [0x210E, *range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C)]


def font(characters: set[str]) -> TTFont:
    """The adapted font with these characters.

    Raises
    ------
    ValueError
        If the font lacks one of them.
    """
    source = distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")
    made = TTFont(source, recalcTimestamp=False)
    names = made.getBestCmap()
    if lacking := sorted(character for character in characters if ord(character) not in names):
        raise ValueError(f"the font of the formulas lacks {' '.join(lacking)}")
    others = {ord(prime): names[ord(prime)] + ".ssty" for prime in PRIMES} | {ITALIC_G: names[ITALIC_G] + ".alt"}
    for table in made["cmap"].tables:
        table.cmap |= {code: glyph for code, glyph in others.items() if code in table.cmap}
    _equalise(made, {names[ord(delimiter)] for delimiter in DELIMITERS}, names[ord("√")])
    options = Options(hinting=False, layout_features=[], name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14])
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=[*map(ord, {*characters, *DELIMITERS}), *ITALICS])
    subsetter.subset(made)
    return made


def _equalise(made: TTFont, delimiters: set[str], root: str) -> None:
    """Give all variants of a delimiter the width of its fifth one at most."""
    variants = made["MATH"].table.MathVariants
    for name, construction in zip(variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction, strict=True):
        if name not in delimiters:
            continue
        glyphs = [record.VariantGlyph for record in construction.MathGlyphVariantRecord]
        parts = construction.GlyphAssembly.PartRecords if construction.GlyphAssembly else []
        width = made["hmtx"][glyphs[min(4, len(glyphs) - 1)]][0]
        if name == root:  # its line starts where it ends, so it cannot stick out
            width = made["hmtx"][name][0] + 60
        for glyph in {*glyphs, *(part.glyph for part in parts)}:
            _narrow(made, glyph, width, squeeze=name == root)


def _narrow(made: TTFont, glyph: str, width: int, *, squeeze: bool) -> None:
    before, _ = made["hmtx"][glyph]
    if before <= width:
        return
    outline = made["glyf"][glyph]
    if squeeze:
        outline.coordinates.scale((width / before, 1))
    else:
        outline.coordinates.translate(((width - before) / 2, 0))
    outline.coordinates.toInt()
    outline.recalcBounds(made["glyf"])
    made["hmtx"][glyph] = (width, outline.xMin)


def _url(face: TTFont) -> str:
    """The font, compressed, as an address that contains it."""
    face.flavor = "woff"
    face.save(data := BytesIO())
    return f"data:font/woff;base64,{b64encode(data.getvalue()).decode()}"


def text_sheet() -> str:
    """The style sheet with the fonts of the text."""
    rules = []
    for file, (family, weight, style) in FACES.items():
        url = _url(TTFont(FONTS / f"{file}.ttf", recalcTimestamp=False))
        rules.append(
            f'@font-face {{ font-family: "{family}"; font-weight: {weight}; font-style: {style}; src: url({url}); }}'
        )
    return "\n".join(rules) + "\n"


def write(app: Any, exception: Exception | None) -> None:
    """Write the style sheets: the fonts of the text, and that of the characters of all formulas."""
    if exception is None:
        pages = [path.read_text(encoding="utf-8") for path in Path(app.outdir).rglob("*.html")]
        formulas = "".join(formula for page in pages for formula in re.findall("<math.*?</math>", page, re.DOTALL))
        made = font(set(unescape(re.sub("<[^>]*>", "", formulas))) - {"\n"})
        sheet = f'@font-face {{ font-family: "Maths"; src: url({_url(made)}); }}\n'
        (Path(app.outdir) / "_static" / SHEET).write_text(sheet, encoding="utf-8")
        (Path(app.outdir) / "_static" / TEXT_SHEET).write_text(text_sheet(), encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.add_css_file(TEXT_SHEET)
    app.add_css_file(SHEET)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
