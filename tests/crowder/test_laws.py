"""Laws that every ordering obeys, whatever similarities, ties and answers. `test_input_forms.py` has those of input.

`make test` tries some eight hundred instances, `make nightly` some 12,000, others each night.
`instances.py` makes them, `laws.py` judges.
"""

import copy
import functools
import math
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import laws
import numpy as np
from instances import (
    SEEDS,
    asked,
    by_hand,
    complete,
    digests,
    edge,
    instances,
    law,
    node,
)
from laws import obeys
from nightly import NIGHTLY

import crowder as cr

ROOT = Path(__file__).resolve().parents[2]


# --- what is asked -------------------------------------------------------------------------------------------------


@law(instances(), SEEDS, usual=400, night=8_000)
def test_every_pair_is_asked_or_implied_once_and_the_count_is_within_its_bounds(instance, seed):
    """Edge and node ordering in the compiled loop, against both at their plainest, and with ties at random.

    What is asked is enough, with nothing needless; what comes out is the truth as far as candidates lead. Of a complete
    similarity that is all of it, for n - k + C(k, 2) questions at least.
    """
    n, truth, labels = instance.n, cr.Truth(instance.labels), instance.labels
    arrivals, least = instance.arrivals, laws.fewest(instance)
    components = laws.true_components(instance)
    k = len(set(labels.tolist()))
    tossed = node(instance, rng=seed, order=("expected-size", "random")[seed % 2])
    runs = [
        (edge(instance).run(truth), None),
        (edge(instance, rng=seed).run(truth), None),
        (node(instance).run(truth), arrivals),
        (tossed.run(truth), tossed._walk.arrivals),
    ]
    assert asked(runs[0][0]) == list(laws.edge_by_hand(instance, truth).items())
    assert asked(runs[2][0]) == list(laws.node_by_hand(instance, truth).items())
    for run, order in runs:
        assert obeys(run, instance, order).same == components
        assert all(same == truth(i, j) for (i, j), same in asked(run))
        assert run.n_matches == n - len(set(components))
        assert least <= run.n_queries <= len(instance.pairs)
        if order is not None:
            assert run.n_queries <= laws.most_by_record(instance, order)
        if instance.keep.all():
            assert least == n - k + math.comb(k, 2) == cr.ideal_queries(np.unique(labels, return_counts=True)[1])
            assert np.array_equal(run.clusters[:, None] == run.clusters, labels[:, None] == labels)
            assert order is None or run.n_queries <= n * k - k * (k + 1) // 2


@law(instances(), SEEDS, usual=100, night=1_000)
def test_a_crowd_that_errs_is_neither_asked_in_vain_nor_contradicted(instance, seed):
    """Whatever it answers, transitivity is kept, and the run ends."""
    tossed = node(instance, rng=seed)
    runs = [edge(instance).run(instance.crowd), node(instance).run(instance.crowd), tossed.run(instance.crowd)]
    assert asked(runs[0]) == list(laws.edge_by_hand(instance, instance.crowd).items())
    assert asked(runs[1]) == list(laws.node_by_hand(instance, instance.crowd).items())
    for run, order in zip(runs, (None, instance.arrivals, tossed._walk.arrivals), strict=True):
        obeys(run, instance, order)
        assert run.n_queries <= len(instance.pairs)


@law(instances(whole=True), SEEDS, usual=24, night=500)
def test_evidence_and_placing_ordering_and_stopping_that_never_stops_ask_enough_and_nothing_needless(instance, seed):
    """δ = 0 stops nothing, so the ordering inside asks as it would alone."""
    model = (cr.uniform(), cr.dist1(0.3), cr.dist2(0.2), None)[seed % 4]

    def fresh():
        if seed // 4 % 3 == 2 and model is not None:
            return cr.beyond.PlacingOrdering(instance.values, model, delta=0, rng=seed)
        return cr.beyond.EvidenceOrdering(instance.values, model, form=("auto", "pairs")[seed // 4 % 2], rng=seed)

    same = instance._replace(values=np.zeros_like(instance.values))  # the order of evidence is no law of `obeys`
    for crowd, true in ((cr.Truth(instance.labels), True), (instance.crowd, False)):
        run = fresh().run(crowd)
        closure = obeys(run, same)
        evidence = fresh()
        part = by_hand(evidence, crowd, seed % (run.n_queries + 1))
        evidence.ask()  # run on while a question is open
        assert asked(part) == asked(run)[: part.n_queries] and asked(evidence.run(crowd)) == asked(run)
        evidence = fresh()
        assert asked(cr.beyond.Stopping(evidence, model or cr.uniform(), delta=0).run(crowd)) == asked(run)
        if true:
            assert laws.fewest(instance) <= run.n_queries <= len(instance.pairs)
            assert closure.same == laws.true_components(instance)
        for ordering, arrivals in ((edge, None), (node, instance.arrivals)):
            alone = ordering(instance).run(crowd)
            inside = cr.beyond.Stopping(ordering(instance), model or cr.uniform(), delta=0).run(crowd)
            assert asked(inside) == asked(alone) and len(inside.declared) == 0
            obeys(inside, instance, arrivals)


# --- however it is asked -------------------------------------------------------------------------------------------


@law(instances(), SEEDS, usual=100, night=1_000)
def test_asked_one_by_one_run_at_once_or_begun_so_and_ended_so_it_is_the_same_run(instance, seed):
    """The first q questions are the first q of the whole run; recall rises along it to 1."""
    truth, labels = cr.Truth(instance.labels), instance.labels
    for make in (edge, node, functools.partial(edge, rng=seed), functools.partial(node, rng=seed)):
        whole = make(instance).run(truth)
        assert asked(by_hand(make(instance), truth)) == asked(make(instance).run(truth.__call__)) == asked(whole)
        half, stop = make(instance), seed % (whole.n_queries + 1)
        part = by_hand(half, truth, stop)
        assert asked(part) == asked(whole)[:stop]
        pair = half.ask()
        assert half.ask() == pair and half.n_queries == stop  # to ask again is not to ask more
        twin = copy.deepcopy(half)
        assert asked(half.run(truth)) == asked(by_hand(twin, truth)) == asked(whole)
        assert asked(part) == asked(whole)[:stop]  # what was read at one time does not change later
        recall = whole.recall(labels)
        assert all(a <= b for a, b in pairwise(recall.tolist())) and 0 <= recall[0] and recall[-1] <= 1
        assert not instance.keep.all() or recall[-1] == 1
        assert part.recall(labels).tolist() == recall[: stop + 1].tolist()
        assert (whole.precision(labels) == 1).all()


def test_the_compiled_loop_and_plain_python_ask_the_same():
    """NUMBA_DISABLE_JIT=1 in a process of its own, with every warning an error: no sum may overflow there."""
    count = 400 if NIGHTLY else 60
    done = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "tests" / "support" / "instances.py"), str(count), "7"],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    compiled, plain = list(digests(count, 7)), done.stdout.split()
    assert len(set(plain)) > count / 2  # the instances differ
    assert plain == compiled


@law(instances(most=60, large=True), SEEDS, usual=8, night=100)
def test_the_laws_hold_where_tables_grow_and_rows_are_long(instance, seed):
    """More than 32 pairs a record are sorted in another way, and more than 512 non-matches do not fit at first.

    Of many small clusters there are so many, and they merge while the tables grow: four in five records open one.
    """
    scattered = complete(instance)._replace(labels=instance.arrivals * 4 // 5)
    test_every_pair_is_asked_or_implied_once_and_the_count_is_within_its_bounds.hypothesis.inner_test(scattered, seed)
    test_every_pair_is_asked_or_implied_once_and_the_count_is_within_its_bounds.hypothesis.inner_test(instance, seed)
    test_a_crowd_that_errs_is_neither_asked_in_vain_nor_contradicted.hypothesis.inner_test(instance, seed)
