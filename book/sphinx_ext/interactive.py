"""Add the scripts of the stepper, the slider and the explorer to the pages that have such charts.

They stand right after the settings of a chart and run before what follows is drawn, which would move.
"""

import re
from typing import Any

SCRIPTS = {"explorer": ("counts.js", "explorer.js"), "slider": ("slider.js",), "stepper": ("stepper.js",)}
_SETTINGS = re.compile(
    rf'<script type="application/json" class="({"|".join(SCRIPTS)})-settings".*?</script>', re.DOTALL
)


def add_scripts(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    def with_scripts(found: re.Match[str]) -> str:
        paths = [context["pathto"](f"_static/{name}", resource=True) for name in SCRIPTS[found[1]]]
        return found[0] + "".join(f'<script src="{path}"></script>' for path in paths)

    context["body"] = _SETTINGS.sub(with_scripts, context.get("body", ""))


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", add_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
