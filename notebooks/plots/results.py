"""Figures of the chapter *Results beyond the paper* and of its proofs, and the runs of thousands of records in both."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from book.companion.figures import EDGE, EVIDENCE, FEWEST, GREEN, GREY, INK, NODE, SKY
from scipy.special import betaln, xlog1py, xlogy

#: What the figures show, for readers who cannot see them.
ALT = {
    "fig-results-growth": (
        "Questions against the number of records, both on logarithmic axes. Edge ordering, node ordering and placing "
        "with certainty rise in parallel, with slope one; the two curves that allow an error rise at first and are "
        "flat from about two hundred records on."
    ),
    "fig-results-evidence": (
        "Against one over the squared Hellinger distance, the questions by evidence rise from the least possible "
        "number to that of the heuristics, always below the bound; edge and node ordering stay high throughout."
    ),
    "fig-results-worst": (
        "Points below the line at one; they fall as the probability that a match is more similar than a non-match "
        "increases from a half to one."
    ),
    "fig-results-kappa": (
        "Three curves over cluster sizes from ten to a thousand; the one without information approaches a dashed "
        "line at 1.43, the others stay below it."
    ),
}


# --- Runs of which only the counts are drawn -------------------------------------------------------------------------


def arrive(sizes, order, rng):
    """Labels in the order of arrival: at random, in turn, in blocks from the first cluster to the last, or reversed."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    if order == "random":
        return rng.permutation(labels)
    if order == "in turn":
        turn = np.concatenate([np.arange(size) / size for size in sizes])
        return labels[np.argsort(turn, kind="stable")]
    return labels if order == "in blocks" else labels[::-1]


def up_to_first_error(laws, labels, delta, rng, *, judge=None):
    """Questions up to the first failure of placing ordering, and whether that is a wrong placement, and a band.

    Similarities have the values of two lists of probabilities, among matches and among non-matches. Evidence is by the
    `judge`: two such lists that are taken to be true, by default `laws` themselves; or a function of counts and delta,
    such as `upper_ends`, for what has been seen. Ties are decided for wrong clusters. A delta of 0 is certainty.
    """
    laws = np.array([np.array(law) / sum(law) for law in laws])
    counts, before = draw(*laws, labels, rng)
    failed = np.zeros(len(labels), dtype=bool)
    if callable(judge):
        ratios, x, failed = learn(counts, labels, laws, delta, judge)
    else:
        g, r = laws if judge is None else (np.array(law) / sum(law) for law in judge)
        with np.errstate(divide="ignore"):
            ratios = np.clip(np.log(g) - np.log(r), -1e6, 1e6)[None]  # for infinity
        ratios, x = np.rint(ratios * 2**20) / 2**20, 1 - np.sqrt(g * r).sum()  # sums are exact, so that ties are ties
    sums = np.where(before > 0, (counts * ratios[:, None, :]).sum(axis=2), -np.inf)
    own = labels[:, None] == np.arange(before.shape[1])
    right = np.where(own, sums, -np.inf).max(axis=1)
    ahead = (before > 0) & ~own & (sums >= right[:, None])
    top = sums.max(axis=1)
    accepted = top >= thresholds((before > 0).sum(axis=1), x, delta)
    wrong = accepted & (ahead & (sums == top[:, None])).any(axis=1)
    asked = (ahead.sum(axis=1) + (right > -np.inf)) * ~accepted
    end = np.append(np.flatnonzero(wrong | failed), len(labels))[0]
    return int(asked[:end].sum()), bool(wrong[: end + 1].any()), bool(failed[: end + 1].any())


def draw(g, r, labels, rng):
    """How often each value occurs between a record and each cluster so far, (n, k, q); and the sizes so far, (n, k).

    A record is compared with the true clusters, so the runs are those of the proofs, up to the first wrong placement.
    """
    own = labels[:, None] == np.arange(labels.max() + 1)
    before = own.cumsum(axis=0) - own
    counts = np.empty((*own.shape, len(g)), dtype=np.int64)
    counts[own] = rng.multinomial(before[own], g)
    counts[~own] = rng.multinomial(before[~own], r)
    return counts, before


def thresholds(c, x, delta):
    """T for each of n records, where x is one number or n."""
    v = np.arange(1, len(c) + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = np.log(c * v * (v + 1) / np.float64(delta)), 2 * np.log(c**2 * (c + 1) / (delta * x))
    return np.where(c == 0, np.inf, np.where(x > 0, np.minimum(first, second), first))


def learn(counts, labels, laws, delta, ends):
    """For each record the logarithms of the best ratio so far, x (-1 where nothing is known), and whether a band fails.

    From a thousand records on, ratios are found anew for every hundredth.
    """
    n = len(labels)
    matches = counts[np.arange(n), labels]
    others = counts.sum(axis=1) - matches
    seen = np.array([values.cumsum(axis=0) - values for values in (matches, others)])
    known = np.flatnonzero((seen.sum(axis=2) > 0).all(axis=0))
    ratios, x, failed = np.zeros(matches.shape), np.full(n, -1.0), np.zeros(n, dtype=bool)
    if len(known):
        looks = known[(known < known[0] + 1000) | (known % 100 == 0)]
        green, red = ends(seen[:, looks], delta)
        found = np.floor(np.log(green / red / green.sum(axis=1, keepdims=True)) * 2**20) / 2**20
        affinity = (green * np.exp(-found / 2)).sum(axis=1)
        best = np.maximum.accumulate(np.where(affinity <= np.minimum.accumulate(affinity), range(len(looks)), 0))
        best = best[np.searchsorted(looks, known, side="right") - 1]
        ratios[known], x[known] = found[best], 1 - affinity[best]
        failed[looks] = ~in_band(seen[:, looks], laws[:, None], delta).all(axis=(0, 2))
    return ratios, x, failed


def in_band(counts, p, delta):
    """Whether probabilities are in the bands of q values that were seen so often."""
    total, q = counts.sum(axis=-1, keepdims=True), counts.shape[-1]
    least = np.log(delta / (8 * q) / np.pi) + betaln(counts + 0.5, total - counts + 0.5)
    return xlogy(counts, p) + xlog1py(total - counts, -p) >= least


def upper_ends(counts, delta):
    """The upper ends of these bands, by bisection."""
    low, high = counts / counts.sum(axis=-1, keepdims=True), np.ones(counts.shape)
    for _ in range(50):
        middle = (low + high) / 2
        inside = in_band(counts, middle, delta)
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high


# --- Figures ---------------------------------------------------------------------------------------------------------


def growth(frame):
    """Questions over the number of records; runs that allow an error, and those that do not."""
    fig, ax = plt.subplots(figsize=(6.4, 3.6))
    looks = {
        "edge ordering": EDGE.line, "node ordering": NODE.line, "certainty": EVIDENCE.line,
        "fewest for certainty": FEWEST.line, "nothing known": {"color": GREEN, "ls": "-", "marker": "s", "ms": 4},
        "densities known": {"color": INK, "ls": "--", "marker": "v", "ms": 4},
    }  # fmt: skip
    for name, look in looks.items():
        ax.plot(frame["n"], frame[name], label=name, **look)
    ax.set(xscale="log", yscale="log", xlabel="records $n$", ylabel="questions")
    fig.legend(loc="outside upper center", ncols=3)
    return fig


def evidence(frame, least):
    """Questions of the three orderings on equal clusters against 1/H², with the bound for certainty."""
    fig, ax = plt.subplots(figsize=(6.4, 3.3))
    x = 1 / frame["H²"]
    ax.plot(x, frame["edge"], marker="D", ms=4, **EDGE.line, label="edge ordering")
    ax.plot(x, frame["node"], marker="o", ms=4, **NODE.line, label="node ordering")
    ax.plot(x, frame["bound"], "-", color=INK, lw=1.2, label="bound")
    ax.plot(x, frame["evidence"], marker="^", ms=5, **EVIDENCE.line, label="by evidence")
    ax.axhline(least, **FEWEST.line, label="fewest possible")
    ax.set(xscale="log", yscale="log", xlabel=r"$1/H^2$", ylabel="expected questions")
    fig.legend(loc="outside upper center", ncols=3)
    return fig


def worst_case(frame):
    """Each model's count relative to that without information."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    ax.plot(frame["area"], frame["ratio"], ".", color=EDGE.color, ms=3, alpha=0.5, label="random models")
    ax.axhline(1, color=GREY, lw=1, ls="--", label="no information")
    ax.set(xlabel="probability that a match is more similar than a non-match")
    ax.set(title="expected questions, relative to no information", ylim=(0, 1.05))
    ax.legend(loc="lower left")
    return fig


def kappas(frame, kappa):
    """Questions across two clusters of m records, divided by m."""
    fig, ax = plt.subplots(figsize=(6.4, 3.0))
    sns.lineplot(frame.set_index("m"), palette=[EDGE.color, INK, SKY], markers=[*"Dvs"], dashes=False, ms=7)
    ax.axhline(kappa, color=GREY, lw=1, ls="--", label=r"$\kappa$")
    ax.set(xscale="log", xlabel="$m$", title="expected questions across two clusters, divided by $m$", ylim=(0, 1.7))
    ax.legend(loc="lower right", ncols=2)
    return fig
