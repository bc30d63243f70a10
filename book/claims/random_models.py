"""Claims of the appendix *A search among random models*."""

import numpy as np
import pandas as pd

import crowder as cr
from book.claims.edge_ordering import BOUNDS, TINY
from book.companion.claims import bounded, of_chapter, says
from book.companion.edge_bounds import gap_model, repaired_bound, small_models
from crowder.counting.bounds import edge_tree_bound

claim, check = of_chapter(__name__)

#: Where a bound and a count are equal, they differ only by rounding.
DIGITS = 1 - 1e-10


def dominates(model):
    """Whether F_g <= F_r everywhere."""
    ends = np.array(model.green.edges, dtype=float)
    return bool((model.green.cdf(ends) <= model.red.cdf(ends)).all())


def _small_search():
    """Exact counts and bounds of a few small instances."""
    instances = [(model, sizes) for model in small_models() for sizes in (*TINY, [9, 9], [20, 3])]
    rows = []
    for model, sizes in [*instances, (gap_model(0.02), [38, 37])]:
        likely = dominates(model)
        rows.append({
            "exact": cr.expected_queries(model, sizes),
            "corrected": cr.edge_bound(model, sizes, printed=False),
            "tree": edge_tree_bound(model, sizes) if likely else np.nan, "repaired": repaired_bound(model, sizes),
        })  # fmt: skip
    return pd.DataFrame(rows)


@claim("B49")
def bounds_of_random_models(search=None):
    """`search`: exact counts and bounds of random models."""
    search = _small_search() if search is None else search
    likely = search[search["tree"].notna()]
    bounds = {"repaired": (search, "{eq}`eq-edge-repaired`"), "corrected": (search, "{eq}`eq-edge-corners`"),
              "tree": (likely, "{eq}`eq-edge-likely`, where $F_g \\le F_r$")}  # fmt: skip
    for bound, (part, name) in bounds.items():
        piece = bounded(f"{len(part)} random models, exact counts against {name}", part["exact"] * DIGITS, part[bound])
        if bound == "corrected":
            most = (part["exact"] / part[bound]).max()
            piece = says(piece, f"None of {len(part)} random models exceeds the bound for every model; the closest "
                                f"comes to {most:.1%} of it.")  # fmt: skip
        yield piece
