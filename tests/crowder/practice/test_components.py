"""Candidate pairs in parts: resolved apart, by any process, they ask what one run over all pairs asks."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import examples
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import crowder as cr
from crowder.practice.components import (
    find_components,
    merge_parts,
    resolve_components,
    resolve_part,
    split_components,
)

pytest.importorskip("duckdb")


def write(folder, i, j, w):
    path = folder / "pairs.parquet"
    cr.write_candidates(path, iter([(np.asarray(i, np.int64), np.asarray(j, np.int64), np.asarray(w, float))]))
    return path


# --- components -----------------------------------------------------------------------------------------------------


def smallest_members(n, i, j):
    """SciPy's components, each named by its smallest record."""
    label = connected_components(sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n)), directed=False)[1]
    return np.unique(label, return_index=True)[1][label]


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 40))
    pairs = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=60))
    return n, *np.array([pair for pair in pairs if pair[0] != pair[1]], int).reshape(-1, 2).T


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder for all examples of a test, each of which empties its own."""
    return tmp_path_factory.mktemp("components")


@given(graphs())
@examples(40, night=1000)
def test_components_are_those_of_scipy(place, graph):
    """Random graphs with up to 60 pairs of up to 40 records: singletons, small components, and large ones."""
    n, i, j = graph
    path = write(place, i, j, np.full(len(i), 0.5))
    assert find_components(path, n, threads=1).tolist() == smallest_members(n, i, j).tolist()


def chain(n, rng):
    records = rng.permutation(n)
    return records[:-1], records[1:]


def star(n, rng):
    records = rng.permutation(n)
    return np.full(n - 1, records[0]), records[1:]


def giant(n, rng):
    return rng.integers(0, n // 2, 2 * n), rng.integers(n // 2, n, 2 * n)  # four pairs a record on average


def pieces(n, rng):
    i = rng.integers(0, n, n // 2)
    return i, np.where(i % 100 < 99, i + 1, i - 1)  # paths within hundreds, and singletons


@pytest.mark.parametrize("shape", [chain, star, giant, pieces])
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
def test_components_of_long_paths_and_of_one_giant(tmp_path, shape, order):
    """100,000 records: a path as long takes label propagation as many rounds, a union-find one pass."""
    rng, n = np.random.default_rng(1), 100_000
    i, j = shape(n, rng)
    at = np.argsort(np.minimum(i, j)) if order == "sorted" else rng.permutation(len(i))
    path = write(tmp_path, i[at], j[at], np.full(len(i), 0.5))
    found = find_components(path, n)
    assert np.array_equal(found, smallest_members(n, i, j))
    split = split_components(path, n, tmp_path / "plan", parts=3)
    sizes = np.bincount(found[i])
    assert (split.n_components, split.largest) == ((sizes > 0).sum(), sizes.max())
    assert split.largest_share == sizes.max() / len(i)
    if shape in (chain, star):  # nothing to divide, however many parts are wanted
        assert len(split.parts) == 1 and split.largest_share == 1
    if shape is giant:  # of four pairs a record hardly any is outside of it
        assert split.parts["pairs"].max() == split.largest and 0.99 < split.largest_share < 1


def test_parts_hold_each_pair_once_never_divide_a_component_and_are_balanced(tmp_path):
    """No part exceeds an equal share by more than the largest component: the component assigned to it last went to the
    part with the fewest pairs then, which had at most an equal share."""
    rng, n = np.random.default_rng(2), 3000
    i = rng.integers(0, n, 6000)
    block = np.sort(rng.integers(0, 40, n))  # of random size
    first, size = np.searchsorted(block, block), np.bincount(block, minlength=40)[block]
    j = first[i] + rng.integers(0, size[i])
    i, j = i[i != j], j[i != j]
    w = rng.random(len(i))
    split = split_components(write(tmp_path, i, j, w), n, tmp_path / "plan", parts=4)
    label, seen, records = find_components(tmp_path / "pairs.parquet", n), [], []
    for part, row in split.parts.iterrows():
        chunks = cr.chunks_from_parquet(tmp_path / "plan" / "pairs" / f"part={part}" / "*.parquet")
        a, b, v = (np.concatenate(column) for column in zip(*chunks, strict=True))
        mine = np.unique(np.concatenate([a, b]))
        assert (len(a), len(mine), len(np.unique(label[a]))) == (row["pairs"], row["records"], row["components"])
        seen += zip(a.tolist(), b.tolist(), v.tolist(), strict=True)
        records += [set(mine.tolist())]
    expected = zip(np.minimum(i, j).tolist(), np.maximum(i, j).tolist(), w.tolist(), strict=True)
    assert sorted(seen) == sorted(expected)
    assert sum(map(len, records)) == len(set.union(*records))  # no record is in two parts
    assert split.parts["pairs"].max() <= len(i) / 4 + split.largest


# --- the same questions ---------------------------------------------------------------------------------------------


@st.composite
def instances(draw):
    """Candidates with few distinct similarities, in either direction and some of them twice; and a crowd."""
    n = draw(st.integers(2, 14))
    levels = draw(st.sampled_from([1, 3, 1000]))
    record = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(record, record, st.integers(0, levels)), max_size=30))
    i, j, w = np.array([pair for pair in pairs if pair[0] != pair[1]], int).reshape(-1, 3).T
    labels = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    crowd = cr.Truth(labels)
    if draw(st.booleans()):  # answers that contradict each other, but not themselves
        crowd = cr.Faulty(crowd, 0.4, rng=draw(st.integers(0, 99)), persistent=True)
    return n, i, j, w / levels, crowd, draw(st.sampled_from([None, 0, 7])), draw(st.integers(1, 4))


def one_run(path, n, crowd, ordering, seed):
    """The run over all pairs in one process, in memory: ties by the position in the stream of all pairs."""
    chunks = list(cr.chunks_from_parquet(path, seed=seed))
    if not chunks:
        return cr.StreamOrdering([], n, ties="stream").run(crowd)
    i, j, w = (np.concatenate(column) for column in zip(*chunks, strict=True))
    place, value = {}, {}
    for turn, (a, b, v) in enumerate(zip(i.tolist(), j.tolist(), w.tolist(), strict=True)):
        if (a, b) not in place:
            place[a, b], value[a, b] = turn, v
    listed = sorted(place)
    matrix = sparse.coo_array(([value[pair] for pair in listed], np.transpose(listed)), shape=(n, n))
    ties = [place[pair] for pair in listed] if seed is not None else "index"
    return (cr.EdgeOrdering if ordering == "edge" else cr.NodeOrdering)(matrix, ties=ties).run(crowd)


def assert_same(found, expected):
    assert found.queries.tolist() == expected.queries.tolist()
    assert found.answers.tolist() == expected.answers.tolist()
    assert found.clusters.tolist() == expected.clusters.tolist()


@pytest.mark.parametrize("ordering", ["edge", "node"])
@given(instances())
@examples(15, night=500)
def test_parts_ask_what_one_run_asks(place, ordering, instance):
    """The same questions, in the same sequence, with the same answers; also of a crowd that contradicts itself, since
    what its answers imply stays within a component, too."""
    n, i, j, w, crowd, seed, parts = instance
    path, plan = write(place, i, j, w), place / "plan"
    shutil.rmtree(plan, ignore_errors=True)
    split = split_components(path, n, plan, parts=parts, ordering=ordering, seed=seed, threads=1)
    assert split.n_pairs == len(i) and len(split.parts) <= parts
    expected = one_run(path, n, crowd, ordering, seed)
    assert_same(resolve_components(plan, crowd), expected)
    if ordering == "edge":
        stream = cr.StreamOrdering(cr.chunks_from_parquet(path, seed=seed), n, ties="stream")
        assert_same(merge_parts(plan), stream.run(crowd))


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    """Twelve blocks of 25 records with 60 pairs each, similarities rounded so that ties abound, records shuffled."""
    folder, rng = tmp_path_factory.mktemp("blocks"), np.random.default_rng(3)
    similarity, labels = zip(
        *(cr.synthetic_candidates([1, 2, 3, 4, 5, 10], 120, cr.dist1(0.3), rng=rng) for _ in range(12)), strict=True
    )
    number = rng.permutation(300)
    i, j = (np.concatenate([25 * b + getattr(s, side) for b, s in enumerate(similarity)]) for side in ("row", "col"))
    truth = np.empty(300, int)
    truth[number] = np.concatenate([100 * b + block for b, block in enumerate(labels)])
    w = np.concatenate([s.data for s in similarity]).round(1)
    return write(folder, number[i], number[j], w), truth


@pytest.mark.parametrize("ordering", ["edge", "node"])
def test_larger_components_ask_the_same_too_with_and_without_a_journal(blocks, tmp_path, ordering):
    path, labels = blocks
    for seed in (None, 7):
        expected = one_run(path, 300, cr.Truth(labels), ordering, seed)
        for name, crowd in (("truth", cr.Truth(labels)), ("crowd", lambda i, j: bool(labels[i] == labels[j]))):
            plan = tmp_path / f"{name}-{seed}"
            split_components(path, 300, plan, parts=4, ordering=ordering, seed=seed)
            assert_same(resolve_components(plan, crowd), expected)
            assert len(list(plan.glob("answers-*.db"))) == (4 if name == "crowd" else 0)


def test_parts_resolved_in_any_order_one_by_one_are_merged(blocks, tmp_path):
    path, labels = blocks
    split_components(path, 300, tmp_path, parts=3, seed=7)
    counts = [resolve_part(tmp_path, part, cr.Truth(labels)) for part in (2, 0, 1)]
    merged = merge_parts(tmp_path)
    assert merged.n_queries == sum(counts)
    assert resolve_part(tmp_path, 2, cr.Truth(labels)) == counts[0]  # already there
    assert_same(merged, one_run(path, 300, cr.Truth(labels), "edge", 7))


def test_no_pairs_have_no_parts(tmp_path):
    path = write(tmp_path, [], [], [])
    split = split_components(path, 4, tmp_path / "plan", parts=3)
    assert (split.n_pairs, split.n_components, len(split.parts), split.largest_share) == (0, 0, 0, 0)
    assert list(split.parts) == ["components", "records", "pairs"]
    assert resolve_components(tmp_path / "plan", cr.Truth([0, 0, 1, 1])).clusters.tolist() == [0, 1, 2, 3]


# --- processes ------------------------------------------------------------------------------------------------------


class Crowd:
    """Notes each question in a file before it answers, slowly: what it has been asked survives the process."""

    def __init__(self, log, labels, pause=0.002):
        self.log, self.labels, self.pause = str(log), labels.tolist(), pause

    def __call__(self, i, j):
        with open(self.log, "ab", buffering=0) as file:
            file.write(b"%d %d %d\n" % (os.getpid(), i, j))
        time.sleep(self.pause)
        return self.labels[i] == self.labels[j]


def logged(log):
    """Process and pair of each question so far."""
    if not log.exists():
        return []
    lines = log.read_text().rpartition("\n")[0].splitlines()
    return [(int(who), tuple(sorted((int(i), int(j))))) for who, i, j in map(str.split, lines)]


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.005)


def assert_nothing_asked_twice(log, killed, expected):
    """Each question once; only the one that was open when its process was killed may be asked again."""
    asked = logged(log)
    times = Counter(pair for _, pair in asked)
    assert sorted(times) == sorted(map(tuple, np.sort(expected.queries).tolist()))
    open_ones = {[pair for who, pair in asked if who == process][-1] for process in killed}
    assert {pair for pair, count in times.items() if count > 1} <= open_ones
    assert max(times.values()) <= 2


PROGRAM = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from test_components import Crowd, resolve_part
folder, log, labels, part = sys.argv[2:]
print(resolve_part(folder, int(part), Crowd(log, np.load(labels))))
"""


@pytest.mark.parametrize("ordering", ["edge", "node"])
def test_two_processes_one_killed_half_way(blocks, tmp_path, ordering):
    path, labels = blocks
    plan, log = tmp_path / "plan", tmp_path / "log"
    np.save(tmp_path / "labels.npy", labels)
    split_components(path, 300, plan, parts=2, ordering=ordering, seed=7)
    expected = one_run(path, 300, cr.Truth(labels), ordering, 7)

    def start(part):
        command = [sys.executable, "-c", PROGRAM, os.path.dirname(__file__), plan, log, tmp_path / "labels.npy", part]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.Popen([*map(str, command)], env=environment, stdout=subprocess.PIPE, text=True)

    workers = [start(0), start(1)]
    wait_until(lambda: sum(who == workers[0].pid for who, _ in logged(log)) >= 100)
    workers[0].kill()
    assert workers[0].wait() == -signal.SIGKILL and not (plan / "asked-00000.parquet").exists()
    assert workers[1].wait() == 0
    with pytest.raises(ValueError, match="must be resolved before they are merged; missing: 0"):
        merge_parts(plan)
    again = start(0)
    assert again.wait() == 0
    counts = [int(process.stdout.read() or 0) for process in (again, *workers)]
    assert counts[0] + counts[2] == expected.n_queries and counts[1] == 0
    assert_same(merge_parts(plan), expected)
    assert_nothing_asked_twice(log, [workers[0].pid], expected)
    for process in (again, *workers):
        process.stdout.close()


def test_a_cluster_one_of_whose_two_workers_is_killed(blocks, tmp_path):
    """Dask, through joblib: the other worker takes over the part, and continues its journal."""
    distributed = pytest.importorskip("distributed")
    import joblib

    path, labels = blocks
    plan, log = tmp_path / "plan", tmp_path / "log"
    split_components(path, 300, plan, parts=4, seed=7)
    expected = one_run(path, 300, cr.Truth(labels), "edge", 7)
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with distributed.LocalCluster(host="127.0.0.1", **settings) as local, distributed.Client(local):

        def run():
            with joblib.parallel_config(backend="dask", wait_for_workers_timeout=60):
                return resolve_components(plan, Crowd(log, labels), n_jobs=-1)

        with ThreadPoolExecutor(1) as thread:
            result = thread.submit(run)
            wait_until(lambda: len({who for who, _ in logged(log)}) == 2 and len(logged(log)) >= 200)
            victim = logged(log)[-1][0]
            os.kill(victim, signal.SIGKILL)
            found = result.result(timeout=120)
    assert_same(found, expected)
    assert_nothing_asked_twice(log, [victim], expected)


@pytest.mark.parametrize("left", ["crowder-1", "pairs"])
def test_a_split_that_was_killed_starts_again(blocks, tmp_path, left):
    """Before the plan is there, whatever lies in its folder is incomplete."""
    path, labels = blocks
    (tmp_path / "plan" / left / "part=0").mkdir(parents=True)
    (tmp_path / "plan" / left / "part=0" / "data_0.parquet").write_text("half")
    with pytest.raises(ValueError, match="must hold a plan"):
        resolve_part(tmp_path / "plan", 0, cr.Truth(labels))
    split = split_components(path, 300, tmp_path / "plan", parts=3, seed=7)
    written = sorted((tmp_path / "plan").rglob("*"))
    again = split_components(path, 300, tmp_path / "plan", parts=3, seed=7)  # only checks
    assert again.parts.equals(split.parts) and (again.n_pairs, again.largest) == (split.n_pairs, split.largest)
    assert sorted((tmp_path / "plan").rglob("*")) == written and not (tmp_path / "plan" / "crowder-1").exists()
    assert_same(
        resolve_components(tmp_path / "plan", cr.Truth(labels)), one_run(path, 300, cr.Truth(labels), "edge", 7)
    )


def test_pairs_that_exceed_the_memory_limit(tmp_path):
    """3,500,000 pairs take 56 MB as i, j and similarity, and more while they are sorted; DuckDB has 50 MB."""
    rng, n = np.random.default_rng(4), 300_000

    def chunks():
        for _ in range(7):
            i = rng.integers(0, n, 500_000)
            yield i, i - i % 100 + (i + rng.integers(1, 100, len(i))) % 100, rng.random(len(i))

    path = tmp_path / "pairs.parquet"
    assert cr.write_candidates(path, chunks()) == 3_500_000
    limits = {"memory_limit": "50MB", "threads": 1}
    split = split_components(path, n, tmp_path / "plan", parts=4, seed=7, **limits)
    assert split.n_components == n / 100  # over ten random pairs a record: a block is connected
    # All records of a block are one entity, so a spanning tree of matches is asked about, whatever the order.
    resolution = resolve_components(tmp_path / "plan", cr.Truth(np.arange(n) // 100), **limits)
    assert resolution.n_queries == n - n / 100 and resolution.answers.all()


# --- errors ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def planned(blocks, tmp_path):
    split_components(blocks[0], 300, tmp_path / "plan", parts=3, seed=7)
    return tmp_path / "plan"


@pytest.mark.parametrize(
    ("other", "different"),
    [
        ({"seed": 8}, "seed"),
        ({"seed": None}, "seed"),
        ({"parts": 4}, "parts"),
        ({"ordering": "node"}, "ordering"),
        ({"n": 301}, "records"),
    ],
)
def test_a_folder_keeps_its_plan(blocks, planned, other, different):
    same = {"n": 300, "parts": 3, "seed": 7}
    with pytest.raises(ValueError, match=rf"another plan \(different: {different}\)"):
        split_components(blocks[0], folder=planned, **same | other)
    assert split_components(blocks[0], folder=planned, **same).n == 300


def test_a_plan_is_of_its_pairs(blocks, planned, tmp_path):
    i, j, w = next(cr.chunks_from_parquet(blocks[0]))
    with pytest.raises(ValueError, match=r"another plan \(different: digest\)"):
        split_components(write(tmp_path, i, j, np.append(w[:-1], 0.123)), 300, planned, parts=3, seed=7)
    order = np.random.default_rng(1).permutation(len(i))  # the same pairs in another order are the same
    split_components(write(tmp_path, j[order], i[order], w[order]), 300, planned, parts=3, seed=7)


def test_a_part_missing_a_part_twice_and_one_of_another_plan(blocks, planned, tmp_path):
    path, labels = blocks
    for part in (0, 1):
        resolve_part(planned, part, cr.Truth(labels))
    with pytest.raises(ValueError, match="missing: 2"):
        merge_parts(planned)
    shutil.copy(planned / "asked-00000.parquet", planned / "asked-00002.parquet")
    with pytest.raises(ValueError, match=r"asked-00002\.parquet must hold the questions of part 2 of this plan"):
        merge_parts(planned)
    with pytest.raises(ValueError, match="was resolved with another crowd, part or plan"):
        resolve_part(planned, 2, cr.Truth(labels))
    split_components(path, 300, tmp_path / "other", parts=3, seed=8)
    resolve_part(tmp_path / "other", 2, cr.Truth(labels))
    shutil.copy(tmp_path / "other" / "asked-00002.parquet", planned)
    with pytest.raises(ValueError, match="must hold the questions of part 2 of this plan, not of another"):
        merge_parts(planned)
    (planned / "asked-00002.parquet").write_text("hello")
    with pytest.raises(ValueError, match="must hold the questions of a part, but cannot be read"):
        merge_parts(planned)


def test_answers_of_true_labels_and_of_people_are_kept_apart(blocks, planned):
    """A trial run with true labels must not pass for answers that were paid for, nor be mixed with them."""
    labels = blocks[1]
    resolve_part(planned, 0, cr.Truth(labels))
    for crowd in (lambda i, j: True, cr.Truth(np.arange(300))):
        with pytest.raises(ValueError, match="was resolved with another crowd"):
            resolve_part(planned, 0, crowd)
    for part in (1, 2):
        resolve_part(planned, part, lambda i, j: True)
    with pytest.raises(ValueError, match="must be answered by one crowd"):
        merge_parts(planned)


def test_a_journal_of_another_part_or_plan_is_refused(blocks, planned, tmp_path):
    path, _ = blocks
    asked = []
    resolve_part(planned, 0, lambda i, j: asked.append((i, j)) is None)
    count = len(asked)
    shutil.copy(planned / "answers-00000.db", planned / "answers-00001.db")
    with pytest.raises(ValueError, match=r"answers-00001\.db is the journal of another run"):
        resolve_part(planned, 1, lambda i, j: asked.append((i, j)) is None)
    split_components(path, 300, tmp_path / "other", parts=3, seed=7, ordering="node")
    shutil.copy(planned / "answers-00000.db", tmp_path / "other")
    with pytest.raises(ValueError, match="is the journal of another run"):
        resolve_part(tmp_path / "other", 0, lambda i, j: asked.append((i, j)) is None)
    assert len(asked) == count  # nothing was asked for it


def test_a_journal_of_a_part_that_looks_alike_is_refused(tmp_path):
    """Two pairs that differ in nothing but the numbers of their records."""
    plan = tmp_path / "plan"
    split_components(write(tmp_path, [0, 2], [1, 3], [0.5, 0.5]), 4, plan, parts=2)
    assert resolve_part(plan, 0, lambda i, j: True) == 1
    shutil.copy(plan / "answers-00000.db", plan / "answers-00001.db")
    with pytest.raises(ValueError, match=r"the journal of another run: the text of its records differs"):
        resolve_part(plan, 1, lambda i, j: False)


def test_a_plan_made_with_another_duckdb_is_not_continued(blocks, planned):
    """Its hash, and so its order of ties, may be another."""
    plan = json.loads((planned / "plan.json").read_text())
    plan["key"]["duckdb"] = "0.1"
    (planned / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(ValueError, match=r"ordered by duckdb 0\.1, not by"):
        resolve_part(planned, 0, cr.Truth(blocks[1]))
