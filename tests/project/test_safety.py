"""Nothing that is read is run: no file and no parameter brings code with it into Python.

That no module calls exec, eval, pickle, an unsafe YAML loader or a shell, ruff says.
"""

import numpy as np
import pytest

import crowder as cr
from book.companion import evidence
from book.project import BuildError, read_yaml
from crowder.oracles import majority_error

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
