"""Claims of the chapter *How many questions, exactly*."""

from functools import cache
from itertools import product

import numpy as np
import pandas as pd

import crowder as cr
from book.companion.claims import (
    limit,
    of_chapter,
    trend,
)
from crowder.counting.expected_counts import expected_across

claim, check = of_chapter(__name__)


# --- large clusters ------------------------------------------------------------------------------------------------

#: λ = f_r/f_g at the largest similarities, for the models with growing clusters.
RATIO = {"no information": 1.0, "ε = 0.1": (1 - 0.1) / (1 + 0.1), "ε = ½": (1 - 0.5) / (1 + 0.5)}


@cache
def growing_clusters(sizes=(1, 10, 250, 1000)):
    """Exact counts across two equal clusters, per record."""
    models = {"no information": cr.uniform(), "ε = 0.1": cr.dist1(0.1), "ε = ½": cr.dist1(0.5)}
    rows = [
        (name, ordering, m, expected_across(model, m, m, ordering, nodes=8) / m)
        for (name, model), ordering, m in product(models.items(), ("edge", "node"), sizes)
    ]
    return pd.DataFrame(rows, columns=["model", "ordering", "m", "per record"])


def _curve(growth, name, ordering):
    part = growth[(growth["model"] == name) & (growth["ordering"] == ordering)]
    return part["m"].to_numpy(), part["per record"].to_numpy()


def approach(growth, ordering, constants, within):
    """The counts per record on the way to their limits."""
    for (name, ratio), constant in zip(RATIO.items(), constants, strict=True):
        sizes, values = _curve(growth, name, ordering)
        what = f"{ordering} ordering, {name}: exact count per record, $\\lambda = {ratio:.2g}$, $m$ to {sizes[-1]:,}"
        yield limit(what, sizes, values, float(constant), within=within)


def extrapolated_limits(growth, ordering):
    """The limits of the counts per record, extrapolated from two sizes: the error is of order m^(-2/3), or 1/m for node
    ordering."""
    found = []
    for name in RATIO:
        sizes, values = _curve(growth, name, ordering)
        power = 2 / 3 if ordering == "edge" else 1
        found.append(values[-1] + (values[-1] - values[-2]) / ((sizes[-1] / sizes[-2]) ** power - 1))
    return found


@cache
def _by_iteration(ratio, points=4000, rounds=4000):
    """K(λ) independently: both equations solved by iteration, the integral by the trapezoidal rule."""
    c = 1 + np.linspace(0, 6, points) ** 2
    theta, gamma = np.ones(points), np.zeros(points)
    for _ in range(rounds):
        theta = 1 - np.exp(-c * theta)
        gamma = np.exp(-ratio * c * theta + c * (gamma - 1))
    return ratio * (1 + np.trapezoid((1 - theta) ** 2 + 2 * theta * gamma, c))


def limiting_constants(points):
    return [_by_iteration(ratio, points) for ratio in RATIO.values()]


def decades(growth):
    for name in RATIO:
        sizes, values = _curve(growth, name, "edge")
        yield trend(
            f"$E[Q_{{ij}}]$ of edge ordering against $m$, {name}", sizes, values * sizes, exponent=1, within=0.1
        )
