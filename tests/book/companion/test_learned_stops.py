"""What stopping without a model estimates and misses on real similarities, and what the book recorded of it."""

import numpy as np
import pandas as pd

import crowder as cr
from book.companion import learned_stops


def test_a_row_has_what_a_run_says_and_what_it_missed():
    """The same run, put together by hand: its missed pairs are those of one entity in two clusters."""
    cora = cr.datasets.cora("field-mean")
    row = learned_stops.learned_stop("field-mean", cora.labels, cora.condensed, rng=3)
    run = cr.Stopping(cr.EdgeOrdering(cora.condensed, rng=3), run_delta=0.01).run(cr.Truth(cora.labels))
    together, found = (np.equal.outer(x, x)[np.triu_indices(cora.n, 1)] for x in (cora.labels, run.clusters))
    assert row["missed"] == (together & ~found).sum() > 1000
    assert row["matches"] == together.sum() == cora.matching.sum()
    assert row["questions"] == run.n_queries < row["to the end"]
    assert (row["chance"], row["estimated"]) == (run.run_estimate, run.missed_estimate)


def test_what_is_recorded_is_what_the_runs_give(crowds_path):
    """Wherever the files are: the book shows these numbers where they are not."""
    made = learned_stops.on_crowds(crowds_path)
    pd.testing.assert_frame_equal(made, learned_stops.recorded(), rtol=1e-5, check_dtype=False)
