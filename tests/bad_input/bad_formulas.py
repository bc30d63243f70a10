"""Bad input to models, the integral, counts and bounds."""

from fractions import Fraction
from math import inf

import numpy as np
import sympy as sp
from bad_material import M, Row

import crowder as cr
from crowder.counting import bounds, expected, likelihood, limits, small_cases
from crowder.counting.arrival import expected_queries_in_order, prob_nonmatch_first
from crowder.models import rounded, steps

from_steps = cr.SimilarityModel.from_steps
U = cr.uniform()

TABLE = {
    "Models": [
        Row(lambda: cr.dist1(0), ValueError, "ε must lie in (0, 1/2], not 0"),
        Row(lambda: cr.dist2("a lot"), ValueError, "ε must lie in"),
        Row(lambda: cr.dist2(0.5 - 1e-17), ValueError, "ε must lie in (0, 1/2) for Dist-2"),
        Row(lambda: cr.dist2(1e-300), ValueError, "f_g: edges must"),
        Row(lambda: from_steps([0, 0.5], [1], [1]), ValueError, "f_g: edges must increase strictly from 0 to 1"),
        Row(lambda: from_steps([0, 0.7, 0.5, 1], [1] * 3, [1] * 3), ValueError, "f_g: edges must increase"),
        Row(lambda: from_steps([0, 1], [1, 1], [1]), ValueError, "f_g: edges must be one more than heights"),
        Row(lambda: from_steps([0, 1], [2], [1]), ValueError, "f_g: heights times widths must sum to 1, not 2"),
        Row(lambda: from_steps([0, 0.5, 1], [1, 1], [1, 0.5]), ValueError, "f_r: heights times widths must"),
        Row(lambda: from_steps([0, 0.5, 1], [-1, 3], [1, 1]), ValueError, "f_g: heights must be finite and not"),
        Row(lambda: from_steps([0, 1], ["1"], [1]), ValueError, "f_g: edges and heights must be sequences of numbers"),
        Row(lambda: from_steps(0, 1, 1), ValueError, "f_g: edges and heights must be sequences"),
        Row(lambda: cr.SimilarityModel(1, 2), TypeError, "green must be a StepDensity"),
        Row(lambda: steps("dist3", 0.1), ValueError, "model must be one of uniform, dist1, dist2, not 'dist3'"),
        Row(lambda: steps("dist1", sp.I), ValueError, "ε must lie in (0, 1/2], not I"),
        Row(lambda: rounded(M, "nearest"), ValueError, 'rule must be "round", "floor" or "ceil", not \'nearest\''),
        Row(lambda: U.green.pdf("x"), TypeError, "x must be real numbers, not 'x'"),
        Row(lambda: U.green.sample(-1, rng=7), ValueError, "size must be"),
        Row(lambda: cr.L(M, -0.001), ValueError, "t must be at least 0, not -0.001"),
        Row(lambda: cr.L(M, 10**400), TypeError, "t must be real numbers"),
        Row(lambda: cr.L(M, np.ma.masked_equal([1, 2], 2)), ValueError, "t must not have masked values"),
        Row(lambda: cr.L("dist1", 3), TypeError, "model must be a SimilarityModel, such as crowder.dist1(0.2), not"),
    ],
    "Expected counts": [
        Row(lambda: cr.expected_queries(M, [2, 0]), ValueError, "cluster sizes must be positive integers, not [2, 0]"),
        Row(lambda: cr.expected_queries(M, [2**62] * 3, "node"), ValueError, "cluster sizes must"),
        Row(lambda: cr.expected_queries("dist1", [2, 1]), TypeError, "model must be a SimilarityModel, such as"),
        Row(lambda: cr.expected_queries(M, [2, 1], "vertex"), ValueError, "ordering must be 'edge' or 'node', not"),
        Row(lambda: cr.expected_queries(M, [2, 1], nodes=0), ValueError, "nodes must be"),
        Row(lambda: expected.expected_across(M, True, 1), TypeError, "m must be a whole number, not True"),
        Row(lambda: expected.log_connected(3, [1.5]), ValueError, "p must be probabilities, one-dimensional"),
        Row(lambda: cr.expected_queries(M, [2, 1], "node", arrival="size"),
            ValueError, "arrival must be 'random' or 'expected size', not 'size'"),
        Row(lambda: cr.expected_queries(M, [2, 1], arrival="random"), ValueError, "arrival must be left out: edge"),
        Row(lambda: expected.component_numbers(0, 0.5), ValueError, "m must be at least 1, not 0"),
        Row(lambda: expected.component_numbers(3, 1.1), ValueError, "p must be in [0, 1], not 1.1"),
        Row(lambda: cr.expected_queries_exact(M, [2, 1]), ValueError, "model must have edges and heights that are"),
        Row(lambda: cr.expected_queries_exact(cr.dist1(Fraction(1, 5)), [2], "x"), ValueError, "ordering must be"),
        Row(lambda: prob_nonmatch_first(M, -1, 2), ValueError, "matches must be"),
        Row(lambda: expected_queries_in_order(M, 5), TypeError, "arrivals must be"),
        Row(lambda: likelihood.prob_wrong_first(M, 1, 2.5), TypeError, "wrong must be"),
        Row(lambda: likelihood.product_tv(M, -1), ValueError, "size must be"),
        Row(lambda: small_cases.orders_by_questions([0] * 30), ValueError, "labels must have at most 7 records"),
        Row(lambda: small_cases.partitions(10**30), ValueError, "n must be at most 15"),
        Row(lambda: limits.edge_limit(-1), ValueError, "ratio must be a finite number, at least 0, not -1"),
        Row(lambda: limits.node_limit(inf), ValueError, "ratio must be a finite number, at least 0, not inf"),
        Row(lambda: limits.node_limit(np.complex64(1j)), TypeError, "ratio must be a real number, not np.complex64("),
    ],
    "Bounds": [
        Row(lambda: cr.evidence_bound(M, [2], delta=None), ValueError, "delta must be in [0, 1], not None"),
        Row(lambda: cr.edge_bound(0.2, [2]), TypeError, "model must be a SimilarityModel, such as"),
        Row(lambda: cr.edge_bound(M, [2], printed="no"), TypeError, "printed must be True or False, not 'no'"),
        Row(lambda: bounds.edge_tree_bound(from_steps([0, 0.5, 1], [1.5, 0.5], [0.5, 1.5]), [2]),
            ValueError, "model must have F_g <= F_r; at 0.5, F_g is larger by 0.5"),
        Row(lambda: bounds.three_steps("x"), ValueError, "p must be in [0, 1], not 'x'"),
        Row(lambda: bounds.question_bound(M, 3, 4), ValueError, "k must be from 1 to n, but 3 records cannot"),
    ],
}  # fmt: skip
