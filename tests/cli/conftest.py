"""What the tests of several commands share."""

import sys

import pytest

from smoothcert.cli.app import main


@pytest.fixture
def smoothcert(monkeypatch, capsys):
    """Run the command in this process; return exit code, standard output, standard error."""

    def run(*args):
        monkeypatch.setattr(sys, "argv", ["smoothcert", *map(str, args)])
        with pytest.raises(SystemExit) as end:  # also on success
            main()
        captured = capsys.readouterr()
        return end.value.code or 0, captured.out, captured.err

    return run


@pytest.fixture
def refused():
    """Check a refusal and return its one sentence; anything else than that fails."""

    def check(result):
        code, out, err = result
        assert code == 2, err
        assert out == ""
        assert err.startswith("error: ")
        assert err.count("\n") == 1, err
        assert "Traceback" not in err
        return err

    return check
