"""Instances made to break the laws of `laws.py`, the orderings that they are put to, and how many it takes.

An instance is made of small numbers and raw bytes, whoever gives them: Hypothesis, which then shrinks a failure byte by
byte, or a generator, for the same instances in two processes. As a script it prints the digests of such a batch.
"""

import functools
import math
import sys
from hashlib import blake2b
from itertools import compress
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nightly import examples
from scipy import sparse
from scipy.spatial.distance import squareform

import crowder as cr

SEEDS = st.integers(0, 2**32)

UP, DOWN = (lambda x: np.nextafter(x, 1)), (lambda x: np.nextafter(x, 0))

#: Similarities to choose from: ties in plenty, neighbours that differ in the last bit, both ends of the scale.
PALETTES = [
    [0.5],
    [0.0],
    [1.0],
    [0.0, 1.0],
    [0.0, 1 / 3, 2 / 3, 1.0],
    [DOWN(0.5), 0.5, UP(0.5), UP(UP(0.5))],
    [x for edge in (1 / 16, 37 / 64, 40001 / 65536) for x in (DOWN(edge), edge, UP(edge))],  # of bins of the sort
    [0.0, -0.0, 5e-324, 1e-310, np.finfo(float).tiny, DOWN(DOWN(1.0)), DOWN(1.0), 1.0],
    [0.5 + 1e-7 * level for level in range(40)],
    [0.1 + 0.5e-9 * level for level in range(40)],  # their sums end in half of the ninth decimal
    [level / 255 for level in range(256)],
    [level * 5e-324 for level in range(40)],
    [1 - level * 2.0**-53 for level in range(40)],
]


class Instance(NamedTuple):
    """Condensed similarities, labels, a priority a pair, which pairs are candidates, arrivals, and answers of liars."""

    values: np.ndarray
    labels: np.ndarray
    priority: np.ndarray
    keep: np.ndarray
    arrivals: np.ndarray
    lies: np.ndarray

    @property
    def n(self):
        return len(self.labels)

    @property
    def pairs(self):
        """The candidates, (i, j) with i < j, in order."""
        return list(compress(upper(self.n)[2], self.keep.tolist()))

    @property
    def similarity(self):
        """Condensed if every pair is a candidate, else sparse."""
        return self.values if self.keep.all() else stored(self.values, self.keep, self.n)

    @property
    def squares(self):
        """Similarities and priorities by two records, and whether these are a candidate, as `reference` takes them."""
        kept = set(self.pairs)
        square = (squareform(x).tolist() if self.n > 1 else [[0]] for x in (self.values, self.priority))
        return *square, lambda i, j: (i, j) in kept

    @property
    def ties(self):
        return self.priority[self.keep]

    @property
    def crowd(self):
        """Answers that need not be true, the same in either direction, by who has no patience for a run without end."""
        patience = iter(range(100 * len(self.values) + 100))

        def answer(i, j):
            assert next(patience, None) is not None, "there is no end of questions"
            return bool(self.lies[place(self.n, i, j)])

        return answer


@functools.cache
def upper(n):
    """All pairs of n records in order: i, j, and both as tuples."""
    i, j = np.triu_indices(n, 1)
    return i, j, list(zip(i.tolist(), j.tolist(), strict=True))


def place(n, i, j):
    """Where (i, j) stands in a condensed vector."""
    i, j = np.minimum(i, j), np.maximum(i, j)
    return i * (2 * n - i - 1) // 2 + j - i - 1


def stored(values, keep, n):
    i, j, _ = upper(n)
    return sparse.coo_array((values[keep], (i[keep], j[keep])), shape=(n, n))


def complete(instance):
    return instance._replace(keep=np.ones_like(instance.keep))


def made(number, raw, most=40, whole=False, large=False):
    """An instance out of ``number(low, high)``, an integer, and ``raw(count)``, bytes.

    One in sixteen has more than 12 records; `large` ones have 34 or more, so that every table and sort is tried.
    """
    if large:
        n = number(34, most)
    else:
        n = number(13, most) if most > 12 and number(0, 15) == 15 else number(1, min(most, 12))
    m = n * (n - 1) // 2
    i, j = upper(n)[:2]
    labels = _clustered(number(0, 5), raw(n), n)
    palette = number(0, len(PALETTES))
    if palette == len(PALETTES):
        values = (raw(8 * m).view(np.uint64) >> np.uint64(11)) * 2.0**-53  # any float of the usual grain
    else:
        values = np.array(PALETTES[palette])[raw(m).astype(int) % len(PALETTES[palette])]
    values = _bent(number(0, 3), values, labels[i] == labels[j])
    priority = _ranks(raw(2 * m))
    kind = 0 if whole else number(0, 6)
    keep = raw(m) >= (0, 0, 0, 25, 128, 200, 255)[kind]
    if kind == 2:  # some records without any pair
        alone = raw(n) < 100
        keep &= ~alone[i] & ~alone[j]
    return Instance(values, labels, priority, keep, np.argsort(_ranks(raw(2 * n))), raw(m) % 3 == 0)


def _clustered(kind, raw, n):
    raw = raw.astype(int)
    clusters = (1, n, 2, 4, n)[kind] if kind < 5 else None
    if kind == 1:
        return np.arange(n)
    return raw % clusters if clusters else np.where(raw < 128, n, np.arange(n))  # one large cluster, and singletons


def _bent(kind, values, match):
    """As drawn; kind to matches; unkind; or the lowest of all to the matches."""
    if kind == 3:
        bent = np.empty_like(values)
        bent[np.argsort(~match, kind="stable")] = np.sort(values)
        return bent
    high, low = np.maximum(values, values[::-1]), np.minimum(values, values[::-1])
    return (values, np.where(match, high, low), np.where(match, low, high))[kind]


def _ranks(raw):
    """Zeros give 0, 1, 2, ..."""
    return np.argsort(np.argsort(raw.view(np.uint16), kind="stable")).astype(np.float64)


@st.composite
def instances(draw, most=40, whole=False, large=False):
    def raw(count):
        return np.frombuffer(draw(st.binary(min_size=count, max_size=count)), np.uint8)

    return made(lambda low, high: draw(st.integers(low, high)), raw, most, whole, large)


def asked(run):
    """The questions of a run with their answers, in order."""
    return list(zip(map(tuple, run.queries.tolist()), run.answers.tolist(), strict=True))


def law(*strategies, usual, night):
    """Try a test on `usual` instances in `make test`, on `night` in `make nightly`."""
    return lambda test: examples(usual, night=night)(given(*strategies)(test))


def edge(instance, **rules):
    return cr.EdgeOrdering(instance.similarity, **(rules or {"ties": instance.ties}))


def node(instance, **rules):
    return cr.NodeOrdering(instance.similarity, **(rules or {"ties": instance.ties, "order": instance.arrivals}))


def by_hand(ordering, crowd, most=math.inf):
    while ordering.n_queries < most and (pair := ordering.ask()) is not None:
        assert ordering.n_queries < ordering.n * (ordering.n - 1) // 2, "there is no end of questions"
        ordering.tell(pair, crowd(*pair))
    return ordering.resolution


def digests(count, seed):
    """What is asked, and answered, of a batch of instances, in every way that is compiled."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        instance = made(lambda low, high: int(rng.integers(low, high + 1)), lambda m: rng.integers(0, 256, m, np.uint8))
        digest = blake2b(digest_size=8)
        for make in (edge, node):
            for rules in {}, {"rng": 7}:
                for crowd in cr.Truth(instance.labels), instance.crowd:
                    run = make(instance, **rules).run(crowd)
                    digest.update(repr(asked(run)).encode() + run.clusters.tobytes())
        for model, form in (cr.dist1(0.4), "auto"), (cr.dist1(0.4), "pairs"), (None, "auto"), (None, "pairs"):
            run = cr.beyond.EvidenceOrdering(instance.values, model, form=form, rng=7).run(instance.crowd)
            digest.update(repr(asked(run)).encode())
        yield digest.hexdigest()


if __name__ == "__main__":
    print(*digests(int(sys.argv[1]), int(sys.argv[2])), sep="\n")
