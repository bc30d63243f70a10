"""Run chapters in parallel, each with papermill in a process of its own.

The parent starts ``python -m book.build.execute`` for each chapter, writes the job to its standard input as one line of
JSON, and reads progress from its standard output, again one line of JSON each; nothing else can write there. The
parent keeps the input open. When it closes, the parent has ended, and the worker ends itself and its kernel.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from book.build import processes
from book.build.chapters import BuildError, os_error_message
from book.build.environment import ROOT

#: Limit on the outputs of one cell, fifty times the largest that is meant for a page.
MAX_OUTPUT_BYTES = 50_000_000


# --- the worker --------------------------------------------------------------------------------------------------


def _reserve_stdout() -> Any:
    """Keep standard output for messages to the parent; whatever else is printed goes to the log."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")  # children do not inherit it, so it closes when we end
    os.dup2(2, 1)
    return channel


def end_with_parent(last: Callable[[], None] = lambda: None) -> None:
    """Call `last` and end this process as soon as the parent, at the other end of standard input, has ended."""
    while os.read(0, 4096):  # not through sys.stdin, whose lock Python needs on exit
        pass
    with contextlib.suppress(Exception):
        last()
    os._exit(1)


def _strip(notebook: Any) -> None:
    """Remove metadata that differs between runs with the same result."""
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = "injected-parameters"


def _seconds(cell: Any) -> float:
    """How long papermill took to execute a cell; 0 for text."""
    return round(cell.metadata.get("papermill", {}).get("duration") or 0.0, 2)


def _size(message: dict[str, Any]) -> int:
    content = message["content"]
    pieces = [content.get("text", ""), *(content.get("data") or {}).values()]
    return sum(len(piece) if isinstance(piece, str) else len(json.dumps(piece)) for piece in pieces)


def _execute(job: dict[str, Any], channel: Any, clients: list[Any]) -> None:
    sys.modules.setdefault("pyarrow", None)  # type: ignore[arg-type]  # papermill loads it for HDFS alone, in 0.2 s
    import nbformat
    import papermill
    import papermill.engines
    import zmq
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.engines import NBClientEngine, papermill_engines
    from traitlets.config import Config

    at: int | None = None  # the current cell; None before the first
    sizes: dict[int, int] = {}

    def _send(**message: Any) -> None:
        print(json.dumps(message), file=channel, flush=True)

    class Client(papermill.engines.PapermillNotebookClient):
        """papermill's client with a limit on the output of a cell, so that it cannot fill the memory."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            clients.append(self)

        def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
            sizes[cell_index] = sizes.get(cell_index, 0) + _size(msg)
            if sizes[cell_index] > MAX_OUTPUT_BYTES:
                _send(error=f"its output exceeds {MAX_OUTPUT_BYTES // 10**6} MB, more than a page can show", cell=at)
                os._exit(1)  # the parent ends the kernel
            return super().process_message(msg, cell, cell_index)

    papermill.engines.PapermillNotebookClient = Client

    class Engine(NBClientEngine):
        """papermill's engine, which also reports the current cell to the parent."""

        @classmethod
        def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **kwargs: Any) -> Any:
            start = nb_man.cell_start

            def cell_start(cell: Any, cell_index: int | None = None, **more: Any) -> Any:
                nonlocal at
                at = cell_index or 0
                _send(cell=at, of=len(nb_man.nb.cells))
                return start(cell, cell_index, **more)

            nb_man.cell_start = cell_start
            return super().execute_managed_notebook(nb_man, kernel_name, **kwargs)

    papermill_engines.register("crowder", Engine)
    config = Config()
    if zmq.has("curve"):
        # A kernel warns on every start if its TCP connections are not encrypted.
        config.KernelManager.transport_encryption = "auto"
    started = time.monotonic()

    def execute() -> Any:
        return papermill.execute_notebook(
            job["input"], None, parameters=job["parameters"], engine_name="crowder", cwd=job["cwd"],
            progress_bar=False, execution_timeout=job["timeout"], request_save_on_cell_execute=False, config=config,
        )  # fmt: skip

    try:
        try:
            notebook = execute()
        except RuntimeError:
            if at is not None:
                raise
            notebook = execute()  # the kernel did not start: another program may have taken one of its ports
    except papermill.PapermillExecutionError as error:
        _send(error=f"{error.ename}: {error.evalue}".removesuffix(": "), cell=error.cell_index, source=error.source,
              traceback="\n".join(error.traceback))  # fmt: skip
        return
    except CellTimeoutError:
        _send(error=f"the cell ran longer than {job['timeout']} s (see --timeout)", cell=at)
        return
    except DeadKernelError:
        _send(error="its kernel died: killed from outside (out of memory?), or a crash in compiled code", cell=at)
        return
    except Exception as error:  # any other error is reported for this chapter, too
        _send(error=f"{type(error).__name__}: {error}", cell=at)
        return
    took = {"cells": [_seconds(cell) for cell in notebook.cells]}
    _strip(notebook)
    try:
        nbformat.write(notebook, job["output"])
    except OSError as error:
        _send(failed=f"its execution could not be written: {os_error_message(error)}")
        return
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    took["processor"] = round(sum(u.ru_utime + u.ru_stime for u in used), 2)
    _send(seconds=round(time.monotonic() - started, 2), **took)


# --- the parent --------------------------------------------------------------------------------------------------


def _describe(job: dict[str, Any], message: dict[str, Any]) -> str:
    if message.get("cell") is None:
        return f"{job['slug']}: its kernel did not start: {message['error']}"
    # Count as the author does: from 1, and without the cell of injected parameters.
    injected = 1 if job["parameters"] else 0
    cells = json.loads(Path(job["input"]).read_text(encoding="utf-8"))["cells"]
    tagged = next(i for i, c in enumerate(cells) if "parameters" in c["metadata"].get("tags", []))
    index = message["cell"]
    if injected and index == tagged + 1:
        number, source = "with the injected parameters", ""
    else:
        index -= injected if index > tagged else 0
        number, source = f"{index + 1} of {len(cells)}", "".join(cells[index]["source"])
    shown = "\n".join("      " + line for line in source.strip().splitlines()[:8])
    return f"{job['slug']}: cell {number} failed: {message['error']}" + (f"\n{shown}" if shown else "")


def _run(job: dict[str, Any], env: dict[str, str], log: Path, report: Callable, alive: list) -> dict[str, Any]:
    """Run one chapter; return its seconds, those of each cell, and its processor time."""
    log.parent.mkdir(parents=True, exist_ok=True)
    last: dict[str, Any] = {}
    with log.open("w", encoding="utf-8") as errors:
        worker = subprocess.Popen(
            [sys.executable, "-m", "book.build.execute"], cwd=ROOT,  # so that this `book` is imported
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8",
            env=env | {"CROWDER_RESULTS": job["results"]},
            # The parent alone handles Ctrl-C.
            start_new_session=True,
        )  # fmt: skip
        alive.append(worker)
        try:
            worker.stdin.write(json.dumps(job) + "\n")
            worker.stdin.flush()
            for line in worker.stdout:
                if line.endswith("\n"):  # a killed worker may leave half a line
                    last = json.loads(line)
                    if "of" in last:
                        report(job["slug"], last["cell"], last["of"])
        except BrokenPipeError:
            pass  # the worker ended at once; its log says why
        finally:
            worker.stdout.close()
            code = worker.wait()
            alive.remove(worker)
            processes.end("CROWDER_RESULTS", job["results"])
    if "seconds" in last:
        return {name: last[name] for name in ("seconds", "processor", "cells")}
    if "error" in last:
        if last.get("traceback"):
            with log.open("a", encoding="utf-8") as errors:
                errors.write(last["traceback"] + "\n")
        reason = _last_line(log) if last.get("cell") is None else ""
        raise BuildError(_describe(job, last) + reason + f"\n    more in {log}")
    if "failed" in last:
        raise BuildError(f"{job['slug']}: {last['failed']}")
    how = f"was killed (signal {-code})" if code < 0 else f"ended with code {code}"
    raise BuildError(f"{job['slug']}: its process {how}{_last_line(log)}\n    more in {log}")


def _last_line(log: Path) -> str:
    """The last error in the log, usually the cause; without any, the last line."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    errors = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Exception): ", line)]
    return f"\n      {(errors or lines)[-1]}" if lines else ""


class Progress:
    """A progress bar for each chapter on a terminal, plain lines elsewhere; and how long it will take."""

    def __init__(self, slugs: list[str], expected: dict[str, float], parallel: int) -> None:
        self.left = {slug: expected.get(slug) for slug in slugs}
        self.parallel = parallel
        if left := self.time_left():
            print(f"as last measured{left}", file=sys.stderr, flush=True)
        self.tty = sys.stderr.isatty()
        self.reported: dict[str, float] = {}
        self.bars: dict[str, Any] = {}
        if self.tty:
            from tqdm import tqdm

            width = max(map(len, slugs), default=0)
            form = "{desc} {bar:24} {n_fmt:>3}/{total_fmt} cells {elapsed}"
            for i, slug in enumerate(slugs):
                self.bars[slug] = tqdm(total=1, desc=slug.ljust(width), position=i, bar_format=form, leave=True)

    def time_left(self) -> str:
        """The time that the unfinished chapters took when last measured, shared by those that run at a time."""
        known = [seconds for seconds in self.left.values() if seconds is not None]
        if not known or len(known) < len(self.left):
            return ""
        seconds = max(sum(known) / self.parallel, *known)
        return f", about {seconds / 60:.0f} min left" if seconds > 90 else f", about {seconds:.0f} s left"

    def at(self, slug: str, cell: int, total: int) -> None:
        if self.tty:
            bar = self.bars[slug]
            if bar.total != total:
                bar.reset(total)  # starts the clock of this chapter
            bar.n = cell
            bar.refresh()
        elif time.monotonic() - self.reported.get(slug, 0) > 15:
            self.reported[slug] = time.monotonic()
            print(f"  {slug}: cell {cell + 1} of {total}", file=sys.stderr, flush=True)

    def end(self, slug: str, seconds: float | None) -> None:
        del self.left[slug]
        if self.tty:
            if seconds is not None:
                self.bars[slug].n = self.bars[slug].total
            self.bars[slug].refresh()
        else:
            result = "failed" if seconds is None else f"done in {seconds:.1f} s"
            print(f"  {slug}: {result}{self.time_left()}", file=sys.stderr, flush=True)

    def close(self) -> None:
        for bar in self.bars.values():
            bar.close()


def run_all(
    jobs: list[dict[str, Any]],
    parallel: int,
    env: dict[str, str],
    logs: Path,
    publish: Callable[[dict, dict], None],
    expected: dict[str, float],
) -> list[str]:
    """Run the jobs, `parallel` at a time; call `publish` after each success; return the failures' messages."""
    progress = Progress([job["slug"] for job in jobs], expected, parallel)
    alive: list[subprocess.Popen] = []
    failures: dict[str, str] = {}
    guard = threading.Lock()

    def one(job: dict[str, Any]) -> None:
        seconds = None
        try:
            took = _run(job, env, logs / f"{job['slug']}.log", progress.at, alive)
            with guard:
                publish(job, took)
            seconds = took["seconds"]
        except BuildError as error:
            failures[job["slug"]] = str(error)
        except OSError as error:
            failures[job["slug"]] = f"{job['slug']}: {os_error_message(error)}"
        finally:
            progress.end(job["slug"], seconds)

    pool = ThreadPoolExecutor(parallel)
    try:
        for future in [pool.submit(one, job) for job in jobs]:
            future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in list(alive):
            worker.kill()
        pool.shutdown(wait=True)
        progress.close()
    return [failures[slug] for slug in sorted(failures)]


if __name__ == "__main__":
    _job = json.loads(sys.stdin.readline())
    _clients: list[Any] = []

    def _end_kernel() -> None:
        """Kill the kernel: while compiled code runs, it would not react to anything else."""
        os.kill(_clients[0].km.provisioner.pid, signal.SIGKILL)

    threading.Thread(target=end_with_parent, args=[_end_kernel], daemon=True).start()
    _execute(_job, _reserve_stdout(), _clients)
    # Exit at once, because the thread above still waits for the parent.
    os._exit(0)
