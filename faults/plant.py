"""Plant wrong edits in a copy of the project, one at a time; each must make a test fail or change a claim.

    python faults/plant.py                     every fault of faults/faults.yml (`make faults`)
    python faults/plant.py edge-loses-ties     the faults of these names
    python faults/plant.py --missed            those not yet planted, or not noticed
    python faults/plant.py --list              list the faults

The unedited copy must first pass the same tests and chapters, because a test that fails anyway notices nothing. The
results go to _build/faults, even if the run is interrupted, and --missed continues from there. Once every fault has
been planted, they also go to book/data/measured/faults.csv, which the book shows. Exit code 1: a fault was not noticed,
or an edit no longer applies.
"""

from __future__ import annotations

import argparse
import csv
import queue
import signal
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True

# ruff: isort: split
from catalogue import Fault, Stale, read  # noqa: E402
from sandbox import Outcome, Sandbox  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]

#: The results so far, and the complete record that the book shows.
STATE, RECORD = Path("_build", "faults", "faults.csv"), Path("book", "data", "measured", "faults.csv")


def main(argv: list[str] | None = None, *, root: Path = ROOT) -> int:
    """Plant the chosen faults; 0 if all were noticed."""
    args = _arguments(argv)
    faults = read(root / "faults" / "faults.yml")
    if unknown := sorted(set(args.names) - {fault.name for fault in faults}):
        print(f"error: unknown faults: {', '.join(unknown)} (see --list)", file=sys.stderr)
        return 2
    state = root / STATE
    planted = recorded(state) if args.missed or args.names else {}
    noticed = {name for name, line in planted.items() if line["first"] or line["claims"]}
    chosen = [fault for fault in faults if fault.name in args.names or (not args.names and fault.name not in noticed)]
    if args.list:
        for fault in chosen:
            print(f"{fault.name:<40} {fault.kind:<15} {fault.file}")
        return 0
    stale = stale_edits(root, chosen)
    for line in stale:
        print(f"error: {line}", file=sys.stderr)
    if stale:
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # cleans up as Ctrl-C does
    with tempfile.TemporaryDirectory(prefix="crowder-faults-", ignore_cleanup_errors=True) as folder:
        sandboxes = [Sandbox(root, Path(folder) / str(number)) for number in range(min(args.jobs, len(chosen)))]
        outcomes: list[tuple[Fault, Outcome]] = []
        try:
            passed = run(sandboxes, chosen, outcomes, timeout=args.timeout)
        except KeyboardInterrupt:
            print(f"interrupted after {len(outcomes)} faults; the record is unchanged", file=sys.stderr)
            return 130
        finally:
            for sandbox in sandboxes:
                sandbox.close()
            planted |= {fault.name: row(fault, outcome) for fault, outcome in outcomes}
            rows = [planted[fault.name] for fault in faults if fault.name in planted]
            if outcomes:
                write(state, rows)
    if not passed:
        return 1
    if not args.names:
        record(root / RECORD, [line | {"first": "; ".join(line["first"].split("; ")[:3])} for line in rows])
    missed = [fault.name for fault, outcome in outcomes if not outcome.caught]
    if missed:
        print(f"error: not noticed: {', '.join(missed)}", file=sys.stderr)
    print(f"{len(outcomes) - len(missed)} of {len(outcomes)} faults were noticed; see {state.with_suffix('.md')}")
    return 1 if missed else 0


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help="faults to plant (default: all)")
    parser.add_argument("--missed", action="store_true", help="only faults not yet planted, or not noticed")
    parser.add_argument("--list", action="store_true", help="list the faults without planting them")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time, each in its own copy (default: 1)")
    parser.add_argument("--timeout", type=float, default=600,
                        help="seconds per fault; a fault that hangs counts as noticed (default: 600)")  # fmt: skip
    args = parser.parse_args(argv)
    if args.jobs < 1 or args.timeout <= 0:
        parser.error("--jobs and --timeout must be positive")
    if args.missed and args.names:
        parser.error("--missed cannot be combined with names")
    return args


def stale_edits(root: Path, faults: list[Fault]) -> list[str]:
    """A message for each edit that no longer applies."""
    lines = []
    for fault in faults:
        try:
            fault.applied((root / fault.file).read_text(encoding="utf-8"))
        except (Stale, OSError) as error:
            lines.append(str(error))
    return lines


def run(sandboxes: list[Sandbox], faults: list[Fault], done: list[tuple[Fault, Outcome]], *, timeout: float) -> bool:
    """Check the unedited project in each sandbox, then plant all faults; False if the check fails."""
    tests, chapters = ({name for fault in faults for name in getattr(fault, key)} for key in ("tests", "chapters"))
    if not faults:
        return True
    free: queue.SimpleQueue[Sandbox] = queue.SimpleQueue()
    _say(f"checking the unedited project: {len(tests)} targets, {len(chapters)} chapters")

    def one(fault: Fault) -> None:
        sandbox = free.get()
        try:
            outcome = sandbox.plant(fault, timeout=timeout)
        finally:
            free.put(sandbox)
        if not sandbox.stopped:
            result = "noticed" if outcome.caught else "NOT NOTICED"
            _say(f"{result}: {fault.name}: {in_words(outcome)}")
            done.append((fault, outcome))

    with ThreadPoolExecutor(len(sandboxes)) as pool:
        try:
            for outcome in pool.map(lambda sandbox: sandbox.check(faults, timeout=20 * timeout), sandboxes):
                if outcome.caught or outcome.trouble:
                    _say(f"error: the unedited project fails: {in_words(outcome)}")
                    return False
                _say(f"it passes ({outcome.seconds:.0f} s)")
            for sandbox in sandboxes:
                free.put(sandbox)
            list(pool.map(one, faults))
            return True
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for sandbox in sandboxes:
                sandbox.stop()
            raise


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def in_words(outcome: Outcome) -> str:
    """What noticed a fault, in one line."""
    parts = ["it hangs"] if outcome.hung else []
    if outcome.tests:
        parts.append(f"{len(outcome.tests)} tests ({', '.join(outcome.tests[:3])}{', …' * (len(outcome.tests) > 3)})")
    if outcome.claims:
        parts.append(f"claims {', '.join(outcome.claims)}")
    if outcome.trouble:
        parts.append(outcome.trouble)
    return f"{'; '.join(parts) or 'nothing'} [{outcome.seconds:.0f} s]"


COLUMNS = ("fault", "kind", "file", "why", "tests", "first", "claims")


def row(fault: Fault, outcome: Outcome) -> dict[str, str]:
    """One line of the record: how many tests noticed, their names, and the claims that changed."""
    names = dict.fromkeys(name.partition("[")[0] for name in outcome.tests)
    return {
        "fault": fault.name, "kind": fault.kind, "file": fault.file, "why": fault.why, "tests": str(len(outcome.tests)),
        "first": "; ".join(["it hangs"] * outcome.hung + [*names]), "claims": "; ".join(outcome.claims),
    }  # fmt: skip


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


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """Write the results so far, as CSV and as Markdown."""
    record(path, rows)
    missed = sum(not (line["first"] or line["claims"]) for line in rows)
    lines = ["# Planted faults", "", f"{len(rows) - missed} of {len(rows)} were noticed.", ""]
    for line in rows:
        by = "; ".join(filter(None, (f"{line['tests']} tests ({line['first']})" if line["first"] else "",
                                      f"claims {line['claims']}" if line["claims"] else "")))  # fmt: skip
        lines += [f"- **{line['fault']}** ({line['kind']}, `{line['file']}`): {line['why']}",
                  f"  {by or '**Not noticed.**'}"]  # fmt: skip
    path.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
