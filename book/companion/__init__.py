"""What a notebook imports besides `crowder`: figures, tables, data sets.

Evidence for claims, charts, the paper's printed numbers and the like are imported one by one (``from book.companion
import published``), so that a chapter depends only on what it uses.
"""

from importlib import import_module

#: Imported when they are used: the build takes other modules from here, and need not wait for matplotlib.
_HOME = {
    "figure": "figures.show",
    "recorded": "recording.recorded",
    "table": "figures.table",
    "use_style": "figures.use_style",
    "uses": "results.uses",
}


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOME[name].partition(".")
    return getattr(import_module(f"{__name__}.{module}"), attribute)
