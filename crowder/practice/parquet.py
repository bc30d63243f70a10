"""Candidate pairs in Parquet files, and sorted streams of them. DuckDB sorts, on disk if memory is short.

Needs duckdb and pyarrow (``pip install crowder[scale]``), which the rest of crowder does not.
"""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.orderings import listed_once
from crowder.pairs import MOST_RECORDS, candidates
from crowder.practice.stream import chunk_columns
from crowder.sorting import HALF

__all__ = ["chunks_by_arrival", "chunks_from_parquet", "expected_sizes", "number_records", "write_candidates"]

#: The default names of the columns.
COLUMNS = ("i", "j", "similarity")

#: Optimisations of DuckDB that rely on a file's statistics. In a damaged file these may be wrong: 257 was read as 1.
USING_STATISTICS = "statistics_propagation,compressed_materialization"

#: The default number of pairs in a chunk.
CHUNK = 1 << 20


def write_candidates(path: str | os.PathLike[str], pairs: ArrayLike) -> int:
    """Write candidate pairs to a Parquet file, with columns i and j (int32) and similarity (float64).

    Parameters
    ----------
    path : str or path
        The file; replaced if it exists.
    pairs : array_like, scipy.sparse matrix, or iterator of (i, j, w)
        Similarities in any form that the orderings accept, or chunks of arrays in any order, of which one is in memory
        at a time.

    Returns
    -------
    int
        Number of pairs written.

    Raises
    ------
    ModuleNotFoundError
        If pyarrow is not installed.
    ValueError, TypeError
        If a similarity is not in [0, 1], or a chunk does not consist of pairs of records; the message gives chunk and
        row, counted from 0. An existing file is then unchanged.

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
    schema = arrow.schema(list(zip(COLUMNS, (arrow.int32(), arrow.int32(), arrow.float64()), strict=True)))
    written, partial = 0, f"{_file_name(path, 'path')}.part"
    try:
        with writer_of(partial, schema) as writer:
            for number, chunk in enumerate(pairs if isinstance(pairs, Iterator) else _chunks_of(pairs)):
                columns = _checked_columns(chunk, number)
                arrays = [arrow.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
                writer.write_table(arrow.table(arrays, schema=schema), row_group_size=CHUNK)
                written += len(arrays[0])
        # Replaced only when complete: a missing pair would look like a pair that is not a candidate.
        os.replace(partial, path)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(partial)
    return written


def chunks_from_parquet(
    path: str | os.PathLike[str],
    *,
    seed: int | None = None,
    columns: Sequence[str] = COLUMNS,
    chunk: int = CHUNK,
    memory_limit: str = "1GB",
    threads: int | None = None,
    folder: Any = None,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The candidate pairs of Parquet files in decreasing order of similarity, in chunks, for a `StreamOrdering`.

    Parameters
    ----------
    path : str or path
        A file, or a pattern such as ``pairs/*.parquet``.
    seed : int, optional, keyword only
        Shuffles ties, for ``StreamOrdering(..., ties="stream")``. By default, ties are sorted by (i, j).
    columns : sequence of str, keyword only
        The names of the columns with the two records (integers) and the similarity.
    chunk : int, keyword only
        Number of pairs in a chunk.
    memory_limit : str, keyword only
        The memory that DuckDB may use; if the sort needs more, it uses the disk.
    threads : int, optional, keyword only
        The number of threads that DuckDB may use; by default all. The order does not depend on it.
    folder : path, optional, keyword only
        The folder for DuckDB's temporary files; by default the system's.

    Yields
    ------
    i, j : ndarray of int32
        Records, i < j.
    w : ndarray of float64

    Raises
    ------
    ModuleNotFoundError
        If duckdb or pyarrow is not installed.
    ValueError
        If a file is not a Parquet file, a column is missing or of another type, or a row is not a pair of two records
        with a similarity in [0, 1]. All rows are checked before the first chunk is returned.
    OSError
        If there is no such file.

    See Also
    --------
    crowder.StreamOrdering : edge ordering over these chunks.
    crowder.StreamNodeOrdering : node ordering over them.
    crowder.write_candidates : writes such files.

    Notes
    -----
    O(m log m) time for m pairs, which are read once to check them and once to sort them. Shuffled ties are ordered by a
    hash of seed and pair, which is the same on every machine with the same version of DuckDB. DuckDB reads local files
    only, and does not use the network.

    Examples
    --------
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, [0.5, 0.9, 0.1])
    3
    >>> [[column.tolist() for column in chunk] for chunk in chunks_from_parquet(path, chunk=2)]
    [[[0, 0], [2, 1], [0.9, 0.5]], [[1], [2], [0.1]]]
    """
    validation.path(path)
    validation.whole(chunk, "chunk, its number of pairs,", least=1)
    order = f"w DESC, {tie_order(seed)}"
    with open_database(memory_limit, threads, folder) as database:
        pairs = checked_pairs(database, path, columns)
        reader = database.sql(f"SELECT * FROM ({pairs}) ORDER BY {order}").to_arrow_reader(chunk)
        last = 1.0
        for batch in reader:
            i, j, w = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            # Checked again, in case DuckDB has relied on wrong statistics elsewhere.
            if len(w) and not (((0 <= i) & (i < j) & (w >= 0)).all() and w[0] <= last and (np.diff(w) <= 0).all()):
                raise ValueError(f"{path} is damaged: its statistics do not agree with its pairs")
            last = w[-1] if len(w) else last
            yield i, j, w


def expected_sizes(
    path: str | os.PathLike[str],
    n: int,
    *,
    columns: Sequence[str] = COLUMNS,
    memory_limit: str = "1GB",
    threads: int | None = None,
    folder: Any = None,
) -> np.ndarray:
    r"""The expected cluster size of each record, :math:`\sum_{u \ne v} w_{uv}`, from the candidate pairs of Parquet
    files.

    Parameters
    ----------
    path : str or path
        A file, or a pattern such as ``pairs/*.parquet``, with each pair once.
    n : int
        Number of records.
    columns, memory_limit, threads, folder
        As in `chunks_from_parquet`.

    Returns
    -------
    ndarray of float64, shape (n,)
        To the bit those of `crowder.NodeOrdering`, whatever the order of the pairs.

    Raises
    ------
    ModuleNotFoundError, ValueError, OSError
        As `chunks_from_parquet`; a ValueError also if there are more than n records.

    See Also
    --------
    chunks_by_arrival : the pairs by the order that follows.

    Examples
    --------
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, [0.5, 0.25, 0.0])
    3
    >>> expected_sizes(path, 3)
    array([0.75, 0.5 , 0.25])
    """
    validation.whole(n, "n, the number of records,")
    with open_database(memory_limit, threads, folder) as database:
        pairs = checked_pairs(database, path, columns)
        _check_records(database, pairs, n, path)
        # Whole numbers, as in crowder.sorting.sums: a sum of floats would depend on the order of the pairs.
        upper = f"floor(w * {HALF})"
        lower = f"floor((w * {HALF} - {upper}) * {HALF})"
        rows = database.sql(
            f"SELECT v, sum({upper}::BIGINT)::BIGINT AS upper, sum({lower}::BIGINT)::BIGINT AS lower "
            f"FROM (SELECT i AS v, w FROM ({pairs}) UNION ALL SELECT j, w FROM ({pairs})) GROUP BY v"
        ).fetchnumpy()
    sizes = np.zeros(n)
    sizes[rows["v"]] = np.asarray(rows["upper"]) / HALF + np.asarray(rows["lower"]) / HALF / HALF
    return sizes


def chunks_by_arrival(
    path: str | os.PathLike[str],
    arrivals: ArrayLike,
    *,
    columns: Sequence[str] = COLUMNS,
    chunk: int = CHUNK,
    memory_limit: str = "1GB",
    threads: int | None = None,
    folder: Any = None,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The candidate pairs of Parquet files by the arrival of their later record, then of their earlier one, in chunks,
    for a `StreamNodeOrdering`.

    Parameters
    ----------
    path : str or path
        A file, or a pattern such as ``pairs/*.parquet``, with each pair once.
    arrivals : array_like, shape (n,)
        All records, in the order in which they arrive.
    columns, chunk, memory_limit, threads, folder
        As in `chunks_from_parquet`.

    Yields
    ------
    i, j : ndarray of int32
        Records; j arrives before i.
    w : ndarray of float64

    Raises
    ------
    ModuleNotFoundError, ValueError, OSError
        As `chunks_from_parquet`; a ValueError also if a pair has a record that is not among the arrivals.

    See Also
    --------
    expected_sizes : for the order of arrival.

    Examples
    --------
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, [0.5, 0.25, 0.0])
    3
    >>> [[column.tolist() for column in chunk] for chunk in chunks_by_arrival(path, [2, 0, 1])]
    [[[0, 1, 1], [2, 2, 0], [0.25, 0.0, 0.5]]]
    """
    validation.whole(chunk, "chunk, its number of pairs,", least=1)
    arrivals = listed_once(arrivals, "arrivals").astype(np.int32)
    with open_database(memory_limit, threads, folder) as database:
        pairs = checked_pairs(database, path, columns)
        _check_records(database, pairs, len(arrivals), path)
        turn = np.arange(len(arrivals), dtype=np.int32)
        database.register("arrived", import_scale("pyarrow").table({"record": arrivals, "turn": turn}))
        reader = database.sql(
            "SELECT (greatest(a.turn, b.turn)::BIGINT << 32) | least(a.turn, b.turn) AS key, w "
            f"FROM ({pairs}) JOIN arrived AS a ON a.record = i JOIN arrived AS b ON b.record = j ORDER BY key"
        ).to_arrow_reader(chunk)
        for batch in reader:
            key, w = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            yield arrivals[key >> 32], arrivals[key & MOST_RECORDS], w


def number_records(
    path: str | os.PathLike[str],
    out: Any,
    *,
    columns: Sequence[str] = COLUMNS,
    memory_limit: str = "1GB",
    threads: int | None = None,
    folder: Any = None,
) -> np.ndarray:
    """Rewrite candidate pairs with records numbered 0, 1, ... in sorted order of their identifiers.

    Parameters
    ----------
    path : str or path
        The file to read, or a pattern such as ``pairs/*.parquet``.
    out : str or path
        The file to write; replaced only when complete.
    columns : sequence of str, keyword only
        The columns of `path` with two identifiers, both of one sortable type, and the similarity.
    memory_limit, threads, folder
        As in `chunks_from_parquet`.

    Returns
    -------
    ndarray, shape (n,)
        The identifier of each number.

    Raises
    ------
    ModuleNotFoundError
        If duckdb or pyarrow is not installed.
    ValueError
        If a file is not a Parquet file, a column is missing, the two columns of identifiers have different types, or a
        row does not have two different identifiers and a similarity in [0, 1].
    OSError
        If there is no such file.

    See Also
    --------
    crowder.write_candidates : writes candidate pairs.
    crowder.chunks_from_parquet : reads them, sorted.

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
    i, j, w = _quoted_columns(columns)
    validation.path(path)
    partial = f"{_file_name(out, 'out')}.part"
    with open_database(memory_limit, threads, folder) as database:
        source = f"read_parquet({quoted_text(path)})"
        _check_types(database, source, columns, path, named=True)
        # The join below would silently drop such a row.
        invalid = f"{i} IS NULL OR {j} IS NULL OR {i} = {j} OR NOT coalesce({w} BETWEEN 0 AND 1, false)"
        invalid += f" OR isnan({w}::DOUBLE)"
        _check_rows(database, source, invalid, (i, j, w), path)
        database.execute(
            f"CREATE TABLE numbers AS SELECT id, row_number() OVER (ORDER BY id) - 1 AS number "
            f"FROM (SELECT {i} AS id FROM {source} UNION SELECT {j} FROM {source}) WHERE id IS NOT NULL"
        )
        try:
            written = database.execute(
                f"COPY (SELECT a.number::INTEGER AS i, b.number::INTEGER AS j, {w} AS similarity "
                f"FROM {source} AS pairs "
                f"JOIN numbers AS a ON a.id = pairs.{i} JOIN numbers AS b ON b.id = pairs.{j}) "
                f"TO {quoted_text(partial)} (FORMAT parquet)"
            ).fetchone()[0]
            rows = database.execute(f"SELECT count(*) FROM {source}").fetchone()[0]
            if written != rows:  # DuckDB has relied on wrong statistics
                raise ValueError(f"{path} is damaged: only {written} of its {rows} rows could be numbered")
            os.replace(partial, out)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(partial)
        named = database.execute("SELECT id FROM numbers ORDER BY number").fetchnumpy()["id"]
        return np.asarray(named)


def _file_name(path: Any, what: str) -> str:
    name = validation.path(path, what)
    if os.path.isdir(name):
        raise IsADirectoryError(f"{what} must be a file, but {name} is a folder")
    return name


def import_scale(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{module.partition('.')[0]} is missing: pip install 'crowder[scale]'", name=module
        ) from error


@contextmanager
def open_database(memory_limit: str, threads: int | None, folder: Any) -> Any:
    """DuckDB in memory, with a folder for temporary files, and without network access."""
    duckdb, _ = import_scale("duckdb"), import_scale("pyarrow")
    if folder is not None and not os.path.isdir(validation.path(folder, "folder")):
        raise FileNotFoundError(f"folder must exist, but {os.fspath(folder)} does not")
    with tempfile.TemporaryDirectory(prefix="crowder-", dir=folder) as temporary:
        config = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "memory_limit": memory_limit,
            "temp_directory": temporary,
            "preserve_insertion_order": False,
            "disabled_optimizers": USING_STATISTICS,
        }
        if threads is not None:
            config["threads"] = validation.whole(threads, "threads", least=1)
        try:
            with duckdb.connect(":memory:", config=config) as database:
                yield database
        except duckdb.Error as error:
            what = str(error).splitlines()[0]
            raise (OSError if isinstance(error, duckdb.IOException) else ValueError)(what) from None


def checked_pairs(database: Any, path: Any, columns: Sequence[str]) -> str:
    """A query for the pairs of a file, as columns i < j (INTEGER) and w (DOUBLE), after a check of all its rows.

    Raises
    ------
    ValueError
        If a column is missing or of another type, or a row is not a pair with a similarity in [0, 1].

    Examples
    --------
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, [0.5, 0.9, 0.1])
    3
    >>> with open_database("1GB", 1, None) as database:
    ...     database.sql(f"SELECT max(w) FROM ({checked_pairs(database, path, COLUMNS)})").fetchall()
    [(0.9,)]
    """
    i, j, w = _quoted_columns(columns)
    source = f"read_parquet({quoted_text(validation.path(path))})"
    _check_types(database, source, columns, path)
    # COALESCE makes NULL invalid. NaN needs its own test: DuckDB compares statistics with 1, which omit NaN.
    invalid = f"NOT coalesce({w} BETWEEN 0 AND 1 AND {i} >= 0 AND {j} >= 0 AND {i} <> {j}, false)"
    invalid += f" OR isnan({w}::DOUBLE) OR greatest({i}, {j}) >= {MOST_RECORDS}"
    _check_rows(database, source, invalid, (i, j, w), path)
    return f"SELECT least({i}, {j})::INTEGER AS i, greatest({i}, {j})::INTEGER AS j, {w}::DOUBLE AS w FROM {source}"


def _check_records(database: Any, pairs: str, n: int, path: Any) -> None:
    """Raise a ValueError if a pair has a record beyond the first n."""
    if (largest := database.execute(f"SELECT max(j) FROM ({pairs})").fetchall()[0][0] or 0) >= max(n, 1):
        raise ValueError(f"n, the number of records, must exceed the records of {path}, up to {largest}, not be {n}")


def tie_order(seed: int | None) -> str:
    """The order of equally similar pairs (i, j), INTEGER columns, in SQL: by a hash with the seed, or by (i, j).

    Raises
    ------
    ValueError
        If the seed does not fit into 63 bits.

    Examples
    --------
    >>> tie_order(None), tie_order(7)
    ('i, j', 'hash(i, j, 7::BIGINT), i, j')
    """
    if seed is not None and validation.whole(seed, "seed") >= 2**63:
        raise ValueError(f"seed must be below 2**63, not {seed}")
    return "i, j" if seed is None else f"hash(i, j, {int(seed)}::BIGINT), i, j"


def _quoted_columns(columns: Sequence[str]) -> list[str]:
    names = list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else []
    if len(names) != 3 or not all(isinstance(name, str) for name in names):
        raise ValueError(f"columns must be three names, of two records and their similarity, not {columns!r}")
    return [_quoted(name) for name in names]


def _check_rows(database: Any, source: str, invalid: str, columns: Sequence[str], path: Any) -> None:
    """Raise a ValueError if the condition `invalid` holds for a row."""
    if bad := database.execute(f"SELECT {', '.join(columns)} FROM {source} WHERE {invalid} LIMIT 1").fetchone():
        count = database.execute(f"SELECT count(*) FROM {source} WHERE {invalid}").fetchone()[0]
        raise ValueError(f"rows of {path} must be pairs with a similarity in [0, 1]; invalid: {count}, such as {bad}")


def _checked_columns(chunk: Any, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    i, j, w = chunk_columns(chunk, number)
    valid = (w >= 0) & (w <= 1) & (i >= 0) & (j >= 0) & (i != j) & (np.maximum(i, j) < MOST_RECORDS)
    if not valid.all():
        row = int(np.flatnonzero(~valid)[0])
        raise ValueError(
            f"chunk {number}, row {row} must be a pair with a similarity in [0, 1], not ({i[row]}, {j[row]}, {w[row]})"
        )
    return i, j, w


def _check_types(database: Any, source: str, columns: Sequence[str], path: Any, *, named: bool = False) -> None:
    """Raise a ValueError for columns that are missing or of another type; identifiers (`named`) may have any common
    type."""
    found = {name: kind for name, kind, *_ in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    for name in columns:
        if name not in found:
            raise ValueError(f"columns must be in {path}, which has {', '.join(found)}, not {name!r}")
    if named and found[columns[0]] != found[columns[1]]:
        raise ValueError(f"columns {columns[0]!r} and {columns[1]!r} must have the same type, not "
                         f"{found[columns[0]]} and {found[columns[1]]}")  # fmt: skip
    for name in columns[:2] if not named else ():
        if not found[name].endswith(("INT", "INTEGER")):
            raise ValueError(f"column {name!r} must hold integers, not {found[name]}; use number_records first")
    kind = found[columns[2]]
    if kind.endswith("]") or not (kind.startswith(("DOUBLE", "FLOAT", "DECIMAL")) or kind.endswith(("INT", "INTEGER"))):
        raise ValueError(f"column {columns[2]!r} must hold numbers, not {found[columns[2]]}")


def _chunks_of(similarity: Any) -> Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    values, codes = candidates(similarity).listed()
    for at in range(0, len(values), CHUNK):
        part = codes[at : at + CHUNK]
        yield part >> 32, part & MOST_RECORDS, values[at : at + CHUNK]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def quoted_text(path: Any) -> str:
    return "'" + os.fspath(path).replace("'", "''") + "'"
