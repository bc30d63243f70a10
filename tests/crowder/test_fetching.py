"""Files that are fetched: from a server on this machine, whole or not at all."""

import hashlib
from urllib.request import urlopen

import pytest
from file_server import file_server

from crowder import cora, datasets
from crowder.cora import cache, fetch

RECORDS = b"id,label,title\n1,a,NA\n2,b,\n"
SUM = hashlib.sha256(RECORDS).hexdigest()


@pytest.fixture
def place(tmp_path):
    """A file that is not there, in a folder that is not there."""
    return tmp_path / "new" / "cora.csv"


def left(place):
    """What is in the folder."""
    return [path.name for path in place.parent.iterdir()] if place.parent.exists() else []


def test_a_file_is_fetched_once_and_anew_if_it_was_harmed(place):
    with file_server({"/a.csv": RECORDS}) as (url, asked):
        assert fetch(f"{url}/a.csv", SUM, place) == fetch(f"{url}/a.csv", SUM, place) == RECORDS == place.read_bytes()
        assert asked == ["/a.csv"] and left(place) == ["cora.csv"]
        place.write_bytes(RECORDS[:-1])
        assert fetch(f"{url}/a.csv", SUM, place) == RECORDS == place.read_bytes()
        assert asked == ["/a.csv"] * 2 and left(place) == ["cora.csv"]
    assert fetch(f"{url}/a.csv", SUM, place) == RECORDS  # by now there is no server


def test_the_checksum_is_that_of_the_changed_file(place):
    with file_server({"/a.csv": RECORDS.replace(b"\n", b"\r\n")}) as (url, _):
        with pytest.raises(ValueError, match="checksum"):
            fetch(f"{url}/a.csv", SUM, place)
        fetch(f"{url}/a.csv", SUM, place, change=lambda content: content.replace(b"\r\n", b"\n"))
    assert place.read_bytes() == RECORDS


@pytest.mark.parametrize("before", [None, b"old"])
@pytest.mark.parametrize(
    ("files", "withheld", "error", "says"),
    [
        ({"/a.csv": RECORDS + b"3,c,x\n"}, 0, ValueError, r"does not match \(33 bytes\): sha256 \w{64}, expected"),
        ({"/a.csv": RECORDS}, 5, ConnectionError, r"cannot be downloaded: .*IncompleteRead\(22 bytes read, 5 more"),
        ({}, 0, ConnectionError, "cannot be downloaded: 404 Client Error"),
    ],
    ids=["another", "cut", "absent"],
)
def test_what_is_not_the_file_leaves_everything_as_it_was(files, withheld, error, says, before, place):
    if before:
        place.parent.mkdir()
        place.write_bytes(before)
    with file_server(files, withheld=withheld) as (url, asked):
        with pytest.raises(error, match=f"{url}/a.csv {says}" if error is ConnectionError else says):
            fetch(f"{url}/a.csv", SUM, place)
        assert asked == ["/a.csv"]
    assert (place.read_bytes() if place.exists() else None) == before and left(place) == ["cora.csv"] * bool(before)


def test_the_records_of_cora_come_from_their_address_and_then_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.delenv(cora.CORA_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cora, "CORA_SHA256", SUM)
    with file_server({"/cora.csv": RECORDS}) as (url, asked):
        monkeypatch.setattr(cora, "CORA_URL", f"{url}/cora.csv")
        first, again = datasets.cora_records(), datasets.cora_records()
        assert asked == ["/cora.csv"]
    assert first.equals(again) and first["title"].tolist() == ["NA", ""]
    assert (tmp_path / "crowder" / "cora.csv").read_bytes() == RECORDS
    # Without the server, and without the file: how to go on.
    assert datasets.cora_records().equals(first)
    (tmp_path / "crowder" / "cora.csv").unlink()
    with (
        file_server({}),
        pytest.raises(ConnectionError, match=rf"{url}/cora\.csv cannot be .* path of the file or set CROWDER_CORA to"),
    ):
        datasets.cora_records()


def test_the_cache_is_the_user_s(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache() == tmp_path / ".cache" / "crowder"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    assert cache() == tmp_path / "mine" / "crowder"


def test_these_tests_reach_no_other_machine():
    with file_server({}), pytest.raises(AssertionError, match=r"a test asks for example\.org"):
        urlopen("http://example.org")
