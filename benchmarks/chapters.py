"""Write how long each chapter ran when it was last executed for the book.

    python benchmarks/chapters.py [--quick] [--results FOLDER]     or, with the others, `make bench`

Pages must be identical in every build, so a build shows the times in this table instead of its own. Nothing runs here.

Columns of chapters.csv: chapter, seconds, versions.
"""

from __future__ import annotations

import pandas as pd
from common import arguments, results_folder, versions

from book.project import OUT, ROOT
from book.run import ran
from book.text.chapters import read_chapters


def main() -> None:
    options = arguments(__doc__).parse_args()
    profile = "quick" if options.quick else "full"
    seconds = {chapter.slug: ran(OUT / profile / chapter.slug).get("seconds") for chapter in read_chapters(ROOT)}
    if lacking := [slug for slug, took in seconds.items() if took is None]:
        # An incomplete table would leave gaps on the page.
        print(f"no new times of the chapters: {', '.join(lacking)} not executed; run `make book` first")
        return
    chapters = pd.DataFrame({"chapter": [*seconds], "seconds": [round(took, 1) for took in seconds.values()]})
    chapters["versions"] = versions("numpy", "numba")
    chapters.to_csv(results_folder(options) / "chapters.csv", index=False, lineterminator="\n")
    print(chapters.drop(columns="versions").to_string(index=False))


if __name__ == "__main__":
    main()
