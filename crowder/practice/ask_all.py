"""Many questions at once to a crowd that is a program, such as a language model; every answer is kept in a journal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from crowder import validation
from crowder.practice.journal import Answer, Journal, call, ordered

__all__ = ["Asked", "ask_all"]

Pair = tuple[int, int]


class Asked(NamedTuple):
    """The answers about pairs (None: unsure), from the journal or new; the pairs that are still open, and why; and how
    many answers are new, and what these cost."""

    answers: dict[Pair, bool | None]
    open: dict[Pair, str]
    new: int
    cost: float


def ask_all(
    crowd: Callable[[int, int], Any], pairs: Iterable[Pair], journal: Journal, *, parallel: int = 16, retries: int = 3,
    pause: float = 1.0, cap: float | None = None, worker: str | None = None,
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
        How often a question is asked again if the crowd fails, and after how many seconds, doubled each time.
    cap : float, keyword only
        What all answers in the journal may cost. A question is asked only if it fits under the cap, even if all that
        are out turn out as dear as the dearest so far.
    worker : str, keyword only
        The name under which the answers are kept; only its own count as given then. By default, whoever gave them.

    Returns
    -------
    Asked
        A pair whose answers all failed is still open, as are those after the cap, or after as many failures in a row as
        questions are out. Ask again later, also after an interrupt: what was answered is not asked again.

    Raises
    ------
    OSError
        If an answer cannot be written; no more questions are asked then.

    See Also
    --------
    crowder.practice.LearnedOrdering : its ``batch`` says what to ask, ``learn`` takes the answers.

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
    questions = list(dict.fromkeys((int(i), int(j)) for i, j in pairs))
    keys = [ordered(i, j) for i, j in questions]  # wrong ones are refused before anything is asked
    left, told, stop = iter(questions), threading.Condition(), threading.Event()
    answers, still_open, failures = dict[Pair, bool | None](), dict[Pair, str](), list[BaseException]()
    (spent, dearest), out, new, cost, in_a_row = journal.costs(), 0, 0, 0.0, 0

    def try_hard(pair: Pair) -> Answer:
        for attempt in range(retries + 1):
            try:
                return call(crowd, *pair, 0)
            except Exception as error:
                failure = error
            if attempt == retries or stop.wait(pause * 2**attempt):
                break
        raise _FailedError(f"{type(failure).__name__}: {failure}") from failure

    def fits() -> bool:
        if cap is None:
            return True
        if dearest is None:  # nobody knows what an answer costs: one alone
            return out == 0 and cap > 0
        return spent + (out + 1) * dearest <= cap * (1 + 1e-9)

    def may_go_on() -> bool:
        return fits() or not out or stop.is_set()

    def work() -> None:
        nonlocal spent, dearest, out, new, cost, in_a_row
        while not stop.is_set():
            with told:
                told.wait_for(may_go_on)
                pair = next(left, None) if not stop.is_set() and in_a_row < parallel else None
                if pair is None:
                    return
                asking = journal.find(ordered(*pair), worker or 0) is None
                if asking and not fits():
                    still_open[pair] = "the cap is reached"
                    continue
                out += asking
            try:
                row = journal.obtain(ordered(*pair), worker or 0, partial(try_hard, pair))
                with told:
                    answers[pair], in_a_row = row.same, in_a_row * (not asking)
                    new, cost, spent = new + asking, cost + row.cost * asking, spent + row.cost * asking
                    dearest = max(dearest or 0.0, row.cost) if asking else dearest
            except _FailedError as error:
                with told:
                    still_open[pair], in_a_row = str(error), in_a_row + 1
            except BaseException as error:  # the journal's
                failures.append(error)
                stop.set()
            finally:
                with told:
                    out -= asking
                    told.notify_all()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(parallel, len(keys)))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:  # if interrupted, the answers that are out are still kept
        stop.set()
        for thread in threads:
            thread.join()
    if len(failures) > 1 and all(isinstance(error, OSError) for error in failures):
        raise OSError("; ".join(dict.fromkeys(map(str, failures)))) from failures[0]  # each may hold an answer
    if failures:
        raise failures[0]
    reason = f"not asked after {in_a_row} failures in a row"
    still_open |= {pair: reason for pair in questions if pair not in answers and pair not in still_open}
    return Asked({pair: answers[pair] for pair in questions if pair in answers}, still_open, new, cost)


class _FailedError(Exception):
    """The crowd gave no answer, however often it was asked."""
