"""How a pair looks to the crowd, given its votes: the arrays behind `crowder.beyond.answer_model`.

The first axis is the look: same, different, unclear. Where both truths are meant, an axis has match and non-match.
"""

from __future__ import annotations

import numpy as np

__all__ = ["given_truth", "log_votes", "sum_by_pair"]


def log_votes(yes: np.ndarray, worker: np.ndarray, rates: np.ndarray, unclear_yes: float) -> np.ndarray:
    """ln P(vote | look) of each vote, shape (3, v); ``rates`` has (a, b) for each worker.

    Examples
    --------
    >>> np.exp(log_votes(np.array([True, False]), np.array([0, 0]), np.array([[0.1, 0.2]]), 0.4)).round(3)
    array([[0.8, 0.2],
           [0.1, 0.9],
           [0.4, 0.6]])
    """
    a, b = rates[worker].T
    return np.log([np.where(yes, x, 1 - x) for x in (1 - b, a, np.full(len(yes), unclear_yes))])


def sum_by_pair(terms: np.ndarray, pair: np.ndarray, size: int) -> np.ndarray:
    """ln P(votes | look) of each pair: the sums of its votes' terms, shape (3, p).

    Examples
    --------
    >>> sum_by_pair(np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]]), np.array([0, 1, 0]), 2)
    array([[4., 2.],
           [1., 0.]])
    """
    return np.array([np.bincount(pair, row, minlength=size) for row in terms])


def given_truth(sums: np.ndarray, looks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ln P(votes | truth), shape (2, p), and P(look | votes, truth), shape (3, 2, p).

    ``looks`` is P(look | truth), shape (3, 2).

    Examples
    --------
    >>> looks = np.array([[0.9, 0.01], [0.1, 0.99], [0.0, 0.0]])
    >>> likelihood, look = given_truth(np.zeros((3, 1)), looks)  # no votes
    >>> bool(np.allclose(likelihood, 0)), look[:, :, 0].round(2).tolist()
    (True, [[0.9, 0.01], [0.1, 0.99], [0.0, 0.0]])
    """
    with np.errstate(divide="ignore"):  # a look may be impossible
        joint = np.log(looks)[:, :, None] + sums[:, None]
    total = np.logaddexp.reduce(joint, axis=0)
    return total, np.exp(joint - total)
