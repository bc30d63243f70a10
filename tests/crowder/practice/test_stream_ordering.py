"""Edge ordering over a stream of chunks, and streams out of Parquet files: the same questions as in memory."""

import os
import subprocess
import sys

import numpy as np
import pytest
from blocked import blocked as drawn

import crowder as cr
from crowder.practice import Journal, StreamOrdering, chunks_from_parquet, write_candidates
from crowder.practice import parquet as parquet_module
from crowder.practice import stream_ordering as stream_module


def asked(resolution):
    return [tuple(pair) for pair in resolution.queries.tolist()]


def test_ties_across_chunks_are_shuffled_fairly(monkeypatch):
    """Three equal pairs in three chunks, one match: each comes first in a third of the runs (chi-square, 1e-4)."""
    monkeypatch.setattr(stream_module, "HEAD", 1)
    chunks = [([0], [1], [1.0]), ([0], [2], [1.0]), ([1], [2], [1.0])]
    first = [StreamOrdering(chunks, 3, rng=seed).ask() for seed in range(1500)]
    counts = np.array([first.count(pair) for pair in [(0, 1), (0, 2), (1, 2)]])
    assert ((counts - 500) ** 2 / 500).sum() < 18.4  # 99.99 % quantile, 2 degrees of freedom


def test_only_what_is_asked_about_is_read():
    """A stream is a stream: the second chunk is not fetched before the first is used up (beyond the journal's head)."""
    fetched = []

    def chunks():
        for number, w in enumerate([0.9, 0.8, 0.7]):
            fetched.append(number)
            yield np.arange(1500), np.arange(1, 1501), np.full(1500, w)

    ordering = StreamOrdering(chunks(), 1501, ties="stream")
    assert fetched == []
    ordering.ask()
    assert fetched == [0]
    for _ in range(1500):
        ordering.tell(ordering.ask(), True)
    assert ordering.ask() is None and fetched == [0, 1, 2]


@pytest.mark.parametrize("ties", ["random", "stream"])
@pytest.mark.parametrize(
    ("chunks", "error", "message"),
    [
        ([([0], [1], [0.5]), ([0, 1], [2, 2], [0.4, 0.6])], ValueError, "chunk 1, row 1: .*0.6.*0.4"),
        ([([0], [1], [0.5]), ([], [], []), ([1], [2], [0.6])], ValueError, "chunk 2, row 0: .*0.6.*0.5"),
        ([([0, 0], [1, 3], [0.5, 0.4])], ValueError, r"chunk 0, row 1: i and j must.*\(0, 3\)"),
        ([([-1], [1], [0.5])], ValueError, r"chunk 0, row 0: i and j must.*\(-1, 1\)"),
        ([([1], [1], [0.5])], ValueError, r"chunk 0, row 0: i and j must.*\(1, 1\)"),
        ([([0], [1], [1.5])], ValueError, "chunk 0, row 0: the similarity must.*1.5"),
        ([([0, 0], [1, 2], [0.5, np.nan])], ValueError, "chunk 0, row 1: the similarity must.*nan"),
        ([([0, 1], [1], [0.5])], ValueError, "chunk 0 must"),
        ([([0.0], [1.0], [0.5])], TypeError, "chunk 0 must"),
        ([([0], [1])], TypeError, "chunk 0 must"),
    ],
)
def test_a_broken_stream_is_told_by_chunk_and_row_and_has_not_ended(chunks, error, message, ties):
    ordering = StreamOrdering(chunks, 3, rng=1, ties=ties)
    for _ in range(2):  # asking again is no way around it
        with pytest.raises(error, match=message):
            ordering.run(lambda i, j: False)


def test_a_stream_that_breaks_off_has_not_ended():
    ordering = StreamOrdering(map(int, ["no number"]), 3, rng=1)
    for _ in range(2):
        with pytest.raises(ValueError, match="no number"):
            ordering.run(lambda i, j: False)


def test_a_stream_without_pairs_needs_no_question():
    for n in (0, 1, 5):
        assert len(StreamOrdering([], n, rng=1).run(cr.Truth(range(n))).clusters) == n


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
        return StreamOrdering(
            zip(*(np.split(column, cuts) for column in (i, j, values[keep])), strict=True), n, ties="stream"
        )

    whole = ordering().run(truth)
    asked_so_far = []

    def mortal(i, j):
        if len(asked_so_far) == 1250:
            raise KeyboardInterrupt
        asked_so_far.append((i, j))
        return truth(i, j)

    with Journal(mortal, path) as journal, pytest.raises(KeyboardInterrupt):
        ordering().run(journal)
    with Journal(truth, path) as journal:
        again = ordering(cut=77).run(journal)  # cut elsewhere, it is the same stream
        assert journal.asked == again.n_queries - 1250
    assert asked(again) == asked(whole)
    with Journal(truth, path) as journal, pytest.raises(ValueError, match="another run: its similarities"):
        ordering(seed=2).run(journal)
    with Journal(truth, path) as journal:
        with pytest.raises(ValueError, match="another run: its question"):
            ordering(more=True).run(journal)
        assert journal.asked == 0


# --- Parquet --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def blocked(tmp_path_factory):
    """40,000 candidate pairs of 2,000 records, similarities rounded so that ties abound; in memory and on disk."""
    pytest.importorskip("duckdb")
    similarity, labels = drawn([1, 2, 3, 4, 10] * 100, 40_000, cr.dist1(0.3), rng=2)
    similarity.data = similarity.data.round(2)
    path = tmp_path_factory.mktemp("parquet") / "pairs.parquet"
    assert write_candidates(path, similarity) == 40_000
    return similarity, labels, path


def columns(chunks):
    return [np.concatenate(column) for column in zip(*chunks, strict=True)]


def test_parquet_asks_what_memory_asks(blocked):
    similarity, labels, path = blocked
    truth = cr.Truth(labels)
    expected = cr.EdgeOrdering(similarity, rng=4).run(truth)
    stream = StreamOrdering(chunks_from_parquet(path, chunk=3000), 2000, rng=4).run(truth)
    assert np.array_equal(stream.queries, expected.queries)
    # Ties shuffled by the sort instead: other questions, the same clusters where the candidates connect them.
    hashed = StreamOrdering(chunks_from_parquet(path, seed=4), 2000, ties="stream").run(truth)
    assert np.array_equal(hashed.clusters, expected.clusters)
    assert not np.array_equal(hashed.queries, expected.queries)


def test_the_order_is_the_seed_s_whatever_the_threads_and_the_rows(blocked, tmp_path):
    similarity, _, path = blocked
    rng = np.random.default_rng(1)
    shuffled = rng.permutation(similarity.nnz)
    pieces = (tuple(c[part] for c in (similarity.col, similarity.row, similarity.data)) for part in
              np.array_split(shuffled, 7))  # fmt: skip
    write_candidates(tmp_path / "other.parquet", pieces)
    one = columns(chunks_from_parquet(path, seed=7, threads=1))
    two = columns(chunks_from_parquet(path, seed=7, threads=2, chunk=999))
    three = columns(chunks_from_parquet(tmp_path / "other.parquet", seed=7))
    for other in (two, three):
        assert all(map(np.array_equal, one, other))
    other_seed = columns(chunks_from_parquet(path, seed=8))
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
        (["a", "b"], ["c", "c"], [0.1, 0.2], "must hold integers"),
        ([0, 1], [1, 3], ["0.1", "high"], "must hold numbers"),
    ],
)
def test_a_bad_file_is_refused_before_the_first_question(tmp_path, i, j, w, message):
    pytest.importorskip("duckdb")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "bad.parquet"
    parquet.write_table(arrow.table({"i": i, "j": j, "similarity": w}), path)
    with pytest.raises(ValueError, match=message):
        next(chunks_from_parquet(path))


def test_a_sort_that_does_not_fit_goes_to_disk(tmp_path):
    """Two million pairs, 32 MB as numbers and more with their keys, in 40 MB: DuckDB must spill, and clears up after
    itself."""
    pytest.importorskip("duckdb")
    rng, path, spill = np.random.default_rng(6), tmp_path / "pairs.parquet", tmp_path / "spill"
    spill.mkdir()
    m, n = 2_000_000, 100_000
    i = rng.integers(0, n - 1, m)
    write_candidates(path, iter([(i, i + 1, rng.random(m))]))
    chunks = chunks_from_parquet(path, seed=1, memory_limit="40MB", threads=1, folder=spill)
    first = next(chunks)
    spilled = sum(file.stat().st_size for file in spill.rglob("*") if file.is_file())
    assert spilled > 1_000_000
    w = np.concatenate([first[2], *(part[2] for part in chunks)])
    assert len(w) == m and (np.diff(w) <= 0).all()
    assert list(spill.iterdir()) == []


def test_files_and_columns_may_have_any_name(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("duckdb")
    table = {"a b": [0, 2, 1], 'r"': [2, 1, 0], "s": [0.25, 0.5, 0.75]}
    for part in (0, 1):
        parquet.write_table(arrow.table(table).slice(2 * part, 2), tmp_path / f"it's {part}.parquet")
    i, j, w = columns(chunks_from_parquet(tmp_path / "it's *.parquet", columns=("a b", 'r"', "s")))
    assert [*zip(i, j, w, strict=True)] == [(0, 1, 0.75), (1, 2, 0.5), (0, 2, 0.25)]


def test_a_number_beyond_the_files_own_statistics_is_read_as_it_stands(tmp_path):
    """A flipped bit makes record 257 of record 1. The file's statistics still say "at most 3", which fits one byte."""
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("duckdb")
    path = tmp_path / "pairs.parquet"
    write_candidates(path, [0.5, 0.9, 0.1, 0.4, 0.9, 0.0])
    whole, found = path.read_bytes(), 0
    for at in range(len(whole) // 4):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        try:
            rows = parquet.read_table(path).to_pydict()
        except Exception:  # the flipped bit was not in a number
            continue
        records = [*rows["i"], *rows["j"]]
        if None not in records and min(records) >= 0 and max(records) > 3:
            i, j, _ = columns(chunks_from_parquet(path, threads=1))
            assert sorted([*i, *j]) == sorted(records)
            found += 1
    assert found > 3


def test_duckdb_is_told_to_fetch_nothing(tmp_path):
    pytest.importorskip("duckdb")
    with parquet_module.open_database("1GB", 1, tmp_path) as database:
        for setting in ("autoinstall_known_extensions", "autoload_known_extensions"):
            assert database.execute(f"SELECT current_setting('{setting}')").fetchone() == (False,)


def test_candidates_are_written_whole_or_not_at_all(tmp_path):
    """A chunk that is no pairs, after good ones: the file of before stays, and nothing lies beside it."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "pairs.parquet"
    write_candidates(path, [0.5, 0.9, 0.1])
    before = path.read_bytes()
    wrong = {ValueError: [([0], [2], [np.nan]), ([-1], [2], [0.5]), ([0], [2], [1.5])]}
    wrong |= {TypeError: [(["a"], [2], [0.5])]}
    for error, bad in ((error, bad) for error, chunks in wrong.items() for bad in chunks):
        with pytest.raises(error, match="chunk 1"):
            write_candidates(path, iter([([0], [1], [0.5]), bad]))
        assert path.read_bytes() == before and [*tmp_path.iterdir()] == [path]


def test_without_the_extra_the_error_names_it():
    """crowder imports neither package by itself, and says what is missing where one is needed."""
    program = """
import sys
sys.modules["duckdb"] = sys.modules["pyarrow"] = None  # as if they were not installed
import crowder as cr
for call in (lambda: next(cr.practice.chunks_from_parquet("x")), lambda: cr.practice.write_candidates("x", [0.5])):
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
