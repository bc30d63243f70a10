"""Formulas become MathML when the book is built: what TeX means, and nothing that the converter did not understand."""

import re
from types import SimpleNamespace

import pytest
from docutils import nodes
from fontTools.ttLib import TTFont
from math_core import LatexError
from tiny_book import TinyBook

from book.sphinx_ext import mathml, maths_font
from book.sphinx_ext.mathml import to_mathml


@pytest.mark.parametrize(
    ("tex", "element"),
    [
        (r"\frac12", "<mfrac>"),
        (r"\sqrt{2}", "<msqrt>"),
        (r"\tbinom k2", 'linethickness="0"'),
        (r"\sum_{i<j}", "<munder>"),
        (r"\begin{cases} a & b \\ c & d \end{cases}", "<mtable"),
        (r"\hat L", 'accent="true"'),
        ("P'", "′"),
    ],
)
def test_a_formula_is_one_element(tex, element):
    made = to_mathml(tex, display=True)
    assert made.startswith('<math display="block">') and made.endswith("</math>") and element in made


@pytest.mark.parametrize("tex", [r"\nosuchcommand x", r"\frac{1}{2", r"\left( x", r"\begin{nosuch} x \end{nosuch}"])
def test_what_is_not_understood_is_refused(tex):
    with pytest.raises(LatexError):
        to_mathml(tex, display=False)


def test_space_between_rows_is_not_printed():
    made = to_mathml(r"\begin{aligned} a &= b \\[2ex] c &= d \end{aligned}", display=True)
    assert made == to_mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", display=True)
    assert "ex]" not in made


def test_a_large_delimiter_with_an_exponent_stays_large():
    """A browser enlarges it only at the end of a row of its own."""
    made = to_mathml(r"\bigl(x\bigr)^2 + \bigl(y\bigr)_2", display=False)
    assert len(re.findall(r'<m(?:sup|sub)><mrow><mo form="postfix" minsize="1.2em"[^>]*>\)</mo></mrow>', made)) == 2


def test_a_sum_goes_on_in_the_next_row():
    made = to_mathml(r"\begin{aligned} a = {} & b \\ & + c - d \end{aligned}", display=True)
    assert made.count('<mo form="infix">+</mo>') == 1 and "<mo>−</mo>" in made


class Translator(SimpleNamespace):
    """As much of Sphinx's translator as a formula needs."""

    def __init__(self):
        super().__init__(body=[], builder=SimpleNamespace(current_docname="notebooks/01-one"))

    def starttag(self, node, tag, CLASS):
        return f'<{tag} class="{CLASS}">'


def test_an_unknown_command_is_a_warning_with_its_formula_and_page(monkeypatch):
    said = []
    monkeypatch.setattr(
        mathml.log, "warning", lambda text, *values, **more: said.append((text % values, more["location"]))
    )
    translator = Translator()
    with pytest.raises(nodes.SkipNode):
        mathml.visit_inline(translator, nodes.math("", r"x < \nosuchcommand"))
    ((text, (page, _)),) = said
    assert r"x < \nosuchcommand" in text and page == "notebooks/01-one"
    assert translator.body == [r"<code>x &lt; \nosuchcommand</code>"]


def test_an_environment_of_its_own_is_a_warning(monkeypatch):
    """It would be numbered, beside the numbers of the book."""
    said = []
    monkeypatch.setattr(mathml.log, "warning", lambda text, *values, **_: said.append(text))
    with pytest.raises(nodes.SkipNode):
        mathml.visit_display(Translator(), nodes.math_block("", r"\begin{align}a\end{align}", nowrap=True, number=None))
    assert len(said) == 1 and "$$" in said[0]


def test_a_build_stops_at_a_formula_that_is_not_understood(tmp_path):
    book = TinyBook(tmp_path / "project")
    book.write("02-two", "# Two\n\nHere is $x + \\nosuchcommand$.", "#p\nsize = 5")
    book.profiles("quick: {}")
    done = book.build()
    assert done.returncode == 1 and not (book.out / "html").exists()
    assert "notebooks/02-two.ipynb" in done.stderr and r"the formula x + \nosuchcommand" in done.stderr


# --- their font ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def font():
    return maths_font.font(set("x+∑′"))


def test_the_font_has_what_was_asked_for_and_the_stretched_delimiters(font):
    have = font.getBestCmap()
    assert {ord(letter) for letter in "x+∑′√({"} <= have.keys() and 0x1D465 in have
    assert ord("∮") not in have


def test_a_small_delimiter_is_as_wide_as_a_large_one(font):
    """To a browser, each is as wide as the widest of its variants; see `maths_font`."""
    variants = font["MATH"].table.MathVariants
    names, seen = font.getBestCmap(), 0
    for name, found in zip(variants.VertGlyphCoverage.glyphs, variants.VertGlyphConstruction, strict=True):
        if name in {names[ord(delimiter)] for delimiter in maths_font.DELIMITERS}:
            widths = [font["hmtx"][record.VariantGlyph][0] for record in found.MathGlyphVariantRecord]
            widths += [font["hmtx"][part.glyph][0] for part in getattr(found.GlyphAssembly, "PartRecords", [])]
            assert max(widths) - font["hmtx"][name][0] <= 120, name
            seen += 1
    assert seen == len(maths_font.DELIMITERS)


def test_a_letter_that_the_font_lacks_is_an_error():
    with pytest.raises(ValueError, match="lacks 字"):
        maths_font.font({"x", "字"})


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("so ", ", and", "x,"),
        ("is (", ") or", "(x)"),
        ("the ", "th record", "xth"),
        ("all ", "-sets.", "x-sets."),
        ("“", "”.", "“x”."),
        ("so ", " holds", None),
        ("so ", "", None),
    ],
)
def test_a_formula_stays_with_the_punctuation_around_it(before, after, kept):
    paragraph = nodes.paragraph("", "", nodes.Text(before), nodes.math("", "x"), nodes.Text(after))
    mathml.keep_together(None, paragraph, "notebooks/01-one")
    together = [node.astext() for node in paragraph.findall(nodes.inline) if "together" in node["classes"]]
    assert together == ([kept] if kept else [])
    assert paragraph.astext() == f"{before}x{after}"  # nothing is lost


def test_formulas_side_by_side_stay_in_order():
    parts = [
        nodes.math("", "x"),
        nodes.Text(", "),
        nodes.math("", "y"),
        nodes.Text("–"),
        nodes.math("", "z"),
        nodes.Text("."),
    ]
    paragraph = nodes.paragraph("", "", *parts)
    mathml.keep_together(None, paragraph, "notebooks/01-one")
    assert paragraph.astext() == "x, y–z."


def test_the_fonts_of_the_text_have_its_letters_and_are_named_as_their_licence_asks():
    for file, (family, *_) in maths_font.FACES.items():
        face = TTFont(maths_font.FONTS / f"{file}.ttf")
        assert face["name"].getBestFamilyName() == family and "Source" not in family
        assert {*map(ord, "aZ09éőßε–“”×−≤≥→")} <= face.getBestCmap().keys(), file
    assert sum(path.stat().st_size for path in maths_font.FONTS.iterdir()) < 350_000
    sheet = maths_font.text_sheet()
    assert sheet == maths_font.text_sheet() and sheet.count("@font-face") == len(maths_font.FACES)
    assert len(sheet) < 260_000 and "http" not in sheet
