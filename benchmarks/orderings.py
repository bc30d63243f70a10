"""How long a full resolution of cora takes, in units of one `numpy.argsort` of the same similarities.

Wall-clock times mean little on a shared machine, ratios within one run mean more: the three contestants take turns, and
the medians of their ratios, round by round, are printed. Run it by `make bench`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import crowder as cr


def seconds(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds

    data = cr.datasets.cora()
    truth = cr.Truth(data.labels)
    square, keys = data.similarity, data.condensed
    contestants = {
        "argsort": lambda: np.argsort(keys),
        "edge ordering": lambda: cr.edge_ordering(square, truth, rng=7),
        "node ordering": lambda: cr.node_ordering(square, truth, rng=7),
    }
    first = {name: seconds(run) for name, run in contestants.items()}  # compiles, or loads what was compiled
    times = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            times[name].append(seconds(run))

    print(f"cora: {data.n:,} records, {len(keys):,} pairs, {rounds} rounds; numpy {np.__version__}")
    print(f"{'':15}{'first call':>12}{'median':>12}{'ratio to argsort: median (least to most)':>46}")
    sort = np.array(times["argsort"])
    for name, taken in times.items():
        ratio = np.array(taken) / sort
        print(
            f"{name:15}{1e3 * first[name]:9.0f} ms{1e3 * np.median(taken):9.0f} ms"
            f"{np.median(ratio):20.2f} ({ratio.min():.2f} to {ratio.max():.2f})"
        )


if __name__ == "__main__":
    main()
