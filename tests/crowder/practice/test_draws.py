"""Drawn clusterings: the compiled runs against edge ordering and counting by hand, the draws against the answers."""

import numpy as np
import pytest
from scipy import sparse

import crowder as cr
from crowder.constraints import constrained
from crowder.datasets import people
from crowder.pairs import Candidates, candidates
from crowder.practice.draws import draw_clusterings, informative, random_run

#: log R, log h, the power of the tail, g and u.
ODDS = np.log(8), np.log(0.1), 5 / 3, 0.5, 0.4


def started(n):
    """No tables, and no answers so far."""
    return np.zeros(n, np.int64), np.empty(0, np.int64), np.empty(0, bool), 0


def random_values(n, seed):
    return np.random.default_rng(seed).integers(0, 9, n * (n - 1) // 2) / 8  # with ties


def as_sparse(values, n, keep):
    i, j = np.triu_indices(n, 1)
    return sparse.coo_array((values[keep], (i[keep], j[keep])), shape=(n, n))


@pytest.mark.parametrize("kept", [1.0, 0.5], ids=["all pairs", "half of them"])
def test_a_random_run_is_edge_ordering_on_the_clustering_that_it_ends_with(kept):
    """Its answers follow from its clusters, so that edge ordering with these as truth asks the same questions."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = 12
        values = random_values(n, seed)
        pairs = candidates(values if kept == 1 else as_sparse(values, n, rng.random(len(values)) < kept))
        falling, codes = pairs.sorted
        stop = int(rng.integers(0, len(codes) + 1))  # what is left after it is counted, or asked with "different"
        labels, at, found, end = random_run(*started(n), falling, codes, stop, *ODDS, 1, rng)
        run = cr.EdgeOrdering(pairs, ties="index").run(cr.Truth(labels))
        assert run.n_queries == end
        assert (run.clusters[:, None] == run.clusters).tolist() == (labels[:, None] == labels).tolist()
        gained = np.diff(run.recall(labels)) * found.sum()
        if len(at):
            assert (np.flatnonzero(gained) + 1).tolist() == at.tolist()
            assert gained[at - 1] == pytest.approx(found)  # each merge finds the pairs between its two groups


def test_the_odds_are_those_of_the_formula():
    """Two records: one question, "same" with probability (1 - LAPSE) o / (1 + o), where o are the odds at rank 1. Of
    three pairs that are equally similar, each has rank 2, the mean of 1, 2 and 3."""
    for codes, rank in ((np.array([1]), 1), (np.array([1, 2, (1 << 32) | 2]), 2)):
        n, share, rng = 2 if rank == 1 else 3, 0, np.random.default_rng(1)
        for _ in range(4000):
            half, unlike, tail, g, soft = np.log(1.5), np.log(0.3), 5 / 3, 0.5, 0.4
            _, at, *_ = random_run(
                *started(n), np.full(len(codes), -0.4), codes, 1, half, unlike, tail, g, soft, 0.97, rng
            )
            share += len(at) / 4000  # only the first answer can be "same"; the logarithm of one pair is 0
        odds = (1.5 / rank) ** (1 / 0.4) + 0.3 * (1.5 / rank) ** (5 / 3)
        expected = 0.97 * odds / (1 + odds)
        assert share == pytest.approx(expected, abs=4 * np.sqrt(expected / 4000))


def test_larger_groups_are_less_probable_matches():
    """The third of three records meets a group of two with odds 2^-g times those of a single record; large g: never."""
    codes = np.array([1, 2])
    for _ in range(20):
        rng = np.random.default_rng(_)
        labels, *_ = random_run(*started(3), -np.ones(2), codes, 2, np.log(3), 0.0, 5 / 3, 500.0, 0.02, 1, rng)
        assert labels[0] == labels[1] != labels[2]


def test_answers_that_are_implied_say_nothing_new():
    asked, same = np.array([1, 2, (1 << 32) | 2, (2 << 32) | 3, 3]), np.array([True, True, True, False, False])
    new, log_size = informative(np.zeros(4, np.int64), asked, same)
    assert new.tolist() == [0, 1, 3]  # that 1 matches 2, and that 0 is not 3, follows
    assert log_size == pytest.approx(np.log([1, 2, 3]))  # pairs between the groups when they were compared
    labels, at, found, end = random_run(
        np.zeros(4, np.int64), asked, same, 0, np.empty(0), asked[:0], 0, *ODDS, 1, np.random.default_rng(1)
    )
    assert at.tolist() == [1, 2] and found.tolist() == [1, 2] and end == 3
    assert len(set(labels[:3])) == 1 != labels[3]


def test_draws_agree_with_every_answer_and_count_from_the_first():
    records = people([3] * 6 + [1] * 12, rng=3)
    values, truth = cr.similarity.compute(records, "jaccard-qgrams"), records["label"].to_numpy()
    run = cr.EdgeOrdering(values, rng=1).run(cr.Truth(truth))
    asked, same = run.queries[:30], run.answers[:30]
    for draw in draw_clusterings(candidates(values), asked, same, 20, rng=np.random.default_rng(1)):
        i, j = asked.T
        assert ((draw.labels[i] == draw.labels[j]) == same).all()
        sizes = np.unique(draw.labels, return_counts=True)[1]
        assert draw.found.sum() == (sizes * (sizes - 1) // 2).sum()  # every match is found by a merge
        assert len(draw.at) == len(truth) - len(sizes)
        assert draw.at[: same.sum()].tolist() == (np.flatnonzero(same) + 1).tolist()


def test_known_answers_are_no_questions_and_records_of_one_table_never_match():
    n = 8
    values, table = random_values(n, 1), np.arange(n) % 2
    pairs = constrained(candidates(values), known=([(0, 1), (2, 3)], [True, True]), tables=table)
    for draw in draw_clusterings(pairs, [(4, 5)], [True], 20, rng=np.random.default_rng(1)):
        assert (
            draw.labels[0] == draw.labels[1] and draw.labels[2] == draw.labels[3] and draw.labels[4] == draw.labels[5]
        )
        assert draw.at[:3].tolist() == [0, 0, 1]
        for name in set(draw.labels):
            assert len(set(table[draw.labels == name])) == (draw.labels == name).sum()
        assert draw.end == cr.EdgeOrdering(pairs, ties="index").run(cr.Truth(draw.labels)).n_queries


def test_known_answers_say_as_much_as_asked_ones():
    """The same clusterings are drawn; only what counts as a question differs."""
    pairs = candidates(random_values(30, 5))
    told = [(int(c >> 32), int(c) & 0xFFFFFFFF) for c in pairs.sorted[1][:40:4]], [True, False] * 5
    known = draw_clusterings(constrained(pairs, known=told), (), (), 20, rng=np.random.default_rng(1))
    asked = draw_clusterings(pairs, *told, 20, rng=np.random.default_rng(1))
    assert [d.labels.tolist() for d in known] == [d.labels.tolist() for d in asked]
    assert all(a.end - k.end == 10 for k, a in zip(known, asked, strict=True))


def test_scores_in_the_same_order_give_the_same_clusterings():
    values = random_values(30, 4)
    drawn = [draw_clusterings(candidates(x), (), (), 10, rng=np.random.default_rng(1)) for x in (values, values**3 / 2)]
    assert [d.labels.tolist() for d in drawn[0]] == [d.labels.tolist() for d in drawn[1]]


def test_answers_narrow_the_draws_to_the_truth():
    """Matches at 0.9 and all else at 0.1, and the answers say so: nearly every draw then has the true clusters."""
    labels = np.repeat(np.arange(40), 2)
    i, j = np.triu_indices(80, 1)
    values = np.where(labels[i] == labels[j], 0.9, 0.1) + np.random.default_rng(1).normal(0, 0.01, len(i))
    run = cr.EdgeOrdering(values, rng=1).run(cr.Truth(labels))
    before, after = (
        [len(np.unique(d.labels)) for d in draw_clusterings(
            candidates(values), run.queries[:q], run.answers[:q], 40, rng=np.random.default_rng(1))]
        for q in (0, 80)
    )  # fmt: skip
    assert np.mean(np.array(after) == 40) > 0.75 > np.mean(np.array(before) == 40)


def test_answers_no_count_as_much_as_yes():
    """Sixty pairs of equal similarity, all others far less similar. Twenty of the sixty have been answered: "no" to all
    of them leaves hardly any match among the other forty, "yes" hardly any that is none."""
    n, i = 120, np.arange(0, 120, 2)
    similarity = np.random.default_rng(3).uniform(0, 0.2, (n, n))
    similarity[i, i + 1] = 0.9
    pairs = candidates(similarity[np.triu_indices(n, 1)])
    asked = np.column_stack([i, i + 1])[:20]
    no, yes = (
        np.mean([(d.labels[i[20:]] == d.labels[i[20:] + 1]).mean() for d in draw_clusterings(
            pairs, asked, np.full(20, said), 60, rng=np.random.default_rng(1))])
        for said in (False, True)
    )  # fmt: skip
    assert no < 0.15 and yes > 0.85


def test_nothing_to_ask_about_is_one_clustering():
    empty = Candidates(3, False, _values=np.empty(0), _codes=np.empty(0, np.int64))
    for pairs, n in ((empty, 3), (candidates(np.empty(0)), 1)):
        (draw,) = draw_clusterings(pairs, (), (), 1, rng=np.random.default_rng(1))
        assert len(set(draw.labels)) == n and draw.end == 0 and len(draw.at) == 0


def test_scores_that_are_all_equal_are_taken():
    drawn = draw_clusterings(candidates(np.full(45, 0.5)), (), (), 10, rng=np.random.default_rng(1))
    assert all(draw.end >= 9 for draw in drawn)  # a tree of nine matches at least, or more non-matches
