"""Candidate pairs in Parquet files, and sorted streams of them. DuckDB sorts, on disk if memory is short.

Needs duckdb and pyarrow (``pip install 'crowder[scale]'``), which the rest of crowder does not.
"""

from __future__ import annotations

import importlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.orderings import listed_once
from crowder.pairs import MOST_RECORDS, candidates
from crowder.scale.stream import chunk_columns, number_of_records
from crowder.sorting import HALF

__all__ = ["chunks_by_arrival", "chunks_from_parquet", "expected_sizes", "number_records", "write_candidates"]

#: Arrays i, j, w.
Chunks: TypeAlias = Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]

#: The default names of the columns.
COLUMNS = ("i", "j", "similarity")

#: Optimisations of DuckDB that rely on a file's statistics. In a damaged file these may be wrong: 257 was read as 1.
USING_STATISTICS = "statistics_propagation,compressed_materialization"

#: The default number of pairs in a chunk.
CHUNK = 1 << 20


def write_candidates(path: str | os.PathLike[str], pairs: ArrayLike) -> int:
    """Write candidate pairs to a Parquet file, columns i and j (int32) and similarity (float64); returns their number.

    Parameters
    ----------
    path : str or path
        The file; replaced if it exists, once all pairs are written.
    pairs : array_like, scipy.sparse matrix, or iterator of (i, j, w)
        Similarities in any form that the orderings accept, or chunks of arrays in any order, one in memory at a time.

    Raises
    ------
    ValueError, TypeError
        If a similarity is not in [0, 1], or a chunk does not consist of pairs; the message gives chunk and row, from 0.

    See Also
    --------
    crowder.chunks_from_parquet : reads what this writes.
    crowder.number_records : numbers instead of identifiers.

    Examples
    --------
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, [0.5, 0.9, 0.1])
    3
    """
    arrow, writer_of = import_scale("pyarrow"), import_scale("pyarrow.parquet").ParquetWriter
    schema = arrow.schema(zip(COLUMNS, (arrow.int32(), arrow.int32(), arrow.float64()), strict=True))
    written = 0
    with replacing(path, "path") as partial, writer_of(partial, schema) as writer:
        for number, chunk in enumerate(pairs if isinstance(pairs, Iterator) else _chunks_of(pairs)):
            columns = dict(zip(COLUMNS, chunk_columns(chunk, number), strict=True))
            writer.write_table(arrow.table(columns), row_group_size=CHUNK)
            written += len(columns["i"])
    return written


def chunks_from_parquet(
    path: str | os.PathLike[str], *, seed: int | None = None, columns: Sequence[str] = COLUMNS, chunk: int = CHUNK,
    memory_limit: str = "1GB", threads: int | None = None, folder: Any = None,
) -> Chunks:  # fmt: skip
    """The candidate pairs of Parquet files in decreasing order of similarity, in chunks, for a `StreamOrdering`.

    Parameters
    ----------
    path : str or path
        A file, or a pattern such as ``pairs/*.parquet``.
    seed : int, optional
        Shuffles ties, for ``StreamOrdering(..., ties="stream")``. By default, ties are sorted by (i, j).
    columns : sequence of str
        The columns with the two records (integers) and the similarity.
    chunk : int
        Number of pairs in a chunk.
    memory_limit, threads, folder : str, int, path
        The memory and the threads that DuckDB may use, by default all threads; the order does not depend on them. If it
        needs more memory, it uses the disk, in this folder or by default the system's for temporary files.

    Yields
    ------
    i, j, w : ndarray of int32, int32 and float64
        Records i < j, and their similarities.

    Raises
    ------
    ModuleNotFoundError, OSError
        If duckdb or pyarrow is not installed, or there is no such file.
    ValueError
        If a file is not a Parquet file, a column is missing or of another type, or a row is not a pair of two records
        with a similarity in [0, 1]. All rows are checked before the first chunk is returned.

    See Also
    --------
    crowder.StreamOrdering : edge ordering over these chunks.
    crowder.write_candidates : writes such files.

    Notes
    -----
    O(m log m) time for m pairs. Shuffled ties are ordered by a hash of seed and pair, which is the same wherever the
    version of DuckDB is. DuckDB reads local files only, and does not use the network.

    Examples
    --------
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, [0.5, 0.9, 0.1])
    3
    >>> [[column.tolist() for column in chunk] for chunk in chunks_from_parquet(path, chunk=2)]
    [[[0, 0], [2, 1], [0.9, 0.5]], [[1], [2], [0.1]]]
    """
    if seed is not None and validation.whole(seed, "seed") >= 2**63:
        raise ValueError(f"seed must be below 2**63, not {seed}")
    ties = "i, j" if seed is None else f"hash(i, j, {int(seed)}::BIGINT), i, j"
    with open_pairs(path, columns, memory_limit, threads, folder) as database:
        last = 1.0
        for i, j, w in read_chunks(database, f"SELECT * FROM pairs ORDER BY w DESC, {ties}", chunk):
            # Checked again, in case DuckDB has relied on wrong statistics elsewhere.
            if len(w) and not (((0 <= i) & (i < j) & (w >= 0)).all() and w[0] <= last and (np.diff(w) <= 0).all()):
                raise ValueError(f"{path} is damaged: its statistics do not agree with its pairs")
            last = w[-1] if len(w) else last
            yield i, j, w


def expected_sizes(
    path: str | os.PathLike[str], n: int, *, columns: Sequence[str] = COLUMNS, memory_limit: str = "1GB",
    threads: int | None = None, folder: Any = None,
) -> np.ndarray:  # fmt: skip
    r"""The expected cluster size of each of n records, :math:`\sum_{u \ne v} w_{uv}`, shape (n,), from Parquet files
    that hold each pair once: to the bit that of `crowder.NodeOrdering`, whatever the order of the pairs.

    Parameters and errors as for `chunks_from_parquet`; a ValueError also if there are more than n records.
    `crowder.StreamNodeOrdering` has an example.
    """
    with open_pairs(path, columns, memory_limit, threads, folder, n=n) as database:
        # Whole numbers, as in crowder.sorting.sums: a sum of floats would depend on the order of the pairs.
        upper = f"floor(w * {HALF})"
        lower = f"floor((w * {HALF} - {upper}) * {HALF})"
        rows = database.sql(
            f"SELECT v, sum({upper}::BIGINT)::BIGINT AS upper, sum({lower}::BIGINT)::BIGINT AS lower "
            "FROM (SELECT i AS v, w FROM pairs UNION ALL SELECT j, w FROM pairs) GROUP BY v"
        ).fetchnumpy()
    sizes = np.zeros(n)
    sizes[rows["v"]] = np.asarray(rows["upper"]) / HALF + np.asarray(rows["lower"]) / HALF / HALF
    return sizes


def chunks_by_arrival(
    path: str | os.PathLike[str], arrivals: ArrayLike, *, columns: Sequence[str] = COLUMNS, chunk: int = CHUNK,
    memory_limit: str = "1GB", threads: int | None = None, folder: Any = None,
) -> Chunks:  # fmt: skip
    """The candidate pairs (i, j) of Parquet files that hold each pair once, by the arrival of the later record i, then
    of j, in chunks, for a `StreamNodeOrdering`. `arrivals` lists all records in the order in which they arrive.

    The other parameters and errors as for `chunks_from_parquet`; a ValueError also for a record that does not arrive.
    """
    arrivals = listed_once(arrivals, "arrivals").astype(np.int32)
    with open_pairs(path, columns, memory_limit, threads, folder, n=len(arrivals)) as database:
        turn = np.arange(len(arrivals), dtype=np.int32)
        database.register("arrived", import_scale("pyarrow").table({"record": arrivals, "turn": turn}))
        query = (
            "SELECT greatest(a.turn, b.turn) AS later, least(a.turn, b.turn) AS earlier, w FROM pairs "
            "JOIN arrived AS a ON a.record = i JOIN arrived AS b ON b.record = j ORDER BY later, earlier"
        )
        for later, earlier, w in read_chunks(database, query, chunk):
            yield arrivals[later], arrivals[earlier], w


def number_records(
    path: str | os.PathLike[str], out: Any, *, columns: Sequence[str] = COLUMNS, memory_limit: str = "1GB",
    threads: int | None = None, folder: Any = None,
) -> np.ndarray:  # fmt: skip
    """Rewrite candidate pairs with records numbered 0, 1, ... by sorted identifiers; returns these, shape (n,).

    Parameters
    ----------
    path, memory_limit, threads, folder
        As in `chunks_from_parquet`.
    out : str or path
        The file to write; replaced only when complete.
    columns : sequence of str
        The columns of `path` with two identifiers, both of one sortable type, and the similarity.

    Raises
    ------
    ValueError
        As `chunks_from_parquet`; also if the identifiers have different types, or those of a row are the same.

    See Also
    --------
    crowder.chunks_from_parquet : reads what this writes, sorted.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet
    >>> folder = tempfile.mkdtemp()
    >>> named, pairs = os.path.join(folder, "named.parquet"), os.path.join(folder, "pairs.parquet")
    >>> table = pyarrow.table({"left": ["ann", "bob"], "right": ["bea", "ann"], "similarity": [0.9, 0.2]})
    >>> pyarrow.parquet.write_table(table, named)
    >>> number_records(named, pairs, columns=("left", "right", "similarity"))
    array(['ann', 'bea', 'bob'], dtype=object)
    >>> [column.tolist() for column in next(chunks_from_parquet(pairs))]
    [[0, 0], [1, 2], [0.9, 0.2]]
    """
    with (
        replacing(out, "out") as partial,
        open_pairs(path, columns, memory_limit, threads, folder, named=True) as database,
    ):
        database.execute(
            "CREATE TABLE numbers AS SELECT id, row_number() OVER (ORDER BY id) - 1 AS number "
            "FROM (SELECT i AS id FROM pairs UNION SELECT j FROM pairs)"
        )
        numbered = (
            "SELECT a.number::INTEGER AS i, b.number::INTEGER AS j, w AS similarity FROM source "
            "JOIN numbers AS a ON a.id = i JOIN numbers AS b ON b.id = j"
        )
        ((written,),) = database.execute(f"COPY ({numbered}) TO {quoted_text(partial)} (FORMAT parquet)").fetchall()
        ((rows,),) = database.execute("SELECT count(*) FROM source").fetchall()
        if written != rows:  # DuckDB has relied on wrong statistics
            raise ValueError(f"{path} is damaged: only {written} of its {rows} rows could be numbered")
        return np.asarray(database.execute("SELECT id FROM numbers ORDER BY number").fetchnumpy()["id"])


def import_scale(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        what = module.partition(".")[0]
        raise ModuleNotFoundError(f"{what} is missing: pip install 'crowder[scale]'", name=module) from error


@contextmanager
def open_database(memory_limit: str, threads: int | None, folder: Any) -> Any:
    """DuckDB in memory, with a folder for temporary files, and without network access."""
    duckdb, _ = import_scale("duckdb"), import_scale("pyarrow")
    if folder is not None and not os.path.isdir(validation.path(folder, "folder")):
        raise FileNotFoundError(f"folder must exist, but {os.fspath(folder)} does not")
    with tempfile.TemporaryDirectory(prefix="crowder-", dir=folder) as temporary:
        config = {
            "autoinstall_known_extensions": False, "autoload_known_extensions": False, "memory_limit": memory_limit,
            "temp_directory": temporary, "preserve_insertion_order": False, "disabled_optimizers": USING_STATISTICS,
        }  # fmt: skip
        if threads is not None:
            config["threads"] = validation.whole(threads, "threads", least=1)
        try:
            with duckdb.connect(":memory:", config=config) as database:
                yield database
        except duckdb.Error as error:
            kind = OSError if isinstance(error, duckdb.IOException) else ValueError
            raise kind(str(error).splitlines()[0]) from None


@contextmanager
def open_pairs(
    path: Any, columns: Sequence[str], memory_limit: str, threads: int | None, folder: Any, *, n: int | None = None,
    named: bool = False,
) -> Any:  # fmt: skip
    """A database with the checked pairs of files in a view ``pairs``: records i < j, below n if it is given (INTEGER),
    and w (DOUBLE); or, if `named`, identifiers of any type."""
    if n is not None:
        number_of_records(n)
    names = list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else []
    if len(names) != 3 or not all(isinstance(name, str) for name in names):
        raise ValueError(f"columns must be three names, of two records and their similarity, not {columns!r}")
    source = f"read_parquet({quoted_text(validation.path(path))})"
    with open_database(memory_limit, threads, folder) as database:
        kinds = {name: kind for name, kind, *_ in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
        if absent := [name for name in names if name not in kinds]:
            raise ValueError(f"columns must be in {path}, which has {', '.join(kinds)}, not {absent[0]!r}")
        one, two, three = (kinds[name] for name in names)
        if named and one != two:
            raise ValueError(f"columns {names[0]!r} and {names[1]!r} must have the same type, not {one} and {two}")
        for name, kind in [] if named else zip(names[:2], (one, two), strict=True):
            if not kind.endswith(("INT", "INTEGER")):
                raise ValueError(f"column {name!r} must hold integers, not {kind}; use number_records first")
        if not re.fullmatch(r"DOUBLE|FLOAT|DECIMAL[^]]*|.*INT|.*INTEGER", three):
            raise ValueError(f"column {names[2]!r} must hold numbers, not {three}")
        i, j, w = ('"' + name.replace('"', '""') + '"' for name in names)
        database.execute(f"CREATE VIEW source AS SELECT {i} AS i, {j} AS j, {w} AS w FROM {source}")
        valid = "true" if named else f"i >= 0 AND j >= 0 AND greatest(i, j) < {MOST_RECORDS}"
        # COALESCE makes NULL invalid. NaN needs its own test: DuckDB compares statistics with 1, which omit NaN.
        bad = f"FROM source WHERE NOT coalesce(i <> j AND w BETWEEN 0 AND 1 AND {valid}, false) OR isnan(w::DOUBLE)"
        if row := database.execute(f"SELECT * {bad} LIMIT 1").fetchall():
            ((many,),) = database.execute(f"SELECT count(*) {bad}").fetchall()
            raise ValueError(f"rows of {path} must be pairs with a similarity in [0, 1]; invalid: {many}, such as "
                             f"{row[0]}")  # fmt: skip
        pair = "i, j" if named else "least(i, j)::INTEGER AS i, greatest(i, j)::INTEGER AS j"
        database.execute(f"CREATE VIEW pairs AS SELECT {pair}, w::DOUBLE AS w FROM source")
        if n is not None:
            ((last,),) = database.execute("SELECT coalesce(max(j), -1) FROM pairs").fetchall()
            if last >= n:
                raise ValueError(
                    f"n, the number of records, must exceed the records of {path}, up to {last}, not be {n}"
                )
        yield database


def read_chunks(database: Any, query: str, chunk: int) -> Iterator[tuple[np.ndarray, ...]]:
    """The columns of the result of a query, in chunks."""
    validation.whole(chunk, "chunk, its number of pairs,", least=1)
    for batch in database.sql(query).to_arrow_reader(chunk):
        yield tuple(column.to_numpy(zero_copy_only=False) for column in batch.columns)


def quoted_text(path: Any) -> str:
    return "'" + os.fspath(path).replace("'", "''") + "'"


@contextmanager
def replacing(path: Any, what: str) -> Any:
    """The name of a file to write instead of this one, which it replaces only when complete: a missing pair would look
    like a pair that is not a candidate."""
    if os.path.isdir(name := validation.path(path, what)):
        raise IsADirectoryError(f"{what} must be a file, but {name} is a folder")
    try:
        yield f"{name}.part"
        os.replace(f"{name}.part", name)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(f"{name}.part")


def _chunks_of(similarity: Any) -> Chunks:
    values, codes = candidates(similarity).listed()
    for at in range(0, len(values), CHUNK):
        part = codes[at : at + CHUNK]
        yield part >> 32, part & MOST_RECORDS, values[at : at + CHUNK]
