"""Execute chapters in parallel, each by papermill in a process of its own.

The build starts ``python -m book.build.execute`` for each chapter and writes the job to its standard input as a line of
JSON. The worker answers on its standard output with a line for each cell and one for the end. The build keeps the input
open: when it closes, the build has ended, and the worker ends its kernel and itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from book.build.chapters import BuildError
from book.build.environment import ROOT

# --- the worker --------------------------------------------------------------------------------------------------


def end_with_parent(last: Callable[[], None] = lambda: None) -> None:
    """Call `last` and end this process as soon as the parent, at the other end of standard input, has ended."""
    while os.read(0, 4096):  # not through sys.stdin, whose lock Python needs on exit
        pass
    last()
    os._exit(1)


def end_group(leader: int) -> None:
    """Kill a kernel and the processes that it has started: they are a group, which the kernel leads."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def work() -> None:
    """Execute the chapter that the build asks for."""
    job = json.loads(sys.stdin.readline())
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed goes to the log
    kernels: list[int] = []
    threading.Thread(target=end_with_parent, args=[lambda: [*map(end_group, kernels)]], daemon=True).start()
    end = _execute(job, lambda **message: print(json.dumps(message), file=channel, flush=True), kernels)
    print(json.dumps(end), file=channel, flush=True)
    os._exit(0)  # the thread above still waits


def _execute(job: dict[str, Any], send: Callable, kernels: list[int]) -> dict[str, Any]:
    """Execute and write a notebook; return how long it took, or why it failed."""
    import nbformat
    import papermill
    import papermill.engines
    from traitlets.config import Config

    class Client(papermill.engines.PapermillNotebookClient):
        """papermill's client, which tells the build where it is."""

        def execute_cell(self, cell: Any, cell_index: int, **options: Any) -> Any:
            kernels[:] = [self.km.provisioner.pid]
            send(cell=cell_index, of=len(self.nb.cells), kernel=kernels[0])
            return super().execute_cell(cell, cell_index, **options)

    papermill.engines.PapermillNotebookClient = Client
    config = Config()
    # A kernel warns on every start if its TCP connections are not encrypted.
    config.KernelManager.transport_encryption = "auto"
    start = time.monotonic()

    def execute() -> Any:
        return papermill.execute_notebook(
            job["input"], None, parameters=job["parameters"], cwd=job["cwd"], progress_bar=False,
            execution_timeout=job["timeout"], request_save_on_cell_execute=False, config=config,
            coalesce_streams=True,  # in how many pieces a text arrives depends on how busy the machine is
        )  # fmt: skip

    try:
        try:
            notebook = execute()
        except RuntimeError:
            if kernels:
                raise
            notebook = execute()  # the kernel did not start: another program may have taken one of its ports
        cells = [round(cell.metadata.get("papermill", {}).get("duration") or 0.0, 2) for cell in notebook.cells]
        nbformat.write(_stripped(notebook), job["output"])
    except papermill.PapermillExecutionError as error:
        print("\n".join(error.traceback))
        return {"error": f"{error.ename}: {error.evalue}".removesuffix(": ")}
    except Exception as error:  # whatever it is, it is reported for this chapter
        return {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = round(sum(u.ru_utime + u.ru_stime for u in used), 2)
    return {"seconds": round(time.monotonic() - start, 2), "processor": processor, "cells": cells}


def _stripped(notebook: Any) -> Any:
    """The notebook without metadata that differs between runs with the same result."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = "injected-parameters"
    return notebook


# --- the build ---------------------------------------------------------------------------------------------------


class Worker:
    """A chapter that is being executed; what it says comes into the queue, and None when it has ended."""

    def __init__(self, job: dict[str, Any], env: dict[str, str], logs: Path, heard: queue.Queue) -> None:
        self.job, self.log = job, logs / f"{job['slug']}.log"
        self.last: dict[str, Any] = {}
        self.at: int | None = None  # the current cell; None before the first
        self.kernel: int | None = None
        with self.log.open("w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "book.build.execute"], cwd=ROOT,  # so that this `book` is imported
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8",
                env=env | {"CROWDER_RESULTS": job["results"]},
                start_new_session=True,  # Ctrl-C is for the build alone
            )  # fmt: skip
        threading.Thread(target=self._listen, args=[heard], daemon=True).start()

    def _listen(self, heard: queue.Queue) -> None:
        with contextlib.suppress(OSError, ValueError):  # it ended at once, or in the middle of a line
            self.process.stdin.write(json.dumps(self.job) + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                heard.put((self, json.loads(line)))
        self.process.wait()
        heard.put((self, None))

    def note(self, message: dict[str, Any]) -> None:
        self.last = message
        self.at, self.kernel = message.get("cell", self.at), message.get("kernel", self.kernel)

    def end(self) -> None:
        """Kill what is left of it."""
        self.process.kill()
        self.process.wait()
        if self.kernel:
            end_group(self.kernel)

    def failure(self) -> str:
        """Why it failed, and where."""
        said = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        errors = [line for line in said if re.match(r"(\w+\.)*\w*(Error|Exception): ", line)]
        if "error" not in self.last:
            code = self.process.returncode
            how = f"was killed (signal {-code})" if code < 0 else f"ended with code {code}"
            where = ": ".join([f"its process {how}", *errors[-1:]])
        elif self.at is None:
            where = f"its kernel did not start: {(errors or [self.last['error']])[-1]}"
        else:
            where = self._cell()
        return f"{self.job['slug']}: {where}\n    more in {self.log}"

    def _cell(self) -> str:
        """The cell that failed, counted as the author does: from 1, and without the cell of injected parameters."""
        cells = json.loads(Path(self.job["input"]).read_text(encoding="utf-8"))["cells"]
        tagged = next(i for i, cell in enumerate(cells) if "parameters" in cell["metadata"].get("tags", []))
        index = self.at - bool(self.job["parameters"] and self.at > tagged)
        source = "".join(cells[index]["source"]).strip().splitlines()[:8]
        return "\n      ".join([f"cell {index + 1} of {len(cells)} failed: {self.last['error']}", *source])


class Progress:
    """A line for each chapter that has ended; until then its cell, on the last line of a terminal or now and then."""

    def __init__(self, slugs: list[str], expected: dict[str, float], parallel: int) -> None:
        self.left = {slug: expected.get(slug) for slug in slugs}
        self.parallel, self.tty = parallel, sys.stderr.isatty()
        self.running: dict[str, str] = {}
        self.said: dict[str, float] = {}
        if left := self.time_left():
            print(f"as last measured{left}", file=sys.stderr, flush=True)

    def time_left(self) -> str:
        """The time that the unfinished chapters took when last measured, shared by those that run at a time."""
        known = [seconds for seconds in self.left.values() if seconds is not None]
        if not known or len(known) < len(self.left):
            return ""
        seconds = max(sum(known) / self.parallel, *known)
        return f", about {seconds / 60:.0f} min left" if seconds > 90 else f", about {seconds:.0f} s left"

    def at(self, slug: str, cell: int, total: int) -> None:
        self.running[slug] = f"{slug}: cell {cell + 1} of {total}"
        if self.tty:
            line = f"  {'; '.join(self.running.values())}{self.time_left()}"
            print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self.said.get(slug, 0) > 15:
            self.said[slug] = time.monotonic()
            print(f"  {self.running[slug]}", file=sys.stderr, flush=True)

    def end(self, slug: str, result: str) -> None:
        self.left.pop(slug)
        self.running.pop(slug, None)
        clear = "\r\x1b[K" if self.tty else ""
        print(f"{clear}  {slug}: {result}{self.time_left()}", file=sys.stderr, flush=True)


def run_all(
    jobs: Iterable[dict[str, Any]],
    parallel: int,
    env: dict[str, str],
    logs: Path,
    publish: Callable[[dict, dict], None],
    progress: Progress,
) -> list[str]:
    """Run the jobs, `parallel` at a time; call `publish` after each success; return the failures' messages.

    `publish` may refuse a chapter by a BuildError.
    """
    logs.mkdir(parents=True, exist_ok=True)
    waiting, heard = list(jobs), queue.Queue()
    running: list[Worker] = []
    failures: dict[str, str] = {}
    try:
        while waiting or running:
            while waiting and len(running) < parallel:
                running.append(Worker(waiting.pop(0), env, logs, heard))
            worker, message = heard.get()
            slug = worker.job["slug"]
            if message is not None:
                worker.note(message)
                if "of" in message:
                    progress.at(slug, message["cell"], message["of"])
                continue
            running.remove(worker)
            worker.end()
            if "seconds" in worker.last:
                try:
                    publish(worker.job, worker.last)
                except BuildError as error:
                    failures[slug] = str(error)
            else:
                failures[slug] = worker.failure()
            progress.end(slug, "failed" if slug in failures else f"done in {worker.last['seconds']:.1f} s")
    finally:
        for worker in running:
            worker.end()
    return [failures[slug] for slug in sorted(failures)]


if __name__ == "__main__":
    work()
