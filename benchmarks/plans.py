"""Plans of labelled records: do the intervals hold, and how much is found when the upper end is behind?

    python benchmarks/plans.py FOLDER [--samples 3] [--records 800] [--results FOLDER]

FOLDER has CSV files with a column ``label`` (the entity). A sample has the records of random entities; `needed` is the
number of questions after which edge ordering has found 95 % of their matches. The plan is made before any answer and
after the pilot; then more questions are asked, as in the README, until as many are answered as the plan's upper end
says. Files in a folder ``chosen-on`` inside FOLDER are those on which the constants of the plan were chosen.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from common import arguments, results_folder

import crowder as cr
from crowder.practice.batch import pilot
from crowder.practice.votes import settle


def sample(frame: pd.DataFrame, records: int, rng: np.random.Generator) -> pd.DataFrame:
    """The records of random entities, about as many as wanted."""
    order = rng.permutation(frame["label"].unique())
    total = np.cumsum(frame["label"].value_counts()[order].to_numpy())
    return frame[frame["label"].isin(order[: max(2, np.searchsorted(total, records))])].reset_index(drop=True)


def tried(frame: pd.DataFrame, seed: int) -> dict[str, float]:
    """Two plans, their actual numbers, and how the recipe ends."""
    truth = frame["label"].factorize()[0]
    plan = cr.practice.Plan(frame, ordering="edge", rng=seed)
    values = plan.candidates
    first = plan.actual(truth)["questions"].iloc[0]
    row = {"records": len(frame), "matches": int((np.bincount(truth) * (np.bincount(truth) - 1) // 2).sum())}
    row |= {"needed": first, **_interval("before", plan, first)}
    pairs: list[tuple[int, int]] = []
    same: list[bool] = []
    while len(same) < plan.table["to"].iloc[0] and (batch := plan.batch(50 + len(same) // 4)):
        batch = batch if pairs else pilot(values)
        pairs += batch
        same += [bool(truth[i] == truth[j]) for i, j in batch]
        plan = cr.practice.Plan(values, ordering="edge", answers=(pairs, same), rng=seed)
        if len(pairs) == len(batch):
            row |= _interval("pilot", plan, plan.actual(truth)["questions"].iloc[0])
    votes = [(i, j, yes, "crowd") for (i, j), yes in zip(pairs, same, strict=True)]
    found = np.bincount(settle(len(truth), votes).clusters)
    return row | {"asked": len(same), "recall": (found * (found - 1) // 2).sum() / row["matches"]}


def _interval(stage: str, plan: cr.practice.Plan, actual: int) -> dict[str, float]:
    low, middle, high = plan.table[["from", "questions", "to"]].iloc[0].tolist()
    return {f"{stage}_from": low, stage: middle, f"{stage}_to": high, f"{stage}_actual": int(actual)}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--records", type=int, default=800)
    options = parser.parse_args()
    rows = []
    for path in sorted(options.folder.rglob("*.csv")):
        frame = cr.practice.read_records(path)
        for seed in range(options.samples):
            rng = np.random.default_rng([2017, seed])
            part = frame if len(frame) <= options.records else sample(frame, options.records, rng)
            chosen_on = path.parent.name == "chosen-on"
            rows.append({"data": path.stem, "chosen_on": chosen_on, "sample": seed, **tried(part, seed)})
            table = pd.DataFrame(rows)
            table.to_csv(results_folder(options) / "plans.csv", index=False, float_format="%.6g")
            if len(part) == len(frame):
                break


if __name__ == "__main__":
    main()
