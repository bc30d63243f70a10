"""Laws of the input: what may be changed about it without changing a question, and what changes them how."""

import math
import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from instances import (
    SEEDS,
    asked,
    by_hand,
    complete,
    edge,
    instances,
    law,
    node,
    stored,
    upper,
)
from scipy import sparse

import crowder as cr
from crowder.orderings import SIZE_DECIMALS
from crowder.pairs import SYMMETRY_TOLERANCE, candidates


def square(instance, diagonal=1.0):
    matrix = np.zeros((instance.n, instance.n))
    matrix[upper(instance.n)[:2]] = matrix.T[upper(instance.n)[:2]] = instance.values
    np.fill_diagonal(matrix, diagonal)
    return matrix


# --- the order of the records --------------------------------------------------------------------------------------


@law(instances(), usual=60, night=1_000)
def test_ties_by_index_are_ties_by_the_pair_or_by_the_earlier_record(instance):
    i, j, _ = upper(instance.n)
    by_pair = instance._replace(priority=np.arange(len(i), dtype=float))
    assert asked(edge(instance, ties="index").run(instance.crowd)) == asked(edge(by_pair).run(instance.crowd))
    rank = np.argsort(instance.arrivals)
    earlier = instance._replace(priority=np.where(rank[i] < rank[j], i, j).astype(float))
    by_index = node(instance, ties="index", order=instance.arrivals)
    assert asked(by_index.run(instance.crowd)) == asked(node(earlier).run(instance.crowd))


@law(instances(), SEEDS, usual=60, night=1_000)
def test_records_arrive_by_falling_expected_size_whatever_form_it_is_summed_from(instance, seed):
    """The sums agree to the last bit in every form, and with the exact sum as far as 52 bits of a similarity go."""
    n, whole = instance.n, complete(instance)
    forms = [instance.values, square(instance, np.nan), stored(instance.values, whole.keep, n)]
    sizes = [candidates(form).sums for form in forms]
    assert sizes[0].tolist() == sizes[1].tolist() == sizes[2].tolist()
    new, (i, j, _) = instance.arrivals, upper(n)  # no order of summation shows, whatever the records are called
    renamed = sparse.coo_array((instance.values[instance.keep], (new[i][instance.keep], new[j][instance.keep])), (n, n))
    assert candidates(renamed).sums[new].tolist() == candidates(instance.similarity).sums.tolist()
    exact = [math.fsum(row) for row in square(instance, 0.0)]
    assert sizes[0] == pytest.approx(exact, rel=0, abs=1e-14 * n)
    arrivals = node(instance, rng=seed)._walk.arrivals
    w = square(instance._replace(values=np.where(instance.keep, instance.values, 0)), 0.0)
    assert sorted(arrivals.tolist()) == list(range(n))
    falling = np.array([math.fsum(row) for row in w])[arrivals]
    assert (np.diff(falling) <= 1.01e-9).all()
    rounded = np.round(candidates(instance.similarity).sums, SIZE_DECIMALS).tolist()
    by_index = node(instance, ties="index")._walk.arrivals.tolist()
    assert by_index == sorted(range(n), key=lambda v: (-rounded[v], v))  # equal to nine decimals is equal


# --- forms ---------------------------------------------------------------------------------------------------------


def parts(similarity):
    """All that an ordering sees of a similarity; of a square, both triangles say the same."""
    pairs = candidates(similarity)
    values, codes = (part.tolist() for part in pairs.listed())
    for triangle in (pairs.square(), pairs.square().T) if pairs.complete else ():
        assert triangle[upper(pairs.n)[:2]].tolist() == values
    return pairs.n, values, codes, pairs.sums.tolist()


@law(instances(), SEEDS, usual=40, night=500)
def test_every_form_of_a_similarity_is_the_same_similarity(instance, seed):
    n, (i, j, _), w = instance.n, upper(instance.n), square(instance)
    rng = np.random.default_rng(seed)
    frozen = w.copy()
    frozen.setflags(write=False)
    wide = np.full((2 * n, 3 * n), np.nan)
    wide[::2, ::3] = w
    rounded = np.where(np.tri(n, k=-1) > 0, np.clip(w + rng.uniform(-1, 1, (n, n)) * SYMMETRY_TOLERANCE / 2, 0, 1), w)
    forms = [
        w, w + np.diag(np.full(n, np.nan)), np.asfortranarray(w), wide[::2, ::3], w[::-1, ::-1].copy()[::-1, ::-1],
        frozen, rounded, w.tolist(), pd.DataFrame(w), instance.values.astype(np.longdouble),
        np.repeat(instance.values, 2)[::2], candidates(instance.values),
    ]  # fmt: skip
    expected = parts(instance.values)
    for form in forms:
        assert parts(form) == expected
    for side in (i, j), (j, i), (np.r_[i, j], np.r_[j, i]), np.where(rng.random(len(i)) < 0.5, (i, j), (j, i)):
        row, col = side
        values = np.tile(instance.values, len(row) // max(len(i), 1) or 1)
        mixed = rng.permutation(len(row))
        coo = sparse.coo_array((values[mixed], (row[mixed], col[mixed])), shape=(n, n))
        for form in coo, coo.tocsr(), coo.tocsc(), coo.tolil(), sparse.coo_matrix(coo):
            assert parts(form) == expected
    i, j, values = i[instance.keep], j[instance.keep], instance.values[instance.keep]
    expected = parts(instance.similarity)
    twins = values + np.where(values < 0.5, 1, -1) * 1e-13 * rng.random(len(values))  # the upper of two is used
    row, col = np.r_[j, np.arange(n), i], np.r_[i, np.arange(n), j]
    coo = sparse.coo_array((np.r_[twins, np.full(n, np.nan), values], (row, col)), shape=(n, n))
    for form in coo, coo.tocsr(), coo.tocsc(), candidates(coo):
        assert parts(form) == expected
    shared, every = candidates(instance.similarity), stored(instance.values, np.ones(len(instance.values), bool), n)
    for make in (cr.EdgeOrdering, cr.NodeOrdering):  # which sort what is shared once, and read a square as it is
        for rules in {"rng": seed}, {"ties": "index"}:
            for forms in (shared, instance.similarity), (every, instance.values):
                one, other = (asked(make(form, **rules).run(instance.crowd)) for form in forms)
                assert one == other


@law(instances(), st.sampled_from(["e", "f", "d", "g", "?", "b", "B", "i", "Q"]), usual=40, night=4_000)
def test_the_type_of_the_numbers_changes_nothing_where_they_are_representable(instance, kind):
    values = instance.values if kind in "efdg" else np.rint(instance.values)
    values = values.astype(kind)
    plain = instance._replace(values=values.astype(float))
    forms = [values, square(plain).astype(kind)]
    if kind != "e":  # SciPy has no sparse matrix of halves
        forms.append(stored(values, np.ones(len(values), bool), instance.n))
    assert all(parts(form) == parts(plain.values) for form in forms)


@law(instances(), SEEDS, usual=60, night=500)
def test_nothing_given_is_changed_and_no_change_to_it_later_changes_a_run(instance, seed):
    """Nor is any global generator touched; one that is passed moves on, and gives what its seed would give."""
    some = stored(instance.values, instance.keep, instance.n)
    given = [instance.values.copy(), square(instance), some, some.T.tocsr(), some.T.tocsc()]
    for similarity in given:
        parts = [similarity]
        if not isinstance(similarity, np.ndarray):
            parts = [getattr(similarity, name) for name in ("row", "col", "indices", "indptr", "data")
                     if hasattr(similarity, name)]  # fmt: skip
        before = [part.copy() for part in parts]
        mine, arrive = (instance.priority if len(parts) == 1 else instance.ties).copy(), instance.arrivals.copy()
        state = random.getstate(), repr(np.random.get_state())  # noqa: NPY002 - that it is left alone is the point
        for make in (
            lambda s, t=mine: cr.EdgeOrdering(s, ties=t),
            lambda s, t=mine, o=arrive: cr.NodeOrdering(s, ties=t, order=o),
            lambda s: cr.EdgeOrdering(s, rng=seed),
            lambda s: cr.NodeOrdering(s, rng=seed),
        ):
            expected = asked(make(similarity).run(instance.crowd))
            opened = make(similarity)
            kept = [part.copy() for part in (*parts, mine, arrive)]
            for part in (*parts, mine, arrive):
                part[...] = 0 if part.dtype.kind in "iu" else np.nan
            assert asked(by_hand(opened, instance.crowd)) == expected
            for part, was in zip((*parts, mine, arrive), kept, strict=True):
                part[...] = was
        assert all(np.array_equal(part, was) for part, was in zip(parts, before, strict=True))
        assert state == (random.getstate(), repr(np.random.get_state()))  # noqa: NPY002
    for make in (edge, node):
        generator = np.random.default_rng(seed)
        was = generator.bit_generator.state
        first, second = (asked(make(instance, rng=generator).run(instance.crowd)) for _ in range(2))
        again = np.random.default_rng(seed)
        assert first == asked(make(instance, rng=seed).run(instance.crowd)) == asked(make(instance, rng=again).run(
            instance.crowd))  # fmt: skip
        assert second == asked(make(instance, rng=again).run(instance.crowd))
        assert (generator.bit_generator.state != was) == (len(instance.pairs) > 0 or (make is node and instance.n > 1))


# --- the similarities ----------------------------------------------------------------------------------------------


@law(instances(), st.integers(-(2**63), 2**63 - 2**40), usual=40, night=600)
def test_priorities_of_any_size_count_by_their_order_alone(instance, least):
    """Hashes of 64 bits, say: floats would take many of them for equal."""
    large = instance.priority.astype(np.int64) + least
    for ties in (large[instance.keep], [2**80 + int(x) for x in instance.ties],
                 [10**400 + int(x) for x in instance.ties]):  # fmt: skip
        assert asked(edge(instance, ties=ties).run(instance.crowd)) == asked(edge(instance).run(instance.crowd))
        by_size = node(instance, ties=ties, order=instance.arrivals)
        assert asked(by_size.run(instance.crowd)) == asked(node(instance).run(instance.crowd))


def test_a_condensed_vector_of_no_pair_is_one_record():
    assert cr.EdgeOrdering([], rng=1).n == 1


@law(instances(most=48, large=True), SEEDS, usual=6, night=60)
def test_the_laws_of_form_hold_where_rows_are_long(instance, seed):
    """More than 32 pairs a record, and more than 24 in a bin of the sort of all pairs, are sorted in another way."""
    test_ties_by_index_are_ties_by_the_pair_or_by_the_earlier_record.hypothesis.inner_test(instance)
    test_every_form_of_a_similarity_is_the_same_similarity.hypothesis.inner_test(instance, seed)
