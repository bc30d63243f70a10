"""Cora: what is known of it, the shipped values against the text, and the text itself."""

import re

import numpy as np
import pandas as pd
import pytest
from reference import Closure

from book.data import pack_cora
from crowder import Truth, cora, datasets, edge_ordering, ideal_queries, node_ordering, similarity
from crowder.cora import CORA_VARIABLE, FAMILY, anonymous_labels

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
        closure, asked = Closure(n), 0
        for i, j in pairs:
            if not closure.knows(i, j):
                asked += 1
                closure.learn(i, j, labels[i] == labels[j])
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


@pytest.mark.parametrize(
    "harm", [lambda old: old[:-1], lambda old: old[:1000] + bytes([old[1000] ^ 1]) + old[1001:]], ids=["cut", "one bit"]
)
def test_harmed_file_is_refused(harm, tmp_path, monkeypatch):
    name = cora.file_of("jaccard-tokens")
    (tmp_path / name).write_bytes(harm((cora.FOLDER / name).read_bytes()))
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
    assert anonymous_labels(["z", "a", "z", "m"]).tolist() == [0, 1, 0, 2]
    found = datasets.cora(records=pd.DataFrame({"title": ["on trees", "of bees"], "label": ["x", "x"]}))
    assert (found.labels.tolist(), found.condensed.tolist()) == ([0, 0], [0.0])
