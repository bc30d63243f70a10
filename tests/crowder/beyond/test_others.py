"""The strategies of others: against a plain form of each, with a perfect crowd, and with one that errs."""

from itertools import combinations
from math import ceil, log, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import clusterings, components
from reference import ask_in_order, edge_order

import crowder as cr
from crowder.beyond import edge_then_noisy, hybrid_ordering, member_votes, most_similar_once, others
from crowder.beyond.errors import PRIOR
from crowder.beyond.others import MemberVotes, control_queries

ALL = [hybrid_ordering, member_votes, edge_then_noisy, most_similar_once]


class Log:
    """A crowd that errs about a share of the pairs, always the same ones, and knows which pairs it was asked about."""

    def __init__(self, labels, seed=0, wrong=1 / 6):
        self.crowd, self.pairs = cr.Faulty(cr.Truth(labels), wrong, rng=seed, persistent=True), []

    def __call__(self, i, j):
        self.pairs.append((i, j))
        return self.crowd(i, j)

    @property
    def asked(self):
        """The pairs, of which none was asked about twice."""
        found = [frozenset(pair) for pair in self.pairs]
        assert len(found) == len(set(found))
        return found


def drawn(seed, n=9, k=4):
    """Labels of k clusters at most, and similarities without ties."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, k, n).tolist(), rng.random(n * (n - 1) // 2)


def square(w, n):
    found = [[0.0] * n for _ in range(n)]
    for (i, j), value in zip(combinations(range(n), 2), w.tolist(), strict=True):
        found[i][j] = found[j][i] = value
    return found


def as_lists(clusters):
    return cr.Resolution([], [], clusters).clusters.tolist()


@pytest.mark.parametrize("strategy", ALL)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_true_answers_lead_to_the_truth(strategy, labels, seed):
    """From every record alone; whatever the similarities, and for a single record, too."""
    w = np.random.default_rng(seed).random(len(labels) * (len(labels) - 1) // 2).round(1)
    first, *_, last = [*strategy(w, cr.Truth(labels), rng=seed)] * 2
    assert first.tolist() == list(range(len(labels)))
    assert as_lists(last) == as_lists(labels)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("theta", [0.2, 0.3, 0.5])
def test_hybrid_ordering_places_records_and_asks_about_the_rest(theta, seed, monkeypatch):
    monkeypatch.setattr(others, "THETA", theta)
    labels, w = drawn(seed, k=9)
    n, log_of, clusters, placed = len(labels), Log(labels, seed), [], []
    *_, found = hybrid_ordering(w, log_of, rng=seed)
    w = square(w, n)
    for v in sorted(range(n), key=lambda v: -sum(w[v])):
        near = [c for c in clusters if sum(w[v][u] for u in c) / len(c) >= theta]
        near.sort(key=lambda c: -sum(w[v][u] for u in c))
        for cluster in near[: ceil(log2(n))]:
            placed.append((v, max(cluster, key=lambda u: w[v][u])))
            if log_of.crowd(*placed[-1]):
                cluster.append(v)
                break
        else:
            clusters.append([v])
    answers = ask_in_order([*placed, *edge_order(w, w)], n, log_of.crowd)  # no two are equally similar
    assert log_of.asked == [frozenset(pair) for pair in answers]
    joined = components(range(n), [pair for pair, same in answers.items() if same])
    assert sorted(map(sorted, joined)) == [np.flatnonzero(found == c).tolist() for c in range(len(joined))]


def test_member_votes_are_edge_ordering_and_two_second_looks():
    labels, w = drawn(3)
    log_of, crowd = Log(labels, 3), Log(labels, 3)
    *_, before, once, twice = member_votes(w, log_of, rng=5)
    ordering, rng = cr.EdgeOrdering(w, rng=5), np.random.default_rng(5)
    members = MemberVotes(crowd, 3, ordering, early=False)
    assert before.tolist() == ordering.run(members).clusters.tolist()
    for found in (once, twice):
        before = members.second_look(before, rng=rng)
        assert found.tolist() == before.tolist()
    assert log_of.pairs == crowd.pairs


def test_noisy_ordering_starts_where_edge_ordering_ends():
    labels, w = drawn(1, n=12)
    log_of = Log(labels, 1)
    yielded = list(edge_then_noisy(w, log_of, rng=5))
    edge, noisy = cr.edge_ordering(w, log_of.crowd, rng=5), cr.beyond.NoisyOrdering(w, rng=5)
    noisy.take(cr.beyond.Answers.read([*zip(*edge.queries.T.tolist(), edge.answers.tolist(), strict=True)]))
    assert yielded[edge.n_queries].tolist() == edge.clusters.tolist()
    assert yielded[edge.n_queries + 1].tolist() == noisy.clusters.tolist()
    noisy.run(log_of.crowd)
    assert [(i, j) for i, j, *_ in noisy.answers] == log_of.pairs
    assert yielded[-1].tolist() == noisy.clusters.tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("unasked", [-0.05, -1.0])
def test_most_similar_once_has_the_likeliest_clusters(unasked, seed):
    """Of six records, after each number of answers: the best of all 203 clusterings, under rates learned twice."""
    labels, w = drawn(seed, n=6)
    log_of, n = Log(labels, seed), 6
    _, *yielded = most_similar_once(w, log_of, unasked=unasked, rng=seed)
    pairs = edge_order(square(w, n), square(w, n))
    assert log_of.asked == [frozenset(pair) for pair in pairs] and len(yielded) == 6  # after 10, ..., 15 answers

    def fit(clusters, said, false_yes, false_no):
        """The sum of evidence within clusters."""
        value = {True: log((1 - false_no) / false_yes), False: log(false_no / (1 - false_yes)), None: unasked}
        return sum(value[said.get(pair)] for pair in pairs if clusters[pair[0]] == clusters[pair[1]])

    for k, found in enumerate(yielded, start=10):
        said = {pair: log_of.crowd(*pair) for pair in pairs[:k]}
        prior = {True: PRIOR.false_no, False: PRIOR.false_yes}  # of matches and of non-matches: wrong, right
        rates = [prior[same][0] / sum(prior[same]) for same in (False, True)]
        for _ in range(2):
            used, best = rates, max(clusterings(n), key=lambda c: fit(c, said, *rates))
            together = {pair: best[pair[0]] == best[pair[1]] for pair in said}
            rates = [
                (sum(said[p] != same for p in said if together[p] == same) + prior[same][0])
                / (sum(together[p] == same for p in said) + sum(prior[same]))
                for same in (False, True)
            ]
            rates = [min(max(rate, 1e-4), 0.49) for rate in rates]
        assert fit(found, said, *used) == pytest.approx(fit(best, said, *used))


def blind(n, seed):
    """A similarity that is independent of the labels."""
    return np.random.default_rng(seed).random(n * (n - 1) // 2)


# --- votes of members -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("early", [False, True])
@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.sampled_from([1, 3, 7]), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_a_perfect_crowd_gives_the_truth_and_no_pair_is_asked_twice(early, labels, votes, seed):
    """By one vote, each question is itself asked."""
    log = Log(labels, wrong=0)
    ordering = (cr.EdgeOrdering, cr.NodeOrdering)[seed % 2](blind(len(labels), seed), rng=seed)
    crowd = MemberVotes(log, votes, ordering, early=early)
    run = ordering.run(crowd)
    assert run.clusters.tolist() == as_lists(labels)
    assert len(log.asked) == crowd.asked <= run.n_queries * votes
    assert votes > 1 or log.asked == [frozenset(pair) for pair in run.queries.tolist()]
    assert as_lists(crowd.second_look(run.clusters, rng=seed)) == run.clusters.tolist()
    assert len(log.asked) == crowd.asked


def test_which_pairs_are_asked():
    """Record 3 against {0, 1, 2}: its own question first, then the other members; with two members only one counts."""
    log, ordering = Log([0] * 4, wrong=0), cr.NodeOrdering([1.0, 0.5, 0.2, 0.5, 0.3, 0.2], ties="index", order=range(4))
    run = ordering.run(MemberVotes(log, 5, ordering, early=False))
    assert run.queries.tolist() == [[1, 0], [2, 0], [3, 1]]
    # 2 against {0, 1} has two pairs, and of an even number the last is left out.
    assert [sorted(pair) for pair in log.pairs] == [[0, 1], [0, 2], [1, 3], [0, 3], [2, 3]]


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


@pytest.mark.parametrize("seed", range(4))
def test_a_second_look_brings_strangers_out_and_parts_together(seed):
    """Two parts have one stranger each, whom all refuse; at most one vote of three or five speaks against the others.

    So the strangers leave, nobody else does, and what is one entity is joined again, the largest part numbered first.
    """
    labels = np.repeat(list("abcd"), [9, 9, 5, 1])
    parts = np.repeat([2, 3, 1, 5, 4], [4, 5, 9, 5, 1])
    parts[0], parts[9] = 1, 2  # the first a among eight b, the first b among three a
    order = np.random.default_rng(seed).permutation(len(labels))
    labels, parts = labels[order], parts[order]
    crowd, ordering = Log(labels, wrong=0), cr.EdgeOrdering(blind(len(labels), seed), rng=seed)
    ends = MemberVotes(crowd, 5, ordering, early=bool(seed % 2)).second_look(parts, rng=seed)
    assert np.array_equal(ends[:, None] == ends, labels[:, None] == labels)
    assert len(crowd.asked) == len(crowd.pairs)
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
    log, similarity = Log(labels, wrong=0), blind(len(labels), seed)
    ends = at_the_end(similarity, log, beta=beta, confidence=confidence, rng=seed)
    assert as_lists(ends) == as_lists(labels) and len(log.asked) == len(log.pairs)
    if beta == 0 and confidence == 0.5:
        run = cr.EdgeOrdering(similarity, rng=seed).run(cr.Truth(labels))
        assert log.asked == [frozenset(pair) for pair in run.queries.tolist()]


@given(st.integers(0, 2**32), st.sampled_from([0.5, 1, 2]))
@settings(max_examples=20, deadline=None)
def test_at_the_end_every_record_has_the_promised_degree_and_fits_in_its_cluster(seed, beta):
    labels = np.repeat(np.arange(4), [12, 8, 3, 1])
    faulty, within = cr.Faulty(cr.Truth(labels), 0.15, rng=seed, persistent=True), np.zeros((24, 2), int)
    answers = []

    def crowd(i, j):
        answers.append((i, j, faulty(i, j)))
        return answers[-1][2]

    clusters = at_the_end(blind(24, seed), crowd, beta=beta, errors=(0.15, 0.15), rng=seed)
    for i, j, same in answers:
        if clusters[i] == clusters[j]:
            within[[i, j], int(same)] += 1
    size = np.unique(clusters, return_inverse=True, return_counts=True)
    size = size[2][size[1]]
    assert (within.sum(axis=1) >= np.minimum(size - 1, np.ceil(beta * np.log2(size) - 1e-9))).all()
    assert (within[:, 1] >= within[:, 0]).all()  # both rates are equal, so evidence is the number of yes minus no
