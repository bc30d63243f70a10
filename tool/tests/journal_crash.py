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
from itertools import count
from pathlib import Path

import numpy as np

import crowder as cr
import crowder_tool
from crowder_tool import answer_file

LABELS = np.repeat(np.arange(8), 5)
SIMILARITY = np.round(np.random.default_rng(3).random(40 * 39 // 2), 1)  # full of ties


def read(path: Path):
    """The answers of a journal that exists."""
    if not Path(path).exists():
        raise FileNotFoundError(path)
    with crowder_tool.Journal(None, path) as journal:
        return journal.answers()


def note(folder: Path, line: str) -> None:
    """Write to a log, unbuffered: it survives who writes."""
    with open(folder / "log", "ab", buffering=0) as file:
        file.write(line.encode() + b"\n")


def log(folder: Path) -> list[str]:
    return (folder / "log").read_text().splitlines() if (folder / "log").exists() else []


def run(folder: Path, _: str):
    """A run whose crowd notes each question before it answers."""

    def crowd(i: int, j: int) -> bool:
        note(folder, f"{min(i, j)} {max(i, j)}")
        time.sleep(0.001)
        return bool(LABELS[i] == LABELS[j])

    with crowder_tool.Journal(crowd, folder / "answers.db") as journal:
        return cr.edge_ordering(SIMILARITY, journal, rng=5)


def sheets(folder: Path, worker: str) -> None:
    """A worker who hands in sheets of 20 votes, and notes each that is recorded."""
    with crowder_tool.Journal(None, folder / "answers.db") as journal:
        for start in count(1, 20):
            journal.record([(0, start + k, k % 3 > 0, worker) for k in range(20)])
            note(folder, worker)


def start(work, *arguments) -> int:
    if child := os.fork():
        return child
    try:
        work(*arguments)
    finally:
        os._exit(0)


def end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def kill(folder: str, name: str, runs: str, deaths: str, within: str) -> None:
    """Keep two processes at one journal, kill one of them at random moments, and in the end both; a run is completed
    then. What was noted and what was on disk at each death."""
    cr.edge_ordering(SIMILARITY, cr.Truth(LABELS), rng=1)  # loads what is compiled, before there are children
    work, moments, told = {"run": run, "sheets": sheets}[name], random.Random(7), []
    for number in range(int(runs)):
        (place := Path(folder) / str(number)).mkdir()
        running, found = {worker: start(work, place, worker) for worker in ("ann", "bob")}, []
        for death in range(int(deaths)):
            time.sleep(moments.uniform(0, float(within)))
            end(running.pop(worker := moments.choice(["ann", "bob"])))
            if (place / "answers.db").exists():
                stored = read(place / "answers.db")[["i", "j", "worker"]].to_numpy().tolist()
                found.append({"stored": stored, "noted": len(log(place))})
            if death < int(deaths) - 1:
                running[worker] = start(work, place, worker)
        for child in running.values():
            end(child)
        queries = run(place, "").queries.tolist() if work is run else []
        stored = read(place / "answers.db")[["i", "j", "worker"]].to_numpy().tolist()
        told.append({"log": log(place), "deaths": found, "stored": stored, "queries": queries})
    print(json.dumps(told))


def limited(folder: str) -> None:
    """A run that may write no file beyond a size; what is said, and how many were asked and are on disk then."""
    import resource

    path, n, questions = Path(folder) / "answers.db", 45, []
    similarity = np.full(n * (n - 1) // 2, 0.5)

    def crowd(i: int, j: int) -> tuple[bool, str]:  # the disk is full while the second question is out
        if len(questions) == 1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, resource.RLIM_INFINITY))
        questions.append((i, j))
        return False, "w" * 200  # so that pages are soon full

    def go() -> str:
        with crowder_tool.Journal(crowd, path) as journal:
            try:
                return str(cr.edge_ordering(similarity, journal, ties="index").n_queries)
            except OSError as error:
                return str(error)

    told = {"said": go(), "count": len(questions), "on_disk": len(read(path))}
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(json.dumps(told | {"then": go(), "questions": questions}))


if __name__ == "__main__":
    answer_file.FLUSH = "OFF"  # a kill loses nothing that was written, flushed or not
    {"kill": kill, "limited": limited}[sys.argv[1]](*sys.argv[2:])
