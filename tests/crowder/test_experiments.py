"""Repetition and summary: seeds, processes, intervals."""

import numpy as np
import pytest

from crowder.experiments import mean_interval, repeat, sweep


def draw(rng, shift=0):
    return {"x": shift + float(rng.random())}


def test_every_repetition_has_a_generator_of_its_own():
    values = [result["x"] for result in repeat(draw, 50, rng=1)]
    assert len(set(values)) == 50
    assert values == [result["x"] for result in repeat(draw, 50, rng=1)]
    assert values != [result["x"] for result in repeat(draw, 50, rng=2)]
    # The first ten do not depend on how many follow.
    assert values[:10] == [result["x"] for result in repeat(draw, 10, rng=1)]


def test_processes_do_not_change_results():
    assert repeat(draw, 6, rng=3, shift=1) == repeat(draw, 6, rng=3, n_jobs=2, shift=1)


def test_a_sweep_is_its_repeats_side_by_side():
    frame = sweep(draw, [{"shift": 10}, {"shift": 20}], 3, rng=5)
    assert frame["shift"].tolist() == [10, 10, 10, 20, 20, 20]
    assert frame["repetition"].tolist() == [0, 1, 2] * 2
    parents = np.random.default_rng(5).spawn(2)
    expected = [
        r["x"]
        for parent, shift in zip(parents, (10, 20), strict=True)
        for r in repeat(draw, 3, rng=parent, shift=shift)
    ]
    assert frame["x"].tolist() == expected
    assert set(np.floor(frame["x"])) == {10, 20}


@pytest.mark.parametrize(("values", "quantile"), [([1, 3], 12.706), ([2, 4, 6], 4.303), ([2, 4, 6, 9], 3.1824)])
def test_interval_of_a_few_values(values, quantile):
    """Student's quantiles of 97.5 % for 1 to 3 degrees of freedom, from a printed table."""
    half = quantile * np.std(values, ddof=1) / len(values) ** 0.5
    mean, low, high = mean_interval(values)
    assert (mean, (low + high) / 2) == pytest.approx((np.mean(values), np.mean(values)), rel=1e-12)
    assert (high - low) / 2 == pytest.approx(half, rel=1e-4)


def test_one_repetition_has_a_mean_and_no_interval():
    mean, low, high = mean_interval([5.0])
    assert mean == 5.0 and np.isnan(low) and np.isnan(high)
