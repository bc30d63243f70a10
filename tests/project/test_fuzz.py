"""Readers given what nobody would write: any bytes, and good files damaged at random.

Whatever comes in, a reader has two ways out: an error of the class that it documents, or a result that another reading,
by other means, confirms. A bare KeyError, struct.error or UnicodeDecodeError is neither.
How long this was run, and what it found, is in tests/project/fuzz.md.
"""

import csv
import io
import sqlite3

import journal_crash
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import examples

import crowder as cr
import crowder_tool
from crowder_tool.sheets import ANSWERS, read_sheets

pytestmark = pytest.mark.nightly


def outcome(reader, *allowed):
    """What a reader gives, or None if it refuses with one of the `allowed` errors, and these alone."""
    try:
        return reader()
    except allowed as error:
        # ValueError is documented; UnicodeDecodeError and JSONDecodeError are ValueErrors that say nothing of it.
        assert type(error) in allowed or isinstance(error, OSError), repr(error)
        assert str(error).strip(), repr(error)
        return None


@st.composite
def files(draw, good: bytes):
    """Any bytes, or a good file after a few accidents: bytes are overwritten, put in, lost, or copied within it."""
    if draw(st.booleans()):
        return draw(st.binary(max_size=300))
    data = bytearray(good)
    for _ in range(draw(st.integers(0, 4))):
        at, other = (draw(st.integers(0, len(data))) for _ in range(2))
        kept = at + draw(st.sampled_from([0, 1, draw(st.integers(2, 24)), len(data)]))
        data[at:kept] = draw(st.one_of(st.binary(max_size=24), st.just(bytes(data[other : other + kept - at]))))
    return bytes(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


# --- CSV ------------------------------------------------------------------------------------------------------------

PEOPLE = (
    'id,label,name,city\r\nr1,a,"Smith, ""Jo""",Orléans\r\nr2,a,Jo Smith,\r\n\r\nr3,b,"two\nlines",Köln\r\n'.encode()
)
#: What CSV is made of, so that cells, quotes and rows come up far more often than in any bytes.
CSV_TEXT = st.lists(
    st.sampled_from([*'",;\r\n\t\0 abü=<$', "id", "id_a", "id_b", "same", "label", "yes", "\ufeff", "\u2028"]),
    max_size=60,
).map(lambda parts: "".join(parts).encode())


def rows_of(content: bytes, sep: str = ","):
    """The rows of a CSV file by the standard library alone, blank lines left out."""
    csv.field_size_limit(2**31 - 1)
    return [
        row
        for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=sep, strict=True)
        if row
    ]


@given(content=st.one_of(files(PEOPLE), CSV_TEXT), sep=st.sampled_from(",;\t"))
@examples(150, night=2_000)
def test_records_are_read_as_the_csv_module_reads_them_or_refused(folder, content, sep):
    path = put(folder, "records.csv", content)
    got = outcome(lambda: crowder_tool.read_records(path, sep=sep), ValueError)
    if got is None:
        return
    header, *rows = rows_of(content, sep)
    names = [name.strip() for name in header]
    assert len(got) == len(rows) > 0
    assert not got["id"].duplicated().any() and got["id"].str.strip().ne("").all()
    for name in got.columns.intersection(names):
        column = [row[names.index(name)] for row in rows]
        assert got[name].tolist() == ([cell.strip() for cell in column] if name in ("id", "label") else column)


SHEET = (
    'id_a,id_b,name_a,name_b,similarity,same\nx,y,Ann,Anne,0.75,yes\ny,z,Anne,"B, o",0.5,no\nz,w,é,f,0.1,\n'.encode()
)
IDS = ["w", "x", "y", "z"]


@given(content=st.one_of(files(SHEET), CSV_TEXT))
@examples(150, night=2_000)
def test_answers_are_read_as_the_csv_module_reads_them_or_refused(folder, content):
    records = pd.DataFrame({"id": IDS})
    told = outcome(lambda: read_sheets([put(folder, "sheet.csv", content)], records, [], "key"), ValueError)
    if told is None:
        return
    header, *rows = rows_of(content)
    a, b, same = ([name.strip() for name in header].index(name) for name in ("id_a", "id_b", "same"))
    said = [
        (IDS.index(row[a].strip()), IDS.index(row[b].strip()), ANSWERS[row[same].strip().lower()])
        for row in rows
        if len(row) > same and row[same].strip()
    ]
    assert [row[:3] for row in told if row.answered] == said


# --- the journal ------------------------------------------------------------------------------------------------------

TRUTH, SIMILARITY = cr.Truth([0, 0, 1, 1, 2]), np.linspace(0, 1, 10)


@pytest.fixture(scope="module")
def good(folder):
    """The bytes of a journal with a finished run."""
    with crowder_tool.Journal(TRUTH, folder / "good.db") as journal:
        cr.edge_ordering(SIMILARITY, journal, rng=7)
    return (folder / "good.db").read_bytes()


def by_sqlite(path):
    """The answers, by SQLite alone."""
    if not path.stat().st_size:
        return []
    database = sqlite3.connect(path)
    rows = database.execute("SELECT * FROM log").fetchall()  # by place: a name may be what was damaged
    database.close()
    return sorted((i, j, vote, same, entry) for entry, i, j, vote, same, *_ in rows)


@given(data=st.data())
@examples(25, night=600)
def test_a_damaged_journal_is_refused_or_has_answers(folder, good, data):
    for leftover in folder.glob("answers.db*"):
        leftover.unlink()
    path = put(folder, "answers.db", data.draw(files(good)))
    table = outcome(lambda: journal_crash.read(path), ValueError)
    if table is not None:
        got = table[["i", "j", "vote", "same", "entry"]].astype(int).values.tolist()
        assert sorted(map(tuple, got)) == by_sqlite(path)
        assert ((0 <= table["i"]) & (table["i"] < table["j"]) & (table["vote"] >= 0)).all()

    def resume():
        """A run on from such a file: what the crowd is asked, and what the file says, is all that it hears."""
        with crowder_tool.Journal(TRUTH, path) as journal:
            return cr.edge_ordering(SIMILARITY, journal, rng=7), journal.answers()

    done = outcome(resume, ValueError, OSError)
    if done is not None:
        run, table = done
        known = {(i, j): same for i, j, same in table[["i", "j", "same"]].itertuples(index=False)}
        for (i, j), same in zip(run.queries.tolist(), run.answers.tolist(), strict=True):
            assert known[min(i, j), max(i, j)] == same
