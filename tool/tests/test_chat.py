"""A language model as a crowd: what it answers, what is no answer, and what a failure ends."""

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress
from email.utils import formatdate

import pandas as pd
import pytest
from werkzeug import Response

from crowder_tool import Failed, ask_all, asking, chat, chat_crowd

RECORDS = pd.DataFrame({"id": list("abcdefgh"), "text": "one two three four five six seven eight".split()})
PAIRS = [(0, k) for k in range(1, 8)]
PRICE = (1.0, 5.0)
COST = (200 + 5 * 20) / 1e6  # of the tokens below
YES = '{"same": true, "confidence": 0.9}'


def said(content):
    usage = {"prompt_tokens": 200, "completion_tokens": 20}
    return json.dumps({"choices": [{"message": {"content": content}}], "usage": usage}).encode()


def refused(status, words="slow down", **headers):
    return json.dumps({"error": {"message": words}}), status, {name.replace("_", "-"): v for name, v in headers.items()}


@pytest.fixture
def serve(httpserver):
    """The address of a server that gives these replies (content, status, headers), the last one again and again; and
    the requests that it has got."""

    def begin(*replies):
        requests = []

        def reply(request):
            requests.append(request)
            return Response(*replies[min(len(requests), len(replies)) - 1])

        httpserver.clear()
        httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(reply)
        return httpserver.url_for("/v1"), requests

    return begin


SILENCE = bytearray()


@contextmanager
def raw(reply, trickle=0.0):
    """The address of a server that sends these bytes, which need be no reply; with `trickle`, the pause in seconds
    before each byte."""
    listener, ended = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def serve():
        while not ended.is_set():
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.settimeout(5)
                request = connection.recv(2**16)
                while request and not request.endswith(b"}"):
                    request += connection.recv(2**16)
                for at in range(0, len(reply), 1 if trickle else max(len(reply), 1)):
                    connection.sendall(reply[at : at + 1] if trickle else reply)
                    if ended.wait(trickle):
                        break
                ended.wait(20 if reply is SILENCE else 0)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        ended.set()
        with suppress(OSError):
            socket.create_connection(listener.getsockname(), 5).close()  # so that it waits for nobody
        thread.join(60)
        listener.close()


def http(body, length):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (length, body)


@pytest.mark.parametrize(("content", "read"), [
    (YES, (True, 0.9)),
    ([{"type": "reasoning", "text": '{"same": false}'}, {"type": "text", "text": YES}], (True, 0.9)),
    ('{"same": "Yes"}', (True, None)), ('{"same": "NO", "confidence": 95}', (False, None)),
    ('{"same": "unsure", "confidence": true}', (None, None)), ('{"same": null}', (None, None)),
    ('<think>{"same": false} or {braces}</think>' + YES, (True, 0.9)), ("the set {a, b}: " + YES, (True, 0.9)),
    (f"```json\n{YES}\n```\nas {{both}} agree", (True, 0.9)),
    ('{"same": false} no, ' + YES + ' {"why": 1}', (True, 0.9)),
    ('{"answer": ' + YES + "}", (True, 0.9)), ('{"same": false, "why": "not {\\"same\\": true}"}', (False, None)),
    ('{"Same": true, "Confidence": 0.7}', (True, 0.7)), ('{"SAME": "Yes."}', (True, None)),
    ('{"same": 1}', (True, None)), ('{"same": 0}', (False, None)), ('{"same": "true"}', (True, None)),
    ("Yes.", (True, None)), ("**No**", (False, None)), ("1", (True, None)), ("0\n", (False, None)),
    ('"true"', (True, None)), ("UNSURE", (None, None)), ("null", (None, None)),
    ("<think>" + YES, None), ('{"same": 2}', None), ('{"same": "perhaps"}', None), ("yes and no", None), (None, None),
    ("", None), ('{"same": [true]}', None), ("{" * 100_000, None), ('{"a":' * 100_000, None), ([1], None), ({}, None),
])  # fmt: skip
def test_what_a_model_answers(content, read):
    assert chat.read_reply(json.loads(said(content))) == read


@pytest.mark.parametrize("reply", [None, [], {}, {"choices": []}, {"choices": [{"message": None}]}, {"usage": "none"}])
def test_no_form_of_a_reply_is_an_error(reply):
    assert chat.read_reply(reply) is None and chat.cost_of(reply, PRICE) == 0


@pytest.mark.parametrize(("reply", "ends", "words"), [
    (refused(401, "Incorrect key sk-1"), "run", "HTTP 401: Incorrect key (key)"),
    (refused(401, "x" * 297 + " sk-1"), "run", "xx (k"),
    (refused(404, "The model `x` does not exist"), "run", "HTTP 404: The model"),
    (('{"error": {"message": "quota", "code": "insufficient_quota"}}', 429), "run", "quota"),
    (("", 302, {"Location": "http://localhost:9/v1"}), "run", "HTTP 302"),
    (refused(400, "maximum context length is 8"), "pair", "HTTP 400: maximum context"),
    (('{"detail": "bad"}', 422), "pair", "HTTP 422: bad"), (('{"error": "busy"}', 503), "attempt", "HTTP 503: busy"),
    (("<h1>Bad  gateway</h1>" + "x" * 900, 502), "attempt", "<h1>Bad gateway</h1>xxx"),
    (refused(200, "overloaded"), "attempt", "overloaded"), ((said("no idea"),), "attempt", "cannot be read"),
])  # fmt: skip
def test_failures_have_the_words_of_the_server_and_say_what_they_end(reply, ends, words, serve, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nobody is there, and a local server needs none
    url, requests = serve(reply)
    with pytest.raises(Failed) as failure:
        chat_crowd(url, "x", RECORDS, key="sk-1\n", price=PRICE)(0, 1)
    assert failure.value.ends == ends and words in str(failure.value) and len(str(failure.value)) < 400
    assert failure.value.cost == (pytest.approx(COST) if "no idea" in str(failure.value) else 0)
    assert len(requests) == 1 and requests[0].headers["Authorization"] == "Bearer sk-1"


@pytest.mark.parametrize(("reply", "words"), [
    (http(said(YES)[:-9], 9_000), "peer closed connection"), (http(said(YES), 20), "cannot be read"),
    (http(said(YES), 9_000), "peer closed"), (b"", "Server disconnected"), (b"nonsense\r\n\r\n", "127.0.0.1: "),
    (http(b" " * 5_000_000, 5_000_000), "more than 4,194,304 bytes"), (SILENCE, "no whole reply within 0.4 seconds"),
])  # fmt: skip
def test_what_is_no_whole_reply_may_have_cost_something(reply, words, monkeypatch):
    monkeypatch.setattr(chat, "TIMEOUT", 0.4 if reply is SILENCE else 30)
    with raw(reply) as url, pytest.raises(Failed) as failure:
        chat_crowd(url, "x", RECORDS, price=PRICE)(0, 1)
    assert words in str(failure.value) and failure.value.ends == "attempt" and failure.value.cost is None
    with pytest.raises(Failed) as failure:  # nobody is there any more
        chat_crowd(url, "x", RECORDS, price=PRICE)(0, 1)
    assert failure.value.cost == 0


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"])
def test_a_reply_that_trickles_has_one_deadline(head, monkeypatch):
    monkeypatch.setattr(chat, "TIMEOUT", 0.4)
    with raw(head + b"x" * 900, trickle=0.05) as url:
        began = time.monotonic()
        with pytest.raises(Failed, match=r"no whole reply within 0\.4 seconds"):
            chat_crowd(url, "x", RECORDS)(0, 1)
    assert time.monotonic() - began < 10  # at least 45, were each byte waited for


@pytest.mark.parametrize("reply", [
    (said(YES), 201), (b"\xef\xbb\xbf" + said(YES + "@").replace(b"@", b"\xff"),),
])  # fmt: skip
def test_odd_replies_that_can_be_read(reply, serve):
    answer = chat_crowd(serve(reply)[0], "x", RECORDS, price=PRICE)(0, 1)
    assert answer[:2] == (True, 0.9) and answer.cost == pytest.approx(COST)


def test_many_questions_at_once_have_their_own_answers(httpserver, journal):
    def reply(request):
        told = json.loads(request.json["messages"][-1]["content"])
        assert request.json["model"] == "x" and request.json["temperature"] == 0 and request.json["seed"] == 7
        return Response(said(json.dumps({"same": len(told["a"]["text"]) == len(told["b"]["text"])})))

    httpserver.expect_request("/v1/chat/completions").respond_with_handler(reply)
    asked = ask_all(chat_crowd(httpserver.url_for("/v1"), "x", RECORDS, price=PRICE, seed=7), PAIRS, journal)
    assert asked.answers == {(0, k): len(RECORDS["text"][k]) == len("one") for k in range(1, 8)}
    assert asked.cost == pytest.approx(7 * COST)


@pytest.mark.parametrize(("reply", "waited"), [
    (refused(429, Retry_After="40"), 40), (refused(429, Retry_After="2.5"), 2.5),
    (refused(429, Retry_After="date"), 3000), (refused(429, f"slow down, retry in {'9' * 400}h"), None),
    (refused(429, Retry_After="soon"), 1), (refused(429, Retry_After="-5"), 1),
    (refused(429, Retry_After_ms="1500"), 1.5), (refused(503, Retry_After_ms="2500", Retry_After="2"), 2.5),
    (refused(429, "Limit reached. Please try again in 1.5s."), 1.5), (refused(429, "retry after 90 seconds"), 90),
    (refused(429, "try again in 2m30.5s, or"), 150.5), (refused(429, "Try again in 1200ms"), 1.2),
    (refused(429, "again in 3 minutes"), 180), (refused(429, "try again in a while"), 1),
])  # fmt: skip
def test_the_server_says_when_to_ask_again(reply, waited, serve, journal, waits):
    if waited == 3000:  # as a date, which is told now and not when the tests are collected
        reply[2]["Retry-After"] = formatdate(time.time() + waited, usegmt=True)
    url, requests = serve(reply, (said(YES),))
    asked = ask_all(chat_crowd(url, "x", RECORDS), PAIRS[:1], journal)
    if waited is None:  # more than an hour: not now
        assert "slow down" in asked.open[PAIRS[0]] and len(requests) == 1 and not waits
    else:
        assert asked.answers == {PAIRS[0]: True} and waits == [pytest.approx(waited, abs=600 * (waited == 3000))]


def test_a_failure_ends_what_it_says_and_no_unreadable_reply_is_kept(serve, journal, waits, monkeypatch):
    long, answer, babble = refused(400, "context length exceeded"), (said(YES),), (said("no idea"),)
    url, requests = serve(long, long, long, answer)
    crowd = chat_crowd(url, "x", RECORDS, price=PRICE)
    asked = ask_all(crowd, PAIRS[3:], journal, parallel=1)
    assert asked.answers == {PAIRS[6]: True} and len(asked.open) == 3 and len(requests) == 4 and not waits
    for reply, times in ((refused(401, "No key"), 1), (refused(400, "temperature does not support 0"), 5)):
        _, requests = serve(reply)
        asked = ask_all(crowd, PAIRS[:6], journal, parallel=1)
        words = f"127.0.0.1, HTTP {reply[1]}: {json.loads(reply[0])['error']['message']}"
        assert set(asked.open.values()) == {words.replace("127.0.0.1", url.split("/")[2].split(":")[0])}
        assert len(requests) == times and not waits
    serve(babble)
    asked = ask_all(crowd, PAIRS[:1], journal)
    assert not asked.answers and asked.cost == pytest.approx(4 * COST) and len(journal.votes()) == 1
    serve(babble, answer)  # mended: what the failure has cost counts, too
    asked = ask_all(crowd, PAIRS[:1], journal)
    assert asked.answers == {PAIRS[0]: True} and asked.cost == pytest.approx(2 * COST)
    assert journal.costs() == pytest.approx((7 * COST, COST))


def test_a_limit_of_the_rate_is_no_failure_while_others_are_answered(journal, monkeypatch):
    """One question is refused until all others are answered; alone, it is given up after as many attempts as ever."""
    refused = []

    def crowd(i, j):
        if (i, j) == PAIRS[0] and len(journal.votes()) < 40:
            refused.append(1)
            raise Failed("slow down", after=0.08)
        time.sleep(0.02)
        return True

    monkeypatch.setattr(asking, "PAUSE", 0)
    alone = ask_all(crowd, PAIRS[:1], journal)
    assert alone.open == {PAIRS[0]: "slow down"} and len(refused) == 4
    others = [(1, k) for k in range(2, 42)]
    assert ask_all(crowd, PAIRS[:1] + others, journal, parallel=2).open == {}
    assert len(refused) > 4 + 4


@pytest.mark.parametrize("wrong", [
    {"url": "file:///etc/hosts"}, {"url": 5}, {"url": "http://"}, {"url": "//host"}, {"url": "http://a\nb"},
    {"key": "a b"}, {"key": "ä"}, {"price": (-1, 0)}, {"price": (float("nan"), 0)}, {"records": [1]}, {"model": None},
    {"prompt": 5},
])  # fmt: skip
def test_what_is_wrong_is_told_before_anything_is_asked(wrong):
    with pytest.raises((ValueError, TypeError), match=f"^{next(iter(wrong))} must"):
        chat_crowd(**{"url": "http://localhost", "model": "x", "records": RECORDS} | wrong)


def test_a_key_goes_over_https_or_to_this_machine_only():
    for url in (
        "http://host/v1",
        "http://127.0.0.1.host/v1",
        "HTTP://10.0.0.1",
        "http://localhost@host",
        "http://0.0.0.0",
    ):
        with pytest.raises(ValueError, match=r"^url must begin with https:// where there is a key"):
            chat_crowd(url, "x", RECORDS, key="sk-1")
        if "@" not in url:
            chat_crowd(url, "x", RECORDS)
    for url in (
        "https://host/v1",
        "http://localhost:80/v1",
        "http://127.0.0.1",
        "http://[::1]:8/v1",
        "http://127.8.8.8",
    ):
        assert callable(chat_crowd(url, "x", RECORDS, key="sk-1"))
