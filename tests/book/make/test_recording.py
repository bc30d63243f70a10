"""What is recorded of chapters: read, computed anew, compared, and written by one command."""

import json
import re
import shutil
import subprocess

import pandas as pd
import pytest
from tiny_book import ROOT, TinyBook, tree

from book.companion import recording
from book.companion.results import as_json
from book.make import recorded
from book.make.chapters import read_chapters, read_profile

CHAPTER = """
import pandas as pd
from book.companion.recording import recorded
def powers(n, exponents):
    return pd.DataFrame([{"n": i, "power": i**e / 3} for e in exponents for i in range(n)])
found = recorded("powers", powers, anew=bool(records), n=n, exponents=[1, 2])
print(found.basis, len(found.table), found.said)
"""
PROFILES = "{quick: {02-two: {n: 3}}, complete: {02-two: {records: $CROWDER_CORA}}}"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book in git, of which one chapter has a result that is recorded."""
    made = TinyBook(tmp_path_factory.mktemp("recorded") / "book")
    shutil.copy(ROOT / "book" / "companion" / "recording.py", made.root / "book" / "companion")
    shutil.rmtree(made.root / recorded.FOLDER, ignore_errors=True)
    made.write("01-one", "# One", "#p\nsize = 3", "size")
    made.write("02-two", "# Two", "#p\nn = 4\nrecords = ''", CHAPTER)
    made.profiles(PROFILES)
    (made.root / ".gitignore").write_text("_build\n__pycache__\n")
    git(made, "init", "-q")
    git(made, "add", ".")
    git(made, "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-qm", "All")
    return made


def git(book, *words):
    return subprocess.run(["git", *words], cwd=book.root, check=True, capture_output=True, text=True).stdout.strip()


def said(book, *options, **env):
    """What a run of the chapter prints, and what it says of the result."""
    done = book.build("--only", "02", *options, **env)
    assert done.returncode == 0, done.stderr
    run = book.out / "runs" / re.search(r"/runs/([^;]+);", done.stdout)[1]
    (output,) = json.loads((run / "executed" / "02-two.ipynb").read_text())["cells"][-1]["outputs"]
    facts = json.loads((run / "results" / "02-two" / "recorded" / "powers.json").read_text())
    return "".join(output["text"]).strip(), facts["read"]


def test_one_command_records_and_only_a_complete_build_computes_what_is_recorded(book, tmp_path):
    data = tmp_path / "records.csv"
    data.touch()
    at, outside = book.root / recorded.FOLDER, {"CROWDER_CORA": str(data)}

    # A variable that is not set, or leads nowhere.
    for named in ({}, {"CROWDER_CORA": "/nowhere"}):
        why = "error: 02-two: CROWDER_CORA must be the path of data that are not shipped"
        assert book.refused("--record", **named).startswith(why)
    assert not at.exists()
    # A chapter that needs none of it.
    assert book.build("--record", "--only", "01").returncode == 0 and not at.exists()

    done = book.build("--record", **outside)
    assert done.returncode == 0 and done.stdout == f"recorded: {recorded.FOLDER / 'powers.csv'}\n", done.stderr
    assert len(pd.read_csv(at / "powers.csv")) == 8
    facts = json.loads((at / "powers.json").read_text())
    assert facts["parameters"] == {"n": 4, "exponents": [1, 2]} and facts["chapter"] == "02-two"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", facts["date"]) and facts["commit"] == git(book, "rev-parse", "HEAD")
    # Once more: it stays as it is. Without the files, which git misses, the same command makes the same ones.
    git(book, "add", ".")
    git(book, "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-qm", "Recorded")
    first = tree(at)
    assert book.build("--record", **outside).stdout == "" and tree(at) == first
    shutil.rmtree(at)
    assert book.build("--record", **outside).returncode == 0
    assert (at / "powers.csv").read_bytes() == first["powers.csv"]
    assert json.loads((at / "powers.json").read_text())["commit"] == git(book, "rev-parse", "HEAD")

    # A build reads it. With other parameters, or told to, it computes.
    assert said(book) == (f"recorded 8 Recorded on {facts['date']}.", True)
    assert said(book, "-p", "n=5") == ("simulated 10", False)
    assert said(book, "--profile", "quick") == ("simulated 6", False)
    assert said(book, "--profile", "complete", **outside) == ("simulated 8", False)

    # Only a complete build knows that a number is not what the chapter computes, or that no chapter computes a result.
    changed = first["powers.csv"].decode().replace("2,1.3333", "2,1.4444")
    (at / "powers.csv").write_text(changed)
    assert said(book) == (f"recorded 8 Recorded on {facts['date']}.", True)
    (at / "roots.csv").write_text("root\n1\n")
    number, stray = book.refused("--profile", "complete", **outside).partition("error: ")[2].splitlines()
    assert number.startswith("02-two: powers, recorded in book/data/recorded, has power 1.4444")
    assert "in row 7, which is 1.3333" in number
    assert stray == "roots, recorded in book/data/recorded, was computed by no chapter"
    # The number is recorded anew by the same command.
    assert book.build("--record", **outside).returncode == 0 and (at / "powers.csv").read_bytes() == first["powers.csv"]


TABLE = pd.DataFrame({"name": ["a", None], "x": [1.0, float("nan")], "n": [3, 4]})
MADE = {"parameters": {"n": 2}, "within": 0.01}


def written(folder, table, facts):
    folder.mkdir(exist_ok=True)
    table.to_csv(folder / "t.csv", index=False)
    (folder / "t.json").write_bytes(as_json(facts))
    return folder / "t.csv"


@pytest.mark.parametrize(
    ("table", "facts", "how"),
    [
        (TABLE, MADE, ""),
        (TABLE.assign(x=[1.009, None]), MADE, ""),  # as near as two machines may be
        (TABLE.assign(x=[1.02, None]), MADE, "has x 1.02 in row 1, which is 1.0"),
        (TABLE.assign(x=[1.0, 2.0]), MADE, "has x 2.0 in row 2, which is nan"),
        (TABLE.assign(name=["a", "b"]), MADE, "has name b in row 2, which is nan"),
        (TABLE.assign(n=["3", "four"]), MADE, "has n four in row 2, which is 4"),
        (TABLE[:1], MADE, "has 1 rows of ['name', 'x', 'n'], not 2 of ['name', 'x', 'n']"),
        (TABLE[["x", "name", "n"]], MADE, "has 2 rows of ['x', 'name', 'n'], not 2 of ['name', 'x', 'n']"),
        (TABLE, MADE | {"parameters": {"n": 3}}, "was made there with {'n': 3}, not {'n': 2}"),
        (TABLE, None, "is missing there"),
    ],
)
def test_how_a_result_differs_from_what_is_recorded(tmp_path, table, facts, how):
    found, folder = written(tmp_path / "new", TABLE, MADE), tmp_path / "old"
    if facts:
        written(folder, table, facts)
    assert recorded.difference(folder, found) == how


def test_a_result_is_the_same_whether_it_was_read_or_computed(tmp_path, monkeypatch):
    """To the type of each column, and the last bit."""
    table = pd.DataFrame({"x": [0.1 + 0.2, 1e-300], "n": [1, 2], "name": ["a", "b"], "none": [None, 1.0]})
    table["kind"] = pd.Categorical(["c", "d"])  # which a file does not know
    monkeypatch.setattr(recording, "FOLDER", tmp_path / "kept")
    monkeypatch.setenv("CROWDER_RESULTS", str(tmp_path / "made"))
    ask = {"n": (1, 2), "anew": False}  # a tuple is recorded as a list
    computed = recording.recorded("t", lambda n: table, **ask)
    shutil.copytree(tmp_path / "made" / "recorded", tmp_path / "kept")
    made = json.loads((tmp_path / "kept" / "t.json").read_text())
    (tmp_path / "kept" / "t.json").write_bytes(as_json(made | {"date": "2026-01-31"}))
    read = recording.recorded("t", lambda n: 1 / 0, **ask)
    pd.testing.assert_frame_equal(read.table, computed.table, check_exact=True)
    pd.testing.assert_frame_equal(read.table.drop(columns="kind"), table.drop(columns="kind"), check_exact=True)
    assert computed[1:] == ("simulated", "") and read[1:] == ("recorded", "Recorded on 2026-01-31.")
    with pytest.raises(ZeroDivisionError):
        recording.recorded("t", lambda n: 1 / 0, **ask | {"n": [1, 3]})


def test_each_recorded_file_belongs_to_a_chapter_that_asks_for_it_and_says_how_it_was_made():
    folder = ROOT / recorded.FOLDER
    texts = {c.slug: "".join(cell["source"] for cell in c.notebook()["cells"]) for c in read_chapters(ROOT)}
    complete = read_profile(ROOT, "complete", read_chapters(ROOT))
    assert {path.suffix for path in folder.iterdir()} == {".csv", ".json"}
    for path in folder.iterdir():
        facts = recording.facts(folder, path.stem)
        assert facts.keys() == {"parameters", "within", "chapter", "date", "commit"}, path
        assert path.with_suffix(".csv").stat().st_size > 0 and 0 < facts["within"] < 0.5
        assert f'"{path.stem}"' in texts[facts["chapter"]] and facts["chapter"] in complete
        assert re.fullmatch(r"[0-9a-f]{40}", facts["commit"]), f"{path}: {facts['commit']}"
        assert re.fullmatch(r"2\d{3}-\d\d-\d\d", facts["date"])
