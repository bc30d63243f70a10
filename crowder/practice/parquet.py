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
from crowder.pairs import MOST_RECORDS, candidates
from crowder.practice.stream_ordering import chunk_columns

__all__ = ["chunks_from_parquet", "write_candidates"]

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
    crowder.practice.chunks_from_parquet : reads what this writes.

    Examples
    --------
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, [0.5, 0.9, 0.1])
    3
    """
    arrow, writer_of = import_scale("pyarrow"), import_scale("pyarrow.parquet").ParquetWriter
    schema = arrow.schema(zip(COLUMNS, (arrow.int32(), arrow.int32(), arrow.float64()), strict=True))
    written, name = 0, validation.path(path)
    if os.path.isdir(name):
        raise IsADirectoryError(f"path must be a file, but {name} is a folder")
    try:  # under another name until it is complete: a missing pair would look like a pair that is not a candidate
        with writer_of(f"{name}.part", schema) as writer:
            for number, chunk in enumerate(pairs if isinstance(pairs, Iterator) else _chunks_of(pairs)):
                columns = dict(zip(COLUMNS, chunk_columns(chunk, number), strict=True))
                writer.write_table(arrow.table(columns), row_group_size=CHUNK)
                written += len(columns["i"])
        os.replace(f"{name}.part", name)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(f"{name}.part")
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
    crowder.practice.StreamOrdering : edge ordering over these chunks.
    crowder.practice.write_candidates : writes such files.

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
        validation.whole(chunk, "chunk, its number of pairs,", least=1)
        for batch in database.sql(f"SELECT * FROM pairs ORDER BY w DESC, {ties}").to_arrow_reader(chunk):
            yield tuple(column.to_numpy(zero_copy_only=False) for column in batch.columns)


def import_scale(module: str) -> Any:
    """A module of the extra, or an error that says how to install it."""
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
def open_pairs(path: Any, columns: Sequence[str], memory_limit: str, threads: int | None, folder: Any) -> Any:
    """A database with the checked pairs of files in a view ``pairs``: records i < j (INTEGER), and w (DOUBLE)."""
    names = list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else []
    if len(names) != 3 or not all(isinstance(name, str) for name in names):
        raise ValueError(f"columns must be three names, of two records and their similarity, not {columns!r}")
    file = validation.path(path).replace("'", "''")
    with open_database(memory_limit, threads, folder) as database:
        described = database.execute(f"DESCRIBE SELECT * FROM read_parquet('{file}')").fetchall()
        kinds = {name: kind for name, kind, *_ in described}
        if absent := [name for name in names if name not in kinds]:
            raise ValueError(f"columns must be in {path}, which has {', '.join(kinds)}, not {absent[0]!r}")
        for name in names[:2]:
            if not kinds[name].endswith(("INT", "INTEGER")):
                raise ValueError(f"column {name!r} must hold integers, not {kinds[name]}; number the records 0, 1, ...")
        if not re.fullmatch(r"DOUBLE|FLOAT|DECIMAL[^]]*|.*INT|.*INTEGER", kinds[names[2]]):
            raise ValueError(f"column {names[2]!r} must hold numbers, not {kinds[names[2]]}")
        i, j, w = ('"' + name.replace('"', '""') + '"' for name in names)
        database.execute(f"CREATE VIEW source AS SELECT {i} AS i, {j} AS j, {w} AS w FROM read_parquet('{file}')")
        # COALESCE makes NULL invalid. NaN needs its own test: DuckDB compares statistics with 1, which omit NaN.
        valid = f"i <> j AND i >= 0 AND j >= 0 AND greatest(i, j) < {MOST_RECORDS} AND w BETWEEN 0 AND 1"
        bad = f"FROM source WHERE NOT coalesce({valid}, false) OR isnan(w::DOUBLE)"
        if row := database.execute(f"SELECT * {bad} LIMIT 1").fetchall():
            ((many,),) = database.execute(f"SELECT count(*) {bad}").fetchall()
            raise ValueError(f"rows of {path} must be pairs with a similarity in [0, 1]; invalid: {many}, such as "
                             f"{row[0]}")  # fmt: skip
        pair = "least(i, j)::INTEGER AS i, greatest(i, j)::INTEGER AS j"
        database.execute(f"CREATE VIEW pairs AS SELECT {pair}, w::DOUBLE AS w FROM source")
        yield database


def _chunks_of(similarity: Any) -> Chunks:
    values, codes = candidates(similarity).listed()
    for at in range(0, len(values), CHUNK):
        part = codes[at : at + CHUNK]
        yield part >> 32, part & MOST_RECORDS, values[at : at + CHUNK]
