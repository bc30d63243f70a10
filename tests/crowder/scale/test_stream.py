"""Edge ordering over a stream of chunks, and streams out of Parquet files: the same questions as in memory."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import squareform

import crowder as cr
from crowder.practice.journal import identity
from crowder.scale import parquet as parquet_room
from crowder.scale import stream as stream_module


@st.composite
def instances(draw):
    """Similarities of all pairs on a coarse scale, labels, which pairs are candidates, and where the stream is cut."""
    n = draw(st.integers(2, 9))
    m = n * (n - 1) // 2
    levels = draw(st.sampled_from([1, 3, 1000]))
    values = np.array(draw(st.lists(st.integers(0, levels), min_size=m, max_size=m)), dtype=float) / levels
    labels = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    keep = np.array(draw(st.lists(st.booleans(), min_size=m, max_size=m)), dtype=bool)
    if draw(st.booleans()):
        keep[:] = True
    cuts = draw(st.lists(st.integers(0, m), max_size=4))
    return values, labels, keep, sorted(cuts), draw(st.integers(0, 2**32))


def sorted_stream(values, keep, n, cuts, seed=0):
    """The candidates by falling similarity, ties and directions in any order, in chunks (some of them empty)."""
    rng = np.random.default_rng(seed)
    i, j = (index[keep] for index in np.triu_indices(n, 1))
    w = values[keep]
    order = np.lexsort((rng.random(len(w)), -w))
    turned = rng.random(len(w)) < 0.5
    i, j = np.where(turned, j, i)[order], np.where(turned, i, j)[order]
    return zip(*(np.split(column, cuts) for column in (i, j, w[order])), strict=True)


def asked(resolution):
    return [tuple(pair) for pair in resolution.queries.tolist()]


@given(instances(), st.sampled_from([1, 3, 1000]))
@settings(max_examples=150, deadline=None)
def test_stream_sparse_and_dense_ask_the_same(instance, least):
    """With one seed, however the stream is cut and whatever the order of ties in it: the shuffle starts from (i, j).
    Also where the pairs are walked by few (`HEAD`), so that ties go on in the next chunk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_module, "HEAD", least)
        asks_the_same(*instance)


def asks_the_same(values, labels, keep, cuts, seed):
    n, truth = len(labels), cr.Truth(labels)
    i, j = (index[keep] for index in np.triu_indices(n, 1))
    matrix = sparse.coo_array((values[keep], (i, j)), shape=(n, n))
    expected = cr.EdgeOrdering(matrix, rng=seed).run(truth)
    stream = cr.StreamOrdering(sorted_stream(values, keep, n, cuts), n, rng=seed).run(truth)
    assert asked(stream) == asked(expected)
    assert stream.answers.tolist() == expected.answers.tolist()
    assert stream.clusters.tolist() == expected.clusters.tolist()
    if keep.all():
        assert asked(cr.EdgeOrdering(squareform(values), rng=seed).run(truth)) == asked(stream)
    # Asked and told one by one, and begun by hand and ended by the compiled loop.
    stepwise = cr.StreamOrdering(sorted_stream(values, keep, n, cuts, 1), n, rng=seed)
    half = cr.StreamOrdering(sorted_stream(values, keep, n, cuts, 2), n, rng=seed)
    if (pair := half.ask()) is not None:
        half.tell(pair, truth(*pair))
        half.ask()
    while (pair := stepwise.ask()) is not None:
        assert stepwise.ask() == pair
        stepwise.tell(pair, truth(*pair))
    assert asked(stepwise.resolution) == asked(half.run(truth)) == asked(expected)
    # Ties as they come: by (i, j) here, which is the rule "index".
    order = np.lexsort((j, i, -values[keep]))
    in_turn = zip(*(np.split(column[order], cuts) for column in (i, j, values[keep])), strict=True)
    as_it_comes = cr.StreamOrdering(in_turn, n, ties="stream").run(truth)
    assert asked(as_it_comes) == asked(cr.EdgeOrdering(matrix, ties="index").run(truth))


def test_ties_across_chunks_are_shuffled_fairly(monkeypatch):
    """Three equal pairs in three chunks, one match: each comes first in a third of the runs (chi-square, 1e-4)."""
    monkeypatch.setattr(stream_module, "HEAD", 1)
    chunks = [([0], [1], [1.0]), ([0], [2], [1.0]), ([1], [2], [1.0])]
    first = [cr.StreamOrdering(chunks, 3, rng=seed).ask() for seed in range(1500)]
    counts = np.array([first.count(pair) for pair in [(0, 1), (0, 2), (1, 2)]])
    assert ((counts - 500) ** 2 / 500).sum() < 18.4  # 99.99 % quantile, 2 degrees of freedom


def test_a_pair_in_both_directions_is_one_candidate(monkeypatch):
    """As in a sparse matrix that stores both halves: the same questions and, with the same seed, the same draws."""
    monkeypatch.setattr(stream_module, "HEAD", 1)
    values, rng = np.repeat([0.8, 0.5, 0.2], 5), np.random.default_rng(3)
    i, j = np.triu_indices(6, 1)
    i, j = rng.permuted([i, j], axis=0)
    truth = cr.Truth([0, 0, 1, 1, 2, 2])
    once = sparse.coo_array((values, (i, j)), shape=(6, 6))
    twice = [(np.r_[i[s], j[s]], np.r_[j[s], i[s]], np.tile(values[s], 2)) for s in map(slice, (0, 5, 10), (5, 10, 15))]
    for seed in range(20):
        expected = cr.EdgeOrdering(once, rng=seed).run(truth)
        assert asked(cr.StreamOrdering(twice, 6, rng=seed).run(truth)) == asked(expected)


def test_only_what_is_asked_about_is_read():
    """A stream is a stream: the second chunk is not fetched before the first is used up (beyond the journal's head)."""
    fetched = []

    def chunks():
        for number, w in enumerate([0.9, 0.8, 0.7]):
            fetched.append(number)
            yield np.arange(1500), np.arange(1, 1501), np.full(1500, w)

    ordering = cr.StreamOrdering(chunks(), 1501, ties="stream")
    assert fetched == []
    ordering.ask()
    assert fetched == [0]
    for _ in range(1500):
        ordering.tell(ordering.ask(), True)
    assert ordering.ask() is None and fetched == [0, 1, 2]


FAULTS = [
    ([([0], [1], [0.5]), ([0, 1], [2, 2], [0.4, 0.6])], ValueError, "chunk 1, row 1: .*0.6.*0.4"),
    ([([0], [1], [0.5]), ([1], [2], [0.6])], ValueError, "chunk 1, row 0: .*0.6.*0.5"),
    ([([0], [1], [0.5]), ([], [], []), ([1], [2], [0.6])], ValueError, "chunk 2, row 0: .*0.6.*0.5"),
    ([([0, 0], [1, 3], [0.5, 0.4])], ValueError, r"chunk 0, row 1: i and j must.*\(0, 3\)"),
    ([([-1], [1], [0.5])], ValueError, r"chunk 0, row 0: i and j must.*\(-1, 1\)"),
    ([([1], [1], [0.5])], ValueError, r"chunk 0, row 0: i and j must.*\(1, 1\)"),
    ([([0], [1], [1.5])], ValueError, "chunk 0, row 0: the similarity must.*1.5"),
    ([([0], [1], [-0.1])], ValueError, "row 0: the similarity must.*-0.1"),
    ([([0, 0], [1, 2], [0.5, np.nan])], ValueError, "chunk 0, row 1: the similarity must.*nan"),
    ([([0, 1], [1], [0.5])], ValueError, "chunk 0 must"),
    ([([0.0], [1.0], [0.5])], TypeError, "chunk 0 must"),
    ([([0], [1])], TypeError, "chunk 0 must"),
]


@pytest.mark.parametrize("ties", ["random", "stream"])
@pytest.mark.parametrize(("chunks", "error", "message"), FAULTS)
def test_a_broken_stream_is_told_by_chunk_and_row_and_is_no_end(chunks, error, message, ties):
    ordering = cr.StreamOrdering(chunks, 3, rng=1, ties=ties)
    for _ in range(2):  # asking again is no way around it
        with pytest.raises(error, match=message):
            ordering.run(lambda i, j: False)


def test_a_stream_that_breaks_off_is_no_end():
    def chunks():
        yield [0], [1], [0.5]
        raise OSError("the disk is gone")

    ordering = cr.StreamOrdering(chunks(), 3, rng=1)
    for _ in range(2):
        with pytest.raises(OSError, match="gone"):
            ordering.run(lambda i, j: False)


def test_what_a_stream_ordering_is_told():
    with pytest.raises(ValueError, match="rng"):
        cr.StreamOrdering([], 3)
    with pytest.raises(ValueError, match="ties"):
        cr.StreamOrdering([], 3, ties="index")
    with pytest.raises(ValueError, match="records"):
        cr.StreamOrdering([], -1, rng=1)
    for n in (0, 1, 5):
        assert cr.StreamOrdering([], n, rng=1).ask() is None
        assert len(cr.StreamOrdering([], n, rng=1).run(cr.Truth(range(n))).clusters) == n


def test_a_journal_resumes_a_stream_and_knows_another(tmp_path):
    """Killed after 1,250 answers, the run goes on with the same file; another seed, or a stream that differs only
    beyond the head that the journal keeps, is refused before the crowd is asked."""
    rng = np.random.default_rng(5)
    n = 60
    values, keep = np.sort(rng.random(n * (n - 1) // 2))[::-1], np.ones(n * (n - 1) // 2, bool)
    labels = rng.integers(0, 400, n)  # hardly a match, so that nearly all of the 1,770 pairs are asked about
    truth, path = cr.Truth(labels), tmp_path / "answers.db"

    def ordering(seed=1, more=False, cut=500):
        i, j = np.triu_indices(n, 1)
        shuffled = np.random.default_rng(seed).permutation(len(i))
        i, j = i[shuffled], j[shuffled]
        if more:  # other pairs from the 1,201st on
            i, j = (np.r_[column[:1200], column[1200:][::-1]] for column in (i, j))
        cuts = range(cut, len(i), cut)
        return cr.StreamOrdering(
            zip(*(np.split(column, cuts) for column in (i, j, values[keep])), strict=True), n, ties="stream"
        )

    whole = ordering().run(truth)
    asked_so_far = []

    def mortal(i, j):
        if len(asked_so_far) == 1250:
            raise KeyboardInterrupt
        asked_so_far.append((i, j))
        return truth(i, j)

    with cr.Journal(mortal, path) as journal, pytest.raises(KeyboardInterrupt):
        ordering().run(journal)
    with cr.Journal(truth, path) as journal:
        again = ordering(cut=77).run(journal)  # cut elsewhere, it is the same stream
        assert journal.asked == again.n_queries - 1250
    assert asked(again) == asked(whole)
    with cr.Journal(truth, path) as journal, pytest.raises(ValueError, match="another run: its similarities"):
        ordering(seed=2).run(journal)
    with cr.Journal(truth, path) as journal:
        with pytest.raises(ValueError, match="another run: its question"):
            ordering(more=True).run(journal)
        assert journal.asked == 0
    assert identity(ordering())["ordering"] == "StreamOrdering"


# --- Parquet --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def blocked(tmp_path_factory):
    """40,000 candidate pairs of 2,000 records, similarities rounded so that ties abound; in memory and on disk."""
    pytest.importorskip("duckdb")
    similarity, labels = cr.synthetic_candidates([1, 2, 3, 4, 10] * 100, 40_000, cr.dist1(0.3), rng=2)
    similarity.data = similarity.data.round(2)
    path = tmp_path_factory.mktemp("parquet") / "pairs.parquet"
    assert cr.write_candidates(path, similarity) == 40_000
    return similarity, labels, path


def columns(chunks):
    return [np.concatenate(column) for column in zip(*chunks, strict=True)]


def test_parquet_asks_what_memory_asks(blocked):
    similarity, labels, path = blocked
    truth = cr.Truth(labels)
    expected = cr.EdgeOrdering(similarity, rng=4).run(truth)
    stream = cr.StreamOrdering(cr.chunks_from_parquet(path, chunk=3000), 2000, rng=4).run(truth)
    assert np.array_equal(stream.queries, expected.queries)
    # Ties shuffled by the sort instead: other questions, the same clusters where the candidates connect them.
    hashed = cr.StreamOrdering(cr.chunks_from_parquet(path, seed=4), 2000, ties="stream").run(truth)
    assert np.array_equal(hashed.clusters, expected.clusters)
    assert not np.array_equal(hashed.queries, expected.queries)


def test_the_order_is_the_seed_s_whatever_the_threads_and_the_rows(blocked, tmp_path):
    similarity, _, path = blocked
    rng = np.random.default_rng(1)
    shuffled = rng.permutation(similarity.nnz)
    pieces = (tuple(c[part] for c in (similarity.col, similarity.row, similarity.data)) for part in
              np.array_split(shuffled, 7))  # fmt: skip
    cr.write_candidates(tmp_path / "other.parquet", pieces)
    one = columns(cr.chunks_from_parquet(path, seed=7, threads=1))
    two = columns(cr.chunks_from_parquet(path, seed=7, threads=2, chunk=999))
    three = columns(cr.chunks_from_parquet(tmp_path / "other.parquet", seed=7))
    for other in (two, three):
        assert all(map(np.array_equal, one, other))
    other_seed = columns(cr.chunks_from_parquet(path, seed=8))
    assert np.array_equal(one[2], other_seed[2]) and not np.array_equal(one[0], other_seed[0])
    assert (np.diff(one[2]) <= 0).all() and (one[0] < one[1]).all()


@pytest.mark.parametrize(
    ("i", "j", "w", "message"),
    [
        ([0, 1], [1, 1], [0.5, 0.5], r"rows of .* must.*\(1, 1, 0.5\)"),
        ([0, -1], [1, 2], [0.5, 0.5], r"\(-1, 2"),
        ([0, 2], [1, 3], [0.5, np.nan], r"\(2, 3, nan\)"),
        ([0, 2], [1, 3], [0.5, 1.01], r"\(2, 3, 1.01\)"),
        ([0, 2], [1, 3], [None, 0.2], r"\(0, 1, None\)"),
        ([0, None], [1, 3], [0.1, 0.2], r"\(None, 3, 0.2\)"),
        ([0, 2**31], [1, 3], [0.1, 0.2], r"\(2147483648, 3, 0.2\)"),
        (["a", "b"], ["c", "c"], [0.1, 0.2], "number_records"),
        ([0.0, 1.0], [1, 3], [0.1, 0.2], "must hold integers"),
        ([0, 1], [1, 3], ["0.1", "high"], "must hold numbers"),
    ],
)
def test_a_bad_file_is_refused_before_the_first_question(tmp_path, i, j, w, message):
    pytest.importorskip("duckdb")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bad.parquet"
    parquet.write_table(arrow.table({"i": i, "j": j, "similarity": w}), path)
    with pytest.raises(ValueError, match=message):
        next(cr.chunks_from_parquet(path))


def test_a_column_that_is_not_there_is_named(blocked):
    with pytest.raises(ValueError, match=r"columns must.*'score'"):
        next(cr.chunks_from_parquet(blocked[2], columns=("i", "j", "score")))


def test_a_sort_that_does_not_fit_goes_to_disk(tmp_path):
    """Two million pairs, 32 MB as numbers and more with their keys, in 40 MB: DuckDB must spill, and clears up after
    itself."""
    pytest.importorskip("duckdb")
    rng, path, spill = np.random.default_rng(6), tmp_path / "pairs.parquet", tmp_path / "spill"
    spill.mkdir()
    m, n = 2_000_000, 100_000
    i = rng.integers(0, n - 1, m)
    cr.write_candidates(path, iter([(i, i + 1, rng.random(m))]))
    chunks = cr.chunks_from_parquet(path, seed=1, memory_limit="40MB", threads=1, folder=spill)
    first = next(chunks)
    spilled = sum(file.stat().st_size for file in spill.rglob("*") if file.is_file())
    assert spilled > 1_000_000
    w = np.concatenate([first[2], *(part[2] for part in chunks)])
    assert len(w) == m and (np.diff(w) <= 0).all()
    assert list(spill.iterdir()) == []


def test_identifiers_of_any_kind_get_numbers(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("duckdb")
    named, out = tmp_path / "it's named.parquet", tmp_path / "pairs.parquet"
    table = {"a b": ["x", "z", "y"], 'r"': ["z", "y", "x"], "s": [0.25, 0.5, 0.75]}
    parquet.write_table(arrow.table(table), named)
    identifiers = cr.number_records(named, out, columns=("a b", 'r"', "s"))
    assert identifiers.tolist() == ["x", "y", "z"]
    i, j, w = columns(cr.chunks_from_parquet(out))
    assert [(identifiers[a], identifiers[b], c) for a, b, c in zip(i, j, w, strict=True)] == [
        ("x", "y", 0.75), ("y", "z", 0.5), ("x", "z", 0.25)]  # fmt: skip


def test_a_number_beyond_the_files_own_statistics_is_read_as_it_stands(tmp_path):
    """A flipped bit makes record 257 of record 1. The file's statistics still say "at most 3", which fits one byte."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("duckdb")
    path = tmp_path / "pairs.parquet"
    cr.write_candidates(path, [0.5, 0.9, 0.1, 0.4, 0.9, 0.0])
    whole, found = path.read_bytes(), 0
    for at in range(len(whole) // 4):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            rows = parquet.read_table(path).to_pydict()
        except Exception:  # the flipped bit was not in a number
            continue
        records = [*rows["i"], *rows["j"]]
        if None not in records and min(records) >= 0 and max(records) > 3:
            i, j, _ = columns(cr.chunks_from_parquet(path, threads=1))
            assert sorted([*i, *j]) == sorted(records)
            found += 1
    assert found > 3


def test_duckdb_is_told_to_fetch_nothing(tmp_path):
    pytest.importorskip("duckdb")
    with parquet_room.open_database("1GB", 1, tmp_path) as database:
        for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
            assert database.execute(f"SELECT current_setting('{setting}')").fetchone() == (False,)


def test_numbers_may_take_the_place_of_names_and_never_by_half(tmp_path, monkeypatch):
    """The file is read while it is written; and a run that is stopped at the last step leaves what was there."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("duckdb")
    path = tmp_path / "pairs.parquet"
    parquet.write_table(arrow.table({"i": ["x", "z"], "j": ["z", "y"], "similarity": [0.25, 0.5]}), path)
    before = path.read_bytes()
    with monkeypatch.context() as patch, pytest.raises(OSError, match="no room"):
        patch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("no room")))
        cr.number_records(path, path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    assert cr.number_records(path, path).tolist() == ["x", "y", "z"]
    assert [column.tolist() for column in columns(cr.chunks_from_parquet(path))] == [[1, 0], [2, 2], [0.5, 0.25]]
    assert list(tmp_path.iterdir()) == [path]


def test_without_the_extra_the_error_names_it():
    """crowder imports neither package by itself, and says what is missing where one is needed."""
    program = """
import sys
sys.modules["duckdb"] = sys.modules["pyarrow"] = None  # as if they were not installed
import crowder as cr
for call in (lambda: next(cr.chunks_from_parquet("x")), lambda: cr.write_candidates("x", [0.5])):
    try:
        call()
    except ModuleNotFoundError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
    duckdb, pyarrow = done.stdout.splitlines()
    assert "duckdb" in duckdb and "pyarrow" in pyarrow
    assert all("pip install 'crowder[scale]'" in line for line in (duckdb, pyarrow))
