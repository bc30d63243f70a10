"""The wheel, alone with what it declares to need: nothing that stands beside it in this clone."""

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import distribution, distributions

import pytest
from packaging.requirements import Requirement

from book.project import ROOT

EXAMPLES = """
import sys
sys.path.insert(0, {site!r})
{body}
print("all of it ran")
"""

LOADED = """
import crowder
heavy = {"joblib", "matplotlib", "pandas", "pooch", "rapidfuzz", "seaborn", "sklearn", "sqlite3", "sympy"}
assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()
"""


def needed(package, seen=None):
    """The distributions that one needs, and theirs, as this environment has them."""
    seen = {} if seen is None else seen
    for line in package.requires or []:
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if requirement.name not in seen:
            seen[requirement.name] = distribution(requirement.name)
            needed(seen[requirement.name], seen)
    return seen


def built(source, folder, kind="wheel"):
    """The wheel or sdist of a project, made by its back end as pip calls it."""
    back_end = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["build-backend"]
    build = f"import sys, {back_end} as back_end; print(back_end.build_{kind}(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", build, str(folder)], cwd=source, check=True, capture_output=True,
                          text=True)  # fmt: skip
    return folder / done.stdout.split()[-1]


def metadata_of(wheel):
    return wheel.read(next(name for name in wheel.namelist() if name.endswith("METADATA"))).decode()


def core_of(wheel):
    return re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", metadata_of(wheel), re.MULTILINE)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return zipfile.ZipFile(built(ROOT, tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """An environment with the wheel and what its core needs, linked from this one so that nothing is fetched."""
    folder = tmp_path_factory.mktemp("site")
    wheel.extractall(folder)
    (ours,) = distributions(path=[str(folder)])
    for package in needed(ours).values():
        for top in {path.parts[0] for path in package.files if path.parts[0] not in ("..", "__pycache__")}:
            if not (folder / top).exists():
                (folder / top).symlink_to(package.locate_file(top))
    return folder


def run(site, body, tmp_path):
    # Without site-packages, user folders or PYTHONPATH. What the compiler makes of the same sources, other tests say.
    done = subprocess.run(
        [sys.executable, "-S", "-c", EXAMPLES.format(site=str(site), body=body)], cwd=tmp_path, capture_output=True,
        text=True, env={"NUMBA_DISABLE_JIT": "1", "PATH": "", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert done.returncode == 0 and "all of it ran" in done.stdout, done.stderr


def test_it_carries_its_types_and_the_values_of_cora_and_no_book_and_needs_four_packages(wheel):
    assert core_of(wheel) == ["numpy", "scipy", "numba", "pandas"]
    names = wheel.namelist()
    assert {"crowder/py.typed", "crowder/values/SHA256SUMS"} < set(names)
    assert all(name.startswith(("crowder/", "crowder-")) for name in names)


def test_the_tool_is_a_wheel_of_its_own_which_finds_the_module_beside_it(tmp_path):
    """In a clone, so that `pip install ./tool` is enough; from its sdist, it asks for the distribution."""
    with tarfile.open(built(ROOT / "tool", tmp_path, "sdist")) as source:
        source.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11 has it from 3.11.4 on
        source.extractall(tmp_path)
    elsewhere = next(path for path in tmp_path.iterdir() if path.is_dir())
    for tool, needs in ((ROOT / "tool", f"crowder[text] @ {ROOT.as_uri()}"), (elsewhere, "crowder[text]")):
        tool = zipfile.ZipFile(built(tool, tmp_path))
        assert f"Requires-Dist: {needs}\n" in metadata_of(tool)
        assert {*core_of(tool)} == {"crowder", "filelock", "httpx", "scikit-learn", "tqdm"}
        assert all(name.startswith(("crowder_tool/", "crowder_tool-")) for name in tool.namelist())
        assert {"crowder_tool/label.html", "crowder_tool/py.typed"} < {*tool.namelist()}
    commands = tool.read(next(name for name in tool.namelist() if name.endswith("entry_points.txt"))).decode()
    assert commands.split("\n")[1] == "crowder = crowder_tool.__main__:main"


def test_importing_it_loads_no_table_plot_or_formula_and_the_examples_of_the_readme_and_cora_run(site, tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition("## The module")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 2
    cora = "assert cr.datasets.cora().n == 1879 and len(cr.datasets.cora('jaro-winkler').sizes) == 191"
    run(site, "\n".join([LOADED, *blocks, cora]), tmp_path)


LEFT_OUT = """
import inspect, pydoc
import crowder as cr
from crowder import *
public = set(dir(cr))
assert "expected_queries" in public and not {"expected_queries_exact", "experiments"} & public
assert "edge_ordering" in pydoc.render_doc(cr) and {name for name, _ in inspect.getmembers(cr)} == public


def said(call):
    try:
        call()
    except (AttributeError, ImportError) as error:
        return f"{type(error).__name__}: {error}"


command = "python -m pip install 'crowder[{}]'".format
for name, package, extra in (("expected_queries_exact", "sympy", "symbolic"), ("experiments", "joblib", "experiments")):
    found = f"{package} is missing; install it with: {command(extra)}"
    assert said(lambda: getattr(cr, name)) == f"AttributeError: crowder.{name} cannot be loaded: {found}"
    assert said(lambda: exec(f"from crowder import {name}")) == f"ImportError: {found}"
assert said(lambda: similarity.compute(["a"], "jaro-winkler")).startswith("ImportError: rapidfuzz")
assert said(lambda: similarity.compute(["a"], "jaro-winkler")).endswith(command("text"))
assert said(datasets.cora_records) == f"ImportError: pooch is missing; install it with: {command('data')}"
"""


def test_what_is_left_out_is_named_with_the_command_that_installs_it(site, tmp_path):
    """Without the extras, all names can be listed, and an error for one of theirs says how to install it."""
    run(site, LEFT_OUT, tmp_path)
