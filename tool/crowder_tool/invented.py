"""Invented people: labelled records on which to try the tool."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase

import numpy as np
import pandas as pd

from crowder import checks
from crowder.checks import Seed
from crowder.resolution import cluster_sizes

__all__ = ["people"]

FIRST = """Agnes Alfred Amara Anton Beatrix Bilal Bruno Carla Cedric Chiara Dalia Dmitri Edith Emil Esther Farid Fiona
Gideon Greta Hamza Hanna Henrik Ida Ines Ivan Jasmin Jonas Julia Karim Katrin Kofi Laura Leon Lucia Magnus
Malik Marta Mina Nadia Nils Olga Omar Paula Pavel Quentin Rania Robert Rosa Samuel Selma Simon Tamara Theo
Ursula Viktor Wanda Yara Yusuf""".split()

LAST = """Abbott Adler Almeida Andersen Baker Baptiste Becker Bianchi Castro Chandra Collins Costa Dahl Demir Dubois
Eriksen Fischer Fontaine Garcia Gruber Haddad Hansen Hoffman Ibrahim Ivanova Jensen Kaplan Keller Khan
Kowalski Larsen Lehmann Lopez Marino Meyer Moreau Nakamura Novak Okafor Olsen Pereira Petrov Quinn Ramos
Rossi Sato Schmidt Silva Tanaka Torres Ueda Varga Vogel Weber Winter Yilmaz Young Zeman""".split()

STREETS = """Acorn Bridge Castle Chapel Church Elm Forest Garden Harbour High Hill King Lake Lime Market Meadow Mill Oak
Orchard Park Queen River School Spring Station Sunset Temple Tower Valley Victoria Water Willow""".split()

CITIES = "Arden Brookfield Clayton Dunmore Eastwick Fairview Greystone Hartwell Kingsport Linden Marlow Norwood".split()


def people(sizes: Sequence[int], *, mistakes: float = 1.0, rng: Seed) -> pd.DataFrame:
    """Records of invented people, labelled by person.

    Parameters
    ----------
    sizes : sequence of int
        Number of records of each person, at least 1.
    mistakes : float, keyword only
        Mean number of errors in a record: a typing error, an initial instead of a first name, another address, or an
        empty field.
    rng : int or numpy.random.Generator, keyword only

    Returns
    -------
    DataFrame
        Columns id, name, street, city, birth and label, all text; rows in random order.

    Raises
    ------
    ValueError
        If a size is not a positive integer, or `mistakes` is not from 0 to 100.

    See Also
    --------
    crowder_tool.LearnedOrdering : what to try on them.

    Notes
    -----
    O(n) for n records. Not in the paper, whose records are citations that may not be redistributed.

    Examples
    --------
    >>> people([2], rng=4)[["name", "city", "label"]].values.tolist()
    [['Paula Winter', 'Eastwick', 'p1'], ['Paula Winter', 'Norwood', 'p1']]
    """
    rng = checks.generator(rng, "people")
    mistakes = checks.number(mistakes, "mistakes", most=100)
    rows = []
    for person, size in enumerate(cluster_sizes(sizes).tolist(), 1):
        true = _person(rng)
        for _ in range(size):
            row = dict(true)
            for _ in range(rng.poisson(mistakes)):
                _mistake(row, rng)
            rows.append(row | {"label": f"p{person}"})
    order = rng.permutation(len(rows))
    return pd.DataFrame([{"id": f"r{number}"} | rows[i] for number, i in enumerate(order, 1)], dtype="str")


def _typo(text: str, rng: np.random.Generator) -> str:
    """The text with one typing error: a character replaced, dropped, doubled or swapped with the next."""
    at, kind = int(rng.integers(len(text))), int(rng.integers(4))
    if kind == 0:
        return text[:at] + _one(ascii_lowercase, rng) + text[at + 1 :]
    if kind == 1 and len(text) > 2:
        return text[:at] + text[at + 1 :]
    if kind == 2:
        return text[: at + 1] + text[at:]
    return text[:at] + text[at : at + 2][::-1] + text[at + 2 :]


def _person(rng: np.random.Generator) -> dict[str, str]:
    return {
        "name": f"{_one(FIRST, rng)} {_one(LAST, rng)}",
        "street": f"{rng.integers(1, 200)} {_one(STREETS, rng)} {_one(['Street', 'Road', 'Lane'], rng)}",
        "city": _one(CITIES, rng),
        "birth": f"{rng.integers(1935, 2005)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}",
    }


def _mistake(row: dict[str, str], rng: np.random.Generator) -> None:
    kind = rng.random()
    if kind < 0.15:
        first, _, rest = row["name"].partition(" ")
        row["name"] = f"{first[:1]}. {rest}"
    elif kind < 0.25:
        moved = _person(rng)
        row["street"], row["city"] = moved["street"], moved["city"]
    elif kind < 0.35:
        row[_one(["street", "city", "birth"], rng)] = ""
    else:
        field = _one(["name", "name", "street", "city", "birth"], rng)
        if row[field]:
            row[field] = _typo(row[field], rng)


def _one(words: Sequence[str], rng: np.random.Generator) -> str:
    return words[int(rng.integers(len(words)))]
