"""Evidence of every kind, holding and not; what it comes to; the record of a check."""

import json
import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sympy as sp

import book.companion.results
from book.companion import recording
from book.companion.claims import (
    BASES,
    NOT_CHECKED,
    NOT_SHOWN,
    Evidence,
    agreement,
    bounded,
    check,
    corrected,
    counterexample,
    exceeds,
    identity,
    inequality,
    outcome,
    readings,
    simulation,
    trend,
    vanishing,
)
from crowder.experiments import repeat, sweep

x, t = sp.symbols("x t", positive=True)
NAN, INF = math.nan, math.inf
DECADES = np.array([1.0, 10.0, 100.0, 1000.0])


def multiple(value, form):
    """A lower bound of this form, whatever its constant, where so much is needed."""
    return counterexample(value, "a positive multiple of", form)


def pairs():
    """Kind, evidence that holds, evidence of the same kind that just does not."""
    return [
        ("proved", identity((x + 1) ** 2 - x**2 - 2 * x - 1), identity((x + 1) ** 2 - x**2 - x - 1)),
        # A pair keeps the symbols that sympy cancels at once.
        ("proved", identity((x, x), (sp.sin(t) ** 2, 1 - sp.cos(t) ** 2)), identity((x, x), (x, t))),
        # x² - x is negative below 1; x - ln(1 + x) and its derivative are 0 at 0 and grow; 1/(1 - x) changes sign at 1.
        ("proved", inequality(x**2 - x, over={x: (1, sp.oo)}), inequality(x**2 - x)),
        ("proved", inequality(x - sp.log(1 + x)), inequality(sp.log(1 + x) - x)),
        ("proved", inequality(x**2 + t**2 - 2 * x * t, t), inequality(t, x**2 + t**2 - 3 * x * t)),
        ("proved", inequality(1 / (1 - x), over={x: (0, 1)}), inequality(1 / (1 - x))),
        # 4/(1 + r)² - 1 + ln r falls to 0 at r = 1, as a sum; 1/x - 2 + ln(x)/(1 - x)² is -2.8 at ½ and has a pole.
        ("proved", inequality(4 / (1 + x) ** 2 - 1 + sp.log(x), over={x: (sp.Rational(1, 3), 1)}),
         inequality(1 / x - 2 + sp.log(x) / (1 - x) ** 2)),
        # Neither differentiable nor real everywhere: nothing may be said of either.
        ("proved", inequality(sp.sqrt(x)), inequality(sp.floor(x) - x / 2, over={x: (0, 3)})),
        ("proved", inequality(sp.log(x), over={x: (1, 9)}), inequality(sp.sqrt(x - 1))),
        ("exact", identity(sp.Rational(1, 3) - sp.Rational(2, 6)), identity(sp.Integer(1))),
        ("exact", agreement(1 / (1 + x), (1 - x) / (1 - x**2)), agreement(1 / (1 + x), 1 - x)),
        ("exact", agreement([INF, sp.oo], [INF, sp.oo]), agreement(INF, 1.0, tolerance=1)),
        # Exactly on the limit, in halves and sixteenths, which floats hold, and a little beyond.
        ("exact", agreement(0.5, 1.0, tolerance=0.5), agreement(0.4375, 1.0, tolerance=0.5)),
        # A share of what was expected, not of what was found: 3 is 50% off 2, 2 is a third off 3.
        ("exact", agreement(3, 2, tolerance=0.5, relative=True), agreement(3.25, 2, tolerance=0.5, relative=True)),
        ("exact", bounded([1, 0.1 + 0.2], [1, 0.3]), bounded([1.0, 1 + 4e-12], 1.0)),
        # What the numbers are is said of them.
        ("simulated", bounded(1, 2, basis="simulated"), bounded(2, 1, basis="simulated")),
        ("recorded", agreement([2.0], [2.1], tolerance=0.2, basis="recorded"), agreement([2], 2, basis="recorded")),
        ("recorded", simulation(1, 1, 1, size=9, basis="recorded"), simulation(9, 1, 1, size=9, basis="recorded")),
        ("recorded", exceeds(9, 1, size=9, basis="recorded"), exceeds(1, 1, size=9, basis="recorded")),
        ("simulated", simulation(0.0, 1.0, 4.5, size=9, limit=5), simulation(0.0, 1.0, 4.5, size=9)),
        ("simulated", simulation(4.0, 1.0, 0.0, size=9), simulation(4.0625, 1.0, 0.0, size=9)),
        ("simulated", simulation(-4.0, 1.0, 0.0, size=9), simulation(-4.0625, 1.0, 0.0, size=9)),
        ("simulated", exceeds([1.0, 9.0], 0.1, 0.5, size=9), exceeds([1.0, 0.8], 0.1, 0.5, size=9)),
        ("simulated", exceeds(4.0, 1.0, size=9), exceeds(3.9375, 1.0, size=9)),
        # The exponent is that of y in x, not the other way round, and may be off on either side.
        ("trend", trend(DECADES, 3 * DECADES**2, exponent=2, within=1e-9),
         trend(DECADES, DECADES**2, exponent=1, within=0.9)),
        ("counterexample", counterexample(3, "at most", 2), counterexample(2, "at most", 2)),
        ("counterexample", counterexample(1, "at least", 2), counterexample(2, "at least", 2)),
        ("counterexample", counterexample(3.0625, "equal", 2, margin=1), counterexample(3, "equal", 2, margin=1)),
        ("counterexample", vanishing(1 / x, x, sp.oo), vanishing((1 + x) / (2 * x), x, sp.oo)),
        ("counterexample", vanishing(1 - x, x, 1, direction="-"), vanishing(x, x, sp.oo)),
        ("counterexample", multiple(0, 3), multiple(1, 3)),
        ("readings", readings({"a": 1, "b": INF}, fits="a", unit="z"), readings({"a": 1, "b": 2}, fits="b", unit="z")),
        ("readings", readings({"a": 1, "b": 2}, fits="a", unit="z"), readings({"a": 1, "b": 1}, fits="a", unit="z")),
    ]  # fmt: skip


def test_evidence_decides_by_itself():
    for kind, good, bad in pairs():
        assert (good.kind, good.holds) == (kind, True)
        assert (bad.kind, bad.holds) == (kind, False)
        assert not good.corrected and not bad.corrected
        # What goes into the notebook's metadata must be plain: NumPy's booleans are not JSON.
        assert json.loads(json.dumps([good._asdict(), bad._asdict()]))[1]["holds"] is False


def no_numbers():
    """Evidence with NaN or infinity, or with what cannot be compared."""
    return [
        identity(sp.nan), inequality(x, sp.nan), agreement(NAN, NAN),
        agreement(1.0, 2.0, tolerance=INF), agreement([0.0, 1.0], [1e-9, 0.0], tolerance=1, relative=True),
        agreement(x, 1.0, tolerance=1), agreement([1.0, 2.0, 2.0], [1.0, 2.0], tolerance=1),
        bounded([0.5, NAN], 1), bounded(0.5, INF), bounded(-2.0, -1.0),
        simulation([1.0, NAN], 0.1, 1.0, size=9), simulation(1.0, -0.1, 1.0, size=9), simulation(7.0, INF, 1.0, size=9),
        simulation(7.0, 0.1, 1.0, size=9, limit=INF), exceeds([9.0, NAN], 0.1, size=9),
        exceeds(9.0, INF, size=9, limit=0),
        trend(DECADES, DECADES, exponent=1, within=INF), trend(DECADES, [1, 10, NAN, 1000], exponent=1, within=9),
        trend(DECADES, [1, 10, 0, 1000], exponent=1, within=9),
        counterexample(NAN, "at most", 1), counterexample(1, "equal", NAN), counterexample(INF, "at most", 1),
        counterexample(2, "at most", 1, margin=NAN), multiple(NAN, 1), multiple(0, -1),
        readings({"a": 1.0, "b": 2.0, "c": NAN}, fits="a", unit="z"),
        readings({"a": INF, "b": INF}, fits="a", unit="z"),
    ]  # fmt: skip


def test_what_is_no_number_holds_for_nothing():
    assert [piece for piece in no_numbers() if piece.holds is not False or not piece.figure] == []


REFUSED = {
    "agreement: numbers are exact or simulated or recorded, not 'proved'": lambda: agreement(1, 1, basis="proved"),
    "simulation: numbers are simulated or recorded, not 'exact'": lambda: simulation(1, 1, 1, size=1, basis="exact"),
    "identity: there is nothing": lambda: identity(),
    "agreement: there is nothing": lambda: agreement([], []),
    "inequality: one between numbers is no proof": lambda: inequality(sp.Rational(1, 3)),
    "over three decades are needed": lambda: trend([1, 999], [1, 999], exponent=1, within=1e-9),
    "three decades are needed, not nan": lambda: trend([0, 10, 100], [1, 10, 100], exponent=1, within=1),
    "vanishing: the ratio must have x as its only symbol": lambda: vanishing(t / x, x, sp.oo),
    "at least two readings": lambda: readings({"a": 1.0}, fits="a", unit="z"),
}


def test_what_cannot_be_evidence_is_refused():
    for message, call in REFUSED.items():
        with pytest.raises(ValueError, match=message):
            call()


PROVED, EXACT, SIMULATED = identity((x, x)), agreement(1, 1), simulation(1, 1, 1, size=1)
TREND, UNCLEAR = trend(DECADES, DECADES, exponent=1, within=1), readings({"a": 1, "b": 2}, fits="a", unit="")
REFUTED = counterexample(2, "equal", 1)
FALSE = agreement(1, 2)
RECORDED = agreement(1, 1, basis="recorded")
SCALE = [PROVED, EXACT, SIMULATED, TREND, RECORDED]


# --- what evidence comes to -----------------------------------------------------------------------------------------


def test_the_weakest_piece_makes_the_basis():
    assert [piece.kind for piece in SCALE] == list(BASES)
    for i, piece in enumerate(SCALE):
        for other in SCALE[: i + 1]:
            assert outcome([other, piece]) == outcome([piece, other]) == ("holds", piece.kind)
            # Of a refuted claim it is that of what holds instead; what is said of the printed one carries nothing.
            pieces = [corrected(piece), RECORDED, REFUTED, corrected(other)]
            assert outcome(pieces) == outcome(pieces[::-1]) == ("counterexample", piece.kind)
        for wrong in ([piece, FALSE], [FALSE, piece], [REFUTED, corrected(piece), FALSE],
                      [REFUTED, corrected(piece), corrected(FALSE)]):  # fmt: skip
            assert outcome(wrong)[0] == NOT_SHOWN
    assert outcome([]) == (NOT_CHECKED, "")


def recorded_column():
    """Of a recorded table, which is read, as it is asked for with the parameters that it was made with."""
    made_with = json.loads((recording.FOLDER / "table-1.json").read_text(encoding="utf-8"))["parameters"]
    return recording.recorded("table-1", pytest.fail, anew=False, **made_with).table["edge"]


def test_what_random_runs_gave_or_a_file_cannot_pass_for_more():
    """Nor can what pandas computes from it, in a list, or as a limit."""
    runs = repeat(lambda rng: 1 + rng.random(), 3, rng=1)
    frame = sweep(lambda rng, a: {"x": a + rng.random()}, [{"a": 1}, {"a": 2}], 3, rng=1)
    computed = recording.recorded("computed", lambda: pd.DataFrame({"x": [1.5]}), anew=True).table
    simulated = [runs, [frame["x"]], frame.groupby("a")["x"].mean(), 2 - 1 / computed["x"]]
    for basis, values in (("simulated", simulated), ("recorded", [recorded_column()])):
        assert simulation(values[-1], 1, 1.5, size=3).kind == exceeds(1, 0.1, values[-1], size=3).kind == basis
        for x in values:
            for call in (partial(agreement, x, x), partial(bounded, x, 99), partial(bounded, 1, x)):
                assert call().kind == call(basis=basis).kind == basis
                with pytest.raises(ValueError, match=f"these numbers are {basis}, not exact"):
                    call(basis="exact")
    with pytest.raises(ValueError, match="these numbers are recorded, not simulated"):
        simulation(recorded_column(), 1, 1, size=3, basis="simulated")


#: Evidence that decides, and what does not.
OUTCOMES = {
    "holds": [[EXACT]],
    "counterexample": [[REFUTED, corrected(EXACT)], [EXACT, REFUTED, corrected(EXACT), REFUTED]],
    "undecided": [[UNCLEAR], [UNCLEAR, EXACT]],
    NOT_SHOWN: [
        # A counterexample and what holds instead come together, and a refuted correction corrects nothing.
        [REFUTED], [REFUTED, EXACT], [corrected(EXACT)], [EXACT, corrected(EXACT)], [EXACT, corrected(REFUTED)],
        [REFUTED, corrected(EXACT), corrected(REFUTED)],
        # What is left open is not refuted, and nothing holds instead of it.
        [UNCLEAR, REFUTED, corrected(EXACT)], [UNCLEAR, corrected(EXACT)], [REFUTED, corrected(UNCLEAR)],
        # What does not hold, and what is no evidence of any kind.
        [UNCLEAR._replace(holds=False)], [REFUTED._replace(holds=False), corrected(EXACT)],
        [Evidence("opinion", True, "it seems so")],
    ],
}  # fmt: skip


def test_only_evidence_of_the_right_kind_decides():
    for found, cases in OUTCOMES.items():
        for pieces in cases:
            assert outcome(pieces)[0] == outcome(pieces[::-1])[0] == found, pieces


# --- a check --------------------------------------------------------------------------------------------------------


@pytest.fixture
def shown(monkeypatch):
    """What reaches the notebook, as (bundle, metadata) pairs."""
    seen = []
    monkeypatch.setattr(book.companion.results, "display", lambda bundle, facts: seen.append((bundle, facts)))
    return seen


@pytest.fixture
def build(monkeypatch, tmp_path):
    """The folder of a build in progress."""
    monkeypatch.setenv("CROWDER_RESULTS", str(tmp_path))
    return tmp_path


def on_disk(build, name):
    return json.loads((build / "claims" / f"{name}.json").read_text(encoding="utf-8"))


def test_what_does_not_hold_is_recorded_and_raises_nothing(build, shown):
    check("B01", PROVED, FALSE)
    check("C08", REFUTED, corrected(FALSE))
    check("C11")
    assert [on_disk(build, name)["found"] for name in ("B01", "C08", "C11")] == [NOT_SHOWN, NOT_SHOWN, NOT_CHECKED]
    assert "- *instead:* **does not hold** – 1 is not 2, by `FALSE`" in shown[1][0]["text/plain"]
    assert shown[2][0]["text/plain"].strip() == "**C11: not checked**."
