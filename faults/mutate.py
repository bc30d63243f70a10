"""Run random mutants of `crowder` and `book.companion`, each one small wrong edit that some test should notice.

    .venv/bin/python faults/mutate.py                     # a sample of every module, about an hour on one core
    .venv/bin/python faults/mutate.py --modules crowder/counting,sizes --share 0.2 --seed 3

One process imports slow packages and forks a child for each mutant. The child imports `crowder` from a copy of the tree
in which one file is changed, and runs the tests of that module, the fastest first, until one fails. In modules with
compiled functions the mutants run uncompiled. With ``--wide``, mutants that survive their own tests also run against
all other tests that do not build the book.
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
COLUMNS = ("module", "line", "kind", "before", "after", "result", "seconds", "reason")

#: Module -> its test files, if not the one of the same name.
TESTS = {
    "answer_file": ["journal"],
    "blocking": ["scale"],
    "clusterings": ["cuts", "planner_parts"],
    "counted": ["similarity", "datasets"],
    "cuts": ["cuts", "planner_parts"],
    "densities": ["models", "theory"],
    "empirical": ["claims"],
    "engine": ["engine", "orderings"],
    "evidence": ["claims"],
    "family": ["similarity", "datasets"],
    "fieldwise": ["similarity"],
    "files": ["results"],
    "functions": ["similarity"],
    "pairs": ["orderings", "stream", "scale"],
    "parquet": ["scale", "stream"],
    "people": ["people", "planner_parts"],
    "planner": ["planner", "planner_parts"],
    "posterior": ["stopping"],
    "printing": ["printing", "figures"],
    "records": ["datasets"],
    "results": ["results", "figures", "claims"],
    "shipped": ["datasets"],
    "sorting": ["orderings", "engine"],
    "texts": ["similarity"],
    "validation": ["bad_input"],
}

#: Test files for survivors with --wide: all that do not build the book.
BESIDE = """theory models bounds expected_counts exact_counts lower_bounds determined_pairs asymptotics random_graphs
    enumeration decision_trees arrival_orders engine orderings resolution oracles voting wrong_answers
    member_votes log_likelihood learned_densities evidence_ordering stopping stream journal scale record_file
    similarity datasets experiments batches table1_readings planner_parts people cuts planner printing explorer
    stepper replay interactive figures claims published measured errata""".split()

#: Tests that take more seconds than this are not run.
TOO_LONG = 8.0

#: Folders sampled at half the share: a wrong sign there misreads a file or changes the look of a page, no number.
NO_FORMULAS = ("crowder/similarity", "crowder/cora", "book/companion/charts")


def file_of(name: str) -> str:
    """Where the tests of this name stand."""
    (path,) = (ROOT / "tests").rglob(f"test_{name}.py")
    return path.relative_to(ROOT).as_posix()


def tests_of(path: Path) -> list[str]:
    """The module itself, for its doctests, and its test files."""
    return [str(path), *map(file_of, TESTS.get(path.stem, [path.stem]))]


class Tree:
    """A copy of the project in which one file at a time is changed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        command = ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, capture_output=True, check=True).stdout.decode()
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, root / name)

    def judge(self, tests: list[str], limit: float, *, compiled: bool, order: dict, budget: float = 1e9):
        """Run the tests in a child; return pytest's exit code and the time taken.

        The code is None if the tests took more than `limit` seconds of processor time.
        """
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            try:  # the child must not return, or it would run the parent's clean-up
                os.setpgid(0, 0)
                resource.setrlimit(resource.RLIMIT_CPU, (round(limit), round(limit) + 5))
                os._exit(_run(self.root, tests, compiled, order, budget))
            except BaseException:
                traceback.print_exc()
                os._exit(70)
        while time.monotonic() - started < 10 * limit:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                _kill_group(child)  # processes that the tests left running
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
    """Orders the tests by their measured times, drops those beyond the budget, and measures the times.

    These are processor times, so that the load of the machine does not decide which tests run.
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
        # Stop a test that takes too long. (Not with compiled code: a signal inside numba's compiler would be fatal, and
        # compiled, hardly any test takes that long.)
        if not self.order and os.environ["NUMBA_DISABLE_JIT"] == "1":
            signal.signal(signal.SIGPROF, lambda *_: pytest.skip("too slow"))
            signal.setitimer(signal.ITIMER_PROF, TOO_LONG)

    def pytest_runtest_logfinish(self, nodeid):
        left = signal.setitimer(signal.ITIMER_PROF, 0)[0]
        cut = not left and not self.order and os.environ["NUMBA_DISABLE_JIT"] == "1"
        self.took[nodeid] += 1e6 if cut else sum(os.times()[:4])


def _run(root: Path, tests: list[str], compiled: bool, order: dict, budget: float) -> int:
    """Run pytest on the tree, in the child; return its exit code."""
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
    # pytest warns that its plug-ins are already imported.
    options = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    code = pytest.main([*options, "--rootdir", str(root), *tests], plugins=[plugin])
    if not order:
        (root / "took.csv").write_text("".join(f"{t}\t{name}\n" for name, t in plugin.took.items()))
    return int(code)


def warm() -> None:
    """Import what each child would import, except the project itself."""
    for name in """altair hypothesis joblib matplotlib.pyplot networkx numba pandas pytest rapidfuzz scipy.optimize
        scipy.special scipy.stats seaborn sympy yaml""".split():
        importlib.import_module(name)
    assert not [name for name in sys.modules if name.partition(".")[0] in ("crowder", "book")]


def sample(path: Path, share: float, least: int, seed: int) -> list[Mutant]:
    """A sample of the mutants of a module, determined by the seed."""
    found = mutants((ROOT / path).read_text(encoding="utf-8"))
    wanted = max(least, round(share * len(found) * (1 if path.parent.as_posix() in NO_FORMULAS else 2)))
    return sorted(random.Random(f"{seed} {path}").sample(found, min(wanted, len(found))))


def survivors(path: Path, file: Path) -> list[Mutant]:
    """The mutants of a module that survived according to a table of results, located in the current source."""
    found = mutants((ROOT / path).read_text(encoding="utf-8"))
    chosen = []
    with file.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["module"] == path.as_posix() and row["result"] == "survived":
                edit = (row["kind"], row["before"], row["after"])
                same = [mutant for mutant in found if mutant.row()[1:] == edit]
                chosen += sorted(same, key=lambda mutant: abs(mutant.line - int(row["line"])))[:1]
    return sorted(set(chosen))


def measure(tree: Tree, path: Path, compiled: bool, known: dict) -> dict:
    """Seconds of each test of a module; test files without times are run on the unchanged source."""
    files = tests_of(path)
    missing = [file for file in files if (file, compiled) not in known]
    if not missing:
        return {name: seconds for file in files for name, seconds in known[file, compiled].items()}
    code, took = tree.judge(missing, 900, compiled=compiled, order={})
    if code not in (0, 5):  # 5: no tests, as for a module without doctests
        print((tree.root / "out.log").read_text()[-3000:])
        raise SystemExit(f"{path}: its tests fail without a mutant, in {took:.0f} s")
    for file in missing:
        known[file, compiled] = {}
    for line in (tree.root / "took.csv").read_text().splitlines():
        seconds, name = line.split("\t")
        known[name.partition("::")[0], compiled][name] = float(seconds)
    return {name: seconds for file in files for name, seconds in known[file, compiled].items()}


def judge_module(tree: Tree, path: Path, chosen: list[Mutant], options, known: dict, writer) -> dict:
    """Run the chosen mutants of one module; return the number of each result."""
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
        os.utime(place, (1, 1))  # so that no bytecode of the original source is used for it
        code, seconds = tree.judge(tests, 15 + 2 * usual, compiled=compiled, order=order, budget=options.budget)
        result = {None: "timeout", 0: "survived", 5: "survived", 1: "killed"}.get(code, "killed at import")
        if result == "survived" and options.wide:
            others = [file for file in map(file_of, BESIDE) if file not in tests]
            code, more = tree.judge([*tests, *others], 1200, compiled=compiled, order={"": 0.0})
            result, seconds = {None: "timeout", 0: "survived"}.get(code, "killed elsewhere"), seconds + more
        tally[result] = tally.get(result, 0) + 1
        writer.writerow([path.as_posix(), *mutant.row(), result, f"{seconds:.1f}", ""])
        if result in ("survived", "timeout"):
            print(f"  {result}: {path}:{mutant.line} {mutant.kind}: {mutant.before} -> {mutant.after}", flush=True)
    place.write_text(source, encoding="utf-8")
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--modules", default="", help="comma-separated folders or modules (default: all)")
    parser.add_argument(
        "--share", type=float, default=0.012, help="share of the mutants of a module; doubled for formulas"
    )
    parser.add_argument("--least", type=int, default=5, help="least number of mutants per module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path, help="a table of results: run its survivors again, instead of a sample")
    parser.add_argument("--budget", type=float, default=12, help="seconds of tests per mutant, the fastest first")
    parser.add_argument(
        "--compiled", action="store_true", help="run mutants of compiled functions compiled, which is slower"
    )
    parser.add_argument(
        "--wide", action="store_true", help="run survivors against all tests except those that build the book"
    )
    parser.add_argument("--times", type=Path, help="file in which measured times of tests are kept")
    parser.add_argument("--out", type=Path, default=Path("mutation.csv"))
    options = parser.parse_args()
    wanted = set(filter(None, options.modules.split(",")))
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
            for result, count in judge_module(tree, path, chosen, options, known, writer).items():
                total[result] = total.get(result, 0) + count
            file.flush()
            if options.times:
                options.times.write_text(json.dumps(list(known.items())))
    print(", ".join(f"{result}: {count}" for result, count in sorted(total.items())))


if __name__ == "__main__":
    main()
