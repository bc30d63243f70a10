r"""Lower bounds for all algorithms, from how well similarities distinguish two clusters without any question.

Consider one record and two clusters that it may belong to. Its similarities to the right one are drawn from f_g, those
to the other from f_r; the two hypotheses swap the roles (proof of Theorem 1). All results here depend on the distance
between these two product measures.
"""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from crowder import validation
from crowder.counting.bounds import geometric_sum
from crowder.densities import common_steps
from crowder.models import SimilarityModel

__all__ = ["Chain", "TwoSided", "chain", "evidence", "hidden_size", "product_tv", "question_bound", "two_sided_bound"]

#: The largest number of outcomes that are listed.
MOST_OUTCOMES = 5_000_000


def evidence(model: SimilarityModel, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""The possible likelihood ratios of `size` similarities, with their probabilities.

    Only the number of similarities on each step matters, and steps with the same :math:`f_g/f_r` are combined.

    Parameters
    ----------
    model : SimilarityModel
    size : int
        Number of similarities, at least 0.

    Returns
    -------
    log_ratio, green, red : ndarray, shape (outcomes,)
        Logarithm of the likelihood ratio, ascending, from -inf to inf; probability if all are drawn from f_g; and if
        all are drawn from f_r.

    Raises
    ------
    ValueError
        If `size` is negative, or there are too many outcomes to list.
    TypeError
        If `size` is not a whole number.

    Notes
    -----
    With c different ratios there are :math:`\binom{size + c - 1}{c - 1}` outcomes; the cost is that of sorting them.

    Examples
    --------
    >>> from crowder.models import dist1
    >>> log_ratio, green, red = evidence(dist1(0.5), 2)
    >>> green.round(4), red.round(4)
    (array([0.0625, 0.375 , 0.5625]), array([0.5625, 0.375 , 0.0625]))
    """
    size = validation.whole(size, "size")
    g, r = _ratio_classes(model)
    if (outcomes := comb(size + len(g) - 1, len(g) - 1)) > MOST_OUTCOMES:
        raise ValueError(f"size {size} has too many outcomes to list, {outcomes:,} with {len(g)} likelihood ratios")
    counts = _compositions(size, len(g))
    ways = gammaln(size + 1) - gammaln(counts + 1.0).sum(axis=1)
    log_green, log_red = (ways + xlogy(counts, mass).sum(axis=1) for mass in (g, r))
    possible = np.maximum(log_green, log_red) > -np.inf
    log_green, log_red = log_green[possible], log_red[possible]
    log_ratio = log_green - log_red
    order = np.argsort(log_ratio, kind="stable")
    return log_ratio[order], np.exp(log_green[order]), np.exp(log_red[order])


def product_tv(model: SimilarityModel, a: int, b: int | None = None) -> float:
    r"""Total variation distance of :math:`f_g^{a} \otimes f_r^{b}` and :math:`f_r^{a} \otimes f_g^{b}`, exactly.

    These are the distributions of a record's similarities to two clusters of sizes a and b, if it belongs to one or the
    other. The best test is correct with probability :math:`\frac12(1 + \mathrm{TV})`.

    Parameters
    ----------
    model : SimilarityModel
    a, b : int
        Sizes; b defaults to a.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As for `evidence`.

    Notes
    -----
    With :math:`\rho` the likelihood ratios of the two clusters, the first distribution is larger where
    :math:`\rho_x > \rho_y`, so :math:`\mathrm{TV} = \sum_x g_x \Pr_r(\rho_y < \rho_x) - r_x \Pr_g(\rho_y < \rho_x)`:
    one pass over sorted outcomes.

    Examples
    --------
    >>> from crowder.models import dist2
    >>> round(product_tv(dist2(0.2), 1), 6)  # 1 - (1 - ε/(1-ε))²
    0.4375
    """
    x, g_x, r_x = evidence(model, a)
    y, g_y, r_y = evidence(model, a if b is None else b)
    below = np.searchsorted(y, x, side="left")
    green_below, red_below = (np.append(0.0, np.cumsum(mass))[below] for mass in (g_y, r_y))
    return float(np.clip(g_x @ red_below - r_x @ green_below, 0.0, 1.0))


def hidden_size(model: SimilarityModel) -> int:
    r"""The cluster size :math:`a = \lfloor 1/(8H^2) \rfloor` of the proof of Theorem 1; 0 where :math:`H^2 > \frac18`.

    Raises
    ------
    ValueError
        If f_g = f_r, for which the size is infinite.

    Examples
    --------
    >>> from crowder.models import dist2
    >>> [hidden_size(dist2(epsilon)) for epsilon in (1 / 20, 1 / 10, 1 / 5)]  # the values of ε in Table 1
    [2, 1, 0]
    """
    if (h2 := model.hellinger2) == 0:
        raise ValueError("model must have f_g different from f_r; otherwise similarities carry no information")
    return int(1 / (8 * h2) * (1 + 1e-12))  # a whole quotient may be rounded down


class Chain(NamedTuple):
    r"""The chain of the proof of Theorem 1 for one model and one size, each entry at most the next.

    Attributes
    ----------
    size : int
        a, the size of both clusters.
    tv : float
        The total variation distance.
    affine : float
        :math:`\sqrt{1 - (1-H^2)^{4a}}`, by the Cauchy-Schwarz inequality.
    hellinger : float
        :math:`\sqrt2\,H(P', P'')`, with :math:`H^2(P', P'') = 1 - (1-H^2)^{2a}`.
    subadditive : float
        :math:`\sqrt{4aH^2}`, since :math:`H^2(P', P'') \le 2aH^2`. For the a of the proof at most :math:`1/\sqrt2`.
    """

    size: int
    tv: float
    affine: float
    hellinger: float
    subadditive: float


def chain(model: SimilarityModel, size: int | None = None) -> Chain:
    """The exact distance and its three bounds; `size` defaults to that of the proof (`hidden_size`).

    Examples
    --------
    >>> from crowder.models import dist1
    >>> [round(float(value), 3) for value in chain(dist1(0.25))]
    [3.0, 0.45, 0.567, 0.593, 0.617]
    """
    a = hidden_size(model) if size is None else size
    h2 = model.hellinger2
    affinity = (1 - h2) ** (2 * a)
    return Chain(
        a, product_tv(model, a), float(np.sqrt(1 - affinity**2)), float(np.sqrt(2 * (1 - affinity))),
        float(np.sqrt(4 * a * h2)),
    )  # fmt: skip


def question_bound(model: SimilarityModel, n: int, k: int, *, error: float = 0.0) -> float:
    r"""A lower bound on the expected questions of every algorithm, for some partition of n records into k clusters.

    The algorithm knows f_g, f_r, k and all similarities, may be randomised, and may err with probability at most
    `error` on each partition. With :math:`q = (1 - H^2)^4` it is the larger of

    .. math:: \max_{1 \le m \le n-k} \frac{m(k-2)}2 \Bigl[\tfrac12\Bigl(1 - \sqrt{1 - q^{1 + (m-1)/(k-1)}}\Bigr)
        - \delta\Bigr] \quad\text{and}\quad \frac{(k-2)(k+1)}2\Bigl[\tfrac12\bigl(1-\sqrt{1-q}\bigr) - \delta\Bigr].

    The first hides m records in k - 1 small clusters, the second one match among k records.

    Parameters
    ----------
    model : SimilarityModel
    n, k : int
        1 ≤ k ≤ n.
    error : float
        :math:`\delta`.

    Returns
    -------
    float
        0 for k = n, and for k ≤ 2, where similarities may determine the clustering.

    Raises
    ------
    ValueError
        If not 1 ≤ k ≤ n, or `error` is not a probability.

    Notes
    -----
    O(n). Replaces the sketch after Theorem 1 by a bound with explicit constants.

    Examples
    --------
    >>> from crowder.models import dist1, uniform
    >>> round(question_bound(uniform(), 1200, 14), 1), round(question_bound(dist1(0.05), 1200, 14), 1)
    (3558.0, 1395.0)
    """
    n, k = validation.whole(n, "n"), validation.whole(k, "k")
    validation.model(model)
    validation.probability(error, "error")
    if not 1 <= k <= n:
        raise ValueError(f"k must be from 1 to n, but {n} records cannot form {k} clusters")
    if k <= 2 or k == n:
        return 0.0
    q = (1 - model.hellinger2) ** 4
    m = np.arange(1, n - k + 1)
    hidden = m * (k - 2) / 2 * (_least_error(q ** (1 + (m - 1) / (k - 1))) - error)
    return float(max(hidden.max(), (k - 2) * (k + 1) / 2 * (_least_error(q) - error), 0.0))


class TwoSided(NamedTuple):
    """How many questions n records in k clusters take.

    Attributes
    ----------
    lower : float
        Every algorithm that is never wrong asks at least as many in expectation, on some partition.
    upper : float
        Placing records by evidence asks at most as many in expectation, on every partition.
    """

    lower: float
    upper: float


def two_sided_bound(model: SimilarityModel, n: int, k: int) -> TwoSided:
    r"""A lower bound for all exact algorithms and an upper bound for one, of the same order, without a logarithm.

    Both are of the order of :math:`n + \min\{k^2/H^2, nk\}`, the lower at least 1/4050 of it, the upper at most 1:

    .. math:: \text{lower} = \max\{n - k, \texttt{question\_bound}\}, \qquad \text{upper} = n - k + \binom k2
        \Bigl[1 + (1-H^2)^2\, \frac{1 - (1-H^2)^{2n/k-2}}{H^2}\Bigr].

    Parameters
    ----------
    model : SimilarityModel
        Densities that are known to the algorithm, vanish on the same set, and have :math:`0 < H^2 \le \frac14`.
    n, k : int
        3 ≤ k < n.

    Returns
    -------
    TwoSided

    Raises
    ------
    ValueError
        If one of these conditions is not met; the message says which, and what holds instead.

    See Also
    --------
    crowder.counting.bounds.evidence_bound : the upper bound for given cluster sizes and any densities.

    Notes
    -----
    O(n). The upper bound is Theorem A of the chapter "Four results beyond the paper", for clusters of n/k records, the
    worst case. The lower bound is the paper's Corollary 1 as corrected in the chapter "The lower bound".

    Examples
    --------
    >>> from crowder.models import dist1
    >>> [round(bound) for bound in two_sided_bound(dist1(0.5), 1000, 10)]
    [990, 1287]
    """
    n, k = validation.whole(n, "n"), validation.whole(k, "k")
    h2 = validation.model(model).hellinger2
    if not 3 <= k < n:
        raise ValueError(f"k must be from 3 to n - 1, not {k} with n = {n}: two clusters may need no question")
    _, green, red = common_steps(model.green, model.red)
    if h2 == 0:
        raise ValueError("model must have f_g different from f_r, H² > 0; without information nk - k(k+1)/2 questions "
                         "are enough, and of the order of nk are needed")  # fmt: skip
    if ((green > 0) != (red > 0)).any():
        raise ValueError("model must have densities that vanish on the same set: otherwise a similarity may "
                         "prove a match, and n - k questions are not needed; evidence_bound still holds")  # fmt: skip
    if h2 > 1 / 4:
        raise ValueError(f"model must have H² <= 1/4, not {h2:.3g}: the lower bound is for similarities that overlap")
    upper = n - k + comb(k, 2) * (1 + float(geometric_sum(h2, 2 * n / k - 2)))
    return TwoSided(max(float(n - k), question_bound(model, n, k)), upper)


def _least_error(affinity_squared: Any) -> Any:
    """A lower bound on the error probability of the best test: half of 1 - sqrt(1 - affinity²)."""
    return (1 - np.sqrt(1 - affinity_squared)) / 2


def _ratio_classes(model: SimilarityModel) -> tuple[np.ndarray, np.ndarray]:
    """Masses under f_g and f_r of the sets on which f_g/f_r is constant."""
    edges, g, r = common_steps(model.green, model.red)
    some = (g > 0) | (r > 0)
    width, g, r = np.diff(edges)[some], g[some], r[some]
    # The share of f_g, between 0 and 1, represents the ratio; it is rounded, as float heights do not divide exactly.
    kind = np.unique(np.round(g / (g + r), 13), return_inverse=True)[1]
    return np.bincount(kind, width * g), np.bincount(kind, width * r)


def _compositions(total: int, parts: int) -> np.ndarray:
    """All ways to write `total` as an ordered sum of `parts` numbers from 0 up, as rows."""
    rows = np.zeros((1, 0), dtype=np.int64)
    left = np.array([total])
    for _ in range(parts - 1):
        repeats = left + 1
        start = np.repeat(np.cumsum(repeats) - repeats, repeats)
        here = np.arange(repeats.sum()) - start
        rows = np.column_stack([np.repeat(rows, repeats, axis=0), here])
        left = np.repeat(left, repeats) - here
    return np.column_stack([rows, left])
