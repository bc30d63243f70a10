"""Many records: memory goes with the candidate pairs and the answers, never with the square of the records."""

import json
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import squareform
from scipy.stats import kstest

import crowder as cr
from crowder.datasets import synthetic_candidates
from crowder.orderings import expected_sizes
from crowder.pairs import candidates
from crowder.sorting import by_arrival

MB = 1 << 20

PROGRAM = """
import json, re, sys
import numpy as np, crowder as cr
from scipy import sparse
kind, n, m = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def used(what):  # getrusage would tell the peak of the parent, if that is larger
    with open("/proc/self/status") as status:
        return int(re.search(what + r":\\s*(\\d+)", status.read()).group(1)) * 1024

def chunks(i, j, w):
    for at in range(0, len(w), 1 << 16):
        yield i[at : at + (1 << 16)], j[at : at + (1 << 16)], w[at : at + (1 << 16)]

def run(n, m):
    # Pairs of one half with the other, each once; every record is a cluster, so every pair is asked about.
    i, turn = np.arange(m) % (n // 2), np.arange(m) // (n // 2)
    i, j = i.astype(np.int32), (n // 2 + (7 * i + 13 * turn) % (n // 2)).astype(np.int32)
    w = np.sort(np.random.default_rng(1).random(m))[::-1].copy()
    truth = cr.Truth(np.arange(n))
    before = used("VmRSS")
    if kind == "stream":
        resolution = cr.practice.StreamOrdering(chunks(i, j, w), n, rng=1).run(truth)
    else:
        matrix = sparse.coo_array((w, (i, j)), shape=(n, n))
        resolution = {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering}[kind](matrix, rng=1).run(truth)
    return used("VmHWM") - before, resolution.n_queries

run(100, 200)  # compiles, or loads what was compiled
print(json.dumps(run(n, m)))
"""


def growth(kind, n, m):
    """Bytes by which a run lets its process grow, beside the pairs themselves; and its questions."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("the memory of a process is read from /proc")
    done = subprocess.run([sys.executable, "-c", PROGRAM, kind, str(n), str(m)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["edge", "node", "stream"])
def test_memory_goes_with_pairs_and_answers(kind):
    """A million records with 100,000 pairs: n² numbers would take 8 TB, an array of n takes 4 or 8 MB, and there are
    some twelve of them. Of 2,000,000 pairs more, all asked about, each costs about 100 bytes (the list, the sorted
    list, and for the answer a log of 9, two links of 8 and a place in a hash table); 200 leave room for a table or a
    log that has just doubled."""
    few, _ = growth(kind, 1_000_000, 100_000)
    assert few < 200 * MB
    many, questions = growth(kind, 1_000_000, 2_100_000)
    assert questions == 2_100_000
    assert (many - few) / 2_000_000 < 200


@given(st.integers(1, 40), st.data())
@settings(max_examples=60, deadline=None)
def test_stored_pairs_come_out_once_in_order(n, data):
    """COO in any order, each pair stored above, below, or on both sides, rows of more than 32 pairs included: the
    packed list against a dictionary. Of twins that differ by rounding the one above the diagonal stays."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    m = data.draw(st.integers(0, n * (n - 1) // 2))
    i, j = np.triu_indices(n, 1)
    chosen = rng.permutation(len(i))[:m]
    i, j, w = i[chosen], j[chosen], rng.random(m)
    side = rng.integers(0, 3, m)  # above, below, both
    above, below = side != 1, side != 0
    row, col = np.r_[i[above], j[below], np.arange(n)], np.r_[j[above], i[below], np.arange(n)]
    stored = np.r_[w[above], (w + np.where(side == 2, 1e-14, 0)).clip(0, 1)[below], np.full(n, np.nan)]
    order = rng.permutation(len(row))
    matrix = sparse.coo_array((stored[order], (row[order], col[order])), shape=(n, n))
    values, codes = candidates(matrix).listed()
    expected = sorted(zip(i.tolist(), j.tolist(), w.tolist(), strict=True))
    assert [(*divmod(int(c), 2**32), v) for c, v in zip(codes, values, strict=True)] == expected


def test_twins_that_differ_are_told():
    matrix = sparse.coo_array(([0.5, 0.9, 0.25], ([0, 1, 2], [1, 2, 1])), shape=(3, 3))
    with pytest.raises(ValueError, match=r"two values, 0.9 and 0.25, are stored for pair \(1, 2\)"):
        candidates(matrix)


@given(st.integers(1, 60), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_pairs_by_arrival(n, seed):
    """Against NumPy's own sort, with arrivals of more than 32 pairs, too."""
    rng = np.random.default_rng(seed)
    values = rng.random(n * (n - 1) // 2)
    values, codes = candidates(squareform(values) if n > 1 else np.zeros((n, n))).listed()
    arrivals = rng.permutation(n)
    rank = np.argsort(arrivals)
    i, j = codes >> 32, codes & (2**32 - 1)
    later, earlier = np.maximum(rank[i], rank[j]), np.minimum(rank[i], rank[j])
    order = np.lexsort((earlier, later))
    first, partner, value, position = by_arrival(values, codes, arrivals, True)
    assert first.tolist() == np.searchsorted(later[order], np.arange(n + 1)).tolist()
    assert partner.tolist() == arrivals[earlier[order]].tolist()
    assert value.tolist() == values[order].tolist() and position.tolist() == order.tolist()


def test_expected_sizes_are_sums_to_the_last_bits():
    """Of each of up to 299 similarities 52 bits are added up, none of which is lost on the way."""
    similarity, _ = synthetic_candidates([3, 2, 1] * 50, 3000, cr.dist2(0.3), rng=1)
    exact = [Fraction(0)] * 300
    for i, j, w in zip(similarity.row, similarity.col, similarity.data, strict=True):
        exact[i] += Fraction(float(w))
        exact[j] += Fraction(float(w))
    found = expected_sizes(candidates(similarity))
    # What is left out of each term is under 2⁻⁵²; the sum, below 16, is then rounded to a multiple of 2⁻⁴⁹.
    assert max(exact) < 16
    assert all(abs(a - Fraction(float(b))) < 310 * 2**-52 for a, b in zip(exact, found, strict=True))


@pytest.mark.parametrize("pairs", [600, 2_000, 20_000])  # all listed, or drawn
def test_blocked_is_what_it_says(pairs):
    """Each matching pair once, others to make up the number; densities by Kolmogorov and Smirnov at level 1e-5."""
    sizes = [1, 2, 3, 4, 5, 10] * 8 if pairs < 20_000 else [1, 2, 3, 4, 5, 10] * 40
    similarity, labels = synthetic_candidates(sizes, pairs, cr.dist1(0.4), rng=3)
    assert sorted(np.unique(labels, return_counts=True)[1]) == sorted(sizes)
    i, j, w = similarity.row, similarity.col, similarity.data
    assert len(w) == pairs == len(set(zip(i.tolist(), j.tolist(), strict=True))) and (i < j).all()
    # In random order, where neighbours are of one cluster once in some ten times, not of one cluster mostly.
    assert (labels[1:] == labels[:-1]).mean() < 0.2
    match = labels[i] == labels[j]
    assert match.sum() == sum(s * (s - 1) // 2 for s in sizes)
    assert kstest(w[match], cr.dist1(0.4).green.cdf).pvalue > 1e-5
    assert kstest(w[~match], cr.dist1(0.4).red.cdf).pvalue > 1e-5
    again, _ = synthetic_candidates(sizes, pairs, cr.dist1(0.4), rng=3)
    assert (again != similarity).nnz == 0


def test_blocked_takes_every_other_pair_alike():
    """Of 3 + 1 + 1 records there are 7 pairs across clusters; two of them are drawn, each in 2/7 of the runs."""
    times = np.zeros(7)
    for seed in range(700):
        similarity, labels = synthetic_candidates([3, 1, 1], 5, cr.dist1(0.4), rng=seed)
        assert len(set(zip(similarity.row, similarity.col, strict=True))) == 5  # no pair is drawn twice
        members = np.argsort(labels, kind="stable")
        place = np.empty(5, int)
        place[members] = np.arange(5)
        across = [(a, b) for a in range(5) for b in range(max(a + 1, 3), 5)]
        for a, b in zip(place[similarity.row], place[similarity.col], strict=True):
            if max(a, b) >= 3:
                times[across.index((min(a, b), max(a, b)))] += 1
    assert times.sum() == 1400
    assert abs(times - 200).max() < 5 * np.sqrt(700 * 2 / 7 * 5 / 7)  # five standard deviations


@pytest.mark.parametrize("seed", range(3))
def test_blocked_prefers_no_record_when_pairs_are_drawn(seed):
    """Of 79,800 pairs of lone records 2,000 are drawn one by one, and a few too many: none of the ends is cut off."""
    similarity, _ = synthetic_candidates([1] * 400, 2000, cr.dist1(0.4), rng=seed)
    i, j = similarity.row.astype(int), similarity.col.astype(int)
    place = (i * (2 * 400 - i - 1) // 2 + j - i - 1) / 79_800
    assert kstest(place, "uniform").pvalue > 1e-4
    # Each record is in 10 of them on average, a Poisson number nearly.
    assert abs(np.bincount(np.concatenate([i, j]), minlength=400) - 10).max() < 6 * np.sqrt(10)


@pytest.mark.parametrize("pairs", [3, 11])
def test_blocked_needs_room_for_its_pairs(pairs):
    with pytest.raises(ValueError, match="pairs must"):
        synthetic_candidates([3, 2], pairs, cr.dist1(0.4), rng=1)
