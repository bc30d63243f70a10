"""Projects: a folder beside the file of records, with a copy of it, the candidate pairs, all answers, and the sheets.

``my.csv`` has its project in ``my.crowder``: ``project.json`` (settings), ``records-1.csv`` (a copy of the file as it
was at the last `start`; of two files also ``records-2.csv``), ``answers.db`` (a `crowder_tool.Journal`: one vote for
each worker and pair, the latest counts; and which questions somebody has), ``candidates.npz`` (the candidate pairs, and
what compares them), ``audit.json`` (what an audit has drawn), ``clusters.json`` (numbers of clusters), sheets and
clusters. Who may not read ``my.csv`` may read none of them. Answers are about the text of the copy, whatever becomes of
the file; a new state of the file is taken by `start`, unless it changes what somebody has answered about.
"""

from __future__ import annotations

import filecmp
import io
import json
import os
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from crowder.orderings import Ordering
from crowder.pairs import unpack
from crowder_tool import files, sheets
from crowder_tool.audit import ReplayedAudit
from crowder_tool.candidates import NearestPairs, fields_of, identical_pairs, nearest_pairs, pair_features, texts_of
from crowder_tool.journal import Journal, Pair
from crowder_tool.learning import LearnedOrdering
from crowder_tool.progress import told
from crowder_tool.records import as_records, encodable, naming, rows_of
from crowder_tool.scored import from_pairs
from crowder_tool.votes import Settled, renumbered, settle

__all__ = ["DEFAULTS", "Project", "find", "make_project"]

#: The number of last questions of which the matches are reported; and the similarity from which two records of one file
#: look like duplicates.
LATELY, ALIKE = 100, 0.8
DEFAULTS: dict[str, Any] = {"id": None, "fields": None, "sep": ",", "encoding": "utf-8", "scores": None,
                            "neighbours": 20, "identical": "ask", "price": 0.05}  # fmt: skip
TABLE, SEED = "(file)", 0  # the column that names the table of each of two files; of what is drawn at random

Vote = tuple[int, int, bool | None, str | None]

# --- made --------------------------------------------------------------------------------------------------------


def make_project(csv: Sequence[str | os.PathLike[str]], **changes: Any) -> tuple[Project, dict[str, str | None]]:
    """Make the project of a file of records, or of two that have no duplicates each; or take their new state, and
    changed settings (first those of `DEFAULTS`).

    Returned are the project, and columns that the files no longer have, with what they are called now (None: gone). If
    anything is wrong, nothing is written.
    """
    paths = [Path(path) for path in csv]
    folder = paths[0].with_name("-".join(path.stem for path in paths) + ".crowder")
    if changes.get("scores"):
        changes["scores"] = os.path.relpath(changes["scores"], folder)
    before = Project(folder) if (folder / "project.json").exists() else None
    settings = DEFAULTS | (before.settings if before else {}) | changes
    contents = [path.read_bytes() for path in paths]
    tables = _tables(paths, contents, settings)
    asked, called = list[int](), dict[str, str | None]()  # records that have answers; columns by their former names
    if (answers := folder / "answers.db").exists():
        with Journal(None, answers) as journal:
            asked = np.unique([vote[:2] for vote in journal.votes()]).tolist()
    if before and all(copy.exists() for copy in before.copies):
        called = _called(before, _joined(tables, "inner"), asked, paths)
        if "fields" not in changes:
            settings["fields"] = [called[name] for name in before.fields if called[name]]
        if "id" not in changes:
            settings["id"] = called.get(settings["id"] or "id", settings["id"])
    if settings["fields"]:  # an identifier may have been named since
        settings["fields"] = [name for name in settings["fields"] if name != settings["id"]]
    records, settings["fields"] = _records(paths, tables, settings)
    if asked and asked[-1] >= len(records):
        raise ValueError(f"{_listed(paths)} must still have record {asked[-1] + 1}, which has an answer, but has "
                         f"{len(records)} records; restore what was removed")  # fmt: skip
    candidates = _candidates(folder, records, settings, paths)
    folder.mkdir(exist_ok=True)
    with Journal(None, answers, like=paths[0]) as journal:
        journal.record([])  # so that the first answer does not find that it cannot be written
        told = {"files": [os.path.relpath(path, folder) for path in paths], "settings": settings, "journal": journal.id}
    # The candidates first, and what they are last: until then, a project that is written half is refused.
    files.write(folder / "candidates.npz", candidates, like=paths[0])
    for copy, content in zip(_copies(folder, paths), contents, strict=True):
        files.write(copy, content, like=paths[0])
    told["key"] = _digest(candidates)
    files.write(folder / "project.json", json.dumps(told).encode(), like=paths[0])
    return Project(folder), {name: other for name, other in called.items() if name != other}


@told("reading the records")
def _tables(paths: Iterable[Path], contents: Iterable[bytes], settings: dict[str, Any]) -> list[pd.DataFrame]:
    """The rows of each file, with all its columns."""
    tables = []
    for path, content in zip(paths, contents, strict=True):
        with naming(path):
            tables.append(rows_of(content, settings["encoding"], settings["sep"]))
    return tables


def _records(paths: list[Path], tables: list[pd.DataFrame], settings: dict[str, Any]) -> tuple[pd.DataFrame, list[str]]:
    """The records of one file or two, and the fields that all of them have."""
    read = []
    for path, table in zip(paths, tables, strict=True):
        with naming(path):
            read.append(as_records(table, settings["id"], settings["fields"]))
    fields = [name for name in read[0] if name not in ("id", "label") and all(name in table for table in read)]
    if not fields:
        raise ValueError(f"{_listed(paths)} must have a column in common besides the identifiers")
    if len(read) == 1:
        return read[0], fields
    names = [encodable(path.stem) for path in paths]
    if names[0] == names[1]:
        raise ValueError(f"two files must have different names, not both {names[0]}")
    if set(read[0]["id"]) & set(read[1]["id"]):
        read = [table.assign(id=f"{name}:" + table["id"]) for name, table in zip(names, read, strict=True)]
    read = [table[["id", *fields]].assign(**{TABLE: name}) for name, table in zip(names, read, strict=True)]
    return pd.concat(read, ignore_index=True), fields


def _called(before: Project, now: pd.DataFrame, asked: list[int], paths: list[Path]) -> dict[str, str | None]:
    """What the identifiers and fields of a project are called in a new state of the files, to which records may have
    been added at the end: None if they are gone. An error if what is left of the text of a record that has an answer
    is another one."""
    then = _joined(before.tables, "inner")
    then, now = (table.loc[:, ~table.columns.duplicated()] for table in (then, now))
    rows = min(len(then), len(now))
    new = {name: now[name][:rows].tolist() for name in now if name not in then}
    called = dict[str, str | None]()
    for name in [name for name in (before.settings["id"] or "id", *before.fields) if name in then]:
        text = then[name][:rows].tolist()
        called[name] = name if name in now else next((other for other in new if new[other] == text), None)
    if asked and not any(called.values()):
        raise ValueError(f"{_listed(paths)} must have one of the columns {', '.join(map(repr, called))}, since there "
                         "are answers about their text")  # fmt: skip
    for record in [record for record in asked if record < rows]:
        for name, other in called.items():
            if other and (old := then[name][record]) != (text := now[other][record]):
                raise ValueError(
                    f"{_listed(paths)}: record {record + 1} has answers, but its {other!r} is now {text[:40]!r}, not "
                    f"{old[:40]!r}. Restore that text (records can be added at the end only); without crowder start "
                    "the project goes on with its copy of the file"
                )
    return called


@told("finding the pairs that may match")
def _candidates(folder: Path, records: pd.DataFrame, settings: dict[str, Any], paths: list[Path]) -> bytes:
    """The candidate pairs and what compares them, as a file."""
    table = TABLE if len(paths) == 2 else None
    if settings["scores"]:
        scores = Path(os.path.normpath(folder / settings["scores"]))
        with naming(scores):
            frame = rows_of(scores.read_bytes(), settings["encoding"], None).reset_index(drop=True)
            near = _scored(frame, records, table, [encodable(path.stem) for path in paths])
    else:
        near = nearest_pairs(records, table=table, neighbours=settings["neighbours"])
    content, kept = io.BytesIO(), vars(near) | {"features": pair_features(fields_of(records, table), near)}
    np.savez(content, **{name: part for name, part in kept.items() if part is not None})
    return content.getvalue()


def _scored(frame: pd.DataFrame, records: pd.DataFrame, table: str | None, names: list[str]) -> NearestPairs:
    """The candidate pairs of another program, whose scores take the place of the similarities of their texts; `names`
    are those of the files."""
    if frame.empty:
        raise ValueError("the file must have pairs below its header")
    scored, ids, tables = from_pairs(frame, one_to_one=bool(table)), pd.Index(records["id"]), None
    known = pd.Index(scored.ids)
    if table:
        tables = records[table].factorize()[0]
        stems = dict(zip(("left", "right"), names, strict=True))
        full = [f"{stems.get(side, side)}:{name}" for side, name in zip(scored.tables or [], known, strict=True)]
        known = known.where(known.isin(ids), full)
    number = ids.get_indexer(known)
    if (number < 0).any():
        raise ValueError(f"{scored.ids[int(number.argmin())]!r} must be the identifier of a record")
    values, codes = scored.candidates.listed()
    pairs = np.sort(number[np.column_stack(unpack(codes))], axis=1)
    order = np.lexsort([pairs[:, 1], pairs[:, 0]])
    if tables is not None and len(wrong := pairs[tables[pairs[:, 0]] == tables[pairs[:, 1]]]):
        i, j = wrong[0]
        raise ValueError(f"{ids[i]!r} and {ids[j]!r} must be of two files; leave out such pairs")
    same, values = identical_pairs(texts_of(records, table), tables), values[order]
    return NearestPairs(len(records), pairs[order], values, values, np.zeros(len(records)), same, tables)


def _digest(candidates: bytes) -> str:
    return blake2b(candidates, digest_size=8).hexdigest()


def _copies(folder: Path, paths: Sequence[Any]) -> list[Path]:
    return [folder / f"records-{number + 1}.csv" for number in range(len(paths))]


# --- the project ------------------------------------------------------------------------------------------------------


class Project:
    """The project in a folder ``NAME.crowder``, as `make_project` has left it, with all answers since."""

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        told = self._load("project.json", ("files", "settings", "journal", "key"))
        if not told:
            raise ValueError(f"{folder} must be a project, but has no project.json; run: crowder start FILE.csv")
        self.files = [Path(os.path.normpath(self.folder / name)) for name in told["files"]]
        self.again = f"crowder start {shlex.join(map(str, self.files))}"
        self.settings, self.fields, self.key = told["settings"], told["settings"]["fields"], told["key"]
        self.copies, self.table = _copies(self.folder, self.files), TABLE if len(self.files) == 2 else None
        answers = self.folder / "answers.db"
        if not answers.exists() or self.journal.id != told["journal"]:
            raise ValueError(f"{answers} is gone, or is that of another project: restore it; or, to begin without "
                             f"answers, remove {folder}")  # fmt: skip

    @cached_property
    def journal(self) -> Journal:
        """The answers; nobody is asked through it."""
        return Journal(None, self.folder / "answers.db")

    def _load(self, name: str, keys: Iterable[str]) -> dict[str, Any]:
        """What a file of the project in JSON says by these keys; nothing if there is no such file."""
        path = self.folder / name
        try:
            told = json.loads(path.read_text("utf-8"))
            return {key: told[key] for key in keys}
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is damaged; remove it: the answers are in answers.db, and stay") from None

    def write(self, name: str, content: bytes) -> Path:
        """Write a file of the project; nobody may read it who may not read the records."""
        like = self.files[0] if self.files[0].exists() else self.copies[0]
        files.write(path := self.folder / name, content, like=like)
        return path

    @property
    def changed(self) -> bool:
        """Whether a file of records is no longer what it was at the last `start`."""
        pairs = zip(self.files, self.copies, strict=True)
        return any(path.exists() and not filecmp.cmp(path, copy, shallow=False) for path, copy in pairs)

    # --- records and candidates -----------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> list[pd.DataFrame]:
        """The rows of the copies of the files, with all their columns."""
        return _tables(self.files, [copy.read_bytes() for copy in self.copies], self.settings)

    @cached_property
    def records(self) -> pd.DataFrame:
        """The records, with the column `TABLE`, which names the file, if there are two."""
        return _records(self.files, self.tables, self.settings)[0]

    @cached_property
    def ids(self) -> list[str]:
        """The identifiers of the records."""
        return list(self.records["id"])

    @cached_property
    def near(self) -> NearestPairs:
        """The candidate pairs, as `start` has found them; with their features."""
        path = self.folder / "candidates.npz"
        if not path.exists() or _digest(content := path.read_bytes()) != self.key:
            raise ValueError(f"{path} must be as it was written, but is gone or damaged; run: {self.again}")
        with np.load(io.BytesIO(content)) as stored:
            kept = dict(stored)
        self.features = kept.pop("features")
        return NearestPairs(**kept | {"n": int(kept["n"])})

    @told("looking for duplicates within each file")
    def alike_within(self, most: int) -> list[Pair]:
        """Of two files without duplicates: the most similar pairs of records of one file."""
        found = list[tuple[float, Pair]]()
        for name in dict.fromkeys(self.records[TABLE]):
            rows = np.flatnonzero(self.records[TABLE] == name)
            inner = nearest_pairs(self.records.iloc[rows].drop(columns=TABLE), neighbours=1)
            found += zip((-inner.similarity).tolist(), map(tuple, rows[inner.pairs].tolist()), strict=True)
        return [pair for value, pair in sorted(found)[:most] if -value >= ALIKE]

    # --- answers --------------------------------------------------------------------------------------------------

    @cached_property
    def votes(self) -> list[Vote]:
        """All votes on disk: pair, answer (None if unsure), worker."""
        return [vote[:4] for vote in self.journal.votes()]

    @cached_property
    def evidence(self) -> list[Vote]:
        """The votes, and what identical text says where there is none, of the first record of each text with each other
        one: with ``--identical same`` before all votes; otherwise, in one list, after the first yes about the text, if
        there is no no."""
        voted, first, others = {vote[:2] for vote in self.votes}, dict[int, int](), defaultdict[int, list[Vote]](list)
        for i, j in self.near.identical.tolist():
            first[i] = first[j] = i
            others[i] += [(i, j, True, "identical text")] * ((i, j) not in voted)
        if self.settings["identical"] == "same":
            return [*chain(*others.values()), *self.votes]
        if self.table:
            return self.votes
        text = {(i, j): first[i] for i, j, *_ in self.votes if first.get(i, -1) == first.get(j)}
        apart, found = {text.get(vote[:2], -1) for vote in self.votes if vote[2] is False}, list[Vote]()
        for vote in self.votes:
            found.append(vote)
            if vote[2] and (about := text.get(vote[:2], -1)) not in apart:
                found += others.pop(about, [])
        return found

    @property
    def takes_texts(self) -> bool:
        """Whether records are taken to match for their identical text alone, without an answer about them."""
        return len(self.evidence) > len(self.votes)

    @cached_property
    def settled(self) -> Settled:
        """What the evidence says."""
        return settle(len(self.records), self.evidence)

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
        made = LearnedOrdering(self.records, table=self.table, pairs=self.near, features=self.features, rng=SEED)
        for pair in self.settled.pairs:
            if pair not in self.answers:
                Ordering.learn(made, pair, True)  # which is not an example to learn from
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
        none: dict[str, Any] = {"key": self.key, "on": False, "over": False, "before": [], "drawn": [], "recall": 0.95,
                                "confidence": 0.95}  # fmt: skip
        told = none | self._load("audit.json", none)
        return told if told["key"] == self.key else none | {"over": told["on"]}

    def _audited(self, drawn: Iterable[Pair] = (), **changes: Any) -> None:
        """Change what audit.json says, also if others do so at the same time: no draw of theirs is forgotten."""
        with self.journal.alone():
            told = self.audited | changes
            told["drawn"] = [*dict.fromkeys([*map(tuple, told["drawn"]), *drawn])]
            self.write("audit.json", json.dumps(told).encode())

    def turn_audit(self, on: bool, **target: Any) -> None:
        """Let the next questions be those of the audit, with this `recall` and `confidence`, or of the ordering again.
        Draws serve every target."""
        begins = on and not self.audited["drawn"]
        self._audited(on=on, over=False, **target, **({"before": list(self.answers)} if begins else {}))

    def audit(self) -> ReplayedAudit:
        """The audit as it stands, from the answers so far."""
        told = self.audited
        began = {*map(tuple, told["before"])}
        before, since = list[tuple[Pair, bool]](), list[tuple[Pair, bool]]()
        taken = before
        for pair, same in zip(self.settled.pairs, self.settled.same, strict=True):
            if pair in self.answers:  # what identical text says is known from the answer before it on
                taken = before if pair in began else since
            taken.append((pair, same))
        return ReplayedAudit(
            self.near, before, since, map(tuple, told["drawn"]), recall=told["recall"],
            confidence=told["confidence"], rng=SEED,
        )  # fmt: skip

    # --- results --------------------------------------------------------------------------------------------------

    def write_sheet(self, pairs: Sequence[Pair]) -> Path:
        """Write a question sheet to a new file, since somebody may be filling in the others."""
        sheet = sheets.question_sheet(self.records, self.fields, pairs, self.journal.id)
        text = sheets.to_csv(sheet, self.settings["sep"])
        for number in count(1):
            with suppress(FileExistsError):
                (path := self.folder / f"questions-{number}.csv").touch(exist_ok=False)
                break
        # With a byte order mark spreadsheets recognise the encoding.
        return self.write(path.name, text.encode("utf-8" if text.isascii() else "utf-8-sig"))

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
        if self.table:
            files = self.records[TABLE].factorize()[0]
            twice = np.flatnonzero(np.bincount(2 * group + files) > 1) // 2  # clusters with two records of one file
            found += [pair for pair, same in self.answers.items() if same and group[pair[0]] in twice]
        return found

    def doubts(self) -> list[Pair]:
        """The answers that contradict others, and those on which workers disagree."""
        return list(dict.fromkeys([*self.contradicted, *self.settled.split]))

    def write_clusters(self) -> Path:
        """Write the clusters that follow from the evidence: all columns of the files, then cluster and size, in the
        order of the records. Before these, of two files, is the file, and of files without identifiers the id.

        A cluster keeps its number while it keeps most of its records, and no other ever gets it.
        """
        told: dict[str, Any] = {"numbers": [], "unused": 0}
        told |= self._load("clusters.json", told)
        clusters = self.settled.clusters
        numbers = renumbered(clusters, told["numbers"], told["unused"]).tolist()
        table = _joined(self.tables, "outer")
        if (self.settings["id"] or "id") not in table:
            table.insert(0, _free("id", table), self.ids)
        if self.table:
            table.insert(0, _free("file", table), self.records[TABLE])
        table[_free("cluster", table)] = numbers
        table[_free("size", table)] = np.bincount(clusters)[clusters]
        told = {"numbers": numbers, "unused": max(told["unused"], 1 + max(numbers))}
        self.write("clusters.json", json.dumps(told).encode())
        return self.write("clusters.csv", sheets.to_csv(table, self.settings["sep"]).encode())


def _listed(paths: Iterable[Any]) -> str:
    return " and ".join(map(str, paths))


def _joined(tables: list[pd.DataFrame], how: Any) -> pd.DataFrame:
    """The rows of one table, or of two with the columns that either has ("outer") or both have ("inner")."""
    if len(tables) > 1:
        tables = [table.loc[:, ~table.columns.duplicated()] for table in tables]
    return pd.concat(tables, ignore_index=True, join=how).fillna("")


def _free(name: str, taken: Iterable[str]) -> str:
    """The name, with as many underscores after it as make it another one than these."""
    return _free(f"{name}_", taken) if name in taken else name


def find(name: str | None) -> Path:
    """The folder of a project; without a name, the only one here, or a ValueError."""
    here = sorted(path for path in Path().glob("*.crowder") if path.is_dir())
    if name is not None or len(here) == 1:
        return Path(name) if name is not None else here[0]
    there = ", ".join(map(str, here)) or "none; run: crowder start FILE.csv"
    raise ValueError(f"PROJECT must be named, unless this folder has just one. Projects in this folder: {there}")
