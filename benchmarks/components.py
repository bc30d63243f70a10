"""Candidate pairs in parts: time, memory and disk of each step, from 10⁵ to 10⁷ pairs with twenty for each record.

Two kinds of pairs: *blocks* of 250 records with no pairs between them, as strict blocking leaves them, and *giant*,
pairs of any records, which are nearly all in one component. Records are numbered at random. The steps, each in a
process of its own, so that its peak memory is its own: find the components; split the pairs into parts of about half a
million; resolve all parts, one after another, from true labels; merge them. The clock counts processor time; DuckDB has
one thread. One more row measures a crowd that answers at once, with a journal: there, wall-clock time counts.

    python benchmarks/components.py [--quick] [--large] [--results FOLDER]     or, with the others, `make bench`

Columns of components.csv: kind, ordering (edge, node), step (find, split, resolve, merge, journal), records, pairs,
components, largest_share (of the pairs), parts, questions, seconds, wall_seconds, peak_mb (peak resident memory of the
process), disk_mb (of the folder with the parts, after the step), versions.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from conftest import results_folder, versions
from scale import PAIRS, SEED, SIZES, peak_mb

import crowder as cr
from crowder.practice.components import find_components, merge_parts, resolve_part, split_components

BLOCK, PART = 250, 500_000  # records in a block, pairs in a part
FULL, QUICK = (100_000, 1_000_000, 10_000_000), (20_000,)
LARGE = 100_000_000  # what the book plans for
JOURNAL = 5000  # pairs of the run with a journal
STEPS = ("find", "split", "resolve", "merge")
PACKAGES = ("numpy", "numba", "duckdb", "pyarrow")


def make(folder: Path, kind: str, pairs: int) -> None:
    """Write the candidate pairs and the true labels."""
    records, rng = pairs // PAIRS, np.random.default_rng(SEED)
    number, truth = rng.permutation(records), np.empty(records, np.int64)

    def chunks():
        block = BLOCK if kind == "blocks" else records
        for start in range(0, records, block):
            sizes = SIZES * (block // sum(SIZES))
            similarity, labels = cr.synthetic_candidates(sizes, PAIRS * block, cr.dist1(0.25), rng=rng)
            mine = number[start : start + block]
            truth[mine] = start + labels
            yield mine[similarity.row], mine[similarity.col], similarity.data

    cr.write_candidates(folder / "pairs.parquet", chunks())
    np.save(folder / "labels.npy", truth)


def run(step: str, ordering: str, folder: Path) -> dict:
    """One step, measured in this process."""
    with tempfile.TemporaryDirectory(dir=folder) as tiny:  # loads compiled code
        make(Path(tiny), "blocks", JOURNAL)
        for name in STEPS:
            take(name, ordering, Path(tiny))
    wall, start = time.perf_counter(), time.process_time()
    found = take(step, ordering, folder)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    disk = sum(path.stat().st_size for path in (folder / ordering).rglob("*") if path.is_file())
    return found | {"seconds": round(seconds, 4), "wall_seconds": round(wall, 4), "peak_mb": round(peak_mb()),
                    "disk_mb": round(disk / 1e6, 3)}  # fmt: skip


def take(step: str, ordering: str, folder: Path) -> dict:
    """Take a step; returns what it says of the plan."""
    labels = np.load(folder / "labels.npy", allow_pickle=False)
    pairs, plan = folder / "pairs.parquet", folder / ordering
    if step == "find":
        find_components(pairs, len(labels), threads=1)
    elif step == "split":
        parts = max(2, len(labels) * PAIRS // PART)
        split = split_components(pairs, len(labels), plan, parts=parts, ordering=ordering, seed=SEED, threads=1)
        return {"components": split.n_components, "largest_share": round(split.largest_share, 6),
                "parts": len(split.parts)}  # fmt: skip
    elif step == "merge":
        return {"questions": merge_parts(plan, threads=1).n_queries}
    else:
        truth = cr.Truth(labels)
        crowd = truth if step == "resolve" else lambda i, j: truth(i, j)
        parts = len(json.loads((plan / "plan.json").read_text())["parts"]["pairs"])
        return {"questions": sum(resolve_part(plan, part, crowd) for part in range(parts))}
    return {}


def in_new_process(*arguments) -> dict:
    command = [sys.executable, __file__, "--one", *map(str, arguments)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def rows(kind: str, pairs: int, steps: tuple[str, ...], orderings: tuple[str, ...]):
    """The rows of one data set; what one step says of the plan is true of the next, too."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, kind, pairs)
        for ordering in orderings:
            known = {"kind": kind, "ordering": ordering, "records": pairs // PAIRS, "pairs": pairs}
            for step in steps:
                if (step, ordering) == ("find", "node"):  # as for edge ordering
                    continue
                found = in_new_process(step, ordering, folder)
                known |= {k: found[k] for k in ("components", "largest_share", "parts", "questions") if k in found}
                yield known | {"step": step} | found
            shutil.rmtree(folder / ordering)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest sizes, into _build/measured")
    parser.add_argument("--results", type=Path, help="folder of the CSV file (default: book/data/measured)")
    parser.add_argument("--large", action="store_true", help="10⁸ pairs, too: several minutes more, and 5 GB of disk")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        step, ordering, folder = arguments.one
        print(json.dumps(run(step, ordering, Path(folder))))
        return
    results = results_folder(arguments.results, arguments.quick)
    found = [*rows("blocks", JOURNAL, ("split", "journal"), ("edge",))][1:]
    wanted = [(kind, pairs, ("edge", "node")) for pairs in (QUICK if arguments.quick else FULL)
              for kind in ("blocks", "giant")]  # fmt: skip
    for kind, pairs, orderings in wanted + [("blocks", LARGE, ("edge",))] * arguments.large:
        for row in rows(kind, pairs, STEPS, orderings):
            print(row, flush=True)
            found.append(row)
    columns = ["kind", "ordering", "step", "records", "pairs", "components", "largest_share", "parts", "questions",
               "seconds", "wall_seconds", "peak_mb", "disk_mb"]  # fmt: skip
    whole = dict.fromkeys(("components", "parts", "questions"), "Int64")  # not known before their step
    table = pd.DataFrame(found)[columns].astype(whole)
    table["versions"] = versions(*PACKAGES)
    table.to_csv(results / "components.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
