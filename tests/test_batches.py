"""A long sweep in batches: the same results, whatever happens to it, and a plan that counts right."""

import heapq
import json

import numpy as np
import pytest

from crowder.model.models import dist1, dist2
from crowder.trials.batches import best_batch, sweep_in_batches, time_bound, time_needed
from crowder.trials.experiments import count_questions, sweep

TWO = [{"model": dist1(0.3), "sizes": [4, 3]}, {"model": dist2(0.2), "sizes": [5]}]
GRID = [*TWO, {"model": dist1(0.1), "sizes": [2, 2, 2]}]


def many_kinds(rng, scale):
    """Numbers that a file might spoil: long fractions, tiny ones, none, and truth values."""
    x = float(rng.random()) * scale
    return {"x": x, "tiny": x * 1e-300, "none": float("nan") if x < scale / 2 else 1.0, "large": x > 0.5}


def by_events(n, s, o, batch, workers):
    free = [0.0] * workers
    for start in range(0, n, batch):
        heapq.heappush(free, heapq.heappop(free) + min(batch, n - start) * s + o)
    return max(free)


@pytest.mark.parametrize("batch", [1, 2, 3, 50])
def test_batches_give_what_a_sweep_gives(tmp_path, batch):
    kept = sweep_in_batches(count_questions, GRID, 3, rng=5, folder=tmp_path, batch=batch)
    assert kept.equals(sweep(count_questions, GRID, 3, rng=5))
    assert len(list(tmp_path.glob("batch-*.csv"))) == -(-len(GRID) // batch)
    assert not list(tmp_path.glob("*.part"))


def test_a_file_keeps_every_digit(tmp_path):
    grid = [{"scale": 1 / 3}, {"scale": 1e9}]
    kept = sweep_in_batches(many_kinds, grid, 20, rng=1, folder=tmp_path, batch=1)
    assert kept.equals(sweep(many_kinds, grid, 20, rng=1))  # NaN where NaN was, and types alike


def test_two_processes_give_the_same(tmp_path):
    kept = sweep_in_batches(count_questions, GRID, 2, rng=5, folder=tmp_path, batch=1, n_jobs=2)
    assert kept.equals(sweep(count_questions, GRID, 2, rng=5))


class Stop(Exception):
    pass


def stumbling(rng, scale, mark):
    if scale == 2 and not mark.exists():
        mark.touch()
        raise Stop
    (mark.parent / f"{scale}-{rng.integers(10**9)}").touch()
    return {"x": scale}


def test_a_sweep_goes_on_where_it_was(tmp_path):
    (runs := tmp_path / "runs").mkdir()
    settings = {"rng": 3, "folder": tmp_path / "sweep", "batch": 1, "mark": runs / "mark"}
    grid = [{"scale": scale} for scale in range(4)]
    with pytest.raises(Stop):
        sweep_in_batches(stumbling, grid, 1, **settings)
    assert len(list((tmp_path / "sweep").glob("batch-*.csv"))) == 2  # 0 and 1; 2 stumbled
    assert sweep_in_batches(stumbling, grid, 1, **settings)["x"].tolist() == [0, 1, 2, 3]
    # Each was done once: the draws in the names would be the same, but their times of creation tell nothing either way.
    before = {path: path.stat().st_mtime_ns for path in runs.iterdir()}
    sweep_in_batches(stumbling, grid, 1, **settings)
    assert before == {path: path.stat().st_mtime_ns for path in runs.iterdir()}  # all there: nothing runs


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rng": 6}, "seed"),
        ({"batch": 2}, "batch"),
        ({"repetitions": 2}, "repetitions"),
        ({"grid": TWO}, "points"),
        ({"grid": [*TWO, {"model": dist1(0.11), "sizes": [2, 2, 2]}]}, "settings"),
        ({"discretize": "round"}, "settings"),
    ],
)
def test_another_sweep_is_not_taken_for_this_one(tmp_path, change, told):
    settings = {"grid": GRID, "repetitions": 1, "rng": 5, "folder": tmp_path, "batch": 1}
    sweep_in_batches(count_questions, **settings)
    with pytest.raises(ValueError, match=f"another sweep: .*{told}"):
        sweep_in_batches(count_questions, **(settings | change))


def test_long_arrays_tell_two_sweeps_apart_and_no_path_is_left(tmp_path):
    """NumPy prints the ends of a long array; what differs in its middle must count."""
    rows = np.zeros(5000)
    other = rows.copy()
    other[2500] = 1
    sweep_in_batches(total, [{"values": rows}], 1, rng=1, folder=tmp_path, batch=1)
    with pytest.raises(ValueError, match="another sweep: settings"):
        sweep_in_batches(total, [{"values": other}], 1, rng=1, folder=tmp_path, batch=1)
    assert json.loads((tmp_path / "sweep.json").read_text())["points"] == 1


def total(rng, values):
    return {"sum": float(values.sum())}


def test_nothing_to_do_and_nonsense(tmp_path):
    assert sweep_in_batches(count_questions, [], 1, rng=1, folder=tmp_path, batch=1).empty
    for batch, repetitions in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            sweep_in_batches(count_questions, GRID, repetitions, rng=1, folder=tmp_path, batch=batch)


def test_the_time_is_that_of_a_sweep_run_event_by_event():
    for n, batch, workers in ((60, 1, 1), (60, 5, 4), (60, 60, 3), (84, 7, 5), (1000, 10, 16)):
        # batch divides n: the formula counts the last batch in full
        assert time_needed(n, 0.3, overhead=0.7, batch=batch, workers=workers) == pytest.approx(
            by_events(n, 0.3, 0.7, batch, workers)
        )
    # a short last batch can only be quicker: 7 by threes on two workers is 3 + 3 and 1, not 3 + 3 and 3
    assert by_events(7, 1.0, 0.0, 3, 2) == 4 < time_needed(7, 1.0, overhead=0.0, batch=3, workers=2) == 6


def test_no_batch_is_much_better_than_the_best_one():
    for n, s, o, workers in ((10_000, 0.01, 0.02, 2), (10_000, 1.0, 0.02, 16), (100_000, 0.05, 0.5, 128)):
        best = best_batch(n, s, overhead=o, workers=workers)
        bound = time_bound(n, s, overhead=o, workers=workers)
        times = [time_needed(n, s, overhead=o, batch=batch, workers=workers) for batch in range(1, 2000)]
        assert time_needed(n, s, overhead=o, batch=best, workers=workers) <= 1.02 * bound
        assert n * s / workers + o <= min(times)
    assert best_batch(10, 100.0, overhead=1e-6, workers=2) == 1  # never none
