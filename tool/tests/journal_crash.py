"""Forks processes with a journal and kills them: the part of `test_journal` that wants processes of its own.

Forking from a process that has imported everything makes one start at once, and dozens of deaths take seconds.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

import crowder as cr
import crowder_tool
from crowder_tool import files, journal

LABELS = np.repeat(np.arange(8), 5)
SIMILARITY = np.round(np.random.default_rng(3).random(40 * 39 // 2), 1)  # full of ties


def read(path: Path) -> list[journal.Vote]:
    """The votes of a journal that exists."""
    if not Path(path).exists():
        raise FileNotFoundError(path)
    with crowder_tool.Journal(None, path) as stored:
        return stored.votes()


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines() if (folder / "log").exists() else []


def run(folder: Path):
    """A run whose crowd notes each question before it answers."""

    def crowd(i: int, j: int) -> bool:
        with open(folder / "log", "ab", buffering=0) as file:  # which survives who writes
            file.write(f"{min(i, j)} {max(i, j)}\n".encode())
        time.sleep(0.001)
        return bool(LABELS[i] == LABELS[j])

    with crowder_tool.Journal(crowd, folder / "answers.journal") as stored:
        return cr.edge_ordering(SIMILARITY, stored, rng=5)


def start(folder: Path) -> int:
    if child := os.fork():
        return child
    try:
        run(folder)
    finally:
        os._exit(0)


def end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def kill(folder: str, runs: str, deaths: str, within: str) -> None:
    """Keep two processes at one journal, kill one of them at random moments, and in the end both; the run is completed
    then. What was noted and what was on disk at each death."""
    cr.edge_ordering(SIMILARITY, cr.Truth(LABELS), rng=1)  # loads what is compiled, before there are children
    moments, told = random.Random(7), []
    for number in range(int(runs)):
        (place := Path(folder) / str(number)).mkdir()
        running, found = [start(place), start(place)], []
        for death in range(int(deaths)):
            time.sleep(moments.uniform(0, float(within)))
            end(running.pop(moments.randrange(2)))
            if (place / "answers.journal").exists():
                found.append(
                    {"stored": [vote[:2] for vote in read(place / "answers.journal")], "noted": len(log(place))}
                )
            if death < int(deaths) - 1:
                running.append(start(place))
        for child in running:
            end(child)
        queries = run(place).queries.tolist()
        told.append({"log": log(place), "deaths": found, "queries": queries})
    print(json.dumps(told))


if __name__ == "__main__":
    files.flush = lambda file: None  # a kill loses nothing that was written, flushed or not
    kill(*sys.argv[1:])
