"""What stopping without a model estimates, and what it has missed: edge ordering, a perfect crowd, real similarities.

    python -m book.companion.learned_stops [FOLDER]     writes book/data/measured/learned_stops.csv

That file has the runs on the two crowds of `book.companion.crowds`, whose similarities the book may not ship; FOLDER is
theirs. cora's are shipped, and a chapter runs them itself.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd

import crowder as cr
from book.companion import crowds

__all__ = ["RECORDED", "learned_stop", "on_crowds", "recorded"]

RECORDED = crowds.RECORDED.with_name("learned_stops.csv")
DELTA = 0.01
#: Orders of tied pairs on each crowd.
TIES = 10


def learned_stop(name: str, labels: np.ndarray, similarity: np.ndarray, rng: int) -> dict[str, object]:
    """One run with densities learned from the answers: questions to the end and until it stops, the matching pairs of
    records, and how many of them are missed, as estimated and in truth.

    Examples
    --------
    >>> row = learned_stop("three", np.array([0, 0, 1]), np.array([0.9, 0.1, 0.2]), rng=1)
    >>> row["to the end"], row["questions"], row["matches"], row["missed"]
    (2, 2, 1, 0)
    """
    crowd = cr.Truth(labels)
    run = cr.Stopping(cr.EdgeOrdering(similarity, rng=rng), run_delta=DELTA).run(crowd)
    matches = sum(int(m) * (int(m) - 1) // 2 for m in np.bincount(labels))
    return {
        "similarities": name,
        "run": rng,
        "to the end": cr.edge_ordering(similarity, crowd, rng=rng).n_queries,
        "questions": run.n_queries,
        "matches": matches,
        "chance": run.run_estimate,
        "estimated": run.missed_estimate,
        "missed": round((1 - float(run.recall(labels)[-1])) * matches),
    }


def on_crowds(folder: str | os.PathLike[str]) -> pd.DataFrame:
    """What is recorded: both crowds' similarities, with several orders of ties."""
    read = [crowds.read(folder, name) for name in ("gym", "allsports")]
    return pd.DataFrame([learned_stop(c.name, c.labels, c.similarity, rng) for c in read for rng in range(TIES)])


def recorded() -> pd.DataFrame:
    """The runs that were recorded last."""
    return pd.read_csv(RECORDED)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get(crowds.VARIABLE),
                        help=f"by default {crowds.VARIABLE}")  # fmt: skip
    folder = parser.parse_args().folder
    if not folder or not Path(folder).is_dir():
        parser.error(f"name the folder of the crowds, or set {crowds.VARIABLE}")
    on_crowds(folder).round(9).to_csv(RECORDED, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
