"""Invented people."""

from datetime import date

from crowder_tool import people

FIELDS = ["name", "street", "city", "birth"]


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


def test_mistakes_are_as_many_as_asked_for():
    """Two records of a person agree if neither has a mistake, exp(-1.6) = 0.202 of 2,000, or if those change nothing,
    as one typing error in 25 does: 0.21, and four standard errors are 0.04."""
    records = people([2] * 2000, mistakes=0.8, rng=5)
    alike = records.groupby("label")[FIELDS].nunique().eq(1).all(axis=1).mean()
    assert abs(alike - 0.21) < 0.04
    assert (records["name"] != "").all() and all((records[field] == "").any() for field in FIELDS[1:])
    assert records["name"].str.match(r"[A-Z]\. ").any()
