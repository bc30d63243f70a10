"""Projects: a folder beside a CSV file of records, with its settings, all answers, and the question sheets.

``my.csv`` has its project in ``my.crowder``: ``project.json`` (the settings, and a digest of each record),
``answers.db`` (a `crowder.Journal`: one vote for each worker and pair, the latest counts), ``candidates.npz`` (the
similarities, so that they are computed once), ``asked.txt`` (the order of the answers given in the terminal, to take
them back), sheets and clusters.

Records may be added at the end of the file, and their text may change as long as nobody has been asked about them:
``crowder plan my.csv`` then takes the new state. Any other change is refused, because answers are about the text that
was shown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crowder import files
from crowder.pairs import Candidates, candidates
from crowder.practice.batch import question_batch
from crowder.practice.journal import Journal, read
from crowder.practice.record_file import open_table, read_records
from crowder.practice.sheets import expand_paths, question_sheet, read_votes
from crowder.practice.votes import Settled, settle

__all__ = ["DEFAULTS", "Project", "Received", "find"]

FORMAT = 1
DEFAULTS: dict[str, Any] = {
    "id": None, "fields": None, "label": None, "sep": ",", "encoding": "utf-8", "similarity": "jaccard-qgrams",
    "ordering": "auto", "target": 0.95, "budget": None, "price": 0.05, "votes": 1, "seed": 0,
}  # fmt: skip
READING = ("id", "fields", "label", "sep", "encoding")


class Received(NamedTuple):
    """What sheets brought: numbers of votes that were new, changed, taken back (blank now), and unsure."""

    new: int
    changed: int
    taken_back: int
    unsure: int


class Project:
    """The project in a folder.

    Parameters
    ----------
    folder : path
        A folder ``NAME.crowder``.
    csv : path, optional
        The file of records: makes the project, or takes a new state of the file; nothing is written before `plan`.
    **changes
        Settings that differ from what the project has (first: from `DEFAULTS`).

    Raises
    ------
    ValueError
        If the folder is no project, or of another file or a later version; if the file of records cannot be read, or
        records were changed, removed or inserted.
    """

    def __init__(self, folder: str | os.PathLike[str], csv: str | os.PathLike[str] | None = None, **changes: Any) -> None:
        self.folder = Path(folder)
        told = self._read_settings(new=csv is not None)
        self.csv = Path(csv) if csv is not None else self.folder / told["csv"]
        if "csv" in told and not self.csv.samefile(self.folder / told["csv"]):
            raise ValueError(f"{self.folder} must be the project of {self.csv}, not of {told['csv']}; rename one of them")
        self.settings: dict[str, Any] = DEFAULTS | told.get("settings", {}) | changes
        self.foreseen: dict[str, Any] = told.get("foreseen", {})
        self.records = read_records(self.csv, **{name: self.settings[name] for name in READING})
        self.fields = [name for name in self.records if name not in ("id", "label")]
        self.ids, self.n = list(self.records["id"]), len(self.records)
        self._digests = [
            blake2b(json.dumps(row).encode(), digest_size=6).hexdigest()
            for row in self.records[["id", *self.fields]].to_numpy().tolist()
        ]
        if told.get("settings", {}).get("fields", self.fields) == self.fields:
            self._check_records(told.get("records", []), csv is not None)
        self.settings["fields"] = self.fields

    def _read_settings(self, new: bool) -> dict[str, Any]:
        path = self.folder / "project.json"
        if not path.exists():
            if new:
                return {}
            raise ValueError(f"{self.folder} must be a project, but has no project.json; run: crowder plan FILE.csv")
        try:
            told = json.loads(path.read_text("utf-8"))
            if told["format"] <= FORMAT:
                return {name: told[name] for name in ("csv", "settings", "foreseen", "records")}
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"{path} must be what crowder plan wrote, but is damaged; delete it and run crowder plan with the same "
                "options again: the answers are in answers.db and stay there"
            ) from None
        raise ValueError(f"{path} was written by a later version of crowder (format {told['format']}); install that")

    def _check_records(self, then: list[str], planning: bool) -> None:
        asked = {record for vote in self.votes() for record in vote[:2]}
        known = max([len(then), *(record + 1 for record in asked)])
        if self.n < known:
            raise ValueError(f"{self.csv} must still have its {known} records, not {self.n}; restore those that were removed")
        for record, (before, now) in enumerate(zip(then, self._digests, strict=False)):
            if before != now and (record in asked or not planning):
                hint = "answers are about its old text: restore it" if record in asked else "run crowder plan again"
                raise ValueError(f"{self.csv}: record {record + 1}, {self.ids[record]!r}, has changed; {hint}")
        if self.n > len(then) and not planning:
            raise ValueError(f"{self.csv} has {self.n - len(then)} records more than planned; run: crowder plan {self.csv}")

    @cached_property
    def journal(self) -> Journal:
        """The journal, for writing."""
        self.folder.mkdir(exist_ok=True)
        return Journal(None, self.folder / "answers.db")

    def votes(self) -> list[tuple[int, int, bool | None, str | None]]:
        """All votes on disk: pair, answer (None if unsure), worker."""
        if not (self.folder / "answers.db").exists():
            return []
        table = read(self.folder / "answers.db").astype({"same": object})
        said = [None if value is None or value != value else bool(value) for value in table["same"].where(table["same"].notna(), None)]
        return list(zip(table["i"].tolist(), table["j"].tolist(), said, table["worker"], strict=True))

    @cached_property
    def _state(self) -> tuple[list[tuple[int, int, bool | None, str | None]], Settled]:
        votes = self.votes()
        return votes, settle(self.n, votes)

    @property
    def settled(self) -> Settled:
        """What all votes say."""
        return self._state[1]

    def known(self) -> tuple[np.ndarray, set[tuple[int, int]]]:
        """The group of each record, and the pairs of groups that differ."""
        settled, apart = self.settled, set()
        if self.settings["votes"] > 1:  # every worker is asked afresh
            return np.arange(self.n), apart
        for (i, j), same in zip(settled.pairs, settled.same, strict=True):
            if not same:
                a, b = int(settled.clusters[i]), int(settled.clusters[j])
                apart |= {(a, b), (b, a)}
        return settled.clusters, apart

    def still_open(self, pairs: Iterable[tuple[int, int]], worker: str) -> list[tuple[int, int]]:
        """Those of the pairs that no answer implies."""
        groups, apart = self.known()
        return [(i, j) for i, j in pairs if groups[i] != groups[j] and (groups[i], groups[j]) not in apart]

    def questions(self, size: int, worker: str | None = None) -> list[tuple[int, int]]:
        """The next questions, for this worker: first those that want more votes, then open ones, then unsure ones."""
        votes, settled = self._state
        mine = {pair_of(i, j) for i, j, _, who in votes if who == worker}
        count = Counter(pair_of(i, j) for i, j, *_ in votes)
        wanting = [pair for pair in count if worker is not None and count[pair] < self.settings["votes"]]
        batch = question_batch(
            self.foreseen["ordering"], self.candidates, size, settled.pairs, settled.same, last=settled.unsure,
            rng=self.settings["seed"],
        )  # fmt: skip
        return [pair for pair in dict.fromkeys([*wanting, *batch]) if worker is None or pair not in mine][:size]
