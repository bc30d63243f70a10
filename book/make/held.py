"""What the cells of a chapter compute, in a text file that the build compares: a change of a result shows in the diff.

A chapter's file, ``book/data/held/<slug>.txt``, has a line for each column of the data of a figure or table, for the
numbers of its caption, for a table as it is shown, for each piece of evidence of a claim, and for each cell with output
in plain text. ``make numbers`` writes it again, but keeps lines that begin with ``#`` at its head, and a tolerance,
such as ``± 5 %``, at the end of a line. Only what depends on the processor needs one, as learned similarities do: their
training ends elsewhere if last digits differ.
"""

from __future__ import annotations

import json
import math
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FOLDER = Path("book", "data", "held")
#: Integers are equal. Of other numbers another processor may change the last digits; what is wrong in one row of many
#: changes a mean by not much more.
TOLERANCE = 1e-5
#: What is left where rounding errors cancel.
ZERO = 1e-12

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d*)?(?:e[-+]?\d+)?")
_OWN = re.compile(r" ± ([\d.]+) %$")
#: Output of these types is shown from plain text; figures, tables and evidence are held by what they were made from.
_SHOWN = {"text/plain", "text/html", "text/latex"}


def describe(executed: Path, results: Path) -> list[str]:
    """The lines of a chapter, from its executed notebook and its folder of results."""
    lines = []
    for path in sorted(results.glob("*.csv")):
        frame = pd.read_csv(path).rename(columns=lambda name: " ".join(name.replace(":", "").split()))
        lines += [f"{path.stem}, {name}: {_column(frame[name])}" for name in frame]
    for path in sorted((results / "claims").glob("*.json")):
        pieces = json.loads(path.read_text(encoding="utf-8"))["evidence"]
        lines += [f"{path.stem}, evidence {i}: {_text(piece['figure'])}" for i, piece in enumerate(pieces, 1)]
    for cell in json.loads(executed.read_text(encoding="utf-8"))["cells"]:
        outputs = cell.get("outputs", ())
        lines += [line for output in outputs for line in _captioned(output)]
        if shown := " | ".join(filter(None, map(_output, outputs))):
            lines.append(f"cell {cell['id']}: {_text(shown)}")
    return lines


def differences(slug: str, held: str, lines: list[str]) -> list[str]:
    """A message for each line that is missing, additional, or says something else than the held text."""
    was, now = _by_name(held.splitlines()), _by_name(lines)
    return [
        f"{slug}: {name}: held {was.get(name, 'nothing')}; found {now.get(name, 'nothing')}"
        for name in was | now
        if name not in was or name not in now or not _agree(was[name], now[name])
    ]


def updated(held: str, lines: list[str]) -> str:
    """The text to hold from now on: these lines, with the head and the tolerances of the text held until now."""
    head = [line for line in held.splitlines() if line.startswith("#")]
    own = {name: found[0] for name, text in _by_name(held.splitlines()).items() if (found := _OWN.search(text))}
    lines = [f"{name}: {text}{own.get(name, '')}" for name, text in _by_name(lines).items()]
    return "\n".join([*head, *lines, ""])


def compared(root: Path, slug: str, executed: Path, results: Path) -> list[str]:
    """The `differences` of an executed chapter from its file below `root`."""
    file = root / FOLDER / f"{slug}.txt"
    if not file.exists():
        return [f"{slug}: no held values"]
    return differences(slug, file.read_text(encoding="utf-8"), describe(executed, results))


def write(root: Path, slug: str, executed: Path, results: Path) -> None:
    """Write the file of an executed chapter below `root`."""
    file = root / FOLDER / f"{slug}.txt"
    file.parent.mkdir(exist_ok=True)
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    file.write_text(updated(old, describe(executed, results)), encoding="utf-8")


def _by_name(lines: list[str]) -> dict[str, str]:
    return {name: text for name, _, text in (line.partition(": ") for line in lines if not line.startswith("#"))}


def _agree(held: str, found: str) -> bool:
    """Whether two lines have the same words, and numbers within the tolerance of the held one."""
    own = _OWN.search(held)
    held = held[: own.start()] if own else held
    if _NUMBER.sub("#", held) != _NUMBER.sub("#", found):
        return False
    within = float(own[1]) / 100 if own else TOLERANCE
    return all(
        a == b if _is_integer(a) and _is_integer(b) and not own
        else math.isclose(float(a), float(b), rel_tol=within, abs_tol=ZERO)
        for a, b in zip(_numbers(held), _numbers(found), strict=True)
    )  # fmt: skip


def _numbers(text: str) -> list[str]:
    return [number.replace(",", "") for number in _NUMBER.findall(text)]


def _is_integer(number: str) -> bool:
    return number.removeprefix("-").isdigit()


def _output(output: dict[str, Any]) -> str:
    """The text of an output: what it shows in plain text, or the data of something interactive."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    own = [json.dumps(data[kind]) for kind in data if kind.startswith("application/vnd.crowder.")]
    return "".join(own or (data["text/plain"] if data.keys() <= _SHOWN else ""))


def _captioned(output: dict[str, Any]) -> list[str]:
    """Of a figure or table the numbers of its caption and alternative text, and a table as it is shown."""
    facts = output.get("metadata", {}).get("crowder", {})
    found = _numbers(f"{facts.get('caption', '')} {facts.get('alt', '')}")
    lines = [f"{facts['name']}, caption: {' '.join(number.rstrip('.') for number in found)}"] if found else []
    if facts.get("kind") == "table":
        lines.append(f"{facts['name']}, as shown: {_text(''.join(output['data']['text/plain']))}")
    return lines


def _text(text: str) -> str:
    """A short text itself; of a long one its numbers, summed up, and a checksum of the words around them."""
    text = " ".join(text.split())
    numbers, words = _numbers(text), _NUMBER.sub("#", text)  # last digits do not make a text long
    if len(numbers) <= 12 and len(words) <= 150:
        return text
    kind = int if all(map(_is_integer, numbers)) else float
    return f"{_summary(np.array([*map(kind, numbers)]))}, words x{zlib.crc32(words.encode()):08x}"  # x: no number


def _column(values: pd.Series) -> str:
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        return _summary(values.to_numpy())
    return f"{len(values)} texts, {_text(' '.join(map(str, values)))}"


def _summary(numbers: np.ndarray) -> str:
    """How many numbers, their range, sum or mean, and of logarithms a mean with weights: order and small ones count."""
    if len(numbers) <= 6:
        return " ".join(map(_show, numbers)) or "no numbers"
    there = ~pd.isna(numbers)
    missing = f", {(~there).sum()} missing" * (not there.all())
    weights, numbers = (np.arange(1, len(numbers) + 1) * 0.618034 % 1)[there], numbers[there]
    logs = np.sign(numbers) * np.log1p(np.abs(numbers).astype(float))
    if not len(numbers):
        return f"0 numbers{missing}"
    middle = f"sum {numbers.sum():,}" if numbers.dtype.kind in "iu" else f"mean {_show(numbers.mean())}"
    middle += f", weighted {_show(float(np.average(logs, weights=weights)))}"
    return f"{len(numbers)} numbers, {_show(numbers.min())} … {_show(numbers.max())}, {middle}{missing}"


def _show(number: float) -> str:
    """An integer in full, another number to seven significant digits and never like an integer."""
    if isinstance(number, (int, np.integer)):
        return f"{number:,}"
    text = f"{number:.7g}"
    return f"{text}.0" if _is_integer(text) else text
