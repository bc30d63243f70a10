"""Bad input to the command that builds the book: chapters, profiles, files of the book."""

from pathlib import Path

from bad_material import PLACE, Row

from book.project import BuildError
from book.reports import ledger
from book.text.chapters import read_chapters, read_profile, select

ROOT = Path(__file__).resolve().parents[2]

CHAPTERS = read_chapters(ROOT)


def clone(**files):
    """A clone with these files of `book`, and no other."""
    root = Path(PLACE["folder"]) / "clone"
    for old in root.rglob("*.yml"):
        old.unlink()
    for name, text in files.items():
        path = root / ("_toc.yml" if name == "toc" else f"book/{name.replace('__', '/')}.yml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    root.mkdir(exist_ok=True)
    return root


def claims(text):
    """What a book with this file declares."""
    return ledger.read_declared(clone(data__claims=text))


TABLE = {
    "Chapters": [
        Row(lambda: select(CHAPTERS, ["99"]), BuildError, "no chapter 99; there are 01-questions"),
        Row(lambda: read_chapters(clone()), BuildError, "_toc.yml: [Errno 2] No such file"),
        Row(lambda: read_chapters(clone(toc="parts: [")), BuildError, "_toc.yml: while parsing a flow"),
    ],
    "Profiles": [
        Row(lambda: read_profile(clone(data__profiles="quick: ["), "quick", CHAPTERS), BuildError,
            "profiles.yml: while parsing a flow"),
    ],
    "Declared claims": [
        Row(lambda: claims("claims: ["), BuildError, "claims.yml: while parsing a flow"),
    ],
}  # fmt: skip
