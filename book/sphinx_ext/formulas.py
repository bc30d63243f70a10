"""Formulas as MathML, made when the book is built, so that a page shows them at once and without a script.

A formula that the converter does not know is a warning, so it stops the build.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

log = logging.getLogger(__name__)
_CONVERTER = LatexToMathML(fancy_error=False)

# Space asked for between two rows, as in \\[2ex], would be printed as text; the style sheet spaces all rows widely.
_ROW_SPACE = re.compile(r"(\\\\)\s*\[[\d.]+\s*(?:ex|em|pt)\]")

# What browsers would set otherwise than TeX: a delimiter of a given size that has an exponent, as in \\bigr)^2, would
# be small, and a plus or minus at the start of an aligned row a sign, without space; 1,000 would be two numbers, and
# the thin space of "lim inf" is in no font of the pages.
_CURES = [
    (re.compile("\u2009"), "\u00a0"),
    (re.compile(r"<mn>(\d{1,3})</mn><mo[^>]*>,</mo><mn>(\d{3})</mn>"), r"<mn>\1,\2</mn>"),
    (re.compile(r"(?<=<msup>|<msub>)(<mo)( minsize[^>]*>[^<]*</mo>)"), r'<mrow>\1 form="postfix"\2</mrow>'),
    (re.compile(r'(padding-left: 0;"><mo)(?=>[+−]<)'), r'\1 form="infix"'),
]


def to_mathml(tex: str, *, display: bool) -> str:
    r"""The `math` element of a formula.

    Raises
    ------
    math_core.LatexError
        If the formula is not TeX, or contains a command that is not known.

    Examples
    --------
    >>> to_mathml(r"\sqrt2", display=False)
    '<math><msqrt><mn>2</mn></msqrt></math>'
    >>> to_mathml("m = 1,000", display=False)
    '<math><mi>m</mi><mo>=</mo><mn>1,000</mn></math>'
    """
    made = _CONVERTER.convert_with_local_state(_ROW_SPACE.sub(r"\1", tex.strip()), displaystyle=display)
    for pattern, cure in _CURES:
        made = pattern.sub(cure, made)
    return made


def _set(translator: Any, node: nodes.Element, *, display: bool) -> str:
    try:
        return to_mathml(node.astext(), display=display)
    except LatexError as error:
        place = (translator.builder.current_docname, node.line)
        log.warning("the formula %s was not understood: %s", node.astext(), error, location=place, type="maths")
        return f"<code>{escape(node.astext())}</code>"


def visit_inline(self: Any, node: nodes.math) -> None:
    self.body.append(_set(self, node, display=False))
    raise nodes.SkipNode


def visit_display(self: Any, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["nowrap"]:
        place = (self.builder.current_docname, node.line)
        log.warning("set this formula between $$ and $$: %s", node.astext(), location=place, type="maths")
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append(_set(self, node, display=True) + "</div>\n")
    raise nodes.SkipNode


# A formula within a line, with what would otherwise stand alone at the end of the line before or the start of the next.
_WITHIN = re.compile(
    r"[(\[\u2018\u201c\u00b1\u2248=-]*<math>(?:(?!</math>).)*</math>(?:[^\s<\u2014]{1,12}(?=[\s<])|[,.;:!?)\]\u2019\u201d]+)",
    re.DOTALL,
)


def keep_together(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Keep each formula within a line on one line with the punctuation around it."""
    if "body" in context:
        context["body"] = _WITHIN.sub(r'<span class="together">\g<0></span>', context["body"])


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_display, None))
    app.connect("html-page-context", keep_together)
