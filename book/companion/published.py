"""The numbers that the paper prints, read from ``book/data/published.yml``, and how ours compare with them.

>>> table = read()["table-1"].frame()
>>> table.loc[table["ε"] == "1/20", ["model", "node", "edge"]]
    model  node  edge
5  Dist-1  7398  9296
8  Dist-2  2760  1626

A chapter hands over what it regenerated, once for each group of numbers (`compare`). The build then prints printed
beside regenerated, and fails when numbers that agreed no longer do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from book import strict_yaml
from book.companion import results
from crowder import validation

__all__ = ["Group", "agrees", "cluster_sizes", "compare", "in_words", "read"]

#: The file, in the clone that this package stands in.
FILE = Path(__file__).resolve().parents[1] / "data" / "published.yml"

_NEEDED = {"chapter", "place", "unit", "rule", "numbers"}
_RULES = ("equal", "at least", "at most")
_RULES_WITH_A_NUMBER = ("percent", "deviations")


class Group(NamedTuple):
    """Printed numbers of one place in the paper.

    Attributes
    ----------
    name, chapter, place, unit : str
    rule : str or dict
        When a regenerated number agrees; see `agrees`.
    numbers : dict
        Name to number. Names of more than one level are joined by a comma and a space.
    levels : list of str
        What the levels of the names are; empty for a plain list.
    differ : dict
        The numbers that are known not to agree, and why.
    """

    name: str
    chapter: str
    place: str
    unit: str
    rule: Any
    numbers: dict[str, float]
    levels: list[str]
    differ: dict[str, str]

    def frame(self, *, as_code: str | None = None) -> pd.DataFrame:
        """The numbers as a table: a column for each level but the last, whose names become columns.

        Parameters
        ----------
        as_code : str, keyword only
            A column whose names are wanted as the package spells them, ``dist1`` for ``Dist-1``.

        Raises
        ------
        KeyError
            When there is no such column.

        Examples
        --------
        >>> read()["table-1"].frame().columns.tolist()
        ['model', 'ε', 'node', 'edge']
        >>> read()["table-1"].frame(as_code="model")["model"].unique().tolist()
        ['dist1', 'dist2']
        """
        rows: dict[tuple[str, ...], dict[str, float]] = {}
        for name, number in self.numbers.items():
            *row, last = name.split(", ")
            rows.setdefault(tuple(row), {})[last] = number
        table = pd.DataFrame(
            [{**dict(zip(self.levels, row, strict=False)), **numbers} for row, numbers in rows.items()]
        )
        if as_code is not None:
            if as_code not in table:
                raise KeyError(f"there is no column {as_code!r}; there are {', '.join(map(str, table.columns))}")
            table[as_code] = table[as_code].str.lower().str.replace("-", "")
        return table


def read(path: str | os.PathLike | None = None) -> dict[str, Group]:
    """All groups by name, from ``book/data/published.yml``.

    Parameters
    ----------
    path : path, optional
        Another file of the same form.

    Raises
    ------
    FileNotFoundError
        The file belongs to the book and is found in a clone of it, not in an installed package.
    ValueError
        For a group that is not complete, or has an unknown rule.

    Examples
    --------
    >>> read()["figure-1"].numbers
    {'good order': 4, 'bad order': 9}
    """
    path = Path(path or FILE)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: the printed numbers come with the book; work in a clone of it")
    return dict(_read(path, path.stat().st_mtime_ns))


@cache
def _read(path: Path, _changed: int) -> dict[str, Group]:
    groups = {}
    for name, entry in _mapping(path).items():
        if not isinstance(entry, Mapping):
            raise ValueError(f"{path.name}: {name}: expected {', '.join(sorted(_NEEDED))}, not {entry!r}")
        surplus = set(entry) - _NEEDED - {"levels", "differ"}
        if (lacks := _NEEDED - set(entry)) or surplus:
            raise ValueError(f"{path.name}: {name}: lacks {sorted(lacks)}, has no use for {sorted(map(str, surplus))}")
        _known(entry["rule"], name)
        numbers, differ = _numbers(path.name, name, entry["numbers"]), entry.get("differ") or {}
        if not isinstance(differ, Mapping):
            raise ValueError(f"{path.name}: {name}: differ has names and reasons, not {differ!r}")
        if unknown := set(differ) - set(numbers):
            raise ValueError(f"{path.name}: {name}: differ names {sorted(map(str, unknown))}, which is not printed")
        groups[name] = Group(name, entry["chapter"], entry["place"], entry["unit"], entry["rule"], numbers,
                             entry.get("levels", []), differ)  # fmt: skip
    return groups


def _mapping(path: Path) -> Mapping:
    """What a YAML file says by name; a ValueError if it says nothing, or nothing that can be read."""
    try:
        found = strict_yaml.read(path)
    except strict_yaml.Unreadable as error:
        raise ValueError(f"{path.name} cannot be read as YAML: {error}") from None
    if not found:
        raise ValueError(f"{path.name} must hold groups of numbers by name, not nothing")
    return found


def _numbers(file: str, group: str, numbers: Any) -> dict[str, float]:
    if not isinstance(numbers, Mapping) or not numbers:
        raise ValueError(f"{file}: {group}: numbers must have names, not {numbers!r}")
    flat = _flat(numbers)
    for name, number in flat.items():
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not np.isfinite(number):
            raise ValueError(f"{file}: {group}: {name} must be a finite number, not {number!r}")
    return flat


def _flat(numbers: Mapping, before: str = "") -> dict[str, float]:
    flat: dict[str, float] = {}
    for name, value in numbers.items():
        more = _flat(value, f"{before}{name}, ") if isinstance(value, Mapping) else {f"{before}{name}": value}
        if twice := flat.keys() & more.keys():
            raise ValueError(f"{min(twice)!r} is there twice, once by levels")
        flat |= more
    return flat


def _known(rule: Any, name: str) -> tuple[str, float]:
    """The rule's kind and its number (NaN where it has none)."""
    if isinstance(rule, str) and rule in _RULES:
        return rule, float("nan")
    if isinstance(rule, Mapping) and len(rule) == 1:
        ((kind, number),) = rule.items()
        real = isinstance(number, (int, float)) and not isinstance(number, bool)
        if kind in _RULES_WITH_A_NUMBER and real and 0 < number < float("inf"):
            return kind, float(number)
    raise ValueError(f"{name}: unknown rule {rule!r}")


def in_words(rule: Any) -> str:
    """A rule as a reader may see it.

    Examples
    --------
    >>> in_words({"percent": 5}), in_words("at most")
    ('within 5 %', 'at most the printed number')
    """
    kind, number = _known(rule, "in_words")
    words = {"equal": "equal", "percent": f"within {number:g} %", "deviations": f"within {number:g} deviations"}
    return words.get(kind, f"{kind} the printed number")


def cluster_sizes(*, announced: bool = False) -> list[int]:
    """The cluster sizes that the paper lists for its synthetic data, in its order.

    Parameters
    ----------
    announced : bool, keyword only
        Only the first of them, as many as the paper announces clusters. Their records are as many as it announces;
        the whole list has more of both (chapter 8).

    Examples
    --------
    >>> sizes, first = cluster_sizes(), cluster_sizes(announced=True)
    >>> sum(sizes) > sum(first) == read()["data-sets"].numbers["records"]
    True
    """
    validation.flag(announced, "announced")
    sizes = [int(size) for size, count in read()["listed-sizes"].numbers.items() for _ in range(count)]
    return sizes[: read()["data-sets"].numbers["clusters"]] if announced else sizes


def agrees(rule: Any, printed: float, regenerated: float, *, sd: float = 0.0, runs: int | None = None) -> bool:
    """Does a regenerated number agree with the printed one, by a rule of ``book/data/published.yml``?

    Parameters
    ----------
    rule : str or dict
        ``"equal"``; ``"at least"`` or ``"at most"``: regenerated against printed; ``{"percent": p}``: the difference is
        at most p per cent of the printed number; ``{"deviations": d}``: see Notes.
    printed, regenerated : float
        With "deviations", `regenerated` is the mean of `runs` runs.
    sd : float, keyword only
        Standard deviation of one run.
    runs : int, keyword only
        How many there were, at least two.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        For an unknown rule, or "deviations" without runs or a finite standard deviation.
    TypeError
        If the number of runs is not whole.

    Notes
    -----
    With "deviations" the printed number is taken for one more run. Its distance to the mean, over
    ``sd * sqrt(1 + 1/runs)``, has Student's distribution with runs - 1 degrees of freedom; it agrees unless it lies
    further out than a normal number lies beyond d with the same probability. Without any spread only the mean agrees.

    Examples
    --------
    >>> agrees({"percent": 5}, 100, 104), agrees("at most", 4000, 4001)
    (True, False)
    >>> agrees({"deviations": 4}, 130, 100, sd=10, runs=50), agrees({"deviations": 4}, 145, 100, sd=10, runs=50)
    (True, False)
    """
    kind, number = _known(rule, "agrees")
    for value in (printed, regenerated, sd):
        validation.kind(value, Real, "what is compared must be numbers")
    if kind == "deviations":
        if runs is None or validation.whole(runs, "the number of runs", least=1) < 2:
            raise ValueError("deviations: needs the number of runs, at least 2")
        if not 0 <= sd < float("inf"):
            raise ValueError(f"deviations: needs a standard deviation that is finite, and not negative, not {sd!r}")
        if sd == 0:
            return bool(printed == regenerated)
        limit = stats.t.isf(stats.norm.sf(number), runs - 1)
        return bool(abs(printed - regenerated) <= limit * sd * np.sqrt(1 + 1 / runs))
    return bool({
        "equal": regenerated == printed,
        "at least": regenerated >= printed,
        "at most": regenerated <= printed,
        "percent": abs(regenerated - printed) <= abs(printed) * number / 100,
    }[kind])  # fmt: skip


def compare(
    name: str, regenerated: Mapping[str, float], *, sd: Mapping[str, float] | None = None, runs: int | None = None
) -> pd.DataFrame:
    """Set regenerated numbers beside the printed ones and, while the book is built, hand the comparison to the build.

    Parameters
    ----------
    name : str
        A group of ``book/data/published.yml``.
    regenerated : mapping
        A number for each of the group's, under the same names.
    sd : mapping, keyword only
        The standard deviation of one run, under the same names; for a rule of deviations.
    runs : int, keyword only
        How many runs the numbers are the means of.

    Returns
    -------
    pandas.DataFrame
        Columns ``name``, ``printed``, ``regenerated``, ``sd`` and ``agrees``.

    Raises
    ------
    ValueError
        For an unknown group, or names that are not the group's.

    Examples
    --------
    >>> compare("figure-1", {"good order": 4, "bad order": 9})["agrees"].tolist()
    [True, True]
    """
    groups = read()
    validation.kind(regenerated, Mapping, "regenerated numbers must be a mapping from their names")
    validation.kind(sd, (Mapping, type(None)), "sd must be a mapping from names")
    if sd is not None and (lacks := set(regenerated) - set(sd)):
        raise ValueError(f"{name}: sd lacks {sorted(map(str, lacks))}")
    if not isinstance(name, str) or name not in groups:
        raise ValueError(f"no printed numbers are called {name!r}; there are {', '.join(groups)}")
    group = groups[name]
    if set(regenerated) != set(group.numbers):
        odd = sorted(map(str, set(regenerated) ^ set(group.numbers)))
        raise ValueError(f"{name}: a number for each of the group's is needed, no other: {odd}")
    frame = pd.DataFrame({"name": list(group.numbers), "printed": list(group.numbers.values())})
    frame["regenerated"] = [_plain(regenerated[key]) for key in group.numbers]
    frame["sd"] = [float("nan") if sd is None else float(sd[key]) for key in group.numbers]
    frame["agrees"] = [
        agrees(group.rule, row.printed, row.regenerated, sd=row.sd, runs=runs) for row in frame.itertuples()
    ]
    if (folder := results.folder()) is not None:
        lines = frame.assign(differ=frame["name"].map(group.differ)).astype(object)
        lines = lines.where(lines.notna(), None).to_dict("records")
        facts = {"place": group.place, "unit": group.unit, "rule": in_words(group.rule)}
        record = {"kind": "published", "group": name, **facts, "runs": runs, "numbers": lines}
        results.write(folder / "published" / f"{name}.json", results.as_json(record))
    return frame


def _plain(value: Any) -> int | float:
    try:
        return int(value) if isinstance(value, (int, np.integer)) else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"a regenerated number must be one, not {value!r}") from None
