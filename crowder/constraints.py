"""What is known before the first question: answers to some pairs, and tables of which no two records match.

Of records from several tables without duplicates, two of one table never match. Nor do two clusters that have records
of one table, so a question about them is not asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from crowder import engine, validation
from crowder.engine import ASKED, ELSEWHERE, LOW, Knowledge, learn, learned, no_knowledge, settled

if TYPE_CHECKING:
    from crowder.pairs import Candidates

__all__ = ["constrained", "first_knowledge", "open_pairs", "share_table"]


def constrained(pairs: Candidates, known: Any = None, tables: Any = None) -> Candidates:
    """The same candidate pairs, with answers that are known before any question, or tables without duplicates.

    `known` are pairs of records (k, 2), which need not be candidates, and whether they match (k,); `tables` is the
    table of each record (n,), of which no two records match. A ValueError if the arguments are not of that form, or
    the answers contradict one another or the tables.

    Examples
    --------
    Record 2 matches 0, so it does not match 1, which stands in the same table as 0:

    >>> from crowder import EdgeOrdering
    >>> from crowder.pairs import candidates
    >>> pairs = constrained(candidates([0.4, 0.9, 0.8]), tables=["a", "a", "b"])
    >>> EdgeOrdering(pairs, rng=7).run(lambda i, j: True).queries
    array([[0, 2]])
    """
    if known is not None:
        if not isinstance(known, (tuple, list)) or len(known) != 2:
            raise TypeError(f"known must be two arrays, pairs of records and answers, not {known!r}")
        listed = validation.pairs(known[0], pairs.n, "known").copy()
        known = listed, validation.flags(known[1], len(listed), "known answers").copy()
    made = replace(pairs, known=known, tables=None if tables is None else validation.labels(tables, pairs.n))
    _, row = first_knowledge(made)
    if known is not None and row is not None:
        raise ValueError(f"known: row {row}, {tuple(known[0][row].tolist())}, contradicts earlier rows or the tables")
    return made


def first_knowledge(pairs: Candidates) -> tuple[Knowledge, int | None]:
    """What the known answers imply, and the row of the first that contradicts earlier ones or the tables, or None.

    What only the tables imply is not in it: `share_table` tells.
    """
    known = no_knowledge(pairs.n)
    about, answers = ([], []) if pairs.known is None else (part.tolist() for part in pairs.known)
    for row, ((i, j), same) in enumerate(zip(about, answers, strict=True)):
        joined = bool(known.component[i] == known.component[j])
        if joined or settled(known.component, known.table, i, j) or share_table(known.ring, pairs.tables, i, j):
            if joined != same:
                return known, row
        elif not learned(tuple(known), i, j, same):
            known = learn(known, i, j, same)
    known.count[ASKED], known.count[ELSEWHERE] = 0, len(about) > 0  # these were no questions
    return known, None


def share_table(ring: np.ndarray, tables: np.ndarray | None, i: int, j: int) -> bool:
    """Whether the components of i and j have records of one table, and so are different; `ring` is of a `Knowledge`."""
    return tables is not None and _share_table(ring, tables, i, j)


@njit(cache=True)
def _share_table(ring, tables, i, j):
    u = i
    while True:
        v = j
        while True:
            if tables[u] == tables[v]:
                return True
            v = np.int64(ring[v])
            if v == j:
                break
        u = np.int64(ring[u])
        if u == i:
            return False


def open_pairs(codes: np.ndarray, known: Knowledge, tables: np.ndarray | None) -> np.ndarray:
    """The pairs, packed, of which neither the answers nor the tables imply the answer, in the same order."""
    codes = engine.open_pairs(codes, known.component, known.table)
    return codes if tables is None else codes[~_sharing(known.ring, tables, codes)]


@njit(cache=True)
def _sharing(ring, tables, codes):
    return np.array([_share_table(ring, tables, code >> 32, code & LOW) for code in codes], np.bool_)
