"""Arguments checked once, at the door: what is none is refused by name, before anything is computed from it."""

from __future__ import annotations

import operator
import os
from typing import Any

import numpy as np
import pandas as pd
import sympy as sp

__all__ = [
    "expression", "flag", "generator", "kind", "labels", "model", "numbers", "path", "probability", "whole",
]  # fmt: skip


def whole(value: Any, what: str, *, least: int = 0) -> int:
    """A whole number, at least `least`; ``what`` names it in the error.

    Raises
    ------
    TypeError
        If it is no integer. A boolean is none, nor is 3.0: whoever passes one has mixed something up.
    ValueError
        If it is too small.

    Examples
    --------
    >>> whole(np.int64(3), "the number of votes")
    3
    >>> whole(2.5, "the number of votes")
    Traceback (most recent call last):
    ...
    TypeError: the number of votes must be a whole number, not 2.5
    """
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be a whole number, not {value!r}") from None
    if number < least:
        raise ValueError(f"{what} must be at least {least}, not {number}")
    return number


def kind(value: Any, wanted: type | tuple[type, ...], what: str) -> Any:
    """A value of the kinds wanted; ``what`` says in the error what must be what.

    Raises
    ------
    TypeError
        If it is of another kind.

    Examples
    --------
    >>> kind(None, list, "evidence must be a list")
    Traceback (most recent call last):
    ...
    TypeError: evidence must be a list, not None
    """
    if not isinstance(value, wanted):
        raise TypeError(f"{what}, not {value!r}")
    return value


def numbers(value: Any, what: str) -> np.ndarray:
    """Real numbers, in any shape, as floats; fractions and sympy's are numbers, too. ``what`` names them in the error.

    Raises
    ------
    TypeError
        If one of them is none.

    Examples
    --------
    >>> numbers([1, 0.5], "means")
    array([1. , 0.5])
    """
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiubO" or (array.dtype == object and any(isinstance(x, str) for x in array.flat)):
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be real numbers, not {value!r}") from None


def expression(value: Any, what: str) -> sp.Expr:
    """A sympy expression. Text is refused: to read it, sympy runs it as Python. ``what`` names it in the error.

    Raises
    ------
    TypeError
        If it is none.

    Examples
    --------
    >>> expression(2, "t")
    2
    """
    try:
        made = None if isinstance(value, str) else sp.sympify(value)
    except (sp.SympifyError, TypeError, ValueError, AttributeError):
        made = None
    if not isinstance(made, (sp.Expr, sp.MatrixBase)):
        was = f"the text {value!r}" if isinstance(value, str) else repr(value)
        raise TypeError(f"{what} must be a sympy expression or a number, not {was}")
    return made


def flag(value: Any, what: str) -> bool:
    """True or False; ``what`` names it in the error. Any other value is one or the other to Python: "no" would be yes.

    Raises
    ------
    TypeError
        If it is neither.

    Examples
    --------
    >>> flag("no", "printed")
    Traceback (most recent call last):
    ...
    TypeError: printed must be True or False, not 'no'
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} must be True or False, not {value!r}")
    return bool(value)


def probability(value: Any, what: str) -> Any:
    """A probability, in [0, 1]; ``what`` names it in the error.

    Raises
    ------
    ValueError
        If it is none.

    Examples
    --------
    >>> probability(0.25, "the error")
    0.25
    """
    try:
        inside = not isinstance(value, (bool, np.bool_)) and np.ndim(value) == 0 and bool(0 <= value <= 1)
    except (TypeError, ValueError):  # text, or a list
        inside = False
    if not inside:
        raise ValueError(f"{what} must be in [0, 1], not {value!r}")
    return value


def generator(rng: Any, why: str) -> np.random.Generator:
    """A generator, from a seed or another one; ``why`` says what chance there is to decide.

    Raises
    ------
    ValueError
        If there is none, or the seed is negative.
    TypeError
        If it is neither.

    Examples
    --------
    >>> int(generator(7, "errors").integers(100))
    94
    """
    if rng is None:
        raise ValueError(f"pass rng=, a seed or a numpy.random.Generator: {why} are never left to chance")
    if isinstance(rng, (bool, np.bool_, str)):
        raise TypeError(f"rng must be a seed (a whole number, 0 or more) or a numpy.random.Generator, not {rng!r}")
    try:
        return np.random.default_rng(rng)
    except TypeError:
        message = f"rng must be a seed (a whole number, 0 or more) or a numpy.random.Generator, not {rng!r}"
        raise TypeError(message) from None
    except ValueError:
        raise ValueError(f"rng is {rng!r}; a seed is a whole number, 0 or more") from None


def labels(values: Any, n: int | None = None) -> np.ndarray:
    """The cluster of each record, numbered 0, 1, ... in sorted order of the given values, shape (n,), int64.

    Raises
    ------
    ValueError
        If they are not one a record (``n`` of them, where given), or one is missing.
    TypeError
        If they are of kinds that cannot be compared, such as text and numbers.

    Examples
    --------
    >>> labels(["b", "a", "b"])
    array([1, 0, 1])
    """
    if isinstance(values, (str, bytes, dict, set)):
        raise ValueError(f"labels must be one a record, in order, not {values!r}")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError("labels must be one a record; these are lists of several lengths") from None
    if array.ndim != 1:
        raise ValueError(f"labels must be one-dimensional, one a record; their shape is {array.shape}")
    if n is not None and len(array) != n:
        raise ValueError(f"labels have shape {array.shape}; the resolution has {n} records")
    missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else pd.isna(array)
    if missing.any():
        at = int(np.flatnonzero(missing)[0])
        missed = array[at] if array.dtype.kind in "fc" else None
        raise ValueError(f"label of record {at} is {'missing' if missed is None else 'NaN'}")
    if array.dtype.kind in "US" and array is not values:
        # NumPy has made text of what was a number: 1 and "1" would be one cluster.
        odd = next((value for value in values if not isinstance(value, (str, bytes))), None)
        if odd is not None:
            raise TypeError(f"labels must be of one kind: there is text, and {odd!r}")
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        kinds = ", ".join(sorted({type(value).__name__ for value in array.tolist()}))
        raise TypeError(f"labels must be of one kind that can be sorted; these are {kinds}") from None


def path(value: Any, what: str = "path") -> str:
    """The name of a file; ``what`` names the argument in the error.

    Raises
    ------
    TypeError
        If it is no text, nor a path.

    Examples
    --------
    >>> path(None)
    Traceback (most recent call last):
    ...
    TypeError: path must be the name of a file, not None
    """
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{what} must be the name of a file, not {value!r}")
    return os.fspath(value)


def model(value: Any) -> Any:
    """A model of similarities: what has densities f_g and f_r.

    Raises
    ------
    TypeError
        If it is none.

    Examples
    --------
    >>> model("dist1")
    Traceback (most recent call last):
    ...
    TypeError: model must be a SimilarityModel, such as crowder.dist1(0.2), not 'dist1'
    """
    if not (hasattr(value, "green") and hasattr(value, "red")):
        raise TypeError(f"model must be a SimilarityModel, such as crowder.dist1(0.2), not {value!r}")
    return value
