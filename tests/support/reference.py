"""Algorithms at their plainest, once each: what answers imply, and the paper's two heuristics.

They share no code with `crowder`, which is held against them. More of the kind is in `in_fractions`;
`naive` lists clusterings and cluster sizes.
"""


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
