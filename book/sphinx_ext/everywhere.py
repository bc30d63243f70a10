"""Two adjustments to every page for which Sphinx has no setting."""

import re
from typing import Any


def plain_title(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Replace TeX in the title of a page, which a browser shows as plain text."""
    if "title" in context:
        context["title"] = re.sub(r"\\\((.*?)\\\)", lambda maths: re.sub(r"[{}\\]", "", maths[1]), context["title"])


def setup(app: Any) -> dict[str, bool]:
    # The sidebar of every page has titles with formulas, so MathJax is needed everywhere.
    app.set_html_assets_policy("always")
    app.connect("html-page-context", plain_title)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
