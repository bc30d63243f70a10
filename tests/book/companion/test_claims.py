"""Claims: every kind of evidence, holding and not; the resulting status; the record of a check."""

import ast
import importlib
import json
import math
import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import book.claims
import book.companion.results
from book.companion import claims
from book.companion.claims import (
    BASES,
    KINDS,
    NOT_CHECKED,
    NOT_SHOWN,
    STATUSES,
    TOUCHED,
    Claim,
    Evidence,
    agreement,
    also,
    bounded,
    cases,
    corrected,
    counterexample,
    exceeds,
    identity,
    inequality,
    limit,
    none_needed,
    of_chapter,
    outcome,
    readings,
    says,
    simulation,
    trend,
    vanishing,
)

x, t = sp.symbols("x t", positive=True)
NAN, INF = math.nan, math.inf
DECADES = np.array([1.0, 10.0, 100.0, 1000.0])

KINDS_OF_EVIDENCE = (*BASES, "counterexample", "readings")

#: kind, evidence that holds, evidence of the same kind that just does not.
PAIRS = [
    ("proved", identity("square", (x + 1) ** 2 - x**2 - 2 * x - 1), identity("wrong", (x + 1) ** 2 - x**2 - x - 1)),
    ("proved", identity("two", (x, x), (t, t)), identity("the second is wrong", x - x, t - x)),
    # A pair keeps the symbols that sympy cancels at once.
    ("proved", identity("a pair", (x, x), (sp.sin(t) ** 2, 1 - sp.cos(t) ** 2)), identity("a pair", (x, x), (x, t))),
    # x² - x is negative below 1; x - ln(1 + x) and its derivative are 0 at 0 and grow; 1/(1 - x) changes sign at 1.
    ("proved", inequality("range", x**2 - x, over={x: (1, sp.oo)}), inequality("range", x**2 - x)),
    ("proved", inequality("monotone", x - sp.log(1 + x)), inequality("monotone", sp.log(1 + x) - x)),
    ("proved", inequality("two symbols", x**2 + t**2 - 2 * x * t, t),
     inequality("two symbols", t, x**2 + t**2 - 3 * x * t)),
    ("proved", inequality("a pole", 1 / (1 - x), over={x: (0, 1)}), inequality("a pole", 1 / (1 - x))),
    ("proved", inequality("an end", 1 - x**2, over={x: (0, 1)}), inequality("beyond it", 1 - x**2, over={x: (0, 2)})),
    # 4/(1 + r)² - 1 + ln r falls to 0 at r = 1, as a sum; 1/x - 2 + ln(x)/(1 - x)² is -2.8 at ½ and has a pole.
    (
        "proved",
        inequality("a sum", 4 / (1 + x) ** 2 - 1 + sp.log(x), over={x: (sp.Rational(1, 3), 1)}),
        inequality("a pole in a sum", 1 / x - 2 + sp.log(x) / (1 - x) ** 2),
    ),
    # Neither differentiable nor real everywhere: nothing may be said of either.
    ("proved", inequality("a root", sp.sqrt(x)), inequality("steps", sp.floor(x) - x / 2, over={x: (0, 3)})),
    ("proved", inequality("logarithm", sp.log(x), over={x: (1, 9)}), inequality("of a sign", sp.sqrt(x - 1))),
    ("exact", identity("numbers", sp.Rational(1, 3) - sp.Rational(2, 6)), identity("numbers", sp.Integer(1))),
    ("exact", cases("decided", x > 0, True, np.bool_(True), where="h"), cases("undecided", x > 0, x > 1, where="h")),
    ("exact", cases("true", sp.true, where="h"), cases("false", sp.true, sp.false, where="h")),
    ("exact", agreement("numbers", [1.0, 2.0], [1.0, 2.1], tolerance=0.11), agreement("off", 2.0, 2.1, tolerance=0.09)),
    ("exact", agreement("fractions", Fraction(1, 3), Fraction(2, 6)), agreement("rounded", 0.3333, Fraction(1, 3))),
    ("exact", agreement("symbols", 1 / (1 + x), (1 - x) / (1 - x**2)), agreement("other", 1 / (1 + x), 1 - x)),
    ("exact", agreement("share", 101, 100, tolerance=0.011, relative=True),
     agreement("share", 101, 100, tolerance=0.009, relative=True)),
    ("exact", agreement("both infinite", [INF, sp.oo], [INF, sp.oo]), agreement("one infinite", INF, 1.0, tolerance=1)),
    ("exact", bounded("below", [1, 2], [1, 3]), bounded("above", [1, 3.1], [1, 3])),
    ("exact", bounded("up to rounding", 0.1 + 0.2, 0.3), bounded("beyond it", 0.3 + 1e-9, 0.3)),
    ("simulated", simulation("near", [1.0, 2.0], 0.1, [1.3, 2.0], size=9), simulation("far", 1.0, 0.1, 1.5, size=9)),
    ("simulated", simulation("no spread", 1277, 0, 1277, size=9), simulation("no spread", 1277, 0, 1278, size=9)),
    ("simulated", simulation("limit", 0.0, 1.0, 4.5, size=9, limit=5), simulation("limit", 0.0, 1.0, 4.5, size=9)),
    ("simulated", exceeds("above", [1.0, 9.0], 0.1, 0.5, size=9), exceeds("one is not", [1.0, 0.8], 0.1, 0.5, size=9)),
    ("simulated", exceeds("no spread", 2, 0, 1, size=9), exceeds("no spread", 1, 0, 2, size=9)),
    ("trend", trend("square", DECADES, 3 * DECADES**2, exponent=2, within=1e-9),
     trend("no square", DECADES, DECADES**2 * [1, 1, 1, 2], exponent=2, within=0.05)),
    ("trend", limit("a half", DECADES, 2 - 1 / DECADES, 2, within=1.01e-3),
     limit("not yet", DECADES, 2 - 1 / DECADES, 2, within=0.99e-3)),
    # From any side and in any order of x; but a value that goes away again is not on its way.
    ("trend", limit("around", DECADES[::-1], -1 + np.array([1, -10, 100, -900]) / 1e4, -1, within=1e-3),
     limit("away", DECADES, [1.5, 1.1, 1.4, 1.0], 1, within=0.1)),
    ("counterexample", counterexample("more", value=3, relation="at most", printed=2),
     counterexample("as much", value=2, relation="at most", printed=2)),
    ("counterexample", counterexample("less", value=1, relation="at least", printed=Fraction(3, 2)),
     counterexample("more", value=2, relation="at least", printed=Fraction(3, 2))),
    ("counterexample", counterexample("other", value=Fraction(1, 8), relation="equal", printed=Fraction(1, 4)),
     counterexample("within the margin", value=0.2501, relation="equal", printed=0.25, margin=1e-3)),
    ("counterexample", vanishing("falls", 1 / x, x, sp.oo), vanishing("to a half", (1 + x) / (2 * x), x, sp.oo)),
    ("counterexample", vanishing("from below", 1 - x, x, 1, direction="-"), vanishing("grows", x, x, sp.oo)),
    ("counterexample", none_needed("nothing", 0, 3), none_needed("something", 1, 3)),
    ("counterexample", none_needed("nothing", Fraction(0), 0.5), none_needed("nothing printed", 0, 0)),
    ("readings", readings("best", {"a": 1.0, "b": 2.0}, fits="a", unit="z"),
     readings("second best", {"a": 1.0, "b": 2.0}, fits="b", unit="z")),
    ("readings", readings("one infinite", {"a": 1.0, "b": INF}, fits="a", unit="z"),
     readings("a draw", {"a": 1.0, "b": 1.0}, fits="a", unit="z")),
]  # fmt: skip


def test_every_kind_of_evidence_is_in_the_table():
    assert {kind for kind, _, _ in PAIRS} == set(KINDS_OF_EVIDENCE)


@pytest.mark.parametrize(("kind", "good", "bad"), PAIRS)
def test_evidence_decides_by_itself(kind, good, bad):
    assert (good.kind, good.holds) == (kind, True)
    assert (bad.kind, bad.holds) == (kind, False)
    assert not (good.also or good.corrected or bad.also or bad.corrected)
    # What goes into the notebook's metadata must be plain: NumPy's booleans are not JSON.
    assert json.loads(json.dumps([good._asdict(), bad._asdict()]))[1]["holds"] is False


@pytest.mark.parametrize(
    "piece",
    [
        identity("NaN", sp.nan),
        identity("infinite", sp.oo),
        inequality("NaN", x, sp.nan),
        cases("NaN", NAN <= 1, where="h"),
        limit("NaN", DECADES, [1, 1, NAN, 1], 1, within=9),
        limit("the last one NaN", DECADES, [1, 1, 1, NAN], 1, within=9),
        limit("infinite", DECADES, [1, 1, 1, INF], INF, within=9),
        agreement("NaN", [1.0, NAN], [1.0, NAN], tolerance=1),
        agreement("NaN, exactly", NAN, NAN),
        agreement("a share of nothing", [0.0, 1.0], [1e-9, 0.0], tolerance=1, relative=True),
        agreement("a symbol left", x, 1.0, tolerance=1),
        agreement("one value too many", [1.0, 2.0, 2.0], [1.0, 2.0], tolerance=1),
        agreement("none", [], [1.0], tolerance=1),
        bounded("NaN", [0.5, NAN], 1),
        bounded("a limit that is NaN", 0.5, NAN),
        bounded("a limit that limits nothing", 0.5, INF),
        bounded("no positive limit", -2.0, -1.0),
        bounded("a logarithm of nothing", [0.5, -INF], 1),
        simulation("NaN", [1.0, NAN], 0.1, 1.0, size=9),
        simulation("error NaN", 1.0, NAN, 1.0, size=9),
        simulation("error negative", 1.0, -0.1, 1.0, size=9),
        simulation("both infinite", INF, INF, 1.0, size=9),
        simulation("an error that nothing could miss", 7.0, INF, 1.0, size=9),
        simulation("an infinite mean", INF, 0.1, INF, size=9),
        exceeds("NaN", [9.0, NAN], 0.1, size=9),
        exceeds("error NaN", 9.0, NAN, size=9),
        exceeds("error negative", 9.0, -0.1, size=9),
        exceeds("an infinite mean", INF, 0.1, size=9),
        exceeds("error infinite", 9.0, INF, size=9, limit=0),
        trend("NaN", DECADES, [1, 10, NAN, 1000], exponent=1, within=9),
        trend("not positive", DECADES, [1, 10, 0, 1000], exponent=1, within=9),
        trend("infinite", DECADES, [1, 10, INF, 1000], exponent=1, within=9),
        counterexample("NaN", value=NAN, relation="at most", printed=1),
        counterexample("NaN printed", value=1, relation="equal", printed=NAN),
        counterexample("infinite", value=INF, relation="at most", printed=1),
        counterexample("infinite, exactly", value=sp.oo, relation="equal", printed=sp.Integer(1)),
        counterexample("printed infinite", value=1, relation="at least", printed=INF),
        none_needed("NaN", NAN, 1),
        none_needed("NaN printed", 0, NAN),
        none_needed("infinite", 0, INF),
        readings("NaN", {"a": 1.0, "b": 2.0, "c": NAN}, fits="a", unit="z"),
        readings("all NaN", {"a": NAN, "b": NAN}, fits="a", unit="z"),
        readings("a score below all numbers", {"a": -INF, "b": 2.0}, fits="a", unit="z"),
        readings("all infinite", {"a": INF, "b": INF}, fits="a", unit="z"),
    ],
    ids=lambda piece: f"{piece.kind}, {piece.what}",
)
def test_what_is_no_number_holds_for_nothing(piece):
    assert piece.holds is False
    assert piece.kind in KINDS_OF_EVIDENCE and piece.what not in KINDS_OF_EVIDENCE and piece.figure


#: Evidence that stands exactly on its limit, in halves and sixteenths, which floats hold; and the same a little beyond.
AT_THE_LIMIT = [
    (agreement("off by the tolerance", 1.5, 1.0, tolerance=0.5), agreement("more", 1.5625, 1.0, tolerance=0.5)),
    (agreement("off below", 0.5, 1.0, tolerance=0.5), agreement("more", 0.4375, 1.0, tolerance=0.5)),
    # A share of what was expected, not of what was found: 3 is 50% off 2, 2 is a third off 3.
    (agreement("share", 3, 2, tolerance=0.5, relative=True), agreement("m", 3.25, 2, tolerance=0.5, relative=True)),
    (agreement("minus", -3, -2, tolerance=0.5, relative=True), agreement("m", -3, 2, tolerance=0.5, relative=True)),
    (bounded("its limit", [1.0, 0.5], 1.0), bounded("beyond any rounding", [1.0, 1 + 4e-12], 1.0)),
    (simulation("four errors", 4.0, 1.0, 0.0, size=9), simulation("more", 4.0625, 1.0, 0.0, size=9)),
    (simulation("four errors below", -4.0, 1.0, 0.0, size=9), simulation("more", -4.0625, 1.0, 0.0, size=9)),
    (exceeds("four errors above nothing", 4.0, 1.0, size=9), exceeds("fewer", 3.9375, 1.0, size=9)),
    (counterexample("beyond", value=3.0625, relation="equal", printed=2, margin=1),
     counterexample("apart by the margin", value=3, relation="equal", printed=2, margin=1)),
    (counterexample("less", value=1, relation="at least", printed=2),
     counterexample("as much as it should be", value=2, relation="at least", printed=2)),
]  # fmt: skip


@pytest.mark.parametrize(("within", "beyond"), AT_THE_LIMIT)
def test_a_limit_belongs_to_what_it_limits(within, beyond):
    assert within.holds is True
    assert beyond.holds is False


def test_a_trend_needs_all_of_three_decades():
    assert trend("1 to 1000", [1, 1000], [1, 1000], exponent=1, within=1e-9).holds
    with pytest.raises(ValueError, match="three decades"):
        trend("1 to 999", [1, 999], [1, 999], exponent=1, within=1e-9)
    # The exponent is that of y in x, not the other way round, and may be off on either side.
    assert not trend("2 as 1", DECADES, DECADES**2, exponent=1, within=0.9).holds
    assert not trend("2 as 3", DECADES, DECADES**2, exponent=3, within=0.9).holds
    assert trend("half", DECADES, 5 * DECADES**0.5, exponent=0.5, within=1e-9).figure.startswith(
        "exponent 0.500, constant 5 over 3.0 decades"
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: identity("w"), "w: there is nothing"),
        (lambda: inequality("w"), "w: there is nothing"),
        (lambda: inequality("w", sp.Rational(1, 3)), "w: an inequality between numbers is no proof"),
        (lambda: cases("w", where="h"), "w: there is nothing"),
        (lambda: cases("w", True, where=" "), "w: where must say which cases were tried, not ' '"),
        (lambda: limit("w", [], [], 1, within=1), "w: there is nothing"),
        (lambda: limit("w", [1, 10, 100], [1, 1, 1], 1, within=1), "three decades, not 2.00"),
        (lambda: agreement("w", [], []), "w: there is nothing"),
        (lambda: bounded("w", [], []), "w: there is nothing"),
        (lambda: simulation("w", [], 1, 1, size=1), "w: there is nothing"),
        (lambda: exceeds("w", [], 1, size=1), "w: there is nothing"),
        (lambda: trend("w", [], [], exponent=1, within=1), "w: there is nothing"),
        (lambda: simulation("w", 1, 1, 1, size=0), "w: the number of runs must be at least 1, not 0"),
        (lambda: exceeds("w", 9, 1, size=0), "w: the number of runs must be at least 1, not 0"),
        (lambda: trend("w", [1, 10, 100], [1, 10, 100], exponent=1, within=1), "three decades, not 2.00"),
        (lambda: trend("w", [0, 10, 100], [1, 10, 100], exponent=1, within=1), "positive x"),
        (lambda: trend("w", DECADES, [1, 10], exponent=1, within=1), "positive x"),
        (lambda: counterexample("w", value=1, relation="below", printed=2), "relation 'below'"),
        (lambda: vanishing("w", sp.Integer(0), x, 0), "w: the ratio must have x as its only symbol"),
        (lambda: vanishing("w", t / x, x, sp.oo), "w: the ratio must have x as its only symbol"),
        (lambda: readings("w", {"a": 1.0}, fits="a", unit="z"), "at least two readings"),
        (lambda: readings("w", {"a": 1.0, "b": 2.0}, fits="c", unit="z"), "among them 'c'"),
    ],
)
def test_what_cannot_be_evidence_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_figures_say_what_was_found():
    assert agreement("w", [4, 9], [4, 9]).figure == "equal: 4, 9"
    assert agreement("w", range(5), range(5)).figure == "equal (5 values)"
    assert agreement("w", [Fraction(1, 3)], [Fraction(1, 4)]).figure == "1/3 is not 1/4"
    assert agreement("w", [1, 2, 3], [1, 2]).figure == "shape (3,) is not (2,)"
    assert agreement("w", [19833, 1 / 3], [19833, 0.5]).figure == "0.333333333333 is not 0.5"
    assert identity("w", x - x, t - t).figure == "2 identities, difference 0"
    assert identity("w", x - x, shows="$x = x$").figure == "$x = x$ (1 identity, difference 0)"
    assert cases("w", True, True, where="h", shows="no exception").figure == "no exception (2 cases)"
    assert inequality("w", x, x**2, shows="so").figure == "so (2 inequalities)"
    # What would be shown is shown only when it holds.
    assert cases("w", True, False, where="h", shows="no exception").figure == "case 2 of 2 does not hold"
    assert inequality("w", x, -x, shows="so").figure == "inequality 2 of 2 is not proved"
    assert identity("w", x - t, shows="$x = t$").figure == "difference $- t + x$"
    assert cases("w", True, False, False, where="h").figure == "case 2 of 3 does not hold"
    assert bounded("w", [1, 1], [-1, 2]).figure == "1 limit of 2 points not positive"
    assert exceeds("w", [1, 3], 0.1, size=2000).figure == "least of 2 z = 10.0 (2,000 runs, at least 4)"
    assert readings("w", {"a": 2, "b": 1}, fits="b", unit="z").figure == "b: 1; a: 2 (z)"
    six = readings("w", dict(zip("fedcba", range(6), strict=True)), fits="f", unit="z")
    assert six.figure == "f: 0; e: 1; d: 2; c: 3; 2 more from 4 (z)"
    # A large mean on the wrong side keeps its sign.
    assert simulation("w", [1.0, 0.0], 0.1, 0.5, size=10).figure.startswith("largest of 2 z = 5.0")
    assert simulation("w", 1.0, 0.0, 2.0, size=10).figure.startswith("z = -inf")
    slip = counterexample("w", value=1879, relation="equal", printed=1878)
    assert slip.figure == "printed: equal to 1,878; it is 1,879"


PROVED, EXACT, SIMULATED = identity("p", (x, x)), agreement("e", 1, 1), simulation("s", 1, 1, 1, size=1)
TREND, UNCLEAR = trend("t", DECADES, DECADES, exponent=1, within=1), readings("u", {"a": 1, "b": 2}, fits="a", unit="")
REFUTED = counterexample("r", value=2, relation="equal", printed=1)
FALSE = agreement("f", 1, 2)
SCALE = [PROVED, EXACT, SIMULATED, TREND]


# --- what evidence comes to -----------------------------------------------------------------------------------------


def test_the_weakest_piece_makes_the_basis():
    assert [piece.kind for piece in SCALE] == list(BASES)
    for i, piece in enumerate(SCALE):
        assert outcome([piece]) == ("holds", piece.kind)
        for other in SCALE[: i + 1]:
            assert outcome([other, piece]) == outcome([piece, other]) == ("holds", piece.kind)
        # Support does not weaken, but it must hold.
        assert outcome([piece, *map(also, SCALE)]) == outcome([*map(also, SCALE), piece]) == ("holds", piece.kind)
        for wrong in ([piece, also(FALSE)], [also(FALSE), piece], [piece, FALSE], [FALSE, piece]):
            assert outcome(wrong)[0] == NOT_SHOWN
    assert outcome([]) == (NOT_CHECKED, "")
    assert not {NOT_CHECKED, NOT_SHOWN} & {*STATUSES, *BASES}


def test_the_basis_of_a_refuted_claim_is_that_of_what_holds_instead():
    for i, piece in enumerate(SCALE):
        instead = corrected(piece)
        # What is said of the printed statement carries nothing, once it is refuted.
        for printed in ([REFUTED], [REFUTED, TREND], [PROVED, REFUTED], [REFUTED, also(SIMULATED)], [REFUTED] * 2):
            assert outcome([*printed, instead]) == outcome([instead, *printed]) == ("counterexample", piece.kind)
        for other in map(corrected, SCALE[: i + 1]):
            assert outcome([REFUTED, other, instead]) == outcome([instead, other, REFUTED])
            assert outcome([REFUTED, other, instead]) == ("counterexample", piece.kind)
        support = [*map(also, map(corrected, SCALE)), *map(corrected, map(also, SCALE))]
        assert outcome([REFUTED, *support, instead]) == ("counterexample", piece.kind)
        for wrong in (corrected(FALSE), also(corrected(FALSE)), corrected(also(FALSE)), FALSE, also(FALSE)):
            assert outcome([REFUTED, instead, wrong])[0] == outcome([wrong, instead, REFUTED])[0] == NOT_SHOWN


def test_evidence_from_an_iterator_is_not_lost():
    """It gives its pieces once: no look at them may use them up."""
    for pieces in ([EXACT], [EXACT, also(FALSE)], [also(FALSE), EXACT], [REFUTED, corrected(EXACT)], [UNCLEAR], [],
                   [REFUTED, corrected(EXACT), corrected(also(FALSE))]):  # fmt: skip
        assert outcome(iter(pieces)) == outcome(piece for piece in pieces) == outcome(pieces)


def test_also_corrected_and_says_change_nothing_else():
    for piece in (*SCALE, UNCLEAR, REFUTED, FALSE):
        marked = lambda *marks, piece=piece: (*piece[:4], *marks, piece.where, "")  # noqa: E731
        assert also(piece) == marked(True, False) and corrected(piece) == marked(False, True)
        assert also(corrected(piece)) == corrected(also(piece)) == marked(True, True)
        assert says(piece, " One\n sentence. ") == (*piece[:-1], "One sentence.")
        assert (piece.also, piece.corrected) == (False, False)


ERROR = Evidence("error", "ZeroDivisionError: x", False, "no result")

#: Evidence, and which statuses a claim may declare of it. Whatever else it declares is not shown.
COMBINATIONS = [
    ([EXACT], "holds"),
    ([EXACT, also(PROVED)], "holds"),
    ([REFUTED, corrected(EXACT)], "amended"),
    # A second counterexample may stand beside the first, as support, too; one among other evidence refutes.
    ([REFUTED, also(REFUTED), corrected(EXACT)], "amended"),
    ([EXACT, REFUTED, corrected(EXACT)], "amended"),
    ([EXACT, also(REFUTED), corrected(EXACT)], "amended"),
    ([UNCLEAR], "undecided"),
    ([UNCLEAR, EXACT, also(SIMULATED)], "undecided"),
    # A counterexample and what holds instead come together.
    ([REFUTED], ""),
    ([REFUTED, EXACT], ""),
    ([EXACT, REFUTED], ""),
    ([EXACT, also(REFUTED)], ""),
    ([corrected(EXACT)], ""),
    ([EXACT, corrected(EXACT)], ""),
    ([EXACT, corrected(also(EXACT))], ""),
    # A refuted correction corrects nothing.
    ([REFUTED, corrected(REFUTED)], ""),
    ([EXACT, corrected(REFUTED)], ""),
    ([REFUTED, corrected(EXACT), corrected(REFUTED)], ""),
    ([REFUTED, corrected(EXACT), corrected(also(REFUTED))], ""),
    # Support alone supports nothing.
    ([also(EXACT)], ""),
    ([also(REFUTED)], ""),
    ([REFUTED, corrected(also(EXACT))], ""),
    # What is left open is not refuted, and nothing holds instead of it.
    ([UNCLEAR, REFUTED], ""),
    ([UNCLEAR, REFUTED, corrected(EXACT)], ""),
    ([UNCLEAR, corrected(EXACT)], ""),
    ([REFUTED, corrected(UNCLEAR)], ""),
    ([corrected(UNCLEAR)], ""),
    # What does not hold, and what is no evidence of any kind.
    ([FALSE], ""),
    ([EXACT, FALSE], ""),
    ([EXACT, also(FALSE)], ""),
    ([UNCLEAR._replace(holds=False)], ""),
    ([UNCLEAR, also(FALSE)], ""),
    ([REFUTED._replace(holds=False)], ""),
    ([REFUTED._replace(holds=False), corrected(EXACT)], ""),
    ([REFUTED, corrected(FALSE)], ""),
    ([REFUTED, corrected(EXACT), corrected(also(FALSE))], ""),
    ([ERROR], ""),
    ([EXACT, ERROR], ""),
    ([UNCLEAR, ERROR], ""),
    ([REFUTED, corrected(EXACT), ERROR], ""),
    ([Evidence("opinion", "w", True, "it seems so")], ""),
    ([Evidence("holds", "w", True, "it does")], ""),
]
AMENDED = ("holds with a caveat", "misprint", "refuted")


def a_claim(evidence=lambda: iter(()), **changed):
    """A claim of this status, whose other parts suit it."""
    status = changed.get("status", "holds")
    made = {"id": "C01", "place": "Section 1", "statement": "So.", "status": status, "evidence": evidence}
    made |= {"module": "m", "basis": "" if status == "undecided" else "exact", "touches": ()}
    made |= {"corrected": "Thus.", "affects": "Some."} if status in AMENDED else {}
    made |= {"stands": "The rest."} if status != "holds" else {}
    made |= {"proof": "p#l", "prose": "steps"} if changed.get("basis") == "proved" else {}
    return Claim(**made | changed)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(
    ("pieces", "fits"), COMBINATIONS,
    ids=[", ".join(f"{'c' * p.corrected}{'a' * p.also}{'' if p.holds else '!'}{p.kind}" for p in pieces)
         for pieces, _ in COMBINATIONS],
)  # fmt: skip
def test_evidence_of_the_wrong_kind_satisfies_no_status(pieces, fits, status):
    found = a_claim(status=status).record(pieces)
    assert found["status"] == (status if status == fits or (fits == "amended" and status in AMENDED) else NOT_SHOWN)
    assert len(found["evidence"]) == len(pieces)


@pytest.mark.parametrize("status", STATUSES)
def test_without_evidence_no_status_is_reached(status):
    assert a_claim(status=status).record([]) == {
        "kind": "claim", "name": "C01", "status": NOT_CHECKED, "basis": "", "where": "", "evidence": [],
    }  # fmt: skip


def test_a_basis_that_is_not_the_declared_one_is_recorded_as_it_came():
    """Whether it is the declared one, the ledger says."""
    assert a_claim(basis="proved").record([SIMULATED])["basis"] == "simulated"
    assert a_claim(status="refuted", basis="proved").record([REFUTED, corrected(TREND)])["basis"] == "trend"


#: For each status and basis, evidence of the wrong kind, and why it is wrong.
WRONG_KINDS = [
    ("holds", "proved", [cases("a boolean", sp.Rational(1, 1 - sp.Rational(1, 4)) == sp.Rational(4, 3), where="h")]),
    ("holds", "proved", [identity("arithmetic", sp.Rational(4, 3) - 1 / (1 - sp.Rational(1, 4)))]),
    ("holds", "proved", [bounded("a grid", [1, 2], [1, 3])]),
    ("holds", "proved", [PROVED, bounded("one step on a grid", [1, 2], [1, 3])]),
    ("holds", "proved", [also(PROVED), EXACT]),
    ("holds", "proved", [EXACT]), ("holds", "proved", [SIMULATED]), ("holds", "proved", [TREND]),
    ("holds", "exact", [limit("extrapolated", DECADES, 1 / DECADES, 0, within=1e-3)]),
    ("holds", "exact", [EXACT, TREND]), ("holds", "exact", [SIMULATED]), ("holds", "simulated", [TREND]),
    ("holds", "exact", [EXACT, REFUTED]), ("holds", "exact", [REFUTED, corrected(EXACT)]),
    ("holds", "exact", [UNCLEAR]), ("holds", "trend", [also(TREND)]),
    *((status, "proved", pieces) for status in AMENDED for pieces in (
        [REFUTED, corrected(cases("tried", True, where="h"))], [REFUTED, corrected(bounded("tried", 1, 2))],
        [REFUTED, PROVED], [REFUTED, corrected(PROVED), corrected(EXACT)], [PROVED], [UNCLEAR, corrected(PROVED)])),
    *((status, "exact", pieces) for status in AMENDED for pieces in (
        [UNCLEAR], [EXACT], [REFUTED], [corrected(EXACT)], [REFUTED, corrected(TREND)])),
    *(("undecided", "", [piece]) for piece in (PROVED, EXACT, SIMULATED, TREND, REFUTED)),
    ("undecided", "", [UNCLEAR, REFUTED, corrected(EXACT)]),
]  # fmt: skip


@pytest.mark.parametrize(("status", "basis", "pieces"), WRONG_KINDS)
def test_evidence_of_the_wrong_kind_gives_another_verdict(status, basis, pieces):
    assert all(piece.holds for piece in pieces)  # nothing is wrong with it but its kind
    found = a_claim(status=status, basis=basis).record(pieces)
    assert (found["status"], found["basis"]) != (status, basis)


def test_calculations_without_a_written_argument_are_exact():
    for pieces in ([PROVED], [PROVED, inequality("i", x), also(EXACT)]):
        assert a_claim(basis="proved").record(pieces)["basis"] == "proved"
        assert a_claim(basis="exact").record(pieces)["basis"] == "exact"
    assert a_claim(basis="trend").record([PROVED, TREND])["basis"] == "trend"


def test_what_is_exact_says_where():
    orders = cases("tried", True, where="all orders of four records")
    grid, more = bounded("grid", [1, 2], 3), agreement("values", [1, 2], [1, 2], where="two sizes")

    def where(pieces, **claim):
        return a_claim(**claim).record(pieces)["where"]

    assert where([orders, grid, more, orders]) == "all orders of four records; 2 points (grid); two sizes"
    assert where([agreement("values", [1, 2, 3], [1, 2, 3])]) == "3 values (values)"
    assert where([agreement("one number", 1, 1), also(orders)]) == ""  # of what carries nothing is said
    assert where([REFUTED, orders, corrected(grid)], status="refuted") == "2 points (grid)"
    assert where([orders, SIMULATED], basis="simulated") == ""


# --- what is declared -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"id": "C1"}, "'C1': expected C, E or B and two or three digits"),
        ({"id": "D01"}, "'D01': expected"),
        ({"id": "C001"}, "'C001': expected"),
        ({"id": "C01 "}, "'C01 ': expected"),
        ({"id": "c01"}, "'c01': expected"),
        ({"id": "C1000"}, "'C1000': expected"),
        ({"id": 1}, "claim 1: expected"),
        ({"status": "true"}, "status 'true'; expected one of 'holds', 'holds with a caveat', 'misprint', 'refuted'"),
        ({"status": NOT_SHOWN}, "C01: status 'not shown'"),
        ({"status": NOT_CHECKED}, "C01: status 'not checked'"),
        ({"status": "counterexample", "corrected": "Thus."}, "C01: status 'counterexample'"),
        ({"basis": "sure"}, "C01: basis 'sure'; expected one of 'proved', 'exact', 'simulated', 'trend'"),
        ({"basis": ""}, "C01: basis ''; expected one of 'proved'"),
        ({"basis": "readings"}, "C01: basis 'readings'"),
        ({"status": "refuted", "basis": ""}, "C01: basis ''"),
        ({"status": "undecided", "basis": "exact"}, "C01: basis 'exact'; expected one of ''"),
        ({"kind": "huge"}, "C01: kind 'huge'; expected one of 'result', 'condition', 'wording', 'misprint'"),
        ({"place": ""}, "C01: place is empty"),
        ({"place": "  "}, "C01: place is empty"),
        ({"statement": ""}, "C01: statement is empty"),
        ({"statement": "\n"}, "C01: statement is empty"),
        ({"corrected": "Thus."}, "C01: a claim that is holds has no corrected statement"),
        ({"status": "undecided", "corrected": "Thus."}, "C01: a claim that is undecided has no corrected statement"),
        ({"status": "holds with a caveat", "corrected": ""}, "is holds with a caveat needs a corrected statement"),
        ({"status": "misprint", "corrected": ""}, "C01: a claim that is misprint needs a corrected statement"),
        ({"status": "refuted", "corrected": ""}, "C01: a claim that is refuted needs a corrected statement"),
        ({"basis": "proved", "proof": ""}, "C01: proof is missing (a proved claim names its written argument"),
        ({"basis": "proved", "prose": ""}, "C01: prose is missing (a proved claim says which parts are prose only"),
        ({"proof": "p#l"}, "C01: proof is given (a proved claim names its written argument, as page#label; no other"),
        ({"prose": "steps"}, "C01: prose is given (a proved claim says which parts are prose only; no other does)"),
        ({"basis": "proved", "proof": "see the page"}, "C01: proof 'see the page'; expected a page and a label"),
        ({"touches": None}, "C01: touches is missing"),
        ({"id": "E01", "touches": None}, "E01: touches is missing"),
        (
            {"touches": ("Dist-1", "Dist-3")},
            "C01: touches 'Dist-3'; expected some of 'general densities', 'F_g <= F_r'",
        ),
        ({"status": "misprint", "affects": ""}, "C01: affects is missing"),
        ({"status": "refuted", "stands": ""}, "C01: stands is missing"),
        ({"status": "undecided", "stands": ""}, "C01: stands is missing"),
    ],
)
def test_what_a_claim_declares_is_complete_and_of_its_scale(changed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        a_claim(**changed)


def test_what_may_be_declared():
    for status in STATUSES:
        for basis in ("",) if status == "undecided" else BASES:
            for kind in KINDS:
                assert a_claim(status=status, basis=basis, kind=kind).basis == basis
    for touched in ((), TOUCHED, TOUCHED[:1]):
        assert a_claim(touches=touched).touches == touched
    # A statement of the book's own is not one of the paper; a slip leaves nothing in doubt that would have to stand.
    assert a_claim(id="B01", touches=None, status="refuted", affects="", stands="").touches is None
    assert a_claim(kind="misprint", status="misprint", stands="").stands == ""
    assert [a_claim(id=name).id for name in ("C01", "B99", "E100", "B999")] == ["C01", "B99", "E100", "B999"]


@pytest.fixture
def chapter():
    """The decorator and the check of a chapter of its own."""
    return of_chapter("book.claims.example")


DECLARED = {"place": "Section 1", "statement": "So.", "status": "holds", "basis": "exact", "touches": ()}


def test_a_decorated_function_is_a_claim(chapter):
    claim, _ = chapter

    @claim("C09", place="Theorem 2,\n   before it", statement=r"""Less than $\frac12$
           of it.""", status="refuted", basis="proved", corrected=" More\nof it. ", affects="what\n  follows",
           kind="condition", about="C01", code=[counterexample, also, "crowder.theory.L"], proof="01-one#thm-a",
           prose="that\n it ends", touches="Dist-1", stands="what  is left",
           test="tests/a.py::test_b")  # fmt: skip
    def theorem(n=3):
        yield REFUTED

    assert theorem == Claim(
        "C09", "Theorem 2, before it", r"Less than $\frac12$ of it.", "refuted", "proved", theorem.evidence,
        "book.claims.example", "condition", "More of it.", "what follows", "what is left", ("C01",),
        ("book.companion.evidence.counterexample", "book.companion.claims.also", "crowder.theory.L"),
        ("tests/a.py::test_b",), "01-one#thm-a", "that it ends", ("Dist-1",),
    )  # fmt: skip
    assert theorem.evidence.__name__ == "theorem" and list(theorem.evidence()) == [REFUTED]

    @claim("C10", **DECLARED, code=also, test=["a", "b"])
    def lemma():
        yield EXACT

    assert (lemma.about, lemma.code, lemma.test) == ((), ("book.companion.claims.also",), ("a", "b"))
    assert (lemma.kind, lemma.corrected, lemma.affects, lemma.touches) == ("result", "", "", ())
    assert (lemma.proof, lemma.prose, lemma.stands) == ("", "", "")


def test_the_name_of_what_is_compiled_is_that_of_its_source(chapter):
    from crowder.engine import __dict__ as engine

    compiled = [thing for thing in engine.values() if hasattr(thing, "py_func")]
    assert compiled
    made = chapter[0]("C09", **DECLARED, code=compiled)(lambda: iter([EXACT]))
    assert made.code == tuple(f"{thing.py_func.__module__}.{thing.py_func.__name__}" for thing in compiled)


def test_a_chapter_has_one_claim_of_an_identifier(chapter, shown):
    claim, check = chapter
    claim("C09", **DECLARED)(lambda: iter([EXACT]))
    with pytest.raises(ValueError, match=r"book\.claims\.example has two claims C09"):
        claim("C09", **DECLARED)(lambda: iter([FALSE]))
    check("C09")
    assert statuses(shown) == ["holds"]  # the first one stays
    of_chapter("book.claims.other")[0]("C09", **DECLARED)(lambda: iter([EXACT]))  # of two chapters, the book says it


def needs_n(n, m=1):
    yield EXACT


def needs_named(*, n):
    yield EXACT


def takes_all(*n):
    yield EXACT


def takes_named(**n):
    yield EXACT


@pytest.mark.parametrize("evidence", [needs_n, needs_named, takes_all, takes_named])
def test_a_parameter_without_a_default_is_refused(chapter, evidence):
    claim, check = chapter
    with pytest.raises(TypeError, match="C09: n needs a small default, so that it runs without a notebook"):
        claim("C09", **DECLARED)(evidence)
    with pytest.raises(ValueError, match=r"book\.claims\.example has no claim 'C09'"):
        check("C09")


def test_an_unknown_identifier_is_refused_and_the_known_ones_named(chapter, build, shown):
    claim, check = chapter
    for name in ("C09", "B07"):
        claim(name, **DECLARED)(lambda: iter([EXACT]))
    with pytest.raises(ValueError, match=r"book\.claims\.example has no claim 'C90'; it has C09, B07"):
        check("C90")
    assert list(build.iterdir()) == [] and shown == []


# --- gathering and checking -----------------------------------------------------------------------------------------


def breaks(n=0):
    yield PROVED
    yield Evidence("exact", "a quotient", True, str(1 / n))
    yield EXACT


def test_an_exception_is_evidence_that_does_not_hold():
    pieces = a_claim(breaks).gather()
    assert pieces[0] == PROVED  # as far as it came
    assert pieces[1:] == [Evidence("error", "ZeroDivisionError: division by zero", False, "no result")]
    assert a_claim(breaks).record(pieces)["status"] == NOT_SHOWN
    assert [piece.what for piece in a_claim(breaks).gather(n=2)] == ["p", "a quotient", "e"]

    def at_once(n=0):
        return [EXACT, FALSE][1 / n]

    assert [(piece.kind, piece.holds) for piece in a_claim(at_once).gather()] == [("error", False)]


def test_what_ends_the_chapter_is_no_evidence():
    def interrupted():
        yield EXACT
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        a_claim(interrupted).gather()


def test_an_unknown_argument_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'm'"):
        a_claim(breaks).gather(m=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'm'"):
        a_claim(breaks).gather(n=1, m=1)


@pytest.mark.parametrize("thing", [True, "it holds", None, EXACT._asdict(), tuple(EXACT)])
def test_what_is_no_evidence_is_refused(thing):
    def yields(thing=thing):
        yield EXACT
        yield thing

    with pytest.raises(TypeError, match=r"C01: expected evidence"):
        a_claim(yields).gather()
    for call in (also, corrected, lambda piece: outcome([EXACT, piece])):
        with pytest.raises(TypeError, match="expected evidence"):
            call(thing)


@pytest.fixture
def shown(monkeypatch):
    """What reaches the notebook, as (bundle, metadata) pairs."""
    seen = []
    monkeypatch.setattr(book.companion.results, "display", lambda bundle, facts: seen.append((bundle, facts)))
    return seen


def statuses(shown):
    return [facts["status"] for _, facts in shown]


@pytest.fixture
def build(monkeypatch, tmp_path):
    """The folder of a build in progress."""
    monkeypatch.setenv("CROWDER_RESULTS", str(tmp_path))
    monkeypatch.setattr(claims, "_checked", set())
    return tmp_path


def on_disk(build, name):
    return json.loads((build / "claims" / f"{name}.json").read_text(encoding="utf-8"))


def test_a_check_is_a_file_and_an_output_that_say_the_same(build, shown):
    claim = a_claim(lambda: iter([REFUTED, also(EXACT), corrected(SIMULATED), corrected(also(PROVED))]),
                    id="C07", status="refuted", basis="simulated")  # fmt: skip
    assert claim.check() == "refuted"
    [(bundle, facts)] = shown
    assert on_disk(build, "C07") == facts
    assert [file.name for file in (build / "claims").iterdir()] == ["C07.json"]
    assert {key: facts[key] for key in facts if key != "evidence"} == {
        "kind": "claim", "name": "C07", "status": "refuted", "basis": "simulated", "where": "",
    }  # fmt: skip
    told = [(piece["what"], piece["also"], piece["corrected"]) for piece in facts["evidence"]]
    assert told == [("r", False, False), ("e", True, False), ("s", False, True), ("p", True, True)]
    assert bundle["text/plain"] == bundle["text/markdown"]
    lines = bundle["text/plain"].splitlines()
    assert lines[:3] == ["**C07: refuted** (simulated)", "", "- r: printed: equal to 1; it is 2"]
    assert lines[4].startswith("- *instead:* s: z = 0.0") and len(lines) == 6


def test_what_does_not_hold_is_recorded_and_raises_nothing(build, shown):
    no = counterexample("no", value=1, relation="equal", printed=1)
    assert a_claim(lambda: iter([PROVED, FALSE]), id="B01").check() == NOT_SHOWN
    assert a_claim(lambda: iter([REFUTED, corrected(FALSE)]), id="C08", status="refuted").check() == NOT_SHOWN
    assert a_claim(lambda: iter([no, corrected(EXACT)]), id="C09", status="misprint").check() == NOT_SHOWN
    assert a_claim(breaks, id="C10").check() == NOT_SHOWN
    assert a_claim(id="C11").check() == NOT_CHECKED
    found = [on_disk(build, name) for name in ("B01", "C08", "C09", "C10", "C11")]
    assert [facts["status"] for facts in found] == [NOT_SHOWN] * 4 + [NOT_CHECKED]
    assert [[piece["holds"] for piece in facts["evidence"]] for facts in found] == [
        [True, False], [True, False], [False, True], [True, False], [],
    ]  # fmt: skip
    assert "- **does not hold** – f: 1 is not 2" in shown[0][0]["text/plain"]
    assert "- *instead:* **does not hold** – f: 1 is not 2" in shown[1][0]["text/plain"]
    assert "**does not hold** – ZeroDivisionError: division by zero: no result" in shown[3][0]["text/plain"]
    assert shown[4][0]["text/plain"].strip() == "**C11: not checked**"


def test_after_a_formula_that_breaks_the_chapter_goes_on(chapter, build, shown):
    claim, check = chapter
    claim("C09", **DECLARED)(breaks)
    claim("C10", **DECLARED)(lambda n=1: iter([agreement("n", n, 1)]))
    check("C09")
    check("C10", n=1)
    assert statuses(shown) == [NOT_SHOWN, "holds"]
    assert on_disk(build, "C10")["evidence"][0]["figure"] == "equal: 1"


def test_what_the_chapter_hands_over_reaches_the_evidence(chapter, shown):
    claim, check = chapter
    claim("C09", **DECLARED)(lambda n=1, m=1: iter([agreement("n", n, m)]))
    for given in ({}, {"n": 2}, {"m": 2, "n": 2}):
        assert check("C09", **given) is None  # a notebook would show it
    assert statuses(shown) == ["holds", NOT_SHOWN, "holds"]


@pytest.mark.parametrize("wrong", [{"m": 1}, {"n": "no evidence"}])
def test_a_check_that_is_refused_leaves_nothing(chapter, build, shown, wrong):
    claim, check = chapter
    claim("C09", **DECLARED)(lambda n=EXACT: iter([n]))
    with pytest.raises(TypeError):
        check("C09", **wrong)
    assert list(build.iterdir()) == [] and shown == []
    check("C09")
    assert statuses(shown) == ["holds"]  # and it still has its one place


def test_outside_a_build_nothing_is_written_and_a_cell_may_run_again(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("CROWDER_RESULTS", raising=False)
    monkeypatch.chdir(tmp_path)
    claim = a_claim(lambda: iter([EXACT, also(PROVED)]))
    assert claim.check() == claim.check() == "holds"
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == 2 * "**C01: holds** (exact)\n\n- e: equal: 1\n- p: 1 identity, difference 0\n"


def test_a_claim_has_one_place(build, shown):
    claim = a_claim(lambda n=1: iter([agreement("n", n, 1)]))
    claim.check()
    before = on_disk(build, "C01")
    with pytest.raises(ValueError, match="C01 was checked twice"):
        claim.check(n=2)
    assert len(shown) == 1 and on_disk(build, "C01") == before


def test_claims_make_no_evidence_of_their_own():
    """All of it comes from the functions that compute whether it holds; its kind is what they say."""
    folder = Path(book.claims.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = getattr(node, "func", None)
            assert not (isinstance(called, ast.Name) and called.id == "Evidence"), path.name
            if isinstance(called, ast.Attribute) and called.attr == "_replace":
                assert not {"kind", "holds"} & {keyword.arg for keyword in node.keywords}, path.name


# --- the modules of the book ----------------------------------------------------------------------------------------

MODULE = """from book.companion.claims import agreement, of_chapter
claim, check = of_chapter(__name__)
@claim("{0}", place="here", statement="One is one.", basis="exact", touches=())
def one():
    yield agreement("one", 1, 1)
"""


@pytest.fixture
def modules(monkeypatch, tmp_path):
    """A folder in the place of book/claims; what is written there can be loaded, and is forgotten afterwards."""
    monkeypatch.setattr(book.claims, "__path__", [str(tmp_path)])
    before = dict(vars(book.claims))

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, f"book.claims.{name}", raising=False)
        importlib.invalidate_caches()

    yield write
    for name in [path.stem for path in tmp_path.glob("*.py")]:
        sys.modules.pop(f"book.claims.{name}", None)
        if name not in before:
            vars(book.claims).pop(name, None)


def test_claims_are_found_in_all_modules_in_the_order_of_their_identifiers(modules):
    modules(qa=MODULE.format("B02"), qb=MODULE.format("C10"), qc=MODULE.format("E100"), qd=MODULE.format("C09"),
            qe=MODULE.format("E99"), test_it="1 / 0", conftest="1 / 0")  # fmt: skip
    found = book.claims.load()
    assert list(found) == ["C09", "C10", "E99", "E100", "B02"]
    assert [claim.module.rpartition(".")[2] for claim in found.values()] == ["qd", "qb", "qe", "qc", "qa"]


def test_an_identifier_of_two_modules_is_refused(modules):
    modules(qa=MODULE.format("C09"), qb=MODULE.format("C09"))
    with pytest.raises(ValueError, match=r"C09 is in book\.claims\.qa and in book\.claims\.qb"):
        book.claims.load()
