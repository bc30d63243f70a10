"""Many questions at once to a crowd that is a program, such as a language model; every answer is kept in a journal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, NamedTuple

from crowder import oracles, validation
from crowder_tool.journal import Answer, Journal, Pair, call, ordered, rows

__all__ = ["Asked", "ask_all"]

CAPPED = "the cap is reached"
#: The longest pause before a question is asked again, in seconds.
LONGEST = 3600.0


class Asked(NamedTuple):
    """The answers about pairs (None: unsure), from the journal or new; the pairs that are still open, and why; and how
    many answers are new, and what these cost."""

    answers: dict[Pair, bool | None]
    open: dict[Pair, str]
    new: int
    cost: float


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
    pairs : iterable of (int, int)
        The questions. About those that have an answer in the journal, nobody is asked.
    journal : Journal
        Where the answers are kept, one by one. It need not have an oracle.
    parallel : int, keyword only
        Questions that are out at once.
    retries, pause : int, float, keyword only
        How often a question is asked again if the crowd fails, and after how many seconds, doubled each time, at most
        an hour.
    cap : float, keyword only
        What all answers in the journal may cost, also those that others add meanwhile. A question is asked only if it
        fits under the cap, even if all that are out turn out as dear as the dearest so far. What a failure costs is not
        counted: a crowd that pays for a reply which it cannot use returns ``Answer(None, cost=...)``.

    Returns
    -------
    Asked
        A pair whose answers all failed is still open, as are those after the cap, or after as many failures in a row as
        questions are out. Ask again later, also after an interrupt: what was answered is not asked again. (An interrupt
        waits for the answers that are out; a second one does not, and they are asked for again.)

    Raises
    ------
    ValueError
        If there is a cap and an answer costs nothing; it is kept, and no more questions are asked.
    OSError
        If an answer cannot be written; no more questions are asked then.

    See Also
    --------
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
    new, cost, in_a_row = 0, 0.0, 0
    stop, out, begun = threading.Event(), dict[Future, Pair](), set[Pair]()

    def ask(key: Pair, pair: Pair) -> Answer:
        """Called when nobody else asks this question, and no other process any."""
        with journal._lock:  # no answer is written meanwhile
            if stop.is_set() or not fits(sum(journal.find(other, 0) is None for other in begun)):
                raise _FailedError(CAPPED)
            begun.add(key)
        try:
            return try_hard(pair)
        except _FailedError:
            with journal._lock:
                begun.remove(key)
            raise

    def try_hard(pair: Pair) -> Answer:
        for attempt in range(retries + 1):
            try:
                return call(crowd, *pair, 0)
            except Exception as error:
                failure = error
            if attempt == retries or stop.wait(min(pause * 2.0 ** min(attempt, 99), LONGEST)):
                break
        raise _FailedError(f"{type(failure).__name__}: {failure}") from failure

    def fits(others: int) -> bool:
        """Whether one more answer fits under the cap besides others that are out."""
        if cap is None:
            return True
        spent, dearest = journal.costs()
        if not dearest:  # nobody knows what an answer costs: one alone
            return not others and cap > 0
        return spent + (others + 1) * dearest <= cap * (1 + 1e-9)

    def collect() -> None:
        nonlocal new, cost, in_a_row
        for done in wait(out, return_when=FIRST_COMPLETED).done:
            key = out.pop(done)
            try:
                row = done.result()
                answers[key], in_a_row = row.same, 0
                if key not in begun:  # somebody else has answered meanwhile
                    continue
                new, cost = new + 1, cost + row.cost
                if cap is not None and not row.cost:
                    raise ValueError(f"with a cap, every answer must have a cost, but that to {key} has none")
            except _FailedError as error:
                still_open[key], in_a_row = str(error), in_a_row + (str(error) != CAPPED)
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
                if in_a_row >= parallel:
                    still_open[key] = f"not asked after {in_a_row} failures in a row"
                elif room:
                    out[pool.submit(journal.obtain, key, 0, partial(ask, key, pair))] = key
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
    return Asked(told, {pair: still_open[key] for pair, key in questions.items() if key in still_open}, new, cost)


class _FailedError(Exception):
    """The crowd gave no answer, however often it was asked."""
