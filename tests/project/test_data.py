"""The script that fetches the records of cora and the real crowds for CI."""

import importlib.util

import pytest
from file_server import file_server

from book.project import ROOT
from crowder.cora import cora_records
from crowder.crowds import read_crowd


@pytest.fixture
def data(cora_path, crowds_path):
    """The script, and what a server has where it fetches from."""
    spec = importlib.util.spec_from_file_location("fetch_data", ROOT / ".ci" / "data.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert {url.split("/")[2] for url in (module.CORA_URL, module.CROWDS_URL)} == {"raw.githubusercontent.com"}
    files = {f"/crowds/{name}": (crowds_path / name).read_bytes() for name in module.CROWDS_SHA256}
    # In public the entities of gym have names.
    entities = files["/crowds/gym/gold.txt"].decode().splitlines()
    files["/crowds/gym/gold.txt"] = "".join(
        f"Ann the {number}th ,{line.partition(',')[2]}\n" for number, line in enumerate(entities)
    ).encode()
    return module, files | {"/cora.csv": cora_path.read_bytes()}


@pytest.fixture
def fetched(data, tmp_path, monkeypatch, capsys):
    """A function that runs the script with these files on the server; what it prints, and its warnings."""
    module, _ = data

    def run(files):
        with file_server(files) as (url, _):
            monkeypatch.setattr(module, "CORA_URL", f"{url}/cora.csv")
            monkeypatch.setattr(module, "CROWDS_URL", f"{url}/crowds")
            module.main(tmp_path / "data")
        return capsys.readouterr()

    return run


def test_the_records_and_the_crowds_are_fetched_and_their_tests_may_not_be_skipped(data, fetched, tmp_path):
    said = fetched(data[1])
    folder = tmp_path / "data"
    assert said.out.splitlines() == [
        f"CROWDER_CORA={folder / 'cora.csv'}", f"CROWDER_CROWDS={folder / 'crowds'}",
        "CROWDER_REQUIRE=browser,cora,crowds,registry",
    ]  # fmt: skip
    assert said.err == "" and len(cora_records(folder / "cora.csv")) == 1879
    for name in ("gym", "allsports", "landmarks"):
        assert {path.name for path in (folder / "crowds" / name).iterdir()} == {"answers.txt", "gold.txt", "graph.txt"}
    assert len(read_crowd(folder / "crowds" / "gym").labels) == 94


@pytest.mark.parametrize("harmed", ["/cora.csv", "/crowds/gym/gold.txt", "/crowds/allsports/answers.txt"])
def test_a_wrong_checksum_stops_everything(harmed, data, fetched, tmp_path):
    with pytest.raises(ValueError, match=rf"the checksum of http://\S+{harmed} does not match"):
        fetched(data[1] | {harmed: data[1][harmed].replace(b"1", b"2", 1)})
    assert not (tmp_path / "data" / harmed[1:]).exists()
