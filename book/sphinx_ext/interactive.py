"""Charts with controls: the scripts that draw them, on the pages that have some and on no other.

Vega, Vega-Lite and vega-embed come as one file out of vl-convert-python, which has them within: no host is asked, now
or by the reader's browser.
"""

from pathlib import Path
from typing import Any

from docutils import nodes

SCRIPT = "vega-embed.js"


def bundle(path: Path) -> None:
    """Write the libraries, of the version that Altair writes for."""
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    text = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    path.parent.mkdir(parents=True, exist_ok=True)
    # In a function of its own: its short names would be every script's.
    path.write_text("(function () {\n" + text + "\n})();\n", encoding="utf-8")


def add_scripts(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if doctree is None or not any("interactive-spec" in raw.astext() for raw in doctree.findall(nodes.raw)):
        return
    path = Path(app.outdir) / "_static" / SCRIPT
    if not path.exists():
        bundle(path)
    # It fetches the libraries when the page is there to read.
    app.add_js_file("interactive.js", loading_method="defer")


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
