"""Many questions at once to a crowd that is a program, such as a language model; every answer is kept in a journal."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple

from crowder import checks, oracles
from crowder_tool.journal import SHOWN, Failed, Journal, Pair, Vote, call, ordered, rows

__all__ = ["Asked", "Failed", "ask_all"]

#: How often a question is asked again if the crowd fails; and the first pause before it, doubled each time, and the
#: longest, in seconds.
RETRIES, PAUSE, LONGEST = 3, 1.0, 3600.0
#: So many equal refusals in a row end the run; and what is not compared: the identifier of a request or a reply.
EQUAL, IDENTIFIER = 5, re.compile(r"(?=[\w-]*\d)[\w-]{8,}")


class Asked(NamedTuple):
    """The answers about pairs (None: unsure), from the journal or new; the pairs that are still open, and why; and how
    many answers are new, and what these and the failures cost."""

    answers: dict[Pair, bool | None]
    open: dict[Pair, str]
    new: int
    cost: float


class _Attempt(NamedTuple):
    """A question, as it is put and as it is stored; how many others had been answered when it was put; and how often it
    has failed, and why."""

    key: Pair
    pair: Pair
    before: int
    failed: int = 0
    words: str = ""


def ask_all(
    crowd: Callable[[int, int], Any], pairs: Iterable[Pair], journal: Journal, *, parallel: int = 16,
    cap: float | None = None,
) -> Asked:  # fmt: skip
    """Ask a crowd about many pairs at once, and keep every answer before it is used.

    Parameters
    ----------
    crowd : callable
        Called as ``crowd(i, j)``, from several threads at once. It returns True, False, None (unsure), or an `Answer`,
        which may have a cost. It must end by itself, so give it a time limit. Any exception is a failure, and is never
        kept as an answer. It counts as the dearest answer so far, unless it is a `Failed`, which says what it cost.
    pairs : iterable of (int, int)
        The questions. About those that have an answer in the journal, nobody is asked.
    journal : Journal
        Where answers and costs are kept, one by one. It need not have an oracle.
    parallel : int, keyword only
        Questions that are out at once.
    cap : float, keyword only
        What all answers and failures in the journal may cost. A question is asked only if it fits under the cap, even
        if all that are out turn out as expensive as the most expensive so far.

    Returns
    -------
    Asked
        A question is asked again up to three times if the crowd fails, after one second, two and four, or later if the
        crowd says so; where it does and others were answered meanwhile, this does not count. A pair whose answers all
        failed is still open, as are those after the cap, after a failure that ends the run, after five equal refusals
        in a row, or after as many other failures in a row as questions are out, at least three; and, with a cap, after
        a failure of unknown cost before anything has had one. Ask again later, also
        after an interrupt: what was answered is not asked again. (An interrupt waits for the answers that are out; a
        second one does not, and they are asked for again.)

    Raises
    ------
    TypeError, ValueError
        If an answer is of a wrong form, which is charged as in `Journal`; or if there is a cap and an answer costs
        nothing; it is kept. No more questions are asked then, and what is out is kept.
    OSError
        If an answer cannot be written; no more questions are asked then. Or if another process asks, as in `Journal`.

    See Also
    --------
    crowder_tool.chat_crowd : a language model as a crowd.
    crowder_tool.LearnedOrdering : its ``batch`` says what to ask, ``learn`` takes the answers.

    Examples
    --------
    >>> import os, tempfile
    >>> from crowder_tool import Answer
    >>> with Journal(None, os.path.join(tempfile.mkdtemp(), "answers.journal")) as journal:
    ...     first = ask_all(lambda i, j: Answer((i + j) % 2 == 0, 0.9, cost=0.01), [(0, 1), (0, 2), (1, 2)], journal)
    ...     again = ask_all(lambda i, j: 1 / 0, [(2, 0)], journal)
    >>> first.answers, first.new, round(first.cost, 2), again.answers
    ({(0, 1): False, (0, 2): True, (1, 2): False}, 3, 0.03, {(2, 0): True})
    """
    parallel = checks.whole(parallel, "parallel", least=1)
    cap = None if cap is None else checks.number(cap, "cap")
    checks.kind(journal, Journal, "journal must be a Journal")
    # Wrong ones are refused before anything is asked.
    questions = {(i, j): ordered(i, j) for i, j in rows(pairs, "pairs", "i, j")}
    answers = {key: vote.same for key in questions.values() if (vote := journal.find(key))}
    still_open, failures = dict[Pair, str](), list[Exception]()
    new, in_a_row, equal, refusal, ended, cost = 0, 0, 0, "", "", 0.0
    stop, out = threading.Event(), dict[Future[Vote], _Attempt]()

    def submit(attempt: _Attempt, after: float = 0.0) -> None:
        out[pool.submit(work, attempt, after)] = attempt

    def work(attempt: _Attempt, after: float) -> Vote:
        """In a thread: the answer, once it is on disk."""
        if after and stop.wait(after):
            raise Failed(attempt.words, ends="pair")
        try:
            said = call(crowd, *attempt.pair, 0)
        except Exception as error:
            raise journal.failed(error) from None
        return journal.take(attempt.key, said, crowd)

    def collect() -> None:
        nonlocal new, in_a_row, equal
        for done in wait(out, return_when=FIRST_COMPLETED).done:
            attempt = out.pop(done)
            try:
                vote = done.result()
                answers[attempt.key], new, in_a_row, equal = vote.same, new + 1, 0, 0
                if cap is not None and not vote.cost:
                    raise ValueError(f"with a cap, every answer must have a cost, but that to {attempt.key} has none")
            except Failed as failure:
                again(attempt, failure)
            except Exception as error:  # an answer of a wrong form or without a cost, or the journal's
                failures.append(error)
                stop.set()

    def again(attempt: _Attempt, failure: Failed) -> None:
        """Ask again after a failure, or leave the pair open."""
        nonlocal in_a_row, equal, refusal, ended
        words = str(failure)[:SHOWN]
        if failure.ends == "pair":
            before, refusal = refusal, IDENTIFIER.sub("", words)
            equal = equal + 1 if refusal == before else 1
        unpriced = cap is not None and failure.cost is None and not journal.costs()[1]
        if failure.ends == "run" or equal == EQUAL or unpriced:
            ended = ended or words
            stop.set()
        after = max(min(PAUSE * 2.0 ** min(attempt.failed, 99), LONGEST), failure.after)
        counts = not failure.after or new == attempt.before
        over = failure.ends != "attempt" or (counts and attempt.failed == RETRIES) or after > LONGEST
        if over or stop.is_set() or not fits():
            still_open[attempt.key], in_a_row = words, in_a_row + (failure.ends == "attempt")
        else:
            submit(attempt._replace(before=new, failed=attempt.failed + counts, words=words), after)

    def fits() -> bool:
        """Whether one more answer fits under the cap besides those that are out."""
        if cap is None:
            return True
        spent, dearest = journal.costs()
        if not dearest:  # nobody knows what an answer costs: one alone
            return not out and cap > 0
        return spent + (len(out) + 1) * dearest <= cap * (1 + 1e-9)

    wanted = {key: pair for pair, key in questions.items() if key not in answers}
    if wanted:
        oracles.callable_oracle(crowd)
        with journal.asking():
            spent, pool = journal.costs()[0], ThreadPoolExecutor(parallel)
            try:
                for key, pair in wanted.items():
                    while len(out) == parallel or (out and not fits()):
                        collect()
                    if failures:
                        break
                    if vote := journal.find(key):  # somebody has answered meanwhile
                        answers[key] = vote.same
                    elif ended:
                        still_open[key] = ended
                    elif in_a_row >= max(parallel, 3):
                        still_open[key] = f"not asked after {in_a_row} failures in a row"
                    elif fits():
                        journal.ready()
                        submit(_Attempt(key, pair, new))
                    else:
                        still_open[key] = "the cap is reached"
                while out:
                    collect()
                cost = journal.costs()[0] - spent
            except OSError as error:
                failures.append(error)
            finally:  # also if interrupted, the answers that are out are kept
                stop.set()
                while out:
                    collect()
                pool.shutdown(wait=False)
    if failures:
        what = "; ".join(dict.fromkeys(map(str, failures)))  # each may hold an answer
        kind = next((kind for kind in (ValueError, TypeError) if isinstance(failures[0], kind)), OSError)
        raise kind(what) from failures[0]
    told = {pair: answers[key] for pair, key in questions.items() if key in answers}
    return Asked(told, {pair: still_open[key] for pair, key in questions.items() if key in still_open}, new, cost)
