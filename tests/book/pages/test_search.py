"""The search of the site, from a folder: what readers ask for is among the first three hits."""

WANTED = {
    "transitive inference": "01-questions.html#def-transitivity",
    "theorem 2": "05-edge-ordering.html#thm-edge-printed",
    "figure 9.2": "09-cora.html#fig-cora-levels",
    "what is L": "03-integral.html#ch-integral",
    "cite": "run.html#ch-cite",
    "proposition 4": "A2-edge-ordering.html#prop-edge-dist2",
    "similarity for cora": "09-cora.html#sec-cora-functions",
    "own pairs": "16-your-data.html#sec-scored-pairs",
}
#: The name of a statement whose words are in many chapters: it is among the hits.
NAMED = {"certain matches": "A3-node-ordering.html#prop-node-certain"}


def test_readers_find_what_they_ask_for_in_the_first_three_hits(visit):
    """And get there, without seeing TeX."""
    page, trouble = visit("search")
    search = page.url.partition("?")[0]
    for query, place in (WANTED | NAMED).items():
        page.goto(f"{search}?q={query.replace(' ', '+')}")
        page.wait_for_function("document.querySelector('#search-results p').textContent.includes('finished')")
        hits = page.locator("#search-results ul.search > li > a").evaluate_all("all => all.map(a => a.href)")
        found = [hit for hit in (hits if query in NAMED else hits[:3]) if place in hit]
        assert found, (query, hits[:3])
        assert "\\(" not in page.locator("#search-results").inner_text()
        page.goto(found[0])
        assert page.locator(":target").count() == 1, found
    assert trouble == []
