"""Candidate pairs in Parquet files: written, and read back by falling similarity, sorted by DuckDB outside memory.

Needs duckdb and pyarrow, ``pip install crowder[scale]``; the rest of crowder does not.
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
from crowder.pairs import MOST_RECORDS, candidates

__all__ = ["chunks_from_parquet", "number_records", "write_candidates"]

#: Names of the columns.
COLUMNS = ("i", "j", "similarity")

#: What DuckDB would do with a file's statistics. They may be wrong, and then a damaged number, say 257, came out as 1.
BELIEVING = "statistics_propagation,compressed_materialization"

#: Pairs in a chunk.
CHUNK = 1 << 20


def write_candidates(path: str | os.PathLike[str], pairs: ArrayLike) -> int:
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
    ValueError, TypeError
        If a similarity is none, or a chunk is no pairs of records; the chunk and the row are told, from 0. The file is
        as it was then.

    Examples
    --------
    >>> path = os.path.join(tempfile.mkdtemp(), "pairs.parquet")
    >>> write_candidates(path, [0.5, 0.9, 0.1])
    3
    """
    arrow, writer_of = _scale("pyarrow"), _scale("pyarrow.parquet").ParquetWriter
    schema = arrow.schema(list(zip(COLUMNS, (arrow.int32(), arrow.int32(), arrow.float64()), strict=True)))
    written, partial = 0, f"{_no_folder(path)}.part"
    try:
        with writer_of(partial, schema) as writer:
            for number, chunk in enumerate(pairs if isinstance(pairs, Iterator) else _cut(pairs)):
                columns = _checked(chunk, number)
                arrays = [arrow.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
                writer.write_table(arrow.table(arrays, schema=schema), row_group_size=CHUNK)
                written += len(arrays[0])
        # In one move, when it is whole: pairs that are missing from a file would look like pairs that are none.
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
        If a file is no Parquet file, a column is missing or of another type, or a row is no pair of two records with a
        similarity in [0, 1]. Raised before the first chunk, for the whole file is looked through first.
    OSError
        If there is no such file.

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
    validation.path(path)
    validation.whole(chunk, "chunk, the pairs in one,", least=1)
    if seed is not None and validation.whole(seed, "seed") >= 2**63:
        raise ValueError(f"seed must be below 2**63, not {seed}")
    i, j, w = _three(columns)
    with _database(memory_limit, threads, folder) as database:
        source = f"read_parquet({_literal(path)})"
        _check_types(database, source, columns, path)
        # COALESCE makes a NULL a fault. NaN is asked for by name: a file's statistics leave it out, and DuckDB believes
        # them when it looks for values above 1.
        fault = f"NOT coalesce({w} BETWEEN 0 AND 1 AND {i} >= 0 AND {j} >= 0 AND {i} <> {j}, false)"
        fault += f" OR isnan({w}::DOUBLE) OR greatest({i}, {j}) >= {MOST_RECORDS}"
        _refuse(database, source, fault, (i, j, w), path)
        ties = "i, j" if seed is None else f"hash(i, j, {int(seed)}::BIGINT), i, j"
        reader = database.sql(
            f"SELECT * FROM (SELECT least({i}, {j})::INTEGER AS i, greatest({i}, {j})::INTEGER AS j, {w}::DOUBLE AS w "
            f"FROM {source}) ORDER BY w DESC, {ties}"
        ).to_arrow_reader(chunk)
        last = 1.0
        for batch in reader:
            i, j, w = (column.to_numpy(zero_copy_only=False) for column in batch.columns)
            # Looked at once more, should DuckDB believe wrong statistics in yet another way.
            if len(w) and not (((0 <= i) & (i < j) & (w >= 0)).all() and w[0] <= last and (np.diff(w) <= 0).all()):
                raise ValueError(f"{path} is damaged: its statistics are not those of its pairs")
            last = w[-1] if len(w) else last
            yield i, j, w


def number_records(
    path: str | os.PathLike[str],
    out: Any,
    *,
    columns: Sequence[str] = COLUMNS,
    memory_limit: str = "1GB",
    threads: int | None = None,
    folder: Any = None,
) -> np.ndarray:
    """Write the pairs of Parquet files anew with records numbered 0, 1, ... in sorted order of their identifiers.

    Parameters
    ----------
    path, out : str or path
        What is read, and what is written, in one move, when it is whole.
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
    ValueError
        If a file is no Parquet file, a column is missing, the two columns of identifiers are of different types, or a
        row lacks one, has one twice, or has no similarity in [0, 1].
    OSError
        If there is no such file.

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
    i, j, w = _three(columns)
    validation.path(path)
    partial = f"{_no_folder(validation.path(out, 'out'))}.part"
    with _database(memory_limit, threads, folder) as database:
        source = f"read_parquet({_literal(path)})"
        _check_types(database, source, columns, path, named=True)
        # The join below would drop such a row without a word.
        fault = f"{i} IS NULL OR {j} IS NULL OR {i} = {j} OR NOT coalesce({w} BETWEEN 0 AND 1, false)"
        fault += f" OR isnan({w}::DOUBLE)"
        _refuse(database, source, fault, (i, j, w), path)
        database.execute(
            f"CREATE TABLE numbers AS SELECT id, row_number() OVER (ORDER BY id) - 1 AS number "
            f"FROM (SELECT {i} AS id FROM {source} UNION SELECT {j} FROM {source}) WHERE id IS NOT NULL"
        )
        try:
            written = database.execute(
                f"COPY (SELECT a.number::INTEGER AS i, b.number::INTEGER AS j, {w} AS similarity "
                f"FROM {source} AS pairs "
                f"JOIN numbers AS a ON a.id = pairs.{i} JOIN numbers AS b ON b.id = pairs.{j}) "
                f"TO {_literal(partial)} (FORMAT parquet)"
            ).fetchone()[0]
            rows = database.execute(f"SELECT count(*) FROM {source}").fetchone()[0]
            if written != rows:  # DuckDB plans by a file's statistics, and a damaged file has wrong ones
                raise ValueError(f"{path} is damaged: of its {rows} rows {written} could be numbered")
            os.replace(partial, out)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(partial)
        named = database.execute("SELECT id FROM numbers ORDER BY number").fetchnumpy()["id"]
        return np.asarray(named)


def _no_folder(path: Any) -> str:
    if os.path.isdir(validation.path(path)):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; name a file")
    return os.fspath(path)


def _scale(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"candidate pairs in Parquet need {module.partition('.')[0]}: pip install crowder[scale]", name=module
        ) from error


@contextmanager
def _database(memory_limit: str, threads: int | None, folder: Any) -> Any:
    """DuckDB in memory, with a folder for what does not fit, and no network."""
    duckdb, _ = _scale("duckdb"), _scale("pyarrow")
    if folder is not None and not os.path.isdir(validation.path(folder, "folder")):
        raise FileNotFoundError(f"folder {os.fspath(folder)} is not there")
    with tempfile.TemporaryDirectory(prefix="crowder-", dir=folder) as spill:
        config = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "memory_limit": memory_limit,
            "temp_directory": spill,
            "preserve_insertion_order": False,
            "disabled_optimizers": BELIEVING,
        }
        if threads is not None:
            config["threads"] = validation.whole(threads, "threads", least=1)
        try:
            with duckdb.connect(":memory:", config=config) as database:
                yield database
        except duckdb.Error as error:
            what = str(error).splitlines()[0]
            raise (OSError if isinstance(error, duckdb.IOException) else ValueError)(what) from None


def _three(columns: Sequence[str]) -> list[str]:
    """The names of the three columns, quoted."""
    names = list(columns) if isinstance(columns, Iterable) and not isinstance(columns, str) else []
    if len(names) != 3 or not all(isinstance(name, str) for name in names):
        raise ValueError(f"columns must name three, of two records and their similarity, not {columns!r}")
    return [_quoted(name) for name in names]


def _refuse(database: Any, source: str, fault: str, columns: Sequence[str], path: Any) -> None:
    """A ValueError if there is a row with this fault, which shows one and counts them."""
    if bad := database.execute(f"SELECT {', '.join(columns)} FROM {source} WHERE {fault} LIMIT 1").fetchone():
        count = database.execute(f"SELECT count(*) FROM {source} WHERE {fault}").fetchone()[0]
        raise ValueError(f"{count} rows of {path} are no pair with a similarity in [0, 1], as {bad}")


def _checked(chunk: Any, number: int) -> list[np.ndarray]:
    """The three columns of a chunk, if they are pairs of records with similarities."""
    try:
        i, j, w = (np.asarray(column) for column in chunk)
    except (TypeError, ValueError) as error:
        raise TypeError(f"chunk {number} is no triple of arrays (i, j, w): {error}") from None
    if i.ndim != 1 or not i.shape == j.shape == w.shape:
        raise ValueError(f"chunk {number} has i, j and w of shapes {i.shape}, {j.shape} and {w.shape}")
    if len(i) and (i.dtype.kind not in "iu" or j.dtype.kind not in "iu" or w.dtype.kind not in "fiub"):
        raise TypeError(
            f"chunk {number} needs integer records and real similarities, not {i.dtype}, {j.dtype}, {w.dtype}"
        )
    sound = (w >= 0) & (w <= 1) & (i >= 0) & (j >= 0) & (i != j) & (np.maximum(i, j) < MOST_RECORDS)
    if not sound.all():
        row = int(np.flatnonzero(~sound)[0])
        raise ValueError(
            f"chunk {number}, row {row}: ({i[row]}, {j[row]}, {w[row]}) is no pair with a similarity in [0, 1]"
        )
    return [i, j, w]


def _check_types(database: Any, source: str, columns: Sequence[str], path: Any, *, named: bool = False) -> None:
    """Refuse columns that are absent or of another type; identifiers that are `named` may be of any, but of one."""
    found = {name: kind for name, kind, *_ in database.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    for name in columns:
        if name not in found:
            raise ValueError(f"there is no column {name!r} in {path}; there are {', '.join(found)}")
    if named and found[columns[0]] != found[columns[1]]:
        raise ValueError(f"columns {columns[0]!r} and {columns[1]!r} must be of one type, not "
                         f"{found[columns[0]]} and {found[columns[1]]}")  # fmt: skip
    for name in columns[:2] if not named else ():
        if not found[name].endswith(("INT", "INTEGER")):
            raise ValueError(f"column {name!r} must hold integers, not {found[name]}; number_records makes them")
    kind = found[columns[2]]
    if kind.endswith("]") or not (kind.startswith(("DOUBLE", "FLOAT", "DECIMAL")) or kind.endswith(("INT", "INTEGER"))):
        raise ValueError(f"column {columns[2]!r} must hold numbers, not {found[columns[2]]}")


def _cut(similarity: Any) -> Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    values, codes = candidates(similarity).listed()
    for at in range(0, len(values), CHUNK):
        part = codes[at : at + CHUNK]
        yield part >> 32, part & MOST_RECORDS, values[at : at + CHUNK]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(path: Any) -> str:
    return "'" + os.fspath(path).replace("'", "''") + "'"
