r"""Verdicts on what the paper says, made by running code.

A chapter gathers evidence and records it; the verdict follows from the evidence and is typed nowhere::

    cr.claims.record(
        "C22",
        cr.claims.identity("the closed form is the integral", L - closed_form),
        also=[cr.claims.agreement("the same in numbers", numeric, quadrature, tolerance=1e-12)],
    )

Each piece of evidence is of one kind, and computes by itself whether it holds and the figure that shows it:

========================== ============== =================================================================
function                   carries        holds when
========================== ============== =================================================================
`identity`                 proved         each difference simplifies to zero
`argument`                 proved         each step of an exact argument is true
`agreement`                exact          values agree to a stated tolerance
`bounded`                  exact          no value is beyond its limit, over a stated range
`simulation`               simulated      no mean is more standard errors off than its limit
`exceeds`                  simulated      each mean is some standard errors above its floor
`trend`                    trend          the exponent fitted over at least three decades is the claimed one
`counterexample`           refuted        the value breaks the printed relation
`readings`                 unclear        the reading that fits best is the one the page names
========================== ============== =================================================================

The verdict is the weakest of what is given; what is given in ``also`` must hold too, but does not weaken it. One
counterexample refutes, and then a corrected statement is due, with evidence of its own. When any piece does not hold
the verdict is *not shown*, and the build of the book says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from crowder import checked, results
from crowder.ledger.empirical import exceeds, simulation, trend
from crowder.ledger.evidence import Evidence, agreement, argument, bounded, counterexample, identity, readings

__all__ = [
    "NOT_CHECKED", "NOT_SHOWN", "VERDICTS", "Evidence",
    "agreement", "argument", "bounded", "counterexample", "exceeds", "identity", "readings", "record", "simulation",
    "trend", "verdict",
]  # fmt: skip

#: From the strongest support to the weakest, then the two that are none.
VERDICTS = ("proved", "exact", "simulated", "trend", "unclear", "refuted")
NOT_SHOWN = "not shown"
NOT_CHECKED = "not checked"

_ID = re.compile(r"[BCE](?:\d\d|[1-9]\d\d)")
_recorded: set[str] = set()


def verdict(evidence: Sequence[Evidence], also: Iterable[Evidence] = ()) -> str:
    """The verdict that evidence carries (see the table at the top of this module).

    Examples
    --------
    >>> import sympy as sp
    >>> verdict([identity("zero", sp.Integer(0)), trend("n", [1, 1000], [1, 1000], exponent=1, within=0.1)])
    'trend'
    """
    evidence, also = _all(evidence), _all(also)
    if not evidence:
        return NOT_CHECKED
    if not all(piece.holds for piece in [*evidence, *also]):
        return NOT_SHOWN
    return max((piece.kind for piece in evidence), key=VERDICTS.index)


def record(
    claim: str,
    *evidence: Evidence,
    also: Sequence[Evidence] = (),
    corrected: Sequence[Evidence] = (),
    corrected_also: Sequence[Evidence] = (),
) -> str:
    """Show the verdict on a claim and, while the book is built, put it into the ledger.

    Parameters
    ----------
    claim : str
        Its identifier, a letter and two or three digits: C for a claim of the paper, E for an erratum, B for a
        statement of the book's own.
    *evidence : Evidence
        What the verdict rests on; together it covers the whole claim.
    also : sequence of Evidence
        Further support, which must hold and does not weaken the verdict.
    corrected, corrected_also : sequence of Evidence
        For a refuted claim: the same for the corrected statement.

    Returns
    -------
    str
        The verdict.

    Raises
    ------
    ValueError
        For an identifier of another form, no evidence, a refuted claim without evidence for its correction, a
        counterexample where it would refute nothing or the correction, or, while the book is built, a claim recorded
        twice.

    Notes
    -----
    Nothing is raised when evidence does not hold: all verdicts that moved are reported together, by the build.

    Examples
    --------
    >>> import sympy as sp
    >>> record("C99", identity("one is one", sp.Integer(1) - 1))
    **C99: proved**
    <BLANKLINE>
    - one is one: 1 identity, difference 0
    'proved'
    """
    if not isinstance(claim, str) or not _ID.fullmatch(claim):
        raise ValueError(f"claim {claim!r}: expected C, E or B and two or three digits")
    if not evidence:
        raise ValueError(f"{claim}: no evidence was given")
    evidence, also, corrected, corrected_also = map(_all, (evidence, also, corrected, corrected_also))
    refuted = any(piece.kind == "refuted" for piece in evidence)
    if refuted != bool(corrected):
        raise ValueError(f"{claim}: a counterexample and a corrected statement come together")
    if corrected_also and not corrected:
        raise ValueError(f"{claim}: further evidence for a corrected statement that is not there")
    if any(piece.kind == "refuted" for piece in [*(() if refuted else also), *corrected, *corrected_also]):
        raise ValueError(f"{claim}: a counterexample stands among the evidence for a claim, and nowhere else")
    if results.folder() is not None and claim in _recorded:
        raise ValueError(f"{claim} was recorded twice in one run; it has one place")
    _recorded.add(claim)
    facts = {
        "kind": "claim",
        "name": claim,
        "verdict": verdict(evidence, also),
        "evidence": [piece._asdict() for piece in [*evidence, *also]],
        "corrected": verdict(corrected, corrected_also) if corrected else None,
        "corrected_evidence": [piece._asdict() for piece in [*corrected, *corrected_also]],
    }
    if (folder := results.folder()) is not None:
        results.write(folder / "claims" / f"{claim}.json", results.as_json(facts))
    lines = [f"**{claim}: {facts['verdict']}**", "", *map(_line, facts["evidence"])]
    if corrected:
        lines += ["", f"Corrected: **{facts['corrected']}**", "", *map(_line, facts["corrected_evidence"])]
    text = "\n".join(lines)
    results.display({"text/markdown": text, "text/plain": text}, facts)
    return facts["verdict"]


def _all(pieces: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The pieces, each checked to be one; a tuple, since of an iterator a check would leave nothing."""
    pieces = tuple(checked.kind(pieces, Iterable, "several pieces of evidence are needed, as a list"))
    for piece in pieces:
        if not isinstance(piece, Evidence):
            raise TypeError(f"evidence comes from a function such as `agreement`; {piece!r} is none")
    return pieces


def _line(piece: Mapping) -> str:
    return f"- {'' if piece['holds'] else '**does not hold** – '}{piece['what']}: {piece['figure']}"
