"""Plant wrong edits in a copy of the project, one at a time; each must turn a test or a verdict red.

    python faults/plant.py                     every fault of faults/faults.yml (`make faults`)
    python faults/plant.py edge-loses-ties     the faults so named
    python faults/plant.py --missed            those that no run has planted since, or that nothing noticed
    python faults/plant.py --list              what there is

First the unedited copy must pass the very tests and chapters: where they fail anyway, they catch nothing. What was
noticed, and by whom, goes to _build/faults, also of a run that is interrupted: --missed goes on from there. When every
fault has been planted, book/data/measured/faults.csv has it, which the book shows. Exit code 1: a fault that nothing
noticed, or an edit that no longer applies.
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
from workshop import Outcome, Workshop  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]

#: What has been planted so far, and what the book shows of it.
STATE, RECORD = Path("_build", "faults", "faults.csv"), Path("book", "data", "measured", "faults.csv")


def main(argv: list[str] | None = None, *, root: Path = ROOT) -> int:
    """Plant the faults that were asked for; 0 if all were noticed."""
    args = _arguments(argv)
    faults = read(root / "faults" / "faults.yml")
    if unknown := sorted(set(args.names) - {fault.name for fault in faults}):
        print(f"error: no fault is called {', '.join(unknown)} (see --list)", file=sys.stderr)
        return 2
    state = root / STATE
    planted = recorded(state) if args.missed or args.names else {}
    noticed = {name for name, line in planted.items() if line["first"] or line["verdicts"]}
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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a polite kill cleans up like Ctrl-C
    with tempfile.TemporaryDirectory(prefix="crowder-faults-", ignore_cleanup_errors=True) as folder:
        shops = [Workshop(root, Path(folder) / str(number)) for number in range(min(args.jobs, len(chosen)))]
        outcomes: list[tuple[Fault, Outcome]] = []
        try:
            passed = run(shops, chosen, outcomes, timeout=args.timeout)
        except KeyboardInterrupt:
            print(f"interrupted after {len(outcomes)} faults; the record is as it was", file=sys.stderr)
            return 130
        finally:
            for shop in shops:
                shop.close()
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
        print(f"error: nothing noticed {', '.join(missed)}", file=sys.stderr)
    print(f"{len(outcomes) - len(missed)} of {len(outcomes)} faults were noticed; see {state.with_suffix('.md')}")
    return 1 if missed else 0


def _arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help="faults to plant (default: all)")
    parser.add_argument("--missed", action="store_true", help="those that the record lacks or has as unnoticed")
    parser.add_argument("--list", action="store_true", help="name the faults, plant none")
    parser.add_argument("--jobs", type=int, default=1, help="faults at a time, each in a copy of its own (default: 1)")
    parser.add_argument("--timeout", type=float, default=600,
                        help="seconds a fault may take; one that hangs is noticed, too (default: 600)")  # fmt: skip
    args = parser.parse_args(argv)
    if args.jobs < 1 or args.timeout <= 0:
        parser.error("--jobs and --timeout must be positive")
    if args.missed and args.names:
        parser.error("--missed chooses the faults by itself")
    return args


def stale_edits(root: Path, faults: list[Fault]) -> list[str]:
    """A line for each edit that cannot be made any more."""
    lines = []
    for fault in faults:
        try:
            fault.applied((root / fault.file).read_text(encoding="utf-8"))
        except (Stale, OSError) as error:
            lines.append(str(error))
    return lines


def run(shops: list[Workshop], faults: list[Fault], done: list[tuple[Fault, Outcome]], *, timeout: float) -> bool:
    """Check the unedited project in each workshop, then plant fault after fault; False if the check fails."""
    tests, chapters = ({name for fault in faults for name in getattr(fault, key)} for key in ("tests", "chapters"))
    if not faults:
        return True
    free: queue.SimpleQueue[Workshop] = queue.SimpleQueue()
    _say(f"checking the unedited project: {len(tests)} targets, {len(chapters)} chapters")

    def one(fault: Fault) -> None:
        shop = free.get()
        try:
            outcome = shop.plant(fault, timeout=timeout)
        finally:
            free.put(shop)
        if not shop.stopped:
            said = "noticed" if outcome.caught else "NOT NOTICED"
            _say(f"{said}: {fault.name}: {in_words(outcome)}")
            done.append((fault, outcome))

    with ThreadPoolExecutor(len(shops)) as pool:
        try:
            for outcome in pool.map(lambda shop: shop.check(faults, timeout=20 * timeout), shops):
                if outcome.caught or outcome.trouble:
                    _say(f"error: the unedited project fails already: {in_words(outcome)}")
                    return False
                _say(f"it passes ({outcome.seconds:.0f} s)")
            for shop in shops:
                free.put(shop)
            list(pool.map(one, faults))
            return True
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for shop in shops:
                shop.stop()
            raise


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def in_words(outcome: Outcome) -> str:
    """Who noticed, in a line."""
    parts = ["it hangs"] if outcome.hung else []
    if outcome.tests:
        parts.append(f"{len(outcome.tests)} tests ({', '.join(outcome.tests[:3])}{', …' * (len(outcome.tests) > 3)})")
    if outcome.verdicts:
        parts.append(f"verdicts {', '.join(outcome.verdicts)}")
    if outcome.trouble:
        parts.append(outcome.trouble)
    return f"{'; '.join(parts) or 'nothing'} [{outcome.seconds:.0f} s]"


COLUMNS = ("fault", "kind", "file", "why", "tests", "first", "verdicts")


def row(fault: Fault, outcome: Outcome) -> dict[str, str]:
    """One line of the record: how many tests noticed, which (in the book, the first), and the verdicts that moved."""
    names = dict.fromkeys(name.partition("[")[0] for name in outcome.tests)
    return {
        "fault": fault.name, "kind": fault.kind, "file": fault.file, "why": fault.why, "tests": str(len(outcome.tests)),
        "first": "; ".join(["it hangs"] * outcome.hung + [*names]), "verdicts": "; ".join(outcome.verdicts),
    }  # fmt: skip


def record(path: Path, rows: list[dict[str, str]]) -> None:
    """Write rows as CSV, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".part")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    temporary.replace(path)


def recorded(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a file of them, by fault; none if there is no file."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {line["fault"]: line for line in csv.DictReader(file)}


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """What has been planted so far: as CSV, and to read."""
    record(path, rows)
    missed = sum(not (line["first"] or line["verdicts"]) for line in rows)
    lines = ["# Planted faults", "", f"{len(rows) - missed} of {len(rows)} were noticed.", ""]
    for line in rows:
        who = "; ".join(filter(None, (f"{line['tests']} tests ({line['first']})" if line["first"] else "",
                                      f"verdicts {line['verdicts']}" if line["verdicts"] else "")))  # fmt: skip
        lines += [f"- **{line['fault']}** ({line['kind']}, `{line['file']}`): {line['why']}",
                  f"  {who or '**Not noticed.**'}"]  # fmt: skip
    path.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
