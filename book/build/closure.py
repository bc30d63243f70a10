"""The files that a chapter depends on, found from its imports: it runs again when one of them has changed.

The search follows imports of this project's modules from the chapter's cells on, except those for type checkers.
`crowder` loads some of its names lazily; these count where they are used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

#: The packages of this project that a chapter may import.
PACKAGES = ("crowder", "book", "notebooks")

#: Files that a module reads at run time; a folder means all files in it.
READS = {
    "book.companion.figures": ("book/data/fonts",),
    "book.companion.published": ("book/data/published.yml",),
    "book.companion.measured": ("book/data/measured",),
    "crowder.cora.shipped": ("crowder/cora/values",),
}

#: Files in such a folder that no chapter reads.
NOT_READ = tuple(f"book/data/measured/{name}.csv" for name in ("cells", "chapters", "faults", "pages"))


def files_of(root: Path, notebook: Path, source: str) -> list[Path]:
    """The files, relative to `root`, that a notebook with this code depends on, apart from itself.

    Raises
    ------
    SyntaxError
        If the code, or a module that it imports, is not Python.
    """
    tree = ast.parse(source)
    found: set[Path] = {path.relative_to(root) for path in _named_files(root, notebook, tree)}
    waiting, seen = list(_modules(root, tree)), set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if (path := _path(root, name)) is not None:
            found.add(path.relative_to(root))
            waiting += _imports(path, root, path.stat().st_mtime_ns)
        for read in READS.get(name, ()):
            whole = root / read
            files = [whole] if whole.is_file() else [p for p in whole.rglob("*") if p.is_file()]
            found |= {p.relative_to(root) for p in files if p.relative_to(root).as_posix() not in NOT_READ}
    return sorted(found)


@cache
def _imports(path: Path, root: Path, changed: int) -> tuple[str, ...]:
    """The modules that a file imports; `changed`, its modification time, is part of the cache's key."""
    return tuple(_modules(root, ast.parse(path.read_text(encoding="utf-8"))))


def _modules(root: Path, tree: ast.AST) -> Iterator[str]:
    """The names of the imported modules of this project, and of the packages that contain them."""
    aliases: dict[str, str] = {}  # what a package is called here: import crowder as cr
    for node in _running(tree):
        if isinstance(node, ast.Import):
            names = [(alias.name, alias.asname) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [(node.module, None), *((f"{node.module}.{a.name}", a.asname or a.name) for a in node.names)]
        else:
            continue
        for name, alias in names:
            parts = name.split(".")
            if parts[0] in PACKAGES:
                aliases[alias or parts[0]] = name if alias else parts[0]
                yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
                yield from _later(root, ".".join(parts[:-1]), parts[-1])
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            package = aliases[node.value.id]
            yield f"{package}.{node.attr}"
            yield from _later(root, package, node.attr)


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes except those under ``if TYPE_CHECKING:``."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)


def _later(root: Path, package: str, name: str) -> Iterator[str]:
    """The module that a package loads lazily for this name (from its table ``_LATER``), and its packages."""
    path = _path(root, package)
    if path is not None and path.name == "__init__.py":
        module = _tables(path, path.stat().st_mtime_ns).get(name)
        if module is not None:
            parts = module.split(".")
            yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


@cache
def _tables(path: Path, changed: int) -> dict[str, str]:
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "_LATER" for t in node.targets):
            return ast.literal_eval(node.value)
    return {}


def _path(root: Path, module: str) -> Path | None:
    """The file of a module, if it is one of this project's."""
    path = root.joinpath(*module.split("."))
    if path.with_suffix(".py").is_file():
        return path.with_suffix(".py")
    return path / "__init__.py" if (path / "__init__.py").is_file() else None


def _named_files(root: Path, notebook: Path, tree: ast.AST) -> Iterator[Path]:
    """Files of the project whose paths appear in the code, relative to its own folder or to the root."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and 4 < len(node.value) < 200:
            text = node.value
            if "/" in text and "." in text and not {"\n", "\0"} & set(text):
                for folder in (notebook.parent, root):
                    path = (folder / text).resolve()
                    if path.is_file() and path.is_relative_to(root.resolve()):
                        yield root / path.relative_to(root.resolve())
