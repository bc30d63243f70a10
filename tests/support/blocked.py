"""Candidate pairs as blocking leaves them, for tests."""

import numpy as np
from scipy import sparse


def blocked(sizes, pairs, model, *, rng):
    """All matching pairs of clusters of these sizes, in random order, and random others: `pairs` in total."""
    rng = np.random.default_rng(rng)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    i, j = np.triu_indices(len(labels), 1)
    match = labels[i] == labels[j]
    chosen = match.copy()
    chosen[rng.choice(np.flatnonzero(~match), pairs - match.sum(), replace=False)] = True
    values = np.where(match, model.green.sample(len(i), rng=rng), model.red.sample(len(i), rng=rng))
    return sparse.coo_array((values[chosen], (i[chosen], j[chosen])), shape=(len(labels), len(labels))), labels
