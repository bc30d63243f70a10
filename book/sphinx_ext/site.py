"""What browsers, search engines and previews of links are told: titles and descriptions, the root of the site, its map.

The root leads to the first page. Where the address of the site is known (`site`), there is also
``sitemap.xml``, and ``404.html``, which GitHub Pages shows for every address that it does not know; so that page has
no relative links.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from book.project import BuildError

GITHUB = "https://github.com"  # unless GITHUB_SERVER_URL says otherwise

_PARAGRAPH = re.compile(r"<p>((?:(?!</p>).){30,})</p>", re.DOTALL)
_CITED = re.compile(r"\[(?:<a\b[^>]*bibliography\.html#[^>]*>.*?</a>[,;\s]*)+\]", re.DOTALL)
# A formula that is more than letters, numbers and signs in a row would be another one without its markup.
_FORMULA = re.compile(r"<math>.*?</math>", re.DOTALL)
_TWO_DIMENSIONAL = re.compile(r"<m(?!ath\b|[ino]\b|row\b)")
_LEFT_OUT = "\0"
LENGTH = 240  # of a description, if its first sentence is not longer


def site() -> str:
    """The address that the pages will have, with a slash at its end; empty if it is not known.

    It is ``CROWDER_SITE``, or else that of GitHub Pages for the repository whose workflow this is.
    """
    given = os.environ.get("CROWDER_SITE", "")
    owner, _, name = os.environ.get("GITHUB_REPOSITORY", "").partition("/")
    if not given and name and os.environ.get("GITHUB_SERVER_URL", GITHUB) == GITHUB:
        host = f"{owner.lower()}.github.io"
        given = f"https://{host}/{'' if name.lower() == host else name}"
    parts = urlsplit(given)
    if given and not (parts.scheme in ("http", "https") and parts.netloc):
        raise BuildError(f"CROWDER_SITE={given}: expected an address such as https://example.org/book/")
    return given and given.rstrip("/") + "/"


def describe(body: str) -> str:
    """The first paragraph of a page as a description: whole sentences, without sources, up to one with a long formula.

    >>> describe("<p>Short.</p><p>Ask about <em>the most similar</em> pair &amp; skip what is implied. It ends.</p>")
    'Ask about the most similar pair & skip what is implied. It ends.'
    >>> describe('<p>Of <math><mi>n</mi></math> pairs [<a href="bibliography.html#id2">Saha, 2017</a>], all.</p>')
    'Of n pairs, all.'
    >>> describe("<p>Of <math><mi>n</mi></math> records, <math><mfrac><mi>n</mi><mn>2</mn></mfrac></math> match.</p>")
    ''
    """
    found = _PARAGRAPH.search(body)
    text = _CITED.sub("", found[1]) if found else ""
    text = _FORMULA.sub(lambda formula: _LEFT_OUT if _TWO_DIMENSIONAL.search(formula[0]) else formula[0], text)
    text = re.sub(r"\s+(?=[.,;])", "", " ".join(unescape(re.sub("<[^>]*>", "", text)).split()))
    chosen = ""
    for sentence in re.split(r"(?<=[.?!])\s+", text):
        if _LEFT_OUT in sentence or (chosen and len(chosen) + len(sentence) > LENGTH):
            break
        chosen += f" {sentence}"
    return chosen.strip()


def add_description(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Describe the page, by what its own front matter says or else by its first paragraph."""
    context["site"] = app.config.html_baseurl
    stated = re.search(r'<meta content="([^"]*)" name="description" />\n?', context.get("metatags") or "")
    if stated:
        context["metatags"] = context["metatags"].replace(stated[0], "")
        context["described"] = unescape(stated[1])
    else:
        of_the_book = app.config.html_context["description"]
        context.setdefault("described", describe(context.get("body", "")) if doctree else "")
        context["described"] = context["described"] or of_the_book


def point_to_sources(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Let the button of the repository lead to the sources that were built."""
    version = app.config.html_theme_options["repository_branch"]
    for group in context["header_buttons"]:
        for button in group.get("buttons", ()):
            if button.get("label") == "source-repository-button":
                button["url"] += f"/tree/{version}"


def bare_pages(app: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The root and the page for unknown addresses."""
    front, site = f"{app.config.root_doc}.html", app.config.html_baseurl
    icon = b64encode(Path(app.srcdir, app.config.html_favicon).read_bytes()).decode()
    shared = {"icon": f"data:image/svg+xml;base64,{icon}", "described": app.config.html_context["description"]}
    book = app.config.html_title
    yield "index", shared | {"title": book, "links": {front: "Read the book"}, "onward": front}, "bare.html"
    if site:
        links = {site + front: "The first page", f"{site}search.html": "Search"}
        known = {"title": "Page not found", "described": f"{book} has no page at this address.", "links": links}
        yield "404", shared | known, "bare.html"


def write_map(app: Any, error: Exception | None) -> None:
    if site := app.config.html_baseurl:
        places = (f"<url><loc>{escape(f'{site}{page}.html')}</loc></url>" for page in sorted(app.env.found_docs))
        start = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        Path(app.outdir, "sitemap.xml").write_text("\n".join([start, *places, "</urlset>\n"]), encoding="utf-8")


def setup(app: Any) -> None:
    app.connect("html-page-context", add_description)
    app.connect("html-page-context", point_to_sources, priority=600)  # after the theme has made the buttons
    app.connect("html-collect-pages", bare_pages)
    app.connect("build-finished", write_map)
