"""Format numbers, cells and tables as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import sympy as sp

from crowder.checks import is_symbolic


def markdown_table(frame: pd.DataFrame, formats: Mapping[str, str | Callable[[Any], str]]) -> str:
    """A table as Markdown, with numbers aligned to the right.

    `formats` maps a column to a format specification or a function from a value to text. Without one, integers have a
    comma between thousands and floats four significant digits; missing values are dashes, and anything else is
    converted by ``str``. The index is not printed.
    """
    align = ["right" if pd.api.types.is_numeric_dtype(frame[column]) else "left" for column in frame]
    columns = [[_text(value, formats.get(column)) for value in frame[column]] for column in frame]
    # A vertical bar or a line break would end the cell.
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
    return format(value, ".4g") if isinstance(value, (float, np.floating)) else exactly(value)


def number(value) -> str:
    """A number for readers: four significant digits, or whole with a comma between thousands.

    >>> number(19833), number(Fraction(2, 3)), number(1_234_567.8)
    ('19,833', '0.6667', '1,234,568')
    """
    if _is_whole(value):
        return f"{int(value):,}"
    value = float(value)
    return f"{value:,.0f}" if abs(value) >= 9_999.5 else f"{value:.4g}"  # four digits would give 1e+04


def exactly(value) -> str:
    """A value at full precision, to be compared with one that should be equal."""
    if is_symbolic(value) and not value.is_Rational:
        return f"${sp.latex(value)}$"
    if isinstance(value, (float, np.floating)):
        return f"{value:.12g}"
    return f"{int(value):,}" if _is_whole(value) else str(value)


def _is_whole(value) -> bool:
    if isinstance(value, (int, np.integer)):
        return not isinstance(value, bool)
    return value.denominator == 1 if isinstance(value, Fraction) else is_symbolic(value) and value.is_Integer
