r"""The Markdown of a chapter, which reads well in any viewer, and the MyST that Sphinx renders.

====================================================  ======================================================
in a chapter                                          is
====================================================  ======================================================
``<a id="sec-name"></a>`` before a heading            its label; that of the title of a chapter, ``<!-- ch-name -->``,
                                                      stands after it, or jupyterlab-myst would show the title twice
``<!-- theorem --><a id="thm-name"></a>``             a statement, up to ``<!-- end -->``; its first words are
``**Companion Theorem 5.2 (Its title).** Let ...``    its name and title, in bold
``<!-- proof -->`` or ``<!-- folded proof -->``       a proof, which begins with ``**Proof.**``
``<!-- answer -->``                                   a folded box, which begins with ``**Answer.**``
``<a id="eq-name"></a>``, and ``\tag{5.1}``           before an equation its label, and at its end its number
``[Theorem 5.2](05-edge.ipynb#thm-name)``             a link to a label of a chapter, or of this one (``#thm-name``)
``([refuted](#claim-c09))``                           a badge
``[[Wang et al., 2013](references.bib#wang2013)]``    a citation
====================================================  ======================================================

The words of links that have a number, and all numbers that are typed in heads and tags, are those that `words` finds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from book.project import BuildError
from book.text import numbers
from book.text.words import BIBLIOGRAPHY, COMMENT, HEADING, STATEMENT, TAG, TITLE, Place, ours

# Colons, because a caption on the line of the fence may contain backticks; longer than any inner fence.
FENCE = ":" * 9

_CODE = r"```.*?```|`[^`\n]*`"
_LINK = re.compile(rf"{_CODE}|\[(?P<words>(?:[^\[\]`]|`[^`]*`)*)\]\((?P<to>(?!\w+:)[^)\s]+)\)", re.DOTALL)
_LINK_IN_CODE = re.compile(r"\[(?P<words>[^\[\]]*)\]\((?P<to>[^()\s#]*#[\w-]+)\)")  # of a caption or a table
_CITED = re.compile(rf"\[(?:\[[^\[\]]*\]\([^)\s]*{BIBLIOGRAPHY.name}#[\w-]+\)(?:,\s+)?)+\]")
_BADGE = re.compile(r"\((\[[^\[\]]*\]\([^)\s]*#claim-\w+\))\)")  # in brackets, which a badge needs not
_KEY = re.compile(rf"{BIBLIOGRAPHY.name}#([\w-]+)")
_BOXES = {
    "answer": ("{admonition} Answer\n:class: dropdown\n", "**Answer.**"),
    "proof": ("{prf:proof}\n", "**Proof.**"),
    "folded proof": ("{prf:proof}\n:class: dropdown\n", "**Proof.**"),
}


class Page:
    """One chapter among all labels."""

    def __init__(self, path: Path, places: Mapping[str, Place]) -> None:
        self.path, self.places = path, places

    def corrected(self, text: str, *, code: bool = False) -> str:
        """The text with the words, numbers and targets that it should have. Code has links in the texts it writes."""
        for pattern in (_LINK_IN_CODE,) if code else (TAG, STATEMENT, _LINK):
            text = pattern.sub(self._right, text)
        return text

    def corrections(self, text: str, *, code: bool = False) -> Iterator[tuple[str, str]]:
        """What the text says and should say, where these differ."""
        for pattern in (_LINK_IN_CODE,) if code else (TAG, STATEMENT, _LINK):
            for found in pattern.finditer(text):
                said, right = (
                    " ".join(re.sub("<!--.*?-->", "", each).split()) for each in (found[0], self._right(found))
                )
                if said != right:
                    yield said, right

    def myst(self, text: str) -> str:
        """The text for Sphinx; its words are right."""
        return self.links(_blocks(numbers.plain(text)))

    def links(self, text: str) -> str:
        """The text with roles for its links."""
        return _LINK.sub(self._role, _BADGE.sub(r"\1", _CITED.sub(self._cited, text)))

    def alone(self, text: str, site: str) -> str:
        """The text for a notebook that is alone: links to other chapters, and to works, lead to the pages."""
        return _LINK.sub(lambda found: self._address(found, site), text)

    def _address(self, found: re.Match[str], site: str) -> str:
        path, _, label = (found["to"] or "").partition("#")
        if not path:
            return found[0]
        _, place = self._target(found["to"])
        page = "book/pages/bibliography.html" if place.kind == "work" else place.page.with_suffix(".html").as_posix()
        anchor = f"#{'equation-' * (place.kind == 'equation')}{label}" if label and place.kind != "work" else ""
        return f"[{found['words']}]({site}{page}{anchor})"

    def _place(self, label: str) -> Place:
        try:
            return self.places[label]
        except KeyError:
            raise BuildError(f"{self.path.stem}: nothing has the label {label}") from None

    def _target(self, to: str) -> tuple[str, Place]:
        """The label to which a link leads: that behind the #, or the file."""
        path, _, label = to.partition("#")
        label = label or Path(path).name
        return label, self._place(label)

    def _right(self, found: re.Match[str]) -> str:
        named = found.groupdict()
        if "number" in named:
            right = self._place(named["label"]).words[1:-1]
            return found[0].replace(f"\\tag{{{named['number']}}}", f"\\tag{{{right}}}", 1)
        if "head" in named:
            said = ours(named["head"])
            return found[0].replace(said, self._place(named["label"]).words, 1) if said else found[0]
        if named["to"] is None:
            return found[0]  # code
        label, place = self._target(named["to"])
        words, exact = " ".join(named["words"].split()), place.kind in ("equation", "claim", "work")
        year = place.words.rpartition(", ")[2]
        free = words in (place.words, year if place.kind == "work" else "") or not (exact or re.search(r"\d", words))
        path = "" if place.page == self.path else Path(os.path.relpath(place.page, self.path.parent)).as_posix()
        to = path if label == place.page.name else f"{path}#{label}"
        return f"[{named['words'] if free else place.words}]({to})"

    def _role(self, found: re.Match[str]) -> str:
        if found["to"] is None:
            return found[0]
        label, place = self._target(found["to"])
        words = " ".join(found["words"].split())
        if place.kind == "equation":
            return f"{{eq}}`{label}`"
        if place.kind == "claim":
            return f"{{claim}}`{label.removeprefix('claim-').upper()}`"
        if place.kind in ("chapter", "section", "page"):
            named = place._replace(words=words)
            titles = (name for name, other in self.places.items() if other == named and name != place.page.name)
            if title := next(titles, ""):  # a title may have formulas, which the words of a role may not
                return f"{{ref}}`{title}`"
            if label == place.page.name:
                return f"{{doc}}`{words} </{place.page.with_suffix('').as_posix()}>`"
            return f"{{ref}}`{words} <{label}>`"
        role = "numref" if place.kind in ("figure", "table") else "prf:ref"
        return f"{{{role}}}`{label}`" if words == place.words else f"{{{role}}}`{words} <{label}>`"

    def _cited(self, found: re.Match[str]) -> str:
        """A citation in brackets; if these have the year alone, the authors stand before."""
        keys = _KEY.findall(found[0])
        authors, _, year = self._place(keys[0]).words.rpartition(", ")
        if not found[0].startswith(f"[[{year}]"):
            return f"{{cite:p}}`{','.join(keys)}`"
        if not found.string[: found.start()].rstrip().endswith(authors):
            raise BuildError(f"{self.path.stem}: before the year, {found[0]}, stand no authors {authors}")
        return f"{{cite:yearpar}}`{keys[0]}`"


def _blocks(text: str) -> str:
    """The text with directives for its blocks, and labels before headings and after equations."""
    text = TITLE.sub(r"(\g<label>)=\n# \g<title>", text)
    text = HEADING.sub(r"(\g<label>)=\n\g<level> \g<title>", text)
    text = TAG.sub(r"\g<formula>\g<end> (\g<label>)", text)
    text = STATEMENT.sub(_statement, text)
    for kind, (directive, head) in _BOXES.items():
        text = re.sub(rf"^<!-- {kind} -->\n+{re.escape(head)}\s", f"{FENCE}{directive}\n", text, flags=re.MULTILINE)
    text = text.replace("<!-- end -->", FENCE)
    if left := COMMENT.search(text):
        raise BuildError(f"<!-- {left[1]} --> begins nothing that is known: {text[left.end() :].strip()[:60]}")
    return text


def _statement(found: re.Match[str]) -> str:
    own = ours(found["head"])
    title = found["head"].removeprefix(own).strip()
    title = title[1:-1] if own and title else title
    options = f":label: {found['label']}\n" + ("" if own else ":nonumber:\n")
    return f"{FENCE}{{prf:{found['kind']}}} {' '.join(title.split())}\n{options}\n"
