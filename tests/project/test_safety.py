"""Nothing that is read is run: no file, no parameter and no record brings code with it into Python or a spreadsheet.

That no module calls exec, eval, pickle, an unsafe YAML loader or a shell, ruff says.
"""

import numpy as np
import pandas as pd
import pytest
from spreadsheet import cells, is_formula

import crowder as cr
from book.companion import evidence
from book.project import BuildError, read_yaml
from crowder.oracles import majority_error
from crowder_tool.sheets import to_csv

BOMB = "a0: &a0 [x, x]\n" + "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30))


@pytest.mark.parametrize("text", [
    # A safe loader alone would make the bomb: 9^29 letters, once anybody prints it.
    BOMB, "a: &a {b: *a}", "a: !!python/object/apply:os.system ['false']", "? !!python/tuple [1]\n: 2",
    # Of a key that is given twice PyYAML keeps the second, so an entry that was copied and not renamed would replace
    # another; at any depth, and for keys that are one to Python or to a reader alone.
    "a: 1\na: 2", "x: [{b: 1, 'b': 1}]", "1: x\n0x1: y", "'1': x\n1: y", "yes: 1\ntrue: 2", "<<: {a: 1}\na: 2",
])  # fmt: skip
def test_yaml_that_would_run_or_swell_or_lose_an_entry_is_refused(text, tmp_path):
    (tmp_path / "a.yml").write_text(text)
    with pytest.raises(BuildError):
        read_yaml(tmp_path / "a.yml")


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
