"""The environment in which chapters run: the same on every machine, whatever its owner has configured."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Used when git cannot give the date of the last commit; its year is the one in the footer.
_FALLBACK_DATE = "1767225600"

# What most chapters call.
_COMPILE = """
import crowder as cr
data = cr.datasets.synthetic([3, 2], cr.dist1(0.4), rng=1)
for resolve in (cr.edge_ordering, cr.node_ordering):
    resolve(data.similarity, cr.Truth(data.labels), rng=1)
cr.expected_queries(cr.dist1(0.4), [3, 2])
"""


def _git(*command: str) -> str | None:
    """The output of git for this project; None without git or if the project is not a repository of its own."""
    # Inside a git hook, for example, these variables point to another repository.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env["GIT_CEILING_DIRECTORIES"] = str(ROOT.parent)
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True, env=env)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit(but: str = "") -> str | None:
    """The commit of these sources, which says if they are modified, except for a folder that is named."""
    commit = _git("rev-parse", "HEAD")
    paths = ["--", ".", f":!{but}"] if but else []
    return f"{commit}-modified" if commit and _git("status", "--porcelain", *paths) else commit


def reference() -> str | None:
    """The tag or else the commit of exactly these sources; None if they are modified, or without git."""
    made = commit()
    if made is None or made.endswith("-modified"):
        return None
    return _git("describe", "--exact-match", "--tags", "--match", "v*") or made


def environment(src: Path, out: Path, work: Path, *, parallel: int) -> dict[str, str]:
    """The environment variables for every chapter and for Sphinx; at most `parallel` chapters run at a time."""
    cores = os.cpu_count() or 1
    private = work / "private"
    private.mkdir()
    env = dict(os.environ)
    env |= {
        "PYTHONPATH": os.pathsep.join([str(src), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": str(out / "cache" / "matplotlib"),
        "IPYTHONDIR": str(private / "ipython"),
        "JUPYTER_CONFIG_DIR": str(private / "jupyter"),
        "JUPYTER_RUNTIME_DIR": str(private / "runtime"),
        # The kernel of this Python, not one of the same name in the home folder.
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        # Chapters share the cores; otherwise each would start one process per core.
        "LOKY_MAX_CPU_COUNT": str(max(1, cores // max(1, parallel))),
        "PYTHONWARNINGS": "",  # the filters of Python itself, not those set outside
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    env.setdefault("SOURCE_DATE_EPOCH", _git("log", "-1", "--format=%ct") or _FALLBACK_DATE)
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        # A single thread always adds numbers in the same order.
        env.setdefault(threads, "1")
    return env


def prepare(env: dict[str, str]) -> None:
    """Find fonts and compile the orderings now, if that is still to be done.

    Matplotlib prints a message on a slow machine, which would end up on a page; and chapters that start together would
    each compile the same code, for twenty seconds.
    """
    if not list(Path(env["MPLCONFIGDIR"]).glob("fontlist*.json")):
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], env=env, capture_output=True)
    if not Path(env["NUMBA_CACHE_DIR"]).exists():
        print("compiling the orderings", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-c", _COMPILE], env=env, capture_output=True)
