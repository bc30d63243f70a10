"""The command: a file's way to its clusters, what its help teaches, and mistakes, kills and full disks on the way."""

import io
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from crowder_tool import __main__ as command
from crowder_tool import people
from crowder_tool.__main__ import main
from crowder_tool.journal import Vote
from crowder_tool.project import Project

UNIX = pytest.mark.skipif(os.name == "nt", reason="forks, or limits what a process may do")
RECORDS = people([4, 3, 2, 2, 1, 1, 1, 1], mistakes=1.2, rng=11)
TRUTH = dict(zip(RECORDS["id"], RECORDS["label"], strict=True))


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """Run a command line with this input, in a folder with a project; its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    RECORDS.drop(columns="label").to_csv("my.csv", index=False)

    def run_line(line, typed=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        try:
            code = main(shlex.split(line))
        except SystemExit as stop:
            code = stop.code
        return code, *capsys.readouterr()

    assert run_line("start my.csv")[0] == 0
    return run_line


def fill(path):
    sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
    sheet["same"] = (sheet["id_a"].map(TRUTH) == sheet["id_b"].map(TRUTH)).map({True: "yes", False: "no"})
    sheet.to_csv(path, index=False)


# --- the way ------------------------------------------------------------------------------------------------------


def by_sheets(run, size):
    """Fill in sheets as long as there are questions; what was said last."""
    while "No question is left" not in (said := run(f"next --size {size}"))[1]:
        path = re.match(r"(\S+questions-\d+\.csv): \d+ questions?", said[1])[1]
        assert not path.endswith("-40.csv")
        fill(path)
        code, out, errors = run(f"answers {path}")
        assert code == 0 and not errors and re.match(r"\d+ new, 0 changed, 0 taken back, 0 unsure", out)
    return out


def test_rows_may_move_and_go_between_two_uses(run):
    run("label", "y\n" * 4 + "q\n")
    records = pd.read_csv("my.csv", dtype=str)
    gone = Project("my.crowder").votes[0].i
    records.drop(index=gone)[::-1].to_csv("my.csv", index=False)
    assert "To take their new state: crowder start my.csv" in run("clusters")[2]
    kept = sum(gone not in vote[:2] for vote in Project("my.crowder").votes)
    assert f"{4 - kept} answer" in (out := run("start my.csv")[1]) and "about records that are gone: kept aside" in out
    assert f" {kept} answer" in run("clusters")[1]
    assert pd.read_csv("my.crowder/clusters.csv")["id"].tolist() == records["id"].drop(index=gone)[::-1].tolist()


def test_disagreements_are_told_and_resolved_by_asking_again(run):
    a, b, c = RECORDS["id"][RECORDS["label"] == RECORDS["label"].mode()[0]][:3]
    Path("ann.csv").write_text(f"id_a,id_b,same,worker\n{a},{b},yes,ann\n{b},{c},yes,ann\n{a},{c},no,ann\n")
    Path("bob.csv").write_text(f"id_a,id_b,same\n{a},{b},no\n")
    assert run("audit")[0] == 0
    code, out, _ = run("answers ann.csv")
    assert code == 0 and "1 disagreement among the answers" in out
    assert "Nothing is certified: answers contradict one another" in out
    word = "y" if "different (ann)" in out.split("by all of them:\n")[1] else "n"
    said = run("label --doubts --worker ann", f"{word}\n")[1]
    out = run("clusters")[1]
    assert "1 answer saved" in said and "disagreement" not in out and "ertified" in out
    out = run("answers bob.csv")[1]
    assert re.search(r"1 disagreement.*same \(ann\), different \(bob-[0-9a-f]{6}\)", out, re.S)  # a name, and a file
    Path("cem.csv").write_text(f"id_a,id_b,same\n{a},{b},yes\n")
    run("answers cem.csv")  # a majority is no contradiction, though it is not unanimous
    assert "if the majority is right where workers disagree" in run("clusters")[1]


def test_from_a_file_to_its_clusters_by_sheets_with_an_audit_on_the_way(run, monkeypatch):
    fill(re.match(r"\S+\.csv", run("next --size 10")[1])[0])
    out = run("answers my.crowder/questions-1.csv")[1]
    assert "ertified" not in out  # not a word before an audit is asked for
    with monkeypatch.context() as patch:
        patch.setattr(Project, "audit", None)  # nor is an audit replayed that has not begun
        assert "No recall is certified, since no audit has begun. To begin one: crowder audit my" in run("clusters")[1]
    out = run("audit --recall 0.8")[1]
    questions, price = re.search(
        r"asks (\d+) questions or so, which cost ([\d.]+), .*\nMatches are not rare", out
    ).groups()
    assert float(price) == round(0.05 * int(questions), 2) > 0
    assert "which cost" not in run("audit")[1] and "For 0.8" in run("audit")[1]  # it has begun, with this target
    (said,) = re.findall(r"^(?:Certified so far|No recall is certified yet).*For 0.8 it takes at least.*$", out, re.M)
    assert said in run("clusters")[1]  # which says no more than the audit did
    said = by_sheets(run, 4)
    assert "at confidence 0.95, if all answers are true (" in said
    share = float(re.search(r"Certified: recall at least ([\d.]+) among the \d+ candidate pairs of each rec", said)[1])
    assert share >= 0.8 and f"recall at least {share:g} among" in run("clusters")[1]
    for line, ends in (("start my.csv", False), ("start my.csv --neighbours 3", True)):
        assert ("audit was of other candidate pairs, and has ended" in run(line)[1]) == ends
    run("start my.csv --neighbours 20"), run("audit --pause"), by_sheets(run, 15)
    code, out, _ = run("clusters")
    assert code == 0 and "15 records in 8 clusters, 4 of several records" in out and "disagreement" not in out
    found = pd.read_csv("my.crowder/clusters.csv")
    assert list(found) == [*RECORDS.drop(columns="label"), "cluster", "size"]
    assert found["cluster"].tolist() == pd.factorize(RECORDS["label"])[0].tolist()  # numbered by their first records
    assert (found["size"] == found["cluster"].map(found["cluster"].value_counts())).all()


def test_a_certificate_names_its_conditions(run):
    """Of three records with one text one question is asked, and its yes counts for the third, which is a condition."""
    Path("ann.csv").write_text("id,name\na,Ann\nb,Ann\nc,Ann\nd,Bo\n")
    for option, told in (("ask", 0), ("same", 1)):
        run(f"start ann.csv --identical {option}")
        run("audit ann.crowder")
        assert ("and records with one text are the same" in run("clusters ann.crowder")[1]) == told
    run("start ann.csv --identical ask")
    run("label ann.crowder", "y\n")
    assert "if all answers are true and records with one text are the same (" in run("clusters ann.crowder")[1]
    Path("none.csv").write_text("id,name\na,Ann\nb,Bo\n")
    run("start none.csv")
    assert "Nothing is certified: there are no candidate pairs" in run("audit none.crowder")[1]


def test_of_two_files_a_certificate_says_that_they_have_no_duplicates_until_one_has(run):
    """As a user met it: with the duplicate b2 nothing is certified, and --duplicates asks about pairs within b."""
    Path("a.csv").write_text("id,name\na1,Ann Lee Oslo\na2,Bob Ray Rome\n")
    Path("b.csv").write_text("id,name\nb1,Ann Lee Oslo\nb2,Anne Lee Oslo\nb3,Bob Ray Rom\n")
    run("start a.csv b.csv"), run("audit a-b.crowder")
    yes, no = "id_a,id_b,same\na1,b1,yes\na2,b3,yes\n", "a1,b3,no\na2,b1,no\nb1,b3,no\na2,b2,no\n"
    Path("one.csv").write_text(yes), Path("all.csv").write_text(yes + no + "a1,b2,yes\n")
    condition = "there are no duplicates within a.csv nor within b.csv"
    assert f"if all answers are true and {condition} (" in run("answers one.csv --project a-b.crowder")[1]
    out = run("answers all.csv --project a-b.crowder")[1]
    assert "Nothing is certified: b1 and b2 are in one cluster, and b.csv must have no duplicates" in out
    (command,) = re.findall("If they are the same: crowder (start a.csv b.csv --duplicates b.csv);", out)
    assert "The audit was of other candidate pairs, and has ended" in run(command)[1]
    out = run("audit a-b.crowder")[1]
    assert (
        "Certified: recall at least 1 " in out
        and "if all answers are true and there are no duplicates within a.csv (" in out
    )
    run("start a.csv b.csv --duplicates a --duplicates b.csv")
    assert "within" not in run("audit a-b.crowder")[1]
    assert run("start a.csv b.csv --duplicates=")[0] == 0 and Project("a-b.crowder").without_duplicates == [0, 1]


def test_a_certificate_that_needs_another_worker_says_so(run):
    run("audit --recall 0.8")
    assert "needs another worker's answer" not in run("label --worker ann", "n\n")[1]
    assert "needs another worker's answer about r" in run("label --worker ann", "u\nn\n")[1]
    assert "needs another worker's answer" not in run("label --worker bob", "n\nn\n")[1]


def test_start_tells_what_it_keeps_and_what_it_may_lose(run):
    people([12, 12], mistakes=0.5, rng=1).to_csv("some.csv", index=False)
    out = run("start some.csv --neighbours 2 --price 0.3")[1]
    assert re.search(r"24 records, compared by name, street, city, birth\.", out) and "100 cost 30.00" in out
    assert re.search(r"may miss matches of \d+ records with more than 2 others as similar as 0.5 or more, such", out)
    assert "surely the same: --identical same" in out and "At most" in out
    out = run("start some.csv --neighbours 23")[1]
    assert "275 candidate pairs" in out and "At most 275 questions" in out and "may miss" not in out


def test_two_files_and_scores(run):
    records = people([2] * 6, rng=2).sort_values("label", ignore_index=True)
    records[::2].to_csv("a.csv", index=False), records[1::2].to_csv("b.csv", index=False)
    assert "12 records" in (out := run("start a.csv b.csv")[1]) and "no duplicates" not in out
    last = (text := Path("b.csv").read_text()).splitlines()[-1]
    Path("b.csv").write_text(text + last.replace("r", "s", 1))  # the same under another identifier
    name = last.split(",")[0]
    assert (
        f"look like some; if they are: --duplicates FILE\n  {name} and {name.replace('r', 's')}: "
        in run("start a.csv b.csv")[1]
    )
    Path("scores.csv").write_text("left,right,score\nr1,r2,0.9\nr3,r4,0.4\n")
    assert "2 candidate pairs in scores.csv" in run("start my.csv --scores scores.csv")[1]


def test_a_stretch_without_a_match_is_told_with_what_an_audit_costs(run):
    """After 99 answers that are a no nothing is said, after 100 what to do; and how many matches are expected only once
    something has been learned, for which it takes a match."""
    people([1] * 40, rng=3).to_csv("some.csv", index=False)
    run("start some.csv --price 2")
    project = Project("some.crowder")
    pairs = project.near.pairs[:101].tolist()
    project.record([Vote(i, j, False, "ann") for i, j in pairs[:99]])
    assert "None of the last" not in run("label some.crowder", "q\n")[1]
    project.record([Vote(*pairs[99], False, "ann")])
    told = r"None of the last 100 answers was a match(.*)\. An audit .*, by (\d+) questions or so, which cost (\d+).00"
    expected, questions, price = re.search(told, run("label some.crowder", "q\n")[1]).groups()
    assert expected == "" and int(price) == 2 * int(questions) > 0
    project.record([Vote(*pairs[0], True, "ann")])  # by then the latest answer
    assert "None of the last" not in run("label some.crowder", "q\n")[1]
    project.record([], project.votes[:99]), project.record([Vote(i, j, False, "bob") for i, j in pairs[1:101]])
    assert re.search(told, run("label some.crowder", "q\n")[1])[1].startswith("; the learned similarity expects about ")


def test_every_next_step_works_where_there_are_two_projects(run):
    """Also one that was started without its identifiers, as in the records of a user: it is just started again."""
    RECORDS.rename(columns={"id": "key"}).drop(columns="label").to_csv("its records.csv", index=False)
    said, done = run("start 'its records.csv'")[1] + "\ncrowder clusters 'its records.crowder'\n", set()
    while steps := {*re.findall(r"crowder ((?:label|next|answers|audit|clusters)\b.*?)(?:[;,]|$)", said, re.M)} - done:
        done |= steps
        for step in sorted(steps):
            code, out, errors = run(step.replace("FILE", "my.crowder/questions-1.csv"), "u\nn\nq\n")
            assert (code == 0 and not errors) or "FILE" in step, (step, errors)
            said += out
    assert {step.split()[0] for step in done} == {"label", "next", "answers", "audit", "clusters"}
    assert run("start 'its records.csv' --id key")[0] == 0 and "must be named, unless" in run("clusters")[2]


def test_a_table_of_other_forms_is_read_with_the_options_that_messages_name(run):
    RECORDS.rename(columns={"id": "key"}).to_csv("german.csv", index=False, sep=";", encoding="cp1252")
    code, _, errors = run("start german.csv")
    assert code == 2
    (option,) = re.findall(r"--sep=\S+", errors)
    code, *_ = run(f"start german.csv {option} --id key --fields name,city --encoding cp1252")
    assert code == 0 and Project("german.crowder").fields == ["name", "city"]
    assert ";same;worker" in Path(re.match(r"\S+\.csv", run("next german.crowder")[1])[0]).read_text()


# --- help ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", "start", "label", "next", "answers", "audit", "clusters"])
def test_help_shows_a_session_whose_lines_are_right(name, capsys):
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"] if name else ["--help"])
    out = capsys.readouterr().out
    session = re.findall(r"^  (crowder .*?)(?:  +|$)", out, flags=re.MULTILINE)
    assert stop.value.code == 0 and "Exit codes: 0 done" in out and len(session) >= 2
    for line in session:
        options = vars(command._parser().parse_args(shlex.split(line)[1:]))
        assert callable(options["run"])


# --- mistakes -----------------------------------------------------------------------------------------------------


def files_here():
    return {path: path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file() and "db" not in path.name}


@pytest.mark.parametrize(("line", "message"), [
    ("start nosuch.csv", "nosuch.csv"),
    ("start my.csv --id nosuch", "birth'; if it has another name there, rename it in the file"),
    ("start my.csv --neighbours 0", "must be a number, 1 or more, not '0'"),
    ("start my.csv --price nan", "must be a number, 0 or more, not 'nan'"),
    ("label --worker=", "must be a name, not ''"),
    ("start my.csv my.csv my.csv", "one file or two"),
    ("start my.csv --duplicates my.csv", "--duplicates must name one of two files, not 'my.csv'"),
    ("start my.csv other.csv", "column in common besides the identifiers; rename columns in the files"),
    ("audit --recall 95", "must be between 0 and 1, not '95'"),
    ("label --size 9", "--size is the number of questions on a page; add --html"),
    ("label nosuch", "nosuch must be a project, but has no project.json; run: crowder start"),
    ("label my.csv", "my.csv must be a project"),
    ("answers my.csv", "column 'id_a' must be in the header"),
])  # fmt: skip
def test_a_mistake_is_told_in_one_line_and_changes_nothing(run, line, message):
    Path("other.csv").write_text("id,called\n1,x\n")
    before = files_here()
    code, _, errors = run(line)
    assert code == 2 and message in errors and "Traceback" not in errors
    assert len([text for text in errors.splitlines() if "error:" in text]) == 1
    assert before == files_here()


@UNIX
def test_a_full_disk_is_told_and_what_was_answered_stays(run):
    Project("my.crowder").record([Vote(0, 1, True, "ann")])
    script = """
import resource, signal, sys
from crowder_tool.__main__ import main  # before it limits itself
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
sys.exit(main(["label", "my.crowder"]))"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, input="n\n" * 9)
    assert done.returncode == 1 and "crowder: error: " in done.stderr and "Traceback" not in done.stderr
    assert [vote[:4] for vote in Project("my.crowder").votes] == [(0, 1, True, "ann")]
    assert run("clusters")[0] == 0


@UNIX
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupt_or_a_kill_keeps_every_answer_that_was_acknowledged(run, how):
    child = subprocess.Popen(
        [sys.executable, "-m", "crowder_tool", "label"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )  # fmt: skip
    child.stdin.write("n\n")
    child.stdin.flush()
    assert any("1 answer," in line for line in child.stdout)
    child.send_signal(how)
    _, errors = child.communicate(timeout=60)
    if how == signal.SIGINT:
        assert child.returncode == 130 and "every answer so far is saved" in errors and "Traceback" not in errors
    assert len(Project("my.crowder").votes) == 1
