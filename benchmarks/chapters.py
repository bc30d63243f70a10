"""Write how long each chapter, and each slow cell, ran in the last full build.

Pages must be identical in every build, so a build shows the times in these tables instead of its own. Nothing runs
here: the times come from the manifest of the build.

    python benchmarks/chapters.py [--quick] [--results FOLDER]     or, with the benchmarks, `make bench`

chapters.csv: chapter, seconds, processor (seconds of processor time, of all processes), versions.
cells.csv: chapter, cell (from 1, as in the notebook), seconds, for every cell that ran for at least a second, the
slowest first.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd
from conftest import ROOT, results_folder, versions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="times of the quick profile, into _build/measured")
    parser.add_argument("--results", type=Path, help="folder of the CSV files (default: book/data/measured)")
    parser.add_argument("--book", type=Path, default=ROOT / "_build", help="the build (default: _build)")
    arguments = parser.parse_args()
    profile = "quick" if arguments.quick else "full"
    manifest = arguments.book / "executed" / profile / "manifest.json"
    slugs = [path.stem for part in ("", "appendix/") for path in sorted((ROOT / "notebooks").glob(f"{part}*.ipynb"))]
    ran = json.loads(manifest.read_text(encoding="utf-8"))["chapters"] if manifest.is_file() else {}
    if lacking := sorted(set(slugs) - set(ran)):
        # An incomplete table would leave gaps on the page.
        print(f"no new times of the chapters: {manifest} lacks {', '.join(lacking)}; run `make book` first")
        return
    chapters = pd.DataFrame({
        "chapter": slugs,
        "seconds": [round(ran[slug]["seconds"], 1) for slug in slugs],
        "processor": [round(ran[slug]["processor"], 1) for slug in slugs],
    })  # fmt: skip
    chapters["versions"] = versions("numpy", "numba")
    timed = [(slug, cell + 1, seconds) for slug in slugs for cell, seconds in enumerate(ran[slug]["cells"])]
    cells = pd.DataFrame(timed, columns=["chapter", "cell", "seconds"])
    cells = cells[cells["seconds"] >= 1].sort_values("seconds", ascending=False, kind="stable")
    folder = results_folder(arguments.results, arguments.quick)
    for name, table in (("chapters", chapters), ("cells", cells)):
        table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    print(chapters.drop(columns="versions").to_string(index=False))
    print(cells.head(20).to_string(index=False))


if __name__ == "__main__":
    main()
