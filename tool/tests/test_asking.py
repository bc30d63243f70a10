"""A crowd that is a program: it fails, stalls and babbles, and no answer is lost or paid for twice."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from zlib import crc32

import numpy as np
import pandas as pd
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from crowder_tool import Answer, Failed, Journal, ask_all, asking, chat, chat_crowd

from .journal_crash import read

LABELS = np.repeat(np.arange(6), 4)
PAIRS = [(i, j) for i in range(24) for j in range(i)][:120]
RECORDS = pd.DataFrame(
    {"id": [f"r{k}" for k in range(24)], "text": [f"thing {label} no {k}" for k, label in enumerate(LABELS)]}
)
TRUE = {(i, j): bool(LABELS[i] == LABELS[j]) for i, j in PAIRS}


@pytest.fixture
def journal(tmp_path):
    with Journal(None, tmp_path / "answers.db") as journal:
        yield journal


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(asking, "PAUSE", 0.001)


def test_forms_of_an_answer_are_kept_with_confidence_and_cost(journal):
    said = {(0, 1): True, (1, 2): None, (2, 3): Answer(False, 0.7), (4, 5): Answer(None, 0.1)}
    said[3, 4] = Answer(True, 0.9, 0.5, "model")
    asked = ask_all(lambda i, j: said[i, j], said, journal)
    assert asked.answers == {(0, 1): True, (1, 2): None, (2, 3): False, (3, 4): True, (4, 5): None}
    assert (asked.open, asked.new, asked.cost, journal.costs()[0]) == ({}, 5, 0.5, 0.5)
    kept = sorted(read(journal.path))
    assert [vote.confidence for vote in kept] == [None, None, 0.7, 0.9, 0.1]
    assert [vote.worker for vote in kept] == [None, None, None, "model", None]
    assert ask_all(None, [(1, 0), (0, 1)], journal)[:3] == ({(1, 0): True, (0, 1): True}, {}, 0)
    both = ask_all(lambda i, j: Answer(True, cost=1), [(6, 5), (5, 6)], journal)  # one question
    assert both == ({(6, 5): True, (5, 6): True}, {}, 1, 1)


def test_many_are_out_at_once_and_the_journal_does_not_hold_them_up(journal):
    together = threading.Barrier(8)

    def crowd(i, j):
        together.wait(30)  # ends only if eight are out
        return TRUE[i, j]

    assert ask_all(crowd, PAIRS, journal, parallel=8).answers == TRUE
    assert journal.asked == len(PAIRS) == len(journal.votes())


def test_failures_are_tried_again_with_growing_pauses_and_then_left_open(journal, monkeypatch):
    calls, lock, pauses = Counter(), threading.Lock(), []

    class Event(threading.Event):
        def wait(self, timeout=None):
            if timeout is None:  # that of a thread which starts
                return super().wait()
            pauses.append(timeout)
            return self.is_set()

    def crowd(i, j):
        with lock:
            calls[i, j] += 1
        if (i + j) % 3 == 0 or calls[i, j] <= 2:
            raise TimeoutError("silent")
        return TRUE[i, j]

    monkeypatch.setattr(asking.threading, "Event", Event)
    monkeypatch.setattr(asking, "PAUSE", 1500)
    asked = ask_all(crowd, PAIRS[:30], journal, parallel=30)
    assert asked.answers == {pair: TRUE[pair] for pair in PAIRS[:30] if sum(pair) % 3}
    assert set(asked.open.values()) == {"TimeoutError: silent"} and {calls[pair] for pair in asked.open} == {4}
    # Before the second call of a pair, its third, and its fourth, an hour at most.
    assert sorted(pauses) == [1500] * 30 + [3000] * 30 + [3600] * len(asked.open)
    assert ask_all(lambda i, j: TRUE[i, j], PAIRS[:30], journal).new == len(asked.open)  # what was open


def test_a_crowd_that_is_down_is_not_asked_for_ever(journal, quick):
    calls = []
    asked = ask_all(lambda i, j: calls.append((i, j)) or 1 / 0, PAIRS, journal, parallel=4)
    assert asked.new == 0 and len(asked.open) == len(PAIRS) and len(calls) <= 4 * (4 + 3)
    assert asked.open[PAIRS[0]] == "ZeroDivisionError: division by zero"
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
    path, log = tmp_path / "answers.db", tmp_path / "asked"
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


PRICE = (200 + 5 * 20) / 1e6  # of a reply of the server, at a dollar and five a million tokens


@pytest.fixture
def model():
    """A language model behind an address of OpenAI's form, on this machine; how often each pair of texts was answered,
    and None, with nonsense; and what goes wrong.

    Two texts are the same if their second words are. A share of the pairs is answered wrongly, however often it is
    asked; a share of all requests, at random, fails, is answered with nonsense, or is answered only after 3 seconds.
    """
    answered, lock, rng = Counter(), threading.Lock(), np.random.default_rng(1)
    how = dict.fromkeys(["wrong", "failing", "babbling", "stalling"], 0.0)

    def handle(request):
        asked = json.loads(request.json["messages"][-1]["content"])
        pair = tuple(sorted((asked["a"]["text"], asked["b"]["text"])))
        with lock:
            luck = rng.random()
        if luck < how["failing"]:
            return Response('{"error": "overloaded"}', 500)
        if luck < how["failing"] + how["stalling"]:
            time.sleep(3)
        error = crc32(f"{pair}".encode()) < how["wrong"] * 2**32
        same = (pair[0].split()[1] == pair[1].split()[1]) != error
        content = f"Sure! ```json\n{json.dumps({'same': same, 'confidence': 0.6 if error else 0.9})}\n```"
        if luck > 1 - how["babbling"]:
            pair, content = None, 'Perhaps: {"same": "perhaps", "confidence": 95}'
        with lock:
            answered[pair] += 1
        usage = {"prompt_tokens": 200, "completion_tokens": 20}
        return Response(json.dumps({"choices": [{"message": {"content": content}}], "usage": usage}))

    with HTTPServer(threaded=True) as server:
        server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(handle)
        yield server.url_for("/v1"), answered, how


def test_a_model_that_errs_stalls_babbles_and_fails_answers_as_one_that_only_errs(model, tmp_path, monkeypatch):
    """What fails costs time and money, and only errors cost matches."""
    (url, answered, how), answers = model, []
    monkeypatch.setattr(asking, "PAUSE", 0.01)
    monkeypatch.setattr(asking, "RETRIES", 6)
    for fails in ({}, {"failing": 0.05, "babbling": 0.05, "stalling": 0.02}):
        how |= {"wrong": 0.08} | fails
        answered.clear()
        monkeypatch.setattr(chat, "TIMEOUT", 1.0 if fails else 60.0)
        with Journal(None, tmp_path / f"{len(fails)}.db") as journal:
            asked = ask_all(chat_crowd(url, "a-model", RECORDS, price=(1.0, 5.0)), PAIRS, journal)
            replies, votes, costs = sum(answered.values()), journal.votes(), journal.costs()
        assert asked.open == {} and len(votes) == len(PAIRS) and costs == pytest.approx((asked.cost, PRICE))
        paid = round(asked.cost / PRICE)
        assert asked.cost == pytest.approx(paid * PRICE) and replies <= paid
        assert 0 <= paid - len(PAIRS) - answered[None] <= (15 if fails else 0)  # those that came too late
        wrong = {vote[:2] for vote in votes if vote.same != (LABELS[vote.i] == LABELS[vote.j])}
        assert all(vote.confidence == (0.6 if vote[:2] in wrong else 0.9) for vote in votes)
        answers.append(asked.answers)
    assert answers[0] == answers[1] != TRUE


def test_replies_that_cannot_be_read_are_no_answers_and_count_under_the_cap(model, journal, monkeypatch):
    """Also under that of a later call."""
    (_, answered, how), crowd = model, chat_crowd(model[0], "a-model", RECORDS, price=(1.0, 5.0))
    monkeypatch.setattr(asking, "PAUSE", 0.0)
    how["babbling"] = 0.6
    asked = ask_all(crowd, PAIRS, journal, cap=60 * PRICE)
    replies = sum(answered.values())
    assert asked.cost == pytest.approx(replies * PRICE) and 50 <= replies <= 60
    assert None not in asked.answers.values() and answered[None] > len(asked.answers) / 2
    how["babbling"] = 1.0
    with Journal(None, journal.path) as later:
        ask_all(crowd, PAIRS, later, cap=70 * PRICE)
        assert sum(answered.values()) <= 70 and later.costs()[0] == pytest.approx(sum(answered.values()) * PRICE)


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


def test_a_crowd_whose_first_answer_is_of_a_wrong_form_is_asked_once(journal):
    calls = []
    with pytest.raises(ValueError, match="confidence"):
        ask_all(lambda i, j: calls.append(1) or Answer(True, 1.2, 1.0), PAIRS, journal, parallel=4, cap=2)
    assert len(calls) == 1 and journal.costs() == (1.0, 1.0)


def test_pairs_that_fail_take_no_room_under_the_cap(journal, monkeypatch):
    def crowd(i, j):
        if (i + j) % 2:
            raise OSError("silent")
        return Answer(TRUE[i, j], cost=0.01)

    monkeypatch.setattr(asking, "RETRIES", 0)
    fine = [pair for pair in PAIRS if sum(pair) % 2 == 0]
    asked = ask_all(crowd, PAIRS, journal, parallel=40, cap=0.01 * len(fine))
    assert set(asked.answers) == set(fine)


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
