"""When a loop is compiled: as soon as that pays.

Numba takes seconds to compile a loop for the first time, and a tenth of a second to load it later: more than plain
Python takes for a few records. So a `compiled` function first runs as plain Python, as do the functions that it calls,
which are `inner`. It gives the same either way, since both do the same operations in the same order.

Numba's cache detects edits to the file of a compiled function, but not to other files that it calls. Functions that
call each other are therefore kept in one file, but for `crowder.sorting.unpack`, which will not be edited.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit
from numba.extending import register_jitable

__all__ = ["compiled", "inner"]

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
    >>> from crowder.sorting import sums
    >>> sums(np.array([0.5]), np.array([1]), 2), sums.fast(np.array([0.5]), np.array([1]), 2)  # of the pair (0, 1)
    (array([0.5, 0.5]), array([0.5, 0.5]))
    """

    def __init__(self, function: Callable) -> None:
        self.plain, self.fast, self.pays = function, njit(cache=True)(function), False
        self.__doc__, self.__name__ = function.__doc__, function.__name__

    def __call__(self, *args: Any) -> Any:
        global _spent
        if self.pays:
            return self.fast(*args)
        if _spent > MOST_SECONDS or _most_values(args) > MOST_VALUES:
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
