"""A clustering in which records move and clusters join, with the answers between every two clusters summed."""

from __future__ import annotations

import numpy as np

__all__ = ["ClusterSums"]


class ClusterSums:
    """Clusters of n records, at first each record alone; for every two clusters, the number of answers between them and
    their summed evidence.

    Parameters
    ----------
    n : int
        The number of records.

    Attributes
    ----------
    label : ndarray of int64, shape (n,)
        The cluster of each record.
    size : ndarray of int64, shape (n,)
        The number of records of each cluster; 0 for a label that is not used.
    count, evidence : ndarray, shape (n, n)
        The sums between two clusters; on the diagonal, they have no meaning.

    Notes
    -----
    O(1) for an answer, O(n) for a join or a move. Sums of floats that cancel are zero up to rounding only.

    See Also
    --------
    crowder.beyond.control_queries.ControlQueries : decides by them.

    Examples
    --------
    >>> sums = ClusterSums(3)
    >>> sums.add(0, 1, 2.5)
    >>> sums.add(1, 2, -1.5)
    >>> sums.join(0, 1)
    >>> sums.label, float(sums.evidence[0, 2])
    (array([0, 0, 2]), -1.5)
    """

    def __init__(self, n: int) -> None:
        self.label, self.size = np.arange(n), np.ones(n, np.int64)
        self.count, self.evidence = np.zeros((n, n), np.int64), np.zeros((n, n))

    def members(self, cluster: int) -> np.ndarray:
        """The records of a cluster, in increasing order."""
        return np.flatnonzero(self.label == cluster)

    def add(self, i: int, j: int, evidence: float) -> None:
        """Add an answer about records i and j."""
        a, b = self.label[i], self.label[j]
        for pair in ((a, b), (b, a)):
            self.count[pair] += 1
            self.evidence[pair] += evidence

    def join(self, a: int, b: int) -> None:
        """Move all records of cluster b to cluster a."""
        self.label[self.label == b] = a
        self.size[a], self.size[b] = self.size[a] + self.size[b], 0
        for table in (self.count, self.evidence):
            table[a] += table[b]
            table[:, a] += table[:, b]
            table[b] = table[:, b] = 0

    def by_cluster(self, values: np.ndarray) -> np.ndarray:
        """The sum of the records' values in each cluster."""
        return np.bincount(self.label, values, len(self.label))

    def move(self, record: int, to: int | None, count: np.ndarray, evidence: np.ndarray) -> None:
        """Move a record to another cluster, or to one of its own; `count` and `evidence` are of its answers about each
        other record."""
        new = int(np.flatnonzero(self.size == 0)[0]) if to is None else to
        old, self.label[record] = self.label[record], new
        self.size[old] -= 1
        self.size[new] += 1
        for table, values in ((self.count, count), (self.evidence, evidence)):
            sums = self.by_cluster(values).astype(table.dtype)
            for cluster, change in ((old, -sums), (new, sums)):
                table[cluster] += change
                table[:, cluster] += change
            if not self.size[old]:
                table[old] = table[:, old] = 0
