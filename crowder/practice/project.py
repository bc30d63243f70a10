"""Projects: a folder beside a CSV file of records, with its settings, all answers, and the question sheets.

``my.csv`` has its project in ``my.crowder``: ``project.json`` (settings, and a digest of each record), ``answers.db``
(a `crowder.practice.Journal`: one vote for each worker and pair, the latest counts), ``candidates.npz`` (the
similarities), ``labelled.txt`` (the order of the answers in the terminal, to take them back), sheets and clusters.

Records may be added at the end of the file, and text may change where nothing has been answered: ``crowder plan`` then
takes the new state. Other changes are refused, because answers are about the text that was shown.
"""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from crowder import files
from crowder.constraints import constrained
from crowder.pairs import Candidates
from crowder.practice import sheets
from crowder.practice.batch import pilot, question_batch
from crowder.practice.journal import Journal, read
from crowder.practice.record_file import read_records
from crowder.practice.votes import Settled, settle

__all__ = ["DEFAULTS", "Project", "find"]

#: Version of the file; clusterings that are kept of a plan; answers after which there is a new one.
FORMAT, DRAWS, ENOUGH = 1, 50, 50
READING: dict[str, Any] = {"id": None, "fields": None, "label": None, "sep": ",", "encoding": "utf-8"}
PLANNING: dict[str, Any] = {"ordering": "auto", "target": 0.95, "budget": None, "price": 0.05, "votes": 1}
DEFAULTS = READING | PLANNING | {"similarity": "jaccard-qgrams", "seed": 0}

Pair = tuple[int, int]
Vote = tuple[int, int, bool | None, str | None]


class Project:
    """The project in a folder ``NAME.crowder``.

    With a file of records, the project is made, or takes a new state of the file and changed settings (first those of
    `DEFAULTS`). Nothing is written before `plan`.

    Raises
    ------
    ValueError
        If the folder is no project, or that of another file or a later version; if records were changed, removed or
        inserted; and as `crowder.practice.read_records`.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "my.csv")
    >>> _ = path.write_text("id,name\\na,Ann Lee\\nb,Bo Roy\\nc,Anne Lee\\n")
    >>> project = Project(path.with_suffix(".crowder"), path)
    >>> plan = project.plan()
    >>> project.answer(project.questions(1)[0], True, "ann")
    >>> Project(path.with_suffix(".crowder")).table().values.tolist()
    [['a', 0, 2], ['b', 1, 1], ['c', 0, 2]]
    """

    def __init__(self, folder: str | os.PathLike[str], csv: str | os.PathLike[str] | None = None, **changes: Any):
        self.folder = Path(folder)
        told = self._told(new=csv is not None)
        self.csv = self.folder / told["csv"] if csv is None else Path(csv)
        if told and self.csv.resolve() != (self.folder / told["csv"]).resolve():
            raise ValueError(f"{folder} must be the project of {csv}, but is that of {told['csv']}; rename one file")
        before = told.get("settings", {})
        self.settings = DEFAULTS | before | changes
        self.settings["sep"] = self.settings["sep"].replace(r"\t", "\t")
        self.foreseen: dict[str, Any] = told.get("foreseen", {})
        self.records = read_records(self.csv, **{name: self.settings[name] for name in READING})
        self.fields = [name for name in self.records if name not in ("id", "label")]
        self.ids, self.n = list(self.records["id"]), len(self.records)
        rows = self.records[["id", *self.fields]].to_numpy().tolist()
        self._digests = [blake2b(json.dumps(row).encode(), digest_size=6).hexdigest() for row in rows]
        self._check(told.get("records", []), csv is not None, before.get("fields", self.fields) == self.fields)
        self.settings["fields"] = self.fields
        #: The first record of each text with each other one: the same, unless somebody says otherwise.
        self.identical = sheets.identical_pairs(self.records, self.fields)

    def _told(self, new: bool) -> dict[str, Any]:
        """What project.json says; nothing if there is none and the project is new."""
        path = self.folder / "project.json"
        if not path.exists():
            if new:
                return {}
            raise ValueError(f"{self.folder} must be a project, but has no project.json; run crowder plan")
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

    def _check(self, then: list[str], planning: bool, same_fields: bool) -> None:
        asked = {record for vote in self.votes for record in vote[:2]}
        known = max([len(then), *(record + 1 for record in asked)])
        if self.n < known:
            raise ValueError(f"{self.csv} must still have its {known} records, not {self.n}; restore what was removed")
        for record, (old, now) in enumerate(zip(then, self._digests, strict=False) if same_fields else ()):
            if old != now and (record in asked or not planning):
                hint = "answers are about its old text: restore it" if record in asked else "run crowder plan again"
                raise ValueError(f"{self.csv}: record {record + 1}, {self.ids[record]!r}, has changed; {hint}")
        if self.n > len(then) and not planning:
            raise ValueError(f"{self.csv} has more than the {len(then)} records planned; run: crowder plan {self.csv}")

    # --- answers --------------------------------------------------------------------------------------------------

    @cached_property
    def journal(self) -> Journal:
        """The journal, for writing."""
        self.folder.mkdir(exist_ok=True)
        return Journal(None, self.folder / "answers.db")  # nobody is asked through it

    @cached_property
    def votes(self) -> list[Vote]:
        """All votes on disk: pair, answer (None if unsure), worker."""
        if not (self.folder / "answers.db").exists():
            return []
        table = read(self.folder / "answers.db")
        same = [None if said is pd.NA else bool(said) for said in table["same"]]
        return list(zip(table["i"].tolist(), table["j"].tolist(), same, table["worker"], strict=True))

    @cached_property
    def evidence(self) -> list[Vote]:
        """The votes, and what identical text says where there is none."""
        voted = {vote[:2] for vote in self.votes}
        return [*self.votes, *((*pair, True, "identical text") for pair in self.identical if pair not in voted)]

    @cached_property
    def settled(self) -> Settled:
        """What the evidence says."""
        return settle(self.n, self.evidence)

    @cached_property
    def known(self) -> tuple[list[int], set[Pair]]:
        """The group of each record, and the pairs of groups that differ, in both orders. If each question has several
        votes, every worker is asked without regard to the others."""
        if self.settings["votes"] > 1:
            return list(range(self.n)), set()
        pairs, same, group = self.settled.pairs, self.settled.same, self.settled.clusters.tolist()
        apart = {(group[i], group[j]) for (i, j), yes in zip(pairs, same, strict=True) if not yes}
        return group, apart | {(b, a) for a, b in apart}

    def record(self, votes: dict[tuple[int, int, str], bool | None], gone: Iterable[tuple] = ()) -> tuple[int, int]:
        """Write votes to disk, and take others back; the numbers of new and changed ones."""
        counts = self.journal.record([key[:2] for key in votes], list(votes.values()), [key[2] for key in votes], gone)
        for name in ("votes", "evidence", "settled", "known"):
            self.__dict__.pop(name, None)
        return counts

    def answer(self, pair: Pair, same: bool | None, worker: str) -> None:
        """Write an answer to disk, such that `undo` finds it."""
        # First the line: without its answer it is passed over, but an answer without it could not be taken back.
        with open(self.folder / "labelled.txt", "a", encoding="utf-8") as file:
            print(*pair, worker, file=file)
        self.record({(*pair, worker): same})

    def undo(self, worker: str) -> Pair | None:
        """Take back the last answer that this worker gave in the terminal; its pair, or None if there is none."""
        path = self.folder / "labelled.txt"
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        mine = {f"{i} {j} {worker}": (i, j) for i, j, _, name in self.votes if name == worker}
        for place in reversed(range(len(lines))):
            if pair := mine.get(lines[place]):
                del lines[place]
                self.record({}, [(*pair, worker)])
                files.write(path, "".join(f"{line}\n" for line in lines).encode())
                return pair
        return None

    def receive(self, paths: Sequence[str], **how: Any) -> tuple[int, int, int, int]:
        """Take the votes in question sheets, all, or none if a sheet is refused: how many were new, changed, taken back
        (blank now), and unsure. `how`: encoding and separator."""
        rows = list[sheets.Row]()
        for path in paths:
            rows += (sheet := sheets.read_rows(path, self.ids, **how))
            self._check_text(path, sheet)
        keys = [(min(row.i, row.j), max(row.i, row.j), row.worker) for row in rows]
        votes = {key: row.same for key, row in zip(keys, rows, strict=True) if row.answered}
        gone = {(i, j, worker) for i, j, _, worker in self.votes} & set(keys) - votes.keys()
        return *self.record(votes, gone), len(gone), list(votes.values()).count(None)

    def _check_text(self, path: str, rows: list[sheets.Row]) -> None:
        """Raise a ValueError if most records that a sheet shows have another text here."""
        texts, shown, strange = self.records[self.fields].to_numpy(), 0, 0
        for row in rows:
            for record, side in ((row.i, "a"), (row.j, "b")):
                theirs = [row.cells.get(f"{field}_{side}", "").strip(" '") for field in self.fields]
                fits = [a == b.strip(" '") for a, b in zip(theirs, texts[record], strict=True) if a]
                shown, strange = shown + bool(fits), strange + (bool(fits) and not any(fits))
        if 2 * strange > shown:
            where = f"{strange} of the {shown} records in it have another text in {self.csv}"
            raise ValueError(f"{path} must be a sheet of this project, but {where}")

    # --- questions ------------------------------------------------------------------------------------------------

    def plan(self) -> Any:
        """A new plan, from all answers so far; the project is then saved with it."""
        from crowder.practice.plan import Plan, pairs_of

        pairs = pairs_of(self.records, self.settings["similarity"])
        free, answers = self._answers(pairs)
        chosen = {name: self.settings[name] for name in PLANNING}
        plan = Plan(constrained(pairs, free), **chosen, answers=answers, rng=self.settings["seed"])
        self._planned = pairs, np.array(plan.clusterings[:DRAWS], np.int32)
        left = ((plan.table[["questions", "to"]].iloc[0] - len(answers[1])) * self.settings["votes"]).tolist()
        again = len(self.votes) + (len(pilot(plan.candidates, len(answers[1]))) * self.settings["votes"] or ENOUGH)
        self.foreseen = {"ordering": plan.ordering, "left": left, "at": len(self.votes), "again": again}
        content, complete = io.BytesIO(), self.candidates.complete
        values, codes = self.candidates.listed()
        codes = codes[:0] if complete else codes  # of all pairs, they need not be stored
        np.savez(content, key=self._key, complete=complete, values=values, codes=codes, draws=self.draws)
        told = {"format": FORMAT, "csv": os.path.relpath(self.csv, self.folder), "settings": self.settings}
        told |= {"foreseen": self.foreseen, "records": self._digests}
        self.record({})  # makes the journal, so that the first answer does not find that it cannot be written
        files.write(self.folder / "candidates.npz", content.getvalue())
        files.write(self.folder / "project.json", json.dumps(told).encode())
        return plan

    def _answers(self, pairs: Candidates) -> tuple[Any, Any]:
        """What identical text says without a question, if anything, and all other answers; each as pairs and same."""
        said, same = np.array(self.settled.pairs, np.int64).reshape(-1, 2), np.array(self.settled.same, bool)
        # A plan counts how many answers are needed. The journal does not tell in which order they came: take the most
        # similar pairs first.
        values, codes = (np.append(part, -1) for part in pairs.listed())
        packed = said[:, 0] << 32 | said[:, 1]
        place = np.searchsorted(codes[:-1], packed)
        said, same = (part[np.argsort(-np.where(codes[place] == packed, values[place], 0))] for part in (said, same))
        voted = {vote[:2] for vote in self.votes}
        asked = np.array([tuple(pair) in voted for pair in said.tolist()], bool)
        return None if asked.all() else (said[~asked], same[~asked]), (said[asked], same[asked])

    @property
    def _key(self) -> str:
        """What the similarities follow from."""
        return blake2b(json.dumps([self.settings["similarity"], *self._digests]).encode(), digest_size=8).hexdigest()

    @cached_property
    def _planned(self) -> tuple[Candidates, np.ndarray]:
        path = self.folder / "candidates.npz"
        try:
            with np.load(path, allow_pickle=False) as stored:
                if str(stored["key"]) == self._key:
                    complete = bool(stored["complete"])
                    codes = None if complete else stored["codes"]
                    return Candidates(self.n, complete, _values=stored["values"], _codes=codes), stored["draws"]
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            pass
        raise ValueError(f"{path} must have the similarities of {self.csv}, but does not; run: crowder plan {self.csv}")

    @property
    def candidates(self) -> Candidates:
        """The candidate pairs with their similarities, as they were planned."""
        return self._planned[0]

    @property
    def draws(self) -> np.ndarray:
        """Plausible clusterings by the plan, (draws, n)."""
        return self._planned[1]

    def recall(self) -> tuple[float, float, float]:
        """The share of the matches that the clusters have, by the plausible clusterings: low, middle, high."""
        sizes = [np.bincount(labels) for labels in (self.settled.clusters, *self.draws)]
        found, *matches = [int((size * (size - 1) // 2).sum()) for size in sizes]
        recall = [found / each if each > found else 1.0 for each in matches]
        low, middle, high = np.quantile(recall, [0.05, 0.5, 0.95]).tolist()
        return low, middle, high

    def still_open(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Those of the pairs that no answer implies."""
        groups, apart = self.known
        return [(i, j) for i, j in pairs if groups[i] != groups[j] and (groups[i], groups[j]) not in apart]

    def questions(self, size: int, worker: str | None = None) -> list[Pair]:
        """The next questions, for this worker: first those that want more votes, last those left unsure."""
        mine = {vote[:2] for vote in self.votes if vote[3] == worker and worker is not None}
        count = Counter(vote[:2] for vote in self.votes)
        wanting = [pair for pair in count if worker is not None and count[pair] < self.settings["votes"]]
        settled, unsure = self.settled, self.settled.unsure
        asked = len(settled.pairs) - (len(self.evidence) - len(self.votes))  # without identical text
        batch = question_batch(
            self.foreseen["ordering"], self.candidates, size + len(mine.intersection(unsure)), settled.pairs,
            settled.same, first=pilot(self.candidates, asked), last=unsure, rng=self.settings["seed"],
            expected=lambda i, j: bool(2 * (self.draws[:, i] == self.draws[:, j]).sum() > len(self.draws)),
        )  # fmt: skip
        return [pair for pair in dict.fromkeys([*wanting, *batch]) if pair not in mine][:size]

    def write_sheet(self, pairs: Sequence[Pair], out: str | None = None) -> Path:
        """Write a question sheet, to a file that has no answers."""
        path = Path(out or sheets.next_sheet_path(str(self.folder / "questions"), self.ids))
        sheet = sheets.question_sheet(self.records, self.fields, pairs)
        sheets.write_sheet(path, sheet, self.ids, sep=self.settings["sep"])
        return path

    def progress(self) -> str:
        """How many answers there are, and how many are left to the target."""
        left, most = (number + self.foreseen["at"] - len(self.votes) for number in self.foreseen["left"])
        goal = "as many as planned" if most <= 0 else f"{max(0, left):.0f} to {most:.0f} more"
        answers = f"{len(self.votes)} answer{'s' * (len(self.votes) != 1)}"
        return f"{self.csv.name}: {answers}, {goal} to find {100 * self.settings['target']:.4g} % of the matches"

    def table(self) -> pd.DataFrame:
        """The clusters that follow from the evidence: columns id, cluster, size, in the order of the records."""
        clusters = self.settled.clusters
        return pd.DataFrame({"id": self.ids, "cluster": clusters, "size": np.bincount(clusters)[clusters]})


def find(name: str | None) -> Path:
    """The folder of a project by its name, with or without ``.crowder``, or by its CSV file; None: the only one here.

    A ValueError if there is none, or there are several.
    """
    here = sorted(path for path in Path().glob("*.crowder") if path.is_dir())
    names = [] if name is None else [Path(name), Path(f"{name}.crowder"), Path(name).with_suffix(".crowder")]
    found = here if name is None else [path for path in names if path.suffix == ".crowder" and path.is_dir()][:1]
    if len(found) == 1:
        return found[0]
    told = f"is no project: {name}" if name is not None else "must be named, unless there is just one in this folder"
    there = ", ".join(map(str, here)) or "none; run: crowder plan FILE.csv"
    raise ValueError(f"PROJECT {told}. Projects in this folder: {there}")
