r"""Evidence for a claim, computed in the chapter: what carries it, what it shows, and on what basis.

The words of a claim are in ``book/data/claims.yml``, its evidence in the cell under the statement::

    printed = (1 - e) / ((1 + e) * (t + 1)) * (1 + e * ((1 - e) / 2) ** (t - 1))
    check("C22", identity(derived["dist1"] - printed))

One to three pieces carry a claim. The **status** is the verdict on the printed statement, and the **basis** says how we
know. Both are declared in the data and found by the chapter; a difference stops the build (`book.reports.ledger`). On
``book/pages/paper.md`` both are explained. A statement *holds* without a counterexample; it is amended (a caveat, a
misprint, a slip, refuted) if there is one, and evidence for what holds instead; `readings` leave it *undecided*.

====================== ========================= ==================================================================
function               basis                     holds when
====================== ========================= ==================================================================
`identity`             proved                    each difference, with symbols, simplifies to zero
`inequality`           proved                    each expression is nonnegative for all values of its symbols
`agreement`            exact, or as told         values agree to a stated tolerance
`bounded`              exact, or as told         no value is beyond its limit, over a stated range
`cellwise`             proved                    by intervals, a value is at most its limit in each of some cells
`simulation`           simulated or recorded     no mean is more standard errors off than its limit
`exceeds`              simulated or recorded     each mean is some standard errors above its floor
`trend`                trend                     the exponent fitted over at least three decades is the claimed one
`counterexample`       (refutes)                 the value breaks the printed relation
`vanishing`            (refutes)                 what is needed tends to 0, relative to the printed form
`readings`             (undecided)               the reading that fits best is the one the page names
====================== ========================= ==================================================================

The claim and the text around it say what a piece is about; the record has the code of the piece, as it stands in the
call of `check`. The basis is that of the weakest piece for the statement that holds: the printed one or, for pieces
wrapped in `corrected`, the one in its place. A piece wrapped in `also` repeats by weaker means what another one shows:
it must hold, but gives no basis. The basis of a piece follows from its numbers: those from random runs are *simulated*,
however they are compared, those that were read and not computed in this build *recorded*. The frames of `sweep` and
`recorded` say so themselves (`book.companion.evidence.based`), and of other numbers the call does. A claim is *proved*
only by a written argument besides, which the data name as ``proof: page#label``; without one these are calculations,
and *exact*. Where the code does not derive the statement itself, but checks calculations within the argument, the data
say *argued*. A universal statement that was only tried is exact for the cases tried, which the page names
(`Evidence.where`).
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Sequence
from types import FrameType

from book.companion import results
from book.companion.evidence import (
    Evidence,
    agreement,
    bounded,
    counterexample,
    exceeds,
    identity,
    inequality,
    readings,
    simulation,
    trend,
    vanishing,
)
from book.companion.results import NOT_CHECKED, NOT_SHOWN

__all__ = [
    "BASES", "NOT_CHECKED", "NOT_SHOWN", "Evidence", "agreement", "also", "bounded", "check", "corrected",
    "counterexample", "exceeds", "identity", "inequality", "outcome", "readings", "simulation", "trend",
    "vanishing",
]  # fmt: skip

#: From strongest to weakest.
BASES = ("proved", "exact", "simulated", "trend", "recorded")
#: This many characters of the code of a piece are shown.
_LONGEST = 200


def check(claim: str, *pieces: Evidence, says: str = "") -> None:
    """Display what the evidence for a claim shows and, during a build, record it.

    Its identifier is written out: the build looks for it in the cells. While the evidence is folded, the page shows the
    sentence `says` or, without it, the figure of the decisive piece. In a notebook the claim has an anchor.

    >>> check("C99", agreement(2 * 1, 2), says="Twice one is two.")
    **C99: holds** (exact). Twice one is two.
    <BLANKLINE>
    - equal: 2, by `agreement(2 * 1, 2)`
    """
    codes = _codes(sys._getframe(1), pieces)
    pieces = tuple(piece._replace(what=_as_code(code)) for piece, code in zip(pieces, codes, strict=True))
    found, basis = outcome(pieces)
    where = dict.fromkeys(piece.where for piece in _carrying(pieces) if piece.where and basis == "exact")
    facts = {"kind": "claim", "name": claim, "found": found, "basis": basis, "where": "; ".join(where),
             "says": " ".join(says.split()),
             "evidence": [{key: value for key, value in piece._asdict().items() if key != "compared"}
                          for piece in pieces]}  # fmt: skip
    more = {"code": codes, "compared": [piece.compared for piece in pieces]}  # for book.check
    if (folder := results.folder()) is not None:
        results.write(folder / "claims" / f"{claim}.json", results.as_json(facts | more))
    words = "does not hold as printed" if found == "counterexample" else found
    verdict = f"**{claim}: {words}**" + (f" ({basis})" if basis else "")
    text = "\n".join([f"{verdict}. {facts['says']}".strip(), "", *map(_line, pieces)])
    results.display({"text/markdown": f'<a id="claim-{claim.lower()}"></a>{text}', "text/plain": text}, facts)


def outcome(pieces: Sequence[Evidence]) -> tuple[str, str]:
    """The result of evidence ("holds", "counterexample", "undecided", "not shown" or "not checked") and its basis.

    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> outcome([identity((x, x)), trend([1, 1000], [1, 1000], exponent=1, within=0.1)])
    ('holds', 'trend')
    """
    if not pieces:
        return NOT_CHECKED, ""
    printed = [piece for piece in pieces if not piece.corrected]
    refuted = any(piece.kind == "counterexample" for piece in printed)
    misplaced = any(piece.kind == "counterexample" for piece in pieces if piece.corrected)
    carrying = _carrying(pieces)
    basis = max((p.kind for p in carrying), key=BASES.index, default="")
    if not all(piece.holds for piece in pieces) or misplaced or refuted != any(p.corrected for p in pieces):
        return NOT_SHOWN, basis
    if any(piece.kind == "readings" for piece in printed):  # a statement cannot be both refuted and undecided
        return (NOT_SHOWN, basis) if refuted else ("undecided", "")
    return ("counterexample" if refuted else "holds", basis) if carrying else (NOT_SHOWN, "")


def _carrying(pieces: Sequence[Evidence]) -> list[Evidence]:
    """The pieces on which the basis rests: those for the statement that holds."""
    refuted = any(piece.kind == "counterexample" and not piece.corrected for piece in pieces)
    return [p for p in pieces if p.corrected == refuted and p.kind in BASES and not p.also]


def corrected(piece: Evidence) -> Evidence:
    """Mark a piece as evidence for the corrected statement.

    >>> outcome([counterexample(3, "at most", 2), corrected(agreement(3, 3))])
    ('counterexample', 'exact')
    """
    return piece._replace(corrected=True)


def also(piece: Evidence) -> Evidence:
    """Mark a piece that shows by weaker means what another one shows, too: it must hold, but gives no basis.

    >>> outcome([agreement(3, 3), also(simulation(3.1, 0.1, 3, size=100))])
    ('holds', 'exact')
    """
    return piece._replace(also=True)


def _codes(frame: FrameType, pieces: Sequence[Evidence]) -> list[str]:
    """The code of each piece in the call of `check` that this frame makes; empty where there is no source."""
    spot = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    source = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and spot == (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset):
            given = node.args[1:]
            each = len(pieces) - len(given) + 1  # how many pieces a starred argument stands for
            return [_code(one) for one in given for _ in range(each if isinstance(one, ast.Starred) else 1)]
    return [""] * len(pieces)


def _code(argument: ast.expr) -> str:
    """The code of a piece, without what marks it as corrected."""
    if isinstance(argument, ast.Starred):
        argument = argument.value
    if isinstance(argument, ast.Call) and ast.unparse(argument.func).rpartition(".")[2] in ("also", "corrected"):
        argument = argument.args[0]
    return " ".join(ast.unparse(argument).split())


def _as_code(text: str) -> str:
    """The code of a piece as Markdown, shortened; empty if it is not known."""
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"`{text}`" * bool(text) if "`" not in text else f"`` {text} ``"


def _line(piece: Evidence) -> str:
    role = "*instead:* " if piece.corrected else "*also:* " if piece.also else ""
    words = f"{'' if piece.holds else '**does not hold** – '}{piece.figure}"
    return f"- {role}{words}{f', by {piece.what}' * bool(piece.what)}"
