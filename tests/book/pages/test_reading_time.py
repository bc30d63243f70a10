"""The book is read in an afternoon: a main chapter in twelve minutes at most, all in well under three hours."""

from pathlib import Path

import yaml

from book.reports.reading_time import STORY, of_page

ROOT = Path(__file__).resolve().parents[3]
MINUTES, TOGETHER, SHOWN = 12, 160, 8


def story() -> list[str]:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    parts = [part for part in toc["parts"] if part.get("caption") in STORY]
    assert [part["caption"] for part in parts] == list(STORY)
    return [c["file"] for part in parts for c in part["chapters"] if c["file"].startswith("notebooks/")]


def test_no_chapter_is_long_and_all_are_read_in_an_afternoon(html):
    found = {name: of_page((html / f"{name}.html").read_text(encoding="utf-8")) for name in story()}
    assert len(found) >= 15
    assert {name: round(read.minutes, 1) for name, read in found.items() if read.minutes > MINUTES} == {}
    assert sum(read.minutes for read in found.values()) <= TOGETHER
    shown = {name: read.figures + read.tables for name, read in found.items()}
    assert {name: count for name, count in shown.items() if count > SHOWN} == {}


def test_what_is_folded_is_not_counted():
    words = "One two three. " * 10
    folded = f"<details class='proof'><summary>Proof</summary><p>{words}</p></details>"
    code = f"<div class='cell tag_hide-input'><div class='cell_input'><pre>{words}</pre></div></div>"
    read = of_page(f"<article><p>{words}</p>{folded}{code}<div class='math'>x</div><figure></figure></article>")
    assert (read.words, read.equations, read.figures) == (31, 1, 1)
    assert read.minutes == 31 / 200 + 0.5


def test_what_a_visible_cell_prints_is_read_with_its_code():
    printed = "<div class='cell_output'>c <div class='math'>x</div></div>"
    cell = "<div class='cell{}'><div class='cell_input'>a b</div>" + printed + "</div>"
    shown, drawn = (of_page(f"<article>{cell.format(tag)}</article>") for tag in ("", " tag_hide-input"))
    assert (shown.words, shown.equations, shown.code) == (0, 0, 4)
    assert (drawn.words, drawn.equations, drawn.code) == (1, 1, 0)
