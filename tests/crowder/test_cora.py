"""Cora: what is known of it, the shipped values against the text, the text itself, and how it is fetched."""

import hashlib
import re
from urllib.request import urlopen

import numpy as np
import pandas as pd
import pytest
from file_server import file_server
from reference import ask_in_order

from book.data import pack_cora
from crowder import Truth, cora, datasets, edge_ordering, ideal_queries, node_ordering, similarity
from crowder.cora import CORA_VARIABLE, FAMILY, cache, fetch

ROUNDED = [name for name, member in FAMILY.items() if member.similarity not in similarity.COUNTED]


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    """What the caller's environment says plays no part, and nothing is downloaded."""
    monkeypatch.delenv(CORA_VARIABLE, raising=False)
    monkeypatch.setattr(cora, "CORA_URL", "file:///nowhere")


# --- what is shipped -------------------------------------------------------------------------------------------------


def test_cora_has_the_known_facts():
    found = datasets.cora()
    assert (found.n, len(found.sizes), found.sizes[0]) == (1879, 191, 236)
    assert (found.sizes > 1).sum() == 123  # the paper says 124
    assert len(found.condensed) == 1_764_381  # C(1879, 2): the paper's "1878 nodes" has 1,762,503
    assert found.matching.sum() == 62_891
    # Non-matches that no match beats: the chance that one is as similar as t matches levels off at 124 / 1,701,490.
    assert (found.condensed[~found.matching] >= found.condensed[found.matching].max()).sum() == 124
    assert found.records is None
    assert found.source == "shipped with crowder"


def test_the_family_s_names_tell_function_and_fields():
    ends = {"all fields": "", "author and title": "-author-title", "title": "-title"}
    assert list(FAMILY) == [member.similarity + ends[member.on] for member in FAMILY.values()]
    assert {member.similarity for member in FAMILY.values()} == set(similarity.SIMILARITIES)


def test_cora_counts_by_another_road():
    """Both orderings once more, pair by pair, ties by index: no engine, no heap, no compiled code."""
    found = datasets.cora()
    w, labels, n = found.similarity, found.labels.tolist(), found.n
    first, second = np.triu_indices(n, 1)
    falling = np.argsort(-found.condensed, kind="stable")
    # By expected size: the mean of a record's similarities, so the sum does; the diagonal is 1 in all of them.
    arrivals = np.lexsort((np.arange(n), -np.round(w.sum(axis=1), 9))).tolist()

    def node_pairs():
        for a, v in enumerate(arrivals):
            earlier = np.array(arrivals[:a], dtype=int)
            place = np.minimum(earlier, v) * n + np.maximum(earlier, v)
            yield from ((v, u) for u in earlier[np.lexsort((place, -w[v, earlier]))].tolist())

    for heuristic, pairs in (
        (edge_ordering, zip(first[falling].tolist(), second[falling].tolist(), strict=True)),
        (node_ordering, node_pairs()),
    ):
        asked = len(ask_in_order(pairs, n, lambda i, j: labels[i] == labels[j]))
        assert heuristic(w, Truth(labels), ties="index").n_queries == asked
        assert asked >= ideal_queries(found.sizes) == 1688 + 18145  # 1,879 - 191, and 191 · 190 / 2


@pytest.mark.parametrize(
    "name",
    [
        x if x in ("jaccard-tokens", "tfidf-cosine-title") else pytest.param(x, marks=pytest.mark.nightly)
        for x in FAMILY
    ],
)
def test_shipped_values_are_the_computed_ones(name, cora_frame):
    """By day one of those that are counted, the book's own, and one of those that are rounded."""
    there, computed = datasets.cora(name), datasets.cora(name, records=cora_frame)
    expected = np.rint(computed.condensed * 10_000) / 10_000 if name in ROUNDED else computed.condensed
    assert there.condensed.tobytes() == expected.tobytes()
    assert there.labels.tolist() == computed.labels.tolist()
    assert computed.records is cora_frame


@pytest.mark.parametrize(
    "names",
    [("jaccard-tokens-title", "tfidf-cosine-title"), pytest.param(tuple(FAMILY), marks=pytest.mark.nightly)],
    ids=["one of each kind", "all"],
)
def test_the_script_makes_the_same_files_again(names, cora_path, tmp_path, monkeypatch):
    """Of those that are counted and those that are rounded."""
    monkeypatch.setattr(pack_cora, "FAMILY", {name: FAMILY[name] for name in names})
    pack_cora.main(str(cora_path), tmp_path)
    made = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    sums = made.pop("SHA256SUMS").decode().splitlines()
    assert made == {cora.file_of(name): (cora.FOLDER / cora.file_of(name)).read_bytes() for name in names}
    shipped = cora.SUMS.read_text().splitlines()
    assert sums == [line for line in shipped if line.split()[1] in made]
    assert sum(file.stat().st_size for file in cora.FOLDER.iterdir()) < 2_100_000


@pytest.mark.parametrize("name", FAMILY)
def test_shipped_files_hold_numbers_only(name, cora_frame):
    """One number a pair of groups and one a record: no text, and nothing of how often which word stands where."""
    arrays, content = cora.shipped_arrays(name), (cora.FOLDER / cora.file_of(name)).read_bytes()
    assert {part: array.dtype.str for part, array in arrays.items()} == dict.fromkeys(
        ("labels", "group", "steps"), "<i2"
    )
    groups = int(arrays["group"].max()) + 1
    assert (len(arrays["group"]), len(arrays["steps"])) == (1879, groups * (groups + 1) // 2)
    written = b" ".join([content, *(array.tobytes() for array in arrays.values())]).lower()
    words = set(re.findall(r"\w{5,}", " ".join(cora_frame["author"] + " " + cora_frame["label"]).lower()))
    assert not [word for word in words if word.encode() in written]


def test_a_file_with_one_bit_changed_is_refused(tmp_path, monkeypatch):
    name = cora.file_of("jaccard-tokens")
    old = (cora.FOLDER / name).read_bytes()
    (tmp_path / name).write_bytes(old[:1000] + bytes([old[1000] ^ 1]) + old[1001:])
    monkeypatch.setattr(cora, "FOLDER", tmp_path)
    with pytest.raises(
        ValueError, match=rf"checksum of {name} does not match \(\d+ bytes\): sha256 \w{{64}}, expected"
    ):
        datasets.cora()


# --- the text --------------------------------------------------------------------------------------------------------


def test_the_records_are_text_and_complete(cora_path, cora_frame, monkeypatch):
    assert cora_frame.shape == (1879, 14)
    assert list(cora_frame.columns[:2]) == ["id", "label"]
    assert cora_frame["id"].is_unique
    assert all(isinstance(value, str) for column in cora_frame for value in cora_frame[column])
    monkeypatch.setenv(CORA_VARIABLE, str(cora_path))
    assert datasets.cora_records().equals(cora_frame)
    monkeypatch.setenv(CORA_VARIABLE, "nowhere.csv")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        datasets.cora_records()
    assert datasets.cora().n == 1879  # which needs no text


def test_labels_follow_appearance_not_the_names():
    titles = ["on trees", "of bees", "by ants", "a moth"]
    found = datasets.cora(records=pd.DataFrame({"title": titles, "label": ["z", "a", "z", "m"]}))
    assert (found.labels.tolist(), found.condensed.tolist()) == ([0, 1, 0, 2], [0.0] * 6)


# --- from the web, here a server on this machine: whole or not at all ------------------------------------------------

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
