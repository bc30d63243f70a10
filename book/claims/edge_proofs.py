"""Claims of the appendix *Edge ordering: two proofs*."""

import numpy as np

import crowder as cr
from book.claims.edge_ordering import BOUNDS, exact_D
from book.companion.claims import agreement, bounded, of_chapter
from crowder.counting.bounds import disconnected

claim, check = of_chapter(__name__)


@claim(
    "B45",
    place="beyond the paper",
    status="holds", basis="exact",
    statement=r"""Without information, a cluster of $m$ is not yet connected when a given non-match comes up with
        probability $D(m) \le (\ln m + \gamma)/m$, for $m$ from 2 to 1,000.""",
    code=[disconnected],
    test=BOUNDS + "test_chance_to_be_in_pieces",
)  # fmt: skip
def prob_of_being_disconnected(largest=100):
    """`largest`: the largest m."""
    m = np.arange(2, largest + 1)
    D = disconnected(cr.uniform(), m)
    yield bounded(rf"$m\,D(m)$ against $\ln m + \gamma$, $m$ from 2 to {largest:,}", m * D, np.log(m) + np.euler_gamma)
    yield agreement("$D(2), D(3), D(4)$ over all graphs", D[:3],
                    [exact_D(cr.uniform(), few) for few in (2, 3, 4)], tolerance=1e-12)  # fmt: skip
