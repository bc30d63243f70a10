"""Past one machine: candidate pairs in parts that never meet, each resolved by any process, and put together again.

Answers imply others only along asked pairs, and every asked pair is a candidate. So what is known about a pair follows
from answers inside its own connected component of the candidate pairs, and any process, in any order, can ask the
questions of one run over all pairs: `split_components`, then `resolve_part` for each part and `merge_parts`, or
`resolve_components`, which does both. The pairs stay on disk; a label for each record fits into memory.

Needs duckdb and pyarrow (``pip install 'crowder[scale]'``), and joblib for more than one process.
"""

from __future__ import annotations

import heapq
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
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
from crowder.practice import parquet
from crowder.practice.journal import Journal
from crowder.practice.parquet import COLUMNS, chunks_from_parquet, quoted_text
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

    One pass over the m pairs, O(m log n) time, 12 bytes for each record. Parameters as for `split_components`.
    """
    with parquet.open_pairs(path, columns, memory_limit, threads, None, n=n) as database:
        return _joined(parquet.read_chunks(database, "SELECT i, j FROM pairs"), n)[0]


def split_components(
    path: Any, n: int, folder: Any, *, parts: int, ordering: str = "edge", seed: int | None = None,
    columns: Sequence[str] = COLUMNS, memory_limit: str = "1GB", threads: int | None = None,
) -> Split:  # fmt: skip
    """Write candidate pairs in parts that share no connected component, as a plan for `resolve_components`.

    Parameters
    ----------
    path, seed, columns, memory_limit, threads
        As in `crowder.practice.parquet.chunks_from_parquet`.
    n : int
        Number of records.
    folder : str or path
        The folder of the parts, created if necessary. All processes that resolve parts need access to it.
    parts : int
        Number of parts; fewer if there are fewer components.
    ordering : {"edge", "node"}
        How to resolve.

    Raises
    ------
    ModuleNotFoundError, OSError, ValueError
        As `chunks_from_parquet`; a ValueError also if the folder holds the plan of something else (other pairs, seed,
        ordering or number of parts).

    Notes
    -----
    *Where it does not help:* if blocking is generous, nearly all pairs are in one component, which nothing can divide.
    `Split.largest_share` tells it before anybody is paid. Components go, from the largest on, each to the part with the
    fewest pairs so far.

    *Cost:* O(m log m) time for m pairs; 60 bytes for each record, besides `memory_limit`; as much disk as the file. The
    plan is written last: after a crash the same call starts again. Run it in one process at a time.

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
    parquet.tie_order(seed)  # an invalid seed is noticed here
    place = Path(validation.path(folder, "folder"))
    place.mkdir(parents=True, exist_ok=True)
    made = (place / "plan.json").exists()
    for left in () if made else (place / "pairs", *place.glob("crowder-*")):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    with parquet.open_pairs(path, columns, memory_limit, threads, place, n=n) as database:
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

    `folder` is that of `split_components`, and `part` 0, 1, ...; ``crowd(i, j)`` returns a boolean (its ``begin`` is
    not called: it would be given the ordering of a part). A `crowder.Truth` has the labels of all records; nobody is
    paid, so there is no journal. A ValueError if there is no such plan or part, the journal is that of another run, or
    the part has been resolved with another kind of crowd (true labels instead of people, or other labels).

    The journal, ``answers-00000.db``, numbers the records of the part 0, 1, ... and needs a local disk: a part must be
    continued on the machine where it was begun. Processes on one machine may work at the same part; each question is
    still asked once. After the last answer, the questions are written to ``asked-00000.parquet``, all or none. Memory
    goes with the records and the answers of the part; node ordering also holds its pairs.
    """
    place, plan = Path(validation.path(folder, "folder")), _plan(folder)
    callable_oracle(crowd)
    if validation.whole(part, "part") >= (parts := len(plan["parts"]["pairs"])):
        raise ValueError(f"part must be one of the {parts} parts, counted from 0, not {part}")
    if isinstance(crowd, Truth) and len(crowd) != plan["key"]["records"]:
        raise ValueError(f"the oracle has labels for {len(crowd)} records; the plan has {plan['key']['records']}")
    source = blake2b(crowd.labels.tobytes(), digest_size=16).hexdigest() if isinstance(crowd, Truth) else "crowd"
    mark = [_name(plan, part), source]
    written = place / f"asked-{part:05d}.parquet"
    if written.exists():
        rows, *found = _read_mark(written)
        if found != mark:
            raise ValueError(f"{written} was resolved with another crowd, part or plan; use another folder")
        return rows
    if plan["key"]["duckdb"] != _version():
        raise ValueError(f"the ties of {place} are ordered by duckdb {plan['key']['duckdb']}, not by {_version()}")
    pattern = place / "pairs" / f"part={part}" / "*.parquet"
    with parquet.open_database(memory_limit, threads, None) as database:
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
    marked = asked.replace_schema_metadata({"crowder": " ".join(mark)})
    with parquet.replacing(written, "path", f"{os.getpid()}.part") as partial:  # another process may write the same
        parquet.import_scale("pyarrow.parquet").write_table(marked, partial)
    return len(asked)


def merge_parts(folder: Any, *, memory_limit: str = "1GB", threads: int | None = None) -> Resolution:
    """The questions of all parts in the order of one run over all pairs, and the clusters that follow.

    All parts must have been resolved, by one crowd; otherwise a ValueError. If the crowd's answer to a question does
    not depend on when it is asked, the result is that of ``StreamOrdering(chunks_from_parquet(path, seed=seed), n,
    ties="stream")``, or of a `crowder.NodeOrdering` whose `ties` are the positions of the pairs in that stream (without
    a seed, ``ties="index"``). A pair that occurs twice counts once, with its larger similarity.
    """
    place, plan = Path(validation.path(folder, "folder")), _plan(folder)
    paths = [place / f"asked-{part:05d}.parquet" for part in range(len(plan["parts"]["pairs"]))]
    if missing := [str(part) for part, path in enumerate(paths) if not path.exists()]:
        raise ValueError(f"parts of {place} must be resolved before they are merged; missing: {', '.join(missing)}")
    marks = [_read_mark(path) for path in paths]
    for part, (path, (_, name, _)) in enumerate(zip(paths, marks, strict=True)):
        if name != _name(plan, part):
            raise ValueError(f"{path} must hold the questions of part {part} of this plan, not of another part or plan")
    if len({source for _, _, source in marks}) > 1:
        raise ValueError(f"the parts of {place} must be answered by one crowd, not some by true labels")
    queries, answers = np.empty((0, 2), np.int64), np.empty(0, bool)
    if paths:
        with parquet.open_database(memory_limit, threads, None) as database:
            source = f"read_parquet([{', '.join(map(quoted_text, paths))}])"
            order = ORDER[plan["key"]["ordering"]].format(ties=parquet.tie_order(plan["key"]["seed"]))
            rows = database.sql(f"SELECT i, j, same FROM {source} ORDER BY {order}").fetchnumpy()
        queries, answers = np.column_stack([rows["i"], rows["j"]]).astype(np.int64), rows["same"]
    matches = queries[answers].T.astype(np.int32)
    return Resolution(queries, answers, _joined([matches], plan["key"]["records"])[0])


def resolve_components(
    folder: Any, crowd: Oracle, *, n_jobs: int = 1, memory_limit: str = "1GB", threads: int | None = 1
) -> Resolution:
    """Resolve all parts that have not been resolved yet, in `n_jobs` processes, and merge them.

    With ``joblib.parallel_config(backend="dask")`` the workers of a cluster resolve the parts. The crowd is sent to the
    processes, so it must be picklable. After a crash, of a worker or of this process, the same call continues: the
    others answer from their journals, on the machine where these are. Otherwise as `resolve_part` and `merge_parts`.
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


def _joined(chunks: Iterable, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The smallest record of each record's component, and the number of pairs in which a record comes first."""
    parent, count = np.arange(n, dtype=np.int32), np.zeros(n, np.int64)
    for i, j in chunks:
        np.add.at(count, i, 1)
        _join(parent, i, j)
    while (parent != (up := parent[parent])).any():
        parent = up
    return parent, count


def _write_parts(database: Any, n: int, parts: int, folder: Path) -> dict[str, Any]:
    """Write the pairs of each part; returns what the plan says of them."""
    label, count = _joined(parquet.read_chunks(database, "SELECT i, j FROM pairs"), n)
    weight = np.bincount(label, count, minlength=n).astype(np.int64)  # pairs of each component, at its root
    roots = np.argsort(-weight, kind="stable")[: np.count_nonzero(weight)]
    load = [(0, part) for part in range(min(parts, len(roots)))]
    part_of = np.full(n, -1, np.int32)
    for root in roots.tolist():  # to the part with the fewest pairs so far
        pairs, part_of[root] = load[0]
        heapq.heapreplace(load, (pairs + int(weight[root]), int(part_of[root])))
    size = np.bincount(label, minlength=n)
    columns = {"part": part_of[roots], "components": 1, "records": size[roots], "pairs": weight[roots]}
    table = pd.DataFrame(columns).groupby("part").sum()
    record = np.arange(n, dtype=np.int32)
    database.register("assigned", parquet.import_scale("pyarrow").table({"record": record, "part": part_of[label]}))
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
        return parquet.import_scale("pyarrow").table(columns | {"weight": sizes[resolution.queries[:, 0]]})
    database.register("asked", parquet.import_scale("pyarrow").table(columns))
    with_weights = f"SELECT asked.*, max(similarity) AS weight FROM asked JOIN {inside} USING (i, j) GROUP BY ALL"
    if len(asked := database.sql(with_weights).to_arrow_table()) != len(i):
        raise ValueError(f"the pairs of a part have changed since they were read: {inside}")
    return asked


def _name(plan: dict[str, Any], part: int) -> str:
    """What tells a part from those of other plans."""
    return f"{blake2b(json.dumps(plan['key'], sort_keys=True).encode(), digest_size=16).hexdigest()}-{part}"


def _read_mark(path: Path) -> tuple[int, str, str]:
    """The number of questions in a file, the name of their part, and who answered."""
    try:
        about = parquet.import_scale("pyarrow.parquet").read_metadata(path)
        name, source = about.metadata[b"crowder"].decode().split()
        return about.num_rows, name, source
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} must hold the questions of a part, but cannot be read: {error}") from None


def _plan(folder: Any) -> dict[str, Any]:
    path = Path(validation.path(folder, "folder")) / "plan.json"
    if not path.is_file():
        raise ValueError(f"folder must hold a plan, as split_components writes it, but there is no {path}")
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        if "pairs" not in plan["parts"] or not {"records", "pairs", "ordering", "seed", "duckdb"} <= plan["key"].keys():
            raise ValueError("it is incomplete")
        return plan
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} must be a plan, but cannot be read: {error}") from None


def _version() -> str:
    return parquet.import_scale("duckdb").__version__


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
