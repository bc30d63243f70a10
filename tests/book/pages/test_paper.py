"""The page that follows the paper has all of it, and the first page shows what chapters compute."""

import json
import os
import re
from itertools import count
from pathlib import Path

import pytest
from needing import missing

from book.build.chapters import BuildError
from book.reports.ledger import read_declared, read_paper

ROOT = Path(__file__).resolve().parents[3]
SECTIONS = read_paper(ROOT)
ROWS = [row for rows in SECTIONS.values() for row in rows]

#: What the paper numbers. The definitions in its source are inside \remove, and are not printed.
NUMBERED = {"Theorem": 3, "Corollary": 1, "Proposition": 7, "Equation": 1, "Figure": 2, "Table": 1}


def numbered():
    found = [re.match(r"(\w+) \(?(\d+)", row.name) for row in ROWS if row.numbered]
    return [(name[1], int(name[2])) for name in found]


def chapter(slug):
    (path,) = (ROOT / "notebooks").rglob(f"{slug}.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


# --- the paper, in order ------------------------------------------------------------------------------------------


def test_every_numbered_statement_has_its_row():
    assert set(numbered()) == {(kind, n) for kind, most in NUMBERED.items() for n in range(1, most + 1)}


def test_the_statements_are_those_of_the_source_in_its_order():
    path = Path(os.environ.get("CROWDER_PAPER", ROOT.parent / "shared" / "paper" / "paper.tex"))
    if not path.is_file():
        missing("paper", "the source of the paper is not here: set CROWDER_PAPER to it")
    found = in_source(path.read_text(encoding="utf-8"))
    assert {kind: sum(k == kind for k, _ in found) for kind in NUMBERED} == NUMBERED
    floating = ("Figure", "Table")
    assert [at for at in numbered() if at[0] not in floating] == [at for at in found if at[0] not in floating]


def in_source(tex):
    """Kind and number of the numbered statements in LaTeX, without comments and what is removed."""
    tex = re.sub(r"(?<!\\)%.*", "", tex.partition(r"\begin{document}")[2])
    while (start := tex.find(r"\remove{")) >= 0:
        depth = 0
        for end in count(start + len(r"\remove")):
            depth += {"{": 1, "}": -1}.get(tex[end], 0)
            if depth == 0:
                break
        tex = tex[:start] + tex[end + 1 :]
    found, last = [], {}
    for begun in re.finditer(
        r"\\begin\{(theorem|corollary|proposition|definition|lemma|figure|table|equation|align)\*?\}", tex
    ):
        kind = begun[1].title()
        times = 1
        if begun[1] in ("equation", "align"):
            body = tex[begun.end() : tex.index(r"\end", begun.end())]
            lines = [] if begun[0].endswith("*}") else body.split(r"\\") if kind == "Align" else [body]
            kind, times = "Equation", sum(r"\nonumber" not in line for line in lines)
        for _ in range(times):
            last[kind] = last.get(kind, 0) + 1
            found.append((kind, last[kind]))
    return found


def test_what_is_removed_or_commented_out_is_not_printed():
    tex = r"""\begin{theorem}\begin{document}
\begin{theorem} a \end{theorem} \remove{ {x} \begin{definition} b \end{definition} } % \begin{lemma}
\begin{align} a \nonumber \\ b \\ c \end{align} \begin{align*} d \end{align*} \begin{figure*} \end{figure*}"""
    assert in_source(tex) == [("Theorem", 1), ("Equation", 1), ("Equation", 2), ("Figure", 1)]


def test_every_claim_of_the_paper_and_every_erratum_has_its_place():
    known = read_declared(ROOT)
    named = {name for row in ROWS for name in row.claims}
    assert {name for name in known if name[0] in "CE"} <= named
    assert named <= known.keys()


def test_the_page_shows_all_sections_in_order():
    page = (ROOT / "book" / "pages" / "paper.md").read_text(encoding="utf-8")
    assert re.findall(r"^```\{paper\} (.+)$", page, re.MULTILINE) == list(SECTIONS)


@pytest.mark.parametrize("row", [row for row in ROWS if row.figure], ids=lambda row: row.name)
def test_a_figure_of_the_paper_is_drawn_by_its_chapter(row):
    slug, _, name = row.figure.partition("#")
    assert f'"{name}"' in chapter(slug)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A: {Theorem 1: {claims: [C01], claim: [C02]}}", "Theorem 1: unknown claim"),
        ("A: {Remark: {says: It holds.}}", "Remark: without claims, it needs both says and chapter"),
        ("A: {Theorem 1: {claims: [C01]}, Theorem 1: {claims: [C02]}}", "'Theorem 1' appears twice"),
    ],
)
def test_a_file_that_says_something_else_is_refused(tmp_path, text, message):
    (tmp_path / "book" / "data").mkdir(parents=True)
    (tmp_path / "book" / "data" / "claims.yml").write_text(f"paper:\n  {text}")
    with pytest.raises(BuildError, match=re.escape(message)):
        read_paper(tmp_path)


# --- the first page -----------------------------------------------------------------------------------------------

INDEX = (ROOT / "book" / "pages" / "index.md").read_text(encoding="utf-8")


def test_the_first_line_names_the_subject():
    assert INDEX.partition("# Asking the crowd\n\n")[2].startswith("**Entity resolution**")


@pytest.mark.parametrize("place", sorted(set(re.findall(r"\{found\}`([^:`]+)", INDEX))))
def test_a_number_on_the_first_page_is_named_by_its_chapter(place):
    slug, _, name = place.partition("#")
    assert re.search(rf"\bglue\b[^`]*?\b{name}=", chapter(slug))


def test_the_figure_of_the_first_page_is_drawn_by_its_chapter():
    (place,) = re.findall(r"^```\{shown\} (\S+)$", INDEX, re.MULTILINE)
    slug, _, name = place.partition("#")
    assert f'"{name}"' in chapter(slug)
