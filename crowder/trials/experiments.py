"""Repeat an experiment under independent seeds, over a grid of settings, and summarise what came out.

Repetitions go through joblib: results are the same whatever the number of processes, and the same call inside
``joblib.parallel_config(backend=...)`` runs on another backend.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats

from crowder import checked
from crowder.asking.oracles import Truth
from crowder.asking.orderings import edge_ordering, node_ordering
from crowder.data.datasets import synthetic
from crowder.model.models import SimilarityModel

__all__ = ["count_questions", "mean_interval", "repeat", "summarise", "sweep"]


def repeat(function: Callable, repetitions: int, *, rng, n_jobs: int = 1, **settings) -> list:
    """Call ``function(**settings, rng=...)`` repeatedly, each time with a generator of its own.

    Parameters
    ----------
    function : callable
        Takes a keyword ``rng``; must be importable if `n_jobs` is not 1.
    repetitions : int
        At least 1.
    rng : int or numpy.random.Generator, keyword only
        Parent of the repetitions' generators, which are independent of each other and of `n_jobs`.
    n_jobs : int, keyword only
        Processes, as in joblib; -1 means one a core.
    **settings
        Passed on.

    Returns
    -------
    list
        What each call returned, in order.

    Raises
    ------
    ValueError
        If `repetitions` is less than 1.

    Examples
    --------
    >>> repeat(lambda rng: int(rng.integers(100)), 3, rng=7)
    [30, 68, 39]
    """
    checked.whole(repetitions, "repetitions", least=1)
    checked.whole(n_jobs, "n_jobs, the number of processes,", least=-(2**31))
    runnable(function)
    children = checked.generator(rng, "repetitions").spawn(repetitions)
    return Parallel(n_jobs=n_jobs)(delayed(function)(**settings, rng=child) for child in children)


def sweep(
    function: Callable, grid: Iterable[Mapping], repetitions: int, *, rng, n_jobs: int = 1, **settings
) -> pd.DataFrame:
    """Repeat a function at every point of a grid.

    Parameters
    ----------
    function : callable
        As for `repeat`; returns a mapping of named results.
    grid : iterable of mapping
        The settings that differ from point to point.
    repetitions, rng, n_jobs, **settings
        As for `repeat`, which runs at each point with a generator of its own.

    Returns
    -------
    pandas.DataFrame
        A row a call: the settings of the grid, ``repetition`` (0, 1, ...), and the named results.

    Examples
    --------
    >>> def draw(rng, scale): return {"x": scale * int(rng.integers(10))}
    >>> sweep(draw, [{"scale": 1}, {"scale": 100}], 2, rng=7)
       scale  repetition    x
    0      1           0    8
    1      1           1    6
    2    100           0  600
    3    100           1  700
    """
    grid, rows = points_of(grid), []
    for point, parent in zip(grid, checked.generator(rng, "repetitions").spawn(len(grid)), strict=True):
        results = repeat(function, repetitions, rng=parent, n_jobs=n_jobs, **settings, **point)
        rows += [{**point, "repetition": r, **named(result, point)} for r, result in enumerate(results)]
    return pd.DataFrame(rows)


def runnable(function) -> None:
    """Refuse what cannot be called.

    Examples
    --------
    >>> runnable(len)
    """
    if not callable(function):
        raise TypeError(f"function must take a keyword rng, and be one; {function!r} is none")


def points_of(grid: Iterable[Mapping]) -> list[Mapping]:
    """The points of a grid, each of them settings by name.

    Raises
    ------
    TypeError
        If one of them is no mapping.
    ValueError
        If a setting is called "repetition", as a column of the results is.

    Examples
    --------
    >>> points_of({"scale": s} for s in (1, 100))
    [{'scale': 1}, {'scale': 100}]
    """
    if not isinstance(grid, Iterable):
        raise TypeError(f"a grid is a list of settings by name, such as [{{'scale': 1}}], not {grid!r}")
    grid = list(grid)
    for point in grid:
        if not isinstance(point, Mapping):
            raise TypeError(f"a grid is of settings by name, such as {{'scale': 1}}; {point!r} is none")
        if "repetition" in point:
            raise ValueError("a setting is called 'repetition', as the column that counts them is")
    return grid


def named(result, point: Mapping) -> Mapping:
    """What a call returned, if it is a mapping of names that the settings have not taken.

    Raises
    ------
    TypeError, ValueError
        If it is not.

    Examples
    --------
    >>> named({"x": 1}, {"scale": 2})
    {'x': 1}
    """
    if not isinstance(result, Mapping):
        raise TypeError(f"the function must return results by name, not {result!r}")
    for name in result:
        if name in point or name == "repetition":
            raise ValueError(f"a result is called {name!r}, as a setting is")
    return result


def summarise(results: pd.DataFrame, by: list[str], value: str, *, confidence: float = 0.95) -> pd.DataFrame:
    """Mean, spread and confidence interval of one result for each setting.

    Parameters
    ----------
    results : pandas.DataFrame
        A row a repetition, as `sweep` returns.
    by : list of str
        Columns that name the setting; their order of first appearance is kept.
    value : str
        Column to summarise.
    confidence : float, keyword only
        Of Student's t interval for the mean.

    Returns
    -------
    pandas.DataFrame
        Columns `by`, ``n``, ``mean``, ``sd`` (of one repetition), ``low`` and ``high`` (of the mean).

    Examples
    --------
    >>> frame = pd.DataFrame({"row": ["a", "a", "a"], "x": [1.0, 2.0, 3.0]})
    >>> summarise(frame, ["row"], "x").round(2)
      row  n  mean   sd   low  high
    0   a  3   2.0  1.0 -0.48  4.48
    """
    checked.kind(results, pd.DataFrame, "results must be a DataFrame")
    by = [by] if isinstance(by, str) else list(checked.kind(by, Iterable, "by must be a list of columns"))
    for name in (*by, value):
        checked.kind(name, Hashable, "a column is known by its name")
        if name not in results:
            raise ValueError(f"there is no column {name!r}; there are {', '.join(map(repr, results))}")
    rows = []
    # A setting may be None, such as the rule for ties where there are none: without dropna its rows would be lost.
    for setting, group in results.groupby(by, sort=False, dropna=False, observed=True):
        mean, low, high = mean_interval(group[value], confidence=confidence)
        spread = float(np.std(group[value].to_numpy(np.float64), ddof=1)) if len(group) > 1 else float("nan")
        rows.append({**dict(zip(by, setting, strict=True)), "n": len(group), "mean": mean, "sd": spread})
        rows[-1] |= {"low": low, "high": high}
    return pd.DataFrame(rows)


def mean_interval(values, *, confidence: float = 0.95) -> tuple[float, float, float]:
    """The mean of independent values, and Student's t interval for it (NaN from a single value).

    Examples
    --------
    >>> mean_interval([3, 3, 3])
    (3.0, 3.0, 3.0)
    """
    values = checked.numbers(values, "values")
    if values.ndim != 1:
        raise ValueError(f"values must be in a row, one a run; their shape is {values.shape}")
    if not len(values):
        raise ValueError("there is no value to take the mean of")
    if not 0 < checked.probability(confidence, "confidence") < 1:
        raise ValueError(f"confidence must be in (0, 1), not {confidence!r}")
    mean = float(values.mean())
    if len(values) < 2:
        return mean, float("nan"), float("nan")
    half = float(stats.t.ppf((1 + confidence) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    return mean, mean - half, mean + half


def count_questions(sizes, model: SimilarityModel, *, rng, discretize: str | None = None) -> dict[str, int]:
    """Draw one synthetic data set, resolve it by both orderings with the perfect oracle, and count their questions.

    Parameters
    ----------
    sizes : sequence of int
        Cluster sizes.
    model : SimilarityModel
    rng : int or numpy.random.Generator, keyword only
        Draws the similarities, then breaks both orderings' ties.
    discretize : {None, "round", "floor", "ceil"}, keyword only
        As in `crowder.data.datasets.synthetic`.

    Returns
    -------
    dict
        ``{"node": questions, "edge": questions}``.

    Examples
    --------
    >>> from crowder.model.models import dist2
    >>> count_questions([3, 2], dist2(0.49), rng=7)  # n - k + C(k, 2) = 4 is the least
    {'node': 4, 'edge': 4}
    """
    rng = checked.generator(rng, "similarities and ties")
    data = synthetic(sizes, model, rng=rng, discretize=discretize)
    truth = Truth(data.labels)
    return {
        "node": node_ordering(data.similarity, truth, rng=rng).n_queries,
        "edge": edge_ordering(data.similarity, truth, rng=rng).n_queries,
    }
