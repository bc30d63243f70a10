"""Bad input to the orderings, the crowd, resolutions and experiments."""

from math import nan

import numpy as np
from bad_material import Row, V, asking, crowd, done, pairs_of
from scipy import sparse

import crowder as cr
from crowder import experiments, oracles

LEGACY = np.random.RandomState(7)


def changed(part, number):
    matrix = pairs_of((0, 1, 0.5))
    getattr(matrix, part)[0] = number
    return cr.EdgeOrdering(matrix, rng=7)


def asked(pairs):
    return cr.Resolution(pairs, [True] * len(pairs), [0, 0, 1]).recall([0, 0, 1])


TABLE = {
    "Similarities": [
        Row(lambda: cr.EdgeOrdering([0.5, nan, 0.1], rng=7), ValueError, "similarity of pair (0, 2) is nan, not in"),
        Row(lambda: cr.EdgeOrdering([[1, 0], [-0.1, 1]], rng=7), ValueError, "similarity of pair (1, 0) is -0.1, not"),
        Row(lambda: cr.EdgeOrdering([[1, 0.4], [0.5, 1]], rng=7), ValueError, "similarity is not symmetric: 0.4 at"),
        Row(lambda: cr.EdgeOrdering([[1, 0.5, 0.2], [0.5, 1, 0.3]], rng=7), ValueError, "similarity must be square"),
        Row(lambda: cr.EdgeOrdering(None, rng=7), ValueError, "similarity must hold real numbers, not dtype object"),
        Row(lambda: cr.EdgeOrdering([0.1, 0.2], rng=7), ValueError, "similarity, if condensed, must have"),
        Row(lambda: cr.EdgeOrdering([[1, 0.5], [0.5]], rng=7), ValueError, "similarity must be"),
        Row(lambda: cr.EdgeOrdering(np.ma.masked_invalid([0.5, nan, 0.1]), rng=7), ValueError, "similarity must"),
        Row(lambda: cr.EdgeOrdering(sparse.coo_array((2, 3)), rng=7), ValueError, "similarity must be square"),
        Row(lambda: cr.NodeOrdering(pairs_of((0, 1, 2.0)), rng=7), ValueError, "similarity of pair (0, 1) is 2.0,"),
        Row(lambda: cr.EdgeOrdering(pairs_of((0, 1, 0.5), (1, 0, 0.6)), rng=7),
            ValueError, "similarity is not symmetric: two values, 0.5 and 0.6, are stored"),
        Row(lambda: cr.EdgeOrdering(sparse.coo_array((2**31, 2**31)), rng=7), ValueError, "similarity must have"),
        # SciPy looks at the numbers of a matrix when it is made, not when they are changed.
        Row(lambda: changed("row", 3), ValueError, "pair (3, 1) must be two different records out of 3, from 0"),
        Row(lambda: changed("col", -1), ValueError, "pair (0, -1) must be two different records out of 3, from 0"),
    ],
    "Orderings": [
        Row(lambda: cr.EdgeOrdering(V), ValueError, "pass rng="),
        Row(lambda: cr.EdgeOrdering(V, rng="seven"), TypeError, "rng must be a seed (a whole number, 0 or more) or a"),
        Row(lambda: cr.EdgeOrdering(V, rng=7, ties="alphabetical"), ValueError, "ties must be"),
        Row(lambda: cr.NodeOrdering(V, ties=[1, 2]), ValueError, "ties must give one number for each of the 3"),
        Row(lambda: cr.EdgeOrdering(V, ties=[1, nan, 2]), ValueError, "ties: the priority of candidate pair 1 is NaN"),
        Row(lambda: cr.NodeOrdering(V, rng=7, order="size"), ValueError, 'order must be "expected-size", "random" or'),
        Row(lambda: cr.NodeOrdering(V, rng=7, order=[0, 1, 1]), ValueError, "order must list each of the 3 records"),
        Row(lambda: cr.EdgeOrdering(V, ties=np.array(["1", "2", "3"], object)), ValueError, "ties must give one"),
        Row(lambda: cr.EdgeOrdering(V, rng=LEGACY), TypeError, "rng must be a seed (a whole number, 0 or more) or a"),
        Row(lambda: cr.EdgeOrdering(V, rng=-1), ValueError, "rng must be at least 0, not -1"),
        Row(lambda: asking().learn((0, 0), True), ValueError, "(0, 0) must be two different records out of 3"),
        Row(lambda: asking().learn((0, 1), "yes"), TypeError, "same must be True or False, not 'yes'"),
        Row(lambda: asking().settled(0, 0.5), TypeError, "pair must be two record numbers, not (0, 0.5)"),
    ],
    "Oracles": [
        Row(lambda: cr.edge_ordering(V, cr.Truth([0, 1]), rng=7), ValueError, "the oracle has labels for 2 records;"),
        Row(lambda: cr.edge_ordering(V, [0, 0, 1], rng=7), TypeError, "oracle must be callable"),
        Row(lambda: cr.EdgeOrdering(V, rng=7).run(cr.Truth), TypeError, "not the class Truth; call it first"),
        Row(lambda: cr.Truth([0, nan, 1]), ValueError, "label of record 1 is NaN"),
        Row(lambda: cr.Truth(["a", None, "b"]), ValueError, "label of record 1 is missing"),
        Row(lambda: cr.Truth(["a", 1]), TypeError, "labels must have"),
        Row(lambda: cr.Truth([[0, 1], [1, 0]]), ValueError, "labels must be"),
        Row(lambda: cr.Truth({"a": 1}), ValueError, "labels must be"),
        Row(lambda: cr.Truth([0, 1])(0, 2), IndexError, "record 2 does not exist"),
        Row(lambda: cr.Truth([0, 1])(0, 0.5), TypeError, "a record must be a whole number, not 0.5"),
        Row(lambda: cr.Faulty(crowd, 1.5, rng=7), ValueError, "error must be in [0, 1], not 1.5"),
        Row(lambda: cr.Faulty(crowd, 0.1), ValueError, "pass rng="),
        Row(lambda: cr.Faulty(lambda i, j: "no", 0.1, rng=7)(0, 1), TypeError, "the answer to (0, 1) must be"),
        Row(lambda: cr.Faulty(crowd, 0.1, rng=7, persistent="no"), TypeError, "persistent must be True or False, not"),
        Row(lambda: cr.MajorityVote(crowd, 2), ValueError, "votes must be an odd number"),
        Row(lambda: cr.MajorityVote(crowd, 10**30 + 1), ValueError, "votes must be an odd number from 1 to 1,000,000"),
        Row(lambda: cr.MajorityVote(lambda i, j: "no", 3)(0, 1), TypeError, "the answer to (0, 1) must be"),
        Row(lambda: oracles.majority_error(2, 0.1), ValueError, "votes must be an odd number"),
        Row(lambda: oracles.majority_error(3, "a"), ValueError, "error must be in [0, 1], not 'a'"),
    ],
    "Resolutions": [
        Row(lambda: cr.Resolution([[0, 1], [1, 2]], [True], [0, 0, 1]), ValueError, "answers must be 2, one for each"),
        Row(lambda: cr.Resolution([[0, 1], [1]], [True], [0, 0, 1]), TypeError, "queries must be pairs of whole"),
        Row(lambda: cr.Resolution([[0, 1.5]], [True], [0, 0, 1]), TypeError, "queries must be pairs of whole numbers"),
        Row(lambda: cr.Resolution([0, 1], [True], [0, 0, 1]), ValueError, "queries must be pairs of records, (k, 2)"),
        Row(lambda: cr.Resolution([[0, 1]], ["no"], [0, 0, 1]), TypeError, "answers must be True or False, not ['no']"),
        Row(lambda: cr.Resolution([[0, 1]], [True], [[0], [0, 1]]), ValueError, "labels must be one-dimensional"),
        # What compiled code reads at these places is not of the array.
        Row(lambda: asked([[0, 9]]), ValueError, "queries: row 0, (0, 9), must be two different records out of 3"),
        Row(lambda: asked([[0, 2], [0, -1]]), ValueError, "queries: row 1, (0, -1), must be two different records out"),
        Row(lambda: asked([[0, 2], [1, 1]]), ValueError, "queries: row 1, (1, 1), must be two different records out"),
        Row(lambda: asked(np.array([[0, 2**64 - 1]], np.uint64)), ValueError, "queries: row 0, (0, 18446744073709551"),
        # What is behind a mask is a pair, an answer or a number, but not one that was meant.
        Row(lambda: asked(np.ma.masked_equal([[0, 2]], 2)), ValueError, "queries must not have masked values"),
        Row(lambda: cr.Resolution([[0, 1]], np.ma.masked_equal([True], True), [0, 0]), ValueError, "answers must not"),
        Row(lambda: cr.EdgeOrdering(V, ties=np.ma.masked_equal([0, 1, 2], 2)), ValueError, "ties must not have"),
        Row(lambda: cr.Faulty(crowd, np.ma.masked, rng=7), ValueError, "error must be in [0, 1], not masked"),
        Row(lambda: done().recall([0, 1]), ValueError, "labels must have an entry for each of the 3 records"),
        Row(lambda: done().precision([0, None, 1]), ValueError, "label of record 1 is missing"),
        Row(lambda: cr.ideal_queries([3, 0]), ValueError, "cluster sizes must be positive integers, not [3, 0]"),
    ],
    "Experiments": [
        Row(lambda: experiments.repeat(lambda rng: 1, 0, rng=7), ValueError, "repetitions must be at least 1, not 0"),
        Row(lambda: experiments.repeat(lambda rng: 1, 1, rng=None), ValueError, "pass rng=, a seed or a"),
        Row(lambda: experiments.repeat(None, 1, rng=7), TypeError, "function must be callable"),
        Row(lambda: experiments.sweep(lambda rng: 5, [{}], 1, rng=7), TypeError, "function must return a mapping"),
        Row(lambda: experiments.sweep(lambda rng, a: {"a": 9}, [{"a": 1}], 1, rng=7),
            ValueError, "function must not return a result 'a'"),
        Row(lambda: experiments.sweep(lambda rng: {}, 5, 1, rng=7), TypeError, "grid must be a list of mappings"),
        Row(lambda: experiments.sweep(lambda rng: {}, [1, 2], 1, rng=7), TypeError, "grid must contain mappings"),
        Row(lambda: experiments.sweep(lambda rng: {}, [{"repetition": 1}], 1, rng=7), ValueError, "grid must not"),
        Row(lambda: experiments.mean_interval([]), ValueError, "values must not be empty"),
        Row(lambda: experiments.mean_interval([[1, 2], [3, 4]]), ValueError, "values must be one-dimensional"),
        Row(lambda: experiments.mean_interval([1, nan]), ValueError, "values must be finite, not nan"),
        Row(lambda: experiments.repeat(lambda rng: 1, 1, rng=np.random.Generator(LEGACY._bit_generator)),
            TypeError, "rng must be a seed or a generator that can spawn others"),
        Row(lambda: experiments.simulated_queries(cr.dist1(0.3), [2], {"edge"}, rng=7), TypeError, "orderings must be"),
        Row(lambda: experiments.simulated_queries(cr.dist1(0.3), [2], {"edge": 1}, rng=7), TypeError, "orderings must"),
        Row(lambda: experiments.simulated_queries(cr.dist1(0.3), [2], {"edge": cr.EdgeOrdering}, rng=7),
            TypeError, "EdgeOrdering"),
    ],
}  # fmt: skip
