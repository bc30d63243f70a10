"""Material for the tables of bad input: the class of a row, invalid files, and short names."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from scipy import sparse

import crowder as cr
from crowder_tool import people


class Row(NamedTuple):
    """A call with bad input, the class of its error, and text that the message must contain."""

    call: Callable
    error: type[Exception]
    says: str


#: The folder for files; a test sets it.
PLACE = {"folder": None}

V = [0.9, 0.8, 0.1]  # similarities of three records
M = cr.dist1(0.2)
crowd = cr.Truth([0, 0, 1])
PEOPLE = people([3, 2, 2, 1], rng=7)[["id", "label", "name", "street", "city", "birth"]]


# --- files ------------------------------------------------------------------------------------------------------------


def folder():
    return tempfile.mkdtemp(prefix="bad-", dir=PLACE["folder"])


def new(name="answers.db"):
    """The path of a file that does not exist."""
    return os.path.join(folder(), name)


def file(name, content):
    path = Path(new(name))
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


# --- orderings, runs --------------------------------------------------------------------------------------------------


def pairs_of(*entries, n=3):
    i, j, w = zip(*entries, strict=True)
    return sparse.coo_array((w, (i, j)), shape=(n, n))


def edge():
    return cr.EdgeOrdering(V, rng=7)


def asking():
    """An ordering whose question (0, 1) is open."""
    ordering = edge()
    ordering.ask()
    return ordering


def done():
    return cr.Resolution([[0, 1]], [True], [0, 0, 1])
