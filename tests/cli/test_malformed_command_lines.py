"""Command lines that nobody should write: one clear message, exit code 2, and nothing left behind."""

import os
import random
import resource
import signal
import socket
import stat
from collections import Counter
from pathlib import Path

import pytest

import smoothcert as sc

LINES = 500  # to choose from
EACH = 2  # lines, at least, for every place of a command that they have a wrong value for
SECONDS = 5  # more than any refusal takes, however busy the machine
MEMORY = 2**30  # bytes, beyond what the tests have taken up

NASTY = (
    "",
    " ",
    "[/b]",
    "[bold]x",
    "\x1b[2J\x1b]0;x\x07",
    "a\nb",
    "a\0b",
    "\udcff",
    "\u202egnp",
    "%s%n",
    "x" * 5_000,
)
NUMBERS = ("nan", "inf", "-inf", "1e400", "1e-400", "-1", "0x10", "1,5", "one", "--", *NASTY)
WHOLE = ("1.5", "-5", "0", "9" * 30, "9" * 5_000, "1e3", "٣x", *NUMBERS)
LEVELS = ("0", "1", "2", "-0.5", *NUMBERS)
NAMES = ("nothing-such", "..", "/", *NASTY)
RANGES = ("5:2", "a:b", "::", "-1:3", "0:99999999999999999999", "9" * 5_000, "1e9:2e9", *NASTY)
LISTS = (",", "1,,2", "1;2", "nan,1", "-1,2", "inf", ",".join(["0.1"] * 100_000), *NASTY)
PLACES = (
    "missing",
    "file",
    "device",
    "pipe",
    "socket",
    "loop",
    "",
    "a\0b",
    "x" * 5_000,
    "\udcff",
    "[/b]",
    "\x1b[31m",
)
NOT_FOLDERS = ("file", "device", "pipe", "socket", "file/below", "", "a\0b", "x" * 5_000)
WRITTEN = (
    "folder",
    "device",
    "pipe",
    "socket",
    "missing/x.csv",
    "x.xlsx",
    "",
    ".",
    "a\0b",
    "x" * 5_000,
    "link.csv",
)
SEEDS = ("-1", "1.5", str(2**128), "9" * 5_000, "0x1", "seed", *NASTY)

IMAGES = {"--every": WHOLE, "--first": WHOLE, "--indices": RANGES, "--dataset": NAMES, "--data-dir": ()}
NOISE = {"--noise": NAMES, "--sigma": ("0", "1e9", "1e-9", *NUMBERS), "--keep": ("0", "1", "0.5", *NUMBERS)}
NOISE |= {"--levels": ("1", "65537", *WHOLE)}
HOW = {"--alpha": LEVELS, "--seed": SEEDS, "--workers": ("1025", "100000", *WHOLE), "--engine": NAMES}

# Of each command: what makes it work, quickly, and values that each of its arguments and options must refuse.
COMMANDS = {
    "certify": (
        ["MODEL", "--out", "new", "--n0", "64", "--n", "64", "--first", "1"],
        {
            "MODEL": PLACES,
            "--out": NOT_FOLDERS,
            **IMAGES,
            **NOISE,
            **HOW,
            "--procedure": NAMES,
            "--radius": ("0.1", "1e10", *NUMBERS),
            "--radii": ("0.1", *LISTS),
            "--n0": ("100000001", *WHOLE),
            "--n": ("100000001", *WHOLE),
            "--tolerance": ("0.1", *NUMBERS),
            "--stages": ("1,2", *LISTS),
            "--beta": ("0.01", *LEVELS),
            "--batch-size": ("9999999999", *WHOLE),
        },
    ),
    "predict": (
        ["MODEL", "--indices", "0:1", "--n", "64"],
        {"MODEL": PLACES, "--dataset": NAMES, "--indices": RANGES, "--n": WHOLE, **NOISE, **HOW},
    ),
    "attack": (
        ["MODEL", "--out", "new", "--first", "1", "--steps", "1", "--m", "1", "--n", "64", "--radii", "0.1"],
        {
            "MODEL": PLACES,
            "--out": NOT_FOLDERS,
            **IMAGES,
            **HOW,
            "--radii": LISTS,
            "--method": NAMES,
            "--steps": WHOLE,
            "--m": WHOLE,
            "--n": WHOLE,
            "--run": PLACES,
            "--noise": NAMES,
            "--sigma": NUMBERS,
        },
    ),
    "train": (
        ["digits-gaussian", "--out", "new", "--epochs", "1", "--max-train-images", "64"],
        {
            "digits-gaussian": (*NAMES, "file", "device", "pipe", "folder"),
            "--out": NOT_FOLDERS,
            "--sigma": ("0.77", *NUMBERS),
            "--keep": ("0.8", *NUMBERS),
            "--model": NAMES,
            "--heads": WHOLE,
            "--split": NAMES,
            "--epochs": WHOLE,
            "--max-train-images": WHOLE,
            "--set": (
                "lr",
                "=1",
                "no_such=1",
                "lr=nan",
                "lr=-1",
                "batch_size=0",
                "epochs=[",
                "lr={}",
                *NASTY,
            ),
            "--seed": SEEDS,
            "--devices": ("64", *WHOLE),
            "--accelerator": NAMES,
            "--members": ("1", "100001", *WHOLE),
            "--from": PLACES,
            "--classifier": PLACES,
        },
    ),
    "sweep": (
        ["digits-gaussian", "--over", "lr", "--values", "0.1", "--out", "new", "--epochs", "1"],
        {
            "digits-gaussian": (*NAMES, "device", "pipe"),
            "--over": NAMES,
            "--values": ("", ",", "0.1,0.1", "nan", "[/b]", "a\0b", "{"),
            "--out": NOT_FOLDERS,
            "--sigma": NUMBERS,
            "--model": NAMES,
            "--epochs": WHOLE,
            "--set": ("lr", "=1", *NASTY),
            "--seed": SEEDS,
            "--first": WHOLE,
            "--indices": RANGES,
            "--n0": WHOLE,
            "--n": WHOLE,
            "--alpha": LEVELS,
            "--workers": WHOLE,
        },
    ),
    "ensemble": (
        ["MODEL", "MODEL", "--out", "new"],
        {
            "MODEL": PLACES,
            "--out": NOT_FOLDERS,
            "--rule": NAMES,
            "--weights": ("1", "1,2,3", "0,0", *LISTS),
            "--consensus": ("3", *WHOLE),
            "--fit": NAMES,
            "--dataset": NAMES,
            "--images": WHOLE,
            "--draws": WHOLE,
            "--seed": SEEDS,
        },
    ),
    "analyze": (
        ["RUN"],
        {
            "RUN": (*PLACES, "folder"),
            "--norm": ("l0", "l7", *NASTY),
            "--radii": ("1e10", *LISTS),
            "--against": (*PLACES, "folder"),
            "--dataset": ("digits",),
            "--images": ("5",),
            "--out": ("new", *NOT_FOLDERS),
        },
    ),
    "export": (
        ["RUN", "-o", "new.tsv"],
        {"RUN": PLACES, "-o": WRITTEN, "--format": NAMES, "--norm": ("l0", "l7", *NASTY)},
    ),
    "demo": ([], {"--out": NOT_FOLDERS, "--seed": SEEDS, "--workers": ("100000", *WHOLE)}),
    **{
        name: (["digits"], {"digits": tuple(text for text in NAMES if text.strip("./"))})
        for name in ("recipes", "datasets", "models", "methods")
    },
}
# What is not an option of the command at all, or lacks its value.
BROKEN = (
    "--no-such",
    "-z",
    "--=",
    "---",
    "--no\udcff",
    "--\x1b[2J",
    "--[/b]=1",
    "--json=1",
    "--out",
    "--seed",
)


def chosen_lines():
    """Those command lines that bring a value that is new, or a place of a command that few have had."""
    places, values, lines = Counter(), set(), []
    for place, value, line in command_lines():
        if (places[place] < EACH or value not in values) and line not in lines:
            lines.append(line)
        places[place] += 1
        values.add(value)
    return lines


def command_lines():
    """Yield (command and place, value, command line): each has one value that must be refused, some have two."""
    chance = random.Random(20)
    wrong = [
        (command, place, value)
        for command, (_, places) in COMMANDS.items()
        for place, values in places.items()
        for value in values
    ]
    chance.shuffle(wrong)
    for number in range(LINES):
        if number % 10 == 9:
            command = chance.choice(list(COMMANDS))
            broken = chance.choice(BROKEN)
            yield (command, "broken"), broken, [command, *COMMANDS[command][0], broken]
            continue
        command, place, value = wrong[number]
        base = list(COMMANDS[command][0])
        if chance.random() < 0.2:  # a second one
            other = chance.choice([name for name, values in COMMANDS[command][1].items() if values])
            base = changed(base, other, chance.choice(COMMANDS[command][1][other]))
        yield (command, place), value, [command, *changed(base, place, value)]


def changed(words, place, value):
    """Put a value in its place: instead of an argument, instead of an option's value, or at the end."""
    if not place.startswith("-"):
        return [value if word == place else word for word in words]
    if place in words:
        spot = words.index(place) + 1
        return [*words[:spot], value, *words[spot + 1 :]]
    return [*words, place, value]


@pytest.fixture(scope="module")
def places(tmp_path_factory, model_folder):
    """What stands at the places that command lines name, beside the folder they run in."""
    home = tmp_path_factory.mktemp("places")
    (home / "file").write_text("text")
    (home / "folder").mkdir()
    os.mkfifo(home / "pipe")
    (home / "loop").symlink_to("loop")
    (home / "link.csv").symlink_to("file")
    here = Path.cwd()
    os.chdir(home)  # a socket's path must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    os.chdir(here)
    run = home / "run"
    how = {
        "procedure": sc.FixedSample(n0=64, n=64),
        "indices": [0],
        "seed": 1,
        "workers": 1,
        "engine": "torch",
    }
    sc.certify(sc.load_classifier(model_folder), sc.load_dataset("digits"), out=run, **how)
    found = {
        name: str(home / name)
        for name in ("file", "folder", "pipe", "socket", "loop", "link.csv", "file/below")
    }
    return {**found, "device": device(home), "MODEL": str(model_folder), "RUN": str(run)}


def device(home):
    """An endless device of our own; whoever cannot make one cannot harm the machine's either."""
    try:
        os.mknod(home / "device", stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        return "/dev/zero"
    return str(home / "device")


def contents(*folders):
    return [
        (str(path), path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for folder in folders
        for path in sorted(Path(folder).rglob("*"))
    ]


@pytest.mark.slow  # half a minute, all together
@pytest.mark.parametrize("line", chosen_lines(), ids=lambda line: ascii(" ".join(line))[1:90])
def test_one_message_exit_code_2_and_nothing_left_behind(
    line, smoothcert, places, tmp_path, monkeypatch, bounds
):
    monkeypatch.chdir(tmp_path)
    outside = [Path(places["file"]).parent]
    before = contents(*outside)
    code, out, err = smoothcert(*(places.get(word, word) for word in line))
    assert code == 2, (out, err)
    assert out == ""
    assert err.strip()
    assert "Traceback" not in err
    # Ours are one line; those of the parser of options have a frame around them.
    assert err.count("\n") == 1 if err.startswith("error: ") else "Error" in err
    assert all(character.isprintable() or character == "\n" for character in err)
    assert len(err) < 3_000
    assert list(tmp_path.iterdir()) == []
    assert contents(*outside) == before


class Hangs(BaseException):
    """Not an error that a command could take for one of its own."""


@pytest.fixture
def bounds():
    """Fail where a command hangs or fills the memory, before the machine does."""

    def interrupt(*_):
        raise Hangs

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = signal.signal(signal.SIGALRM, interrupt)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    signal.signal(signal.SIGALRM, before)


def test_the_chosen_ones_have_every_command_and_value_that_there_is_to_choose_from():
    lines = [tuple(line) for line in chosen_lines()]
    assert len(lines) == len(set(lines)) >= 200
    assert {line[0] for line in lines} == set(COMMANDS)
    for _, value, _ in command_lines():
        assert any(value in line for line in lines)
