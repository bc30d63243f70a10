"""Which similarities are taken: symmetric, of named records in one order, and no distances."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import crowder as cr
from crowder.pairs import candidates

W = np.array([[1, 0.9, 0.8], [0.9, 1, 0.1], [0.8, 0.1, 1]])


@pytest.mark.parametrize("form", [np.array, sparse.coo_array, sparse.csc_array])
@pytest.mark.parametrize("change", [-1e-6, 1e-6])
def test_two_values_of_a_pair_are_one_whichever_is_larger(form, change):
    """The value below the diagonal may differ from the one above it by 10⁻¹², up or down, and no more."""
    near, far = W.copy(), W.copy()
    near[2, 1] += change * 1e-7
    far[2, 1] += change
    assert candidates(form(near)).listed()[0].tolist() == [0.9, 0.8, 0.1]
    with pytest.raises(ValueError, match="not symmetric"):
        candidates(form(far))


def test_distances_are_refused():
    """Of a similarity the diagonal is 1, of a distance 0; whoever has filled in neither may have zeros alone."""
    with pytest.raises(ValueError, match="as if of distances; pass 1 - distances"):
        candidates(1 - W)
    for diagonal in (1, 0.5, np.nan):
        given = W.copy()
        np.fill_diagonal(given, diagonal)
        assert candidates(given).listed()[0].tolist() == [0.9, 0.8, 0.1]
    assert candidates(np.zeros((3, 3))).listed()[0].tolist() == [0, 0, 0]
    assert candidates(sparse.coo_array(W - np.eye(3))).listed()[0].tolist() == [0.9, 0.8, 0.1]  # none is stored


def test_a_frame_has_its_records_in_one_order():
    """Numbers are taken by position, so names that say otherwise are no matter of taste."""
    frame = pd.DataFrame(W, index=list("abc"), columns=list("abc"))
    assert candidates(frame).listed()[0].tolist() == [0.9, 0.8, 0.1]
    for other in (frame.set_axis(list("bac")), frame.set_axis(range(3), axis=1)):
        with pytest.raises(ValueError, match="must have the same index and columns, in the same order"):
            candidates(other)
    with pytest.raises(ValueError, match=r"must have the index 0, 1, 2, \.\.\., in the same order"):
        candidates(pd.Series([0.9, 0.8, 0.1], [1, 0, 2]))


@pytest.mark.parametrize("take", [
    cr.Truth,
    lambda labels: cr.Resolution([[0, 1]], [True], [0, 0, 1]).recall(labels),
    lambda labels: cr.datasets.Dataset("three", [0.9, 0.8, 0.1], labels),
])  # fmt: skip
def test_labels_of_another_order_are_refused(take):
    """The labels of sorted or filtered records keep the numbers that these had; here they would be moved by one."""
    take(pd.Series([5, 5, 6]))
    for index in ([1, 2, 0], [1, 2, 3], list("abc")):
        with pytest.raises(ValueError, match=r"labels.* must have the index 0, 1, 2"):
            take(pd.Series([5, 5, 6], index))
