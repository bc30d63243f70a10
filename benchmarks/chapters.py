"""Write how long each chapter ran in the last full build.

    python benchmarks/chapters.py [--quick] [--results FOLDER]     or, with the others, `make bench`

Pages must be identical in every build, so a build shows the times in this table instead of its own. Nothing runs here:
the times come from the manifest of the build.

Columns of chapters.csv: chapter, seconds, versions.
"""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from common import ROOT, arguments, results_folder, versions

from book.make.chapters import read_chapters


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--book", type=Path, default=ROOT / "_build", help="the build (default: _build)")
    options = parser.parse_args()
    manifest = options.book / "executed" / ("quick" if options.quick else "full") / "manifest.json"
    slugs = [chapter.slug for chapter in read_chapters(ROOT)]
    ran = json.loads(manifest.read_text(encoding="utf-8"))["chapters"] if manifest.is_file() else {}
    if lacking := sorted(set(slugs) - set(ran)):
        # An incomplete table would leave gaps on the page.
        print(f"no new times of the chapters: {manifest} lacks {', '.join(lacking)}; run `make book` first")
        return
    chapters = pd.DataFrame({"chapter": slugs})
    chapters["seconds"] = [round(ran[slug]["seconds"], 1) for slug in slugs]
    chapters["versions"] = versions("numpy", "numba")
    chapters.to_csv(results_folder(options) / "chapters.csv", index=False, lineterminator="\n")
    print(chapters.drop(columns="versions").to_string(index=False))


if __name__ == "__main__":
    main()
