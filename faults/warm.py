"""A process that imports slow packages once and then runs pytest repeatedly, each time in a fork.

It imports nothing of the project: each child does so itself, from the folder of its job. Jobs are lines of JSON: the
folder, the arguments of pytest, the environment and a file for the output. The replies are the child's process group,
sent at its start, and its exit code.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

sys.dont_write_bytecode = True

#: Slow imports of `crowder`. (pytest must import its plug-ins itself, to rewrite their assertions.)
SLOW = (
    "numpy", "pandas", "scipy.cluster.hierarchy", "scipy.integrate", "scipy.optimize", "scipy.sparse",
    "scipy.spatial.distance", "scipy.special", "scipy.stats", "sympy", "numba", "joblib", "matplotlib.pyplot",
    "seaborn", "rapidfuzz.process", "yaml", "tqdm",
)  # fmt: skip


def main() -> None:
    """Import the slow packages, then fork a child for every job."""
    import pytest

    if Path("crowder").is_dir():
        for name in SLOW:
            importlib.import_module(name)
    _say("ready")
    for line in sys.stdin:
        job = json.loads(line)
        if (child := os.fork()) == 0:
            code = 70  # an exit code, whatever happens to the child
            try:
                _enter(job)
                code = int(pytest.main(job["arguments"], plugins=[NoShrinking()]))
                sys.stdout.flush()
            finally:
                os._exit(code)
        with suppress(OSError):
            os.setpgid(child, child)  # the child does so, too; after the first of the two it can be killed
        _say(child)
        _say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


class NoShrinking:
    """A pytest plug-in that keeps Hypothesis from simplifying failing examples, which takes longest."""

    def pytest_configure(self) -> None:
        if hypothesis := sys.modules.get("hypothesis"):
            phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
            hypothesis.settings.register_profile("no-shrinking", hypothesis.settings.default, phases=phases)
            hypothesis.settings.load_profile("no-shrinking")


def _say(what: object) -> None:
    print(what, flush=True)


def _enter(job: dict) -> None:
    """Become the process that ``python -m pytest`` would be."""
    os.setpgid(0, 0)  # so that it can be killed together with its children
    with open(os.devnull) as nothing, open(job["log"], "w") as log:
        os.dup2(nothing.fileno(), 0)
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    sys.path[0] = job["folder"]
    if "numba" in sys.modules:
        sys.modules["numba"].config.reload_config()  # whether to compile, and the cache folder


if __name__ == "__main__":
    main()
