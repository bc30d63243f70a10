"""Nothing that is read is run: no file, no parameter and no record brings code with it into Python or a spreadsheet."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from spreadsheet import cells, is_formula

import crowder as cr
from book import strict_yaml
from book.companion import evidence
from crowder.oracles import majority_error
from crowder_tool.sheets import to_csv

ROOT = Path(__file__).resolve().parents[2]

# --- no way in --------------------------------------------------------------------------------------------------------


#: What ruff's rules do not find.
OTHERS = re.compile(
    r"^\s*(?:import|from) (?:pickle|dill|cloudpickle|shelve|marshal|jsonpickle)\b|allow_pickle=(?!False)|joblib\.load|"
    r"from joblib import .*\bload\b|yaml\.(?:unsafe|full)_load|to_pickle\(|__import__\(\w+\)|sympify\(f?[\"']",
    re.MULTILINE,
)


def test_nothing_that_is_read_is_run():
    """In every module and every notebook; test_habits has ruff look for exec, eval, pickle, unsafe YAML and shells."""
    listed = subprocess.run(["git", "ls-files", "-z", "*.py", "*.ipynb"], cwd=ROOT, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if name != "tests/project/test_safety.py" and (ROOT / name).exists():
            assert not (hit := OTHERS.search((ROOT / name).read_text(encoding="utf-8"))), f"{name}: {hit[0]}"


BOMB = "a0: &a0 [x, x]\n" + "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30))


@pytest.mark.parametrize("text", [BOMB, "a: &a {b: *a}", "a: !!python/object/apply:os.system ['false']",
                                  "a: !!python/name:os.system", "? !!python/tuple [1]\n: 2"])  # fmt: skip
def test_yaml_that_would_run_or_swell_is_refused(text, tmp_path):
    """A safe loader alone would make the bomb: 9^29 letters, once anybody prints it."""
    (tmp_path / "printed.yml").write_text(text)
    with pytest.raises(strict_yaml.Unreadable):
        strict_yaml.read(tmp_path / "printed.yml")


@pytest.mark.parametrize("text", ["a: 1\na: 2", "x: {a: 1, 'a': 2}", "x: [{b: 1, b: 1}]", "1: x\n0x1: y",
                                  "'1': x\n1: y", "yes: 1\ntrue: 2", "<<: {a: 1}\na: 2"])  # fmt: skip
def test_yaml_with_a_key_given_twice_is_refused(text, tmp_path):
    """PyYAML keeps the second, so an entry that was copied and not renamed would replace another; at any depth, and for
    keys that are one to Python or to a reader alone."""
    (tmp_path / "twice.yml").write_text(text)
    with pytest.raises(strict_yaml.Unreadable):
        strict_yaml.read(tmp_path / "twice.yml")


#: What may hold a text. Sympy makes an expression of what is inside, however deep.
HOLDERS = [str, lambda x: [x], lambda x: (x,), lambda x: {x: x}, lambda x: {x}, lambda x: [[(x,)]],
           lambda x: np.array([x]), lambda x: np.array([x], object)]  # fmt: skip


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("call", [
    lambda text: evidence.identity(text), lambda text: evidence.inequality(text),
    lambda text: cr.models.steps("dist1", text), lambda text: cr.models.steps("dist2", text), cr.dist1, cr.dist2,
    lambda text: cr.SimilarityModel.from_steps(text, text, text), lambda text: cr.L(cr.uniform(), text),
    lambda text: majority_error(3, text),
])  # fmt: skip
def test_text_is_no_formula(call, holder, tmp_path):
    """To make an expression of a text, sympy runs it."""
    with pytest.raises((TypeError, ValueError)):
        call(holder(f"open({str(tmp_path / 'ran')!r}, 'w').close()"))
    assert not (tmp_path / "ran").exists()


# --- spreadsheets -----------------------------------------------------------------------------------------------------


#: What cannot be seen before a sign: every control character and line separator, and some that have no width.
UNSEEN = "\u2028\u2029\u200b\u061c\u180e\u2060\u206a\u3000\u3164\ufe0f\ufeff"
BEFORE = ["", " ", *map(chr, [*range(1, 32), *range(0x7F, 0xA1)]), *UNSEEN, "'", "\r' "]


def test_no_cell_of_a_table_is_a_formula_to_a_spreadsheet():
    """People open sheets and clusters in a spreadsheet, which runs a cell that starts with = or +, - or @, also of full
    width: so an apostrophe stands before it. A bare carriage return in a cell begins no other row."""
    bad = [f"{before}{sign}1" for before in BEFORE for sign in "=+-@＝＋－＠"]
    bad += [f"a{before}=cmd|' /C calc'!A0" for before in BEFORE] + [f"{before}a" for before in BEFORE]
    table = pd.DataFrame({"id": range(len(bad)), "=name": bad, "file": bad[::-1], "plain": "a b"})
    rows = cells(to_csv(table))
    assert len(rows) == 1 + len(bad) and {len(row) for row in rows} == {4}
    assert not [cell for row in rows for cell in row if is_formula(cell)]
    for (number, *told), text, file in zip(rows[1:], bad, bad[::-1], strict=True):
        assert bad[int(number)] == text and told[0] in (text, f"'{text}") and told[1] in (file, f"'{file}")
        assert told[2] == "a b"
