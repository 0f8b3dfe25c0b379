"""Where votes are drawn is chosen once, checked at once, and never both by workers and by an execution."""

import pytest
from typer.testing import CliRunner

import smoothcert as sc
from smoothcert.cli.app import app
from smoothcert.cli.members import command_with
from smoothcert.cli.options import where
from smoothcert.errors import InvalidArgumentError
from smoothcert.execution import chosen_execution


def test_threads_here_unless_something_else_is_chosen():
    assert chosen_execution(None, None) == sc.LocalExecution()
    assert chosen_execution(None, 3) == sc.LocalExecution(3)
    chosen = sc.RayExecution("auto", workers=2)
    assert chosen_execution(chosen, None) is chosen


def test_workers_are_not_said_twice():
    with pytest.raises(InvalidArgumentError, match=r"write RayExecution\(workers=4\)"):
        chosen_execution(sc.RayExecution(), 4)
    with pytest.raises(InvalidArgumentError, match="execution must be RayExecution"):
        chosen_execution("ray", None)


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", True])
def test_workers_are_a_positive_integer(workers):
    for kind in (sc.LocalExecution, sc.RayExecution):
        with pytest.raises(InvalidArgumentError, match="workers must be a positive integer"):
            kind(workers=workers)


@pytest.mark.parametrize(
    "address", ["ray://head:10001", "", 6379, "models/a", "net.py:make", ":1", "h:123456"]
)
def test_an_address_is_that_of_the_head(address):
    with pytest.raises(InvalidArgumentError, match="address must be host:port"):
        sc.RayExecution(address)


@pytest.mark.parametrize("patience", [0, -1.0, float("nan"), "long"])
def test_patience_is_a_time(patience):
    with pytest.raises(InvalidArgumentError, match="patience"):
        sc.RayExecution(patience=patience)


def test_the_option_becomes_an_execution():
    assert where(None, 3) == {"workers": 3}
    local = where("", 3)
    assert local["workers"] is None
    assert (local["execution"].address, local["execution"].workers) == (None, 3)
    assert where("auto", None)["execution"].address == "auto"


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (["--ray"], ["--ray="]),
        (["--ray", "--out", "a"], ["--ray=", "--out", "a"]),
        (["--ray", "auto", "--out", "a"], ["--ray", "auto", "--out", "a"]),
        (["--ray=h:1"], ["--ray=h:1"]),
        (["ray", "--rays"], ["ray", "--rays"]),
    ],
)
def test_an_option_may_stand_without_its_value(typed, read):
    class Param:
        metavar, opts = "[ADDRESS]", ["--ray"]

    class Other:
        metavar, opts = "[TEXT]", ["ray"]  # an argument, which has no dashes

    command = command_with()("certify", params=[])
    command.params = [Param, Other]
    assert command._with_values(typed) == read


@pytest.mark.parametrize("option", [["--dry-run"], ["--plan", "plan.json"]])
def test_what_draws_no_vote_is_of_this_machine(option, model_folder):
    result = CliRunner().invoke(app, ["certify", str(model_folder), *option, "--ray"])
    assert isinstance(result.exception, InvalidArgumentError)
    assert "leave --ray out" in str(result.exception)
