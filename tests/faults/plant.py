"""Plant wrong edits in a copy of the project, one at a time; each must make a test fail or a build stop.

    python tests/faults/plant.py                     every fault of this folder (`make faults`)
    python tests/faults/plant.py edge-loses-ties     the faults of these names
    python tests/faults/plant.py --new               those that are not in the record

The record is book/data/measured/faults.csv; it is written after each fault, so a run that was stopped can be continued
with --new. Exit code 1: a fault was not noticed, a patch no longer applies, or the unedited project fails.

A fault is a patch, NAME.patch, for `git apply`, which skips the lines before the edit: the `kind` of the fault, `why`
it is one, and the `tests` and `chapters` that should notice it. With `plain: true`, compiled functions run as plain
Python, because compiling them would take longer than the tests. With `full: true`, chapters have the book's own
parameters, of which numbers of the text and book/data/results are compared; otherwise those of the profile quick, of
which claims and assertions are. To write one, make the edit, and take it back by `git diff -U1 > NAME.patch` and
`git apply -R NAME.patch`.
"""

from __future__ import annotations

import argparse
import ast
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
RECORD = Path("book", "data", "measured", "faults.csv")
#: Of a fault: how many tests noticed, the first of them, and what the check of its chapters names first.
COLUMNS = ("fault", "tests", "first", "claims")
#: Seconds for the tests or the chapters of a fault; one that only hangs is not noticed, for nothing says what is wrong.
TIMEOUT = 600
#: Environment variables that would change the tests, and are removed.
REMOVED = {
    "CROWDER_RESULTS", "CROWDER_BOOK", "CROWDER_NIGHTLY", "CROWDER_REQUIRE", "PROFILE", "PYTEST_ADDOPTS",
    "NUMBA_DISABLE_JIT",
}  # fmt: skip
#: A line of the check; the record has what differs in it, without the sentence in which a number stands.
DIFFERS = re.compile(r"^[\w.-]+: (.+?)(?: in “.*”)?: the book has .*; computed: ", re.MULTILINE)


def read(root: Path) -> dict[str, dict]:
    """The catalogue: what the head of each patch says, by its name."""
    faults = {}
    for patch in sorted((root / "tests" / "faults").glob("*.patch")):
        head = patch.read_text(encoding="utf-8").partition("\n--- ")[0]
        said = dict(re.findall(r"^(\w+): (.+)$", head, re.MULTILINE))
        lists = {key: said.get(key, "").split() for key in ("tests", "chapters")}
        options = {key: said.get(key) == "true" for key in ("plain", "full")}
        faults[patch.stem] = {"patch": patch, "kind": said["kind"], "why": said["why"], **lists, **options}
    return faults


def apply(tree: Path, fault: dict, *options: str) -> None:
    """Apply the patch in a folder, or only --check or --reverse it; ValueError says why it does not apply."""
    # The folder may be within another repository, whose files the paths would name.
    env = os.environ | {"GIT_CEILING_DIRECTORIES": str(tree.resolve().parent)}
    command = ["git", "apply", "--whitespace=nowarn", *options, str(fault["patch"])]
    done = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{fault['patch'].name} does not apply: {done.stderr.strip()}")


def copy(root: Path, folder: Path) -> None:
    """Copy the project into ``folder / "tree"``, where faults are planted."""
    made = shutil.ignore_patterns(".git", ".venv", "_build", ".*_cache", "__pycache__", ".hypothesis")
    shutil.copytree(root, folder / "tree", ignore=made)


def check(folder: Path, faults: list[dict]) -> tuple[list[str], list[str]]:
    """What fails in the unedited copy; the compiled code of these runs is kept for those of the faults."""
    failed, changed = [], []
    for options in ((True, False), (False, True), (False, False)):
        those = [fault for fault in faults if (fault["plain"], fault["full"]) == options]
        both = ({target for fault in those for target in fault[key]} for key in ("tests", "chapters"))
        found = run(folder, *both, *options)
        failed, changed = failed + found[0], changed + found[1]
    (folder / "cache").mkdir(exist_ok=True)
    (folder / "cache").rename(folder / "compiled")
    return failed, changed


def plant(folder: Path, fault: dict) -> tuple[list[str], list[str]]:
    """Plant the fault, run its tests and chapters, and take it back, with the files' times of change.

    Numba compiles the functions of the edited file anew, but not those elsewhere that have its constants built in: such
    a fault counts as not noticed.
    """
    shutil.rmtree(folder / "cache", ignore_errors=True)
    shutil.copytree(folder / "compiled", folder / "cache")
    names = re.findall(r"^\+\+\+ b/(.+)$", fault["patch"].read_text(encoding="utf-8"), re.MULTILINE)
    times = {path: path.stat() for name in names if (path := folder / "tree" / name).exists()}
    apply(folder / "tree", fault)
    for path in times:
        if path.suffix == ".py":
            ast.parse(path.read_text(encoding="utf-8"), str(path))  # what cannot be read is noticed by any test
    found = run(folder, *(fault[key] for key in ("tests", "chapters", "plain", "full")), timeout=TIMEOUT)
    apply(folder / "tree", fault, "--reverse")
    for path, was in times.items():
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    return found


def run(
    folder: Path, tests: Iterable[str] = (), chapters: Iterable[str] = (), plain: bool = False, full: bool = False,
    timeout: float | None = None,
) -> tuple[list[str], list[str]]:  # fmt: skip
    """The tests that fail in the copy, without their parameters, and where its chapters stop or differ."""
    failed, changed = [], []
    if tests:
        # Where a target names a module, its doctests are run, too; our timeout takes the place of that of each test.
        options = ["-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-p", "no_shrinking", "-o", "timeout=0"]
        options += ["-o", "addopts=--strict-markers --doctest-modules"]
        code, said = start(folder, ["pytest", *options, *sorted(tests)], plain, timeout)
        names = re.findall(r"^(?:FAILED|ERROR) (?:\S*/)?(\w+)\.py(::\S+?)?(?:\[.*|$| - )", said, re.MULTILINE)
        failed = list(dict.fromkeys(map("".join, names)))  # a whole file, where it cannot even be imported
        if code and not failed:
            failed = [f"pytest ended with {code}: {' '.join(said[-300:].split())}"]
    if chapters:
        those = [*sorted(chapters), "--profile", "full" if full else "quick"]
        code, said = start(folder, ["book.run", *those, "--jobs", "1"], plain, timeout)
        changed = re.findall(r"^(?:error: )?([\w-]+: cell \d+) of \d+: ", said, re.MULTILINE)
        if code == 0:
            code, said = start(folder, ["book.check", *those], plain, timeout)
            changed = DIFFERS.findall(said)[:5]
        if code and not changed:
            changed = [f"ended with {code}: {' '.join(said[-300:].split())}"]
    return failed, changed


def start(folder: Path, command: list[str], plain: bool, timeout: float | None) -> tuple[int | None, str]:
    """Exit code, if it ended in time, and output of a module of Python; whatever it has started ends with it."""
    env = {name: value for name, value in os.environ.items() if name not in REMOVED}
    paths = (folder / "tree", folder / "tree" / "tool", HERE)  # also for processes that tests start
    env |= {"PYTHONPATH": os.pathsep.join(map(str, paths)), "NUMBA_CACHE_DIR": str(folder / "cache")}
    env |= {"PYTHONDONTWRITEBYTECODE": "1"} | ({"NUMBA_DISABLE_JIT": "1"} if plain else {})
    with (folder / "output.txt").open("w+", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen([sys.executable, "-m", *command], cwd=folder / "tree", env=env, stdout=log,
                                   stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)  # fmt: skip
        code = None
        try:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout)
        finally:
            with suppress(ProcessLookupError, PermissionError):  # it has ended (PermissionError on macOS)
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        log.seek(0)
        return code, log.read().strip()


def main() -> int:
    """Plant the chosen faults; 0 if all were noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help="faults to plant (default: all)")
    parser.add_argument("--new", action="store_true", help="only faults that are not in the record")
    args, root = parser.parse_args(), HERE.parents[1]
    faults, rows = read(root), recorded(root)
    if unknown := sorted(set(args.names) - faults.keys()):
        parser.error(f"unknown faults: {', '.join(unknown)}")
    names = [name for name in args.names or faults if not (args.new and name in rows)]
    chosen = [faults[name] for name in names]
    for fault in chosen:
        apply(root, fault, "--check")  # before any is planted
    missed = []
    with tempfile.TemporaryDirectory(prefix="crowder-faults-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        copy(root, folder)
        if any(usual := check(folder, chosen)):
            sys.exit(f"error: the unedited project fails: {usual}")
        for name in names:
            failed, changed = plant(folder, faults[name])
            noticed = "; ".join([*failed[:3], *changed])
            missed += [] if noticed else [name]
            print(f"{name}: {noticed or 'NOT NOTICED'}", flush=True)
            found = (name, str(len(failed)), "; ".join(failed[:3]), "; ".join(changed))
            rows[name] = dict(zip(COLUMNS, found, strict=True))
            record(root, [rows[name] for name in faults if name in rows])
    if missed:
        print(f"error: not noticed: {', '.join(missed)}", file=sys.stderr)
    return bool(missed)


def record(root: Path, rows: list[dict[str, str]]) -> None:
    """Write rows as CSV, atomically."""
    part = (root / RECORD).with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    part.replace(root / RECORD)


def recorded(root: Path) -> dict[str, dict[str, str]]:
    """The recorded rows by fault."""
    with (root / RECORD).open(encoding="utf-8", newline="") as file:
        return {row["fault"]: row for row in csv.DictReader(file)}


if __name__ == "__main__":
    sys.exit(main())
