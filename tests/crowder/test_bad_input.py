"""What users may pass by mistake is taken, or refused by a message of ours that says what is wrong.

Every parameter of every public callable in turn is given what it is not. The table after that has what needs a certain
value to be refused.
"""

import ast
import functools
import importlib
import inspect
import math
import re
import traceback
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import crowder as cr
import crowder_tool
from book.project import BuildError
from book.text.chapters import read_chapters, select
from crowder import experiments
from crowder.counting import bounds, small_cases

ROOT = Path(__file__).resolve().parents[2]
V, M, U = [0.9, 0.8, 0.1], cr.dist1(Fraction(1, 5)), cr.uniform()
PEOPLE = crowder_tool.people([2, 1, 1], rng=7)[["id", "label", "name", "city"]]
SCORES = pd.DataFrame({"left": [0, 0, 1], "right": [1, 2, 2], "score": V})
VOTED = cr.beyond.Answers.read([(0, 1, "yes", "ann"), (0, 2, "no", "ann")], n=3)

#: Parts of messages of Python and NumPy when an argument was not checked.
FROM_INSIDE = (
    "NoneType", "object is not subscriptable", "object is not iterable", "cannot unpack", "unhashable",
    "could not convert", "setting an array element", "not supported between", "SeedSequence", "has no attribute",
    "cannot be interpreted as an integer", "object is not callable", "zero-size array", "zip() argument",
    "invalid literal", "empty sequence",
)  # fmt: skip


def crowd(i, j):
    return i + j == 1


def edge():
    return cr.EdgeOrdering(V, rng=7)


# --- every parameter of every public callable -------------------------------------------------------------------------

JUNK = [
    None, math.nan, math.inf, "x", b"x", -1, 2**70, 0.5, True, [], [[1], [1, 2]], [[[0.5]]], ["a", "b", "c"],
    np.array([None, {}, "x"], object), np.ma.masked_equal([1, 0, 1], 0), 1j, int, iter([0, 1]), {"a": 1},
    pd.DataFrame({"a": [1, 2]}), sparse.coo_array((2, 3)), datetime(2020, 1, 1), np.array(["NaT"], "M8[s]"), pd.NA,
    lambda: None, object(),
]  # fmt: skip

#: Public, besides what the API page lists.
MORE = """beyond.audit.audit_cost beyond.errors.learn_errors beyond.others.MemberVotes beyond.others.control_queries
    counting.arrival.expected_queries_in_order counting.arrival.prob_nonmatch_first
    counting.bounds.certain_mass counting.bounds.disconnected counting.bounds.edge_tree_bound
    counting.bounds.edge_union_bound counting.bounds.error_bound counting.bounds.prob_fully_determined
    counting.bounds.question_bound
    counting.bounds.three_steps counting.expected.component_numbers
    counting.expected.expected_across counting.expected.log_connected counting.likelihood.expected_evidence_queries
    counting.likelihood.prob_wrong_first counting.likelihood.product_tv counting.limits.edge_limit
    counting.limits.giant_share counting.limits.node_limit counting.small_cases.orders_by_questions
    counting.small_cases.partitions oracles.majority_error""".split()
#: What `resolve` returns, what an ordering calls, and the steps of `Journal.vote`; and parameters: jobs are processes.
LEFT = {"beyond.Resolved", "beyond.others.MemberVotes.majority", "Journal.charge", "Journal.find", "Journal.take",
        "n_jobs", "settings", "options", "self"}  # fmt: skip

#: What is taken for a parameter of this name; after a dot, by one callable alone. A function of no argument makes it.
GOOD = {
    "a": 2, "accepted": [[2, 0]], "after": [1], "answers": [True], "arrivals": [0, 1, 0], "believed": None, "bins": 4,
    "c": 0.5, "chance": [0.1], "clusters": [0, 0, 1], "condensed": V, "confidence": 0.9, "crowd": lambda: crowd,
    "declared": [[0, 2]], "delta": 0.1, "edges": [0, 0.5, 1],
    "epsilon": Fraction(1, 5), "error": 0.1, "errors": None, "false_no": 0.1, "false_yes": 0.05, "features": None,
    "folder": "nowhere", "frame": SCORES, "function": lambda: lambda rng: {"a": 1}, "gone": [], "green": [1, 1],
    "grid": [{}], "heights": [1, 1], "holder": "ann", "i": 0, "j": 1, "k": 2, "labels": [0, 0, 1],
    "journal": lambda: crowder_tool.Journal(None, "a.journal"), "m": 3, "matches": 1, "message": "gone", "model": M,
    "n": 3, "name": "x", "nonmatches": 2, "number": 0, "oracle": lambda: crowd, "order": [0, 1, 2], "ordering": edge,
    "other": 2, "p": 0.5, "pairs": [(0, 1)], "path": "answers.journal", "queries": [[0, 1]], "ratio": 0.5,
    "records": PEOPLE, "red": [1, 1], "repetitions": 1, "right": 1, "rng": 7, "rows": [(0, 1, "yes")],
    "rule": "round", "said": "yes", "same": True, "seconds": 60, "similarity": V, "size": 2, "sizes": [2, 1],
    "strategy": edge, "t": 2, "url": "http://127.0.0.1:9/v1", "values": [0.1, 0.5], "votes": 3, "w": [0.5],
    "weights": [[1, 2], [2, 1]],
    "workers": {"ann": (0.1, 0.1)}, "wrong": 1, "x": 0.5, "yes": [True],
    "Answer.confidence": 0.5, "Failed.after": 0, "Journal.record.votes": [(0, 1, True, "ann")],
    "LearnedOrdering.pairs": None, "ScoredOrdering.pairs": V, "SimilarityModel.green": M.green,
    "SimilarityModel.red": M.red, "beyond.ErrorRates.evidence.answers": VOTED,
    "beyond.ErrorRates.of_votes.workers": ["ann"], "beyond.NoisyOrdering.take.answers": VOTED,
    "beyond.errors.learn_errors.answers": VOTED, "beyond.errors.learn_errors.same": [0.9, 0.1],
    "beyond.others.control_queries.errors": (0.05, 0.2), "beyond.resolve.answers": VOTED,
    "chat_crowd.model": "m", "counting.expected.log_connected.p": [0.5],
    "counting.expected.expected_across.ordering": "edge",
    "crowds.Crowd.records": None, "crowds.Crowd.votes": [[1, 0]] * 3, "datasets.Dataset.records": None,
    "datasets.citations.similarity": "jaccard-tokens", "datasets.cora.similarity": "jaccard-tokens",
    "expected_queries.ordering": "edge", "expected_queries_exact.ordering": "edge", "models.steps.name": "dist1",
    "similarity.compute.similarity": "jaccard-tokens",
}  # fmt: skip


def public():
    """The names on the API page, of `crowder` and `crowder_tool`, and MORE."""
    names = [f"crowder.{name}" for name in MORE]
    for part in (ROOT / "book/pages/api.md").read_text(encoding="utf-8").split("currentmodule:: ")[1:]:
        names += [f"{part.split()[0]}.{name}" for name in re.findall(r"^   (\w[\w.]*)$", part, re.MULTILINE)]
    return names


def good(name, parameter):
    for key in (f"{name}.{parameter.name}", parameter.name):
        if key in GOOD:
            return GOOD[key]() if inspect.isfunction(GOOD[key]) else GOOD[key]
    assert parameter.default is not parameter.empty, f"GOOD has no {parameter.name} of {name}"
    return parameter.default


def called(name, call, other):
    """Call it with what is good, but for what is given; of an iterator, make the first step."""
    arguments, keywords = [], {}
    for part in parameters(call):
        value = other[part.name] if part.name in other else good(name, part)
        if part.kind is part.KEYWORD_ONLY:
            keywords[part.name] = value
        else:
            arguments.append(value)
    made = call(*arguments, **keywords)
    if isinstance(made, Iterator):
        next(made, None)
    return made


def parameters(call):
    return [part for part in inspect.signature(call).parameters.values() if part.name not in LEFT]


def callables(name):
    """What has this name and, of a class, its methods of a new object: name, what makes it, and the open pair."""
    place, _, own = name.rpartition(".")
    found, short = getattr(importlib.import_module(place), own), name.partition(".")[2]
    if inspect.isabstract(found) or short in LEFT:
        return
    yield short, lambda: (found, {})
    has_methods = inspect.isclass(found) and not issubclass(found, (tuple, Exception))
    for method, plain in inspect.getmembers(found, callable) if has_methods else ():
        if not method.startswith("_") and f"{short}.{method}" not in LEFT and parameters(plain):

            def bound(method=method):
                made = called(short, found, {})
                takes = {"pair": (made.ask() if method == "tell" else (0, 1))} if method in ("tell", "learn") else {}
                return getattr(made, method), takes

            yield f"{short}.{method}", bound


@functools.cache
def raises(path):
    """The lines of the statements that raise."""
    nodes = [node for node in ast.walk(ast.parse(Path(path).read_text("utf-8"))) if isinstance(node, ast.Raise)]
    return {line for node in nodes for line in range(node.lineno, node.end_lineno + 1)}


def is_ours(error):
    """Whether a statement of these packages raised it, and not with the words of another error."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    here = any(Path(last.filename).is_relative_to(ROOT / folder) for folder in ("crowder", "tool/crowder_tool"))
    documented = isinstance(error, (ValueError, TypeError, IndexError)) and here
    return documented and last.lineno in raises(last.filename) and not any(x in str(error) for x in FROM_INSIDE)


@pytest.mark.parametrize("name", public())
@pytest.mark.filterwarnings("error")
def test_what_a_parameter_is_not_is_taken_or_refused_by_us(name, tmp_path, monkeypatch):
    """A file that is not there is named by an OSError, and a function of other parameters by Python."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROWDER_CORA", "nowhere")
    gaps = []
    for short, fresh in callables(name):
        call, takes = fresh()
        with suppress(OSError):
            called(short, call, takes)  # what is good is taken
        for part in parameters(fresh()[0]):
            for junk in JUNK:
                call, takes = fresh()
                try:
                    called(short, call, takes | {part.name: junk})
                except OSError:
                    continue
                except Exception as error:
                    foreign = callable(junk) and re.search("(positional|keyword) argument", str(error))
                    if not is_ours(error) and not foreign:
                        gaps.append(f"{short}({part.name}={junk!r}): {type(error).__name__}: {error}")
    assert not gaps, "\n".join(gaps)


# --- what alone reaches a refusal ------------------------------------------------------------------------------------


def stored(*entries):
    """A sparse similarity of three records."""
    i, j, w = zip(*entries, strict=True)
    return sparse.coo_array((w, (i, j)), shape=(3, 3))


def changed(part, number):
    """SciPy looks at the numbers of a matrix when it is made, not when they are changed."""
    matrix = stored((0, 1, 0.5))
    getattr(matrix, part)[0] = number
    return cr.EdgeOrdering(matrix, rng=7)


def asking():
    ordering = edge()
    ordering.ask()
    return ordering


def placing(similarity=V, **settings):
    return cr.beyond.PlacingOrdering(similarity, **{"delta": 0.1, "rng": 7} | settings)


def simulate(**settings):
    return cr.beyond.simulate_placing([[1, 2], [2, 1]], [0, 1, 0], **{"delta": 0.1, "rng": 7} | settings)


def two_steps(green, red):
    return cr.SimilarityModel.from_steps([0, 0.5, 1], green, red)


def cora():
    Path("cora.csv").write_text("id,label,title\n1,a,x\n")
    return cr.datasets.cora_records("cora.csv")


NO_SPAWN = np.random.Generator(np.random.RandomState(7)._bit_generator)
PARTIAL = stored((0, 1, 0.5))

ROWS = [
    (lambda: cr.beyond.Answers.read([(0, 1, "yes"), (0, 5, "no")], n=3), "row 1, (0, 5, 'no'): record 5 is unknown"),
    (lambda: cr.beyond.Answers.read([(2, 2, "yes")]), "row 0, (2, 2, 'yes'): a question is about two"),
    (lambda: cr.beyond.Answers.read(pd.DataFrame([[0, 0, 1, 1]], columns=["left", "left", "right", "answer"])),
     "rows must have one column left, not several"),
    (lambda: cr.beyond.NoisyOrdering(sparse.coo_matrix((4001, 4001)), rng=7), "is for at most 4,000 records, not"),
    (lambda: cr.beyond.NoisyOrdering(V, doubt=1, rng=7), "doubt must be in [0, 1), not 1"),
    (lambda: cr.beyond.resolve(VOTED, n=2, rng=7), "answers must be about the 2 records, 0 to 1, but name 2"),
    (lambda: cr.beyond.resolve([(0, 4_000, "yes")], rng=7), "answers must be about at most 4,000 records"),
    (lambda: cr.beyond.ErrorRates(0.01, 0.1, unclear_yes=1), "unclear_yes must be in (0, 1), not 1"),
    (lambda: cr.similarity.compute(PEOPLE, fields=["name", "name"]), "column 'name' must"),
    (lambda: cr.similarity.compute(["a"], fields=["x"]), "fields must be"),
    (lambda: cr.datasets.Dataset("x", [math.nan], [0, 1]), "condensed similarities must be"),
    (cora, "does not match (21 bytes): sha256 "),
    (lambda: crowder_tool.nearest_pairs(PEOPLE[["name", "name"]]), "have column 'name' only once"),
    (lambda: crowder_tool.nearest_pairs(PEOPLE[[]]), "records must have columns"),
    (lambda: crowder_tool.LearnedOrdering(PEOPLE, features=np.full((4, 2), math.nan), rng=7), "features must be fini"),
    (lambda: cr.dist2(1e-300), "f_g: edges must"),
    (lambda: two_steps([-1, 3], [1, 1]), "f_g: heights must be finite and not"),
    (lambda: cr.L(M, -0.001), "t must be at least 0, not -0.001"),
    (lambda: cr.expected_queries(M, [2**62] * 3, "node"), "cluster sizes must"),
    (lambda: cr.expected_queries(M, [2, 1], arrival="random"), "arrival must be left out: edge"),
    (lambda: cr.expected_queries_exact(cr.dist1(0.2), [2, 1]), "model must have edges and heights that are"),
    (lambda: small_cases.orders_by_questions([0] * 30), "labels must have at most 7 records"),
    (lambda: bounds.edge_tree_bound(two_steps([1.5, 0.5], [0.5, 1.5]), [2]), "at 0.5, F_g is larger by 0.5"),
    (lambda: cr.EdgeOrdering([0.5, math.nan, 0.1], rng=7), "similarity of pair (0, 2) is nan, not in"),
    (lambda: cr.EdgeOrdering([[1, 0], [-0.1, 1]], rng=7), "similarity of pair (1, 0) is -0.1, not"),
    (lambda: cr.EdgeOrdering([[1, 0.4], [0.5, 1]], rng=7), "similarity is not symmetric: 0.4 at"),
    (lambda: cr.EdgeOrdering([0.1, 0.2], rng=7), "similarity, if condensed, must have"),
    (lambda: cr.NodeOrdering(stored((0, 1, 2.0)), rng=7), "similarity of pair (0, 1) is 2.0,"),
    (lambda: cr.EdgeOrdering(stored((0, 1, 0.5), (1, 0, 0.6)), rng=7), "not symmetric: two values, 0.5 and 0.6,"),
    (lambda: cr.EdgeOrdering(stored((0, 1, 0.6), (1, 0, 0.5)), rng=7), "not symmetric: two values, 0.6 and 0.5,"),
    (lambda: cr.EdgeOrdering(sparse.coo_array((2**31, 2**31)), rng=7), "similarity must have"),
    (lambda: changed("row", 3), "pair (3, 1) must be two different records out of 3, from 0"),
    (lambda: changed("col", -1), "pair (0, -1) must be two different records out of 3, from 0"),
    (lambda: cr.EdgeOrdering(V, ties=[1, math.nan, 2]), "ties: the priority of candidate pair 1 is NaN"),
    (lambda: cr.Truth(["a", 1]), "labels must have"),
    (lambda: cr.Truth([0, 1])(0, 2), "record 2 does not exist"),
    # What compiled code reads at these places is not of the array.
    (lambda: cr.Resolution([[0, 9]], [True], [0, 0, 1]), "queries: row 0, (0, 9), must be two different records"),
    (lambda: cr.Resolution([[0, 2], [0, -1]], [True, True], [0, 0, 1]), "queries: row 1, (0, -1), must be two"),
    (lambda: experiments.sweep(lambda rng, a: {"a": 9}, [{"a": 1}], 1, rng=7), "must not return a result 'a'"),
    (lambda: experiments.sweep(lambda rng: {}, [{"repetition": 1}], 1, rng=7), "grid must not"),
    (lambda: experiments.repeat(lambda rng: 1, 1, rng=NO_SPAWN), "rng must be a seed or a generator that can spawn"),
    (lambda: experiments.simulated_queries(M, [2], {"edge": cr.EdgeOrdering}, rng=7), "EdgeOrdering"),
    (lambda: cr.beyond.Audit(cr.beyond.Audit(edge(), rng=7), rng=7), "ordering must not be an Audit itself"),
    (lambda: cr.beyond.Audit(asking(), rng=7), "ordering must not have asked"),
    (lambda: cr.beyond.Audit(placing(), rng=7), "ordering must join records by answers only, but"),
    (lambda: cr.beyond.Stopping(edge(), M, delta=1), "delta must be in [0, 1), not 1"),
    (lambda: cr.beyond.Stopping(cr.EdgeOrdering(PARTIAL, rng=7), M, delta=0.1), "ordering must have every pair"),
    (lambda: cr.beyond.Stopping(cr.beyond.Stopping(edge(), M, delta=0.1), M, delta=0.1), "must not be an audit or a"),
    (lambda: cr.beyond.Stopping(asking(), M, delta=0.1), "ordering must not have asked"),
    (lambda: placing(delta=0), "delta must be greater than 0 without a model"),
    (lambda: placing(PARTIAL), "similarity must have every pair"),
    (lambda: simulate(delta=0), "delta must be greater than 0 without a model"),
    (lambda: simulate(believed=[[1, 2, 3], [1, 1, 1]]), "believed must have as many values as"),
    (lambda: cr.beyond.EvidenceOrdering(PARTIAL, rng=7), "similarity must have every pair"),
    (lambda: next(cr.beyond.hybrid_ordering(PARTIAL, crowd, rng=7)), "similarity must have every pair"),
    (lambda: crowder_tool.Journal(crowd, "\ud800"), "path must be the name of a file, not"),
    (lambda: select(read_chapters(ROOT), ["99"]), "no chapter 99; there are 01-questions"),
    (lambda: read_chapters(ROOT / "tests"), "_toc.yml: [Errno 2] No such file"),
]  # fmt: skip


@pytest.mark.parametrize("call, says", ROWS, ids=[says for _, says in ROWS])
@pytest.mark.filterwarnings("error")
def test_what_is_wrong_is_named(call, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, TypeError, IndexError, BuildError)) as caught:
        call()
    assert says in str(caught.value) and not any(words in str(caught.value) for words in FROM_INSIDE)
