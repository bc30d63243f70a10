"""The numbers printed in the paper, read from ``book/data/published.yml``, and their comparison with ours.

A chapter passes its regenerated numbers to `compare`, once for each group, and gets evidence for a claim. The build
lists printed and regenerated numbers side by side, and fails if numbers that should agree do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from book.companion import results
from book.companion.evidence import Evidence, based
from book.project import ROOT, read_yaml

#: The file, in the clone that contains this package.
FILE = ROOT / "book" / "data" / "published.yml"


class Group(NamedTuple):
    """The numbers printed at one place in the paper, in the chapter that regenerates them."""

    chapter: str
    place: str
    unit: str
    rule: Any  # when a regenerated number agrees; see `agrees`
    numbers: dict[str, float]  # names with several levels are joined by a comma and a space
    levels: Sequence[str] = ()  # what each level of the names stands for; none for a plain list
    differ: Mapping[str, str] | None = None  # numbers that are known not to agree, with the reason

    def frame(self, *, as_code: str | None = None) -> pd.DataFrame:
        """The numbers as a table: one column per level, except that the names of the last level become columns.

        The names in the column `as_code` are converted to the spelling of the package, ``dist1`` for ``Dist-1``.

        >>> read()["table-1"].frame().columns.tolist()
        ['model', 'ε', 'node', 'edge']
        """
        rows: dict[tuple[str, ...], dict[str, float]] = {}
        for name, number in self.numbers.items():
            *row, last = name.split(", ")
            rows.setdefault(tuple(row), {})[last] = number
        table = pd.DataFrame([{**dict(zip(self.levels, row, strict=False)), **found} for row, found in rows.items()])
        if as_code is not None:
            table[as_code] = table[as_code].str.lower().str.replace("-", "")
        return table


def read() -> dict[str, Group]:
    """All groups by name, from ``book/data/published.yml``.

    >>> read()["figure-1"].numbers
    {'good order': 4, 'bad order': 9}
    """
    entries = read_yaml(FILE).items()
    return {name: Group(**entry | {"numbers": _flat(entry["numbers"])}) for name, entry in entries}


def _flat(numbers: Mapping, before: str = "") -> dict[str, float]:
    flat: dict[str, float] = {}
    for name, value in numbers.items():
        flat |= _flat(value, f"{before}{name}, ") if isinstance(value, Mapping) else {f"{before}{name}": value}
    return flat


def cluster_sizes(*, announced: bool = False) -> list[int]:
    """The cluster sizes that the paper lists for its synthetic data, in its order.

    With `announced` only the first of them, as many as the number of clusters that the paper states. These have the
    stated number of records, while the whole list has more of both (chapter 8).
    """
    groups = read()
    sizes = [int(size) for size, count in groups["listed-sizes"].numbers.items() for _ in range(count)]
    return sizes[: groups["data-sets"].numbers["clusters"]] if announced else sizes


def agrees(rule: Any, printed: Any, regenerated: Any, *, sd: Any = np.nan, runs: int = 0) -> Any:
    """Whether regenerated numbers agree with printed ones, by a rule of ``book/data/published.yml``.

    Rules are ``"equal"``; ``"at least"`` or ``"at most"``, for the regenerated number; ``{"percent": p}``: the
    difference is at most p per cent of the printed number; ``{"together": p}``: printed numbers that are one more run
    each all agree with at least the probability p. The regenerated number is then the expected one, and `sd` the
    standard deviation of `runs` runs, so that their distance in `sd` has Student's t distribution with runs - 1 degrees
    of freedom; the limit is for the largest of them all.

    >>> agrees({"percent": 5}, 100, 104), agrees("at most", 4000, 4001)
    (True, False)
    >>> agrees({"together": 0.95}, np.array([123, 124]), 100, sd=10, runs=50)
    array([ True, False])
    """
    kind, number = next(iter(rule.items())) if isinstance(rule, Mapping) else (rule, np.nan)
    off = abs(regenerated - printed)
    if kind == "together":
        limit = stats.t.isf((1 - number) / 2 / np.size(printed), runs - 1) * sd
        return (off <= limit) & (limit < np.inf)
    return {
        "equal": regenerated == printed,
        "at least": regenerated >= printed,
        "at most": regenerated <= printed,
        "percent": off <= abs(printed) * number / 100,
    }[kind]


def _in_words(rule: Any) -> str:
    if isinstance(rule, Mapping):
        ((kind, number),) = rule.items()
        if kind == "together":  # the limit in deviations depends on the number of runs, and chapters state it
            return f"no further off than all of them are together, as one more run each, with probability {number:.0%}"
        return f"within {number:g} %"
    return rule if rule == "equal" else f"{rule} the printed number"


def beside(
    name: str, regenerated: Mapping[str, float], *, sd: Mapping[str, float] | None = None, runs: int = 0
) -> pd.DataFrame:
    """The numbers of a group beside regenerated ones, which have the same names, and whether they agree.

    >>> beside("figure-1", {"good order": 4, "bad order": 9})["agrees"].tolist()
    [True, True]
    """
    group = read()[name]
    frame = pd.DataFrame({"name": list(group.numbers), "printed": list(group.numbers.values())})
    frame["regenerated"] = [regenerated[key] for key in group.numbers]
    frame["sd"] = [np.nan if sd is None else float(sd[key]) for key in group.numbers]
    frame["agrees"] = agrees(group.rule, frame["printed"], frame["regenerated"], sd=frame["sd"], runs=runs)
    return frame


def compare(
    name: str,
    regenerated: Mapping[str, float],
    *,
    sd: Mapping[str, float] | None = None,
    runs: int = 0,
    setting: str = "",
    basis: str = "",
) -> Evidence:
    """Compare regenerated numbers with those of a group and, during a build, record the comparison.

    As evidence it holds if all agree but those that are known to differ. For the rule "together", `sd` has the standard
    deviation of one run under the names of the group, and `runs` how many runs there were. `setting` is what the paper
    leaves open and was chosen here, such as the similarity function; it stands beside the numbers. `basis` is
    that of the regenerated numbers: without it "simulated" if there were runs, and otherwise "exact".

    >>> compare("figure-1", {"good order": 4, "bad order": 9}).figure
    '2 of 2 printed numbers agree (equal)'
    """
    known = ("simulated", "recorded") if runs else ("exact", "simulated", "recorded")
    basis = based(basis, "compare", regenerated, sd, known=known)
    group, frame = read()[name], beside(name, regenerated, sd=sd, runs=runs)
    differ = frame["name"].map(group.differ or {})
    rule = _in_words(group.rule)
    if (folder := results.folder()) is not None:
        lines = frame.assign(differ=differ).astype(object)
        lines = lines.where(lines.notna(), None).to_dict("records")
        facts = {"place": group.place, "unit": group.unit, "rule": rule, "setting": setting}
        record = {"kind": "published", "group": name, **facts, "runs": runs or None, "numbers": lines}
        results.write(folder / "published" / f"{name}.json", results.as_json(record))
    figure = f"{frame['agrees'].sum()} of {len(frame)} printed numbers agree ({rule})"
    return Evidence(basis, bool((frame["agrees"] | differ.notna()).all()), figure)
