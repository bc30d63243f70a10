"""Many records: memory goes with the candidate pairs and the answers, never with the square of the records."""

import json
import os
import subprocess
import sys

import pytest

MB = 1 << 20

PROGRAM = """
import json, re, sys
import numpy as np, crowder as cr
from scipy import sparse
kind, n, m = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def used(what):  # getrusage would tell the peak of the parent, if that is larger
    with open("/proc/self/status") as status:
        return int(re.search(what + r":\\s*(\\d+)", status.read()).group(1)) * 1024

def run(n, m):
    # Pairs of one half with the other, each once; every record is a cluster, so every pair is asked about.
    i, turn = np.arange(m) % (n // 2), np.arange(m) // (n // 2)
    i, j = i.astype(np.int32), (n // 2 + (7 * i + 13 * turn) % (n // 2)).astype(np.int32)
    w = np.sort(np.random.default_rng(1).random(m))[::-1].copy()
    truth = cr.Truth(np.arange(n))
    before = used("VmRSS")
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


@pytest.mark.parametrize("kind", ["edge", "node"])
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
