"""Checks of arguments. Each raises an error that names the argument, before anything is computed from it."""

from __future__ import annotations

import inspect
import operator
import os
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    import sympy as sp

__all__ = [
    "Seed", "expression", "flag", "generator", "is_symbolic", "kind", "labels", "model", "not_a_class",
    "numbers", "path", "probability", "whole",
]  # fmt: skip


#: The source of randomness: a seed, or a generator, which continues from its current state.
Seed: TypeAlias = int | np.random.Generator


def whole(value: Any, what: str, *, least: int = 0) -> int:
    """A whole number, at least `least`; ``what`` names it in the error.

    Raises
    ------
    TypeError
        If it is not an integer. Booleans and floats such as 3.0 are rejected too, since they usually indicate a
        mistake.
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
    if type(value) is int and value >= least:  # the common case, checked fast
        return value
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
    """The value, if it is an instance of the types wanted; ``what`` states the requirement in the error.

    Raises
    ------
    TypeError
        If it has another type.

    Examples
    --------
    >>> kind(None, list, "evidence must be a list")
    Traceback (most recent call last):
    ...
    TypeError: evidence must be a list, not None
    """
    if not isinstance(value, wanted):
        raise TypeError(f"{what}, not {not_a_class(value, what)!r}")
    return value


def not_a_class(value: Any, what: str) -> Any:
    """The value, unless it is a class where an object is needed; ``what`` states the requirement in the error.

    Raises
    ------
    TypeError
        If it is a class. The message shows how to call it.

    Examples
    --------
    >>> from crowder import Truth
    >>> not_a_class(Truth, "ordering must be an ordering")
    Traceback (most recent call last):
    ...
    TypeError: ordering must be an ordering, not the class Truth: call it first, Truth(labels)
    """
    if isinstance(value, type):
        parameters = inspect.signature(value).parameters.values()
        needed = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        needed += ["rng=..."] * any(p.name == "rng" for p in parameters)
        call = f"{value.__name__}({', '.join(needed)})"
        raise TypeError(f"{what}, not the class {value.__name__}: call it first, {call}")
    return value


def numbers(value: Any, what: str) -> np.ndarray:
    """Real numbers, of any shape, as floats; fractions and sympy numbers are accepted. ``what`` names them in the
    error.

    Raises
    ------
    TypeError
        If one of them is not a real number.

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
    """A sympy expression. Text is refused, because sympy would evaluate it as Python. ``what`` names it in the error.

    Raises
    ------
    TypeError
        If it is not a sympy expression.

    Examples
    --------
    >>> expression(2, "t")
    2
    """
    import sympy as sp

    try:
        made = None if isinstance(value, str) else sp.sympify(value)
    except (sp.SympifyError, TypeError, ValueError, AttributeError):
        made = None
    if not isinstance(made, (sp.Expr, sp.MatrixBase)):
        given = f"the text {value!r}" if isinstance(value, str) else repr(value)
        raise TypeError(f"{what} must be a sympy expression or a number, not {given}")
    return made


def is_symbolic(value: Any) -> bool:
    """Whether the value is a sympy object. This does not import sympy: without it there can be no such value.

    Examples
    --------
    >>> is_symbolic(0.5)
    False
    """
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(value, sympy.Basic)


def flag(value: Any, what: str) -> bool:
    """True or False; ``what`` names it in the error. Truthiness is not enough: the text "no" would count as true.

    Raises
    ------
    TypeError
        If it is neither True nor False.

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
        If it is not a number in [0, 1].

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
    """A generator, from a seed or a generator; ``why`` names what is random, for the error.

    Raises
    ------
    ValueError
        If it is None or a negative seed.
    TypeError
        If it is neither a seed nor a generator.

    Examples
    --------
    >>> int(generator(7, "errors").integers(100))
    94
    """
    if rng is None:
        raise ValueError(f"pass rng=, a seed or a numpy.random.Generator: {why} must be reproducible")
    if isinstance(rng, (bool, np.bool_, str)):
        raise TypeError(f"rng must be a seed (a whole number, 0 or more) or a numpy.random.Generator, not {rng!r}")
    try:
        return np.random.default_rng(rng)
    except TypeError:
        message = f"rng must be a seed (a whole number, 0 or more) or a numpy.random.Generator, not {rng!r}"
        raise TypeError(message) from None
    except ValueError:
        raise ValueError(f"rng must be a seed of 0 or more, not {rng!r}") from None


def labels(values: Any, n: int | None = None) -> np.ndarray:
    """The cluster of each record, numbered 0, 1, ... in sorted order of the given values, shape (n,), int64.

    Raises
    ------
    ValueError
        If there is not one label for each record (``n``, where given), or a label is missing.
    TypeError
        If they have types that cannot be compared, such as text and numbers.

    Examples
    --------
    >>> labels(["b", "a", "b"])
    array([1, 0, 1])
    """
    if isinstance(values, (str, bytes, dict, set)):
        raise ValueError(f"labels must be a sequence with one label for each record, not {values!r}")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError("labels must be one-dimensional, not lists of different lengths") from None
    if array.ndim != 1:
        raise ValueError(f"labels must be one-dimensional, not of shape {array.shape}")
    if n is not None and len(array) != n:
        raise ValueError(f"labels must have an entry for each of the {n} records, not shape {array.shape}")
    missing = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else _absent(array)
    if missing.any():
        at = int(np.flatnonzero(missing)[0])
        missed = array[at] if array.dtype.kind in "fc" else None
        raise ValueError(f"label of record {at} is {'missing' if missed is None else 'NaN'}")
    if array.dtype.kind in "US" and array is not values:
        # NumPy has converted a number to text: 1 and "1" would be one cluster.
        odd = next((value for value in values if not isinstance(value, (str, bytes))), None)
        if odd is not None:
            raise TypeError(f"labels must have one type, not text and {odd!r}")
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        kinds = ", ".join(sorted({type(value).__name__ for value in array.tolist()}))
        raise TypeError(f"labels must have one sortable type, not {kinds}") from None


def _absent(array: np.ndarray) -> np.ndarray:
    """Which values are missing: None, NaN, NaT, and the missing value of pandas."""
    if array.dtype == object:
        if (pandas := sys.modules.get("pandas")) is not None:  # only pandas makes pandas.NA
            return pandas.isna(array)
        return np.array([value is None or value != value for value in array], dtype=bool)
    return np.isnat(array) if array.dtype.kind in "mM" else array != array


def path(value: Any, what: str = "path") -> str:
    """The name of a file; ``what`` names the argument in the error.

    Raises
    ------
    TypeError
        If it is neither text nor a path.

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
    """A model of similarities: an object with densities f_g and f_r.

    Raises
    ------
    TypeError
        If it has no such densities.

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
