"""Many questions at once to a crowd that is a program, such as a language model; every answer is kept in a journal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, NamedTuple

from crowder import oracles, validation
from crowder_tool.journal import Answer, Journal, Pair, call, ordered, rows

__all__ = ["Asked", "Failed", "ask_all"]

CAPPED = "the cap is reached"
#: The longest pause before a question is asked again, in seconds.
LONGEST = 3600.0
#: Most characters of a message that are kept.
SHOWN = 500


class Asked(NamedTuple):
    """The answers about pairs (None: unsure), from the journal or new; the pairs that are still open, and why; and how
    many answers are new, and what these and the failures cost."""

    answers: dict[Pair, bool | None]
    open: dict[Pair, str]
    new: int
    cost: float


class Failed(Exception):
    """What a crowd raises where it has no answer, if it knows more than that: what the failure cost; after how many
    seconds to ask again, at the earliest; and what it ends, this "attempt", the questions about this "pair", or the
    "run", as all other questions would fail, too.

    See Also
    --------
    crowder_tool.chat_crowd : raises it.

    Examples
    --------
    >>> Failed("too many requests", after=40).ends
    'attempt'
    """

    def __init__(self, message: str, *, cost: float = 0.0, after: float = 0.0, ends: str = "attempt") -> None:
        super().__init__(message)
        self.cost, self.after = validation.number(cost, "cost"), validation.number(after, "after")
        if ends not in ("attempt", "pair", "run"):
            raise ValueError(f"ends must be attempt, pair or run, not {ends!r}")
        self.ends = ends


def ask_all(
    crowd: Callable[[int, int], Any], pairs: Iterable[Pair], journal: Journal, *, parallel: int = 16, retries: int = 3,
    pause: float = 1.0, cap: float | None = None,
) -> Asked:  # fmt: skip
    """Ask a crowd about many pairs at once, and keep every answer before it is used.

    Parameters
    ----------
    crowd : callable
        Called as ``crowd(i, j)``, from several threads at once. It returns True, False, None (unsure), one of these and
        a confidence in [0, 1], or an `Answer`, which may have a cost. It must end by itself, so give it a time limit.
        Any exception is a failure, and is never kept as an answer; with `Failed` it says more about it.
    pairs : iterable of (int, int)
        The questions. About those that have an answer in the journal, nobody is asked.
    journal : Journal
        Where the answers are kept, one by one. It need not have an oracle.
    parallel : int, keyword only
        Questions that are out at once.
    retries, pause : int, float, keyword only
        How often a question is asked again if the crowd fails, and after how many seconds, doubled each time, at most
        an hour, or later if the crowd says so. Where it does and others were answered meanwhile, this does not count.
    cap : float, keyword only
        What all answers in the journal may cost, also those that others add meanwhile, and the failures of this call.
        A question is asked only if it fits under the cap, even if all that are out turn out as dear as the dearest so
        far. What failures cost is added to the answer that follows them; if none does, only `Asked` has it.

    Returns
    -------
    Asked
        A pair whose answers all failed is still open, as are those after the cap, after a failure that ends the run, or
        after as many failures in a row as questions are out, at least three. Ask again later, also after an interrupt:
        what was answered is not asked again. (An interrupt
        waits for the answers that are out; a second one does not, and they are asked for again.)

    Raises
    ------
    ValueError
        If there is a cap and an answer costs nothing; it is kept, and no more questions are asked.
    OSError
        If an answer cannot be written; no more questions are asked then.

    See Also
    --------
    crowder_tool.chat_crowd : a language model as a crowd.
    crowder_tool.LearnedOrdering : its ``batch`` says what to ask, ``learn`` takes the answers.

    Examples
    --------
    >>> import os, tempfile
    >>> with Journal(None, os.path.join(tempfile.mkdtemp(), "answers.db")) as journal:
    ...     first = ask_all(lambda i, j: Answer((i + j) % 2 == 0, 0.9, cost=0.01), [(0, 1), (0, 2), (1, 2)], journal)
    ...     again = ask_all(lambda i, j: 1 / 0, [(2, 0)], journal)
    >>> first.answers, first.new, round(first.cost, 2), again.answers
    ({(0, 1): False, (0, 2): True, (1, 2): False}, 3, 0.03, {(2, 0): True})
    """
    parallel = validation.whole(parallel, "parallel", least=1)
    retries = validation.whole(retries, "retries")
    pause, cap = validation.number(pause, "pause"), None if cap is None else validation.number(cap, "cap")
    validation.kind(journal, Journal, "journal must be a Journal")
    # Wrong ones are refused before anything is asked.
    questions = {(i, j): ordered(i, j) for i, j in rows(pairs, "pairs", "i, j")}
    answers, still_open, failures = dict[Pair, bool | None](), dict[Pair, str](), list[Exception]()
    new, cost, in_a_row, ended, progress = 0, 0.0, 0, "", 0
    stop, out = threading.Event(), dict[Future, Pair]()
    # With the journal's lock: what the failures have cost of each question that somebody is asked, and of all others
    # that nobody has answered; and the dearest failure.
    begun, lost, dearest_failure = dict[Pair, float](), 0.0, 0.0

    def work(key: Pair, pair: Pair) -> tuple[Any, bool]:
        """The answer, and whether it is new."""
        nonlocal lost
        row = None
        try:
            row = journal.obtain(key, 0, partial(ask, key, pair))
            return row, key in begun
        finally:
            with journal._lock:
                wasted = begun.pop(key, 0.0)
                lost += 0.0 if row else wasted

    def ask(key: Pair, pair: Pair) -> Answer:
        """Called when nobody else asks this question, and no other process any."""
        with journal._lock:  # no answer is written meanwhile
            if stop.is_set() or not fits(others(key)):
                raise Failed(ended or CAPPED, ends="pair")
            begun[key] = 0.0
        return try_hard(key, pair)

    def try_hard(key: Pair, pair: Pair) -> Answer:
        nonlocal ended, dearest_failure, progress
        failed = 0
        while True:
            before = progress
            try:
                answer = call(crowd, *pair, 0)
                progress += 1
                return answer._replace(cost=answer.cost + begun[key])
            except Exception as error:
                failure = error if isinstance(error, Failed) else Failed(f"{type(error).__name__}: {_words(error)}")
            with journal._lock:
                begun[key] += failure.cost
                dearest_failure = max(dearest_failure, failure.cost)
            if failure.ends == "run":
                ended = ended or _words(failure)
                stop.set()
            pause_now = max(min(pause * 2.0 ** min(failed, 99), LONGEST), failure.after)
            if failure.ends != "attempt" or failed == retries or pause_now > LONGEST or stop.wait(pause_now):
                raise failure
            with journal._lock:
                if not fits(others(key)):
                    raise failure
            failed += not (failure.after and progress > before)

    def others(key: Pair) -> int:
        """How many other questions are out that have no answer yet."""
        return sum(journal.find(other, 0) is None for other in begun if other != key)

    def fits(others: int) -> bool:
        """Whether one more answer fits under the cap besides others that are out."""
        if cap is None:
            return True
        with journal._lock:
            spent, dearest = journal.costs()
            dearest = max(dearest or 0.0, dearest_failure)
            spent += lost + sum(wasted for key, wasted in begun.items() if wasted and journal.find(key, 0) is None)
        if not dearest:  # nobody knows what an answer costs: one alone
            return not others and cap > 0
        return spent + (others + 1) * dearest <= cap * (1 + 1e-9)

    def collect() -> None:
        nonlocal new, cost, in_a_row
        for done in wait(out, return_when=FIRST_COMPLETED).done:
            key = out.pop(done)
            try:
                row, is_new = done.result()
                answers[key], in_a_row = row.same, 0
                if not is_new:  # somebody else has answered meanwhile
                    continue
                new, cost = new + 1, cost + row.cost
                if cap is not None and not row.cost:
                    raise ValueError(f"with a cap, every answer must have a cost, but that to {key} has none")
            except Failed as failure:
                still_open[key], in_a_row = _words(failure), in_a_row + (failure.ends == "attempt")
            except Exception as error:  # the journal's, or there is no cost
                failures.append(error)
                stop.set()

    with ThreadPoolExecutor(parallel) as pool:  # at its end, also if interrupted, the answers that are out are kept
        try:
            for key, pair in {key: pair for pair, key in questions.items()}.items():
                if row := journal.find(key, 0):
                    answers[key] = row.same
                    continue
                oracles.callable_oracle(crowd)
                room = fits(len(out))
                while len(out) == parallel or (out and not room):
                    collect()
                    room = fits(len(out))
                if failures:
                    break
                if ended:
                    still_open[key] = ended
                elif in_a_row >= max(parallel, 3):
                    still_open[key] = f"not asked after {in_a_row} failures in a row"
                elif room:
                    out[pool.submit(work, key, pair)] = key
                else:
                    still_open[key] = CAPPED
            while out:
                collect()
        finally:
            stop.set()
    if failures:
        what = "; ".join(dict.fromkeys(map(str, failures)))  # each may hold an answer
        raise (ValueError if isinstance(failures[0], ValueError) else OSError)(what) from failures[0]
    told = {pair: answers[key] for pair, key in questions.items() if key in answers}
    return Asked(
        told, {pair: still_open[key] for pair, key in questions.items() if key in still_open}, new, cost + lost
    )


def _words(error: Exception) -> str:
    """The message of an exception; there are some that have none to show."""
    try:
        return str(error)[:SHOWN]
    except Exception:
        return "(its message cannot be shown)"
