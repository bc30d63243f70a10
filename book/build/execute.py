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
from collections.abc import Callable
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

    where, source = "its kernel did not start", ""

    class Client(papermill.engines.PapermillNotebookClient):
        """papermill's client, which tells the build where it is."""

        def execute_cell(self, cell: Any, cell_index: int, **options: Any) -> Any:
            nonlocal where, source
            kernels[:] = [self.km.provisioner.pid]
            # Counted as the author does: from 1, and without the cell of injected parameters.
            own = ["injected-parameters" not in c.metadata.get("tags", []) for c in self.nb.cells]
            where, source = f"cell {sum(own[: cell_index + 1])} of {sum(own)}", cell.source
            send(at=where, kernel=kernels[0])
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
        nbformat.write(_stripped(notebook), job["output"])
    except Exception as error:  # whatever it is, it is reported for this chapter
        print("\n".join(getattr(error, "traceback", [])))
        what = getattr(error, "ename", type(error).__name__), getattr(error, "evalue", error)
        lines = [f"{where} failed: {': '.join(map(str, what))}".splitlines()[0], *source.strip().splitlines()[:8]]
        return {"error": "\n      ".join(lines)}
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = round(sum(u.ru_utime + u.ru_stime for u in used), 2)
    return {"seconds": round(time.monotonic() - start, 2), "processor": processor}


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

    def __init__(self, job: dict[str, Any], env: dict[str, str], log: Path, heard: queue.Queue) -> None:
        self.slug, self.job, self.log = job["slug"], job, log
        self.last: dict[str, Any] = {}
        self.kernel: int | None = None
        with log.open("w", encoding="utf-8") as errors:
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
        self.last, self.kernel = message, message.get("kernel", self.kernel)

    def end(self) -> None:
        """Kill what is left of it."""
        self.process.kill()
        self.process.wait()
        if self.kernel:
            end_group(self.kernel)

    def failure(self) -> str:
        """Why it failed, and where."""
        why = self.last.get("error") or f"its process ended with code {self.process.returncode}"
        if not self.kernel:  # then nothing of the chapter has run, and the log says why
            said = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
            why = ": ".join([why, *[line for line in said if re.match(r"(\w+\.)*\w*Error: ", line)][-1:]])
        return f"{self.slug}: {why}\n    more in {self.log}"


class Progress:
    """A line for each chapter that has ended; until then its cell, on the last line of a terminal or now and then."""

    def __init__(self, slugs: list[str], expected: dict[str, float], parallel: int) -> None:
        self.left = {slug: expected.get(slug) for slug in slugs}
        self.parallel, self.tty = parallel, sys.stderr.isatty()
        self.running: dict[str, str] = {}
        self.said: dict[str, float] = {}
        if left := self.time_left():
            self.say(f"as last measured{left}")

    def say(self, line: str, end: str = "\n") -> None:
        print("\r\x1b[K" * self.tty + line, end=end, file=sys.stderr, flush=True)

    def time_left(self) -> str:
        """The time that the unfinished chapters took when last measured, shared by those that run at a time."""
        if not self.left or None in self.left.values():
            return ""
        seconds = max(sum(self.left.values()) / self.parallel, *self.left.values())
        return f", about {seconds / 60:.0f} min left" if seconds > 90 else f", about {seconds:.0f} s left"

    def at(self, slug: str, where: str) -> None:
        self.running[slug] = f"{slug}: {where}"
        if self.tty:
            line = f"  {'; '.join(self.running.values())}{self.time_left()}"
            self.say(line[: shutil.get_terminal_size().columns - 1], end="")
        elif time.monotonic() - self.said.get(slug, 0) > 15:
            self.said[slug] = time.monotonic()
            self.say(f"  {self.running[slug]}")

    def end(self, slug: str, result: str) -> None:
        del self.left[slug]
        self.running.pop(slug, None)
        self.say(f"  {slug}: {result}{self.time_left()}")


def run_all(
    jobs: list[dict[str, Any]],
    parallel: int,
    env: dict[str, str],
    logs: Path,
    publish: Callable[[dict, dict], None],
    progress: Progress,
) -> list[str]:
    """Run the jobs, `parallel` at a time; call `publish` after each success; return the failures' messages.

    `publish` may refuse a chapter by a BuildError.
    """
    waiting, heard = list(jobs), queue.Queue()
    running: list[Worker] = []
    failures: dict[str, str] = {}
    try:
        while waiting or running:
            while waiting and len(running) < parallel:
                job = waiting.pop(0)
                running.append(Worker(job, env, logs / f"{job['slug']}.log", heard))
            worker, message = heard.get()
            if message is not None:
                worker.note(message)
                if "at" in message:
                    progress.at(worker.slug, message["at"])
                continue
            running.remove(worker)
            worker.end()
            if "seconds" in worker.last:
                try:
                    publish(worker.job, worker.last)
                except BuildError as error:
                    failures[worker.slug] = str(error)
            else:
                failures[worker.slug] = worker.failure()
            progress.end(
                worker.slug, "failed" if worker.slug in failures else f"done in {worker.last['seconds']:.1f} s"
            )
    finally:
        for worker in running:
            worker.end()
    return [failures[slug] for slug in sorted(failures)]


if __name__ == "__main__":
    work()
