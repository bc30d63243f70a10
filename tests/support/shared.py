"""What several test modules use: random models, and F1."""

import numpy as np
from hypothesis import strategies as st

import crowder as cr


@st.composite
def step_models(draw, most=6):
    """A random model, with empty steps allowed."""
    m = draw(st.integers(1, most))
    cuts = draw(st.lists(st.integers(1, 99), min_size=m - 1, max_size=m - 1, unique=True))
    edges = [0.0, *sorted(cut / 100 for cut in cuts), 1.0]
    weights = st.lists(st.integers(0, 5), min_size=m, max_size=m).filter(any)
    masses = [np.array(draw(weights), dtype=float) for _ in range(2)]
    green, red = (mass / mass.sum() / np.diff(edges) for mass in masses)
    return cr.SimilarityModel.from_steps(edges, green, red)


def f1(clusters, labels):
    """F1 over pairs of records."""
    i, j = np.triu_indices(len(labels), 1)
    found, true = clusters[i] == clusters[j], labels[i] == labels[j]
    return 2 * (found & true).sum() / (found.sum() + true.sum())
