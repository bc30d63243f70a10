"""Claims of the appendix *Time in pairs and clusters*."""

import numpy as np

from book.claims.cost import COMPLETE, NAMES, beyond, costs_of_one, predicted
from book.companion.claims import agreement, also, bounded, of_chapter, says, trend
from crowder.orderings import EdgeOrdering, NodeOrdering
from crowder.resolution import ideal_queries

__all__ = ["check"]

claim, check = of_chapter(__name__)


@claim("B153")
def time_in_clusters(by_k=None, costs=None):
    by_k = {way: beyond("clusters", way) for way in NAMES} if by_k is None else by_k
    costs = costs_of_one() if costs is None else costs
    ratio = {way: part["beyond"] / predicted(part, way, costs[way]) for way, part in by_k.items()}
    off = np.exp(np.abs(np.log(np.concatenate([*ratio.values()])))).max()
    for way, part in by_k.items():
        yield says(trend(f"{NAMES[way]}: time over the formula", part["k"], ratio[way], exponent=0, within=0.15),
                   f"From {part['k'].min()} to {part['k'].max():,} clusters every time is within a factor of "
                   f"{off:.2f} of the formula.")  # fmt: skip
    yield also(bounded("every time is within a factor of two of the formula",
                       np.exp(np.abs(np.log(np.concatenate([*ratio.values()])))), 2))  # fmt: skip
    singletons = [part[part["k"] == part["n"]] for part in by_k.values()]
    yield also(agreement("if every record is a singleton, every pair is asked about",
                         [part["questions"].item() for part in singletons],
                         [ideal_queries([1] * part["n"].item()) for part in singletons]))  # fmt: skip
