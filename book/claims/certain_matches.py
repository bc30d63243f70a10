"""Claims of the appendix *Similarities that prove a match*."""

import numpy as np
import sympy as sp

import crowder as cr
from book.claims.lower_bound import undetermined
from book.claims.lower_bound_proofs import LIMIT
from book.companion.claims import also, bounded, identity, inequality, of_chapter, says, simulation
from crowder.counting.determined_pairs import certain_mass, expected_undetermined

claim, check = of_chapter(__name__)

CERTAIN = "test_determined_pairs.py::"


def _simulated(means, repetitions, laws, most):
    """`means`: a row for each of `laws`, of simulated data sets; `most`: the bounds on the questions."""
    variance = []  # a sum of independent zeros and ones, one with probability (1 - p)^(t - 1)
    for model, sizes in laws:
        missed = [((1 - 2 * model.epsilon) / (1 - model.epsilon)) ** np.arange(size) for size in sizes]
        missed = np.concatenate(missed)
        variance.append((missed * (1 - missed)).sum())
    proved = means["alone"]
    spread = np.sqrt((proved * (1 - proved) + 1 / repetitions) / repetitions)  # with slack near 0 and 1
    yield simulation(
        f"records without a determined match, {len(laws[0][1])} clusters, {len(means)} settings", means["without"],
        np.sqrt(np.array(variance) / repetitions), [expected_undetermined(*law) for law in laws], size=repetitions,
        limit=LIMIT,
    )  # fmt: skip
    yield bounded("mean questions against $\\min\\{k^2/p, nk\\}$, same data", means["asked"], most)
    yield simulation("share of data sets whose similarities determine everything", means["proved"], spread, proved,
                     size=repetitions, limit=LIMIT)  # fmt: skip


@claim("B38")
def questions_with_determined_matches(means=None, repetitions=1, clusters=5):
    """`means`: a row for each ε and n, of simulated data sets with equal clusters; without them, only formulas."""
    settings = [(0.05, 5), (0.2, 2), (0.2, 40)]
    if means is not None:
        settings = [(v, int(r) // clusters) for v, r in zip(means["epsilon"], means["n"], strict=True)]
    laws = [(cr.dist2(v), [size] * clusters) for v, size in settings]
    p, t = sp.symbols("p t", positive=True)
    terms = (1 - (1 - p) ** t) / p  # of the series
    yield identity("the geometric series, by induction", terms.subs(t, t + 1) - terms - (1 - p) ** t,
                   (terms.subs(t, 0), 0))  # fmt: skip
    yield inequality("it is at most $1/p$, and at most 1 for each term", 1 / p - terms, 1 - (1 - p) ** t,
                     over={p: (0, 1)})  # fmt: skip
    yield also(says(undetermined(laws), f"The computed mean number of records without a proof equals the series in all "
                                        f"{len(laws)} settings."))  # fmt: skip
    if means is not None:
        most = [clusters * min(clusters * size, clusters * (1 - v) / v) for v, size in settings]
        for piece in _simulated(means, repetitions, laws, most):
            yield also(piece)
