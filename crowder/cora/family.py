"""The family of similarities that the book uses for cora: twelve functions, each on certain fields.

The paper does not name the function behind its counts, so the book uses a family of them: sets of words and of letter
triples, edit distances, word weights and a mean over fields; for the whole record, for author and title, and for the
title alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crowder.similarity.functions import compute

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FAMILY", "Member", "family_similarities", "members"]


class Member(NamedTuple):
    """One similarity of the family.

    Attributes
    ----------
    similarity : str
        A name in :data:`crowder.similarity.functions.SIMILARITIES`.
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


def members(*, progress: bool | None = None) -> Iterator[tuple[str, Member]]:
    """Yield the names and members one by one, with a progress bar on the standard error stream.

    Parameters
    ----------
    progress : bool or None, keyword only
        Whether to draw the bar; None draws it if the stream is a terminal.

    Examples
    --------
    >>> [name for name, member in members(progress=False) if member.on == "author and title"]
    ['jaccard-tokens-author-title', 'jaccard-qgrams-author-title']
    """
    from tqdm import tqdm

    disable = None if progress is None else not progress
    with tqdm(FAMILY.items(), disable=disable, unit="function") as bar:
        for name, member in bar:
            bar.set_description(name)
            yield name, member


def family_similarities(records: pd.DataFrame, *, progress: bool | None = None) -> dict[str, np.ndarray]:
    """The similarities of all members of the family on the same records.

    Parameters
    ----------
    records : DataFrame
        n records with columns ``author`` and ``title``, and any others.
    progress : bool or None, keyword only
        A progress bar: as in :func:`members`.

    Returns
    -------
    dict of str to ndarray, shape (n(n-1)/2,), float64
        Condensed, by the names of :data:`FAMILY`.

    Raises
    ------
    TypeError, ValueError
        As :func:`crowder.similarity.functions.compute`.

    Notes
    -----
    On the 1,879 records of cora this takes a few seconds on two cores, mostly for Levenshtein and Jaro-Winkler, and 14
    MB for each member.

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame({"author": ["Knuth", "D Knuth"], "title": ["On Trees", "Trees"], "year": ["1992", ""]})
    >>> values = family_similarities(records, progress=False)
    >>> float(values["jaccard-tokens-title"][0]), float(values["field-mean"][0])
    (0.5, 0.5)
    """
    return {
        name: compute(records, member.similarity, fields=member.fields) for name, member in members(progress=progress)
    }
