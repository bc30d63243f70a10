"""Add the pages of earlier releases to those that are published: /v1.0/, /v2.0/, ..., and a list of them on each page.

    python -m book.build.versions --earlier FOLDER      with crowder-X.Y.Z-html.zip for each release, as attached to it

Of several patches of a version, the last is kept. The list is also written to versions.json.
"""

from __future__ import annotations

import argparse
import json
import posixpath
import re
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from book.build.environment import ROOT
from book.build.folders import swap
from crowder import files

_PLACE = re.compile(r'(<span class="versions">)[^<]*(?:<a [^<]*</a>[^<]*)*(</span>)')


def releases(folder: Path) -> dict[str, Path]:
    """Folder of a version, such as v1.2 -> archive of its pages; the newest version first."""
    found = {}
    for path in folder.rglob("crowder-*-html.zip"):
        if numbers := re.fullmatch(r"crowder-(\d+)\.(\d+)\.(\d+)-html\.zip", path.name):
            found[tuple(map(int, numbers.groups()))] = path
    return {f"v{major}.{minor}": found[major, minor, patch] for major, minor, patch in _last(sorted(found))}


def _last(numbers: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    last = {number[:2]: number for number in numbers}
    return sorted(last.values(), reverse=True)


def unpack(archive: Path, target: Path) -> None:
    """Unpack the pages, which an archive has in a folder of its own name."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".version-") as work:
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(work)
        pages = Path(work) / archive.stem
        if not (pages / "index.html").is_file():
            raise ValueError(f"{archive} has no pages in {archive.stem}/")
        for name in ("*.pdf", "v[0-9]*.[0-9]*"):  # of the versions before it, and the largest files
            for path in pages.glob(name):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        swap(pages, target)


def add(html: Path, earlier: Path) -> list[str]:
    """Unpack all releases beside the pages, and list them on every page; return their folders."""
    found = releases(earlier)
    for version, archive in found.items():
        unpack(archive, html / version)
    listed = [{"version": "the latest", "folder": ""}, *({"version": name, "folder": f"{name}/"} for name in found)]
    files.write(html / "versions.json", json.dumps(listed, indent=1).encode())
    for path in html.rglob("*.html"):
        here = path.relative_to(html).as_posix()
        own = next((name for name in found if here.startswith(f"{name}/")), None)
        links = [_link(html, here, own, entry) for entry in listed if entry["folder"] != (f"{own}/" if own else "")]
        text = path.read_text(encoding="utf-8")
        if (changed := _PLACE.sub(rf"\g<1>{', '.join(links)}\g<2>", text)) != text:
            files.write(path, changed.encode())
    return list(found)


def _link(html: Path, here: str, own: str | None, entry: dict[str, str]) -> str:
    """A link to the same page of another version, or to its first page."""
    page = here.removeprefix(f"{own}/") if own else here
    target = entry["folder"] + (page if (html / entry["folder"] / page).is_file() else "index.html")
    return f'<a href="{posixpath.relpath(target, posixpath.dirname(here) or ".")}">{entry["version"]}</a>'


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--html", type=Path, default=ROOT / "_build" / "html", help="the pages (default: _build/html)")
    parser.add_argument("--earlier", type=Path, required=True, help="the folder with the archives of the releases")
    arguments = parser.parse_args(argv)
    try:
        if not (arguments.html / "index.html").is_file():
            raise ValueError(f"{arguments.html} has no pages; run `make book` first")
        kept = add(arguments.html.resolve(), arguments.earlier)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"versions beside the latest: {', '.join(kept) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
