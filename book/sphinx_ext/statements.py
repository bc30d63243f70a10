"""Titles and numbers of statements and chapters, with the paper's numbers and ours kept apart; and folded proofs.

::

    :::{prf:theorem} A title
    :label: thm-a
    :::                            Companion Theorem 5.2 (A title); {prf:ref}`thm-a` reads "Companion Theorem 5.2"

    :::{prf:theorem} Theorem 2 of the paper (edge ordering)
    :label: thm-b
    :nonumber:
    :::                            exactly this title; {prf:ref}`thm-b` reads "Theorem 2 of the paper"

    :::{prf:proof}
    :class: dropdown
    :::                            folded without a script; it opens where a link leads into it

Only what the paper also numbers is a *companion* to it: definitions, examples and algorithms of the paper have no
numbers, so "Definition 2.1" cannot be mistaken. Chapters and appendices have the number of their file, "8" or "A2", in
titles, in the navigation and in front of all other numbers.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.util import logging
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles as Collector
from sphinx_proof.domain import ProofDomain
from sphinx_proof.nodes import NODE_TYPES, get_node_number, unenumerable_node, visit_enumerable_node
from sphinx_proof.proof_type import PROOF_TYPES

from book.project import number_of
from book.text.words import name_of, numbered

logger = logging.getLogger(__name__)


def _naming(directive: type) -> type:
    """A directive for statements whose unnumbered ones have the name that their title gives them."""

    class Named(directive):
        def run(self) -> list[nodes.Node]:
            made = super().run()
            if "nonumber" not in self.options:
                return made
            title = self.arguments[0] if self.arguments else ""
            name = name_of(title)
            (statement,) = made
            heading = statement[0]
            words, _ = self.state.inline_text(title.removeprefix(name), self.lineno)
            heading.children.clear()
            heading["ids"].clear()  # that of the statement suffices
            heading += [nodes.inline(name, name, classes=["caption-number"]), *words]
            statement["title"] = title
            self.env.proof_list[statement["label"]]["name"] = name
            return made

    return Named


class NamedDomain(ProofDomain):
    """References to statements that read as their titles begin."""

    directives = ProofDomain.directives | {kind: _naming(directive) for kind, directive in PROOF_TYPES.items()}

    def resolve_xref(self, env, fromdocname, builder, typ, target, node, contnode):
        made = super().resolve_xref(env, fromdocname, builder, typ, target, node, contnode)
        if made is not None and contnode.astext() == target:
            known = env.proof_list[target]
            if "name" in known:
                words = known["name"]
            else:
                numbers = env.toc_fignumbers[known["docname"]][known["countertype"]][target]
                words = numbered(known["realtype"], ".".join(map(str, numbers)))
            made.children.clear()
            made += nodes.Text(words)
        return made


def leave_numbered(self: Any, node: nodes.Element) -> None:
    """Sphinx has written "theorem 5.2 " into the title."""
    number, kind = get_node_number(self, node, node["countertype"]), node["realtype"]
    written = self.body.index(f"{node['countertype']} {number} ")
    self.body[written] = f"{numbered(kind, number)} "
    self.body.append("</div>")


def leave_unnumbered(self: Any, node: nodes.Element) -> None:
    self.body.append("</div>")


def fold(app: Any, doctree: nodes.document, docname: str) -> None:
    """Fold the proofs of the class `dropdown`, with the word "Proof" in the line that is always there."""
    for content in doctree.findall(nodes.section):
        content["ids"] = [name for name in content["ids"] if name != "proof-content"]  # the same in every statement
    for proof in list(doctree.findall(nodes.admonition)):
        if "proof" not in proof["classes"]:
            continue
        proof["ids"] = []  # the same on every proof
        if "dropdown" in proof["classes"]:
            first = next(iter(proof.findall(nodes.Text)), nodes.Text(""))
            if found := re.match(r"Proof\.\s+", first):
                first.parent.replace(first, nodes.Text(first[found.end() :]))
            start = nodes.raw("", '<details class="proof"><summary>Proof</summary>', format="html")
            parent, end = proof.parent, nodes.raw("", "</details>", format="html")
            place = parent.index(proof)
            # Not by `replace_self`, which gives the first of them the classes of the proof, and so a box of its own.
            parent[place : place + 1] = [start, *proof.children, end]


def number_by_file(collector: Collector, env: Any) -> list[str]:
    """Let Sphinx count, in each part from 1, and put the number of the file in the first place."""
    changed = _count(collector, env)
    for page, numbers in env.toc_secnumbers.items():
        if name := number_of(page.rpartition("/")[2]):
            numbers |= {anchor: (name, *counted[1:]) for anchor, counted in numbers.items() if counted}
            for node in (env.titles[page], *env.tocs[page].findall(nodes.reference)):
                if node.get("secnumber"):
                    node["secnumber"] = [name, *node["secnumber"][1:]]
    return changed


_count = Collector.assign_section_numbers


def setup(app: Any) -> None:
    app.setup_extension("sphinx_proof")
    app.add_domain(NamedDomain, override=True)
    for kind in PROOF_TYPES:
        app.add_node(NODE_TYPES[kind], override=True, html=(visit_enumerable_node, leave_numbered))
    app.add_node(unenumerable_node, override=True, html=(visit_enumerable_node, leave_unnumbered))
    app.connect("doctree-resolved", fold)
    Collector.assign_section_numbers = number_by_file  # before Sphinx numbers the figures by section
