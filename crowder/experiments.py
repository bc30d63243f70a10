"""Repeat an experiment with independent seeds, over a grid of settings.

The experiment of the paper is `simulated_queries`: questions about a data set drawn from a model. The runs go to
joblib, which has one process, several or a cluster do them, with the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from crowder import checks
from crowder.checks import Seed, needing
from crowder.datasets import synthetic
from crowder.models import SimilarityModel
from crowder.oracles import Truth
from crowder.orderings import edge_ordering, node_ordering
from crowder.resolution import Resolution

with needing("experiments"):
    from joblib import Parallel, delayed

__all__ = ["repeat", "simulated_queries", "sweep"]


class _Simulated(list):
    """Results of random runs, which say so as the frame of a sweep does."""

    attrs: ClassVar = {"basis": "simulated"}


def repeat(function: Callable, repetitions: int, *, rng: Seed, n_jobs: int | None = None, **settings: Any) -> list:
    """Call ``function(**settings, rng=...)`` repeatedly, each time with its own generator.

    Parameters
    ----------
    function : callable
        Takes a keyword ``rng``. It may be defined in a notebook, even if other processes run it.
    repetitions : int
        At least 1; a ValueError otherwise.
    rng : int or numpy.random.Generator, keyword only
        Parent of the repetitions' generators, which are independent of each other and of `n_jobs`.
    n_jobs : int, optional, keyword only
        Number of processes, -1 for one on each core; by default what ``joblib.parallel_config`` says, or one.
    **settings
        Passed on to the function.

    Returns
    -------
    list
        What each call returned, in order. Its ``attrs`` say, as those of a frame, that it is simulated.

    See Also
    --------
    crowder.experiments.sweep : for several settings, and on a cluster.

    Examples
    --------
    >>> repeat(lambda rng: int(rng.integers(100)), 3, rng=7)
    [30, 68, 39]
    """
    children = _spawn(rng, _checked(function, repetitions, n_jobs))
    return _Simulated(Parallel(n_jobs=n_jobs)(delayed(function)(**settings, rng=child) for child in children))


def sweep(
    function: Callable,
    grid: Iterable[Mapping],
    repetitions: int,
    *,
    rng: Seed,
    n_jobs: int | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Repeat a function at every point of a grid.

    Parameters
    ----------
    function : callable
        As for `repeat`; returns a mapping of named results, otherwise a TypeError.
    grid : iterable of mapping
        The settings that differ from point to point; a ValueError if one is named "repetition".
    repetitions, rng, n_jobs, **settings
        As for `repeat`, which at each point would do the same with a generator of its own.

    Returns
    -------
    pandas.DataFrame
        One row for each call: the settings of the grid, ``repetition`` (0, 1, ...), and the named results.
        ``attrs["basis"]`` is "simulated", which pandas hands on to most of what is computed from the frame.

    See Also
    --------
    crowder.experiments.simulated_queries : the paper's experiment, such a function.

    Notes
    -----
    All runs of all points go to joblib at once. For more of them than one machine can do, ``joblib.parallel_config``
    names another place with the same numbers, such as a cluster of Dask, whose machines have what the runs import::

        from dask.distributed import Client
        from joblib import parallel_config

        with Client("tcp://scheduler:8786"), parallel_config("dask"):
            frame = sweep(function, grid, 10_000, rng=7)

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
    grid = list(checks.kind(grid, Iterable, "grid must be a list of mappings"))
    for point in grid:
        if "repetition" in checks.kind(point, Mapping, "grid must contain mappings, such as {'scale': 1}"):
            raise ValueError("grid must not contain a setting 'repetition', the name of a column of the results")
    repetitions = _checked(function, repetitions, n_jobs)
    parents = zip(grid, _spawn(rng, len(grid)), strict=True)
    found = Parallel(n_jobs=n_jobs)(
        delayed(_results)(function, point, settings, child)
        for point, parent in parents
        for child in _spawn(parent, repetitions)
    )
    runs = zip(product(grid, range(repetitions)), found, strict=True)
    frame = pd.DataFrame([{**point, "repetition": r, **results} for (point, r), results in runs])
    frame.attrs["basis"] = "simulated"
    return frame


def _checked(function: Callable, repetitions: int, n_jobs: int | None) -> int:
    """The number of repetitions, after a check of what `repeat` and `sweep` are given."""
    if n_jobs is not None and not checks.whole(n_jobs, "n_jobs", least=-(2**31), most=2**31 - 1):
        raise ValueError("n_jobs must be a number of processes, or -1 for one on each core, not 0")
    if not callable(function):
        raise TypeError(f"function must be callable with a keyword rng, not {function!r}")
    return checks.whole(repetitions, "repetitions", least=1, most=2**31 - 1)


def _results(function: Callable, point: Mapping, settings: Mapping, rng: np.random.Generator) -> Mapping:
    """The named results of one run of a sweep, checked where it ran, so that the first wrong one ends the sweep."""
    what = "function must return a mapping from names to results"
    results = checks.kind(function(**settings, **point, rng=rng), Mapping, what)
    if taken := sorted(results.keys() & {*point, "repetition"}):
        raise ValueError(f"function must not return a result {taken[0]!r}, the name of a setting")
    return results


def simulated_queries(
    model: SimilarityModel,
    sizes: Sequence[int],
    orderings: Mapping[str, Callable[..., Resolution]] | None = None,
    *,
    rng: Seed,
) -> dict[str, int]:
    """Draw a data set from a model, as the paper's Table 1 does, and count the questions of each ordering about it.

    All orderings get the same similarities. Over many data sets the mean tends to E[Q], the result of
    `crowder.expected_queries`, which is exact for edge ordering, and for node ordering with records in random order.

    Parameters
    ----------
    model : SimilarityModel
        Its densities f_g within clusters and f_r across.
    sizes : sequence of int
        Sizes of the k clusters, of n records, each at least 1; a ValueError otherwise.
    orderings : mapping of str to callable, optional
        Each is called as ``ordering(similarity, oracle, rng=rng)``, with condensed similarities, and returns a
        `Resolution`, as `crowder.edge_ordering` does, otherwise a TypeError. By default "edge" and "node" ordering.
    rng : int or numpy.random.Generator, keyword only
        Draws the similarities; then the orderings take from it what they need, in turn.

    Returns
    -------
    dict of str to int
        The number of questions Q of each ordering.

    See Also
    --------
    crowder.experiments.sweep : repeats this for several models.

    Notes
    -----
    O(n**2 log n). Section "Experimental Observations", data sets (i) and Table 1.

    Examples
    --------
    >>> from crowder import dist1, node_ordering
    >>> simulated_queries(dist1(0.3), [5, 4, 3], rng=7)
    {'edge': 16, 'node': 15}
    >>> def shuffled(w, crowd, rng): return node_ordering(w, crowd, order="random", rng=rng)
    >>> simulated_queries(dist1(0.3), [5, 4, 3], {"in random order": shuffled}, rng=7)
    {'in random order': 19}
    """
    if orderings is None:
        orderings = {"edge": edge_ordering, "node": node_ordering}
    what = "orderings must be a mapping from names to functions, such as {'edge': crowder.edge_ordering}"
    for ordering in checks.kind(orderings, Mapping, what).values():
        checks.kind(ordering, Callable, what)  # type: ignore[arg-type]
    generator = checks.generator(rng, "similarities")
    data = synthetic(sizes, model, rng=generator)
    crowd, counts = Truth(data.labels), {}
    for name, ordering in orderings.items():
        run = checks.kind(ordering(data.condensed, crowd, rng=generator), Resolution,
                              f"ordering {name!r} must return a Resolution")  # fmt: skip
        counts[name] = run.n_queries
    return counts


def _spawn(rng: Seed, number: int) -> list[np.random.Generator]:
    try:
        return checks.generator(rng, "repetitions").spawn(number)
    except TypeError as error:
        if isinstance(rng, np.random.Generator):
            raise TypeError(f"rng must be a seed or a generator that can spawn others, not {rng!r}") from error
        raise
