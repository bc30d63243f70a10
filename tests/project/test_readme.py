"""The blocks of the README run as they are, one after the other, and what it says of the claims is declared."""

import re
import shlex
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from book.project import ROOT
from book.reports import ledger
from crowder_tool import people
from crowder_tool.__main__ import main

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
(RECIPE,) = (block for block in BLOCKS if "read_records" in block)


def test_it_says_what_became_of_the_claims():
    counts = ledger.tally(ledger.read_declared(ROOT).values())
    words = ", ".join(ledger.counted(status, count) for status, count in counts.items())
    assert f"**{sum(counts.values())} claims of the paper:** {words}." in README


def test_every_block_of_python_and_the_command_that_starts_a_project(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, asked, *others = BLOCKS
    names = {}
    exec(first, names)
    labels = names["data"].labels
    assert (names["result"].clusters == labels).all()
    exec(asked, names)
    assert (names["ordering"].resolution.clusters == labels).all()
    for block in others:
        exec(block, names)
    assert "among the candidate pairs" in capsys.readouterr().out
    assert names["pairs"].table(names["matched"])["cluster"].tolist() == [0, 0, 1, 1]
    assert names["matched"].n_queries == 2  # the third pair follows from the first two: no record has two matches
    (start,) = re.findall(r"^crowder (start .*)$", README, re.MULTILINE)
    assert main(shlex.split(start, comments=True)) == 0
    assert (tmp_path / "my.crowder").is_dir() and "40 records" in capsys.readouterr().out


def invented():
    sizes = np.random.default_rng(3).choice([1, 1, 1, 2, 2, 3, 4], size=200)
    return people(sizes, mistakes=2, rng=3)


def large_clusters():
    return people([20, 12, 8] + [3] * 12 + [1] * 42, rng=2017)


@pytest.mark.parametrize("data", [invented, large_clusters])
def test_the_recipe_certifies_no_more_than_was_found(data, tmp_path, monkeypatch):
    """From a CSV file to clusters. Once in twenty runs the certificate may be wrong; on these two it is right, and no
    record is joined with one that does not match."""
    monkeypatch.chdir(tmp_path)
    records = data()
    records.to_csv("my.csv", index=False)
    names = {}
    exec(RECIPE, names)
    audited, labels = names["audited"], np.unique(records["label"], return_inverse=True)[1]
    table = pd.read_csv("clusters.csv", dtype=str)
    assert table["id"].tolist() == records["id"].astype(str).tolist()
    of = {cluster: group.index.tolist() for cluster, group in table.groupby("cluster")}
    together = np.array([pair for group in of.values() for pair in combinations(group, 2)])
    assert (labels[together[:, 0]] == labels[together[:, 1]]).all()
    i, j, _ = names["ordering"].pairs()
    match = labels[i] == labels[j]
    found = (audited.clusters[i] == audited.clusters[j])[match].mean()
    assert found >= audited.certified >= 0.95
    assert audited.n_queries < len(i) / 2
