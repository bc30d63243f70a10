"""Algorithms at their plainest, once each: what answers imply, the paper's two heuristics, and placing ordering.

They share no code with `crowder`, which is held against them. More of the kind is in `in_fractions`;
`naive` lists clusterings and cluster sizes.
"""

from math import exp, floor, inf, lgamma, log, pi


class Closure:
    """What answers imply: for each record those known to be the same, and to be others.

    Sets of records are the bits of one integer.
    """

    def __init__(self, n):
        self.same = [1 << v for v in range(n)]
        self.other = [0] * n

    def knows(self, i, j):
        return bool((self.same[i] | self.other[i]) >> j & 1)

    def learn(self, i, j, answer):
        a, b = self.same[i], self.same[j]
        if answer:
            others = self.other[i] | self.other[j]
            for v in bits(a | b):
                self.same[v], self.other[v] = a | b, others
            for v in bits(others):
                self.other[v] |= a | b
        else:
            for v in bits(a):
                self.other[v] |= b
            for v in bits(b):
                self.other[v] |= a


def bits(mask):
    while mask:
        yield (mask & -mask).bit_length() - 1
        mask &= mask - 1


def ask_in_order(pairs, n, crowd):
    """The pairs that the answers to those before do not imply, in order: dict from pair to answer."""
    closure, answers = Closure(n), {}
    for i, j in pairs:
        if not closure.knows(i, j):
            answers[i, j] = bool(crowd(i, j))
            closure.learn(i, j, answers[i, j])
    return answers


def edge_order(w, priority, candidate=lambda i, j: True):
    """All pairs, in the order of edge ordering. Ties go by `priority[i][j]`, i < j, smaller first."""
    pairs = [(i, j) for i in range(len(w)) for j in range(i + 1, len(w)) if candidate(i, j)]
    return sorted(pairs, key=lambda p: (-w[p[0]][p[1]], priority[p[0]][p[1]]))


def node_order(w, priority, arrivals, candidate=lambda i, j: True):
    """All pairs (newcomer, earlier record), in the order of node ordering."""
    pairs = []
    for a, v in enumerate(arrivals):
        earlier = [u for u in arrivals[:a] if candidate(min(u, v), max(u, v))]
        earlier.sort(key=lambda u: (-w[v][u], priority[min(u, v)][max(u, v)]))
        pairs += [(v, u) for u in earlier]
    return pairs


def edge_questions(w, priority, crowd, candidate=lambda i, j: True):
    """Questions of edge ordering, in order: dict from pair to answer."""
    return ask_in_order(edge_order(w, priority, candidate), len(w), crowd)


def node_questions(w, priority, crowd, arrivals, candidate=lambda i, j: True):
    """Questions of node ordering, in order: dict from pair (newcomer, earlier record) to answer."""
    return ask_in_order(node_order(w, priority, arrivals, candidate), len(w), crowd)


def placing_questions(steps, arrivals, crowd, delta, evidence, x):
    """Questions of placing ordering, as a dict from pair (newcomer, first record of a cluster) to answer; and the
    records accepted, each with that of the cluster and the number of questions before.

    ``steps[i][j]`` is the step of a pair's similarity, ``evidence[step]`` what it says, in multiples of 2⁻²⁰ nat. With
    x = None, both are learned.
    """
    q, learns, clusters, asked, accepted = len(evidence), x is None, [], {}, []
    x, seen, learned_from = -inf if learns else x, ([0] * q, [0] * q), (0, 0)
    for v in arrivals:
        sums = [sum(evidence[steps[v][u]] for u in members) for members in clusters]
        falling = sorted(range(len(clusters)), key=lambda c: -sums[c])
        own, c, n = len(clusters), len(clusters), sum(map(len, clusters)) + 1
        if delta and clusters:
            least = log(c * n * (n + 1) / delta)
            if x > 0:
                least = min(least, 2 * log(c * c * (c + 1) / (delta * x)))
            if sums[falling[0]] >= least * 2**20:
                own = falling[0]
                accepted.append((v, clusters[own][0], len(asked)))
                falling = []
        for c in falling:
            asked[v, clusters[c][0]] = bool(crowd(v, clusters[c][0]))
            if asked[v, clusters[c][0]]:
                own = c
                break
        for c, members in enumerate(clusters):
            for u in members:
                seen[c != own][steps[v][u]] += 1
        clusters += [[]] * (own == len(clusters))
        clusters[own] = [*clusters[own], v]
        totals = tuple(map(sum, seen))
        if learns and min(totals) and any(a >= 1.01 * b for a, b in zip(totals, learned_from, strict=True)):
            learned_from = totals
            g, r = ([upper_end(count, sum(counts), delta / (8 * q)) for count in counts] for counts in seen)
            new = [floor(2**20 * log(a / (sum(g) * b))) for a, b in zip(g, r, strict=True)]
            affinity = sum(a * exp(-e / 2**21) for a, e in zip(g, new, strict=True))
            if 1 - affinity > x:
                evidence, x = new, 1 - affinity
    return asked, accepted


def upper_end(count, total, error):
    """The largest p whose likelihood is at least `error` times that of the mixture over Beta(½, ½), by bisection."""
    other = total - count
    least = log(error) + lgamma(count + 0.5) + lgamma(other + 0.5) - lgamma(total + 1) - log(pi)
    low, high = count / total, 1.0
    for _ in range(50):
        p = (low + high) / 2
        likelihood = (count * log(p) if count else 0.0) + (other * log(1 - p) if other and p < 1 else 0.0)
        if likelihood >= least and (p < 1 or not other):
            low = p
        else:
            high = p
    return high
