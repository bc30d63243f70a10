"""What a spreadsheet makes of a CSV file."""

import csv
import io
import unicodedata


def cells(text: str, sep: str = ",") -> list[list[str]]:
    """The rows, by the csv module, which begins one after each of the three line ends that is not quoted."""
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True))


def is_formula(cell: str) -> bool:
    """Whether its first character that can be seen begins a formula (half or full width), or it begins with a control
    character or a line separator, which some spreadsheets take for the beginning of another cell."""
    seen = cell.lstrip("".join(c for c in cell if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Zs")))
    return unicodedata.category(cell[:1] or "x") in ("Cc", "Zl", "Zp") or seen[:1] in tuple("=+-@＝＋－＠")
