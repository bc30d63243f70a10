"""An ordering whose similarity is learned from the answers, field by field."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pandas as pd

from crowder import validation
from crowder.constraints import constrained, open_pairs, share_table
from crowder.engine import LOW, edge_ask
from crowder.orderings import Ordering
from crowder.pairs import Candidates
from crowder.practice.candidates import NearestPairs, cosine, fields_of, nearest_pairs, tfidf
from crowder.validation import Seed

__all__ = ["LearnedOrdering", "features"]

#: The similarity is learned anew after so many answers, or this share of the answers if that is more.
STEP, SHARE = 10, 0.05

#: Among the first answers, this share of the questions is drawn at random, in favour of similar pairs.
FIRST, AT_RANDOM = 300, 0.2


def identical_pairs(columns: dict[str, list[str]], tables: np.ndarray | None) -> np.ndarray:
    """The first record of each text with each other one, (k, 2); not if a text is twice in a table."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for record, text in enumerate(zip(*columns.values(), strict=True)):
        if any(text):
            groups.setdefault(text, []).append(record)
    found = [group for group in groups.values()
             if len(group) > 1 and (tables is None or len(set(tables[group].tolist())) == len(group))]  # fmt: skip
    return np.array([(group[0], other) for group in found for other in group[1:]], np.int64).reshape(-1, 2)


def features(columns: dict[str, list[str]], near: NearestPairs) -> np.ndarray:
    """What the similarity is learned from: an array (m, p) of numbers for each candidate pair."""
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import JaroWinkler

    i, j = near.pairs[:, 0], near.pairs[:, 1]
    made = [near.words, near.characters, near.words**2, near.characters**2]
    for texts in columns.values():
        text = np.array(texts, object)
        a, b = text[i], text[j]
        empty = np.array([not one for one in texts])
        none = empty[i] | empty[j]
        for scorer, most in ((fuzz.token_set_ratio, 100.0), (JaroWinkler.similarity, 1.0)):
            found = np.where(none, 0.0, process.cpdist(a, b, scorer=scorer, dtype=np.float64, workers=-1) / most)
            made += [found, found**2]
        word = np.where(none, 0.0, cosine(tfidf(texts, "word"), near.pairs))
        made += [word, none.astype(float), (a == b) & ~none]
        number = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(float)
        if np.isfinite(number).sum() > 0.5 * (~empty).sum() > 0:
            x, y = number[i], number[j]
            with np.errstate(invalid="ignore", divide="ignore"):
                apart = np.abs(x - y) / np.maximum(np.abs(x), np.abs(y))
            made += [np.where(np.isfinite(apart), 1 - np.minimum(apart, 2.0) / 2, np.where(x == y, 1.0, 0.0))]
    return np.column_stack(made).astype(np.float64)


class LearnedOrdering(Ordering):
    """Ask where a match is likely by what the answers so far have taught.

    Parameters
    ----------
    records : DataFrame
        A column for each field, as of `crowder.practice.read_records`; ``id`` and ``label`` are not compared.
    table : str, optional, keyword only
        A column that names the table of each record. Two records of one table never match.
    accept : bool, keyword only
        Whether pairs that the learned similarity is sure of are accepted or rejected without a question.
    identical : bool, keyword only
        Whether records with the same text in all fields are known to match.
    fields : sequence of str, optional, keyword only
        Columns to compare; by default all except ``id``, ``label`` and `table`.
    pairs : NearestPairs, optional, keyword only
        Candidates that `crowder.practice.candidates.nearest_pairs` found before for these records.
    rng : int or numpy.random.Generator, keyword only
        Draws some of the first questions, and breaks ties.
    """

    def __init__(
        self,
        records: pd.DataFrame,
        *,
        table: str | None = None,
        accept: bool = False,
        identical: bool = True,
        fields: Sequence[str] | None = None,
        pairs: NearestPairs | None = None,
        rng: Seed,
    ) -> None:
        if validation.flag(accept, "accept"):
            raise NotImplementedError("accept=True is not there yet")
        self.accept = accept
        generator = validation.generator(rng, "the first questions")
        columns = fields_of(records, fields, table)
        near = nearest_pairs(records, fields=fields, table=table) if pairs is None else pairs
        known = identical_pairs(columns, near.tables) if validation.flag(identical, "identical") else []
        made: Candidates = near.candidates
        if len(known):
            made = constrained(made, known=(known, np.ones(len(known), bool)), tables=near.tables)
        self._begin(replace(made))
        self.features = features(columns, near)
        self._key = int(generator.integers(2**63))
        self._draws = np.random.default_rng(self._key)
        self._codes = near.candidates.listed()[1]
        self._at = {int(code): at for at, code in enumerate(self._codes)}
        self._ties = self._draws.permutation(len(self._codes))
        self._answered: dict[int, list[int]] = {}  # a pair's place, and how many said no and yes
        self._unsure: set[int] = set()
        self._given = 0  # answers in all
        self._learn_at = 0
        #: The probability of a match, by what has been learned; before, the similarity. Shape (m,).
        self.probability = near.similarity.copy()
        self._queue, self._next = np.empty(0, np.int64), np.zeros(1, np.int64)

    def decided_by(self) -> tuple[np.ndarray, ...]:
        return (np.array([self._key]), np.array([self.accept]), self.features)

    # --- answers ------------------------------------------------------------------------------------------------------

    def learn(self, pair: tuple[int, int], same: bool | None) -> None:
        """Record an answer obtained elsewhere. Unsure (None) leaves the pair open, and it is not asked about again.

        An answer against what earlier answers imply changes no cluster, but the similarity learns from it.
        """
        i, j = self._two(pair)
        self._note(i, j, same)
        if same is not None:
            super().learn(pair, same)

    def tell(self, pair: tuple[int, int], same: bool | None) -> None:
        """Record the answer to the open question. Unsure (None) leaves the pair open, and it is not asked about
        again."""
        if same is None and self._pending is not None and self._is_open(pair):
            self._note(*self._pending, None)
            self._pending = None
        else:
            super().tell(pair, same)
            self._note(*self._two(pair), same)

    def _note(self, i: int, j: int, same: bool | None) -> None:
        code = min(i, j) << 32 | max(i, j)
        if same is None:
            self._unsure.add(code)
        elif code in self._at:
            self._answered.setdefault(self._at[code], [0, 0])[bool(same)] += 1
            self._given += 1

    # --- questions ----------------------------------------------------------------------------------------------------

    def next_question(self) -> tuple[int, int] | None:
        self._refresh()
        known = self._knowledge
        while (code := int(edge_ask(self._queue, self._next, known.component, known.table))) != -1:
            if code not in self._unsure:
                return code >> 32, code & LOW
            self._next[0] += 1
        return None

    def batch(self, n: int) -> list[tuple[int, int]]:
        """The next n questions to ask in parallel, as pairs of record numbers; fewer only if the answers expected to
        them would settle every other candidate pair."""
        validation.whole(n, "n, the number of questions,", least=1)
        self._refresh()
        ahead, at, chosen = deepcopy(self._knowledge), self._next.copy(), list[tuple[int, int]]()
        shadow = deepcopy(self)
        while len(chosen) < n:
            ahead = shadow._knowledge
            code = int(edge_ask(self._queue, at, ahead.component, ahead.table))
            if code == -1:
                break
            at[0] += 1
            i, j = code >> 32, code & LOW
            if code in self._unsure or share_table(ahead.ring, self._candidates.tables, i, j):
                continue
            chosen.append((i, j))
            shadow._learn(i, j, bool(self.probability[self._at[code]] > 0.5))
        return chosen

    def _refresh(self) -> None:
        """Learn from the answers, if there are enough new ones, and order the open pairs."""
        if self._given < self._learn_at:
            return
        self._learn_at = self._given + max(STEP, int(SHARE * self._given))
        self._fit()
        open_ = np.isin(self._codes, open_pairs(self._codes, self._knowledge, self._candidates.tables))
        left = np.flatnonzero(open_)
        left = left[np.lexsort([self._ties[left], -self.probability[left]])]
        if self._given < FIRST and len(left):
            rng = np.random.default_rng([self._key, self._given])
            step = self._learn_at - self._given
            weight = self.candidates_similarity[left] ** 2
            few = min(int(round(AT_RANDOM * step)), int((weight > 0).sum()))
            drawn = rng.choice(left, few, replace=False, p=weight / weight.sum()) if few else left[:0]
            left = np.concatenate([drawn, left[~np.isin(left, drawn)]])
        self._queue, self._next = self._codes[left], np.zeros(1, np.int64)

    @property
    def candidates_similarity(self) -> np.ndarray:
        """The similarity of each candidate pair before any answer."""
        return self._candidates.listed()[0]

    def _fit(self) -> None:
        places = np.array(list(self._answered), np.int64)
        counts = np.array(list(self._answered.values())).reshape(-1, 2)
        if not len(places) or not counts.sum(axis=0).all():
            return
        from sklearn.linear_model import LogisticRegression

        mean, spread = self.features.mean(axis=0), self.features.std(axis=0)
        scaled = (self.features - mean) / np.where(spread > 0, spread, 1.0)
        rows = np.r_[places, places]
        target = np.r_[np.zeros(len(places)), np.ones(len(places))]
        weight = np.r_[counts[:, 0], counts[:, 1]].astype(float)
        kept = weight > 0
        model = LogisticRegression(C=1.0, max_iter=1000)
        model.fit(scaled[rows[kept]], target[kept], sample_weight=weight[kept])
        self.probability = model.predict_proba(scaled)[:, 1]
