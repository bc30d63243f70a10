"""The command ``crowder``: from a CSV file with duplicates to the clusters of its records, by people's answers."""

from __future__ import annotations

import argparse
import inspect
import math
import re
import secrets
import shlex
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from crowder_tool.journal import Pair
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
    add(
        "--id",
        metavar="COLUMN",
        type=lambda text: text or None,
        help="unique identifiers, by which rows may move, come and go (default, or '': id, or else each row's number)",
    )
    add("--fields", metavar="A,B,C", type=lambda text: text.split(",") if text else None,
        help="columns to compare (default, or '': all others)")  # fmt: skip
    add("--sep", type=lambda text: text.replace(r"\t", "\t"),
        help=r"separator of the cells (default: a comma; '\t' is a tab)")  # fmt: skip
    add("--encoding", help="of the file (default: utf-8)")
    add("--scores", metavar="FILE.csv", help="pairs that another program has scored: left, right, score; '': none")
    add("--neighbours", type=_size, help="how many similar records of each to compare (default: 20)")
    add("--identical", choices=["same", "ask"], help="records with one text (default: ask, one question for each text)")
    add("--price", type=_price, help="of one answer (default: 0.05)")
    add("--duplicates", metavar="FILE", action="append", help="the one of two files that may have duplicates; '': none")
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

    Of two files, each without duplicates, only pairs across them are asked about. Run it again with other records or
    other options: the answers stay. With identifiers (a column id, or --id) rows may move, come and go, and the answers
    about a row that is gone wait for it; without, rows can be added at the end only. Columns are compared by name, and
    as text: to compare two that are called or written differently, change one in its file. If a column that was
    compared is gone on purpose, name the others by --fields.

      crowder start my.csv
      crowder start my.csv --id key --fields name,street,city
      crowder start a.csv b.csv                       two lists; the columns that both have are compared
      crowder start a.csv b.csv --duplicates b.csv    the same person may be twice in b.csv
      crowder start my.csv --scores scores.csv        pairs with the scores of another program
      crowder start my.csv --identical same           if records with one text are the same beyond doubt
      crowder start german.csv --sep ';' --encoding cp1252
    """
    if len(csv) > 2:
        raise ValueError("FILE.csv must be one file or two, not more")
    if "duplicates" in changes:
        changes["duplicates"] = list(filter(None, changes["duplicates"]))
    project = make_project(csv, **changes)
    near, price = project.near, 100 * project.settings["price"]
    questions = len(project.still_open(map(tuple, near.pairs.tolist())))
    print(f"{' and '.join(csv)}: {_count(near.n, 'record')}, compared by {visible(', '.join(project.fields))}.")
    if project.aside:
        print(
            f"{_count(project.aside, 'answer')} about records that are gone: kept aside, and taken when they come back."
        )
    if only := dict.fromkeys(name for table in project.tables for name in table if name not in project.tables[-1]
                             or name not in project.tables[0]):  # fmt: skip
        print(f"Not compared, since only one of the files has it: {visible(', '.join(only))}. Rename columns in the "
              "file to have them compared.")  # fmt: skip
    if number := len(near.identical):
        print(f"Records with the text of an earlier one: {number:,}. " + (
            "They count as the same." if project.settings["identical"] == "same" else
            "A question is asked about each such text; if they are surely the same: --identical same"))  # fmt: skip
    if twice := project.alike_within(SHOWN):
        print("A file of two must have no duplicates: pairs within one are never asked about. These look like some; if "
              "they are: --duplicates FILE")  # fmt: skip
        for i, j in twice:
            print(f"  {visible(project.ids[i])} and {visible(project.ids[j])}: "
                  f"{visible(' | '.join(project.records[project.fields].iloc[i]))[:80]}")  # fmt: skip
    print(f"{_candidates(project)}. Matches among all other pairs are not found.")
    if number := int((near.furthest >= CLOSE).sum()):
        text = visible(" | ".join(project.records[project.fields].iloc[near.furthest.argmax()]))[:80]
        kept = project.settings["neighbours"]
        print(f"They may miss matches of {_count(number, 'record')} with more than {kept} others as similar as {CLOSE} "
              f"or more, such as {text}; --neighbours {2 * kept} keeps more.")  # fmt: skip
    most = _count(questions, "question")
    print(f"At most {most}; 100 cost {price:,.2f}. How many it takes, only the answers will tell.")
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
        print(f'Fill in the column "same" (yes, no, unsure), and "worker" if several people get copies; then: '
              f"{_next(words, project)}")  # fmt: skip


def _draw(project: Project, size: int) -> list[Pair]:
    """Questions for a sheet or a page, or words why there is none."""
    drawn = project.draw(size, secrets.token_hex(8), HELD)
    if not drawn:
        _tell_taken(project)
    return drawn


def answers(sheets: list[str], project: Project, **how: str) -> None:
    """Take the answers from filled sheets, all of them or, if one sheet is refused, none.

    A row without a name in the column "worker" is the vote of its sheet, whatever the file is called: people who fill
    in copies of one sheet must write their names there. Handed in again, a sheet replaces its worker's answers; blanked
    ones are taken back.

      crowder answers ann.csv bob.csv cem.csv       three people, who have written their names
      crowder answers for-*.csv --project my.crowder
      crowder answers ann.csv --encoding cp1252
    """
    new, changed, taken_back, unsure = project.receive(sheets, **how)
    print(f"{new} new, {changed} changed, {taken_back} taken back, {unsure} unsure; {project.progress()}.")
    if changed:
        print('What is changed was said by the same worker, or on a copy of one sheet without a name in "worker".')
    _certified(project)
    _disagreements(project)


def audit(project: Project, pause: bool = False, **target: float) -> None:
    """Let the next questions be drawn at random among the open candidate pairs, until a recall is certified.

    Begin when none of the last hundred questions has found a match. It says what it will cost, and --pause ends it.
    What is certified is said with its conditions: that all answers are true, that of two files neither has duplicates,
    that records with one text are the same where one yes, or --identical same, says so of all of them.

      crowder audit                                 begins; later: what is certified, and how much more it takes
      crowder audit --recall 0.9 --confidence 0.99
      crowder audit --pause                         back to likely matches; the audit can go on later
    """
    if not (pause or project.auditing or project.audit(**target).certified) and len(project.near.pairs):
        print(f"The audit asks {_price_of(project, **target)} if it finds no other match, and more if it does.")
        lately = list(project.answers.values())[-LATELY:]
        if (any(lately) or not lately) and project.ordering.batch(1):
            print("Matches are not rare yet: to ask about likely ones first costs less: "
                  f"{_next('audit --pause', project)}")  # fmt: skip
    project.turn_audit(not pause, **target)
    _certified(project, always=True)
    if not pause and project.questions(1):
        print(f"Its questions are now the next ones: {_next('label', project)}, or {_next('next', project)}")


def _price_of(project: Project, **target: float) -> str:
    """How many questions an audit that begins now is expected to ask, and what they cost."""
    questions = project.audit(**target).least()
    return f"{_count(questions, 'question')} or so, which cost {questions * project.settings['price']:,.2f},"


def clusters(project: Project) -> None:
    """Write the clusters that follow from all answers: the file or files of records with the columns cluster and size.

    All cells are as they came in, so a spreadsheet may run one that begins with = as a formula. A cluster keeps its
    number while it keeps most of its records. Answers that contradict one another are listed, with what to do; the
    clusters are then the likeliest.

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
    """Say what recall is certified, at which confidence and on which conditions, or that none is."""
    told, begun = project.audited, project.auditing
    if not (always or begun):
        return
    if project.twice:
        i, j = project.twice[0]
        names = [project.files[file].name for file in (*project.settings["duplicates"], project.file_of[i])]
        option = " ".join(f"--duplicates {shlex.quote(name)}" for name in names)
        print(f"Nothing is certified: {visible(project.ids[i])} and {visible(project.ids[j])} are in one cluster, and "
              f"{visible(names[-1])} must have no duplicates. If they are the same: {project.again} {option}; if not: "
              f"{_next('label --doubts', project)}")  # fmt: skip
    elif project.contradicted:
        print("Nothing is certified: answers contradict one another, so some are wrong.")
    elif not len(project.near.pairs):
        print("Nothing is certified: there are no candidate pairs, so nothing can be asked.")
    elif not begun:
        print(f"No recall is certified, since no audit has begun. To begin one: {_next('audit', project)}")
    else:
        _tell_audit(project, told)


def _tell_audit(project: Project, told: dict[str, Any]) -> None:
    """What an audit has found so far."""
    run = project.audit()
    found, share = run.resolution, int(1000 * run.resolution.certified) / 1000  # no more is said than is certified
    names = [visible(project.files[file].name) for file in project.without_duplicates]
    conditions = ["the majority is right where workers disagree" if project.settled.split else "all answers are true"]
    conditions += [f"there are no duplicates within {' nor within '.join(names)}"] * bool(names)
    conditions += ["records with one text are the same"] * project.takes_texts
    recall = (f"recall at least {share:g} among the {_candidates(project)}, at confidence {told['confidence']:g}, if "
              f"{' and '.join(conditions)} ({_count(found.found, 'matching pair')} found")  # fmt: skip
    more = f"For {told['recall']:g} it takes at least about {run.least():,} more answers."
    if run.certified:
        print(f"Certified: {recall}).")
    elif not share:
        print(f"No recall is certified yet ({_count(found.found, 'matching pair')} found). {more}")
    else:
        print(f"Certified so far: {recall}, at most {found.missed:,} missed). {more}")
    if (waits := run.draws(1)) and waits[0] in project.settled.unsure:
        who = " and ".join(visible(project.ids[record]) for record in waits[0])
        print(f"The certificate needs another worker's answer about {who}: "
              f"{_next('label --worker NAME', project)}")  # fmt: skip
    if found.discovered:
        print(f"The audit found {_count(found.discovered, 'match')} that the questions before it had missed"
              + f"; to look for more like it: {_next('audit --pause', project)}" * told["on"])  # fmt: skip


def _candidates(project: Project) -> str:
    """How many candidate pairs there are, and which."""
    where = f"in {Path(project.settings['scores']).name}" if project.settings["scores"] else (
        f"of each record and the {project.settings['neighbours']} most similar others")  # fmt: skip
    return f"{_count(len(project.near.pairs), 'candidate pair')} {where}"


def _disagreements(project: Project) -> None:
    """Say where answers contradict one another, and what to do."""
    if not (doubts := project.doubts()):
        return
    said = dict[Pair, list[str]]()
    for i, j, same, worker, *_ in project.evidence:
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
    expects = ""
    if any(same):  # otherwise nothing has been learned
        (ordering := project.ordering).batch(1)
        if not math.isnan(ordering.expected):
            expects = f"; the learned similarity expects about {ordering.expected:,.0f} more"
    print(f"None of the last {LATELY} answers was a match{expects}. An audit finds out how many there really are, by "
          f"{_price_of(project)} or more: {_next('audit', project)}")  # fmt: skip


def _tell_taken(project: Project, worker: str | None = None) -> None:
    """Say why there is no question, if there is none."""
    taken = project.leased()
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
