"""Clusters from answers that exist already and may contradict one another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.answers import Answers
from crowder.beyond.error_rates import ErrorRates
from crowder.beyond.noisy_ordering import NoisyOrdering
from crowder.beyond.resolved import Resolved
from crowder.validation import Seed

__all__ = ["resolve"]

#: Arrays of all pairs of so many records take some gigabytes.
MOST_RECORDS = 8_000


def resolve(
    answers: Any,
    similarity: ArrayLike | None = None,
    *,
    n: int | None = None,
    errors: ErrorRates | None = None,
    rng: Seed,
) -> Resolved:
    """The likeliest clusters, given answers that exist already.

    Parameters
    ----------
    answers : Answers, DataFrame or iterable of tuple
        As `crowder.Answers.read` takes them: two records, "yes", "no" or "unsure", and perhaps the worker.
    similarity : array_like, optional
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1]. It helps where the answers leave doubt.
    n : int, keyword only
        The number of records. By default that of the similarity, otherwise as many as the answers name.
    errors : ErrorRates, keyword only
        How the crowd errs. By default learned from the answers.
    rng : int or numpy.random.Generator, keyword only
        Draws the starts of the search.

    Returns
    -------
    Resolved

    Raises
    ------
    ValueError, TypeError
        As `crowder.Answers.read`; if the answers name records that there are not; or if there are more than 8,000.

    See Also
    --------
    crowder.NoisyOrdering : chooses the questions, too.
    crowder.Answers : the answers, and what may be wrong with a table of them.

    Notes
    -----
    Rates and clusters are learned in turn, at most `crowder.beyond.noisy_ordering.ROUNDS` times: O(a + n²) for each
    round, with a answers; memory O(n²).

    Examples
    --------
    One of three workers contradicts the others:

    >>> rows = [(i, j, "yes", who) for i, j in [(0, 1), (0, 2), (1, 2), (3, 4)] for who in ("ann", "bob")]
    >>> rows += [(i, j, "no", who) for i, j in [(0, 3), (1, 4), (2, 3)] for who in ("ann", "bob")]
    >>> rows += [(0, 1, "no", "eve"), (1, 4, "yes", "eve"), (3, 4, "unsure", "eve")]
    >>> result = resolve(rows, rng=7)
    >>> result.clusters, result.sure.round(2)
    (array([0, 0, 0, 1, 1]), array([1.  , 1.  , 1.  , 0.97, 0.96]))
    """
    if not isinstance(answers, Answers):
        answers = Answers.read(answers, n)
    if n is not None and validation.whole(n, "n, the number of records,") < answers.n:
        raise ValueError(f"n must be at least {answers.n}, since the answers name record {answers.n - 1}")
    records = max(answers.n, n or 0)
    if records > MOST_RECORDS:
        raise ValueError(f"answers must be about at most {MOST_RECORDS:,} records, not {records:,}; "
                         "resolve groups of records that no answer connects one by one")  # fmt: skip
    if similarity is None:
        similarity = np.zeros((records, records))
    ordering = NoisyOrdering(similarity, errors=errors, rng=rng)
    ordering.take(answers)
    return ordering.resolved
