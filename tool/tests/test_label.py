"""Labelling: a page in a browser, by keyboard alone and from a file, and questions in a terminal."""

import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress

import pandas as pd
import pytest

from crowder_tool import people
from crowder_tool.__main__ import main
from crowder_tool.journal import Vote
from crowder_tool.label import ask, shown
from crowder_tool.project import Project, make_project
from crowder_tool.sheets import question_sheet, to_csv

from .support import cells, is_formula

HOSTILE = ["</script><script>hacked=1</script>", '"><img src=x onerror=hacked=2>', "=cmd|' /C calc'!A0",
           "<!-- \u202eevil\u202c \x1b[31mred\x07\u180e\U000e0041", "{{data}}", "Ann, \"Lee\"; 'x'", "a\r=1", "\v＝1",
           "\u2028b", "-1+2", "+49 (30) 1"]  # fmt: skip


def project(folder, records):
    records.to_csv(folder / "my.csv", index=False, quoting=csv.QUOTE_ALL)  # also of a bare carriage return
    return make_project([folder / "my.csv"])


def page_of(made, size=50):
    """The page that the command writes."""
    before = {*made.folder.glob("*.html")}
    assert main(["label", str(made.folder), "--html", "--size", str(size)]) == 0
    (path,) = {*made.folder.glob("*.html")} - before
    return path


@pytest.fixture
def opened(browser):
    """Open a page as a worker would; with everything that it complains of or asks for."""
    contexts = []

    def open_page(path, *, width=1100, scheme="light", script=""):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        page, trouble = context.new_page(), []
        page.add_init_script(script)
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else trouble.append(r.url))
        page.goto(path.as_uri())
        return page, trouble

    yield open_page
    for context in contexts:
        context.close()


def downloaded(page, tmp_path):
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    return path


def both(page):
    """The identifiers of the two records that the page shows."""
    return page.inner_text("#first"), page.inner_text("#second")


# --- the page -----------------------------------------------------------------------------------------------------


def test_a_page_is_answered_by_keyboard_alone_and_its_sheet_is_taken(opened, tmp_path, capsys):
    records = people([3, 3, 2, 1, 1], mistakes=1.5, rng=6)
    truth = dict(zip(records["id"], records["label"], strict=True))
    made = project(tmp_path, records)
    page, trouble = opened(page_of(made, 8))
    asked = []
    while page.locator("#question").is_visible():
        a, b = both(page)
        assert (a, b) not in asked
        asked.append((a, b))
        page.keyboard.press("y" if truth[a] == truth[b] else "n")
    assert page.evaluate("document.activeElement.id") == "done"  # from there, the next Tab stops are name and download
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("ann n")  # the n is no answer here
    page.keyboard.press("Tab")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    sheet = tmp_path / "from-ann.csv"
    download.value.save_as(sheet)
    assert outline == "solid" and trouble == []
    capsys.readouterr()
    assert main(["answers", str(sheet), "--project", str(made.folder)]) == 0
    assert capsys.readouterr().out.startswith(f"{len(asked)} new, 0 changed, 0 taken back, 0 unsure")
    votes = Project(made.folder).votes
    named = {frozenset((made.ids[i], made.ids[j])): (same, worker) for i, j, same, worker, *_ in votes}
    assert named == {frozenset(pair): (truth[pair[0]] == truth[pair[1]], "ann n") for pair in asked}


def test_answers_survive_a_reload_and_are_moved_between_and_taken_back(opened, tmp_path):
    made = project(tmp_path, people([1] * 6, rng=7))
    page, _ = opened(page_of(made, 5))
    first = both(page)
    page.keyboard.press("n")
    second = both(page)
    page.keyboard.press("u")
    assert len({first, second, both(page)}) == 3
    page.reload()
    assert page.inner_text("#count").startswith("2 of 5 answered")
    page.keyboard.press("ArrowLeft")
    assert both(page) == second
    assert page.get_by_role("button", name="Not sure").get_attribute("aria-pressed") == "true"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("u")  # the first question has another answer now, and is the last one that was answered
    page.keyboard.press("z")
    assert both(page) == first and page.inner_text("#count").startswith("1 of 5 answered")
    assert page.get_by_role("button", name="Different").get_attribute("aria-pressed") == "false"
    page.get_by_role("button", name="Undo").click()
    assert both(page) == second and page.get_by_role("button", name="Undo").is_disabled()


def test_what_answers_imply_is_not_asked(opened, tmp_path):
    # Three records in one group by two answers; the third pair follows, whether it is on the page or not.
    made = project(tmp_path, pd.DataFrame({"id": ["a", "b", "c"], "name": ["Ann Lee", "Ann Leee", "Ann Le"]}))
    page, _ = opened(page_of(made, 3))
    page.keyboard.press("y")
    page.keyboard.press("y")
    assert page.inner_text("#done").startswith("Done")
    page.keyboard.press("z")
    page.keyboard.press("n")
    assert page.inner_text("#done").startswith("Done")


def test_words_that_only_one_record_has_are_marked_and_told(opened, tmp_path):
    records = pd.DataFrame({"id": ["a", "b"], "name": ["ANN B. Lee", "Ann C. Lee,"], "town": ["Rome", "rome"],
                            "zip": ["", "007"], "none": ["", ""]})  # fmt: skip
    page, _ = opened(page_of(project(tmp_path, records)))
    marked = {page.locator("mark").nth(k).inner_text() for k in range(page.locator("mark").count())}
    assert marked == {"B.", "C."}  # not the word that stands beside nothing, and not capitals or commas
    assert page.locator("tbody tr").count() == 3  # the blank field of both is left out
    assert page.inner_text("#said").strip() == "Question 1. Different: name, zip."
    assert page.locator("#said").get_attribute("aria-live") == "polite"


def test_no_text_of_a_record_becomes_part_of_the_page(opened, tmp_path):
    ids = [f"r{k}" for k in range(len(HOSTILE))]
    made = project(tmp_path, pd.DataFrame({"id": ids, "name": HOSTILE, "=<b>": HOSTILE[::-1]}))
    page, trouble = opened(page_of(made))
    seen, asked = set(), 0
    while page.locator("#question").is_visible() and trouble == []:
        seen.update(page.locator("td").all_inner_texts())
        page.keyboard.press("n")
        asked += 1
        assert page.inner_text("#count").startswith(f"{asked} of")
    assert trouble == [] and page.evaluate("window.hacked") is None and page.locator("img").count() == 0
    assert "<!-- ‹U+202E›evil‹U+202C› ‹U+001B›[31mred‹U+0007›‹U+180E›‹U+E0041›" in seen
    assert set(HOSTILE[:3]) < seen
    sheet = downloaded(page, tmp_path)
    text = sheet.read_bytes().decode()  # as they are: reading as text would change line ends
    rows = cells(text)
    assert len(rows) == 1 + asked and not [cell for row in rows for cell in row if is_formula(cell)]
    pairs, (code,) = [(ids.index(a), ids.index(b)) for a, b, *_ in rows[1:]], {row[-1][1:9] for row in rows[1:]}
    ours = question_sheet(made.records, made.fields, pairs, code).assign(same="no", worker=rows[1][-2])
    assert text == to_csv(ours, guarded=True)  # JavaScript quotes and guards what Python does
    assert main(["answers", str(sheet), "--project", str(made.folder)]) == 0
    assert len(Project(made.folder).votes) == asked


@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (390, "light"), (390, "dark")])
def test_the_page_has_no_barriers_and_fits_a_phone(opened, tmp_path, width, scheme):
    Axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe
    from playwright.sync_api import expect

    records = people([2, 2, 1], rng=3)
    records.loc[0, "street"] = "x" * 200
    page, trouble = opened(page_of(project(tmp_path, records)), width=width, scheme=scheme)
    assert Axe().run(page).response["violations"] == []
    page.keyboard.press("y")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for button in page.get_by_role("button").all():
        assert button.bounding_box()["height"] >= 40  # large enough for a finger
    page.locator("summary").click()
    expect(page.locator("#sheet")).to_have_value(re.compile("^id_a,id_b,name_a,name_b,"))
    assert Axe().run(page).response["violations"] == [] and trouble == []
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(20, 23, 26)" if scheme == "dark" else "rgb(255, 255, 255)"
    )


def test_a_browser_that_keeps_nothing_is_told(opened, tmp_path):
    broken = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no'); }})"
    page, trouble = opened(page_of(project(tmp_path, people([2, 1], rng=3))), script=broken)
    assert page.get_by_text("This browser does not keep").is_visible()
    page.keyboard.press("n")
    assert page.inner_text("#count").startswith("1 of") and trouble == []


def test_no_text_of_a_record_ends_the_data_of_a_page(tmp_path):
    """Before any browser sees it: what stands between the marks of the data are all its questions, and no markup."""
    made = project(tmp_path, pd.DataFrame({"id": range(len(HOSTILE)), "name": HOSTILE}))
    text = page_of(made).read_text("utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script', text, re.DOTALL)
    assert "<" not in data
    asked = {text for question in json.loads(data)["questions"] for side in "ab" for text in question[side]}
    assert HOSTILE[0] in asked and asked <= {*HOSTILE}


def test_two_browsers_with_one_page_are_two_workers(opened, tmp_path, capsys):
    """They say the opposite, without a name: all answers are kept, and handed in again they are the same ones."""
    made = project(tmp_path, people([1] * 6, rng=7))
    path = page_of(made, 3)
    pages = [opened(path)[0] for _ in range(2)]
    for page, key in zip(pages, "ny", strict=True):
        for _ in range(3):
            page.keyboard.press(key)
    sheets = [str(downloaded(page, tmp_path)) for page in pages]
    assert sheets[0] != sheets[1] and main(["answers", *sheets, "--project", str(made.folder)]) == 0
    pages[0].reload()  # the same browser, and so the same worker
    sheets[0] = str(downloaded(pages[0], tmp_path))
    assert main(["answers", *sheets, "--project", str(made.folder)]) == 0
    assert "0 new, 0 changed, 0 taken back" in capsys.readouterr().out
    again = Project(made.folder)
    assert len({vote.worker for vote in again.votes}) == 2 and len(again.votes) >= 5 and again.settled.split


def test_a_page_of_a_private_file_is_private(tmp_path):
    made = project(tmp_path, people([2, 2, 1], rng=3))
    (tmp_path / "my.csv").chmod(0o600)
    assert main(["next", str(made.folder), "--size", "1"]) == 0
    for path in (page_of(made, 1), made.write_clusters(), made.folder / "questions-1.csv"):
        assert not path.stat().st_mode & 0o077


# --- the terminal -------------------------------------------------------------------------------------------------


def typed(made, text, worker="ann"):
    out = io.StringIO()
    return ask(made, worker, io.StringIO(text), out), out.getvalue()


def test_answers_and_taking_back_in_the_terminal_reach_the_disk(tmp_path):
    made = project(tmp_path, people([1] * 6, rng=7))
    first, second, third = made.questions(3)
    given, said = typed(made, "n\nunsure\nwhat\nY\nq\nn\n")
    assert given == 3 and "y same, n different" in said
    said = [vote[:4] for vote in Project(made.folder).votes]
    assert said == [(*first, False, "ann"), (*second, None, "ann"), (*third, True, "ann")]
    # Another start, another worker: everybody takes back what they have said themselves, the last first.
    again = Project(made.folder)
    typed(again, "n\n", worker="bob")
    given, said = typed(again, "z\nundo\nq\n")
    assert given == -2 and shown(again, second) in said  # what is taken back is asked next
    assert [vote[:4] for vote in again.votes if vote.worker == "ann"] == [(*first, False, "ann")]
    assert len(Project(made.folder).votes) == 2
    assert "no answer to take back" in typed(again, "z\nz\nq\n")[1]


def test_a_worker_is_not_asked_again_what_they_are_unsure_about_and_others_are(tmp_path):
    made = project(tmp_path, pd.DataFrame({"id": ["a", "b"], "name": ["Ann Lee", "Ann Leee"]}))
    assert typed(made, "u\nu\nu\n")[0] == 1
    assert typed(made, "y\ny\n", worker="bob")[0] == 1
    assert made.settled.clusters.tolist() == [0, 0]


def test_records_stand_below_one_another_and_cannot_steer_the_terminal(tmp_path):
    rows = [["r1", "Ann \x1b[31mLee", "equal", "", ""], ["r2", "Ann \u202eLee", "equal", "", "x"]]
    records = pd.DataFrame(rows, columns=["id", "the full name", "once", "none", "town"])
    assert shown(project(tmp_path, records), (0, 1)).splitlines() == [
        "  id             r1", "                 r2", "  the full name  Ann <U+001B>[31mLee",
        "                 Ann <U+202E>Lee", "  once           equal", "  town           -", "                 x",
    ]  # fmt: skip


def test_two_who_label_at_once_are_asked_different_questions(tmp_path, capsys):
    """One is in the midst of a session; sheets drawn one after the other, too. Whoever ends gives the rest back."""
    made = project(tmp_path, people([1] * 8, rng=7))
    others = Project(made.folder)
    (first,) = made.questions(1)
    others.record([Vote(*first, False, "bob")])  # and `made` has not read it
    assert first not in made.draw(4, "somebody", 60)
    made.journal.release("somebody")

    class InTheMidst(io.StringIO):
        def __iter__(self):
            yield "n\n"
            typed(others, "n\n" * 12 + "q\n", worker="bob")
            yield from ["n\n"] * 3

    ask(made, "ann", InTheMidst(), io.StringIO())
    votes = Project(made.folder).votes
    assert len(votes) == 1 + 4 + 12 == len({vote[:2] for vote in votes})
    for _ in range(2):
        assert main(["next", str(made.folder), "--size", "4"]) == 0
    drawn = [pd.read_csv(made.folder / f"questions-{k}.csv")[["id_a", "id_b"]] for k in (1, 2)]
    assert len(pd.concat(drawn).drop_duplicates()) == 8
    assert main(["next", str(made.folder), "--size", "40"]) == 0
    capsys.readouterr()
    assert main(["next", str(made.folder)]) == 0
    said = capsys.readouterr().out
    assert re.search(r"is with others until 2\d{3}-\d\d-\d\d \d\d:\d\d", said)
    for command in (["answers", f"{made.folder}/questions-1.csv", "--project"], ["next"]):  # all of it is blank
        assert main([*command, str(made.folder)]) == 0
    assert "questions-4.csv: 4 questions" in capsys.readouterr().out
    (command,) = re.findall(r"crowder (next \S+)", said)
    assert main([*command.split(), str(made.folder), "--size", "4"]) == 0 and "4 questions" in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="has no pseudo-terminals")
def test_a_terminal_takes_single_keys(tmp_path):
    import pty

    made = project(tmp_path, people([2, 2, 2, 1], rng=3))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "crowder_tool", "label", str(made.folder)]
    child = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    # The first is an arrow, which is no answer; then only the first of several keys is one, since nobody has seen the
    # next question. An arrow may come in two parts, the second of which alone would take the answer back.
    said, keys = b"", [(b"\x1b[A",), (b"nnn\x1b[B",), (b"\x1b[", b"B"), (b"z",), (b"q",)]
    with suppress(OSError):  # at the end, the other side is closed
        while more := os.read(ours, 4096):
            said += more
            if said.endswith(b"quit: ") and keys:
                for part in keys.pop(0):
                    os.write(ours, part)
                    time.sleep(0.01)
    os.close(ours)
    assert child.wait(60) == 0 and said.count(b"y same") == 2
    assert Project(made.folder).votes == []  # one given, one taken back
