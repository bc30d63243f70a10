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
kind, n, few, many = sys.argv[1], *map(int, sys.argv[2:])

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

run(10_000, 20_000)  # enough for what is compiled to be compiled, or loaded
print(json.dumps([run(n, few), run(n, many)]))  # the larger one last, so that the peak is its own
"""


@pytest.mark.parametrize("kind", ["edge", "node"])
def test_memory_goes_with_pairs_and_answers(kind):
    """200,000 records with 20,000 pairs: n² numbers would take 320 GB, an array of n takes 0.8 or 1.6 MB, and there
    are some twelve of them. Of 400,000 pairs more, all asked about, each costs about 100 bytes (the list, the sorted
    list, and for the answer a log of 9, two links of 8 and a place in a hash table); 200 leave room for a table or a
    log that has just doubled."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("the memory of a process is read from /proc")
    sizes = map(str, (200_000, 20_000, 420_000))
    done = subprocess.run([sys.executable, "-c", PROGRAM, kind, *sizes], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (few, _), (many, questions) = json.loads(done.stdout)
    assert few < 40 * MB
    assert questions == 420_000
    assert (many - few) / 400_000 < 200
