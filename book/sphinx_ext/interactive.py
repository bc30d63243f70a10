"""Add the scripts of the stepper and of the explorer to the pages that have such charts.

Those of the explorer stand right after its settings and run before what follows is drawn, which would move.
"""

import re
from typing import Any

_EXPLORER = re.compile(r'<script type="application/json" class="explorer-settings".*?</script>', re.DOTALL)
EXPLORER_SCRIPTS = ("counts.js", "explorer.js")


def add_scripts(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    body = context.get("body", "")
    if 'class="stepper-settings"' in body:
        app.add_js_file("stepper.js", loading_method="defer")
    scripts = "".join(
        f'\n<script src="{context["pathto"](f"_static/{name}", resource=True)}"></script>' for name in EXPLORER_SCRIPTS
    )
    context["body"] = _EXPLORER.sub(lambda found: found[0] + scripts, body)


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
