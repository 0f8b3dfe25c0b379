"""Options that members bring: from their fields and sentences, made when a command runs, each member's own."""

import subprocess
import sys
from dataclasses import dataclass

import pytest
import typer

from extension.installing import commands
from outside import NOISE as LAWS
from outside import write_package
from smoothcert.cli.members import (
    EXITS,
    NOISE,
    PROCEDURE,
    CommandOption,
    MemberGroup,
    choose_early_exit,
    command_with,
)
from smoothcert.cli.members.help_text import help_text
from smoothcert.ensembles import EARLY_EXITS
from smoothcert.errors import InvalidArgumentError
from smoothcert.options import options_of
from smoothcert.registry import Package

LAW = '''
"""Gaussian noise that is wider than it says, for a test."""

from dataclasses import dataclass

from smoothcert.noise import Gaussian, NoiseLaw


@dataclass(frozen=True)
class Padded(NoiseLaw):
    """Gaussian noise of standard deviation width x stretch.

    Args:
        width: standard deviation before stretching, in pixel units.
        {option}: how much wider the noise is than the width.
    """

    width: float
    {option}: float = 1.0
    norm = "l2"

    @property
    def _law(self):
        return Gaussian(self.width * self.{option})

    @property
    def std(self):
        return self._law.std

    def perturb(self, image, out, generator):
        self._law.perturb(image, out, generator)

    def parameters(self):
        return {{"width": float(self.width), "{option}": float(self.{option})}}

    def radius(self, p_lower):
        return self._law.radius(p_lower)

    def threshold(self, radius):
        return self._law.threshold(radius)
'''


def installed(folder, option="stretch"):
    """Install a package with one law, in one file, by an entry point."""
    write_package(folder, LAWS, "padded", LAW.format(option=option), package="padded-noise")
    return folder


@pytest.mark.slow
def test_a_law_from_outside_brings_its_options(refused, model_folder, tmp_path):
    home = installed(tmp_path)
    few = ("--first", 2, "--n0", 20, "--n", 100, "--engine", "torch", "--workers", 1, "--seed", 3)
    certify = ("certify", model_folder, *few, "--out")
    told = ("--noise", "padded", "--width", 0.1, "--stretch", 2.5)
    mistakes = {
        "noise 'gaussian' takes no stretch (got 2.0); it takes sigma": ("--stretch", 2),
        "noise 'padded' needs width": ("--noise", "padded", "--stretch", 2),
        "noise 'padded' takes no sigma (got 0.5); it takes width, stretch": (*told, "--sigma", 0.5),
    }
    help_text, made, exported, answered, *wrong = commands(
        home,
        ("certify", "--help"),
        (*certify, tmp_path / "run", *told),
        ("export", tmp_path / "run", "-o", tmp_path / "run.tsv"),
        ("predict", model_folder, "--indices", "0:1", "--n", 64, *told),
        *((*certify, tmp_path / "other", *options) for options in mistakes.values()),
        columns=200,
    )
    for code, _, err in (help_text, made, exported, answered):
        assert code == 0, err
    help_line = next(line for line in help_text[1].splitlines() if "--stretch" in line)
    assert "How much wider the noise is than the width (padded)." in help_line
    assert "gaussian, grid-gaussian, laplace, padded, uniform" in help_text[1]
    assert len((tmp_path / "run.tsv").read_text().splitlines()) == 1 + 2
    for sentence, answer in zip(mistakes, wrong, strict=True):
        assert sentence in refused(answer)
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_an_option_that_a_command_has_already_is_refused_by_package(refused, tmp_path):
    home = installed(tmp_path, option="out")
    taken, (code, out, err) = commands(home, ("certify", "--help"), ("--help",), columns=200)
    sentence = refused(taken)
    assert "noise 'padded' of package padded-noise 1.2 has an option --out" in sentence
    assert "`smoothcert certify` takes for something else" in sentence
    assert code == 0, err  # which asks no member
    assert "certify" in out


def test_the_help_of_the_program_imports_no_member():
    code = (
        "import sys; from smoothcert.cli.members import OptionGroup; from smoothcert.cli.app import app\n"
        "def refuse(self, *_): raise AssertionError(self.key)\n"
        "import smoothcert.cli.members.group as group, smoothcert.cli.members.rows as rows\n"
        "group.MemberGroup.options = rows.RowOptions.options = refuse\n"
        "app(['--help'], standalone_mode=False)\n"
        "try: app(['certify', '--help'], standalone_mode=False)\n"
        "except AssertionError as error: print('asked', error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "asked noise"


@dataclass(frozen=True)
class Plain:
    """A member.

    Args:
        n: votes that bound it; in whole chunks.
        radius: the radius to prove, in [0, 1].
        grid: several of them.
        quiet: say less.
    """

    n: int = 1_000
    radius: float | None = None
    grid: tuple[float, ...] = (0.0, 0.5)
    quiet: bool = False

    options = classmethod(options_of)


@dataclass(frozen=True)
class Other:
    """Another member.

    Args:
        n: most votes.
        radius: the radius to prove, in [0, 1]; without one, the largest.
        eager: begin at once.
    """

    n: int = 2_000
    radius: float | None = None
    eager: bool = True

    options = classmethod(options_of)


class Members(dict):
    kind = "member"

    def package_of(self, name):
        return Package("elsewhere", "0.1") if name == "other" else None


def group_of(**members):
    return MemberGroup(Members(members), "member", "Members", default="plain")


@pytest.fixture
def given():
    """Parse a command line of a command with one group; return its values."""

    def parse(group, *words):
        seen = {}

        def command(ctx: typer.Context) -> None:
            seen.update(group.given(ctx))

        app = typer.Typer(add_completion=False)
        app.command(cls=command_with(group))(command)
        app(list(words), standalone_mode=False)
        return seen

    return parse


def test_what_is_not_given_is_not_there(given):
    group = group_of(plain=Plain, other=Other)
    assert given(group) == {"member": "plain"}
    words = ["--member", "other", "--n", "5", "--no-eager", "--grid", "1,2", "--quiet"]
    told = {"member": "other", "n": 5, "eager": False, "grid": "1,2", "quiet": True}
    assert given(group, *words) == told


def test_one_option_says_what_each_taker_says():
    options = {option.name: option for option in group_of(plain=Plain, other=Other).options()}
    assert options["member"].text == "plain, other."
    assert options["n"].text == (
        "Votes that bound it (plain); most votes (other); by default 1,000 (plain), 2,000 (other)."
    )
    assert options["radius"].text == "The radius to prove, in [0, 1]; without one, the largest (other)."
    assert options["grid"].text == "Several of them (plain); 0.0,0.5 by default."
    assert options["eager"].spellings == ["--eager", "--no-eager"]
    assert options["quiet"].spellings == ["--quiet"]


def test_a_single_taker_is_named_once():
    keep = {option.name: option for option in options_of(Plain)}["n"]
    assert help_text({"plain": keep}, members=2) == (
        "Votes that bound it; in whole chunks (plain); 1,000 by default."
    )
    assert "(plain)" not in help_text({"plain": keep}, members=1)


def test_an_option_of_another_kind_is_refused_by_package():
    @dataclass(frozen=True)
    class Odd:
        """A member.

        Args:
            n: how.
        """

        n: str = "much"
        options = classmethod(options_of)

    with pytest.raises(
        InvalidArgumentError, match=r"'other' of package elsewhere 0\.1 .* --n of another kind"
    ):
        group_of(plain=Plain, other=Odd).options()


def test_two_groups_cannot_have_one_option(given):
    double = group_of(plain=Plain, other=Other)
    double.more = [CommandOption("n", int, "Again.", owner="member 'other' of package elsewhere 0.1")]
    with pytest.raises(InvalidArgumentError, match=r"elsewhere 0\.1 has an option --n, which"):
        given(double)


@pytest.mark.parametrize("group", [NOISE, PROCEDURE])
def test_every_option_of_every_member_is_there_with_a_sentence(group):
    options = {option.name: option for option in group.options()}
    for name in group.registry:
        for option in group.registry[name].options():
            assert options[option.name].kind is option.kind
            assert len(options[option.name].text) > 15
    assert len(options) == len(group.options())


@dataclass(frozen=True)
class SureFirst:
    """Ask the others only where the first member is in doubt.

    Args:
        margin: lead of its top class that is sure, in (0, 1).
        patience: members asked at least.
    """

    margin: float
    patience: int = 1
    rule = "soft"

    def __post_init__(self):
        if not 0 < self.margin < 1:
            raise InvalidArgumentError(f"margin must lie between 0 and 1, got {self.margin}")

    options = classmethod(options_of)

    @classmethod
    def from_options(cls, given):
        return cls(**given)


@pytest.fixture
def one_more_exit(monkeypatch):
    """Early exits of this package and one of another."""
    exits = {name: EARLY_EXITS[name] for name in EARLY_EXITS}
    monkeypatch.setattr("smoothcert.ensembles.EARLY_EXITS", Members(exits, **{"sure-first": SureFirst}))


def test_an_early_exit_is_chosen_by_its_name_and_told_by_options_that_begin_with_it(one_more_exit, given):
    texts = {option.name: option.text for option in EXITS.options()}
    assert texts["sure-first"] == "Ask the others only where the first member is in doubt (rule soft)."
    assert texts["sure-first-margin"] == "Lead of its top class that is sure, in (0, 1)."
    assert {"consensus", "adaptive", "adaptive-threshold", "adaptive-alpha"} < set(texts)
    words = ["--sure-first", "--sure-first-margin", "0.5"]
    assert choose_early_exit(given(EXITS, *words)) == SureFirst(0.5)
    assert choose_early_exit(given(EXITS, "--consensus", "3")).k == 3
    assert choose_early_exit(given(EXITS)) is None


@pytest.mark.parametrize(
    "words, sentence",
    [
        ("--sure-first-patience 2", "--sure-first-patience is for sure-first prediction: add --sure-first"),
        ("--sure-first", "--sure-first needs --sure-first-margin (lead of its top class"),
        ("--sure-first --sure-first-margin 2", "--sure-first-margin must lie between 0 and 1, got 2.0"),
        ("--sure-first --sure-first-margin .5 --consensus 2", "both stop early; choose one of them"),
        ("--consensus 0", "--consensus must be an integer from 1 to the members of the ensemble, got 0"),
    ],
)
def test_what_an_early_exit_cannot_be_told_is_refused_as_it_was_typed(one_more_exit, given, words, sentence):
    told = given(EXITS, *words.split())
    with pytest.raises(InvalidArgumentError) as refusal:
        choose_early_exit(told)
    assert sentence in str(refusal.value)
