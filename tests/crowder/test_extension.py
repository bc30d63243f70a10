"""An ordering written with the public methods of `Ordering` alone works with everything else."""

import numpy as np
import pytest
from scipy import sparse

import crowder as cr
import crowder_tool
from crowder.pairs import candidates


class LeastKnownFirst(cr.Ordering):
    """Ask about the most similar open pair of the record with the fewest questions so far."""

    def __init__(self, similarity, *, rng):
        super().__init__(similarity)
        i, j, w = self.pairs()
        best = np.lexsort((np.random.default_rng(rng).random(len(w)), -w))
        self.left, self.asked = list(zip(i[best].tolist(), j[best].tolist(), strict=True)), np.zeros(self.n, int)

    def next_question(self):
        self.left = [pair for pair in self.left if not self.settled(*pair)]
        return min(self.left, key=lambda pair: self.asked[list(pair)].min(), default=None)

    def tell(self, pair, same):
        super().tell(pair, same)
        self.asked[list(pair)] += 1


@pytest.fixture
def data():
    return cr.datasets.synthetic([6, 4, 3, 1, 1], cr.dist1(0.4), rng=7, shuffle=True)


def test_it_resolves_every_record_and_asks_nothing_that_was_implied(data):
    result = LeastKnownFirst(data.condensed, rng=7).run(cr.Truth(data.labels))
    same = result.clusters[:, None] == result.clusters
    assert (same == (data.labels[:, None] == data.labels)).all()
    # An answer that was implied would have made more matches than n - k, or two non-matches between two clusters.
    assert result.answers.sum() == data.n - 5
    assert cr.ideal_queries(data.sizes) <= result.n_queries <= data.n - 5 + 15 * 14 // 2


def test_the_pairs_of_an_ordering_are_not_its_own_to_change(data):
    """All runs with the same candidates would ask in another order."""
    with pytest.raises(ValueError, match="read-only"):
        LeastKnownFirst(candidates(data.condensed), rng=7).pairs()[2][0] = 1.0


def test_a_sparse_similarity_serves_too(data):
    i, j = np.triu_indices(data.n, 1)
    kept = data.matching | (data.condensed > 0.7)
    similarity = sparse.coo_array((data.condensed[kept], (i[kept], j[kept])), shape=(data.n, data.n))
    result = LeastKnownFirst(similarity, rng=7).run(cr.Truth(data.labels))
    assert result.recall(data.labels)[-1] == 1.0 and not LeastKnownFirst(similarity, rng=7).every_pair


def test_a_journal_resumes_it_and_knows_its_records_from_others(data, tmp_path):
    with crowder_tool.Journal(cr.Truth(data.labels), tmp_path / "a.db") as journal:
        whole = LeastKnownFirst(data.condensed, rng=7).run(journal)
    with crowder_tool.Journal(None, tmp_path / "a.db") as journal:
        again = LeastKnownFirst(data.condensed, rng=7).run(journal)
        assert again.queries.tolist() == whole.queries.tolist() and journal.asked == 0
        with pytest.raises(ValueError, match="other records"):
            LeastKnownFirst(data.condensed / 2, rng=7).run(journal)


def test_stopping_passes_over_hopeless_pairs(data):
    model, crowd = cr.dist1(0.4), cr.Truth(data.labels)
    run = cr.beyond.Stopping(LeastKnownFirst(data.condensed, rng=7), model, delta=0.2, odds=1).run(crowd)
    assert len(run.declared) and run.bound <= 0.2
    assert run.n_queries < LeastKnownFirst(data.condensed, rng=7).run(crowd).n_queries


def test_a_question_that_is_settled_or_no_pair_is_refused():
    class Stubborn(cr.Ordering):
        question = (0, 1)

        def next_question(self):
            return self.question

    ordering = Stubborn([0.9, 0.5, 0.1])
    ordering.tell(ordering.ask(), True)
    with pytest.raises(ValueError, match=r"Stubborn\.next_question"):
        ordering.ask()
    ordering.question = (0, 3)
    with pytest.raises(ValueError, match="must be two"):
        ordering.ask()
