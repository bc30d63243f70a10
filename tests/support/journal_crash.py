"""Forks runs with a journal and kills them: the part of `test_journal` that wants processes of its own.

Forking from a process that has imported everything makes a run start at once, and a hundred deaths take seconds.
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
from crowder_tool import answer_file

LABELS = np.repeat(np.arange(8), 5)
SIMILARITY = np.round(np.random.default_rng(3).random(40 * 39 // 2), 1)  # full of ties


def ordering(name: str):
    return {"edge": cr.EdgeOrdering, "node": cr.NodeOrdering}[name](SIMILARITY, rng=5)


class Crowd:
    """Notes each question in a file, unbuffered, before it answers: what it has been asked survives its asker."""

    def __init__(self, folder: Path, pause: float) -> None:
        self.file = os.open(folder / "asked", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.pause = pause

    def __call__(self, i: int, j: int) -> bool:
        os.write(self.file, b"%d %d\n" % (i, j))
        if self.pause:
            time.sleep(self.pause)
        return bool(LABELS[i] == LABELS[j])


def read(path: Path):
    """The answers of a journal that exists."""
    if not Path(path).exists():
        raise FileNotFoundError(path)
    with crowder_tool.Journal(None, path) as journal:
        return journal.answers()


def asked(folder: Path) -> list[list[int]]:
    lines = (folder / "asked").read_text().splitlines() if (folder / "asked").exists() else []
    return [sorted(map(int, line.split())) for line in lines]


def known(folder: Path) -> list[list[int]]:
    """The pairs whose answers are on disk; none before the journal has come into being."""
    try:
        return read(folder / "answers.db")[["i", "j"]].to_numpy().tolist()
    except (FileNotFoundError, ValueError):
        return []


def run(folder: Path, name: str, pause: float) -> None:
    """A whole run, its outcome in a file."""
    done = ordering(name).run(crowder_tool.Journal(Crowd(folder, pause), folder / "answers.db"))
    outcome = {"queries": done.queries.tolist(), "clusters": done.clusters.tolist()}
    (folder / f"outcome-{os.getpid()}").write_text(json.dumps(outcome))


def start(*arguments) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        run(*arguments)
        status = 0
    finally:
        os._exit(status)


def kill(folder: str, name: str, together: str, kills: str, pause: str) -> None:
    """One run after the other, until there have been so many deaths."""
    cr.edge_ordering(SIMILARITY, cr.Truth(LABELS), rng=1)  # loads what is compiled, before there are children
    ordering(name).run(lambda i, j: bool(LABELS[i] == LABELS[j]))
    runs, moments = [], random.Random(7)
    while (left := int(kills) - sum(len(run["deaths"]) for run in runs)) > 0:
        place = Path(folder) / str(len(runs))
        place.mkdir()
        runs.append(killed(place, name, int(together), left, float(pause), moments))
    print(json.dumps(runs))


def killed(folder: Path, name: str, together: int, kills: int, pause: float, moments: random.Random) -> dict:
    """Keep some processes at one run, kill one of them at random moments, and let them end.

    Half of the kills come at any time, half when some more questions have been asked, so that the run gets on.
    """
    running, deaths, outcomes = [], [], []
    while len(outcomes) < together:
        while len(running) + len(outcomes) < together:
            running.append(start(folder, name, pause))
        victim = moments.choice(running)
        if len(deaths) < kills:
            if moments.random() < 0.5:
                goal, patience = len(asked(folder)) + moments.randrange(10), time.monotonic() + 2
                while len(asked(folder)) < goal and time.monotonic() < patience:
                    time.sleep(0.0005)
            time.sleep(moments.uniform(0, 0.01))
            os.kill(victim, signal.SIGKILL)
        running.remove(victim)
        _, status = os.waitpid(victim, 0)
        if os.WIFSIGNALED(status):
            deaths.append({"known": known(folder), "asked": len(asked(folder))})
        elif status:
            raise SystemExit(f"a run failed: {status}")
        else:
            outcomes.append(json.loads((folder / f"outcome-{victim}").read_text()))
    return {"asked": asked(folder), "deaths": deaths, "outcomes": outcomes}


def record(folder: str, kills: str) -> None:
    """Two workers record sheet after sheet, and are killed together; what is on disk then, and what had returned."""
    runs, moments = [], random.Random(7)
    for number in range(int(kills)):
        place = Path(folder) / f"{kills}-{number}"
        place.mkdir()
        crowder_tool.Journal(None, place / "answers.db").close()
        children = {}
        for worker in ("ann", "bob"):
            if not (child := os.fork()):
                with crowder_tool.Journal(None, place / "answers.db") as journal:
                    for sheet in range(10_000):
                        journal.record([(0, 1 + 20 * sheet + k, k % 3 > 0, worker) for k in range(20)])
                        with open(place / worker, "ab", buffering=0) as done:
                            done.write(b".")
            children[worker] = child
        time.sleep(moments.uniform(0.05, 0.3))
        for child in children.values():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        done = {who: (place / who).stat().st_size if (place / who).exists() else 0 for who in children}
        stored = read(place / "answers.db")[["i", "j", "worker"]].to_numpy().tolist()
        runs.append({"done": done, "stored": stored})
    print(json.dumps(runs))


def create(folder: str, kills: str) -> None:
    """Processes that are killed while they make a journal; what the next one finds."""
    moments, said = random.Random(7), []
    for number in range(int(kills)):
        path = Path(folder) / f"{number}.db"
        if not (child := os.fork()):
            crowder_tool.Journal(None, path)
            os._exit(0)
        time.sleep(moments.uniform(0, 0.006))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with crowder_tool.Journal(lambda i, j: True, path) as journal:
            said.append((journal(0, 1), len(journal.answers())))
    print(json.dumps(said))


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

    told = {"said": go(), "count": len(questions), "on_disk": len(read(path)), "again": go()}
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(json.dumps(told | {"then": go(), "questions": questions}))


if __name__ == "__main__":
    answer_file.FLUSH = "OFF"  # a kill loses nothing that was written, flushed or not
    {"create": create, "kill": kill, "record": record, "limited": limited}[sys.argv[1]](*sys.argv[2:])
