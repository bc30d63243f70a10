"""Execute the chapters, then render the book from exactly what was executed.

    python -m book.make                          the whole book, into _build/html
    python -m book.make --profile quick          with the smaller values of book/data/profiles.yml
    python -m book.make --only 08 -p seed=7      one chapter, with a parameter of your own
    python -m book.make -p 'epsilons=[0.1, 0.3]; seed=7'    all chapters that have these parameters, with pages
    python -m book.make --record                 write what takes long, or needs data that are not shipped, anew

A chapter is executed if its notebook, its parameters, the sources and data that chapters read, or the versions of
packages have changed since its last execution.

What --only or -p ask for is a run beside the book, in a folder of its own below _build/runs, and never touches the
book's own pages and results. It says which printed numbers and claims come out otherwise than in the book.

Results and pages are made in a folder of their own and renamed once they are complete, so a build that fails or is
killed leaves the last ones as they were.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from book.make import chapters, environment, execute, folders, held, manifest, numbers, recorded, render, to_myst
from book.make.chapters import BuildError, Chapter
from book.make.environment import ROOT
from book.make.guard import Guard
from book.make.texts import Texts, numbers_otherwise
from book.reports import about, compared, ledger, printed


def main(argv: list[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # a terminal that cannot print ε must not stop the build
    args = _arguments(argv)
    # SIGTERM and SIGHUP clean up as Ctrl-C does; under nohup, SIGHUP stays ignored.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        with folders.build_lock(args.output):
            work = Path(tempfile.mkdtemp(prefix=".work-", dir=args.output))
            try:
                with Guard() as guard:
                    beside = (args.only or args.parameters) and not args.record
                    (Run if beside else Record if args.record else Build)(args, work, guard).run()
            finally:
                shutil.rmtree(work, ignore_errors=True)
    except (BuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; the last complete pages are untouched", file=sys.stderr)
        return 130
    return 0


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m book.make", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--profile", default="full", help="full (the default), or a name in book/data/profiles.yml")
    add("--only", action="extend", default=[], nargs="+", metavar="NN", help="run only these chapters, beside the book")
    add("-p", "--parameters", action="append", default=[], metavar="name=value",
        help="set a parameter, or several, in the selected chapters that have them, beside the book")  # fmt: skip
    add("--write-numbers", action="store_true", help="execute what is due, and let the sources say what was computed")
    add(
        "--record",
        action="store_true",
        help="compute what is recorded in book/data/recorded (or --only these), and record it",
    )
    add("--jobs", type=int, default=os.cpu_count() or 1, help="chapters at a time (default: one per core)")
    add("--timeout", type=int, default=7200, help="seconds that a cell may run (default: 7200)")
    add("--output", type=Path, default=ROOT / "_build", help="output folder (default: _build)")
    args = parser.parse_args(argv)
    args.output = args.output.resolve()
    # A workflow passes on what its reader left empty.
    args.only, args.parameters = (
        [text for text in texts if text.strip(" ,;")] for texts in (args.only, args.parameters)
    )
    if args.jobs < 1 or args.timeout < 1:
        parser.error("--jobs and --timeout must be at least 1")
    if args.write_numbers and (args.only or args.parameters or args.profile != "full"):
        parser.error("--write-numbers is for the whole book with its own parameters")
    if args.record and (args.parameters or args.write_numbers or args.profile != "full"):
        parser.error("--record has parameters of its own, those of the profile complete")
    if args.record:
        args.profile = "complete"
    return args


class Build:
    """One build: what is asked for, checked before anything runs, and the folders that it works in."""

    def __init__(self, args: argparse.Namespace, work: Path, guard: Guard) -> None:
        self.args, self.out, self.work, self.guard = args, args.output, work, guard
        # Everything is read from a copy, so edits during the build do not count as executed.
        self.src = folders.copy_sources(ROOT, self.out / "src")
        self.digest = folders.digest(self.src)
        self.chapters = chapters.read_chapters(self.src)
        self.profile = chapters.read_profile(self.src, args.profile, self.chapters)
        self.selected = chapters.select(self.chapters, args.only)
        self.own = chapters.overrides(self.selected, self.profile, [])
        self.declared, self.groups = ledger.read_declared(self.src), printed.read_groups(self.src)
        self.inputs = manifest.inputs(self.src, but=("book/data/recorded",) if args.profile == "complete" else ())
        self.book = self._executions(*(self.out / name / args.profile for name in ("executed", "results")))
        self.setting, self.logs = args.profile, self.out / "logs" / args.profile

    def _executions(self, executed: Path, results: Path) -> manifest.Manifest:
        return manifest.Manifest(executed / "manifest.json", results, self.inputs)

    def run(self) -> None:
        """The whole book: execute what is due, compare with what is declared, render the pages."""
        due = [c for c in self.chapters if not self._is_current(c)]
        self.set_up(parallel=len(due))
        others = "; the others are up to date" if len(due) < len(self.chapters) else ""
        self.say(f"executing {len(due)} of {len(self.chapters)} chapters, profile {self.setting}{others}")
        self.execute(due, self.own, self.book)
        entries, pairs = self.judge(self.book, self.chapters)
        if pairs:
            print(f"printed numbers: {printed.tally(pairs)}")
        texts = self.texts(self.book, entries)
        if self.args.write_numbers:
            self.write_numbers(texts)
            return
        changed = ledger.changes(entries) + printed.disagreements(pairs)
        changed += self.recorded_otherwise(self.book, self.chapters)
        otherwise = self.held_otherwise(self.book, self.chapters)
        if self.args.profile != "complete":  # where what the text calls recorded is computed
            otherwise += texts.changes(computed=self.args.profile == "full")
        changed += otherwise + ["if these changes are meant: make numbers"] * bool(otherwise)
        if changed:
            raise BuildError("\n".join(changed))
        target, html = self.out / "html", self.render(texts, self.book, entries, pairs)
        (html / folders.DIGEST).write_text(self.digest + "\n", encoding="utf-8")
        folders.replace(html, target)
        if counts := ", ".join(ledger.counted(status, count) for status, count in ledger.tally(entries).items()):
            print(f"claims: {counts}")
        print(f"the book is at {target / 'index.html'}")

    def _is_current(self, chapter: Chapter) -> bool:
        return self.book.is_current(chapter, self.own[chapter.slug])

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    # --- the steps ----------------------------------------------------------------------------------------------------

    def set_up(self, *, parallel: int) -> None:
        """The environment for chapters, of which `parallel` are to run."""
        self.env = environment.environment(
            self.src, self.out, self.work, parallel=max(1, min(self.args.jobs, parallel))
        )
        self.env["NUMBA_CACHE_DIR"] = str(self._compiled())
        os.environ.update(self.env)  # papermill reads from it where Jupyter's files are
        if parallel:
            environment.prepare(self.env)

    def _compiled(self) -> Path:
        """The folder for code that Numba compiled from exactly these sources.

        Numba notices a change in the file of a compiled function, but not in another file that the function calls.
        """
        chosen = self.out / "cache" / f"numba-{folders.digest(self.src, ('crowder', 'tool'), pattern='*.py')[:16]}"
        for other in chosen.parent.glob("numba-*"):
            if other != chosen:
                shutil.rmtree(other, ignore_errors=True)
        return chosen

    def execute(self, due: list[Chapter], chosen: dict[str, dict[str, Any]], into: manifest.Manifest) -> None:
        """Execute these chapters with the chosen parameters, the longest first."""
        for folder in (into.executed, into.results, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
        measured = self.src / "book" / "data" / "measured" / "chapters.csv"
        expected = self.book.expected(measured if self.args.profile == "full" else None)
        due = sorted(due, key=lambda chapter: -expected.get(chapter.slug, float("inf")))
        progress = execute.Progress([c.slug for c in due], expected, self.args.jobs)
        jobs = [self._job(chapter, chosen[chapter.slug]) for chapter in due]
        publish = lambda job, seconds: self._publish(job, seconds, into)  # noqa: E731
        failures = execute.run_all(jobs, self.args.jobs, self.env, self.logs, publish, progress, self.guard)
        if failures:
            raise BuildError("\n".join(failures))

    def _job(self, chapter: Chapter, parameters: dict[str, Any]) -> dict[str, Any]:
        """What a worker is told."""
        folder, path = self.work / "results" / chapter.slug, self.src / chapter.path
        folder.mkdir(parents=True)
        asking = self.work / f"asking-{path.name}"
        asking.write_text(json.dumps(numbers.asking(chapter)), encoding="utf-8")
        return {
            "slug": chapter.slug, "input": str(asking), "cwd": str(path.parent), "results": str(folder),
            "output": str(self.work / path.name), "parameters": parameters, "timeout": self.args.timeout,
        }  # fmt: skip

    def _publish(self, job: dict[str, Any], seconds: float, into: manifest.Manifest) -> None:
        """Move one chapter's execution into place. The manifest, written last, has its checksums."""
        (chapter,) = (c for c in self.chapters if c.slug == job["slug"])
        parameters, notebook, results = job["parameters"], Path(job["output"]), Path(job["results"])
        # Fail early if the chapter cannot be rendered.
        to_myst.check(json.loads(notebook.read_text(encoding="utf-8")), chapter.slug)
        for path in results.glob("*.json"):
            record = json.loads(path.read_text(encoding="utf-8"))
            record["parameters"] = chapter.defaults() | parameters | record.get("parameters", {})
            record |= {"chapter": chapter.slug, "profile": self.args.profile}
            path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        folders.replace(results, into.results / chapter.slug)
        notebook.replace(into.executed / notebook.name)
        into.record(chapter, parameters, seconds)

    def judge(self, found: manifest.Manifest, judged: list[Chapter]) -> tuple[list[dict], list[dict]]:
        """What these chapters found of claims and printed numbers, beside what is declared and printed."""
        slugs, complete = [c.slug for c in judged], judged == self.chapters
        entries = ledger.judge(self.declared, ledger.read_records(found.results, slugs), complete=complete)
        return entries, printed.judge(self.groups, found.results, slugs, complete=complete)

    def texts(self, made: manifest.Manifest, entries: list[dict]) -> Texts:
        """What all chapters say, as they were executed."""
        badges = {entry["id"]: ledger.standing(entry) for entry in entries}
        return Texts(self.src, self.chapters, made.executed, badges)

    def held_otherwise(self, found: manifest.Manifest, judged: list[Chapter]) -> list[str]:
        """What these chapters compute otherwise than is held of the full profile, in at most some twenty lines."""
        if self.args.profile != "full" or not (self.src / held.FOLDER).is_dir():
            return []
        lines = [line for c in judged for line in held.compared(self.src, c.slug, *self._made(c, found))]
        return lines[:20] + [f"and {len(lines) - 20} more"] * (len(lines) > 20)

    def recorded_otherwise(self, found: manifest.Manifest, judged: list[Chapter]) -> list[str]:
        """What these chapters computed otherwise than is recorded; a smaller profile computes with other parameters."""
        if self.args.profile not in ("full", "complete"):
            return []
        every = self.args.profile == "complete" and judged == self.chapters
        return recorded.otherwise(self.src, found.results, [c.slug for c in judged], every=every)

    def write_numbers(self, texts: Texts) -> None:
        """Let the sources, from which the book is read, say and hold what was computed."""
        for path in texts.write(ROOT):
            print(f"{path} has other numbers or links now")
        for chapter in self.chapters:
            held.write(ROOT, chapter.slug, *self._made(chapter, self.book))

    def _made(self, chapter: Chapter, at: manifest.Manifest) -> tuple[Path, Path]:
        """The executed notebook of a chapter and its folder of results."""
        return at.executed / chapter.path.name, at.results / chapter.slug

    def render(
        self, texts: Texts, made: manifest.Manifest, entries: list[dict], pairs: list[dict], announced: str = ""
    ) -> Path:
        """Render the pages; return their folder."""
        src = self.src
        render.place(texts, made.results)
        edition = about.edition(int(self.env["SOURCE_DATE_EPOCH"]))
        render.configure(src, self.args.profile, edition, announced)
        measured = src / "book" / "data" / "measured"
        pages = {c.slug: c.path.with_suffix("").as_posix() for c in self.chapters}
        reports = {
            "ledger.json": json.dumps(entries, ensure_ascii=False, indent=1),  # for book.sphinx_ext.claims
            "ledger.csv": ledger.as_csv(entries), "printed.csv": printed.as_csv(pairs),  # for readers
            # What pages include.
            "printed.md": printed.as_markdown(pairs, pages),
            "ran.md": about.ran(made.results, [*pages], setting=self.setting, measured=measured),
            "recorded.md": about.recorded(made.results, pages, entries),
        }  # fmt: skip
        for name, text in reports.items():
            (src / "results" / name).write_text(text, encoding="utf-8")
        html = render.render(src, self.work, self.logs / "sphinx.log", self.env, self.guard)
        render.offer_executed(html, {chapter: texts.offered(chapter) for chapter in self.chapters}, src)
        about.write_licences(html)
        return html


class Record(Build):
    """What is recorded, computed anew by the chapters that the profile names."""

    def run(self) -> None:
        sources = environment.commit(but=recorded.FOLDER.as_posix())  # now: edits and commits may follow
        named = [c for c in self.selected if c.slug in self.profile]
        due = [c for c in named if not self._is_current(c)]
        self.set_up(parallel=len(due))
        self.say(f"executing {len(due)} of {len(self.chapters)} chapters, profile {self.setting}")
        self.execute(due, self.own, self.book)
        for path in recorded.keep(ROOT, self.book.results, [c.slug for c in named], sources):
            print(f"recorded: {path}")


class Run(Build):
    """Some chapters, or all with other parameters: in a folder of its own, compared with the book."""

    def __init__(self, args: argparse.Namespace, work: Path, guard: Guard) -> None:
        super().__init__(args, work, guard)
        self.chosen = chapters.overrides(self.selected, self.profile, args.parameters)
        self.typed = chapters.assignments(args.parameters)
        self.name = chapters.name_of_run(self.selected if args.only else [], args.profile, self.typed)
        self.values = " ".join(", ".join(f"{name}={text}" for name, text in self.typed.items()).split())
        self.setting = args.profile + f", with {self.values}" * bool(self.typed)
        self.logs = self.out / "logs" / self.name
        self.folder = work / "run"
        self.new, self.old = (self._executions(at / "executed", at / "results")
                              for at in (self.folder, self.folder / "own"))  # fmt: skip

    def run(self) -> None:
        self.set_up(parallel=len(self.selected))
        kept = [] if self.args.only else [c for c in self.selected if self._is_own(c) and self._is_current(c)]
        due = [c for c in self.selected if c not in kept]
        self.say(f"executing {len(due)} of {len(self.chapters)} chapters, profile {self.setting}")
        self.execute(due, self.chosen, self.new)
        for chapter in kept:
            shutil.copytree(self.book.results / chapter.slug, self.new.results / chapter.slug)
            shutil.copy(self.book.executed / chapter.path.name, self.new.executed)
        entries, pairs = self.judge(self.new, self.selected)
        changed = ledger.changes(entries) + printed.disagreements(pairs)
        changed += [] if self.typed else self.held_otherwise(self.new, self.selected)
        changed += [] if self.typed else self.recorded_otherwise(self.new, self.selected)
        if self.args.profile == "full" and not self.typed:
            for chapter in self.selected:
                ran = json.loads((self.new.executed / chapter.path.name).read_text(encoding="utf-8"))
                changed += numbers_otherwise(chapter, ran)
        which = ", ".join(c.slug for c in self.selected) if self.args.only else "all chapters"
        text = f"## {which}: profile {self.setting}\n\n"
        text += compared.as_markdown(self._published(), (entries, pairs))
        if not self.args.only:
            self.render(self.texts(self.new, entries), self.new, entries, pairs, self.values).rename(
                self.folder / "html"
            )
        self._keep(text)
        if changed and not self.typed:  # what is declared holds for the book's own parameters
            raise BuildError("\n".join(changed))

    def _is_own(self, chapter: Chapter) -> bool:
        """Whether the chapter has the book's own parameters in this run."""
        return self.chosen[chapter.slug] == self.own[chapter.slug]

    def _published(self) -> tuple[list[dict], list[dict]]:
        """What the selected chapters find with the book's own parameters: as in the book, or else executed now."""
        other = [c for c in self.selected if not self._is_own(c) and not self._is_current(c)]
        if other:
            self.say(f"without current results of the book: {', '.join(c.slug for c in other)}; "
                     "executing with the book's own parameters, to compare")  # fmt: skip
            self.execute(other, self.own, self.old)
        found = ([], [])
        for chapter in self.selected:
            at = self.old if chapter in other else self.book if self._is_current(chapter) else self.new
            for every, these in zip(found, self.judge(at, [chapter]), strict=True):
                every += these
        return found

    def _keep(self, text: str) -> None:
        """Put the run in its place, and say what came out."""
        target = self.out / "runs" / self.name
        (self.folder / "summary.md").write_text(text, encoding="utf-8")
        self.logs.rename(self.folder / "logs")
        target.parent.mkdir(exist_ok=True)
        folders.replace(self.folder, target)
        print(text)
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(f"{text}\nThe results are in `{target.relative_to(self.out.parent)}`.\n\n")
        if (pages := target / "html" / "index.html").exists():
            print(f"its pages begin at {pages}")
        print(f"the run is in {target}; the book itself has not changed")


if __name__ == "__main__":
    sys.exit(main())
