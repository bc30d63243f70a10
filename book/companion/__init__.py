"""What a notebook imports besides `crowder`: figures, tables, numbers for the prose.

The claims of a chapter come from its module in `book.claims`. Charts, the paper's printed numbers and the like are
imported one by one (``from book.companion import published``), so that a chapter depends only on what it uses.
"""

from book.companion.figures import show as figure
from book.companion.figures import table, use_style
from book.companion.results import glue, uses

__all__ = ["figure", "glue", "table", "use_style", "uses"]
