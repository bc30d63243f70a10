"""Results that take long, or need data that are not ours to ship: computed by their chapter, and recorded.

A chapter computes such a result where it is told to, as profile ``complete`` tells it, and otherwise reads what an
earlier build wrote (``make record``): ``book/data/recorded`` has for each a table, and beside it what it was made with.
The caption of what is drawn from it ends with ``said``, and evidence has its ``basis``. ``make nightly`` computes all
of them, and fails if one differs; both need the records of cora and the real crowds, in ``CROWDER_CORA`` and
``CROWDER_CROWDS``, which ``.ci/data.py`` fetches.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from book.companion import results

__all__ = ["FOLDER", "Recorded", "recorded"]

#: The recorded results, in the clone that contains this package.
FOLDER = Path(__file__).resolve().parents[1] / "data" / "recorded"
#: How far, relatively, a number may differ between two machines.
WITHIN = 1e-6


class Recorded(NamedTuple):
    """A result; its basis as evidence, "recorded" if it was read; and a sentence for a caption that says so, or ""."""

    table: pd.DataFrame
    basis: str
    said: str


def recorded(name: str, compute: Callable[..., pd.DataFrame], *, anew: bool, **parameters: Any) -> Recorded:
    """The result of ``compute(**parameters)``: as recorded, if it was with these parameters and is not wanted anew.

    All that the result depends on belongs to the parameters, which are numbers, texts and lists of these.

    >>> squares = recorded("doctest", lambda n: pd.DataFrame({"square": [i**2 for i in range(n)]}), anew=False, n=3)
    >>> squares.table["square"].tolist(), squares.basis, squares.said
    ([0, 1, 4], 'simulated', '')
    """
    path = FOLDER / f"{name}.json"
    parameters = json.loads(json.dumps(parameters))
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    read = not anew and known.get("parameters") == parameters
    if read:
        csv = path.with_suffix(".csv").read_text(encoding="utf-8")
    else:  # each float as the shortest text that gives it when read
        csv = compute(**parameters).to_csv(index=False, lineterminator="\n")
    if (folder := results.folder()) is not None:
        if not read:
            known = {"parameters": parameters, "within": WITHIN}
            results.write(folder / "recorded" / f"{name}.csv", csv.encode())
        results.write(folder / "recorded" / f"{name}.json", results.as_json(known | {"read": read}))
    table = pd.read_csv(io.StringIO(csv))  # computed or read, the same types
    table.attrs["basis"] = "recorded" if read else "simulated"
    return Recorded(table, table.attrs["basis"], f"Recorded on {known['date']}." if read else "")
