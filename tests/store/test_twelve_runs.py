"""The votes and certificates of twelve seeds, as they were when first stored."""

import pytest

from store.twelve_runs import RUNS, exported, stored


@pytest.mark.parametrize("name", RUNS)
def test_exports_and_votes_are_the_stored_ones(name, tmp_path):
    expected = stored(name)
    found = exported(name, expected["seed"], tmp_path / "run", workers=1)
    assert found["votes"] == expected["votes"]
    assert found["rows"] == expected["rows"]


def test_a_vote_moved_would_be_seen(tmp_path):
    """The comparison can fail: another seed gives other votes."""
    expected = stored("gaussian-fixed")
    found = exported("gaussian-fixed", expected["seed"] + 1, tmp_path / "run", workers=1)
    assert found["votes"] != expected["votes"]
    assert found["rows"] != expected["rows"]
