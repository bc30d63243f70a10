"""Bad input to similarities of text, data sets, records; `tests/tool` has that of their readers."""

from math import nan

import numpy as np
import pandas as pd
from bad_material import PEOPLE, M, Row, file, folder, new

import crowder as cr
import crowder_tool
from crowder_tool import people


def learned(**how):
    """Of 8 people, all of whose 28 pairs are candidates."""
    return crowder_tool.LearnedOrdering(PEOPLE, rng=7, **how)


TABLE = {
    "Similarity functions": [
        Row(lambda: cr.similarity.compute("Disney"), TypeError, "records must be a sequence of texts, not one text"),
        Row(lambda: cr.similarity.compute([1, "a"]), TypeError, "'record' must be text"),
        Row(lambda: cr.similarity.compute({"a": "b"}), TypeError, "records must be a DataFrame or a sequence of"),
        Row(lambda: cr.similarity.compute(pd.DataFrame({"x": [1.5, 2.5]})),
            TypeError, "'x' must be text"),
        Row(lambda: cr.similarity.compute(["a", "b"], "cosine"), ValueError, "similarity must"),
        Row(lambda: cr.similarity.compute(PEOPLE, fields=["nope"]), ValueError, "fields must be"),
        Row(lambda: cr.similarity.compute(PEOPLE, fields=[]), ValueError, "fields must"),
        Row(lambda: cr.similarity.compute(PEOPLE, fields=["name", "name"]),
            ValueError, "column 'name' must"),
        Row(lambda: cr.similarity.compute(PEOPLE, fields=5), TypeError, "fields must be names of columns, not 5"),
        Row(lambda: cr.similarity.compute(["a"], fields=["x"]), ValueError, "fields must be"),
        Row(lambda: cr.similarity.compute(pd.DataFrame([["a", "b"]]*2, columns=["x", "x"])),
            ValueError, "column 'x' must"),
        Row(lambda: cr.similarity.discretize([0.1], "near"), ValueError, "discretisation must"),
        Row(lambda: cr.similarity.discretize([0.1], "round", 0), ValueError, "levels must be at least 1, not 0"),
        Row(lambda: cr.similarity.discretize([nan], "round"), ValueError, "values must be in [0, 1], not nan"),
        Row(lambda: cr.similarity.discretize(["a"], "round"), TypeError, "values must be real numbers, not ['a']"),
        Row(lambda: cr.similarity.discretize([0.1], "round", 10**400), ValueError, "levels must be at most"),
    ],
    "Data sets": [
        Row(lambda: cr.datasets.Dataset("x", [0.1, 0.2], [0, 1]), ValueError, "2 labels need"),
        Row(lambda: cr.datasets.Dataset("x", [nan], [0, 1]), ValueError, "condensed similarities must be"),
        Row(lambda: cr.datasets.Dataset("x", [0.1], [0.2, 0.7]), ValueError, "labels must be cluster numbers, not"),
        Row(lambda: cr.datasets.Dataset("x", [0.1], [0, 1], records=PEOPLE),
            ValueError, "records must be"),
        Row(lambda: cr.datasets.Dataset("x", [0.1], 5), ValueError, "labels must be cluster numbers, not 5"),
        Row(lambda: cr.datasets.Dataset("x", [0.1j], [0, 1]), TypeError, "condensed similarities must be real numbers"),
        Row(lambda: cr.datasets.synthetic([2, 0], M, rng=7), ValueError, "cluster sizes must"),
        Row(lambda: cr.datasets.synthetic(5, M, rng=7), ValueError, "cluster sizes must be positive integers, not 5"),
        Row(lambda: cr.datasets.synthetic([2], "dist1", rng=7), TypeError, "model must be a SimilarityModel, such as"),
        Row(lambda: cr.datasets.synthetic([2], M, rng=None), ValueError, "pass rng=, a seed or a"),
        Row(lambda: cr.datasets.synthetic([2], M, rng=7, discretize="near"),
            ValueError, "discretisation must"),
        Row(lambda: cr.datasets.disney("cosine"), ValueError, "similarity must"),
        Row(lambda: cr.datasets.cora(records="cora.csv"), TypeError, "records must be a DataFrame, such as"),
        Row(lambda: cr.datasets.cora(records=PEOPLE.drop(columns="label")),
            ValueError, "records must have"),
        Row(lambda: cr.datasets.cora("jaccard-tokens-title", records=PEOPLE),
            ValueError, "fields must be"),
        Row(lambda: cr.datasets.cora(records=PEOPLE.assign(label=[None]*len(PEOPLE))),
            ValueError, "label of record 0 is missing"),
    ],
    "The text of cora": [
        Row(lambda: cr.datasets.cora_records(new()), FileNotFoundError, "[Errno 2] No such file or directory:"),
        Row(lambda: cr.datasets.cora_records(["a", "b"]), TypeError, "path must be the name of a file, not ['a',"),
        Row(lambda: cr.datasets.cora_records(folder()), IsADirectoryError, "[Errno 21] Is a directory: ''"),
        Row(lambda: cr.datasets.cora_records(file("cora.csv", "id,label,title\n1,a,x\n")),
            ValueError, "does not match (21 bytes): sha256 "),
    ],
    "Invented people": [
        Row(lambda: people([2, 0], rng=7), ValueError, "cluster sizes must"),
        Row(lambda: people([2], mistakes=-1, rng=7), ValueError, "mistakes must be a finite number, from 0 to 100"),
        Row(lambda: people([2], mistakes=1e18, rng=7), ValueError, "mistakes must be a finite number, from 0 to 100"),
        Row(lambda: people([2], mistakes="1", rng=7), TypeError, "mistakes must be a real number, not '1'"),
    ],
    "Records in a file, and their candidate pairs": [
        Row(lambda: crowder_tool.read_records(None), TypeError, "path must"),
        Row(lambda: crowder_tool.read_records(new()), FileNotFoundError, "[Errno 2] No such file or directory"),
        Row(lambda: crowder_tool.read_records(folder()), IsADirectoryError, "[Errno 21] Is a directory: ''"),
        Row(lambda: crowder_tool.read_records(new(), id=5), TypeError, "id must be the name of a column, not 5"),
        Row(lambda: crowder_tool.read_records(new(), fields=5), TypeError, "fields must be names of columns, not 5"),
        Row(lambda: crowder_tool.read_records(new(), fields=[None]), TypeError, "fields must be names of columns"),
        Row(lambda: crowder_tool.nearest_pairs("Ann"), TypeError, "records must"),
        Row(lambda: crowder_tool.nearest_pairs(PEOPLE, table=PEOPLE), ValueError, "table must be a column of the"),
        Row(lambda: crowder_tool.nearest_pairs(PEOPLE[["name", "name"]]), ValueError, "have column 'name' only once"),
        Row(lambda: crowder_tool.nearest_pairs(PEOPLE[[]]), ValueError, "records must have columns"),
        Row(lambda: crowder_tool.nearest_pairs(PEOPLE, neighbours=0), ValueError, "neighbours must"),
        Row(lambda: crowder_tool.LearnedOrdering(PEOPLE, target=1, accept=True, rng=7), ValueError, "target must"),
        Row(lambda: crowder_tool.LearnedOrdering(PEOPLE), TypeError, "rng"),
        Row(lambda: learned(pairs=[(0, 1)]), TypeError, "pairs must be NearestPairs, as of nearest_pairs"),
        Row(lambda: learned(features=np.full((28, 2), nan)), ValueError, "features must be finite"),
        Row(lambda: learned(features=np.repeat([[0.0, 3e38]], 14, 0).reshape(28, 1).astype("f4")), ValueError,
            "features must be finite, and not so large that their squares are not"),
        Row(lambda: learned(features=[[1], [1, 2]]), TypeError, "features must be real numbers, not"),
        Row(lambda: learned(features=np.ones((28, 2)) * 1j), TypeError, "features must be real numbers, not"),
        Row(lambda: learned(features=np.ones(28)), ValueError, "must have a row for each of the 28 pairs, not (28,)"),
    ],
}  # fmt: skip
