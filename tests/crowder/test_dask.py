"""Repetitions on a Dask cluster: the same call, the same results, and a worker that dies costs nothing.

The cluster is real, a scheduler and two worker processes on the loopback interface, and lives for this file only.
"""

import os
import signal
import time

import joblib
import pytest

import crowder as cr
from crowder.experiments import count_questions, repeat, sweep

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(host="127.0.0.1", **settings) as local, Client(local) as client:
        yield client


@pytest.fixture
def on_dask(cluster):
    with joblib.parallel_config(backend="dask", wait_for_workers_timeout=60):
        yield cluster


SETTINGS = {"sizes": [12, 8, 4], "model": cr.dist1(0.25)}


def test_a_cluster_gives_what_one_process_gives(on_dask):
    with joblib.parallel_config(backend="sequential"):
        serial = repeat(count_questions, 12, rng=5, **SETTINGS)
    assert repeat(count_questions, 12, rng=5, n_jobs=-1, **SETTINGS) == serial


def test_a_sweep_does_too(on_dask):
    grid = [{"model": cr.dist1(0.1)}, {"model": cr.dist2(0.2)}]
    with joblib.parallel_config(backend="sequential"):
        serial = sweep(count_questions, grid, 4, rng=6, sizes=[9, 5])
    shared = sweep(count_questions, grid, 4, rng=6, n_jobs=-1, sizes=[9, 5])
    assert shared.drop(columns="model").equals(serial.drop(columns="model"))


def slowly(rng, folder):
    """A repetition that takes a while and leaves word of who did it."""
    value = int(rng.integers(10**9))
    (folder / f"{os.getpid()}-{value}").touch()
    time.sleep(0.3)
    return {"x": value}


def test_a_worker_that_is_killed_half_way_loses_nothing(on_dask, tmp_path):
    with joblib.parallel_config(backend="sequential"):
        (tmp_path / "serial").mkdir()
        expected = repeat(slowly, 6, rng=7, folder=tmp_path / "serial")
    shared = tmp_path / "shared"
    shared.mkdir()
    from concurrent.futures import ThreadPoolExecutor

    def run():
        with joblib.parallel_config(backend="dask"):
            return repeat(slowly, 24, rng=7, n_jobs=-1, folder=shared)

    with ThreadPoolExecutor(1) as thread:
        results = thread.submit(run)
        for _ in range(600):
            working = {path.name.split("-")[0] for path in shared.iterdir()}
            if len(working) == 2 and len(list(shared.iterdir())) >= 6:
                break
            time.sleep(0.05)
        assert len(working) == 2, "both workers were at work"
        victim = int(sorted(working)[0])
        os.kill(victim, signal.SIGKILL)
        done = results.result(timeout=120)
    # All 24 are there, in order, and are what the seed says; the first six are the serial ones.
    assert len(done) == 24 and done[:6] == expected
    assert len({result["x"] for result in done}) == 24
