"""What the book claims: a module a chapter, a function a claim (see `book.companion.claims`).

`pytest book/claims` runs every function on its small defaults, without a notebook, and names the claims of a formula
that broke.
"""

from __future__ import annotations

import importlib
import pkgutil

from book.companion.claims import Claim

__all__ = ["load", "module_of"]


def load() -> dict[str, Claim]:
    """Identifier -> claim, of all modules, in the order of the identifiers.

    Raises
    ------
    ValueError
        If two modules have a claim of one identifier.
    """
    found: dict[str, Claim] = {}
    for info in pkgutil.iter_modules(__path__):
        if info.name.startswith(("test_", "conftest")):
            continue
        for claim in vars(importlib.import_module(f"{__name__}.{info.name}")).values():
            if isinstance(claim, Claim):
                if claim.id in found:
                    raise ValueError(f"{claim.id} is in {found[claim.id].module} and in {claim.module}")
                found[claim.id] = claim
    return dict(sorted(found.items(), key=lambda item: ("CEB".index(item[0][0]), int(item[0][1:]))))


def module_of(slug: str) -> str:
    """The module that has the claims of a chapter: its name without the number.

    Examples
    --------
    >>> module_of("05-edge-ordering")
    'edge_ordering'
    """
    return slug.partition("-")[2].replace("-", "_")
