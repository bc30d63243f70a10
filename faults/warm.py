"""A process that has imported what is slow to import, and is asked to run pytest again and again, each time in a fork.

Nothing of the project is imported here: a child does that anew, from the folder that it is told. Jobs come as lines of
JSON: the folder, pytest's arguments, the environment and a file for what is said. The answers are the child's process
group, when it has begun, and its exit code.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

sys.dont_write_bytecode = True

#: What `crowder` imports, and takes long. (pytest must import its own plug-ins itself, to rewrite their assertions.)
SLOW = (
    "numpy", "pandas", "scipy.cluster.hierarchy", "scipy.integrate", "scipy.optimize", "scipy.sparse",
    "scipy.spatial.distance", "scipy.special", "scipy.stats", "sympy", "numba", "joblib", "matplotlib.pyplot",
    "seaborn", "rapidfuzz.process", "yaml", "tqdm",
)  # fmt: skip


def main() -> None:
    """Import, then fork a child for every job until there are no more."""
    import pytest

    if Path("crowder").is_dir():
        for name in SLOW:
            importlib.import_module(name)
    _say("ready")
    for line in sys.stdin:
        job = json.loads(line)
        if (child := os.fork()) == 0:
            code = 70  # whatever happens to the child, the answer is one number
            try:
                _enter(job)
                code = int(pytest.main(job["arguments"], plugins=[Noticing()]))
                sys.stdout.flush()
            finally:
                os._exit(code)
        with suppress(OSError):
            os.setpgid(child, child)  # the child does so, too; whoever comes first, it can be ended from here on
        _say(child)
        _say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


class Noticing:
    """A pytest plug-in: a failure is enough, so Hypothesis need not look for the simplest one, which takes longest."""

    def pytest_configure(self) -> None:
        if hypothesis := sys.modules.get("hypothesis"):
            phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
            hypothesis.settings.register_profile("noticing", hypothesis.settings.default, phases=phases)
            hypothesis.settings.load_profile("noticing")


def _say(what: object) -> None:
    print(what, flush=True)


def _enter(job: dict) -> None:
    """Become the process that ``python -m pytest`` would be."""
    os.setpgid(0, 0)  # so that it can be ended with all that it starts
    with open(os.devnull) as nothing, open(job["log"], "w") as log:
        os.dup2(nothing.fileno(), 0)
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.environ.clear()
    os.environ.update(job["environment"])
    os.chdir(job["folder"])
    sys.path[0] = job["folder"]
    if "numba" in sys.modules:
        sys.modules["numba"].config.reload_config()  # whether to compile, and where to


if __name__ == "__main__":
    main()
