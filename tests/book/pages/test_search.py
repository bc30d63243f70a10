"""The search of the site: what readers ask for is among the first three hits; a subject leads first to its chapter, and
what the paper numbers to where the book treats it."""

import functools
import itertools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from docutils.nodes import make_id

from book.project import ROOT
from book.reports.ledger import read_paper
from book.sphinx_ext.search import in_order

WANTED = {
    "transitive inference": "01-questions.html#def-transitivity",
    "theorem 2": "05-edge-ordering.html#thm-edge-printed",
    "figure 9.3": "09-cora.html#fig-cora-levels",
    "what is L": "03-integral.html",
    "Monte Carlo": "03-integral.html#sec-l-monte-carlo",
    "cite": "run.html#ch-cite",
    "proposition 4": "A2-edge-ordering.html#prop-edge-dist2",
    "similarity for cora": "09-cora.html#sec-cora-functions",
    "own pairs": "16-your-data.html#sec-scored-pairs",
}
#: Subjects, and the chapters that treat them, though others have the same words in their titles and before these.
SUBJECTS = {
    "edge ordering": "05-edge-ordering.html",
    "Node ordering": "06-node-ordering.html",
    "cora": "09-cora.html",
    "lower bound": "04-lower-bound.html",
    "lower bounds": "04-lower-bound.html",
    "union bound": "05-edge-ordering.html",
    "evidence ordering": "12-closing-the-gap.html",
    "Dist-1": "02-models.html",
    "dist-2": "02-models.html",
    "transitivity": "01-questions.html",
    "Hellinger": "02-models.html",
    "stopping": "13-stopping.html",
    "audit": "13-stopping.html",
    "majority vote": "10-faulty-crowd.html",
    "components": "01-questions.html",
    "chapter 7": "07-exact-counts.html",
    "Appendix A5": "A5-readings.html",
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
#: Queries, and the title of the first hit: that of its page, and the number or the words of the place.
TITLES = {
    "figure 9.3": "9. cora: a real bibliography > Figure 9.3",
    "companion theorem 5.1": "5. Edge ordering > Companion Theorem 5.1",
    "Theorem 2": "5. Edge ordering > Theorem 2 of the paper",
    "cite": "Run it yourself > Citing",
    "equation 1": "The paper, in order > Equation (1)",
    "edge ordering": "5. Edge ordering",
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
    first = SUBJECTS | FIRST
    for query, place in (WANTED | first | NAMED).items():
        hits = asked(page, search, query)
        assert len(hits) == len(set(hits)), query
        found = [hit for hit in hits[: 1 if query in first else None if query in NAMED else 3] if place in hit]
        assert found, (query, hits[:3])
        assert "\\(" not in page.locator("#search-results").inner_text()
        assert page.locator("#search-results .context").count() == 0
        page.goto(found[0])
        assert page.locator(":target").count() == ("#" in found[0]), found
    for query, title in TITLES.items():
        asked(page, search, query)
        assert page.locator("#search-results ul.search > li > a").first.inner_text() == title
    rows = [row.name for rows in read_paper(ROOT).values() for row in rows if row.numbered]
    assert len(rows) >= 15
    for name in rows:  # in the order of the paper, too
        hits = asked(page, search, name)
        assert any(hit.endswith(f"paper.html#paper-{make_id(name)}") for hit in hits[:3]), (name, hits[:3])


def test_chapters_are_in_the_order_of_their_numbers_then_appendices_then_all_other_pages():
    first = ["book/5-edge", "book/11-real", "pages/run", "pages/api", "book/A2-edge"]
    below = {"pages/index": first, "pages/api": ["api/edge"]}
    env = SimpleNamespace(config=SimpleNamespace(root_doc="pages/index"), toctree_includes=below)
    assert in_order(env) == [
        "book/5-edge",
        "book/11-real",
        "book/A2-edge",
        "pages/index",
        "pages/run",
        "pages/api",
        "api/edge",
    ]


#: All hits for a query, in the order of the page: the scores, and where they lead.
HITS = """query => Search._performSearch(...Search._parseQuery(query)).reverse()
    .map(([page, , anchor, , score]) => [Math.ceil(score), page, anchor])"""


@functools.cache
def read(page):
    """The text of a page, in small letters."""
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select_one("article").get_text(" ").lower()


def test_a_term_of_the_glossary_leads_to_the_chapter_that_uses_it_and_equal_hits_are_in_the_order_of_the_book(
    visit, html
):
    glossary = BeautifulSoup((html / "book/pages/notation.html").read_text(encoding="utf-8"), "html.parser")
    listed = [link["href"] for link in glossary.select(".bd-links a.internal")]
    order = [href.removeprefix("../../").removesuffix(".html") for href in listed if href.startswith("../../notebooks")]
    assert len(order) == len(set(order)) >= 25
    page = visit("search")
    terms = glossary.select("dl.glossary dt")
    begin = [term.contents[0] for term in terms if getattr(term.find_previous_sibling(), "name", "dd") == "dd"]
    assert len(terms) >= 60 and begin == sorted(begin, key=str.lower)
    for term in terms:
        name, defined = term.contents[0].strip(), term.find_next_sibling("dd")
        chapters = [link["href"].partition("#")[0] for link in defined.select("a.internal")]
        assert chapters, name
        hits = page.evaluate(HITS, name)
        assert f"../../{hits[0][1]}.html" == chapters[0], (name, hits[:3])
        assert ["book/pages/notation", f"#{term['id']}"] in [hit[1:] for hit in hits[: len(chapters) + 1]], name
        for chapter in chapters:
            assert all(word in read(html / "book/pages" / chapter) for word in name.lower().split()), (name, chapter)
        for (before, one, _), (after, other, _) in itertools.pairwise(hits):
            if before == after and {one, other} <= set(order):
                assert order.index(one) <= order.index(other), (name, one, other)


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
    "theorem 2": "edge ordering asks on average at most",
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
