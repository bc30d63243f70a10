"""Every claim on its small defaults, without a notebook: a formula that broke is named in seconds."""

from pathlib import Path

import pytest

from book.claims import load
from book.reports.ledger import find_code, find_test

ROOT = Path(__file__).resolve().parents[2]

CLAIMS = load()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_the_evidence_gives_the_declared_status_and_basis(claim):
    facts = claim.record(claim.gather())
    failed = [f"{piece['what']}: {piece['figure']}" for piece in facts["evidence"] if not piece["holds"]]
    assert (facts["status"], facts["basis"]) == (claim.status, claim.basis), "; ".join(failed)


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_the_code_and_the_tests_that_it_names_exist(claim):
    missing = [name for name in claim.code if find_code(ROOT, name) is None]
    assert missing + [name for name in claim.test if find_test(ROOT, name) is None] == []
