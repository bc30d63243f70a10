"""The compiled loop: that an edit of it is never hidden by what was compiled before, and what its tables hold."""

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Closure

import crowder
from crowder.engine import ASKED, learn, learned, no_knowledge, settled

SOURCES = sorted(Path(crowder.__file__).parent.rglob("*.py"))


def compiled_functions(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any("njit" in ast.unparse(d) for d in node.decorator_list):
            yield node


def test_compiled_functions_call_only_compiled_functions_of_their_own_file():
    """Numba's cache checks the date of the function's own file alone: a callee edited elsewhere would go unnoticed."""
    trees = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
    compiled = {f.name for tree in trees.values() for f in compiled_functions(tree)}
    assert {"learn", "node_run", "edge_sort"} <= compiled  # the search finds what there is
    for stem, tree in trees.items():
        own = {f.name for f in compiled_functions(tree)}
        for function in compiled_functions(tree):
            called = {n.func.id for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
            assert not (called & compiled) - own, f"{stem}.{function.name}"


@given(st.integers(2, 9), st.data())
@settings(max_examples=100, deadline=None)
def test_knowledge_is_the_closure_of_the_answers(n, data):
    """After every answer, a pair is settled exactly when the closure of all answers, kept at its plainest, says so."""
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    pairs = data.draw(st.permutations([(i, j) for i in range(n) for j in range(i + 1, n)]))
    knowledge, closure, answers = no_knowledge(n), Closure(n), 0
    for i, j in pairs:
        assert settled(knowledge.component, knowledge.table, i, j) == closure.knows(i, j)
        if closure.knows(i, j):
            continue
        same = labels[i] == labels[j]
        knowledge, answers = learn(knowledge, i, j, same), answers + 1
        closure.learn(i, j, same)
        assert knowledge.count[ASKED] == answers
        for a in range(n):
            for b in range(n):
                assert (knowledge.component[a] == knowledge.component[b]) == (closure.same[a] == closure.same[b])


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_learning_in_place_is_learning(share):
    """Random answers, among them enough to fill all arrays: with room the same result in place, otherwise no change."""
    rng = np.random.default_rng(1)
    plain, in_place, done = no_knowledge(200), no_knowledge(200), {True: 0, False: 0}
    for i, j in rng.integers(200, size=(20_000, 2)).tolist():
        if not settled(plain.component, plain.table, i, j):
            same = bool(rng.random() < share)
            plain = learn(plain, i, j, same)
            room = learned(tuple(in_place), i, j, same)
            in_place = in_place if room else learn(in_place, i, j, same)
            done[room] += 1
            assert in_place.count[ASKED] == plain.count[ASKED]
            assert np.array_equal(in_place.component, plain.component)
    asked = plain.count[ASKED]
    assert np.array_equal(in_place.asked[:asked], plain.asked[:asked])
    pairs = [(i, j) for i in range(200) for j in range(i)]
    known = [[settled(k.component, k.table, i, j) for i, j in pairs] for k in (plain, in_place)]
    assert known[0] == known[1]
    assert done[True]


@pytest.mark.parametrize("clusters", [70, 300])
def test_merging_components_with_many_known_non_matches(clusters):
    """Two records a cluster: first all non-matches among the first records, then all matches, heavy with light and
    light with heavy; nothing may be forgotten when the tables double and the dead keys are dropped."""
    rng = np.random.default_rng(clusters)
    knowledge = no_knowledge(2 * clusters)
    for a in range(clusters):
        for b in range(a):
            knowledge = learn(knowledge, *((a, b) if rng.random() < 0.5 else (b, a)), False)
    for a in range(clusters):
        pair = (a, a + clusters)
        knowledge = learn(knowledge, *(pair if rng.random() < 0.5 else pair[::-1]), True)
    for i in range(2 * clusters):
        for j in range(i):
            assert settled(knowledge.component, knowledge.table, i, j)
            assert (knowledge.component[i] == knowledge.component[j]) == (i % clusters == j % clusters)
