"""The cora bibliography: the similarities shipped with crowder, and the text of the records for those who have it.

The paper does not name the function behind its counts, so the book uses a family of them: sets of words and of letter
triples, edit distances, word weights and a mean over fields; for the whole record, for author and title, and for the
title alone.

>>> [name for name, member in FAMILY.items() if member.on == "author and title"]
['jaccard-tokens-author-title', 'jaccard-qgrams-author-title']
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["FAMILY", "Member"]


class Member(NamedTuple):
    """One similarity of the family.

    Attributes
    ----------
    similarity : str
        A name in :data:`crowder.similarity.SIMILARITIES`.
    fields : tuple of str or None
        The columns compared; None for all but ``id`` and ``label``.
    """

    similarity: str
    fields: tuple[str, ...] | None = None

    @property
    def on(self) -> str:
        """The fields, as a phrase."""
        return "all fields" if self.fields is None else " and ".join(self.fields)


_AUTHOR_TITLE, _TITLE = ("author", "title"), ("title",)

#: The family by name. A name without fields stands for the function on all fields.
FAMILY: Mapping[str, Member] = MappingProxyType(
    {
        "jaccard-tokens": Member("jaccard-tokens"),
        "jaccard-tokens-author-title": Member("jaccard-tokens", _AUTHOR_TITLE),
        "jaccard-tokens-title": Member("jaccard-tokens", _TITLE),
        "jaccard-qgrams": Member("jaccard-qgrams"),
        "jaccard-qgrams-author-title": Member("jaccard-qgrams", _AUTHOR_TITLE),
        "jaccard-qgrams-title": Member("jaccard-qgrams", _TITLE),
        "levenshtein": Member("levenshtein"),
        "levenshtein-title": Member("levenshtein", _TITLE),
        "tfidf-cosine": Member("tfidf-cosine"),
        "tfidf-cosine-title": Member("tfidf-cosine", _TITLE),
        "jaro-winkler": Member("jaro-winkler"),
        "field-mean": Member("field-mean"),
    }
)
