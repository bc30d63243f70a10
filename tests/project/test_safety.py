"""Nothing that is read is run: no file, no parameter and no record brings code with it, into Python or onto a page."""

import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from tiny_book import TinyBook

import crowder as cr
from book import strict_yaml
from book.companion import evidence
from book.companion.printing import escape_markup, markdown_table
from crowder.practice.sheets import question_sheet, read_sheets

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
    assert [row[:3] for row in read_sheets(tmp_path / "s.csv", records)] == [(0, 1, True), (1, 2, False)]
    (tmp_path / "t.csv").write_text("id_a,id_b,same\n-1,=a,yes\n")  # as a spreadsheet saves it
    assert [row[:3] for row in read_sheets(tmp_path / "t.csv", records)] == [(0, 1, True)]
