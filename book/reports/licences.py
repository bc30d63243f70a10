"""What the pages carry that others made, and the packages that made them: each with its licence.

The first list is ``licences.yml``, since no package says which file of a page is whose. The second is read from what
installed packages declare of themselves.
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import yaml

FOLDER = "licences"
#: A licence's text, by the names that packages give it.
_TEXT = re.compile(r"(licen[cs]e|copying|notice)", re.IGNORECASE)
#: Longer than this, a package has put the text where the name belongs.
_NAME_ENDS = 60


def components(root: Path) -> list[dict[str, Any]]:
    """What the pages carry: name, licence, package, files."""
    return yaml.safe_load((root / "book" / "data" / "licences.yml").read_text(encoding="utf-8"))


def text_of(package: str) -> str | None:
    """The licence texts that an installed package brings along."""
    found = sorted({str(path) for path in distribution(package).files or [] if _is_text(path)})
    texts = [Path(distribution(package).locate_file(path)).read_text(encoding="utf-8").strip() for path in found]
    return "\n\n".join(dict.fromkeys(texts)) + "\n" if texts else None


def _is_text(path: Any) -> bool:
    return ".dist-info" in path.parts[0] and _TEXT.search(path.name) is not None


def copy_texts(root: Path, html: Path) -> None:
    """Put the texts beside the pages, because these licences ask for it: one file a package."""
    (html / FOLDER).mkdir(exist_ok=True)
    for package in sorted({component["package"] for component in components(root)}):
        if text := text_of(package):
            (html / FOLDER / f"{package}.txt").write_text(text, encoding="utf-8")


def declared(package: Distribution) -> str:
    """The licence that a package declares: the expression, the name, or the class, whichever it has."""
    known = package.metadata
    if expression := known.get("License-Expression"):
        return expression
    name = (known.get("License") or "").strip()
    if 0 < len(name) <= _NAME_ENDS and "\n" not in name and name != "UNKNOWN":
        return name
    classes = [c.split(" :: ")[-1] for c in known.get_all("Classifier", []) if c.startswith("License ::")]
    return "; ".join(classes)


def packages(lock: Path) -> list[tuple[str, str, str]]:
    """Name, version and licence of every package of the lock that this machine needs."""
    found = []
    if not lock.is_file():
        return found
    for name in re.findall(r"^([a-z0-9-]+)==", lock.read_text(encoding="utf-8"), re.MULTILINE):
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # it is for another system
        found.append((name, package.version, declared(package)))
    return sorted(set(found))


def facts(root: Path) -> dict[str, Any]:
    """Everything that the page shows."""
    parts = [
        {"name": part["name"], "licence": part["licence"], "package": part["package"],
         "version": distribution(part["package"]).version, "text": text_of(part["package"]) is not None}
        for part in components(root)
    ]  # fmt: skip
    return {"parts": parts, "packages": packages(root / "requirements.lock")}


def as_markdown(known: dict[str, Any], up: str) -> list[str]:
    """The page's two tables; `up` leads from the page to the top of the pages."""
    lines = ["| in the pages | licence | out of |", "| --- | --- | --- |"]
    for part in known["parts"]:
        package = part["package"]
        # As HTML, because Sphinx takes a link within the pages for one of its documents.
        label = f'<a href="{up}{FOLDER}/{package}.txt">{package}</a>' if part["text"] else package
        lines.append(f"| {part['name']} | {part['licence']} | {label} {part['version']} |")
    lines += ["", "The packages that execute and render the book, as they describe themselves:", ""]
    lines += ["| package | version | licence |", "| --- | --- | --- |"]
    lines += [f"| {name} | {version} | {licence} |" for name, version, licence in known["packages"]]
    return lines
