"""What every module needs: checks of arguments, packages that may be missing, how objects show themselves, compiling.

A check is made before anything is computed from an argument. It returns the value, or raises a TypeError or ValueError
in which ``what`` names the argument.

Numba takes seconds to compile a loop for the first time, and a tenth of a second to load it later: more than plain
Python takes for a few records. So a `compiled` function first runs as plain Python, as do the `inner` functions that it
calls, with the same results. Numba's cache detects edits to the file of a compiled function alone, so functions that
call each other are kept in one file, but for `crowder.pairs.unpack`, which will not be edited.
"""

from __future__ import annotations

import math
import operator
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from html import escape
from numbers import Number
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numba import njit
from numba.extending import register_jitable

if TYPE_CHECKING:
    import sympy as sp

__all__ = [
    "MOST_RECORDS", "Seed", "Shown", "as_array", "by_position", "compiled", "expression", "flag", "flags", "generator",
    "inner", "is_symbolic", "kind", "labels", "model", "needing", "not_a_class", "number", "numbers", "owned", "pairs",
    "path", "probability", "whole",
]  # fmt: skip

#: Pairs are packed as ``i << 32 | j``, so records are counted in 31 bits; the number of their pairs fits into 63.
MOST_RECORDS = 2**31 - 1

#: The source of randomness: a seed, or a generator, which continues from its current state.
Seed: TypeAlias = int | np.random.Generator


def whole(value: Any, what: str, *, least: int = 0, most: float = math.inf) -> int:
    """A whole number from `least` to `most`."""
    if type(value) is int and least <= value <= most:  # the common case, checked fast
        return value
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be a whole number, not {value!r}") from None
    if number < least:
        raise ValueError(f"{what} must be at least {least}, not {number}")
    if number > most:
        raise ValueError(f"{what} must be at most {most:,}, not {number}")
    return number


def number(value: Any, what: str, *, least: float = 0.0, most: float = math.inf) -> float:
    """A finite real number from `least` to `most`."""
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)) or np.iscomplexobj(value):  # NumPy drops imaginary parts
            raise TypeError
        found = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be a real number, not {value!r}") from None
    except OverflowError:
        found = math.inf
    if not (math.isfinite(found) and least <= found <= most):
        limits = f"at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise ValueError(f"{what} must be a finite number, {limits}, not {found:g}")
    return found


def kind(value: Any, wanted: type | tuple[type, ...], what: str) -> Any:
    """The value, if it is an instance of the types wanted; ``what`` states the requirement."""
    if not isinstance(value, wanted):
        raise TypeError(f"{what}, not {not_a_class(value, what)!r}")
    return value


def not_a_class(value: Any, what: str) -> Any:
    """The value, unless it is a class, such as `Truth`, instead of an object; ``what`` states the requirement."""
    if isinstance(value, type):
        raise TypeError(f"{what}, not the class {value.__name__}; call it first, as in {value.__name__}(...)")
    return value


def as_array(value: Any, what: str) -> np.ndarray:
    """An array of any values, none of them masked: NumPy would take what is behind the mask."""
    if np.ma.is_masked(value):
        raise ValueError(f"{what} must not have masked values")
    try:
        return np.asarray(value)
    except ValueError:  # rows of different lengths
        return np.empty((), object)


def owned(array: np.ndarray) -> np.ndarray:
    """A copy of the array that cannot be changed: results are passed to compiled code, which checks no bounds."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def by_position(value: Any, what: str) -> None:
    """Refuse a Series or DataFrame of pandas whose index says that its values do not stand in the order of records."""
    pandas = sys.modules.get("pandas")  # without it there can be none
    if pandas is None or not isinstance(value, (pandas.Series, pandas.DataFrame)):
        return
    frame = isinstance(value, pandas.DataFrame)
    if not value.index.equals(value.columns if frame else pandas.RangeIndex(len(value))):
        wanted = "the same index and columns" if frame else "the index 0, 1, 2, ..."
        raise ValueError(
            f"{what} must have {wanted}, in the same order: values are taken by position; if they are in the right "
            "order, pass to_numpy() of it"
        )


def numbers(value: Any, what: str) -> np.ndarray:
    """Real numbers, of any shape, as floats; fractions and sympy numbers are accepted."""
    array = as_array(value, what)
    try:
        none = array.dtype == object and any(x is None or isinstance(x, (str, bytes)) for x in array.flat)
        if array.dtype.kind not in "fiubO" or none:
            raise TypeError
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{what} must be real numbers, not {value!r}") from None


def pairs(value: Any, n: int, what: str) -> np.ndarray:
    """Pairs of two different records out of n, (k, 2), int64: compiled code does not check that a record exists."""
    array = as_array(value, what)
    if not array.size and array.ndim in (1, 2):
        return np.empty((0, 2), np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what} must be pairs of whole numbers, not {value!r}")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{what} must be pairs of records, (k, 2), not of shape {array.shape}")
    i, j = array.T
    wrong = np.flatnonzero((np.minimum(i, j) < 0) | (np.maximum(i, j) >= n) | (i == j))
    if len(wrong):
        pair = tuple(array[wrong[0]].tolist())
        raise ValueError(f"{what}: row {wrong[0]}, {pair}, must be two different records out of {n}, from 0")
    return array.astype(np.int64, copy=False)


def expression(value: Any, what: str) -> sp.Expr:
    """A sympy expression. Only numbers and sympy's own objects are given to sympy, which runs text, also in a list."""
    made, sympy = None, sys.modules.get("sympy")  # without it there can be none of its objects
    if isinstance(value, Number if sympy is None else (Number, sympy.Basic, sympy.MatrixBase)):
        with needing("symbolic"):
            import sympy as sp
        with suppress(sp.SympifyError, TypeError, ValueError, AttributeError):
            made = sp.sympify(value)
    if made is None or not isinstance(made, (sp.Expr, sp.MatrixBase)):
        given = f"the text {value!r}" if isinstance(value, str) else repr(value)
        raise TypeError(f"{what} must be a sympy expression or a number, not {given}")
    return made


def is_symbolic(value: Any) -> bool:
    """Whether the value is a sympy object. This does not import sympy: without it there can be no such value."""
    sympy = sys.modules.get("sympy")
    return sympy is not None and isinstance(value, sympy.Basic)


def flag(value: Any, what: str) -> bool:
    """True or False. Truthiness is not enough: the text "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} must be True or False, not {value!r}")
    return bool(value)


def flags(value: Any, n: int, what: str) -> np.ndarray:
    """n times True or False, (n,), bool."""
    array = as_array(value, what)
    if array.size and array.dtype != bool:
        raise TypeError(f"{what} must be True or False, not {value!r}")
    if array.shape != (n,):
        raise ValueError(f"{what} must be {n}, one for each pair, not of shape {array.shape}")
    return array.astype(bool, copy=False)


def probability(value: Any, what: str) -> Any:
    """A probability, in [0, 1]; a number of NumPy, whose precision may be low, becomes one of Python."""
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0 and not np.ma.is_masked(value):
        value = value.item()
    try:
        inside = not isinstance(value, (bool, np.bool_)) and np.ndim(value) == 0 and bool(0 <= value <= 1)
    except (TypeError, ValueError, ArithmeticError):  # text, a list, or a decimal that is none
        inside = False
    if not inside:
        raise ValueError(f"{what} must be in [0, 1], not {value!r}")
    return value


def generator(rng: Any, why: str) -> np.random.Generator:
    """A generator, from a seed or a generator; ``why`` names what is random."""
    if rng is None:
        raise ValueError(f"pass rng=, a seed or a numpy.random.Generator: {why} must be reproducible")
    if isinstance(rng, (np.random.Generator, np.random.SeedSequence)):
        return np.random.default_rng(rng)
    try:
        return np.random.default_rng(whole(rng, "rng"))
    except TypeError:
        message = f"rng must be a seed (a whole number, 0 or more) or a numpy.random.Generator, not {rng!r}"
        raise TypeError(message) from None


def labels(values: Any, n: int | None = None) -> np.ndarray:
    """The cluster of each record, numbered 0, 1, ... in sorted order of the given values, shape (n,), int64."""
    if isinstance(values, (str, bytes, dict, set)):
        raise ValueError(f"labels must be a sequence with one label for each record, not {values!r}")
    by_position(values, "labels")
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
    """The name of a file."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{what} must be the name of a file, not {value!r}")
    with suppress(UnicodeEncodeError):
        if "\0" not in (name := os.fsdecode(os.fsencode(value))):
            return name
    raise ValueError(f"{what} must be the name of a file, not {value!r}")


def model(value: Any) -> Any:
    """A model of similarities: an object with densities f_g and f_r."""
    if not (hasattr(value, "green") and hasattr(value, "red")):
        raise TypeError(f"model must be a SimilarityModel, such as crowder.dist1(0.2), not {value!r}")
    return value


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Import in this context what an extra of crowder installs; an ImportError says how to install what is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        command = f"python -m pip install 'crowder[{extra}]'"
        raise ImportError(f"{error.name} is missing; install it with: {command}", name=error.name) from error


class Shown:
    """Base class of what has a few `facts`: names and values, of which whole numbers are counts of what they name."""

    def _facts(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def __repr__(self) -> str:
        facts = self._facts().items()
        said = [f"{x:,} {name.removesuffix('s') if x == 1 else name}" if isinstance(x, int) else f"{name}={x}"
                for name, x in facts]  # fmt: skip
        return f"{type(self).__name__}({', '.join(said)})"

    def _repr_html_(self) -> str:
        rows = [f"<tr><th>{escape(name)}</th><td>{escape(f'{x:,}' if isinstance(x, int) else str(x))}</td></tr>"
                for name, x in self._facts().items()]  # fmt: skip
        return f"<table><caption>{escape(type(self).__name__)}</caption>{''.join(rows)}</table>"


#: An array of more values is for a compiled loop; these take plain Python about a tenth of a second.
MOST_VALUES = 10_000

#: After so many seconds in plain Python every function is compiled, since many small runs take as long as a large one.
MOST_SECONDS = 1.0

_spent = 0.0

#: A function that compiled ones call, or plain Python.
inner = register_jitable


class compiled:  # a decorator
    """A function of arrays that runs as plain Python until compiling it pays.

    Examples
    --------
    >>> from crowder.pairs import sums
    >>> sums(np.array([0.5]), np.array([1]), 2), sums.fast(np.array([0.5]), np.array([1]), 2)  # of the pair (0, 1)
    (array([0.5, 0.5]), array([0.5, 0.5]))
    """

    def __init__(self, function: Callable) -> None:
        self.plain, self.fast, self.pays = function, njit(cache=True)(function), False
        self.__doc__, self.__name__ = function.__doc__, function.__name__

    def __call__(self, *args: Any) -> Any:
        global _spent
        if self.pays or _spent > MOST_SECONDS or _most_values(args) > MOST_VALUES:
            self.pays = True
            return self.fast(*args)
        begin = perf_counter()
        try:
            return self.plain(*args)
        finally:
            _spent += perf_counter() - begin


def _most_values(args: tuple) -> int:
    return max([x.size if isinstance(x, np.ndarray) else _most_values(x) if isinstance(x, tuple) else 0 for x in args],
               default=0)  # fmt: skip
