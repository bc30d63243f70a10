"""The API reference: a page for each public name of `crowder`, from its docstring.

Sphinx reads the docstrings (`sphinx.ext.autodoc`, and `napoleon` for numpydoc's sections). Here are the pages around
them: one for each name, listed by module on ``book/pages/api.md``, with the chapters that use it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import crowder
from book.build.chapters import BuildError, Chapter

#: The page that lists all names; the pages of the names are in a folder beside it.
PAGE = Path("book/pages/api")
#: Where the list goes on it.
HERE = "<!-- names -->"

#: The modules of the package by what a user looks for.
GROUPS = {
    "Orderings and crowds": ("orderings", "oracles", "resolution"),
    "Models and the integral": ("models", "densities", "theory"),
    "Expected counts and bounds": ("counting",),
    "Data and experiments": ("datasets", "cora", "similarity", "experiments"),
    "Beyond the paper": ("beyond",),
    "Candidate pairs in large files": ("scale",),
    "Your own records": ("practice",),
}


class Name(NamedTuple):
    """A public name, as users write it, and where it is defined."""

    name: str  # "L" or "datasets.synthetic", after "crowder."
    defined: str  # "crowder.theory.L"
    summary: str

    @property
    def is_class(self) -> bool:
        return self.defined.rpartition(".")[2][0].isupper() and inspect.isclass(_resolve(self.defined))


def _resolve(dotted: str) -> Any:
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


def names() -> list[Name]:
    """The functions and classes that are public, each under its shortest name.

    >>> [name.defined for name in names() if name.name in ("L", "datasets.synthetic")]
    ['crowder.datasets.synthetic', 'crowder.theory.L']
    """
    found: dict[str, Name] = {}
    for name, thing in sorted(_public(), key=lambda item: (item[0].count("."), item[0].lower())):
        if inspect.isroutine(thing) or inspect.isclass(thing):
            defined = f"{thing.__module__}.{thing.__qualname__}"
            summary = (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ")
            found.setdefault(defined, Name(name, defined, summary))
    return sorted(found.values(), key=lambda name: name.name.lower())


def _public() -> Iterator[tuple[str, Any]]:
    for name in crowder.__all__:
        thing = getattr(crowder, name)
        if inspect.ismodule(thing):
            yield from ((f"{name}.{inner}", getattr(thing, inner)) for inner in thing.__all__)
        else:
            yield name, thing


def used(chapters: list[Chapter]) -> dict[str, list[Chapter]]:
    """Name as it is defined -> the chapters whose code mentions it."""
    shortest = {name.name: name.defined for name in names()}
    shortest |= {f"{name.defined.removeprefix('crowder.')}": name.defined for name in names()}
    by_chapter = {name: [] for name in shortest.values()}
    for chapter in chapters:
        for mentioned in _mentioned(chapter):
            if (defined := shortest.get(mentioned)) and chapter not in by_chapter[defined]:
                by_chapter[defined].append(chapter)
    return by_chapter


def _mentioned(chapter: Chapter) -> set[str]:
    """What a chapter's code mentions of crowder, without the "crowder."."""
    found, local = set(), {"cr": "", "crowder": ""}
    for cell in chapter.notebook()["cells"]:
        if cell["cell_type"] != "code":
            continue
        for node in ast.walk(ast.parse("".join(cell["source"]))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "crowder":
                inside = node.module.removeprefix("crowder").removeprefix(".")
                local |= {alias.asname or alias.name: ".".join(filter(None, (inside, alias.name)))
                          for alias in node.names}  # fmt: skip
            if isinstance(node, (ast.Name, ast.Attribute)):
                first, _, rest = ast.unparse(node).partition(".")
                if first in local:
                    found.add(".".join(filter(None, (local[first], rest))))
    return found


def write(src: Path, chapters: list[Chapter]) -> list[str]:
    """Write the pages among the Sphinx sources and add them to the contents there; return the files of the code."""
    index, toc = src / f"{PAGE}.md", src / "_toc.yml"
    if not index.exists():
        return []
    by_name, listed = used(chapters), names()
    (src / PAGE).mkdir()
    lines, files = [], []
    for title, modules in GROUPS.items():
        members = [name for name in listed if name.defined.split(".")[1] in modules]
        lines += [f"## {title}", "", "```{eval-rst}"]
        for name in members:
            file, line = _source(name)
            files.append(file)
            page = _page(name, by_name[name.defined], file, line)
            (src / PAGE / f"{name.name}.md").write_text(page, encoding="utf-8")
            lines += [f":doc:`{name.name} <api/{name.name}>`", f"   {name.summary}", ""]
        lines += ["```", ""]
    index.write_text(index.read_text(encoding="utf-8").replace(HERE, "\n".join(lines)), encoding="utf-8")
    contents = yaml.safe_load(toc.read_text(encoding="utf-8"))
    for part in contents["parts"]:
        for entry in part["chapters"]:
            if entry["file"] == PAGE.as_posix():
                entry["sections"] = [{"file": (PAGE / name.name).as_posix()} for name in listed]
    toc.write_text(yaml.safe_dump(contents, sort_keys=False), encoding="utf-8")
    return sorted(set(files))


def _source(name: Name) -> tuple[str, int]:
    """File, relative to the project, and line of a definition."""
    thing = inspect.unwrap(_resolve(name.defined))
    file = Path(inspect.getsourcefile(thing)).resolve().relative_to(Path(crowder.__file__).resolve().parents[1])
    return file.as_posix(), inspect.getsourcelines(thing)[1]


def _page(name: Name, chapters: list[Chapter], file: str, line: int) -> str:
    kind = "autoclass" if name.is_class else "autofunction"
    members = ["   :members:", "   :inherited-members: Exception, tuple, object"] if name.is_class else []
    up = "../" * (len(PAGE.parts))
    titles = [f"[{_title(chapter)}]({up}{chapter.path.as_posix()})" for chapter in chapters]
    return "\n".join([
        f"(api-{name.name.lower().replace('.', '-').replace('_', '-')})=",
        f"# {name.name}".replace("_", r"\_"),
        "",
        "```{eval-rst}",
        f".. {kind}:: crowder.{name.name}",
        *members,
        "```",
        "",
        f"**Used in** {' · '.join(titles)}." if titles else "No chapter uses this.",
        "",
        f'<a href="{up}source/{file}.html#L-{line}">The code</a>, in `{file}`.',
        "",
    ])  # fmt: skip


def _title(chapter: Chapter) -> str:
    for cell in chapter.notebook()["cells"]:
        for line in "".join(cell["source"]).splitlines():
            if cell["cell_type"] == "markdown" and line.startswith("# "):
                return line.removeprefix("# ").strip()
    raise BuildError(f"{chapter.slug}: there is no title")
