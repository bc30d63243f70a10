"""Projects: a folder beside the file of records, with its settings, its candidate pairs, all answers, and the sheets.

``my.csv`` has its project in ``my.crowder``: ``project.json`` (settings, and a digest of each record), ``answers.db``
(a `crowder_tool.Journal`: one vote for each worker and pair, the latest counts; and which questions somebody has),
``candidates.npz`` (the candidate pairs, and what compares them), ``audit.json`` (what an audit has drawn), sheets and
clusters. Who may not read ``my.csv`` may read none of them. Records may be added at the end of the file, and text may
change where nothing has been answered; other changes are refused, because answers are about the text that was shown.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from crowder.orderings import Ordering
from crowder_tool import files, sheets
from crowder_tool.candidates import NearestPairs, fields_of, identical_pairs, nearest_pairs, pair_features
from crowder_tool.journal import Journal, Pair
from crowder_tool.learned_ordering import LearnedOrdering
from crowder_tool.progress import told
from crowder_tool.record_file import encodable, naming, read_records, read_rows
from crowder_tool.replayed_audit import ReplayedAudit
from crowder_tool.scored_pairs import from_pairs
from crowder_tool.votes import Settled, settle

__all__ = ["DEFAULTS", "Project", "find"]

#: Of so many last questions it is said how many were matches.
LATELY = 100
READING: dict[str, Any] = {"id": None, "fields": None, "sep": ",", "encoding": "utf-8"}
DEFAULTS = READING | {"scores": None, "scored": None, "neighbours": 20, "identical": "same", "price": 0.05}
TABLE, SEED = "(file)", 0  # the column that names the table of each of two files; of what is drawn at random

Vote = tuple[int, int, bool | None, str | None]


class Project:
    """The project in a folder ``NAME.crowder``.

    With a file of records, or two that each have no duplicates, the project is made, or takes a new state of the files
    and changed settings (first those of `DEFAULTS`). Nothing is written before `start`.
    """

    def __init__(self, folder: str | os.PathLike[str], *csv: str | os.PathLike[str], **changes: Any):
        self.folder = Path(folder)
        told = self._told()
        if not told and not csv:
            raise ValueError(f"{folder} must be a project, but has no project.json; run crowder start")
        kept = [self.folder / name for name in told.get("files", [])]
        self.files = [Path(path) for path in csv] or kept
        if told and [path.resolve() for path in self.files] != [path.resolve() for path in kept]:
            theirs = _listed(told["files"])
            raise ValueError(f"{folder} must be the project of {_listed(csv)}, but is that of {theirs}; rename a file")
        before = told.get("settings", {})
        if changes.get("scores"):
            changes["scores"] = os.path.relpath(changes["scores"], folder)
        self.settings = DEFAULTS | before | changes
        self.settings["sep"] = self.settings["sep"].replace(r"\t", "\t")
        if self.settings["fields"]:  # an identifier may have been named since
            self.settings["fields"] = [name for name in self.settings["fields"] if name != self.settings["id"]]
        self.csv = self.files[0]
        answers = self.folder / "answers.db"
        if told and (not answers.exists() or self.journal.id != told["journal"]):
            raise ValueError(f"{answers} is gone, or is that of another project: restore it; or, to begin without "
                             f"answers, remove {folder}")  # fmt: skip
        self.records, self.fields, self._digests = self._read(self.settings["fields"])
        self.ids, self.n = list(self.records["id"]), len(self.records)
        self._check(told.get("records", []), bool(csv), before.get("fields"))
        self.settings["fields"] = self.fields
        if csv:  # what the scores are is read once, so that the file need not stay
            self.settings["scored"] = (
                blake2b(self._scores.read_bytes()).hexdigest() if self.settings["scores"] else None
            )

    def _told(self) -> dict[str, Any]:
        """What project.json says; nothing if there is none."""
        path = self.folder / "project.json"
        try:
            told = json.loads(path.read_text("utf-8"))
            return {name: told[name] for name in ("files", "settings", "records", "journal")}
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is damaged; delete it and run crowder start with the same options again: "
                             "the answers are in answers.db, and stay there") from None  # fmt: skip

    @told("reading the records")
    def _read(self, fields: list[str] | None) -> tuple[pd.DataFrame, list[str], list[str]]:
        """The records of one file or two, the fields that all of them have, and a digest of each record."""
        how = {name: self.settings[name] for name in READING} | {"fields": fields}
        read = [read_records(path, **how) for path in self.files]
        fields = [name for name in read[0] if name not in ("id", "label") and all(name in table for table in read)]
        if not fields:
            raise ValueError(f"{_listed(self.files)} must have a column in common besides the identifiers")
        rows = [row for table in read for row in table[["id", *fields]].to_numpy().tolist()]
        digests = [blake2b(json.dumps(row).encode(), digest_size=6).hexdigest() for row in rows]
        self._table = TABLE if len(read) == 2 else None
        if len(read) == 1:
            return read[0], fields, digests
        names = [encodable(path.stem) for path in self.files]
        if names[0] == names[1]:
            raise ValueError(f"two files must have different names, not both {names[0]}")
        if set(read[0]["id"]) & set(read[1]["id"]):
            read = [table.assign(id=f"{name}:" + table["id"]) for name, table in zip(names, read, strict=True)]
        read = [table[["id", *fields]].assign(**{TABLE: name}) for name, table in zip(names, read, strict=True)]
        return pd.concat(read, ignore_index=True), fields, digests

    def _check(self, then: list[str], starting: bool, fields: list[str] | None) -> None:
        """An error if records are no longer what they were `then`, by these fields, and that matters."""
        asked = {record for vote in self.votes for record in vote[:2]}
        known = max([len(then), *(record + 1 for record in asked)])
        if self.n < known:
            raise ValueError(f"{self.csv} must still have its {known} records, not {self.n}; restore what was removed")
        digests = self._digests
        if fields is not None and fields != self.fields:
            digests = self._read(fields)[2] if asked else []
        for record, (old, now) in enumerate(zip(then, digests, strict=False)):
            if old != now and (record in asked or not starting):
                hint = "changed; answers are about its old text: restore it"
                if old in digests:
                    hint = "moved; records can be added at the end only, of two files of the second"
                elif record not in asked:
                    hint = "changed; run crowder start again"
                what = f"record {record + 1}, {self.ids[record]!r}, has {hint}"
                raise ValueError(f"{_listed(self.files)}: {what}")
        if self.n > len(then) and not starting:
            again = "crowder start " + " ".join(map(str, self.files))
            raise ValueError(f"{self.csv} has more than the {len(then)} records known; run: {again}")

    # --- candidates -----------------------------------------------------------------------------------------------

    @property
    def _scores(self) -> Path:
        return Path(os.path.normpath(self.folder / self.settings["scores"]))

    @property
    def _key(self) -> str:
        """What the candidates follow from."""
        parts = [self.settings[name] for name in ("scored", "neighbours", "identical")]
        parts += [self._table, *self._digests]
        return blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()

    @told("finding the pairs that may match")
    def start(self) -> None:
        """Find the candidate pairs and compare them, unless that has been done, and save the project."""
        try:
            self.near  # noqa: B018
        except ValueError:
            self.near = self._scored() if self.settings["scores"] else nearest_pairs(
                self.records, table=self._table, neighbours=self.settings["neighbours"],
                identical=self.settings["identical"] == "same")  # fmt: skip
            self.features = pair_features(fields_of(self.records, self._table), self.near)
            content, kept = io.BytesIO(), vars(self.near) | {"features": self.features}
            np.savez(content, key=self._key, **{name: part for name, part in kept.items() if part is not None})
            files.write(self.folder / "candidates.npz", content.getvalue(), like=self.csv)
        told: dict[str, Any] = {"files": [os.path.relpath(path, self.folder) for path in self.files]}
        told |= {"settings": self.settings, "records": self._digests, "journal": self.journal.id}
        self.record({})  # makes the journal, so that the first answer does not find that it cannot be written
        files.write(self.folder / "project.json", json.dumps(told).encode(), like=self.csv)

    def _scored(self) -> NearestPairs:
        """The candidate pairs of another program, whose scores take the place of the similarities of their texts."""
        with naming(self._scores):
            frame = read_rows(self._scores, self.settings["encoding"], None).reset_index(drop=True)
            if frame.empty:
                raise ValueError("the file must have pairs below its header")
            scored, tables = from_pairs(frame, one_to_one=bool(self._table)), None
        names = pd.Index(scored.ids)
        if self._table:
            tables = self.records[TABLE].factorize()[0]
            stems = dict(zip(("left", "right"), (encodable(file.stem) for file in self.files), strict=True))
            full = [f"{stems.get(side, side)}:{name}" for side, name in zip(scored.tables or [], names, strict=True)]
            names = names.where(names.isin(self.ids), full)
        number = pd.Index(self.ids).get_indexer(names)
        if (number < 0).any():
            absent = scored.ids[int(number.argmin())]
            raise ValueError(f"{self._scores}: {absent!r} must be the identifier of a record")
        pairs = np.sort(number[np.array(scored.similarity.coords).T], axis=1)
        order = np.lexsort([pairs[:, 1], pairs[:, 0]])
        if tables is not None and len(wrong := pairs[tables[pairs[:, 0]] == tables[pairs[:, 1]]]):
            i, j = wrong[0]
            raise ValueError(
                f"{self._scores}: {self.ids[i]!r} and {self.ids[j]!r} must be of two files; leave out such pairs"
            )
        same = identical_pairs(fields_of(self.records, self._table), tables)
        same, values = same[: None if self.settings["identical"] == "same" else 0], scored.similarity.data[order]
        return NearestPairs(self.n, pairs[order], values, values, np.zeros(self.n), same, tables)

    @cached_property
    def near(self) -> NearestPairs:
        """The candidate pairs, as `start` has found them; with their features."""
        path = self.folder / "candidates.npz"
        try:
            with np.load(path, allow_pickle=False) as stored:
                kept = dict(stored)
            if str(kept.pop("key")) == self._key:
                self.features = kept.pop("features")
                return NearestPairs(**kept | {"n": int(kept["n"])})
        except (OSError, EOFError, ValueError, KeyError, TypeError, BadZipFile):
            pass
        again = "crowder start " + " ".join(map(str, self.files))
        raise ValueError(f"{path} must have the candidate pairs of {_listed(self.files)}, but does not; run: {again}")

    @cached_property
    def identical(self) -> list[Pair]:
        """The first record of each text with each other one: the same, unless somebody says otherwise."""
        return [(i, j) for i, j in self.near.identical.tolist()]

    # --- answers --------------------------------------------------------------------------------------------------

    @cached_property
    def journal(self) -> Journal:
        """The journal."""
        self.folder.mkdir(exist_ok=True)
        return Journal(None, self.folder / "answers.db", like=self.csv)  # nobody is asked through it

    @cached_property
    def votes(self) -> list[Vote]:
        """All votes on disk: pair, answer (None if unsure), worker."""
        if not (self.folder / "answers.db").exists():
            return []
        table = self.journal.answers()
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
    def answers(self) -> dict[Pair, bool]:
        """The answers without identical text, in their order."""
        voted = {vote[:2] for vote in self.votes}
        said = zip(self.settled.pairs, self.settled.same, strict=True)
        return {pair: same for pair, same in said if pair in voted}

    @cached_property
    def known(self) -> tuple[list[int], set[Pair]]:
        """The group of each record, and the pairs of groups that differ, in both orders."""
        pairs, same, group = self.settled.pairs, self.settled.same, self.settled.clusters.tolist()
        apart = {(group[i], group[j]) for (i, j), yes in zip(pairs, same, strict=True) if not yes}
        return group, apart | {(b, a) for a, b in apart}

    def record(self, votes: dict[tuple[int, int, str], bool | None], gone: Iterable[tuple] = ()) -> tuple[int, int]:
        """Write votes to disk, and take others back; the numbers of new and changed ones."""
        counts = self.journal.record([(i, j, same, worker) for (i, j, worker), same in votes.items()], gone)
        self._forget()
        return counts

    def _forget(self) -> None:
        """Read the answers again when they are needed."""
        for name in ("votes", "evidence", "settled", "answers", "known"):
            self.__dict__.pop(name, None)

    def answer(self, pair: Pair, same: bool | None, worker: str) -> None:
        """Write an answer to disk."""
        self.record({(*pair, worker): same})

    def undo(self, worker: str) -> Pair | None:
        """Take back the last answer of this worker; its pair, or None if there is none."""
        mine = [(i, j) for i, j, _, name in self.votes if name == worker]  # in the order in which they were written
        if mine:
            self.record({}, [(*mine[-1], worker)])
        return mine[-1] if mine else None

    def receive(self, paths: Sequence[str], encoding: str = "utf-8") -> tuple[int, int, int, int]:
        """Take the votes in question sheets, all, or none if a sheet is refused: how many were new, changed, taken back
        (blank now), and unsure."""
        rows = sheets.read_sheets(paths, self.records, self.fields, self.journal.id, encoding=encoding)
        keys = [(min(row.i, row.j), max(row.i, row.j), row.worker) for row in rows]
        votes = {key: row.same for key, row in zip(keys, rows, strict=True) if row.answered}
        gone = {(i, j, worker) for i, j, _, worker in self.votes} & set(keys) - votes.keys()
        counts = self.record(votes, gone)
        self.journal.release(pairs=[key[:2] for key in keys])  # what is blank may be asked elsewhere
        return *counts, len(gone), list(votes.values()).count(None)

    # --- questions ------------------------------------------------------------------------------------------------

    @property
    @told("ordering the questions")
    def ordering(self) -> LearnedOrdering:
        """The ordering with all answers so far."""
        near = self.near
        made = LearnedOrdering(self.records, table=self._table, identical=False, pairs=near, features=self.features,
                               rng=SEED)  # fmt: skip
        for pair in self.identical:
            if pair not in self.answers:
                Ordering.learn(made, pair, True)  # which is no example to learn from
        for pair, same in self.answers.items():
            made.learn(pair, same)
        for pair in self.settled.unsure:
            made.learn(pair, None)
        return made

    def still_open(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Those of the pairs that no answer implies."""
        groups, apart = self.known
        return [(i, j) for i, j in pairs if groups[i] != groups[j] and (groups[i], groups[j]) not in apart]

    def questions(self, size: int, worker: str | None = None) -> list[Pair]:
        """The next questions, for this worker: last those that are left unsure, if others said so."""
        mine = {vote[:2] for vote in self.votes if vote[3] == worker and worker is not None}
        told = self.audited
        if told["on"]:  # whoever is unsure about a draw is not asked again
            own = mine.intersection(self.settled.unsure)
            chosen = [pair for pair in self.audit().draws(size + len(own)) if pair not in own][:size]
            self._audited(chosen)
        else:
            chosen = self.ordering.batch(size)
        chosen += [pair for pair in self.settled.unsure if pair not in mine]
        return list(dict.fromkeys(chosen))[:size]

    def draw(self, size: int, holder: str, seconds: float, worker: str | None = None) -> list[Pair]:
        """The next questions that nobody else has; this holder has them from now on, for some time."""
        taken = self.journal.leased(holder)
        while True:
            next_ones = [(min(pair), max(pair)) for pair in self.questions(size + len(taken), worker)]
            found = [pair for pair in next_ones if pair not in taken][:size]
            got = self.journal.lease(found, holder, seconds)
            self._forget()  # somebody may have answered and gone since the answers were read
            if (got := self.still_open(got)) or not found:
                return got
            taken |= dict.fromkeys(found, 0.0)  # another process was faster

    # --- audit ----------------------------------------------------------------------------------------------------

    @property
    def audited(self) -> dict[str, Any]:
        """What audit.json says: whether the audit is on, its target, the pairs answered before it, and those drawn; or
        that an audit of other candidate pairs is over."""
        path, target = self.folder / "audit.json", {"recall": 0.95, "confidence": 0.95}
        none: dict[str, Any] = {"key": self._key, "on": False, "over": False, "before": [], "drawn": []} | target
        try:
            told = none | json.loads(path.read_text("utf-8")) if path.exists() else none
        except (ValueError, TypeError):
            raise ValueError(f"{path} is damaged; remove it, and begin another audit") from None
        return told if told["key"] == self._key else none | {"over": told["on"]}

    def _audited(self, drawn: Iterable[Pair] = (), **changes: Any) -> None:
        """Change what audit.json says, also if others do so at the same time: no draw of theirs is forgotten."""
        with self.journal.alone():
            told = self.audited | changes
            told["drawn"] = [*dict.fromkeys([*map(tuple, told["drawn"]), *drawn])]
            files.write(self.folder / "audit.json", json.dumps(told).encode(), like=self.csv)

    def turn_audit(self, on: bool, recall: float | None = None, confidence: float | None = None) -> None:
        """Let the next questions be those of the audit, or of the ordering again. Draws serve every target."""
        given = {"recall": recall, "confidence": confidence}
        wanted: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        begins = on and not self.audited["drawn"]
        self._audited(on=on, over=False, **wanted, **({"before": list(self.answers)} if begins else {}))

    def audit(self) -> ReplayedAudit:
        """The audit as it stands, from the answers so far."""
        told = self.audited
        began = {tuple(pair) for pair in told["before"]} if told["drawn"] or told["on"] else set(self.answers)
        before = [*((pair, True) for pair in self.identical if pair not in self.answers),
                  *((pair, same) for pair, same in self.answers.items() if pair in began)]  # fmt: skip
        since = [(pair, same) for pair, same in self.answers.items() if pair not in began]
        return ReplayedAudit(
            self.near, before, since, map(tuple, told["drawn"]), recall=told["recall"],
            confidence=told["confidence"], rng=SEED,
        )  # fmt: skip

    # --- results --------------------------------------------------------------------------------------------------

    def write_sheet(self, pairs: Sequence[Pair]) -> Path:
        """Write a question sheet to a new file."""
        sheet = sheets.question_sheet(self.records, self.fields, pairs, self.journal.id)
        return sheets.write_sheet(f"{self.folder}/questions", sheet, sep=self.settings["sep"], like=self.csv)

    def progress(self) -> str:
        """How many answers there are, and how many of the last ones were matches."""
        same, number = list(self.answers.values()), len(self.votes)
        told = f"{_listed(path.name for path in self.files)}: {number} answer{'s' * (number != 1)}, {sum(same)} same"
        return told + f" ({sum(same[-LATELY:])} of the last {LATELY})" * (len(same) > LATELY)

    @property
    def contradicted(self) -> list[Pair]:
        """The answers that the clusters do not follow; and, if two files have no duplicates, those that join records of
        one file."""
        found, group = list(self.settled.contradicted), self.settled.clusters
        if self._table:
            files = self.records[TABLE].factorize()[0]
            twice = np.flatnonzero(np.bincount(2 * group + files) > 1) // 2  # clusters with two records of one file
            found += [pair for pair, same in self.answers.items() if same and group[pair[0]] in twice]
        return found

    def doubts(self) -> list[Pair]:
        """The answers that contradict others, and those on which workers disagree."""
        return list(dict.fromkeys([*self.contradicted, *self.settled.split]))

    def table(self) -> pd.DataFrame:
        """The clusters that follow from the evidence: columns id, (of two files) file, cluster, size, in the order of
        the records."""
        clusters = self.settled.clusters
        file = {"file": self.records[TABLE]} if self._table else {}
        return pd.DataFrame({"id": self.ids, **file, "cluster": clusters, "size": np.bincount(clusters)[clusters]})


def _listed(paths: Iterable[Any]) -> str:
    return " and ".join(map(str, paths))


def find(name: str | None) -> Path:
    """The folder of a project; without a name, the only one here, or a ValueError."""
    here = sorted(path for path in Path().glob("*.crowder") if path.is_dir())
    if name is not None or len(here) == 1:
        return Path(name) if name is not None else here[0]
    there = ", ".join(map(str, here)) or "none; run: crowder start FILE.csv"
    raise ValueError(f"PROJECT must be named, unless this folder has just one. Projects in this folder: {there}")
