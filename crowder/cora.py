"""The cora bibliography: the similarities shipped with crowder, and the text of the records for those who have it.

The paper does not name the function behind its counts, so the book uses a family of them: sets of words and of letter
triples, edit distances, word weights and a mean over fields; for the whole record, for author and title, and for the
title alone.

>>> [name for name, member in FAMILY.items() if member.on == "author and title"]
['jaccard-tokens-author-title', 'jaccard-qgrams-author-title']

A shipped file (see README.md in `values`) holds no text, only the cluster number of each record and one whole number
for each pair. This is either the overlap of the two, which determines the similarity exactly, or, for a function that
is not a ratio of counts, the similarity in units of 10⁻⁴. Records whose numbers are all equal form one group, stored
once, and a row of the triangle of groups is stored as its difference from the row above.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crowder import checks
from crowder.checks import needing
from crowder.similarity import COUNTED, ratio, spread

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CORA_SHA256", "CORA_URL", "CORA_VARIABLE", "FAMILY", "FOLDER", "SUMS", "UNITS", "Member", "cache", "cora_records",
    "fetch", "file_of", "shipped_arrays", "shipped_values", "verified",
]  # fmt: skip


class Member(NamedTuple):
    """A name in `crowder.similarity.SIMILARITIES`, and the columns compared: None for all but ``id`` and ``label``."""

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


# --- the text --------------------------------------------------------------------------------------------------------

#: The environment variable with a path to the records.
CORA_VARIABLE = "CROWDER_CORA"


def cora_records(path: str | os.PathLike | None = None) -> pd.DataFrame:
    """The text of cora's records, its checksum verified: one row a record, every field a string, none missing.

    Parameters
    ----------
    path : path, optional
        The file ``cora.csv``; a FileNotFoundError if there is none, and a ValueError for another file. By default the
        path in the environment variable ``CROWDER_CORA``. Without one, the file is downloaded once (300 kB; an
        ImportError without the extra ``data``) and kept as ``crowder/cora.csv`` in ``XDG_CACHE_HOME``, or in
        ``~/.cache``. If that fails, a ConnectionError has the address, and no part of the file is kept.

    Returns
    -------
    DataFrame
        1,879 rows; columns ``id``, ``label`` and twelve fields, with the stray spaces and punctuation of the source.

    See Also
    --------
    crowder.datasets.cora : similarities that need no text.

    Examples
    --------
    >>> cora_records("no-such-file.csv")
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no-such-file.csv'
    """
    path = path if path is not None else os.environ.get(CORA_VARIABLE) or None
    if path is not None:
        content = Path(checks.path(path)).read_bytes()
        verified(content, CORA_SHA256, path, "this is not cora.csv, or not all of it")
    else:
        try:
            content = fetch(CORA_URL, CORA_SHA256, cache() / "cora.csv")
        except ConnectionError as error:
            raise ConnectionError(
                f"{error}; without a network, pass the path of the file or set {CORA_VARIABLE} to it"
            ) from error
    import pandas as pd

    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, encoding="utf-8")


# --- from the web ----------------------------------------------------------------------------------------------------

#: The public address of the records of cora, at a fixed commit.
CORA_URL = (
    "https://raw.githubusercontent.com/AI-team-UoA/pyJedAI/08210b42d7dceb5bf910c61c618999545fde8366"
    "/data/der/coraLarge/cora.csv"
)
CORA_SHA256 = "fc5b298391c3e428cae5b0332feae5a16334e59a43b759029026bedf11b5769c"


def cache() -> Path:
    """The folder for fetched files, ``crowder`` in ``XDG_CACHE_HOME`` or in ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crowder"


def verified(content: bytes, sha256: str, name: object, otherwise: str) -> bytes:
    """The content, if it has this checksum; a ValueError that says what it is `otherwise`."""
    if (found := hashlib.sha256(content).hexdigest()) == sha256:
        return content
    raise ValueError(
        f"the checksum of {name} does not match ({len(content)} bytes): sha256 {found}, expected {sha256}; {otherwise}"
    )


def fetch(url: str, sha256: str, path: Path, *, change: Callable[[bytes], bytes] = bytes) -> bytes:
    """The content of a file, which is fetched from an address unless it is there with the right checksum.

    The checksum is that of the file, after any `change` to what was fetched. The path never has anything else: it is
    left as it was by a ConnectionError, which says why there is no answer, and by a ValueError for another content.
    """
    with needing("data"):
        import pooch
        import requests

    def download(url: str, file: str, _: object) -> None:
        pooch.HTTPDownloader(timeout=60)(url, file, None)
        content = change(Path(file).read_bytes())
        Path(file).write_bytes(verified(content, sha256, url, "it is another file, or not all of it"))

    pooch.get_logger().setLevel("WARNING")  # what is downloaded is no news
    try:
        pooch.retrieve(url, sha256, path.name, path.parent, downloader=download)
    except requests.RequestException as error:
        raise ConnectionError(f"{url} cannot be downloaded: {error}") from error
    return path.read_bytes()


# --- what is shipped -------------------------------------------------------------------------------------------------

#: The folder with the values of cora, one file for each function; `book/data/pack_cora.py` makes them all.
FOLDER = Path(__file__).parent / "values"

#: The sha256 of each file, in the form of `sha256sum`.
SUMS = FOLDER / "SHA256SUMS"

#: A similarity that is not a ratio of counts is rounded to multiples of 1/UNITS.
UNITS = 10_000


def file_of(name: str) -> str:
    """The file of a member of :data:`crowder.cora.FAMILY`."""
    return f"cora-{name}.npz"


def shipped_arrays(name: str) -> dict[str, np.ndarray]:
    """The arrays of a member's file, ``labels``, ``group`` and ``steps``, after its checksum has been verified."""
    content = (FOLDER / file_of(name)).read_bytes()
    sums = SUMS.read_text(encoding="utf-8").split()  # before the name of each file its checksum
    verified(content, sums[sums.index(file_of(name)) - 1], file_of(name), "it is corrupt: install crowder again")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return dict(archive)


def shipped_values(arrays: Mapping[str, np.ndarray], similarity: str) -> np.ndarray:
    """The condensed similarities. The function (not the member) determines what the whole numbers mean."""
    group = arrays["group"]
    count = int(group.max(initial=-1)) + 1
    square = np.zeros((count, count), np.int32)
    square[np.triu_indices(count)] = arrays["steps"]
    np.cumsum(square, axis=0, out=square)  # correct on and above the diagonal, which is all that `spread` reads
    sizes = np.diag(square)
    return spread(ratio(similarity, sizes[:, None], sizes, square) if similarity in COUNTED else square / UNITS, group)
