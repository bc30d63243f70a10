"""Bad input to experiments."""

from math import nan

from bad_material import F, M, Row, nothing

from crowder import experiments

TABLE = {
    "Experiments": [
        Row(lambda: experiments.repeat(nothing, 0, rng=7), ValueError, "repetitions must be at least 1, not 0"),
        Row(lambda: experiments.repeat(nothing, 1.5, rng=7), TypeError, "repetitions must be a whole number, not 1.5"),
        Row(lambda: experiments.repeat(nothing, nan, rng=7), TypeError, "repetitions must be a whole number, not nan"),
        Row(lambda: experiments.repeat(nothing, 1, rng=None), ValueError, "pass rng=, a seed or a"),
        Row(lambda: experiments.repeat(None, 1, rng=7), TypeError, "function must be"),
        Row(lambda: experiments.repeat(nothing, 1, rng=7, n_jobs=0), ValueError, "n_jobs == 0 in Parallel has no"),
        Row(lambda: experiments.sweep(nothing, [1, 2], 1, rng=7), TypeError, "grid must"),
        Row(lambda: experiments.sweep(lambda rng: 5, [{}], 1, rng=7), TypeError, "function must"),
        Row(lambda: experiments.sweep(lambda rng, a: {"a": 9}, [{"a": 1}], 1, rng=7),
            ValueError, "function must"),
        Row(lambda: experiments.summarise(F, ["y"], "x"), ValueError, "column 'y' does not exist"),
        Row(lambda: experiments.summarise(F, ["x"], "y"), ValueError, "column 'y' does not exist"),
        Row(lambda: experiments.mean_interval([]), ValueError, "values must"),
        Row(lambda: experiments.mean_interval([1, 2], confidence=95), ValueError, "confidence must be in [0, 1], not"),
        Row(lambda: experiments.mean_interval([1, 2], confidence=1), ValueError, "confidence must be in (0, 1), not 1"),
        Row(lambda: experiments.mean_interval([1, 2], confidence=0), ValueError, "confidence must be in (0, 1), not 0"),
        Row(lambda: experiments.mean_interval([1, 2], confidence=nan), ValueError, "confidence must be in [0, 1],"),
        Row(lambda: experiments.mean_interval([[1, 2], [3, 4]]), ValueError, "values must be"),
        Row(lambda: experiments.count_questions([0], M, rng=7), ValueError, "cluster sizes must"),
        Row(lambda: experiments.count_questions([2], M, rng=None), ValueError, "pass rng=, a seed or a"),
        Row(lambda: experiments.sweep(nothing, 5, 1, rng=7), TypeError, "grid must be"),
        Row(lambda: experiments.sweep(nothing, [{"repetition": 1}], 1, rng=7),
            ValueError, "grid must"),
    ],
}  # fmt: skip
