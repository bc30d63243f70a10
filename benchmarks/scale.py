"""Many records: time, ratio to one sort of the same similarities, and memory, from 10³ to 10⁶ records of 20 pairs each.

Every row comes from a separate process, so that its peak memory is its own. It reads the candidate pairs (a sparse
matrix, or a Parquet file that DuckDB sorts), builds the ordering, runs it to the end, and then sorts the similarities
with `numpy.argsort`. The clock counts the processor time of all threads. The row is the round with the median ratio of
three (beyond 100,000 records there is only one).

    python benchmarks/scale.py [--quick] [--results FOLDER]

Columns of scale.csv: kind (sparse, stream), ordering (edge, node), records, pairs, questions, seconds (building the
ordering, sorting and running to the end), sort_seconds (of these, until the pairs are in order), argsort_seconds,
ratio, limit_seconds (to read every pair once and to write every question once, at the bandwidth with which a large
array is copied), peak_mb (peak resident memory of the process, including Python and compiled code), wall_seconds (as
seconds, but wall-clock time), versions.
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
from conftest import results_folder, versions
from scipy import sparse

import crowder as cr
from crowder.practice.parquet import chunks_from_parquet, write_candidates
from crowder.practice.stream_ordering import StreamOrdering
from crowder.synthetic_pairs import synthetic_candidates

SEED, PAIRS = 7, 20
#: Each 25 records form clusters of these sizes.
SIZES = (1, 2, 3, 4, 5, 10)
CONTESTANTS = (("sparse", "edge"), ("sparse", "node"), ("stream", "edge"))
FULL, QUICK = (1000, 10_000, 100_000, 1_000_000, 3000, 30_000, 300_000), (1000, 3000)
PACKAGES = ("numpy", "scipy", "numba", "duckdb", "pyarrow")


def make(folder: Path, records: int) -> None:
    """Write the candidate pairs, in both forms, and the true labels."""
    sizes = SIZES * (records // sum(SIZES))
    similarity, labels = synthetic_candidates(sizes, PAIRS * records, cr.dist1(0.25), rng=SEED)
    for name, column in (("i", similarity.row), ("j", similarity.col), ("w", similarity.data), ("labels", labels)):
        np.save(folder / f"{name}.npy", column)
    write_candidates(folder / "pairs.parquet", similarity)


class Clock:
    """The processor time of everything until the pairs are in order: of a block, or of each step of an iterator."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> None:
        self.start = time.process_time()

    def __exit__(self, *_) -> None:
        self.seconds += time.process_time() - self.start

    def watch(self, chunks):
        while True:
            with self:
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk


def ordering_of(kind: str, ordering: str, folder: Path, n: int, clock: Clock):
    path = folder / "pairs.parquet"
    if kind == "stream":
        chunks = clock.watch(chunks_from_parquet(path, seed=SEED, folder=folder))
        return StreamOrdering(chunks, n, ties="stream")
    i, j, w = (np.load(folder / f"{name}.npy", allow_pickle=False) for name in "ijw")
    similarity = sparse.coo_array((w, (i, j)), shape=(n, n))
    return {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering}[ordering](similarity, rng=SEED)


def run(kind: str, ordering: str, folder: Path, rounds: int) -> dict:
    """One row, measured in this process: the round with the median ratio."""
    with tempfile.TemporaryDirectory(dir=folder) as tiny:  # loads compiled code
        make(Path(tiny), 100)
        labels = np.load(Path(tiny) / "labels.npy", allow_pickle=False)
        ordering_of(kind, ordering, Path(tiny), 100, Clock()).run(cr.Truth(labels))
    found = sorted((measured(kind, ordering, folder) for _ in range(rounds)), key=lambda row: row["ratio"])
    return found[rounds // 2] | {"versions": versions(*PACKAGES)}


def peak_mb() -> float:
    """The peak resident memory of this process; `getrusage` may give that of its parent, if larger."""
    if (status := Path("/proc/self/status")).exists():
        return int(re.search(r"VmHWM:\s*(\d+)", status.read_text()).group(1)) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(kind: str, ordering: str, folder: Path) -> dict:
    truth = cr.Truth(np.load(folder / "labels.npy", allow_pickle=False))
    clock, wall, start = Clock(), time.perf_counter(), time.process_time()
    with clock:
        asking = ordering_of(kind, ordering, folder, len(truth), clock)
    resolution = asking.run(truth)
    del asking
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    peak = peak_mb()
    questions, written = resolution.n_queries, resolution.queries.nbytes + resolution.answers.nbytes
    del resolution
    keys = np.load(folder / "w.npy", allow_pickle=False)
    sorts = []
    for _ in range(3):
        start = time.process_time()
        np.argsort(keys)
        sorts.append(time.process_time() - start)
    sort = float(np.median(sorts))
    read = len(keys) * (keys.itemsize + 2 * np.dtype(np.int32).itemsize)
    return {
        "kind": kind, "ordering": ordering, "records": len(truth), "pairs": len(keys), "questions": questions,
        "seconds": round(seconds, 4), "sort_seconds": round(clock.seconds, 4), "argsort_seconds": round(sort, 5),
        "ratio": round(seconds / sort, 2), "limit_seconds": round((read + written) / bandwidth(), 6),
        "peak_mb": round(peak), "wall_seconds": round(wall, 4),
    }  # fmt: skip


def bandwidth(size: int = 1 << 28) -> float:
    """Bytes per second that one thread reads and writes when it copies a large array; the best of five."""
    source, copy = np.ones(size // 8), np.empty(size // 8)
    took = []
    for _ in range(6):  # the first touches the memory
        start = time.process_time()
        np.copyto(copy, source)
        took.append(time.process_time() - start)
    return 2 * size / min(took[1:])


def in_new_process(*arguments) -> dict:
    """One row, from a new process."""
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest sizes, into _build/measured")
    parser.add_argument("--results", type=Path, help="folder of the CSV file (default: book/data/measured)")
    parser.add_argument("--most", type=int, default=max(FULL), help="largest number of records")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        kind, ordering, folder, rounds = arguments.one
        print(json.dumps(run(kind, ordering, Path(folder), int(rounds))))
        return
    results = results_folder(arguments.results, arguments.quick)
    rows = []
    for records in [n for n in (QUICK if arguments.quick else FULL) if n <= arguments.most]:
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), records)
            for kind, ordering in CONTESTANTS:
                rows.append(in_new_process(kind, ordering, folder, 1 if arguments.quick or records > 100_000 else 3))
                print({name: value for name, value in rows[-1].items() if name != "versions"}, flush=True)
        table = pd.DataFrame(rows).sort_values(["records", "kind", "ordering"])
        table.to_csv(results / "scale.csv", index=False)


if __name__ == "__main__":
    main()
