"""The paper's numbers: the file, the rules of agreement, and the comparison as evidence."""

import re

import numpy as np
import pandas as pd
import pytest
from needing import missing

from book.companion import published
from book.project import ROOT

# --- the file -----------------------------------------------------------------------------------------------------


def test_the_numbers_are_those_of_the_paper():
    """Against the paper's text, where it lies beside the project: each number stands in it as printed."""
    paper = ROOT.parent / "shared" / "paper" / "paper.tex"
    if not paper.exists():
        missing("paper", "there is no ../shared/paper/paper.tex")
    text = paper.read_text(encoding="utf-8", errors="replace")
    cells = r"\s*(\d+)\s*&\s*(\d+)\s*&\s*\{\\bf (Dist-\d)\}\s*&\s*\$\\epsilon=\\frac\{?(\d)\}?\{(\d+)\}\$"
    row = re.compile(f"^{cells}", re.MULTILINE)
    table = {f"{model}, {a}/{b}, {o}": int(value) for node, edge, model, a, b in row.findall(text)
             for o, value in (("node", node), ("edge", edge))}  # fmt: skip
    groups = published.read()
    assert len(table) == 18 and groups["table-1"].numbers == table
    for name in ("data-sets", "cora-records", "cora-questions", "cora-recall", "cora-within"):
        for number in groups[name].numbers.values():
            shapes = {f"{number}", f"{number:,}", "17,64,381" if number == 1764381 else "-"}
            assert any(re.search(rf"(?<![\d,.]){re.escape(shape)}(?![\d])", text) for shape in shapes), (name, number)


# --- the rules ----------------------------------------------------------------------------------------------------


def test_a_rule_says_yes_up_to_its_limit_and_no_beyond():
    for rule, yes, no in (("equal", [100], [99, 100.5]), ("at least", [100, 101], [99.9]),
                          ("at most", [100, 99], [100.1]), ({"percent": 5}, [95, 105], [94.9, 105.1])):  # fmt: skip
        assert all(published.agrees(rule, 100, value) for value in yes), rule
        assert not any(published.agrees(rule, 100, value) for value in no), rule


def test_a_comparison_is_evidence():
    """It holds if all numbers agree but those known to differ, and rests on a simulation if there were runs."""
    figure = {"good order": 4, "bad order": 9}
    assert published.compare("figure-1", figure)[:2] == ("exact", True)
    assert published.compare("figure-1", figure | {"bad order": 8})[:2] == ("exact", False)
    assert published.compare("disney", {"places": 5}).holds  # listed as differing
    table = published.read()["table-1"].numbers
    sds = dict.fromkeys(table, 1)
    assert published.compare("table-1", table, sd=sds, runs=25)[:2] == ("simulated", True)
    assert published.compare("table-1", table, sd=sds, runs=25, basis="recorded")[:2] == ("recorded", True)
    drawn = pd.Series(sds)
    drawn.attrs["basis"] = "recorded"  # as `recorded` returns it
    assert published.compare("table-1", table, sd=drawn, runs=25).kind == "recorded"
    for given, basis in ((sds, "exact"), (drawn, "simulated")):
        with pytest.raises(ValueError, match=f"not '?{basis}"):
            published.compare("table-1", table, sd=given, runs=25, basis=basis)
    # Student's t with 24 degrees of freedom is beyond 3.98 with probability 0.01 / 36, on either side of 18 numbers.
    first = next(iter(table))
    for off, holds in ((3.97, True), (3.99, False), (np.nan, False)):
        moved = table | {first: table[first] + off}
        assert published.compare("table-1", moved, sd=sds, runs=25).holds is holds
