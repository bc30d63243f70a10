"""The book as one PDF: complete, with formulas and figures, and with internal links."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from needing import chromium
from tiny_book import TinyBook

from book.build.pdf import NAME, _share_tiles, anchor, combine, link_from_page

ROOT = Path(__file__).resolve().parents[3]

SECOND = """# Two

The text refers to {numref}`fig-a` and to {doc}`01-one`, with $e^{i\\pi} + 1 = 0$.

$$ \\int_0^1 t\\,dt = \\frac12 $$

```{prf:theorem} A box
:label: thm-box
On the page this box has a shadow.
```"""


def run(book, *arguments):
    command = book.command(*arguments, module="book.build.pdf")
    return subprocess.run(command, cwd=book.root, capture_output=True, text=True)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    chromium()
    book = TinyBook(tmp_path_factory.mktemp("pdf") / "project")
    (book.root / "book" / "pages" / "index.md").write_text('# Tiny\n\n<p id="pdf"></p>\n\nA book.\n')
    book.write("02-two", SECOND, "#p\nsize = 5", "secret = size  # folded", "shown = size")
    book.profiles("quick: {}")
    done = book.build()
    assert done.returncode == 0, done.stderr
    before = book.page("book/pages/index")
    done = run(book)
    assert done.returncode == 0, done.stderr
    assert NAME not in before  # pages without a PDF do not promise one
    return book


@pytest.fixture(scope="module")
def document(book):
    from pypdf import PdfReader

    return PdfReader(book.out / "html" / NAME)


def test_all_pages_are_there_in_order(document):
    text = "\n".join(page.extract_text() for page in document.pages)
    assert text.index("A book.") < text.index("Drawn to 3") < text.index("The text") < text.index("Bibliography")
    titles = [entry.title for entry in document.outline if not isinstance(entry, list)]
    # Chromium makes the outline of the headings.
    flat = str(titles) + str(document.outline)
    assert all(title in flat for title in ("Tiny", "One", "Two", "Bibliography"))


def test_formulas_are_set_and_figures_are_drawn(document):
    text = "\n".join(page.extract_text() for page in document.pages)
    assert "\\frac" not in text and "\\int" not in text and "$$" not in text
    assert "Fig. 1.1" in text or "Figure 1.1" in text
    # The formulas' letters come from their own font; the figures' curves are drawn, not pasted as pixels.
    fonts = [font for page in document.pages for font in page["/Resources"].get("/Font", {}).values()]
    assert any("STIXTwoMath" in str(font.get_object().get("/BaseFont")) for font in fonts)


def test_nothing_is_a_picture_of_dots(book):
    """Not the figures, and not the shadows of boxes either, which Chromium would print as images inside forms."""
    import pikepdf

    with pikepdf.open(book.out / "html" / NAME) as document:
        streams = [item for item in document.objects if isinstance(item, pikepdf.Stream)]
        assert [item for item in streams if item.get("/Subtype") == "/Image"] == []


def test_equal_tiles_are_one():
    """Three forms, each with an image of its own: two images and their masks are equal, the third has another mask."""
    import pikepdf

    document = pikepdf.new()

    def image(content, **more):
        facts = {"Type": pikepdf.Name.XObject, "Subtype": pikepdf.Name.Image, "Width": 2, "Height": 1,
                 "ColorSpace": pikepdf.Name.DeviceGray, "BitsPerComponent": 8, **more}  # fmt: skip
        return document.make_stream(content, **facts)

    forms = []
    for mask in (b"ab", b"ab", b"cd"):
        tile = image(b"xy", SMask=image(mask))
        resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(T=tile))
        forms.append(document.make_stream(b"/T Do", Subtype=pikepdf.Name.Form, Resources=resources))
    document.Root.Forms = pikepdf.Array(forms)
    _share_tiles(document)
    first, second, third = (form.Resources.XObject.T for form in document.Root.Forms)
    assert first.objgen == second.objgen and first.SMask.objgen == second.SMask.objgen
    assert third.objgen != first.objgen and third.SMask.read_raw_bytes() == b"cd"


def test_links_stay_inside_or_go_to_the_network(book, document):
    raw = (book.out / "html" / NAME).read_bytes()
    assert b"file:" not in raw and str(book.root).encode() not in raw
    inside = outside = 0
    for page in document.pages:
        for reference in page.get("/Annots", []):
            action = reference.get_object().get("/A", {})
            if "/URI" in action:
                outside += 1
                assert re.match(r"https?://", action["/URI"])
            else:
                inside += 1
    assert inside >= 2


def test_the_landing_page_leads_to_it_and_nothing_is_left_over(book):
    page = book.page("book/pages/index")
    link = re.search(r'<p id="pdf"><a href="([^"]+)">The whole book as a PDF', page)[1]
    assert (book.out / "html" / "book" / "pages" / link).resolve() == book.out / "html" / NAME
    assert [path.name for path in (book.out / "html").glob(".*") if path.name != ".nojekyll"] == []
    # Once more: one link, not two.
    assert run(book).returncode == 0
    assert book.page("book/pages/index").count(NAME) == 1


def test_identifiers_of_different_pages_do_not_meet(book):
    whole = combine(book.out / "html", ["book/pages/index", "notebooks/01-one", "notebooks/02-two"])
    names = re.findall(r'\bid="([^"]+)"', whole)
    assert len(names) == len(set(names))
    assert anchor("notebooks/01-one", "fig-a") in names
    assert f'href="#{anchor("notebooks/01-one", "fig-a")}"' in whole


def test_without_pages_there_is_nothing_to_print(tmp_path):
    command = [sys.executable, "-m", "book.build.pdf", "--html", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "run `make book` first" in done.stderr


def test_a_page_alone_is_printed_as_a_short_paper(book):
    """Its text without the code, in a file of its own, which the landing page does not take for the book."""
    from pypdf import PdfReader

    done = run(book, "--page", "02-two")
    assert done.returncode == 0, done.stderr
    text = "\n".join(page.extract_text() for page in PdfReader(book.out / "html" / "02-two.pdf").pages)
    assert "A box" in text and "Drawn to" not in text  # the theorem of this chapter, not the figure of the other
    assert "shown = size" not in text
    assert "02-two.pdf" not in book.page("book/pages/index")


def test_an_unknown_page_is_named(book):
    done = run(book, "--page", "99-none")
    assert done.returncode == 1 and "the book has no page '99-none'; see _toc.yml" in done.stderr


def test_a_page_links_its_pdf_only_once_it_is_printed(tmp_path):
    template = (ROOT / "book" / "templates" / "sections" / "footer-content.html").read_text()
    link = re.search(r'<a class="page-pdf".*?</a>', template)[0].replace("{{ pathto(pdf, 1) }}", "../01-one.pdf")
    assert " href=" not in link and " hidden" in link
    page = tmp_path / "notebooks" / "01-one.html"
    page.parent.mkdir()
    page.write_text(f"<p>{link}</p>")
    link_from_page(tmp_path, "notebooks/01-one")
    assert page.read_text() == '<p><a class="page-pdf" href="../01-one.pdf">PDF of this page</a></p>'
