"""A crowd that is a language model, behind an address of OpenAI's form."""

from __future__ import annotations

import ipaddress
import json
import re
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from email.utils import parsedate_to_datetime
from threading import Thread
from typing import TYPE_CHECKING, Any

import pandas as pd

from crowder import checks
from crowder_tool.journal import Answer, Failed

if TYPE_CHECKING:
    import httpx

__all__ = ["PROMPT", "chat_crowd"]

PROMPT = (
    "You are given two records, a and b, as JSON. Decide whether they describe the same thing in the real world, even "
    'if they are written differently. Answer with JSON only: {"same": true, false, or null if it cannot be decided, '
    '"confidence": a number from 0 to 1}.'
)
#: Seconds for a whole request, from the connection to the last byte of the reply; and most bytes of a reply.
TIMEOUT, LARGEST = 120.0, 1 << 22
#: Most characters at the end of a reply in which an answer is looked for, and of the server's words in a message.
LOOKED_AT, SHOWN = 20_000, 300
SAYS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False,
        "null": None, "none": None, "unsure": None}  # fmt: skip
#: What a server says if every question would fail like this, and if only this one does, whatever the status is.
ALWAYS = r"model\W?_?not\W?_?found|model\b.{0,200}(does not exist|not found)|invalid_api_key|insufficient_quota"
TOO_LONG = r"context.{0,30}(length|size|window)|too (long|large)\b"
#: "Try again in 1m2.5s", and the seconds of a unit.
AGAIN = re.compile(r"(?:again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s*(?:ms|milli|s|m|h)[a-z]*\s*)+)", re.I)
UNITS = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def chat_crowd(
    url: str, model: str, records: pd.DataFrame, *, key: str = "", price: tuple[float, float] = (0.0, 0.0),
    prompt: str = PROMPT, **options: Any,
) -> Callable[[int, int], Answer]:  # fmt: skip
    """A language model as a crowd for `ask_all`; each call is one request to the server, of at most two minutes.

    Parameters
    ----------
    url, model, key : str
        The address, to which ``/chat/completions`` is added; the name of the model there; and the key, if the server
        wants one. It is sent over https or to this machine only, and to no other host: a redirection is a failure.
    records : DataFrame
        All columns but ``id`` and ``label`` are shown to the model.
    price : (float, float), keyword only
        What a million tokens cost, in and out.
    prompt : str, keyword only
        What the model is told before it gets both records, ``{"a": {...}, "b": {...}}``, such as what the same means
        for these records. Its reply must end with a JSON object in which ``same`` is true, false or null, and may have
        a ``confidence``; or be one word, yes, no or unsure.
    **options
        More fields of the request, such as ``max_tokens``. By default, ``temperature`` is 0.

    Returns
    -------
    callable
        ``crowd(i, j)`` returns an `Answer`, or raises `Failed` with the server's words. A reply that cannot be read is
        a failure, which has a cost; `ask_all` asks again. A request to which no whole reply comes may have cost as much
        as any answer.

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
    >>> crowd = chat_crowd("http://localhost:11434/v1", "llama3.1", records, price=(0.5, 1.5))
    >>> reply = {"choices": [{"message": {"content": 'The initial fits. {"Same": "Yes.", "confidence": 0.8}'}}]}
    >>> read_reply(reply)
    (True, 0.8)
    """
    import httpx  # a third of a second, for those who ask a model

    for what, text in {"url": url, "model": model, "key": key, "prompt": prompt}.items():
        checks.kind(text, str, f"{what} must be text")
    try:
        address = httpx.URL(f"{url.rstrip('/')}/chat/completions")
    except httpx.InvalidURL:
        address = httpx.URL("")
    if address.scheme not in ("http", "https") or not (host := address.host):
        raise ValueError(f"url must begin with http:// or https:// and a host, not {url!r}")
    if not re.fullmatch("[!-~]*", key := key.strip()):
        raise ValueError("key must have no white space and only ASCII characters")
    if (key or address.userinfo) and address.scheme == "http" and not _is_local(host):
        raise ValueError(f"url must begin with https:// where there is a key, or be of this machine, not {url!r}")
    if not (isinstance(price, (tuple, list)) and len(price) == 2):
        raise TypeError(f"price must be two numbers, for a million tokens read and written, not {price!r}")
    price = (checks.number(price[0], "price"), checks.number(price[1], "price"))
    fields = checks.kind(records, pd.DataFrame, "records must be a DataFrame").astype(object)
    fields = fields.drop(columns=["id", "label"], errors="ignore").where(fields.notna(), None)
    shown = fields.to_dict("records")
    client = httpx.Client(
        timeout=TIMEOUT, trust_env=not _is_local(host), limits=httpx.Limits(max_keepalive_connections=0),
        headers={"Content-Type": "application/json", "Accept-Encoding": "identity"}
        | ({"Authorization": f"Bearer {key}"} if key else {}),
    )  # fmt: skip

    def crowd(i: int, j: int) -> Answer:
        told = json.dumps({"a": shown[i], "b": shown[j]}, ensure_ascii=False, default=str)
        messages = [{"role": "system", "content": prompt}, {"role": "user", "content": told}]
        body = {"model": model, "messages": messages, "temperature": 0} | options
        try:
            response, text = _within(TIMEOUT, lambda: _exchange(client, address, json.dumps(body).encode()))
        except (httpx.HTTPError, OSError, ValueError) as error:
            late = isinstance(error, (httpx.TimeoutException, TimeoutError))
            what = f"no whole reply within {TIMEOUT:g} seconds" if late else str(error) or type(error).__name__
            unsent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError))
            raise Failed(f"{host}: {what}", cost=0.0 if unsent else None) from None
        try:
            reply = json.loads(text)
        except (ValueError, RecursionError):
            reply = None
        fine, cost = response.is_success and not (isinstance(reply, dict) and reply.get("error")), cost_of(reply, price)
        if fine and (read := read_reply(reply)):
            return Answer(*read, cost)
        words = " ".join((text if reply is None else _words(reply)).split())
        words = (words.replace(key, "(key)") if key else words)[:SHOWN]
        if fine:
            raise Failed(f"{host}: the reply cannot be read: {words}", cost=cost or None)
        after, ends = _seconds(response.headers, text[:LOOKED_AT]), _ends(response, text)
        raise Failed(f"{host}, HTTP {response.status_code}: {words}", cost=cost, after=after, ends=ends)

    return crowd


def _is_local(host: str) -> bool:
    """Whether it is this machine."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _exchange(client: httpx.Client, address: httpx.URL, body: bytes) -> tuple[httpx.Response, str]:
    """A reply of any status, and its text."""
    content, until = b"", time.monotonic() + TIMEOUT
    with client.stream("POST", address, content=body) as response:
        for piece in response.iter_raw():
            content += piece
            if len(content) > LARGEST:
                raise ValueError(f"the reply has more than {LARGEST:,} bytes")
            if time.monotonic() > until:
                raise TimeoutError
    return response, content.decode("utf-8-sig", "replace")


def _within(seconds: float, work: Callable[[], Any]) -> Any:
    """The result of `work`, or a TimeoutError: the client's own limit is for each piece, also of the headers."""
    result = Future[Any]()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=run, daemon=True).start()
    return result.result(seconds)


def _seconds(headers: httpx.Headers, text: str) -> float:
    """After how many seconds to ask again, by headers or words; 0 if they do not say so."""
    found, after = [0.0], headers.get("retry-after", "").strip()
    for each, unit in ((after, 1.0), (headers.get("retry-after-ms", "").strip(), 0.001)):
        if re.fullmatch(r"\d+(\.\d+)?", each):
            found.append(float(each) * unit)
    with suppress(ValueError, TypeError, OverflowError):
        found.append(parsedate_to_datetime(after).timestamp() - time.time())
    if said := AGAIN.search(text):
        parts = re.findall(r"([\d.]+)\s*(ms|milli|s|m|h)", said[1].lower())
        found.append(sum(float(number) * UNITS[unit] for number, unit in parts))
    return min(max(found), 1e9)


def _ends(response: httpx.Response, text: str) -> str:
    """What a failure ends: this attempt, this pair, or the run."""
    if re.search(ALWAYS, text[:LOOKED_AT], re.I):
        return "run"
    if response.status_code in (400, 413, 422) or re.search(TOO_LONG, text[:LOOKED_AT], re.I):
        return "pair"
    other = response.is_success or response.is_server_error or response.status_code in (408, 409, 425, 429)
    return "attempt" if other else "run"


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
        found = {name.strip().lower(): value for name, value in found.items()}
        told, at = (found, end) if "same" in found else (told, at + 1)
        at = text.find("{", at)
    said, sure = (text, None) if told is None else (told["same"], told.get("confidence"))
    word = "null" if said is None else str(said).strip("\"'`*. \n\t!").lower()
    if word not in SAYS:
        return None
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0 <= sure <= 1:
        sure = None
    return SAYS[word], sure


def cost_of(reply: Any, price: tuple[float, float]) -> float:
    """What a reply cost, at a price of a million tokens in, and out; 0 for what it does not say."""
    used = reply.get("usage") if isinstance(reply, dict) else None
    used = used if isinstance(used, dict) else {}
    cost = 0.0
    for each, name in zip(price, ("prompt_tokens", "completion_tokens"), strict=True):
        tokens = used.get(name)
        cost += each * tokens / 1e6 if isinstance(tokens, int | float) and 0 <= tokens < 1e12 else 0.0
    return cost
