"""Numbers as text, and a table as Markdown: numbers to the right, nothing that would end a cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import sympy as sp

__all__ = ["exactly", "markdown_table", "number"]


def markdown_table(frame: pd.DataFrame, formats: Mapping[str, str | Callable[[Any], str]]) -> str:
    """Print a table.

    Parameters
    ----------
    frame : pandas.DataFrame
        Single, distinct column names; the index is not printed.
    formats : mapping
        Column name to a format specification or a function from a value to text.

    Returns
    -------
    str
        Without a rule of its own a column prints integers with a comma between thousands, floats with four significant
        digits, what is missing as a dash, and anything else as ``str`` has it.

    Examples
    --------
    >>> print(markdown_table(pd.DataFrame({"n": [1879, 2], "share": [0.123456, None]}), {}))
    |     n |   share |
    |------:|--------:|
    | 1,879 |  0.1235 |
    |     2 |       – |
    """
    align = ["right" if pd.api.types.is_numeric_dtype(frame[column]) else "left" for column in frame]
    columns = [[_text(value, formats.get(column)) for value in frame[column]] for column in frame]
    # A bar or a line break inside a cell would end it.
    texts = [[re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split("\n"))) for text in column] for column in columns]
    printed = pd.DataFrame(
        list(zip(*texts, strict=True)), columns=[re.sub(r"(?<!\\)\|", r"\\|", str(c)) for c in frame]
    )
    return printed.to_markdown(index=False, disable_numparse=True, colalign=align)


def _text(value: Any, rule: str | Callable[[Any], str] | None) -> str:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return "–"
    if callable(rule):
        return str(rule(value))
    if rule is not None:
        return format(value, rule)
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return f"{value:,}"
    if isinstance(value, (float, np.floating)):
        return format(value, ".4g")
    return str(value)


def number(value) -> str:
    """A number as a reader would write it: at most four digits behind what is small.

    Examples
    --------
    >>> number(19833), number(Fraction(2, 3)), number(1_234_567.8)
    ('19,833', '0.6667', '1,234,568')
    """
    if isinstance(value, (int, np.integer)) or (isinstance(value, (Fraction, sp.Integer)) and value == int(value)):
        return f"{int(value):,}"
    value = float(value)
    return f"{value:,.0f}" if abs(value) >= 9_999.5 else f"{value:.4g}"  # of which four digits would make 1e+04


def exactly(value) -> str:
    """A value as it is, to set beside one that should be the same.

    Examples
    --------
    >>> exactly(19833), exactly(Fraction(2, 3)), exactly(sp.Symbol("t") + 1)
    ('19,833', '2/3', '$t + 1$')
    """
    if isinstance(value, sp.Basic) and not value.is_Rational:
        return f"${sp.latex(value)}$"
    if isinstance(value, (float, np.floating)):
        return f"{value:.12g}"
    if isinstance(value, (int, np.integer, sp.Integer)) and not isinstance(value, bool):
        return f"{int(value):,}"
    return str(value)
