"""Laws by their files and by entry points of other packages: found by name, built by options, told apart."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import smoothcert as sc
from outside import LAW, NOISE, write_package
from smoothcert import noise as room
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.noise import NOISE_LAWS, noise_from

SCRIPT = """
import sys
from smoothcert.noise import NOISE_LAWS, noise_from
assert "tilted" in NOISE_LAWS and "tilted" not in sys.modules, "imported before it is asked for"
kind = NOISE_LAWS["tilted"]
law = kind.from_options({"sigma": 0.25, "share-kept": 0.8})
assert noise_from(law.describe()) == law
package = NOISE_LAWS.package_of("tilted")
print(kind.law_name, law.describe(), law.option_values(), package.name, package.version, sep="|")
print([(option.name, option.kind.__name__, option.required, option.text) for option in kind.options()])
"""


@pytest.mark.slow
def test_a_law_of_another_package_is_found_by_its_entry_point(tmp_path):
    write_package(tmp_path, NOISE, "tilted", LAW)
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{SCRIPT}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    described, values = (
        "{'name': 'tilted', 'sigma': 0.25, 'share_kept': 0.8}",
        "{'sigma': 0.25, 'share-kept': 0.8}",
    )
    assert first == f"tilted|{described}|{values}|smoothcert-extra|1.2"
    assert second == str(
        [
            ("sigma", "float", True, "standard deviation, in pixel units."),
            ("share-kept", "float", False, "share of the radius that is claimed, up to 1."),
        ]
    )


def test_the_names_are_those_of_the_files():
    files = Path(room.__file__).parent.joinpath("laws").glob("[!_]*.py")
    assert set(NOISE_LAWS) == {file.stem.replace("_", "-") for file in files}
    for name in NOISE_LAWS:
        assert NOISE_LAWS[name].law_name == name
        assert NOISE_LAWS.package_of(name) is None


def test_a_law_of_another_package_takes_its_own_options_alone(outside):
    outside.install(NOISE, "tilted", LAW)
    kind = NOISE_LAWS["tilted"]
    assert kind.from_options({"sigma": 0.25, "share-kept": None}).share_kept == 0.5
    with pytest.raises(InvalidArgumentError, match=r"takes no keep \(got 0.8\); it takes sigma, share-kept"):
        kind.from_options({"sigma": 0.25, "keep": 0.8})
    with pytest.raises(
        InvalidArgumentError, match=r"needs sigma \(standard deviation, in pixel units\); give it"
    ):
        kind.from_options({})
    with pytest.raises(InvalidArgumentError, match="no float-safe form of noise 'tilted'"):
        kind(0.25).float_safe()


def test_a_package_cannot_take_a_name_or_break_the_others(outside):
    outside.install(NOISE, "broken", "raise RuntimeError('no such luck')")
    assert "broken" in NOISE_LAWS
    assert NOISE_LAWS["gaussian"] is sc.Gaussian
    with pytest.raises(
        UnknownNameError, match=r"noise 'broken' of package smoothcert-extra 1.2 .*no such luck"
    ):
        NOISE_LAWS["broken"]
    assert sc.TrainConfig(keep=None) == sc.TrainConfig()  # looks through the options of all laws
    outside.install(NOISE, "gaussian", LAW)
    with pytest.raises(UnknownNameError, match="'gaussian', a name that is taken"):
        NOISE_LAWS["uniform"]


def test_a_law_in_a_file_of_a_taken_name_is_not_described_as_that_law():
    @dataclass(frozen=True)
    class Mine(sc.Gaussian):
        __module__ = "somewhere.gaussian"

    assert Mine(0.25).law_name == "gaussian"
    assert "Mine" in Mine(0.25).describe()["name"]
    with pytest.raises(UnknownNameError, match=r"unknown noise 'somewhere\.gaussian"):
        noise_from(Mine(0.25).describe())


@pytest.mark.parametrize(
    "one, other, same",
    [
        (sc.Gaussian(0.25), sc.GridGaussian(0.25, 64), True),
        (sc.GridGaussian(0.25, 100), sc.GridGaussian(0.25, 64), True),
        (sc.Gaussian(0.25), sc.GridGaussian(0.5), False),
        (sc.Gaussian(30.0), sc.Gaussian(30.0), True),  # too wide for the grid
        (sc.Gaussian(0.25), sc.Laplace.from_sigma(0.25), False),
        (sc.DiscreteReplacement(0.8), sc.DiscreteReplacement(0.8, 3), False),
    ],
    ids=str,
)
def test_laws_that_are_the_same_but_for_rounding(one, other, same):
    assert one.is_same(other) == other.is_same(one) == same
