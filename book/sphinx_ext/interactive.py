"""Add the scripts for interactive charts to the pages that have such charts.

Vega, Vega-Lite and vega-embed are one file made by vl-convert-python, which contains them, so neither the build nor the
reader's browser needs a network.
"""

from pathlib import Path
from typing import Any

from docutils import nodes

SCRIPT = "vega-embed.js"


def bundle(path: Path) -> None:
    """Write the libraries, in the version that Altair targets."""
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    text = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Wrapped in a function, so that its short names do not become global.
    path.write_text("(function () {\n" + text + "\n})();\n", encoding="utf-8")


def add_scripts(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if doctree is None or not any("interactive-spec" in raw.astext() for raw in doctree.findall(nodes.raw)):
        return
    path = Path(app.outdir) / "_static" / SCRIPT
    if not path.exists():
        bundle(path)
    # It loads the libraries after the page.
    app.add_js_file("interactive.js", loading_method="defer")


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
