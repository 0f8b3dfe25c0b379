"""Procedures by their files and entry points: found by name, built by options, described so that they come back."""

from pathlib import Path

import pytest

import smoothcert as sc
from outside import PROCEDURE, PROCEDURE_CODE
from smoothcert import certificates as room
from smoothcert.certificates import PROCEDURES
from smoothcert.errors import InvalidArgumentError, UnknownNameError

TAKEN = {
    "fixed": ["n0", "n", "runner-up"],
    "staged": ["radius", "stages", "beta", "n0"],
    "sequential": ["radius", "radii", "n", "beta", "n0", "tolerance"],
    "group": ["radius", "n", "beta", "n0"],
}


def test_the_names_are_those_of_the_files():
    files = Path(room.__file__).parent.joinpath("procedures").glob("[!_]*.py")
    assert set(PROCEDURES) == {file.stem for file in files} == set(TAKEN)
    for name in PROCEDURES:
        assert PROCEDURES[name].procedure_name == name
        assert PROCEDURES.package_of(name) is None


@pytest.mark.parametrize("name", TAKEN)
def test_options_are_the_fields_with_their_sentences(name):
    options = PROCEDURES[name].options()
    assert [option.name for option in options] == TAKEN[name]
    assert all(option.text.endswith(".") and "\n" not in option.text for option in options)
    assert [option.name for option in options if option.required] == (
        ["radius"] if name in ("staged", "group") else []
    )


@pytest.mark.parametrize(
    "name, given, expected",
    [
        ("fixed", {"n": 500, "runner-up": True, "n0": None}, sc.FixedSample(n=500, runner_up=True)),
        ("staged", {"radius": 0.5, "stages": (10, 20)}, sc.Staged(radius=0.5, stages=(10, 20))),
        ("sequential", {"radii": (0.0, 0.5), "n": 99}, sc.Sequential(radii=(0, 0.5), max_samples=99)),
        ("sequential", {"tolerance": 0.1}, sc.Sequential(tolerance=0.1)),
        ("group", {"radius": 0.5, "beta": 0.1}, sc.GroupSequential(radius=0.5, beta=0.1)),
    ],
)
def test_a_procedure_by_its_options(name, given, expected):
    assert PROCEDURES[name].from_options(given) == expected


@pytest.mark.parametrize(
    "name, given, message",
    [
        (
            "group",
            {"radius": 0.5, "radii": (0,)},
            "procedure 'group' takes no --radii; it takes --radius, --n",
        ),
        ("fixed", {"max-samples": 9}, "takes no --max-samples; it takes --n0, --n, --runner-up"),
        ("staged", {"radius": None}, "procedure 'staged' needs to know what to prove: add --radius 0.25"),
        ("sequential", {"max_samples": 9}, "takes no --max_samples"),
    ],
)
def test_what_a_procedure_does_not_take_or_lacks(name, given, message):
    with pytest.raises(InvalidArgumentError, match=message):
        PROCEDURES[name].from_options(given)


def test_a_procedure_of_another_package(outside, classifier, digits):
    outside.install(PROCEDURE, "hoeffding", PROCEDURE_CODE)
    procedure = PROCEDURES["hoeffding"].from_options({"n": 400})
    assert procedure.describe() == {"name": "hoeffding", "n": 400}
    assert procedure.targets == ()
    certificate = classifier.certify(digits.image(0), procedure=procedure, seed=1, workers=1)
    assert certificate.samples == 450
    outside.install(PROCEDURE, "demanding", PROCEDURE_CODE.replace("n: int = 1_000", "n: int"))
    kind = PROCEDURES["demanding"]
    assert kind.rival(0.5, 0.25) is None
    with pytest.raises(InvalidArgumentError, match=r"needs --n \(votes that bound the class\); add it"):
        kind.from_options({})


def test_a_procedure_in_a_file_of_a_taken_name_is_not_described_as_that_one():
    class Mine(sc.FixedSample):
        __module__ = "somewhere.fixed"

    name = Mine(n=10).describe()["name"]
    assert name != "fixed"
    with pytest.raises(UnknownNameError):
        PROCEDURES[name]


@pytest.mark.parametrize(
    "procedure, targets",
    [
        (sc.FixedSample(), ()),
        (sc.Sequential(), ()),
        (sc.Sequential(radius=0), (0,)),
        (sc.Sequential(radii=(0.5, 0, 0.25)), (0, 0.25, 0.5)),
        (sc.Staged(radius=0.5), (0.5,)),
        (sc.GroupSequential(radius=0.5), (0.5,)),
    ],
)
def test_targets(procedure, targets):
    assert procedure.targets == targets
