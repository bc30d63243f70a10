"""Kills a build at its every step on disk: the part of `test_killed_builds` that wants processes of its own.

The build is the real one from its first lock to its last move. Only what takes seconds is not: chapters are executed
and pages are rendered by stand-ins that write small files. A build is then a fork that takes a tenth of a second, and
an audit hook in it counts what it is about to change on disk, and sends the signal before the n-th change, for n = 1,
2, 3, …
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

#: Events of Python that change something on disk; "open" is one if it is for writing.
CHANGES = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree"}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
SLUGS = ("01-one", "02-two")
PLACES = ("results/", "executed/", "html/")


class World:
    """A tiny book whose sources are in one of two states, "old" and "new", and the folder that it is built into."""

    def __init__(self, root: Path) -> None:
        self.root, self.out = root, root / "_build"
        sys.path.insert(0, str(root))  # of this book, not of the project that the tests are of
        from book.build import __main__ as build
        from book.build import environment, execute, folders, render

        self.build, self.folders = build, folders
        self.state = "old"
        execute._run, render.render = self.executed, self.rendered
        environment.find_fonts = lambda env: None

    def executed(self, job, env, log, report, alive) -> dict:
        notebook = json.loads(Path(job["input"]).read_text())
        notebook["cells"][-1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": self.state}]
        Path(job["output"]).write_text(json.dumps(notebook))
        for name in "ab":
            (Path(job["results"]) / f"tab-{job['slug']}-{name}.csv").write_text(self.state * 1000)
            (Path(job["results"]) / f"tab-{job['slug']}-{name}.json").write_text('{"parameters": {}}')
        if self.state == "new":
            (Path(job["results"]) / "only-new.csv").write_text("new")
        return {"seconds": 1.0}

    def rendered(self, src, work, log, env, *, strict=True) -> Path:
        html = work / "_build" / "html"
        for folder in ("", "notebooks", "_sources/notebooks"):
            (html / folder).mkdir(parents=True)
            for number in range(3):
                (html / folder / f"{self.state}-{number}.html").write_text(self.state * 1000)
        (html / "index.html").write_text(self.state)
        return html

    def run(self, hook=None, *, stepwise: bool = False) -> int:
        """A build in a fork; its wait status."""
        child = os.fork()
        if child:
            return os.waitpid(child, 0)[1]
        code = 99
        try:
            with open(self.root / "said", "w") as said:
                os.dup2(said.fileno(), 1), os.dup2(said.fileno(), 2)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if stepwise:
                self.folders.exchange = lambda one, other: False
            if hook:
                sys.addaudithook(hook)
            code = self.build.main(["--again", "--output", str(self.out), "--jobs", "1"])
        except SystemExit as error:
            code = error.code
        finally:
            sys.stderr.flush()
            os._exit(code)

    def paths(self, event: str, arguments: tuple) -> list[str]:
        """What is about to change below the build's folder; its log and lock are nobody's to read."""
        if event == "open" and not (isinstance(arguments[2], int) and arguments[2] & WRITING):
            return []
        names = [os.fsdecode(name) for name in arguments[:2] if isinstance(name, (str, bytes, os.PathLike))]
        if event in ("os.remove", "os.rmdir") and arguments[-1] != -1:  # within a tree that is being removed
            names = [f"{self.out}/.work-tree/{names[0]}"]
        return [name for name in names if name.startswith(str(self.out)) and "/logs/" not in name]

    def signalling(self, number: signal.Signals, when: int, everywhere: bool):
        """An audit hook that sends a signal before a change: the one numbered `when`, of all or of those published."""
        left = [when]

        def hook(event: str, arguments: tuple) -> None:
            if event not in CHANGES or not (paths := self.paths(event, arguments)):
                return
            below = [path.removeprefix(f"{self.out}/") for path in paths]
            published = [path for path in below if not path.startswith((".work-", "src"))]
            if event == "open" and published and published[0].startswith(PLACES) and not published[0].endswith(".part"):
                os.write(2, f"writes in place: {published[0]}\n".encode())
                os._exit(98)
            if everywhere or published:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), number)

        return hook


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below, by name, with what is in it."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def published(out: Path) -> dict[str, dict[str, bytes]]:
    """What readers may find, in the parts that must each be of one state."""
    parts = {"html": tree(out / "html")}
    for slug in SLUGS:
        parts[f"results of {slug}"] = tree(out / "results" / "full" / slug)
        path = out / "executed" / "full" / f"{slug}.ipynb"
        parts[f"execution of {slug}"] = {slug: path.read_bytes()} if path.exists() else {}
    for path in (out / "results" / "full").glob("*.csv"):
        parts[path.name] = {path.name: path.read_bytes()}
    return parts


def faults(out: Path, old: dict, new: dict, *, gaps: bool) -> list[str]:
    """What is neither absent (where there may be gaps), nor old, nor new; what is vouched for and not there."""
    found = []
    for name, part in published(out).items():
        if part not in (old[name], new[name]) and not (gaps and not part):
            found.append(f"{name} is neither old nor new: {sorted(part)}")
    manifest = out / "executed" / "full" / "manifest.json"
    if manifest.exists():
        from book.build.manifest import sha256

        for slug, entry in json.loads(manifest.read_text())["chapters"].items():
            if entry["sha256"] != sha256(manifest.parent / f"{slug}.ipynb"):
                found.append(f"the manifest vouches for another execution of {slug}")
            if entry["results"] != sha256(out / "results" / "full" / slug):
                found.append(f"the manifest vouches for other results of {slug}")
    return found


def kill(root: str, name: str, stepwise: str, everywhere: str, every: str) -> None:
    """Signal builds at every change (or every so many), and tell what was found wrong."""
    world, number = World(Path(root)), getattr(signal, name)
    stepwise, everywhere = stepwise == "stepwise", everywhere == "everywhere"
    out, saved = world.out, world.root / "saved"
    assert world.run() == 0, (world.root / "said").read_text()
    shutil.copytree(out, saved, symlinks=True)
    old = published(out)
    world.state = "new"
    assert world.run() == 0, (world.root / "said").read_text()
    new, complete = published(out), {folder: tree(out / folder) for folder in ("results", "executed", "html")}
    there = {path.name for path in out.iterdir()}
    assert all(old[part] != new[part] for part in old if not part.endswith(".csv"))
    wrong, when, deaths = [], 1, 0
    while True:
        shutil.rmtree(out)
        shutil.copytree(saved, out, symlinks=True)
        status = world.run(world.signalling(number, when, everywhere), stepwise=stepwise)
        said = (world.root / "said").read_text()
        stopped = os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) in (130, 143)
        if not stopped:
            if status or published(out) != new:
                wrong.append(f"{when}: neither stopped nor complete: {status} {said}")
            break
        deaths += 1
        # Between the two moves of a system that cannot exchange folders a place is empty, if nothing can tidy up.
        wrong += [f"{when}: {fault}" for fault in faults(out, old, new, gaps=stepwise and number == signal.SIGKILL)]
        if "Traceback" in said:
            wrong.append(f"{when}: {said}")
        if number != signal.SIGKILL and list(out.glob(".work-*")):
            wrong.append(f"{when}: leaves {list(out.glob('.work-*'))}")
        if world.run(stepwise=stepwise):
            wrong.append(f"{when}: the next build fails: {(world.root / 'said').read_text()}")
        if {folder: tree(out / folder) for folder in complete} != complete:
            wrong.append(f"{when}: the next build makes something else")
        if left := {path.name for path in out.iterdir()} ^ there:
            wrong.append(f"{when}: after the next build there is or lacks {left}")
        when += int(every)
    print(json.dumps({"deaths": deaths, "wrong": wrong}))


if __name__ == "__main__":
    kill(*sys.argv[1:])
