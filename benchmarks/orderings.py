"""How long both orderings take to resolve cora, in units of one `numpy.argsort` of the same similarities.

    python benchmarks/orderings.py [--quick] [--results FOLDER]     or, with the others, `make bench`

Times mean little on a shared machine, so the three take turns, and what counts is the ratio within a turn.

Columns of orderings.csv: contestant, n, k, pairs, questions, seconds (median processor time), ratio (the median), low
and high (its quartiles), versions.
"""

from __future__ import annotations

from time import process_time

import numpy as np
import pandas as pd
from common import arguments, results_folder, versions

import crowder as cr


def main() -> None:
    options = arguments(__doc__).parse_args()
    data = cr.datasets.cora()
    w, truth = data.similarity, cr.Truth(data.labels)
    contestants = {
        "argsort": lambda: np.argsort(data.condensed)[:0].size,  # no questions
        "edge": lambda: cr.edge_ordering(w, truth, rng=7).n_queries,
        "node": lambda: cr.node_ordering(w, truth, rng=7).n_queries,
    }
    questions = {name: run() for name, run in contestants.items()}  # compiles, or loads compiled code
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(3 if options.quick else 15):
        for name, run in contestants.items():
            start = process_time()
            run()
            taken[name].append(process_time() - start)
    rows = []
    for name, seconds in taken.items():
        low, ratio, high = np.quantile(np.array(seconds) / taken["argsort"], [0.25, 0.5, 0.75])
        rows.append({
            "contestant": name, "n": data.n, "k": len(data.sizes), "pairs": len(data.condensed),
            "questions": questions[name], "seconds": np.median(seconds), "ratio": ratio, "low": low, "high": high,
        })  # fmt: skip
    table = pd.DataFrame(rows).assign(versions=versions("numpy", "numba"))
    table.to_csv(results_folder(options) / "orderings.csv", index=False, float_format="%.4g", lineterminator="\n")
    print(table.drop(columns="versions").to_string(index=False))


if __name__ == "__main__":
    main()
