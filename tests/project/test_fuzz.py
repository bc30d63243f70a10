"""Readers of CSV given what nobody would write: any bytes, and good files damaged at random.

Whatever comes in, a reader has two ways out: an error of the class that it documents, or a result that another reading,
by other means, confirms. A bare KeyError or UnicodeDecodeError is neither.
How long this was run, and what it found, is in tests/project/fuzz.md.
"""

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import examples

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
