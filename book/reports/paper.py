"""The statements of the paper in its own order, read from the part `paper` of ``book/data/claims.yml``.

It maps sections to their statements, and each statement, by its printed name, to

- `says`: what it says, in our words; without it, the wording of its first claim
- `claims`: the claims that judge it, those of the paper first, then errata
- `chapter`: where the book treats it; without it, the chapter of its first claim
- `figure`: ours for it, as ``08-synthetic#fig-table1``
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from book import strict_yaml
from book.build.chapters import BuildError

#: Kinds that the paper numbers.
NUMBERED = ("Theorem", "Corollary", "Proposition", "Definition", "Lemma", "Equation", "Figure", "Table")
_NUMBER = re.compile(rf"({'|'.join(NUMBERED)}) \(?(\d+)\)?(?:\([a-z]\))?")


class Row(NamedTuple):
    """One statement."""

    name: str
    says: str
    claims: tuple[str, ...]
    chapter: str
    figure: str


def read(path: Path) -> dict[str, list[Row]]:
    """Section -> its statements."""
    try:
        sections = {title: [_row(name, given) for name, given in _mapping(rows, title).items()]
                    for title, rows in strict_yaml.read(path).get("paper", {}).items()}  # fmt: skip
    except strict_yaml.Unreadable as error:
        raise BuildError(f"{path.name}: {error}") from None
    return sections


def _row(name: str, given: object) -> Row:
    given = _mapping(given, name)
    if unknown := given.keys() - set(Row._fields[1:]):
        raise strict_yaml.Unreadable(f"{name}: unknown {', '.join(sorted(unknown))}")
    claims = given.get("claims", [])
    if not isinstance(claims, list) or not all(re.fullmatch(r"[CEB]\d+", str(claim)) for claim in claims):
        raise strict_yaml.Unreadable(f"{name}: claims must be a list of identifiers, not {claims!r}")
    texts = {key: given.get(key, "") for key in ("says", "chapter", "figure")}
    for key, text in texts.items():
        if not isinstance(text, str):
            raise strict_yaml.Unreadable(f"{name}: {key} must be text, not {text!r}")
    if not claims and not (texts["says"] and texts["chapter"]):
        raise strict_yaml.Unreadable(f"{name}: without claims, it needs both says and chapter")
    return Row(name, claims=tuple(claims), **texts)


def _mapping(given: object, name: str) -> dict:
    if not isinstance(given, dict) or not given:
        raise strict_yaml.Unreadable(f"{name}: expected a mapping, not {given!r}")
    return given


def number(name: str) -> tuple[str, int] | None:
    """Kind and number of a statement that the paper numbers.

    Examples
    --------
    >>> number("Theorem 2"), number("Equation (1)"), number("Figure 2(a)"), number("Remark on Dist-1")
    (('Theorem', 2), ('Equation', 1), ('Figure', 2), None)
    """
    found = _NUMBER.match(name)
    return (found[1], int(found[2])) if found else None
