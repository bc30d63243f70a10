"""The text of cora, fetched from servers that fail in every way they can: nothing is kept, and a way out is named."""

import gc
import socket
import threading
import time
from contextlib import contextmanager

import pooch
import pytest

from crowder.cora import records

# A connection that breaks off is left by requests for the garbage collector to close, which says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

WAY_OUT = "pass records=PATH or set CROWDER_CORA"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """The folder that pooch keeps things in, and no way around this machine."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    for name in (records.CORA_VARIABLE, records.CORA_URL_VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / project)
    monkeypatch.setattr(records, "PATIENCE", 0.5)
    return tmp_path / "crowder"


@pytest.fixture(autouse=True, scope="module")
def closed():
    """Connections that are still open are closed here, where that is expected."""
    yield
    gc.collect()


@contextmanager
def serving(answer: bytes, silence: float = 0):
    """A server that gives this answer to whatever it is asked, is silent for a while, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                while True:
                    with listener.accept()[0] as connection:
                        connection.recv(65536)
                        connection.sendall(answer)
                        over.wait(silence)
            except OSError:
                pass  # the listener is closed: the test is over

        over = threading.Event()
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/cora.csv"
        finally:
            over.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def said(url, kind):
    with pytest.raises(kind) as error:
        records.cora_records(download=True, url=url)
    message = str(error.value)
    assert f"cannot download cora from {url}; {WAY_OUT}" in message and "\n" not in message
    return message


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        (HEAD % 12 + b"id,label\n1,1", ValueError, records.CORA_SHA256),  # another file, whole
        (HEAD % 1000 + b"id,label\n1,1", (OSError, ValueError), ""),  # of which most is missing
        (HEAD % 0, ValueError, records.CORA_SHA256),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", OSError, "404"),
        (b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", OSError, "500"),
        (b"\x00\xff not HTTP at all", OSError, ""),
        (b"", OSError, ""),
    ],
)
def test_what_is_not_cora_is_refused_and_not_kept(kept, answer, kind, reason):
    with serving(answer) as url:
        assert reason in said(url, kind)
    assert not kept.exists() or not list(kept.iterdir())


@pytest.mark.parametrize("answer", [b"", HEAD % 1000 + b"id,label\n"])
def test_a_server_that_falls_silent_is_not_waited_for(kept, answer):
    """Before its first word or in mid-sentence: half a second of patience here, half a minute at work."""
    with serving(answer, silence=20) as url:
        start = time.monotonic()
        said(url, OSError)
        assert time.monotonic() - start < 10
    assert not kept.exists() or not list(kept.iterdir())


def test_a_place_where_nobody_listens_is_named():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/cora.csv"
    said(url, OSError)


def test_an_address_that_is_none_is_named():
    said("gopher://example/cora.csv", ValueError)
    said("http://", OSError)  # an address of a kind that is known, and a download that failed


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(pooch, "os_cache", lambda project: tmp_path / "file" / project)
    said("http://127.0.0.1:9/cora.csv", OSError)


def test_what_lies_damaged_in_the_cache_is_not_believed(kept):
    kept.mkdir()
    (kept / "cora.csv").write_text("id,label\n")
    with serving(HEAD % 12 + b"id,label\n1,1") as url:
        assert records.CORA_SHA256 in said(url, ValueError)
