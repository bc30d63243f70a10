"""Projects: a folder beside a CSV file of records, with its settings, all answers, and the question sheets.

``my.csv`` has its project in ``my.crowder``: ``project.json`` (settings, and a digest of each record), ``answers.db``
(a `crowder.Journal`: one vote for each worker and pair, the latest counts), ``candidates.npz`` (the similarities, so
that they are computed once), ``labelled.txt`` (the order of the answers in the terminal, to take them back), sheets and
clusters.

Records may be added at the end of the file, and text may change where nothing has been answered: ``crowder plan`` then
takes the new state. Other changes are refused, because answers are about the text that was shown.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from crowder import files
from crowder.pairs import Candidates
from crowder.practice.batch import question_batch
from crowder.practice.journal import Journal, read
from crowder.practice.record_file import open_table, read_records
from crowder.practice.sheets import escape_formula, identical_pairs, next_sheet_path, question_sheet, read_blanks, read_votes
from crowder.practice.votes import Settled, settle

__all__ = ["DEFAULTS", "Project", "Received", "find"]

FORMAT = 1
READING: dict[str, Any] = {"id": None, "fields": None, "label": None, "sep": ",", "encoding": "utf-8"}
DEFAULTS: dict[str, Any] = READING | {
    "similarity": "jaccard-qgrams", "ordering": "auto", "target": 0.95, "budget": None, "price": 0.05, "votes": 1,
    "seed": 0,
}  # fmt: skip


class Received(NamedTuple):
    """Numbers of votes that sheets brought: new, changed, taken back (blank now); and of unsure ones among the first two."""

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
        The file of records: makes the project, or takes a new state of the file. Nothing is written before `plan`.
    **changes
        Settings that differ from what the project has (`DEFAULTS` at first).

    Raises
    ------
    ValueError
        If the folder is no project, or that of another file or of a later version; if records were changed, removed or
        inserted; and as `crowder.read_records`.
    OSError
        If a file cannot be read.
    """

    def __init__(self, folder: str | os.PathLike[str], csv: str | os.PathLike[str] | None = None, **changes: Any) -> None:
        self.folder = Path(folder)
        told = self._told(new=csv is not None)
        self.csv = self.folder / told["csv"] if csv is None else Path(csv)
        if "csv" in told and csv is not None and self.csv.resolve() != (self.folder / told["csv"]).resolve():
            raise ValueError(f"{self.folder} must be the project of {csv}, but is that of {told['csv']}; rename one file")
        before = told.get("settings", {})
        self.settings: dict[str, Any] = DEFAULTS | before | changes
        self.foreseen: dict[str, Any] = told.get("foreseen", {})
        self.records = read_records(self.csv, **{name: self.settings[name] for name in READING})
        self.fields = [name for name in self.records if name not in ("id", "label")]
        self.ids, self.n = list(self.records["id"]), len(self.records)
        rows = self.records[["id", *self.fields]].to_numpy().tolist()
        self._digests = [blake2b(json.dumps(row).encode(), digest_size=6).hexdigest() for row in rows]
        self._check_records(told.get("records", []), csv is not None, before.get("fields", self.fields) == self.fields)
        self.settings["fields"] = self.fields

    def _told(self, new: bool) -> dict[str, Any]:
        """What project.json says; {} if there is none and the project is new."""
        path = self.folder / "project.json"
        if not path.exists():
            if new:
                return {}
            raise ValueError(f"{self.folder} must be a project, but has no project.json; make one: crowder plan FILE.csv")
        try:
            told = json.loads(path.read_text("utf-8"))
            if told["format"] <= FORMAT:
                return {name: told[name] for name in ("csv", "settings", "foreseen", "records")}
        except (ValueError, KeyError, TypeError):
            raise ValueError(
                f"{path} must be what crowder plan wrote, but is damaged; delete it and run crowder plan with the same "
                "options again: the answers are in answers.db, and stay there"
            ) from None
        raise ValueError(f"{path} was written by a later version of crowder (format {told['format']}); install that")

    def _check_records(self, then: list[str], planning: bool, same_fields: bool) -> None:
        asked = {record for vote in self.votes for record in vote[:2]}
        known = max([len(then), *(record + 1 for record in asked)])
        if self.n < known:
            raise ValueError(f"{self.csv} must still have its {known} records, not {self.n}; restore what was removed")
        for record, (old, new) in enumerate(zip(then, self._digests, strict=False) if same_fields else ()):
            if old != new and (record in asked or not planning):
                hint = "answers are about its old text: restore it" if record in asked else "run crowder plan again"
                raise ValueError(f"{self.csv}: record {record + 1}, {self.ids[record]!r}, has changed; {hint}")
        if self.n > len(then) and not planning:
            more = self.n - len(then)
            raise ValueError(f"{self.csv} has {more} record(s) more than were planned; run: crowder plan {self.csv}")

    @cached_property
    def journal(self) -> Journal:
        """The journal, for writing."""
        self.folder.mkdir(exist_ok=True)
        return Journal(None, self.folder / "answers.db")

    @cached_property
    def votes(self) -> list[tuple[int, int, bool | None, str | None]]:
        """All votes on disk: pair, answer (None if unsure), worker."""
        if not (self.folder / "answers.db").exists():
            return []
        table = read(self.folder / "answers.db")
        same = [None if said is pd.NA else bool(said) for said in table["same"]]
        return list(zip(table["i"].tolist(), table["j"].tolist(), same, table["worker"], strict=True))

    @cached_property
    def identical(self) -> list[tuple[int, int]]:
        """Each record whose text an earlier one has too, with the first such: these count as the same, unless somebody
        says otherwise."""
        joined, found = set[int](), []
        for i, j in identical_pairs(self.records, self.fields):
            if i not in joined:
                joined.add(j)
                found.append((i, j))
        return found

    @cached_property
    def evidence(self) -> list[tuple[int, int, bool | None, str | None]]:
        """The votes, and what identical text says where there is none."""
        voted = {vote[:2] for vote in self.votes}
        return [*self.votes, *((*pair, True, "identical text") for pair in self.identical if pair not in voted)]

    @cached_property
    def settled(self) -> Settled:
        """What all votes and identical text say."""
        return settle(self.n, self.evidence)

    @cached_property
    def known(self) -> tuple[np.ndarray, set[tuple[int, int]]]:
        """The group of each record, and the pairs of groups that differ; if each question has several votes, every
        worker is asked without regard to the others."""
        settled, apart = self.settled, set[tuple[int, int]]()
        if self.settings["votes"] > 1:
            return np.arange(self.n), apart
        for (i, j), same in zip(settled.pairs, settled.same, strict=True):
            if not same:
                a, b = int(settled.clusters[i]), int(settled.clusters[j])
                apart |= {(a, b), (b, a)}
        return settled.clusters, apart

    def _changed(self) -> None:
        for name in ("votes", "evidence", "settled", "known"):
            self.__dict__.pop(name, None)

    def still_open(self, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Those of the pairs that no answer implies."""
        groups, apart = self.known
        return [(i, j) for i, j in pairs if groups[i] != groups[j] and (groups[i], groups[j]) not in apart]

    def questions(self, size: int, worker: str | None = None, expected: Any = None) -> list[tuple[int, int]]:
        """The next questions, for this worker: first those that want more votes, last those left unsure."""
        mine = {(i, j) for i, j, _, who in self.votes if who == worker and worker is not None}
        count = Counter((i, j) for i, j, *_ in self.votes)
        wanting = [pair for pair in count if worker is not None and count[pair] < self.settings["votes"]]
        batch = question_batch(
            self.foreseen["ordering"], self.candidates, size + len(mine.intersection(self.settled.unsure)),
            self.settled.pairs, self.settled.same, last=self.settled.unsure, expected=expected, rng=self.settings["seed"],
        )  # fmt: skip
        return [pair for pair in dict.fromkeys([*wanting, *batch]) if pair not in mine][:size]

    def answer(self, pair: tuple[int, int], same: bool | None, worker: str) -> None:
        """Write an answer to disk, such that `undo` finds it."""
        # First the line: without its answer it is skipped, but an answer without it could not be taken back.
        with open(self.folder / "labelled.txt", "a", encoding="utf-8") as file:
            print(*pair, worker, file=file)
        self.journal.record([pair], [same], worker)
        self._changed()

    def undo(self, worker: str) -> tuple[int, int] | None:
        """Take back the last answer that this worker gave in the terminal; its pair, or None if there is none."""
        path = self.folder / "labelled.txt"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        for place in range(len(lines) - 1, -1, -1):
            found = re.fullmatch(r"(\d+) (\d+) (.*)", lines[place])  # a line that a kill cut short is skipped
            if found and found[3] == worker and self.journal.take_back(i := int(found[1]), j := int(found[2]), worker):
                files.write(path, "".join(f"{line}\n" for line in lines[:place] + lines[place + 1 :]).encode())
                self._changed()
                return i, j
        return None

    def progress(self) -> str:
        """How many answers there are, and how many are left to the target."""
        left = self.foreseen["questions"] - (len(self.votes) - self.foreseen["from"])
        goal = f"about {left} more to" if left > 0 else "as many as planned for"
        return f"{self.csv.name}: {len(self.votes)} answers, {goal} {100 * self.settings['target']:.3g} % of the matches"

    def table(self) -> pd.DataFrame:
        """The clusters that all votes imply: columns id, cluster, size, sorted as the records."""
        clusters = self.settled.clusters
        return pd.DataFrame({"id": self.ids, "cluster": clusters, "size": np.bincount(clusters)[clusters]})

    def plan(self) -> Any:
        """A new plan, from all answers so far; the project is then saved with it."""
        from crowder.practice.plan import Plan

        chosen = {name: self.settings[name] for name in ("ordering", "target", "budget", "price", "votes")}
        answers = self.settled.pairs, self.settled.same
        plan = Plan(self.records, self.settings["similarity"], **chosen, answers=answers, rng=self.settings["seed"])
        self.candidates = plan.candidates
        self.foreseen = {"ordering": plan.ordering, "questions": int(plan.table["questions"].iloc[0]), "from": len(self.votes)}
        values, codes = self.candidates.listed()
        content = io.BytesIO()
        np.savez(content, key=self._key, values=values, **({} if self.candidates.complete else {"codes": codes}))
        told = {"format": FORMAT, "csv": os.path.relpath(self.csv, self.folder), "settings": self.settings}
        told |= {"foreseen": self.foreseen, "records": self._digests}
        self.journal  # noqa: B018  # made now, so that no answer is the first to find that it cannot be written
        files.write(self.folder / "candidates.npz", content.getvalue())
        files.write(self.folder / "project.json", json.dumps(told).encode())
        return plan

    @property
    def _key(self) -> str:
        """What the similarities follow from."""
        return blake2b(json.dumps([self.settings["similarity"], *self._digests]).encode(), digest_size=8).hexdigest()

    @cached_property
    def candidates(self) -> Candidates:
        """The candidate pairs with their similarities, as they were planned."""
        path = self.folder / "candidates.npz"
        try:
            with np.load(path, allow_pickle=False) as stored:
                if str(stored["key"]) == self._key:
                    return Candidates(self.n, "codes" not in stored, _values=stored["values"], _codes=stored.get("codes"))
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            pass
        raise ValueError(f"{path} must have the similarities of {self.csv}, but does not; run: crowder plan {self.csv}")

    def write_sheet(self, pairs: Sequence[tuple[int, int]], out: str | None = None) -> Path:
        """Write a question sheet, to a file that has no answers."""
        path = Path(out or next_sheet_path(str(self.folder / "questions"), self.ids))
        if path.exists() and (given := len(read_votes(path, self.ids))):
            raise ValueError(f"FILE must not have answers, but {path} has {given}")
        sheet = question_sheet(self.records, self.fields, pairs).rename(columns=escape_formula)
        text = sheet.to_csv(index=False, lineterminator="\n", sep=self.settings["sep"].replace(r"\t", "\t"))
        files.write(path, text.encode("utf-8" if text.isascii() else "utf-8-sig"))  # which spreadsheets recognise
        return path

    def receive(self, paths: Sequence[str], encoding: str = "utf-8", sep: str | None = None) -> Received:
        """Take the votes in question sheets: all, or none if one of the sheets is refused."""
        given, blank = dict[tuple, bool | None](), set[tuple]()
        for path in paths:
            given |= {(*sorted(vote[:2]), vote.worker): vote.same for vote in read_votes(path, self.ids, encoding=encoding, sep=sep)}
            blank |= {(*sorted(row[:2]), row[2]) for row in read_blanks(path, self.ids, encoding=encoding, sep=sep)}
            self._check_text(path, encoding, sep)
        gone = {(i, j, who) for i, j, _, who in self.votes} & blank - given.keys()
        for i, j, who in gone:
            self.journal.take_back(i, j, who)
        new, changed = self.journal.record([key[:2] for key in given], list(given.values()), [key[2] for key in given])
        self._changed()
        return Received(new, changed, len(gone), sum(same is None for same in given.values()))

    def _check_text(self, path: str, encoding: str, sep: str | None) -> None:
        """Raise a ValueError if most records that a sheet shows have another text here."""
        place, shown, strange = {name: record for record, name in enumerate(self.ids)}, 0, 0
        with open_table(path, encoding, sep) as (_, header, rows):
            for _, cells in rows:
                for side in "ab":
                    cell = dict(zip(header, cells, strict=False))
                    ours = self.records.iloc[place.get(cell[f"id_{side}"].strip(), 0)]
                    texts = [(cell.get(f"{field}_{side}", ""), ours[field]) for field in self.fields]
                    texts = [[text.removeprefix("'").strip() for text in both] for both in texts if both[0].strip()]
                    shown += bool(texts)
                    strange += bool(texts) and all(theirs != text for theirs, text in texts)
        if 2 * strange > shown:
            hint = "is it the sheet of another project?"
            raise ValueError(f"{path}: {strange} of the {shown} records in it have another text in {self.csv}; {hint}")


def find(name: str | None) -> Path:
    """The folder of a project by its name, with or without ``.crowder``, or by its CSV file; None: the only one here.

    Raises
    ------
    ValueError
        If there is no such project, or several and no name.
    """
    if name is not None:
        path = Path(name)
        choices = [path, path.with_name(path.name + ".crowder"), path.with_suffix(".crowder")]
        found = [folder for folder in choices if folder.suffix == ".crowder" and folder.is_dir()]
        if not found:
            raise ValueError(f"PROJECT must be a folder such as {choices[2]}, which does not exist; run: crowder plan FILE.csv")
        return found[0]
    here = sorted(path for path in Path().glob("*.crowder") if path.is_dir())
    if len(here) != 1:
        told = f"here are {', '.join(map(str, here))}: name one of them" if here else "here is none; run: crowder plan FILE.csv"
        raise ValueError(f"PROJECT must be named unless the current folder has just one; {told}")
    return here[0]
