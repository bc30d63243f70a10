r"""A sweep of very many settings: in batches, kept on disk, resumed where it stopped; how long it will take.

Each task of `crowder.trials.experiments.sweep` is one repetition. Handing a task to a worker costs a millisecond or
several, so short ones go by the batch: a task is a number of points of the grid, and leaves one file. Who chooses
the batch weighs the handing over of many small ones against the waiting for the last large one (`best_batch`).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import sparse

from crowder import checked
from crowder.trials.experiments import named, points_of, runnable

__all__ = ["best_batch", "sweep_in_batches", "time_bound", "time_needed"]

_POINT = "grid point"  # the column that a file has and the table has not


def sweep_in_batches(
    function: Callable, grid: Iterable[Mapping], repetitions: int, *, rng: int, folder, batch: int, n_jobs: int = 1,
    **settings,
) -> pd.DataFrame:  # fmt: skip
    """As `crowder.trials.experiments.sweep`, with the same results; a batch of grid points is one task and one file.

    Parameters
    ----------
    function : callable
        Takes the settings and a keyword ``rng``; returns a mapping of named numbers. Importable if `n_jobs` is not 1.
    grid : iterable of mapping
        The settings that differ from point to point.
    repetitions : int
        Of each point, at least 1.
    rng : int, keyword only
        A seed, so that a sweep that was stopped goes on with the generators it had.
    folder : path, keyword only
        Where ``batch-00000.csv``, ... are. All workers must see it.
    batch : int, keyword only
        Points in a task; see `best_batch`. It changes no result.
    n_jobs : int, keyword only
        Processes, as in joblib. Under ``joblib.parallel_config(backend="dask")`` the cluster's workers.
    **settings
        Passed on.

    Returns
    -------
    pandas.DataFrame
        What `sweep` returns: a row a call, with the settings of the grid, ``repetition``, and the results.

    Raises
    ------
    ValueError
        If `batch` or `repetitions` is less than 1, the folder holds another sweep (other settings, seed or batch), or
        a file of it is damaged.

    Notes
    -----
    A file appears under its name when it is complete, so a run may be killed at any time; the same call does what is
    missing. Memory beside the function's own: a generator a point, and the table at the end.

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
    checked.whole(batch, "batch", least=1)
    checked.whole(repetitions, "repetitions", least=1)
    checked.whole(rng, "rng, the seed,")
    checked.whole(n_jobs, "n_jobs, the number of processes,", least=-(2**31))
    runnable(function)
    grid, folder = points_of(grid), Path(checked.path(folder, "folder"))
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
        _whole(path, range(at * batch, min((at + 1) * batch, len(grid))), repetitions) for at, path in enumerate(files)
    ]
    for path, table in zip(files, tables, strict=True):
        if list(table) != list(tables[0]):
            raise ValueError(f"{path} has other columns than {files[0]}; remove the wrong one, and run this again")
    results = pd.concat(tables, ignore_index=True)
    points = pd.DataFrame([grid[point] for point in results.pop(_POINT)])
    return pd.concat([points, results], axis=1)


def time_needed(configurations: int, seconds: float, *, overhead: float, batch: int, workers: int) -> float:
    r"""How long a sweep of equal configurations takes, in seconds.

    .. math:: \Bigl\lceil \frac{\lceil N / b \rceil}{W} \Bigr\rceil (b s + o)

    Parameters
    ----------
    configurations : int
        N.
    seconds : float
        s, of one configuration.
    overhead : float, keyword only
        o, of handing over one batch and writing its file.
    batch, workers : int, keyword only
        b and W.

    Notes
    -----
    The last batch counts in full. Not in the paper; see the chapter "How cost grows".

    Examples
    --------
    >>> time_needed(1000, 0.5, overhead=1.0, batch=10, workers=4)  # 100 batches, 25 for each worker
    150.0
    """
    _positive(configurations=configurations, seconds=seconds, overhead=overhead, batch=batch, workers=workers)
    return math.ceil(math.ceil(configurations / batch) / workers) * (batch * seconds + overhead)


def best_batch(configurations: int, seconds: float, *, overhead: float, workers: int) -> int:
    r"""The batch with the least bound on the time, :math:`\sqrt{N o / (W s)}`, in whole numbers and at least 1.

    Parameters as for `time_needed`; the bound is `time_bound`.

    Examples
    --------
    >>> best_batch(10_000, 0.5, overhead=0.02, workers=4)
    10
    """
    _positive(configurations=configurations, seconds=seconds, overhead=overhead, workers=workers)
    return max(1, round(math.sqrt(configurations * overhead / (workers * seconds))))


def time_bound(configurations: int, seconds: float, *, overhead: float, workers: int) -> float:
    r"""What the time stays under with the best batch, if it need not be whole: :math:`(\sqrt{N s / W} + \sqrt o)^2`.

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
        checked.kind(number, Real, f"{name} must be a number")
        if not (number >= 0 if name in ("configurations", "overhead") else number > 0):
            raise ValueError(f"{name} must be positive, not {number!r}")


def _run(function, start, points, parents, repetitions, settings, path) -> None:
    """One task: a batch of points, and its file, under another name until it is whole."""
    rows = []
    for place, (point, parent) in enumerate(zip(points, parents, strict=True)):
        # As `repeat` does, without joblib: inside a task of a cluster that would go back to the cluster.
        for r, child in enumerate(parent.spawn(repetitions)):
            result = named(function(**settings, **point, rng=child), {**point, _POINT: start + place})
            rows.append({_POINT: start + place, "repetition": r, **result})
    temporary = path.with_suffix(f".{os.getpid()}.part")
    try:
        pd.DataFrame(rows).to_csv(temporary, index=False, na_rep="nan", lineterminator="\n")
        temporary.replace(path)
    except OSError:  # a full disk, say
        temporary.unlink(missing_ok=True)
        raise


def _whole(path: Path, points: range, repetitions: int) -> pd.DataFrame:
    """The rows of a file, if they are all there: nothing may have cut, edited or swapped it since it was written."""
    wanted = [(point, r) for point in points for r in range(repetitions)]
    try:
        if not path.read_bytes().endswith(b"\n"):
            raise ValueError("its last line is cut")
        table = pd.read_csv(path, keep_default_na=False, na_values=["nan"])
        if list(zip(table[_POINT], table["repetition"], strict=True)) != wanted:
            raise ValueError(f"it should have {repetitions} of each of the points {points.start} to {points.stop - 1}")
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path} is damaged ({error}); remove it, and the same call does its points again") from None
    return table


def _key(function, grid, repetitions, rng, batch, settings) -> dict:
    """What makes a sweep this one; the settings as a digest."""
    text = _told([settings, *grid])
    return {
        "function": f"{function.__module__}.{function.__qualname__}", "points": len(grid), "repetitions": repetitions,
        "seed": int(rng), "batch": batch, "settings": hashlib.sha256(text.encode()).hexdigest(),
    }  # fmt: skip


def _told(value) -> str:
    """A setting as text that differs where the setting does: of what prints in part, or rounded, a digest."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{_told(key)}: {_told(one)}' for key, one in value.items()))}}}"
    if type(value) in (list, tuple):
        return f"{type(value).__name__}({', '.join(map(_told, value))})"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, np.ndarray):
        return f"array {value.shape} {_told(value.tolist())}"
    if sparse.issparse(value):
        entries = value.tocoo()
        return f"sparse {value.shape} {_told([entries.row, entries.col, entries.data])}"
    if isinstance(value, (pd.Series, pd.Index)):
        value = value.to_frame()
    if isinstance(value, pd.DataFrame):
        columns = [value.iloc[:, place].to_numpy() for place in range(value.shape[1])]
        return f"table {_told([list(value.columns), value.index.to_numpy(), columns])}"
    return repr(value)


def _claim(folder: Path, key: dict) -> None:
    """Mark the folder as this sweep's, or refuse it. Of two sweeps that begin together, one is refused."""
    folder.mkdir(parents=True, exist_ok=True)
    mark = folder / "sweep.json"
    if not mark.exists():
        temporary = folder / f"sweep.{os.getpid()}.part"
        temporary.write_text(json.dumps(key, indent=2) + "\n", encoding="utf-8")
        try:
            os.link(temporary, mark)  # unlike a move, never over what another sweep has written meanwhile
        except FileExistsError:
            pass
        except OSError:  # a disk that knows no links
            temporary.replace(mark)
        temporary.unlink(missing_ok=True)
    try:
        found = dict(json.loads(mark.read_text(encoding="utf-8")))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{mark} does not say which sweep the folder holds: {error}") from None
    if found != key:
        odd = ", ".join(sorted(name for name in key if found.get(name) != key[name]))
        raise ValueError(f"{folder} holds another sweep: {odd} differ")
