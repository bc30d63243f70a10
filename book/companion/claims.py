r"""Claims as functions: the statement, its status and the evidence, in one place.

A module of `book.claims` lists the claims of one chapter, each a function that yields its evidence::

    claim, check = of_chapter(__name__)

    @claim("C09", place="Theorem 2", status="refuted", basis="proved",
           statement=r"Edge ordering asks at most ...", corrected=r"With a factor more: at most ...",
           proof="05-edge-ordering#thm-edge-repaired", prose="that a component is an independent set",
           touches=["general densities"], affects="densities in general; not Dist-1 or Dist-2 at the sizes tried",
           stands="its consequences for both models",
           code=[cr.edge_bound], test="test_bounds.py::test_seventy_five_records_exceed_theorem_2")
    def theorem_2(sizes=(38, 37), p=Fraction(1, 56)):
        yield counterexample("38 and 37 records", value=..., relation="at most", printed=...)
        yield corrected(identity("the sums in the proof", ...))
        yield corrected(also(bounded("exact counts", ...)))

Its parameters have small defaults, so `pytest book/claims` runs it without a notebook; the chapter passes in what it
has just computed, ``check("C09", sizes=sizes)``, and the page shows the result. The **status** says what became of the
printed statement, the **basis** how we know. Both are declared with the claim and must follow from its evidence:

====================== ========================= ==================================================================
status                 needs                     means
====================== ========================= ==================================================================
holds                  no counterexample         as printed
holds with a caveat    a counterexample, and a   true once a condition that the text leaves out is added
                       statement that holds
misprint               the same                  a number, a name or a list on which nothing else depends
refuted                the same                  the statement that holds is materially different
undecided              `readings`                the text leaves open what was done, or the data cannot be obtained
====================== ========================= ==================================================================

====================== ========================= ==================================================================
function               basis                     holds when
====================== ========================= ==================================================================
`identity`             proved                    each difference, with symbols, simplifies to zero
`inequality`           proved                    each expression is nonnegative for all values of its symbols
`cases`                exact                     something is true in each case tried
`agreement`            exact                     values agree to a stated tolerance
`bounded`              exact                     no value is beyond its limit, over a stated range
`simulation`           simulated                 no mean is more standard errors off than its limit
`exceeds`              simulated                 each mean is some standard errors above its floor
`trend`                trend                     the exponent fitted over at least three decades is the claimed one
`limit`                trend                     values over at least three decades come close to the claimed limit
`counterexample`       (refutes)                 the value breaks the printed relation
`vanishing`            (refutes)                 what is needed tends to 0, relative to the printed form
`none_needed`          (refutes)                 nothing is needed, where the printed form is positive
`readings`             (undecided)               the reading that fits best is the one the page names
====================== ========================= ==================================================================

The basis is that of the weakest evidence for the statement that holds, which is the printed or the corrected one.
Evidence wrapped in `also` must hold, too, but does not weaken the basis. The page folds the evidence; `says` gives a
piece the one plain sentence that stands in its place ("all 576 counts are at most 6.6 % of the worst case").

A claim is *proved* by a written argument: ``proof`` names the page and the label of where it stands, ``prose`` says
which parts of it no code checks, and the evidence has the identities and inequalities on which it rests. Without
``proof`` these are calculations, which are exact. A universal statement that was only tried is exact at the cases
tried, which the page names (`Evidence.where`).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from book.companion import results
from book.companion.empirical import exceeds, limit, simulation, trend
from book.companion.evidence import (
    Evidence,
    agreement,
    bounded,
    cases,
    counterexample,
    identity,
    inequality,
    none_needed,
    readings,
    vanishing,
)
from crowder import validation

__all__ = [
    "BASES", "KINDS", "NOT_CHECKED", "NOT_SHOWN", "STATUSES", "TOUCHED", "Claim", "Evidence",
    "agreement", "also", "bounded", "cases", "corrected", "counterexample", "exceeds", "identity", "inequality",
    "limit", "none_needed", "of_chapter", "outcome", "readings", "says", "simulation", "trend", "vanishing",
]  # fmt: skip

STATUSES = ("holds", "holds with a caveat", "misprint", "refuted", "undecided")
#: From strongest to weakest.
BASES = ("proved", "exact", "simulated", "trend")
#: What kind of statement it is; errata are ordered by it.
KINDS = ("result", "condition", "wording", "misprint")
#: What a claim of the paper or an erratum may touch; some touch nothing of it.
TOUCHED = ("general densities", "F_g <= F_r", "Dist-1", "Dist-2", "experiments")
#: Instead of a status: some evidence does not hold; there is no evidence.
NOT_SHOWN, NOT_CHECKED = "not shown", "not checked"

#: Statuses that require a corrected statement.
AMENDED = ("holds with a caveat", "misprint", "refuted")

_ID = re.compile(r"[BCE](?:\d\d|[1-9]\d\d)")
_PROOF = re.compile(r"[\w/-]+#[\w-]+")
_checked: set[str] = set()


@dataclass(frozen=True)
class Claim:
    """One claim, made by the decorator from `of_chapter`; see the docstring of this module."""

    id: str
    place: str
    statement: str
    status: str
    basis: str
    evidence: Callable[..., Iterator[Evidence]] = field(repr=False)
    module: str
    kind: str = "result"
    corrected: str = ""
    affects: str = ""
    stands: str = ""
    about: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    proof: str = ""
    prose: str = ""
    touches: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not _ID.fullmatch(self.id):
            raise ValueError(f"claim {self.id!r}: expected C, E or B and two or three digits")
        for name, value, known in (
            ("status", self.status, STATUSES), ("kind", self.kind, KINDS),
            ("basis", self.basis, ("",) if self.status == "undecided" else BASES),
        ):  # fmt: skip
            if value not in known:
                raise ValueError(f"{self.id}: {name} {value!r}; expected one of {', '.join(map(repr, known))}")
        for name in ("place", "statement"):
            text = getattr(self, name)
            if not isinstance(text, str):
                raise TypeError(f"{self.id}: {name} must be text, not {text!r}")
            if not text.strip():
                raise ValueError(f"{self.id}: {name} is empty")
        if bool(self.corrected) != (self.status in AMENDED):
            raise ValueError(f"{self.id}: a claim that is {self.status} "
                             f"{'needs a' if self.status in AMENDED else 'has no'} corrected statement")  # fmt: skip
        self._check_declared()

    def _check_declared(self) -> None:
        """Check that what the page says besides the verdict is there, and nothing that the verdict rules out."""
        proved, of_paper = self.basis == "proved", self.id[0] in "CE"
        for name, given, wanted, why in (
            ("proof", self.proof, proved, "a proved claim names its written argument, as page#label; no other does"),
            ("prose", self.prose, proved, "a proved claim says which parts are prose only; no other does"),
            ("affects", self.affects, of_paper and self.status in AMENDED, ""),
            ("stands", self.stands, of_paper and self.kind == "result" and self.status != "holds", ""),
        ):
            if wanted and not given:
                raise ValueError(f"{self.id}: {name} is missing" + f" ({why})" * bool(why))
            if given and why and not wanted:
                raise ValueError(f"{self.id}: {name} is given ({why})")
        if self.proof and not _PROOF.fullmatch(self.proof):
            raise ValueError(f"{self.id}: proof {self.proof!r}; expected a page and a label, as page#label")
        if of_paper and self.touches is None:
            raise ValueError(f"{self.id}: touches is missing; list some of {TOUCHED}, or nothing")
        validation.kind(self.touches, (tuple, type(None)), f"{self.id}: touches must be a list of names")
        if odd := [name for name in self.touches or () if name not in TOUCHED]:
            raise ValueError(f"{self.id}: touches {odd[0]!r}; expected some of {', '.join(map(repr, TOUCHED))}")

    def gather(self, **given: Any) -> list[Evidence]:
        """The pieces of evidence; an exception becomes a final piece that does not hold.

        Raises
        ------
        TypeError
            If the claim does not accept an argument, or yields something that is not `Evidence`.
        """
        arguments = inspect.signature(self.evidence).bind(**given).arguments
        pieces: list[Evidence] = []
        try:
            pieces.extend(self.evidence(**arguments))
        except Exception as error:  # a broken formula affects only this claim; the chapter goes on
            pieces.append(Evidence("error", f"{type(error).__name__}: {error}", False, "no result"))
        return [_evidence(piece, f"{self.id}: ") for piece in pieces]

    def check(self, **given: Any) -> str:
        """Gather the evidence, display the result and, during a build, record it for the ledger."""
        facts = self.record(self.gather(**given))
        if (folder := results.folder()) is not None:
            if self.id in _checked:
                raise ValueError(f"{self.id} was checked twice in one run")
            _checked.add(self.id)
            results.write(folder / "claims" / f"{self.id}.json", results.as_json(facts))
        text = "\n".join([f"**{self.id}: {facts['status']}**" + (f" ({facts['basis']})" if facts["basis"] else ""), "",
                          *(_line(piece) for piece in facts["evidence"])])  # fmt: skip
        results.display({"text/markdown": text, "text/plain": text}, facts)
        return facts["status"]

    def record(self, pieces: Sequence[Evidence]) -> dict[str, Any]:
        """The entry for the ledger: status, basis and each piece of evidence."""
        status, basis = outcome(pieces)
        if basis == "proved" and not self.proof:
            basis = "exact"  # calculations with symbols, but no written argument that rests on them
        if status == "counterexample":  # how serious it is must be judged, and the claim declares it
            status = self.status if self.status in AMENDED else NOT_SHOWN
        elif status not in (self.status, NOT_SHOWN, NOT_CHECKED):
            status = NOT_SHOWN
        where = dict.fromkeys(piece.where for piece in _carrying(pieces) if piece.where and basis == "exact")
        return {"kind": "claim", "name": self.id, "status": status, "basis": basis, "where": "; ".join(where),
                "evidence": [piece._asdict() for piece in pieces]}  # fmt: skip


def outcome(pieces: Iterable[Evidence]) -> tuple[str, str]:
    """The result of evidence ("holds", "counterexample", "undecided", "not shown" or "not checked") and its basis.

    Examples
    --------
    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> outcome([identity("zero", (x, x)), trend("n", [1, 1000], [1, 1000], exponent=1, within=0.1)])
    ('holds', 'trend')
    >>> outcome([counterexample("three", value=3, relation="at most", printed=2)])  # a corrected statement is missing
    ('not shown', '')
    """
    several = validation.kind(pieces, Iterable, "pieces of evidence must be a list")
    pieces = [_evidence(piece) for piece in several]
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


def _carrying(pieces: Iterable[Evidence]) -> list[Evidence]:
    """The pieces on which the basis rests: those for the statement that holds, without support."""
    pieces = list(pieces)
    refuted = any(piece.kind == "counterexample" and not piece.corrected for piece in pieces)
    return [p for p in pieces if p.corrected == refuted and not p.also and p.kind in BASES]


def also(piece: Evidence) -> Evidence:
    """Mark a piece as additional support: it must hold, but does not weaken the basis.

    Examples
    --------
    >>> outcome([agreement("two", 2, 2), also(trend("n", [1, 1000], [1, 1000], exponent=1, within=0.1))])
    ('holds', 'exact')
    """
    return _evidence(piece)._replace(also=True)


def says(piece: Evidence, sentence: str) -> Evidence:
    """Give a piece the sentence that the page shows while the evidence is folded; a claim needs one.

    Examples
    --------
    >>> says(agreement("two", 2, 2), "Two is 2.").says
    'Two is 2.'
    """
    if not isinstance(sentence, str) or not sentence.strip():
        raise ValueError(f"what {_evidence(piece).what!r} says must be a sentence, not {sentence!r}")
    return _evidence(piece)._replace(says=" ".join(sentence.split()))


def corrected(piece: Evidence) -> Evidence:
    """Mark a piece as evidence for the corrected statement.

    Examples
    --------
    >>> outcome([counterexample("3", value=3, relation="at most", printed=2), corrected(agreement("3", 3, 3))])
    ('counterexample', 'exact')
    """
    return _evidence(piece)._replace(corrected=True)


def of_chapter(module: str) -> tuple[Callable[..., Any], Callable[..., None]]:
    """The decorator that adds a claim to a module of `book.claims`, and the `check` that its chapter calls.

    Parameters
    ----------
    module : str
        The module's ``__name__``.

    Returns
    -------
    claim, check : callable
        ``claim(id, place=..., statement=..., status=..., basis=..., ...)`` decorates a generator of evidence, whose
        parameters all have defaults; the claim is then an attribute of the module. ``check(id, **given)`` runs it.

    Examples
    --------
    >>> import sympy as sp
    >>> claim, check = of_chapter("book.claims.example")
    >>> @claim("C99", place="here", statement="Twice one is two.", status="holds", basis="exact", touches=())
    ... def twice_one(one=1):
    ...     yield identity("twice one", sp.Integer(one) * 2 - 2)
    >>> check("C99")
    **C99: holds** (exact)
    <BLANKLINE>
    - twice one: 1 identity, difference 0
    >>> check("C99", one=2)
    **C99: not shown** (exact)
    <BLANKLINE>
    - **does not hold** – twice one: difference $2$
    """
    known: dict[str, Claim] = {}

    def claim(
        id: str,
        *,
        place: str,
        statement: str,
        status: str = "holds",
        basis: str = "",
        kind: str = "result",
        corrected: str = "",
        affects: str = "",
        stands: str = "",
        about: str | Sequence[str] = (),
        code: Any = (),
        test: str | Sequence[str] = (),
        proof: str = "",
        prose: str = "",
        touches: str | Sequence[str] | None = None,
    ) -> Callable[[Callable[..., Iterator[Evidence]]], Claim]:
        def add(evidence: Callable[..., Iterator[Evidence]]) -> Claim:
            if id in known:
                raise ValueError(f"{module} has two claims {id}")
            for parameter in inspect.signature(evidence).parameters.values():
                if parameter.default is parameter.empty:
                    raise TypeError(f"{id}: {parameter.name} needs a small default, so that it runs without a notebook")
            known[id] = Claim(
                id, _plain(place), _plain(statement), status, basis, evidence, module, kind, _plain(corrected),
                _plain(affects), _plain(stands), _several(about), tuple(map(_dotted, _several(code))), _several(test),
                proof, _plain(prose), None if touches is None else _several(touches),
            )  # fmt: skip
            return known[id]

        return add

    def check(id: str, **given: Any) -> None:  # a notebook would show what is returned
        if id not in known:
            raise ValueError(f"{module} has no claim {id!r}; it has {', '.join(known) or 'none'}")
        known[id].check(**given)

    return claim, check


def _evidence(piece: Any, where: str = "") -> Evidence:
    if not isinstance(piece, Evidence):
        raise TypeError(f"{where}expected evidence, made by a function such as `agreement`, not {piece!r}")
    return piece


def _several(value: Any) -> tuple:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _plain(text: str) -> str:
    return " ".join(validation.kind(text, str, "the texts of a claim must be strings").split())


def _dotted(code: Any) -> str:
    """The dotted name of code, given as text or as the object itself."""
    code = getattr(code, "py_func", code)  # the Python function behind a compiled one
    if isinstance(code, str):
        return code
    if not hasattr(code, "__qualname__"):
        raise TypeError(f"code must be a name, a function or a class, not {code!r}")
    return f"{code.__module__}.{code.__qualname__}"


def _line(piece: Mapping[str, Any]) -> str:
    role = "*instead:* " if piece["corrected"] else ""
    return f"- {role}{'' if piece['holds'] else '**does not hold** – '}{piece['what']}: {piece['figure']}"
