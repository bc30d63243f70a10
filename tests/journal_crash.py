"""Forks runs with a journal and kills them: the part of `test_journal` that wants a process of its own.

``python journal_crash.py FOLDER ORDERING SEED KILLS`` resumes one run until it has been killed KILLS times and then has
ended, and prints as JSON what the crowd was asked, in order, with the number of answers on disk after each death.
Forking from a process that has imported everything makes a run start at once.
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

LABELS = np.repeat(np.arange(12), 5)
SIMILARITY = np.round(np.random.default_rng(3).random(60 * 59 // 2), 1)  # full of ties


def ordering(name: str):
    return {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering}[name](SIMILARITY, rng=5)


class Crowd:
    """Notes each question in a file, unbuffered, before it answers: what it has been asked survives its asker."""

    def __init__(self, folder: Path, pause: float = 0.0) -> None:
        self.file = os.open(folder / "asked", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.pause = pause

    def __call__(self, i: int, j: int) -> bool:
        os.write(self.file, b"%d %d\n" % (i, j))
        if self.pause:
            time.sleep(self.pause)
        return bool(LABELS[i] == LABELS[j])


def asked(folder: Path) -> list[tuple[int, int]]:
    lines = (folder / "asked").read_text().splitlines() if (folder / "asked").exists() else []
    return [tuple(sorted(map(int, line.split()))) for line in lines]


def run(folder: Path, name: str, pause: float = 0.0) -> None:
    """A whole run, and its outcome in a file."""
    resolution = ordering(name).run(cr.Journal(Crowd(folder, pause), folder / "answers.db"))
    outcome = {"queries": resolution.queries.tolist(), "clusters": resolution.clusters.tolist()}
    (folder / f"outcome-{os.getpid()}").write_text(json.dumps(outcome))


def fork(function, *arguments) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        function(*arguments)
        status = 0
    finally:
        os._exit(status)


def main(folder: Path, name: str, seed: int, kills: int) -> None:
    cr.edge_ordering(SIMILARITY, cr.Truth(LABELS), rng=1)  # loads what is compiled, before there are children
    ordering(name).run(lambda i, j: bool(LABELS[i] == LABELS[j]))
    moments = random.Random(seed)
    deaths, ended = [], 0
    while ended == 0:
        child = fork(run, folder, name)
        if len(deaths) < kills:
            time.sleep(moments.uniform(0, 0.02))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            known = cr.journal.read(folder / "answers.db") if written(folder) else None
            pairs = [] if known is None else known[["i", "j"]].to_numpy().tolist()
            deaths.append({"asked": len(asked(folder)), "known": pairs})
        elif status:
            raise SystemExit(f"a run failed: {status}")
        else:
            ended = child
    outcome = json.loads((folder / f"outcome-{ended}").read_text())
    print(json.dumps({"asked": asked(folder), "deaths": deaths, "outcome": outcome}))


def written(folder: Path) -> bool:
    """Whether the journal had come into being when its process was killed."""
    try:
        cr.journal.read(folder / "answers.db")
    except (FileNotFoundError, ValueError):
        return False
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
