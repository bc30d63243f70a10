"""Data sets: records that hide their clusters, and the similarities that hint at them.

>>> from crowder import dist2
>>> data = synthetic([3, 2], dist2(0.2), rng=7)
>>> data.n, data.sizes.tolist(), data.similarity.shape
(5, [3, 2], (5, 5))
>>> cora().n
1879
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import squareform

from crowder import checked, results
from crowder.data import shipped
from crowder.data import similarity as functions
from crowder.data.counted import COUNTED
from crowder.data.family import FAMILY, Member
from crowder.data.records import CORA_SHA256, anonymous, cora_records

if TYPE_CHECKING:
    from crowder.model.models import SimilarityModel

__all__ = ["Dataset", "cora", "cora_records", "disney", "synthetic"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """n records: a similarity for each pair, and the clusters behind them.

    Parameters
    ----------
    name : str
    condensed : ndarray, shape (n(n-1)/2,), float64
        Similarities in SciPy's ``pdist`` order, in [0, 1].
    labels : ndarray, shape (n,), int64
        Cluster numbers; they name nobody.
    provenance : mapping
        Where the values come from: source, function or model, checksum or seed.
    records : DataFrame, optional
        The text, where there is any at hand.

    Raises
    ------
    ValueError
        If the labels are not n whole numbers for the n(n-1)/2 similarities, one of these is not in [0, 1], or there is
        not one record a label.

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
        condensed = checked.numbers(self.condensed, "condensed similarities")
        checked.kind(self.provenance, Mapping, "provenance must be a mapping from facts to what they are")
        checked.kind(self.records, (pd.DataFrame, type(None)), "records must be a DataFrame")
        labels = np.asarray(self.labels)
        if labels.size and labels.dtype.kind not in "iu":
            raise ValueError(f"labels must be cluster numbers, not {labels.dtype}; crowder.Truth takes any others")
        object.__setattr__(self, "condensed", np.ascontiguousarray(condensed))
        object.__setattr__(self, "labels", np.ascontiguousarray(labels, dtype=np.int64))
        if self.labels.ndim != 1 or self.condensed.shape != (self.n * (self.n - 1) // 2,):
            raise ValueError(
                f"{self.n} labels go with {self.n * (self.n - 1) // 2} condensed similarities; "
                f"these have shape {self.condensed.shape}"
            )
        if not ((self.condensed >= 0) & (self.condensed <= 1)).all():
            raise ValueError("a condensed similarity is NaN, or not in [0, 1]")
        if self.records is not None and len(self.records) != self.n:
            raise ValueError(f"there are {len(self.records)} records, and {self.n} labels")
        if "source" in self.provenance:
            results.used(self.name, self.provenance["source"])

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
        """The symmetric (n, n) array, made once from `condensed`; 1 on the diagonal, which nothing reads."""
        if self.n == 0:
            return np.empty((0, 0))  # squareform takes an empty vector for one record
        square = squareform(self.condensed, checks=False)
        np.fill_diagonal(square, 1.0)
        return square

    @cached_property
    def matching(self) -> np.ndarray:
        """Whether each pair is a match: the condensed truth, shape (n(n-1)/2,), bool."""
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
    """Clusters of given sizes, each pair's similarity drawn from the model: f_g inside a cluster, f_r across.

    Parameters
    ----------
    sizes : sequence of int
        Sizes of the clusters, each at least 1; none for no records.
    model : SimilarityModel
    rng : int or numpy.random.Generator
        Seed or generator. All matching pairs are drawn first, in condensed order, then the others.
    discretize : {None, "round", "floor", "ceil"}
        How to bring values to multiples of 1/levels (:func:`crowder.data.similarity.discretize`). None leaves them.
    levels : int
        Steps of the discretisation.
    shuffle : bool
        By default cluster 0 comes first, then cluster 1, and so on. The orderings break ties at random, so that this
        tells them nothing; whoever breaks ties by index wants True: records in random order.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If a size is not a positive whole number, or the discretisation is unknown.

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
    sizes = [_size(size) for size in sizes]
    model, generator = checked.model(model), checked.generator(rng, "similarities")
    labels = np.repeat(np.arange(len(sizes)), sizes)
    if checked.flag(shuffle, "shuffle"):
        labels = generator.permutation(labels)
    same = _matching(labels)
    condensed = np.empty(len(same))
    matches = int(np.count_nonzero(same))
    condensed[same] = model.green.sample(matches, rng=generator)
    condensed[~same] = model.red.sample(len(same) - matches, rng=generator)
    if discretize is not None:
        condensed = functions.discretize(condensed, discretize, levels)
    seed = None if isinstance(rng, np.random.Generator) else rng
    provenance = {
        "source": "drawn from the model", "model": str(model), "sizes": sizes, "seed": seed,
        "discretize": discretize, "levels": levels if discretize else None, "shuffle": shuffle,
    }  # fmt: skip
    return Dataset("synthetic", condensed, labels, provenance)


def disney(similarity: str = "jaccard-qgrams") -> Dataset:
    """The five places of the paper's Figure 1: r1, r2, r3 are one, r4 and r5 another.

    Parameters
    ----------
    similarity : str
        A name in :data:`crowder.data.similarity.SIMILARITIES`, computed from the places' names.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        For an unknown similarity.

    Examples
    --------
    >>> disney("jaccard-tokens").similarity[3, 4]  # "Disneyland", "Disneyland Park"
    np.float64(0.5)
    """
    places = [
        "Disney World",
        "Walt Disney World Resort",
        "Walt Disney Theme Park, Orlando",
        "Disneyland",
        "Disneyland Park",
    ]
    records = pd.DataFrame({"id": [f"r{i}" for i in range(1, 6)], "name": places})
    provenance = {"source": "Figure 1, computed from the names", "similarity": similarity}
    return Dataset("disney", functions.compute(records, similarity), [0, 0, 0, 1, 1], provenance, records)


def cora(
    similarity: str = "jaccard-tokens",
    *,
    records: str | os.PathLike | pd.DataFrame | None = None,
    fields: Sequence[str] | None = None,
    download: bool = False,
) -> Dataset:
    """The cora bibliography: 1,879 records of 191 publications.

    Values come from the first of these that can give them:

    1. ``records``, when given: computed from the text.
    2. The values shipped with crowder, of all functions in :data:`crowder.data.family.FAMILY`: no text, no network.
    3. The text from the path in the environment variable ``CROWDER_CORA``.
    4. The text from its public home, only with ``download=True``.

    Parameters
    ----------
    similarity : str
        A name in :data:`crowder.data.family.FAMILY`; with ``fields``, in :data:`crowder.data.similarity.SIMILARITIES`.
    records : path or DataFrame, optional
        The file, or what :func:`cora_records` read from it (read once to compute many functions).
    fields : sequence of str, optional
        Columns to compare; those of the family's member by default.
    download : bool
        Whether the text may be fetched if it is needed and not at hand.

    Returns
    -------
    Dataset
        Ratios of counts (:data:`crowder.data.counted.COUNTED`) are the same to the last bit, shipped or computed. The
        others are shipped rounded, to as many decimals as ``provenance["decimals"]`` says.

    Raises
    ------
    ValueError
        Unknown similarity or column; a file, shipped or given, whose checksum does not match.
    FileNotFoundError
        The call needs the text, and there is none: the message says how to get it.
    OSError
        The download failed.

    Notes
    -----
    Section "Experimental Observations", datasets (ii). A tenth of a second shipped, under a second from the text.

    Examples
    --------
    >>> data = cora()
    >>> len(data.sizes), int(data.sizes[0]), int(data.matching.sum()), len(data.condensed)
    (191, 236, 62891, 1764381)
    """
    checked.flag(download, "download")
    name, member = _member(similarity, fields)
    if records is None and name is not None:
        arrays = shipped.read(shipped.FOLDER / shipped.file_of(name), checksum := shipped.sha256_of(name))
        provenance = {"source": "shipped with crowder", "sha256": checksum, **_facts(member)}
        provenance |= {} if member.similarity in COUNTED else {"decimals": len(str(shipped.UNITS)) - 1}
        return Dataset("cora", shipped.values(arrays, member.similarity), arrays["labels"], provenance)
    if not isinstance(records, pd.DataFrame):
        records = cora_records(records, download=download)
        provenance = {"source": "computed from the records", "sha256": CORA_SHA256}
    else:
        provenance = {"source": "computed from the caller's records"}
    if "label" not in records.columns:
        raise ValueError(f"records need a column 'label'; they have {list(records.columns)}")
    condensed = functions.compute(records, member.similarity, fields=member.fields)
    return Dataset("cora", condensed, anonymous(records["label"]), provenance | _facts(member), records)


def _member(similarity: str, fields: Sequence[str] | None) -> tuple[str | None, Member]:
    """What is asked for, and its name in the family if it has one."""
    if fields is None and isinstance(similarity, str) and similarity in FAMILY:
        return similarity, FAMILY[similarity]
    if not isinstance(similarity, str) or similarity not in functions.SIMILARITIES:
        known = ", ".join(dict.fromkeys([*functions.SIMILARITIES, *FAMILY]))
        raise ValueError(f"unknown similarity {similarity!r}; known: {known}")
    checked.kind(fields, (str, Iterable, type(None)), "fields must be names of columns")
    member = Member(similarity, None if fields is None else (fields,) if isinstance(fields, str) else tuple(fields))
    return next((name for name, other in FAMILY.items() if other == member), None), member


def _facts(member: Member) -> dict[str, Any]:
    return {"similarity": member.similarity, "fields": None if member.fields is None else list(member.fields)}


def _matching(labels: np.ndarray) -> np.ndarray:
    n = len(labels)
    return (labels[:, None] == labels)[np.tri(n, k=-1, dtype=bool).T]


def _size(size: Any) -> int:
    try:
        if not isinstance(size, bool) and operator.index(size) > 0:
            return operator.index(size)
    except TypeError:
        pass
    raise ValueError(f"a cluster size must be a positive whole number, not {size!r}")
