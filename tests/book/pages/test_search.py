"""The search of the site, from a folder: what readers ask for is among the first three hits."""

import pytest

WANTED = {
    "theorem 2": "05-edge-ordering.html#thm-edge-printed",
    "figure 9.2": "09-cora.html#fig-cora-levels",
    "what is L": "03-integral.html#ch-integral",
    "cite": "run.html#ch-cite",
    "proposition 4": "A2-edge-ordering.html#prop-edge-dist2",
    "similarity for cora": "09-cora.html#sec-cora-functions",
    "own pairs": "16-your-data.html#sec-scored-pairs",
}


def test_readers_find_what_they_ask_for_in_the_first_three_hits(visit):
    page, trouble = visit("search")
    for query, place in WANTED.items():
        page.goto(f"{page.url.partition('?')[0]}?q={query.replace(' ', '+')}")
        page.wait_for_selector("#search-results ul.search > li")
        hits = page.locator("#search-results ul.search > li > a").evaluate_all("all => all.map(a => a.href)")
        assert any(place in hit for hit in hits[:3]), (query, hits[:3])
    assert trouble == []


@pytest.mark.parametrize("place", WANTED.values())
def test_what_is_found_leads_to_an_element_of_the_page(html, place):
    page, _, anchor = place.partition("#")
    (path,) = [path for path in html.rglob(page) if "_sources" not in path.parts]
    assert f'id="{anchor}"' in path.read_text(encoding="utf-8")
