"""Collect the files attached to a release: pages, PDF and results of the last full build, with checksums.

    python -m book.build.release                 into _build/release
    python -m book.build.release --tag v1.0.0    the same, if the tag is the version of the project

The archives of two identical builds are identical: names in order, and one time stamp for all files.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

from book.build.chapters import BuildError, read_chapters
from book.build.environment import ROOT
from book.build.folders import swap
from book.build.manifest import Manifest, sha256
from book.build.pdf import NAME as PDF


def version(root: Path) -> str:
    """The project's version, if CHANGELOG.md has a section for it."""
    stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    if f"\n## {coming(stated)} " not in (root / "CHANGELOG.md").read_text(encoding="utf-8"):
        raise BuildError(f"CHANGELOG.md has no section for version {coming(stated)}")
    return stated


def coming(stated: str) -> str:
    """The release that a version belongs to: 2.0.0 for 2.0.0.dev0."""
    return stated.partition(".dev")[0]


def notes(root: Path, stated: str) -> str:
    """The section of CHANGELOG.md on a version."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.split(r"^## ", text, flags=re.MULTILINE)
    return next(part for part in section if part.startswith(f"{coming(stated)} ")).partition("\n")[2].strip() + "\n"


def archive(folder: Path, target: Path, inside: str) -> None:
    """Pack all files of a folder into a ZIP file with the top folder `inside`."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            entry = zipfile.ZipInfo(f"{inside}/{path.relative_to(folder).as_posix()}", (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            packed.writestr(entry, path.read_bytes())


def _complete(root: Path, build: Path) -> None:
    """Check that the build is complete, current, and from a single commit."""
    manifest = Manifest(build / "executed" / "full" / "manifest.json", "full", build / "results" / "full")
    chapters = read_chapters(root)
    if stale := [c.slug for c in chapters if not manifest.is_current(c, {})]:
        raise BuildError(f"{build} has no current execution of {', '.join(stale)}; run `make book` first")
    commits = {manifest.data["chapters"][c.slug]["commit"] for c in chapters}
    if len(commits) > 1:
        raise BuildError(f"the chapters in {build} are from {len(commits)} commits; run `make book` first")
    if (commit := commits.pop()) is None or commit.endswith("-modified"):
        raise BuildError("a release needs a clean commit; commit everything, then run `make book` again")
    for name, how in (("html/index.html", "make book"), (f"html/{PDF}", "make pdf")):
        if not (build / name).is_file():
            raise BuildError(f"{build / name} is missing; run `{how}` first")


def release(root: Path, build: Path, tag: str | None = None) -> Path:
    """Collect everything that is attached to a release; return the folder."""
    stated = version(root)
    if tag is not None and tag != f"v{stated}":
        raise BuildError(f"the tag is {tag}, but pyproject.toml states version {stated}")
    if stated != coming(stated):
        raise BuildError(f"pyproject.toml states the development version {stated}; set the version to release")
    _complete(root, build)
    work = Path(tempfile.mkdtemp(prefix=".work-", dir=build))
    try:
        name = f"crowder-{stated}"
        archive(build / "html", work / f"{name}-html.zip", f"{name}-html")
        archive(build / "results" / "full", work / f"{name}-results.zip", f"{name}-results")
        shutil.copyfile(build / "html" / PDF, work / f"{name}.pdf")
        attached = sorted(work.iterdir())
        sums = "".join(f"{sha256(path)}  {path.name}\n" for path in attached)
        (work / "SHA256SUMS").write_text(sums, encoding="utf-8")
        (work / "notes.md").write_text(notes(root, stated), encoding="utf-8")
        work.chmod(0o755)  # a temporary folder is private
        swap(work, build / "release")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return build / "release"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tag", help="the tag to release: v and the version")
    parser.add_argument("--build", type=Path, default=ROOT / "_build", help="the build (default: _build)")
    args = parser.parse_args(argv)
    try:
        folder = release(ROOT, args.build.resolve(), args.tag)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in sorted(folder.iterdir()):
        print(f"{path.stat().st_size / 1e6:6.1f} MB  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
