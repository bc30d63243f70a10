"""The steps in CONTRIBUTING.md for a similarity are sufficient; `tiny_book` takes those for claims and chapters."""

import shutil
import subprocess
import sys

from book.project import ROOT

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
