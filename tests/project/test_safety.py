"""Nothing that is read is run: no file, no parameter and no record brings code with it, into Python or onto a page."""

import ast
import json
import re
import subprocess
import warnings
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from tiny_book import TinyBook

import crowder as cr
from book import strict_yaml
from book.companion import evidence
from book.companion.printing import escape_markup, markdown_table
from crowder.practice.sheets import question_sheet, read_votes

ROOT = Path(__file__).resolve().parents[2]

# --- no way in --------------------------------------------------------------------------------------------------------

#: Modules whose reading runs what it reads.
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "jsonpickle"}

#: Functions that do; and those that do unless they are told not to.
CALLS = {"eval", "exec", "compile", "__import__", "read_pickle", "to_pickle", "system", "popen", "unsafe_load",
         "full_load", "load_all", "unsafe_load_all"}  # fmt: skip

#: File, what it calls, and why that is safe.
ALLOWED = {
    ("tests/project/test_readme.py", "exec"): "runs the README's own code, to see that it works",
    ("tests/project/test_safety.py", "exec"): "is given to the search below, to see that it finds what it must",
}


def findings(source: str) -> list[str]:
    """What in a module's code runs, or could run, what it reads."""
    found, safe = [], {"SafeLoader", "CSafeLoader"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)  # what Python 3.11 makes of a stray backslash
        tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(_name(base) in safe for base in node.bases):
            safe.add(node.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
            found.append(node.module)
        elif isinstance(node, ast.ImportFrom) and node.module in ("joblib", "numpy", "yaml", "torch"):
            found += [f"{node.module}.load" for alias in node.names if alias.name == "load"]
        elif isinstance(node, ast.Call):
            found += _called(node, safe)
    return found


def _called(node: ast.Call, safe: set[str]) -> list[str]:
    name, given = _name(node.func), {keyword.arg: keyword.value for keyword in node.keywords}
    owner = _name(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    said = []
    # A method called `compile` or `eval` is re's or sympy's; the built-in has no owner.
    built_in = isinstance(node.func, ast.Name) or owner in ("pd", "pandas", "os", "yaml", "builtins")
    constant = name == "__import__" and bool(node.args) and _is_text(node.args[0])
    if name in CALLS and (built_in or name.endswith("pickle")) and not constant:
        said.append(name)
    if name == "load" and owner in ("np", "numpy") and not _is(given.get("allow_pickle"), False):
        said.append("np.load without allow_pickle=False")
    if _is(given.get("allow_pickle"), True):
        said.append("allow_pickle=True")
    if name == "load" and owner == "joblib":
        said.append("joblib.load")
    if name in ("load", "load_all") and owner == "yaml":
        loader = given.get("Loader") or (node.args[1] if len(node.args) > 1 else None)
        if loader is None or _name(loader) not in safe:
            said.append("yaml.load without a safe loader")
    if "shell" in given and not _is(given["shell"], False):
        said.append("shell=True")
    if name == "sympify" or (name in ("S", "parse_expr") and owner in ("sp", "sympy")):
        said += [f"{name} of text" for text in node.args[:1] if _is_text(text)]
    return said


def _name(node) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is(node, value) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _is_text(node) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def sources():
    """Every module, and the code of every notebook."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.suffix == ".py" and path.exists():
            yield name, path.read_text(encoding="utf-8")
        elif path.suffix == ".ipynb" and path.exists():
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            for number, cell in enumerate(cells, 1):
                if cell["cell_type"] == "code":
                    yield f"{name}, cell {number}", "".join(cell["source"])


def test_nothing_that_is_read_is_run():
    found = {(name, what) for name, source in sources() for what in findings(source)}
    assert found - ALLOWED.keys() == set()
    assert all(ALLOWED.values())


@pytest.mark.parametrize("code", [
    "import pickle", "from pickle import loads", "import numpy as np; np.load('x')", "np.load('x', allow_pickle=flag)",
    "np.load('x', allow_pickle=True)", "eval('1')", "exec(text)", "os.system('ls')", "pd.read_pickle('x')",
    "frame.to_pickle('x')", "import joblib; joblib.load('x')", "from joblib import load", "yaml.load(text)",
    "yaml.load(text, yaml.Loader)", "yaml.load(text, Loader=yaml.UnsafeLoader)", "yaml.unsafe_load(text)",
    "subprocess.run(line, shell=True)", "subprocess.run(line, shell=flag)", "sp.sympify('x + 1')", "__import__(name)",
    "class L(yaml.Loader): pass\nyaml.load(text, L)",
])  # fmt: skip
def test_the_search_finds_every_way_to_run_what_is_read(code):
    assert findings(code)


@pytest.mark.parametrize("code", [
    "np.load('x', allow_pickle=False)", "yaml.safe_load(text)", "yaml.load(text, Loader=yaml.SafeLoader)",
    "class L(yaml.SafeLoader): pass\nyaml.load(text, Loader=L)", "re.compile('x')", "ast.literal_eval('1')",
    "subprocess.run(words, shell=False)", "json.load(file)", "expression.evalf()",
])  # fmt: skip
def test_the_search_lets_the_safe_ways_pass(code):
    assert findings(code) == []


BOMB = "a0: &a0 [x, x]\n" + "\n".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30))


@pytest.mark.parametrize("text", [BOMB, "a: &a {b: *a}", "a: !!python/object/apply:os.system ['false']",
                                  "a: !!python/name:os.system", "? !!python/tuple [1]\n: 2"])  # fmt: skip
def test_yaml_that_would_run_or_swell_is_refused(text, tmp_path):
    """A safe loader alone would make the bomb: 9^29 letters, once anybody prints it."""
    (tmp_path / "printed.yml").write_text(text)
    with pytest.raises(strict_yaml.Unreadable):
        strict_yaml.read(tmp_path / "printed.yml")


@pytest.mark.parametrize("call", [
    lambda text: evidence.identity("x", text), lambda text: cr.models.steps("dist1", text),
])  # fmt: skip
def test_text_is_no_formula(call, tmp_path):
    """To make an expression of a text, sympy runs it."""
    with pytest.raises(TypeError, match="text"):
        call(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    assert not (tmp_path / "ran").exists()


# --- no way onto a page -----------------------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(2)>", "'onmouseover='alert(3)", "</script><b>", "]]>",
    "<!--", "$x$", "$$", "{claim}`C15`", "{raw} html", "```", ":::::::::{raw} html", "`a`", "|", "\\|", "a\nb",
    "\u202e", "a\r\n\r\n# b", "&lt;b&gt;", "&#60;b&#62;", "[a](javascript:alert(4))", "![a](x)",
    "https://a.example/<x>", "%s", "{{ name }}", "\\(x\\)", "<https://a.example>", "=cmd|' /C calc'!A0", "+1", "-1",
    "@SUM(A1)", "*a*", "~a~", "_a_", "# a", "- a", "1. a", "\u2028", "\x00", "<svg/onload=alert(5)>",
    "{numref}`fig-a`", "[^1]", "  a  ", "--", "---", "\\", "\x0b", "\x7f",
]  # fmt: skip


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.seen, self.text = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, tuple(sorted(name for name, _ in attributes))))

    def handle_data(self, data):
        self.text.append(data)


def seen(cell):
    """A cell as a reader sees it: on one line, and what cannot be seen, or would turn the line round, by its number."""
    named = {c: f"U+{ord(c):04X}" for c in "\0\u202e\x7f"}
    return " ".join("".join(named.get(c, c) for c in cell).split())


def kinds(html):
    """What may not differ between two pages with other text: the elements that there are, and their attributes."""
    return set(Elements(html).seen)


SHOWN = """
import pandas as pd
from IPython.display import Markdown, display
from book.companion import figures
{escape_markup}
cells = {cells!r}
figures.table(pd.DataFrame({{"record": [escape_markup(cell) for cell in cells], "n": 1}}), "tab-a", caption="Cells.")
display(Markdown("Compared are " + ", ".join(escape_markup(cell) for cell in cells) + "."))
display(Markdown("\\n".join(f"- {{escape_markup(cell)}}" for cell in cells)))
"""


@pytest.mark.nightly
def test_records_come_onto_a_page_as_text_and_nothing_else(tmp_path):
    """Built with hostile records and with plain ones: the same kinds of elements and attributes, and the very text."""
    import inspect

    code = "import re\n\n" + inspect.getsource(escape_markup)
    pages = {}
    for name, cells in (("plain", [f"cell {i}" for i in range(len(HOSTILE))]), ("hostile", HOSTILE)):
        book = TinyBook(tmp_path / name)
        book.write("01-one", "# One", "#p\nsize = 3", SHOWN.format(escape_markup=code, cells=cells))
        book.write("02-two", "# Two", "#p\nsize = 3", "size")
        book.profiles("")
        done = book.build("--jobs", "1")
        assert done.returncode == 0, done.stderr
        pages[name] = book.page("notebooks/01-one")
    # A blank cell makes a list of cells a loose one, which Sphinx marks by leaving a class out.
    assert kinds(pages["hostile"]) - kinds(pages["plain"]) <= {("ul", ())}
    text = re.sub(r"\s+", " ", "".join(Elements(pages["hostile"]).text))
    for cell in HOSTILE:
        assert seen(cell) in text, cell


@pytest.mark.parametrize("cell", HOSTILE)
def test_a_cell_as_text_holds_no_sign_that_markdown_or_html_would_read(cell):
    """Letters, digits and a few marks; all else by its number. Read back by HTML's rules, it is the cell."""
    import html

    shown = escape_markup(cell)
    assert html.unescape(shown) == seen(cell)
    assert not set(re.sub(r"&#\d+;", "", shown)) & set('<>"&`$|\\{}[]*_~#@!^=%\n\r\x0b\x7f\u2028\u202e')
    assert not re.match(r"\s*([-+] |\d+[.)] |[-=]{2,})", shown)
    assert shown in markdown_table(pd.DataFrame({"a": [shown]}), {})


# --- spreadsheets -----------------------------------------------------------------------------------------------------


def test_no_cell_of_a_sheet_is_a_formula_to_a_spreadsheet(tmp_path):
    """People open the sheet in a spreadsheet, which runs a cell that starts with = or +, - or @: so an apostrophe
    stands before it, whatever blanks there are between."""
    bad = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1"]
    records = pd.DataFrame({"id": [f"r{i}" for i in range(len(bad))], "name": bad, "city": "plain"})
    pairs = [(i, i + 1) for i in range(len(bad) - 1)]
    sheet = question_sheet(records, ["name", "city"], pairs)
    for column in sheet:
        assert not sheet[column].str.match(r"[=+\-@\t\r＝＋－＠]|\s+[=+\-@]").any(), column
    assert sheet["name_a"].tolist() == [f"'{cell}" for cell in bad[:-1]]
    assert (sheet["city_a"] == "plain").all() and sheet["id_a"].tolist() == records["id"].tolist()[:-1]


def test_answers_of_records_whose_names_look_like_formulas_come_back(tmp_path):
    """An identifier has the apostrophe, too; with it or without, it is the same record."""
    ids = ["-1", "=a", "r"]
    records = pd.DataFrame({"id": ids, "name": ["Ann", "Bob", "Cy"]})
    sheet = question_sheet(records, ["name"], [(0, 1), (1, 2)]).assign(same=["yes", "no"])
    assert sheet["id_a"].tolist() == ["'-1", "'=a"]
    sheet.to_csv(tmp_path / "s.csv", index=False)
    assert read_votes(tmp_path / "s.csv", ids) == [(0, 1, True, "s"), (1, 2, False, "s")]
    (tmp_path / "t.csv").write_text("id_a,id_b,same\n-1,=a,yes\n")  # as a spreadsheet saves it
    assert read_votes(tmp_path / "t.csv", ids) == [(0, 1, True, "t")]
