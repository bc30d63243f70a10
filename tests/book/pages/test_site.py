"""Where links of the pages lead, and what is made of the address of the site where it is known."""

import re
import subprocess
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup

from book.project import BuildError
from book.reports import about
from book.sphinx_ext.site import site


def git(folder, *command):
    """Run git as a user of its own, independent of the settings of this machine."""
    settings = ("user.name=A", "user.email=a@example.org", "commit.gpgsign=false", "tag.gpgsign=false")
    options = [word for setting in settings for word in ("-c", setting)]
    done = subprocess.run(["git", "-C", str(folder), *options, *command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_links_name_the_tag_or_commit_only_of_sources_that_have_one(tmp_path, monkeypatch):
    monkeypatch.setattr(about, "ROOT", tmp_path)
    assert about.reference() is None  # no repository
    git(tmp_path, "init", "--quiet")
    assert about.reference() is None  # no commit
    (tmp_path / "a").write_text("1")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "--quiet", "-m", "one")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert about.reference() == commit and len(commit) == 40
    git(tmp_path, "tag", "nightly")  # may move
    assert about.reference() == commit
    git(tmp_path, "tag", "v1.2.3")
    assert about.reference() == "v1.2.3"
    (tmp_path / "b").write_text("2")
    assert about.reference() is None  # a file that the commit has not
    git(tmp_path, "add", "b")
    git(tmp_path, "commit", "--quiet", "-m", "two")
    assert about.reference() == git(tmp_path, "rev-parse", "HEAD")  # the tag is of the commit before


def test_the_address_of_the_site_is_stated_or_that_of_the_repository(monkeypatch):
    names = ("GITHUB_REPOSITORY", "GITHUB_SERVER_URL", "CROWDER_SITE")
    for *given, expected in (
        ("", "", "", ""),
        ("Some/where", "", "", "https://some.github.io/where/"),
        ("Some/some.github.io", "", "", "https://some.github.io/"),  # the site of an owner
        ("Some/where", "https://git.example.org", "", ""),  # not on GitHub's Pages
        ("Some/where", "", "https://example.org/book", "https://example.org/book/"),
    ):
        for name, value in zip(names, given, strict=True):
            monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
        assert site() == expected
    for wrong in ("example.org/book", "file:///book", "https:///book"):
        monkeypatch.setenv("CROWDER_SITE", wrong)
        with pytest.raises(BuildError, match="expected an address such as"):
            site()


def test_without_an_address_there_is_no_map_and_no_page_for_unknown_addresses(tiny_built):
    """A page for unknown addresses would have links that are right in one folder only; and no page names an address."""
    html = tiny_built.out / "html"
    assert not (html / "sitemap.xml").exists() and not (html / "404.html").exists()
    for path in html.rglob("*.html"):
        assert not re.search('rel="canonical"|"og:url"|"og:image"', path.read_text()), path
    # Outside a repository the branch is all that links can name.
    assert "/crowder-book/crowder/blob/main/notebooks/01-one.ipynb" in tiny_built.page("notebooks/01-one")


def test_a_build_of_a_commit_for_a_site_has_links_to_both(tiny_built, tmp_path):
    """The links to the repository, those to Binder and Colab; the map; a page that is right at every address."""
    book = tiny_built.copied(tmp_path / "book")
    git(book.root, "init", "--quiet")
    git(book.root, "add", ".")
    git(book.root, "commit", "--quiet", "-m", "one")
    commit, address = git(book.root, "rev-parse", "HEAD"), "https://some.github.io/where/"
    done = book.render(GITHUB_REPOSITORY="Some/where")
    assert done.returncode == 0, done.stderr
    assert git(book.root, "status", "--porcelain") == ""  # rendering leaves nothing among the sources
    html, page = book.out / "html", book.page("notebooks/01-one")
    for link in (
        f"https://github.com/Some/where/tree/{commit}",
        f"https://mybinder.org/v2/gh/Some/where/{commit}?urlpath=lab/tree/notebooks/01-one.ipynb",
        f"https://colab.research.google.com/github/Some/where/blob/{commit}/notebooks/01-one.ipynb",
    ):
        assert page.count(f'href="{link}"') == 1, link
    assert "/main" not in "".join(re.findall(r'href="(https://[^"]*)"', page))

    known = [place.text for place in ElementTree.parse(html / "sitemap.xml").getroot().findall(".//{*}loc")]
    names = ["book/pages/about", "book/pages/bibliography", "book/pages/index", "book/pages/paper", "notebooks/01-one",
             "notebooks/02-two", "notebooks/appendix/A2-more"]  # fmt: skip
    assert known == [f"{address}{name}.html" for name in names]
    for name in names:
        head = BeautifulSoup(book.page(name).partition("</head>")[0], "html.parser")
        assert head.select_one('link[rel="canonical"]')["href"] == f"{address}{name}.html"
        assert head.select_one('meta[property="og:url"]')["content"] == f"{address}{name}.html"
    image = BeautifulSoup(book.page("index"), "html.parser").select_one('meta[property="og:image"]')["content"]
    assert image == f"{address}_static/page.png"

    missing = BeautifulSoup(book.page("404"), "html.parser")
    links = [link["href"] for link in missing.select("a")]
    assert len(links) == 2 and all((html / link.removeprefix(address)).is_file() for link in links)
    assert missing.select("script, img") == [] and "robots" in str(missing.head)
    assert [link["href"][:5] for link in missing.select("link")] == ["data:"]  # it loads nothing
