"""A user's CSV file: read to the character, or refused with the row and the column at fault."""

import csv
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform

import crowder as cr
from crowder_tool import read_records

PLACES = "id,label,name,zip\nr1,orlando,Disney World,007\nr2,anaheim,Disneyland,NA\nr3,anaheim,Disneyland Park,\n"


def write(folder, content):
    path = folder / "records.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(folder, content, **how):
    return read_records(write(folder, content), **how)


def table(records):
    return [list(records.columns), *records.values.tolist()]


# --- what is read ---------------------------------------------------------------------------------------------------


def test_every_value_is_a_string_and_none_is_guessed(tmp_path):
    """pandas would make 7 of 007, and a missing value of NA, null and an empty cell."""
    records = read(tmp_path, "id,a,b,c\n007,1.50,NA,null\n8,None,,1e5\n")
    assert table(records) == [["id", "a", "b", "c"], ["007", "1.50", "NA", "null"], ["8", "None", "", "1e5"]]
    assert not records.isna().any(axis=None)
    assert {type(value) for row in records.values.tolist() for value in row} == {str}


def test_identifier_and_label_come_first_and_fields_in_the_order_asked(tmp_path):
    content = "year,key,who,title\n2017,a,x,On Trees\n2018,b,y,On Graphs\n"
    named = read(tmp_path, content.replace("who", "label"), id="key", fields=["title", "year"])
    assert list(named.columns) == ["id", "label", "title", "year"]
    assert named.values.tolist() == [["a", "x", "On Trees", "2017"], ["b", "y", "On Graphs", "2018"]]
    # Without names: every column is a field, and the row names the record.
    plain = table(read(tmp_path, content))
    assert plain[:2] == [["id", "year", "key", "who", "title"], ["2", "2017", "a", "x", "On Trees"]]
    assert list(read(tmp_path, content, fields="title").columns) == ["id", "title"]
    # Columns called id and label are what their names say.
    assert table(read(tmp_path, PLACES))[0] == ["id", "label", "name", "zip"]
    # A column that is not used may have no name, or the name of another.
    assert table(read(tmp_path, ",a,b,b\n0,x,1,2\n", fields=["a"])) == [["id", "a"], ["2", "x"]]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfid,a\n1,caf\xc3\xa9\n",  # a byte order mark
        b"id,a\r\n1,caf\xc3\xa9\r\n",
        b"id,a\r1,caf\xc3\xa9",  # no newline at the end
        b"\n id , a \n\n1,caf\xc3\xa9\n\n\n",  # blank lines, stray spaces around names
        b'"id","a"\n"1","caf\xc3\xa9"\n',
    ],
)
def test_forms_of_one_file(content, tmp_path):
    assert table(read(tmp_path, content)) == [["id", "a"], ["1", "café"]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "UTF_8", "utf-16", "latin-1", "cp1252"])
def test_other_encodings_and_separators(encoding, tmp_path):
    content = "id;a\n1;café, au lait\n".encode(encoding)
    assert table(read(tmp_path, content, encoding=encoding, sep=";")) == [["id", "a"], ["1", "café, au lait"]]


@pytest.mark.parametrize("sep", list(",;\t|"))
def test_the_separator_of_the_first_line_is_found(sep, tmp_path):
    content = "\n" + sep.join(["id", "a;,x"[: 1 + (sep == "|")], "b"]) + f"\n1{sep}a,b,c;d,,{sep}\n"
    content = content.replace("a,b,c;d,,", '"a,b,c;d,,"')
    names = content.split("\n")[1].split(sep)
    wanted = [names, ["1", "a,b,c;d,,", ""]]
    assert table(read(tmp_path, content, sep=None)) == table(read(tmp_path, content, sep=sep)) == wanted


def test_a_blank_record_is_read_and_similar_to_none(tmp_path):
    """A single one refused the whole file."""
    records = read(tmp_path, "id,a,b\n1,x,\n2,, \n3,,\n4,x,\n")
    assert table(records)[2:4] == [["2", "", " "], ["3", "", ""]]
    for name in cr.similarity.SIMILARITIES:
        square = squareform(cr.similarity.compute(records, name))
        assert not square[[1, 2]].any() and square[0, 3] > 0, name


def test_what_stays_in_a_field(tmp_path):
    """Blanks, quotes, separators and line ends of a field are kept; those around an identifier are not."""
    long = "x" * 200_000  # beyond the csv module's own limit, which is as it was afterwards
    limit = csv.field_size_limit()
    records = read(tmp_path, f'id,a,b\n 1 ,"  say ""hi"", you\r\nthere ",{long}\n2, ,y\n')
    assert table(records)[1:] == [["1", '  say "hi", you\r\nthere ', long], ["2", " ", "y"]]
    assert csv.field_size_limit() == limit


text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
name = text.map(str.strip).filter(lambda name: name and name not in ("id", "label") and not set(name) & set(",;\t|"))


@given(st.lists(name, min_size=1, max_size=4, unique=True), st.data())
@settings(max_examples=200, deadline=None)
def test_what_a_csv_writer_wrote_comes_back(tmp_path_factory, names, data):
    cells = st.lists(text, min_size=len(names), max_size=len(names)).filter(lambda row: any(map(str.strip, row)))
    rows = data.draw(st.lists(cells, min_size=1, max_size=6))
    sep = data.draw(st.sampled_from(",;\t|"))
    path = tmp_path_factory.mktemp("written") / "table.csv"
    ends = data.draw(st.sampled_from(["\n", "\r\n"]))
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=sep, lineterminator=ends, quoting=csv.QUOTE_ALL).writerows([names, *rows])
    records = read_records(path, sep=sep, fields=names)  # named, so that none is taken for a record
    assert table(records) == [["id", *names], *([str(i), *row] for i, row in enumerate(rows, 2))]


# --- what is refused ------------------------------------------------------------------------------------------------

FAULTS = {
    "empty": (b"", {}, "the file must have a header"),
    "blank lines": (b"\n\n", {}, "the file must have a header"),
    "header only": (b"id,a\n", {}, "the file must have records"),
    "no such column": (b"id,a\n1,x\n", {"fields": ["a", "b"]}, "column 'b' must be in the header, which has 'id', 'a'"),
    "no such identifier": (b"id,a\n1,x\n", {"id": "key"}, "column 'key' must be in the header"),
    "no header": (b"1,Disney\n2,Epcot\n", {"fields": ["name"]}, "header, which has '1', 'Disney'"),
    "column twice": (b"id,a,b, a\n1,x,y,z\n", {}, "each another one, but [2, 4] are called 'a'"),
    "nameless column": (b"id,a, \n1,x,y\n", {}, "columns must have names, each another one, but [3] are called ''"),
    "field twice": (b"id,a\n1,x\n", {"fields": ["a", "a"]}, "fields must be different"),
    "no field": (b"id,label\n1,x\n", {}, "fields must be different columns of"),
    "no field chosen": (b"id,a\n1,x\n", {"fields": []}, "fields must be different columns of"),
    "a field called id": (b"key,id,a\n1,x,y\n", {"id": "key"}, "nor called id or label"),
    "identifier twice": (b"id,a\n7,x\n\n7 ,y\n", {}, "row 4, column 'id': identifiers must be unique, but '7'"),
    "empty identifier": (b"id,a\n1,x\n ,y\n", {}, "row 3, column 'id': it must not be empty"),
    "empty label": (b"id,a,label\n1,x,\n", {}, "row 2, column 'label': it must not be empty"),
    "too few cells": (b"id,a,b\n1,x,y\n2,x\n", {}, "row 3 has 2 cells, but the header has 3"),
    "too many cells": (b"id,a\n1,x\n2,Park, Orlando\n", {}, "row 3 has 3 cells, but the header has 2, and the last"),
    "rows of lines": (b'id,a\n1,"two\nlines"\n2\n', {}, "row 3 has 1 cells,"),  # the fourth line, the third row
    "other separator": (b"id;a\n1;x\n", {}, "the header has only one cell, 'id;a'; perhaps pass sep=';'"),
    "tabs": (b"id\ta\n1\tx\n", {}, "pass sep='\\t'"),
    "open quote": (b'id,a,b\n1,x,y\n2,"x,y\n3,x,y\n', {}, "row 3: a quoted cell must end with its quote"),
    "open quote in the header": (b'id,"a\n1,x\n', {}, "row 1: a quoted cell must end"),
    "stray quote": (b'id,a,b\n1,x,"say "hi""\n', {}, "row 2: a quoted cell must end"),
    "open until the next": (b'id,a\n1,"x\n2,"y"\n', {}, "row 2: a quoted cell must end"),
    "xlsx": (b"PK\x03\x04\x14\0\x06\0", {}, "the file must be text, not a spreadsheet (.xlsx or .xls); save it as CSV"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", {"encoding": "latin-1"}, "not a spreadsheet (.xlsx or .xls)"),
    "NUL": (b"id,a\n1,x\n2,x\0y\n", {}, "line 3: a cell must not contain NUL"),
    "NUL, and other line ends": (b"id,a\r1,x\r\n2,x\0y\r", {}, "line 3: a cell must not contain NUL"),
    "half a character": (b"id,a\n1,\\ud83d\n", {"encoding": "unicode-escape"}, "line 2: a cell must not contain half a "
                         "character, '\\ud83d'"),
    "UTF-16 by its mark": ("id,a\n1,x\n".encode("utf-16"), {}, "perhaps 'cp1252', 'latin-1' or 'utf-16'"),
    "UTF-16 without": ("id\n1\n".encode("utf-16-le"), {}, "UTF-16, pass encoding='utf-16-le'"),
    "UTF-16 expected": (b"id,a\n1,x\n", {"encoding": "utf-16"}, "byte 0x0a (byte 9 of the file)"),
    "latin-1 with tabs": (b"id\ta\n1\t\xe9\n", {"sep": "\t"}, "line 2: byte 0xe9"),
    "latin-1": ("id,a,b\n1,x,y\n2,\"x\n\",caf\xe9\n".encode("latin-1"), {}, "line 4: byte 0xe9 (byte 24"),
    "latin-1, and other line ends": (b"id,a\r1,\xe9\r", {}, "line 2: byte 0xe9"),
    "latin-1 first": (b"\xe9d,a\n1,x\n", {}, "line 1: byte 0xe9 (byte 1 of the file)"),
    "latin-1 at a row's start": (b"a,b\n\n\xe9,x\n", {}, "line 3: byte 0xe9"),
    "cp1252": (b"id,a\n1,\x81\n", {"encoding": "cp1252"}, "line 2: byte 0x81 (byte 8 of the file)"),
    "a codec that tells no place": (b"xn--99999999,a\n1,x\n", {"encoding": "idna"}, "not valid idna"),
    "unknown encoding": (b"id,a\n1,x\n", {"encoding": "utf-9"}, "encoding must be one that Python knows, not 'utf-9'"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_file_is_refused_and_told_where(fault, tmp_path):
    content, how, message = FAULTS[fault]
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read(tmp_path, content, **how)
    assert str(caught.value).startswith(f"{tmp_path / 'records.csv'}: ")
    assert not isinstance(caught.value, UnicodeError)
    assert len(str(caught.value)) < len(str(tmp_path)) + 250  # a long cell is not printed whole


@pytest.mark.parametrize("sep", ["", ",,", '"', "\n", r"\t", 3])
def test_a_separator_is_one_character(sep, tmp_path):
    with pytest.raises(ValueError, match="sep must"):
        read(tmp_path, PLACES, sep=sep)
