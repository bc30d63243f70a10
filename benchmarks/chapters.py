"""How long each chapter ran when the book was last built in full: what the page *What ran* shows.

A page must come out the same each time it is built, so the build shows no time of its own; it reads the table that this
leaves. Nothing runs here: the times stand in the build's manifest.

    python benchmarks/chapters.py [--quick] [--results FOLDER]     or, with the benchmarks, `make bench`
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd
from conftest import ROOT, versions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="of the quick book, into _build/measured")
    parser.add_argument("--results", type=Path, help="folder of the CSV file (default: book/data/measured)")
    parser.add_argument("--book", type=Path, default=ROOT / "_build", help="the build (default: _build)")
    arguments = parser.parse_args()
    profile = "quick" if arguments.quick else "full"
    manifest = arguments.book / "executed" / profile / "manifest.json"
    slugs = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    ran = json.loads(manifest.read_text(encoding="utf-8"))["chapters"] if manifest.is_file() else {}
    if lacking := sorted(set(slugs) - set(ran)):
        # A table of some chapters would leave holes on the page.
        print(f"no new times of the chapters: {manifest} lacks {', '.join(lacking)}; run `make book` first")
        return
    table = pd.DataFrame({"chapter": slugs, "seconds": [round(ran[slug]["seconds"], 1) for slug in slugs]})
    table["versions"] = versions("numpy", "numba")
    folder = arguments.results or ROOT / ("_build" if arguments.quick else "book") / "measured"
    folder.mkdir(parents=True, exist_ok=True)
    table.to_csv(folder / "chapters.csv", index=False, lineterminator="\n")
    print(table.drop(columns="versions").to_string(index=False))


if __name__ == "__main__":
    main()
