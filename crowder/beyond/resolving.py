"""Clusters from answers that exist already and may contradict one another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.answers import Answers
from crowder.beyond.noisy_ordering import MOST_RECORDS, NoisyOrdering, Resolved
from crowder.pairs import candidates
from crowder.validation import Seed

__all__ = ["resolve"]


def resolve(
    answers: Any,
    similarity: ArrayLike | None = None,
    *,
    n: int | None = None,
    rng: Seed,
) -> Resolved:
    """The likeliest clusters, given answers that exist already.

    Parameters
    ----------
    answers : Answers, DataFrame or iterable of tuple
        As `Answers.read` takes them: the numbers of two records, "yes", "no" or "unsure", and perhaps the worker.
    similarity : array_like, optional
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1]. It helps where the answers leave doubt.
    n : int, keyword only
        The number of records. By default that of the similarity, otherwise one more than the largest one named.
    rng : int or numpy.random.Generator, keyword only
        Draws the starts of the search.

    Returns
    -------
    Resolved

    Raises
    ------
    ValueError, TypeError
        As `Answers.read`; if the answers name records that do not exist; if `n` is not that of the similarity; or if
        there are more than 4,000.

    See Also
    --------
    crowder.beyond.NoisyOrdering : also chooses the questions.
    crowder.beyond.Answers : the answers, and what may be wrong with a table of them.

    Notes
    -----
    Rates and clusters are learned in turn, at most `crowder.beyond.noisy_ordering.ROUNDS` times: O(a + n²) for each
    round, with a answers; memory O(n²). Somebody chose the pairs, perhaps because they are alike: without similarities,
    the share of matches among them is the prior of a match, and clusters that nobody compared with a record are not
    taken for its own.

    If the answers contradict the clusters as often as if they had nothing to do with the records
    (`crowder.beyond.error_rates.informative`), the clusters are still the likeliest if they have, but ``given_others``
    is small.

    Examples
    --------
    One of three workers contradicts the others:

    >>> rows = [(i, j, "yes", who) for i, j in [(0, 1), (0, 2), (1, 2), (3, 4)] for who in ("ann", "bob")]
    >>> rows += [(i, j, "no", who) for i, j in [(0, 3), (1, 4), (2, 3)] for who in ("ann", "bob")]
    >>> rows += [(0, 1, "no", "eve"), (1, 4, "yes", "eve"), (3, 4, "unsure", "eve")]
    >>> result = resolve(rows, rng=7)
    >>> result.clusters, result.given_others.round(2)
    (array([0, 0, 0, 1, 1]), array([0.84, 0.84, 0.84, 0.81, 0.81]))
    """
    given = None if n is None else validation.whole(n, "n, the number of records,")
    pairs = None if similarity is None else candidates(similarity)
    if pairs is not None:
        if given not in (None, pairs.n):
            raise ValueError(f"n must be {pairs.n}, the number of records of similarity, not {given}; leave it out")
        given = pairs.n
    if not isinstance(answers, Answers):
        answers = Answers.read(answers, given)
    records = answers.n if given is None else given
    if records < answers.n:
        what = "n" if pairs is None else "the number of records of similarity"
        raise ValueError(f"{what} must be at least {answers.n}, since the answers name record {answers.n - 1}")
    if records > MOST_RECORDS:
        raise ValueError(f"answers must be about at most {MOST_RECORDS:,} records, not {records:,}; number those that "
                         "they name 0, 1, 2, ..., or resolve groups that no answer connects one by one")  # fmt: skip
    values = np.zeros((records, records)) if similarity is None else similarity
    ordering = NoisyOrdering(values, rng=rng)
    ordering.take(answers)
    return replace(ordering.resolved, n_answers=len(answers))
