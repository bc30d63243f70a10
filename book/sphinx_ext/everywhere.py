"""Two things that hold on every page, and that no setting of Sphinx gives."""

import re
from typing import Any


def plain_title(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """A browser's tab shows text, not TeX."""
    if "title" in context:
        context["title"] = re.sub(r"\\\((.*?)\\\)", lambda maths: re.sub(r"[{}\\]", "", maths[1]), context["title"])


def setup(app: Any) -> dict[str, bool]:
    # A page without formulas still names, in the sidebar, chapters whose titles have some: MathJax goes on every page.
    app.set_html_assets_policy("always")
    app.connect("html-page-context", plain_title)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
