"""Chapters under parameters other than their own: what a reader types must run, and the page say what came out."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_synthetic_chapter_under_another_reading_says_that_it_does_not_fit(tmp_path):
    """Rounded down, Dist-2 with ε = 1/20 gives all pairs the same values: edge ordering then asks more."""
    values = ["discretize=floor", "repetitions=4", "side_repetitions=3", "n_jobs=1"]
    command = [sys.executable, str(ROOT / "book" / "build.py"), "--only", "08", "--preview", "--output", str(tmp_path)]
    for value in values:
        command += ["-p", value]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    notebook = json.loads((tmp_path / "executed" / "full" / "08-synthetic.ipynb").read_text(encoding="utf-8"))
    said = " ".join(
        "".join(output["data"]["text/markdown"])
        for cell in notebook["cells"]
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    )
    assert "the printed table cannot be had" in said
    assert "Taken together, the printed table is what this experiment gives" not in said
