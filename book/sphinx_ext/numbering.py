"""Number chapters and appendices as their files are: "8" of 08-synthetic, "A2" of A2-edge-ordering.

The number stands in titles, in the navigation, and in front of the numbers of sections, figures, tables, theorems and
equations. It is the same on a page that is rendered alone.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles as Collector

from book.build.chapters import number_of

_count = Collector.assign_section_numbers


def assign(collector: Collector, env: Any) -> list[str]:
    """Let Sphinx count, in each part from 1, and put the number of the file in the first place."""
    changed = _count(collector, env)
    for page, numbers in env.toc_secnumbers.items():
        if name := number_of(page.rpartition("/")[2]):
            numbers |= {anchor: (name, *counted[1:]) for anchor, counted in numbers.items() if counted}
            for node in (env.titles[page], *env.tocs[page].findall(nodes.reference)):
                if node.get("secnumber"):
                    node["secnumber"] = [name, *node["secnumber"][1:]]
    return changed


def setup(app: Any) -> dict[str, bool]:
    Collector.assign_section_numbers = assign  # before Sphinx numbers the figures by section
    return {"parallel_read_safe": True, "parallel_write_safe": True}
