"""Many records: memory goes with the candidate pairs and the answers, never with the square of the records."""

import json
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from blocked import blocked
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import squareform

import crowder as cr
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
    similarity, _ = blocked([3, 2, 1] * 50, 3000, cr.dist2(0.3), rng=1)
    exact = [Fraction(0)] * 300
    for i, j, w in zip(similarity.row, similarity.col, similarity.data, strict=True):
        exact[i] += Fraction(float(w))
        exact[j] += Fraction(float(w))
    found = expected_sizes(candidates(similarity))
    # What is left out of each term is under 2⁻⁵²; the sum, below 16, is then rounded to a multiple of 2⁻⁴⁹.
    assert max(exact) < 16
    assert all(abs(a - Fraction(float(b))) < 310 * 2**-52 for a, b in zip(exact, found, strict=True))
