"""Votes of members and control queries: right with a perfect crowd, what is asked, and what it buys against errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crowder as cr
from crowder.beyond import others
from crowder.beyond.others import MemberVotes, control_queries


class Log:
    """A crowd that knows the truth, and which pairs it was asked about."""

    def __init__(self, labels):
        self.labels, self.pairs = labels, []

    def __call__(self, i, j):
        self.pairs.append(frozenset((i, j)))
        return self.labels[i] == self.labels[j]


def drawn(n, seed):
    """A similarity that is independent of the labels."""
    return np.random.default_rng(seed).random(n * (n - 1) // 2)


def as_lists(clusters):
    return cr.Resolution([], [], clusters).clusters.tolist()


# --- votes of members -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [cr.EdgeOrdering, cr.NodeOrdering])
@pytest.mark.parametrize("early", [False, True])
@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.sampled_from([1, 3, 7]), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_a_perfect_crowd_gives_the_truth_and_no_pair_is_asked_twice(kind, early, labels, votes, seed):
    log, ordering = Log(labels), kind(drawn(len(labels), seed), rng=seed)
    crowd = MemberVotes(log, votes, ordering, early=early)
    run = ordering.run(crowd)
    assert run.clusters.tolist() == as_lists(labels)
    assert len(log.pairs) == len(set(log.pairs)) == crowd.asked <= run.n_queries * votes
    assert as_lists(crowd.second_look(run.clusters, rng=seed)) == run.clusters.tolist()
    assert len(log.pairs) == len(set(log.pairs)) == crowd.asked


def test_which_pairs_are_asked():
    """Record 3 against {0, 1, 2}: its own question first, then the other members; with two members only one counts."""
    log, ordering = Log([0] * 4), cr.NodeOrdering([1.0, 0.5, 0.2, 0.5, 0.3, 0.2], ties="index", order=[0, 1, 2, 3])
    run = ordering.run(MemberVotes(log, 5, ordering, early=False))
    assert run.queries.tolist() == [[1, 0], [2, 0], [3, 1]]
    # 2 against {0, 1} has two pairs, and of an even number the last is left out.
    assert [sorted(pair) for pair in log.pairs] == [[0, 1], [0, 2], [1, 3], [0, 3], [2, 3]]


def test_one_vote_is_the_question_itself():
    data = cr.datasets.synthetic([8] * 5, cr.dist2(0.2), rng=1)
    faulty = cr.Faulty(cr.Truth(data.labels), 0.2, rng=3, persistent=True)
    one, ordering = cr.edge_ordering(data.similarity, faulty, rng=1), cr.EdgeOrdering(data.similarity, rng=1)
    assert np.array_equal(one.queries, ordering.run(MemberVotes(faulty, 1, ordering)).queries)


def test_an_early_end_changes_no_answer():
    data = cr.datasets.synthetic([12] * 4, cr.dist2(0.3), rng=2, shuffle=True)
    ends, cost = [], []
    for early in (False, True):
        ordering = cr.NodeOrdering(data.similarity, rng=1)
        faulty = cr.Faulty(cr.Truth(data.labels), 0.2, rng=5, persistent=True)
        crowd = MemberVotes(faulty, 7, ordering, early=early)
        ends.append(ordering.run(crowd).clusters)
        cost.append(crowd.asked)
    assert np.array_equal(*ends) and cost[1] < cost[0]
    with pytest.raises(ValueError, match="votes must be an odd number"):
        MemberVotes(faulty, 4, ordering)


@pytest.mark.parametrize("seed", range(8))
def test_a_second_look_brings_strangers_out_and_parts_together(seed):
    """Two parts have one stranger each, whom all refuse; at most one vote of three or five speaks against the others.

    So the strangers leave, nobody else does, and what is one entity is joined again, the largest part numbered first.
    """
    labels = np.repeat(list("abcd"), [9, 9, 5, 1])
    parts = np.repeat([2, 3, 1, 5, 4], [4, 5, 9, 5, 1])
    parts[0], parts[9] = 1, 2  # the first a among eight b, the first b among three a
    order = np.random.default_rng(seed).permutation(len(labels))
    labels, parts = labels[order], parts[order]
    crowd = Log(labels)
    ordering = cr.EdgeOrdering(drawn(len(labels), seed), rng=seed)
    ends = MemberVotes(crowd, 5, ordering, early=bool(seed % 2)).second_look(parts, rng=seed)
    assert np.array_equal(ends[:, None] == ends, labels[:, None] == labels)
    assert len(crowd.pairs) == len(set(crowd.pairs))
    # Eight b are the largest part when all strangers have left; then five a, who come first of the fives or second.
    assert set(labels[ends == 0]) == {"b"} and set(labels[ends == 3]) == {"d"}


# --- control queries --------------------------------------------------------------------------------------------------


def at_the_end(*args, beta=2.0, confidence=0.95, **settings):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(others, "BETA", beta)
        patch.setattr(others, "CONFIDENCE", confidence)
        *_, clusters = control_queries(*args, **settings)
    return clusters


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.sampled_from([0, 0.5, 1, 3]),
       st.sampled_from([0.5, 0.95]), st.integers(0, 2**32))  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_control_queries_to_a_perfect_crowd(labels, beta, confidence, seed):
    """The truth, and no pair twice. With beta = 0 a yes joins and with confidence ½ a no separates: edge ordering."""
    log, similarity = Log(labels), drawn(len(labels), seed)
    ends = at_the_end(similarity, log, beta=beta, confidence=confidence, rng=seed)
    assert as_lists(ends) == as_lists(labels) and len(log.pairs) == len(set(log.pairs))
    if beta == 0 and confidence == 0.5:
        run = cr.EdgeOrdering(similarity, rng=seed).run(cr.Truth(labels))
        assert log.pairs == [frozenset(pair) for pair in run.queries.tolist()]


@given(st.integers(0, 2**32), st.sampled_from([0.5, 1, 2]))
@settings(max_examples=20, deadline=None)
def test_at_the_end_every_record_has_the_promised_degree_and_fits_in_its_cluster(seed, beta):
    labels = np.repeat(np.arange(4), [12, 8, 3, 1])
    faulty, within = cr.Faulty(cr.Truth(labels), 0.15, rng=seed, persistent=True), np.zeros((24, 2), int)
    answers = []

    def crowd(i, j):
        answers.append((i, j, faulty(i, j)))
        return answers[-1][2]

    clusters = at_the_end(drawn(24, seed), crowd, beta=beta, errors=(0.15, 0.15), rng=seed)
    for i, j, same in answers:
        if clusters[i] == clusters[j]:
            within[[i, j], int(same)] += 1
    size = np.unique(clusters, return_inverse=True, return_counts=True)
    size = size[2][size[1]]
    assert (within.sum(axis=1) >= np.minimum(size - 1, np.ceil(beta * np.log2(size) - 1e-9))).all()
    assert (within[:, 1] >= within[:, 0]).all()  # both rates are equal, so evidence is the number of yes minus no
