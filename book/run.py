"""Execute with papermill the chapters whose code, parameters or inputs have changed.

    python -m book.run                           into _build/full
    python -m book.run --profile quick           into _build/quick, with the smaller values of book/data/profiles.yml
    python -m book.run 08 -p seed 8              one chapter with a value of your own, beside the book
    python -m book.run -y '{epsilons: [0.1]}'    all chapters that have this parameter

A run with parameters goes to a folder of its own below _build/runs. It lists what comes out otherwise than in the book,
which stays as it is. `PROFILE=runs/NAME jupyter-book build .` renders its pages.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import fcntl
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import papermill
import psutil
import yaml
from nbclient.exceptions import DeadKernelError
from papermill.cli import _resolve_type as scalar
from tqdm import tqdm

from book.project import OUT, ROOT, BuildError, digest
from book.text import chapters as known
from book.text import numbers, to_myst
from book.text.chapters import Chapter

#: What every chapter imports or reads.
SHARED = ("crowder", "tool/crowder_tool", "book/companion", "book/project.py", "book/data/fonts", "requirements.lock")
#: What makes an execution the same on every machine. A single thread adds numbers in the same order.
ENVIRONMENT = {
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tool")]), "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline",
    "MPLCONFIGDIR": str(OUT / "cache" / "matplotlib"), "IPYTHONDIR": str(OUT / "cache" / "ipython"),
    "JUPYTER_CONFIG_DIR": str(OUT / "cache" / "jupyter"), "JUPYTER_RUNTIME_DIR": str(OUT / "cache" / "runtime"),
    "JUPYTER_PREFER_ENV_PATH": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8", "TZ": "UTC",
    # glibc would give large arrays back to the system and clear new ones: up to a sixth of a chapter's time.
    "MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "1073741824",
}  # fmt: skip
#: Compiled once: chapters that start together would each compile it, for twenty seconds.
COMPILE = """
import crowder as cr, matplotlib.font_manager
data = cr.datasets.synthetic([3, 2], cr.dist1(0.4), rng=1)
for resolve in (cr.edge_ordering, cr.node_ordering):
    resolve(data.similarity, cr.Truth(data.labels), rng=1)
cr.expected_queries(cr.dist1(0.4), [3, 2])
"""
#: Jupyter chooses a kernel's ports some time before the kernel takes them, and another program may be quicker.
STARTS = 3
#: Seconds for a cell.
TIMEOUT = 7200


# --- which chapters are due ---------------------------------------------------------------------------------------


def meant(file: Path) -> bytes:
    """What a file says to a chapter: Python without its comments, docstrings and layout."""
    if file.suffix != ".py":
        return file.read_bytes()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.dump(tree).encode()


def _plots(code: str) -> set[str]:
    """The files of `notebooks.plots` that this code imports, and those that these import."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (package := str(node.module)).startswith("notebooks.plots"):
            one = package.removeprefix("notebooks.plots").strip(".")
            names |= {one} if one else {alias.name for alias in node.names}
    files = {f"notebooks/plots/{name}.py" for name in names}
    return files.union(*(_plots((ROOT / name).read_text(encoding="utf-8")) for name in files))


def key(chapter: Chapter, parameters: dict[str, Any], shared: str) -> str:
    """A hash of what an execution depends on; of the text only what it asks for."""
    code = [(c["id"], c["source"], c["metadata"]) for c in chapter.notebook()["cells"] if c["cell_type"] == "code"]
    read = _plots("\n".join(source for _, source, _ in code))
    said = str(code) + "".join((ROOT / name).read_text(encoding="utf-8") for name in read)
    read |= {f"book/data/recorded/{path.name}" for path in (ROOT / "book" / "data" / "recorded").glob("*")
             if f'"{path.stem}"' in said}  # fmt: skip
    read |= {"book/data/published.yml"} if "published" in said else set()
    facts = [code, numbers.asked(chapter), parameters, digest(*sorted(read), read=meant), shared]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def shared() -> str:
    """A hash of what all chapters depend on."""
    return digest(*SHARED, read=meant) + sys.version


def ran(folder: Path) -> dict[str, Any]:
    """Key, seconds and parameters of the execution in this folder; nothing if there is none."""
    try:
        return json.loads((folder / "ran.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


# --- one chapter, in a worker process -----------------------------------------------------------------------------

#: The kernel of this worker, and the cell that it executes.
_kernels: set[int] = set()
_cell: list[str] = []


def work() -> None:
    """Prepare a worker: it ends, with its kernel and what that has started, when the build has ended or was killed."""

    def watch() -> None:
        multiprocessing.parent_process().join()
        for process in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        end_kernels()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def note(cell: Any, **_: Any) -> None:
    """papermill calls this before each cell."""
    _cell[:] = [cell["id"]]
    if not _kernels:
        _kernels.update(process.pid for process in psutil.Process().children())


def end_kernels() -> None:
    """End what kernels have started and left: each leads a session, to which it belongs."""
    for process in psutil.pids():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(process) in _kernels:
                os.kill(process, signal.SIGKILL)
    _kernels.clear()


def execute(chapter: Chapter, parameters: dict[str, Any], made: str, folder: Path) -> tuple[str, float]:
    """Execute a chapter into its folder, which is there as a whole or not at all; an error message, and the seconds."""
    part, start = Path(tempfile.mkdtemp(prefix=f".{chapter.slug}-", dir=folder.parent)), time.monotonic()
    part.chmod(0o755)
    path, log = part / chapter.path.name, folder.with_suffix(".log")
    asking = numbers.asking(chapter)
    os.environ["CROWDER_RESULTS"] = str(part)
    with log.open("w") as file:
        for stream in (1, 2):  # what kernels and libraries print
            os.dup2(file.fileno(), stream)
    try:
        path.write_text(json.dumps(asking), encoding="utf-8")
        notebook = started(path, parameters, chapter.root / chapter.path.parent)
        keep(notebook, path)
        seconds = round(time.monotonic() - start, 2)
        facts = {"key": made, "seconds": seconds, "parameters": chapter.defaults() | parameters}
        (part / "ran.json").write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
        folder.with_suffix(".failed.ipynb").unlink(missing_ok=True)
        return "", seconds
    except Exception as error:  # whatever it is, it is reported for this chapter
        where, lines = failed_at(asking)
        name, said = getattr(error, "ename", type(error).__name__), getattr(error, "evalue", str(error))
        first = f"{chapter.slug}: {where}{name}: {said}".strip().splitlines()[0]
        kept = [path.replace(folder.with_suffix(".failed.ipynb"))] if path.exists() else []
        more = f"    more in {', '.join(str(each.relative_to(ROOT)) for each in [*kept, log])}"
        return "\n      ".join([first, *lines]) + f"\n{more}", 0.0
    finally:
        end_kernels()
        shutil.rmtree(part, ignore_errors=True)


def started(path: Path, parameters: dict[str, Any], folder: Path) -> Any:
    """The executed notebook. A kernel that does not start is started again."""
    for last in range(STARTS - 1, -1, -1):
        _cell.clear()
        try:
            notebook = papermill.execute_notebook(
                path, path, parameters, progress_bar=False, cwd=folder, execution_timeout=TIMEOUT,
                coalesce_streams=True,  # in how many pieces a text arrives depends on how busy the machine is
                on_cell_start=note,
            )  # fmt: skip
            _cell.clear()
            return notebook
        except RuntimeError as error:
            if isinstance(error, DeadKernelError) or not last:  # dead at work; or no kernel started at all
                raise
            end_kernels()


def failed_at(asking: dict[str, Any]) -> tuple[str, list[str]]:
    """At which cell an execution ended, counted from 1 as its author does, and the first lines of this cell."""
    for number, cell in enumerate(asking["cells"], start=1):
        if [cell["id"]] == _cell:
            if cell["id"] == numbers.TAG:
                return "a number of the text: ", []
            return f"cell {number} of {len(asking['cells']) - 1}: ", cell["source"].strip().splitlines()[:8]
    return "", []


def keep(notebook: Any, path: Path) -> None:
    """Write the notebook as it ran, with the answers to its text, and without what differs between equal runs."""
    (output,) = notebook.cells.pop()["outputs"]
    answers = json.loads(output["text"])
    notebook.metadata["numbers"] = answers
    notebook.metadata.pop("papermill", None)
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = "injected-parameters"
        if cell.cell_type == "markdown":
            cell.source = numbers.fill(cell.source, answers)
    to_myst.check(notebook)
    nbformat.write(notebook, path)


# --- all chapters -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """One build at a time."""
    OUT.mkdir(exist_ok=True)
    with (OUT / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BuildError("another build is running") from None
        yield


class Progress:
    """One bar, or a line for each chapter where there is no terminal, with the time that is left."""

    def __init__(self, expected: dict[str, float], jobs: int) -> None:
        self.left, self.jobs = dict(expected), jobs
        self.expected = self.took = 0.0  # of the chapters that have ended
        self.bar = tqdm(total=len(expected), disable=not sys.stderr.isatty(), file=sys.stderr,
                        bar_format="{n_fmt} of {total_fmt} chapters |{bar}| {elapsed}{postfix}")  # fmt: skip
        self.estimate()

    def estimate(self) -> None:
        """The seconds left, by those that chapters took before, at the pace of this run."""
        pace = self.took / self.expected if self.took and 0 < self.expected < float("inf") else 1.0
        self.at = time.monotonic()
        self.seconds = pace * max([sum(self.left.values()) / self.jobs, *self.left.values()])

    def time_left(self) -> str:
        seconds = self.seconds - (time.monotonic() - self.at)
        if not self.left or not 0 < seconds < float("inf"):
            return ""
        return f"about {seconds / 60:.0f} min left" if seconds > 90 else f"about {seconds:.0f} s left"

    def refresh(self) -> None:
        self.bar.set_postfix_str(self.time_left())

    def end(self, slug: str, seconds: float, words: str) -> None:
        self.expected, self.took = self.expected + self.left.pop(slug), self.took + seconds
        self.estimate()
        self.bar.update()
        left = f" ({self.time_left()})" if self.bar.disable and self.time_left() else ""
        tqdm.write(f"{slug}: {words}{left}", file=sys.stderr)


def run(chapters: list[Chapter], chosen: dict[str, dict[str, Any]], out: Path, jobs: int) -> list[str]:
    """Execute what is due of these chapters into `out`, the longest first; a message for each that fails."""
    common = shared()
    keys = {c: key(c, chosen[c.slug], common) for c in chapters}
    out.mkdir(parents=True, exist_ok=True)
    for left in out.glob(".*-*"):  # by a build that was killed
        shutil.rmtree(left, ignore_errors=True)
    for chapter in chapters:  # with the same parameters as in the book
        same = OUT / "full" / chapter.slug
        if out != same.parent and ran(same).get("key") == keys[chapter] != ran(out / chapter.slug).get("key"):
            shutil.copytree(same, out / chapter.slug, dirs_exist_ok=True)
    measured = pd.read_csv(ROOT / "book" / "data" / "measured" / "chapters.csv").set_index("chapter")["seconds"]
    usual = measured if out == OUT / "full" else {}
    due = [c for c in chapters if ran(out / c.slug).get("key") != keys[c]]
    expected = {c.slug: ran(out / c.slug).get("seconds", usual.get(c.slug, float("inf"))) for c in due}
    due.sort(key=lambda chapter: -expected[chapter.slug])
    jobs = max(1, min(jobs, len(due)))
    prepare(jobs, compile=bool(due))
    failed: dict[str, str] = {}
    progress = Progress(expected, jobs)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), work) as pool, progress.bar:
        running = {pool.submit(execute, c, chosen[c.slug], keys[c], out / c.slug): c.slug for c in due}
        try:
            left = {*running}
            while left:
                ended, left = wait(left, timeout=1, return_when=FIRST_COMPLETED)
                for future in ended:
                    slug, (message, seconds) = running[future], future.result()
                    failed |= {slug: message} if message else {}
                    progress.end(slug, seconds, "failed" if message else f"{seconds:.1f} s")
                progress.refresh()
        except BaseException:  # interrupted, or a worker was killed
            for worker in multiprocessing.active_children():
                with contextlib.suppress(psutil.NoSuchProcess):
                    for process in (*psutil.Process(worker.pid).children(recursive=True), worker):
                        process.kill()
            raise
    common = shared()
    for chapter in due:
        if key(chapter, chosen[chapter.slug], common) != keys[chapter]:
            failed.setdefault(chapter.slug, f"{chapter.slug}: its sources changed while it ran; run it again")
    return [failed[slug] for slug in sorted(failed)]


def prepare(jobs: int, *, compile: bool) -> None:
    """Set the environment of workers and kernels; find fonts and compile the orderings, if that is still to be done."""
    compiled = OUT / "cache" / f"numba-{digest('crowder', 'tool/crowder_tool', read=meant)[:16]}"
    for other in compiled.parent.glob("numba-*"):
        if other != compiled:
            shutil.rmtree(other, ignore_errors=True)
    # Chapters share the cores; otherwise each would start one process per core.
    os.environ.update(
        ENVIRONMENT, NUMBA_CACHE_DIR=str(compiled), LOKY_MAX_CPU_COUNT=str((os.cpu_count() or 1) // jobs or 1)
    )
    if compile and not compiled.exists():
        print("compiling the orderings", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-c", COMPILE], capture_output=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m book.run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("chapters", nargs="*", metavar="NN", help="these chapters, by number or name (default: all)")
    add("--profile", default=os.environ.get("PROFILE") or "full", help="full, or a name in book/data/profiles.yml")
    add("-p", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"), dest="parameters",
        help="set a parameter, as papermill does")  # fmt: skip
    add("-y", action="append", default=[], metavar="YAML", dest="yaml", help="set parameters, lists too, by YAML")
    add("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="chapters at a time (default: one per core)")
    args = parser.parse_args()
    # SIGTERM and SIGHUP clean up as Ctrl-C does; under nohup, SIGHUP stays ignored.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    typed = {name: scalar(value) for name, value in args.parameters}
    for text in args.yaml:
        given = yaml.safe_load(text)
        if not isinstance(given, dict):
            raise BuildError(f"-y {text}: expected names and values, such as '{{epsilons: [0.1, 0.3]}}'")
        typed |= given
    every = known.read_chapters(ROOT)
    chapters = known.select(every, args.chapters)
    if typed and not args.chapters:  # all that have one
        chapters = [c for c in every if typed.keys() & c.defaults().keys()] or every
    chosen = known.chosen(chapters, known.read_profile(ROOT, args.profile, every), typed)
    name = known.run_name([*args.chapters, *(word for n, value in typed.items() for word in (n, str(value)))])
    out = OUT / "runs" / name if typed else OUT / args.profile
    with alone():
        if failed := run(chapters, chosen, out, args.jobs):
            raise BuildError("\n".join(failed))
    if typed:
        from book import check  # which no other run needs

        print("\n".join(check.beside(chapters, out)))
        print(f"The notebooks are in {out.relative_to(ROOT)}; for pages: PROFILE=runs/{name} jupyter-book build .")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BuildError as error:
        sys.exit(f"error: {error}")
    except BrokenProcessPool:
        sys.exit("error: a worker was killed; what was executed is kept")
    except KeyboardInterrupt:
        print("interrupted; what was executed is kept", file=sys.stderr)
        sys.exit(130)
