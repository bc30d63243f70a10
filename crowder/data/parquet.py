"""Candidate pairs in Parquet files: written, and read back by falling similarity, sorted by DuckDB outside memory.

Needs duckdb and pyarrow, ``pip install crowder[scale]``; the rest of crowder does not.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from crowder.asking.pairs import MOST_RECORDS, candidates

__all__ = ["chunks_from_parquet", "number_records", "write_candidates"]

#: Names of the columns.
COLUMNS = ("i", "j", "similarity")

#: Pairs in a chunk.
CHUNK = 1 << 20


def write_candidates(path, pairs) -> int:
    """Write candidate pairs to a Parquet file, with columns i and j (int32) and similarity (float64).

    Parameters
    ----------
    path : str or path
        Replaced if it is there.
    pairs : array_like, scipy.sparse matrix, or iterator of (i, j, w)
        A similarity in any form that the orderings take, or chunks of arrays in any order, one in memory at a time.

    Returns
    -------
    int
        How many pairs were written.

    Raises
    ------
    ModuleNotFoundError
        Without pyarrow.
    ValueError
        If a similarity is none.

    Examples
    --------
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, [0.5, 0.9, 0.1])
    3
    """
    arrow, writer_of = _scale("pyarrow"), _scale("pyarrow.parquet").ParquetWriter
    schema = arrow.schema(list(zip(COLUMNS, (arrow.int32(), arrow.int32(), arrow.float64()), strict=True)))
    written = 0
    with writer_of(os.fspath(path), schema) as writer:
        for columns in pairs if isinstance(pairs, Iterator) else _cut(pairs):
            arrays = [arrow.array(np.asarray(c), f.type) for c, f in zip(columns, schema, strict=True)]
            writer.write_table(arrow.table(arrays, schema=schema), row_group_size=CHUNK)
            written += len(arrays[0])
    return written


def chunks_from_parquet(
    path,
    *,
    seed: int | None = None,
    columns: Sequence[str] = COLUMNS,
    chunk: int = CHUNK,
    memory_limit: str = "1GB",
    threads: int | None = None,
    folder=None,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The candidate pairs of Parquet files by falling similarity, in chunks, for a `StreamOrdering`.

    Parameters
    ----------
    path : str or path
        A file, or a pattern such as ``pairs/*.parquet``.
    seed : int, optional, keyword only
        Shuffles ties, for ``StreamOrdering(..., ties="stream")``. Without it, ties come by (i, j).
    columns : sequence of str, keyword only
        Which hold the two records, as integers, and the similarity.
    chunk : int, keyword only
        Pairs in a chunk.
    memory_limit : str, keyword only
        What DuckDB may use; what it sorts beyond that goes to disk.
    threads : int, optional, keyword only
        How many DuckDB may use; all by default. The order does not depend on it.
    folder : path, optional, keyword only
        Where what does not fit goes meanwhile; a temporary folder by default.

    Yields
    ------
    i, j : ndarray of int32
        Records, i < j.
    w : ndarray of float64

    Raises
    ------
    ModuleNotFoundError
        Without duckdb or pyarrow.
    ValueError
        If a column is missing or of another type, or a row is no pair of two records with a similarity in [0, 1].
        Raised before the first chunk, for the whole file is looked through first.

    Notes
    -----
    One reading to check, one sort; O(m log m) for m pairs, in the memory allowed. Shuffled ties are in the order of a
    hash of seed and pair, the same on every machine with the same version of DuckDB. DuckDB reads local files only, and
    asks no network for extensions.

    Examples
    --------
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, [0.5, 0.9, 0.1])
    3
    >>> [[column.tolist() for column in chunk] for chunk in chunks_from_parquet(path, chunk=2)]
    [[[0, 0], [2, 1], [0.9, 0.5]], [[1], [2], [0.1]]]
    """
    with _database(memory_limit, threads, folder) as database:
        i, j, w = (_quoted(name) for name in columns)
        source = f"read_parquet({_literal(path)})"
        _check_types(database, source, columns)
        # COALESCE makes a NULL a fault. NaN is asked for by name: a file's statistics leave it out, and DuckDB believes
        # them when it looks for values above 1.
        fault = f"NOT coalesce({w} BETWEEN 0 AND 1 AND {i} >= 0 AND {j} >= 0 AND {i} <> {j}, false)"
        fault += f" OR isnan({w}::DOUBLE) OR greatest({i}, {j}) >= {MOST_RECORDS}"
        if bad := database.execute(f"SELECT {i}, {j}, {w} FROM {source} WHERE {fault} LIMIT 1").fetchone():
            count = database.execute(f"SELECT count(*) FROM {source} WHERE {fault}").fetchone()[0]
            raise ValueError(f"{count} rows of {path} are no pair with a similarity in [0, 1], as {bad}")
        ties = "i, j" if seed is None else f"hash(i, j, {int(seed)}::BIGINT), i, j"
        reader = database.sql(
            f"SELECT * FROM (SELECT least({i}, {j})::INTEGER AS i, greatest({i}, {j})::INTEGER AS j, {w}::DOUBLE AS w "
            f"FROM {source}) ORDER BY w DESC, {ties}"
        ).to_arrow_reader(chunk)
        for batch in reader:
            yield tuple(column.to_numpy(zero_copy_only=False) for column in batch.columns)


def number_records(
    path, out, *, columns: Sequence[str] = COLUMNS, memory_limit: str = "1GB", threads: int | None = None, folder=None
) -> np.ndarray:
    """Write the pairs of Parquet files anew with records numbered 0, 1, ... in sorted order of their identifiers.

    Parameters
    ----------
    path, out : str or path
        What is read, and what is written.
    columns : sequence of str, keyword only
        Which of `path` hold two identifiers, of any one type that sorts, and the similarity.
    memory_limit, threads, folder
        As in `chunks_from_parquet`.

    Returns
    -------
    ndarray, shape (n,)
        The identifier of each number.

    Raises
    ------
    ModuleNotFoundError
        Without duckdb or pyarrow.

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
    with _database(memory_limit, threads, folder) as database:
        i, j, w = (_quoted(name) for name in columns)
        source = f"read_parquet({_literal(path)})"
        database.execute(
            f"CREATE TABLE numbers AS SELECT id, row_number() OVER (ORDER BY id) - 1 AS number "
            f"FROM (SELECT {i} AS id FROM {source} UNION SELECT {j} FROM {source}) WHERE id IS NOT NULL"
        )
        database.execute(
            f"COPY (SELECT a.number::INTEGER AS i, b.number::INTEGER AS j, {w} AS similarity FROM {source} AS pairs "
            f"JOIN numbers AS a ON a.id = pairs.{i} JOIN numbers AS b ON b.id = pairs.{j}) "
            f"TO {_literal(out)} (FORMAT parquet)"
        )
        named = database.execute("SELECT id FROM numbers ORDER BY number").fetchnumpy()["id"]
        return np.asarray(named)


def _scale(module: str):
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"candidate pairs in Parquet need {module.partition('.')[0]}: pip install crowder[scale]", name=module
        ) from error


@contextmanager
def _database(memory_limit: str, threads: int | None, folder):
    """DuckDB in memory, with a folder for what does not fit, and no network."""
    duckdb, _ = _scale("duckdb"), _scale("pyarrow")
    with tempfile.TemporaryDirectory(prefix="crowder-", dir=folder) as spill:
        config = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "memory_limit": memory_limit,
            "temp_directory": spill,
            "preserve_insertion_order": False,
        }
        with duckdb.connect(":memory:", config=config | ({} if threads is None else {"threads": threads})) as database:
            yield database


def _check_types(database, source: str, columns: Sequence[str]) -> None:
    found = {name: kind for name, kind, *_ in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    for name in columns:
        if name not in found:
            raise ValueError(f"there is no column {name!r} in {source}; there are {', '.join(found)}")
    for name in columns[:2]:
        if not found[name].endswith(("INT", "INTEGER")):
            raise ValueError(f"column {name!r} must hold integers, not {found[name]}; number_records makes them")
    if not found[columns[2]].startswith(("DOUBLE", "FLOAT", "DECIMAL", "TINYINT", "INTEGER", "BIGINT")):
        raise ValueError(f"column {columns[2]!r} must hold numbers, not {found[columns[2]]}")


def _cut(similarity) -> Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    values, codes = candidates(similarity).listed()
    for at in range(0, len(values), CHUNK):
        part = codes[at : at + CHUNK]
        yield part >> 32, part & MOST_RECORDS, values[at : at + CHUNK]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(path) -> str:
    return "'" + os.fspath(path).replace("'", "''") + "'"
