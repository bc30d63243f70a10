"""What every run must obey, judged by `reference.Closure`: nothing here is shared with the engine."""

import numpy as np
from instances import asked
from reference import Closure, bits, edge_questions, node_questions


def edge_by_hand(instance, crowd):
    """What `reference.edge_questions` asks of an instance."""
    w, priority, candidate = instance.squares
    return edge_questions(w, priority, crowd, candidate)


def node_by_hand(instance, crowd):
    """What `reference.node_questions` asks."""
    w, priority, candidate = instance.squares
    return node_questions(w, priority, crowd, instance.arrivals.tolist(), candidate)


def obeys(run, instance, arrivals=None):
    """No question was needless, none is left, and the clusters are what the answers say. Gives the closure of these.

    The similarities were followed, too: a question is put only when all likelier ones are known, among all candidates
    or, with `arrivals`, among those of the newcomer with earlier records, once all before it are placed.
    """
    closure, seen = Closure(instance.n), set()
    value = dict(zip(instance.pairs, instance.values[instance.keep].tolist(), strict=True))
    rank = [0] * instance.n if arrivals is None else np.argsort(arrivals).tolist()
    turns = [(max(rank[i], rank[j]), -value[i, j], i, j) for i, j in value]
    turns.sort()
    passed = 0
    for (i, j), answer in asked(run):
        pair = (min(i, j), max(i, j))
        assert pair in value, f"{pair} is no candidate"  # so it is no record with itself, either
        assert pair not in seen, f"{pair} is asked twice"
        assert not closure.knows(i, j), f"{pair} is asked although the answers before it tell"
        assert arrivals is None or rank[j] < rank[i], f"{j} has not arrived before {i}"
        while turns[passed][:2] < (max(rank[i], rank[j]), -value[pair]):
            assert closure.knows(*turns[passed][2:]), f"{pair} comes before {turns[passed][2:]}"
            passed += 1
        seen.add(pair)
        closure.learn(i, j, answer)
    assert all(closure.knows(*pair) for pair in value), "a candidate is neither asked nor implied"
    assert not any(a & b for a, b in zip(closure.same, closure.other, strict=True)), "the answers contradict themselves"
    leaders = [mask & -mask for mask in closure.same]
    numbers = {leader: number for number, leader in enumerate(dict.fromkeys(leaders))}
    assert run.clusters.tolist() == [numbers[leader] for leader in leaders]
    return closure


def true_components(instance):
    """What true answers about the candidates can join, as bits a record."""
    closure, labels = Closure(instance.n), instance.labels.tolist()
    for i, j in instance.pairs:
        if labels[i] == labels[j] and not closure.knows(i, j):
            closure.learn(i, j, True)
    return closure.same


def fewest(instance):
    """The fewest questions: a tree for each component, and a non-match for each two with a candidate between them.

    A non-match between two final components follows from a question between these two alone, so no run asks less. Of a
    complete similarity this is n - k + C(k, 2).
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
