"""A crowd that is a program: it fails, stalls and babbles, and no answer is lost or paid for twice."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import numpy as np
import pytest

from crowder_tool import Answer, Failed, Journal, ask_all, asking

from .journal_crash import read

LABELS = np.repeat(np.arange(6), 4)
PAIRS = [(i, j) for i in range(24) for j in range(i)][:120]
TRUE = {(i, j): bool(LABELS[i] == LABELS[j]) for i, j in PAIRS}


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(asking, "PAUSE", 0.001)


def test_answers_are_kept_as_they_are_given(journal):
    said = {(0, 1): True, (1, 2): None} | dict.fromkeys([(4, 3), (3, 4)], Answer(False, 0.7, 0.5, "model"))
    asked = ask_all(lambda i, j: said[i, j], said, journal)
    assert asked == ({(0, 1): True, (1, 2): None, (4, 3): False, (3, 4): False}, {}, 3, 0.5)
    assert sorted(read(journal.path))[2][:6] == (3, 4, False, "model", 0.7, 0.5)
    assert ask_all(None, [(1, 0), (0, 1)], journal) == ({(1, 0): True, (0, 1): True}, {}, 0, 0.0)


def test_many_are_out_at_once_and_the_journal_does_not_hold_them_up(journal):
    together = threading.Barrier(8)

    def crowd(i, j):
        together.wait(30)  # ends only if eight are out
        return TRUE[i, j]

    assert ask_all(crowd, PAIRS, journal, parallel=8).answers == TRUE
    assert journal.asked == len(PAIRS) == len(journal.votes())


def test_failures_are_tried_again_with_growing_pauses_and_then_left_open(journal, waits, monkeypatch):
    calls, lock = Counter(), threading.Lock()

    def crowd(i, j):
        with lock:
            calls[i, j] += 1
        if (i + j) % 3 == 0 or calls[i, j] <= 2:
            raise TimeoutError("silent")
        return TRUE[i, j]

    monkeypatch.setattr(asking, "PAUSE", 1500)
    asked = ask_all(crowd, PAIRS[:30], journal, parallel=30)
    assert asked.answers == {pair: TRUE[pair] for pair in PAIRS[:30] if sum(pair) % 3}
    assert set(asked.open.values()) == {"TimeoutError('silent')"} and {calls[pair] for pair in asked.open} == {4}
    # Before the second call of a pair, its third, and its fourth, an hour at most.
    assert sorted(waits) == [1500] * 30 + [3000] * 30 + [3600] * len(asked.open)
    assert ask_all(lambda i, j: TRUE[i, j], PAIRS[:30], journal).new == len(asked.open)  # what was open


def test_a_crowd_that_is_down_is_not_asked_for_ever(journal, quick):
    calls = []
    asked = ask_all(lambda i, j: calls.append((i, j)) or 1 / 0, PAIRS, journal, parallel=4)
    assert asked.new == 0 and len(asked.open) == len(PAIRS) and len(calls) <= 4 * (4 + 3)
    assert asked.open[PAIRS[0]] == "ZeroDivisionError('division by zero')"
    assert "failures in a row" in asked.open[PAIRS[-1]]


@pytest.mark.parametrize("words", ["temperature does not support 0", "refused (request req_{0}{1}a77c)"])
def test_an_equal_refusal_several_times_in_a_row_ends_the_run(words, journal):
    """But for identifiers of requests. What is answered in between, or says something else, begins the count again."""
    calls = []

    def refuses(i, j):
        calls.append((i, j))
        if len(calls) == 4 or (len(calls) == 8 and journal.votes()):
            return True
        raise Failed(words.format(i, j) if len(calls) != 12 else "too long", ends="pair")

    asked = ask_all(refuses, PAIRS, journal, parallel=1)
    assert len(calls) == 17 and asked.new == 2 and len(asked.open) == len(PAIRS) - 2
    assert asked.open[PAIRS[-1]] == asked.open[PAIRS[16]] and asked.open[PAIRS[11]] == "too long"


@pytest.mark.parametrize(("cap", "paid"), [(0.0, 0), (0.105, 10), (0.5, 50), (None, 120)])
def test_the_cap_holds_for_all_that_is_in_the_journal(cap, paid, journal):
    crowd = lambda i, j: time.sleep(0.001) or Answer(TRUE[i, j], cost=0.01)  # noqa: E731
    asked = ask_all(crowd, PAIRS, journal, parallel=7, cap=cap)
    assert asked.new == paid == len(asked.answers) and asked.cost == pytest.approx(0.01 * paid)
    assert len(asked.open) == 120 - paid and set(asked.open.values()) <= {"the cap is reached"}
    again = ask_all(crowd, PAIRS, journal, cap=cap)  # what is known is no question of money
    assert again.new == 0 and again.answers == asked.answers
    if cap:
        assert ask_all(crowd, PAIRS, journal, cap=cap + 0.1).new == 10


def test_a_journal_that_fails_ends_it_and_the_answer_is_told(journal):
    def full(*cells):
        raise OSError("database or disk is full")

    calls, add, journal._file.add = [], journal._file.add, full
    crowd = lambda i, j: calls.append((i, j)) or TRUE[i, j]  # noqa: E731
    with pytest.raises(
        OSError, match=r"the crowd's answer to \(\d+, \d+\) is .*, but could not be written: .*full"
    ) as error:
        ask_all(crowd, PAIRS, journal, parallel=3)
    assert all(f"answer to {tuple(sorted(pair))} is" in str(error.value) for pair in calls)  # none is lost silently
    assert 1 <= len(calls) <= 3
    journal._file.add = add
    assert ask_all(crowd, PAIRS, journal, parallel=3).answers == TRUE


RUN = """if True:
    import os, sys, time
    from crowder_tool import Journal, ask_all
    asked = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    def crowd(i, j):
        os.write(asked, b"%d %d\\n" % (i, j))
        time.sleep(float(sys.argv[3]))
        return i // 4 == j // 4
    with Journal(None, sys.argv[1]) as journal:
        done = ask_all(crowd, [(i, j) for i in range(24) for j in range(i)][:120], journal, parallel=6)
        print(len(done.answers))
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize(("how", "twice"), [("SIGKILL", 6), ("SIGINT", 0)])
def test_killed_or_interrupted_it_goes_on_where_it_was(how, twice, tmp_path):
    """Killed, what was out is asked again, at most as many as are out at once; interrupted, it keeps what was out."""
    path, log = tmp_path / "answers.journal", tmp_path / "asked"
    child = subprocess.Popen(
        [sys.executable, "-c", RUN, path, log, "0.3"],  # slow enough not to end before the signal comes
        stderr=subprocess.DEVNULL,
        # A test run in the background has Ctrl-C switched off, and would pass that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    limit = time.monotonic() + 60
    while (not log.exists() or len(log.read_text().splitlines()) < 15) and time.monotonic() < limit:
        time.sleep(0.002)
    child.send_signal(getattr(signal, how))
    assert child.wait(60) != 0
    assert len(log.read_text().splitlines()) - len(read(path)) <= twice
    done = subprocess.run([sys.executable, "-c", RUN, path, log, "0.02"], capture_output=True, text=True, check=True)
    assert done.stdout == "120\n"
    asked = [tuple(map(int, line.split())) for line in log.read_text().splitlines()]
    assert set(asked) == set(PAIRS) and len(asked) - len(PAIRS) <= twice


def test_failures_cost_time_and_money_but_no_answer(journal, monkeypatch):
    """Those of a known cost, of an unknown one (as the dearest answer), and free ones; also under the cap of a later
    call."""
    monkeypatch.setattr(asking, "PAUSE", 0.0)
    monkeypatch.setattr(asking, "RETRIES", 30)
    lock, rng, paid = threading.Lock(), np.random.default_rng(1), [0]

    def crowd(i, j):
        with lock:
            luck = rng.random() if paid[0] else 0.5  # the first is an answer
            paid[0] += luck < 0.85
        if luck < 0.1:
            raise TimeoutError("silent")
        if luck < 0.3:
            raise Failed("no answer", cost=0.01 if luck < 0.2 else None)
        if luck >= 0.85:
            raise Failed("nobody is there")
        return Answer(TRUE[i, j], cost=0.01)

    asked = ask_all(crowd, PAIRS, journal, cap=0.6)
    assert asked.cost == pytest.approx(0.01 * paid[0]) == journal.costs()[0] and 50 <= paid[0] <= 60
    with Journal(None, journal.path) as later:
        ask_all(crowd, PAIRS, later, cap=0.7)
        assert paid[0] <= 70 and later.costs() == pytest.approx((0.01 * paid[0], 0.01))
        assert ask_all(crowd, PAIRS, later).answers == TRUE and later.costs()[0] == pytest.approx(0.01 * paid[0])


@pytest.mark.parametrize("said", [
    Answer(True, 1.2, 1.0), Answer("yes", cost=1.0), Answer(True, 0.5, 1.0, 7), (True, 1.0), Answer(True, cost="1"),
])  # fmt: skip
def test_the_cap_holds_whatever_a_crowd_returns(said, journal):
    """An answer of a wrong form is the crowd's bug: it is charged and ends the run, and those that are out are kept."""
    asked, until = [], time.monotonic() + 5

    def wait(ready):
        while not ready() and time.monotonic() < until:
            time.sleep(0.002)

    def some_crowd(i, j):
        asked.append((i, j))
        if (i, j) != PAIRS[0]:
            wait(lambda: len(asked) == 5)  # four are out
        if (i, j) in PAIRS[2:]:
            wait(lambda: journal.costs()[0] == 2)  # of the first answer, and the one of a wrong form
            time.sleep(0.2)
        return said if (i, j) == PAIRS[1] else Answer(True, cost=1.0)

    with pytest.raises((TypeError, ValueError), match=r"some_crowd said .*, which is charged as 1$"):
        ask_all(some_crowd, PAIRS, journal, parallel=4, cap=6)
    assert sorted(asked) == sorted(PAIRS[:5]) and len(journal.votes()) == 4 and journal.costs() == (5.0, 1.0)
    with Journal(None, journal.path) as later:  # one more fits
        assert ask_all(lambda i, j: Answer(True, cost=1.0), PAIRS, later, cap=6).new == 1


@pytest.mark.parametrize("error", [TimeoutError("silent"), Failed("silent", cost=None)])
def test_with_a_cap_a_failure_of_unknown_cost_ends_a_run_in_which_nothing_has_a_cost(error, journal, quick):
    """Whatever it cost, it is spent once; where a cost is known, it counts as that, and is tried again."""
    calls = []

    def crowd(i, j):
        calls.append((i, j))
        raise error

    asked = ask_all(crowd, PAIRS, journal, cap=2)
    assert len(calls) == 1 and set(asked.open.values()) == {asked.open[PAIRS[-1]]} and "silent" in asked.open[PAIRS[0]]
    journal.charge(0.5, "a request")
    assert ask_all(crowd, PAIRS, journal, cap=2).cost == 1.5 and len(calls) == 4


def test_a_cap_needs_the_cost_of_every_answer(journal):
    calls = []
    with pytest.raises(ValueError, match="every answer must have a cost"):
        ask_all(lambda i, j: calls.append((i, j)) or TRUE[i, j], PAIRS, journal, cap=1.0)
    assert len(calls) == len(journal.votes()) == 1


def test_two_calls_that_share_a_journal_have_one_cap(journal):
    """As two processes do: each has opened the file."""
    crowd = lambda i, j: time.sleep(0.002) or Answer(TRUE[i, j], cost=0.01)  # noqa: E731

    def call(pairs):
        with Journal(None, journal.path) as ours:
            ask_all(crowd, pairs, ours, parallel=16, cap=0.4)

    calls = [threading.Thread(target=call, args=(half,), daemon=True) for half in (PAIRS[:60], PAIRS[60:])]
    for one in calls:
        one.start()
    for one in calls:
        one.join(60)
    assert 0.3 <= journal.costs()[0] <= 0.4 + 1e-9


def test_what_somebody_else_answers_meanwhile_is_taken_and_not_counted(journal):
    def crowd(i, j):
        journal.record([(*PAIRS[-1], TRUE[PAIRS[-1]], "ann")])
        return Answer(TRUE[i, j], cost=0.01)

    asked = ask_all(crowd, PAIRS[-9:], journal, parallel=2, cap=1.0)
    assert asked.new == 8 and asked.cost == pytest.approx(0.08) and len(asked.answers) == 9
