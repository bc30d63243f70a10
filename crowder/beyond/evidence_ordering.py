"""Evidence ordering: ask where the summed log-likelihood ratios point, with densities that are known or learned.

Both of the paper's heuristics compare single similarities. This one adds up what all similarities across two components
say (`crowder.beyond.log_likelihood` does the work). It goes beyond the paper.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike

from crowder import validation
from crowder.beyond.learned_densities import dependence, into_steps, known_pairs, learned_densities
from crowder.beyond.log_likelihood import SETTLED, TAU, UNIT, absorb, log_ratios, question, reweigh, sum_evidence
from crowder.densities import common_steps
from crowder.engine import ASKED, LOW, learn
from crowder.models import SimilarityModel
from crowder.oracles import Oracle
from crowder.orderings import Ordering
from crowder.resolution import Resolution
from crowder.validation import Seed

__all__ = ["FORMS", "EvidenceOrdering", "evidence_ordering"]

#: Each form: the evidence, in nats, from which on pairs come first, and whether records are placed as they arrive.
FORMS = {"auto": (TAU, False), "pairs": (-np.inf, False), "records": (np.inf, True)}

#: Questions before the first look at the answers, and how the number grows from look to look.
FIRST_LOOK, NEXT_LOOK = 16, 1.4

#: Where evidence hangs together more than this, it does not grow with a cluster, and waiting for it gains nothing.
DEPENDENT = 0.1


class EvidenceOrdering(Ordering):
    r"""Ask about the components, or place the records, for which the summed log-likelihood ratio speaks most.

    The evidence for a match of components A and B is :math:`\sum_{u \in A, v \in B} \ln f_g(w_{uv})/f_r(w_{uv})`.

    Parameters
    ----------
    similarity : array_like
        Symmetric (n, n), or condensed in ``pdist`` order; in [0, 1]. Every pair is a candidate.
    model : SimilarityModel, optional
        f_g and f_r. A density may vanish: such a pair is surely a match, or surely none, and still asked or implied.
        Without a model the ratio is learned from the answers so far: see Notes.
    form : {"auto", "pairs", "records"}, keyword only
        "pairs" always asks about the two components with the most evidence. "records" places one record after the
        other, in random order, and tries the clusters so far by falling evidence. "auto" asks about two components if
        the evidence is at least `crowder.beyond.log_likelihood.TAU` nats; else it places the record that is expected to
        be tried least often in vain, weighing each cluster by evidence and the square root of its size.
    rng : int or numpy.random.Generator, keyword only
        Breaks ties, and orders arrivals: records are taken in random order, and of equals the first is chosen.

    Raises
    ------
    ValueError
        If the similarity is not one of these (or sparse), the form is unknown, or rng is missing.

    Notes
    -----
    The answers are looked at after 16 questions, and again whenever there are 1.4 times as many.

    *Learned densities:* f_g and f_r are taken as constant on steps, their ratio as rising with the similarity. At first
    it barely rises; then the known matches and non-matches, asked or implied, tell.

    *Dependence:* a sum is the evidence if its terms are independent. The records of a real cluster resemble each other,
    and so does what they say about a third. The intraclass correlation ρ of the evidence across components known to
    differ measures it; a sum of m terms then counts for 1/(1 + ρ(m - 1)) of itself, and where ρ is above 0.1, "auto"
    asks as "pairs" does.

    *Cost:* O(n) a question, as a rule; a row whose maximum goes is searched again. Placing a record costs O(nk) with k
    clusters, a look at the answers O(n²); there are O(log q) looks. Memory O(n²).

    Examples
    --------
    >>> from crowder import Truth, datasets, dist1, edge_ordering, ideal_queries
    >>> data, crowd = datasets.synthetic([40, 20, 20], dist1(0.5), rng=7), Truth([0] * 40 + [1] * 20 + [2] * 20)
    >>> EvidenceOrdering(data.similarity, dist1(0.5), rng=7).run(crowd).n_queries, ideal_queries(data.sizes)
    (83, 80)
    >>> edge_ordering(data.similarity, crowd, rng=7).n_queries
    125
    """

    def __init__(
        self,
        similarity: ArrayLike,
        model: SimilarityModel | None = None,
        *,
        form: str = "auto",
        rng: Seed | None = None,
    ) -> None:
        super().__init__(similarity)
        if not isinstance(form, str) or form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}, not {form!r}")
        generator = validation.generator(rng, "random ties")
        if model is not None:
            validation.model(model)
        if not self.every_pair:
            raise ValueError("evidence ordering needs the similarity of every pair: pass a dense or condensed one")
        self.form = form
        self._arrivals = generator.permutation(self.n)
        square = self._candidates.square()[np.ix_(self._arrivals, self._arrivals)]
        self._learns, self._look = model is None, FIRST_LOOK
        if model is None:
            self._edges, self._steps, self._mass = into_steps(square, self._candidates.listed()[0])
            self._ratio = log_ratios(*learned_densities(0 * self._mass, 0 * self._mass, self._mass))
        else:
            edges, green, red = common_steps(model.green, model.red)
            self._edges, self._ratio = edges[1:-1], log_ratios(green, red)
            self._steps = np.searchsorted(self._edges, square, side="right").astype(np.uint16)
        evidence = self._ratio[self._steps]
        self._identity = np.frombuffer(blake2b(np.ascontiguousarray(evidence).tobytes()).digest(), np.uint8)
        self._summed = sum_evidence(evidence)
        self._place = np.argsort(self._arrivals)
        self._taken = 0

    @property
    def dependence(self) -> float:
        """ρ, what the answers so far prove of how the terms of a sum hang together: 0 not at all, 1 wholly."""
        return float(self._summed.dependence[0])

    def evidence(self, w: ArrayLike) -> np.ndarray:
        """What a pair of similarity w (any shape) weighs at present, in nats; ±65,536 if it is certain."""
        w = np.asarray(w)
        if w.dtype.kind not in "fiub" or not ((w >= 0) & (w <= 1)).all():  # NaN is neither
            raise ValueError(f"a similarity is a number in [0, 1], not {w.tolist()!r}")
        return self._ratio[np.searchsorted(self._edges, w.astype(np.float64), side="right")] / UNIT

    def next_question(self) -> tuple[int, int] | None:
        while self._taken < self._knowledge.count[ASKED]:
            code, same = self._knowledge.asked[self._taken], self._knowledge.answer[self._taken]
            absorb(self._summed, self._place[code >> 32], self._place[code & LOW], same)
            self._taken += 1
            if self._taken == self._look:
                self._look_at_answers()
        least, by_arrival = FORMS[self.form]
        if self.form == "auto" and self.dependence > DEPENDENT:
            least = -np.inf
        code = question(self._summed, least, by_arrival)
        return None if code == -1 else (int(self._arrivals[code >> 32]), int(self._arrivals[code & LOW]))

    def _look_at_answers(self) -> None:
        self._look = int(self._look * NEXT_LOOK)
        if self._learns:
            matches, others = known_pairs(self._summed, self._steps, len(self._mass), SETTLED)
            self._ratio = log_ratios(*learned_densities(matches, others, self._mass))
        before = self.dependence
        self._summed.dependence[0] = dependence(self._summed, self._steps, self._ratio / UNIT, SETTLED)
        if self._learns or self.dependence != before:
            reweigh(self._summed, self._steps, self._ratio)

    def decided_by(self) -> tuple[np.ndarray, ...]:
        return (np.array([list(FORMS).index(self.form), self._learns]), self._arrivals, self._identity)

    def _run(self, labels: np.ndarray) -> None:
        while (pair := self.next_question()) is not None:
            self._knowledge = learn(self._knowledge, *pair, labels[pair[0]] == labels[pair[1]])


def evidence_ordering(
    similarity: ArrayLike,
    oracle: Oracle,
    model: SimilarityModel | None = None,
    *,
    form: str = "auto",
    rng: Seed | None = None,
) -> Resolution:
    """Resolve all records by evidence ordering: ``EvidenceOrdering(similarity, model, ...).run(oracle)``.

    Examples
    --------
    >>> from crowder import Truth
    >>> evidence_ordering([[1.0, 0.9], [0.9, 1.0]], Truth([0, 0]), rng=7).n_queries
    1
    """
    return EvidenceOrdering(similarity, model, form=form, rng=rng).run(oracle)
