"""The compiled loop: that an edit of it is never hidden by what was compiled before, and what its tables hold."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import crowder
from crowder.engine import ASKED, ENTRIES, learn, learned, no_knowledge, settled

SOURCES = sorted(Path(crowder.__file__).parent.rglob("*.py"))


def compiled_functions(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(
            ast.unparse(d) in ("compiled", "inner") for d in node.decorator_list
        ):
            yield node


def test_compiled_functions_call_only_compiled_functions_of_their_own_file():
    """Numba's cache checks the date of the function's own file alone: a callee edited elsewhere would go unnoticed.
    Nobody will edit how a pair is packed."""
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
    compiled = {f.name for tree in trees.values() for f in compiled_functions(tree)}
    assert {"_learn", "node_run", "edge_sort"} <= compiled  # the search finds what there is
    for stem, tree in trees.items():
        own = {f.name for f in compiled_functions(tree)}
        for function in compiled_functions(tree):
            called = {n.func.id for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
            assert not (called & compiled) - own - {"unpack"}, f"{stem}.{function.name}"


FIRST_CALLS = """
import crowder as cr
from crowder import checks
data = cr.datasets.synthetic([4, 3, 2, 1], cr.dist1(0.3), rng=7)
for ordering in (cr.EdgeOrdering, cr.NodeOrdering):
    ordering(data.similarity, rng=7).run(cr.Truth(data.labels)).recall(data.labels)
    asking = ordering(data.similarity, rng=7)
    while (pair := asking.ask()) is not None:
        asking.tell(pair, data.labels[pair[0]] == data.labels[pair[1]])
cr.expected_queries(cr.dist1(0.3), [4, 3, 2, 1])
def ran_compiled():
    functions = [*vars(cr.engine).values(), *vars(cr.pairs).values()]
    return sum(len(f.fast.signatures) for f in functions if isinstance(f, checks.compiled))
before = ran_compiled()
checks.MOST_SECONDS = 0.0
cr.edge_ordering(data.similarity, cr.Truth(data.labels), rng=7)
print(before, ran_compiled() > 0)
"""


def test_a_few_records_wait_for_no_compiler(tmp_path):
    """On a new machine ten records are resolved before one loop would be compiled; many small runs are compiled."""
    done = subprocess.run([sys.executable, "-c", FIRST_CALLS], env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
                          capture_output=True, text=True)  # fmt: skip
    assert done.stdout.split() == ["0", "True"], done.stderr


@pytest.mark.nightly
def test_no_compiled_loop_leaves_its_arrays(tmp_path):
    """The day's tests of compiled code, compiled anew with Numba's checks of bounds, which ordinary runs do without."""
    here = Path(__file__).parent
    files = """test_engine test_orderings test_input_forms test_laws counting/test_expected
        beyond/test_clustering beyond/test_noisy beyond/test_evidence""".split()
    tests = [here / f"{name}.py" for name in files]
    checked = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path), "CROWDER_NIGHTLY": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *map(str, tests)]
    done = subprocess.run(command, env=checked, cwd=here.parents[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("d", range(100, 400, 7))
def test_an_answer_is_learned_in_place_only_if_there_is_room_for_all_that_follows(d):
    """Two records differ from d others each; when they match, 2d new links and d new keys have to fit. If they do not,
    nothing is learned, and with larger arrays all is."""
    knowledge = no_knowledge(2 * d + 2)
    for other in range(d):
        knowledge = learn(learn(knowledge, 0, 2 + other, False), 1, 2 + d + other, False)
    room = learned(tuple(knowledge), 0, 1, True)
    if not room:
        assert knowledge.count[ASKED] == 2 * d and knowledge.component[0] != knowledge.component[1]
        knowledge = learn(knowledge, 0, 1, True)
    assert knowledge.count[ASKED] == 2 * d + 1 and knowledge.count[ENTRIES] <= len(knowledge.link)
    assert all(settled(knowledge.component, knowledge.table, v, other) for v in (0, 1) for other in range(2, 2 * d + 2))
    assert room or d > 170  # 4d of 1,024 links are used before it, and up to 2(d + 1) more are counted upon
