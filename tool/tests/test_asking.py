"""A crowd that is a program: it fails, stalls and babbles, and no answer is lost or paid for twice."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from zlib import crc32

import numpy as np
import pandas as pd
import pytest

from crowder_tool import Answer, Journal, ask_all, asking, chat_crowd

from .journal_crash import read

LABELS = np.repeat(np.arange(6), 4)
PAIRS = [(i, j) for i in range(24) for j in range(i)][:120]
RECORDS = pd.DataFrame(
    {"id": [f"r{k}" for k in range(24)], "text": [f"thing {label} no {k}" for k, label in enumerate(LABELS)]}
)
TRUE = {(i, j): bool(LABELS[i] == LABELS[j]) for i, j in PAIRS}


@contextmanager
def chat_server(*, wrong=0.0, failing=0.0, babbling=0.0, stalling=0.0):
    """A language model behind an address of OpenAI's form, on this machine: the address, and how often each pair of
    texts was answered, right or wrong; and None, with nonsense.

    Two texts are the same if their second words are. A share of the pairs is answered wrongly, however often it is
    asked; a share of all requests, at random, fails, is answered with nonsense, or is answered only after 3 seconds.
    """
    answered, lock, rng = Counter(), threading.Lock(), np.random.default_rng(1)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = json.loads(body["messages"][-1]["content"])
            pair = tuple(sorted((asked["a"]["text"], asked["b"]["text"])))
            with lock:
                luck = rng.random()
            error = crc32(f"{pair}".encode()) < wrong * 2**32
            if luck < failing:
                return self.reply(500, {"error": "overloaded"})
            if luck < failing + stalling:
                time.sleep(3)
            same = (pair[0].split()[1] == pair[1].split()[1]) != error
            content = f"Sure! ```json\n{json.dumps({'same': same, 'confidence': 0.6 if error else 0.9})}\n```"
            if luck > 1 - babbling:
                pair, content = None, 'Perhaps: {"same": "perhaps", "confidence": 95}'
            with lock:
                answered[pair] += 1
            usage = {"prompt_tokens": 200, "completion_tokens": 20}
            return self.reply(200, {"choices": [{"message": {"content": content}}], "usage": usage})

        def reply(self, status, content):
            content = json.dumps(content).encode()
            with suppress(OSError):  # who asked has given up
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", answered
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)


@pytest.fixture
def journal(tmp_path):
    with Journal(None, tmp_path / "answers.db") as journal:
        yield journal


def test_nobody_is_asked_without_room_for_the_answer(journal, monkeypatch):
    """On a full disk, whose journal says so before a question; see `test_journal`."""

    def full():
        raise OSError("no space for another answer")

    monkeypatch.setattr(journal, "make_room", full)
    asked = []
    with pytest.raises(OSError, match="no space for another answer"):
        ask_all(lambda i, j: asked.append((i, j)), PAIRS, journal)
    assert asked == []


def test_forms_of_an_answer_are_kept_with_confidence_and_cost(journal):
    said = {(0, 1): True, (1, 2): None, (2, 3): Answer(False, 0.7), (4, 5): Answer(None, 0.1)}
    said[3, 4] = Answer(True, 0.9, 0.5, "model")
    asked = ask_all(lambda i, j: said[i, j], said, journal)
    assert asked.answers == {(0, 1): True, (1, 2): None, (2, 3): False, (3, 4): True, (4, 5): None}
    assert (asked.open, asked.new, asked.cost, journal.costs()[0]) == ({}, 5, 0.5, 0.5)
    table = read(journal.path).sort_values("i")
    assert table["confidence"].fillna(-1).tolist() == [-1, -1, 0.7, 0.9, 0.1]
    assert set(table["worker"]) == {None, "model"}
    assert ask_all(None, [(1, 0), (0, 1)], journal)[:3] == ({(1, 0): True, (0, 1): True}, {}, 0)
    both = ask_all(lambda i, j: Answer(True, cost=1), [(6, 5), (5, 6)], journal)  # one question
    assert both == ({(6, 5): True, (5, 6): True}, {}, 1, 1)


def test_many_are_out_at_once_and_the_journal_does_not_hold_them_up(journal):
    together = threading.Barrier(8)

    def crowd(i, j):
        together.wait(30)  # ends only if eight are out
        return TRUE[i, j]

    assert ask_all(crowd, PAIRS, journal, parallel=8).answers == TRUE
    assert journal.asked == len(PAIRS) == len(journal.answers())


def test_failures_are_tried_again_with_growing_pauses_and_then_left_open(journal, monkeypatch):
    calls, lock, pauses = {}, threading.Lock(), []

    class Event(threading.Event):
        def wait(self, timeout=None):
            if timeout is None:  # that of a thread which starts
                return super().wait()
            pauses.append(timeout)
            return self.is_set()

    def crowd(i, j):
        with lock:
            calls[i, j] = calls.get((i, j), 0) + 1
        if (i + j) % 3 == 0:
            raise TimeoutError("silent")
        return "nonsense" if calls[i, j] <= 2 else TRUE[i, j]

    monkeypatch.setattr(asking.threading, "Event", Event)
    asked = ask_all(crowd, PAIRS[:30], journal, parallel=30, retries=2, pause=1500)
    assert asked.answers == {pair: TRUE[pair] for pair in PAIRS[:30] if sum(pair) % 3}
    assert set(asked.open.values()) == {"TimeoutError: silent"} and set(calls.values()) == {3}
    assert sorted(pauses) == [1500] * 30 + [3000] * 30  # before the second call of a pair, and before its third
    pauses.clear()
    ask_all(lambda i, j: 1 / 0, [(30, 31)], journal, retries=2000, pause=1500)
    assert pauses == [1500, 3000] + [3600] * 1998  # an hour at most, however often
    assert ask_all(lambda i, j: TRUE[i, j], PAIRS[:30], journal).new == len(asked.open)  # what was open


def test_a_crowd_that_is_down_is_not_asked_for_ever(journal):
    calls = []
    asked = ask_all(lambda i, j: calls.append((i, j)) or 1 / 0, PAIRS, journal, parallel=4, retries=1, pause=0.001)
    assert asked.new == 0 and len(asked.open) == len(PAIRS) and len(calls) <= 2 * (4 + 3)
    assert asked.open[PAIRS[0]] == "ZeroDivisionError: division by zero"
    assert "failures in a row" in asked.open[PAIRS[-1]]


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

    calls, append, journal._file.append = [], journal._file.append, full
    crowd = lambda i, j: calls.append((i, j)) or TRUE[i, j]  # noqa: E731
    with pytest.raises(
        OSError, match=r"the crowd's answer to \(\d+, \d+\) is .*, but could not be written: .*full"
    ) as error:
        ask_all(crowd, PAIRS, journal, parallel=3)
    assert all(f"answer to {tuple(sorted(pair))} is" in str(error.value) for pair in calls)  # none is lost silently
    assert 1 <= len(calls) <= 3
    journal._file.append = append
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


def test_a_model_that_errs_stalls_babbles_and_fails_answers_as_one_that_only_errs(tmp_path):
    """What fails costs time and money, and only errors cost matches."""
    answers, fails = [], {"failing": 0.05, "babbling": 0.05, "stalling": 0.02}
    for how in ({}, fails):
        with chat_server(wrong=0.08, **how) as (url, answered), Journal(None, tmp_path / f"{len(how)}.db") as journal:
            crowd = chat_crowd(url, "a-model", RECORDS, price=(1.0, 5.0), timeout=1.0 if how else 60.0)
            asked = ask_all(crowd, PAIRS, journal, pause=0.01, retries=6)
            replies, paid, table = sum(answered.values()), round(asked.cost / PRICE), journal.answers()
        assert asked.open == {} and len(table) == len(PAIRS) and asked.cost == pytest.approx(table["cost"].sum())
        assert 0 <= replies - paid <= (15 if how else 0)  # those that came too late
        assert 0 <= paid - len(PAIRS) <= answered[None]  # nonsense has its cost
        wrong = table["same"] != (LABELS[table["i"]] == LABELS[table["j"]])
        assert table["confidence"].tolist() == np.where(wrong, 0.6, 0.9).tolist()
        answers.append(asked.answers)
    assert answers[0] == answers[1] != TRUE


def test_replies_that_cannot_be_read_are_no_answers_and_count_under_the_cap(journal):
    with chat_server(babbling=0.6) as (url, answered):
        crowd = chat_crowd(url, "a-model", RECORDS, price=(1.0, 5.0))
        asked = ask_all(crowd, PAIRS, journal, cap=60 * PRICE, pause=0)
    replies = sum(answered.values())
    assert asked.cost == pytest.approx(replies * PRICE) and 50 <= replies <= 60
    assert None not in asked.answers.values() and answered[None] > len(asked.answers) / 2


def test_pairs_that_fail_take_no_room_under_the_cap(journal):
    def crowd(i, j):
        if (i + j) % 2:
            raise OSError("silent")
        return Answer(TRUE[i, j], cost=0.01)

    fine = [pair for pair in PAIRS if sum(pair) % 2 == 0]
    asked = ask_all(crowd, PAIRS, journal, parallel=40, retries=0, cap=0.01 * len(fine))
    assert set(asked.answers) == set(fine)


def test_a_cap_needs_the_cost_of_every_answer(journal):
    calls = []
    with pytest.raises(ValueError, match="every answer must have a cost"):
        ask_all(lambda i, j: calls.append((i, j)) or TRUE[i, j], PAIRS, journal, cap=1.0)
    assert len(calls) == len(journal.answers()) == 1


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
