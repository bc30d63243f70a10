"""A copy of the project in which faults are planted, one at a time, while tests and chapters run."""

from __future__ import annotations

import ast
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from catalogue import Fault

#: Environment variables that would change the tests, and are removed.
_REMOVED = (
    "CROWDER_RESULTS", "CROWDER_BOOK", "CROWDER_NIGHTLY", "CROWDER_REQUIRE", "PYTEST_ADDOPTS", "NUMBA_DISABLE_JIT",
)  # fmt: skip

_CHANGED = re.compile(r"^(?:error: )?[\w-]+: ([BCE]\d+) changed: ", re.MULTILINE)
_DISAGREES = re.compile(r"^(?:error: )?[\w-]+: ([^:\n]*?) no longer agrees: ", re.MULTILINE)
_STOPPED = re.compile(r"^(?:error: )?([\w-]+): not checked in this run: (.*)", re.MULTILINE)


@dataclass
class Outcome:
    """What noticed a fault: failed tests, changed claims (or printed numbers, or failed chapters), or a hang."""

    tests: list[str] = field(default_factory=list)
    claims: list[str] = field(default_factory=list)
    hung: bool = False
    trouble: str = ""
    seconds: float = 0.0

    @property
    def caught(self) -> bool:
        """Whether anything noticed the fault."""
        return bool(self.tests or self.claims or self.hung)


def sources(root: Path) -> list[Path]:
    """The files of the project that git does not ignore; without git, all that are not generated."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True
    )
    if listed.returncode == 0:
        names = sorted(set(filter(None, listed.stdout.decode().split("\0"))))
        return [Path(name) for name in names if (root / name).is_file()]
    generated = {".venv", "_build", "__pycache__", ".git"}
    every = (path.relative_to(root) for path in sorted(root.rglob("*")) if path.is_file())
    return [path for path in every if not generated & set(path.parts)]


class Sandbox:
    """A copy of the project in which faults can be planted.

    Numba's cache notices an edit only in the file of the compiled function itself. So each fault has its own cache:
    that of the unedited project, without the code that may depend on the edited file. Where compiling would take longer
    than the tests, the functions run as plain Python, which asks the same questions.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.tree, self._compiled, self._cache = folder / "tree", folder / "compiled", folder / "cache"
        self._report, self._book = folder / "report.xml", folder / "book"
        for name in sources(root):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, self.tree / name)
        self._log = folder / "output.txt"
        self._warm: subprocess.Popen | None = None
        self._unread = b""
        self._child: int | None = None  # the running process group
        self.stopped = False

    def stop(self) -> None:
        """Kill all running processes; the sandbox cannot be used again."""
        self.stopped = True
        if (child := self._child) is not None:
            _kill(child)
        if self._warm is not None:
            _kill(self._warm.pid)
            self._warm.wait()

    def close(self) -> None:
        """Stop, and close the pipes."""
        self.stop()
        if self._warm is not None:
            self._warm.stdin.close()
            self._warm.stdout.close()

    def check(self, faults: list[Fault], *, timeout: float) -> Outcome:
        """Run the tests and chapters of the faults on the unedited project, and keep the compiled code."""
        chapters = sorted({slug for fault in faults for slug in fault.chapters})
        outcome = Outcome()
        for plain in (True, False):
            tests = sorted({test for fault in faults if fault.plain == plain for test in fault.tests})
            slugs = [] if plain else chapters
            if (tests or slugs) and not (outcome.caught or outcome.trouble):
                outcome = self._run_all(tests, slugs, plain, timeout)
        shutil.rmtree(self._compiled, ignore_errors=True)
        if self._cache.exists():
            self._cache.rename(self._compiled)
        return outcome

    def plant(self, fault: Fault, *, timeout: float) -> Outcome:
        """Plant the fault, run its tests and chapters, and restore the file."""
        path = self.tree / fault.file
        before = path.read_bytes()
        edited = fault.applied(before.decode("utf-8"))
        shutil.rmtree(self._cache, ignore_errors=True)
        if self._compiled.exists() and not fault.plain:
            stale = dependents(self.tree, fault.file)
            old = lambda _, names: [name for name in names if name.split(".")[0] in stale]  # noqa: E731
            shutil.copytree(self._compiled, self._cache, ignore=old)
        try:
            path.write_bytes(edited.encode("utf-8"))
            return self._run_all(list(fault.tests), list(fault.chapters), fault.plain, timeout)
        finally:
            path.write_bytes(before)

    def _run_all(self, tests: list[str], chapters: list[str], plain: bool, timeout: float) -> Outcome:
        outcome, started = Outcome(), time.monotonic()
        if tests:
            self._run_tests(outcome, tests, plain, timeout)
        left = timeout - (time.monotonic() - started)
        if chapters and not outcome.hung and not outcome.trouble:
            self._run_chapters(outcome, chapters, max(left, 1.0))
        outcome.seconds = time.monotonic() - started
        return outcome

    def _run_tests(self, outcome: Outcome, tests: list[str], plain: bool, timeout: float) -> None:
        # -o: the options of pyproject.toml would print a summary; doctests are run where a target names a module.
        options = ["-q", "-p", "no:cacheprovider", "--tb=no", "-o", "addopts=--strict-markers --doctest-modules"]
        self._report.unlink(missing_ok=True)
        done = self._pytest([*options, f"--junit-xml={self._report}", *tests], plain, timeout)
        if done is None:
            outcome.hung = True
        elif done[0] in (0, 1, 2) and self._report.exists():
            outcome.tests = failed(self._report)
        if done is not None and done[0] != 0 and not outcome.tests:
            outcome.trouble = f"pytest ended with {done[0]}: {done[1].strip()[-600:]}"

    def _run_chapters(self, outcome: Outcome, chapters: list[str], timeout: float) -> None:
        for name in ("executed", "results", "src"):  # keeps the cache of fonts
            shutil.rmtree(self._book / name, ignore_errors=True)
        build = [sys.executable, "-m", "book.build", "--profile", "quick", "--jobs", "1", "--output", str(self._book)]
        done = self._run([*build, *(part for slug in chapters for part in ("--only", slug))], timeout)
        if done is None:
            outcome.hung = True
            return
        outcome.claims = changed_claims(done[1])
        if done[0] and not outcome.claims:
            outcome.trouble = f"the build ended with {done[0]}: {done[1].strip()[-600:]}"

    def _environment(self) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if name not in _REMOVED}
        return env | {
            "PYTHONPATH": str(self.tree), "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": str(self._cache)
        }  # fmt: skip

    def _pytest(self, arguments: list[str], plain: bool, timeout: float) -> tuple[int, str] | None:
        """Exit code and output of pytest; None if it took too long."""
        if self._warm is None:
            self._warm = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("warm.py"))], cwd=self.tree, env=self._environment(),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            self._line()
        job = {"folder": str(self.tree), "arguments": arguments, "log": str(self._log)}
        job["environment"] = self._environment() | ({"NUMBA_DISABLE_JIT": "1"} if plain else {})
        self._warm.stdin.write(json.dumps(job).encode() + b"\n")
        self._warm.stdin.flush()
        self._child = int(self._line())
        code = self._line(timeout)
        _kill(self._child)  # and any processes that it left
        hung = code is None
        code, self._child = int(self._line() if hung else code), None
        return None if hung else (code, self._log.read_text(errors="replace"))

    def _line(self, timeout: float | None = None) -> str | None:
        """The next line of the warm process; None if it takes too long."""
        pipe = self._warm.stdout
        while b"\n" not in self._unread:
            if not select.select([pipe], [], [], timeout)[0]:
                return None
            if not (more := os.read(pipe.fileno(), 4096)):
                raise RuntimeError("the process that runs pytest has ended")
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    def _run(self, command: list[str], timeout: float) -> tuple[int, str] | None:
        """Exit code and output of a command; None if it took too long."""
        with self._log.open("w") as log:
            process = subprocess.Popen(command, cwd=self.tree, env=self._environment(), stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, start_new_session=True)  # fmt: skip
        self._child = process.pid
        try:
            return process.wait(timeout), self._log.read_text(errors="replace")
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill(process.pid)
            process.wait()
            self._child = None


def _kill(group: int) -> None:
    """Kill a process group."""
    with suppress(ProcessLookupError, PermissionError):  # it has ended (PermissionError on macOS)
        os.killpg(group, signal.SIGKILL)


def failed(report: Path) -> list[str]:
    """The failed tests in a report of pytest."""
    names = []
    for case in ET.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            where = case.get("classname", "").rpartition(".")[2]
            names.append(f"{where}::{case.get('name')}" if where else str(case.get("name")))
    return list(dict.fromkeys(names))


def changed_claims(output: str) -> list[str]:
    """The claims and printed numbers that changed, and the chapters that failed, from the output of a build."""
    printed = [f"printed {name}" for name in _DISAGREES.findall(output)]
    stopped = [f"{slug} stopped, {claims.count(',') + 1} claims unchecked" for slug, claims in _STOPPED.findall(output)]
    return [*_CHANGED.findall(output), *printed, *stopped]


def dependents(tree: Path, file: str) -> set[str]:
    """The names of a module and of those that import it, whose compiled code may contain its constants.

    Indirect imports do not matter: compiled functions call only into their own file, which a test enforces.
    """
    edited = Path(file).with_suffix("").as_posix().replace("/", ".")
    users = {path.stem for path in (tree / "crowder").rglob("*.py") if edited in _imported(path)}
    return users | {edited.rpartition(".")[2]}


def _imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found
