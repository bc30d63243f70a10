"""Execute chapters in parallel, each by papermill in a thread of its own and with a kernel of its own.

When a chapter or the build has ended, however it ended, `book.make.guard` kills what is left of its processes.
"""

from __future__ import annotations

import json
import logging
import queue
import shutil
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import papermill
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from traitlets.config import Config

from book.make import numbers
from book.make.chapters import BuildError
from book.make.guard import Guard

# --- one chapter ---------------------------------------------------------------------------------------------------


class Execution:
    """A chapter that is executed in a thread; where it is comes into the queue, and `None` when it has ended."""

    def __init__(self, job: dict[str, Any], env: dict[str, str], logs: Path, guard: Guard, heard: queue.Queue) -> None:
        self.slug, self.job, self.guard, self.heard = job["slug"], job, guard, heard
        self.env = env | {"CROWDER_RESULTS": job["results"]}
        self.log = (logs / f"{self.slug}.log").open("w", encoding="utf-8")
        self.kernel: int | None = None
        self.where, self.source = "its kernel did not start", ""
        self.seconds, self.error = 0.0, ""

    def run(self) -> None:
        start = time.monotonic()
        try:
            notebook = papermill.execute_notebook(
                self.job["input"], None, parameters=self.job["parameters"], engine_name="book", chapter=self,
                progress_bar=False, request_save_on_cell_execute=False,
            )  # fmt: skip
            nbformat.write(_answered(_stripped(notebook)), self.job["output"])
            self.seconds = round(time.monotonic() - start, 2)
        except Exception as error:  # whatever it is, it is reported for this chapter
            self.log.write("\n".join(getattr(error, "traceback", [])))
            what = getattr(error, "ename", type(error).__name__), getattr(error, "evalue", error)
            lines = [f"{self.where} failed: {': '.join(map(str, what))}".splitlines()[0]]
            lines += self.source.strip().splitlines()[:8]
            self.error = f"{self.slug}: " + "\n      ".join(lines) + f"\n    more in {self.log.name}"
        finally:
            self.log.close()
            if self.kernel:
                self.guard.ends(self.kernel)
            self.heard.put((self, None))

    def at(self, client: PapermillNotebookClient, cell: Any, index: int) -> None:
        """The client calls this before each cell."""
        if self.kernel is None:
            self.guard.starts(client.km.provisioner.pid)
        # Counted as the author does: from 1, and without the cells of injected parameters and of what the text asks.
        own = [not {"injected-parameters", numbers.TAG} & {*c.metadata.get("tags", [])} for c in client.nb.cells]
        self.kernel, self.where = client.km.provisioner.pid, f"cell {sum(own[: index + 1])} of {sum(own)}"
        self.source = cell.source
        if numbers.TAG in cell.metadata.get("tags", []):
            self.where, self.source = "a number of the text", ""
        self.heard.put((self, self.where))


class _Engine(NBClientEngine):
    """papermill's engine, with a folder, environment and log for this kernel: other threads have others."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, *, chapter: Execution, **_: Any) -> Any:
        client = PapermillNotebookClient(
            nb_man, kernel_name=kernel_name, timeout=chapter.job["timeout"],
            # Kernels on one machine need no encryption, but warn on every start if they have none.
            config=Config({"KernelManager": {"transport_encryption": "auto"}}),
            coalesce_streams=True,  # in how many pieces a text arrives depends on how busy the machine is
        )  # fmt: skip
        client.on_cell_start = lambda cell, cell_index: chapter.at(client, cell, cell_index)
        return client.execute(env=chapter.env, cwd=chapter.job["cwd"], stdout=chapter.log, stderr=chapter.log)


papermill_engines.register("book", _Engine)
# It warns of parameters whose comments it cannot read; the build knows them all, and refuses what is unknown.
logging.getLogger("papermill").setLevel(logging.ERROR)


def _stripped(notebook: Any) -> Any:
    """The notebook without metadata that differs between runs with the same result."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = "injected-parameters"
    return notebook


def _answered(notebook: Any) -> Any:
    """The notebook without its last cell, whose answers it keeps, and says (see `book.make.numbers`)."""
    (output,) = notebook.cells.pop()["outputs"]
    notebook.metadata["numbers"] = answers = json.loads(output["text"])
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = numbers.fill(cell.source, answers)
    return notebook


# --- all chapters ---------------------------------------------------------------------------------------------------


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
    publish: Callable[[dict, float], None],
    progress: Progress,
    guard: Guard,
) -> list[str]:
    """Run the jobs, `parallel` at a time; call `publish` after each success; return the failures' messages.

    `publish` may refuse a chapter by a BuildError.
    """
    waiting, running = list(jobs), 0
    failures: dict[str, str] = {}
    heard: queue.Queue[tuple[Execution, str | None]] = queue.Queue()
    while waiting or running:
        while waiting and running < parallel:
            chapter = Execution(waiting.pop(0), env, logs, guard, heard)
            threading.Thread(target=chapter.run, daemon=True).start()
            running += 1
        chapter, where = heard.get()
        if where:
            progress.at(chapter.slug, where)
            continue
        running -= 1
        if not chapter.error:
            try:
                publish(chapter.job, chapter.seconds)
            except BuildError as error:
                chapter.error = str(error)
        if chapter.error:
            failures[chapter.slug] = chapter.error
        progress.end(chapter.slug, "failed" if chapter.error else f"done in {chapter.seconds:.1f} s")
    return [failures[slug] for slug in sorted(failures)]
