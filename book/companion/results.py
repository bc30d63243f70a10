"""Output of results: displayed in the notebook and, during a build, written to a folder.

The build names the folder in the environment variable ``CROWDER_RESULTS``; without it nothing is written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from crowder.datasets import Dataset

#: Instead of the status of a claim: some evidence does not hold; there is no evidence.
NOT_SHOWN, NOT_CHECKED = "not shown", "not checked"


#: Of the chapter that runs: figures and tables by name, with their numbers, in the order of its cells.
NUMBERED: dict[str, str] = {}


def count(number: str, cells: Iterable[str]) -> None:
    """Number the figures and tables of a chapter as its page does, whatever the order in which its cells are run.

    >>> count("3", ['figure(plot, "fig-a")', 'table(frame, "tab-a")', 'slider(states, "fig-b")']); NUMBERED["fig-b"]
    'Figure 3.2'
    """
    names = dict.fromkeys(name for cell in cells for name in re.findall(r'"((?:fig|tab)-[\w-]+)"', cell))
    for kind, prefix in (("Figure", "fig-"), ("Table", "tab-")):
        each = enumerate((name for name in names if name.startswith(prefix)), 1)
        NUMBERED.update({name: f"{kind} {number}.{place}" for place, name in each})


def folder() -> Path | None:
    """The results folder of the current build; None outside a build."""
    named = os.environ.get("CROWDER_RESULTS")
    return Path(named) if named else None


def write(path: Path, content: bytes) -> None:
    """Write a file, in a folder that need not be there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def uses(data: Dataset) -> Dataset:
    """Record, during a build, that a chapter uses a data set and where its values come from; return it."""
    if (at := folder()) is not None:
        slug = re.sub(r"\W+", "-", f"{data.name} {data.source}".lower()).strip("-")
        write(at / "data" / f"{slug}.json", as_json({"kind": "data", "name": data.name, "source": data.source}))
    return data


def answer(asked: Mapping[str, tuple[Callable[[], Any], str]]) -> None:
    """Print what the text of a chapter asks for, as JSON: each value in its format (see `book.text.numbers`).

    Fractions and SymPy numbers take the formats of floats.

    >>> from fractions import Fraction
    >>> answer({"n": (lambda: 1200, ","), "p:.2f": (lambda: Fraction(1, 3), ".2f")})
    {"n": "1,200", "p:.2f": "0.33"}
    """
    answers, wrong = {}, []
    for words, (value, form) in asked.items():
        try:
            answers[words] = _formatted(value(), form)
        except Exception as error:
            wrong.append(f"<!--{words}-->: {type(error).__name__}: {error}")
    if wrong:
        raise ValueError("; ".join(wrong))
    print(json.dumps(answers, ensure_ascii=False))


def _formatted(value: Any, form: str) -> str:
    try:
        return format(value, form)
    except TypeError:
        return format(float(value), form)


def as_json(record: Mapping[str, Any]) -> bytes:
    """A record as JSON; NumPy values become numbers and lists, other unknown types text."""
    return (json.dumps(record, indent=2, ensure_ascii=False, default=_plain) + "\n").encode()


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else str(value)


def chart(kind: str, name: str, given: Mapping[str, Any]) -> None:
    """Leave in the notebook what a script of the page draws in place of a figure."""
    words = "*On the page of the book, this figure is interactive.*"
    bundle = {f"application/vnd.crowder.{kind}+json": as_json(given).decode(),
              "text/markdown": words, "text/plain": words}  # fmt: skip
    display(bundle, {"kind": kind, "name": name})


def display(bundle: dict[str, str], facts: dict[str, Any]) -> None:
    """Publish to the notebook, with `facts` as metadata of the output; outside a notebook, print a plain text.

    An alternative text among the facts stands also where nbconvert looks for that of a picture.
    """
    from IPython import get_ipython
    from IPython.display import display as publish

    if get_ipython() is None:
        print(bundle["text/plain"], end="\n" * bool(bundle["text/plain"]))
    else:
        described = {"image/png": {"alt": facts["alt"]}} if "image/png" in bundle else {}
        publish(bundle, raw=True, metadata={"crowder": facts, **described})
