"""The command ``crowder``: from a CSV file with duplicates to the clusters of its records, by answers of people."""

from __future__ import annotations

import argparse
import inspect
import re
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crowder import files

if TYPE_CHECKING:
    from crowder.practice.project import Project

TOP = """\
Find the records of a CSV file that are about the same thing: crowder chooses pairs, people say whether they are the
same, and what follows from their answers is not asked. my.csv has its project in a folder my.crowder beside it.

  crowder plan my.csv             how many questions, at what price, find how many of the matches
  crowder label                   answer them here: y same, n different, u not sure, z undo, q quit
  crowder label --html            or on a page for a browser, or, for many people, in question sheets:
  crowder next --size 50          writes my.crowder/questions-1.csv; when its column "same" is filled in,
  crowder answers my.crowder/questions-1.csv
  crowder clusters                writes my.crowder/clusters.csv: the cluster of each record, from all answers
"""
CODES = "Exit codes: 0 done, 1 a file or memory failed, 2 wrong usage or input, 130 interrupted. No answer is lost."
SHOWN = 10  # disagreements
NOTHING_LEFT = "No question is left. For the clusters: crowder clusters"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal may not have all characters of the records
    options = vars(_parser().parse_args(arguments))
    run = options.pop("run")
    try:
        return run(**options) or 0
    except KeyboardInterrupt:
        print("\nInterrupted; every answer so far is saved.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except (ValueError, TypeError, OSError, MemoryError, ModuleNotFoundError) as error:
        told = re.sub(r"(?<![-\w])(id|fields|label|sep|encoding)=", r"--\1=", " ".join(str(error).split()))
        missing = "; for all that the command needs: pip install 'crowder[practice]'"
        told += missing * isinstance(error, ModuleNotFoundError)
        print(f"crowder: error: {told or 'the memory is full'}", file=sys.stderr)
        return 2 if isinstance(error, (ValueError, TypeError, FileNotFoundError)) else 1


def _parser() -> argparse.ArgumentParser:
    how: dict[str, Any] = {"epilog": CODES, "formatter_class": argparse.RawDescriptionHelpFormatter}
    top = argparse.ArgumentParser("crowder", description=TOP, **how)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    made = {}
    for run in (plan, label, next_, answers, clusters):
        name, text = run.__name__.strip("_"), inspect.getdoc(run) or ""
        how |= {"description": text, "help": text.partition("\n")[0], "argument_default": argparse.SUPPRESS}
        made[name] = commands.add_parser(name, **how)
        made[name].set_defaults(run=run)
    add = made["plan"].add_argument
    add("csv", metavar="FILE.csv", help="the records, with a header")
    add("--id", metavar="COLUMN", help="unique identifiers (default: id, or the numbers of the rows)")
    add("--fields", metavar="A,B,C", type=lambda text: text.split(","), help="columns to compare (default: all others)")
    add("--label", metavar="COLUMN", help="true clusters, not compared (default: label, if there is one)")
    add("--sep", help=r"separator of the cells (default: a comma; '\t' is a tab)")
    add("--encoding", help="of the file (default: utf-8)")
    add("--similarity", help="jaccard-qgrams (default), jaccard-tokens, tfidf-cosine, levenshtein, jaro-winkler, ...")
    add("--ordering", choices=["auto", "edge", "node", "evidence"], help="of the questions (default: auto)")
    add("--target", type=float, help="recall to plan for (default: 0.95)")
    add("--budget", type=float, metavar="MONEY", help="how much of the matches does it buy?")
    add("--price", type=float, help="of one answer (default: 0.05)")
    add("--votes", type=int, help="answers to each question, from different people (default: 1)")
    add("--seed", type=int, help="of what is drawn at random (default: 0)")
    alone = "folder NAME.crowder (default: the only one here)"
    for name in ("label", "next", "clusters"):
        made[name].add_argument("project", nargs="?", default=None, metavar="PROJECT", help=alone)
    add = made["label"].add_argument
    add("--worker", help="who answers (default: terminal)")
    add("--html", nargs="?", const="", metavar="FILE", help="write a page instead of asking here")
    add("--size", type=_size, help="questions on the page (default: 50)")
    made["next"].add_argument("--size", type=_size, help="number of questions (default: 20)")
    made["next"].add_argument("--out", metavar="FILE", help="the sheet (default: questions-1.csv, -2, ... in PROJECT)")
    add = made["answers"].add_argument
    add("sheets", nargs="+", metavar="SHEET.csv", help="filled sheets, or patterns")
    add("--project", default=None, help=alone)
    add("--sep", help="separator of the sheets (default: the one in their first lines)")
    add("--encoding", help="of the sheets (default: utf-8)")
    made["clusters"].add_argument("--out", metavar="FILE", help="the table (default: clusters.csv in PROJECT)")
    return top


def _size(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a number of questions, 1 or more, not {text!r}")
    return int(text)


def _open(name: str | None) -> Project:
    from crowder.practice.project import Project, find

    project = Project(find(name))
    _renew(project)
    return project


def _renew(project: Project) -> None:
    """A new plan, if the pilot or enough other questions have been answered since the last one."""
    if len(project.votes) >= project.foreseen["again"]:
        _plan(project)


def _plan(project: Project) -> Any:
    """A new plan; at a terminal, with the time that it has taken."""
    from tqdm import tqdm

    stop, shown = threading.Event(), f"comparing {project.n} records"
    with tqdm(desc=shown, bar_format="{desc} {elapsed}", disable=None, leave=False) as bar:
        tick = threading.Thread(target=lambda: [bar.refresh() for _ in iter(lambda: stop.wait(0.5), True)])
        tick.start()
        try:
            return project.plan()
        finally:
            stop.set()
            tick.join()


def plan(csv: str, **changes: Any) -> None:
    """Say how many questions find the matches of a CSV file, and what they cost; make its project, or renew it.

    Run it again after some answers, with added records or with other options: the answers stay.

      crowder plan my.csv
      crowder plan my.csv --id key --fields name,street,city
      crowder plan my.csv --label label             a column with the truth, if there is one, is never compared
      crowder plan my.csv --budget 50 --price 0.10 --votes 3
      crowder plan german.csv --sep ';' --encoding cp1252
    """
    from crowder.practice.project import Project

    project = Project(Path(csv).with_suffix(".crowder"), csv, **changes)
    print(_plan(project))
    if number := len(project.identical):
        print(f"{_count(number, 'answer')} without a question: records with the text of an earlier one are the same.")
    name = "" if list(Path().glob("*.crowder")) == [project.folder] else f" {project.folder}"
    where = f"here: crowder label{name}; in a browser: crowder label{name} --html; in sheets: crowder next{name}"
    print(f"\nThe project is {project.folder}. To answer {where}")


def label(project: str | None, worker: str = "terminal", html: str | None = None, size: int = 50) -> None:
    """Answer questions by single keys, here or (--html) on a page that needs no network and hands back a filled sheet.

    Each answer is on disk before the next question. Where the input is no terminal, it has an answer a line.

      crowder label
      crowder label my.crowder --worker ann         every worker has one vote on each pair, the latest
      crowder label --html                          writes a page with the next 50 questions
      crowder label --html ann.html --size 100
      crowder answers ~/Downloads/answers-3f2a9c01.csv
    """
    from crowder.practice.label import ask, page

    opened = _open(project)
    if html is None:
        given = ask(opened, worker, sys.stdin, sys.stdout)
        print(f"\n{_count(given, 'answer')} saved; {opened.progress()}. For the clusters: crowder clusters")
    if not opened.questions(1, worker if html is None else None):
        print(NOTHING_LEFT)
    elif html is not None:
        text, key = page(opened, size)
        path = Path(html or opened.folder / f"label-{key}.html")
        if path.exists() and path.read_text("utf-8") != text:
            raise ValueError(f"FILE must be new, because somebody may have begun to answer there, but {path} exists")
        files.write(path, text.encode())
        print(f"Open {path} in a browser. What it downloads goes to: crowder answers FILE")
        _tell_copies(opened)


def next_(project: str | None, size: int = 20, out: str | None = None) -> None:
    """Write the next questions as a CSV sheet, for a spreadsheet or a crowd: yes, no or unsure in the column "same".

    A sheet that has answers is never overwritten.

      crowder next
      crowder next my.crowder --size 100
      crowder next --out for-ann.csv
      crowder answers for-ann.csv
      crowder next
    """
    from crowder.practice.batch import expected_waste

    opened = _open(project)
    pairs = opened.questions(size)
    if not pairs:
        print(NOTHING_LEFT)
        return
    path = opened.write_sheet(pairs, out)
    waste = expected_waste(pairs, list(opened.draws), opened.settled.pairs, opened.settled.same)
    print(f"{path}: {_count(len(pairs), 'question')}; answers to others will settle about {waste:.1f} of them.")
    _tell_copies(opened)
    print(f'Fill in the column "same" (yes, no, unsure); then: crowder answers {path}')


def answers(sheets: list[str], project: str | None, **how: Any) -> None:
    """Take the answers from filled sheets, all of them or, if one sheet is refused, none.

    A sheet without a column "worker" is one worker, named after its file. Handed in again, it replaces this worker's
    answers; blanked ones are taken back.

      crowder answers my.crowder/questions-1.csv
      crowder answers ann.csv bob.csv cem.csv       three people, each with a copy of one sheet
      crowder answers 'for-*.csv'
      crowder answers ann.csv --project my.crowder
      crowder answers ann.csv --sep ';' --encoding cp1252
    """
    from crowder.practice.sheets import expand_paths

    opened = _open(project)
    new, changed, taken_back, unsure = opened.receive(expand_paths(sheets), **how)
    _renew(opened)
    print(f"{new} new, {changed} changed, {taken_back} taken back, {unsure} unsure; {opened.progress()}.")
    _disagreements(opened)


def clusters(project: str | None, out: str | None = None) -> None:
    """Write the clusters that follow from all answers: columns id, cluster and size.

    Answers that contradict one another are listed, with what to do; the clusters are then the likeliest.

      crowder clusters
      crowder clusters my.crowder --out clusters.csv
      crowder answers ann-corrected.csv
      crowder clusters
      crowder label
    """
    opened = _open(project)
    table = opened.table()
    path = Path(out or opened.folder / "clusters.csv")
    text = table.to_csv(index=False, lineterminator="\n")
    if path.exists() and not path.read_bytes().startswith(b"id,cluster,size\n"):
        raise ValueError(f"FILE must be new, or a table of clusters, but {path} is another file")
    files.write(path, text.encode())
    groups = table.drop_duplicates("cluster")["size"]
    print(f"{path}: {len(table)} records in {_count(len(groups), 'cluster')}, {(groups > 1).sum()} of several records.")
    low, middle, high = opened.recall()
    print(f"By the plan they have {middle:.0%} of the matches ({low:.0%} to {high:.0%}).")
    print(f"{opened.progress()}.")
    _disagreements(opened)


def _disagreements(project: Project) -> None:
    """Say where answers contradict one another, and what to do."""
    from crowder.practice.label import visible

    def named(i: int, j: int, same: bool | None, worker: str | None = None) -> str:
        word = {True: "same", False: "different", None: "unsure"}[same]
        return f"{visible(project.ids[i])} and {visible(project.ids[j])} are {word}" + f" ({worker})" * bool(worker)

    said = [
        f"{named(*pair, same)}, but: {'; '.join(named(*project.evidence[row]) for row in rows)}"
        for pair, same, _, rows in project.settled.contradictions
    ]
    said += ["; ".join(named(*v) for v in project.votes if v[:2] == pair) for pair in project.settled.split]
    if said:
        print(f"{_count(len(said), 'disagreement')} among the answers (the clusters are the likeliest by all of them):")
        print("\n".join(f"  {line}" for line in said[:SHOWN] + ["..."] * (len(said) > SHOWN)))
        print("To resolve one, correct it in the sheet of its worker and hand that in again (crowder answers).")


def _tell_copies(project: Project) -> None:
    if (votes := project.settings["votes"]) > 1:
        print(f"Give a copy to each of {votes} people; the column worker, or the name of the sheet, tells who it was.")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


if __name__ == "__main__":
    sys.exit(main())
