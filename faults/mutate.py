"""Mutants of `crowder` and `book.companion`, drawn at random module by module: each is one small wrong edit.

Some test should notice it.

    .venv/bin/python faults/mutate.py                     # some of every module, about an hour of one processor
    .venv/bin/python faults/mutate.py --rooms crowder/counting,sizes --share 0.2 --seed 3

One warm process imports what is slow to import, then forks a child for each mutant; the child imports `crowder` anew,
from a copy of the tree in which one file is changed, and runs the tests of that room, the quickest first, until one
fails. In a room with compiled functions the mutants run uncompiled. What survives its own tests runs against every
other test that takes the package and no book (``--wide``).
"""

from __future__ import annotations

import argparse
import csv
import importlib
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import pytest
from mutants import Mutant, mutants

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = ("room", "line", "kind", "before", "after", "verdict", "seconds", "reason")

#: The tests of a room, where they are not in the file that bears its name.
TESTS = {
    "answer_file": ["journal"],
    "arrival_orders": ["arrivals"],
    "asymptotics": ["limits"],
    "batch": ["plan"],
    "blocking": ["scale"],
    "clusterings": ["cuts", "plan"],
    "counted": ["similarity", "datasets"],
    "cuts": ["cuts", "plan"],
    "decision_trees": ["games"],
    "densities": ["models", "theory"],
    "determined_pairs": ["certain"],
    "empirical": ["claims"],
    "engine": ["engine", "orderings"],
    "evidence": ["claims"],
    "evidence_ordering": ["weighing"],
    "exact_counts": ["rationals"],
    "expected_counts": ["counts"],
    "family": ["similarity", "datasets"],
    "fieldwise": ["similarity"],
    "files": ["results"],
    "functions": ["similarity"],
    "learned_densities": ["learned"],
    "log_likelihood": ["loglik"],
    "lower_bounds": ["lower"],
    "member_votes": ["members"],
    "pairs": ["orderings", "stream", "scale"],
    "parquet": ["scale", "stream"],
    "people": ["people", "plan"],
    "planner": ["planner", "plan"],
    "posterior": ["stopping"],
    "printing": ["printing", "figures"],
    "random_graphs": ["connectivity"],
    "record_file": ["recordfile"],
    "records": ["datasets"],
    "replay": ["watching"],
    "results": ["results", "figures", "claims"],
    "sheets": ["plan"],
    "shipped": ["datasets"],
    "sorting": ["orderings", "engine"],
    "texts": ["similarity"],
    "validation": ["bad_input"],
    "voting": ["votes"],
    "wrong_answers": ["mistakes"],
}

#: What every survivor is run against too: all that takes the package, and no book.
BESIDE = """theory models bounds counts rationals lower certain limits connectivity enumeration games arrivals engine
    orderings resolution oracles votes mistakes members loglik learned weighing stopping stream journal scale
    recordfile similarity datasets experiments batches readings plan people cuts planner printing explorer stepper
    watching interactive figures claims published measured errata""".split()

#: Seconds: a test that takes longer is not run for a mutant.
TOO_LONG = 8.0

#: Where a wrong sign is no wrong number, but a file that is misread or a page that looks odd: half the share.
NO_FORMULAS = ("crowder/similarity", "crowder/cora", "book/companion/charts")


def tests_of(path: Path) -> list[str]:
    """The module itself, for its examples, and the test files that mirror it."""
    return [str(path), *(f"tests/test_{name}.py" for name in TESTS.get(path.stem, [path.stem]))]


class Tree:
    """A copy of the project in which one file at a time is wrong."""

    def __init__(self, root: Path) -> None:
        self.root = root
        command = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, root / name)

    def judge(self, tests: list[str], limit: float, *, compiled: bool, order: dict, budget: float = 1e9):
        """Run the tests in a child: what pytest returned, or None when `limit` seconds of processor time were up."""
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            try:  # never back from here: what the parent would clear away at its end is not the child's
                os.setpgid(0, 0)
                resource.setrlimit(resource.RLIMIT_CPU, (round(limit), round(limit) + 5))
                os._exit(_run(self.root, tests, compiled, order, budget))
            except BaseException:
                traceback.print_exc()
                os._exit(70)
        while time.monotonic() - started < 10 * limit:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                _kill_group(child)  # whatever the tests left running
                code = os.waitstatus_to_exitcode(status)
                return None if code < 0 else code, time.monotonic() - started
            time.sleep(0.02)
        _kill_group(child)
        os.waitpid(child, 0)
        return None, time.monotonic() - started


def _kill_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass


class _QuickestFirst:
    """Puts the tests in order of the time they once took, leaves out the last when the budget is spent; takes the time.

    Time of the processor: what else the machine does must not decide which tests a mutant meets.
    """

    def __init__(self, order: dict, budget: float) -> None:
        self.order, self.budget, self.took = order, budget, {}

    def pytest_collection_modifyitems(self, config, items):
        items[:] = [item for item in items if not {"book", "html"} & set(item.fixturenames)]  # builds take too long
        items.sort(key=lambda item: self.order.get(item.nodeid, 0.0))
        spent = list(itertools.accumulate(self.order.get(item.nodeid, 0.0) for item in items))
        kept = [item for item, total in zip(items, spent, strict=True) if total <= self.budget]
        config.hook.pytest_deselected(items=items[len(kept) :])
        items[:] = kept

    def pytest_runtest_logstart(self, nodeid):
        self.took[nodeid] = -sum(os.times()[:4])
        # A test that takes too long is none for a mutant, so it need not come to its end. (Inside the compiler of numba
        # a signal would be fatal; compiled, hardly any takes that long.)
        if not self.order and os.environ["NUMBA_DISABLE_JIT"] == "1":
            signal.signal(signal.SIGPROF, lambda *_: pytest.skip("too slow"))
            signal.setitimer(signal.ITIMER_PROF, TOO_LONG)

    def pytest_runtest_logfinish(self, nodeid):
        left = signal.setitimer(signal.ITIMER_PROF, 0)[0]
        cut = not left and not self.order and os.environ["NUMBA_DISABLE_JIT"] == "1"
        self.took[nodeid] += 1e6 if cut else sum(os.times()[:4])


def _run(root: Path, tests: list[str], compiled: bool, order: dict, budget: float) -> int:
    """In the child: run pytest on the tree, and say what it returned."""
    out = os.open(root / "out.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.chdir(root)
    sys.path[:] = [str(root), *(p for p in sys.path if Path(p or ".").resolve() not in (ROOT, ROOT / "faults"))]
    os.environ["PYTHONPATH"] = str(root)  # for the processes that tests start
    os.environ["NUMBA_DISABLE_JIT"] = str(int(not compiled))
    os.environ["NUMBA_CACHE_DIR"] = str(root / "numba")
    sys.dont_write_bytecode = bool(order)
    import numba

    numba.config.reload_config()
    plugin = _QuickestFirst(order, budget)
    # Pytest minds that its plug-ins were imported before it could look at them; that is what a warm process is.
    options = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    code = pytest.main([*options, "--rootdir", str(root), *tests], plugins=[plugin])
    if not order:
        (root / "took.csv").write_text("".join(f"{t}\t{name}\n" for name, t in plugin.took.items()))
    return int(code)


def warm() -> None:
    """Import what the children would each import; nothing of ours."""
    for name in """altair hypothesis joblib matplotlib.pyplot networkx numba pandas pytest rapidfuzz scipy.optimize
        scipy.special scipy.stats seaborn sympy yaml""".split():
        importlib.import_module(name)
    assert not [name for name in sys.modules if name.partition(".")[0] in ("crowder", "book")]


def sample(path: Path, share: float, least: int, seed: int) -> list[Mutant]:
    """Some of a room's mutants, the same for the same seed."""
    found = mutants((ROOT / path).read_text(encoding="utf-8"))
    wanted = max(least, round(share * len(found) * (1 if path.parent.as_posix() in NO_FORMULAS else 2)))
    return sorted(random.Random(f"{seed} {path}").sample(found, min(wanted, len(found))))


def survivors(path: Path, file: Path) -> list[Mutant]:
    """The mutants of a room that a table of verdicts lists as survivors, where the source stands now."""
    found = mutants((ROOT / path).read_text(encoding="utf-8"))
    chosen = []
    with file.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["room"] == path.as_posix() and row["verdict"] == "survived":
                edit = (row["kind"], row["before"], row["after"])
                same = [mutant for mutant in found if mutant.told()[1:] == edit]
                chosen += sorted(same, key=lambda mutant: abs(mutant.line - int(row["line"])))[:1]
    return sorted(set(chosen))


def measure(tree: Tree, path: Path, compiled: bool, known: dict) -> dict:
    """Seconds of each test of a room; runs, without a mutant, the files that were not yet measured."""
    files = tests_of(path)
    missing = [file for file in files if (file, compiled) not in known]
    if not missing:
        return {name: seconds for file in files for name, seconds in known[file, compiled].items()}
    code, took = tree.judge(missing, 900, compiled=compiled, order={})
    if code not in (0, 5):  # 5: no test, such as a room without examples
        print((tree.root / "out.log").read_text()[-3000:])
        raise SystemExit(f"{path}: its tests fail without a mutant, in {took:.0f} s")
    for file in missing:
        known[file, compiled] = {}
    for line in (tree.root / "took.csv").read_text().splitlines():
        seconds, name = line.split("\t")
        known[name.partition("::")[0], compiled][name] = float(seconds)
    return {name: seconds for file in files for name, seconds in known[file, compiled].items()}


def judge_room(tree: Tree, path: Path, chosen: list[Mutant], options, known: dict, writer) -> dict:
    """Every mutant of one room; a count of the verdicts."""
    source = (ROOT / path).read_text(encoding="utf-8")
    tests, compiled, tally = tests_of(path), options.compiled or "@njit" not in source, {}
    place = tree.root / path
    place.write_text(source, encoding="utf-8")
    order = measure(tree, path, compiled, known)
    usual = min(sum(order.values()), options.budget)
    quick = [seconds for seconds in order.values() if seconds < TOO_LONG]
    print(f"{path}: {len(chosen)} mutants, {len(quick)} of {len(order)} tests in {sum(quick):.0f} s", flush=True)
    for mutant in chosen:
        place.write_text(mutant.apply(source), encoding="utf-8")
        os.utime(place, (1, 1))  # so that no compiled file of the true source can pass for it
        code, seconds = tree.judge(tests, 15 + 2 * usual, compiled=compiled, order=order, budget=options.budget)
        verdict = {None: "timeout", 0: "survived", 5: "survived", 1: "killed"}.get(code, "killed at import")
        if verdict == "survived" and options.wide:
            others = [f"tests/test_{n}.py" for n in BESIDE if f"tests/test_{n}.py" not in tests]
            code, more = tree.judge([*tests, *others], 1200, compiled=compiled, order={"": 0.0})
            verdict, seconds = {None: "timeout", 0: "survived"}.get(code, "killed elsewhere"), seconds + more
        tally[verdict] = tally.get(verdict, 0) + 1
        writer.writerow([path.as_posix(), *mutant.told(), verdict, f"{seconds:.1f}", ""])
        if verdict in ("survived", "timeout"):
            print(f"  {verdict}: {path}:{mutant.line} {mutant.kind}: {mutant.before} -> {mutant.after}", flush=True)
    place.write_text(source, encoding="utf-8")
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rooms", default="", help="comma-separated folders or modules; all without")
    parser.add_argument("--share", type=float, default=0.012, help="of a room's mutants; formulas give twice that")
    parser.add_argument("--least", type=int, default=5, help="mutants that every room gives")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path, help="a table of verdicts: judge its survivors anew, instead of a sample")
    parser.add_argument("--budget", type=float, default=12, help="seconds of tests a mutant gets, the quickest first")
    parser.add_argument("--compiled", action="store_true", help="compile mutants of compiled functions, too: slower")
    parser.add_argument("--wide", action="store_true", help="run survivors against all tests but the book's")
    parser.add_argument("--times", type=Path, help="a file that keeps the measured times of the tests")
    parser.add_argument("--out", type=Path, default=Path("mutation.csv"))
    options = parser.parse_args()
    wanted = set(filter(None, options.rooms.split(",")))
    found = [path for folder in ("crowder", "book/companion") for path in (ROOT / folder).rglob("*.py")]
    paths = sorted(path.relative_to(ROOT) for path in found if not path.stem.startswith("__"))
    paths = [p for p in paths if not wanted or wanted & {p.stem, *(folder.as_posix() for folder in p.parents)}]
    warm()
    total: dict[str, int] = {}
    known: dict = {}
    if options.times and options.times.exists():
        known = {tuple(key): times for key, times in json.loads(options.times.read_text())}
    with tempfile.TemporaryDirectory() as folder, options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        tree = Tree(Path(folder).resolve())
        for path in paths:
            if options.again:
                chosen = survivors(path, options.again)
            else:
                chosen = sample(path, options.share, options.least, options.seed)
            if not chosen:
                continue
            for verdict, count in judge_room(tree, path, chosen, options, known, writer).items():
                total[verdict] = total.get(verdict, 0) + count
            file.flush()
            if options.times:
                options.times.write_text(json.dumps(list(known.items())))
    print(", ".join(f"{verdict}: {count}" for verdict, count in sorted(total.items())))


if __name__ == "__main__":
    main()
