"""Laws that every ordering obeys, whatever similarities, ties and answers. `test_input_forms.py` has those of input.

`ORDERINGS` has each ordering, how it is made, and what it promises; what only one of them promises is in its own file.
`instances.py` makes what they are tried on: some thousand instances in `make test`, in `make nightly` twenty times as
many, others each night.
"""

import copy
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from instances import SEEDS, Instance, asked, complete, digests, edge, instances, law, node, place, upper
from nightly import NIGHTLY
from reference import Closure, bits, edge_questions, node_questions

import crowder as cr
import crowder_tool
from crowder.pairs import candidates
from crowder_tool.candidates import NearestPairs

ROOT = Path(__file__).resolve().parents[2]


# --- the table -----------------------------------------------------------------------------------------------------


class LeastKnownFirst(cr.Ordering):
    """Ask about the most similar open pair of the record with the fewest questions so far.

    It is written with the public methods of `Ordering` alone, as that of a user would be.
    """

    def __init__(self, similarity, *, rng):
        super().__init__(similarity)
        i, j, w = self.pairs()
        best = np.lexsort((np.random.default_rng(rng).random(len(w)), -w))
        self.left, self.asked = list(zip(i[best].tolist(), j[best].tolist(), strict=True)), np.zeros(self.n, int)

    def next_question(self):
        self.left = [pair for pair in self.left if not self.settled(*pair)]
        return min(self.left, key=lambda pair: self.asked[list(pair)].min(), default=None)

    def tell(self, pair, same):
        super().tell(pair, same)
        self.asked[list(pair)] += 1


class Arriving(np.random.Generator):
    """A generator that puts records in a given order."""

    def __init__(self, arrivals):
        super().__init__(np.random.PCG64(1))
        self.arrivals = arrivals

    def permutation(self, n):
        return self.arrivals.copy()


class Kind(NamedTuple):
    """``make(instance, seed)`` gives an ordering; the rest is what it promises, or needs."""

    make: Callable
    whole: bool = False  # every pair must be a candidate
    revises: bool = False  # it may ask about what is implied, and revise its clusters
    enough: bool = True  # in the end the answer about every candidate is known
    exact: bool = True  # true answers lead to true clusters
    unsure: bool = False  # None is an answer
    numbers: bool = False  # where no similarities tie, the numbers of the records say nothing


def own(instance, seed):
    return LeastKnownFirst(instance.similarity, rng=seed)


def scored(instance, seed):
    return crowder_tool.ScoredOrdering(instance.similarity, rng=seed)


def learned(instance, seed):
    """The similarities are all that it has to learn from; no two records have the same text."""
    pairs = np.array(instance.pairs, np.int64).reshape(-1, 2)
    values = instance.values[instance.keep] if len(instance.keep) else np.empty(0)
    near = NearestPairs(instance.n, pairs, values, values, np.zeros(instance.n), np.empty((0, 2), np.int64))
    records = pd.DataFrame({"name": [f"record {number}" for number in range(instance.n)]})
    return crowder_tool.LearnedOrdering(records, pairs=near, features=values[:, None], rng=seed)


def evidence(instance, seed, model=None):
    form = ("auto", "pairs")[seed % 2]
    return cr.beyond.EvidenceOrdering(instance.values, model, form=form, rng=Arriving(instance.arrivals))


def placing(instance, seed, model=None):
    return cr.beyond.PlacingOrdering(instance.values, model, delta=(0.3, 1)[seed % 2], rng=Arriving(instance.arrivals))


def noisy(instance, seed):
    return cr.beyond.NoisyOrdering(instance.similarity, doubt=(0, 0.1)[seed % 2], rng=seed)


def model(seed):
    return (cr.dist1(0.3), cr.dist2(0.2), cr.uniform())[seed // 2 % 3]


ORDERINGS = {
    "edge": Kind(lambda instance, seed: edge(instance), numbers=True),
    "edge, ties at random": Kind(lambda instance, seed: edge(instance, rng=seed), numbers=True),
    "node": Kind(lambda instance, seed: node(instance), numbers=True),
    "node, ties at random": Kind(lambda instance, seed: node(instance, rng=seed)),
    "own": Kind(own, numbers=True),
    "evidence": Kind(lambda instance, seed: evidence(instance, seed, model(seed)), whole=True, numbers=True),
    "evidence, learned": Kind(evidence, whole=True, numbers=True),
    "placing": Kind(lambda instance, seed: placing(instance, seed, model(seed)), whole=True, exact=False, numbers=True),
    "placing, learned": Kind(placing, whole=True, exact=False, numbers=True),
    "noisy": Kind(noisy, revises=True, enough=False, unsure=True),
    "scored": Kind(scored, unsure=True, numbers=True),
    "learned": Kind(learned, unsure=True),
    "stopping": Kind(lambda instance, seed: cr.beyond.Stopping(own(instance, seed), model(seed), delta=0.2), whole=True,
                     enough=False),
    "audit": Kind(lambda instance, seed: cr.beyond.Audit(node(instance), recall=0.7, rng=seed), enough=False),
    "audit of scored": Kind(lambda instance, seed: crowder_tool.Audit(scored(instance, seed), recall=0.7, rng=seed),
                            enough=False, unsure=True),
    "audit of learned": Kind(lambda instance, seed: crowder_tool.Audit(learned(instance, seed), recall=0.7, rng=seed),
                             enough=False, unsure=True),
}  # fmt: skip


def of_every_ordering(test):
    """A law of each ordering, tried on some instances of it, with seeds."""

    def tried(name, instance, seed):
        kind = ORDERINGS[name]
        test(kind, complete(instance) if kind.whole else instance, seed)

    tried.__name__, tried.__doc__ = test.__name__, test.__doc__
    return pytest.mark.parametrize("name", ORDERINGS)(law(instances(most=13), SEEDS, usual=12, night=300)(tried))


def told(ordering):
    """What has been asked and answered, in order, by one question or another."""
    if isinstance(ordering, cr.beyond.NoisyOrdering):
        return [((i, j), same) for i, j, same, _ in ordering.answers]
    return asked(ordering.resolution)


def clusters(ordering):
    return (ordering if isinstance(ordering, cr.beyond.NoisyOrdering) else ordering.resolution).clusters.tolist()


def ask(ordering, crowd, most=math.inf):
    """Put at most so many questions, one by one."""
    count = 0
    while count < most and (pair := ordering.ask()) is not None:
        assert count <= ordering.n**2, "there is no end of questions"
        ordering.tell(pair, crowd(*pair))
        count += 1
    return ordering


def ran(ordering, crowd):
    ordering.run(crowd)
    return ordering


def crowds(instance):
    """One that is right, and one whose answers may contradict one another."""
    return cr.Truth(instance.labels), instance.crowd


def numbered(closure):
    """The clusters that answers imply, numbered by their first records."""
    leaders = [mask & -mask for mask in closure.same]
    numbers = {leader: number for number, leader in enumerate(dict.fromkeys(leaders))}
    return [numbers[leader] for leader in leaders]


# --- laws of every ordering ----------------------------------------------------------------------------------------


@of_every_ordering
def test_a_candidate_is_asked_about_once_unless_its_answer_is_implied(kind, instance, seed):
    """What placing ordering accepts counts as answered. In the end, nothing is left, and of true answers the truth."""
    for crowd in crowds(instance):
        ordering, closure, seen, accepted = kind.make(instance, seed), Closure(instance.n), {}, 0
        while True:
            pair = ordering.ask()
            for i, j in getattr(ordering, "_accepted", [])[accepted:]:
                assert not closure.knows(i, j) and ordering.resolution.after[accepted] == len(seen)
                closure.learn(i, j, True)
                accepted += 1
            if pair is None:
                break
            i, j = pair
            assert ordering.ask() == pair and (min(pair), max(pair)) in instance.pairs
            assert pair not in seen and pair[::-1] not in seen
            assert kind.revises or not (closure.knows(i, j) or ordering.settled(i, j))
            seen[pair] = crowd(i, j)
            ordering.tell(pair[:: 1 - 2 * (seed % 2)], np.bool_(seen[pair]))  # either direction will do
            closure.learn(i, j, seen[pair])
        assert told(ordering) == [*seen.items()] and ordering.ask() is None
        if kind.enough:
            assert all(closure.knows(*pair) for pair in instance.pairs)
        if not kind.revises:
            assert clusters(ordering) == numbered(closure)
        if kind.enough and kind.exact and isinstance(crowd, cr.Truth):
            assert closure.same == true_components(instance)


@of_every_ordering
def test_however_it_is_asked_it_is_the_same_run(kind, instance, seed):
    """One by one or at once, by labels or by a function; broken off anywhere, by an error or a wrong kind of answer,
    and resumed; a copy, which goes its own way; and from a journal, which asks nobody twice."""
    for crowd in crowds(instance):
        whole = ran(kind.make(instance, seed), crowd)
        questions, ends = told(whole), clusters(whole)
        stop, half = seed % (len(questions) + 1), kind.make(instance, seed)
        assert told(ask(half, crowd, stop)) == questions[:stop]
        is_open, before = half.ask() is not None, clusters(half)
        for bad in ("yes", 1, RuntimeError):
            if is_open:
                with pytest.raises((TypeError, RuntimeError), match=r"the answer to \(|gone home"):
                    half.run(lambda *pair, bad=bad: gone_home() if bad is RuntimeError else bad)
        assert told(half) == questions[:stop] and clusters(half) == before
        twin = copy.deepcopy(half)
        ask(half, crowd)
        assert told(twin) == questions[:stop] and clusters(twin) == before
        for other in (half, ran(twin, crowd), ran(kind.make(instance, seed), lambda i, j, crowd=crowd: crowd(i, j))):
            assert (told(other), clusters(other), other.ask()) == (questions, ends, None)


def gone_home():
    raise RuntimeError("gone home")


@pytest.mark.parametrize("name", ORDERINGS)
@law(instances(most=9), SEEDS, usual=3, night=100)
def test_a_journal_resumes_it_and_asks_nobody_twice(name, instance, seed):
    """Broken off after each few answers. The last time nobody is there to ask."""
    kind, questions = ORDERINGS[name], []
    instance = complete(instance) if kind.whole else instance
    crowd, patience = instance.crowd, seed % 5 + 1

    def tired(i, j):
        if patience and len(questions) % (patience + 1) == patience:
            questions.append(None)
            gone_home()
        questions.append(((i, j), crowd(i, j)))
        return questions[-1][1]

    with tempfile.TemporaryDirectory() as folder:
        for oracle in [tired] * (len(instance.pairs) + 1) + [None]:
            with crowder_tool.Journal(oracle, Path(folder) / "answers.journal") as journal:
                ordering = kind.make(instance, seed)
                try:
                    ordering.run(journal)
                except RuntimeError:
                    continue
        whole = ran(kind.make(instance, seed), instance.crowd)
        assert told(ordering) == told(whole) == [question for question in questions if question]
        assert clusters(ordering) == clusters(whole)


@of_every_ordering
def test_answers_from_elsewhere_are_asked_for_no_more(kind, instance, seed):
    """About the open question, about others, which may settle it, or about all; whatever they are."""
    for crowd in crowds(instance):
        ordering, rng = kind.make(instance, seed), np.random.default_rng(seed)
        known, learned = Closure(instance.n), set()
        while (pair := ordering.ask()) is not None:
            assert frozenset(pair) not in learned and (kind.revises or not known.knows(*pair))
            other = pair if rng.random() < 0.3 else tuple(rng.choice(instance.n, 2, replace=False).tolist())
            if rng.random() < 0.5:
                ordering.tell(pair, crowd(*pair))
                other = pair
            else:
                ordering.learn(other, crowd(*other))
            learned.add(frozenset(other))
            if not known.knows(*other):
                known.learn(*other, crowd(*other))
            if {*other} == {*pair} or (not kind.revises and known.knows(*pair)):
                with pytest.raises(ValueError, match=r"was not asked"):
                    ordering.tell(pair, crowd(*pair))
            else:
                assert ordering.ask() == pair
        if kind.enough and kind.exact:
            assert all(known.knows(*pair) for pair in instance.pairs)
        if not kind.revises and kind.exact:
            assert clusters(ordering) == numbered(known)
        if kind.exact and not kind.revises:
            fresh = kind.make(instance, seed)
            for pair, same in told(ran(kind.make(instance, seed), crowd))[::-1]:
                fresh.learn(pair, same)
            assert fresh.ask() is None


@of_every_ordering
def test_no_pair_and_no_answer_of_a_wrong_kind_is_taken(kind, instance, seed):
    """They change nothing: not the open question, not the run."""
    n, crowd = instance.n, instance.crowd
    ordering = ask(kind.make(instance, seed), crowd, seed % 7)
    before, pair = told(ordering), ordering.ask()
    outside = [(0, n), (-1, 0), (0, 0), (0, 2**70)]
    for bad in [*outside, (0.5, 0), (True, 1), ("0", 1), (0,), (0, 1, 2), None, 3, "ab"]:
        error = ValueError if bad in outside else TypeError
        with pytest.raises(error, match=r"two different records out of|two record numbers"):
            ordering.learn(bad, True)
        if not kind.revises and isinstance(bad, tuple) and len(bad) == 2:
            with pytest.raises(error, match=r"two different records out of|two record numbers"):
                ordering.settled(*bad)
        with pytest.raises(ValueError, match=r"was not asked: (no question is open|the open question is)"):
            ordering.tell(bad, True)
    for bad in (1, 0, "yes", 1.0, np.nan, *([] if kind.unsure else [None])):
        for take, of in ((ordering.learn, (0, 1)), (ordering.tell, pair)):
            if of is not None and n > 1:
                with pytest.raises(TypeError, match="must be True"):
                    take(of, bad)
    assert told(ordering) == before and ordering.ask() == pair
    assert told(ask(ordering, crowd)) == told(ran(kind.make(instance, seed), crowd))


@of_every_ordering
def test_the_numbers_of_the_records_say_nothing_where_nothing_ties(kind, instance, seed):
    """Of records that are numbered otherwise, the same are asked about in the same order."""
    if not kind.numbers:
        return
    rank = np.lexsort((instance.priority, instance.values)).argsort()
    new = np.random.default_rng(seed).permutation(instance.n)
    instance = instance._replace(values=(rank + 1) / (len(rank) + 1))
    i, j, _ = upper(instance.n)
    at = np.argsort(place(instance.n, new[i], new[j]))
    renamed = instance._replace(
        labels=instance.labels[np.argsort(new)], arrivals=new[instance.arrivals],
        **{name: getattr(instance, name)[at] for name in ("values", "priority", "keep", "lies")},
    )  # fmt: skip
    first, second = (told(ran(kind.make(one, seed), one.crowd)) for one in (instance, renamed))
    assert [({*new[list(pair)].tolist()}, same) for pair, same in first] == [({*pair}, same) for pair, same in second]


@pytest.mark.parametrize("name", ORDERINGS)
@pytest.mark.parametrize("n", [0, 1, 5])
def test_without_candidates_there_is_no_question(name, n):
    n = min(n, 1) if ORDERINGS[name].whole else n
    none = np.zeros(n * (n - 1) // 2)
    instance = Instance(none if n > 1 else np.zeros((n, n)), np.zeros(n, int), none, none > 0, np.arange(n), none)
    ordering = ORDERINGS[name].make(instance, 1)
    assert ordering.ask() is None and told(ran(ordering, cr.Truth(instance.labels))) == []
    assert clusters(ordering) == list(range(n))


def test_the_pairs_of_an_ordering_are_not_its_own_to_change():
    """All runs with the same candidates would ask in another order."""
    with pytest.raises(ValueError, match="read-only"):
        LeastKnownFirst(candidates([0.9, 0.5, 0.1]), rng=7).pairs()[2][0] = 1.0


def test_a_question_that_is_settled_or_no_pair_is_refused():
    class Stubborn(cr.Ordering):
        question = (0, 1)

        def next_question(self):
            return self.question

    ordering = Stubborn([0.9, 0.5, 0.1])
    ordering.tell(ordering.ask(), True)
    with pytest.raises(ValueError, match=r"Stubborn\.next_question"):
        ordering.ask()
    ordering.question = (0, 3)
    with pytest.raises(ValueError, match="must be two"):
        ordering.ask()


@law(instances(most=20, whole=True), SEEDS, usual=20, night=400)
def test_stopping_that_never_stops_asks_as_its_ordering_alone(instance, seed):
    """δ = 0 leaves nothing out, and nothing open."""
    inside = ("edge", "node", "own", "evidence", "evidence, learned")[seed % 5]
    for crowd in crowds(instance):
        alone, stopping = (ORDERINGS[inside].make(instance, seed // 5) for _ in range(2))
        run = cr.beyond.Stopping(stopping, model(seed), delta=0).run(crowd)
        assert asked(run) == told(ran(alone, crowd)) and len(run.declared) == 0


# --- what the two heuristics ask -----------------------------------------------------------------------------------


def by_plain_form(instance, crowd, arrivals=None, priority=None):
    """The questions of edge ordering, or of node ordering for these arrivals, with their answers."""
    w, given, candidate = instance.squares
    if arrivals is None:
        return list(edge_questions(w, priority or given, crowd, candidate).items())
    return list(node_questions(w, priority or given, crowd, arrivals.tolist(), candidate).items())


def as_tossed(run, instance):
    """The priorities by which ties at random were broken, as far as they tell: what was asked was so in this order, and
    before what was not asked, which was then implied."""
    n = instance.n
    priority = [[n * n] * n for _ in range(n)]
    for number, (pair, _) in enumerate(asked(run)):
        priority[min(pair)][max(pair)] = number
    return priority


@law(instances(), SEEDS, usual=200, night=8_000)
def test_edge_and_node_ordering_are_their_plain_forms_and_ask_within_their_bounds(instance, seed):
    """With ties as given and at random, of true answers and of others.

    Of a complete similarity, true answers are n - k + C(k, 2) at least.
    """
    n, sizes = instance.n, np.unique(instance.labels, return_counts=True)[1]
    k = len(sizes)
    for crowd in crowds(instance):
        tossed = node(instance, rng=seed, order=("expected-size", "random")[seed % 2])
        runs = [(edge(instance).run(crowd), None), (node(instance).run(crowd), instance.arrivals),
                (edge(instance, rng=seed).run(crowd), None), (tossed.run(crowd), tossed._walk.arrivals)]  # fmt: skip
        for number, (run, arrivals) in enumerate(runs):
            priority = as_tossed(run, instance) if number > 1 else None
            assert asked(run) == by_plain_form(instance, crowd, arrivals, priority)
            if isinstance(crowd, cr.Truth):
                assert run.n_matches == n - len(set(true_components(instance)))
                assert fewest(instance) <= run.n_queries <= len(instance.pairs)
                assert arrivals is None or run.n_queries <= most_by_record(instance, arrivals)
            if isinstance(crowd, cr.Truth) and instance.keep.all():
                assert fewest(instance) == n - k + math.comb(k, 2) == cr.ideal_queries(sizes)
                assert arrivals is None or run.n_queries <= n * k - k * (k + 1) // 2


def true_components(instance):
    """What true answers about the candidates can join, as bits a record."""
    closure, labels = Closure(instance.n), instance.labels.tolist()
    for i, j in instance.pairs:
        if labels[i] == labels[j] and not closure.knows(i, j):
            closure.learn(i, j, True)
    return closure.same


def fewest(instance):
    """The fewest questions: a tree for each component, and a non-match for each two with a candidate between them.

    A non-match between two final components follows from a question between these two alone, so no run asks less.
    """
    same = true_components(instance)
    trees = instance.n - len(set(same))
    return trees + len({frozenset((same[i], same[j])) for i, j in instance.pairs if same[i] != same[j]})


def most_by_record(instance, arrivals):
    """At most one question for each arrival and component of earlier records that a candidate leads to.

    Of a complete similarity: an arrival that is the first of its cluster asks about all j that are open, any other
    about j at most. The sum is at most nk - k(k + 1)/2.
    """
    near, placed, total = [0] * instance.n, 0, 0
    labels, closure = instance.labels.tolist(), Closure(instance.n)
    for i, j in instance.pairs:
        near[i] |= 1 << j
        near[j] |= 1 << i
    for v in map(int, arrivals):
        doors = {closure.same[u]: u for u in bits(near[v] & placed)}
        total += len(doors)
        for u in doors.values():
            if labels[u] == labels[v]:
                closure.learn(u, v, True)
        placed |= 1 << v
    return total


@law(instances(most=60, large=True), SEEDS, usual=6, night=100)
def test_they_are_so_where_tables_grow_and_rows_are_long(instance, seed):
    """More than 32 pairs a record are sorted in another way, and more than 512 non-matches do not fit at first.

    Of many small clusters there are so many, and they merge while the tables grow: four in five records open one.
    """
    scattered = complete(instance)._replace(labels=instance.arrivals * 4 // 5)
    for one in (scattered, instance):
        test_edge_and_node_ordering_are_their_plain_forms_and_ask_within_their_bounds.hypothesis.inner_test(one, seed)


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
