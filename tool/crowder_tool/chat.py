"""A crowd that is a language model, behind an address of OpenAI's form."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from concurrent.futures import Future
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPErrorProcessor, ProxyHandler, Request, build_opener

import pandas as pd

from crowder import checks
from crowder_tool.asking import Failed
from crowder_tool.journal import Answer

__all__ = ["PROMPT", "chat_crowd"]

PROMPT = (
    "You are given two records, a and b, as JSON. Decide whether they describe the same thing in the real world, even "
    'if they are written differently. Answer with JSON only: {"same": true, false, or null if it cannot be decided, '
    '"confidence": a number from 0 to 1}.'
)
#: Most characters at the end of a reply in which an answer is looked for, and of the server's words in a message.
LOOKED_AT, SHOWN = 20_000, 300
SAYS = {"true": True, "yes": True, "false": False, "no": False, "null": None, "unsure": None}
#: What a server says if every question would fail like this, and if only this one does, whatever the status is.
ALWAYS = r"model\W?_?not\W?_?found|model\b.*(does not exist|not found)|invalid_api_key|insufficient_quota"
TOO_LONG = r"context.{0,30}(length|size|window)|too (long|large)\b"


def chat_crowd(
    url: str, model: str, records: pd.DataFrame, *, key: str = "", price: tuple[float, float] = (0.0, 0.0),
    timeout: float = 60.0, prompt: str = PROMPT, **options: Any,
) -> Callable[[int, int], Answer]:  # fmt: skip
    """A language model as a crowd for `ask_all`; each call is one request to the server.

    Parameters
    ----------
    url, model, key : str
        The address, to which ``/chat/completions`` is added; the name of the model there; and the key, if the server
        wants one. It is sent to no other host: a redirection is a failure.
    records : DataFrame
        All columns but ``id`` and ``label`` are shown to the model.
    price : (float, float), keyword only
        What a million tokens cost, in and out.
    timeout : float, keyword only
        Seconds for a whole request, from the connection to the last byte of the reply.
    prompt : str, keyword only
        What the model is told before it gets both records, ``{"a": {...}, "b": {...}}``. Its reply must end with a JSON
        object in which ``same`` is true, false or null, and may have a ``confidence``.
    **options
        More fields of the request, such as ``max_tokens``. By default, ``temperature`` is 0.

    Returns
    -------
    callable
        ``crowd(i, j)`` returns an `Answer`, or raises `Failed` with the server's words. A reply that cannot be read is
        a failure, which has a cost; `ask_all` asks again.

    Raises
    ------
    ValueError, TypeError
        If an argument is not of this form.

    See Also
    --------
    crowder_tool.ask_all : asks many pairs at once, and tries again as `crowder_tool.Failed` says.

    Examples
    --------
    >>> records = pd.DataFrame({"id": ["x", "y"], "name": ["Ann Lee", "A. Lee"]})
    >>> crowd = chat_crowd("http://localhost:11434/v1", "llama3.1", records, price=(0.5, 1.5), timeout=30)
    >>> reply = {"choices": [{"message": {"content": 'The initial fits. {"same": "yes", "confidence": 0.8}'}}]}
    >>> read_reply(reply)
    (True, 0.8)
    """
    for what, text in {"url": url, "model": model, "key": key, "prompt": prompt}.items():
        checks.kind(text, str, f"{what} must be text")
    if not (re.match("https?://", url) and (host := urlsplit(url).hostname)):
        raise ValueError(f"url must begin with http:// or https:// and a host, not {url!r}")
    if not re.fullmatch("[!-~]*", key := key.strip()):
        raise ValueError("key must have no white space and only ASCII characters")
    timeout = checks.number(timeout, "timeout", least=1e-3, most=1e6)
    if not (isinstance(price, (tuple, list)) and len(price) == 2):
        raise TypeError(f"price must be two numbers, for a million tokens read and written, not {price!r}")
    price_in, price_out = (checks.number(part, "price") for part in price)
    fields = checks.kind(records, pd.DataFrame, "records must be a DataFrame").astype(object)
    fields = fields.drop(columns=["id", "label"], errors="ignore").where(fields.notna(), None)
    shown = fields.to_dict("records")
    local = [ProxyHandler({})] if host in ("localhost", "127.0.0.1", "::1") else []
    opener = build_opener(_AsTheyAre, *local)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def crowd(i: int, j: int) -> Answer:
        told = json.dumps({"a": shown[i], "b": shown[j]}, ensure_ascii=False, default=str)
        messages = [{"role": "system", "content": prompt}, {"role": "user", "content": told}]
        body = {"model": model, "messages": messages, "temperature": 0} | options
        request = Request(f"{url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers)
        try:
            status, after, text = _within(timeout, lambda: _exchange(opener, request, timeout))
        except TimeoutError:
            raise Failed(f"{host} sent no whole reply within {timeout:g} seconds") from None
        except (OSError, HTTPException) as error:
            raise Failed(f"{host}: {getattr(error, 'reason', error) or type(error).__name__}") from None
        try:
            reply = json.loads(text)
        except (ValueError, RecursionError):
            reply = None
        fine = status == 200 and not (isinstance(reply, dict) and reply.get("error"))
        if fine and (read := read_reply(reply)):
            return Answer(*read, cost_of(reply, (price_in, price_out)))
        words = " ".join((text if reply is None else _words(reply)).split())[:SHOWN]
        words = words.replace(key, "(key)") if key else words
        cost = cost_of(reply, (price_in, price_out))
        if fine:
            raise Failed(f"{host}: the reply cannot be read: {words}", cost=cost)
        raise Failed(f"{host}, HTTP {status}: {words}", cost=cost, after=after, ends=_ends(status, text))

    return crowd


class _AsTheyAre(HTTPErrorProcessor):
    """Replies of every status are handed on as they are. No redirection is followed, as it would take the key along."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


def _exchange(opener: Any, request: Request, timeout: float) -> tuple[int, float, str]:
    """Status, after how many seconds to ask again, and text of a reply."""
    body, until = b"", time.monotonic() + timeout
    with opener.open(request, timeout=timeout) as response:
        while (piece := response.read1(2**16)) and time.monotonic() < until:
            body += piece
    return response.status, _seconds(response.headers.get("Retry-After")), body.decode("utf-8-sig", "replace")


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """The result of `work`, or a TimeoutError: a socket's own limit is for each piece that arrives, not for a reply."""
    result: Future = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=run, daemon=True).start()
    return result.result(seconds)


def _seconds(after: str | None) -> float:
    """`Retry-After`, a number of seconds or a date; 0 if there is none."""
    text = (after or "").strip()
    try:
        return min(float(text), 1e9) if text.isdecimal() else max(
            parsedate_to_datetime(text).timestamp() - time.time(), 0.0)  # fmt: skip
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _ends(status: int, text: str) -> str:
    """What a failure ends: this attempt, this pair, or the run."""
    if re.search(ALWAYS, text[:LOOKED_AT], re.I):
        return "run"
    if status in (400, 413, 422) or re.search(TOO_LONG, text[:LOOKED_AT], re.I):
        return "pair"
    return "attempt" if status in (200, 408, 409, 425, 429) or status >= 500 else "run"


def _words(reply: Any) -> str:
    """What a server says in its own words."""
    found = reply
    for name in ("error", "message", "detail"):
        found = found.get(name) or found if isinstance(found, dict) else found
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def read_reply(reply: Any) -> tuple[bool | None, float | None] | None:
    """What a model answers (None: unsure), and its confidence, if it has one; None if it cannot be read."""
    try:
        content = reply["choices"][0]["message"]["content"]
        if isinstance(content, list):
            content = "".join(part["text"] for part in content if part.get("type") in ("text", "output_text"))
        text = content.rpartition("</think>")[2].partition("<think>")[0][-LOOKED_AT:]
    except (TypeError, LookupError, AttributeError):
        return None
    told, at = None, text.find("{")
    while at >= 0:  # the last object that has the name, also in others
        try:
            found, end = json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            found, end = {}, at + 1
        told, at = (found, end) if "same" in found else (told, at + 1)
        at = text.find("{", at)
    if told is None:
        return None
    same, sure = told["same"], told.get("confidence")
    same = SAYS.get(same.strip().lower(), same) if isinstance(same, str) else same
    if not (same is None or isinstance(same, bool)):
        return None
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0 <= sure <= 1:
        sure = None
    return same, sure


def cost_of(reply: Any, price: tuple[float, float]) -> float:
    """What a reply cost, at a price of a million tokens in, and out; 0 for what it does not say."""
    used = reply.get("usage") if isinstance(reply, dict) else None
    used = used if isinstance(used, dict) else {}
    cost = 0.0
    for each, name in zip(price, ("prompt_tokens", "completion_tokens"), strict=True):
        tokens = used.get(name)
        cost += each * tokens / 1e6 if isinstance(tokens, int | float) and 0 <= tokens < 1e12 else 0.0
    return cost
