"""Node ordering over a stream of chunks, and streams out of Parquet files: the same questions as in memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import crowder as cr
from crowder.orderings import expected_sizes
from crowder.pairs import candidates
from crowder.scale import stream as stream_module
from crowder.scale.parquet import chunks_by_arrival
from crowder.scale.parquet import expected_sizes as sizes_on_disk


def asked(resolution):
    return [tuple(pair) for pair in resolution.queries.tolist()]


def drawn(seed, n, levels, keep):
    """A sparse similarity on a coarse scale, and labels."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < keep
    w = rng.integers(0, levels, len(i)) / max(levels - 1, 1)
    return sparse.coo_array((w[kept], (i[kept], j[kept])), shape=(n, n)), rng.integers(0, 3, n)


def by_arrival(matrix, arrivals, cuts=()):
    """The pairs in the order that the ordering needs, in chunks (some of them empty)."""
    rank = np.argsort(arrivals)
    swap = rank[matrix.row] < rank[matrix.col]
    i, j = np.where(swap, matrix.col, matrix.row), np.where(swap, matrix.row, matrix.col)
    order = np.lexsort((rank[j], rank[i]))
    return zip(*(np.split(column[order], cuts) for column in (i, j, matrix.data)), strict=True)


@given(
    st.integers(0, 2**32), st.integers(2, 12), st.sampled_from([1, 3, 1000]), st.sampled_from([0.2, 0.6, 1.0]),
    st.lists(st.integers(0, 60), max_size=4).map(sorted), st.sampled_from([1, 3, 1000]),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_stream_and_matrix_ask_the_same(seed, n, levels, keep, cuts, least):
    """With one seed, however the stream is cut, and whether the records are walked by few or all together (`HEAD`)."""
    matrix, labels = drawn(seed, n, levels, keep)
    arrivals, truth = np.random.default_rng(seed + 1).permutation(n), cr.Truth(labels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_module, "HEAD", least)
        for ties in ("random", "index"):
            how = {"ties": ties} | ({"rng": seed} if ties == "random" else {})
            expected = cr.NodeOrdering(matrix, order=arrivals, **how).run(truth)
            whole = cr.StreamNodeOrdering(by_arrival(matrix, arrivals, cuts), arrivals, **how).run(truth)
            assert asked(whole) == asked(expected)
            assert whole.answers.tolist() == expected.answers.tolist()
            assert whole.clusters.tolist() == expected.clusters.tolist()
            # Asked and told one by one, and begun by hand and ended by the compiled loop.
            stepwise = cr.StreamNodeOrdering(by_arrival(matrix, arrivals), arrivals, **how)
            half = cr.StreamNodeOrdering(by_arrival(matrix, arrivals, cuts), arrivals, **how)
            if (pair := half.ask()) is not None:
                half.tell(pair, truth(*pair))
                half.ask()
            while (pair := stepwise.ask()) is not None:
                assert stepwise.ask() == pair
                stepwise.tell(pair, truth(*pair))
            assert asked(stepwise.resolution) == asked(half.run(truth)) == asked(expected)


@pytest.mark.parametrize("seed", range(6))
def test_a_file_gives_the_run_of_the_matrix_with_the_paper_order(tmp_path, seed):
    """By expected size; the sums on disk are the same to the bit, or two records could change places."""
    pytest.importorskip("duckdb")
    n = 60
    matrix, labels = drawn(seed, n, 1000, 0.4)
    shuffled, path = np.random.default_rng(seed).permutation(matrix.nnz), tmp_path / "pairs.parquet"
    cr.write_candidates(path, iter([(matrix.col[shuffled], matrix.row[shuffled], matrix.data[shuffled])]))
    sizes = sizes_on_disk(path, n)
    assert sizes.tolist() == expected_sizes(candidates(matrix)).tolist()
    arrivals = np.argsort(-sizes.round(9), kind="stable")
    chunks = chunks_by_arrival(path, arrivals, chunk=50, threads=1)
    stream = cr.StreamNodeOrdering(chunks, arrivals, ties="index").run(cr.Truth(labels))
    assert asked(stream) == asked(cr.NodeOrdering(matrix, ties="index").run(cr.Truth(labels)))


def test_only_what_is_asked_about_is_read():
    """The third chunk is not fetched before the second is used up, beyond the head that a journal needs."""
    fetched = []

    def chunks():
        for number in range(3):
            fetched.append(number)
            later = np.repeat(np.arange(1500 * number + 1, 1500 * (number + 1) + 1), 1)
            yield later, later - 1, np.full(1500, 0.5)

    ordering = cr.StreamNodeOrdering(chunks(), np.arange(4501), ties="index")
    assert fetched == []
    ordering.ask()
    assert fetched == [0]
    for _ in range(4500):
        ordering.tell(ordering.ask(), True)
    assert ordering.ask() is None and fetched == [0, 1, 2]


def test_the_journal_knows_a_stream_by_its_first_pairs(tmp_path):
    """Whatever its chunks: 1,000 pairs, here of more than 45 records, which have 990 pairs among themselves."""
    matrix, labels = drawn(3, 60, 1000, 1.0)
    arrivals, crowd = np.arange(60), cr.Truth(labels)
    with cr.Journal(crowd, tmp_path / "answers.db") as journal:
        first = cr.StreamNodeOrdering(by_arrival(matrix, arrivals), arrivals, rng=7).run(journal)
    with cr.Journal(None, tmp_path / "answers.db") as journal:  # a crowd of None would fail if it were asked
        again = cr.StreamNodeOrdering(by_arrival(matrix, arrivals, [3, 700, 1400]), arrivals, rng=7).run(journal)
    assert asked(again) == asked(first)


FAULTS = [
    ([([1], [0], [1.5])], ValueError, "chunk 0, row 0: the similarity must.*1.5"),
    ([([1, 2], [0, 0], [0.5, np.nan])], ValueError, "chunk 0, row 1: the similarity must.*nan"),
    ([([1], [3], [0.5])], ValueError, r"chunk 0, row 0: i and j must.*\(1, 3\)"),
    ([([1], [1], [0.5])], ValueError, r"chunk 0, row 0: i and j must.*\(1, 1\)"),
    ([([0], [1], [0.5])], ValueError, r"chunk 0, row 0: j must arrive before i, not \(0, 1\)"),
    ([([2], [0], [0.5]), ([1], [0], [0.5])], ValueError, r"chunk 1, row 0: .*sorted.*\(1, 0\)"),
    ([([2, 2], [1, 0], [0.5, 0.4])], ValueError, r"chunk 0, row 1: .*sorted.*\(2, 0\)"),
    ([([2, 2], [1, 1], [0.5, 0.4])], ValueError, r"chunk 0, row 1: .*each of them once.*\(2, 1\)"),
    ([([1, 2], [0], [0.5])], ValueError, "chunk 0 must"),
    ([([1.0], [0.0], [0.5])], TypeError, "chunk 0 must"),
]


@pytest.mark.parametrize(("chunks", "error", "message"), FAULTS)
def test_a_broken_stream_is_told_by_chunk_and_row_and_is_no_end(chunks, error, message):
    ordering = cr.StreamNodeOrdering(chunks, [0, 1, 2], rng=1)
    for _ in range(2):  # asking again is no way around it
        with pytest.raises(error, match=message):
            ordering.ask()


def test_a_record_beyond_the_arrivals_is_told(tmp_path):
    pytest.importorskip("duckdb")
    path = tmp_path / "pairs.parquet"
    cr.write_candidates(path, [0.5, 0.25, 0.0])
    for few in (lambda: sizes_on_disk(path, 2), lambda: next(chunks_by_arrival(path, [1, 0]))):
        with pytest.raises(ValueError, match=r"n, the number of records, must exceed .* up to 2, not be 2"):
            few()
    with pytest.raises(ValueError, match="arrivals must list each of the 3 records"):
        next(chunks_by_arrival(path, [0, 0, 1]))


def test_no_records_and_no_pairs():
    assert cr.StreamNodeOrdering([], [], rng=7).run(cr.Truth([])).n_queries == 0
    assert cr.StreamNodeOrdering([], [1, 0], rng=7).run(cr.Truth([0, 0])).n_queries == 0
