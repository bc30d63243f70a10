"""What a notebook imports beside `crowder`: figures, tables, numbers for the prose.

A chapter's claims come from its module of `book.claims`; charts, the paper's printed numbers and the like are imported
by name (``from book.companion import published``), so that a chapter depends on what it uses and on nothing else.
"""

from book.companion.figures import show as figure
from book.companion.figures import table, use_style
from book.companion.results import glue, uses

__all__ = ["figure", "glue", "table", "use_style", "uses"]
