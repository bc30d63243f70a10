"""Past one machine: candidate pairs in parts that never meet, each resolved by any process, and put together again.

Answers imply others only along asked pairs, and every asked pair is a candidate. So what is known about a pair follows
from answers inside its own connected component of the candidate pairs, and components can be resolved apart: any
process, in any order, asks the questions of one run over all pairs. `split_components` writes the pairs in parts,
`resolve_part` resolves one, with a journal of its own, and `merge_parts` puts the questions of all into the order of
one run; `resolve_components` does the last two, in processes or on a cluster.

The pairs stay on disk, where DuckDB checks, splits and sorts them; a label for each record fits into memory. Needs
duckdb and pyarrow (``pip install 'crowder[scale]'``), and joblib for more than one process.
"""

from __future__ import annotations

import heapq
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
from crowder.pairs import candidates
from crowder.practice.journal import Journal
from crowder.practice.parquet import (
    CHUNK, COLUMNS, chunks_from_parquet, import_scale, open_database, open_pairs, quoted_text, tie_order,
)  # fmt: skip
from crowder.practice.stream import StreamOrdering
from crowder.resolution import Resolution

__all__ = ["Split", "find_components", "merge_parts", "resolve_components", "resolve_part", "split_components"]

#: The questions of a part in the order of one run over all pairs. Edge ordering: `weight` is the similarity. Node
#: ordering: it is the expected cluster size of the record i that arrives, whose questions follow in turn.
ORDER = {"edge": "weight DESC, {ties}", "node": "weight DESC, i, turn"}


@dataclass(frozen=True)
class Split:
    """Candidate pairs in parts: the numbers of records, of pairs and of connected components with a pair; the pairs of
    the largest component; and a row (components, records, pairs) for each part."""

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
    """The connected component of each of the n records, named by its smallest record: ndarray of int32, shape (n,).

    Parameters, their defaults and errors are those of `split_components`. One pass over m pairs, in O(m log n) time
    however long the paths; 12 bytes for each record, and one chunk of pairs.

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
    with open_pairs(path, columns, memory_limit, threads, None, n=n) as database:
        return _components(database, n)[0]


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
    path, columns, memory_limit, threads
        As in `crowder.practice.parquet.chunks_from_parquet`.
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

    Returns
    -------
    Split

    Raises
    ------
    ModuleNotFoundError, OSError
        As `chunks_from_parquet`.
    ValueError
        If the folder holds the plan of something else (other pairs, seed, ordering or number of parts), or an argument
        or the file is invalid.

    Notes
    -----
    *Where it does not help:* if blocking is generous, nearly all pairs are in one component, which nothing can divide.
    `Split.largest_share` tells it before anybody is paid.

    *Balance:* components go, from the largest on, each to the part with the fewest pairs so far. So no part has more
    pairs than an equal share and the largest component together.

    *Cost:* O(m log m) time and some passes over the m pairs; some 60 bytes for each record, besides `memory_limit`; as
    much disk as the file.

    *Killed process:* the plan is written last. Until then, the same call starts again; after that, it only checks that
    the pairs are the same. Run it in one process at a time.

    Examples
    --------
    >>> import tempfile
    >>> from crowder.practice.parquet import write_candidates
    >>> folder = tempfile.mkdtemp()
    >>> path, plan = os.path.join(folder, "pairs.parquet"), os.path.join(folder, "plan")
    >>> write_candidates(path, iter([([0, 4], [2, 2], [0.9, 0.5]), ([3], [5], [0.7])]))
    3
    >>> split = split_components(path, 6, plan, parts=2, seed=7)
    >>> split.parts
       components  records  pairs
    0           1        3      2
    1           1        2      1
    >>> [resolve_part(plan, part, Truth([0, 1, 0, 2, 0, 3])) for part in (1, 0)]
    [1, 2]
    >>> merge_parts(plan).queries.tolist()
    [[0, 2], [3, 5], [2, 4]]
    """
    if ordering not in tuple(ORDER):
        raise ValueError(f'ordering must be "edge" or "node", not {ordering!r}')
    validation.whole(parts, "parts", least=1)
    tie_order(seed)  # an invalid seed is noticed here
    place = Path(validation.path(folder, "folder"))
    place.mkdir(parents=True, exist_ok=True)
    made = (place / "plan.json").exists()
    for left in () if made else (place / "pairs", *place.glob("crowder-*")):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    with open_pairs(path, columns, memory_limit, threads, place, n=n) as database:
        count, digest = database.execute("SELECT count(*), coalesce(sum(hash(i, j, w)), 0) FROM pairs").fetchall()[0]
        key: dict[str, Any] = {
            "records": int(n), "pairs": count, "digest": str(digest), "ordering": ordering,
            "seed": None if seed is None else int(seed), "parts": int(parts), "duckdb": _version(),
        }  # fmt: skip
        if not made:
            plan = {"key": key, **_write_parts(database, int(n), int(parts), place / "pairs")}
            files.write(place / "plan.json", (json.dumps(plan, indent=1) + "\n").encode())
    plan = _plan(place)
    if different := ", ".join(name for name in key if plan["key"].get(name) != key[name]):
        raise ValueError(f"folder {place} holds another plan (different: {different}); use another folder")
    table = pd.DataFrame(plan["parts"], columns=["components", "records", "pairs"])  # the columns even of no part
    return Split(key["records"], count, plan["components"], plan["largest"], table)


def resolve_part(folder: Any, part: int, crowd: Oracle, *, memory_limit: str = "1GB", threads: int | None = 1) -> int:
    """Resolve one part, with a journal, so that no answer is paid for twice; returns its number of questions.

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

    Raises
    ------
    ValueError
        If the folder holds no plan, there is no such part, the journal is that of another part, plan or ordering, or
        the part has been resolved with another kind of crowd (true labels instead of people, or other labels).
    TypeError
        If the crowd is not callable, or an answer is not a boolean.

    Notes
    -----
    The journal, ``answers-00000.db``, is an SQLite file, and needs a local disk: a part must be continued on the
    machine where it was begun. It numbers the records of the part 0, 1, ... in increasing order. Processes on one
    machine may work at the same part; each question is still asked once. When the last answer is there, the questions
    are written to ``asked-00000.parquet``, complete or not at all.

    *Cost:* sorting the part's pairs, and an ``fsync`` for each new answer. Edge ordering reads its pairs as a stream,
    so memory goes with the records and the answers of the part; node ordering holds its pairs.
    """
    place, plan = Path(validation.path(folder, "folder")), _plan(folder)
    callable_oracle(crowd)
    if validation.whole(part, "part") >= (parts := len(plan["parts"]["pairs"])):
        raise ValueError(f"part must be one of the {parts} parts, counted from 0, not {part}")
    if isinstance(crowd, Truth) and len(crowd) != plan["key"]["records"]:
        raise ValueError(f"the oracle has labels for {len(crowd)} records; the plan has {plan['key']['records']}")
    source = blake2b(crowd.labels.tobytes(), digest_size=16).hexdigest() if isinstance(crowd, Truth) else "crowd"
    mark = _mark(plan, part) | {"source": source}
    written = place / f"asked-{part:05d}.parquet"
    if written.exists():
        found, rows = _read_mark(written)
        if found != mark:
            raise ValueError(f"{written} was resolved with another crowd, part or plan; use another folder")
        return rows
    if plan["key"]["duckdb"] != _version():
        raise ValueError(f"the ties of {place} are ordered by duckdb {plan['key']['duckdb']}, not by {_version()}")
    pattern = place / "pairs" / f"part={part}" / "*.parquet"
    with open_database(memory_limit, threads, None) as database:
        inside = f"read_parquet({quoted_text(pattern)}, hive_partitioning = false)"
        union = f"SELECT i AS record FROM {inside} UNION SELECT j FROM {inside} ORDER BY record"
        records = database.execute(union).fetchnumpy()["record"]
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
    partial = written.with_name(f"{written.name}.{os.getpid()}.part")  # another process may write the same
    try:
        marked = asked.replace_schema_metadata({"crowder": json.dumps(mark)})
        import_scale("pyarrow.parquet").write_table(marked, partial)
        os.replace(partial, written)
    finally:
        partial.unlink(missing_ok=True)
    return len(asked)


def merge_parts(folder: Any, *, memory_limit: str = "1GB", threads: int | None = None) -> Resolution:
    """The questions of all parts in the order of one run over all pairs, and the clusters that follow.

    Parameters are those of `resolve_part`; all parts must have been resolved, by one crowd (otherwise a ValueError).

    The result has the questions, answers and clusters of one run, in the same sequence, provided that the crowd's
    answer to a question does not depend on when it is asked. With edge ordering the run is
    ``StreamOrdering(chunks_from_parquet(path, seed=seed), n, ties="stream")``. With node ordering it is a
    `crowder.NodeOrdering` whose `ties` are the positions of the pairs in that stream; without a seed, ``ties="index"``
    is the same. A pair that occurs twice counts once, with its larger similarity.
    """
    place, plan = Path(validation.path(folder, "folder")), _plan(folder)
    paths = [place / f"asked-{part:05d}.parquet" for part in range(len(plan["parts"]["pairs"]))]
    if missing := [str(part) for part, path in enumerate(paths) if not path.exists()]:
        raise ValueError(f"parts of {place} must be resolved before they are merged; missing: {', '.join(missing)}")
    sources = set()
    for part, path in enumerate(paths):
        found, wanted = _read_mark(path)[0], _mark(plan, part)
        sources.add(found.pop("source", None))
        if found != wanted:
            what = f"part {found['part']}" if found.get("plan") == wanted["plan"] else "another plan"
            raise ValueError(f"{path} must hold the questions of part {part}, not of {what}")
    if len(sources) > 1:
        raise ValueError(f"the parts of {place} must be answered by one crowd, not some by true labels")
    queries, answers = np.empty((0, 2), np.int64), np.empty(0, bool)
    if paths:
        with open_database(memory_limit, threads, None) as database:
            source = f"read_parquet([{', '.join(map(quoted_text, paths))}])"
            order = ORDER[plan["key"]["ordering"]].format(ties=tie_order(plan["key"]["seed"]))
            rows = database.sql(f"SELECT i, j, same FROM {source} ORDER BY {order}").fetchnumpy()
        queries, answers = np.column_stack([rows["i"], rows["j"]]).astype(np.int64), rows["same"]
    parent = np.arange(plan["key"]["records"], dtype=np.int32)
    _join(parent, *queries[answers].T.astype(np.int32))
    return Resolution(queries, answers, _roots(parent))


def resolve_components(
    folder: Any, crowd: Oracle, *, n_jobs: int = 1, memory_limit: str = "1GB", threads: int | None = 1
) -> Resolution:
    """Resolve all parts that have not been resolved yet, and merge them (`resolve_part`, `merge_parts`).

    Parameters
    ----------
    folder, crowd, memory_limit, threads
        As in `resolve_part`; the crowd is sent to the processes, so it must be picklable if `n_jobs` is not 1.
    n_jobs : int, keyword only
        Number of processes, as in joblib. With ``joblib.parallel_config(backend="dask")`` the cluster's workers resolve
        the parts.

    Returns
    -------
    Resolution

    Notes
    -----
    After a crash, of a worker or of this process, the same call continues: parts that are complete are not resolved
    again, and the others answer from their journals, on the machine where these are.
    """
    from joblib import Parallel, delayed

    validation.whole(n_jobs, "n_jobs, the number of processes,", least=-(2**31))
    callable_oracle(crowd)
    folder = os.path.abspath(validation.path(folder, "folder"))  # another process may be in another folder
    how: dict[str, Any] = {"memory_limit": memory_limit, "threads": threads}
    parts = range(len(_plan(folder)["parts"]["pairs"]))
    Parallel(n_jobs=n_jobs, batch_size=1)(delayed(resolve_part)(folder, part, crowd, **how) for part in parts)
    return merge_parts(folder, memory_limit=memory_limit)


class _Renumbered:
    """The crowd, for an ordering whose records are some of all."""

    def __init__(self, crowd: Oracle, records: np.ndarray) -> None:
        self.crowd, self.records = crowd, records

    def __call__(self, i: int, j: int) -> Answer:
        return self.vote(i, j, 0)

    def vote(self, i: int, j: int, number: int) -> Answer:
        return answer_and_worker(self.crowd, int(self.records[i]), int(self.records[j]), number)


def _components(database: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The smallest record of each record's component, and the number of pairs in which a record comes first."""
    parent, count = np.arange(n, dtype=np.int32), np.zeros(n, np.int64)
    for batch in database.sql("SELECT i, j FROM pairs").to_arrow_reader(CHUNK):
        i, j = (column.to_numpy() for column in batch.columns)
        np.add.at(count, i, 1)
        _join(parent, i, j)
    return _roots(parent), count


def _write_parts(database: Any, n: int, parts: int, folder: Path) -> dict[str, Any]:
    """Write the pairs of each part; returns what the plan says of them."""
    label, count = _components(database, n)
    weight = np.bincount(label, count, minlength=n).astype(np.int64)  # pairs of each component, at its root
    roots = np.argsort(-weight, kind="stable")[: np.count_nonzero(weight)]
    load = [(0, part) for part in range(min(parts, len(roots)))]
    part_of = np.full(n, -1, np.int32)
    for root in roots.tolist():  # to the part with the fewest pairs so far
        pairs, part_of[root] = load[0]
        heapq.heapreplace(load, (pairs + int(weight[root]), int(part_of[root])))
    table = pd.DataFrame({
        "part": part_of[roots], "components": 1, "records": np.bincount(label, minlength=n)[roots], "pairs": weight[roots]
    }).groupby("part").sum()  # fmt: skip
    assigned = import_scale("pyarrow").table({"record": np.arange(n, dtype=np.int32), "part": part_of[label]})
    database.register("assigned", assigned)
    database.execute(
        "COPY (SELECT i, j, w AS similarity, part FROM pairs JOIN assigned ON record = i) "
        f"TO {quoted_text(folder)} (FORMAT parquet, PARTITION_BY (part))"
    )
    return {"components": len(roots), "largest": int(weight.max(initial=0)), "parts": table.to_dict("list")}


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
        return import_scale("pyarrow").table(columns | {"weight": sizes[resolution.queries[:, 0]]})
    database.register("asked", import_scale("pyarrow").table(columns))
    with_weights = f"SELECT asked.*, max(similarity) AS weight FROM asked JOIN {inside} USING (i, j) GROUP BY ALL"
    if len(asked := database.sql(with_weights).to_arrow_table()) != len(i):
        raise ValueError(f"the pairs of a part have changed since they were read: {inside}")
    return asked


def _mark(plan: dict[str, Any], part: int) -> dict[str, Any]:
    digest = blake2b(json.dumps(plan["key"], sort_keys=True).encode(), digest_size=16)
    return {"plan": digest.hexdigest(), "part": int(part)}


def _read_mark(path: Path) -> tuple[dict[str, Any], int]:
    """What the questions of a part are marked with, and their number."""
    try:
        about = import_scale("pyarrow.parquet").read_metadata(path)
        return dict(json.loads((about.metadata or {})[b"crowder"])), about.num_rows
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} must hold the questions of a part, but cannot be read: {error}") from None


def _plan(folder: Any) -> dict[str, Any]:
    path = Path(validation.path(folder, "folder")) / "plan.json"
    if not path.is_file():
        raise ValueError(f"folder must hold a plan, as split_components writes it, but there is no {path}")
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        if not {"records", "pairs", "ordering", "seed", "duckdb"} <= plan["key"].keys() or "pairs" not in plan["parts"]:
            raise ValueError("it is incomplete")
        return plan
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} must be a plan, but cannot be read: {error}") from None


def _version() -> str:
    return import_scale("duckdb").__version__


@njit(cache=True)
def _join(parent, i, j):
    """Join the components of each pair, in trees whose roots are their smallest records."""
    for p in range(len(i)):
        a, b = i[p], j[p]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[max(a, b)] = min(a, b)


def _roots(parent: np.ndarray) -> np.ndarray:
    """The root of each record."""
    while (parent != (up := parent[parent])).any():
        parent = up
    return parent
