"""Verdicts: every kind of evidence, holding and not; what it adds up to; what a record leaves behind."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

import crowder.results
from crowder import claims
from crowder.ledger.claims import (
    NOT_CHECKED,
    NOT_SHOWN,
    VERDICTS,
    agreement,
    argument,
    bounded,
    counterexample,
    exceeds,
    identity,
    readings,
    record,
    simulation,
    trend,
    verdict,
)

x, t = sp.symbols("x t", positive=True)
NAN, INF = math.nan, math.inf
DECADES = np.array([1.0, 10.0, 100.0, 1000.0])

#: kind, evidence that holds, evidence of the same kind that just does not.
PAIRS = [
    ("proved", identity("square", (x + 1) ** 2 - x**2 - 2 * x - 1), identity("wrong", (x + 1) ** 2 - x**2 - x - 1)),
    ("proved", identity("two", x - x, t - t), identity("the second is wrong", x - x, t - x)),
    ("proved", argument("decided", x > 0, True, np.bool_(True)), argument("undecided", x > 0, x > 1)),
    ("proved", argument("true", sp.true), argument("false", sp.true, sp.false)),
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
    ("refuted", counterexample("more", value=3, relation="at most", printed=2),
     counterexample("as much", value=2, relation="at most", printed=2)),
    ("refuted", counterexample("less", value=1, relation="at least", printed=Fraction(3, 2)),
     counterexample("more", value=2, relation="at least", printed=Fraction(3, 2))),
    ("refuted", counterexample("other", value=Fraction(1, 8), relation="equal", printed=Fraction(1, 4)),
     counterexample("within the margin", value=0.2501, relation="equal", printed=0.25, margin=1e-3)),
    ("unclear", readings("best", {"a": 1.0, "b": 2.0}, fits="a", unit="z"),
     readings("second best", {"a": 1.0, "b": 2.0}, fits="b", unit="z")),
    ("unclear", readings("one infinite", {"a": 1.0, "b": INF}, fits="a", unit="z"),
     readings("a draw", {"a": 1.0, "b": 1.0}, fits="a", unit="z")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "good", "bad"), PAIRS)
def test_evidence_decides_by_itself(kind, good, bad):
    assert (good.kind, good.holds) == (kind, True)
    assert (bad.kind, bad.holds) == (kind, False)
    # What goes into the notebook's metadata must be plain: NumPy's booleans are not JSON.
    assert json.loads(json.dumps([good._asdict(), bad._asdict()]))[1]["holds"] is False


@pytest.mark.parametrize(
    "piece",
    [
        identity("NaN", sp.nan),
        identity("infinite", sp.oo),
        argument("NaN", NAN <= 1),
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
        readings("NaN", {"a": 1.0, "b": 2.0, "c": NAN}, fits="a", unit="z"),
        readings("all NaN", {"a": NAN, "b": NAN}, fits="a", unit="z"),
        readings("a score below all numbers", {"a": -INF, "b": 2.0}, fits="a", unit="z"),
        readings("all infinite", {"a": INF, "b": INF}, fits="a", unit="z"),
    ],
    ids=lambda piece: f"{piece.kind}, {piece.what}",
)
def test_what_is_no_number_holds_for_nothing(piece):
    assert piece.holds is False
    assert piece.kind in VERDICTS and piece.what not in VERDICTS and piece.figure


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
        (lambda: identity("w"), "w: nothing was given"),
        (lambda: argument("w"), "w: nothing was given"),
        (lambda: agreement("w", [], []), "w: nothing was given"),
        (lambda: bounded("w", [], []), "w: nothing was given"),
        (lambda: simulation("w", [], 1, 1, size=1), "w: nothing was given"),
        (lambda: exceeds("w", [], 1, size=1), "w: nothing was given"),
        (lambda: trend("w", [], [], exponent=1, within=1), "w: nothing was given"),
        (lambda: simulation("w", 1, 1, 1, size=0), "w: the number of runs must be at least 1, not 0"),
        (lambda: exceeds("w", 9, 1, size=0), "w: the number of runs must be at least 1, not 0"),
        (lambda: trend("w", [1, 10, 100], [1, 10, 100], exponent=1, within=1), "three decades, not 2.00"),
        (lambda: trend("w", [0, 10, 100], [1, 10, 100], exponent=1, within=1), "positive x"),
        (lambda: trend("w", DECADES, [1, 10], exponent=1, within=1), "as many y"),
        (lambda: counterexample("w", value=1, relation="below", printed=2), "relation 'below'"),
        (lambda: readings("w", {"a": 1.0}, fits="a", unit="z"), "at least two readings"),
        (lambda: readings("w", {"a": 1.0, "b": 2.0}, fits="c", unit="z"), "'c' among them"),
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
    assert argument("w", True, True, shows="no exception").figure == "no exception (2 steps)"
    # What would be shown is shown only when it holds.
    assert argument("w", True, False, shows="no exception").figure == "step 2 of 2 does not hold"
    assert identity("w", x - t, shows="$x = t$").figure == "difference $- t + x$"
    assert argument("w", True, False, False).figure == "step 2 of 3 does not hold"
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


PROVED, EXACT, SIMULATED = identity("p", x - x), agreement("e", 1, 1), simulation("s", 1, 1, 1, size=1)
TREND, UNCLEAR = trend("t", DECADES, DECADES, exponent=1, within=1), readings("u", {"a": 1, "b": 2}, fits="a", unit="")
REFUTED = counterexample("r", value=2, relation="equal", printed=1)
FALSE = agreement("f", 1, 2)


def test_the_weakest_piece_makes_the_verdict():
    scale = [PROVED, EXACT, SIMULATED, TREND, UNCLEAR, REFUTED]
    assert [piece.kind for piece in scale] == list(VERDICTS)
    for i, piece in enumerate(scale):
        assert verdict([piece]) == piece.kind
        for other in scale[: i + 1]:
            assert verdict([other, piece]) == verdict([piece, other]) == piece.kind
        # Support does not weaken, but it must hold.
        assert verdict([piece], also=scale[:5]) == piece.kind
        assert verdict([piece], also=[FALSE]) == verdict([piece, FALSE]) == verdict([FALSE, piece]) == NOT_SHOWN
        # An iterator gives its pieces once; the check of their kind must not use them up.
        assert verdict(iter([piece]), also=iter([FALSE])) == verdict(iter([FALSE, piece])) == NOT_SHOWN
    assert verdict([]) == NOT_CHECKED
    assert not {NOT_CHECKED, NOT_SHOWN} & set(VERDICTS)


@pytest.fixture
def shown(monkeypatch):
    """What reaches the notebook, as (bundle, metadata) pairs."""
    seen = []
    monkeypatch.setattr(crowder.results, "display", lambda bundle, facts: seen.append((bundle, facts)))
    return seen


@pytest.fixture
def build(monkeypatch, tmp_path):
    """The folder of a build in progress."""
    monkeypatch.setenv("CROWDER_RESULTS", str(tmp_path))
    monkeypatch.setattr(claims, "_recorded", set())
    return tmp_path


def test_a_record_is_a_file_and_an_output_that_say_the_same(build, shown):
    assert record("C07", REFUTED, also=[EXACT], corrected=[SIMULATED], corrected_also=[PROVED]) == "refuted"
    [(bundle, facts)] = shown
    assert json.loads((build / "claims" / "C07.json").read_text(encoding="utf-8")) == facts
    assert [file.name for file in (build / "claims").iterdir()] == ["C07.json"]
    assert [facts[key] for key in ("kind", "name", "verdict", "corrected")] == ["claim", "C07", "refuted", "simulated"]
    assert [piece["what"] for piece in facts["evidence"]] == ["r", "e"]
    assert [piece["what"] for piece in facts["corrected_evidence"]] == ["s", "p"]
    assert bundle["text/plain"].startswith("**C07: refuted**") and "Corrected: **simulated**" in bundle["text/plain"]


def test_what_does_not_hold_is_recorded_and_raises_nothing(build, shown):
    assert record("B01", PROVED, FALSE) == NOT_SHOWN
    assert record("C08", REFUTED, corrected=[FALSE]) == "refuted"
    assert record("C09", counterexample("no", value=1, relation="equal", printed=1), corrected=[EXACT]) == NOT_SHOWN
    facts = [json.loads((build / "claims" / f"{name}.json").read_text()) for name in ("B01", "C08", "C09")]
    assert [(f["verdict"], f["corrected"]) for f in facts] == [
        (NOT_SHOWN, None), ("refuted", NOT_SHOWN), (NOT_SHOWN, "exact"),
    ]  # fmt: skip
    assert "**does not hold** – f: 1 is not 2" in shown[0][0]["text/plain"]


def test_outside_a_build_nothing_is_written_and_a_cell_may_run_again(monkeypatch, tmp_path, shown):
    monkeypatch.delenv("CROWDER_RESULTS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert record("C01", EXACT) == record("C01", EXACT) == "exact"
    assert list(tmp_path.iterdir()) == [] and len(shown) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: record("C1", EXACT), "'C1': expected C, E or B and two or three digits"),
        (lambda: record("D01", EXACT), "'D01': expected"),
        (lambda: record("C001", EXACT), "'C001': expected"),
        (lambda: record(1, EXACT), "claim 1: expected"),
        (lambda: record("C01"), "C01: no evidence"),
        (lambda: record("C01", also=[EXACT]), "C01: no evidence"),
        (lambda: record("C01", REFUTED), "a counterexample and a corrected statement come together"),
        (lambda: record("C01", EXACT, corrected=[EXACT]), "a counterexample and a corrected statement come together"),
        (lambda: record("C01", EXACT, corrected_also=[EXACT]), "C01: further evidence for a corrected statement"),
        # A counterexample that stood among the support would be overlooked; a refuted correction corrects nothing.
        (lambda: record("C01", EXACT, also=[REFUTED]), "C01: a counterexample stands among the evidence"),
        (lambda: record("C01", REFUTED, corrected=[REFUTED]), "C01: a counterexample stands among the evidence"),
        (lambda: record("C01", REFUTED, corrected=[EXACT], corrected_also=[REFUTED]), "C01: a counterexample stands"),
    ],
)
def test_a_record_that_would_mislead_is_refused_and_leaves_nothing(build, shown, call, message):
    with pytest.raises(ValueError, match=message):
        call()
    assert list(build.iterdir()) == [] and shown == []


def test_a_second_counterexample_may_stand_beside_the_first(build, shown):
    assert record("C10", REFUTED, also=[REFUTED], corrected=[EXACT]) == "refuted"


def test_one_counterexample_among_other_evidence_refutes(build, shown):
    assert record("C11", EXACT, REFUTED, corrected=[EXACT]) == "refuted"
    with pytest.raises(ValueError, match="a counterexample and a corrected statement come together"):
        record("C12", EXACT, REFUTED)


def test_evidence_from_an_iterator_is_not_lost(build, shown):
    assert record("C01", EXACT, also=iter([FALSE])) == NOT_SHOWN
    assert record("C02", REFUTED, corrected=iter([EXACT]), corrected_also=iter([FALSE])) == "refuted"
    assert [len(facts["evidence"]) for _, facts in shown] == [2, 1]
    assert shown[1][1]["corrected"] == NOT_SHOWN and len(shown[1][1]["corrected_evidence"]) == 2


def test_a_claim_has_one_place(build, shown):
    record("C01", EXACT)
    with pytest.raises(ValueError, match="C01 was recorded twice"):
        record("C01", EXACT)
    assert len(shown) == 1
