"""Execute the chapters, then render the book from exactly what was executed.

    python -m book.build                          the whole book, into _build/html
    python -m book.build --again                  the same, and execute chapters of which nothing has changed, too
    python -m book.build --profile quick          with the smaller values of book/data/profiles.yml
    python -m book.build --only 08 -p seed=7      one chapter, with a parameter of your own
    python -m book.build --only 08 --preview      one chapter, and its page alone, in _build/preview

A chapter is executed if its notebook, its parameters, the modules it imports, their data or the versions of packages
have changed since its last execution, or if `--only` names it.

All output is written under a temporary name and moved into place once it is complete, so a build that is killed leaves
the last complete results as they were.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True  # write nothing among the sources; must precede our own imports
if __name__ == "__main__" and (_heeded := signal.getsignal(signal.SIGINT)) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C during the imports ends silently

# ruff: isort: split
from book.build import compiled_cache, environment, execute, folders, processes, render, to_myst  # noqa: E402
from book.build.chapters import (  # noqa: E402
    BuildError,
    Chapter,
    os_error_message,
    overrides,
    parse_assignments,
    read_chapters,
    read_profiles,
    select,
)
from book.build.environment import ROOT, WORK  # noqa: E402
from book.build.manifest import Manifest  # noqa: E402
from book.reports import about, ledger, printed  # noqa: E402
from crowder import files  # noqa: E402


def main(argv: list[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # a terminal that cannot print ε must not stop the build
    try:
        args = _arguments(argv)
        # SIGTERM and SIGHUP clean up as Ctrl-C does; under nohup, SIGHUP stays ignored.
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, lambda number, _: sys.exit(128 + number))
        with folders.build_lock(args.output):
            code = build(args)
        sys.stdout.flush()  # here a full disk is reported as an error, at exit as a traceback
        return code
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        with contextlib.suppress(OSError):  # writing to stderr may be what failed
            print(f"error: {os_error_message(error)}", file=sys.stderr)
            sys.stderr.flush()
        _silence()
        return 1
    except KeyboardInterrupt:
        print("interrupted; the last complete results are untouched", file=sys.stderr)
        return 130


def _silence() -> None:
    """Discard output that cannot be written, so that it does not fail again when Python exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m book.build", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--profile", default="full", help="full (the default), or a name in book/data/profiles.yml")
    parser.add_argument(
        "--only", action="append", default=[], nargs="+", metavar="NN", help="execute only these chapters"
    )
    parser.add_argument("--again", action="store_true", help="execute chapters that are up to date, too")
    parser.add_argument("-p", action="append", default=[], metavar="name=value", dest="parameters",
                        help="set a parameter in the selected chapters that have it")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1,
                        help="chapters at a time (default: one per core)")  # fmt: skip
    parser.add_argument("--timeout", type=int, default=2400, help="seconds that a cell may run (default: 2400)")
    parser.add_argument("--preview", action="store_true",
                        help="render only the chapters executed now, into preview/; "
                             "warnings are shown but are not errors")  # fmt: skip
    parser.add_argument("--output", type=Path, default=ROOT / "_build", help="output folder (default: _build)")
    args = parser.parse_args(argv)
    args.only = [name for names in args.only for name in names]
    try:
        args.output = args.output.resolve()
    except (OSError, RuntimeError) as error:  # a symbolic link to itself; the class depends on the version of Python
        parser.error(f"--output {args.output}: {error}")
    if args.jobs < 1 or args.timeout < 1:
        parser.error("--jobs and --timeout must be at least 1")
    return args


def build(args: argparse.Namespace) -> int:
    chapters = read_chapters(ROOT)
    profiles = read_profiles(ROOT, chapters)
    if args.profile not in profiles:
        raise BuildError(f"--profile {args.profile}: expected one of {', '.join(profiles)}")
    profile = profiles[args.profile]
    selected = select(chapters, args.only)
    catalogue = ledger.read_catalogue(ROOT, chapters, only=selected if args.preview else None)
    groups = printed.read_groups(ROOT, chapters)
    chosen = overrides(selected, profile, parse_assignments(args.parameters))

    out = args.output
    executed, results = out / "executed" / args.profile, out / "results" / args.profile
    executed.mkdir(parents=True, exist_ok=True)
    results.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".work-", dir=out))
    try:
        src = folders.copy_sources(ROOT, work, out / "src")
        (work / folders.DIGEST).write_text(folders.digest(src) + "\n", encoding="utf-8")
        # Fingerprints are taken from the copy, so edits during the build do not count as executed.
        copies = {c.slug: Chapter(c.slug, c.path, src) for c in chapters}
        code = compiled_cache.folder(src, out / "cache")
        manifest = Manifest(executed / "manifest.json", args.profile, results)
        due = [
            chapter for chapter in selected
            if args.only or args.again or not manifest.is_current(copies[chapter.slug], chosen[chapter.slug])
        ]  # fmt: skip
        env = environment.environment(src, out, work, parallel=max(1, min(args.jobs, len(due))))
        env["NUMBA_CACHE_DIR"] = str(code)
        environment.find_fonts(env)
        jobs, expected = [], manifest.expected(src / "book" / "data" / "measured" / "chapters.csv")
        for chapter in sorted(due, key=lambda c: -expected.get(c.slug, float("inf"))):  # the longest first
            folder = work / "results" / chapter.slug
            folder.mkdir(parents=True)
            jobs.append({
                "slug": chapter.slug, "input": str(src / chapter.path), "cwd": str((src / chapter.path).parent),
                "output": str(work / f"{chapter.slug}.ipynb"), "results": str(folder),
                "parameters": chosen[chapter.slug], "timeout": args.timeout,
            })  # fmt: skip

        def publish(job: dict[str, Any], took: dict[str, Any]) -> None:
            """Move one chapter's execution into place: results, notebook, and last its entry in the manifest."""
            copy, parameters = copies[job["slug"]], job["parameters"]
            notebook = Path(job["output"])
            # Fail early if the chapter cannot be rendered.
            to_myst.to_myst(json.loads(notebook.read_text(encoding="utf-8")), copy.slug, "")
            folders.complete_records(Path(job["results"]), copy, args.profile, parameters)
            manifest.forget(copy.slug)
            folders.swap(Path(job["results"]), results / copy.slug)
            notebook.replace(executed / f"{copy.slug}.ipynb")
            manifest.record(copy, parameters, took, executed / f"{copy.slug}.ipynb")

        others = "; the others are up to date" if len(due) < len(selected) else ""
        print(f"executing {len(due)} of {len(chapters)} chapters, profile {args.profile}{others}", file=sys.stderr)
        try:
            failures = execute.run_all(jobs, args.jobs, env, out / "logs" / args.profile, publish, expected)
        finally:
            compiled_cache.seal(code)
        if failures:
            raise BuildError("\n".join(failures + _unchecked(catalogue, failures)))
        return _render(args, chapters, selected, copies, chosen, profile, manifest, src, work, env, catalogue, groups)
    finally:
        processes.end(WORK, str(work))
        shutil.rmtree(work, ignore_errors=True)


def _unchecked(catalogue: dict[str, Any], failures: list[str]) -> list[str]:
    """A line for each failed chapter that names the claims it would have checked."""
    lines = []
    for slug in sorted({failure.partition(":")[0] for failure in failures}):
        names = [name for name, entry in catalogue.items() if entry["chapter"] == slug]
        if names:
            lines.append(f"{slug}: not checked in this run: {', '.join(names)}")
    return lines


def _render(args, chapters, selected, copies, chosen, profile, manifest, src, work, env, catalogue, groups) -> int:
    """Render the pages if all their chapters have a current execution; otherwise report those that lack one."""
    out, slugs = args.output, {c.slug for c in selected}
    executed, results = out / "executed" / args.profile, out / "results" / args.profile
    shown = selected if args.preview else chapters
    lacking = []
    for chapter in [c for c in shown if c.slug not in slugs]:
        values = {chapter.slug: {}}
        if chapter.exists():
            values = overrides([chapter], profile, {})
        if not chapter.exists() or not manifest.is_current(copies[chapter.slug], values[chapter.slug]):
            lacking.append(chapter.slug)
    judged = [c.slug for c in (selected if lacking else shown)]
    entries = ledger.judge(catalogue, ledger.read_records(results, judged), judged)
    numbers = printed.judge(groups, results, judged)
    changed = ledger.changes(entries) + printed.disagreements(numbers)
    if numbers:
        print(f"printed numbers: {printed.tally(numbers)}")
    if changed and args.parameters:
        # What is declared holds for the book's own parameters; others may give other results.
        print("\n".join(["with these parameters:", *changed]), file=sys.stderr)
    failed = bool(changed and not args.parameters)
    if lacking:
        if failed:
            raise BuildError("\n".join(changed))
        print(f"results regenerated in {results}; the book was not rendered, because these chapters have no current "
              f"execution in profile {args.profile}: {', '.join(lacking)}\n"
              "(run the build without --only, or render these pages alone with --preview)")  # fmt: skip
        return 0
    to_myst.check_unique_names({c.slug: results / c.slug for c in shown})
    render.place(shown, executed, results, src)
    render.configure(src, profile=args.profile, keep=selected if args.preview else None)
    (src / "ledger.json").write_text(json.dumps(entries, ensure_ascii=False, indent=1), encoding="utf-8")
    (src / "results").mkdir(exist_ok=True)
    (src / "results" / "ledger.csv").write_text(ledger.as_csv(entries), encoding="utf-8")
    (src / "printed.json").write_text(json.dumps(numbers, ensure_ascii=False, indent=1), encoding="utf-8")
    (src / "results" / "printed.csv").write_text(printed.as_csv(numbers), encoding="utf-8")
    known = about.facts(manifest, shown, profile=args.profile, results=results, data=src / "book" / "data")
    (src / "about.json").write_text(json.dumps(known, ensure_ascii=False, indent=1), encoding="utf-8")
    html = render.render(src, work, out / "logs" / args.profile / "sphinx.log", env, strict=not args.preview)
    render.offer_executed(html, shown, executed)
    about.copy_texts(html)
    shutil.copy(work / folders.DIGEST, html)
    if not args.preview:
        for name in ("ledger.csv", "printed.csv"):
            files.write(results / name, (src / "results" / name).read_bytes())
    # Pages with an unexpected ledger are for the author; they do not replace the good ones.
    target = out / ("preview" if args.preview else "changed" if failed else "html")
    folders.swap(html, target)
    counts = ", ".join(ledger.counted(status, count) for status, count in ledger.tally(entries).items())
    if counts:
        print(f"claims: {counts}")
    if failed:
        raise BuildError("\n".join([*changed, f"the pages with the new ledger are in {target}"]))
    print(f"the {'page' if args.preview else 'book'} is at {target / 'index.html'}")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, _heeded)
    sys.exit(main())
