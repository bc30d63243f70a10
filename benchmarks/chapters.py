"""Write how long each chapter ran in the last full build, for the page *What ran*.

Pages must be identical in every build, so a build shows the times in this table instead of its own. Nothing runs here:
the times come from the manifest of the build.

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
    parser.add_argument("--quick", action="store_true", help="times of the quick profile, into _build/measured")
    parser.add_argument("--results", type=Path, help="folder of the CSV file (default: book/data/measured)")
    parser.add_argument("--book", type=Path, default=ROOT / "_build", help="the build (default: _build)")
    arguments = parser.parse_args()
    profile = "quick" if arguments.quick else "full"
    manifest = arguments.book / "executed" / profile / "manifest.json"
    slugs = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    ran = json.loads(manifest.read_text(encoding="utf-8"))["chapters"] if manifest.is_file() else {}
    if lacking := sorted(set(slugs) - set(ran)):
        # An incomplete table would leave gaps on the page.
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
