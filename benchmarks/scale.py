"""Many records: time, ratio to one sort of the same similarities, and memory, from 10³ to 10⁶ records of 20 pairs each.

    python benchmarks/scale.py [--quick] [--results FOLDER]     or, with the others, `make bench`

Every row comes from a separate process, so that its peak memory is its own. It reads the candidate pairs as a sparse
matrix, builds the ordering, runs it to the end, and then sorts the similarities with `numpy.argsort`. The clock counts
the processor time of all threads. The row is the round with the median ratio of three (beyond 100,000 records there is
only one).

Columns of scale.csv: ordering (edge, node), records, pairs, questions, seconds,
argsort_seconds, ratio, peak_mb (peak resident memory of the process, including Python and compiled code), versions.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from common import arguments, results_folder, versions
from scipy import sparse

import crowder as cr

SEED, PAIRS = 7, 20
#: Each 25 records form clusters of these sizes.
SIZES = (1, 2, 3, 4, 5, 10)
ORDERINGS = {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering}
FULL, QUICK = (1000, 10_000, 100_000, 1_000_000, 3000, 30_000, 300_000), (1000, 3000)


def candidates_of(sizes: tuple, pairs: int) -> tuple[sparse.coo_array, np.ndarray]:
    """All matching pairs of clusters of these sizes and random others, `pairs` in total; and the true labels."""
    sizes, model, rng = np.array(sizes), cr.dist1(0.25), np.random.default_rng(SEED)
    n = int(sizes.sum())
    matching = int((sizes * (sizes - 1) // 2).sum())
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rng.shuffle(labels)
    codes = np.concatenate([_inside(labels, sizes.max()), _across(labels, pairs - matching, rng)])
    codes.sort()
    i, j = (codes >> 32).astype(np.int32), (codes & (2**32 - 1)).astype(np.int32)
    del codes
    match = labels[i] == labels[j]
    values = np.empty(pairs)
    values[match] = model.green.sample(matching, rng=rng)
    values[~match] = model.red.sample(pairs - matching, rng=rng)
    return sparse.coo_array((values, (i, j)), shape=(n, n)), labels


def _inside(labels: np.ndarray, largest: int) -> np.ndarray:
    """Every pair within a cluster, packed as ``i << 32 | j``."""
    members, found = np.argsort(labels, kind="stable"), []  # cluster after cluster, each in increasing order
    for step in range(1, largest):
        i, j = members[:-step], members[step:]
        found.append((i << 32 | j)[labels[i] == labels[j]])
    return np.concatenate(found)


def _across(labels: np.ndarray, wanted: int, rng: np.random.Generator) -> np.ndarray:
    """A random set of the wanted number of pairs between clusters, packed."""
    codes = np.empty(0, np.int64)
    while (missing := wanted - len(codes)) > 0:
        i, j = rng.integers(0, len(labels), (2, missing + missing // 4 + 16))
        apart = labels[i] != labels[j]
        codes = np.unique(np.concatenate([codes, (np.minimum(i, j) << 32 | np.maximum(i, j))[apart]]))
    return rng.permutation(codes)[:wanted]


def make(folder: Path, records: int) -> None:
    """Write the candidate pairs and the true labels."""
    sizes = SIZES * (records // sum(SIZES))
    similarity, labels = candidates_of(sizes, PAIRS * records)
    for name, column in (("i", similarity.row), ("j", similarity.col), ("w", similarity.data), ("labels", labels)):
        np.save(folder / f"{name}.npy", column)


def ordering_of(ordering: str, folder: Path, n: int):
    i, j, w = (np.load(folder / f"{name}.npy", allow_pickle=False) for name in "ijw")
    return ORDERINGS[ordering](sparse.coo_array((w, (i, j)), shape=(n, n)), rng=SEED)


def run(ordering: str, folder: Path, rounds: int) -> dict:
    """One row, measured in this process: the round with the median ratio."""
    with tempfile.TemporaryDirectory(dir=folder) as tiny:  # loads compiled code
        make(Path(tiny), 100)
        measured(ordering, Path(tiny))
    found = sorted((measured(ordering, folder) for _ in range(rounds)), key=lambda row: row["ratio"])
    return found[rounds // 2] | {"versions": versions("numpy", "scipy", "numba")}


def measured(ordering: str, folder: Path) -> dict:
    truth = cr.Truth(np.load(folder / "labels.npy", allow_pickle=False))
    start = time.process_time()
    questions = ordering_of(ordering, folder, len(truth)).run(truth).n_queries
    seconds, peak = time.process_time() - start, peak_mb()
    keys = np.load(folder / "w.npy", allow_pickle=False)
    sorts = []
    for _ in range(3):
        start = time.process_time()
        np.argsort(keys)
        sorts.append(time.process_time() - start)
    sort = float(np.median(sorts))
    return {
        "ordering": ordering, "records": len(truth), "pairs": len(keys), "questions": questions,
        "seconds": round(seconds, 4), "argsort_seconds": round(sort, 5), "ratio": round(seconds / sort, 2),
        "peak_mb": round(peak),
    }  # fmt: skip


def peak_mb() -> float:
    """The peak resident memory of this process; `getrusage` may give that of its parent, if larger."""
    if (status := Path("/proc/self/status")).exists():
        return int(re.search(r"VmHWM:\s*(\d+)", status.read_text()).group(1)) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)  # a row, in a process of its own
    options = parser.parse_args()
    if options.one:
        ordering, folder, rounds = options.one
        print(json.dumps(run(ordering, Path(folder), int(rounds))))
        return
    rows = []
    for records in QUICK if options.quick else FULL:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), records)
            for ordering in ORDERINGS:
                rounds = 1 if options.quick or records > 100_000 else 3
                command = [sys.executable, __file__, "--one", ordering, folder, str(rounds)]
                rows.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
                print({name: value for name, value in rows[-1].items() if name != "versions"}, flush=True)
        table = pd.DataFrame(rows).sort_values(["records", "ordering"])
        table.to_csv(results_folder(options) / "scale.csv", index=False)


if __name__ == "__main__":
    main()
