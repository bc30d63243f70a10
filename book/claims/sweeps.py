"""Claims of the appendix *Many processes*."""

from __future__ import annotations

import heapq
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import sympy as sp

import crowder as cr
from book.companion import measured
from book.companion.batched_sweeps import best_batch_size, sweep_in_batches, time_bound, time_needed
from book.companion.claims import agreement, also, bounded, cases, exceeds, identity, of_chapter, says
from crowder.experiments import count_questions, repeat, sweep

__all__ = ["check"]

claim, check = of_chapter(__name__)


def _up(a: int, b: int) -> int:
    return -(-a // b)


def _event_by_event(n: int, s, o, batch: int, workers: int):
    """The time at which the last batch ends, if each free worker takes the next batch."""
    free = [0] * workers
    for start in range(0, n, batch):
        heapq.heappush(free, heapq.heappop(free) + min(batch, n - start) * s + o)
    return max(free)


@claim("B154")
def optimal_batch_size(seed=7, plans=60):
    N, s, o, W, b = sp.symbols("N s o W b", positive=True)
    U = (N / (b * W) + 1) * (b * s + o)
    least = (sp.sqrt(N * s / W) + sp.sqrt(o)) ** 2
    square = (sp.sqrt(b * s) - sp.sqrt(N * o / (b * W))) ** 2
    yield says(identity("$U(b)$ less the claimed least value is a square, which vanishes at $b^*$",
                        U - least - square, (U.subs(b, sp.sqrt(N * o / (W * s))), least)),
               f"$U(b)$ exceeds its least value by a square; {plans} random plans, run event by event, take $T(b)$.",
               )  # fmt: skip
    some = [(n, c, w) for n in range(1, 41) for c in range(1, 13) for w in range(1, 8)]
    yield also(cases("rounding up twice equals rounding up once, and adds less than one",
                     *(_up(_up(n, c), w) == _up(n, c * w) < Fraction(n, c * w) + 1 for n, c, w in some),
                     where="up to 40 items, batches of 12 and 7 workers"))  # fmt: skip

    whole, free = _plans(seed, plans)
    events = [_event_by_event(*plan) for plan in whole]
    yield also(bounded("no plan is below $Ns/W + o$", [n * s / w + o for n, s, o, c, w in whole], events))
    yield also(agreement("the formula in the code against sweeps simulated event by event",
                         [time_needed(n, s, overhead=o, batch=c, workers=w) for n, s, o, c, w in whole],
                         events))  # fmt: skip

    def upper(n, s, o, w, c):
        return (n / (c * w) + 1) * (c * s + o)

    chosen = [best_batch_size(n, s, overhead=o, workers=w) for n, s, o, w in free]
    limits = [upper(*plan, c) for plan, c in zip(free, chosen, strict=True)]
    bounds = [time_bound(n, s, overhead=o, workers=w) for n, s, o, w in free]
    best = [min(upper(*plan, c) for c in range(1, plan[0] + 1)) for plan in free[:60]]
    yield also(bounded("the time with the chosen batch is below $U$, including a shorter last batch",
                       [_event_by_event(n, s, o, c, w) for (n, s, o, w), c in zip(free, chosen, strict=True)],
                       limits))  # fmt: skip
    yield also(bounded("the chosen batch is within 2 % of the best integer", limits[:60], np.multiply(best, 1.02)))
    yield also(bounded("the bound in the code is at most 5 % below that for batches of ten or more",
                       [u / t for u, t, c in zip(limits, bounds, chosen, strict=True) if c >= 10], 1.05))  # fmt: skip
    yield also(bounded("and is never above it", bounds, limits))


def _plans(seed: int, plans: int) -> tuple[list[tuple], list[tuple]]:
    """Random sweeps in whole batches (n, s, o, batch, workers), and larger ones for which the batch is chosen."""
    rng, whole = np.random.default_rng(seed), []
    for _ in range(plans):
        batches, size = int(rng.integers(1, 40)), int(rng.integers(1, 30))
        seconds, overhead = (Fraction(int(rng.integers(1, 99)), 10) for _ in range(2))
        whole.append((batches * size, seconds, overhead, size, int(rng.integers(1, 9))))
    return whole, [(10 * n, float(s), float(o), w) for n, s, o, _, w in whole]


def _swept(points: int = 6) -> dict:
    """A small sweep, run in one go, in batches, and resumed."""
    points = [{"model": cr.dist1(epsilon), "sizes": [3, 2]} for epsilon in np.linspace(0.05, 0.45, points)]
    with TemporaryDirectory() as folder:
        how = {"rng": 7, "folder": folder, "batch": 2}
        first = sweep_in_batches(count_questions, points, 2, **how)
        files = sorted(Path(folder).glob("*.csv"))
        whole = [path.read_bytes() for path in files]
        files[1].unlink()
        kept = files[0].stat().st_mtime_ns
        resumed = sweep_in_batches(count_questions, points, 2, **how)
        return {"in_one_go": sweep(count_questions, points, 2, rng=7), "first": first, "resumed": resumed,
                "untouched": kept == files[0].stat().st_mtime_ns,
                "same_files": whole == [path.read_bytes() for path in files]}  # fmt: skip


@claim("B155")
def same_results_in_any_mode(swept=None):
    swept, columns = _swept() if swept is None else swept, ["repetition", "node", "edge"]
    cluster = measured.read("cluster")
    full, tasks = (cluster[cluster["kind"] == kind]["result"].astype(int).tolist() for kind in ("scaling", "sweep"))
    yield says(agreement("a sweep in batches, and one resumed after half of its files were lost, against one in one go",
                         np.stack([swept["first"][columns], swept["resumed"][columns]]).ravel().tolist(),
                         np.stack([swept["in_one_go"][columns]] * 2).ravel().tolist()),
               f"All {len(swept['first'])} rows are the same in one go, in batches, and after half of the files were "
               "lost.")  # fmt: skip
    yield agreement("questions of the benchmark repetitions, with one process, two, and both Dask clusters", full,
                    full[:1] * len(full))  # fmt: skip
    yield agreement("questions of all timed sweeps", tasks, tasks[:1] * len(tasks))
    yield also(cases("existing files are not rewritten, and lost ones are restored byte for byte",
                     swept["untouched"], swept["same_files"], where="one sweep"))  # fmt: skip


@claim("B156")
def prediction_of_the_time(tasks=None):
    if tasks is None:
        tasks = measured.read("cluster").query("kind == 'sweep'")
        tasks = tasks.assign(predicted=[
            time_needed(row.tasks, (row.each + row.after) / 2, overhead=row.overhead, batch=int(row.batch),
                        workers=row.workers) for row in tasks.itertuples()])  # fmt: skip
    off = np.log(tasks["seconds"] / tasks["predicted"])
    yield says(exceeds("mean logarithm of time over prediction: above one half, and below two",
                       [off.mean() + np.log(2), np.log(2) - off.mean()], off.std(ddof=1) / np.sqrt(len(off)),
                       size=len(off)),
               f"On average {len(off)} sweeps took {np.exp(off.mean()):.2f} times the predicted time.")  # fmt: skip
