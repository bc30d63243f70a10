"""Question sheets: what people see, what they may fill in, and what is refused with row and column."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowder as cr
from book.companion.printing import escape_markup
from crowder.practice.sheets import (
    expand_paths,
    identical_pairs,
    next_sheet_path,
    question_sheet,
    read_rows,
    read_votes,
)

PLACES = pd.DataFrame(
    {
        "id": ["1", "2", "3", "4", "5"],
        "name": ["Disney World", "disney  WORLD ", "Disneyland Park", "Park Disneyland", ""],
        "zip": ["32830", "32830", "92802", "92802", " "],
    }
)


# --- what people see --------------------------------------------------------------------------------------------------


def test_a_sheet_is_blind_and_has_both_records_side_by_side():
    pairs = [(0, 1), (0, 2), (3, 2), (4, 0)]
    sheet = question_sheet(PLACES, ["name", "zip"], pairs)
    assert list(sheet) == ["id_a", "id_b", "name_a", "name_b", "zip_a", "zip_b", "differs", "same", "worker"]
    assert sheet[["id_a", "name_b", "zip_b"]].values.tolist()[1] == ["1", "Disneyland Park", "92802"]
    assert sheet["differs"].tolist() == [
        "",  # but for white space and case
        "name: Disney World <> Disneyland Park; zip: 32830 <> 92802",
        "name: other order",
        "name: (empty) <> Disney World; zip: (empty) <> 32830",
    ]
    assert sheet[["same", "worker"]].eq("").all(axis=None)
    shown = question_sheet(PLACES, ["name"], pairs, similarity=[1, 0.5, 0.25, 0])
    assert list(shown)[-4:] == ["differs", "similarity", "same", "worker"]
    assert shown["similarity"].tolist() == ["1.0000", "0.5000", "0.2500", "0.0000"]
    assert len(question_sheet(PLACES, ["name"], [])) == 0


words = st.lists(st.sampled_from(["Ann", "ann", "Bo", "Lee", "=1", "x" * 50]), max_size=5).map("  ".join)


@given(words, words)
@settings(deadline=None, max_examples=150)
def test_a_difference_names_the_words_that_one_record_lacks(a, b):
    """Against counts of words: what is shown of a record are its words, less those of the other."""
    sheet = question_sheet(pd.DataFrame({"id": ["x", "y"], "text": [a, b]}), ["text"], [(0, 1)])
    told = sheet["differs"][0]
    left, right = a.casefold().split(), b.casefold().split()
    if left == right:
        assert told == ""
    elif sorted(left) == sorted(right):
        assert told == "text: other order"
    else:
        for shown, own, other in zip(
            told.removeprefix("text: ").split(" <> "), (left, right), (right, left), strict=True
        ):
            lacking = [word for word in set(own) for _ in range(own.count(word) - other.count(word))]
            wanted = "(empty)" if not own else sorted(lacking) or "-"
            found = shown if shown in ("-", "(empty)") else sorted(shown.casefold().split())
            assert found == wanted or (shown.endswith("...") and len(shown) <= 40)


def test_identical_records_are_found_and_blank_ones_are_not_taken_for_the_same():
    assert identical_pairs(PLACES, ["name", "zip"]) == [(0, 1)]
    assert identical_pairs(PLACES, ["zip"]) == [(0, 1), (2, 3)]
    assert identical_pairs(pd.concat([PLACES.iloc[[4]]] * 3), ["name", "zip"]) == []
    assert identical_pairs(pd.concat([PLACES.iloc[:3]] * 2), ["zip"]) == [(0, 1), (0, 3), (0, 4), (2, 5)]


def test_a_sheet_keeps_every_character_and_a_page_shows_it_as_it_is():
    odd = '<script>|$x$`{ref}` "a", b\\*_'
    sheet = question_sheet(pd.DataFrame({"id": ["1", "2"], "text": [odd, "plain"]}), ["text"], [(0, 1)])
    assert sheet["text_a"][0] == odd
    shown = escape_markup(odd)
    assert not set(shown) & set('<>|$`{}*_\\"') and "script" in shown


def test_a_sheet_of_long_records_is_read_back(tmp_path):
    """A cell beyond the 131,072 characters of the csv module's own limit was taken for a quote that is never closed."""
    records = pd.DataFrame({"id": ["x", "y", "z"], "text": ["a" * 200_000, "a" * 200_000 + " b", "c"]})
    sheet = question_sheet(records, ["text"], [(0, 1), (1, 2)]).assign(same=["yes", "no"])
    sheet.to_csv(tmp_path / "sheet.csv", index=False)
    assert [same for _, _, same, _ in read_votes(tmp_path / "sheet.csv", ["x", "y", "z"])] == [True, False]


# --- what they may fill in --------------------------------------------------------------------------------------------


def test_all_votes_are_read_also_if_they_contradict_one_another(tmp_path):
    (tmp_path / "q-1.csv").write_text(
        "worker,same,id_b,id_a\nann,yes,w,x\nbob,NO,x,w\n bob ,no,x,w\n,unsure,z,y\n,,z,w\nann,,z,w\n"
    )
    (tmp_path / "q-2.csv").write_text("id_a,id_b,same\nx,y,1\ny,z,1\nx,z,0\n\n,,\nx,w,u\n")  # not transitive
    paths = expand_paths(f"{tmp_path}/q-*.csv")
    votes = read_votes(paths, list("wxyz"))
    assert votes == [
        (1, 0, True, "ann"), (0, 1, False, "bob"), (0, 1, False, "bob"), (2, 3, None, "q-1"),
        (1, 2, True, "q-2"), (2, 3, True, "q-2"), (1, 3, False, "q-2"), (1, 0, None, "q-2"),
    ]  # fmt: skip
    rows = [row for path in paths for row in read_rows(path, list("wxyz"))]
    assert [(row.i, row.j, row.worker) for row in rows if not row.answered] == [(0, 3, "q-1"), (0, 3, "ann")]
    strategy = cr.beyond.NoisyOrdering(np.linspace(0.9, 0.1, 6), rng=1)
    for vote in votes:
        strategy.learn(vote[:2], *vote[2:])
    assert strategy.answers == votes


@pytest.mark.parametrize("sep", [",", ";", "\t"])
def test_a_sheet_is_read_as_spreadsheets_save_it(sep, tmp_path):
    """Some write another separator, a byte order mark, other line ends, or a line ``sep=;`` before all."""
    rows = [["id_a", "id_b", "name_a", "same"], ["x", "y", "a,b;c", "yes"], ["y", "'=z", "d", "no"]]
    text = "".join(sep.join(f'"{cell}"' for cell in row) + "\r\n" for row in rows)
    for before in ("", "\ufeff", f"\ufeffsep={sep}\r\n"):
        (tmp_path / "q.csv").write_bytes((before + text).encode())
        assert read_votes(tmp_path / "q.csv", ["x", "y", "=z"]) == [(0, 1, True, "q"), (1, 2, False, "q")]


@pytest.mark.parametrize(("text", "message"), [
    ("id_a,id_b,same\nx,q,yes\n", "row 2, column 'id_b': the identifier must be that of a record, not 'q'; of 2 "
     "identifiers in this sheet 1 are unknown"),
    ("id_a,id_b,same\nx,y,\nx,q,yes\nr,s,no\n", "row 3, column 'id_b': the identifier must be that of a record, not "
     "'q'; of 5 identifiers in this sheet 3 are unknown: is it that of another file or project?"),
    ("id_a,id_b,same\n,y,yes\n", "row 2, column 'id_a'"),
    ("id_a,id_b,same\nx,x,yes\n", "row 2, column 'id_b': the two records must be different"),
    ("id_a,id_b,same\n\nx,y,maybe\n", "row 3, column 'same': the answer must be yes, no, unsure or blank, not 'maybe'"),
    ("id_a,id_b,same\nx,y,1\ny,z,f\n", "row 3, column 'same': the answer must"),
    ("id_a,id_b,same,worker\nx,y,yes,ann\nx,y,perhaps,bob\n", "row 3, column 'same': the answer must be yes, no, "),
    ("id_a,id_b\nx,y\n", "column 'same' must be in the header"),
    ("id_a,id_b,worker\nx,y,ann\n", "column 'same' must"),
    ("id_a,id_b,same,worker,worker\nx,y,yes,ann,bob\n", "columns 4 and 5 are 'worker'"),
    ("id_a,id_b,same\nx,y\n", "row 2 has 2 cells, but the header has 3: column 'same'"),
    ("", "the file must have a header"),
])  # fmt: skip
def test_a_bad_sheet_is_refused_with_row_and_column(tmp_path, text, message):
    (path := tmp_path / "votes.csv").write_text(text)
    for read in (read_votes, read_rows):
        with pytest.raises(ValueError, match=re.escape(message)) as error:
            read(path, list("wxyz"))
        assert str(error.value).startswith(str(path))


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_pattern_that_matches_no_file_is_an_error(tmp_path):
    """It was no file at all; then there were no answers, and clusters were written over by singletons."""
    for number in (10, 2):
        (tmp_path / f"q-{number}.csv").touch()
    (tmp_path / "a[1].csv").touch()
    assert [path[-8:] for path in expand_paths(f"{tmp_path}/q-*.csv")] == ["/q-2.csv", "q-10.csv"]  # 2 before 10
    assert expand_paths(f"{tmp_path}/a[1].csv") == [f"{tmp_path}/a[1].csv"]  # a file of this very name
    with pytest.raises(FileNotFoundError, match=r"no file matches '.*q_\*\.csv'.*correct the pattern"):
        expand_paths([f"{tmp_path}/q-*.csv", f"{tmp_path}/q_*.csv"])


def test_the_next_sheet_is_written_over_none_with_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ids = ["1", "2", "3", "4", "5"]
    assert next_sheet_path("q", ids) == "q-1.csv"
    sheet = question_sheet(PLACES, ["name"], [(0, 1), (0, 1)])
    sheet.to_csv("q-1.csv", index=False)
    assert next_sheet_path("q", ids) == "q-1.csv"  # still blank
    for same in (["yes", ""], ["unsure", ""], ["yes", "no"]):  # of contradictions and unsure answers, too
        sheet.assign(same=same).to_csv("q-1.csv", index=False)
        assert next_sheet_path("q", ids) == "q-2.csv"
