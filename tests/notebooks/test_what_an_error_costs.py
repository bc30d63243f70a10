"""The cells of the note on errors that count, play and try, each against numbers found in another way."""

from itertools import product
from math import exp, floor, log

import numpy as np
import pytest

import crowder as cr
from book.project import ROOT
from book.text import numbers
from book.text.chapters import read_chapters

(CHAPTER,) = (chapter for chapter in read_chapters(ROOT) if chapter.slug == "A12-errors")
CELLS = "imports likelihoods programs count all best psi-number play steps".split()
LAWS = [([0.3, 0.7], [0.7, 0.3]), ([0.9, 0.1], [0.99, 0.01]), ([0.7, 0.3], [1.0, 0.0]), ([1.0, 0.0], [0.6, 0.4])]


@pytest.fixture(scope="module")
def known():
    """What the cells with functions define, and the count over all programs."""
    names = CHAPTER.defaults()
    for cell in numbers.asking(CHAPTER)["cells"]:
        if cell["id"] in {f"err-{name}" for name in CELLS}:
            exec(cell["source"], names)  # noqa: S102 - the book's own code
    return names


def test_no_program_has_more_pairs_than_errors_and_some_have_as_many(known):
    """An output without a question is an error once it is moved; a record that was asked about must not count."""
    assert known["counted"] == {"in a circle": 0, "to one cluster": 0}
    known["names"] = [(0, 1, *rest) for rest in product((0, 1), repeat=2)]
    ask = ((0, 2), (0, 1, 0, 0), (0, 1, 1, 0))  # about the first hidden record, and the second is taken to be with 0
    assert known["excess"](ask, {0: 1, 1: 0}) == 0
    assert [known["run"](ask, s)[0] for s in known["names"]] == [{0, 2}] * 4


@pytest.mark.parametrize("theta", [0.1, 0.5, 0.8])
def test_psi_is_the_moment_of_the_evidence(known, theta):
    """1 - psi is the integral of f_g^(1 - θ) f_r^θ; under Dist-2 psi is ε/(1 - ε)."""
    for g, r in LAWS:
        moment = sum(a ** (1 - theta) * b**theta for a, b in zip(g, r, strict=True) if a and b)
        assert known["psi"](np.array(g), np.array(r), theta) == pytest.approx(1 - moment, abs=1e-12)
    shares = np.array([0, 0.75, 0.25]), np.array([0.25, 0.75, 0])
    assert known["psi"](*shares, theta) == pytest.approx(cr.dist2(0.2).hellinger2)


@pytest.mark.parametrize("tau", [0.3, 1, 3])
def test_best_play_about_one_record_is_to_ask_or_to_name_the_likelier_cluster(known, tau):
    """Three clusters, one hidden record: a question settles it, and an error has a fine of (1 + e^τ) / 2."""
    for g, r in LAWS:
        first, second = (np.outer(a, b).ravel() / 2 for a, b in ((g, r), (r, g)))
        expected = np.minimum(first + second, np.minimum(first, second) * (1 + exp(tau)) / 2).sum()
        best, bound = known["played"](np.array(g), np.array(r), (0.5, 0.5), {0: 1, 1: 0}, 1, tau)
        assert best == pytest.approx(expected, rel=1e-12) and bound <= expected / 2


@pytest.mark.parametrize("tau", [0.2, 0.5, 1, 2])
def test_evidence_exceeds_tau_no_more_often_than_its_bound(known, tau):
    """One match and one non-match; near a value of the evidence the bound needs its last term."""
    for (g, r), theta in product(LAWS, np.linspace(0.05, 0.95, 19)):
        chance = np.outer(g, r).ravel()
        with np.errstate(divide="ignore", invalid="ignore"):
            evidence = np.log(chance / np.outer(r, g).ravel())
        above = chance[chance > 0] @ (evidence[chance > 0] > tau)
        assert above <= known["exceeding"](np.array(g), np.array(r), theta, tau, 1, 1)


@pytest.mark.parametrize("k", [3, 4, 100])
def test_the_steps_hold_at_the_ends_of_their_ranges(known, k):
    """H² = 1/4 or hardly less, an error of hardly less than what the third case needs, and hardly more than k²/H²."""
    for epsilon in (0.6614378, 0.3, 0.01):
        g, r = np.array([[1 - epsilon, 1 + epsilon], [1 + epsilon, 1 - epsilon]]) / 2
        h = known["psi"](g, r, 0.5)
        star = next(s for s in np.geomspace(30, 1000, 500) if known["psi"](g, r, 1 / s) <= h / 15)
        for n in (floor(k**2 / h) + 1, 10**12):
            left = known["below"](k, n, max(star + log(h) / 2, log(100)), g, r, h)
            assert set(left) == {"sizes", "budget", "M_g", "M_r", "S"} and min(map(float, left.values())) >= 1
