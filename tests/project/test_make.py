"""The environment that `make` sets up: in any folder, under any locale, and not trusted until it is complete."""

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from tiny_book import ROOT

#: The platforms for which .ci/lock.py writes hashes.
LOCKED = ast.literal_eval(re.search(r"^PLATFORMS = (.*)", (ROOT / ".ci/lock.py").read_text(), re.MULTILINE)[1])

CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "PYTHON", "VIRTUAL_ENV"))}


def project(root):
    root.mkdir()
    shutil.copy(ROOT / "Makefile", root)
    (root / "requirements.lock").write_text("")
    (root / "requirements-lab.lock").write_text("")
    (root / "tool" / "crowder_tool").mkdir(parents=True)
    (root / "tool" / "crowder_tool" / "__main__.py").write_text("import sys\nprint('crowder', *sys.argv[1:])\n")
    return root


def test_an_environment_in_a_folder_that_is_not_ascii_works_under_any_locale(tmp_path):
    """Python 3.11 cannot read the folder's name from a .pth file under LC_ALL=C, where an editable install has it."""
    root = project(tmp_path / "un été, fo öß")
    env = CLEAN | {"LC_ALL": "C"}
    made = subprocess.run(["make", ".venv/.installed", f"PYTHON={sys.executable}"], cwd=root, env=env,
                          capture_output=True, text=True, timeout=200)  # fmt: skip
    assert made.returncode == 0, made.stderr
    for command in (["python", "-m", "crowder_tool", "start"], ["crowder", "start"]):
        done = subprocess.run([root / ".venv" / "bin" / command[0], *command[1:]], cwd=tmp_path, env=env,
                              capture_output=True, text=True, timeout=60)  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "crowder start\n", "")


@pytest.mark.parametrize("given", ["/no/such", "/bin/false"])
def test_an_unsuitable_python_is_named_in_a_line(tmp_path, given):
    done = subprocess.run(["make", ".venv/.installed", f"PYTHON={given}"], cwd=project(tmp_path / "project"), env=CLEAN,
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    said = f"PYTHON={given} is no Python 3.11, 3.12 or 3.13 with venv"
    assert done.returncode == 2 and done.stderr.splitlines()[0] == said and "making .venv" not in done.stdout


@pytest.mark.parametrize(
    ("system", "machine", "libc", "good"),
    [
        *[(name.title(), machine, "glibc" * (name == "linux"), True) for name, machine in LOCKED],
        ("Linux", "x86_64", "", False),  # musl
    ],
)
def test_where_the_lock_has_no_packages_make_says_so_at_once(tmp_path, system, machine, libc, good):
    """Rather than that a package does not match its hash, which sounds like an attack."""
    root, fake = project(tmp_path / "project"), tmp_path / "python"
    fake.write_text(
        f'#!/bin/sh\ncase "$*" in "-c import platform"*) exec {sys.executable} "$@";; *"-m venv"*) exit 7;; esac'
    )
    fake.chmod(0o755)
    (tmp_path / "platform.py").write_text(
        f"system, machine, libc_ver = lambda: {system!r}, lambda: {machine!r}, lambda: ({libc!r}, '')"
    )
    done = subprocess.run(["make", ".venv/.installed", f"PYTHON={fake}"], cwd=root, capture_output=True, text=True,
                          env=CLEAN | {"PYTHONPATH": str(tmp_path)}, timeout=60)  # fmt: skip
    said = f"requirements.lock has no packages for {' '.join([system, machine, libc]).strip()}. README.md says"
    assert done.returncode == 2 and (said in done.stderr) != good and ("making .venv" in done.stdout) == good


FAKE = """#!/bin/sh
# Stands in for Python: notes what it is asked, makes what venv would, and waits for its end where the test says.
echo "$*" >> "{folder}/asked"
case "$*" in
    *"-m venv "*) mkdir -p .venv/bin; cp "$0" .venv/bin/python; wait_at=venv;;
    *"--require-hashes"*) wait_at=install;;
esac
if [ -n "$wait_at" ] && [ -e "{folder}/stop-$wait_at" ]; then
    rm "{folder}/stop-$wait_at"
    touch "{folder}/reached"
    exec sleep 600
fi
"""


@pytest.mark.parametrize("where", ["venv", "install"])
def test_an_environment_whose_making_was_killed_is_made_anew(tmp_path, where):
    root, fake, asked = project(tmp_path / "project"), tmp_path / "python", tmp_path / "asked"
    fake.write_text(FAKE.format(folder=tmp_path))
    fake.chmod(0o755)
    (tmp_path / f"stop-{where}").touch()
    command = {"args": ["make", ".venv/.installed", f"PYTHON={fake}"], "cwd": root, "env": CLEAN,
               "stdout": subprocess.DEVNULL}  # fmt: skip
    make = subprocess.Popen(**command, start_new_session=True)
    deadline = time.monotonic() + 20
    while not (tmp_path / "reached").exists():
        assert make.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(make.pid, signal.SIGKILL)
    make.wait(60)
    assert (root / ".venv" / "bin" / "python").exists() and not (root / ".venv" / ".installed").exists()
    asked.write_text("")
    subprocess.run(**command, check=True, timeout=60)
    assert "-m venv --clear .venv" in asked.read_text() and "--require-hashes" in asked.read_text()
    asked.write_text("")
    subprocess.run(**command, check=True, timeout=60)
    assert asked.read_text() == ""  # a stamp means done


def test_clean_removes_what_was_made_and_nothing_else(tmp_path):
    """Also the pages and the conf.py that `jupyter-book build .` and `jupyter-book config` leave."""
    root = project(tmp_path / "un été")
    made = ("_build/html/a", "book/pages/api/a", "conf.py", ".ruff_cache/a", ".hypothesis/a", "crowder/__pycache__/a")
    kept = ("book/pages/a.md", "mine/a.csv", ".venv/lib/__pycache__/a", "notebooks/a.ipynb")
    for name in (*made, *kept):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    subprocess.run(["make", "clean"], cwd=root, env=CLEAN, check=True, capture_output=True, timeout=60)
    left = [name for name in (*made, *kept, "Makefile") if (root / name).exists()]
    assert left == [*kept, "Makefile"] and not (root / "_build").exists()
