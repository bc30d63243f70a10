"""Plant wrong edits in a copy of the project, one at a time; each must make a test fail or a build stop.

    python tests/faults/plant.py                     every fault of faults.yml (`make faults`)
    python tests/faults/plant.py edge-loses-ties     the faults of these names
    python tests/faults/plant.py --new               those that are not in the record

The record, which the book shows, is book/data/measured/faults.csv; it is written after each fault, so a run that was
stopped goes on with --new. Exit code 1: a fault was not noticed, an edit no longer applies, or the unedited project
fails.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

RECORD = Path("book", "data", "measured", "faults.csv")
#: Of a fault: how many tests noticed, the first of them, and the claims that changed.
COLUMNS = ("fault", "kind", "file", "why", "tests", "first", "claims")

#: Environment variables that would change the tests, and are removed.
REMOVED = (
    "CROWDER_RESULTS", "CROWDER_BOOK", "CROWDER_NIGHTLY", "CROWDER_REQUIRE", "PYTEST_ADDOPTS", "NUMBA_DISABLE_JIT",
)  # fmt: skip

# --- the catalogue ---------------------------------------------------------------------------------------------------


class Stale(Exception):
    """An edit of the catalogue that no longer applies."""


@dataclass(frozen=True)
class Fault:
    """One wrong edit, `old` to `new` in `file`, with the tests and chapters that should notice it.

    In a notebook it is an edit of a cell, as JSON writes it, and its chapter should notice.

    `old` occurs once in the file or, with `near`, is the first occurrence after that text, which occurs once. With
    `plain`, compiled functions run as plain Python, because compiling them would take longer than the tests. With
    `full`, chapters have the book's own parameters, of which numbers of the text and held values are compared.
    """

    name: str
    kind: str
    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...] = ()
    chapters: tuple[str, ...] = ()
    near: str = ""
    plain: bool = False
    full: bool = False

    def applied(self, text: str) -> str:
        """The text of the file with the fault; `Stale` if the place is not unique or the result is not Python."""
        place = self.near or self.old
        if (times := text.count(place)) != 1:
            raise Stale(f"{self.name}: {place!r} occurs {times} times in {self.file}, not once")
        at = text.find(self.old, text.index(place))
        edited = text[:at] + self.new + text[at + len(self.old) :]
        if at < 0 or edited == text:
            raise Stale(f"{self.name}: {self.old!r} does not occur after {self.near!r}, or is not changed")
        try:
            for source in _sources(self.file, edited):
                ast.parse(source)
        except (SyntaxError, json.JSONDecodeError) as error:
            raise Stale(f"{self.name}: the edited file is not Python: {error}") from None
        return edited


def _sources(file: str, text: str) -> list[str]:
    """The Python of a file: all of a module, the code cells of a notebook."""
    if file.endswith(".ipynb"):
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return [text] if file.endswith(".py") else []


def read(path: Path) -> list[Fault]:
    """All faults of the catalogue, in order."""
    faults = []
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        lists = {key: tuple(entry.get(key, ())) for key in ("tests", "chapters")}
        faults.append(Fault(**entry | lists))
    return faults


# --- a copy of the project -------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What noticed a fault: failed tests and changed claims. That something never ends names no fault."""

    tests: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    hangs: bool = False

    @property
    def noticed(self) -> bool:
        return bool(self.tests or self.claims)

    def __str__(self) -> str:
        return "; ".join(["it hangs"] * self.hangs + [*self.tests[:3], *self.claims]) or "nothing"


class Copy:
    """A copy of the project, in which faults are planted.

    Each run has the compiled code of the unedited project. Numba compiles the functions of the edited file anew, but
    not those elsewhere that have its constants built in: such a fault counts as not noticed.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.tree, self.folder = folder / "tree", folder
        self.cache, self.compiled = folder / "cache", folder / "compiled"
        for name in files(root):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, self.tree / name)

    def check(self, faults: Iterable[Fault], timeout: float) -> Outcome:
        """What fails in the unedited project, whose compiled code is kept."""
        tests = {plain: {t for fault in faults if fault.plain == plain for t in fault.tests} for plain in (True, False)}
        plain = self._run(tests[True], (), True, timeout)
        small, full = ({c for fault in faults if fault.full == full for c in fault.chapters} for full in (False, True))
        compiled, own = self._run(tests[False], small, False, timeout), self._run((), full, False, timeout, full=True)
        self.cache.mkdir(exist_ok=True)
        self.cache.rename(self.compiled)
        hangs = plain.hangs or compiled.hangs or own.hangs
        return Outcome(plain.tests + compiled.tests, compiled.claims + own.claims, hangs)

    def plant(self, fault: Fault, timeout: float) -> Outcome:
        """Plant the fault, run its tests and chapters, and put the file back, with its time of change."""
        path, kept = self.tree / fault.file, self.folder / "kept"
        shutil.copy2(path, kept)
        shutil.rmtree(self.cache, ignore_errors=True)
        shutil.copytree(self.compiled, self.cache)
        try:
            path.write_text(fault.applied(path.read_text(encoding="utf-8")), encoding="utf-8")
            return self._run(fault.tests, fault.chapters, fault.plain, timeout, full=fault.full)
        finally:
            shutil.copy2(kept, path)

    def _run(
        self, tests: Iterable[str], chapters: Iterable[str], plain: bool, timeout: float, *, full: bool = False
    ) -> Outcome:
        outcome = Outcome()
        if tests:
            report = self.folder / "report.xml"
            report.unlink(missing_ok=True)
            # -o: where a target names a module, its doctests are run; no summary.
            options = ["-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no_shrinking", f"--junit-xml={report}"]
            options += ["-o", "addopts=--strict-markers --doctest-modules"]
            code, said = self._start([sys.executable, "-m", "pytest", *options, *sorted(tests)], plain, timeout)
            outcome.tests, late = failed(report)
            outcome.hangs = code is None or late
            if code and not outcome.tests and not late:
                outcome.tests = (f"pytest ended with {code}: {said[-300:]}",)
        if chapters:
            build = [sys.executable, "-m", "book.make", "--profile", "full" if full else "quick", "--jobs", "1"]
            build += ["--output", str(self.folder / "book"), *(w for c in sorted(chapters) for w in ("--only", c))]
            code, said = self._start(build, plain, timeout)
            outcome.hangs = outcome.hangs or code is None
            if code:
                outcome.claims = changed(said) or (f"the build ended with {code}: {said[-300:]}",)
        return outcome

    def _start(self, command: list[str], plain: bool, timeout: float) -> tuple[int | None, str]:
        """Exit code and output of a command; no code if it took too long."""
        env = {name: value for name, value in os.environ.items() if name not in REMOVED}
        env |= {"PYTHONPATH": f"{self.tree}{os.pathsep}{HERE}", "NUMBA_CACHE_DIR": str(self.cache)}
        env |= {"PYTHONDONTWRITEBYTECODE": "1"} | ({"NUMBA_DISABLE_JIT": "1"} if plain else {})
        with (self.folder / "output.txt").open("w+", encoding="utf-8", errors="replace") as log:
            process = subprocess.Popen(command, cwd=self.tree, env=env, start_new_session=True,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip
            code = None
            try:
                with suppress(subprocess.TimeoutExpired):
                    code = process.wait(timeout)
            finally:  # whatever it has started goes with it
                with suppress(ProcessLookupError, PermissionError):  # it has ended (PermissionError on macOS)
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            log.seek(0)
            return code, log.read().strip()


def files(root: Path) -> list[Path]:
    """The files of the project that git does not ignore."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    return [Path(name) for name in sorted(set(listed.split("\0"))) if (root / name).is_file()]


def failed(report: Path) -> tuple[tuple[str, ...], bool]:
    """The failed tests in a report of pytest, without their parameters, and whether one was stopped at its limit of
    time; none if there is no report."""
    names, late = {}, False
    for case in ET.parse(report).iter("testcase") if report.exists() else ():
        said = [part.get("message", "") for part in case if part.tag in ("failure", "error")]
        if said and said[0].startswith("Failed: Timeout"):
            late = True
        elif said:
            where = case.get("classname", "").rpartition(".")[2]
            name = str(case.get("name")).partition("[")[0]
            names[f"{where}::{name}" if where else name] = True
    return tuple(names), late


def changed(said: str) -> tuple[str, ...]:
    """The claims, printed numbers, held values and numbers of the text that changed, and the chapters that stopped,
    from the output of a build."""
    claims = re.findall(r"^(?:error: )?[\w-]+: ([BCE]\d+) changed: ", said, re.MULTILINE)
    printed = re.findall(r"^(?:error: )?[\w-]+: ([^:\n]*?) no longer agrees: ", said, re.MULTILINE)
    stopped = re.findall(r"^(?:error: )?([\w-]+): cell \d+ of \d+ failed: ", said, re.MULTILINE)
    held = re.findall(r"^(?:error: )?[\w-]+: (.+?): held .*; found ", said, re.MULTILINE)
    text = re.findall(r"^(?:error: )?[\w-]+: the text says .*, and (.+?) is .*, in: ", said, re.MULTILINE)
    ways = {"printed": printed, "held": held, "text": text}
    return (*claims, *(f"{way} {name}" for way, names in ways.items() for name in names),
            *(f"{slug} stopped" for slug in stopped))  # fmt: skip


# --- the command -----------------------------------------------------------------------------------------------------


def main(argv: list[str] | None = None, *, root: Path = ROOT) -> int:
    """Plant the chosen faults; 0 if all were noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help="faults to plant (default: all)")
    parser.add_argument("--new", action="store_true", help="only faults that are not in the record")
    parser.add_argument("--timeout", type=float, default=600,
                        help="seconds per fault; one that only hangs is not noticed (default: 600)")  # fmt: skip
    args = parser.parse_args(argv)
    faults = {fault.name: fault for fault in read(root / "tests" / "faults" / "faults.yml")}
    if unknown := sorted(set(args.names) - set(faults)):
        print(f"error: unknown faults: {', '.join(unknown)}", file=sys.stderr)
        return 2
    planted = recorded(root / RECORD)
    chosen = [f for f in faults.values() if (f.name in args.names or not args.names)
              and not (args.new and f.name in planted)]  # fmt: skip
    if stale := stale_edits(root, chosen):
        print(*(f"error: {line}" for line in stale), sep="\n", file=sys.stderr)
        return 1
    missed = []
    with tempfile.TemporaryDirectory(prefix="crowder-faults-", ignore_cleanup_errors=True) as folder:
        copy = Copy(root, Path(folder))
        usual = copy.check(chosen, 20 * args.timeout)
        if usual.noticed or usual.hangs:
            print(f"error: the unedited project fails: {usual}", file=sys.stderr)
            return 1
        for fault in chosen:
            started = time.monotonic()
            outcome = copy.plant(fault, args.timeout)
            print(f"{'noticed' if outcome.noticed else 'NOT NOTICED'}: {fault.name}: {outcome} "
                  f"[{time.monotonic() - started:.0f} s]", file=sys.stderr, flush=True)  # fmt: skip
            missed += [] if outcome.noticed else [fault.name]
            planted[fault.name] = dict(zip(COLUMNS, (
                fault.name, fault.kind, fault.file, fault.why, str(len(outcome.tests)), "; ".join(outcome.tests[:3]),
                "; ".join(outcome.claims)), strict=True))  # fmt: skip
            record(root / RECORD, [planted[name] for name in faults if name in planted])
    if missed:
        print(f"error: not noticed: {', '.join(missed)}", file=sys.stderr)
    return 1 if missed else 0


def stale_edits(root: Path, faults: Iterable[Fault]) -> list[str]:
    """A message for each edit that no longer applies."""
    lines = []
    for fault in faults:
        try:
            fault.applied((root / fault.file).read_text(encoding="utf-8"))
        except (Stale, OSError) as error:
            lines.append(str(error))
    return lines


def record(path: Path, rows: list[dict[str, str]]) -> None:
    """Write rows as CSV, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    temporary.replace(path)


def recorded(path: Path) -> dict[str, dict[str, str]]:
    """The recorded rows by fault; none if there is no file."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {line["fault"]: line for line in csv.DictReader(file)}


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # cleans up as Ctrl-C does
    sys.exit(main())
