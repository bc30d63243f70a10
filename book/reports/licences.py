"""The licences of third-party parts of the pages, and of the packages that execute and render the book.

The parts are listed in ``licences.yml``, because no package says which files of a page are its own. The licences of the
packages are those that they declare.
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import yaml

FOLDER = "licences"
_LACKING = Path(__file__).resolve().parents[1] / "data" / "licences"
#: Names under which packages ship the text of their licence.
_TEXT = re.compile(r"(licen[cs]e|copying|notice)", re.IGNORECASE)
#: A longer name is the text of a licence in the wrong field.
_NAME_ENDS = 60


def components(root: Path) -> list[dict[str, Any]]:
    """The third-party parts of the pages: name, licence, package, files."""
    return yaml.safe_load((root / "book" / "data" / "licences.yml").read_text(encoding="utf-8"))


def text_of(package: str) -> str | None:
    """The licence texts that a package ships, if it is installed, and those that are kept here instead."""
    found = sorted({str(path) for path in distribution(package).files or [] if _is_text(path)}) if _has(package) else []
    paths = [*(Path(distribution(package).locate_file(path)) for path in found), *_LACKING.glob(f"{package}.txt")]
    texts = [path.read_text(encoding="utf-8").strip() for path in paths]
    return "\n\n".join(dict.fromkeys(texts)) + "\n" if texts else None


def _has(package: str) -> bool:
    try:
        return bool(distribution(package))
    except PackageNotFoundError:
        return False


def _is_text(path: Any) -> bool:
    return ".dist-info" in path.parts[0] and _TEXT.search(path.name) is not None


def _version(package: str) -> str:
    return distribution(package).version if _has(package) else "(in this repository)"


def copy_texts(root: Path, html: Path) -> None:
    """Copy the licence texts beside the pages, as these licences require: one file per package."""
    (html / FOLDER).mkdir(exist_ok=True)
    for package in sorted({component["package"] for component in components(root)}):
        if text := text_of(package):
            (html / FOLDER / f"{package}.txt").write_text(text, encoding="utf-8")


def declared(package: Distribution) -> str:
    """The licence that a package declares, as an expression, a name or a classifier."""
    known = package.metadata
    if expression := known.get("License-Expression"):
        return expression
    name = (known.get("License") or "").strip()
    if 0 < len(name) <= _NAME_ENDS and "\n" not in name and name != "UNKNOWN":
        return name
    classes = [c.split(" :: ")[-1] for c in known.get_all("Classifier", []) if c.startswith("License ::")]
    return "; ".join(classes)


def packages(lock: Path) -> list[tuple[str, str, str]]:
    """Name, version and licence of each installed package of the lock."""
    found = []
    if not lock.is_file():
        return found
    for name in re.findall(r"^([a-z0-9-]+)==", lock.read_text(encoding="utf-8"), re.MULTILINE):
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # it is for another platform
        found.append((name, package.version, declared(package)))
    return sorted(set(found))


def facts(root: Path) -> dict[str, Any]:
    """Everything that the page of licences shows."""
    parts = [
        {"name": part["name"], "licence": part["licence"], "package": part["package"],
         "version": _version(part["package"]), "text": text_of(part["package"]) is not None}
        for part in components(root)
    ]  # fmt: skip
    return {"parts": parts, "packages": packages(root / "requirements.lock")}


def as_markdown(known: dict[str, Any], up: str) -> list[str]:
    """The two tables of the page; `up` is the path from the page to the root of the pages."""
    lines = ["| part of the pages | licence | package |", "| --- | --- | --- |"]
    for part in known["parts"]:
        package = part["package"]
        # As HTML, because Sphinx would look for a document of that name.
        label = f'<a href="{up}{FOLDER}/{package}.txt">{package}</a>' if part["text"] else package
        lines.append(f"| {part['name']} | {part['licence']} | {label} {part['version']} |")
    lines += ["", "The packages that execute and render the book, with the licences that they declare:", ""]
    lines += ["| package | version | licence |", "| --- | --- | --- |"]
    lines += [f"| {name} | {version} | {licence} |" for name, version, licence in known["packages"]]
    return lines
