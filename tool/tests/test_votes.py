"""Clusters from votes: transitive closure where nothing contradicts, and nothing else changed where something does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowder as cr
from crowder_tool.votes import settle


def closure(n, matches):
    """Naive: Warshall's closure, and the first record of each cluster."""
    together = np.eye(n, dtype=bool)
    for i, j in matches:
        together[i, j] = together[j, i] = True
    for v in range(n):
        together |= together[:, [v]] & together[[v]]
    return together


def latest(votes):
    """Naive: the votes that count, by pair and worker."""
    return {(min(i, j), max(i, j), worker): same for i, j, same, worker in votes}


@st.composite
def crowds(draw):
    n = draw(st.integers(2, 7))
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] != pair[1])
    vote = st.tuples(pair, st.sampled_from([True, False, None]), st.sampled_from(["ann", "bob", None]))
    return n, [(*pair, *rest) for pair, *rest in draw(st.lists(vote, max_size=14))]


@given(crowds())
@settings(deadline=None, max_examples=150)
def test_only_what_answers_contradict_is_clustered_otherwise(crowd):
    """Against definitions written out naively, for votes at random."""
    n, votes = crowd
    settled = settle(n, votes)
    counted = latest(votes)
    by_pair = {}
    for (i, j, _), same in counted.items():
        by_pair.setdefault((i, j), []).append(same)
    score = {pair: said.count(True) - said.count(False) for pair, said in by_pair.items()}
    assert sorted(settled.unsure) == sorted(pair for pair in score if not score[pair])
    assert sorted(settled.split) == sorted(pair for pair, said in by_pair.items() if {True, False} <= set(said))
    assert sorted(settled.pairs) == sorted(pair for pair in score if score[pair])
    together = closure(n, [pair for pair in score if score[pair] > 0])
    wrong = {pair for pair in score if score[pair] < 0 and together[pair]}
    found = settled.clusters[:, None] == settled.clusters
    assert settled.contradicted == [pair for pair in settled.pairs if (score[pair] > 0) != found[pair]]
    assert bool(wrong) == bool(settled.contradicted)
    affected = np.array([any(together[r, i] for i, _ in wrong) for r in range(n)])
    assert (found == together)[~affected].all() and not (found & ~together).any()
    # The answers imply the clusters, and an ordering that learns them has the same.
    assert settled.same == [bool(found[pair]) for pair in settled.pairs]
    ordering = cr.EdgeOrdering(np.zeros(n * (n - 1) // 2), rng=1)
    for pair, same in zip(settled.pairs, settled.same, strict=True):
        ordering.learn(pair, same)
    assert ordering.resolution.clusters.tolist() == settled.clusters.tolist()


def test_a_wrong_yes_between_two_clusters_is_outvoted_by_the_answers_around_it():
    """Two groups of five, every pair within each answered yes; one yes across them and two answers no."""
    votes = [(i, j, True, "ann") for c in (0, 5) for i in range(c, c + 5) for j in range(i + 1, c + 5)]
    votes += [(0, 5, True, "bob"), (1, 6, False, "ann"), (2, 7, False, "ann"), (10, 11, True, "eve")]
    settled = settle(12, votes)
    assert settled.clusters.tolist() == [0] * 5 + [1] * 5 + [2, 2]
    assert settled.contradicted == [(0, 5)] and not settled.same[settled.pairs.index((0, 5))]


@pytest.mark.parametrize(("vote", "error", "message"), [
    ((1, 1, True, "a"), ValueError, "a pair must be two different records"),
    ((0, 1, "yes", "a"), TypeError, "same must be True or False, not 'yes'"),
])  # fmt: skip
def test_votes_of_another_form_are_refused(vote, error, message):
    with pytest.raises(error, match=message):
        settle(3, [vote])
