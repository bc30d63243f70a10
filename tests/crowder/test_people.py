"""Invented people: who they are, and that their records err as often and in the ways that are stated."""

from collections import Counter
from datetime import date

import numpy as np
from scipy.stats import binomtest, chisquare

from crowder import people as module
from crowder.people import people, typo

FIELDS = ["name", "street", "city", "birth"]


def test_a_typing_error_is_one_of_four_kinds_each_as_likely_anywhere():
    rng, text, runs = np.random.default_rng(1), "abcdefgh", 8000
    dropped = [text[:at] + text[at + 1 :] for at in range(8)]
    doubled = [text[:at] + text[at] * 2 + text[at + 1 :] for at in range(8)]
    swapped = [text[:at] + text[at + 1] + text[at] + text[at + 2 :] for at in range(7)]
    made = Counter(typo(text, rng) for _ in range(runs))
    for kind in (dropped, doubled):
        assert abs(sum(made[wrong] for wrong in kind) - runs / 4) < 5 * np.sqrt(runs / 4)
        assert chisquare([made[wrong] for wrong in kind]).pvalue > 1e-4
    # The last letter has no next to swap with, and one in 26 letters is replaced by itself.
    assert abs(sum(made[wrong] for wrong in swapped) - runs / 4 * 7 / 8) < 5 * np.sqrt(runs / 4)
    assert abs(made[text] - runs / 4 * (1 / 8 + 1 / 26)) < 5 * np.sqrt(made[text])
    replaced = made.keys() - {*dropped, *doubled, *swapped, text}
    assert all(sum(a != b for a, b in zip(wrong, text, strict=True)) == 1 for wrong in replaced)
    # Short texts lose no letter.
    assert typo("", rng) == ""
    assert [min(len(typo(short, rng)) for _ in range(200)) for short in ("a", "ab", "abc")] == [1, 2, 2]


def test_records_without_mistakes_are_those_of_their_people():
    records = people([4, 1, 3], mistakes=0, rng=3)
    assert list(records) == ["id", *FIELDS, "label"] and all(type(cell) is str for cell in records.to_numpy().ravel())
    assert records["id"].tolist() == [f"r{number}" for number in range(1, 9)]
    assert records["label"].value_counts().to_dict() == {"p1": 4, "p3": 3, "p2": 1}
    assert (records.groupby("label")[FIELDS].nunique() == 1).all(axis=None)
    assert records["label"].tolist() != sorted(records["label"])  # in random order
    assert records.equals(people([4, 1, 3], mistakes=0, rng=3))


def test_people_are_born_on_a_day_that_there_was():
    born = [date.fromisoformat(day) for day in people([1] * 4000, mistakes=0, rng=4)["birth"]]
    assert (min(born).year, max(born).year) == (1935, 2004)


def test_mistakes_are_as_many_as_asked_for_and_of_the_stated_kinds(monkeypatch):
    made = []
    mistake = module._mistake

    def counted(row, rng):
        before = dict(row)
        mistake(row, rng)
        made.append((before, dict(row)))

    monkeypatch.setattr(module, "_mistake", counted)
    records = people([2] * 2000, mistakes=0.8, rng=5)
    # A Poisson number a record: 4,000 of mean 0.8 have a deviation of the square root of 3,200 altogether.
    assert abs(len(made) - 0.8 * len(records)) < 4 * np.sqrt(3200)
    # Looked at where nothing was wrong yet, so that the kind shows.
    fresh = [(a, b) for a, b in made if all(a.values()) and " " in a["name"] and ". " not in a["name"]]
    short = sum(b["name"] == f"{a['name'][0]}. {a['name'].split(' ', 1)[1]}" for a, b in fresh)
    emptied = [field for a, b in fresh for field in FIELDS if not b[field]]
    moved = sum(a["street"] != b["street"] and a["city"] != b["city"] for a, b in fresh)
    # Somebody who moves may stay in the city, one of those there are.
    for count, share in ((short, 0.15), (len(emptied), 0.10), (moved, 0.10 * (1 - 1 / len(module.CITIES)))):
        assert binomtest(count, len(fresh), share).pvalue > 1e-4
    assert set(emptied) == {"street", "city", "birth"}  # nobody is without a name
