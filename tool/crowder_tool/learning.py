"""An ordering whose similarity is learned from the answers, and which need not ask about pairs that it is sure of."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from itertools import islice
from math import nan

import numpy as np
import pandas as pd

from crowder import checks
from crowder.beyond.audit import Draws
from crowder.checks import Seed
from crowder.engine import Knowledge, edge_ask, open_pairs, settled
from crowder.pairs import unpack
from crowder_tool.candidates import (
    NearestPairs,
    TableCandidates,
    fields_of,
    kinds,
    nearest_pairs,
    pair_features,
    texts_of,
)
from crowder_tool.orderings import Certificate, OwnResolution, TableOrdering, packed

__all__ = ["Accepted", "LearnedOrdering"]

#: The similarity is learned anew after this many answers, or after this share of the answers if that is more.
STEP, SHARE = 10, 0.05

#: Of this many first answers, this share is about pairs drawn at random, with a preference for similar ones.
FIRST, AT_RANDOM = 200, 0.1

#: Regularisation of the logistic regression; the number of trees, after how many answers they join it, and for how many
#: of the likeliest pairs.
C, TREES, TREES_AFTER, LIKELIEST = 0.3, 60, 50, 10_000

#: Log-odds are rounded to this many decimals, and probabilities to twice as many, before they are compared: last digits
#: depend on the processor, and would choose the questions where pairs are alike.
DECIMALS = 6

#: With ``accept``, this precision and recall are certified, with this confidence.
TARGET, CONFIDENCE = 0.95, 0.95

#: With ``accept``, learning ends when, of this many answers in a row, at most this many were unexpected.
LAST, UNEXPECTED = 50, 2

#: After this many errors of one kind, an audit that expects more than it may find is broken off for more learning.
MANY_HITS = 3


@dataclass(frozen=True, repr=False)
class Accepted(Certificate):
    """A `Resolution` in which pairs were accepted without a question, and what an audit says of it.

    Attributes
    ----------
    accepted : ndarray of int64, shape (a, 2)
        Candidate pairs that are together in a cluster without an answer that says so.
    certified_precision, certified_recall : float or None
        Lower limits: of the candidate pairs put together, the share that match; and of those that match, the share put
        together. Both hold with probability .95 over the draws, on the conditions that `assumes` lists. None before the
        audit, if the crowd may err, if a table has duplicates, and if there are no candidate pairs.
    """

    accepted: np.ndarray = field(default_factory=lambda: np.empty((0, 2), np.int64))
    certified_precision: float | None = None
    certified_recall: float | None = None


class Urn:
    """Open pairs, packed, that were decided one way and are drawn without replacement. A hit was decided wrongly; the
    probability that `most` is ever too low is at most alpha."""

    def __init__(self, codes: np.ndarray, alpha: float, rng: np.random.Generator) -> None:
        self.codes, self.alpha = rng.permutation(codes), alpha
        self.drawn, self.draws = 0, Draws()

    @property
    def left(self) -> np.ndarray:
        """The pairs not drawn yet, in the order in which they will be."""
        return self.codes[self.drawn :]

    def show(self, hit: bool) -> None:
        """Take what is known of the next pair."""
        if hit:
            self.draws.hits += 1
        else:
            self.draws.add(self.draws.hits, len(self.left), 1)
        self.drawn += 1

    def most(self) -> int:
        """The largest number of hits in the urn, those drawn included, that is not rejected."""
        hits = self.draws.hits
        return self.draws.most(hits, hits + len(self.left) + 1, self.alpha)


class LearnedOrdering(TableOrdering):
    """Ask where a match is likely, judging by the answers so far.

    Parameters
    ----------
    records : DataFrame
        A column for each field, as of `crowder_tool.read_records`; ``id`` and ``label`` are not compared.
    table : str, optional, keyword only
        A column that names the table of each record; two of one table never match.
    accept : bool, keyword only
        Whether pairs that the learned similarity is sure of are accepted or rejected without a question. Questions then
        go where it is not sure, and at last to pairs that an audit draws from both sides, until a precision and a
        recall of .95 are certified with confidence .95.
    pairs, features : NearestPairs and ndarray, optional, keyword only
        Candidates of these records (`crowder_tool.nearest_pairs`); and what their similarity is learned from, (m, p).
    rng : int or numpy.random.Generator, keyword only
        Draws some of the first questions, and the pairs of the audit; breaks ties.

    Attributes
    ----------
    probability : ndarray of float64, shape (m,)
        The learned probability of a match of each candidate pair; before there is any, the similarity.
    duplicates : list of (int, int)
        Pairs answered *same* though the tables exclude them.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or `pairs` or `features` are of other records.

    See Also
    --------
    crowder_tool.nearest_pairs : the candidate pairs, from which it chooses.
    crowder.beyond.Audit : without `accept`, certifies how many of the matches among them are found.

    Notes
    -----
    Logistic regression turns the features of a pair into the log-odds of a match; after some answers, those of the
    likeliest pairs are averaged with the log-odds of extremely randomised trees. It is learned anew after every ten
    answers, or every twentieth of them if that is more. The next question is about the likeliest open pair, where a yes
    settles as many pairs; otherwise about that with the largest product of both. With `accept`, it is about the pair
    nearest to even odds.

    A share of the questions explores: a tenth of the first 200 are drawn at random, and of the later ones a share that
    falls from a twentieth with the square root of their number is about pairs that are not expected to match: of each
    *kind* (which fields agree, and which are empty) the most similar by the cosines. With `accept`, so is another tenth
    of the first 200.

    That no two records of one table match is tried out: after a match, its *runner-up* is the most similar candidate
    pair that the tables alone exclude because of it. That of the first match is asked about at once, the others are
    about one in thirty questions, and come last. Those that match are `duplicates`, and nothing is certified then.

    About records with the same text a single question is asked first. Without `accept` a yes is taken for all records
    with this text, unless they are of two tables. A no is not taken for any other pair, but makes matches of them less
    likely.

    With `accept`, a decision about all open pairs is audited once few of the last answers were unexpected. Pairs
    accepted and pairs rejected are drawn without replacement, and the limits of `crowder.beyond.Audit` bound the errors
    among those not drawn. If too many are found it learns on, and audits a new decision; the permitted error of all
    audits together is .05. That takes about as many questions as an `Audit` of all matches, and more where answers are
    unsure: those count as errors. So `accept` saves most if the run is broken off before the audit.
    Learning takes a second or two for 200,000 pairs. Not in the paper.

    Examples
    --------
    >>> from crowder import Truth
    >>> from crowder_tool import people
    >>> records = people([3] * 10 + [1] * 20, rng=7)
    >>> ordering = LearnedOrdering(records, rng=7)
    >>> found = ordering.run(Truth(records["label"]))
    >>> len(set(found.clusters.tolist()))
    30
    """

    _candidates: TableCandidates

    def __init__(
        self,
        records: pd.DataFrame,
        *,
        table: str | None = None,
        accept: bool = False,
        pairs: NearestPairs | None = None,
        features: np.ndarray | None = None,
        rng: Seed,
    ) -> None:
        self.accept = checks.flag(accept, "accept")
        # The first number of a seed is an audit's, whose draws must not depend on how ties are broken here.
        self._key = int(checks.generator(rng, "the first questions").integers(2**63, size=2)[1])
        columns = fields_of(records, table)
        near = nearest_pairs(records, table=table) if pairs is None else pairs
        checks.kind(near, NearestPairs, "pairs must be NearestPairs, as of nearest_pairs(records)")
        if near.n != len(records):
            raise ValueError(f"pairs must be of these {len(records)} records, not of {near.n}")
        if features is None:
            features = pair_features(columns, near)
        elif getattr(features, "dtype", None) != np.float32:
            features = checks.numbers(features, "features")
        if features.ndim != 2 or len(features) != len(near.pairs):
            raise ValueError(f"features must have a row for each of the {len(near.pairs)} pairs, not {features.shape}")
        self._begin(near.candidates)
        self._similarity, self._codes = self._candidates.listed()
        self.probability = self._similarity.copy()
        some = features if len(features) else np.zeros((1, features.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            spread = some.std(axis=0)
            self._scaled = (features - some.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        if not np.isfinite(self._scaled).all():
            raise ValueError("features must be finite, and not so large that their squares are not")
        self._ties = np.random.default_rng(self._key).permutation(len(self._codes))
        self._answered: dict[int, list[int]] = {}  # the place of a pair, and how many said no and yes
        # The text of each record; the candidate pairs of one text, and the first of each text; and how often no and yes
        # was said of a text. One record in each of two tables is no repetition.
        self._text, (i, j) = texts_of(records, table), near.pairs.T
        repeated = np.bincount(self._text, minlength=1) > (1 if near.tables is None else 2)
        self._alike = np.flatnonzero((self._text[i] == self._text[j]) & repeated[self._text[i]])
        self._leads = self._alike[np.unique(self._text[i[self._alike]], return_index=True)[1]]
        self._of_text = np.zeros((2, len(repeated)), np.int64)
        self.implied: list[tuple[int, int, int]] = []  # as of an `OwnResolution`
        self._kind = kinds(columns, i, j)
        self._given, self._learn_at = 0, 0  # answers, and how many must be given to learn again
        self._queue = np.empty(0, np.int64)
        self._surprises: deque[bool] = deque(maxlen=LAST)
        # An audit of what was decided at one time: pairs accepted, pairs rejected.
        self._urns = list[Urn]()
        self._rounds, self._over = 0, False
        self._decided: np.ndarray | None = None  # the clusters, unless something has changed
        self._fitted = False

    # --- answers ------------------------------------------------------------------------------------------------------

    def learn(self, pair: tuple[int, int], same: bool | None) -> None:
        """Record an answer obtained elsewhere. Unsure (None) leaves the pair open; it is not asked about again.

        An answer against what earlier ones imply changes no cluster, but the similarity learns from it.
        """
        super().learn(pair, same)
        if same is not None:
            self._note(*self._two(pair), bool(same))

    def tell(self, pair: tuple[int, int], same: bool | None) -> None:
        """Record the answer to the open question, as `TableOrdering.tell`."""
        super().tell(pair, same)
        if same is not None:
            self._note(*self._two(pair), bool(same))

    def _note(self, i: int, j: int, same: bool) -> None:
        if not same and self._is_apart(i, j):  # a runner-up, chosen for what the tables exclude, is no fair example
            return
        code = packed(i, j)
        at = int(np.searchsorted(self._codes, code))
        if at < len(self._codes) and self._codes[at] == code:
            self._answered.setdefault(at, [0, 0])[same] += 1
            self._given += 1
            self._surprises.append(bool(self.probability[at] > 0.5) != same)
        if (text := self._text[i]) == self._text[j]:
            self._of_text[int(same), text] += 1
            # With `accept` these pairs are accepted as others are, so that the audit also draws from them.
            if not self.accept and self._candidates.tables is None and self._of_text[:, text].tolist() == [0, 1]:
                for other in np.flatnonzero(self._text == text).tolist():
                    if not self._settled(i, other):
                        self._imply(i, other)
                        self.implied.append((self.n_queries, i, other))
        if self._decided is not None and (self._decided[i] == self._decided[j]) != same:
            self._decided = None

    # --- questions ----------------------------------------------------------------------------------------------------

    def next_question(self) -> tuple[int, int] | None:
        return next(iter(self.batch(1)), None)

    def batch(self, n: int) -> list[tuple[int, int]]:
        """The next n questions to ask in parallel, as pairs of record numbers; fewer only if the answers expected to
        them leave nothing to ask."""
        n = checks.whole(n, "n, the number of questions,", least=1)
        if self._over:
            return []
        chosen = self._runners_due(n)
        if len(chosen) == n:
            return chosen
        if self.accept and not self._urns and len(self._surprises) == LAST and sum(self._surprises) <= UNEXPECTED:
            self._open_round()
        if self._urns:
            self._over = bool(self.duplicates)  # nothing could be certified
            drawn = [] if self._over else self._drawn(n - len(chosen))
            if drawn or self._over:
                return chosen + drawn
        self._refresh()
        chosen += self._from_queue(n - len(chosen))
        chosen += [pair for pair in self._runners(n) if pair not in chosen][: n - len(chosen)]
        if self.accept and not chosen:  # every pair has been asked about
            self._open_round()
            self._drawn(n)
            self._over = True
        return chosen

    def _from_queue(self, n: int) -> list[tuple[int, int]]:
        """The next pairs of the queue that are open if the answers to those before them are as expected."""
        ahead = self._knowledge if n == 1 else _copy(self._knowledge)
        at, chosen = np.zeros(1, np.int64), list[tuple[int, int]]()
        while (code := int(edge_ask(self._queue, at, ahead.component, ahead.table))) != -1:
            at[0] += 1
            if code not in self._unsure:
                chosen.append(unpack(code))
                if len(chosen) == n:
                    break
                expected = bool(self.probability[np.searchsorted(self._codes, code)] > 0.5)
                ahead = self._learned(ahead, *chosen[-1], expected)[0]
        return chosen

    def _refresh(self) -> None:
        """Learn from the answers if there are enough new ones, and put the open pairs in order."""
        if self._given < self._learn_at:
            return
        step = max(STEP, int(SHARE * self._given))
        self._learn_at = self._given + step
        self._fit()
        later = self._doubt_repeated_texts()
        left = np.searchsorted(self._codes, self._open_codes())
        key = np.abs(self.probability[left] - 0.5) if self.accept and self._fitted else -self._worth(left)
        left = left[np.lexsort([self._ties[left], key])]
        waiting = np.isin(left, later)
        left, waiting = left[~waiting], left[waiting]
        rng = np.random.default_rng([self._key, self._given])
        if self._given < FIRST and len(left):
            few = round((AT_RANDOM if self._fitted or not self.accept else 0.5) * step)
            weight = self._similarity[left] ** 2
            drawn = left[rng.permutation(len(left))[:few]] if not weight.any() else rng.choice(
                left, min(few, int((weight > 0).sum())), replace=False, p=weight / weight.sum())  # fmt: skip
            if self.accept and self._fitted:  # otherwise a kind of match may be rejected unseen
                drawn = np.union1d(drawn, self._unexpected(left, few))
            places = np.zeros(len(drawn), np.int64)
        else:
            drawn = self._unexpected(left, _explored(self._given + step) - _explored(self._given))
            places = np.sort(rng.integers(min(step, len(left) - len(drawn)) + 1, size=len(drawn)))
        rest = left[~np.isin(left, drawn)]
        self._queue = self._codes[np.concatenate([np.insert(rest, places, drawn), waiting])]

    def _worth(self, left: np.ndarray) -> np.ndarray:
        """The probability of a match, times the number of pairs that would then be settled: of the first pair with a
        text, all with this text, of others those of the two clusters. Where a no is expected, times its fourth root."""
        i, j = unpack(self._codes[left])
        size = np.bincount(self._knowledge.component)[self._knowledge.component]
        records = np.bincount(self._text)[self._text[i]]
        settles = np.where(np.isin(left, self._leads), records * (records - 1) // 2, size[i] * size[j])
        return self.probability[left] * np.where(self.probability[left] > 0.5, settles, settles**0.25)

    def _unexpected(self, left: np.ndarray, few: int) -> np.ndarray:
        """A few open pairs that are expected not to match: of each kind the most similar at first, of the kind with the
        largest product of this similarity and the share of matches among its answers, one more of each assumed."""
        doubted, value = left[self.probability[left] <= 0.5], self._similarity
        doubted = doubted[np.lexsort([self._ties[doubted], -value[doubted], self._kind[doubted]])]
        kind, at = np.unique(self._kind[doubted], return_index=True)
        end, drawn = np.append(at, len(doubted))[1:], list[int]()
        places, said = self._examples()
        no, yes = (np.bincount(self._kind[places], told, self._kind.max(initial=0) + 1)[kind] for told in said.T)
        while len(drawn) < few and (at < end).any():
            first = value[doubted[np.minimum(at, len(doubted) - 1)]]
            best = int(np.argmax(np.where(at < end, first * (yes + 1) / (no + yes + 2), -1.0)))
            drawn.append(int(doubted[at[best]]))
            at[best], no[best] = at[best] + 1, no[best] + 1
        return np.array(drawn, np.int64)

    def _doubt_repeated_texts(self) -> np.ndarray:
        """Believe that records with one text match only as far as answers have said so: those about this text if there
        is a no among them, otherwise those about all texts, each counted once, if more of these had a no than not.

        Returns the pairs that wait, because one question for each text comes first."""
        text = self._text[unpack(self._codes[self._alike])[0]]
        no, yes = self._of_text[:, text]
        mixed, pure = (self._of_text[0] > 0).sum(), ((self._of_text[1] > 0) & (self._of_text[0] == 0)).sum()
        others = 1.0 if pure + self._fitted > mixed else (pure + 1) / (mixed + pure + 2)
        most = np.where(no > 0, (yes + 1) / (no + yes + 2), np.where(yes > 0, 1.0, others))
        self.probability[self._alike] = np.minimum(self.probability[self._alike], most)
        return np.setdiff1d(self._alike[no + yes == 0], self._leads)

    def _examples(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of the pairs with answers, and how many said no and yes of each."""
        return np.array([*self._answered], np.int64), np.array([*self._answered.values()]).reshape(-1, 2)

    def _fit(self) -> None:
        """Learn the probabilities: logistic regression, and for the likeliest pairs the mean of its log-odds and those
        of extremely randomised trees."""
        places, said = self._examples()
        if not said.sum(axis=0).all():
            return
        from sklearn.ensemble import ExtraTreesClassifier
        from sklearn.linear_model import LogisticRegression

        which, same = np.nonzero(said)
        rows, weight = self._scaled[places[which]], said[which, same]
        # In double precision Newton's method converges in a few steps, as there are few features.
        line = LogisticRegression(C=C, solver="newton-cholesky").fit(rows.astype(float), same, sample_weight=weight)
        odds = np.clip(line.decision_function(self._scaled).astype(float), -9.0, 9.0).round(DECIMALS)
        if len(places) >= TREES_AFTER:
            top = np.union1d(*(np.argsort(-by, kind="stable")[:LIKELIEST] for by in (odds, self._similarity)))
            trees = ExtraTreesClassifier(TREES, min_samples_leaf=2, max_features=0.3, random_state=self._key % 2**32)
            share = trees.fit(rows, same, sample_weight=weight).predict_proba(self._scaled[top])[:, 1]
            share = np.clip(share, 1e-4, 1 - 1e-4)
            odds[top] = (odds[top] + np.log(share / (1 - share))) / 2
        self.probability = (1 / (1 + np.exp(-odds.round(DECIMALS)))).round(2 * DECIMALS)
        self._fitted, self._decided = True, None

    def _likely(self, at: np.ndarray) -> np.ndarray:
        return self.probability[at]

    def _open_codes(self) -> np.ndarray:
        """The candidate pairs of which the answer is not implied, packed."""
        return open_pairs(self._codes, self._knowledge.component, self._knowledge.table)

    @property
    def expected(self) -> float:
        """How many of the open candidate pairs match by the learned probabilities; NaN before anything was learned."""
        if not self._fitted:
            return nan
        return float(self.probability[np.searchsorted(self._codes, self._open_codes())].sum())

    @property
    def hoped(self) -> float:
        """How many matches are `expected` besides as many as if every open pair were like the least likely one."""
        return self.expected - float(self.probability.min(initial=1.0)) * len(self._open_codes())

    # --- accepting ----------------------------------------------------------------------------------------------------

    def _clusters(self) -> np.ndarray:
        """The clusters of answers and accepted pairs, the likeliest first, none against an answer or the tables."""
        if self._decided is None:
            known, order = _copy(self._knowledge), np.lexsort([self._ties, -self.probability])
            for code in self._codes[order[: int((self.probability > 0.5).sum()) if self._fitted else 0]].tolist():
                i, j = unpack(code)
                if not settled(known.component, known.table, i, j):
                    known = self._learned(known, i, j, True)[0]
            self._decided = known.component
        return self._decided

    def _together(self, codes: np.ndarray) -> np.ndarray:
        """Which pairs are together in a cluster."""
        group = self._clusters()
        i, j = unpack(codes)
        return group[i] == group[j]

    def _open(self) -> tuple[np.ndarray, np.ndarray]:
        """The open candidate pairs that are accepted, and those that are rejected."""
        codes = self._open_codes()
        together = self._together(codes)
        return codes[together], codes[~together]

    def _is_excluded(self, codes: np.ndarray) -> np.ndarray:
        """Of two tables: whether one of the records is accepted as the match of another one of the same table.

        If such a pair matches, a pair accepted is wrong; and each of those that are wrong excludes two matches at most.
        """
        tables, group = self._candidates.tables, self._clusters()
        if tables is None or tables.max(initial=0) > 1:
            return np.zeros(len(codes), bool)
        there = np.zeros((self.n, 2), bool)
        there[group, tables] = True
        i, j = unpack(codes)
        return (there[group[i]] & there[group[j]]).any(axis=1)

    def _open_round(self) -> None:
        """Decide about all open pairs by what has been learned so far, and begin to audit this decision."""
        self._learn_at = self._given
        self._refresh()
        self._rounds += 1
        rng = np.random.default_rng([self._key, self._rounds, 1])
        accepted, rejected = self._open()
        sides = accepted, rejected[~self._is_excluded(rejected)]
        error = (1 - CONFIDENCE) / (self._rounds * (self._rounds + 1))  # of all rounds: 1 - confidence
        pairs = max(1, sum(map(len, sides)))
        # Most of the error is allowed where most has to be drawn.
        self._urns = [Urn(codes, error * len(codes) / pairs, rng) for codes in sides]

    def _drawn(self, n: int) -> list[tuple[int, int]]:
        """The next draws that have to be asked about; none at the end, or if it is better to learn again."""
        for urn, right in zip(self._urns, (True, False), strict=True):
            while len(urn.left) and (hit := self._hit(int(urn.left[0]), right)) is not None:
                urn.show(hit)
        precision, recall = self._limits()
        if min(precision, recall) >= TARGET:
            self._over = True
        elif self._is_poor():
            self._urns = []
            self._surprises.clear()
        else:
            accepted, rejected = self._wrong()
            turned = precision >= TARGET and accepted <= rejected
            left = np.concatenate([urn.left for urn in self._urns[:: -1 if turned else 1]]).tolist()
            asked = (code for code in left if self._hit(code, True) is None)
            return [unpack(code) for code in islice(asked, n)]
        return []

    def _hit(self, code: int, right: bool) -> bool | None:
        """Whether a decision was wrong, if that is known; one about which somebody is unsure counts as wrong."""
        (i, j), component = unpack(code), self._knowledge.component
        if self._settled(i, j):
            return bool(component[i] == component[j]) != right
        return True if code in self._unsure else None

    def _wrong(self) -> tuple[int, int]:
        """Upper limits of the open pairs that are wrongly accepted, and of the matches that are rejected.

        In each urn at most the hits not drawn yet; and every pair that is decided otherwise than when the urns were
        filled, or about which somebody is unsure.
        """
        accepted, rejected = self._open()
        excluded = self._is_excluded(rejected)
        unsure, wrong = np.array([*self._unsure], np.int64), list[int]()
        for urn, codes in zip(self._urns, (accepted, rejected[~excluded]), strict=True):
            new = ~np.isin(codes, urn.codes) | np.isin(codes, unsure)
            wrong.append(urn.most() - urn.draws.hits + int(new.sum()))
        return wrong[0], min(len(rejected), wrong[1] + 2 * wrong[0] * bool(excluded.any()))

    def _limits(self) -> tuple[float, float]:
        """Lower limits of precision and recall of the clusters as they are now."""
        (accepted, rejected), together = self._wrong(), int(self._together(self._codes).sum())
        right = max(0, together - accepted)
        return right / together if together else 1.0, right / (right + rejected) if right + rejected else 1.0

    def _is_poor(self) -> bool:
        """Whether the errors drawn so far suggest more of them than the target allows."""
        allowed = (1 - TARGET) * int(self._together(self._codes).sum())
        return any(urn.draws.hits >= MANY_HITS and urn.draws.hits * len(urn.left) > allowed * urn.drawn
                   for urn in self._urns)  # fmt: skip

    @property
    def resolution(self) -> OwnResolution:
        """The clusters so far: of the answers, and with `accept` of the pairs accepted as well (`Accepted`)."""
        plain = super().resolution
        if not self.accept:
            return replace(plain, implied=[*self.implied])
        codes, limits = self._open()[0], (None, None)
        if self._urns and len(self._codes) and not (self.crowd_errs or self.duplicates):
            limits = self._limits()
        return Accepted(
            plain.queries, plain.answers, self._clusters(), np.column_stack(unpack(codes)), *limits,
            duplicates=plain.duplicates, candidates=len(self._codes), tables=self._tables is not None,
        )  # fmt: skip


def _explored(given: int) -> int:
    """How many of this many answers explore, after the first: a share that falls with the square root."""
    return int(AT_RANDOM * (FIRST * given) ** 0.5)


def _copy(known: Knowledge) -> Knowledge:
    return Knowledge(*(part.copy() for part in known))
