"""Write the two locks and environment.yml: `make lock`, with --upgrade for new versions.

requirements-lab.lock has what `make lab` needs beyond requirements.lock, whose versions it takes as given.

uv chooses the versions. Of their files, the lock has the hashes of those for the platforms and Pythons that the project
supports.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from book.reports.about import asked_for

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
LAB = ROOT / "requirements-lab.lock"
PLATFORMS = [("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")]

ENVIRONMENT = """\
# Made by `make lock`, for conda and Binder: what the notebooks and the build import, as in requirements.lock.
# conda brings Python; pip brings these packages in the versions that the tests ran with, and what they need in any.
name: crowder
channels: [conda-forge, nodefaults]
dependencies:
  - python=3.12
  - pip
  - jupyterlab # for working in the notebooks
  - pip:
"""


def pinned(lock: Path) -> list[str]:
    """The lines of a lock without their hashes, such as "numpy==2.4.6", some with a marker."""
    text = lock.read_text(encoding="utf-8") if lock.exists() else ""
    return [line.rstrip(" \\") for line in text.splitlines() if re.match(r"\w", line)]


def resolve(folder: Path, extras: list[str], present: list[str], fixed: list[str]) -> list[str]:
    """Versions for these extras: the fixed ones, and of others the present ones, unless --upgrade was given."""
    pins, constraints = folder / "pins.txt", folder / "constraints.txt"
    pins.write_text("\n".join(present), encoding="utf-8")
    constraints.write_text("\n".join(fixed), encoding="utf-8")
    chosen = [word for extra in extras for word in ("--extra", extra)]
    uv("pip", "compile", "pyproject.toml", "--universal", "--python-version", "3.11", "--no-header", "--no-annotate",
       "--no-emit-index-url", *chosen, "--constraint", str(constraints), "--output-file", str(pins), *sys.argv[1:],
       cwd=ROOT)  # fmt: skip
    return pinned(pins)


def hashes(folder: Path, pins: list[str]) -> dict[str, list[str]]:
    """Package==version -> the hashes of its wheels for our platforms, or of its source if it has none."""
    environments = [f"sys_platform == '{name}' and platform_machine == '{machine}'" for name, machine in PLATFORMS]
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "all"\nversion = "0"\nrequires-python = ">=3.11,<3.14"\ndependencies = {pins}\n'
        f"[tool.uv]\nenvironments = {environments}\n"
    )
    uv("lock", cwd=folder)
    found = {}
    for package in tomllib.loads((folder / "uv.lock").read_text(encoding="utf-8"))["package"]:
        wheels = [wheel for wheel in package.get("wheels", ()) if "musllinux" not in wheel["url"]]
        files = wheels or [package["sdist"]] if "registry" in package["source"] else []
        found[f"{package['name']}=={package['version']}"] = sorted(file["hash"] for file in files)
    return found


def uv(*words: str, cwd: Path) -> None:
    subprocess.run([shutil.which("uv") or sys.exit("make lock needs uv: python3 -m pip install uv"), "--quiet", *words],
                   cwd=cwd, check=True)  # fmt: skip


def write(lock: Path, pins: list[str], found: dict[str, list[str]]) -> None:
    """The packages of our platforms, each with its hashes."""
    listed = [(pin, found[pin.partition(" ")[0]]) for pin in pins if pin.partition(" ")[0] in found]
    lines = [" \\\n    --hash=".join([pin, *files]) for pin, files in listed]
    lock.write_text("\n".join([*lines, ""]), encoding="utf-8")


def environment(pins: list[str]) -> str:
    """environment.yml: the packages that pyproject.toml asks for to build the book."""
    versions = dict(pin.partition(" ")[0].split("==") for pin in pins)
    return (
        ENVIRONMENT
        + "".join(f"      - {name}=={versions[name]}\n" for name in asked_for(ROOT, "book"))
        + "      - -e .\n      - -e ./tool\n"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        pins = resolve(Path(work), ["book", "test"], present=pinned(LOCK), fixed=[])
        all_pins = resolve(Path(work), ["book", "test", "lab"], present=pinned(LAB), fixed=pins)
        found = hashes(Path(work), all_pins)
    write(LOCK, pins, found)
    write(LAB, [pin for pin in all_pins if pin not in pins], found)
    (ROOT / "environment.yml").write_text(environment(pins), encoding="utf-8")
