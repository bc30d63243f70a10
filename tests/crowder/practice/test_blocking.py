"""Candidates of many records: by the stated rule, with the similarities of `compute`, within the memory."""

import itertools
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from crowder.datasets import people
from crowder.practice.blocking import candidate_pairs
from crowder.similarity import SIMILARITIES, characters, compute, qgrams, texts


def pieces(text):
    """The pieces of the rule, from Python's own words and slices."""
    text = characters(text)
    return {*text.split(), *(gram for q in (4, 8) for gram in qgrams(text, q) if len(text) >= q)}


def by_the_rule(records, most):
    """The candidates before the similarities: pairs with a piece that 2 to `most` records contain."""
    holders = {}
    for record, text in enumerate(texts(records)):
        for piece in pieces(text):
            holders.setdefault(piece, []).append(record)
    return {pair for found in holders.values() if len(found) <= most for pair in itertools.combinations(found, 2)}


def odd_records():
    """Records with blanks, texts shorter than a piece, letters outside ASCII, and texts that occur twice."""
    return [
        "",
        " ",
        "a",
        "b a",
        "Ö a",
        "ÖÖÖÖ ö",
        "öööö",
        "a b c d e",
        "abcd",
        "abcde",
        "abcde",
        "日本語の文字列",
        "日本語の文",
    ]


@pytest.mark.parametrize("most", [2, 3, 5, 1000])
@pytest.mark.parametrize("seed", [1, 2])
def test_candidates_are_those_of_the_rule(most, seed):
    """DuckDB's pieces and joins against Python's; least=0 keeps every candidate."""
    named = people([3, 2, 2, 1] * 6, rng=seed)[["name", "city", "birth"]]
    for records in (named, odd_records(), list(named["name"]) + odd_records()):
        found = candidate_pairs(records, least=0, most=most)
        assert set(zip(*(axis.tolist() for axis in found.coords), strict=True)) == by_the_rule(records, most)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_similarities_are_those_of_all_pairs(name):
    """The values of `compute`, to the bit."""
    records = people([4, 3, 1] * 8, rng=3).drop(columns=["id", "label"])
    records.loc[[0, 1]] = ""
    i, j = np.triu_indices(len(records), 1)
    whole = compute(records, name)
    found = candidate_pairs(records, name, least=0.4, most=1000)
    expected = {pair: w for pair, w in zip(zip(i, j, strict=True), whole, strict=True) if w >= 0.4}
    expected = {pair: expected[pair] for pair in sorted(expected.keys() & by_the_rule(records, 1000))}
    assert dict(zip(zip(*found.coords, strict=True), found.data, strict=True)) == expected
    assert expected  # otherwise nothing was compared


def test_fields_are_those_of_compute():
    records = people([2, 2], rng=1)
    found = candidate_pairs(records, "jaccard-tokens", fields=["name"], least=0, most=1000)
    alone = candidate_pairs(list(records["name"]), "jaccard-tokens", least=0, most=1000)
    assert (found.toarray() == alone.toarray()).all()
    assert found.nnz


def test_blank_records_are_similar_to_none():
    found = candidate_pairs(["", "", "   ", "ann", "ann"], least=0)
    assert list(zip(*found.coords, strict=True)) == [(3, 4)]
    assert candidate_pairs([]).shape == (0, 0)
    assert candidate_pairs(["", ""]).nnz == 0


def test_the_rule_is_said_and_holds_its_own_number():
    found = candidate_pairs(["ann lee", "ann lea", "bob"], least=0.25)
    assert found.most == 2
    assert found.rule.endswith("at most 2 of the 3 records contain, and if their similarity is at least 0.25.")


def test_less_memory_makes_pieces_rarer(monkeypatch):
    """With memory for few pairs, F is the largest number whose bound Σ c(c−1)/2 fits, which Python counts again."""
    records = people([3] * 100, rng=5)["name"].tolist()
    holders = {}
    for record, text in enumerate(texts(records)):
        for piece in pieces(text):
            holders.setdefault(piece, []).append(record)
    different = {tuple(found) for found in holders.values() if len(found) > 1}  # one piece for each set of records
    room = 2000
    text = 24 * sum(len(characters(one)) for one in texts(records))
    monkeypatch.setattr("crowder.practice.blocking.PER_PAIR", (500_000_000 - text) // 2 // room)
    found = candidate_pairs(records, least=0, memory="500MB")
    bound = {most: sum(len(f) * (len(f) - 1) // 2 for f in different if len(f) <= most) for most in (found.most,)}
    larger = min(len(f) for f in different if len(f) > found.most)
    bound[larger] = sum(len(f) * (len(f) - 1) // 2 for f in different if len(f) <= larger)
    assert bound[found.most] <= room < bound[larger]
    assert found.nnz <= room
    with pytest.raises(ValueError, match=rf"memory must be more than '500MB' for the {bound[larger]} pairs"):
        candidate_pairs(records, memory="500MB", most=larger)


def test_records_without_a_rare_piece_are_no_silent_loss():
    """10,000 equal records have 10,000 · 9,999 / 2 pairs, and every piece is in all of them."""
    with pytest.raises(
        ValueError, match="memory must be more than '500MB' for the 49995000 pairs with a piece that at"
    ):
        candidate_pairs(["ann lee"] * 10_000, memory="500MB")


def test_records_too_many_for_the_memory_are_refused_before_it_is_taken():
    """600 million characters need more than 500 MB; one text that all records share takes none."""
    records = pd.Series(["x" * 60_000] * 200)
    with pytest.raises(ValueError, match="memory must be at least 576MB for these 200 records, not '500MB'"):
        candidate_pairs(records, memory="500MB")


def test_without_duckdb_the_message_tells_how_to_get_it():
    code = (
        "import sys; sys.modules['duckdb'] = None\n"
        "from crowder.practice.blocking import candidate_pairs\n"
        "try: candidate_pairs(['a', 'b'])\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'crowder[scale]'" in done.stdout


@pytest.mark.parametrize("seed", [1, 2])
def test_most_matches_of_invented_people_are_among_the_candidates(seed):
    """The docstring's share, on people who set no constant."""
    records = people([1, 2, 3, 4] * 200, rng=seed)
    i, j = candidate_pairs(records).coords
    label = records["label"].to_numpy()
    matches = sum(size * (size - 1) // 2 for size in records["label"].value_counts())
    assert (label[i] == label[j]).sum() >= 0.95 * matches
