"""The Python blocks of the README run as they are, one after the other."""

import re
from pathlib import Path

import crowder as cr
from crowder.practice.parquet import write_candidates

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.DOTALL)


def test_every_block_of_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, asked, careful, audited, erring, many, streamed, divided = BLOCKS
    names = {}
    exec(first, names)
    labels = names["data"].labels
    assert (names["result"].clusters == labels).all()
    names["crowd"] = lambda i, j: bool(labels[i] == labels[j])
    exec(asked, names)
    assert (names["ordering"].resolution.clusters == labels).all()
    exec(careful, names)
    # Ten records, and a similarity that says little: nothing can be left out, and nothing is missed.
    assert (names["result"].clusters == labels).all() and (tmp_path / "answers.db").exists()
    exec(audited, names)
    assert names["audited"].certified >= 0.95
    exec(erring, names)
    assert (names["clusters"] == labels).all()
    assert cr.resolve(names["answers"], rng=7).clusters.tolist() == [0, 0, 0]  # three of four answers say so
    exec(many, names)
    (tmp_path / "pairs").mkdir()
    write_candidates(tmp_path / "pairs" / "all.parquet", names["similarity"])
    names["n"] = len(names["labels"])
    names["crowd"] = cr.Truth(names["labels"])
    exec(streamed, names)
    exec(divided, names)
    assert names["split"].largest_share > 0.99  # twenty random pairs a record: it does not help here
