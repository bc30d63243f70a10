"""What the page about the build says of results that were recorded."""

import json

from book.reports.about import recorded

BASES = [("B1", "recorded"), ("B2", "exact"), ("B3", "recorded")]
PAGES = {"01-one": "notebooks/01-one", "A2-two": "notebooks/appendix/A2-two"}


def test_what_was_read_is_listed_with_what_it_was_made_with_and_what_rests_on_it(tmp_path):
    made = {"parameters": {"runs": 3, "kinds": ["a|b", "c"]}, "date": "2026-01-31", "commit": "abc1234567890"}
    for slug, name, read in (("01-one", "votes", False), ("A2-two", "audits", True), ("99-other", "times", True)):
        at = tmp_path / slug / "recorded" / f"{name}.json"
        at.parent.mkdir(parents=True)
        at.write_text(json.dumps(made | {"read": read}))
    entries = [{"id": name, "basis": basis} for name, basis in BASES]
    row, resting = recorded([tmp_path / slug for slug in PAGES], PAGES, entries).split("\n")[2::2]
    assert row.startswith("| {download}`audits </book/data/recorded/audits.csv>` | {doc}`Appendix A2 </notebooks/app")
    assert row.endswith(r" | runs 3; kinds a\|b, c | 2026-01-31 | abc1234567 |")
    assert resting == "On these rest {claim}`B1`, {claim}`B3`."
    assert recorded([tmp_path / "01-one"], PAGES, entries) == "All results were computed in this build."
