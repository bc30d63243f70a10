"""The Python blocks of the README run as they are, one after the other."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import squareform

import crowder as cr
from book.companion import crowds
from crowder.practice import read_records

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)


def test_every_block_of_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, asked, audited, scored = BLOCKS
    names = {}
    exec(first, names)
    labels = names["data"].labels
    assert (names["result"].clusters == labels).all()
    exec(asked, names)
    assert (names["ordering"].resolution.clusters == labels).all()
    exec(audited, names)
    assert names["audited"].certified >= 0.95 and (tmp_path / "answers.db").exists()
    exec(scored, names)
    assert names["pairs"].table(names["matched"])["cluster"].tolist() == [0, 0, 1, 1]
    assert names["matched"].n_queries == 2  # the third pair follows from the first two: no record has two matches


def cora(crowds_path):
    """Every third record, by the shipped similarities."""
    data = cr.datasets.cora()
    kept = np.arange(0, data.n, 3)
    return squareform(data.condensed)[np.ix_(kept, kept)], data.labels[kept]


def people(crowds_path):
    records = read_records(ROOT / "book/data/people.csv")
    values = cr.similarity.compute(records.drop(columns=["id", "label"]), "jaccard-qgrams")
    return values, records["label"].factorize()[0]


def allsports(crowds_path):
    crowd = crowds.read(crowds_path, "allsports")
    return crowd.similarity, crowd.labels


@pytest.mark.parametrize("data", [cora, people, allsports], ids=lambda f: f.__name__)
def test_the_audit_certifies_no_more_than_was_found(data, crowds_path, tmp_path, monkeypatch):
    """README: an audit asks until it can certify the recall at a stated confidence. Once in twenty runs it may be
    wrong; on these three data sets, none of which it was written on, what it certifies was found."""
    monkeypatch.chdir(tmp_path)
    similarity, labels = data(crowds_path)
    names = {"cr": cr, "data": SimpleNamespace(similarity=similarity, labels=labels), "crowd": cr.Truth(labels)}
    exec(BLOCKS[2], names)
    audited = names["audited"]
    together = audited.clusters[:, None] == audited.clusters
    match = labels[:, None] == labels
    assert not (together & ~match).any()
    found = ((together & match).sum() - len(labels)) / (match.sum() - len(labels))
    assert found >= audited.certified >= 0.95
    assert audited.n_queries < cr.EdgeOrdering(similarity, rng=7).run(cr.Truth(labels)).n_queries
