"""Time and memory of both orderings, on cora and on 10³ to 10⁶ records with 20 candidate pairs each; times of chapters.

    python benchmarks/measure.py [--quick]     or `make bench`

Times mean little on a shared machine: what counts is the ratio to one `numpy.argsort` of the same similarities. The
clock counts the processor time of all threads. With --quick there are fewer and smaller runs, and the tables, each with
the versions that a time depends on, go to _build/measured instead of book/data/measured.

Columns of orderings.csv, for cora: contestant, n, k, pairs, questions, seconds (the median), ratio (the median, of
contestants that take turns), low and high (its quartiles).

Columns of scale.csv: ordering, records, pairs, questions, seconds, argsort_seconds, ratio, peak_mb (peak resident
memory of the process, including Python and compiled code). Every row comes from a process of its own, which reads the
candidate pairs as a sparse matrix, builds the ordering and runs it to the end. The row is the round with the median
ratio of three (beyond 100,000 records there is only one).

Columns of chapters.csv: chapter, seconds when it was last executed. Pages must be identical in every build, so a build
shows these times instead of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from time import process_time

import numpy as np
import pandas as pd
from scipy import sparse

import crowder as cr
from book.project import OUT, ROOT

SEED, PAIRS = 7, 20
#: Each 25 records form clusters of these sizes.
SIZES = np.array([1, 2, 3, 4, 5, 10])
ORDERINGS = {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering}
QUICK = sys.argv[1:] == ["--quick"]
RECORDS = (1000, 3000) if QUICK else (1000, 10_000, 100_000, 1_000_000, 3000, 30_000, 300_000)


def cora() -> pd.DataFrame:
    data = cr.datasets.cora()
    w, truth = data.similarity, cr.Truth(data.labels)
    contestants = {
        "argsort": lambda: np.argsort(data.condensed)[:0].size,  # no questions
        "edge": lambda: cr.edge_ordering(w, truth, rng=SEED).n_queries,
        "node": lambda: cr.node_ordering(w, truth, rng=SEED).n_queries,
    }
    facts, turns = {"n": data.n, "k": len(data.sizes), "pairs": len(data.condensed)}, range(3 if QUICK else 15)
    table = pd.DataFrame(facts, index=pd.Index([*contestants], name="contestant"))
    table["questions"] = [run() for run in contestants.values()]  # compiles, or loads compiled code
    taken = pd.DataFrame([{name: timed(run)[0] for name, run in contestants.items()} for _ in turns])
    ratios = taken.div(taken["argsort"], axis=0).quantile([0.5, 0.25, 0.75])
    table["seconds"], table[["ratio", "low", "high"]] = taken.median(), ratios.T.to_numpy()
    return table.reset_index()


def timed(run):
    """The processor time of a call, and what it returns."""
    start = process_time()
    found = run()
    return process_time() - start, found


def make(path: Path, records: int) -> None:
    """Write candidate pairs, i and j with similarities w, and true labels.

    The pairs are all matches and random others, `PAIRS` in all for each record.
    """
    rng, model, sizes = np.random.default_rng(SEED), cr.dist1(0.25), np.tile(SIZES, records // SIZES.sum())
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rng.shuffle(labels)
    by_cluster, codes = np.argsort(labels, kind="stable"), np.empty(0, np.int64)  # of pairs: i << 32 | j
    for step in range(1, SIZES.max()):
        i, j = by_cluster[:-step], by_cluster[step:]
        codes = np.append(codes, (i << 32 | j)[labels[i] == labels[j]])
    matching, others = len(codes), np.empty(0, np.int64)
    wanted = PAIRS * records - matching
    while (missing := wanted - len(others)) > 0:
        i, j = rng.integers(0, records, (2, missing + missing // 4 + 16))
        apart = labels[i] != labels[j]
        others = np.unique(np.append(others, (np.minimum(i, j) << 32 | np.maximum(i, j))[apart]))
    codes = np.sort(np.append(codes, rng.permutation(others)[:wanted]))
    i, j = (codes >> 32).astype(np.int32), (codes & (2**32 - 1)).astype(np.int32)
    match, w = labels[i] == labels[j], np.empty(len(codes))
    w[match], w[~match] = model.green.sample(matching, rng=rng), model.red.sample(wanted, rng=rng)
    np.savez(path, i=i, j=j, w=w, labels=labels)


def measured(ordering: str, path: Path) -> dict:
    def run():
        with np.load(path) as file:
            pairs = sparse.coo_array((file["w"], (file["i"], file["j"])), shape=(records, records))
        return ORDERINGS[ordering](pairs, rng=SEED).run(truth).n_queries

    with np.load(path) as file:
        truth, records = cr.Truth(file["labels"]), len(file["labels"])
    seconds, questions = timed(run)
    peak = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    with np.load(path) as file:
        keys = file["w"]
    sort = float(np.median([timed(lambda: np.argsort(keys))[0] for _ in range(3)]))
    return {
        "ordering": ordering, "records": records, "pairs": len(keys), "questions": questions,
        "seconds": round(seconds, 4), "argsort_seconds": round(sort, 5), "ratio": round(seconds / sort, 2),
        "peak_mb": round(int(peak[1]) / 1024),
    }  # fmt: skip


def row(ordering: str, path: Path, tiny: Path, rounds: int) -> dict:
    """The round with the median ratio, measured in this process."""
    measured(ordering, tiny)  # loads compiled code, which fewer records do not need
    return sorted((measured(ordering, path) for _ in range(rounds)), key=lambda row: row["ratio"])[rounds // 2]


def scale():
    rows, spawn = [], multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path, tiny = Path(folder, "pairs.npz"), Path(folder, "tiny.npz")
        make(tiny, 1000)
        for records in RECORDS:
            make(path, records)
            for ordering in ORDERINGS:
                with spawn.Pool(1) as process:
                    rows.append(process.apply(row, (ordering, path, tiny, 1 if QUICK or records > 100_000 else 3)))
    return pd.DataFrame(rows).sort_values(["records", "ordering"])


def chapters():
    from book.run import ran  # its memory would count above
    from book.text.chapters import read_chapters

    executed = OUT / ("quick" if QUICK else "full")
    seconds = {chapter.slug: ran(executed / chapter.slug).get("seconds") for chapter in read_chapters(ROOT)}
    if lacking := [slug for slug, took in seconds.items() if took is None]:  # the table would leave gaps on the page
        return print(f"no new times of the chapters: {', '.join(lacking)} not executed; run `make book` first")
    return pd.DataFrame({"chapter": [*seconds], "seconds": [*seconds.values()]}).round(1)


def versions() -> str:
    known = Path("/proc/cpuinfo")  # how fast NumPy sorts depends on the kind of processor
    processor = re.findall(r"^model name\s*: (.*)$", known.read_text() if known.exists() else "", re.MULTILINE)[:1]
    packages = [f"{package} {version(package)}" for package in ("numpy", "scipy", "numba")]
    return "; ".join([" of ".join([f"{os.cpu_count()} cores", *processor]), f"python {python_version()}", *packages])


def main() -> None:
    folder = ROOT / ("_build/measured" if QUICK else "book/data/measured")
    folder.mkdir(parents=True, exist_ok=True)
    for name, measure in {"orderings": cora, "scale": scale, "chapters": chapters}.items():
        if (table := measure()) is not None:
            print(table.to_string(index=False), flush=True)
            table["versions"] = versions()
            table.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--quick"]):
        sys.exit(__doc__)
    main()
