"""Tables without duplicates, held against the enumeration of all partitions of a few records; and unsure workers."""

import copy
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import crowder as cr
from crowder.pairs import unpack
from crowder_tool import LearnedOrdering, nearest_pairs, people
from crowder_tool.audit import Audit, ReplayedAudit
from crowder_tool.candidates import TableCandidates
from crowder_tool.orderings import RUNNERS_UP, OwnResolution
from crowder_tool.scored import ScoredOrdering

from .support import clusterings


def scored(rng):
    """Candidate pairs across tables with random scores, and all partitions that the tables allow."""
    n = int(rng.integers(2, 6))
    tables, pairs = rng.integers(0, rng.integers(1, 5), n), list(combinations(range(n), 2))
    kept = np.array([pair for pair in pairs if tables[pair[0]] != tables[pair[1]] and rng.random() < 0.8], np.int64)
    i, j = kept.reshape(-1, 2).T
    values = rng.integers(0, 4, len(i)) / 4
    possible = [p for p in clusterings(n) if all(p[i] != p[j] for i, j in pairs if tables[i] == tables[j])]
    made = TableCandidates(n, False, _values=values, _codes=i << 32 | j, tables=tables)
    return made, list(zip(i.tolist(), j.tolist(), strict=True)), possible


def both(possible, pair):
    """Whether the records may be the same, and may be different."""
    return len({bool(p[pair[0]] == p[pair[1]]) for p in possible}) == 2


@pytest.mark.parametrize("audited", [False, True])
def test_exactly_the_open_pairs_are_asked(audited):
    """The partitions that agree with the answers and the tables are enumerated: a question must have two possible
    answers, and at the end no candidate pair may have. Only one, the first match's runner-up, is excluded already."""
    rng, asked, implied, tried = np.random.default_rng(11), 0, 0, 0
    for _ in range(150):
        pairs, listed, allowed = scored(rng)
        for truth in [allowed[i] for i in rng.integers(len(allowed), size=5)]:
            ordering, possible = ScoredOrdering(pairs, rng=3), allowed
            ordering = Audit(ordering, recall=0.999, rng=3) if audited else ordering
            runners_up = 0
            while (pair := ordering.ask()) is not None:
                runners_up += not both(possible, pair)
                same = bool(truth[pair[0]] == truth[pair[1]])
                ordering.tell(pair, same)
                possible = [p for p in possible if (p[pair[0]] == p[pair[1]]) == same]
            assert not any(both(possible, other) for other in listed)
            result = ordering.resolution
            assert len(result.queries) == ordering.n_queries and runners_up <= 1 and not result.duplicates
            tried += runners_up
            assert all((result.clusters[i] == result.clusters[j]) == (truth[i] == truth[j]) for i, j in listed)
            asked, implied = asked + ordering.n_queries, implied + len(listed) - ordering.n_queries
            run = ScoredOrdering(pairs, rng=3).run(cr.Truth(truth))  # with a `Truth`, the same questions
            assert audited or run.queries.tolist() == result.queries.tolist()
    assert asked > 500 and implied > 100 and tried > 20


def test_a_match_sets_apart_what_shares_a_table_with_any_record_of_its_component():
    """Records 0 and 2 are of one table, and no candidate pair; the matches 0-1 and 2-3 imply the answer about 1, 3,
    which is then asked about as the runner-up."""
    codes, tables = np.array([1, 1 << 32 | 3, 2 << 32 | 3]), np.array([0, 1, 0, 2])
    pairs = TableCandidates(4, False, _values=np.array([0.9, 0.7, 0.8]), _codes=codes, tables=tables)
    ordering = ScoredOrdering(pairs, rng=3)
    ordering.learn((0, 1), True)
    assert not ordering.settled(1, 3)
    ordering.learn((2, 3), True)
    assert [unpack(code) for code in ordering._runners_up] == [ordering.ask()] == [(1, 3)]
    ordering.tell((1, 3), False)
    assert ordering.settled(1, 3) and ordering.ask() is None


def test_a_pair_of_which_the_crowd_is_unsure_stays_open():
    """The two other pairs of one entity are asked once each, and imply the answer; so does nothing for the singleton's
    pairs if the crowd is unsure of them all: they stay open, and the run ends."""
    codes, asked = np.array([i << 32 | j for i, j in combinations(range(4), 2)]), []

    def crowd(i, j):
        asked.append((min(i, j), max(i, j)))
        assert asked.count(asked[-1]) == 1, "asked again, and so for ever"
        return None if asked[-1] == (0, 1) or asked[-1][1] == 3 else True

    pairs = TableCandidates(4, True, _values=np.array([0.9, 0.8, 0.3, 0.7, 0.2, 0.1]), _codes=codes)
    assert ScoredOrdering(pairs, rng=1).run(crowd).clusters.tolist() == [0, 0, 0, 1]
    assert sorted(asked) == [unpack(code) for code in codes.tolist()]


# --- tables that have duplicates after all ----------------------------------------------------------------------------

#: Ann stands twice in file b, and nobody asks about the second time if the first implies that it is somebody else.
ANN = pd.DataFrame({"name": ["Ann Lee", "Bob Ray", "Ann Lee", "Anne Leigh", "Bob Ray"], "file": [*"aabbb"],
                    "city": ["Oslo", "Rome", "Oslo", "Oslo", "Rom"], "label": [0, 1, 0, 0, 1]})  # fmt: skip


def learned(records, **how):
    return LearnedOrdering(records, table="file", rng=7, **how)


def test_nothing_is_certified_if_a_table_has_duplicates():
    """However it is asked: one by one, side by side, or by an ordering that is made anew for each question."""
    crowd, near = cr.Truth(ANN["label"]), nearest_pairs(ANN, table="file")
    runs = [Audit(learned(ANN), rng=7), Audit(ScoredOrdering(near, rng=7), rng=7), learned(ANN, accept=True)]
    one, other, accepted = (run.run(crowd) for run in runs)
    assert (one.certified, one.reason, other.certified, other.reason) == (0, "duplicates") * 2
    assert accepted.certified_precision is None and accepted.certified_recall is None
    for found in (one, other, accepted):
        assert found.duplicates and all(crowd(*pair) and ANN["file"][pair[0]] != ANN["file"][pair[1]]
                                        for pair in found.duplicates)  # fmt: skip
        assert not ANN.assign(cluster=found.clusters).duplicated(["cluster", "file"]).any()
    audit = Audit(learned(ANN), rng=7)
    while pairs := audit.batch(10):
        for pair in pairs[::-1]:
            audit.learn(pair, crowd(*pair))
    assert audit.resolution.certified == 0 and audit.resolution.reason == "duplicates"
    answers = []
    for _ in range(10):
        anew = learned(ANN)
        for answer in answers:
            anew.learn(*answer)
        if not (pairs := anew.batch(1)):
            break
        answers += [(pair, crowd(*pair)) for pair in pairs]
    assert anew.duplicates
    replayed = ReplayedAudit(near, answers, [], [], rng=7)
    assert not replayed.certified and replayed.draws(1) == []


def test_a_yes_about_a_runner_up_counts_for_no_recall():
    """Two of three matches are established: a1-b1, a2-b3, but not that with b2, which the tables exclude."""
    found = learned(ANN).run(cr.Truth(ANN["label"]))
    assert found.clusters.tolist() == [0, 1, 0, 2, 1] and found.answers.sum() == 3
    assert found.recall(ANN["label"])[-1] == 2 / 4 and found.precision(ANN["label"])[-1] == 1
    again = copy.deepcopy(found)  # as another process gets it
    assert isinstance(again, OwnResolution) and again.duplicates == found.duplicates == [(0, 3)]


def test_runners_up_are_few_until_nothing_else_is_to_ask_and_no_answer_implies_one():
    """Of 60 people with a record in each of two or three files, every match excludes candidates. Without its tables,
    an ordering that is told the same answers has none of the questions settled, nor two with the same clusters."""
    records = people([3] * 30 + [2] * 30 + [1] * 20, mistakes=2, rng=5)
    records = records.assign(file=np.array([*"abc"])[records.groupby("label").cumcount()])
    near, crowd, tried, early = nearest_pairs(records, table="file"), cr.Truth(records["label"]), 0, True
    ordering, plain = learned(records, pairs=near), ScoredOrdering(replace(near, tables=None), rng=7)
    while pairs := ordering.batch(5):
        asked = plain.resolution.clusters[np.sort(pairs, axis=1)]
        assert len(np.unique(np.sort(asked, axis=1), axis=0)) == len(pairs)
        for pair in pairs:
            assert not ordering.settled(*pair) and not plain.settled(*pair)
        tried += sum(ordering._is_apart(*pair) for pair in pairs)
        early &= tried <= ordering.n_queries // RUNNERS_UP + 1 or len(ordering._from_queue(5)) < 5
        for pair in pairs:
            ordering.learn(pair, crowd(*pair))
            plain.learn(pair, crowd(*pair))
    assert early and 30 < tried <= ordering.resolution.n_matches and ordering.duplicates == []
    assert all(ordering.settled(*pair) for pair in near.pairs.tolist())


def test_an_unsure_answer_about_a_runner_up_is_an_answer():
    ordering = learned(ANN)
    ordering.learn((0, 2), True)
    assert ordering.batch(1) == [(0, 3)]
    ordering.learn((3, 0), None)
    assert (0, 3) not in ordering.batch(5) and not ordering.duplicates
