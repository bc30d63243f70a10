"""Published pages keep the earlier versions beside them, and each page lists the others."""

import json
import re
import zipfile
from pathlib import Path

import pytest

from book.build import versions

PAGE = '<!DOCTYPE html><html><body>{text}<footer><span class="versions"></span></footer></body></html>'


def site(folder: Path, **pages: str) -> Path:
    for name, text in {"index": "home", **pages}.items():
        path = folder / f"{name.replace('__', '/')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(text=text))
    return folder


def packed(folder: Path, number: str, **pages: str) -> None:
    """A release as `book.build.release` packs it."""
    folder.mkdir(exist_ok=True)
    name = f"crowder-{number}-html"
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        for path in site(folder.parent / name, **pages).rglob("*.html"):
            archive.write(path, f"{name}/{path.relative_to(folder.parent / name)}")
        archive.writestr(f"{name}/asking-the-crowd.pdf", "large")


@pytest.fixture
def published(tmp_path):
    for number in ("1.0.0", "1.0.2", "1.10.0", "2.0.0"):
        packed(tmp_path / "earlier" / "", number, notebooks__one=f"one of {number}")
    html = site(tmp_path / "html", notebooks__one="one", notebooks__new="new")
    assert versions.main(["--html", str(html), "--earlier", str(tmp_path / "earlier")]) == 0
    return html


def test_the_last_patch_of_each_version_is_kept(published):
    listed = [entry["version"] for entry in json.loads((published / "versions.json").read_text())]
    assert listed == ["the latest", "v2.0", "v1.10", "v1.0"]
    assert "one of 1.0.2" in (published / "v1.0" / "notebooks" / "one.html").read_text()
    assert "one of 1.10.0" in (published / "v1.10" / "notebooks" / "one.html").read_text()
    assert not list(published.rglob("*.pdf")) and not list(published.glob(".version-*"))


def test_each_page_leads_to_the_same_page_of_the_others(published):
    for path in published.rglob("*.html"):
        links = re.findall(r'<a href="([^"]*)">([^<]*)</a>', path.read_text())
        assert len(links) == 3, path
        for target, _ in links:
            assert (path.parent / target).resolve().is_file(), (path, target)
    assert 'href="../v1.0/notebooks/one.html"' in (published / "notebooks" / "one.html").read_text()
    assert 'href="../v1.0/index.html"' in (published / "notebooks" / "new.html").read_text()
    assert 'href="../../notebooks/one.html">the latest' in (published / "v2.0" / "notebooks" / "one.html").read_text()


def test_publishing_again_changes_nothing(published, tmp_path):
    before = {path: path.read_bytes() for path in published.rglob("*") if path.is_file()}
    assert versions.main(["--html", str(published), "--earlier", str(tmp_path / "earlier")]) == 0
    assert before == {path: path.read_bytes() for path in published.rglob("*") if path.is_file()}


def test_without_releases_there_is_one_version(tmp_path):
    html = site(tmp_path / "html")
    (tmp_path / "earlier").mkdir()
    assert versions.add(html, tmp_path / "earlier") == []
    assert (html / "index.html").read_text() == PAGE.format(text="home")


def test_what_cannot_be_published_is_an_error(tmp_path, capsys):
    html = site(tmp_path / "html")
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "crowder-1.0.0-html.zip").write_bytes(b"not an archive")
    assert versions.main(["--html", str(html), "--earlier", str(tmp_path / "earlier")]) == 1
    assert versions.main(["--html", str(tmp_path / "nothing"), "--earlier", str(tmp_path)]) == 1
    assert "zip file" in (said := capsys.readouterr().err) and "run `make book` first" in said
