"""Votes of members: what is asked, what it buys against errors that stay, and what it cannot buy."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

import crowder as cr
from crowder.beyond.member_votes import MemberVote, prob_placed_correctly
from crowder.oracles import majority_error


class Log:
    """A crowd that knows the truth, and which pairs it was asked about."""

    def __init__(self, labels):
        self.labels, self.pairs = labels, []

    def __call__(self, i, j):
        self.pairs.append(frozenset((i, j)))
        return self.labels[i] == self.labels[j]


@pytest.mark.parametrize("kind", [cr.EdgeOrdering, cr.NodeOrdering])
@pytest.mark.parametrize("early", [False, True])
@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.sampled_from([1, 3, 7]), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_a_perfect_crowd_gives_the_truth_and_no_pair_is_asked_twice(kind, early, labels, votes, seed):
    n = len(labels)
    log = Log(labels)
    crowd = MemberVote(log, votes, early=early)
    run = kind(np.random.default_rng(seed).random(n * (n - 1) // 2), rng=seed).run(crowd)
    assert run.clusters.tolist() == cr.Resolution([], [], labels).clusters.tolist()
    assert len(log.pairs) == len(set(log.pairs)) == crowd.asked <= run.n_queries * votes
    again = crowd.reconsider(run.clusters, rng=seed)
    assert cr.Resolution([], [], again).clusters.tolist() == run.clusters.tolist()
    assert len(log.pairs) == len(set(log.pairs)) == crowd.asked


def test_which_pairs_are_asked():
    """Record 3 against {0, 1, 2}: its own question first, then the other members; with two members only one counts."""
    log = Log([0, 0, 0, 0])
    crowd = MemberVote(log, 5)
    run = cr.NodeOrdering([1.0, 0.5, 0.2, 0.5, 0.3, 0.2], ties="index", order=[0, 1, 2, 3]).run(crowd)
    assert run.queries.tolist() == [[1, 0], [2, 0], [3, 1]]
    # 2 against {0, 1} has two pairs, and of an even number the last is left out.
    assert [sorted(pair) for pair in log.pairs] == [[0, 1], [0, 2], [1, 3], [0, 3], [2, 3]]


def test_one_vote_is_the_question_itself():
    labels = np.repeat(np.arange(5), 8)
    data = cr.datasets.synthetic([8] * 5, cr.dist2(0.2), rng=1)
    faulty = [cr.Faulty(cr.Truth(labels), 0.2, rng=3, persistent=True) for _ in range(2)]
    one, many = cr.edge_ordering(data.similarity, faulty[0], rng=1), cr.EdgeOrdering(data.similarity, rng=1)
    assert np.array_equal(one.queries, many.run(MemberVote(faulty[1], 1)).queries)


@pytest.mark.parametrize("error", [Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(1)])
@pytest.mark.parametrize("clusters", [1, 2, 5])
def test_prob_placed_correctly_by_every_pattern(error, clusters):
    """Own cluster at each place of the order, each vote right or wrong: right if the first yes comes from it."""
    total = Fraction(0)
    for own in range(clusters):
        for wrong in product([True, False], repeat=clusters):
            says_yes = [w != (place == own) for place, w in enumerate(wrong)]
            if any(says_yes) and says_yes.index(True) == own:
                total += error ** sum(wrong) * (1 - error) ** (clusters - sum(wrong)) / Fraction(clusters)
    assert prob_placed_correctly(error, clusters) == total
    assert prob_placed_correctly(float(error), clusters) == pytest.approx(float(total))


def test_prob_placed_correctly_in_closed_form():
    e = sp.Symbol("e")
    assert sp.simplify(prob_placed_correctly(e, 7) - (1 - e) * (1 - (1 - e) ** 7) / (7 * e)) == 0
    with pytest.raises(ValueError, match="clusters must be"):
        prob_placed_correctly(0.1, 0)
    with pytest.raises(ValueError, match=r"in \[0, 1\]"):
        prob_placed_correctly(1.5, 3)


@pytest.mark.parametrize("votes", [1, 5])
def test_a_new_record_is_placed_as_often_as_the_formula_says(votes):
    """Four clusters of five are known; record 20, of the first, is new. The order of the clusters is even."""
    k, m, p, trials = 4, 5, 0.3, 1500
    labels = np.append(np.repeat(np.arange(k), m), 0)
    placed = 0
    for seed in range(trials):
        truth = cr.Truth(labels)
        run = cr.NodeOrdering(np.full(210, 0.5), rng=seed, order=range(21))
        crowd = MemberVote(cr.Faulty(truth, p, rng=seed, persistent=True), votes)
        crowd.begin(run)
        while (pair := run.ask()) is not None:
            run.tell(pair, crowd(*pair) if 20 in pair else truth(*pair))
        ends = run.resolution.clusters
        placed += bool(ends[20] == ends[0])
    assert binomtest(placed, trials, prob_placed_correctly(majority_error(votes, p), k)).pvalue > 1e-6


def score(ends, labels):
    """Pairwise precision and recall of a clustering."""
    ends, labels = np.asarray(ends), np.asarray(labels)
    joined, match = ends[:, None] == ends, labels[:, None] == labels
    both = (joined & match).sum() - len(labels)
    return both / max(joined.sum() - len(labels), 1), both / (match.sum() - len(labels))


def test_errors_that_stay_are_mended_where_clusters_are_large():
    """Ten clusters of twenty at p = 0.1: one answer a question throws half of it together; nine members and a second
    look restore nearly all. The gaps are many times the scatter between seeds."""
    scores = {"single": [], "members": [], "reconsidered": []}
    for seed in range(5):
        data = cr.datasets.synthetic([20] * 10, cr.dist2(0.2), rng=seed, shuffle=True)
        faulty = cr.Faulty(cr.Truth(data.labels), 0.1, rng=seed, persistent=True)
        single = cr.edge_ordering(data.similarity, faulty, rng=seed).clusters
        crowd = MemberVote(faulty, 9, early=True)
        run = cr.EdgeOrdering(data.similarity, rng=seed).run(crowd).clusters
        for name, ends in zip(scores, (single, run, crowd.reconsider(run, rng=seed)), strict=True):
            scores[name].append(score(ends, data.labels))
    single, members, mended = (np.mean(scores[name], axis=0) for name in scores)
    assert single.max() < 0.85 and members[0] > 0.95 and members[1] < 0.92 and mended.min() > 0.97


@pytest.mark.parametrize("seed", range(8))
def test_a_second_look_brings_strangers_out_and_pieces_together(seed):
    """Two pieces have one stranger each, whom all refuse; at most one vote of three or five speaks against the others.

    So the strangers leave, nobody else does, and what is one entity is joined again, the largest piece numbered first.
    """
    labels = np.repeat(list("abcd"), [9, 9, 5, 1])
    pieces = np.repeat([2, 3, 1, 5, 4], [4, 5, 9, 5, 1])
    pieces[0], pieces[9] = 1, 2  # the first a among eight b, the first b among three a
    order = np.random.default_rng(seed).permutation(len(labels))
    labels, pieces = labels[order], pieces[order]
    crowd = Log(labels)
    ends = MemberVote(crowd, 5, early=bool(seed % 2)).reconsider(pieces, rng=seed)
    assert np.array_equal(ends[:, None] == ends, labels[:, None] == labels)
    assert len(crowd.pairs) == len(set(crowd.pairs))
    assert np.array_equal(ends, MemberVote(Log(labels), 5).reconsider(pieces, rng=seed))
    # Eight b are the largest piece when all strangers have left; then five a, who come first of the fives or second.
    assert set(labels[ends == 0]) == {"b"} and set(labels[ends == 3]) == {"d"}


def test_an_early_end_changes_no_answer():
    data = cr.datasets.synthetic([12] * 4, cr.dist2(0.3), rng=2, shuffle=True)
    ends, cost = [], []
    for early in (False, True):
        crowd = MemberVote(cr.Faulty(cr.Truth(data.labels), 0.2, rng=5, persistent=True), 7, early=early)
        ends.append(cr.NodeOrdering(data.similarity, rng=1).run(crowd).clusters)
        cost.append(crowd.asked)
    assert np.array_equal(*ends) and cost[1] < cost[0]


def test_what_is_refused():
    with pytest.raises(ValueError, match="votes must be"):
        MemberVote(lambda i, j: True, 4)
    with pytest.raises(ValueError, match="begin must be called"):
        MemberVote(lambda i, j: True, 3)(0, 1)
    with pytest.raises(ValueError, match="labels for 2 records"):
        cr.EdgeOrdering([0.5, 0.5, 0.5], rng=1).run(MemberVote(cr.Truth([0, 1]), 3))
    with pytest.raises(TypeError, match="must be True, False or None"):
        cr.EdgeOrdering([0.5], rng=1).run(MemberVote(lambda i, j: "yes", 3))
