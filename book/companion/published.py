"""The numbers printed in the paper, read from ``book/data/published.yml``, and their comparison with ours.

>>> table = read()["table-1"].frame()
>>> table.loc[table["ε"] == "1/20", ["model", "node", "edge"]]
    model  node  edge
5  Dist-1  7398  9296
8  Dist-2  2760  1626

A chapter passes its regenerated numbers to `compare`, once for each group. The build then lists printed and
regenerated numbers side by side, and fails if numbers that should agree do not.
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

#: The file, in the clone that contains this package.
FILE = Path(__file__).resolve().parents[1] / "data" / "published.yml"

_NEEDED = {"chapter", "place", "unit", "rule", "numbers"}
_RULES = ("equal", "at least", "at most")
_RULES_WITH_A_NUMBER = ("percent", "deviations")


class Group(NamedTuple):
    """The numbers printed at one place in the paper.

    Attributes
    ----------
    name, chapter, place, unit : str
    rule : str or dict
        When a regenerated number agrees; see `agrees`.
    numbers : dict
        Name to number. Names with several levels are joined by a comma and a space.
    levels : list of str
        What each level of the names stands for; empty for a plain list.
    differ : dict
        Numbers that are known not to agree, with the reason.
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
        """The numbers as a table: one column per level, except that the names of the last level become columns.

        The names in the column `as_code` are converted to the spelling of the package, ``dist1`` for ``Dist-1``.

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

    Examples
    --------
    >>> read()["figure-1"].numbers
    {'good order': 4, 'bad order': 9}
    """
    path = Path(path or FILE)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: the printed numbers are part of the book; work in a clone of it")
    return dict(_read(path, path.stat().st_mtime_ns))


@cache
def _read(path: Path, _changed: int) -> dict[str, Group]:
    try:
        entries = strict_yaml.read(path)
    except strict_yaml.Unreadable as error:
        raise ValueError(f"{path.name} cannot be read: {error}") from None
    if not entries:
        raise ValueError(f"{path.name} has no numbers")
    groups = {}
    for name, entry in entries.items():
        if not isinstance(entry, Mapping):
            raise ValueError(f"{path.name}: {name}: expected {', '.join(sorted(_NEEDED))}, not {entry!r}")
        surplus = set(entry) - _NEEDED - {"levels", "differ"}
        if (lacks := _NEEDED - set(entry)) or surplus:
            raise ValueError(f"{path.name}: {name}: missing {sorted(lacks)}, unknown {sorted(map(str, surplus))}")
        _known(entry["rule"], name)
        numbers, differ = _numbers(path.name, name, entry["numbers"]), entry.get("differ") or {}
        if not isinstance(differ, Mapping):
            raise ValueError(f"{path.name}: {name}: differ must map names to reasons, not {differ!r}")
        if unknown := set(differ) - set(numbers):
            raise ValueError(f"{path.name}: {name}: differ names {sorted(map(str, unknown))}, not among the numbers")
        groups[name] = Group(name, entry["chapter"], entry["place"], entry["unit"], entry["rule"], numbers,
                             entry.get("levels", []), differ)  # fmt: skip
    return groups


def _numbers(file: str, group: str, numbers: Any) -> dict[str, float]:
    if not isinstance(numbers, Mapping) or not numbers:
        raise ValueError(f"{file}: {group}: numbers must be a mapping from names, not {numbers!r}")
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
            raise ValueError(f"{min(twice)!r} appears twice, once in levels")
        flat |= more
    return flat


def _known(rule: Any, name: str) -> tuple[str, float]:
    """The kind of a rule and its number (NaN if it has none)."""
    if isinstance(rule, str) and rule in _RULES:
        return rule, float("nan")
    if isinstance(rule, Mapping) and len(rule) == 1:
        ((kind, number),) = rule.items()
        real = isinstance(number, (int, float)) and not isinstance(number, bool)
        if kind in _RULES_WITH_A_NUMBER and real and 0 < number < float("inf"):
            return kind, float(number)
    raise ValueError(f"{name}: unknown rule {rule!r}")


def in_words(rule: Any) -> str:
    """A rule in words.

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

    With `announced` only the first of them, as many as the number of clusters that the paper states. These have the
    stated number of records, while the whole list has more of both (chapter 8).

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
    """Whether a regenerated number agrees with the printed one, by a rule of ``book/data/published.yml``.

    Rules are ``"equal"``; ``"at least"`` or ``"at most"``, for the regenerated number; ``{"percent": p}``: the
    difference is at most p per cent of the printed number; ``{"deviations": d}`` of a mean of `runs` runs with this
    standard deviation: see Notes.

    Notes
    -----
    With "deviations" the printed number is treated as one more run. Then its distance to the mean, divided by
    ``sd * sqrt(1 + 1/runs)``, has Student's t distribution with runs - 1 degrees of freedom. The number agrees if this
    does not exceed the quantile whose tail probability is that of d standard deviations of a normal variable. If sd is
    0, the number must be the mean, rounded; an expected number may be a little above a count that hardly ever varies.

    Examples
    --------
    >>> agrees({"percent": 5}, 100, 104), agrees("at most", 4000, 4001)
    (True, False)
    >>> agrees({"deviations": 4}, 130, 100, sd=10, runs=50), agrees({"deviations": 4}, 145, 100, sd=10, runs=50)
    (True, False)
    """
    kind, number = _known(rule, "agrees")
    for value in (printed, regenerated, sd):
        validation.kind(value, Real, "the values to compare must be numbers")
    if kind == "deviations":
        if runs is None or validation.whole(runs, "the number of runs", least=1) < 2:
            raise ValueError("deviations: the number of runs is needed, at least 2")
        if not 0 <= sd < float("inf"):
            raise ValueError(f"deviations: the standard deviation must be finite and not negative, not {sd!r}")
        if sd == 0:
            return bool(abs(printed - regenerated) < 1 / 2)
        limit = stats.t.isf(stats.norm.sf(number), runs - 1)
        return bool(abs(printed - regenerated) <= limit * sd * np.sqrt(1 + 1 / runs))
    return bool({
        "equal": regenerated == printed,
        "at least": regenerated >= printed,
        "at most": regenerated <= printed,
        "percent": abs(regenerated - printed) <= abs(printed) * number / 100,
    }[kind])  # fmt: skip


def compare(
    name: str,
    regenerated: Mapping[str, float],
    *,
    sd: Mapping[str, float] | None = None,
    runs: int | None = None,
    setting: str = "",
) -> pd.DataFrame:
    """Compare regenerated numbers with the printed ones and, during a build, record the comparison.

    Parameters
    ----------
    name : str
        A group of ``book/data/published.yml``.
    regenerated : mapping
        A number for each one in the group, under the same names.
    sd : mapping, keyword only
        The standard deviation of one run, under the same names; for the rule "deviations".
    runs : int, keyword only
        The number of runs over which the numbers are means.
    setting : str, keyword only
        What the paper leaves open and was chosen here, such as the similarity function; it stands beside the numbers.

    Examples
    --------
    >>> compare("figure-1", {"good order": 4, "bad order": 9})["agrees"].tolist()
    [True, True]
    """
    groups = read()
    validation.kind(regenerated, Mapping, "regenerated numbers must be a mapping from names")
    validation.kind(sd, (Mapping, type(None)), "sd must be a mapping from names")
    validation.kind(setting, str, "setting must be text")
    if sd is not None and (lacks := set(regenerated) - set(sd)):
        raise ValueError(f"{name}: sd is missing {sorted(map(str, lacks))}")
    if not isinstance(name, str) or name not in groups:
        raise ValueError(f"there are no printed numbers {name!r}; expected one of {', '.join(groups)}")
    group = groups[name]
    if set(regenerated) != set(group.numbers):
        odd = sorted(map(str, set(regenerated) ^ set(group.numbers)))
        raise ValueError(f"{name}: names must be those of the group; missing or unknown: {odd}")
    frame = pd.DataFrame({"name": list(group.numbers), "printed": list(group.numbers.values())})
    frame["regenerated"] = [_plain(regenerated[key]) for key in group.numbers]
    frame["sd"] = [float("nan") if sd is None else float(sd[key]) for key in group.numbers]
    frame["agrees"] = [
        agrees(group.rule, row.printed, row.regenerated, sd=row.sd, runs=runs) for row in frame.itertuples()
    ]
    if (folder := results.folder()) is not None:
        lines = frame.assign(differ=frame["name"].map(group.differ)).astype(object)
        lines = lines.where(lines.notna(), None).to_dict("records")
        facts = {"place": group.place, "unit": group.unit, "rule": in_words(group.rule), "setting": setting}
        record = {"kind": "published", "group": name, **facts, "runs": runs, "numbers": lines}
        results.write(folder / "published" / f"{name}.json", results.as_json(record))
    return frame


def _plain(value: Any) -> int | float:
    try:
        return int(value) if isinstance(value, (int, np.integer)) else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"a regenerated number must be a number, not {value!r}") from None
