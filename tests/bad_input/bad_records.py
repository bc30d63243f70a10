"""Bad input to the readers of records and answers, and to sheets."""

from math import nan

import pandas as pd
from bad_material import PEOPLE, Row, file, folder, new

import crowder as cr
from crowder.practice import read_records, sheets, votes


def read_sheet(path, ids):
    return sheets.read_sheets([path], pd.DataFrame({"id": ids}), [], "key")


TABLE = {
    "Records from a CSV file": [
        Row(lambda: read_records(new()), FileNotFoundError, "[Errno 2] No such file or directory: 'answers.db'"),
        Row(lambda: read_records(folder()), IsADirectoryError, "[Errno 21] Is a directory: ''"),
        Row(lambda: read_records(None), TypeError, "path must"),
        Row(lambda: read_records(file("a.csv", bytes(range(256)))), ValueError, "line 2: byte 0x80"),
        Row(lambda: read_records(file("a.csv", b"PK\x03\x04\x14\x00\x00\x00")), ValueError, "save it as CSV"),
        Row(lambda: read_records(file("a.csv","a\nx\n"), sep=";;"), ValueError, "sep must"),
        Row(lambda: read_records(file("a.csv","a\nx\n"), fields=5), TypeError, "fields must"),
        Row(lambda: read_records(file("a.csv","id,a\n7,x\n7,y\n")), ValueError, "row 3, column 'id'"),
        Row(lambda: read_records(file("a.csv","id,a\n7,x\n"), fields=["b"]), ValueError, "column 'b' must"),
        Row(lambda: read_records(file("a.csv","id,label,a\n7,,y\n")), ValueError, "row 2, column 'label'"),
    ],
    "Sheets of answers": [
        Row(lambda: read_sheet(file("s.csv","id_a,id_b,same\nx,q,yes\n"), ["x","y"]),
            ValueError, "row 2, column 'id_b'"),
        Row(lambda: read_sheet(file("s.csv","id_a,id_b,same\nx,y,\np,q,yes\nq,r,no\n"), ["x","y"]),
            ValueError, "not 'p'; is the sheet that of another file or project?"),
        Row(lambda: read_sheet(file("s.csv","id_a,id_b,same\nx,x,yes\n"), ["x","y"]),
            ValueError, "row 2, column 'id_b'"),
        Row(lambda: read_sheet(file("s.csv","id_a,id_b,same\nx,y,maybe\n"), ["x","y"]),
            ValueError, "row 2, column 'same'"),
        Row(lambda: read_sheet(file("s.csv","id_a,id_b\nx,y\n"), ["x","y","z"]),
            ValueError, "column 'same' must"),
        Row(lambda: votes.settle(3, [(0, 5, True, "ann")]), ValueError, "votes must"),
        Row(lambda: votes.settle(3, [(0, 1, nan, "ann")]), TypeError, "votes must"),
        Row(lambda: votes.settle(-1, []), ValueError, "n, the number of records, must"),
    ],
    "Candidate pairs of many records": [
        Row(lambda: cr.practice.nearest_pairs("Ann"), TypeError, "records must"),
        Row(lambda: cr.practice.nearest_pairs(PEOPLE, fields=["email"]), ValueError, "fields must"),
        Row(lambda: cr.practice.nearest_pairs(PEOPLE, neighbours=0), ValueError, "neighbours must"),
        Row(lambda: cr.practice.LearnedOrdering(PEOPLE, target=1, accept=True, rng=7), ValueError, "target must"),
        Row(lambda: cr.practice.LearnedOrdering(PEOPLE), TypeError, "rng"),
    ],
}  # fmt: skip
