"""Invented people: who they are, and that their records err as often and in the ways that are stated."""

from collections import Counter
from datetime import date

import numpy as np
import pandas as pd
from scipy.stats import binomtest, chisquare

from crowder import people as room
from crowder.people import people, typo

FIELDS = ["name", "street", "city", "birth"]


def edits(text):
    """Every text that one letter changed, dropped, doubled or swapped can make, by the kind of mistake."""
    places = range(len(text))
    return {
        "changed": {text[:at] + letter + text[at + 1 :] for at in places for letter in "abcdefghijklmnopqrstuvwxyz"},
        "dropped": {text[:at] + text[at + 1 :] for at in places},
        "doubled": {text[:at] + text[at] * 2 + text[at + 1 :] for at in places},
        "swapped": {text[:at] + text[at + 1] + text[at] + text[at + 2 :] for at in places[:-1]} | {text},
    }


def test_a_mistyped_letter_is_one_of_four_kinds_each_as_likely_anywhere():
    rng, text, made = np.random.default_rng(1), "abcdefgh", Counter()
    kinds = edits(text)
    for _ in range(8000):
        wrong = typo(text, rng)
        (kind,) = [kind for kind in ("dropped", "doubled", "swapped", "changed") if wrong in kinds[kind]][:1]
        made[kind, wrong] += 1
    count = {kind: sum(n for (k, _), n in made.items() if k == kind) for kind in kinds}
    # A letter that is changed to itself, or the last that has no next to swap with, leaves the text as it is.
    same = made["swapped", text]
    assert abs(same - 8000 / 4 * (1 / 8 + 1 / 26)) < 4 * np.sqrt(same)
    for kind, less in (("dropped", 0), ("doubled", 0), ("swapped", 1 / 8 - same / 2000), ("changed", 1 / 26)):
        expected = 2000 * (1 - less)
        assert abs(count[kind] - expected) < 5 * np.sqrt(2000), kind
    # Each of the eight places is as likely as the others.
    assert chisquare([made["dropped", wrong] for wrong in sorted(kinds["dropped"])]).pvalue > 1e-4
    assert chisquare([made["doubled", wrong] for wrong in sorted(kinds["doubled"])]).pvalue > 1e-4


def test_short_texts_lose_no_letter():
    rng = np.random.default_rng(2)
    assert typo("", rng) == ""
    for text in ("a", "ab"):
        assert min(len(typo(text, rng)) for _ in range(200)) == len(text)
    assert min(len(typo("abc", rng)) for _ in range(200)) == 2


def test_records_without_mistakes_are_those_of_their_people():
    records = people([4, 1, 3], mistakes=0, rng=3)
    assert records["id"].tolist() == [f"r{number}" for number in range(1, 9)]
    assert records["label"].value_counts().to_dict() == {"p1": 4, "p3": 3, "p2": 1}
    assert (records.groupby("label")[FIELDS].nunique() == 1).all(axis=None)
    assert records["label"].tolist() != sorted(records["label"])  # in random order
    assert list(records) == ["id", *FIELDS, "label"] and all(type(cell) is str for cell in records.to_numpy().ravel())


def test_people_are_anybody():
    """Everyone born on a day that there was, 1935 to 2004; every name and street in the lists turns up."""
    records = people([1] * 4000, mistakes=0, rng=4)
    born = [date.fromisoformat(day) for day in records["birth"]]
    assert (min(born).year, max(born).year) == (1935, 2004)
    assert {day.month for day in born} == set(range(1, 13)) and {day.day for day in born} == set(range(1, 29))
    first, last = zip(*(name.split(" ", 1) for name in records["name"]), strict=True)
    assert (set(first), set(last)) == (set(room.FIRST), set(room.LAST))
    assert set(records["city"]) == set(room.CITIES)
    house = records["street"].str.split(" ", n=1).str[0].astype(int)
    assert (house.min(), house.max()) == (1, 199)
    assert set(records["street"].str.rsplit(" ", n=1).str[1]) == {"Street", "Road", "Lane"}


def test_mistakes_are_as_many_as_asked_for_and_of_the_stated_kinds(monkeypatch):
    made = []
    mistake = room._mistake

    def counted(row, rng):
        before = dict(row)
        mistake(row, rng)
        made.append((before, dict(row)))

    monkeypatch.setattr(room, "_mistake", counted)
    records = people([2] * 2000, mistakes=0.8, rng=5)
    # A Poisson number a record: 4,000 of mean 0.8 have a deviation of the square root of 3,200 altogether.
    assert abs(len(made) - 0.8 * len(records)) < 4 * np.sqrt(3200)
    # Looked at where nothing was wrong yet, so that the kind shows.
    fresh = [(a, b) for a, b in made if all(a.values()) and " " in a["name"] and ". " not in a["name"]]
    short = sum(b["name"] == f"{a['name'][0]}. {a['name'].split(' ', 1)[1]}" for a, b in fresh)
    emptied = [field for a, b in fresh for field in FIELDS if not b[field]]
    moved = sum(a["street"] != b["street"] and a["city"] != b["city"] for a, b in fresh)
    for count, share in ((short, 0.15), (len(emptied), 0.10)):
        assert binomtest(count, len(fresh), share).pvalue > 1e-4
    # Somebody who moves may stay in the city, one of those there are.
    assert binomtest(moved, len(fresh), 0.10 * (1 - 1 / len(room.CITIES))).pvalue > 1e-4
    assert set(emptied) == {"street", "city", "birth"}  # nobody is without a name
    assert isinstance(records, pd.DataFrame)


def test_invented_people_have_their_labels_and_seed():
    records = room.people([3, 1], rng=1)
    assert records["label"].value_counts().to_dict() == {"p1": 3, "p2": 1}
    assert records.equals(room.people([3, 1], rng=1)) and records["id"].is_unique
