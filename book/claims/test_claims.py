"""Every claim on its small defaults, without a notebook: a formula that broke is named in seconds."""

import pytest

from book.claims import load

CLAIMS = load()


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS.keys())
def test_the_evidence_gives_the_declared_status_and_basis(claim):
    facts = claim.record(claim.gather())
    failed = [f"{piece['what']}: {piece['figure']}" for piece in facts["evidence"] if not piece["holds"]]
    assert (facts["status"], facts["basis"]) == (claim.status, claim.basis), "; ".join(failed)
