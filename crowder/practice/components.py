"""Past one machine: candidate pairs in parts that never meet, each resolved by any process, and put together again.

Answers imply others only along asked pairs, and every asked pair is a candidate. So what is known about a pair follows
from answers inside its own connected component of the candidate pairs, and components can be resolved apart: any
process, in any order, asks the questions of one run over all pairs.

1. `split_components` finds the components, and writes the pairs in parts of similar size. `Split.largest_share` says,
   before anybody is paid, whether that helps: a part cannot be smaller than the largest component.
2. `resolve_part` resolves one part with a journal of its own, so that a killed process loses no answer.
3. `merge_parts` puts the questions of all parts into the order of one run.

`resolve_components` does the second for all parts, in processes or on a cluster, and then the third.

The pairs stay on disk: DuckDB checks, splits and sorts them. Only the components are found in Python, by a union-find
over one pass, because a label per record does fit: an ordering needs more for each. Propagating labels in SQL takes
several joins of all pairs, and more of them the longer the paths.

Needs duckdb and pyarrow (``pip install crowder[scale]``), and joblib for more than one process.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numba import njit
from scipy import sparse

from crowder import files, validation
from crowder.oracles import Answer, Oracle, Truth, answer_and_worker, callable_oracle
from crowder.orderings import SIZE_DECIMALS, NodeOrdering, Ordering, expected_sizes
from crowder.pairs import MOST_RECORDS, candidates
from crowder.practice.journal import Journal
from crowder.practice.parquet import (
    CHUNK,
    COLUMNS,
    checked_pairs,
    chunks_from_parquet,
    import_scale,
    open_database,
    quoted_text,
    tie_order,
)
from crowder.practice.stream import StreamOrdering
from crowder.resolution import Resolution

__all__ = ["Split", "find_components", "merge_parts", "resolve_components", "resolve_part", "split_components"]

#: The questions of a part in the order of one run over all pairs. Edge ordering: `weight` is the similarity. Node
#: ordering: it is the expected cluster size of the record i that arrives, whose questions follow in turn.
ORDER = {"edge": "weight DESC, {ties}", "node": "weight DESC, i, turn"}


@dataclass(frozen=True)
class Split:
    """Candidate pairs in parts.

    Attributes
    ----------
    n : int
        Number of records.
    n_pairs : int
        Number of candidate pairs.
    n_components : int
        Number of connected components with at least one pair.
    largest : int
        Number of pairs in the largest component.
    parts : DataFrame
        Columns ``components``, ``records``, ``pairs``; one row for each part.
    """

    n: int
    n_pairs: int
    n_components: int
    largest: int
    parts: pd.DataFrame

    @property
    def largest_share(self) -> float:
        """Share of the pairs that are in the largest component, and so in one part, however many there are."""
        return self.largest / self.n_pairs if self.n_pairs else 0.0


def find_components(
    path: Any, n: int, *, columns: Sequence[str] = COLUMNS, memory_limit: str = "1GB", threads: int | None = None
) -> np.ndarray:
    """The connected component of each record, named by its smallest record.

    Parameters
    ----------
    path : str or path
        A Parquet file of candidate pairs, or a pattern such as ``pairs/*.parquet``.
    n : int
        Number of records.
    columns, memory_limit, threads
        As in `crowder.practice.parquet.chunks_from_parquet`.

    Returns
    -------
    ndarray of int32, shape (n,)

    Raises
    ------
    ModuleNotFoundError
        If duckdb or pyarrow is not installed.
    ValueError
        If a column is missing or of another type, or a row is not a pair of two of the n records with a similarity in
        [0, 1].
    OSError
        If there is no such file.

    See Also
    --------
    split_components : writes each component's pairs into one of several parts.

    Notes
    -----
    One pass over m pairs in O(m log n) time at most, however long the paths; 12 bytes for each record, and one chunk of
    pairs.

    Examples
    --------
    >>> import tempfile
    >>> from crowder.practice.parquet import write_candidates
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, iter([([0, 4], [2, 2], [0.9, 0.5]), ([3], [5], [0.7])]))
    3
    >>> find_components(path, 6)
    array([0, 1, 0, 3, 0, 3], dtype=int32)
    """
    with open_database(memory_limit, threads, None) as database:
        pairs = checked_pairs(database, path, columns)
        _check_records(_totals(database, pairs), n, path)
        return _components(database, pairs, n)[0]


def split_components(
    path: Any,
    n: int,
    folder: Any,
    *,
    parts: int,
    ordering: str = "edge",
    seed: int | None = None,
    columns: Sequence[str] = COLUMNS,
    memory_limit: str = "1GB",
    threads: int | None = None,
) -> Split:
    """Write candidate pairs in parts that share no connected component, as a plan for `resolve_components`.

    Parameters
    ----------
    path : str or path
        A Parquet file of candidate pairs, or a pattern such as ``pairs/*.parquet``.
    n : int
        Number of records.
    folder : str or path
        The folder of the parts, created if necessary. All processes that resolve parts need access to it.
    parts : int, keyword only
        Number of parts; fewer if there are fewer components.
    ordering : {"edge", "node"}, keyword only
        How to resolve.
    seed : int, optional, keyword only
        Shuffles ties, by a hash of seed and pair. By default, ties are sorted by (i, j).
    columns, memory_limit, threads
        As in `crowder.practice.parquet.chunks_from_parquet`.

    Returns
    -------
    Split

    Raises
    ------
    ModuleNotFoundError
        If duckdb or pyarrow is not installed.
    ValueError
        If the folder holds the plan of something else (other pairs, seed, ordering or number of parts), or an argument
        or the file is invalid, as for `find_components`.
    OSError
        If there is no such file, or the disk is full.

    See Also
    --------
    resolve_components : resolves the parts.

    Notes
    -----
    *Where it does not help.* If the threshold of the blocking is generous, nearly all pairs are in one component, which
    nothing can divide: see `Split.largest_share`. It is known before the first question.

    *Balance:* components are assigned in decreasing order of size, each to the part with the fewest pairs so far. So no
    part has more pairs than an equal share and the largest component together.

    *Cost:* O(m log n) time, three passes over the m pairs. Memory is some 60 bytes for each record, besides
    `memory_limit`. The parts take about as much disk as the file.

    *Killed process:* the plan is written last. Until then, the same call starts again; after that, it only checks that
    the pairs are the same, which takes one pass. Run it in one process at a time.

    Examples
    --------
    >>> import tempfile
    >>> from crowder.practice.parquet import write_candidates
    >>> folder = tempfile.mkdtemp()
    >>> path = os.path.join(folder, "pairs.parquet")
    >>> write_candidates(path, iter([([0, 4], [2, 2], [0.9, 0.5]), ([3], [5], [0.7])]))
    3
    >>> split = split_components(path, 6, os.path.join(folder, "plan"), parts=2, seed=7)
    >>> split.parts
       components  records  pairs
    0           1        3      2
    1           1        2      1
    >>> round(split.largest_share, 2)
    0.67
    """
    if ordering not in tuple(ORDER):
        raise ValueError(f'ordering must be "edge" or "node", not {ordering!r}')
    validation.whole(parts, "parts", least=1)
    tie_order(seed)  # an invalid seed is noticed here
    place = Path(validation.path(folder, "folder"))
    working = place / "splitting"
    if not (place / "plan.json").exists():
        place.mkdir(parents=True, exist_ok=True)
        for left in (working, place / "pairs"):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        working.mkdir()
    try:
        with open_database(memory_limit, threads, working if working.exists() else None) as database:
            pairs = checked_pairs(database, path, columns)
            totals = _totals(database, pairs)
            _check_records(totals, n, path)
            key: dict[str, Any] = {
                "records": int(n), "pairs": totals[0], "digest": str(totals[2]), "ordering": ordering,
                "seed": None if seed is None else int(seed), "parts": int(parts), "duckdb": _version(),
            }  # fmt: skip
            if not (place / "plan.json").exists():
                plan = {"key": key, **_write_parts(database, pairs, int(n), int(parts), working / "pairs")}
                os.replace(working / "pairs", place / "pairs")
                files.write(place / "plan.json", (json.dumps(plan, indent=1) + "\n").encode())
    finally:
        shutil.rmtree(working, ignore_errors=True)
    plan = _plan(place)
    if different := ", ".join(name for name in key if plan["key"].get(name) != key[name]):
        raise ValueError(f"folder {place} holds another plan (different: {different}); use another folder")
    table = pd.DataFrame(plan["parts"], columns=["components", "records", "pairs"])  # the columns even of no part
    return Split(key["records"], key["pairs"], plan["components"], plan["largest"], table)


def resolve_part(folder: Any, part: int, crowd: Oracle, *, memory_limit: str = "1GB", threads: int | None = 1) -> int:
    """Resolve one part, with a journal, so that no answer is paid for twice.

    Parameters
    ----------
    folder : str or path
        As written by `split_components`.
    part : int
        0, 1, ...
    crowd : callable
        ``crowd(i, j)`` returns a boolean; see `crowder.oracles`. Its ``begin`` is not called, because it would be given
        the ordering of a part. A `crowder.Truth` has the labels of all records; nobody is paid, so there is no journal.
    memory_limit, threads
        As in `crowder.practice.parquet.chunks_from_parquet`, for one process.

    Returns
    -------
    int
        Number of questions of this part, whenever they were asked.

    Raises
    ------
    ValueError
        If the folder holds no plan, there is no such part, the journal is that of another part, plan or ordering, or
        the part has been resolved with another kind of crowd (true labels instead of people, or other labels).
    TypeError
        If the crowd is not callable, or an answer is not a boolean.
    OSError
        If a file cannot be written.

    See Also
    --------
    resolve_components : all parts, and the merged result.
    crowder.Journal : what is guaranteed of the answers on disk.

    Notes
    -----
    The journal, ``answers-00000.db``, is an SQLite file, and needs a local disk: a part must be continued on the
    machine where it was begun. It numbers the records of the part 0, 1, ... in increasing order. Processes on one
    machine may work at the same part; each question is still asked once. When the last answer is there, the questions
    are written to ``asked-00000.parquet``, complete or not at all.

    *Cost:* sorting the part's pairs, and an ``fsync`` for each new answer. Edge ordering reads its pairs as a stream,
    so memory is proportional to the records and the answers of the part; node ordering holds its pairs.

    Examples
    --------
    >>> import tempfile
    >>> from crowder.practice.parquet import write_candidates
    >>> folder = tempfile.mkdtemp()
    >>> path = os.path.join(folder, "pairs.parquet")
    >>> write_candidates(path, iter([([0, 4], [2, 2], [0.9, 0.5]), ([3], [5], [0.7])]))
    3
    >>> split = split_components(path, 6, os.path.join(folder, "plan"), parts=2, seed=7)
    >>> resolve_part(os.path.join(folder, "plan"), 0, lambda i, j: i + j < 5)
    2
    """
    place, plan = Path(validation.path(folder, "folder")), _plan(folder)
    callable_oracle(crowd)
    _check_part(plan, part)
    if isinstance(crowd, Truth) and len(crowd) != plan["key"]["records"]:
        raise ValueError(f"the oracle has labels for {len(crowd)} records; the plan has {plan['key']['records']}")
    source = blake2b(crowd.labels.tobytes(), digest_size=16).hexdigest() if isinstance(crowd, Truth) else "crowd"
    written = place / f"asked-{part:05d}.parquet"
    if written.exists():
        found, rows = _mark(written)
        if found != _mark_of(plan, part) | {"source": source}:
            raise ValueError(f"{written} was resolved with another crowd, part or plan; use another folder")
        return rows
    if plan["key"]["duckdb"] != _version():
        raise ValueError(f"the ties of {place} are ordered by duckdb {plan['key']['duckdb']}, not by {_version()}")
    pattern = place / "pairs" / f"part={part}" / "*.parquet"
    with open_database(memory_limit, threads, None) as database:
        inside = f"read_parquet({quoted_text(pattern)}, hive_partitioning = false)"
        union = f"SELECT i AS record FROM {inside} UNION SELECT j FROM {inside}"
        records = database.execute(f"{union} ORDER BY record").fetchnumpy()["record"]
        chunks = chunks_from_parquet(pattern, seed=plan["key"]["seed"], memory_limit=memory_limit, threads=threads)
        local = ((np.searchsorted(records, i), np.searchsorted(records, j), w) for i, j, w in chunks)
        ordering, sizes = _ordering(plan["key"]["ordering"], local, len(records))
        if isinstance(crowd, Truth):
            resolution = ordering.run(Truth(crowd.labels[records]))
        else:
            text = pd.DataFrame({"record": records})  # so that the journal of another part is noticed
            with Journal(_Renumbered(crowd, records), place / f"answers-{part:05d}.db", records=text) as journal:
                resolution = ordering.run(journal)
        asked = _questions(database, resolution, records, sizes, inside)
        _write(written, asked, _mark_of(plan, part) | {"source": source})
    return len(asked)


def merge_parts(folder: Any, *, memory_limit: str = "1GB", threads: int | None = None) -> Resolution:
    """The questions of all parts in the order of one run over all pairs, and the clusters that follow.

    Parameters
    ----------
    folder : str or path
        Of a plan, all of whose parts have been resolved.
    memory_limit, threads
        As in `crowder.practice.parquet.chunks_from_parquet`.

    Returns
    -------
    Resolution

    Raises
    ------
    ValueError
        If the folder holds no plan, parts have not been resolved yet, or the questions of a part belong to another part
        or plan, or were answered by another crowd.

    See Also
    --------
    resolve_part : resolves one part.

    Notes
    -----
    The result has the questions, answers and clusters of one run, in the same sequence, provided that the crowd's
    answer to a question does not depend on when it is asked. With edge ordering the run is
    ``StreamOrdering(chunks_from_parquet(path, seed=seed), n, ties="stream")``. With node ordering it is a
    `crowder.NodeOrdering` whose `ties` are the positions of the pairs in that stream; without a seed, ``ties="index"``
    is the same. A pair that occurs twice counts once, with its larger similarity.

    *Cost:* a sort of the questions by DuckDB, and memory for the result: 17 bytes for each question, and some 40 for
    each record.

    Examples
    --------
    >>> import tempfile
    >>> from crowder.practice.parquet import write_candidates
    >>> folder = tempfile.mkdtemp()
    >>> path, plan = os.path.join(folder, "pairs.parquet"), os.path.join(folder, "plan")
    >>> write_candidates(path, iter([([0, 4], [2, 2], [0.9, 0.5]), ([3], [5], [0.7])]))
    3
    >>> split = split_components(path, 6, plan, parts=2, seed=7)
    >>> [resolve_part(plan, part, Truth([0, 1, 0, 2, 0, 3])) for part in (1, 0)]
    [1, 2]
    >>> merge_parts(plan).queries.tolist()
    [[0, 2], [3, 5], [2, 4]]
    """
    place, plan = Path(validation.path(folder, "folder")), _plan(folder)
    paths = [place / f"asked-{part:05d}.parquet" for part in range(len(plan["parts"]))]
    if missing := [part for part, path in enumerate(paths) if not path.exists()]:
        raise ValueError(f"parts of {place} must be resolved before they are merged; missing: {_some(missing)}")
    total, sources = 0, set()
    for part, path in enumerate(paths):
        found, rows = _mark(path)
        total += rows
        sources.add(found.pop("source", None))
        if found != _mark_of(plan, part):
            what = f"part {found['part']}" if found.get("plan") == _mark_of(plan, part)["plan"] else "another plan"
            raise ValueError(f"{path} must hold the questions of part {part}, not of {what}")
    if len(sources) > 1:
        raise ValueError(f"the parts of {place} must be answered by one crowd, not some by true labels")
    queries, answers, at = np.empty((total, 2), np.int64), np.empty(total, bool), 0
    if paths:
        with open_database(memory_limit, threads, None) as database:
            source = f"read_parquet([{', '.join(map(quoted_text, paths))}])"
            order = ORDER[plan["key"]["ordering"]].format(ties=tie_order(plan["key"]["seed"]))
            for batch in database.sql(f"SELECT i, j, same FROM {source} ORDER BY {order}").to_arrow_reader(CHUNK):
                i, j, same = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
                queries[at : at + len(i), 0], queries[at : at + len(i), 1] = i, j
                answers[at : at + len(i)] = same
                at += len(i)
    parent = np.arange(plan["key"]["records"], dtype=np.int32)
    _join(parent, np.zeros(len(parent), np.int64), *(queries[answers, side].astype(np.int32) for side in (0, 1)))
    _to_roots(parent)
    return Resolution(queries, answers, parent)


def resolve_components(
    folder: Any, crowd: Oracle, *, n_jobs: int = 1, memory_limit: str = "1GB", threads: int | None = 1
) -> Resolution:
    """Resolve all parts that have not been resolved yet, and merge them.

    Parameters
    ----------
    folder : str or path
        As written by `split_components`.
    crowd : callable
        As for `resolve_part`; sent to the processes, so it must be picklable if `n_jobs` is not 1.
    n_jobs : int, keyword only
        Number of processes, as in joblib. With ``joblib.parallel_config(backend="dask")`` the cluster's workers resolve
        the parts.
    memory_limit, threads
        As in `resolve_part`, for each process.

    Returns
    -------
    Resolution
        As from `merge_parts`.

    Raises
    ------
    ValueError, TypeError, OSError
        As `resolve_part` and `merge_parts`.

    See Also
    --------
    book.companion.batched_sweeps.sweep_in_batches : the same for sweeps.

    Notes
    -----
    After a crash, of a worker or of this process, the same call continues: parts that are complete are not resolved
    again, and the others answer from their journals. On several machines, a part must be continued where its journal is
    (see `resolve_part`).

    Examples
    --------
    >>> import tempfile
    >>> from crowder.practice.parquet import write_candidates
    >>> folder = tempfile.mkdtemp()
    >>> path, plan = os.path.join(folder, "pairs.parquet"), os.path.join(folder, "plan")
    >>> write_candidates(path, iter([([0, 4], [2, 2], [0.9, 0.5]), ([3], [5], [0.7])]))
    3
    >>> split = split_components(path, 6, plan, parts=2, seed=7)
    >>> resolve_components(plan, Truth([0, 1, 0, 2, 0, 3])).clusters
    array([0, 1, 0, 2, 0, 3])
    """
    from joblib import Parallel, delayed

    validation.whole(n_jobs, "n_jobs, the number of processes,", least=-(2**31))
    callable_oracle(crowd)
    folder = os.path.abspath(validation.path(folder, "folder"))  # another process may be in another folder
    parts = range(len(_plan(folder)["parts"]))
    Parallel(n_jobs=n_jobs, batch_size=1)(
        delayed(resolve_part)(folder, part, crowd, memory_limit=memory_limit, threads=threads) for part in parts
    )
    return merge_parts(folder, memory_limit=memory_limit)


class _Renumbered:
    """The crowd, for an ordering whose records are some of all."""

    def __init__(self, crowd: Oracle, records: np.ndarray) -> None:
        self.crowd, self.records = crowd, records

    def __call__(self, i: int, j: int) -> Answer:
        return self.vote(i, j, 0)

    def vote(self, i: int, j: int, number: int) -> Answer:
        return answer_and_worker(self.crowd, int(self.records[i]), int(self.records[j]), number)


def _totals(database: Any, pairs: str) -> tuple[int, int, int]:
    """Number of pairs, largest record, and a digest that does not depend on the order of the pairs."""
    what = "count(*), coalesce(max(j), -1), coalesce(sum(hash(i, j, w)), 0)"
    return database.execute(f"SELECT {what} FROM ({pairs})").fetchall()[0]


def _check_records(totals: tuple[int, int, int], n: int, path: Any) -> None:
    if validation.whole(n, "n, the number of records,") > MOST_RECORDS:
        raise ValueError(f"n, the number of records, must be at most {MOST_RECORDS}, not {n}")
    if totals[1] >= n:
        raise ValueError(f"n, the number of records, must exceed the records of {path}, up to {totals[1]}, not be {n}")


def _components(database: Any, pairs: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The smallest record of each record's component, and the number of pairs in which a record comes first."""
    parent, count = np.arange(n, dtype=np.int32), np.zeros(n, np.int64)
    for batch in database.sql(f"SELECT i, j FROM ({pairs})").to_arrow_reader(CHUNK):
        _join(parent, count, *(column.to_numpy() for column in batch.columns))
    _to_roots(parent)
    return parent, count


def _write_parts(database: Any, pairs: str, n: int, parts: int, folder: Path) -> dict[str, Any]:
    """Write the pairs of each part; returns what the plan says of them."""
    label, count = _components(database, pairs, n)
    size = np.bincount(label, minlength=n)
    weight = np.bincount(label, count, minlength=n).astype(np.int64)  # pairs of each component, at its root
    roots = np.flatnonzero(weight)
    roots = roots[np.argsort(-weight[roots], kind="stable")]
    part_of = np.full(n, -1, np.int32)
    part_of[roots] = _balanced(weight[roots], min(parts, len(roots)))
    table = pd.DataFrame({
        "part": part_of[roots], "components": 1, "records": size[roots], "pairs": weight[roots]
    }).groupby("part").sum()  # fmt: skip
    assigned = import_scale("pyarrow").table({"record": np.arange(n, dtype=np.int32), "part": part_of[label]})
    database.register("assigned", assigned)
    database.execute(
        f"COPY (SELECT i, j, w AS similarity, part FROM ({pairs}) JOIN assigned ON record = i) "
        f"TO {quoted_text(folder)} (FORMAT parquet, PARTITION_BY (part))"
    )
    folder.mkdir(exist_ok=True)  # there may be no pairs
    largest = int(weight[roots[0]]) if len(roots) else 0
    return {"components": len(roots), "largest": largest, "parts": table.to_dict("list")}


def _ordering(name: str, chunks: Iterator, n: int) -> tuple[Ordering, np.ndarray]:
    """The ordering of sorted chunks of pairs, and for node ordering the expected sizes (n,)."""
    if name == "edge":
        return StreamOrdering(chunks, n, ties="stream"), np.empty(0)
    i, j, w = (np.concatenate(column) for column in zip(*chunks, strict=True))
    # By increasing (i, j), as the orderings list pairs; the first of equal pairs is the most similar one.
    _, place = np.unique(i << 32 | j, return_index=True)
    pairs: Any = candidates(sparse.coo_array((w[place], (i[place], j[place])), shape=(n, n)))
    return NodeOrdering(pairs, ties=place), np.round(expected_sizes(pairs), SIZE_DECIMALS)


def _questions(database: Any, resolution: Resolution, records: np.ndarray, sizes: np.ndarray, inside: str) -> Any:
    """The questions of a part with what `ORDER` needs, as an Arrow table."""
    i, j = records[resolution.queries].T if resolution.n_queries else np.empty((2, 0), np.int32)
    columns = {"i": i, "j": j, "same": resolution.answers, "turn": np.arange(len(i))}
    if len(sizes):
        columns["weight"] = sizes[resolution.queries[:, 0]]
    asked = import_scale("pyarrow").table(columns)
    if not len(sizes):
        database.register("asked", asked)
        asked = database.sql(
            f"SELECT i, j, same, turn, max(similarity) AS weight FROM asked JOIN {inside} USING (i, j) GROUP BY ALL"
        ).to_arrow_table()
    if len(asked) != resolution.n_queries:
        raise ValueError(f"the pairs of a part have changed since they were read: {inside}")
    return asked


def _write(path: Path, table: Any, mark: dict[str, Any]) -> None:
    """Write a table with a mark that says what it is; a process that writes the same meanwhile does no harm."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        marked = table.replace_schema_metadata({"crowder": json.dumps(mark)})
        import_scale("pyarrow.parquet").write_table(marked, partial)
        os.replace(partial, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial)


def _mark(path: Path) -> tuple[dict[str, Any], int]:
    """The mark of a table, and its number of rows."""
    try:
        about = import_scale("pyarrow.parquet").read_metadata(path)
        return dict(json.loads((about.metadata or {})[b"crowder"])), about.num_rows
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} must hold the questions of a part, but cannot be read: {error}") from None


def _mark_of(plan: dict[str, Any], part: int) -> dict[str, Any]:
    digest = blake2b(json.dumps(plan["key"], sort_keys=True).encode(), digest_size=16)
    return {"plan": digest.hexdigest(), "part": int(part)}


def _plan(folder: Any) -> dict[str, Any]:
    path = Path(validation.path(folder, "folder")) / "plan.json"
    if not path.is_file():
        raise ValueError(f"folder must hold a plan, as split_components writes it, but there is no {path}")
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        plan["parts"] = [
            dict(zip(plan["parts"], row, strict=True)) for row in zip(*plan["parts"].values(), strict=True)
        ]
        if not {"records", "pairs", "ordering", "seed", "duckdb"} <= plan["key"].keys():
            raise ValueError("it is incomplete")
        return plan
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} must be a plan, but cannot be read: {error}") from None


def _check_part(plan: dict[str, Any], part: int) -> None:
    if validation.whole(part, "part") >= len(plan["parts"]):
        raise ValueError(f"part must be one of the {len(plan['parts'])} parts, counted from 0, not {part}")


def _some(numbers: list[int], most: int = 5) -> str:
    return ", ".join(map(str, numbers[:most])) + (f" and {len(numbers) - most} more" if len(numbers) > most else "")


def _version() -> str:
    return import_scale("duckdb").__version__


@njit(cache=True)
def _join(parent, count, i, j):
    """Join the components of each pair, in trees whose roots are their smallest records; count the pairs at i."""
    for p in range(len(i)):
        a, b = i[p], j[p]
        count[a] += 1
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a < b:
            parent[b] = a
        else:
            parent[a] = b


@njit(cache=True)
def _to_roots(parent):
    """Replace each record's parent by its root, which is smaller, so that it is known by then."""
    for v in range(len(parent)):
        parent[v] = parent[parent[v]]


@njit(cache=True)
def _balanced(sizes, parts):
    """The part of each component, from the largest to the smallest: the one with the fewest pairs so far."""
    load = np.zeros(parts, np.int64)
    part = np.empty(len(sizes), np.int32)
    for c in range(len(sizes)):
        part[c] = np.argmin(load)
        load[part[c]] += sizes[c]
    return part
