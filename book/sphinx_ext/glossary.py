"""Link the first mention of each glossary term on a chapter's page to its definition, shown when hovered over.

Chapters do not mark their terms: the terms of book/pages/notation.md are found in running text, but not in headings,
captions, code, formulas or links.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx import addnodes

PAGE = "book/pages/notation"

# Nodes whose text is not running text.
_NOT_TEXT = (nodes.title, nodes.reference, nodes.literal, nodes.literal_block, nodes.math, nodes.caption, nodes.table,
             nodes.emphasis, nodes.rubric, addnodes.pending_xref)  # fmt: skip


def explanations(env: Any) -> dict[str, tuple[str, str]]:
    """Term -> anchor and definition, from the glossary."""
    found = {}
    for item in env.get_doctree(PAGE).findall(nodes.definition_list_item):
        term, definition = item.next_node(nodes.term), item.next_node(nodes.definition)
        if term is not None and term.get("ids"):
            found[term.astext()] = (term["ids"][0], _plain(definition.astext()))
    return found


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\\(\w+)", r"\1", text).split())


def pattern(term: str) -> re.Pattern[str]:
    """A pattern for the term as a separate word, singular or plural.

    Examples
    --------
    >>> [bool(pattern("match").search(text)) for text in ("two matches", "a non-match", "matched", "Match it")]
    [True, False, False, True]
    """
    plural = "(?:es)?" if re.search("(?:ch|s)$", term) else "s?"
    return re.compile(rf"(?<![\w-]){re.escape(term)}{plural}(?![\w-])", re.IGNORECASE)


def link_first_mentions(app: Any, doctree: nodes.document, docname: str) -> None:
    if not docname.startswith("notebooks/") or PAGE not in app.env.found_docs:
        return
    terms = explanations(app.env)
    # Longer terms first, so that no term is matched inside another.
    for term in sorted(terms, key=len, reverse=True):
        anchor, explanation = terms[term]
        wanted = pattern(term)
        for text in list(doctree.findall(nodes.Text)):
            if not _running(text):
                continue
            if hit := wanted.search(text):
                uri = app.builder.get_relative_uri(docname, PAGE) + f"#{anchor}"
                link = nodes.reference("", hit[0], internal=True, refuri=uri, reftitle=explanation, classes=["term"])
                before, after = text[: hit.start()], text[hit.end() :]
                text.parent.replace(text, [nodes.Text(before), link, nodes.Text(after)])
                break


def _running(text: nodes.Text) -> bool:
    node, paragraph = text.parent, False
    while node is not None:
        if isinstance(node, _NOT_TEXT) or "claim" in node.get("classes", []):
            return False
        paragraph = paragraph or isinstance(node, nodes.paragraph)
        node = node.parent
    return paragraph


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-resolved", link_first_mentions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
