"""The book as it was last executed: its chapters, their texts, and what they found of the claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from book.project import OUT, ROOT, BuildError
from book.reports import ledger
from book.text.chapters import Chapter, read_chapters, select
from book.text.texts import Texts


class Book:
    """All chapters, or `only` those, as they were executed with a profile; a BuildError if one was not."""

    def __init__(self, profile: str, only: Sequence[str] = ()) -> None:
        self.profile, self.whole, self.chapters = profile, not only, select(read_chapters(ROOT), only)
        self.folders = {chapter: folder_of(OUT / profile, chapter) for chapter in self.chapters}
        if lacking := [chapter.slug for chapter, at in self.folders.items() if not (at / "ran.json").exists()]:
            more = f" and {len(lacking) - 3} others" if len(lacking) > 3 else ""
            raise BuildError(f"not executed: {', '.join(lacking[:3])}{more}; run `make book`, or python -m book.run")
        records = ledger.read_records(self.folders.values())
        self.entries = ledger.judge(ledger.read_declared(ROOT), records, complete=self.whole)
        self.texts = Texts(ROOT, self.folders, {entry["id"]: entry["status"] for entry in self.entries})


def folder_of(out: Path, chapter: Chapter) -> Path:
    """Where a chapter was executed; beside a run with parameters, in ``_build/runs``, the others are as in the book."""
    own = out / chapter.slug
    return own if own.exists() or out.parent.name != "runs" else OUT / "full" / chapter.slug
