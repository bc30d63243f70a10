"""Bad input to the table of answers, and to the rates at which a crowd errs."""

from math import nan

import numpy as np
import pandas as pd
from bad_material import Row, V
from scipy import sparse

import crowder as cr
from crowder.beyond.errors import learn_errors

ONE = cr.beyond.Answers.read([(0, 1, "yes", "ann")], n=3)
RATES = cr.beyond.ErrorRates(0.01, 0.1)


TABLE = {
    "Answers of a crowd": [
        Row(lambda: cr.beyond.Answers(-1), ValueError, "n, the number of records, must be at least 0, not -1"),
        Row(lambda: cr.beyond.Answers(10**30), ValueError, "n, the number of records, must be at most 2,147,483,647"),
        Row(lambda: cr.beyond.Answers.read([np.array(1)]), ValueError, "an answer must be (i, j, said) or"),
        Row(lambda: cr.beyond.Answers.read(None), TypeError, "rows must be a data frame or an iterable of"),
        Row(lambda: cr.beyond.Answers.read("answers.csv"),
            TypeError, "rows must be a data frame or an iterable of (i, j, said[, worker]), not 'answers.csv'; read"),
        Row(lambda: cr.beyond.Answers.read(pd.DataFrame({"a": [0], "b": [1]})),
            ValueError, "rows must have columns left, right and answer; they have a, b"),
        Row(lambda: cr.beyond.Answers.read([(0, 1, "yes"), (0, 5, "no")], n=3),
            ValueError, "row 1, (0, 5, 'no'): record 5 is unknown: there are n=3 records, 0 to 2"),
        Row(lambda: cr.beyond.Answers.read([(2, 2, "yes")]),
            ValueError, "row 0, (2, 2, 'yes'): a question is about two"),
        Row(lambda: cr.beyond.Answers.read([(0, -1, "yes")]),
            ValueError, "row 0, (0, -1, 'yes'): a record must be at least"),
        Row(lambda: cr.beyond.Answers.read([("0", 1, "yes")]),
            TypeError, "row 0, ('0', 1, 'yes'): a record must be a whole number, not '0'"),
        Row(lambda: cr.beyond.Answers.read(pd.DataFrame([[0, 0, 1, 1]], columns=["left", "left", "right", "answer"])),
            ValueError, "rows must have one column left, not several"),
        Row(lambda: cr.beyond.Answers.read([(0, 10**30, "yes")]),
            ValueError, "a record must be at most 2,147,483,646"),
        Row(lambda: cr.beyond.Answers.read([(0, 1)]), ValueError, "row 0, (0, 1): an answer must be (i, j, said) or"),
        Row(lambda: cr.beyond.Answers.read([(0, 1, "maybe")]),
            ValueError, 'row 0, (0, 1, \'maybe\'): an answer must be "yes", "no" or "unsure"'),
        Row(lambda: ONE.add(0, 1, "no", ["ann"]), TypeError, "the worker must be hashable, such as text or a number"),
        Row(lambda: ONE.add(0, 1, "no", nan), ValueError, "the worker is nan; pass a name, or None"),
    ],
    "An ordering for a crowd that errs, and clusters from answers": [
        Row(lambda: cr.beyond.NoisyOrdering(V), ValueError, "pass rng="),
        Row(lambda: cr.beyond.NoisyOrdering(sparse.coo_matrix((4001, 4001)), rng=7), ValueError,
            "NoisyOrdering is for at most 4,000 records, not 4,001"),
        Row(lambda: cr.beyond.NoisyOrdering(V, doubt=1, rng=7), ValueError, "doubt must be in [0, 1), not 1"),
        Row(lambda: cr.beyond.NoisyOrdering(V, errors=0.1, rng=7), TypeError, "errors must be ErrorRates, not 0.1"),
        Row(lambda: cr.beyond.NoisyOrdering(V, rng=7).take([(0, 1, True)]), TypeError, "answers must be Answers, not"),
        Row(lambda: cr.beyond.NoisyOrdering(V, rng=7).run(cr.Truth([0, 0])), ValueError, "labels for 2 records"),
        Row(lambda: cr.beyond.resolve(ONE, n=2, rng=7),
            ValueError, "answers must be about the 2 records, 0 to 1, but name 2"),
        Row(lambda: cr.beyond.resolve([(0, 4_000, "yes")], rng=7),
            ValueError, "answers must be about at most 4,000 records"),
        Row(lambda: cr.beyond.resolve(cr.beyond.Answers(4), V, rng=7),
            ValueError, "answers must be about the 3 records, 0 to 2, but name 3"),
        Row(lambda: cr.beyond.resolve(ONE, V, n=4, rng=7),
            ValueError, "n must be 3, the number of records of similarity"),
    ],
    "Rates of errors": [
        Row(lambda: cr.beyond.ErrorRates(0, 0.1), ValueError, "false_yes must be a rate of errors in (0, 1/2), not 0"),
        Row(lambda: cr.beyond.ErrorRates(0.01, 0.5),
            ValueError, "false_no must be a rate of errors in (0, 1/2), not 0.5"),
        Row(lambda: cr.beyond.ErrorRates(0.01, 0.1, {"ann": (0.1, 0.7)}),
            ValueError, "false_no of the rates of worker 'ann' must be a rate of errors in (0, 1/2), not 0.7"),
        Row(lambda: cr.beyond.ErrorRates(0.01, 0.1, {"ann": 0.1}),
            ValueError, "the rates of worker 'ann' must be (false_yes, false_no), not 0.1"),
        Row(lambda: cr.beyond.ErrorRates(0.01, 0.1, ["ann"]), TypeError, "workers must be a dictionary from worker to"),
        Row(lambda: cr.beyond.ErrorRates(0.01, 0.1, vote=0.1),
            ValueError, "vote must be (false_yes, false_no), not 0.1"),
        Row(lambda: cr.beyond.ErrorRates(0.01, 0.1, unclear=(0.1, 0.6)),
            ValueError, "false_no of unclear must be a rate of errors in [0, 1/2), not 0.6"),
        Row(lambda: cr.beyond.ErrorRates(0.01, 0.1, unclear_yes=1), ValueError, "unclear_yes must be in (0, 1), not 1"),
        Row(lambda: RATES.evidence([(0, 1, True)]), TypeError, "answers must be Answers, such as Answers.read(rows)"),
        Row(lambda: RATES.of_votes([True, False], ["ann"]), ValueError, "one worker for each vote"),
        Row(lambda: RATES.of_votes(["no"], ["ann"]), TypeError, "a vote must be True or False, not 'no'"),
        Row(lambda: RATES.of_votes([0], ["ann"]), TypeError, "a vote must be True or False, not 0"),
        Row(lambda: cr.beyond.ErrorRates(10**400, 0.1), ValueError, "false_yes must be a rate of errors in (0, 1/2)"),
        Row(lambda: RATES.majority(2), ValueError, "votes must be"),
        Row(lambda: learn_errors(ONE, [0.5, 0.5]), ValueError, "same must be a probability for each of the 1 pairs"),
        Row(lambda: learn_errors(ONE, [1.5]), ValueError, "same must be a probability for each of the 1 pairs"),
        Row(lambda: learn_errors(ONE, ["yes"]), TypeError, "same, the probabilities of a match, must be real numbers"),
    ],
}  # fmt: skip
