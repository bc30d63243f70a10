"""Repetitions over several processes: the speed-up, the overhead per task, and the accuracy of a plan.

Everything runs on this machine: joblib's own processes (loky), and a Dask scheduler with one or two workers on the
loopback interface, used through the same calls inside ``joblib.parallel_config("dask")``. A cluster of many machines
needs the same calls, but has a network between them. Contestants take turns, as in ``conftest.py``, but here wall-clock
time counts. `work` is the processor time of a task, wherever it ran, and `hub` that of the process that distributes the
tasks, including Dask's scheduler, per task.

    python benchmarks/cluster.py [--quick] [--results FOLDER]     or, with the other benchmarks, `make bench`
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import resource
import sys
import tempfile
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from conftest import results_folder, versions

import crowder as cr
from book.companion.batched_sweeps import best_batch_size, sweep_in_batches
from crowder.experiments import count_questions, repeat

SEED = 7
MODEL = cr.dist1(0.25)
BACKENDS = [("sequential", 1), ("loky", 2), ("dask", 1), ("dask", 2)]  # loky with one process would be sequential
FULL = {"sizes": [50, 100, 200, 400, 800, 1600], "n": 400, "heavy": 1600, "tasks": 12, "empty": 32, "rounds": 3,
        "configurations": 200}  # fmt: skip
QUICK = {"sizes": [50, 100], "n": 50, "heavy": 50, "tasks": 4, "empty": 8, "rounds": 1, "configurations": 8}
CLUSTERS = 10


def nothing(rng) -> None:
    """A task that does nothing, to measure the overhead."""


def working(rng, sizes, model) -> dict:
    """A repetition that also returns its processor time."""
    taken, result = wall(lambda: count_questions(sizes, model, rng=rng), time.process_time)
    return {"questions": result["node"] + result["edge"], "work": taken}


def jobs(backend, workers):
    """The n_jobs for joblib: with 1, no backend would leave the process."""
    return -1 if backend == "dask" else workers


def shape(n):
    return [n // CLUSTERS] * CLUSTERS


def wall(run, clock=time.perf_counter):
    start = clock()
    result = run()
    return clock() - start, result


@contextlib.contextmanager
def backends():
    """A function from (backend, workers) to a context in which joblib uses them; the cluster closes on exit."""
    from distributed import Client, LocalCluster

    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(host="127.0.0.1", silence_logs=logging.ERROR, **settings) as local, Client(local) as client:
        client.wait_for_workers(2, timeout=300)
        names = sorted(client.scheduler_info()["workers"])

        def use(backend, workers):
            if backend == "dask":
                return joblib.parallel_config(backend="dask", workers=names[:workers], wait_for_workers_timeout=300)
            return joblib.parallel_config(backend=backend)

        yield use


def configurations(sizes, rounds):
    """The seconds of one configuration, and the peak memory of the process so far, for increasing n."""
    for n in sizes:
        repeat(count_questions, 1, rng=SEED, sizes=shape(n), model=MODEL)
        taken = [wall(lambda n=n: repeat(count_questions, 1, rng=SEED, sizes=shape(n), model=MODEL),
                      time.process_time)[0] for _ in range(max(5, rounds))]  # fmt: skip
        low, middle, high = np.quantile(taken, [0.25, 0.5, 0.75])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield {"kind": "configuration", "backend": "sequential", "workers": 1, "n": n, "tasks": 1, "rounds": len(taken),
               "seconds": middle, "low": low, "high": high, "peak_mb": peak}  # fmt: skip


def contest(kind, run, tasks, n, rounds, use):
    """Run all backends in turn for some rounds; `run(n_jobs)` returns a result, equal for all, and its work."""
    taken, hub, work, results = ({key: [] for key in BACKENDS} for _ in range(4))
    for turn in range(rounds + 1):
        for key in BACKENDS:
            with use(*key):
                start, busy = time.perf_counter(), time.process_time()
                results[key], worked = run(jobs(*key))
                seconds, busy = time.perf_counter() - start, time.process_time() - busy
            if turn > 0:  # the first round starts processes and loads compiled code
                taken[key].append(seconds)
                hub[key].append(busy / tasks)
                work[key].append(worked / tasks)
    alone = np.array(taken["sequential", 1])
    for (backend, workers), seconds in taken.items():
        low, middle, high = np.quantile(seconds, [0.25, 0.5, 0.75])
        yield {"kind": kind, "backend": backend, "workers": workers, "n": n, "tasks": tasks, "rounds": rounds,
               "seconds": middle, "low": low, "high": high, "least": min(seconds),
               "speedup": np.median(alone / seconds),
               "hub": np.median(hub[backend, workers]), "work": np.median(work[backend, workers]),
               "result": results[backend, workers]}  # fmt: skip


def sweeps(settings, use):
    """Compare a plan with an actual sweep; every round measures what the plan needs."""
    points, n, some = settings["configurations"], settings["n"], 24
    grid = [{"model": cr.dist1(epsilon)} for epsilon in np.linspace(0.05, 0.45, points)]
    few = grid[:: max(1, points // 20)]  # spread over the grid

    def run(grid, batch, folder, n_jobs):
        return sweep_in_batches(count_questions, grid, 1, rng=SEED, folder=folder, batch=batch, n_jobs=n_jobs,
                                sizes=shape(n))  # fmt: skip

    def one(workers, n_jobs, folder):
        repeat(nothing, 2 * workers, rng=SEED, n_jobs=n_jobs)  # starts the processes
        run(grid[:workers], 1, folder / "first", n_jobs)
        share = len(few) // workers  # the batch of each worker
        each = wall(lambda: run(few[: share * workers], share, folder / "before", n_jobs))[0] / share
        task = wall(lambda: repeat(nothing, some, rng=SEED, n_jobs=n_jobs))[0] / some * workers
        batch = best_batch_size(points, each, overhead=task, workers=workers)
        seconds, table = wall(lambda: run(grid, batch, folder / "all", n_jobs))
        after = wall(lambda: run(few[: share * workers], share, folder / "after", n_jobs))[0] / share
        again, _ = wall(lambda: run(grid, batch, folder / "all", n_jobs))
        size = sum(path.stat().st_size for path in (folder / "all").glob("*.csv")) / points
        return {"seconds": seconds, "each": each, "after": after, "overhead": task, "batch": batch, "again": again,
                "bytes": size, "result": int(table["node"].sum() + table["edge"].sum())}  # fmt: skip

    for turn in range(settings["rounds"]):
        for backend, workers in BACKENDS[1:]:
            with use(backend, workers), tempfile.TemporaryDirectory() as folder:
                found = one(workers, jobs(backend, workers), Path(folder))
            yield {"kind": "sweep", "backend": backend, "workers": workers, "n": n, "tasks": points, "rounds": turn,
                   **found}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest settings, into _build/measured")
    parser.add_argument("--results", type=Path, help="folder of the CSV file (default: book/data/measured)")
    args = parser.parse_args()
    settings = QUICK if args.quick else FULL

    rows = [*configurations(settings["sizes"], settings["rounds"])]
    n, tasks, empty = settings["heavy"], settings["tasks"], settings["empty"]

    def counted(n_jobs):
        results = repeat(working, tasks, rng=SEED, n_jobs=n_jobs, sizes=shape(n), model=MODEL)
        return sum(result["questions"] for result in results), sum(result["work"] for result in results)

    with backends() as use:
        rows += contest("scaling", counted, tasks, n, settings["rounds"], use)
        rows += contest("empty", lambda n_jobs: (len(repeat(nothing, empty, rng=SEED, n_jobs=n_jobs)), 0.0),
                        empty, 0, settings["rounds"], use)  # fmt: skip
        rows += sweeps(settings, use)

    table = pd.DataFrame(rows)
    table = table.astype({"result": "Int64", "batch": "Int64"})  # whole numbers, some missing
    table["versions"] = versions("numpy", "numba", "joblib", "distributed")
    folder = results_folder(args.results, args.quick)
    table.to_csv(folder / "cluster.csv", index=False, float_format="%.4g", lineterminator="\n")
    with pd.option_context("display.width", 200, "display.max_columns", None):
        print(table.drop(columns="versions").to_string(index=False, na_rep="", float_format="%.3g"))


if __name__ == "__main__":
    sys.exit(main())
