"""The text of cora's records, which is not part of crowder: where it is found, and how the file is verified."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crowder import validation
from crowder.similarity import groups

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CORA_SHA256", "CORA_URL", "CORA_VARIABLE", "anonymous_labels", "cora_records"]

#: The public address of the records, at the commit whose checksum is known.
CORA_URL = (
    "https://raw.githubusercontent.com/AI-team-UoA/pyJedAI/08210b42d7dceb5bf910c61c618999545fde8366"
    "/data/der/coraLarge/cora.csv"
)
CORA_SHA256 = "fc5b298391c3e428cae5b0332feae5a16334e59a43b759029026bedf11b5769c"

#: The environment variable with a path to the records.
CORA_VARIABLE = "CROWDER_CORA"


def cora_records(path: str | os.PathLike | None = None) -> pd.DataFrame:
    """The text of cora's records, its checksum verified: one row a record, every field a string, none missing.

    Parameters
    ----------
    path : path, optional
        The file ``cora.csv``. By default the path in the environment variable ``CROWDER_CORA``.

    Returns
    -------
    DataFrame
        1,879 rows; columns ``id``, ``label`` and twelve fields, with the stray spaces and punctuation of the source.

    Raises
    ------
    FileNotFoundError
        There is no file at the path, or no path; the message says where the file can be had.
    ValueError
        The checksum does not match.

    See Also
    --------
    crowder.datasets.cora : similarities that need no text.
    crowder.similarity.compute : similarities of records.

    Examples
    --------
    >>> cora_records("no-such-file.csv")
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no-such-file.csv'
    """
    path = path if path is not None else os.environ.get(CORA_VARIABLE) or None
    if path is None:
        raise FileNotFoundError(
            "the text of cora's records is not part of crowder: download it from "
            f"{CORA_URL}, then pass the path of the file or set {CORA_VARIABLE} to it"
        )
    content = Path(validation.path(path)).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != CORA_SHA256:
        raise ValueError(
            f"{path}: the checksum does not match ({len(content)} bytes), so this is not cora.csv, or not all of it: "
            f"sha256 {found}, expected {CORA_SHA256}"
        )
    import pandas as pd

    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, encoding="utf-8")


def anonymous_labels(names: Sequence) -> np.ndarray:
    """Cluster numbers 0, 1, ... in order of first appearance, shape (n,), int64.

    Examples
    --------
    >>> anonymous_labels(["b", "a", "b"])
    array([0, 1, 0])
    """
    return groups(names)[1].astype(np.int64)
