"""A language model as a crowd: what it answers, what is no answer, and what a failure ends."""

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress
from email.utils import formatdate
from types import SimpleNamespace

import pandas as pd
import pytest

from crowder_tool import Failed, Journal, ask_all, asking, chat, chat_crowd

RECORDS = pd.DataFrame({"id": list("abcde"), "text": ["one", "two", "three", "four", "five"]})
PAIRS = [(0, 1), (0, 2), (0, 3), (0, 4)]
PRICE = (1.0, 5.0)
COST = (200 + 5 * 20) / 1e6  # of the tokens below
YES = '{"same": true, "confidence": 0.9}'


def said(content):
    return {"choices": [{"message": {"content": content}}], "usage": {"prompt_tokens": 200, "completion_tokens": 20}}


def http(body, status="200 OK", *headers, length=None):
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@contextmanager
def scripted(*replies, trickle=0.0):
    """The address of a server that sends these bytes, the last one again and again; and the requests that it has got.

    With `trickle`, the pause in seconds before each byte.
    """
    requests, listener, ended = [], socket.create_server(("127.0.0.1", 0)), threading.Event()

    def serve():
        while not ended.is_set():
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.settimeout(5)
                request = connection.recv(2**16)
                while request and not request.endswith(b"}"):
                    request += connection.recv(2**16)
                if not request:
                    continue
                requests.append(request)
                reply = replies[min(len(requests), len(replies)) - 1]
                for at in range(0, len(reply), 1 if trickle else max(len(reply), 1)):
                    connection.sendall(reply[at : at + 1] if trickle else reply)
                    if ended.wait(trickle):
                        break

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", requests
    finally:
        ended.set()
        with suppress(OSError):
            socket.create_connection(listener.getsockname(), 5).close()  # so that it waits for nobody
        thread.join(60)
        listener.close()


@pytest.fixture
def journal(tmp_path):
    with Journal(None, tmp_path / "answers.db") as journal:
        yield journal


@pytest.mark.parametrize(("content", "read"), [
    (YES, (True, 0.9)),
    ([{"type": "reasoning", "text": '{"same": false}'}, {"type": "text", "text": YES}], (True, 0.9)),
    ('{"same": "Yes"}', (True, None)), ('{"same": "NO", "confidence": 95}', (False, None)),
    ('{"same": "unsure", "confidence": true}', (None, None)), ('{"same": null}', (None, None)),
    ('<think>{"same": false} or {braces}</think>' + YES, (True, 0.9)), ("the set {a, b}: " + YES, (True, 0.9)),
    (f"```json\n{YES}\n```\nas {{both}} agree", (True, 0.9)),
    ('{"same": false} no, ' + YES + ' {"why": 1}', (True, 0.9)),
    ('{"answer": ' + YES + "}", (True, 0.9)), ('{"same": false, "why": "not {\\"same\\": true}"}', (False, None)),
    ("<think>" + YES, None), ('{"same": 1}', None), ('{"same": "perhaps"}', None), ("yes", None), (None, None),
    ("{" * 100_000, None), ('{"a":' * 100_000, None), ([1], None), ({}, None),
])  # fmt: skip
def test_what_a_model_answers(content, read):
    assert chat.read_reply(said(content)) == read


@pytest.mark.parametrize("reply", [None, [], {}, {"choices": []}, {"choices": [{"message": None}]}, {"usage": "none"}])
def test_no_form_of_a_reply_is_an_error(reply):
    assert chat.read_reply(reply) is None and chat.cost_of(reply, PRICE) == 0


@pytest.mark.parametrize(("reply", "ends", "words"), [
    (http({"error": {"message": "Incorrect key sk-1"}}, "401 No"), "run", "HTTP 401: Incorrect key (key)"),
    (http({"error": {"message": "The model `x` does not exist"}}, "404 No"), "run", "HTTP 404: The model"),
    (http({"error": {"message": "quota", "code": "insufficient_quota"}}, "429 No"), "run", "quota"),
    (http(b"", "302 Found", "Location: http://localhost:9/v1"), "run", "HTTP 302"),
    (http({"error": {"message": "maximum context length is 8"}}, "400 No"), "pair", "HTTP 400: maximum context"),
    (http({"detail": "bad"}, "422 No"), "pair", "HTTP 422: bad"),
    (http({"error": "overloaded"}, "503 No"), "attempt", "HTTP 503: overloaded"),
    (http(b"<h1>Bad  gateway</h1>" + b"x" * 900, "502 No"), "attempt", "<h1>Bad gateway</h1>xxx"),
    (http({"error": {"message": "busy"}}), "attempt", "busy"),
    (http(said("no idea")), "attempt", "cannot be read"),
    (http(json.dumps(said(YES)).encode()[:-9], length=9_000), "attempt", "cannot be read"),
    (http(said(YES), length=20), "attempt", "cannot be read"),
    (b"", "attempt", "closed connection"), (b"nonsense\r\n\r\n", "attempt", "127.0.0.1: "),
])  # fmt: skip
def test_failures_have_the_words_of_the_server_and_say_what_they_end(reply, ends, words, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nobody is there, and a local server needs none
    with scripted(reply) as (url, requests):
        with pytest.raises(Failed) as failure:
            chat_crowd(url, "x", RECORDS, key="sk-1\n", price=PRICE)(0, 1)
    assert failure.value.ends == ends and words in str(failure.value) and len(str(failure.value)) < 400
    assert failure.value.cost == (pytest.approx(COST) if "no idea" in str(failure.value) else 0)
    assert len(requests) == 1 and b"Authorization: Bearer sk-1\r\n" in requests[0]


@pytest.mark.parametrize("reply", [
    http(b"\xef\xbb\xbf" + json.dumps(said(YES + "@")).encode().replace(b"@", b"\xff")),
    http(said(YES), length=9_000),  # the whole reply is there
])  # fmt: skip
def test_odd_replies_that_can_be_read(reply):
    with scripted(reply) as (url, _):
        answer = chat_crowd(url, "x", RECORDS, price=PRICE)(0, 1)
    assert answer[:2] == (True, 0.9) and answer.cost == pytest.approx(COST)


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"])
def test_a_reply_that_trickles_has_one_deadline(head):
    with scripted(head + b"x" * 900, trickle=0.05) as (url, _):
        began = time.monotonic()
        with pytest.raises(Failed, match=r"no whole reply within 0\.4 seconds"):
            chat_crowd(url, "x", RECORDS, timeout=0.4)(0, 1)
    assert time.monotonic() - began < 10  # at least 45, were each byte waited for


@pytest.fixture
def waits(monkeypatch):
    """The pauses, none of which is made."""
    found = []

    class Event(asking.threading.Event):
        def wait(self, timeout=None):
            return super().wait() if timeout is None else found.append(timeout) or self.is_set()

    threading = SimpleNamespace(Event=Event)
    monkeypatch.setattr(asking, "threading", threading)
    return found


@pytest.mark.parametrize(("after", "waited"), [
    ("40", 40), (3000, 3000), ("soon", 1), ("-5", 1), ("1" * 500, None),
], ids=["seconds", "date", "no time", "negative", "too long"])  # fmt: skip
def test_the_server_says_when_to_ask_again(after, waited, journal, waits):
    if after == 3000:  # as a date, which is told now and not when the tests are collected
        after = formatdate(time.time() + after, usegmt=True)
    busy = http({"error": "slow down"}, "429 No", f"Retry-After: {after}")
    with scripted(busy, http(said(YES))) as (url, requests):
        asked = ask_all(chat_crowd(url, "x", RECORDS), PAIRS[:1], journal)
    if waited is None:  # more than an hour: not now
        assert "slow down" in asked.open[PAIRS[0]] and len(requests) == 1 and not waits
    else:
        assert asked.answers == {PAIRS[0]: True} and waits == [pytest.approx(waited, abs=600 * (waited == 3000))]


def test_a_failure_ends_what_it_says_and_no_unreadable_reply_is_kept(journal, waits):
    long = http({"error": {"message": "context length exceeded"}}, "400 No")
    with scripted(long, long, long, http(said(YES))) as (url, requests):
        asked = ask_all(chat_crowd(url, "x", RECORDS), PAIRS, journal, parallel=1)
    assert asked.answers == {(0, 4): True} and len(asked.open) == 3 and len(requests) == 4 and not waits
    with scripted(http({"error": {"message": "Incorrect key"}}, "401 No")) as (url, requests):
        asked = ask_all(chat_crowd(url, "x", RECORDS), PAIRS, journal, parallel=1)
    assert set(asked.open.values()) == {"127.0.0.1, HTTP 401: Incorrect key"} and len(requests) == 1
    babble, answer = http(said("no idea")), http(said(YES))
    with scripted(babble) as (url, _):
        asked = ask_all(chat_crowd(url, "x", RECORDS, price=PRICE), PAIRS[:1], journal, retries=2)
    assert not asked.answers and asked.cost == pytest.approx(3 * COST) and len(journal.answers()) == 1
    with scripted(babble, answer) as (url, _):  # mended: the answer has the cost of the failure before it
        asked = ask_all(chat_crowd(url, "x", RECORDS, price=PRICE), PAIRS[:1], journal)
    assert asked.answers == {PAIRS[0]: True} and asked.cost == pytest.approx(2 * COST) == journal.costs()[0]


def test_a_limit_of_the_rate_is_no_failure_while_others_are_answered(journal):
    """One question is refused until all others are answered; alone, it is given up after as many attempts as ever."""
    refused = []

    def crowd(i, j):
        if (i, j) == PAIRS[0] and len(journal.answers()) < 12:
            refused.append(1)
            raise Failed("slow down", after=0.02)
        time.sleep(0.02)
        return True

    alone = ask_all(crowd, PAIRS[:1], journal, retries=3, pause=0)
    assert alone.open == {PAIRS[0]: "slow down"} and len(refused) == 4
    others = [(1, k) for k in range(2, 14)]
    assert ask_all(crowd, PAIRS[:1] + others, journal, parallel=2, retries=3, pause=0).open == {}
    assert len(refused) > 8


@pytest.mark.parametrize("wrong", [
    {"url": "file:///etc/hosts"}, {"url": 5}, {"key": "a b"}, {"key": "ä"}, {"timeout": 0}, {"price": (-1, 0)},
    {"records": [1]}, {"price": (float("nan"), 0)}, {"model": None},
])  # fmt: skip
def test_what_is_wrong_is_told_before_anything_is_asked(wrong):
    with pytest.raises((ValueError, TypeError), match=f"^{next(iter(wrong))} must"):
        chat_crowd(**{"url": "http://localhost", "model": "x", "records": RECORDS} | wrong)
