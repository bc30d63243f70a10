"""Fixtures: the records of cora, where they are at hand.

They are looked for in CROWDER_CORA and beside the project. Absent, the tests that need them are skipped; but not where
CROWDER_REQUIRE says "cora" (as CI does): there they fail.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest
from needing import missing

from crowder.records import CORA_VARIABLE, cora_records

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "cora.csv"


@pytest.fixture(scope="session")
def cora_path() -> Path:
    """The file of cora's records."""
    path = Path(os.environ.get(CORA_VARIABLE) or BESIDE)
    if not path.is_file():
        missing("cora", f"{CORA_VARIABLE} leads to no file, and there is no ../shared/data/cora.csv")
    return path


@pytest.fixture(scope="session")
def cora_frame(cora_path: Path) -> pd.DataFrame:
    """The records themselves."""
    return cora_records(cora_path)
