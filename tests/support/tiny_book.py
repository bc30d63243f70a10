"""A tiny book that has each feature of the real one once, with its build and configuration."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

TOC = """format: jb-book
root: book/pages/index
parts:
- numbered: 1
  chapters: [{file: notebooks/01-one}, {file: notebooks/02-two}]
- chapters: [{file: book/pages/bibliography}, {file: book/pages/paper}, {file: book/pages/about}]
- numbered: 2
  chapters: [{file: notebooks/appendix/A2-more}]
"""

# --- what is declared ---------------------------------------------------------------------------------------------

DECLARED = """
claims:
  C01:
    place: Section $1$
    statement: A square $x^2$ it is.
    status: holds
    basis: proved
    proof: 01-one#a-square
    prose: that it is one
    touches: [Dist-1, F_g <= F_r]
    rests_on: []
  C02:
    place: Lemma 2
    statement: Three are two.
    status: refuted
    basis: exact
    corrected: It is three.
    affects: whatever counts
    stands: two
    touches: []
    rests_on: [C01]
  C03: {place: Section 3, statement: As before., status: undecided, stands: all else, touches: [experiments],
        rests_on: [C01, C02]}
  E01:
    place: Lemma 2, its proof
    statement: Two and one are two.
    status: misprint
    basis: exact
    kind: misprint
    corrected: They are three.
    affects: the lemma
    touches: []
    about: [C02]
  B01: {statement: It is so., status: holds, basis: exact}
paper:
  Main results:
    Theorem 1: {claims: [C01], figure: 01-one#fig-a}
    Lemma 2: {says: Three are two or one., claims: [C02, E01]}
    Remark: {says: Nothing is claimed., chapter: 02-two}
    Proof of Lemma 2: {says: It is clear., claims: [C02]}
    Section 3: {claims: [C03]}
"""
GROUPS = """
counts: {chapter: 02-two, place: Table 1, unit: questions, rule: {percent: 5}, numbers: {a: 100, b: 50},
         differ: {b: a slip}}
"""
PROFILES = "{quick: {02-two: {share: 1, n: 3}}, complete: {02-two: {records: $CROWDER_CORA}}}"

# --- chapters -----------------------------------------------------------------------------------------------------

DRAW = """
import matplotlib.pyplot as plt, pandas as pd
from IPython.display import Markdown, display
from book.companion import figures
for letter, title in (("%s", "rising"), ("%s", "falling")):
    fig, ax = plt.subplots(figsize=(2, 1))
    ax.plot([0, size], **figures.PRINTED.line, label="printed")
    ax.plot([size, 0], **figures.CORRECTED.line, label="corrected")
    ax.set(title=title, ylabel="questions")
    ax.fill_between([0, 1], [0, size], [1, size + 1])
    ax.legend()
    figures.show(fig, f"fig-{letter}", caption=f"To ${size}$, after {{cite:t}}`mazumdar2017first`.",
                 alt=f'A "line": {letter}.', data=pd.DataFrame({"y": [0.1, size], "of": ["node", "edge"]}))
"""
FIGURE = (
    DRAW % ("a", "b")
    + """
figures.table(pd.DataFrame({"model": ["x|y"], "size": [size]}), "tab-a", caption="Sizes.")
display(Markdown(f"Drawn to {size}: see {{numref}}`fig-b` and {{numref}}`tab-a`, $t^{size}$."))
"""
)
CHECKS = """
import sympy as sp
from book.companion.claims import agreement, check, corrected, counterexample, identity, readings
x, count = sp.Symbol("x"), 3
assert factor == 2 and size > 1
assert size / 3 - 1 < 1e-12
check("C01", identity((x + 1) ** 2 - x**2 - factor * x - 1));
"""
MORE = """check("C02", counterexample(3, "at most", 2),
      corrected(agreement([count] * 2, [3, 3], where="two records")), says="There are $3$ records.")
check("C03", readings({"this": 1, "that": 2}, fits="this", unit="errors"))
check("E01", counterexample(2 + 1, "equal", 2),
      corrected(agreement(2 + 1, 3)))
check("B01", agreement(1, 1))"""
TEXT = (
    r"""# One
<!-- ch-one -->

A square ([holds](#claim-c01)) grows as $x^2$, and ([refuted](#claim-c02)) does not;
([undecided](#claim-c03)) may. See [(1.1)](#eq-one), [Figure 1.1](#fig-a),
[Companion Theorem A2.1](appendix/A2-more.ipynb#thm-ours), [Figure A2.2](appendix/A2-more.ipynb#fig-d),
[(A2.1)](appendix/A2-more.ipynb#eq-a) and [A section](appendix/A2-more.ipynb#sec), after
[[Mazumdar and Saha, 2017](../book/data/references.bib#mazumdar2017first)].
[Figure 1.1](#fig-a) has 3<!--size--> points, and [Figure A2.1](appendix/A2-more.ipynb#fig-c) too.

<a id="eq-one"></a>

$$
x^2 = x \cdot x
\tag{1.1}
$$

<a id="a-square"></a>
## A square

<!-- theorem --><a id="thm-one"></a>
**Companion Theorem 1.1 (Squares).** A square $x^2$ is a square ([holds](#claim-c01)).
<!-- end -->

"""
    + "The argument goes on for as many words as an argument needs. " * 4
    + "\n\n```{tally}\n```"
)
ELSEWHERE = (
    r"""# Two

Squares have a [Companion Theorem 1.1](01-one.ipynb#thm-one), an equation [(1.1)](01-one.ipynb#eq-one), and
[Figure 1.2](01-one.ipynb#fig-b); see ([refuted](01-one.ipynb#claim-c02)) and [A square](01-one.ipynb#a-square).
The share is **50%<!--share:.0%-->** of 5<!--size-->.

"""
    + "There is more to say. " * 300
)
PARAMETERS = """#p
size: int = 5  # points, in [1, inf)
share: float = 0.5  # of them, in [0, 1]
n: int = 4  # powers, in [1, inf)
sizes: list[int] = [2, 3]  # of states, each in [1, inf)
records: str = ""  # a file of data"""
IMPORTS = """from types import SimpleNamespace
import matplotlib.pyplot as plt, pandas as pd
from book.companion import parameters, published, recorded, slider
from book.companion.results import uses
parameters("02-two")"""
NUMBERS = """
area, word = 1234.56, "five"
for source in ("shipped values", "computed"):
    uses(SimpleNamespace(name="cora", source=source))
published.compare("counts", {"a": size + 99, "b": 60}, setting="titles alone");
"""
RECORDED = """
def powers(n, exponents):
    return pd.DataFrame([{"n": i, "power": i**e / 3} for e in exponents for i in range(n)])
found = recorded("powers", powers, anew=bool(records), n=n, exponents=[1, 2])
print(found.basis, len(found.table))
"""
SLIDER = """#h
# Drawing
def state(size):
    fig, ax = plt.subplots(figsize=(2, 1))
    ax.plot([0, size])
    return fig, f"It ends at {size}."
slider({size: state(size) for size in sizes}, "fig-states", label="size", at=2, caption="Sizes.", alt="A line.",
       data=pd.DataFrame({"size": sizes}))
"""
STATEMENTS = r"""# Statements

<!-- theorem --><a id="thm-ours"></a>
**Companion Theorem A2.1 (A tree with $x^2$).** Ours.
<!-- end -->

<!-- theorem --><a id="thm-theirs"></a>
**Theorem 2 of the paper (edge *ordering*, $x^2$).** Theirs.
<!-- end -->

<!-- proposition --><a id="prop-plain"></a>
**Companion Proposition A2.1.** Without a title.
<!-- end -->

<!-- definition --><a id="def-ours"></a>
**Definition A2.1 (A word).** A definition.
<!-- end -->

<!-- folded proof -->
**Proof.** It grows.
<!-- end -->

Read [Companion Theorem A2.1](#thm-ours), [Theorem 2 of the paper](#thm-theirs), [Companion Proposition
A2.1](#prop-plain), [Definition A2.1](#def-ours) and [these words](#thm-theirs).

<a id="eq-a"></a>

$$
x^2
\tag{A2.1}
$$

<a id="sec"></a>
## A section"""

# --- pages --------------------------------------------------------------------------------------------------------

PAPER = """# The paper, in order

```{tally}
```

## Main results

```{paper} Main results
```

## The printed numbers

```{include} /_build/reports/printed.md
```

## What this book adds

```{own}
```
"""
INDEX = """# Tiny

<p id="pdf"></p>

Area 1,234.6<!--02-two#area:,.1f-->, word five<!--02-two#word-->.

```{shown} 01-one#fig-b
A *caption*.
```
"""


def notebook(*cells: str) -> dict:
    """Cells of Python; one that starts with '#p' is tagged `parameters`, one with '#h' `hide-input`.

    Of '#h', that line goes; one that starts with '# ' is Markdown.
    """
    made = []
    for i, source in enumerate(cells):
        cell = {"cell_type": "code", "id": f"cell-{i}", "metadata": {}, "source": source, "outputs": [],
                "execution_count": None}  # fmt: skip
        if source.startswith("#p"):
            cell["metadata"] = {"tags": ["parameters"]}
        elif source.startswith("#h\n"):
            cell |= {"metadata": {"tags": ["hide-input"]}, "source": source.removeprefix("#h\n")}
        elif source.startswith("# "):
            cell = {"cell_type": "markdown", "id": f"cell-{i}", "metadata": {}, "source": source}
        made.append(cell)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


#: The cells of each chapter.
CHAPTERS = {
    "01-one": [TEXT, "#p\nsize: int = 3  # points\nfactor: int = 2  # two\nname: str = 'x'  # a name", FIGURE, CHECKS,
               "# And\n\nmore.", MORE, "# The end"],
    "02-two": [ELSEWHERE, PARAMETERS, IMPORTS, NUMBERS, RECORDED, SLIDER, "size + share"],
    "appendix/A2-more": [STATEMENTS, "#p\nsize: int = 3  # points", "#h\n# Drawing" + DRAW % ("c", "d"),
                         "#h\n# A sum, in *halves*\nx = 2"],
}  # fmt: skip
FILES = ("_config.yml", "pyproject.toml", "requirements.lock", "crowder/checks.py")
PAGES = ("book/pages/bibliography.md", "book/pages/about.md")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below, by name, with what is in it."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def clean() -> dict[str, str]:
    """The environment without what this project or GitHub may have set, which a build heeds."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("CROWDER_", "GITHUB_")) and k != "PROFILE"}


class TinyBook:
    """A project in a folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.out = root / "_build"
        theirs = shutil.ignore_patterns("__pycache__", "*.png", "data", "*.md", "api")
        shutil.copytree(ROOT / "book", root / "book", ignore=theirs)
        for name in ("fonts", "licences", "licences.yml", "references.bib"):
            at = ROOT / "book" / "data" / name
            (root / "book" / "data").mkdir(exist_ok=True)
            (shutil.copytree if at.is_dir() else shutil.copy)(at, root / "book" / "data" / name)
        (root / "tool" / "crowder_tool").mkdir(parents=True)
        (root / "crowder").mkdir()
        (root / "crowder" / "__init__.py").touch()  # empty: the real one imports everything
        for name in (*FILES, *PAGES):
            shutil.copy(ROOT / name, root / name)
        for name, text in {
            "_toc.yml": TOC, "book/pages/index.md": INDEX, "book/pages/paper.md": PAPER,
            "book/data/claims.yml": DECLARED, "book/data/published.yml": GROUPS, "book/data/profiles.yml": PROFILES,
            ".gitignore": "/_build/\n/book/pages/api/\n__pycache__/\n",
        }.items():  # fmt: skip
            self.file(name, text)
        (root / "notebooks" / "appendix").mkdir(parents=True)
        for slug, cells in CHAPTERS.items():
            self.write(slug, *cells)
        self.file("book/data/measured/chapters.csv", "chapter,seconds,versions\n02-two,1234.4,3 cores; python 3.99\n"
                  "03-gone,9,3 cores; python 3.99\n")  # fmt: skip

    @classmethod
    def existing(cls, root: Path) -> "TinyBook":
        """The one that is there."""
        book = cls.__new__(cls)
        book.root, book.out = root, root / "_build"
        return book

    def copied(self, root: Path) -> "TinyBook":
        """The same book in another folder, with what has been built: what does not change is up to date there."""
        shutil.copytree(self.root, root, symlinks=True)
        return self.existing(root)

    def file(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def write(self, slug: str, *cells: str) -> None:
        self.file(f"notebooks/{slug}.ipynb", json.dumps(notebook(*cells)))

    def edit(self, slug: str, *edits: tuple[str, str]) -> None:
        """Replace texts in the cells of a chapter, each of which stands there once."""
        cells = list(CHAPTERS[slug])
        for old, new in edits:
            (at,) = (number for number, cell in enumerate(cells) if cell.count(old) == 1)
            cells[at] = cells[at].replace(old, new)
        self.write(slug, *cells)

    def command(self, module: str, *options: str) -> list[str]:
        """The words of a command; it is to be run in `root`, whose `book` Python then finds first."""
        return [sys.executable, "-m", module, *options]

    def do(self, module: str, *options: str, **env: str) -> subprocess.CompletedProcess:
        """Run a module of the book to its end."""
        return subprocess.run(self.command(module, *options), cwd=self.root, capture_output=True, text=True,
                              env=clean() | env, stdin=subprocess.DEVNULL)  # fmt: skip

    def run(self, *options: str, **env: str) -> subprocess.CompletedProcess:
        return self.do("book.run", *options, **env)

    def check(self, *options: str, **env: str) -> subprocess.CompletedProcess:
        return self.do("book.check", *options, **env)

    def render(self, *options: str, **env: str) -> subprocess.CompletedProcess:
        """The stock command."""
        command = [Path(sys.executable).with_name("jupyter-book"), "build", ".", "-n", "-W", "--keep-going", *options]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=clean() | {"PYTHONPATH": str(self.root)} | env)  # fmt: skip

    def page(self, name: str) -> str:
        return (self.out / "html" / f"{name}.html").read_text(encoding="utf-8")
