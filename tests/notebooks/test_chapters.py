"""Chapters with other parameters run, and their text agrees with the results."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from book.claims import load, module_of

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
CLAIMS = load()


def sources(path, kind):
    """The text of each cell of a kind."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == kind]


def prose(path):
    return sources(path, "markdown")


def code(path):
    return sources(path, "code")


def name_of(function):
    """The last part of what is called."""
    return getattr(function, "id", getattr(function, "attr", None))


def directives(text, kinds):
    """The sphinx-proof blocks of these kinds, each as text, whatever the length of its fence."""
    found = re.finditer(rf"^(:{{3,}}|`{{3,}})\{{prf:(?:{kinds})\}}.*?^\1\s*$", text, re.MULTILINE | re.DOTALL)
    return [match[0] for match in found]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_statement_has_its_badge(path):
    for text in prose(path):
        for block in directives(text, "theorem|proposition|corollary|lemma"):
            assert "{claim}`" in block, f"{path.stem}: no badge in\n{block}"
        rest = text
        for block in directives(text, "definition"):
            rest = rest.replace(block, "")  # a definition asserts nothing
        if re.search(r"\$\$\s*\(eq-[a-z0-9-]+\)", rest):
            assert "{claim}`" in text, f"{path.stem}: an equation without a badge in\n{text}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_chapter_records_exactly_its_claims(path):
    """Each once, in a call that has its identifier in it, with a check that comes from the chapter's own module."""
    tree = ast.parse("\n".join(code(path)))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and name_of(node.func) == "check"]
    checked = [call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None for call in calls]
    module = f"book.claims.{module_of(path.stem)}"
    assert sorted(checked, key=str) == sorted(name for name, claim in CLAIMS.items() if claim.module == module)
    modules = {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and "check" in {alias.asname or alias.name for alias in node.names}
    }
    assert modules == ({module} if checked else set())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_folded_cell_says_in_its_first_line_what_it_does(path):
    """A reader sees that line, or the numbers of its figures, in the place of the code."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if "hide-input" in cell["metadata"].get("tags", []):
            first = "".join(cell["source"]).partition("\n")[0]
            assert cell["cell_type"] == "code" and re.fullmatch(r"# *\w.*", first), f"{path.stem}: {first}"


def test_every_claim_is_of_a_chapter():
    assert {claim.module for claim in CLAIMS.values()} <= {f"book.claims.{module_of(path.stem)}" for path in NOTEBOOKS}


def test_every_claim_of_the_paper_is_in_the_catalogue():
    """The paper makes 33 claims; the full build fails for one without evidence, if it knows of it."""
    listed = [name for name in CLAIMS if name.startswith("C")]
    assert sorted(listed) == [f"C{number:02}" for number in range(1, 34)]


def test_no_erratum_holds_as_printed():
    errata = [claim for claim in load().values() if claim.id.startswith("E")]
    assert errata and all(claim.corrected for claim in errata)


def test_the_synthetic_chapter_under_another_reading_says_that_it_does_not_fit(tmp_path):
    """Rounded down, Dist-2 with ε = 1/20 gives all pairs the same values: edge ordering then asks more."""
    values = {"rounding": "down or up", "leading_repetitions": "4", "n_jobs": "1"}
    command = [sys.executable, "-m", "papermill", "notebooks/08-synthetic.ipynb", str(tmp_path / "made.ipynb")]
    for name, value in values.items():
        command += ["-p", name, value]
    done = subprocess.run(
        [*command, "--no-progress-bar"], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
        env=os.environ | {"CROWDER_RESULTS": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = " ".join(
        "".join(output["data"]["text/markdown"])
        for cell in json.loads((tmp_path / "made.ipynb").read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        if "text/markdown" in output.get("data", {})
    )
    assert json.loads((tmp_path / "claims" / "C24.json").read_text(encoding="utf-8"))["status"] == "not shown"
    assert "the published table cannot be reproduced" in said
    assert "The published table as a whole is what this experiment gives" not in said


def test_the_lists_of_errata_are_made_from_the_ledger():
    path = ROOT / "notebooks" / "19-errata.ipynb"
    for part in ("results", "rest"):
        assert sum(text.count(f"```{{errata}} {part}\n```") for text in prose(path)) == 1
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert not re.search(r"refuted|misprint|caveat", code)  # no status is typed
