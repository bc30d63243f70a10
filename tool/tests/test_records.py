"""A user's CSV file: read to the character, or refused with the row and the column at fault."""

import csv
import re

import pytest
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
    records = table(read(tmp_path, "id,a,b,c\n007,1.50,NA,null\n8,None,,1e5\n"))
    assert records == [["id", "a", "b", "c"], ["007", "1.50", "NA", "null"], ["8", "None", "", "1e5"]]


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


@pytest.mark.parametrize("content", [
    "\ufeffid,a\n1,café\n",  # a byte order mark
    "id,a\r\n1,café\r\n",
    "id,a\r1,café",  # no line end at the end
    "\n id , a \n\n1,café\n\n\n",  # blank lines, stray spaces around names
    '"id","a"\n"1","café"\n',
])  # fmt: skip
def test_forms_of_one_file(content, tmp_path):
    assert table(read(tmp_path, content)) == [["id", "a"], ["1", "café"]]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "UTF_8", "utf-16", "cp1252"])
def test_other_encodings_and_separators(encoding, tmp_path):
    content = "id;a\n1;café, au lait\n".encode(encoding)
    assert table(read(tmp_path, content, encoding=encoding, sep=";")) == [["id", "a"], ["1", "café, au lait"]]


@pytest.mark.parametrize("sep", list(",;\t|"))
def test_the_separator_of_the_first_line_is_found(sep, tmp_path):
    content = f'\nid{sep}a{sep}b\n1{sep}"a,b;c\td|e"{sep}\n'
    assert table(read(tmp_path, content, sep=None)) == [["id", "a", "b"], ["1", "a,b;c\td|e", ""]]


def test_a_blank_record_is_read_and_similar_to_none(tmp_path):
    records = read(tmp_path, "id,a,b\n1,x,\n2,, \n3,,\n4,x,\n")
    for name in cr.similarity.SIMILARITIES:
        square = squareform(cr.similarity.compute(records, name))
        assert not square[[1, 2]].any() and square[0, 3] > 0, name
    assert table(read(tmp_path, "a,b\n,\n\nx,y\n"))[1:] == [["2", "", ""], ["4", "x", "y"]]  # but a blank line is none


def test_what_stays_in_a_field(tmp_path):
    """Blanks, quotes, separators and line ends of a field are kept; blanks around an identifier are not."""
    long = "x" * 200_000  # beyond the csv module's limit, which is as it was afterwards
    csv.field_size_limit(limit := 1000)
    records = read(tmp_path, f'id,a,b\n 1 ,"  say ""hi"", you\r\nthere ",{long}\n2, ,\n')
    assert table(records)[1:] == [["1", '  say "hi", you\r\nthere ', long], ["2", " ", ""]]
    assert csv.field_size_limit() == limit


# --- what is refused ------------------------------------------------------------------------------------------------

FAULTS = {
    "empty": (b"", {}, "the file must have a header"),
    "header only": (b"id,a\n", {}, "the file must have records"),
    "no such column": (b"id,a\n1,x\n", {"fields": ["a", "b"]}, "column 'b' must be in the header, which has 'id', 'a'"),
    "column twice": (b"id,a,b, a\n1,x,y,z\n", {}, "distinct names, but [2, 4] are called 'a'"),
    "nameless column": (b"id,a, \n1,x,y\n", {}, "columns must have distinct names, but [3] are called ''"),
    "no field": (b"id,label\n1,x\n", {}, "fields must be different columns of"),
    "a field called id": (b"key,id,a\n1,x,y\n", {"id": "key"}, "nor called id or label"),
    "identifier twice": (b"id,a\n7,x\n\n7 ,y\n", {}, "row 4, column 'id': identifiers must be unique, but '7'"),
    "empty identifier": (b"id,a\n1,x\n ,y\n", {}, "row 3, column 'id': it must not be empty"),
    "empty label": (b"id,a,label\n1,x,\n", {}, "row 2, column 'label': it must not be empty"),
    "too many cells": (b"id,a\n1,x\n2,Park, Orlando\n", {}, "row 3 has 3 cells, but the header has 2, and the last"),
    "rows of lines": (b'id,a\n1,"two\nlines"\n2\n', {}, "row 3 has 1 cells,"),  # the fourth line, the third row
    "other separator": (b"id;a\n1;x\n", {}, "the header has only one cell, 'id;a'; perhaps pass sep=';'"),
    "open quote": (b'id,a,b\n1,x,y\n2,"x,y\n3,x,y\n', {}, "row 3: a quoted cell must end with its quote"),
    "xlsx": (b"PK\x03\x04\x14\0\x06\0", {}, "the file must be text, not a spreadsheet (.xlsx or .xls); save it as CSV"),
    "NUL": (b"id,a\n1,x\n2,x\0y\n", {}, "line 3: a cell must not contain NUL"),
    "half a character": (b"id,a\n1,\\ud83d\n", {"encoding": "unicode-escape"}, "line 2: a cell must not contain half a "
                         "character, '\\ud83d'"),
    "UTF-16 by its mark": ("id,a\n1,x\n".encode("utf-16"), {}, "perhaps 'cp1252', 'latin-1' or 'utf-16'"),
    "UTF-16 without": ("id\n1\n".encode("utf-16-le"), {}, "UTF-16, pass encoding='utf-16-le'"),
    "latin-1": ("id,a,b\r1,x,y\n2,\"x\n\",caf\xe9\n".encode("latin-1"), {}, "line 4: byte 0xe9 (byte 24"),
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
