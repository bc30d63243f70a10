"""A long sweep in batches: the same results, whatever happens to it, and a plan that counts right."""

import copy
import heapq
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from book.companion.batched_sweeps import best_batch_size, sweep_in_batches, time_bound, time_needed
from crowder.experiments import count_questions, sweep
from crowder.models import dist1, dist2

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


def test_a_folder_is_the_same_for_processes_that_were_started_elsewhere(tmp_path, monkeypatch):
    """joblib keeps its processes, and they stay where they were when this one goes to another folder."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        sweep_in_batches(count_questions, GRID, 1, rng=5, folder="sweep", batch=1, n_jobs=2)
        assert len(list((tmp_path / name / "sweep").glob("*.csv"))) == len(GRID)


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
    ("change", "named"),
    [
        ({"rng": 6}, "seed"),
        ({"batch": 2}, "batch"),
        ({"repetitions": 2}, "repetitions"),
        ({"grid": TWO}, "points"),
        ({"grid": [*TWO, {"model": dist1(0.11), "sizes": [2, 2, 2]}]}, "settings"),
        ({"discretize": "round"}, "settings"),
    ],
)
def test_another_sweep_is_not_taken_for_this_one(tmp_path, change, named):
    settings = {"grid": GRID, "repetitions": 1, "rng": 5, "folder": tmp_path, "batch": 1}
    sweep_in_batches(count_questions, **settings)
    with pytest.raises(ValueError, match=f"another sweep .*{named}"):
        sweep_in_batches(count_questions, **(settings | change))


def test_long_arrays_tell_two_sweeps_apart_and_no_path_is_left(tmp_path):
    """NumPy prints the ends of a long array; what differs in its middle must count."""
    rows = np.zeros(5000)
    other = rows.copy()
    other[2500] = 1
    sweep_in_batches(total, [{"values": rows}], 1, rng=1, folder=tmp_path, batch=1)
    with pytest.raises(ValueError, match=r"another sweep .*settings"):
        sweep_in_batches(total, [{"values": other}], 1, rng=1, folder=tmp_path, batch=1)
    assert json.loads((tmp_path / "sweep.json").read_text())["points"] == 1


def total(rng, values):
    return {"sum": float(values.sum())}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (np.array([0.1]), np.array([0.1 + 1e-12])),  # NumPy prints eight digits of it
        (sparse.coo_array([[0.0, 0.5]]), sparse.coo_array([[0.0, 0.6]])),  # of which SciPy prints the size alone
        (pd.DataFrame({"w": np.arange(200)}), pd.DataFrame({"w": np.r_[:100, 0, 101:200]})),  # and pandas the ends
        ({"deep": [np.array([1.0])]}, {"deep": [np.array([1.0 + 1e-15])]}),
        ([1, 2], (1, 2)),
    ],
    ids=["rounded", "sparse", "a table", "inside others", "a list and a tuple"],
)
def test_settings_that_print_alike_are_told_apart(tmp_path, one, other):
    def shape(rng, value):
        return {"x": len(str(type(value)))}

    settings = {"repetitions": 1, "rng": 1, "folder": tmp_path, "batch": 1}
    first = sweep_in_batches(shape, [{}], value=one, **settings)
    assert sweep_in_batches(shape, [{}], value=copy.deepcopy(one), **settings).equals(first)  # the same is the same
    with pytest.raises(ValueError, match=r"another sweep .*settings"):
        sweep_in_batches(shape, [{}], value=other, **settings)


def test_a_sweep_of_the_first_version_goes_on(tmp_path):
    """What 1.0.0 wrote beside its batches: a later one must know the same settings again."""

    def draw(rng, **settings):
        return {"x": 1}

    grid = [
        {"model": dist1(0.25), "w": np.array([0.5, 0.25]), "table": pd.DataFrame({"a": ["x", "y"], "b": [1.5, 2.5]})}
    ]
    sweep_in_batches(draw, grid, 1, rng=7, folder=tmp_path, batch=1, pairs=sparse.coo_array([[0.0, 0.5]]), rule=None)
    kept = json.loads((tmp_path / "sweep.json").read_text())
    assert kept["settings"] == "a04962025189a967091619c5f3600c8b96110f0d9c3f85d5607bcec2e20b641c"


def test_of_two_sweeps_that_begin_together_one_is_refused(tmp_path, monkeypatch):
    """Neither has seen the other's mark when it writes its own."""
    settings = {"repetitions": 1, "folder": tmp_path, "batch": 1}
    sweep_in_batches(count_questions, GRID, rng=5, **settings)
    monkeypatch.setattr(Path, "exists", lambda path: path.suffix != ".json" and os.path.exists(path))
    with pytest.raises(ValueError, match=r"another sweep .*seed"):
        sweep_in_batches(count_questions, GRID, rng=6, **settings)
    assert json.loads((tmp_path / "sweep.json").read_text())["seed"] == 5
    assert not list(tmp_path.glob("*.part"))


def test_a_disk_without_links_will_do(tmp_path, monkeypatch):
    def link(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    sweep_in_batches(count_questions, GRID, 1, rng=5, folder=tmp_path, batch=1)
    assert json.loads((tmp_path / "sweep.json").read_text())["seed"] == 5
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda text: text[:-3], "last line"),
        (lambda text: "".join(text.splitlines(keepends=True)[:-1]), "points 0 to 1"),
        (lambda text: text + text.splitlines(keepends=True)[-1], "points 0 to 1"),
        (lambda text: text.replace("\n0,1", "\n0,0"), "points 0 to 1"),
        (lambda text: text.replace("grid point", "point"), "grid point"),
        (lambda text: text.replace(",node", ",nodes"), "other columns"),
        (lambda text: "", "last line"),
    ],
    ids=["cut in a line", "a line lost", "a line twice", "another repetition", "renamed", "another result", "empty"],
)
def test_a_damaged_file_is_not_believed_and_removing_it_is_enough(tmp_path, harm, message):
    settings = {"grid": GRID, "repetitions": 2, "rng": 5, "folder": tmp_path, "batch": 2}
    whole = sweep_in_batches(count_questions, **settings)
    path = tmp_path / "batch-00000.csv"
    path.write_text(harm(path.read_text()))
    with pytest.raises(ValueError, match=message) as error:
        sweep_in_batches(count_questions, **settings)
    assert "batch-0000" in str(error.value) and "remove" in str(error.value)
    path.unlink()
    assert sweep_in_batches(count_questions, **settings).equals(whole)


def test_a_file_of_another_batch_is_not_taken_for_this_one(tmp_path):
    settings = {"grid": GRID, "repetitions": 1, "rng": 5, "folder": tmp_path, "batch": 1}
    sweep_in_batches(count_questions, **settings)
    (tmp_path / "batch-00001.csv").replace(tmp_path / "batch-00002.csv")
    with pytest.raises(ValueError, match=r"batch-00002\.csv is damaged"):
        sweep_in_batches(count_questions, **settings)


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
        best = best_batch_size(n, s, overhead=o, workers=workers)
        bound = time_bound(n, s, overhead=o, workers=workers)
        times = [time_needed(n, s, overhead=o, batch=batch, workers=workers) for batch in range(1, 2000)]
        assert time_needed(n, s, overhead=o, batch=best, workers=workers) <= 1.02 * bound
        assert n * s / workers + o <= min(times)
    assert best_batch_size(10, 100.0, overhead=1e-6, workers=2) == 1  # never none


KILLED = """
import json, os, sys, pathlib
from book.companion.batched_sweeps import sweep_in_batches

def draw(rng, scale):
    return {"x": scale * float(rng.random())}

def go(folder):
    return sweep_in_batches(draw, [{"scale": s} for s in (1, 2, 3)], 2, rng=7, folder=folder, batch=1).to_csv()

def killed(folder, when):
    "Whether the sweep died before its change number `when`; what it leaves under a name of its own is whole."
    if not (child := os.fork()):
        left = [when]
        def hook(event, arguments):
            changes = ("open", "os.rename", "os.mkdir", "os.link", "os.remove")
            if event in changes and str(folder) in str(arguments[0]) and arguments[1] != "r":
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), 9)
        sys.addaudithook(hook)
        go(folder)
        os._exit(0)
    dead = os.waitpid(child, 0)[1] == 9
    for path in folder.glob("*"):
        assert path.suffix == ".part" or path.read_bytes() == (whole / path.name).read_bytes(), path
    assert go(folder) == wanted
    return dead

place = pathlib.Path(sys.argv[1])
whole = place / "whole"
wanted = go(whole)
deaths = 0
while killed(place / f"killed-{deaths}", deaths + 1):
    deaths += 1
print(deaths)
"""


def test_a_sweep_that_is_killed_at_any_change_on_disk_has_no_half_file_and_is_resumed(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # The folder; its mark, written, linked and left under its name alone; three batches, each written and moved.
    assert int(done.stdout) == 10
