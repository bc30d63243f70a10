"""Question sheets: what people see, what they may fill in, and what is refused with row and column."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowder_tool import sheets
from crowder_tool.sheets import to_csv

from .support import cells, examples, is_formula

PLACES = pd.DataFrame(
    {
        "id": ["1", "2", "3", "4", "5"],
        "name": ["Disney World", "disney  WORLD ", "Disneyland Park", "Park Disneyland", ""],
        "zip": ["32830", "32830", "92802", "92802", " "],
    }
)


def question_sheet(records, fields, pairs, code="0123abcd"):
    return sheets.question_sheet(records, fields, pairs, code)


def read_sheets(paths, records, fields=(), **how):
    paths = [paths] if isinstance(paths, (str, Path)) else paths
    return sheets.read_sheets(paths, records, fields, **how)


def records_of(ids):
    return pd.DataFrame({"id": list(ids)})


def read(paths, ids, **how):
    """The answers; workers named by their files alone."""
    rows = read_sheets(paths, records_of(ids), **how)
    return [(*row[:3], row.worker.split("-")[0]) for row in rows if not row.gone]


# --- what people see --------------------------------------------------------------------------------------------------


def test_a_sheet_is_blind_and_has_both_records_side_by_side():
    pairs = [(0, 1), (0, 2), (3, 2), (4, 0)]
    sheet = question_sheet(PLACES, ["name", "zip"], pairs)
    names = ["id_a", "id_b", "name_a", "name_b", "zip_a", "zip_b", "same", "worker", "token"]
    assert list(sheet) == names and sheet["token"].is_unique
    assert sheet[["id_a", "name_b", "zip_b"]].values.tolist()[1] == ["1", "Disneyland Park", "92802"]
    assert sheet[["same", "worker"]].eq("").all(axis=None)


#: Longer than the csv module's own limit; every line end and separator, a control character, quotes, formulas.
ODD = ["a" * 200_000, *(f"a{end}=b" for end in ["\r", "\n", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\x1b"]),
       "\r=1", "\tx", ' "a"', "'=1", "a,b", " blank ", ""]  # fmt: skip


def test_a_sheet_is_read_back_whatever_the_records_contain(tmp_path):
    records = pd.DataFrame({"id": [f"{k}\r=x" for k in range(len(ODD))], "text": ODD, "a\rb": "c"})
    pairs = [(k, (k + 1) % len(ODD)) for k in range(len(ODD))]
    sheet = question_sheet(records, ["text", "a\rb"], pairs).assign(same=["yes", "no"] * (len(ODD) // 2) + ["unsure"])
    path = filled(tmp_path / "q.csv", sheet)
    said = [True, False] * (len(ODD) // 2) + [None]
    assert [row[:3] for row in read_sheets(path, records, ["text", "a\rb"])] == [
        (*pair, same) for pair, same in zip(pairs, said, strict=True)
    ]


# --- what they may fill in --------------------------------------------------------------------------------------------


def test_all_votes_are_read_also_if_they_contradict_one_another(tmp_path):
    (tmp_path / "q-1.csv").write_text(
        "worker,same,id_b,id_a\nann,yes,w,x\nbob,NO,x,w\n bob ,no,x,w\n,unsure,z,y\n,,z,w\nann,,z,w\n"
    )
    (tmp_path / "q-2.csv").write_text("id_a,id_b,same\nx,y,1\ny,z,1\nx,z,0\n\n,,\nx,w,u\n")  # not transitive
    paths = [tmp_path / "q-1.csv", tmp_path / "q-2.csv"]
    rows = read_sheets(paths, records_of("wxyz"))
    votes = [(*row[:3], row.worker) for row in rows if not row.gone]
    first, second = votes[3][3], votes[4][3]
    assert re.fullmatch("q-1-[0-9a-f]{6}", first) and re.fullmatch("q-2-[0-9a-f]{6}", second)
    assert votes == [
        (1, 0, True, "ann"), (0, 1, False, "bob"), (0, 1, False, "bob"), (2, 3, None, first),
        (1, 2, True, second), (2, 3, True, second), (1, 3, False, second), (1, 0, None, second),
    ]  # fmt: skip
    assert [(row.i, row.j, row.worker) for row in rows if row.gone] == [(0, 3, first), (0, 3, "ann")]


@pytest.mark.parametrize("sep", [",", ";", "\t"])
def test_a_sheet_is_read_as_spreadsheets_save_it(sep, tmp_path):
    """Some write another separator, a byte order mark, other line ends, or another encoding."""
    rows = [["id_a", "id_b", "name_a", "same"], ["x", "y", "a,b;c", "yes"], ["y", "'=z", "é", "no"]]
    text = "".join(sep.join(f'"{cell}"' for cell in row) + "\r\n" for row in rows)
    for encoding, how in (("utf-8", {}), ("utf-8-sig", {}), ("cp1252", {"encoding": "cp1252"})):
        (tmp_path / "q.csv").write_bytes(text.encode(encoding))
        assert read(tmp_path / "q.csv", ["x", "y", "=z"], **how) == [(0, 1, True, "q"), (1, 2, False, "q")]


@pytest.mark.parametrize(("text", "message"), [
    ("id_a,id_b,same\nx,q,yes\n", "row 2, column 'id_b': the identifier must be that of a record, not 'q'; is "
     "the sheet that of another file? If this record has left the file, remove the row"),
    ("id_a,id_b,same\nx,x,yes\n", "row 2, column 'id_b': the two records must be different"),
    ("id_a,id_b,same\n\nx,y,maybe\n", "row 3, column 'same': the answer must be yes, no, unsure or blank, not 'maybe'"),
    ("id_a,id_b\nx,y\n", "column 'same' must be in the header"),
    ("id_a,id_b,same,worker,worker\nx,y,yes,ann,bob\n", "[4, 5] are called 'worker'"),
])  # fmt: skip
def test_a_bad_sheet_is_refused_with_row_and_column(tmp_path, text, message):
    (path := tmp_path / "votes.csv").write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read_sheets(path, records_of("wxyz"))
    assert str(error.value).startswith(str(path))


# --- whose answers, and about what ------------------------------------------------------------------------------------


def filled(path, sheet, **columns):
    path.write_text(sheets.to_csv(sheet.assign(**columns), guarded=True), encoding="utf-8", newline="")
    return path


def test_sheets_without_names_are_one_worker_by_their_tokens_or_else_by_their_files(tmp_path):
    """However a file is called and its path is written; two sheets are two workers."""
    sheet, paths = question_sheet(PLACES, ["name"], [(0, 1), (0, 2), (1, 2)]).assign(same="yes"), []
    for name, other in (
        ("ann", sheet),
        ("bob", question_sheet(PLACES, ["name"], [(0, 1)], "89abcdef").assign(same="no")),
    ):
        (tmp_path / name).mkdir()
        paths.append(filled(tmp_path / name / "questions-1.csv", other))
    filled(tmp_path / "other.csv", sheet)
    workers = [vote.worker for vote in read_sheets([*paths, tmp_path / "other.csv"], PLACES, ["name"])]
    assert workers == ["sheet-0123abcd"] * 3 + ["sheet-89abcdef"] + ["sheet-0123abcd"] * 3
    for path in paths:
        filled(path, sheet.drop(columns="token"))
    again = tmp_path / "bob" / ".." / "ann" / "questions-1.csv"
    ann, bob, other = (read_sheets(path, PLACES)[0].worker for path in (*paths, again))
    assert ann == other != bob and ann.startswith("questions-1-")


def test_two_answers_under_one_name_in_one_call_are_refused(tmp_path):
    sheet = question_sheet(PLACES, ["name"], [(0, 1), (1, 0), (0, 2)]).assign(worker="ann")
    one = filled(tmp_path / "one.csv", sheet, same=["yes", "no", "no"])
    with pytest.raises(ValueError, match=r"one.csv, row 3: 'ann' must not give another answer .*one.csv, row 2"):
        read_sheets(one, PLACES, ["name"])
    one = filled(tmp_path / "one.csv", sheet, same=["yes", "yes", "no"])  # the same answer twice is one
    two = filled(tmp_path / "two.csv", sheet, same=["", "", "unsure"])
    with pytest.raises(ValueError, match=r"two.csv, row 4: 'ann' must not .*one.csv, row 4; two people, "):
        read_sheets([one, two], PLACES, ["name"])
    assert len(read_sheets([one, filled(two, sheet.assign(worker="bob"), same="no")], PLACES, ["name"])) == 6


CITIES = PLACES.assign(city="Orlando", name=["Disney", "Magic", "Park", "World", "Sea"])
PAIRS = [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize(("moved", "names"), [
    (["id_b"], "'1' and '3'"), (["id_b", "name_b", "zip_b"], "'1' and '3'"), (["token"], "'1' and '2'"),
])  # fmt: skip
def test_columns_that_were_moved_against_each_other_are_refused(tmp_path, moved, names):
    """By one row, as a slip in a spreadsheet does."""
    sheet = question_sheet(CITIES, ["name", "zip", "city"], PAIRS).assign(same="yes")
    path = filled(tmp_path / "q.csv", sheet)
    assert len(read_sheets(path, CITIES, ["name", "zip", "city"])) == 4
    sheet[moved] = np.roll(sheet[moved].to_numpy(), -1, axis=0)
    with pytest.raises(ValueError, match=f"row 2, column 'token': it does not fit {names} and their texts"):
        read_sheets(filled(path, sheet), CITIES, ["name", "zip", "city"])


def test_a_sheet_fits_records_of_the_same_texts_and_fields_in_any_order_and_no_others(tmp_path):
    path = filled(tmp_path / "q.csv", question_sheet(CITIES, ["name", "city"], PAIRS).assign(same="no"))
    said = read_sheets(path, CITIES[::-1].reset_index(drop=True), ["name", "city"])
    assert [vote[:2] for vote in said] == [(4 - i, 4 - j) for i, j in PAIRS]
    other = CITIES.assign(name=[f"Product {k}" for k in range(5)])  # the same identifiers, and a constant column
    for records, fields in ((other, ["name", "city"]), (CITIES, ["city", "name"]), (CITIES, ["name"])):
        with pytest.raises(ValueError, match="or the sheet is of another project"):
            read_sheets(path, records, fields)


def test_what_spreadsheets_do_to_cells_is_no_other_text(tmp_path):
    records = pd.DataFrame({"id": ["=1", "b"], "zip": ["007", "1.50"], "name": ["-Ann  Lee", "Bo"]})
    sheet = question_sheet(records, ["zip", "name"], [(0, 1)])
    sheet = sheet.assign(same="yes", zip_a="7", zip_b="1. May", name_a="-ann lee")  # the token says what was asked
    for changed in (sheet, sheet.drop(columns="token")):
        assert read_sheets(filled(tmp_path / "q.csv", changed), records, ["zip", "name"])[0].same
    with pytest.raises(ValueError, match="'token': it does not fit"):
        read_sheets(filled(tmp_path / "q.csv", sheet.assign(token="")), records, ["zip", "name"])


def test_identifiers_with_apostrophes_are_not_confused(tmp_path):
    """A formula is written with an apostrophe before it; there may be another record that is called so."""
    records = records_of(["x", "'x", "=z", "'=z", "''=z", "-1", "@"])
    pairs = [(i, j) for i in range(7) for j in range(i)]
    path = filled(tmp_path / "q.csv", question_sheet(records, [], pairs), same="no", worker="=ann")
    assert [vote[:4] for vote in read_sheets(path, records)] == [(*pair, False, "=ann") for pair in pairs]


#: What cannot be seen before a sign: every control character and line separator, and some that have no width.
UNSEEN = "\u2028\u2029\u200b\u061c\u180e\u2060\u206a\u3000\u3164\ufe0f\ufeff"
BEFORE = ["", " ", *map(chr, [*range(1, 32), *range(0x7F, 0xA1)]), *UNSEEN, "'", "\r' "]
#: What stays as it is, and what nearly is a number, but would be computed.
NUMBERS = ["-5.20", "+49 30 1", "-", "+", "- 7", " -3", "+49 (30) 12 34", "-1.234,50", "+1'000", "-.5", "-1\u202f000"]
SUMS = ["-1+2", "+1-1", "+49/30", "-1*2", "-2^2", "+1%", "-(5)", "+1:2", "-1e5", "-A1", "--1", "+1 =2", "-1\n"]


def test_no_cell_of_a_sheet_is_a_formula_to_a_spreadsheet():
    """A spreadsheet runs a cell that starts with = or +, - or @, also of full width: so an apostrophe stands before it.
    A bare carriage return in a cell begins no other row. A number or telephone number is no formula, and stays."""
    signs = [f"{before}{sign}1" for before in BEFORE for sign in "=+-@＝＋－＠"]
    bad = signs + [f"a{before}=cmd|' /C calc'!A0" for before in BEFORE] + [f"{before}a" for before in BEFORE] + SUMS
    table = pd.DataFrame({"id": range(len(bad)), "=name": bad, "file": bad[::-1], "plain": "a b"})
    rows = cells(to_csv(table, guarded=True))
    assert len(rows) == 1 + len(bad) and {len(row) for row in rows} == {4}
    assert not [cell for row in rows for cell in row if is_formula(cell)]
    assert all(cell == f"'{text}" for (_, cell, *_), text in zip(rows[-len(SUMS) :], SUMS, strict=True))
    for (number, *told), text, file in zip(rows[1:], bad, bad[::-1], strict=True):
        assert bad[int(number)] == text and told[0] in (text, f"'{text}") and told[1] in (file, f"'{file}")
        assert told[2] == "a b"
    assert cells(to_csv(pd.DataFrame({"n": NUMBERS}), guarded=True))[1:] == [[number] for number in NUMBERS]
    assert cells(to_csv(table)) == [[*table], *([str(k), a, b, "a b"] for k, a, b, _ in table.itertuples(index=False))]


@given(st.text(st.sampled_from("'=+-@1 .,()aA\r\n\t\u200b＝"), max_size=8), st.text(max_size=5))
@examples(200, night=5000)
def test_what_is_put_on_a_cell_is_what_is_taken_off(cell, other):
    for text in (cell, other):
        assert sheets._unescaped(sheets.escape_formula(text)) == text
    # Nothing is taken off a cell that a person has written, unless it would have been put on.
    assert sheets._unescaped(cell) == cell or sheets.escape_formula(sheets._unescaped(cell)) == cell
