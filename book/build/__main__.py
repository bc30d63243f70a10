"""Execute the chapters, then render the book from exactly what was executed.

    python -m book.build                          the whole book, into _build/html
    python -m book.build --profile quick          with the smaller values of book/data/profiles.yml
    python -m book.build --only 08 -p seed=7      one chapter, with a parameter of your own

A chapter is executed if its notebook, its parameters, the sources and data that chapters read, or the versions of
packages have changed since its last execution, or if `--only` names it.

Results and pages are made in a folder of their own and renamed once they are complete, so a build that fails or is
killed leaves the last pages as they were.
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

from book.build import chapters, environment, execute, folders, manifest, render, to_myst
from book.build.chapters import BuildError, Chapter
from book.build.environment import ROOT
from book.build.guard import Guard
from book.reports import about, ledger, printed


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
                    Build(args, work, guard).run()
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
        prog="python -m book.build", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--profile", default="full", help="full (the default), or a name in book/data/profiles.yml")
    add("--only", action="extend", default=[], nargs="+", metavar="NN", help="execute only these chapters")
    add("-p", action="append", default=[], metavar="name=value", dest="parameters",
        help="set a parameter in the selected chapters that have it")  # fmt: skip
    add("--jobs", type=int, default=os.cpu_count() or 1, help="chapters at a time (default: one per core)")
    add("--timeout", type=int, default=2400, help="seconds that a cell may run (default: 2400)")
    add("--output", type=Path, default=ROOT / "_build", help="output folder (default: _build)")
    args = parser.parse_args(argv)
    args.output = args.output.resolve()
    if args.jobs < 1 or args.timeout < 1:
        parser.error("--jobs and --timeout must be at least 1")
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
        self.others = [c for c in self.chapters if c not in self.selected]
        self.chosen = chapters.overrides(self.selected, self.profile, args.parameters)
        self.chosen |= chapters.overrides(self.others, self.profile, [])
        self.declared, self.groups = ledger.read_declared(self.src), printed.read_groups(self.src)

        self.executed, self.results = (self.out / name / args.profile for name in ("executed", "results"))
        self.logs = self.out / "logs" / args.profile
        for folder in (self.executed, self.results, self.logs):
            folder.mkdir(parents=True, exist_ok=True)
        self.manifest = manifest.Manifest(self.executed / "manifest.json", self.results, manifest.inputs(self.src))

    def run(self) -> None:
        args = self.args
        due = [c for c in self.selected if args.only or not self._is_current(c)]
        self.env = environment.environment(self.src, self.out, self.work, parallel=max(1, min(args.jobs, len(due))))
        self.env["NUMBA_CACHE_DIR"] = str(self._compiled())
        os.environ.update(self.env)  # papermill reads from it where Jupyter's files are
        if due:
            environment.prepare(self.env)
        measured = self.src / "book" / "data" / "measured" / "chapters.csv"
        expected = self.manifest.expected(measured if args.profile == "full" else None)
        due.sort(key=lambda chapter: -expected.get(chapter.slug, float("inf")))  # the longest first
        others = "; the others are up to date" if len(due) < len(self.selected) else ""
        print(f"executing {len(due)} of {len(self.chapters)} chapters, profile {args.profile}{others}", file=sys.stderr)
        progress = execute.Progress([c.slug for c in due], expected, args.jobs)
        jobs = [self._job(chapter) for chapter in due]
        failures = execute.run_all(jobs, args.jobs, self.env, self.logs, self._publish, progress, self.guard)
        if failures:
            raise BuildError("\n".join(failures))
        self._judge_and_render()

    def _is_current(self, chapter: Chapter) -> bool:
        return self.manifest.is_current(chapter, self.chosen[chapter.slug])

    def _compiled(self) -> Path:
        """The folder for code that Numba compiled from exactly these sources.

        Numba notices a change in the file of a compiled function, but not in another file that the function calls.
        """
        chosen = self.out / "cache" / f"numba-{folders.digest(self.src, ('crowder',), pattern='*.py')[:16]}"
        for other in chosen.parent.glob("numba-*"):
            if other != chosen:
                shutil.rmtree(other, ignore_errors=True)
        return chosen

    def _job(self, chapter: Chapter) -> dict[str, Any]:
        """What a worker is told."""
        folder, notebook = self.work / "results" / chapter.slug, self.src / chapter.path
        folder.mkdir(parents=True)
        return {
            "slug": chapter.slug, "input": str(notebook), "cwd": str(notebook.parent), "results": str(folder),
            "output": str(self.work / notebook.name), "parameters": self.chosen[chapter.slug],
            "timeout": self.args.timeout,
        }  # fmt: skip

    def _publish(self, job: dict[str, Any], seconds: float) -> None:
        """Move one chapter's execution into place. The manifest, written last, has its checksums."""
        (chapter,) = (c for c in self.chapters if c.slug == job["slug"])
        parameters, notebook, results = job["parameters"], Path(job["output"]), Path(job["results"])
        # Fail early if the chapter cannot be rendered.
        to_myst.to_myst(json.loads(notebook.read_text(encoding="utf-8")), chapter.slug)
        for path in results.glob("*.json"):
            record = json.loads(path.read_text(encoding="utf-8"))
            record["parameters"] = chapter.defaults() | parameters | record.get("parameters", {})
            record |= {"chapter": chapter.slug, "profile": self.args.profile}
            path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        folders.replace(results, self.results / chapter.slug)
        notebook.replace(self.executed / notebook.name)
        self.manifest.record(chapter, parameters, seconds)

    def _judge_and_render(self) -> None:
        """Compare what was found with what is declared, and render the pages if all chapters are current."""
        lacking = [c.slug for c in self.others if not self._is_current(c)]
        judged = [c.slug for c in (self.selected if lacking else self.chapters)]
        entries = ledger.judge(self.declared, ledger.read_records(self.results, judged), complete=not lacking)
        numbers = printed.judge(self.groups, self.results, judged, complete=not lacking)
        changed = ledger.changes(entries) + printed.disagreements(numbers)
        if numbers:
            print(f"printed numbers: {printed.tally(numbers)}")
        if changed and not self.args.parameters:
            raise BuildError("\n".join(changed))
        if changed:  # what is declared holds for the book's own parameters; others may give other results
            print("\n".join(["with these parameters:", *changed]), file=sys.stderr)
        if lacking:
            print(f"results regenerated in {self.results}; the book was not rendered, because these chapters have no "
                  f"current execution in profile {self.args.profile}: {', '.join(lacking)}")  # fmt: skip
            return
        target = self.out / "html"
        folders.replace(self._render(entries, numbers), target)
        if counts := ", ".join(ledger.counted(status, count) for status, count in ledger.tally(entries).items()):
            print(f"claims: {counts}")
        print(f"the book is at {target / 'index.html'}")

    def _render(self, entries: list[dict[str, Any]], numbers: list[dict[str, Any]]) -> Path:
        """Render the pages; return their folder."""
        src = self.src
        render.place(self.chapters, self.executed, self.results, src)
        render.configure(src, self.args.profile, about.edition(int(self.env["SOURCE_DATE_EPOCH"])))
        measured = src / "book" / "data" / "measured"
        pages = {c.slug: c.path.with_suffix("").as_posix() for c in self.chapters}
        reports = {
            "ledger.json": json.dumps(entries, ensure_ascii=False, indent=1),  # for book.sphinx_ext.claims
            "ledger.csv": ledger.as_csv(entries), "printed.csv": printed.as_csv(numbers),  # for readers
            # What pages include.
            "printed.md": printed.as_markdown(numbers, pages),
            "ran.md": about.ran(self.results, [*pages], profile=self.args.profile, measured=measured),
            "faults.md": about.faults(measured),
        }  # fmt: skip
        for name, text in reports.items():
            (src / "results" / name).write_text(text, encoding="utf-8")
        html = render.render(src, self.work, self.logs / "sphinx.log", self.env, self.guard)
        render.offer_executed(html, self.chapters, self.executed, src)
        about.write_licences(html)
        (html / folders.DIGEST).write_text(self.digest + "\n", encoding="utf-8")
        return html


if __name__ == "__main__":
    sys.exit(main())
