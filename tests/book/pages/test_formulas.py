"""Formulas become MathML when the book is built: what TeX means, and nothing that the converter did not understand."""

import re

from fontTools.ttLib import TTFont

from book.sphinx_ext import fonts, formulas
from book.sphinx_ext.formulas import to_mathml


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


def test_a_formula_stays_with_the_punctuation_around_it():
    def shown(body):
        context = {"body": body}
        formulas.keep_together(None, "page", "", context, None)
        assert re.sub("</?span[^>]*>", "", context["body"]) == body  # nothing is lost
        return re.findall('<span class="together">(.*?)</span>', context["body"])

    formula = "<math><mi>x</mi></math>"
    for before, after, kept in (("so ", ", and", "x,"), ("is (", ") or", "(x)"), ("all ", "-sets.", "x-sets."),
                                ("“", "”.", "“x”."), ("so ", " holds", None)):  # fmt: skip
        assert shown(f"<p>{before}{formula}{after}</p>") == ([kept.replace("x", formula)] if kept else [])
    assert len(shown(f"<p>{formula}, {formula}–{formula}.</p>")) == 3  # side by side, in order
    assert shown(f'<div class="math"><math display="block">{formula[6:]}.</div>') == []


def test_the_fonts_have_their_letters_and_are_named_as_their_licence_asks():
    for file, (family, *_) in fonts.FACES.items():
        face = TTFont(fonts.FONTS / file)
        letters = "xaZ09+−=≤∑∫√(){}[]′ϵΓ𝑥𝜖→" if family == "Maths" else "aZ09éőßε–“”×−≤≥→"
        assert {*map(ord, letters)} <= face.getBestCmap().keys(), file
        assert family == "Maths" or (face["name"].getBestFamilyName() == family and "Source" not in family)
    sheet = fonts.sheet()
    assert sheet.count("@font-face") == len(fonts.FACES) and "http" not in sheet and len(sheet) < 500_000
