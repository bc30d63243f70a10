"""Repetition and summary: seeds, processes, intervals."""

from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from reference import edge_questions, node_questions

from crowder import Truth, dist1
from crowder.datasets import synthetic
from crowder.experiments import repeat, simulated_queries, sweep


def draw(rng, shift=0):
    return {"x": shift + float(rng.random())}


def test_every_repetition_has_a_generator_of_its_own():
    """The first ten do not depend on how many follow."""
    values = [result["x"] for result in repeat(draw, 50, rng=1)]
    assert len(set(values)) == 50 and [{"x": value} for value in values[:10]] == repeat(draw, 10, rng=1)
    assert repeat(draw, 10, rng=1) != repeat(draw, 10, rng=2)


def test_a_sweep_is_its_repeats_side_by_side():
    frame = sweep(draw, [{"shift": 10}, {"shift": 20}], 3, rng=5)
    assert frame["shift"].tolist() == [10, 10, 10, 20, 20, 20]
    assert frame["repetition"].tolist() == [0, 1, 2] * 2
    parents = np.random.default_rng(5).spawn(2)
    runs = [repeat(draw, 3, rng=parent, shift=shift) for parent, shift in zip(parents, (10, 20), strict=True)]
    assert frame["x"].tolist() == [result["x"] for some in runs for result in some]


def test_a_sweep_is_the_same_in_processes_and_on_a_cluster():
    """A cluster of Dask with one worker, spoken to over the loopback."""
    import distributed

    def draw_there(rng, shift):
        try:
            where = distributed.get_worker().address
        except ValueError:  # not in a worker
            where = ""
        return draw(rng, shift) | {"where": where}

    def swept(**how):
        return sweep(draw_there, [{"shift": 10}, {"shift": 20}], 3, rng=5, **how)

    cluster = distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, protocol="tcp://",
                                       host="127.0.0.1", scheduler_port=0, dashboard_address=None)  # fmt: skip
    with cluster, distributed.Client(cluster), parallel_config("dask"):
        on_cluster = swept()
        addresses = {worker.address for worker in cluster.workers.values()}
    assert set(on_cluster["where"]) == addresses != {""}
    columns = ["shift", "repetition", "x"]
    for found in (swept(), swept(n_jobs=2)):
        assert set(found["where"]) == {""}
        pd.testing.assert_frame_equal(found[columns], on_cluster[columns], check_exact=True)


def test_all_points_of_a_sweep_run_side_by_side():
    meeting = Barrier(4)

    def meet(rng, place):
        return {"came": meeting.wait(timeout=60) >= 0}

    with parallel_config("threading", n_jobs=4):
        assert sweep(meet, [{"place": 0}, {"place": 1}], 2, rng=5)["came"].all()


def test_a_sweep_ends_at_the_first_result_that_is_wrong():
    ran = []
    with pytest.raises(TypeError, match="function must return a mapping"):
        sweep(lambda rng: ran.append(1), [{}, {}], 9, rng=5)
    assert len(ran) == 1


@pytest.mark.parametrize("seed", range(5))
def test_simulated_questions_are_those_of_the_plain_orderings_about_the_drawn_data(seed):
    sizes, model = [5, 3, 2, 1], dist1(0.3)
    data = synthetic(sizes, model, rng=seed)
    w, crowd, no_ties = data.similarity, Truth(data.labels), np.zeros((data.n, data.n))
    by_size = np.argsort(-(w.sum(axis=1) - np.diag(w)))
    asked = {"edge": edge_questions(w, no_ties, crowd), "node": node_questions(w, no_ties, crowd, by_size)}
    assert simulated_queries(model, sizes, rng=seed) == {name: len(pairs) for name, pairs in asked.items()}
