"""How long a reader waits for each page, opened from a folder in Chromium: the median of five openings.

    python benchmarks/pages.py [--quick] [--results FOLDER]     or, with the benchmarks, `make bench`

pages.csv: page; kilobytes (of the HTML file); interactive (milliseconds until the page can be read and scrolled); maths
(until its first screen is drawn, with formulas in their own font); shift (the browser's cumulative layout shift, 0 if
nothing moves); versions.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from statistics import median

import pandas as pd
from conftest import ROOT, results_folder, versions
from playwright.sync_api import sync_playwright

WATCH = """
window.shift = 0;
new PerformanceObserver(list => { for (const e of list.getEntries()) window.shift += e.value; })
    .observe({type: 'layout-shift', buffered: true});
// Formulas are drawn with the rest of the page, but not in their own letters before these are there.
window.letters = Infinity;
document.fonts.addEventListener('loadingdone', event => {
    if (event.fontfaces.some(face => face.family.includes('Maths'))) window.letters = performance.now();
});
"""
# From the first drawing with text and pictures on.
DRAWN = "Math.max(window.letters, performance.getEntriesByName('first-contentful-paint')[0].startTime)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three pages, into _build/measured")
    parser.add_argument("--results", type=Path, help="folder of the CSV file (default: book/data/measured)")
    parser.add_argument("--book", type=Path, default=ROOT / "_build" / "html", help="the pages (default: _build/html)")
    arguments = parser.parse_args()
    files = sorted(path for path in arguments.book.glob("notebooks/**/*.html"))
    if not files:
        print(f"no times of the pages: there are none in {arguments.book}; run `make book` first")
        return
    rows = []
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for path in files[:3] if arguments.quick else files:
            found = [opened(browser, path) for _ in range(1 if arguments.quick else 5)]
            interactive, maths, shift = (median(column) for column in zip(*found, strict=True))
            rows.append({
                "page": path.stem, "kilobytes": round(path.stat().st_size / 1000), "interactive": round(interactive),
                "maths": round(maths), "shift": round(shift, 4),
            })  # fmt: skip
        browser.close()
    table = pd.DataFrame(rows).assign(versions=versions("playwright"))
    folder = results_folder(arguments.results, arguments.quick)
    table.to_csv(folder / "pages.csv", index=False, lineterminator="\n")
    print(table.drop(columns="versions").to_string(index=False))


def opened(browser, path: Path) -> tuple[float, float, float]:
    """Open a page once: milliseconds until it is interactive, and until its formulas are drawn; its layout shift."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    page.wait_for_timeout(500)  # for what comes late, and moves the rest
    interactive = page.evaluate("performance.getEntriesByType('navigation')[0].domInteractive")
    maths = page.evaluate(DRAWN)
    shift = page.evaluate("window.shift")
    context.close()
    return interactive, maths, shift


if __name__ == "__main__":
    main()
