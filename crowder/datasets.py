"""Data sets (similarities and the true clusters): drawn from a model, two small examples, and cora.

>>> from crowder import dist2
>>> data = synthetic([3, 2], dist2(0.2), rng=7)
>>> data.n, data.sizes.tolist(), data.similarity.shape
(5, [3, 2], (5, 5))
>>> cora().n
1879
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from crowder import checks
from crowder import similarity as functions
from crowder.cora import FAMILY, cora_records, shipped_arrays, shipped_values
from crowder.models import SimilarityModel
from crowder.resolution import cluster_sizes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Dataset", "citations", "cora", "cora_records", "disney", "synthetic"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """n records: a similarity for each pair, and the true clusters. Its arrays are copies, and cannot be changed.

    Parameters
    ----------
    name : str
    condensed : ndarray, shape (n(n-1)/2,), float64
        Similarities in SciPy's ``pdist`` order; a ValueError if one is not in [0, 1].
    labels : ndarray, shape (n,), int64
        Cluster numbers; they do not identify entities. A ValueError if the similarities are not those of n records.
    source : str
        Where the values come from.
    records : DataFrame, optional
        The text of the records, if available; a ValueError if they are not n.

    See Also
    --------
    crowder.datasets.synthetic : drawn from a model.
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
    source: str = ""
    records: pd.DataFrame | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("condensed", "labels"):
            checks.by_position(getattr(self, name), f"{name} values")
        condensed = checks.numbers(self.condensed, "condensed similarities")
        labels = checks.as_array(self.labels, "labels")
        if labels.ndim != 1 or (labels.size and labels.dtype.kind not in "iu"):
            raise ValueError(f"labels must be cluster numbers, not {self.labels!r}; crowder.Truth accepts other values")
        object.__setattr__(self, "condensed", np.ascontiguousarray(condensed))  # already a copy
        object.__setattr__(self, "labels", checks.owned(labels.astype(np.int64)))
        self.condensed.flags.writeable = False
        pairs = self.n * (self.n - 1) // 2
        if self.condensed.shape != (pairs,):
            raise ValueError(f"{self.n} labels need {pairs} condensed similarities, not shape {self.condensed.shape}")
        if not ((self.condensed >= 0) & (self.condensed <= 1)).all():
            raise ValueError("condensed similarities must be in [0, 1], and not NaN")
        if self.records is not None and not hasattr(self.records, "columns"):
            raise TypeError(f"records must be a DataFrame, not {self.records!r}")
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
        square.flags.writeable = False
        return square

    @cached_property
    def matching(self) -> np.ndarray:
        """Whether each pair is a match, in condensed order, shape (n(n-1)/2,), bool."""
        return _matching(self.labels)

    def densities(self, edges: Sequence[Any]) -> SimilarityModel:
        """The model with the similarities of this data set: on each step, the share of matches and of non-matches.

        Parameters
        ----------
        edges : sequence of number
            The ends of the steps, as for `SimilarityModel.from_steps`. Whole numbers and fractions give heights that
            are fractions.

        Notes
        -----
        f_g on a step is the number of matches in it, divided by all matches and by the width of the step; f_r likewise.
        O(n²). A ValueError if the data set has no match or no non-match. As in the model, the similarities of the pairs
        are then taken to be independent, which those of real records are not.

        Examples
        --------
        >>> citations().densities([0, Fraction(1, 2), 1]).green.heights
        (Fraction(30, 19), Fraction(8, 19))
        """
        ones = [1] * (checks.as_array(edges, "edges").size - 1)
        SimilarityModel.from_steps(edges, ones, ones)  # refuses other edges
        if self.matching.all() or not self.matching.any():
            raise ValueError("the data set must have matches and non-matches")

        def heights(similarity: np.ndarray) -> list[Any]:
            counts = np.histogram(similarity, [float(edge) for edge in edges])[0].tolist()
            widths = [high - low for low, high in pairwise(edges)]
            return [Fraction(count, len(similarity)) / width for count, width in zip(counts, widths, strict=True)]

        green, red = heights(self.condensed[self.matching]), heights(self.condensed[~self.matching])
        return SimilarityModel.from_steps(edges, green, red)


def synthetic(
    sizes: Sequence[int], model: SimilarityModel, *, rng: int | np.random.Generator, shuffle: bool = False
) -> Dataset:
    """Clusters of given sizes, each pair's similarity drawn from the model: f_g within clusters, f_r between them.

    Parameters
    ----------
    sizes : sequence of int
        Sizes of the clusters, each at least 1, otherwise a ValueError; may be empty.
    model : SimilarityModel
    rng : int or numpy.random.Generator
        Seed or generator. All matching pairs are drawn first, in condensed order, then the others.
    shuffle : bool
        By default cluster 0 comes first, then cluster 1, and so on. The orderings break ties at random, so this reveals
        nothing to them. If you break ties by index, pass True, which puts the records in random order.

    See Also
    --------
    crowder.SimilarityModel : what similarities are drawn from.
    crowder.similarity.discretize : rounds them to tenths, as in the paper.

    Notes
    -----
    n(n-1)/2 draws. In the paper, section "Experimental Observations", datasets (i): 1,200 records.

    Examples
    --------
    >>> from crowder import dist1
    >>> synthetic([2, 1], dist1(0.3), rng=1).labels
    array([0, 0, 1])
    """
    sizes = cluster_sizes(sizes).tolist()
    model, generator = checks.model(model), checks.generator(rng, "similarities")
    labels = np.repeat(np.arange(len(sizes)), sizes)
    if checks.flag(shuffle, "shuffle"):
        labels = generator.permutation(labels)
    matches = sum(size * (size - 1) // 2 for size in sizes)
    others = len(labels) * (len(labels) - 1) // 2 - matches
    green, red = model.green.sample(matches, rng=generator), model.red.sample(others, rng=generator)
    matching = _matching(labels)
    condensed = np.empty(len(matching))
    condensed[matching], condensed[~matching] = green, red
    return Dataset("synthetic", condensed, labels, "drawn from the model")


def citations(similarity: str = "jaccard-tokens") -> Dataset:
    """Twelve invented citations of three papers, the example that runs through the book.

    Clusters of 5, 4 and 3 records. Citations of one paper that follow different styles often have fewer words in common
    than citations of two papers in one style, so that both heuristics ask more questions than necessary.

    Parameters
    ----------
    similarity : str
        A name in :data:`crowder.similarity.SIMILARITIES`, computed from the texts. By default it is the share of words
        in common: those in both texts, divided by those in either. A ValueError for any other.

    See Also
    --------
    crowder.datasets.cora : a bibliography of real citations.

    Examples
    --------
    >>> data = citations()
    >>> for record in (2, 7):
    ...     print(data.records["text"][record])
    I. Moreau, T. Becker: Asking people. VLDB 2012
    I. Moreau, T. Becker: Matching products. VLDB 2013
    >>> data.similarity[2, 7].round(2)  # 5 of 11 words
    np.float64(0.45)
    """
    import pandas as pd

    texts = [
        "I. Moreau and T. Becker. Asking people to match records. In Proceedings of the Conference on Very Large Data "
        "Bases, 2012",
        "Moreau et al., Asking people to match records, VLDB '12",
        "I. Moreau, T. Becker: Asking people. VLDB 2012",
        "Moreau, Becker: Asking people. Int. Conf. on Very Large Data Bases, 2012",
        "Asking people (Moreau and Becker, VLDB 2012)",
        "Ines Moreau, Tom Becker: Asking people to match products. VLDB 2013",
        "Moreau & Becker (2013): Asking people to match products",
        "I. Moreau, T. Becker: Matching products. VLDB 2013",
        "Moreau, Becker: Matching products. Int. Conf. on Very Large Data Bases, 2013",
        "Okafor, L., Becker, T.: Matching records with few questions. Proc. SIGMOD",
        "L. Okafor, T. Becker: Few questions. SIGMOD 2013",
        "Few questions (Okafor and Becker, SIGMOD 2013)",
    ]
    records = pd.DataFrame({"id": [f"r{i}" for i in range(1, 13)], "text": texts})
    labels = np.repeat([0, 1, 2], [5, 4, 3])
    return Dataset("citations", functions.compute(records, similarity), labels, "computed from the texts", records)


def disney() -> Dataset:
    """The five places of the paper's Figure 1: r1, r2 and r3 are one entity, r4 and r5 another.

    Their similarities are "jaccard-qgrams" of the names (:func:`crowder.similarity.compute`).

    See Also
    --------
    crowder.datasets.citations : the example that runs through the book.
    crowder.counting.small_cases.orders_by_questions : every order of its ten pairs.

    Examples
    --------
    >>> disney().similarity[3, 4].round(2)  # "Disneyland", "Disneyland Park": 8 of 13 triples
    np.float64(0.62)
    """
    import pandas as pd

    one = ["Disney World", "Walt Disney World Resort", "Walt Disney Theme Park, Orlando"]
    records = pd.DataFrame({"id": [f"r{i}" for i in range(1, 6)], "name": [*one, "Disneyland", "Disneyland Park"]})
    condensed = functions.compute(records, "jaccard-qgrams")
    return Dataset("disney", condensed, np.array([0, 0, 0, 1, 1]), "Figure 1, computed from the names", records)


def cora(similarity: str = "jaccard-tokens", *, records: pd.DataFrame | None = None) -> Dataset:
    """The cora bibliography: 1,879 records of 191 publications.

    The two Jaccard similarities and Levenshtein are ratios of counts, identical to the last bit whether shipped or
    computed. The others are shipped rounded to four decimals.

    Parameters
    ----------
    similarity : str
        A name in :data:`crowder.cora.FAMILY`; a ValueError for any other.
    records : DataFrame, optional
        The text, as :func:`cora_records` returns it, to compute the values from; a ValueError if a column or a label is
        missing, a TypeError if they are no DataFrame or a field is not text. By default they are those shipped with
        crowder, which need no text and no network; a ValueError if the checksum of their file does not match.

    See Also
    --------
    crowder.datasets.cora_records : the text.
    crowder.similarity.compute : other similarities of records.

    Notes
    -----
    Section "Experimental Observations", datasets (ii). Takes a tenth of a second for shipped values, a few seconds from
    the text.

    Examples
    --------
    >>> data = cora()
    >>> len(data.sizes), int(data.sizes[0]), int(data.matching.sum()), len(data.condensed)
    (191, 236, 62891, 1764381)
    """
    member = functions.named(FAMILY, similarity)
    if records is None:
        arrays = shipped_arrays(similarity)
        return Dataset("cora", shipped_values(arrays, member.similarity), arrays["labels"], "shipped with crowder")
    import pandas as pd

    checks.kind(records, pd.DataFrame, "records must be a DataFrame, such as cora_records(PATH)")
    if "label" not in records.columns:
        raise ValueError(f"records must have a column 'label', not only {list(records.columns)}")
    checks.labels(records["label"])
    condensed = functions.compute(records, member.similarity, fields=member.fields)
    return Dataset("cora", condensed, functions.groups(records["label"])[1], "computed from the records", records)


def _matching(labels: np.ndarray) -> np.ndarray:
    return (labels[:, None] == labels)[np.tri(len(labels), k=-1, dtype=bool).T]
