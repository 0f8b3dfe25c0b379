"""CERTIFYADP's boundary where its stages are very short; the published counts are checked with the procedure."""

from smoothcert.bounds.staged import staged_boundary


def test_stages_too_short_to_certify_never_do():
    boundary = staged_boundary((2, 10), 0.84, 0.001, 0.001)
    assert boundary.certify.tolist() == [3, 11]  # one more than all votes
    assert boundary.abandon.tolist()[-1] == -1
