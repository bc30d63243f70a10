"""The search of the site: what readers ask for is among the first three hits, what the paper numbers the first."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from docutils.nodes import make_id

from book.project import ROOT
from book.reports.ledger import read_paper

WANTED = {
    "transitive inference": "01-questions.html#def-transitivity",
    "theorem 2": "05-edge-ordering.html#thm-edge-printed",
    "figure 9.3": "09-cora.html#fig-cora-levels",
    "what is L": "03-integral.html#ch-integral",
    "Monte Carlo": "03-integral.html#sec-l-monte-carlo",
    "cite": "run.html#ch-cite",
    "proposition 4": "A2-edge-ordering.html#prop-edge-dist2",
    "similarity for cora": "09-cora.html#sec-cora-functions",
    "own pairs": "16-your-data.html#sec-scored-pairs",
}
#: What the paper numbers, as readers write it, and where the book treats it: not our Table 1.1 or Figure 2.1.
FIRST = {
    "Table 1": "08-synthetic.html#tab-table1",
    "figure 1": "01-questions.html#fig-all-orders",
    "Figure 2": "09-cora.html#fig-cora-recall",
    "figure 2a": "A6-cora.html#fig-cora-similarity",
    "Figure 2(b)": "09-cora.html#fig-cora-recall",
    "theorem 1": "04-lower-bound.html#thm-lower-paper",
    "equation 1": "paper.html#paper-equation-1",
}
#: The name of a statement whose words are in many chapters: it is among the hits.
NAMED = {"certain matches": "A3-node-ordering.html#prop-node-certain"}


def asked(page, search, query):
    """The addresses of what a query finds, once all are listed."""
    page.goto(f"{search}?q={query.replace(' ', '+')}")
    page.wait_for_function("document.querySelector('#search-results p').textContent.includes('finished')")
    return page.locator("#search-results ul.search > li > a").evaluate_all("all => all.map(a => a.href)")


def test_readers_find_what_they_ask_for_in_the_first_three_hits(visit):
    """And get there, without seeing TeX; from a folder, without excerpts."""
    page = visit("search")
    search = page.url.partition("?")[0]
    for query, place in (WANTED | FIRST | NAMED).items():
        hits = asked(page, search, query)
        found = [hit for hit in hits[: 1 if query in FIRST else None if query in NAMED else 3] if place in hit]
        assert found, (query, hits[:3])
        assert "\\(" not in page.locator("#search-results").inner_text()
        assert page.locator("#search-results .context").count() == 0
        page.goto(found[0])
        assert page.locator(":target").count() == 1, found
    rows = [row.name for rows in read_paper(ROOT).values() for row in rows if row.numbered]
    assert len(rows) >= 15
    for name in rows:  # in the order of the paper, too
        hits = asked(page, search, name)
        assert any(hit.endswith(f"paper.html#paper-{make_id(name)}") for hit in hits[:3]), (name, hits[:3])


@pytest.fixture
def online(html):
    """The address of the pages on a server that ends with the test."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=html)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(10)


#: A query, and what the excerpt of its first hit must have.
EXCERPTS = {
    "table 1": "Table 1 regenerated",  # the caption of a table
    "cite": "Please cite the paper",  # a label before a heading, without a text of its own
    "theorem 2": "the expected number of questions of edge ordering is at most",
}


def test_from_a_server_the_first_hits_have_excerpts(browser, online):
    context = browser.new_context()
    page, trouble = context.new_page(), []
    page.on("console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith((online, "data:")) else trouble.append(r.url))
    for query, words in EXCERPTS.items():
        hits = asked(page, f"{online}/search.html", query)
        described = page.locator("#search-results li > span").count()  # a name of the module says what it is
        expected = min(15, len(hits)) - described
        page.wait_for_function(f"document.querySelectorAll('#search-results .context').length >= {expected}")
        excerpts = page.locator("#search-results .context").all_inner_texts()
        assert words in excerpts[0] and all(0 < len(excerpt) <= 260 for excerpt in excerpts), (query, excerpts)
    assert trouble == []
    context.close()
