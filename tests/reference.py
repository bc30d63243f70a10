"""The paper's two heuristics, written as slowly and plainly as they are described, to hold the engine against.

Ties go by `priority[i][j]`, smaller first. What transitivity implies is found anew for every pair, by searching the
graph of answers: a path of matches is a match, a path with exactly one non-match is a non-match.
"""

from collections import deque


def implied(n, answers, i, j):
    """True, False, or None if the answers so far say nothing about (i, j)."""
    neighbours = {v: [] for v in range(n)}
    for (a, b), same in answers.items():
        neighbours[a].append((b, same))
        neighbours[b].append((a, same))
    seen = {(i, 0)}
    queue = deque(seen)
    while queue:
        v, breaks = queue.popleft()
        for u, same in neighbours[v]:
            state = (u, breaks + (not same))
            if state[1] <= 1 and state not in seen:
                seen.add(state)
                queue.append(state)
    if (j, 0) in seen:
        return True
    return False if (j, 1) in seen else None


def ask_in_order(pairs, n, crowd, answers):
    for i, j in pairs:
        if implied(n, answers, i, j) is None:
            answers[i, j] = crowd(i, j)


def edge_questions(w, priority, crowd, candidate=lambda i, j: True):
    """Questions of edge ordering, in order: dict from pair to answer."""
    n = len(w)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if candidate(i, j)]
    pairs.sort(key=lambda p: (-w[p[0]][p[1]], priority[p[0]][p[1]]))
    answers = {}
    ask_in_order(pairs, n, crowd, answers)
    return answers


def node_questions(w, priority, crowd, arrivals, candidate=lambda i, j: True):
    """Questions of node ordering, in order: dict from pair (newcomer, earlier record) to answer."""
    n = len(w)
    answers = {}
    for a, v in enumerate(arrivals):
        earlier = [u for u in arrivals[:a] if candidate(min(u, v), max(u, v))]
        earlier.sort(key=lambda u: (-w[v][u], priority[min(u, v)][max(u, v)]))
        ask_in_order([(v, u) for u in earlier], n, crowd, answers)
    return answers
