"""The steps in CONTRIBUTING.md for a similarity, a claim and a chapter are sufficient."""

import shutil
import subprocess
import sys
from pathlib import Path

from tiny_book import TinyBook

ROOT = Path(__file__).resolve().parents[2]

SIMILARITY = """

def same_length(columns: Columns) -> OneToMany:
    lengths = np.array([len(text) for text in joined(columns)])
    return lambda i, j: (lengths[i] == lengths[j]).astype(np.float64)


SIMILARITIES = MappingProxyType({**SIMILARITIES, "same-length": same_length})
"""

TRY_SIMILARITY = """
import crowder as cr
data = cr.datasets.disney("same-length")
print(data.condensed.tolist(), cr.EdgeOrdering(data.condensed, rng=7).ask() is not None)
"""

CLAIM = """
claims:
  B01: {statement: A square is a product., status: holds, basis: proved, proof: 03-three#squares,
        prose: that all sides are equal}
"""

CELL = """
import sympy as sp
from book.companion.claims import check, identity
x = sp.Symbol("x")
check("B01", identity("for every side", (x**2, x * x)));
"""


def test_a_similarity_is_a_function_and_its_name(tmp_path):
    shutil.copytree(ROOT / "crowder", tmp_path / "crowder", ignore=shutil.ignore_patterns("__pycache__", "*.npz"))
    with (tmp_path / "crowder" / "similarity.py").open("a", encoding="utf-8") as file:
        file.write(SIMILARITY)
    done = subprocess.run(
        [sys.executable, "-B", "-c", TRY_SIMILARITY], cwd=tmp_path, capture_output=True, text=True,
        env={"PATH": "", "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(tmp_path)},  # five records need no compiler
    )  # fmt: skip
    # Of the five names of places no two are equally long.
    assert done.stdout.split() == ["[0.0,", *["0.0,"] * 8, "0.0]", "True"], done.stderr


def test_a_chapter_is_a_notebook_and_a_line_and_a_claim_is_words_and_a_check(tmp_path):
    book = TinyBook(tmp_path / "book")
    text = (
        "# Three\n\nA square is a product {claim}`B01`.\n\n(squares)=\n## Why\n\n" + "All of its sides are equal. " * 8
    )
    book.write("03-three", text, "#p\nsize = 5", CELL)
    book.claims(CLAIM)
    toc = (book.root / "_toc.yml").read_text()
    (book.root / "_toc.yml").write_text(
        toc.replace("/02-two\n", "/02-two\n  - file: notebooks/03-three\n") + "  - file: book/pages/paper\n"
    )
    (book.root / "book" / "pages" / "paper.md").write_text("# The paper\n\n```{own}\n```\n")
    done = book.build()
    assert done.returncode == 0, done.stderr
    page = book.page("notebooks/03-three")
    assert "B01 holds (proved)" in page and 'id="claim-b01"' in page and "for every side" in page
    assert "In prose only: that all sides are equal." in page
