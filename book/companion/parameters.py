"""Parameters of a notebook: those that papermill was given must be among those that the notebook has."""

from __future__ import annotations

import ast
from collections.abc import Sequence

__all__ = ["refuse_unknown"]

#: The first line of the cell that papermill adds.
ADDED = "# Parameters\n"


def refuse_unknown(cells: Sequence[str] | None = None) -> None:
    """Raise a ValueError if papermill was given a parameter that the notebook does not have; papermill only warns.

    `cells` are those executed so far, by default IPython's ``In``: an empty one, the notebook's parameters, and those
    given.

    >>> refuse_unknown(["", "records = ''", "# Parameters\\nrecord = 'my.csv'"])
    Traceback (most recent call last):
    ...
    ValueError: parameters must be among records, not record
    """
    if cells is None:
        from IPython import get_ipython

        cells = get_ipython().user_ns["In"]
    if len(cells) < 3 or not cells[2].startswith(ADDED):
        return
    known, given = (_assigned(cell) for cell in cells[1:3])
    if unknown := [name for name in given if name not in known]:
        raise ValueError(f"parameters must be among {', '.join(known)}, not {', '.join(unknown)}")


def _assigned(cell: str) -> list[str]:
    """The names that a cell assigns to."""
    lines = ast.parse(cell).body
    return [target.id for line in lines if isinstance(line, ast.Assign) for target in line.targets
            if isinstance(target, ast.Name)]  # fmt: skip
