"""Texts say what was computed and what their links lead to, and become what Sphinx renders."""

from pathlib import Path

import pytest

from book.project import BuildError
from book.text import numbers, words
from book.text.chapters import Chapter
from book.text.plain import Page
from book.text.words import Place

HERE = Path("notebooks/05-edge.ipynb")
THERE = Path("notebooks/appendix/A2-more.ipynb")
PLACES = {
    "05-edge.ipynb": Place(HERE, "chapter", "Chapter 5"),
    "ch-edge": Place(HERE, "chapter", "Edge ordering"),
    "A2-more.ipynb": Place(THERE, "chapter", "Appendix A2"),
    "ch-more": Place(THERE, "chapter", "Bounds, and 2 more"),
    "sec-worst": Place(THERE, "section", "The worst case"),
    "thm-a": Place(HERE, "theorem", "Companion Theorem 5.2"),
    "thm-b": Place(HERE, "theorem", "Theorem 2 of the paper"),
    "eq-a": Place(HERE, "equation", "(5.1)"),
    "tab-a": Place(THERE, "table", "Table A2.1"),
    "claim-c09": Place(THERE, "claim", "refuted"),
    "wang2013": Place(words.BIBLIOGRAPHY, "work", "Wang et al., 2013"),
    "abbe2018": Place(words.BIBLIOGRAPHY, "work", "Abbe, 2018"),
}
PAGE = Page(HERE, PLACES)


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("[Companion Theorem 5.1](#thm-a)", "[Companion Theorem 5.2](#thm-a)"),  # another number
        ("[the theorem](#thm-a)", "[the theorem](#thm-a)"),  # words without one are free
        ("[Chapter 6](05-edge.ipynb#thm-a)", "[Companion Theorem 5.2](#thm-a)"),  # nothing of it is right
        ("[Bounds, and 2 more](#ch-more)", "[Bounds, and 2 more](appendix/A2-more.ipynb#ch-more)"),  # a title
        ("[this](#eq-a)", "[(5.1)](#eq-a)"),  # an equation has no other name
        ("[holds](#claim-c09)", "[refuted](appendix/A2-more.ipynb#claim-c09)"),
        ("[[Wang, 2014](../book/data/references.bib#wang2013)]",
         "[[Wang et al., 2013](../book/data/references.bib#wang2013)]"),
        ("`[Theorem 9](#thm-a)` is code", "`[Theorem 9](#thm-a)` is code"),
        ('<a id="eq-a"></a>\n\n$$\nx = 1\n\\tag{5.7}\n$$', '<a id="eq-a"></a>\n\n$$\nx = 1\n\\tag{5.1}\n$$'),
        ('<!-- theorem --><a id="thm-a"></a>\n**Companion Theorem 5.1 (A 2nd tree).** It',
         '<!-- theorem --><a id="thm-a"></a>\n**Companion Theorem 5.2 (A 2nd tree).** It'),
        *[('<!-- theorem --><a id="thm-b"></a>\n**Theorem 2 of the paper (edge).** It',) * 2],
    ],
)  # fmt: skip
def test_words_and_targets_are_those_of_the_label(said, right):
    assert PAGE.corrected(said) == right and PAGE.corrected(right) == right
    assert bool([*PAGE.corrections(said)]) == (said != right) and not [*PAGE.corrections(right)]


@pytest.mark.parametrize(
    ("plain", "myst"),
    [
        ("[Companion Theorem 5.2](#thm-a), [the next](#thm-a)", "{prf:ref}`thm-a`, {prf:ref}`the next <thm-a>`"),
        ("[(5.1)](#eq-a), [Table A2.1](#tab-a)", "{eq}`eq-a`, {numref}`tab-a`"),
        ("[Appendix A2](appendix/A2-more.ipynb) and [the rest](#sec-worst)",
         "{doc}`Appendix A2 </notebooks/appendix/A2-more>` and {ref}`the rest <sec-worst>`"),
        ("at most ([refuted](#claim-c09)), ([(5.1)](#eq-a))", "at most {claim}`C09`, ({eq}`eq-a`)"),
        ("as in [[Abbe, 2018](x/references.bib#abbe2018), [Wang et al., 2013](x/references.bib#wang2013)].",
         "as in {cite:p}`abbe2018,wang2013`."),
        ("Wang et al. [[2013](x/references.bib#wang2013)] ask", "Wang et al. {cite:yearpar}`wang2013` ask"),
        ('<a id="eq-a"></a>\n\n$$\nx\n\\tag{5.1}\n$$\nA', "$$\nx\n$$ (eq-a)\nA"),
        ("# Title\n<!-- ch-a -->\n\nA", "(ch-a)=\n# Title\n\nA"),
        ("<!-- proof -->\n**Proof.** A\n<!-- end -->\n\n## Title", ":::::::::{prf:proof}\n\nA\n:::::::::\n\n## Title"),
        ("[Edge ordering](05-edge.ipynb)", "{ref}`ch-edge`"),  # by its title, which may have formulas
        ('<!-- theorem --><a id="thm-a"></a>\n**Companion Theorem 5.2 (If $x < 1$).** Let it\nbe.\n<!-- end -->',
         ":::::::::{prf:theorem} If $x < 1$\n:label: thm-a\n\nLet it\nbe.\n:::::::::"),
        ('<!-- theorem --><a id="thm-b"></a>\n**Theorem 2 of the paper (edge).** It\n<!-- end -->',
         ":::::::::{prf:theorem} Theorem 2 of the paper (edge)\n:label: thm-b\n:nonumber:\n\nIt\n:::::::::"),
        ("<!-- folded proof -->\n**Proof.** By 3<!--n-->.\n<!-- end -->",
         ":::::::::{prf:proof}\n:class: dropdown\n\nBy 3.\n:::::::::"),
    ],
)  # fmt: skip
def test_plain_markdown_becomes_what_sphinx_renders(plain, myst):
    assert " ".join(PAGE.myst(plain).split()) == " ".join(myst.split())


def test_what_is_not_understood_is_named():
    for text, said in (
        ("[Theorem 9](#thm-z)", "05-edge: nothing has the label thm-z"),
        ('<!-- theorm --><a id="thm-a"></a>\n**Companion Theorem 5.2.** It', "<!-- theorm --> begins nothing"),
        ("Abbe [[2013](x/references.bib#wang2013)]", "stand no authors Wang et al."),
    ):
        with pytest.raises(BuildError, match=said):
            PAGE.myst(text)


def test_labels_are_counted_by_chapter_and_kind():
    """As on the pages: two figures and a table, statements by their kind, those of the paper not at all."""
    text = (
        "# Edge\n<!-- ch-edge -->\n\n"
        '<!-- theorem --><a id="thm-p"></a>\n**Theorem 2 of the paper (edge).** A\n<!-- end -->\n\n'
        '<!-- theorem --><a id="thm-a"></a>\n**Companion Theorem 0.0 (B).** A\n\n'
        '<a id="eq-a"></a>\n\n$$\nx\n\\tag{0}\n$$\n<!-- end -->\n'
        '<!-- remark --><a id="rem-a"></a>\n**Remark 0.0.** C\n<!-- end -->\n'
        '<!-- theorem --><a id="thm-c"></a>\n**Companion Theorem 1.1.** D'
    )
    shown = (("figure", "fig-a"), ("table", "tab-a"), ("claim", "C09"), ("figure", "fig-b"))
    outputs = [{"metadata": {"crowder": {"kind": kind, "name": name}}} for kind, name in shown]
    cells = [{"cell_type": "markdown", "source": text}, {"cell_type": "code", "source": "", "outputs": outputs}]
    found = words.read(Path("/nowhere"), {Chapter("05-edge", HERE, Path()): {"cells": cells}}, {"C09": "refuted"})
    assert {label: place.words for label, place in found.items()} == {
        "05-edge.ipynb": "Chapter 5", "ch-edge": "Edge", "thm-p": "Theorem 2 of the paper",
        "thm-a": "Companion Theorem 5.1", "eq-a": "(5.1)", "rem-a": "Remark 5.1", "thm-c": "Companion Theorem 5.2",
        "fig-a": "Figure 5.1", "tab-a": "Table 5.1", "claim-c09": "refuted", "fig-b": "Figure 5.2",
    }  # fmt: skip
    for twice in (cells[0], {**cells[1], "outputs": outputs[2:3]}, {**cells[1], "outputs": outputs[:1]}):
        with pytest.raises(BuildError, match=r"the label (ch-edge|claim-c09|fig-a) is also in .*05-edge.ipynb"):
            words.read(Path("/nowhere"), {Chapter("05-edge", HERE, Path()): {"cells": [*cells, twice]}}, {})


def test_a_text_has_the_computed_values():
    text = "About 0.93<!--f1:.2f--> of <!--from-->3 of\n4<!--d['x']-->, 1,200<!--n:,-->."
    right = {"f1:.2f": "0.95", "d['x']": "3 of 4", "n:,": "1,201"}
    assert numbers.fill(text, right) == text.replace("1,200", "1,201").replace("0.93", "0.95")
    with pytest.raises(BuildError, match="no chapter answers <!--n:,-->"):
        numbers.fill(text, {"f1:.2f": "0.95", "d['x']": "3 of 4"})
