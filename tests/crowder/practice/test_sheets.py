"""Question sheets: what people see, what they may fill in, and what is refused with row and column."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crowder.beyond.control_queries import ControlQueries
from crowder.practice.sheets import (
    escape_markup,
    expand_paths,
    identical_pairs,
    next_sheet_path,
    question_sheet,
    read_blanks,
    read_votes,
)

# --- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "message"), [
    ("id_a,id_b,same\nx,q,yes\n", "row 2, column 'id_b'"),
    ("id_a,id_b,same\n,y,yes\n", "row 2, column 'id_a'"),
    ("id_a,id_b,same\nx,x,yes\n", "row 2, column 'id_b'"),
    ("id_a,id_b,same\n\nx,y,maybe\n", "row 3, column 'same': the answer must be yes, no, unsure or blank, not 'maybe'"),
    ("id_a,id_b,same\nx,y,yes\ny,x,no\n", "row 3, column 'same', about 'y' and 'x': a pair must"),
    ("id_a,id_b,same\nx,y,yes\nx,y,yes\n", "row 3, column 'same', about 'x' and 'y': a pair must"),
    ("id_a,id_b,same\nx,y,1\ny,z,TRUE\nx,z,0\n", "row 4, column 'same', about 'x' and 'z': the answer \"no\" "
     "contradicts row 2 and row 3"),
    ("id_a,id_b,same\nx,y,1\ny,z,f\n", "row 3, column 'same': the answer must"),
    ("id_a,id_b,same\nx,y,Yes\nz,w,y\ny,z,no\nw,x,yes\n", "row 5, column 'same', about 'w' and 'x': the "
     "answer \"yes\" contradicts row 3, row 4 and row 2, which imply \"no\""),
    ("id_a,id_b,same,worker\nx,y,yes,ann\ny,x,no,bob\n", "row 3, column 'same', about 'y' and 'x': a pair must be "
     "answered only once, but this one is also in row 2"),
    ("id_a,id_b,same\nx,y,yes\ny,z,Unsure\n", "row 3, column 'same', about 'y' and 'z': the answer \"unsure\" settles "
     "nothing for an ordering; ask somebody else"),
    ("id_a,id_b\nx,y\n", "column 'same' must"),
    ("id_a,id_b,same\nx,y\n", "row 2 has 2 cells, but the header has 3: column 'same'"),
    ("", "the file must have a header"),
])  # fmt: skip
def test_a_bad_file_of_answers_is_refused_with_row_and_column(tmp_path, text, message):
    path = tmp_path / "answers.csv"
    path.write_text(text)
    with pytest.raises(ValueError) as error:
        read_answers(path, list("wxyz"))
    assert str(error.value).startswith(str(path)) and message in str(error.value)


@given(st.integers(2, 6), st.data())
@settings(deadline=None, max_examples=80)
def test_an_answer_is_refused_exactly_when_the_others_imply_the_opposite(n, data):
    """Answers at random, each held against the paths of those before; two answers "different" imply nothing."""
    pairs = data.draw(st.permutations([(i, j) for i in range(n) for j in range(i + 1, n)]))
    answers, known = SheetAnswers(n), {}
    for row, (i, j) in enumerate(pairs):
        same = data.draw(st.booleans())
        if said(known, i, j, n) is (not same):
            with pytest.raises(ValueError, match="contradicts"):
                answers.add(i, j, same, f"row {row}")
        else:
            answers.add(i, j, same, f"row {row}")
            known[i, j] = same
    assert dict(zip(answers.pairs, answers.same, strict=True)) == known


def test_answers_are_read_from_several_files_and_blank_ones_are_none(tmp_path):
    (tmp_path / "q-2.csv").write_text("same,id_b,id_a\n,w,x\nno,z,y\n,,\n")
    (tmp_path / "q-10.csv").write_text("id_a,id_b,same\nz,x,0\n")
    paths = expand_paths(f"{tmp_path}/q-*.csv")
    assert [path[-8:] for path in paths] == ["/q-2.csv", "q-10.csv"]  # 2 before 10
    answers = read_answers(paths, list("wxyz"))
    assert (answers.pairs, answers.same) == ([(2, 3), (1, 3)], [False, False])
    (tmp_path / "q-11.csv").write_text("id_a,id_b,same\nz,y,no\n")
    with pytest.raises(ValueError, match=r"q-11.csv: row 2, column 'same', .*q-2.csv, row 3"):
        read_answers(expand_paths(f"{tmp_path}/q-*.csv"), list("wxyz"))


def test_a_file_with_answers_is_never_written_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = people([2, 2, 1], rng=1)
    plan, ids = cr.Plan(records, rng=1), list(records["id"])
    assert next_sheet_path("q", ids) == "q-1.csv"
    plan.write_sheet("q-1.csv", 2)
    assert next_sheet_path("q", ids) == "q-1.csv"  # still blank
    sheet = pd.read_csv("q-1.csv", dtype=str, keep_default_na=False)
    assert list(sheet) == ["id_a", "id_b", *(f"{f}_{e}" for f in ("name", "street", "city", "birth") for e in "ab"),
                           "similarity", "same"]  # fmt: skip
    sheet.assign(same=["yes", ""]).to_csv("q-1.csv", index=False)
    assert next_sheet_path("q", ids) == "q-2.csv"
    with pytest.raises(ValueError, match="path must"):
        plan.write_sheet("q-1.csv", 2)
    (tmp_path / "notes.csv").write_text("mine\n1\n")
    with pytest.raises(ValueError, match="column 'id_a' must"):
        plan.write_sheet("notes.csv", 2)


def test_files_keep_the_form_of_the_records(tmp_path):
    records = people([2, 1], rng=1)
    records.loc[0, "name"] = "Zoë; Ann"
    form = {"encoding": "latin-1", "sep": ";"}
    path = str(tmp_path / "q-1.csv")
    cr.Plan(records, rng=1, **form).write_sheet(path, 2)
    content = Path(path).read_bytes()
    assert b"Zo\xeb" in content
    Path(path).write_bytes(content.replace(b";\n", b";yes\n"))
    assert len(read_answers(path, list(records["id"]), **form).pairs) == 2
    assert next_sheet_path(path.removesuffix("-1.csv"), list(records["id"]), **form).endswith("q-2.csv")


def test_a_sheet_keeps_every_character_and_a_page_shows_it_as_it_is():
    odd = '<script>|$x$`{ref}` "a", b\\*_'
    records = pd.DataFrame({"id": ["1", "2"], "text": [odd, "plain"]})
    sheet = question_sheet(records, ["text"], [(0, 1)], [0.5])
    assert sheet["text_a"][0] == odd
    shown = escape_markup(odd)
    assert not set(shown) & set('<>|$`{}*_\\"') and "script" in shown


def test_a_sheet_of_long_records_is_read_back(tmp_path):
    """A cell beyond the 131,072 characters of the csv module's own limit was taken for a quote that is never closed."""
    records = pd.DataFrame({"id": ["x", "y", "z"], "text": ["a" * 200_000, "a" * 200_000 + " b", "c"]})
    sheet = question_sheet(records, ["text"], [(0, 1), (1, 2)], [0.5, 0.1]).assign(same=["yes", "no"])
    sheet.to_csv(tmp_path / "sheet.csv", index=False)
    assert read_answers(tmp_path / "sheet.csv", ["x", "y", "z"]).same == [True, False]


def test_all_votes_are_read_also_if_they_contradict_one_another(tmp_path):
    (tmp_path / "q-1.csv").write_text(
        "worker,same,id_b,id_a\nann,yes,w,x\nbob,NO,x,w\n bob ,no,x,w\n,unsure,z,y\n,,z,w\nann,,z,w\n"
    )
    (tmp_path / "q-2.csv").write_text("id_a,id_b,same\nx,y,1\ny,z,1\nx,z,0\n")  # no column worker; not transitive
    paths = expand_paths(f"{tmp_path}/q-*.csv")
    votes = read_votes(paths, list("wxyz"))
    assert votes == [
        (1, 0, True, "ann"), (0, 1, False, "bob"), (0, 1, False, "bob"), (2, 3, None, None),
        (1, 2, True, None), (2, 3, True, None), (1, 3, False, None),
    ]  # fmt: skip
    strategy = ControlQueries(np.linspace(0.9, 0.1, 6), rng=1)
    for vote in votes:
        strategy.learn(vote[:2], *vote[2:])
    assert strategy.answers == [tuple(vote) for vote in votes]


@pytest.mark.parametrize(("text", "message"), [
    ("id_a,id_b,same,worker\nx,y,yes,ann\nx,q,no,bob\n", "row 3, column 'id_b'"),
    ("id_a,id_b,same,worker\nx,y,yes,ann\nx,x,no,bob\n", "row 3, column 'id_b'"),
    ("id_a,id_b,same,worker\nx,y,yes,ann\nx,y,perhaps,bob\n", "row 3, column 'same': the answer must be yes, no, "),
    ("id_a,id_b,worker\nx,y,ann\n", "column 'same' must"),
    ("id_a,id_b,same,worker,worker\nx,y,yes,ann,bob\n", "worker"),
])  # fmt: skip
def test_a_bad_vote_is_refused_with_row_and_column(tmp_path, text, message):
    (path := tmp_path / "votes.csv").write_text(text)
    with pytest.raises(ValueError) as error:
        read_votes(path, list("wxyz"))
    assert str(error.value).startswith(str(path)) and message in str(error.value)


def test_a_sheet_of_unsure_or_contradicting_answers_is_not_written_over(tmp_path, monkeypatch):
    """They were paid for, though an ordering cannot use them."""
    monkeypatch.chdir(tmp_path)
    records = people([2, 2, 1], rng=1)
    plan, ids = cr.Plan(records, rng=1), list(records["id"])
    for same in (["unsure", ""], ["yes", "no"]):
        sheet = plan.sheet(2).assign(same=same)
        sheet[["id_a", "id_b"]] = sheet[["id_a", "id_b"]].to_numpy()[[0, 0]]  # both rows about one pair
        sheet.to_csv("q-1.csv", index=False)
        assert next_sheet_path("q", ids) == "q-2.csv"
        with pytest.raises(ValueError, match="path must not be a file with answers"):
            plan.write_sheet("q-1.csv", 2)


