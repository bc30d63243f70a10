"""Plant wrong edits in a copy of the project, one at a time; each must make a test fail or a build stop.

    python tests/faults/plant.py                     every fault of faults.yml (`make faults`)
    python tests/faults/plant.py edge-loses-ties     the faults of these names
    python tests/faults/plant.py --new               those that are not in the record

The record is book/data/measured/faults.csv; it is written after each fault, so a run that was stopped can be continued
with --new. Exit code 1: a fault was not noticed, an edit no longer applies, or the unedited project
fails.

A fault is an edit, `old` to `new` in `file`, with the `tests` and `chapters` that should notice it. `old` occurs once
in the file or, with `near`, is the first occurrence after that text, which occurs once. With `plain`, compiled
functions run as plain Python, because compiling them would take longer than the tests. With `full`, chapters have the
book's own parameters, of which numbers of the text and book/data/results are compared; otherwise those of the profile
quick, of which claims and assertions are.
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

import yaml

HERE = Path(__file__).resolve().parent
RECORD = Path("book", "data", "measured", "faults.csv")
#: Of a fault: how many tests noticed, the first of them, and what the check of its chapters names first.
COLUMNS = ("fault", "kind", "file", "why", "tests", "first", "claims")
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
    """The catalogue: each fault by its name."""
    return {fault["name"]: fault for fault in yaml.safe_load((root / "tests/faults/faults.yml").read_text("utf-8"))}


def edited(root: Path, fault: dict) -> str:
    """The text of the file with the fault; ValueError if the edit no longer applies."""
    text, old = (root / fault["file"]).read_text(encoding="utf-8"), fault["old"]
    place = fault.get("near", old)
    if (times := text.count(place)) != 1:
        raise ValueError(f"{fault['name']}: {place!r} occurs {times} times in {fault['file']}, not once")
    before, near, after = text.partition(place)
    if old not in near + after:
        raise ValueError(f"{fault['name']}: {old!r} does not occur after {place!r}")
    text = before + (near + after).replace(old, fault["new"], 1)
    if fault["file"].endswith(".py"):
        ast.parse(text, fault["file"])
    return text


def copy(root: Path, folder: Path) -> None:
    """Copy the project into ``folder / "tree"``, where faults are planted."""
    made = shutil.ignore_patterns(".git", ".venv", "_build", ".*_cache", "__pycache__", ".hypothesis")
    shutil.copytree(root, folder / "tree", ignore=made)


def check(folder: Path, faults: list[dict]) -> tuple[list[str], list[str]]:
    """What fails in the unedited copy; the compiled code of these runs is kept for those of the faults."""
    failed, changed = [], []
    for option in ({"plain": True}, {"full": True}, {}):
        those = [fault for fault in faults if {name: True for name in ("plain", "full") if fault.get(name)} == option]
        both = {key: {target for fault in those for target in fault.get(key, ())} for key in ("tests", "chapters")}
        found = run(folder, **both, **option)
        failed, changed = failed + found[0], changed + found[1]
    (folder / "cache").mkdir(exist_ok=True)
    (folder / "cache").rename(folder / "compiled")
    return failed, changed


def plant(folder: Path, fault: dict) -> tuple[list[str], list[str]]:
    """Plant the fault, run its tests and chapters, and put the file back, with its time of change.

    Numba compiles the functions of the edited file anew, but not those elsewhere that have its constants built in: such
    a fault counts as not noticed.
    """
    path, kept = folder / "tree" / fault["file"], folder / "kept"
    shutil.copy2(path, kept)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    shutil.copytree(folder / "compiled", folder / "cache")
    path.write_text(edited(folder / "tree", fault), encoding="utf-8")
    options = {key: fault[key] for key in ("tests", "chapters", "plain", "full") if key in fault}
    found = run(folder, **options, timeout=TIMEOUT)
    shutil.copy2(kept, path)
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
    env |= {"PYTHONPATH": f"{folder / 'tree'}{os.pathsep}{HERE}", "NUMBA_CACHE_DIR": str(folder / "cache")}
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


def main(argv: list[str] | None = None, *, root: Path = HERE.parents[1]) -> int:
    """Plant the chosen faults; 0 if all were noticed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help="faults to plant (default: all)")
    parser.add_argument("--new", action="store_true", help="only faults that are not in the record")
    args = parser.parse_args(argv)
    faults, rows = read(root), recorded(root)
    if unknown := sorted(set(args.names) - faults.keys()):
        parser.error(f"unknown faults: {', '.join(unknown)}")
    chosen = [faults[name] for name in args.names or faults if not (args.new and name in rows)]
    for fault in chosen:
        edited(root, fault)  # before any is planted
    missed = []
    with tempfile.TemporaryDirectory(prefix="crowder-faults-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        copy(root, folder)
        if any(usual := check(folder, chosen)):
            sys.exit(f"error: the unedited project fails: {usual}")
        for fault in chosen:
            failed, changed = plant(folder, fault)
            noticed = "; ".join([*failed[:3], *changed])
            missed += [] if noticed else [fault["name"]]
            print(f"{fault['name']}: {noticed or 'NOT NOTICED'}", flush=True)
            found = (str(len(failed)), "; ".join(failed[:3]), "; ".join(changed))
            known = (fault["name"], fault["kind"], fault["file"], fault["why"])
            rows[fault["name"]] = dict(zip(COLUMNS, known + found, strict=True))
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
