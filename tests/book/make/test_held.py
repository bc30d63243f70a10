"""What is held of the results of a chapter: each kind of change is noticed and named."""

import json

import pandas as pd
from tiny_book import TinyBook

from book.make import held

COUNTS = {"model": ["a", "b", "a", "b", "a", "b", "a", "b"], "asked": [8, 3, 5, 13, 2, 21, 34, 55],
          "mean": [0.1, 0.7, 0.2, float("nan"), 0.4, 0.9, 0.3, 0.6]}  # fmt: skip
SHOWN = "(1764381, 0.25, 'node')"


def lines(tmp_path, counts=COUNTS, figure="z = 2.8 (limit 3.98)", shown=SHOWN, caption="8 runs.", table="| 0.1 |"):
    """The lines of a chapter with a figure, a table, a claim and a cell that shows something."""
    (tmp_path / "claims").mkdir(exist_ok=True)
    pd.DataFrame(counts).to_csv(tmp_path / "fig-a.csv", index=False)
    (tmp_path / "claims" / "C01.json").write_text(json.dumps({"evidence": [{"figure": figure}]}))
    outputs = [
        {"data": {"text/plain": shown}},
        {"data": {"text/plain": "", "image/png": ""},
         "metadata": {"crowder": {"kind": "figure", "name": "fig-a", "caption": caption, "alt": "A curve."}}},
        {"data": {"text/plain": [table], "text/markdown": [table]},
         "metadata": {"crowder": {"kind": "table", "name": "tab-a", "caption": "All."}}},
    ]  # fmt: skip
    executed = tmp_path / "executed.ipynb"
    executed.write_text(json.dumps({"cells": [{"id": "runs", "outputs": outputs}, {"id": "text"}]}))
    return held.describe(executed, tmp_path)


def text(lines):
    return "\n".join(lines)


def changed(column, values):
    return {"counts": COUNTS | {column: values}}


CHANGES = [
    (changed("asked", [3, 8, *COUNTS["asked"][2:]]), "fig-a, asked"),  # two neighbours exchanged
    (changed("asked", [8, 3, 5, 13, 2, 21, 35, 55]), "fig-a, asked"),  # one more question in one row
    (changed("model", ["b", "a", *COUNTS["model"][2:]]), "fig-a, model"),
    (changed("mean", [0.1, 0.7, 0.2, 0.5, *COUNTS["mean"][4:]]), "fig-a, mean"),  # NaN equals only NaN
    (changed("mean", [0.1, 0.7, 0.2, 0.4, float("nan"), *COUNTS["mean"][5:]]), "fig-a, mean"),  # the same numbers
    (changed("noisy: mean", [0.2] * 8), "fig-a, noisy mean"),  # a colon ends no name
    ({"figure": "z = 2.8 (limit 3.72)"}, "C01, evidence 1"),
    ({"figure": "z = -2.8 (limit 3.98)"}, "C01, evidence 1"),
    ({"shown": "(1764382, 0.25, 'node')"}, "cell runs"),  # an integer is exact, however large
    ({"shown": "(1764381, 0.2501, 'node')"}, "cell runs"),
    ({"shown": "(1764381, nan, 'node')"}, "cell runs"),
    ({"caption": "9 runs."}, "fig-a, caption"),
    ({"table": "| 0.2 |"}, "tab-a, as shown"),
]


def test_a_change_is_noticed_and_named(tmp_path):
    was = text(lines(tmp_path))
    for fault, name in CHANGES:
        (message,) = held.differences("01-one", was, lines(tmp_path, **fault))
        assert message.startswith(f"01-one: {name}: held ") and "; found " in message


def test_last_digits_of_what_is_not_an_integer_may_differ(tmp_path):
    """By less than one in a hundred thousand, also in a text, and by anything that rounding leaves of zero."""
    was = text(lines(tmp_path, **changed("of", [f"{x / 7} of all" for x in range(1, 9)]), shown="0.25 1e-17"))
    now = lines(tmp_path, **changed("of", [f"{x / 7 + 1e-9} of all" for x in range(1, 9)]), shown="0.250001 -3e-16")
    assert was != text(now) and not held.differences("01-one", was, now)
    # And words of a caption, which are in the source; its numbers may be computed.
    assert lines(tmp_path, caption="In all, 8 runs.") == lines(tmp_path)


def test_missing_and_additional_lines_are_noticed(tmp_path):
    was = lines(tmp_path)
    assert held.differences("01-one", text(was[1:]), was) == [
        f"01-one: fig-a, model: held nothing; found {was[0][14:]}"
    ]
    assert held.differences("01-one", text(was), was[1:]) == [
        f"01-one: fig-a, model: held {was[0][14:]}; found nothing"
    ]


def test_a_tolerance_and_the_head_are_kept(tmp_path):
    """Within 5 % of 0.25 is 0.26 and not 0.27, and of 1,764,381 any integer that near."""
    was = "# Learned.\n" + text(lines(tmp_path)) + " ± 5 %\n"
    assert not held.differences("01-one", was, lines(tmp_path, shown="(1770000, 0.26, 'node')"))
    assert held.differences("01-one", was, lines(tmp_path, shown="(1764381, 0.27, 'node')"))
    now = held.updated(was, lines(tmp_path, shown="(1764381, 0.27, 'node')"))
    assert now.startswith("# Learned.\nfig-a, model: ") and now.endswith("\ncell runs: (1764381, 0.27, 'node') ± 5 %\n")
    assert held.updated(now, lines(tmp_path)) == was


def test_a_build_stops_if_results_are_not_what_is_held(tmp_path):
    """The chapter's last cell shows size + share, which is 5.5."""
    book = TinyBook(tmp_path)
    done = book.build("--write-numbers")
    assert done.returncode == 0, done.stderr
    assert not (book.out / "html").exists()
    assert (book.root / held.FOLDER / "02-two.txt").read_text() == "cell cell-2: 5.5\n"
    (book.root / held.FOLDER / "01-one.txt").unlink()
    book.write("02-two", "# Two", "#p\nsize = 5\nshare = 0.5", "size - share")
    message = book.refused()
    assert "01-one: no held values" in message
    assert "02-two: cell cell-2: held 5.5; found 4.5" in message
    assert "make numbers" in message
    # A chapter by itself is compared, too, unless it has parameters of one's own.
    assert "02-two: cell cell-2: held 5.5; found 4.5" in book.refused("--only", "02")
    assert book.build("--only", "02", "-p", "size=6").returncode == 0
