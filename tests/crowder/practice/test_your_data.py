"""Chapter 16 as a tool: the commands as the page writes them, on a file it was not written for, to the end."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from crowder.datasets import people
from crowder.practice import read_records

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOK = ROOT / "notebooks/16-your-data.ipynb"


def commands():
    """The command lines of the chapter that call papermill."""
    text = "\n".join(cell.source for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "markdown")
    lines = re.findall(r"```bash\n(\S*papermill .*?)\n```", text, flags=re.DOTALL)
    return [line.replace("\\\n", " ") for line in lines]


def run(line, where, **environment):
    """A command of the page, in a folder that stands for the clone; its failure's last words."""
    words = shlex.split(line)
    assert words[0] == ".venv/bin/papermill"
    done = subprocess.run(
        [sys.executable, "-m", "papermill", *words[1:], "--no-progress-bar"], cwd=where, capture_output=True, text=True,
        env=os.environ | environment,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.fixture
def clone(tmp_path):
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")
    return tmp_path


def said(path, kind="data"):
    """What the sentences and tables of an executed notebook say; of kind "text", what the command prints in it."""
    outputs = [o for c in nbformat.read(path, 4).cells if c.cell_type == "code" for o in c.outputs]
    assert not [o for o in outputs if o.get("name") == "stderr"]
    if kind == "text":
        return "\n".join(o["text"] for o in outputs if "text" in o)
    shown = [o["data"] for o in outputs if "data" in o]
    return "\n".join(data.get("text/markdown", data.get("text/plain", "")) for data in shown)


def test_the_example_is_what_the_generator_makes():
    made = people([4] * 8 + [3] * 12 + [2] * 20 + [1] * 42, rng=2017)
    assert made.to_csv(index=False, lineterminator="\n") == (ROOT / "book/data/people.csv").read_text()
    read = read_records(ROOT / "book/data/people.csv")
    assert read.equals(made[["id", "label", "name", "street", "city", "birth"]])


def test_from_a_file_to_its_clusters_by_the_commands_of_the_page(clone):
    first, again = commands()
    records = people([3, 2, 1], mistakes=1.5, rng=6).rename(columns={"street": "a | <b> $x$"})
    truth = dict(zip(records["id"], records["label"], strict=True))
    records.drop(columns="label").to_csv(clone / "my.csv", index=False)
    code, errors = run(first + " -p batch 5", clone, CROWDER_RESULTS=str(clone / "results"))
    assert code == 0, errors
    assert "95 % of the matches" in said(clone / "my-plan.ipynb")[:200]  # the plan comes first
    assert {"tab-plan.csv", "tab-plan-questions.csv", "fig-plan-recall.csv"} <= set(os.listdir(clone / "results"))
    rounds, asked = 0, []
    while "No question is left" not in said(clone / "my-plan.ipynb", "text"):
        rounds += 1
        path = clone / f"my.crowder/questions-{rounds}.csv"
        sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
        assert (sheet["same"] == "").all() and 1 <= len(sheet) <= 5 and {"name_a", "city_b", "differs"} <= set(sheet)
        assert "similarity" not in sheet  # it would suggest an answer
        pairs = list(zip(sheet["id_a"], sheet["id_b"], strict=True))
        sheet["same"] = ["yes" if truth[a] == truth[b] else "no" for a, b in pairs]
        sheet.to_csv(path, index=False)
        asked += map(frozenset, pairs)
        code, errors = run(again + " -p batch 5", clone)
        assert code == 0, errors
        assert rounds < 12
    found = pd.read_csv(clone / "my.crowder/clusters.csv", dtype=str)
    assert len(set(map(tuple, np.c_[found["cluster"], found["id"].map(truth)]))) == found["cluster"].nunique() == 3
    assert len(set(asked)) == len(asked) <= 15  # no question twice
    assert first in again


def test_an_answer_is_taken_back_in_its_cell_and_a_contradiction_is_shown_to_nobody_s_harm(clone):
    records = people([2, 2], rng=5)
    records.drop(columns="label").to_csv(clone / "my.csv", index=False)
    names = records["id"].tolist()
    path = clone / "my.crowder/questions-1.csv"
    path.parent.mkdir()
    rows = [(0, 1), (1, 2), (0, 2)]

    def clusters(*said):
        cells = [f"{names[i]},{names[j]},{word}" for (i, j), word in zip(rows, said, strict=True)]
        path.write_text("\n".join(["id_a,id_b,same", *cells]) + "\n")
        code, errors = run(commands()[1], clone)
        assert code == 0, errors
        return pd.read_csv(clone / "my.crowder/clusters.csv")["cluster"].tolist()

    assert clusters("yes", "yes", "no")[3] == 1  # contradicting: refused by no one; the fourth record is alone
    assert clusters("yes", "", "") == [0, 0, 1, 2]
    assert clusters("", "", "") == [0, 1, 2, 3]


def test_a_mistyped_parameter_and_a_pattern_without_files_stop_the_command(clone):
    people([2, 1], rng=3).drop(columns="label").to_csv(clone / "my.csv", index=False)
    code, errors = run(commands()[0].replace("-p records", "-p record"), clone)
    assert code != 0 and "parameters must be among records, id_column" in errors and "not record" in errors
    (clone / "my.crowder").mkdir()
    (clone / "my.crowder/clusters.csv").write_text("kept")
    code, errors = run(commands()[1], clone)
    assert code != 0 and "my.crowder/questions-*.csv" in errors
    assert (clone / "my.crowder/clusters.csv").read_text() == "kept"


def test_labels_are_compared_and_odd_text_is_shown_as_it_is(clone):
    records = people([2, 2, 1, 1], rng=3).rename(columns={"label": "person", "id": "key"})
    odd = ["<script>alert(1)</script> | `x` $y$", "\"><img src=x onerror=alert(2)>", "{claim}`C15` ]]> <!--",
           "=cmd|' /C calc'!A0"]  # fmt: skip
    records.loc[[0, 1, 2, 3], "name"] = odd
    records.to_csv(clone / "odd `<b>names`.csv", index=False, sep=";")
    line = (
        ".venv/bin/papermill notebooks/16-your-data.ipynb out.ipynb -p records 'odd `<b>names`.csv' -p id_column key "
        "-p label_column person -p separator ';' -p votes 3 -p price 0.1 -p ordering node -p similarity levenshtein"
    )
    code, errors = run(line, clone)
    assert code == 0, errors
    text = said(clone / "out.ipynb")
    assert "&#60;script&#62;" in text and "&#60;img" in text and "&#123;claim&#125;" in text
    # All that reaches the page is by number; the only elements are those that the chapter itself writes.
    assert set(re.findall(r"</?\w+", text)) <= {"<code", "</code"}
    assert not re.search(r"onerror=alert|\{claim\}`C15`|\]\]>|\$y", text)
    assert "actual" in text and "3 answers a question at 0.1" in json.dumps(nbformat.read(clone / "out.ipynb", 4))
    sheet = (clone / "odd `<b>names`.crowder/questions-1.csv").read_text()
    assert "'=cmd|" in sheet and not re.search(r'(^|[;"])=cmd', sheet, flags=re.MULTILINE)


@pytest.mark.parametrize(("content", "answers", "message"), [
    ("id,name,city\na,Ann,X\nb,Bo\n", None, "my.csv: row 3 has 2 cells, but the header has 3: column 'city'"),
    ("id,name,city\na,Ann,X\nb,Bo,Y\n", "id_a,id_b,same\na,b,perhaps\n",
     "questions-1.csv: row 2, column 'same': the answer must"),
])  # fmt: skip
def test_a_bad_file_stops_the_command_and_names_row_and_column(clone, content, answers, message):
    (clone / "my.csv").write_text(content)
    (clone / "my.crowder").mkdir()
    if answers:
        (clone / "my.crowder/questions-1.csv").write_text(answers)
    code, errors = run(commands()[1], clone)
    assert code != 0 and message in errors
