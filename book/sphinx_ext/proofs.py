"""A proof of the class `dropdown` is folded without a script, and opens where a link leads into it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes


def fold(app: Any, doctree: nodes.document, docname: str) -> None:
    for proof in list(doctree.findall(nodes.admonition)):
        if "proof" not in proof["classes"]:
            continue
        proof["ids"] = []  # the same on every proof
        if "dropdown" in proof["classes"]:
            _without_its_name(proof)
            start = nodes.raw("", '<details class="proof"><summary>Proof</summary>', format="html")
            parent, end = proof.parent, nodes.raw("", "</details>", format="html")
            place = parent.index(proof)
            # Not by `replace_self`, which gives the first of them the classes of the proof, and so a box of its own.
            parent[place : place + 1] = [start, *proof.children, end]


def _without_its_name(proof: nodes.Element) -> None:
    """Take the word "Proof." away from the start of the text, where the summary says it."""
    for text in proof.findall(nodes.Text):
        if found := re.match(r"Proof\.\s+", text):
            text.parent.replace(text, nodes.Text(text[found.end() :]))
        break


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-resolved", fold)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
