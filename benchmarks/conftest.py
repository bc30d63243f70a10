"""Compare contestants by ratios of their times, and write the ratios to a table and a file.

Wall-clock times mean little on a shared machine. So the clock counts the processor time of this process, each round
runs every contestant once, one right after another, and the result is the ratio of each to the first *in the same
round*: the median over rounds, and the quartiles.
"""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version
from math import ceil
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
ROWS = pytest.StashKey[list]()

#: Total seconds for the rounds of one setting, and the least and largest number of rounds.
BUDGET, LEAST, MOST = 3.0, 5, 25


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="the smallest settings, into _build/measured")
    parser.addoption("--results", type=Path, help="folder of the CSV files (default: book/data/measured)")


def pytest_configure(config):
    config.stash[ROWS] = []


def results_folder(given: Path | None, quick: bool) -> Path:
    """Where the CSV files go: a folder that was named, _build/measured, or book/data/measured."""
    folder = given or ROOT / ("_build/measured" if quick else "book/data/measured")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def of_processor() -> str:
    """The kind of processor, where the system tells it: how fast NumPy sorts depends on it."""
    known = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.*)$", known.read_text(), re.MULTILINE) if known.exists() else None
    return f" of {found[1].strip()}" if found else ""


def versions(*packages) -> str:
    """What a time depends on: processor, Python and package versions."""
    found = [f"{name} {version(name)}" for name in packages]
    return "; ".join([f"{os.cpu_count()} cores{of_processor()}", f"python {platform.python_version()}", *found])


def timed(run, times: int = 1):
    start = process_time()
    for _ in range(times):
        result = run()
    return (process_time() - start) / times, result


@pytest.fixture
def turns(benchmark, request):
    """turns(sweep, contestants, n=, k=, pairs=): a row per contestant, with its ratio to the first."""
    quick = request.config.getoption("quick")

    def measure(sweep, contestants, *, n, k, pairs):
        first = {name: timed(run) for name, run in contestants.items()}  # compiles, or loads compiled code
        again = {name: timed(run)[0] for name, run in contestants.items()}
        # Contestants that take microseconds run several times per turn.
        times = {name: min(1000, max(1, ceil(0.002 / max(taken, 1e-6)))) for name, taken in again.items()}
        turn = sum(max(0.002, taken) for taken in again.values())
        taken = {name: [] for name in contestants}

        def one_round():
            for name, run in contestants.items():
                taken[name].append(timed(run, times[name])[0])

        benchmark.pedantic(one_round, rounds=3 if quick else int(np.clip(BUDGET / turn, LEAST, MOST)), iterations=1)
        base = np.array(taken[next(iter(contestants))])
        for name, seconds in taken.items():
            low, ratio, high = np.quantile(np.array(seconds) / base, [0.25, 0.5, 0.75])
            request.config.stash[ROWS].append({
                "sweep": sweep, "contestant": name, "n": n, "k": k, "pairs": pairs, "questions": first[name][1],
                "rounds": len(seconds), "first": first[name][0], "seconds": np.median(seconds),
                "ratio": ratio, "low": low, "high": high,
            })  # fmt: skip

    return measure


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    if not config.stash[ROWS] or exitstatus != 0:
        return  # never write an incomplete table
    table = pd.DataFrame(config.stash[ROWS])
    table["versions"] = versions("numpy", "numba", "scikit-query")
    folder = results_folder(config.getoption("results"), config.getoption("quick"))
    table.to_csv(folder / "orderings.csv", index=False, float_format="%.4g", lineterminator="\n")
    shown = table[["sweep", "contestant", "n", "k", "pairs", "questions", "rounds"]].copy()
    shown["seconds"] = table["seconds"].map("{:.3g}".format)
    shown["ratio to the first (quartiles)"] = [
        f"{row.ratio:.3g} ({row.low:.3g} to {row.high:.3g})" for row in table.itertuples()
    ]
    terminalreporter.write_line(f"\n{table['versions'][0]}\n{shown.to_string(index=False)}")
