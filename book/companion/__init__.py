"""What a notebook imports besides `crowder`: figures, tables, checks of claims.

Kinds of evidence, charts, the paper's printed numbers and the like are imported one by one (``from book.companion
import claims as ev, published``), so that a chapter depends only on what it uses.
"""

from importlib import import_module

#: Imported when they are used: the build takes other modules from here, and need not wait for matplotlib.
_HOME = {
    "check": "claims.check",
    "explorer": "charts.explorer.show",
    "figure": "figures.show",
    "parameters": "ranges.parameters",
    "race": "charts.races.show",
    "recorded": "recording.recorded",
    "slider": "charts.slider.show",
    "stepper": "charts.stepper.show",
    "table": "figures.table",
    "uses": "results.uses",
}


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOME[name].rpartition(".")
    return getattr(import_module(f"{__name__}.{module}"), attribute)
