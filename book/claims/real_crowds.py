"""Claims of the chapter *Real crowds*."""

from __future__ import annotations

from math import ceil, comb

import numpy as np
import pandas as pd
from scipy import stats

from book.companion import recorded_replays
from book.companion.claims import Evidence, bounded, of_chapter, says
from crowder.beyond.answer_model import ErrorRates
from crowder.beyond.noisy_ordering import NoisyOrdering

__all__ = ["FEWEST", "SIZES", "check", "means", "pilot"]

claim, check = of_chapter(__name__)

TESTS = "test_recorded_replays.py::test_"
SIZES = recorded_replays.source()["sizes"]
#: Questions to a perfect crowd that settle every pair: n - k + C(k, 2).
FEWEST = {crowd: size["records"] - size["entities"] + comb(size["entities"], 2) for crowd, size in SIZES.items()}
#: All pairs: a strategy whose F1 does not stay at 0.95 counts as if it needed an answer about each.
PAIRS = {crowd: comb(size["records"], 2) for crowd, size in SIZES.items()}
#: Answers until F1 stays at 0.95, at most so many times the fewest questions.
WITHIN = {"gym": 8, "allsports": 0.8}


def means(runs: pd.DataFrame) -> pd.DataFrame:
    """Means over tie orders, by crowd, votes and strategy. `until` is NaN unless every run gets there."""
    grouped = runs.drop(columns="rng").groupby(["crowd", "votes", "ordering"])
    found = grouped.mean()
    found["until"] = found["until"].where(grouped["until"].count() == grouped["answers"].count())
    found["reached"] = grouped["until"].count()
    return found


def pilot(rate: float, relative: float, z: float = 1.96) -> int:
    r"""Pairs of one kind whose truth is known, such that the share of wrong answers is within ±relative of the rate.

    .. math:: m = \left\lceil \frac{z^2}{r^2} \frac{1 - p}{p} \right\rceil

    >>> pilot(0.2, 0.5), pilot(0.002, 0.5)
    (62, 7668)
    """
    return ceil((z / relative) ** 2 * (1 - rate) / rate)


def _single(runs: pd.DataFrame | None) -> pd.DataFrame:
    """The means over single answers, by crowd and strategy, without the one that is not allowed to stop."""
    runs = recorded_replays.read("runs") if runs is None else runs
    return means(runs[runs["ordering"] != "noisy, all answers"]).xs(1, level="votes")


def _noisy_first(found: pd.DataFrame, most: dict[str, int], where: str) -> tuple[list[float], list[float], Evidence]:
    """Answers until F1 stays at 0.95 on each crowd: noisy ordering, the best of the others, and which are fewer.

    A strategy whose F1 does not stay there counts as if it needed the number of answers in `most`.
    """
    own = [found["until"][crowd]["noisy"] for crowd in most]
    best = [found["until"][crowd].drop("noisy").fillna(answers).min() for crowd, answers in most.items()]
    what = "answers until F1 stays at 0.95: noisy ordering, against the best of the others"
    return own, best, bounded(what, own, best, where=where)


@claim("B200")
def fewest_answers(runs=None):
    found, at = _single(runs), "mean of ten orders of ties"
    own, _, fewer = _noisy_first(found, PAIRS, at)
    each = ", ".join(f"{answers:,.0f} answers on {crowd}" for crowd, answers in zip(PAIRS, own, strict=True))
    yield says(fewer, f"Noisy ordering: {each}.")
    yield bounded("the same, against 8 times the fewest questions (gym) and 0.8 times (allsports)",
                  own, [WITHIN[crowd] * FEWEST[crowd] for crowd in PAIRS], where=at)  # fmt: skip
    for crowd in PAIRS:
        area = found["area"][crowd]
        others = area.drop("noisy")
        yield bounded(f"{crowd}: area under F1, others against noisy ordering", others,
                      np.full(len(others), area["noisy"]), where=at)  # fmt: skip


@claim("B201")
def majorities_keep_errors(rates=None):
    rates = recorded_replays.read("rates") if rates is None else rates
    five = rates[(rates["crowd"] == "gym") & (rates["votes"] == 5)].set_index("how")[["on matches", "on non-matches"]]
    counted, independent = five.loc["counted"], five.loc["if errors were independent"]
    yield says(
        bounded("1.5 and 5 times the errors of independent votes, against those counted", [1.5, 5] * independent,
                counted, where="gym, five votes on each pair"),
        f"The majority of five is wrong on {counted.iloc[0]:.1%} of the matches; independent votes would leave "
        f"{independent.iloc[0]:.1%}.",
    )  # fmt: skip


@claim("B202")
def two_rates(rates=None):
    rates = recorded_replays.read("rates") if rates is None else rates
    single = rates[(rates["votes"] == 1) & (rates["how"] == "counted")]
    ratio = single["on matches"] / single["on non-matches"]
    yield says(
        bounded("four times the rate on non-matches, against that on matches", 4 * single["on non-matches"],
                single["on matches"], where="gym and allsports, single votes"),
        "It is " + " and ".join(f"{r:.1f} times as likely on {c}" for c, r in zip(single["crowd"], ratio, strict=True))
        + ".",
    )  # fmt: skip


@claim("B203")
def pilots(rates=(0.002, 0.01, 0.05, 0.1, 0.2), relative=0.5):
    chance = []
    for rate in rates:
        m = pilot(rate, relative)
        low, high = np.ceil(m * rate * (1 - relative) - 1e-9), np.floor(m * rate * (1 + relative) + 1e-9)
        chance.append(float(stats.binom.cdf(high, m, rate) - stats.binom.cdf(low - 1, m, rate)))
    yield says(
        bounded("93 %, against the exact probability", np.full(len(chance), 0.93), chance,
                where=f"rates {', '.join(f'{rate:g}' for rate in rates)}"),
        f"By the binomial distribution it is {min(chance):.1%} at least.",
    )  # fmt: skip


@claim("B204")
def on_cora(runs=None):
    found = _single(runs)
    crowds = [crowd for crowd in found.index.unique("crowd") if crowd.startswith("cora")]
    own, best, fewer = _noisy_first(found, dict.fromkeys(crowds, recorded_replays.BUDGET), "means of two runs")
    yield says(
        fewer,
        f"{own[0]:,.0f} and {own[1]:,.0f} answers; the best of the others, {best[0]:,.0f} and {best[1]:,.0f}.",
    )  # fmt: skip
