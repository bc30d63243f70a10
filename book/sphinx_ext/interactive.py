"""Add the scripts for interactive charts to the pages that have such charts.

Vega, Vega-Lite and vega-embed are one file made by vl-convert-python, which contains them, so neither the build nor the
reader's browser needs a network. The specification of a chart is moved from the page to a file of its own, a script
because a page opened from a folder may not read data.

The scripts of the explorer stand right after its settings and run before what follows is drawn, which would move.
"""

import re
from pathlib import Path
from typing import Any

SCRIPT = "vega-embed.js"
_SPEC = re.compile(r'(<script type="application/json" class="interactive-spec")>(.*?"figure":"([\w-]+)"\})</script>')
_EXPLORER = re.compile(r'<script type="application/json" class="explorer-settings".*?</script>', re.DOTALL)
EXPLORER_SCRIPTS = ("counts.js", "explorer.js")


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
    def move(found: re.Match[str]) -> str:
        tag, spec, figure = found.groups()
        path = Path(app.outdir) / "charts" / f"{figure}.js"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"drawInteractive({spec});\n", encoding="utf-8")
        return f'{tag} data-script="{context["pathto"](f"charts/{figure}.js", resource=True)}"></script>'

    context["body"], count = _SPEC.subn(move, context.get("body", ""))
    if count:
        path = Path(app.outdir) / "_static" / SCRIPT
        if not path.exists():
            bundle(path)
        # It loads the libraries and the specifications after the page.
        app.add_js_file("interactive.js", loading_method="defer")
    scripts = [
        f'<script src="{context["pathto"](f"_static/{name}", resource=True)}"></script>' for name in EXPLORER_SCRIPTS
    ]
    context["body"] = _EXPLORER.sub(lambda found: "\n".join([found[0], *scripts]), context["body"])


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
