r"""A sweep over very many settings: in batches stored on disk, resumable, with an estimate of the time needed.

Each task of `crowder.experiments.sweep` is one repetition. Handing a task to a worker costs several milliseconds, so
short ones are batched: a task is a number of points of the grid, and writes one file. The best batch size balances the
overhead of many small batches against the wait for the last large one (`best_batch_size`).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import sparse

from crowder import validation
from crowder.experiments import check_callable, checked_result, grid_points

__all__ = ["best_batch_size", "sweep_in_batches", "time_bound", "time_needed"]

_POINT = "grid point"  # a column of the files, but not of the table


def sweep_in_batches(
    function: Callable,
    grid: Iterable[Mapping],
    repetitions: int,
    *,
    rng: int,
    folder: Any,
    batch: int,
    n_jobs: int = 1,
    **settings: Any,
) -> pd.DataFrame:
    """`crowder.experiments.sweep` with the same results, but each task is a batch of grid points with one file.

    Parameters
    ----------
    function : callable
        Takes the settings and a keyword ``rng``; returns a mapping of named numbers. It must be importable if `n_jobs`
        is not 1.
    grid : iterable of mapping
        The settings that differ from point to point.
    repetitions : int
        Number of repetitions of each point, at least 1.
    rng : int, keyword only
        A seed, so that a sweep that was interrupted continues with the same generators.
    folder : path, keyword only
        The folder of ``batch-00000.csv``, .... All workers must have access to it.
    batch : int, keyword only
        Number of points in a task; see `best_batch_size`. It does not affect the results.
    n_jobs : int, keyword only
        Number of processes, as in joblib. With ``joblib.parallel_config(backend="dask")`` the cluster's workers run
        the tasks.
    **settings
        Passed on to the function.

    Returns
    -------
    pandas.DataFrame
        As from `sweep`: one row for each call, with the settings of the grid, ``repetition``, and the results.

    Raises
    ------
    ValueError
        If `batch` or `repetitions` is less than 1, the folder holds another sweep (other settings, seed or batch), or
        a file of it is damaged.

    Notes
    -----
    A file appears under its name only when it is complete, so a run may be killed at any time; the same call then
    computes what is missing. Besides the memory of the function, this needs a generator for each point, and the table.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> def draw(rng, scale): return {"x": scale * int(rng.integers(10))}
    >>> sweep_in_batches(draw, [{"scale": 1}, {"scale": 100}], 2, rng=7, folder=mkdtemp(), batch=1)
       scale  repetition    x
    0      1           0    8
    1      1           1    6
    2    100           0  600
    3    100           1  700
    """
    validation.whole(batch, "batch", least=1)
    validation.whole(repetitions, "repetitions", least=1)
    validation.whole(rng, "rng, the seed,")
    validation.whole(n_jobs, "n_jobs, the number of processes,", least=-(2**31))
    check_callable(function)
    # Absolute, because another process may be in another folder.
    grid, folder = grid_points(grid), Path(validation.path(folder, "folder")).absolute()
    _claim(folder, _key(function, grid, repetitions, rng, batch, settings))
    parents = np.random.default_rng(rng).spawn(len(grid))
    files = [folder / f"batch-{number:05d}.csv" for number in range(math.ceil(len(grid) / batch))]
    Parallel(n_jobs=n_jobs)(
        delayed(_run)(function, at * batch, grid[at * batch : (at + 1) * batch],
                      parents[at * batch : (at + 1) * batch], repetitions, settings, path)
        for at, path in enumerate(files) if not path.exists())  # fmt: skip
    if not files:
        return pd.DataFrame()
    tables = [
        _read(path, range(at * batch, min((at + 1) * batch, len(grid))), repetitions) for at, path in enumerate(files)
    ]
    for path, table in zip(files, tables, strict=True):
        if list(table) != list(tables[0]):
            raise ValueError(f"{path} has other columns than {files[0]}; remove the wrong file and run the sweep again")
    results = pd.concat(tables, ignore_index=True)
    points = pd.DataFrame([grid[point] for point in results.pop(_POINT)])
    return pd.concat([points, results], axis=1)


def time_needed(configurations: int, seconds: float, *, overhead: float, batch: int, workers: int) -> float:
    r"""The time that a sweep of equally long configurations takes, in seconds.

    .. math:: \Bigl\lceil \frac{\lceil N / b \rceil}{W} \Bigr\rceil (b s + o)

    Parameters
    ----------
    configurations : int
        Their number N.
    seconds : float
        Time s for one configuration.
    overhead : float, keyword only
        Time o for sending one batch to a worker and writing its file.
    batch, workers : int, keyword only
        Batch size b and number of workers W.

    Notes
    -----
    The last batch is counted as a full one. Not in the paper; see the chapter "How cost grows".

    Examples
    --------
    >>> time_needed(1000, 0.5, overhead=1.0, batch=10, workers=4)  # 100 batches, 25 for each worker
    150.0
    """
    _positive(configurations=configurations, seconds=seconds, overhead=overhead, batch=batch, workers=workers)
    return math.ceil(math.ceil(configurations / batch) / workers) * (batch * seconds + overhead)


def best_batch_size(configurations: int, seconds: float, *, overhead: float, workers: int) -> int:
    r"""The batch size that minimises `time_bound`, :math:`\sqrt{N o / (W s)}`, rounded and at least 1.

    Parameters as for `time_needed`.

    Examples
    --------
    >>> best_batch_size(10_000, 0.5, overhead=0.02, workers=4)
    10
    """
    _positive(configurations=configurations, seconds=seconds, overhead=overhead, workers=workers)
    return max(1, round(math.sqrt(configurations * overhead / (workers * seconds))))


def time_bound(configurations: int, seconds: float, *, overhead: float, workers: int) -> float:
    r"""An upper bound on the time with the best batch size before rounding: :math:`(\sqrt{N s / W} + \sqrt o)^2`.

    Parameters as for `time_needed`.

    Examples
    --------
    >>> round(time_bound(10_000, 0.5, overhead=0.02, workers=4), 2)
    1260.02
    """
    _positive(configurations=configurations, seconds=seconds, overhead=overhead, workers=workers)
    return (math.sqrt(configurations * seconds / workers) + math.sqrt(overhead)) ** 2


def _positive(**numbers: float) -> None:
    for name, number in numbers.items():
        validation.kind(number, Real, f"{name} must be a number")
        if name in ("configurations", "overhead") and not number >= 0:
            raise ValueError(f"{name} must be 0 or more, not {number!r}")
        if name not in ("configurations", "overhead") and not number > 0:
            raise ValueError(f"{name} must be positive, not {number!r}")


def _run(
    function: Callable[..., Any], start: Any, points: Any, parents: Any, repetitions: Any, settings: Any, path: Any
) -> None:
    """One task: a batch of points, and its file, under a temporary name until it is complete."""
    rows = []
    for place, (point, parent) in enumerate(zip(points, parents, strict=True)):
        # As `repeat`, but without joblib, which inside a task of a cluster would use the cluster again.
        for r, child in enumerate(parent.spawn(repetitions)):
            result = checked_result(function(**settings, **point, rng=child), {**point, _POINT: start + place})
            rows.append({_POINT: start + place, "repetition": r, **result})
    temporary = path.with_suffix(f".{os.getpid()}.part")
    try:
        pd.DataFrame(rows).to_csv(temporary, index=False, na_rep="nan", lineterminator="\n")
        temporary.replace(path)
    except OSError:  # a full disk, say
        temporary.unlink(missing_ok=True)
        raise


def _read(path: Path, points: range, repetitions: int) -> pd.DataFrame:
    """The rows of a file, checked to be complete: not truncated, edited or replaced since it was written."""
    wanted = [(point, r) for point in points for r in range(repetitions)]
    try:
        if not path.read_bytes().endswith(b"\n"):
            raise ValueError("its last line is incomplete")
        table = pd.read_csv(path, keep_default_na=False, na_values=["nan"])
        if list(zip(table[_POINT], table["repetition"], strict=True)) != wanted:
            raise ValueError(f"it must have {repetitions} rows for each of points {points.start} to {points.stop - 1}")
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path} is damaged ({error}); remove it and run the sweep again") from None
    return table


def _key(function: Callable[..., Any], grid: Any, repetitions: Any, rng: Any, batch: Any, settings: Any) -> dict:
    """The identity of a sweep, with the settings as a digest."""
    text = _as_text([settings, *grid])
    return {
        "function": f"{function.__module__}.{function.__qualname__}", "points": len(grid), "repetitions": repetitions,
        "seed": int(rng), "batch": batch, "settings": hashlib.sha256(text.encode()).hexdigest(),
    }  # fmt: skip


def _as_text(value: Any) -> str:
    """A setting as text that identifies it; values that print abbreviated or rounded are replaced by a digest."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{_as_text(key)}: {_as_text(one)}' for key, one in value.items()))}}}"
    if type(value) in (list, tuple):
        return f"{type(value).__name__}({', '.join(map(_as_text, value))})"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {_as_text(value.tolist())}"
    if sparse.issparse(value):
        entries = value.tocoo()
        return f"sparse {value.shape} {_as_text([entries.row, entries.col, entries.data])}"
    if isinstance(value, (pd.Series, pd.Index)):
        value = value.to_frame()
    if isinstance(value, pd.DataFrame):
        columns = [value.iloc[:, place].to_numpy() for place in range(value.shape[1])]
        return f"table {_as_text([list(value.columns), value.index.to_numpy(), columns])}"
    return repr(value)


def _claim(folder: Path, key: dict) -> None:
    """Mark the folder as this sweep's, or raise an error. If two sweeps start together, one gets the error."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / "sweep.json"
    if not mark.exists():
        temporary = folder / f"sweep.{os.getpid()}.part"
        temporary.write_text(json.dumps(key, indent=2) + "\n", encoding="utf-8")
        try:
            os.link(temporary, mark)  # unlike a move, never overwrites the file of another sweep
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            temporary.replace(mark)
        temporary.unlink(missing_ok=True)
    try:
        found = dict(json.loads(mark.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{mark} must identify the sweep in its folder, but cannot be read: {error}") from None
    if found != key:
        different = ", ".join(sorted(name for name in key if found.get(name) != key[name]))
        raise ValueError(f"folder {folder} holds another sweep (different: {different})")
