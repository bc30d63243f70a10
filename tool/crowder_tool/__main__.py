"""The command ``crowder``: from a CSV file with duplicates to the clusters of its records, by people's answers."""

from __future__ import annotations

import argparse
import inspect
import re
import secrets
import shlex
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from crowder_tool.label import ask, page, visible
from crowder_tool.project import LATELY, Project, find, make_project

TOP = """\
Find the records of a CSV file, or of two, that are about the same thing: crowder chooses pairs, people say whether they
are the same, and what follows from their answers is not asked. my.csv has its project in a folder my.crowder beside it.

  crowder start my.csv            finds the pairs that may match; crowder start a.csv b.csv: only across two files
  crowder label                   answer questions here: y same, n different, u not sure, z undo, q quit
  crowder label --html            or on a page for a browser, or, for many people, in question sheets:
  crowder next --size 50          writes my.crowder/questions-1.csv; when its column "same" is filled in,
  crowder answers my.crowder/questions-1.csv
  crowder audit                   once matches have become rare: ask until a recall is certified
  crowder clusters                writes my.crowder/clusters.csv: all records with their clusters, from all answers
"""
CODES = "Exit codes: 0 done, 1 a file or memory failed, 2 wrong usage or input, 130 interrupted. No answer is lost."
SHOWN, CLOSE = 10, 0.5  # answers that contradict others; a similarity at which a pair may well match
HELD = 24 * 3600  # seconds for which the questions of a sheet or page are with whoever has it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal may not have all characters of the records
    options = vars(_parser().parse_args(arguments))
    run = options.pop("run")
    try:
        if "project" in options:
            options["project"] = project = Project(find(options["project"]))
            if project.changed:
                print(f"The records have changed since the project copied them. To take their new state: "
                      f"{project.again}", file=sys.stderr)  # fmt: skip
        return run(**options) or 0
    except KeyboardInterrupt:
        print("\nInterrupted; every answer so far is saved.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except (ValueError, TypeError, OSError, MemoryError, ImportError) as error:
        told = str(error)
        if isinstance(error, OSError) and error.filename is not None and error.strerror:
            told = f"{error.filename}: {error.strerror}"
        told = re.sub(r"(?<![-\w])(id|fields|sep|encoding)=", r"--\1=", " ".join(told.split()))
        print(f"crowder: error: {told or 'out of memory'}", file=sys.stderr)
        return 2 if isinstance(error, (ValueError, TypeError, FileNotFoundError)) else 1


def _parser() -> argparse.ArgumentParser:
    how: dict[str, Any] = {"epilog": CODES, "formatter_class": argparse.RawDescriptionHelpFormatter}
    top = argparse.ArgumentParser("crowder", description=TOP, **how)
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    made = {}
    for run in (start, label, next_, answers, audit, clusters):
        name, text = run.__name__.strip("_"), inspect.getdoc(run) or ""
        how |= {"description": text, "help": text.partition("\n")[0], "argument_default": argparse.SUPPRESS}
        made[name] = commands.add_parser(name, **how)
        made[name].set_defaults(run=run)
    add = made["start"].add_argument
    add("csv", metavar="FILE.csv", nargs="+", help="the records, with a header; or two files without duplicates")
    add("--id", metavar="COLUMN", type=lambda text: text or None,
        help="unique identifiers (default, or '': id, or the numbers of the rows)")  # fmt: skip
    add("--fields", metavar="A,B,C", type=lambda text: text.split(",") if text else None,
        help="columns to compare (default, or '': all others)")  # fmt: skip
    add("--sep", type=lambda text: text.replace(r"\t", "\t"),
        help=r"separator of the cells (default: a comma; '\t' is a tab)")  # fmt: skip
    add("--encoding", help="of the file (default: utf-8)")
    add("--scores", metavar="FILE.csv", help="pairs that another program has scored: left, right, score; '': none")
    add("--neighbours", type=_size, help="how many similar records of each to compare (default: 20)")
    add("--identical", choices=["same", "ask"], help="records with one text (default: ask, one question for each text)")
    add("--price", type=_price, help="of one answer (default: 0.05)")
    alone = "folder NAME.crowder (default: the only one here)"
    for name in ("label", "next", "audit", "clusters"):
        made[name].add_argument("project", nargs="?", default=None, metavar="PROJECT", help=alone)
    add = made["label"].add_argument
    add("--worker", type=_name, help="who answers (default: terminal)")
    add("--html", action="store_true", help="write a page to PROJECT instead of asking here")
    add("--size", type=_size, help="questions on the page (default: 50)")
    add("--doubts", action="store_true", help="ask again about answers that contradict others")
    made["next"].add_argument("--size", type=_size, help="number of questions (default: 20)")
    made["next"].add_argument("--release", action="store_true", help="first take back what others were given to answer")
    add = made["answers"].add_argument
    add("sheets", nargs="+", metavar="SHEET.csv", help="filled sheets")
    add("--project", default=None, help=alone)
    add("--encoding", help="of the sheets (default: utf-8)")
    add = made["audit"].add_argument
    add("--recall", type=_share, help="to certify (default: 0.95)")
    add("--confidence", type=_share, help="of the certificate (default: 0.95)")
    add("--pause", action="store_true", help="ask the questions of the ordering again")
    return top


def _text(pattern: str, what: str, made: Callable[[str], Any] = str) -> Callable[[str], Any]:
    """What an option takes: a text of this form."""

    def check(text: str) -> Any:
        if not re.fullmatch(pattern, text):
            raise argparse.ArgumentTypeError(f"must be {what}, not {text!r}")
        return made(text)

    return check


_size = _text(r"0*[1-9][0-9]{0,17}", "a number, 1 or more", int)
_share = _text(r"0?\.[0-9]*[1-9][0-9]*", "between 0 and 1", float)
_price = _text(r"[0-9]{1,17}(\.[0-9]*)?|\.[0-9]+", "a number, 0 or more", float)
_name = _text(r"(?=.*\S)[^\ud800-\udfff]+", "a name")


def start(csv: list[str], **changes: Any) -> None:
    """Find the pairs of records that may match, and make the project of a CSV file, or renew it.

    Of two files, each without duplicates, only pairs across them are asked about. Run it again with added records or
    with other options: the answers stay.

      crowder start my.csv
      crowder start my.csv --id key --fields name,street,city
      crowder start a.csv b.csv                       two lists; the columns that both have are compared
      crowder start my.csv --scores scores.csv        pairs with the scores of another program
      crowder start my.csv --identical same           if records with one text are the same beyond doubt
      crowder start german.csv --sep ';' --encoding cp1252
    """
    if len(csv) > 2:
        raise ValueError("FILE.csv must be one file or two, not more")
    if folders := [path for path in csv if Path(path).is_dir()]:
        raise ValueError(f"FILE.csv must be a file, not the folder {folders[0]}")
    project, renamed = make_project(csv, **changes)
    near, price = project.near, 100 * project.settings["price"]
    questions = len(project.still_open(map(tuple, near.pairs.tolist())))
    print(f"{' and '.join(csv)}: {_count(near.n, 'record')}, compared by {visible(', '.join(project.fields))}.")
    for name, other in renamed.items():
        print(f"The column {visible(name)!r} is {f'now {visible(other)!r}' if other else 'no longer there'}.")
    if number := len(near.identical):
        print(f"Records with the text of an earlier one: {number:,}. " + (
            "They count as the same." if project.settings["identical"] == "same" else
            "A question is asked about each such text; if they are surely the same: --identical same"))  # fmt: skip
    if twice := project.alike_within(SHOWN) if len(csv) == 2 else []:
        print("A file of two must have no duplicates: pairs within one are never asked about. These look like some:")
        for i, j in twice:
            print(f"  {visible(project.ids[i])} and {visible(project.ids[j])}: "
                  f"{visible(' | '.join(project.records[project.fields].iloc[i]))[:80]}")  # fmt: skip
    source = f"in {Path(project.settings['scores']).name}" if project.settings["scores"] else (
        f"of each record and the {project.settings['neighbours']} most similar others")  # fmt: skip
    print(f"{len(near.pairs):,} candidate pairs, {source}. Matches among all other pairs are not found.")
    if number := int((near.furthest >= CLOSE).sum()):
        text = visible(" | ".join(project.records[project.fields].iloc[near.furthest.argmax()]))[:80]
        kept = project.settings["neighbours"]
        print(f"They may miss matches of {_count(number, 'record')} with more than {kept} others as similar as {CLOSE} "
              f"or more, such as {text}; --neighbours {2 * kept} keeps more.")  # fmt: skip
    print(f"At most {questions:,} questions; 100 cost {price:,.2f}. How many it takes, only the answers will tell.")
    print(f"\nThe project is {project.folder}. To answer here: {_next('label', project)}; in a browser: "
          f"{_next('label --html', project)}; in sheets: {_next('next', project)}")  # fmt: skip
    if project.audited["over"]:
        print("The audit was of other candidate pairs, and has ended. To begin another: "
              f"{_next('audit', project)}")  # fmt: skip


def label(project: Project, worker: str = "terminal", html: bool = False, size: int | None = None,
          doubts: bool = False) -> None:  # fmt: skip
    """Answer questions by single keys, here or (--html) on a page that needs no network and hands back a filled sheet.

    Each answer is on disk before the next question. If the input is not a terminal, it has one answer per line. Nobody
    else is asked the questions of a page or sheet for a day, or until it comes back.

      crowder label my.crowder --worker ann         every worker has one vote on each pair, the latest
      crowder label --html --size 100               a page with the next 100 questions; then
      crowder answers ~/Downloads/answers-3f2a9c01.csv
      crowder label --doubts --worker bob           asks bob about answers that contradict others
    """
    if size and not html:
        raise ValueError("--size is the number of questions on a page; add --html")
    if html:
        if drawn := _draw(project, size or 50):
            text, key = page(project, drawn)
            path = project.write(f"label-{key}.html", text.encode())
            print(f"Open {path} in a browser. What it downloads goes to: {_next('answers FILE --project', project)}")
        return
    given = ask(project, worker, sys.stdin, sys.stdout, project.doubts() if doubts else [])
    print(f"\n{_count(abs(given), 'answer')} {'saved' if given >= 0 else 'taken back'}; {project.progress()}.")
    _certified(project)
    _disagreements(project)
    _tell_stretch(project)
    _tell_taken(project, worker)


def next_(project: Project, size: int = 20, release: bool = False) -> None:
    """Write the next questions as a CSV sheet, for a spreadsheet or a crowd: yes, no or unsure in the column "same".

    No sheet is ever overwritten. Nobody else is asked its questions for a day, or until it comes back.

      crowder next my.crowder --size 100
      crowder answers my.crowder/questions-1.csv
      crowder next --release                        also what is on sheets and pages that will not come back
    """
    if release:
        project.journal.release(pairs=project.journal.leased())
    if drawn := _draw(project, size):
        path = project.write_sheet(drawn)
        print(f"{path}: {_count(len(drawn), 'question')}.")
        words = f"answers {shlex.quote(str(path))} --project"
        print(f'Fill in the column "same" (yes, no, unsure); then: {_next(words, project)}')


def _draw(project: Project, size: int) -> list[tuple[int, int]]:
    """Questions for a sheet or a page, or words why there is none."""
    drawn = project.draw(size, secrets.token_hex(8), HELD)
    if not drawn:
        _tell_taken(project)
    return drawn


def answers(sheets: list[str], project: Project, **how: str) -> None:
    """Take the answers from filled sheets, all of them or, if one sheet is refused, none.

    A sheet without a column "worker" is one worker, named after its file. Handed in again, it replaces this worker's
    answers; blanked ones are taken back.

      crowder answers ann.csv bob.csv cem.csv       three people, each with a copy of one sheet
      crowder answers for-*.csv --project my.crowder
      crowder answers ann.csv --encoding cp1252
    """
    new, changed, taken_back, unsure = project.receive(sheets, **how)
    print(f"{new} new, {changed} changed, {taken_back} taken back, {unsure} unsure; {project.progress()}.")
    _certified(project)
    _disagreements(project)


def audit(project: Project, pause: bool = False, **target: float) -> None:
    """Let the next questions be drawn at random among the open candidate pairs, until a recall is certified.

    Begin when matches have become rare among the last questions. What is certified holds if all answers are true, and
    if records with one text are the same where one yes, or --identical same, says so of all of them.

      crowder audit                                 begins; later: what is certified, and how much more it takes
      crowder audit --recall 0.9 --confidence 0.99
      crowder audit --pause                         back to likely matches; the audit can go on later
    """
    project.turn_audit(not pause, **target)
    _certified(project, always=True)
    if not pause and project.questions(1):
        print(f"Its questions are now the next ones: {_next('label', project)}, or {_next('next', project)}")


def clusters(project: Project) -> None:
    """Write the clusters that follow from all answers: the file or files of records with the columns cluster and size.

    A cluster keeps its number while it keeps most of its records. Answers that contradict one another are listed, with
    what to do; the clusters are then the likeliest.

      crowder clusters
      crowder clusters my.crowder
    """
    path, groups = project.write_clusters(), np.bincount(project.settled.clusters)
    print(f"{path}: {_count(len(project.ids), 'record')} in {_count(len(groups), 'cluster')}, "
          f"{(groups > 1).sum()} of several records.")  # fmt: skip
    print(f"{project.progress()}.")
    _certified(project, always=True)
    _disagreements(project)


def _certified(project: Project, always: bool = False) -> None:
    """Say what recall is certified, at which confidence, or that none is."""
    told = project.audited
    if project.contradicted and (always or told["on"] or told["drawn"]):
        print("Nothing is certified: answers contradict one another, so some are wrong.")
        return
    if not (told["on"] or told["drawn"]):
        if always:
            print(f"No recall is certified, since no audit has begun. To begin one: {_next('audit', project)}")
        return
    run = project.audit()
    found, share = run.resolution, int(1000 * run.resolution.certified) / 1000  # no more is said than is certified
    texts = " and records with one text are the same" * project.takes_texts
    recall = (f"recall at least {share:g} among the candidate pairs, at confidence {told['confidence']:g}, if "
              f"{'the majority is right where workers disagree' if project.settled.split else 'all answers are true'}"
              f"{texts} ({_count(found.found, 'matching pair')} found")  # fmt: skip
    more = f"For {told['recall']:g} it takes at least about {run.least():,} more answers."
    if run.certified:
        print(f"Certified: {recall}).")
    elif not share:
        print(f"No recall is certified yet ({_count(found.found, 'matching pair')} found). {more}")
    else:
        print(f"Certified so far: {recall}, at most {found.missed:,} missed). {more}")
    if (waits := run.draws(1)) and waits[0] in project.settled.unsure:
        names = " and ".join(visible(project.ids[record]) for record in waits[0])
        print(f"The certificate needs another worker's answer about {names}: "
              f"{_next('label --worker NAME', project)}")  # fmt: skip
    if found.discovered:
        print(f"The audit found {_count(found.discovered, 'match')} that the questions before it had missed"
              + f"; to look for more like it: {_next('audit --pause', project)}" * told["on"])  # fmt: skip


def _disagreements(project: Project) -> None:
    """Say where answers contradict one another, and what to do."""
    if not (doubts := project.doubts()):
        return
    said = dict[tuple[int, int], list[str]]()
    for i, j, same, worker in project.evidence:
        said.setdefault((i, j), []).append(f"{({True: 'same', False: 'different', None: 'unsure'})[same]} ({worker})")
    print(f"{_count(len(doubts), 'disagreement')} among the answers; the clusters are the likeliest by all of them:")
    for i, j in doubts[:SHOWN]:
        print(f"  {visible(project.ids[i])} and {visible(project.ids[j])}: {visible(', '.join(said[i, j]))}")
    print("  ...\n" * (len(doubts) > SHOWN) + f"To ask about them again: {_next('label --doubts', project)} "
          "(--worker NAME adds another person's vote); or correct a sheet and hand it in again.")  # fmt: skip


def _tell_stretch(project: Project) -> None:
    """Say so where the last questions have found no match, and what to do."""
    same = list(project.answers.values())
    if len(same) < LATELY or any(same[-LATELY:]) or project.audited["on"]:
        return
    ordering = project.ordering
    ordering.batch(1)
    print(f"None of the last {LATELY} answers was a match; the learned similarity expects about "
          f"{ordering.expected:,.0f} more. An audit finds out how many there really are: "
          f"{_next('audit', project)}")  # fmt: skip


def _tell_taken(project: Project, worker: str | None = None) -> None:
    """Say why there is no question, if there is none."""
    taken = project.journal.leased()
    left = project.questions(1 + len(taken), worker)
    if not left:
        print(f"No question is left. For the clusters: {_next('clusters', project)}")
        if unsure := len(project.settled.unsure):
            print(f"About {_count(unsure, 'pair')} nobody is sure; another worker may be: "
                  f"{_next('label --worker NAME', project)}")  # fmt: skip
    elif all(pair in taken for pair in left):
        until = datetime.fromtimestamp(max(taken[pair] for pair in left))
        print(f"All that is left, {_count(len(left), 'question')}, is with others until {until:%Y-%m-%d %H:%M} at the "
              "latest. Rows left blank in a sheet or page that is handed in become free again; to take back all: "
              f"{_next('next --release', project)}")  # fmt: skip


def _next(words: str, project: Project) -> str:
    """A command that may be the next one, in words that work also where there are several projects."""
    return f"crowder {words} {shlex.quote(str(project.folder))}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{('es' if what.endswith('ch') else 's') * (number != 1)}"


if __name__ == "__main__":
    sys.exit(main())
