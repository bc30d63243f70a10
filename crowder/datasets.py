"""Data sets: similarities of records, with the true clusters.

>>> from crowder import dist2
>>> data = synthetic([3, 2], dist2(0.2), rng=7)
>>> data.n, data.sizes.tolist(), data.similarity.shape
(5, [3, 2], (5, 5))
>>> cora().n
1879
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from crowder import validation
from crowder.cora import shipped
from crowder.cora.family import FAMILY, Member
from crowder.cora.records import CORA_SHA256, anonymous_labels, cora_records
from crowder.resolution import cluster_sizes
from crowder.similarity import functions
from crowder.similarity.counted import COUNTED

if TYPE_CHECKING:
    import pandas as pd

    from crowder.models import SimilarityModel

__all__ = ["Dataset", "cora", "cora_records", "disney", "synthetic"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """n records: a similarity for each pair, and the true clusters.

    Parameters
    ----------
    name : str
    condensed : ndarray, shape (n(n-1)/2,), float64
        Similarities in SciPy's ``pdist`` order, in [0, 1].
    labels : ndarray, shape (n,), int64
        Cluster numbers, which identify no entity.
    provenance : mapping
        Where the values come from: source, function or model, checksum or seed.
    records : DataFrame, optional
        The text of the records, if available.

    Raises
    ------
    ValueError
        If there are not n whole-number labels for n(n-1)/2 similarities, a similarity is not in [0, 1], or there is not
        one record for each label.

    See Also
    --------
    crowder.datasets.synthetic : drawn from a model.
    crowder.datasets.disney : the example of the paper.
    crowder.datasets.cora : a bibliography.

    Examples
    --------
    >>> Dataset("three", [0.9, 0.1, 0.2], [0, 0, 1]).similarity
    array([[1. , 0.9, 0.1],
           [0.9, 1. , 0.2],
           [0.1, 0.2, 1. ]])
    """

    name: str
    condensed: np.ndarray = field(repr=False)
    labels: np.ndarray = field(repr=False)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    records: pd.DataFrame | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        condensed = validation.numbers(self.condensed, "condensed similarities")
        validation.kind(self.provenance, Mapping, "provenance must be a mapping")
        if self.records is not None:
            import pandas as pd

            validation.kind(self.records, pd.DataFrame, "records must be a DataFrame")
        labels = np.asarray(self.labels)
        if labels.size and labels.dtype.kind not in "iu":
            raise ValueError(f"labels must be cluster numbers, not {labels.dtype}; crowder.Truth accepts other values")
        object.__setattr__(self, "condensed", np.ascontiguousarray(condensed))
        object.__setattr__(self, "labels", np.ascontiguousarray(labels, dtype=np.int64))
        if self.labels.ndim != 1 or self.condensed.shape != (self.n * (self.n - 1) // 2,):
            raise ValueError(
                f"{self.n} labels need {self.n * (self.n - 1) // 2} condensed similarities, "
                f"not shape {self.condensed.shape}"
            )
        if not ((self.condensed >= 0) & (self.condensed <= 1)).all():
            raise ValueError("condensed similarities must be in [0, 1], and not NaN")
        if self.records is not None and len(self.records) != self.n:
            raise ValueError(f"records must be as many as the {self.n} labels, not {len(self.records)}")

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.labels)

    @property
    def sizes(self) -> np.ndarray:
        """Cluster sizes, largest first."""
        return np.sort(np.unique(self.labels, return_counts=True)[1])[::-1]

    @cached_property
    def similarity(self) -> np.ndarray:
        """The symmetric (n, n) array, made once from `condensed`; the diagonal is 1 and is not used."""
        if self.n == 0:
            return np.empty((0, 0))  # squareform takes an empty vector for one record
        from scipy.spatial.distance import squareform  # half of the time of `import crowder`

        square = squareform(self.condensed, checks=False)
        np.fill_diagonal(square, 1.0)
        return square

    @cached_property
    def matching(self) -> np.ndarray:
        """Whether each pair is a match, in condensed order, shape (n(n-1)/2,), bool."""
        return _matching(self.labels)


def synthetic(
    sizes: Sequence[int],
    model: SimilarityModel,
    *,
    rng: int | np.random.Generator,
    discretize: str | None = None,
    levels: int = 10,
    shuffle: bool = False,
) -> Dataset:
    """Clusters of given sizes, each pair's similarity drawn from the model: f_g within clusters, f_r between them.

    Parameters
    ----------
    sizes : sequence of int
        Sizes of the clusters, each at least 1; may be empty.
    model : SimilarityModel
    rng : int or numpy.random.Generator
        Seed or generator. All matching pairs are drawn first, in condensed order, then the others.
    discretize : {None, "round", "floor", "ceil"}
        How to round values to multiples of 1/levels (:func:`crowder.similarity.functions.discretize`). None leaves them
        unchanged.
    levels : int
        Steps of the discretisation.
    shuffle : bool
        By default cluster 0 comes first, then cluster 1, and so on. The orderings break ties at random, so this reveals
        nothing to them. Pass True, for records in random order, if you break ties by index.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If a size is not a positive whole number, or the discretisation is unknown.

    See Also
    --------
    crowder.SimilarityModel : what similarities are drawn from.
    crowder.datasets.cora : real similarities.

    Notes
    -----
    n(n-1)/2 draws. In the paper, section "Experimental Observations", datasets (i): 1,200 records, values discretised
    to {0, 0.1, ..., 1}.

    Examples
    --------
    >>> from crowder import dist1
    >>> synthetic([2, 1], dist1(0.3), rng=1, discretize="round").labels
    array([0, 0, 1])
    """
    if not isinstance(sizes, Iterable):
        raise TypeError(f"sizes must be a sequence of cluster sizes, not {sizes!r}")
    sizes = cluster_sizes(list(sizes)).tolist()
    model, generator = validation.model(model), validation.generator(rng, "similarities")
    labels = np.repeat(np.arange(len(sizes)), sizes)
    if validation.flag(shuffle, "shuffle"):
        labels = generator.permutation(labels)
    matches = sum(size * (size - 1) // 2 for size in sizes)
    others = len(labels) * (len(labels) - 1) // 2 - matches
    green, red = model.green.sample(matches, rng=generator), model.red.sample(others, rng=generator)
    condensed = _mixed(labels, green, red)
    if discretize is not None:
        condensed = functions.discretize(condensed, discretize, levels)
    seed = None if isinstance(rng, np.random.Generator) else rng
    provenance = {
        "source": "drawn from the model", "model": str(model), "sizes": sizes, "seed": seed,
        "discretize": discretize, "levels": levels if discretize else None, "shuffle": shuffle,
    }  # fmt: skip
    return Dataset("synthetic", condensed, labels, provenance)


def disney(similarity: str = "jaccard-qgrams") -> Dataset:
    """The five places of the paper's Figure 1: r1, r2 and r3 are one entity, r4 and r5 another.

    Parameters
    ----------
    similarity : str
        A name in :data:`crowder.similarity.functions.SIMILARITIES`, computed from the places' names.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        For an unknown similarity.

    See Also
    --------
    crowder.datasets.cora : real data of another size.
    crowder.counting.small_cases.questions_of_order : every order of its ten pairs.

    Examples
    --------
    >>> disney("jaccard-tokens").similarity[3, 4]  # "Disneyland", "Disneyland Park"
    np.float64(0.5)
    """
    import pandas as pd

    places = [
        "Disney World",
        "Walt Disney World Resort",
        "Walt Disney Theme Park, Orlando",
        "Disneyland",
        "Disneyland Park",
    ]
    records = pd.DataFrame({"id": [f"r{i}" for i in range(1, 6)], "name": places})
    provenance = {"source": "Figure 1, computed from the names", "similarity": similarity}
    return Dataset("disney", functions.compute(records, similarity), np.array([0, 0, 0, 1, 1]), provenance, records)


def cora(
    similarity: str = "jaccard-tokens",
    *,
    records: str | os.PathLike | pd.DataFrame | None = None,
    fields: Sequence[str] | None = None,
    download: bool = False,
) -> Dataset:
    """The cora bibliography: 1,879 records of 191 publications.

    The similarities come from the first of these sources that has them:

    1. ``records``, when given: computed from the text.
    2. The values shipped with crowder, of all functions in :data:`crowder.cora.family.FAMILY`: no text, no network.
    3. The text from the path in the environment variable ``CROWDER_CORA``.
    4. The text from its public address, only with ``download=True``.

    Parameters
    ----------
    similarity : str
        A name in :data:`crowder.cora.family.FAMILY`; with ``fields``, in
        :data:`crowder.similarity.functions.SIMILARITIES`.
    records : path or DataFrame, optional
        The file, or the DataFrame that :func:`cora_records` returns (read once to compute many functions).
    fields : sequence of str, optional
        Columns to compare; by default those of the named member of the family.
    download : bool
        Whether the text may be downloaded if it is needed and not available locally.

    Returns
    -------
    Dataset
        Ratios of counts (:data:`crowder.similarity.counted.COUNTED`) are the same to the last bit, shipped or computed.
        The others are shipped rounded, to as many decimals as ``provenance["decimals"]`` says.

    Raises
    ------
    ValueError
        Unknown similarity or column; a file, shipped or given, whose checksum does not match.
    FileNotFoundError
        The text is needed and was not found; the message says how to get it.
    OSError
        The download failed.

    See Also
    --------
    crowder.datasets.cora_records : the text, if the file is there.
    crowder.similarity.compute : other similarities of records.

    Notes
    -----
    Section "Experimental Observations", datasets (ii). Takes a tenth of a second for shipped values, under a second
    from the text.

    Examples
    --------
    >>> data = cora()
    >>> len(data.sizes), int(data.sizes[0]), int(data.matching.sum()), len(data.condensed)
    (191, 236, 62891, 1764381)
    """
    validation.flag(download, "download")
    name, member = _member(similarity, fields)
    if records is None and name is not None:
        arrays = shipped.read(shipped.FOLDER / shipped.file_of(name), checksum := shipped.sha256_of(name))
        provenance = {"source": "shipped with crowder", "sha256": checksum, **_facts(member)}
        provenance |= {} if member.similarity in COUNTED else {"decimals": len(str(shipped.UNITS)) - 1}
        return Dataset("cora", shipped.values(arrays, member.similarity), arrays["labels"], provenance)
    import pandas as pd

    if isinstance(records, pd.DataFrame):
        frame, provenance = records, {"source": "computed from the caller's records"}
    else:
        frame = cora_records(records, download=download)
        provenance = {"source": "computed from the records", "sha256": CORA_SHA256}
    if "label" not in frame.columns:
        raise ValueError(f"records must have a column 'label', not only {list(frame.columns)}")
    condensed = functions.compute(frame, member.similarity, fields=member.fields)
    return Dataset("cora", condensed, anonymous_labels(frame["label"]), provenance | _facts(member), frame)


def _member(similarity: str, fields: Sequence[str] | None) -> tuple[str | None, Member]:
    """The requested member, and its name if it belongs to the family."""
    if fields is None and isinstance(similarity, str) and similarity in FAMILY:
        return similarity, FAMILY[similarity]
    if not isinstance(similarity, str) or similarity not in functions.SIMILARITIES:
        known = ", ".join(dict.fromkeys([*functions.SIMILARITIES, *FAMILY]))
        raise ValueError(f"similarity must be one of {known}, not {similarity!r}")
    validation.kind(fields, (str, Iterable, type(None)), "fields must be names of columns")
    member = Member(similarity, None if fields is None else (fields,) if isinstance(fields, str) else tuple(fields))
    return next((name for name, other in FAMILY.items() if other == member), None), member


def _facts(member: Member) -> dict[str, Any]:
    return {"similarity": member.similarity, "fields": None if member.fields is None else list(member.fields)}


@njit(cache=True)
def _mixed(labels: np.ndarray, green: np.ndarray, red: np.ndarray) -> np.ndarray:
    """The similarities of all pairs in condensed order: the next of `green` for a match, of `red` for another pair."""
    condensed = np.empty(len(green) + len(red))
    p = g = r = 0
    for i in range(len(labels)):
        for j in range(i + 1, len(labels)):
            if labels[i] == labels[j]:
                condensed[p] = green[g]
                g += 1
            else:
                condensed[p] = red[r]
                r += 1
            p += 1
    return condensed


def _matching(labels: np.ndarray) -> np.ndarray:
    n = len(labels)
    return (labels[:, None] == labels)[np.tri(n, k=-1, dtype=bool).T]
