"""The steps in CONTRIBUTING.md for a similarity, a claim and a chapter are sufficient."""

import shutil
import subprocess
import sys
from pathlib import Path

from tiny_book import TinyBook

ROOT = Path(__file__).resolve().parents[2]

SIMILARITY = """

def same_length(records: Records, *, fields: Sequence[str] | None = None) -> np.ndarray:
    lengths = np.array([len(text) for text in texts(records, fields)])
    return (lengths[:, None] == lengths)[np.triu_indices(len(lengths), 1)].astype(np.float64)


SIMILARITIES: Mapping[str, Callable] = MappingProxyType({**SIMILARITIES, "same-length": same_length})
"""

TRY_SIMILARITY = """
import crowder as cr
data = cr.datasets.disney("same-length")
frame = data.records
plan = cr.Plan(frame, "same-length", ordering="edge")
print(data.condensed.tolist(), len(plan.batch(2)) > 0)
"""

CLAIM = """
import sympy as sp
from book.companion.claims import agreement, also, identity, of_chapter

claim, check = of_chapter(__name__)


@claim("B01", place="beyond the paper", statement="A square is a product.", status="holds", basis="proved",
       proof="03-three#squares", prose="that all sides of a square are equal")
def square(side=3, area=9):
    x = sp.Symbol("x")
    yield identity("for every side", (x**2, x * x))
    yield also(agreement("in numbers", side * side, area))
"""

CELL = """
from book.claims.three import check
check("B01", side=size, area=size**2)
"""


def test_a_similarity_is_a_function_and_its_name(tmp_path):
    shutil.copytree(ROOT / "crowder", tmp_path / "crowder", ignore=shutil.ignore_patterns("__pycache__", "*.npz"))
    with (tmp_path / "crowder" / "similarity" / "functions.py").open("a", encoding="utf-8") as file:
        file.write(SIMILARITY)
    done = subprocess.run(
        [sys.executable, "-B", "-c", TRY_SIMILARITY], cwd=tmp_path, capture_output=True, text=True,
        env={"PATH": "", "NUMBA_CACHE_DIR": str(tmp_path / "numba"), "PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    # Of the five names of places no two are equally long.
    assert done.stdout.split() == ["[0.0,", *["0.0,"] * 8, "0.0]", "True"], done.stderr


def test_a_chapter_is_a_notebook_its_claims_and_a_line_and_a_claim_a_function_and_a_line(tmp_path):
    book = TinyBook(tmp_path / "book")
    text = (
        "# Three\n\nA square is a product {claim}`B01`.\n\n(squares)=\n## Why\n\n" + "All of its sides are equal. " * 8
    )
    book.write("03-three", text, "#p\nsize = 5", CELL)
    (book.root / "book" / "claims" / "three.py").write_text(CLAIM)
    toc = (book.root / "_toc.yml").read_text()
    (book.root / "_toc.yml").write_text(
        toc.replace("/02-two\n", "/02-two\n  - file: notebooks/03-three\n") + "  - file: book/pages/ledger\n"
    )
    (book.root / "book" / "pages" / "ledger.md").write_text("# Ledger\n\n```{ledger} B\n```\n")
    done = book.build()
    assert done.returncode == 0, done.stderr
    page = book.page("notebooks/03-three")
    assert "B01 holds (proved)" in page and 'id="claim-b01"' in page and "for every side" in page
    assert "In prose only: that all sides of a square are equal." in page
    # Without its notebook, the claim runs on its defaults; and a wrong number turns it red there, too.
    for area, said in ((9, "('holds', 'proved')"), (10, "('not shown', 'proved')")):
        call = f"from book.claims.three import square as c; f = c.record(c.gather(area={area})); " \
               "print((f['status'], f['basis']))"  # fmt: skip
        alone = subprocess.run(
            [sys.executable, "-B", "-c", call], cwd=book.root, capture_output=True, text=True, check=True
        )
        assert alone.stdout.strip() == said
