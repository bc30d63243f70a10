"""A tiny book of two chapters, to test the build."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

FIGURE = """
import matplotlib.pyplot as plt, pandas as pd
from IPython.display import Markdown, display
from book.companion import figures
for letter in "ab":
    fig, ax = plt.subplots(figsize=(2, 1))
    ax.plot([0, size])
    figures.show(fig, f"fig-{letter}", caption=f"To ${size}$, after {{cite:t}}`mazumdar2017first`.",
                 alt=f'A "line": {letter}.', data=pd.DataFrame({"y": [0, size]}))
figures.table(pd.DataFrame({"model": ["x|y"], "size": [size]}), "tab-a", caption="Sizes.")
display(Markdown(f"Drawn to {size}: see {{numref}}`fig-b` and {{numref}}`tab-a`, $t^{size}$."))
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


#: The modules that a chapter without mathematics needs.
MODULES = {
    "crowder": ["validation", "optional"],
    "book/companion": ["results", "recording", "printing", "figures", "evidence", "empirical", "claims"],
}


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below, by name, with what is in it."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def clean() -> dict[str, str]:
    """The environment without what this project or GitHub may have set, which a build heeds."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("CROWDER_", "GITHUB_"))}


class TinyBook:
    """A project in a folder of its own, with the real build and configuration."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.out = root / "_build"
        left_out = ("__pycache__", "*.png", "companion", "claims", "claims.yml", "held", "published.yml", "[!b]*.md")
        not_ours = shutil.ignore_patterns(*left_out)
        shutil.copytree(ROOT / "book", root / "book", ignore=not_ours)
        for name in ("_config.yml", "pyproject.toml"):
            shutil.copy(ROOT / name, root)
        (root / "_toc.yml").write_text(
            "format: jb-book\nroot: book/pages/index\nparts:\n- numbered: 1\n  chapters:\n  - file: notebooks/01-one\n"
            "  - file: notebooks/02-two\n- chapters:\n  - file: book/pages/bibliography\n"
        )
        (root / "book" / "pages" / "index.md").write_text("# Tiny\n\nA book.\n")
        for folder, names in MODULES.items():
            (root / folder).mkdir(exist_ok=True, parents=True)
            (root / folder / "__init__.py").touch()  # empty: the real ones import everything
            for name in names:
                shutil.copy(ROOT / folder / f"{name}.py", root / folder)
        (root / "notebooks").mkdir()
        self.write("01-one", "# One", "#p\nsize = 3\nname = 'x'", FIGURE)
        self.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", "size + share")
        self.profiles("quick: {02-two: {share: 1}}")

    @classmethod
    def existing(cls, root: Path) -> "TinyBook":
        """The one that is there."""
        book = cls.__new__(cls)
        book.root, book.out = root, root / "_build"
        return book

    def copied(self, root: Path) -> "TinyBook":
        """The same book in another folder, with what has been built: what does not change is up to date there."""
        shutil.copytree(self.root, root, symlinks=True, ignore=shutil.ignore_patterns(".work-*"))
        return self.existing(root)

    def write(self, slug: str, *cells: str) -> None:
        (self.root / "notebooks" / f"{slug}.ipynb").write_text(json.dumps(notebook(*cells)))

    def claims(self, text: str) -> None:
        """What is declared of its claims."""
        (self.root / "book" / "data" / "claims.yml").write_text(text)

    def profiles(self, text: str) -> None:
        (self.root / "book" / "data" / "profiles.yml").write_text(text)

    def command(self, *options: str, module: str = "book.make") -> list[str]:
        """The words of a command; it is to be run in `root`, whose `book` Python then finds first."""
        return [sys.executable, "-m", module, *options]

    def build(self, *options: str, before=None, **env: str) -> subprocess.CompletedProcess:
        """Run a build to its end; `before` is done in its process first."""
        return subprocess.run(
            self.command(*options), cwd=self.root, capture_output=True, text=True, env=clean() | env,
            stdin=subprocess.DEVNULL, preexec_fn=before,
        )  # fmt: skip

    def refused(self, *options: str, before=None, **env: str) -> str:
        """What a build says that must fail: without a traceback, and with nothing left behind."""
        done = self.build(*options, before=before, **env)
        assert done.returncode == 1, (done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        assert not self.leftovers()
        return done.stderr

    def page(self, name: str) -> str:
        return (self.out / "html" / f"{name}.html").read_text()

    def record(self, slug: str, name: str, profile: str = "full") -> dict:
        return json.loads((self.out / "results" / profile / slug / f"{name}.json").read_text())

    def leftovers(self) -> list[Path]:
        """What only a build at work may have."""
        return [*self.out.glob(".work-*"), *self.out.rglob("*.old"), *self.out.rglob("*.part")]
