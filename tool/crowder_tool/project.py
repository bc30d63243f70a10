"""Projects: a folder beside the file of records, with a copy of it, the candidate pairs, all answers, and the sheets.

``my.csv`` has its project in ``my.crowder``: ``project.json`` (settings, and checksums of what follows), ``keys.json``
(the number of every record that was ever there, see `crowder_tool.keys`), ``records-1.csv`` (a copy of the file as it
was at the last `start`; of two files also ``records-2.csv``), ``answers.journal`` (a `crowder_tool.Journal` about these
numbers: one vote for each worker and pair, the latest counts; and which questions somebody has), ``candidates.npz``
(the candidate pairs, and what compares them), ``audit.json`` (what an audit has drawn), ``clusters.json`` (numbers of
clusters), sheets and clusters. Who may not read ``my.csv`` may read none of them.

Everywhere but in the journal and its leases, a record is its place among those of the last `start`, in the order of
their numbers: so a file that is merely sorted otherwise has the same candidates. Answers are about the text of the
copy, whatever becomes of the file; a new state of the file is taken by `start`, unless it changes what somebody has
answered about.
"""

from __future__ import annotations

import io
import json
import os
import secrets
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
from crowder_tool import files, keys, sheets
from crowder_tool.audit import ReplayedAudit
from crowder_tool.candidates import NearestPairs, fields_of, identical_pairs, nearest_pairs, pair_features, texts_of
from crowder_tool.journal import Journal, Pair, Vote, ordered
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
                            "neighbours": 20, "identical": "ask", "price": 0.05, "duplicates": []}  # fmt: skip
TABLE, SEED = "(file)", 0  # the column that names the table of each of two files; of what is drawn at random
REMOVE = "remove it: the answers are in answers.journal, and stay"
RESTORE = "restore it, since it says which records the answers are about; or, to begin without answers, remove"

# --- made --------------------------------------------------------------------------------------------------------


def make_project(csv: Sequence[str | os.PathLike[str]], **changes: Any) -> Project:
    """Make the project of a file of records, or of two; or take their new state, and changed settings (first those of
    `DEFAULTS`). Of two, the files named by `duplicates` may have some, and others not. If anything is wrong, nothing is
    written.
    """
    paths = [Path(path) for path in csv]
    contents = [path.read_bytes() for path in paths]
    folder = paths[0].with_name("-".join(path.stem for path in paths) + ".crowder")
    if changes.get("scores"):
        changes["scores"] = os.path.relpath(changes["scores"], folder)
    if "duplicates" in changes:
        changes["duplicates"] = sorted({_which(name, paths) for name in changes["duplicates"]})
    before = Project(folder) if (folder / "project.json").exists() else None
    if before and len(before.files) != len(paths):
        raise ValueError(f"{folder} is the project of {_listed(before.files)}; rename a file")
    settings = DEFAULTS | (before.settings if before else {}) | changes
    tables = _tables(paths, contents, settings)
    known, asked = _known(folder)
    copies = None
    if before:
        with suppress(ValueError):  # if they are damaged, digests of the texts remain
            copies = before.tables
    known_now, numbers = keys.follow(known, tables, settings["id"], asked, paths, copies)
    if settings["fields"]:  # an identifier may have been named since
        settings["fields"] = [name for name in settings["fields"] if name != settings["id"]]
    records, settings["fields"] = _records(paths, tables, settings)
    known_now = keys.with_texts(known_now, known, tables, numbers, settings["fields"])
    order = [*chain(*numbers)]
    records = _in_order(records, order)
    written = {copy.name: content for copy, content in zip(_copies(folder, paths), contents, strict=True)}
    written["candidates.npz"] = _candidates(folder, records, settings, paths)
    folder.mkdir(exist_ok=True)
    with Journal(None, folder / "answers.journal", like=paths[0]) as journal:
        journal.record([])  # so that the first answer does not find that it cannot be written
        name = journal.id
    # What they are last: until then, a project that is written half is refused. Keys are only added.
    written = {"keys.json": _dumped(known_now._asdict() | {"journal": name})} | written
    about = {"files": [os.path.relpath(path, folder) for path in paths], "settings": settings, "journal": name,
             "numbers": order, "digests": {name: _digest(content) for name, content in written.items()}}  # fmt: skip
    for name, content in (*written.items(), ("project.json", _dumped(about))):
        files.write(folder / name, content, like=paths[0])
    return Project(folder)


def _which(name: str, paths: Sequence[Path]) -> int:
    """Which of two files this name or path is that of."""
    found = [
        k for k, path in enumerate(paths) if name in (path.name, path.stem) or path.resolve() == Path(name).resolve()
    ]
    if len(paths) < 2 or len(found) != 1:
        raise ValueError(f"--duplicates must name one of two files, not {name!r}: records of one file are always asked "
                         "about")  # fmt: skip
    return found[0]


def _known(folder: Path) -> tuple[keys.Keys, list[int]]:
    """The keys of a project so far, and the numbers of the records that have answers."""
    kept = _loaded(folder / "keys.json", f"{RESTORE} {folder}")
    found = keys.Keys(kept.get("columns", []), [name and (name[0], name[1]) for name in kept.get("names", [])],
                      kept.get("texts", {}))  # fmt: skip
    if not (answers := folder / "answers.journal").exists():
        return found, []
    with Journal(None, answers) as journal:
        asked = sorted({record for vote in journal.votes() for record in vote[:2]})
        if asked and journal.id != kept.get("journal"):
            raise ValueError(f"{folder / 'keys.json'} is gone, or is that of another project: {RESTORE} {folder}")
    return found, [number for number in asked if number < len(found.names)]  # a program may have added others


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
        raise ValueError(f"{_listed(paths)} must have a column in common besides the identifiers; rename columns in "
                         "the files, so that what is to be compared has one name")  # fmt: skip
    if len(read) == 1:
        return read[0], fields
    names = [encodable(path.stem) for path in paths]
    if names[0] == names[1]:
        raise ValueError(f"two files must have different names, not both {names[0]}")
    if set(read[0]["id"]) & set(read[1]["id"]):
        read = [table.assign(id=f"{name}:" + table["id"]) for name, table in zip(names, read, strict=True)]
    read = [table[["id", *fields]] for table in read]
    if len(settings["duplicates"]) < 2:  # a record of a file with duplicates is a table of its own
        read = [table.assign(**{TABLE: f"{name}:" + table["id"] if file in settings["duplicates"] else name})
                for file, (name, table) in enumerate(zip(names, read, strict=True))]  # fmt: skip
    return pd.concat(read, ignore_index=True), fields


def _in_order(rows: Any, numbers: Sequence[int]) -> Any:
    """Rows of a table in the order of the numbers of their records."""
    return rows.iloc[np.argsort(numbers)].reset_index(drop=True)


@told("finding the pairs that may match")
def _candidates(folder: Path, records: pd.DataFrame, settings: dict[str, Any], paths: list[Path]) -> bytes:
    """The candidate pairs and what compares them, as a file."""
    table = TABLE if TABLE in records else None
    if settings["scores"]:
        scores = Path(os.path.normpath(folder / settings["scores"]))
        with naming(scores):
            frame = rows_of(scores.read_bytes(), settings["encoding"], None).reset_index(drop=True)
            one_to_one = len(paths) == 2 and not settings["duplicates"]
            near = _scored(frame, records, table, one_to_one, [encodable(path.stem) for path in paths])
    else:
        near = nearest_pairs(records, table=table, neighbours=settings["neighbours"])
    content, kept = io.BytesIO(), vars(near) | {"features": pair_features(fields_of(records, table), near)}
    np.savez(content, **{name: part for name, part in kept.items() if part is not None})
    return content.getvalue()


def _scored(
    frame: pd.DataFrame, records: pd.DataFrame, table: str | None, one_to_one: bool, names: list[str]
) -> NearestPairs:
    """The candidate pairs of another program, whose scores take the place of the similarities of their texts; `names`
    are those of the files."""
    if frame.empty:
        raise ValueError("the file must have pairs below its header")
    scored, ids = from_pairs(frame, one_to_one=one_to_one), pd.Index(records["id"])
    tables = records[table].factorize()[0] if table else None
    known = pd.Index(scored.ids)
    if scored.tables:
        stems = dict(zip(("left", "right"), names, strict=False))
        full = [f"{stems.get(side, side)}:{name}" for side, name in zip(scored.tables, known, strict=True)]
        known = known.where(known.isin(ids), full)
    number = ids.get_indexer(known)
    if (number < 0).any():
        raise ValueError(f"{scored.ids[int(number.argmin())]!r} must be the identifier of a record")
    values, codes = scored.candidates.listed()
    pairs = np.sort(number[np.column_stack(unpack(codes))], axis=1)
    order = np.lexsort([pairs[:, 1], pairs[:, 0]])
    if tables is not None and len(wrong := pairs[tables[pairs[:, 0]] == tables[pairs[:, 1]]]):
        i, j = wrong[0]
        raise ValueError(f"{ids[i]!r} and {ids[j]!r} must be of two files; leave out such pairs, or name a file that "
                         "has duplicates by --duplicates FILE")  # fmt: skip
    same, values = identical_pairs(texts_of(records, table), tables), values[order]
    return NearestPairs(len(records), pairs[order], values, values, np.zeros(len(records)), same, tables)


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=8).hexdigest()


def _dumped(told: dict[str, Any]) -> bytes:
    """JSON with a checksum."""
    text = json.dumps(told)
    return f'{{"checksum": "{_digest(text.encode())}", {text[1:]}'.encode()


def _loaded(path: Path, remedy: str) -> dict[str, Any]:
    """What `_dumped` has written; nothing if there is no such file."""
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        if found.pop("checksum") == _digest(json.dumps(found).encode()):
            return found
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise ValueError(f"{path} is damaged; {remedy}")


def _copies(folder: Path, paths: Sequence[Any]) -> list[Path]:
    return [folder / f"records-{number + 1}.csv" for number in range(len(paths))]


# --- the project ------------------------------------------------------------------------------------------------------


class Project:
    """The project in a folder ``NAME.crowder``, as `make_project` has left it, with all answers since."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        about = _loaded(self.folder / "project.json", f"{REMOVE}; then run crowder start again with its options")
        if not about:
            raise ValueError(f"{folder} must be a project, but has no project.json; run: crowder start FILE.csv")
        self.files = [Path(os.path.normpath(self.folder / name)) for name in about["files"]]
        self.again = f"crowder start {shlex.join(map(str, self.files))}"
        self.settings: dict[str, Any] = about["settings"]
        self.fields: list[str] = self.settings["fields"]
        self.copies = _copies(self.folder, self.files)
        self.table = TABLE if len(self.files) == 2 and len(self.settings["duplicates"]) < 2 else None
        self._digests: dict[str, str] = about["digests"]
        self._order: list[int] = about["numbers"]  # the numbers of the records in the order of the files
        self._numbers = sorted(self._order)
        self._place = {number: place for place, number in enumerate(self._numbers)}
        #: What an audit is bound to: the candidates, and which records they are of.
        self.key = _digest(json.dumps([self._digests["candidates.npz"], self._numbers]).encode())
        answers = self.folder / "answers.journal"
        if not answers.exists() or self.journal.id != about["journal"]:
            raise ValueError(f"{answers} is gone, or is that of another project: restore it; or, to begin without "
                             f"answers, remove {folder}")  # fmt: skip

    @cached_property
    def journal(self) -> Journal:
        """The answers, about the numbers of the records; nobody is asked through it."""
        return Journal(None, self.folder / "answers.journal")

    def _content(self, path: Path) -> bytes:
        """A file that `start` has written, as it was."""
        if not path.exists() or _digest(content := path.read_bytes()) != self._digests[path.name]:
            raise ValueError(f"{path} must be as it was written, but is gone or damaged; run: {self.again}")
        return content

    def write(self, name: str, content: bytes) -> Path:
        """Write a file of the project; nobody may read it who may not read the records."""
        like = self.files[0] if self.files[0].exists() else self.copies[0]
        files.write(path := self.folder / name, content, like=like)
        return path

    @property
    def changed(self) -> bool:
        """Whether a file of records is no longer what it was at the last `start`."""
        pairs = zip(self.files, self.copies, strict=True)
        return any(path.exists() and _digest(path.read_bytes()) != self._digests[copy.name] for path, copy in pairs)

    # --- records and candidates -----------------------------------------------------------------------------------

    @cached_property
    def tables(self) -> list[pd.DataFrame]:
        """The rows of the copies of the files, with all their columns."""
        return _tables(self.files, map(self._content, self.copies), self.settings)

    @cached_property
    def records(self) -> pd.DataFrame:
        """The records, with the column `TABLE` if there are two files and one of them has no duplicates."""
        return _in_order(_records(self.files, self.tables, self.settings)[0], self._order)

    @cached_property
    def ids(self) -> list[str]:
        """The identifiers of the records."""
        return list(self.records["id"])

    @cached_property
    def file_of(self) -> np.ndarray:
        """The file of each record, 0 or 1."""
        of = np.repeat(np.arange(len(self.tables)), [len(table) for table in self.tables])
        return of[np.argsort(self._order)]

    @property
    def without_duplicates(self) -> list[int]:
        """Of two files, those that are taken to have no duplicates."""
        return [file for file in (0, 1) if self.table and file not in self.settings["duplicates"]]

    @cached_property
    def near(self) -> NearestPairs:
        """The candidate pairs, as `start` has found them; with their features."""
        with np.load(io.BytesIO(self._content(self.folder / "candidates.npz"))) as stored:
            kept = dict(stored)
        self.features: np.ndarray = kept.pop("features")
        return NearestPairs(**kept | {"n": int(kept["n"])})

    @told("looking for duplicates within each file")
    def alike_within(self, most: int) -> list[Pair]:
        """The most similar pairs of records of a file that is taken to have no duplicates."""
        found = list[tuple[float, Pair]]()
        for file in self.without_duplicates:
            rows = np.flatnonzero(self.file_of == file)
            inner = nearest_pairs(self.records.iloc[rows].drop(columns=TABLE), neighbours=1)
            found += zip((-inner.similarity).tolist(), map(tuple, rows[inner.pairs].tolist()), strict=True)
        return [pair for value, pair in sorted(found)[:most] if -value >= ALIKE]

    # --- answers --------------------------------------------------------------------------------------------------

    @cached_property
    def _stored(self) -> list[Vote]:
        return self.journal.votes()

    @cached_property
    def votes(self) -> list[Vote]:
        """All votes on disk about records that are there."""
        at = self._place
        return [vote._replace(i=at[vote.i], j=at[vote.j]) for vote in self._stored if vote.i in at and vote.j in at]

    def _numbered(self, pair: Iterable[int]) -> Pair:
        """A pair by the numbers of its records."""
        i, j = (self._numbers[record] for record in pair)
        return i, j

    def _here(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Pairs of numbers as records that are there."""
        at = self._place
        return [(at[i], at[j]) for i, j in pairs if i in at and j in at]

    @cached_property
    def evidence(self) -> list[Vote]:
        """The votes, and what identical text says where there is none, of the first record of each text with each other
        one: with ``--identical same`` before all votes; otherwise, in one list, after the first yes about the text, if
        there is no no."""
        voted, first, others = {vote[:2] for vote in self.votes}, dict[int, int](), defaultdict[int, list[Vote]](list)
        for i, j in self.near.identical.tolist():
            first[i] = first[j] = i
            others[i] += [Vote(i, j, True, "identical text")] * ((i, j) not in voted)
        if self.settings["identical"] == "same":
            return [*chain(*others.values()), *self.votes]
        if self.table:
            return self.votes
        text = {(i, j): first[i] for i, j, *_ in self.votes if first.get(i, -1) == first.get(j)}
        apart, found = {text.get(vote[:2], -1) for vote in self.votes if vote.same is False}, list[Vote]()
        for vote in self.votes:
            found.append(vote)
            if vote.same and (about := text.get(vote[:2], -1)) not in apart:
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

    def record(self, votes: Iterable[Vote], gone: Iterable[Vote] = ()) -> tuple[int, int]:
        """Write votes to disk, and take those of the same pairs and workers as others back; the numbers of new and
        changed ones."""
        back = [(*self._numbered(vote[:2]), vote.worker) for vote in gone]
        counts = self.journal.record([(*self._numbered(vote[:2]), vote.same, vote.worker) for vote in votes], back)
        self._forget()
        return counts

    def _forget(self) -> None:
        """Read the answers again when they are needed."""
        for name in ("_stored", "votes", "evidence", "settled", "answers", "known"):
            self.__dict__.pop(name, None)

    def undo(self, worker: str) -> Pair | None:
        """Take back the last answer of this worker; its pair, or None if there is none."""
        mine = [vote for vote in self.votes if vote.worker == worker]  # in the order in which they were written
        if not mine:
            return None
        self.record([], mine[-1:])
        return mine[-1].i, mine[-1].j

    def receive(self, paths: Sequence[str], encoding: str = "utf-8") -> tuple[int, int, int, int]:
        """Take the votes in question sheets, all, or none if a sheet is refused: how many were new, changed, taken back
        (blank now), and unsure."""
        rows = sheets.read_sheets(paths, self.records, self.fields, encoding=encoding)
        votes = {(ordered(*vote[:2]), vote.worker): vote for vote in rows if not vote.gone}
        blank = {(ordered(*vote[:2]), vote.worker) for vote in rows} - votes.keys()
        gone = [vote for vote in self.votes if (vote[:2], vote.worker) in blank]
        counts = self.record(votes.values(), gone)
        self.journal.release(pairs=[self._numbered(vote[:2]) for vote in rows])  # what is blank may be asked elsewhere
        return *counts, len(gone), sum(vote.same is None for vote in votes.values())

    # --- questions ------------------------------------------------------------------------------------------------

    @property
    @told("ordering the questions")
    def ordering(self) -> LearnedOrdering:
        """The ordering with all answers so far."""
        made = LearnedOrdering(self.records, table=self.table, pairs=self.near, features=self.features, rng=SEED)
        for pair in self.settled.pairs:
            if pair not in self.answers:
                Ordering.learn(made, pair, True)  # which is not an example to learn from
        said = list(self.answers.items())
        # In one list first those that differ: with a no about a text, a yes is not taken for all records that have it.
        for pair, same in said if self.table else sorted(said, key=lambda answer: answer[1]):
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
        mine = {vote[:2] for vote in self.votes if vote.worker == worker and worker is not None}
        told = self.audited
        if told["on"] and not self.twice:  # whoever is unsure about a draw is not asked again
            own = mine.intersection(self.settled.unsure)
            chosen = [pair for pair in self.audit().draws(size + len(own)) if pair not in own][:size]
            self._audited(chosen)
            if self.table:
                chosen = [pair for pair in self._likely(size) if self._excluded(*pair)] + chosen
        else:
            chosen = self._likely(size)
        chosen += [pair for pair in self.settled.unsure if pair not in mine]
        return list(dict.fromkeys(chosen))[:size]

    def _likely(self, size: int) -> list[Pair]:
        """The next questions of the ordering."""
        ordering, more = self.ordering, size
        while len(chosen := self.still_open(found := ordering.batch(more))) < size and len(found) == more:
            more *= 2  # it may ask about what the answers imply, to see whether a file has duplicates
        return chosen

    def _excluded(self, i: int, j: int) -> bool:
        """Whether two records of a file without duplicates would be in one cluster if these two matched: the ordering
        asks about a few such pairs, to see whether it has none."""
        group = self.settled.clusters
        of = [{*self.file_of[group == group[record]].tolist()} for record in (i, j)]
        return not of[0].isdisjoint(of[1].intersection(self.without_duplicates))

    def draw(self, size: int, holder: str, seconds: float, worker: str | None = None) -> list[Pair]:
        """The next questions that nobody else has; this holder has them from now on, for some time."""
        taken = self.leased(holder)
        while True:
            next_ones = [ordered(*pair) for pair in self.questions(size + len(taken), worker)]
            found = [pair for pair in next_ones if pair not in taken][:size]
            got = self._here(self.journal.lease(map(self._numbered, found), holder, seconds))
            self._forget()  # somebody may have answered and gone since the answers were read
            if (got := self.still_open(got)) or not found:
                return got
            taken |= dict.fromkeys(found, 0.0)  # another process was faster

    def leased(self, holder: str | None = None) -> dict[Pair, float]:
        """The questions that others than this holder have, and until when, as `Journal.leased`."""
        at = self.journal.leased(holder)
        return {pair: until for number, until in at.items() for pair in self._here([number])}

    # --- audit ----------------------------------------------------------------------------------------------------

    @property
    def audited(self) -> dict[str, Any]:
        """What audit.json says: whether the audit is on, its target, the pairs answered before it, and those drawn; or
        that an audit of other candidate pairs is over."""
        none: dict[str, Any] = {"key": self.key, "on": False, "over": False, "before": [], "drawn": [], "recall": 0.95,
                                "confidence": 0.95}  # fmt: skip
        told = none | _loaded(self.folder / "audit.json", REMOVE)
        return told if told["key"] == self.key else none | {"over": told["on"]}

    def _audited(self, drawn: Iterable[Pair] = (), **changes: Any) -> None:
        """Change what audit.json says, also if others do so at the same time: no draw of theirs is forgotten."""
        with self.journal.alone():
            told = self.audited | changes
            told["drawn"] = [*dict.fromkeys([*map(tuple, told["drawn"]), *drawn])]
            self.write("audit.json", _dumped(told))

    @property
    def auditing(self) -> bool:
        """Whether an audit has begun."""
        return bool(self.audited["on"] or self.audited["drawn"])

    def turn_audit(self, on: bool, **target: Any) -> None:
        """Let the next questions be those of the audit, with this `recall` and `confidence`, or of the ordering again.
        Draws serve every target."""
        begins = on and not self.audited["drawn"]
        self._audited(on=on, over=False, **target, **({"before": list(self.answers)} if begins else {}))

    def audit(self, **target: float) -> ReplayedAudit:
        """The audit as it stands, from the answers so far; or, before it begins, as it would be."""
        told = self.audited | target
        began = {*map(tuple, told["before"])} if self.auditing else self.answers
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
        sheet = sheets.question_sheet(self.records, self.fields, pairs, secrets.token_hex(4))
        text = sheets.to_csv(sheet, self.settings["sep"], guarded=True)
        for number in count(1):
            with suppress(FileExistsError):
                (path := self.folder / f"questions-{number}.csv").touch(exist_ok=False)
                break
        # With a byte order mark spreadsheets recognise the encoding.
        return self.write(path.name, text.encode("utf-8" if text.isascii() else "utf-8-sig"))

    def progress(self) -> str:
        """How many answers there are, and how many of the last ones were matches."""
        same, number = list(self.answers.values()), len(self.votes)
        said = f"{_listed(path.name for path in self.files)}: {number} answer{'s' * (number != 1)}, {sum(same)} same"
        said += f" ({sum(same[-LATELY:])} of the last {LATELY})" * (len(same) > LATELY)
        return said + f", and {self.aside} about records that are gone" * bool(self.aside)

    @property
    def aside(self) -> int:
        """How many votes are about records that are gone, and come back with them."""
        return len(self._stored) - len(self.votes)

    @property
    def twice(self) -> list[Pair]:
        """Two records of each cluster that has several of a file that is taken to have no duplicates."""
        first, found, group = dict[tuple[int, int], int](), dict[tuple[int, int], Pair](), self.settled.clusters
        if self.without_duplicates:
            for record, of in enumerate(zip(group.tolist(), self.file_of.tolist(), strict=True)):
                if first.setdefault(of, record) != record and of[1] in self.without_duplicates:
                    found.setdefault(of, (first[of], record))
        return list(found.values())

    @property
    def contradicted(self) -> list[Pair]:
        """The answers that the clusters do not follow; and those that join records of a file without duplicates."""
        found, group = list(self.settled.contradicted), self.settled.clusters
        several = {group[i] for i, _ in self.twice}
        return found + [pair for pair, same in self.answers.items() if same and group[pair[0]] in several]

    def doubts(self) -> list[Pair]:
        """The answers that contradict others, and those on which workers disagree."""
        return list(dict.fromkeys([*self.contradicted, *self.settled.split]))

    def write_clusters(self) -> Path:
        """Write the clusters that follow from the evidence: all columns of the files, then cluster and size, in the
        order of the files. Before these, of two files, is the file, and of files without identifiers the id.

        A cluster keeps its number while it keeps most of its records, and no other ever gets it.
        """
        told: dict[str, Any] = {"numbers": [], "unused": 0} | _loaded(self.folder / "clusters.json", REMOVE)
        clusters, known = self.settled.clusters, told["numbers"]  # by the numbers of all records ever seen, or -1
        known += [-1] * (1 + self._numbers[-1] - len(known))
        numbers = renumbered(clusters, [known[number] for number in self._numbers], told["unused"])
        for number, cluster in zip(self._numbers, numbers.tolist(), strict=True):
            known[number] = cluster
        rows = np.array([self._place[number] for number in self._order])
        table = _joined(self.tables)
        if (self.settings["id"] or "id") not in table:
            table.insert(0, _free("id", table), np.array(self.ids, object)[rows])
        if len(self.files) > 1:
            stems = np.array([encodable(path.stem) for path in self.files], object)
            table.insert(0, _free("file", table), stems[self.file_of[rows]])
        table[_free("cluster", table)] = numbers[rows]
        table[_free("size", table)] = np.bincount(clusters)[clusters][rows]
        self.write("clusters.json", _dumped({"numbers": known, "unused": max(told["unused"], 1 + int(numbers.max()))}))
        return self.write("clusters.csv", sheets.to_csv(table, self.settings["sep"]).encode())


def _listed(paths: Iterable[Any]) -> str:
    return " and ".join(map(str, paths))


def _joined(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """The rows of one table, or of two with the columns that either has: the second of one name is that of the other's
    second."""
    numbered = []
    for table in tables:
        names = pd.Series(list(table))
        numbered.append(table.set_axis([names, names.groupby(names).cumcount()], axis=1))
    joined = pd.concat(numbered, ignore_index=True).fillna("")
    return joined.set_axis(joined.columns.get_level_values(0), axis=1)


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
