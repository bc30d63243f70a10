"""The benchmarks run, write what they promise, and what the book shows of them is complete."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import crowder as cr
from book.companion import measured
from crowder.people import people

ROOT = Path(__file__).resolve().parents[2]
ORDERINGS = ["sweep", "contestant", "n", "k", "pairs", "questions", "rounds", "first", "seconds", "ratio", "low",
             "high", "versions"]  # fmt: skip


def decades(values):
    return np.log10(max(values) / min(values))


def run(*command):
    # pytest-benchmark measures nothing where it believes itself a worker of pytest-xdist.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, env=alone)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


PEERS = all(importlib.util.find_spec(name) for name in ("pytest_benchmark", "skquery"))


@pytest.mark.skipif(not PEERS, reason="needs the extra `bench`")
def test_the_orderings_are_timed(tmp_path):
    said = run("-m", "pytest", "-c", "benchmarks/pytest.ini", "benchmarks", "--quick", "--results", str(tmp_path),
               "-k", "plainest or peer or pairs")  # fmt: skip
    table = pd.read_csv(tmp_path / "orderings.csv")
    assert list(table) == ORDERINGS
    assert set(table["sweep"]) == {"plainest", "peer", "pairs"} and "FFQS" in said
    assert (table.loc[table["contestant"] == "argsort", "ratio"] == 1).all()
    counts = table[table["sweep"] == "plainest"].pivot(index="n", columns="contestant", values="questions")
    assert counts["edge"].equals(counts["edge, plainest"]) and counts["node"].equals(counts["node, plainest"])


PLANS = ["data", "chosen_on", "sample", "records", "matches", "needed",
         *(f"{stage}{end}" for stage in ("before", "pilot") for end in ("_from", "", "_to", "_actual")),
         "asked", "recall"]  # fmt: skip


def test_plans_are_tried_on_labelled_records(tmp_path):
    for name in ("ours.csv", "chosen-on/theirs.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        people([3] * 4 + [1] * 30, rng=1).to_csv(tmp_path / name, index=False)
    run("benchmarks/plans.py", str(tmp_path), "--samples", "2", "--records", "30", "--results", str(tmp_path / "out"))
    table = pd.read_csv(tmp_path / "out" / "plans.csv")
    assert list(table) == PLANS and table.notna().all(axis=None)
    assert table.groupby("data")["chosen_on"].agg(list).to_dict() == {"ours": [False] * 2, "theirs": [True] * 2}
    assert (table["recall"] <= 1).all() and (table["records"] <= 30).all()
    # After a pilot, edge ordering needs what it needs without, but for the pilot's own questions.
    assert (table["pilot_actual"] <= table["needed"] + table["records"] // 10).all()


def test_the_committed_plans_hold_and_find_the_matches():
    """What README and chapter 16 promise: at the upper end, 95 % of the matches nine times in ten."""
    table = measured.read("plans")
    assert list(table) == PLANS and table.notna().all(axis=None)
    assert table["chosen_on"].nunique() == 2 and table["data"].nunique() >= 10 and len(table) >= 20
    for stage in ("before", "pilot"):
        assert (table[f"{stage}_actual"] <= table[f"{stage}_to"]).mean() >= 0.9
    assert (table["recall"] >= 0.95).mean() >= 0.9
    held = {stage: table[f"{stage}_actual"].between(table[f"{stage}_from"], table[f"{stage}_to"])
            for stage in ("before", "pilot")}  # fmt: skip
    apart, off = ([f(stage) for stage in held] for f in (
        lambda stage: (table[f"{stage}_to"] / table[f"{stage}_from"].clip(lower=1)).median(),
        lambda stage: np.exp(np.log(table[stage] / table[f"{stage}_actual"]).abs().median()),
    ))  # fmt: skip
    new = ~table["chosen_on"]
    said = (
        f"held in {held['before'].sum()} before any answer, and in {held['pilot'].sum()} after the pilot; on data that "
        f"chose no constant in {held['before'][new].sum()} and {held['pilot'][new].sum()} of {new.sum()}. Where it "
        f"missed, fewer questions were needed. The ends were a factor {apart[0]:.0f} and {apart[1]:.0f} apart, and the "
        f"middle off by a factor {off[0]:.1f} and {off[1]:.1f} (medians). Asking until the upper end was behind found "
        f"at least {np.floor(1000 * table['recall'].min()) / 10} % of the matches, for "
        f"{(table['asked'] / table['needed']).median():.1f} times the questions"
    )
    assert said in " ".join(cr.Plan.__doc__.split())
    assert all((table[f"{stage}_actual"] <= table[f"{stage}_to"]).all() for stage in held)  # "fewer were needed"


def test_the_committed_orderings_are_complete():
    table = measured.read("orderings")
    assert list(table) == ORDERINGS
    assert table.notna().all(axis=None) and (table[["seconds", "ratio", "low", "high"]] > 0).all(axis=None)
    assert (table["low"] <= table["ratio"]).all() and (table["ratio"] <= table["high"]).all()
    by = dict(tuple(table.groupby("sweep")))
    assert set(by) == {"cora", "plainest", "peer", "records", "clusters", "pairs", "noisy"}
    assert min(decades(by[name]["pairs"]) for name in ("records", "pairs")) >= 3 and decades(by["clusters"]["k"]) >= 3
    # Every contestant at every size, and the two that are the same algorithm ask the same.
    for part in by.values():
        assert len(part) == part["contestant"].nunique() * len(part[["n", "k"]].drop_duplicates())
    counts = by["plainest"].pivot(index="n", columns="contestant", values="questions")
    assert counts["edge"].equals(counts["edge, plainest"]) and counts["node"].equals(counts["node, plainest"])
    assert (by["cora"]["n"] == 1879).all()
    noisy = by["noisy"].set_index("contestant")  # in seconds, what the chapter says of a crowd that errs
    assert (noisy["n"] == 1000).all() and (noisy.loc[["clustering", "resolve"], "questions"] == 10_000).all()
    assert noisy.loc["next question", "seconds"] < 0.05 and noisy.loc["clustering", "seconds"] < 2


def test_the_committed_scale_is_complete():
    table = measured.read("scale")
    numbers = ["records", "pairs", "questions", "seconds", "sort_seconds", "argsort_seconds", "ratio", "limit_seconds",
               "peak_mb", "wall_seconds"]  # fmt: skip
    assert list(table) == ["kind", "ordering", *numbers, "versions"]
    assert (table["sort_seconds"] < table["seconds"]).all() and (table["limit_seconds"] < table["seconds"]).all()
    assert np.isfinite(table[numbers]).all(axis=None) and (table[numbers] > 0).all(axis=None)
    for _, part in table.groupby(["kind", "ordering"]):
        assert decades(part["records"]) >= 3 and part["records"].is_unique


def test_no_machine_is_named():
    for path in measured.FOLDER.glob("*.csv"):
        text = path.read_text()
        assert os.sep + "home" not in text and "tmp" not in text and os.uname().nodename not in text


def test_what_falls_back_is_said(tmp_path):
    """Half as slow again is; a fifth is what the machine does by itself; a new row has nothing to be compared with."""
    table = measured.read("scale")
    assert "nothing has fallen back" in run("benchmarks/fallen_back.py", "--results", str(measured.FOLDER))
    table.loc[0, "ratio"] *= 1.5
    table.loc[1, "ratio"] *= 1.2
    table.loc[2, "records"] = 7
    table.to_csv(tmp_path / "scale.csv", index=False)
    command = [sys.executable, "benchmarks/fallen_back.py", "--results", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.count("\n") == 1
    first = table.iloc[0]
    assert f"kind {first['kind']}, ordering {first['ordering']}, records {first['records']}: ratio" in done.stdout


def test_results_go_where_the_book_reads_them():
    spec = importlib.util.spec_from_file_location("bench_conftest", ROOT / "benchmarks" / "conftest.py")
    spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
    assert module.results_folder(None, False) == measured.FOLDER
    assert module.results_folder(None, True) == ROOT / "_build" / "measured"


def test_make_bench_runs_them_all():
    recipe = (ROOT / "Makefile").read_text().split("\nbench:")[1].split("\n\n")[0]
    assert "-c benchmarks/pytest.ini benchmarks $(ARGS)" in recipe
    for script in ("scale", "chapters", "pages", "fallen_back"):
        assert f"benchmarks/{script}.py $(ARGS)" in recipe


def test_the_chapters_times_are_those_of_the_last_complete_build(tmp_path):
    manifest = tmp_path / "build" / "executed" / "full" / "manifest.json"
    manifest.parent.mkdir(parents=True)
    command = ["benchmarks/chapters.py", "--book", str(tmp_path / "build"), "--results", str(tmp_path)]
    slugs = chapters()
    ran = {slug: {"seconds": 10.04 + i, "processor": 5.5, "cells": [0.5, i]} for i, slug in enumerate(slugs)}
    manifest.write_text(json.dumps({"chapters": {slug: ran[slug] for slug in slugs[1:]}}))
    assert f"lacks {slugs[0]}" in run(*command) and not (tmp_path / "chapters.csv").exists()
    manifest.write_text(json.dumps({"chapters": ran}))
    run(*command)
    table = pd.read_csv(tmp_path / "chapters.csv")
    assert table["chapter"].tolist() == slugs
    assert np.allclose(table["seconds"], 10 + np.arange(len(slugs)), atol=1e-9)  # to the tenth
    cells = pd.read_csv(tmp_path / "cells.csv")
    assert cells.to_numpy().tolist() == [[slug, 2, i] for i, slug in reversed(list(enumerate(slugs))) if i >= 1]


def chapters():
    return [path.stem for part in ("", "appendix/") for path in sorted((ROOT / "notebooks").glob(f"{part}*.ipynb"))]


def test_every_chapter_has_a_committed_time():
    table = measured.read("chapters")
    assert table["chapter"].tolist() == chapters()
    assert (table[["seconds", "processor"]] > 0).all(axis=None) and table["versions"].nunique() == 1
