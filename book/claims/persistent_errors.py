"""Claims of the appendix *Persistent errors*."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import sympy as sp

import crowder as cr
from book.claims.faulty_crowd import LIMIT, ORDERINGS, RATES, patterns_agree
from book.companion.claims import agreement, also, cases, identity, of_chapter, says, simulation
from crowder.beyond.member_votes import MemberVote, prob_placed_correctly
from crowder.voting import majority_error

claim, check = of_chapter(__name__)


def _pattern(votes, wrong, p):
    """The probability of so many wrong votes."""
    return comb(votes, wrong) * p**wrong * (1 - p) ** (votes - wrong)


def _majority_of_even(votes, p):
    """The error of a majority of an even number of votes, with a coin for a tie."""
    half = votes // 2
    return sum(_pattern(votes, w, p) for w in range(half + 1, votes + 1)) + _pattern(votes, half, p) / 2


def best_test_error(members, p):
    """Error of the best test between two equally likely clusters: half the overlap of the distributions of all
    answers."""
    total = 0
    for yes in product([0, 1], repeat=2 * members):
        here = yes[:members].count(1) + yes[members:].count(0)  # answers in favour of the first cluster
        first, second = ((1 - p) ** a * p ** (2 * members - a) for a in (here, 2 * members - here))
        total += min(first, second) / 2
    return total


@claim("B93")
def members_count_as_independent_votes(members=3):
    rates = (Fraction(1, 10), Fraction(1, 4), Fraction(2, 5))
    tried = [(m, chance) for m in range(1, members + 1) for chance in rates]
    errors = [best_test_error(*case) for case in tried]
    ten = {5: "ten", 3: "six"}.get(members, 2 * members)
    p = sp.Symbol("p", positive=True)
    yield says(
        identity(
            f"a majority of $2m$ votes, a tie broken by a coin, is one of $2m - 1$: $m$ up to {members}, every $p$",
            *(_majority_of_even(2 * m, p) - sum(_pattern(2 * m - 1, w, p) for w in range(m, 2 * m))
              for m in range(1, members + 1)),
        ),
        f"For up to {members} members in each cluster, the best test is exactly as good as one independent vote less.",
    )  # fmt: skip
    yield also(
        agreement(
            f"the overlap of the two distributions over all patterns of up to {ten} answers, in fractions",
            errors,
            [majority_error(2 * m - 1, c) for m, c in tried],
        )
    )
    yield also(
        cases(
            "it is at least $p^{2m-1}$, hence positive",
            *(error >= c ** (2 * m - 1) > 0 for error, (m, c) in zip(errors, tried, strict=True)),
            where=f"three error rates, all $m$ up to {members}",
        )
    )
    yield also(patterns_agree())


def _transcript(data, kind, votes, stays, seed):
    """All questions, answers and clusters of a run in one list, its number of answers, and of questions."""
    crowd = cr.MajorityVote(cr.Faulty(cr.Truth(data.labels), 0.1, rng=seed, persistent=stays), votes)
    end = kind(data.similarity, rng=seed).run(crowd)
    return [*end.queries.ravel().tolist(), *end.answers.tolist(), *end.clusters.tolist()], crowd.asked, end.n_queries


@claim("B99")
def votes_do_not_help_against_persistent_errors(data=None, votes=9, seed=1):
    rng = np.random.default_rng(1)
    data = data or [cr.datasets.synthetic([6, 5, 4], cr.dist2(0.2), rng=rng, shuffle=True) for _ in range(2)]
    runs = [[_transcript(one, kind, r, True, seed) for r in (1, votes)] for one in data for kind in ORDERINGS.values()]
    persistent = cr.Faulty(cr.Truth([0] * 30), 0.3, rng=seed, persistent=True)
    same = [
        {persistent.vote(i, j, t) for t in range(votes)} | {persistent.vote(j, i, 0)}
        for i, j in combinations(range(30), 2)
    ]
    yield says(
        agreement(
            f"questions, answers and clusters with {votes} votes and with one, {len(runs)} runs",
            [x for _, many in runs for x in many[0]],
            [x for one, _ in runs for x in one[0]],
        ),
        f"In {len(runs)} pairs of runs, {votes} votes on each question lead to the same clusters as a single answer.",
    )
    yield agreement("the number of answers", [many[1] for _, many in runs], [votes * one[2] for one, _ in runs])
    yield cases(
        "each pair always gets the same answer, right or wrong",
        *(len(s) == 1 for s in same),
        {True} in same,
        {False} in same,
        where=f"all pairs of 30 records, {votes} votes",
    )
    yield also(
        cases(
            "independent errors do change with repetition",
            *(
                _transcript(one, cr.EdgeOrdering, votes, False, seed)[0]
                != _transcript(one, cr.EdgeOrdering, 1, False, seed)[0]
                for one in data
            ),
            where=f"{len(data)} data sets",
        )
    )


def _by_answers(e, k):
    """Over all positions of its own cluster and patterns of wrong votes: correct if the first "same" is its own."""
    total = 0
    for own, wrong in product(range(k), product([True, False], repeat=k)):
        yes = [w != (place == own) for place, w in enumerate(wrong)]
        total += (True in yes and yes.index(True) == own) * e ** sum(wrong) * (1 - e) ** (k - sum(wrong)) / k
    return total


def _placed_correctly(votes, p, known, each, rng):
    """Whether one new record is placed correctly by votes of the members of known clusters."""
    labels = np.append(np.repeat(np.arange(known), each), 0)
    new, truth = len(labels) - 1, cr.Truth(labels)
    run = cr.NodeOrdering(rng.random(comb(len(labels), 2)), rng=rng, order=range(len(labels)))
    crowd = MemberVote(cr.Faulty(truth, p, rng=rng, persistent=True), votes)
    crowd.begin(run)
    while (pair := run.ask()) is not None:
        run.tell(pair, crowd(*pair) if new in pair else truth(*pair))
    return bool(run.resolution.clusters[new] == run.resolution.clusters[0])


@claim("B98")
def prob_of_correct_placement(placed=None, p=0.2, known=3, size=200):
    if placed is None:
        rng = np.random.default_rng(1)
        placed = {votes: np.mean([_placed_correctly(votes, p, known, 3, rng) for _ in range(size)]) for votes in (1, 3)}
    e, most = sp.Symbol("e", positive=True), max(placed)
    should = np.array([prob_placed_correctly(majority_error(votes, p), known) for votes in placed])
    listed = ", ".join(map(str, list(placed)[:-1]))
    yield says(
        agreement(
            "the formula against every pattern of votes, one to six clusters, in fractions",
            [prob_placed_correctly(x, k) for x in RATES for k in range(1, 7)],
            [_by_answers(x, k) for x in RATES for k in range(1, 7)],
        ),
        "The formula agrees with an enumeration of all patterns of wrong votes, and with simulated records.",
    )
    yield also(patterns_agree())
    yield also(
        identity(
            "the closed form, two to nine clusters",
            *(prob_placed_correctly(e, k) - (1 - e) * (1 - (1 - e) ** k) / (k * e) for k in range(2, 10)),
        )
    )
    yield also(
        simulation(
            f"`MemberVote` with {listed} and {most} members, {known} clusters, $p = {p:g}$",
            list(placed.values()),
            np.sqrt(should * (1 - should) / size),
            should,
            size=size,
            limit=LIMIT,
        )
    )
