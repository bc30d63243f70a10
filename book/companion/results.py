"""Output of results: displayed in the notebook and, during a build, written to a folder.

The build names the folder in the environment variable ``CROWDER_RESULTS``; without it nothing is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowder.files import write

if TYPE_CHECKING:
    from crowder.datasets import Dataset

__all__ = ["as_json", "display", "folder", "glue", "uses", "write"]

_RESULTS = "CROWDER_RESULTS"
_HIDDEN = "application/papermill.record/"


def folder() -> Path | None:
    """The results folder of the current build; None outside a build."""
    named = os.environ.get(_RESULTS)
    return Path(named) if named else None


def uses(data: Dataset) -> Dataset:
    """Record, during a build, that a chapter uses a data set and where its values come from; return it."""
    name, source = data.name, data.provenance["source"]
    if (at := folder()) is not None:
        slug = "-".join(filter(None, "".join(c if c.isalnum() else " " for c in f"{name} {source}".lower()).split()))
        write(at / "data" / f"{slug}.json", as_json({"kind": "data", "name": name, "source": source}))
    return data


def glue(**values: Any) -> None:
    """Name computed numbers for the prose, where the role ``{glue:text}`name:.2f``` shows them.

    Fractions and SymPy numbers become floats or integers. Text is for computed names, and for formulas with computed
    numbers, which the role ``{glue:md}`name:myst``` shows. Outside a notebook this does nothing. Each value becomes an
    output as myst-nb looks for it, of a type that no viewer shows.
    """
    if _in_notebook():
        from IPython.core.formatters import format_display_data
        from IPython.display import display as publish

        for name, value in values.items():
            bundle, facts = format_display_data(_plain_number(value))
            facts["scrapbook"] = {"name": name, "mime_prefix": _HIDDEN}
            publish({_HIDDEN + kind: text for kind, text in bundle.items()}, raw=True, metadata=facts)


class _Text(str):
    """Text that the role ``{glue:md}`` can show as well."""

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(str(self)), "text/markdown": str(self)}


def _plain_number(value: Any) -> int | float | str:
    if isinstance(value, str):
        return _Text(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (int, float)):
        return value
    return int(value) if value == int(value) else float(value)


def as_json(record: Mapping[str, Any]) -> bytes:
    """A record as JSON; NumPy values become numbers and lists, other unknown types text."""
    return (json.dumps(record, indent=2, ensure_ascii=False, default=_plain) + "\n").encode()


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else str(value)


def display(bundle: dict[str, str], facts: dict[str, Any]) -> None:
    """Publish to the notebook, with `facts` as metadata of the output; outside a notebook, print the plain text."""
    if not _in_notebook():
        print(bundle["text/plain"])
        return
    from IPython.display import display as publish

    publish(bundle, raw=True, metadata={"crowder": facts})


def _in_notebook() -> bool:
    from IPython.core.interactiveshell import InteractiveShell

    return InteractiveShell.initialized()
