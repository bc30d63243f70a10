"""The public names: listed, typed, described, and shown in a line and in a table."""

import importlib
import inspect
import re
import subprocess
import sys
import types
from fractions import Fraction
from pathlib import Path

import pytest

import crowder as cr

ROOT = Path(__file__).resolve().parents[2]

#: The modules with public names, whose pages the API reference has.
MODULES = ("crowder", "crowder.beyond", "crowder.datasets", "crowder.experiments", "crowder.models", "crowder_tool",
           "crowder.similarity")  # fmt: skip


def public(kind):
    """The public objects of a kind, each once, by their full names."""
    found = {}
    for module in map(importlib.import_module, MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if kind(value) and value not in found.values():
                found[f"{module.__name__}.{name}"] = value
    return found


def test_dir_lists_what_is_public():
    assert [name for name in dir(cr) if not name.startswith("__")] == sorted(cr.__all__)
    assert {"__doc__", "__version__"} <= set(dir(cr))
    with pytest.raises(AttributeError, match="module 'crowder' has no attribute 'Resolutions'"):
        _ = cr.Resolutions


@pytest.mark.parametrize("module", ["crowder", "crowder.beyond"])
def test_no_name_of_a_package_is_that_of_a_module_and_of_something_in_it(module):
    """Otherwise `import crowder.beyond.resolve as resolve` would be the module or the function, as it happens."""
    package = importlib.import_module(module)
    files = {path.stem for path in Path(package.__file__).parent.iterdir()}
    values = {name: getattr(package, name) for name in package.__all__}
    assert not [name for name, value in values.items() if name in files and not isinstance(value, types.ModuleType)]


@pytest.mark.parametrize(("name", "function"), public(inspect.isfunction).items())
def test_help_describes_every_parameter(name, function):
    parameters = list(inspect.signature(function).parameters)
    sections = re.split(r"\n(\w[\w ]*)\n-{3,}\n", inspect.getdoc(function))
    described = dict(zip(sections[1::2], sections[2::2], strict=True))
    listed = re.findall(r"^(\*{0,2}\w[\w, *]*?)(?: :.*)?$", described.get("Parameters", ""), re.MULTILINE)
    assert sorted(one.strip("* ") for line in listed for one in line.split(",")) == sorted(parameters), name


TYPED = """
import crowder as cr
reveal_type(cr.beyond.Audit)
reveal_type(cr.experiments.repeat)
reveal_type(cr.expected_queries_exact)
cr.edge_orderings
"""


def test_a_type_checker_knows_what_is_loaded_on_first_use(tmp_path):
    (tmp_path / "user.py").write_text(TYPED)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "--config-file", "",
         "--ignore-missing-imports", "--follow-imports=silent", str(tmp_path / "user.py")],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert len(revealed) == 3 and not [one for one in revealed if one in ("Any", "builtins.object")], done.stdout
    assert "-> crowder.beyond.audit.Audit" in revealed[0] and revealed[2].endswith("-> fractions.Fraction")
    assert re.findall(r"error: (.*)", done.stdout)[0].startswith('Module has no attribute "edge_orderings"')


W = [0.9, 0.8, 0.1]


def asked():
    """An ordering of three records with one answer."""
    ordering = cr.EdgeOrdering(W, rng=7)
    ordering.tell(ordering.ask(), True)
    return ordering


def answered():
    ordering = cr.beyond.NoisyOrdering(W, rng=7)
    ordering.learn((0, 1), None)
    return ordering


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (cr.Resolution([[0, 1], [2, 0]], [True, False], [4, 4, 2]), "Resolution(3 records, 2 clusters, 2 questions)"),
        (cr.Resolution([], [], [0]), "Resolution(1 record, 1 cluster, 0 questions)"),
        (cr.Truth(["a", "a", "b"] * 500), "Truth(1,500 records, 2 clusters)"),
        (cr.dist2(Fraction(1, 5)), "SimilarityModel(name=dist2, ε=1/5, 3 steps)"),
        (cr.uniform(), "SimilarityModel(name=uniform, 1 step)"),
        (asked(), "EdgeOrdering(3 records, 1 question)"),
        (cr.NodeOrdering(W, rng=7), "NodeOrdering(3 records, 0 questions)"),
        (answered(), "NoisyOrdering(3 records, 1 answer)"),
        (cr.beyond.Audit(cr.NodeOrdering(W, rng=7), recall=0.9, rng=7),
         "Audit(ordering=NodeOrdering, recall=0.9, confidence=0.95, 3 records, 0 questions, 0 drawn questions)"),
        (cr.beyond.Audited([], [], [0, 1], found=2), "Audited(2 records, 2 clusters, 0 questions)"),
    ],
)  # fmt: skip
def test_an_object_shows_itself_in_a_line_and_in_a_table_with_the_same_facts(value, line):
    assert repr(value) == line
    table = value._repr_html_()
    rows = re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", table)
    said = [f"{x} {name}" if x.replace(",", "").isdigit() else f"{name}={x}" for name, x in rows]
    stated = re.split(r", (?!\d{3})", line.partition("(")[2][:-1])
    assert [re.sub(r"^1 (.*)s$", r"1 \1", fact) for fact in said] == stated
    assert f"<caption>{type(value).__name__}</caption>" in table


def test_no_text_of_a_model_becomes_markup():
    density = cr.uniform().green
    table = cr.SimilarityModel(density, density, "<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in table and "&lt;script&gt;" in table
