"""Damaged cards, weights, training states, recipes and data files: named errors only, at once and within memory.

Every field is removed, retyped and made huge; bytes are flipped, files cut short, and pipes, folders, devices, links to
themselves and bombs put in their place. What a reader still takes is what it can use.
"""

import contextlib
import gzip
import json
import os
import pickle
import random
import resource
import shutil
import signal
import struct
import zlib

import numpy as np
import pytest
import torch

import smoothcert as sc
from made_up import FORMATS, idx, write_made_up
from smoothcert.ensembles import AdaptiveEntry, HoldoutUse, load_model, read_any_card
from smoothcert.errors import SmoothcertError
from smoothcert.models import ModelCard, create_model, save_checkpoint
from smoothcert.models.denoised_folder import denoised_entry
from smoothcert.models.dncnn import DnCNN

pytestmark = pytest.mark.slow

SECONDS, MEGABYTES, LONGEST_MESSAGE = 5, 500, 5_000
RAW = "@@"  # stands for text that json.dumps would not write
VALUES = {
    "text": "x",
    "null": None,
    "yes": True,
    "negative": -1,
    "zero": 0,
    "large": 10**12,
    "huge": 10**400,
    "half": 0.5,
    "overflow": 1e308,
    "list": [[[[]]]],
    "table": {"self": {"a": 1}},
    "long text": "x" * 10**6,
    "null character": "a\0b",
    "not a character": "\ud800",
    "nan": f"{RAW}NaN",
    "infinity": f"{RAW}-Infinity",
    "digits": RAW + "9" * 5_000,
    "deep": RAW + "[" * 50_000 + "]" * 50_000,
}


class TooSlowError(BaseException):
    """Not an `Exception`, so that no reader takes it for damage."""


class EnoughError(SmoothcertError):
    """Ends a training that goes on although its state is damaged."""


@contextlib.contextmanager
def within_limits():
    """Interrupt what takes over five seconds, and let an allocation beyond 500 MB fail."""

    def interrupt(*_):
        raise TooSlowError

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    before = signal.signal(signal.SIGALRM, interrupt)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEGABYTES * 2**20, hard))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGALRM, before)


def failure_of(read):
    """What is wrong with a reader's answer; None if it took the file or refused it by a named error."""
    try:
        with within_limits():
            read()
    except SmoothcertError as error:
        return f"{len(str(error))} characters of message" if len(str(error)) > LONGEST_MESSAGE else None
    except TooSlowError:
        return f"no answer within {SECONDS} s"
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return None


class Trials:
    """Damages driven through readers, and what went wrong."""

    def __init__(self):
        self.count, self.wrong = 0, []

    def drive(self, damage, *readers):
        self.count += 1
        for number, read in enumerate(readers):
            if failure := failure_of(read):
                self.wrong.append(f"{damage} (reader {number}): {failure}")

    def must_be_at_least(self, count):
        assert not self.wrong, f"{len(self.wrong)} of {self.count}:\n" + "\n".join(self.wrong[:60])
        assert self.count >= count, f"only {self.count} trials"


def places(document, path=()):
    """Paths of all fields of a JSON document, of lists the first entry only."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield (*path, key)
            yield from places(value, (*path, key))
    elif isinstance(document, list) and document:
        yield (*path, 0)
        yield from places(document[0], (*path, 0))


def changed(document, path, change):
    """A copy of a document with one field removed (`change` is KeyError) or replaced."""
    copy = json.loads(json.dumps(document))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    if change is KeyError:
        del inner[path[-1]]
    else:
        inner[path[-1]] = change
    return copy


def written(document):
    """JSON as text, with what no JSON writer would write."""
    text = json.dumps(document)
    while (start := text.find(f'"{RAW}')) >= 0:
        end = text.index('"', start + 1)
        text = text[:start] + text[start + len(RAW) + 1 : end] + text[end + 1 :]
    return text


def damaged_documents(document, rng, *, few=()):
    """Name and content of documents with one field wrong each; two changes only where the path begins with `few`."""
    for path in places(document):
        changes = list(VALUES.items())
        if path[0] in few and len(path) > 1:
            changes = rng.sample(changes, 2)
        for name, value in [("removed", KeyError), *changes]:
            yield f"{'.'.join(map(str, path))} {name}", changed(document, path, value)
    for name in ("self", "surprise", ""):
        yield f"unknown field {name!r}", {**document, name: 1}


def flipped(content, rng):
    """The same bytes with one to four of them changed."""
    raw = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


def other_things(path, rng, *, cuts=4, flips=8):
    """Put something else at the place of a file, one after the other; the file is back at the end."""
    content = path.read_bytes()

    def put(name, make):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
        make()
        return f"{path.name}: {name}"

    yield put("gone", lambda: None)
    yield put("a pipe", lambda: os.mkfifo(path))
    yield put("a folder", path.mkdir)
    yield put("an endless device", lambda: path.symlink_to("/dev/zero"))
    yield put("a link to itself", lambda: path.symlink_to(path))
    yield put("three empty gigabytes", lambda: (path.touch(), os.truncate(path, 3 * 2**30)))
    yield put("empty", path.touch)
    for place in sorted({0, 1, *(rng.randrange(len(content)) for _ in range(cuts))}):
        yield put(f"cut after {place}", lambda place=place: path.write_bytes(content[:place]))
    for number in range(flips):
        yield put(f"flipped {number}", lambda: path.write_bytes(flipped(content, rng)))
    yield put("repeated", lambda: path.write_bytes(content * 2))
    put("as it was", lambda: path.write_bytes(content))


def safetensors_parts(content):
    """Header and data of a safetensors file."""
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def safetensors(header, data):
    """A safetensors file with any header, of the length that it has."""
    text = written(header).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(text)) + text + data


def absurd_weights(content):
    """Name and content of weights files whose headers claim what is not there."""
    header, data = safetensors_parts(content)
    name = next(key for key in header if key != "__metadata__")
    for size in (0, 1, 2**32, 2**63, 2**64 - 1):
        yield f"header of {size} bytes", struct.pack("<Q", size) + content[8:]
    for field, value in (
        ("dtype", "F8"),
        ("dtype", "I64"),
        ("dtype", "x" * 10**5),
        ("dtype", 5),
        ("shape", [2**62, 2**62]),
        ("shape", [2**31]),
        ("shape", [-1]),
        ("shape", "x"),
        ("shape", [1] * 2_000),
        ("shape", [0.5]),
        ("data_offsets", [0, 2**63]),
        ("data_offsets", [5, 2]),
        ("data_offsets", None),
        ("data_offsets", [0]),
    ):
        yield f"{field} {value!r:.30}", safetensors({**header, name: {**header[name], field: value}}, data)
    yield "no tensors", safetensors({}, b"")
    yield "a list", safetensors([header], data)
    yield "deep", safetensors(f"{RAW}{'[' * 10**5}", data)
    yield "metadata of numbers", safetensors({**header, "__metadata__": {"state": 5}}, data)
    yield "no metadata", safetensors({key: header[key] for key in header if key != "__metadata__"}, data)


def save_network(folder, seed, **changes):
    """A model folder with random weights, and the whole configuration of a training in its card."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = create_model("convnet", num_classes=10, heads=changes.get("heads"))
    card = ModelCard(
        architecture="convnet",
        num_classes=10,
        input_shape=(1, 8, 8),
        mean=(0.0,),
        std=(1.0,),
        method="gaussian",
        noise={"name": "gaussian", "sigma": 0.25},
        dataset={"name": "digits", "digest": sc.load_dataset("digits", "train").digest},
        training=sc.TrainConfig(seed=seed).model_dump(mode="json"),
        metrics={"loss": 0.5, "epoch": 1},
        class_names=tuple("0123456789"),
        **changes,
    )
    save_checkpoint(model, card, folder)
    return model, card


@pytest.fixture
def home(tmp_path):
    """Folders of two networks, one with heads, a denoiser, and ensembles of them."""
    (plain, card), _ = save_network(tmp_path / "a", 1), save_network(tmp_path / "b", 2)
    save_network(tmp_path / "heads", 3, heads=2)
    torch.manual_seed(4)
    model = sc.Denoised(DnCNN(1, 3, 4), plain)
    entry = denoised_entry(model, tmp_path / "a", tmp_path / "denoiser")
    save_checkpoint(
        model,
        card.model_copy(update={"architecture": "dncnn-small", "denoised": entry}),
        tmp_path / "denoiser",
    )
    members = [tmp_path / "a", tmp_path / "b"]
    use = HoldoutUse(
        purpose="sween", dataset="d", split="holdout", digest="d", images=3, draws=2, seed=1, found={"loss": 0.5}
    )
    sc.save_ensemble(
        "softmax", [1, 2], members, tmp_path / "ensemble", adaptive=AdaptiveEntry(), fitted=[use]
    )
    sc.save_ensemble("soft", None, members, tmp_path / "consensus", consensus=1)
    sc.save_ensemble("soft", None, [tmp_path / "heads"], tmp_path / "of-heads")
    load_model(tmp_path / "denoiser")
    return tmp_path


def model_readers(folder):
    return (
        lambda: sc.load_classifier(folder),
        lambda: load_model(folder),
        lambda: read_any_card(folder),
    )


@pytest.mark.parametrize("folder", ["a", "heads", "denoiser", "ensemble", "consensus", "of-heads"])
def test_cards_with_a_wrong_field(home, folder):
    rng, trials = random.Random(folder), Trials()
    card = next(path for path in (home / folder).glob("*.json"))
    document = json.loads(card.read_text())
    for damage, wrong in damaged_documents(document, rng, few=("training", "class_names", "metrics")):
        card.write_text(written(wrong))
        trials.drive(damage, *model_readers(home / folder))
        if damage.startswith(("training", "dataset")) and folder == "a":
            trials.drive(damage, lambda: sc.train({"seed": 1}, home / "a"))
    trials.must_be_at_least(150)


@pytest.mark.parametrize("folder", ["a", "heads", "denoiser", "ensemble"])
def test_other_things_in_the_place_of_a_model_s_files(home, folder):
    rng, trials = random.Random(folder), Trials()
    for path in sorted((home / folder).iterdir()):
        for damage in other_things(path, rng):
            trials.drive(damage, *model_readers(home / folder))
        if path.suffix == ".safetensors":
            content = path.read_bytes()
            for damage, wrong in absurd_weights(content):
                path.write_bytes(wrong)
                trials.drive(damage, *model_readers(home / folder))
            path.write_bytes(content)
    trials.must_be_at_least(20)


def test_folders_that_name_themselves_and_each_other(home):
    trials = Trials()
    entry = {"path": "../ensemble", "digest": "0" * 64}
    for name, key in (("denoiser", "model.json"), ("ensemble", "ensemble.json"), ("consensus", "ensemble.json")):
        path, target = home / name / key, home / name
        document = json.loads(path.read_text())
        for place in (".", "../ensemble", "../consensus", "../denoiser", "/", "", "x/" * 3_000, "../a/../a", "~"):
            if name == "denoiser":
                wrong = changed(document, ("denoised", "classifier"), place)
            else:
                wrong = changed(document, ("members", 0, "path"), place)
            path.write_text(json.dumps(wrong))
            trials.drive(f"{name} of {place[:20]}", *model_readers(target))
        if name != "denoiser":
            path.write_text(json.dumps({**document, "members": [entry] * 5_000}))
            trials.drive(f"{name} of itself, often", *model_readers(target))
    # Twice the one before it, thirty times over: a thousand million networks in thirty small files.
    card = json.loads((home / "ensemble" / "ensemble.json").read_text())
    for level in range(30):
        (home / f"level-{level}").mkdir()
        inner = "../a" if level == 0 else f"../level-{level - 1}"
        twice = {**card, "members": [{"path": inner, "digest": "0" * 64}] * 2}
        (home / f"level-{level}" / "ensemble.json").write_text(json.dumps(twice))
    trials.drive("doubling", *model_readers(home / "level-29"))
    (home / "level-0" / "ensemble.json").write_text(
        json.dumps({**card, "members": [{"path": "../level-29", "digest": "0" * 64}] * 2})
    )
    trials.drive("a circle of thirty", *model_readers(home / "level-29"))
    trials.must_be_at_least(20)


CONFIG = {"epochs": 3, "seed": 5, "batch_size": 256, "max_train_images": 40}


def stop(metrics):
    raise EnoughError("one epoch is enough")


def test_training_states(tmp_path):
    rng, trials, home = random.Random(7), Trials(), tmp_path / "m"
    with pytest.raises(EnoughError):
        sc.train(CONFIG, home, on_epoch=stop)
    path = home / "training.safetensors"
    content = path.read_bytes()
    readers = (
        lambda: sc.train(CONFIG, home, on_epoch=stop),
        lambda: sc.train({**CONFIG, "seed": None}, home, on_epoch=stop),
    )

    def put(wrong):
        path.unlink(missing_ok=True)
        path.write_bytes(wrong)

    for damage in other_things(path, rng, cuts=8, flips=40):
        trials.drive(damage, *readers)
    header, data = safetensors_parts(content)
    for damage, wrong in absurd_weights(content):
        put(wrong)
        trials.drive(damage, *readers)
    state = json.loads(header["__metadata__"]["state"])
    for damage, wrong in damaged_documents(state, rng, few=("config", "tensors")):
        text = written(wrong)
        if len(text) < 10**6 or rng.random() < 0.1:
            put(safetensors({**header, "__metadata__": {"state": text}}, data))
            trials.drive(damage, *readers[: 1 + (rng.random() < 0.2)])
    trials.must_be_at_least(150)


RECIPE = """
about: a made-up recipe
source: nobody
base: {dataset: digits, method: gaussian, epochs: 20, lr: 0.1, batch_size: 32, settings: {}}
networks: {convnet: {lr: 0.2}}
rows: {0.25: {}, 0.5: {epochs: 3}}
"""


def recipe_texts(rng):
    """Name and text of recipes with one thing wrong each."""
    import yaml

    document = yaml.safe_load(RECIPE)
    document["rows"] = {str(key): value for key, value in document["rows"].items()}
    for damage, wrong in damaged_documents(document, rng):
        yield damage, written(wrong)
    laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    laughs += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    merges = "m0: &m0 {x: 1, y: 2}\n"
    merges += "".join(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}\n" for n in range(1, 12))
    for name, text in {
        "laughs": RECIPE + laughs,
        "laughs inside": RECIPE.replace("settings: {}", "settings: *a11").replace("base:", laughs + "base:"),
        "merges": RECIPE + merges,
        "a circle": RECIPE.replace("settings: {}", "settings: &s {a: *s}"),
        "the circle alone": "&a [*a]",
        "deep": "base: " + "[" * 20_000,
        "deep blocks": "".join(f"{' ' * n}- a:\n" for n in range(300)),
        "many rows": RECIPE.replace("0.5:", " ".join(f"0.{n}: {{}}," for n in range(1, 3_000)) + " 0.5:"),
        "digits": RECIPE.replace("20", "9" * 5_000),
        "hexadecimal": RECIPE.replace("20", "0x" + "f" * 50_000),
        "sixties": RECIPE.replace("20", "59" + ":59" * 20_000),
        "a date": RECIPE.replace("20", "2001-99-99"),
        "a day": RECIPE.replace("20", "2001-09-09"),
        "no date": RECIPE.replace("20", "!!timestamp x"),
        "no truth": RECIPE.replace("20", "!!bool x"),
        "no integer": RECIPE.replace("20", "!!int x"),
        "no number": RECIPE.replace("20", "!!float x"),
        "binary": RECIPE.replace("20", "!!binary x"),
        "a set": RECIPE.replace("20", "!!set {a, b}"),
        "an object": RECIPE.replace("20", "!!python/object/apply:os.getcwd []"),
        "a list as key": RECIPE.replace("lr:", "[1, 2]:"),
        "a number as key": RECIPE.replace("lr:", "1:"),
        "nothing as key": RECIPE.replace("lr:", "null:"),
        "no number as key": RECIPE.replace("0.25", ".nan"),
        "infinity as key": RECIPE.replace("0.25", ".inf"),
        "overflow": RECIPE.replace("20", "1e999"),
        "large": RECIPE + "x: " + "y" * 10**7,
        "many lines": RECIPE + "- a\n" * 10**6,
        "a null character": RECIPE + "\0",
        "bytes of another kind": RECIPE.encode("utf-16").decode("latin-1"),
        "only a name": "x",
        "a list": "[1]",
        "two documents": RECIPE + "---\n" + RECIPE,
    }.items():
        yield name, text


def test_recipes(tmp_path):
    rng, trials, path = random.Random(8), Trials(), tmp_path / "mine.yaml"

    def read():
        recipe = sc.load_recipe(str(path))
        recipe.config(epochs=2, lr=0.3)
        recipe.config(method="standard")

    for damage, text in recipe_texts(rng):
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        trials.drive(damage, read)
    path.write_text(RECIPE)
    read()
    for damage in other_things(path, rng, cuts=20, flips=60):
        trials.drive(damage, read)
    trials.must_be_at_least(250)


def test_configurations():
    """What a card or a state says about its training comes back as keyword arguments."""
    trials = Trials()
    whole = sc.TrainConfig(seed=1).model_dump(mode="json")
    for name in whole:
        for kind, value in VALUES.items():
            if isinstance(value, str) and value.startswith(RAW):
                value = float("nan") if kind == "nan" else 16**6_000
            trials.drive(f"{name} {kind}", lambda name=name, value=value: sc.TrainConfig(**{**whole, name: value}))
            trials.drive(f"{name} {kind} alone", lambda name=name, value=value: sc.TrainConfig(**{name: value}))
    trials.must_be_at_least(400)


def bombs(name, folder):
    """Write files that claim or unpack to gigabytes; yields their names."""
    zeros = gzip.compress(bytes(2**20), mtime=0)
    big = struct.pack(">BBBB3I", 0, 0, 8, 3, 2**31, 2**31, 2**31)
    if name in ("mnist", "fashion-mnist"):
        path = folder / "t10k-images-idx3-ubyte.gz"
        for kind, content in {
            "gzip bomb": zeros * 3_000,
            "bomb behind a header": gzip.compress(idx(np.zeros((3, 28, 28), np.uint8))) + zeros * 3_000,
            "claims": gzip.compress(big),
            "honest claims": gzip.compress(struct.pack(">BBBB3I", 0, 0, 8, 3, 2**22, 28, 28)) + zeros * 3_000,
            "many axes": gzip.compress(struct.pack(">BBBB255I", 0, 0, 8, 255, *[1] * 255) + b"x"),
        }.items():
            path.write_bytes(content)
            yield kind
    if name in ("cifar10", "cifar100"):
        path = next(path for path in folder.rglob("test*"))
        data = b"\x80\x02}q\x00"
        for kind, content in {
            "bytes that are not there": data + b"\x8e" + struct.pack("<Q", 2**40) + b"x.",
            "a place far out": data + b"r" + struct.pack("<I", 2**32 - 1) + b".",
            "a place far out in text": data + b"p4000000000\n.",
            "one text encoded often": b"\x80\x02c_codecs\nencode\nq\x00X"
            + struct.pack("<I", 2**20)
            + b"x" * 2**20
            + b"q\x01U\x06latin1q\x02\x86q\x03]("
            + b"h\x00h\x03R" * 3_000
            + b"e.",
            "labels in labels": pickle.dumps(
                {"data": np.zeros((4, 3072), np.uint8), "labels": nested(), "fine_labels": nested()}, protocol=2
            ),
            "long labels": pickle.dumps(
                {"data": np.zeros((1, 3072), np.uint8), "labels": [2**70_000], "fine_labels": [2**63]}, protocol=2
            ),
            "odd labels": pickle.dumps(
                {"data": np.zeros((1, 3072), np.uint8), "labels": {1}, "fine_labels": "x"}, protocol=2
            ),
            "odd images": pickle.dumps(
                {"data": np.zeros((0, 3072), np.uint8), "labels": [], "fine_labels": []}, protocol=2
            ),
            "images without axes": pickle.dumps({"data": np.uint8(3), "labels": [], "fine_labels": []}, protocol=2),
            "deep": b"\x80\x02" + b"]" * 10**6 + b"a" * (10**6 - 1) + b".",
        }.items():
            path.write_bytes(content)
            yield kind
    if name == "svhn":
        yield from svhn_bombs(folder / "test_32x32.mat")
    if name in ("imagenet", "folder"):
        yield from picture_bombs(next(folder.rglob("test_*.png")))


def nested():
    """A list of lists of lists, a hundred each, of one and the same hundred: 10^12 numbers."""
    found = [1] * 100
    for _ in range(5):
        found = [found] * 100
    return found


def svhn_bombs(path):
    content = path.read_bytes()
    zeros = zlib.compress(bytes(2**29))
    head = content[:128]
    for kind, wrong in {
        "zlib bomb": head + struct.pack("<II", 15, len(zeros)) + zeros,
        "claims": head + struct.pack("<II", 14, 2**32 - 8) + content[136:],
        "packed claims": head + packed(struct.pack("<II", 14, 2**31)),
        "long axes": content.replace(struct.pack("<4i", 32, 32, 3, 10), struct.pack("<4i", 2**30, 2**30, 2**30, 2)),
        "negative axes": content.replace(struct.pack("<4i", 32, 32, 3, 10), struct.pack("<4i", -32, -32, 3, 10)),
    }.items():
        path.write_bytes(wrong)
        yield kind


def packed(raw):
    raw = zlib.compress(raw)
    return struct.pack("<II", 15, len(raw)) + raw


def png(width, height, rows=b""):
    """A PNG that claims a size, with whatever rows."""

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    start = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", start) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def picture_bombs(path):
    for kind, content in {
        "20,000 x 1": png(20_000, 1, bytes(60_001)),
        "1 x 20,000": png(1, 20_000, bytes(80_000)),
        "bomb": png(13_000, 13_000),
        "large bomb": png(60_000, 60_000),
        "postscript": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n",
        "a bitmap": b"P6 30000 30000 255\n" + bytes(100),
    }.items():
        path.write_bytes(content)
        yield kind


@pytest.mark.parametrize("name", FORMATS)
def test_data_files(tmp_path, name):
    rng, trials = random.Random(name), Trials()
    sources = [False, True] if name.startswith("cifar") else [False]
    for binary in sources:
        folder = tmp_path / f"data-{binary}"
        write_made_up(folder, name, train=20, test=4, **({"binary": True} if binary else {}))

        def read(folder=folder):
            data = sc.load_dataset(name, "test", folder)
            data.batch(range(len(data)))
            return data.digest

        assert failure_of(read) is None
        wanted = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        wanted = [path for path in wanted if "test" in str(path.relative_to(folder)) or "t10k" in path.name
                  or "val" in path.parts]
        for path in wanted[:2]:
            for damage in other_things(path, rng, cuts=8, flips=12):
                trials.drive(damage, read)
    shutil.rmtree(tmp_path / "data-False")
    write_made_up(tmp_path / "data-False", name, train=20, test=4)
    folder = tmp_path / "data-False"
    if name == "imagenet":
        shutil.move(folder / "val", folder / "test")
        next(folder.rglob("test_*.png"))
        shutil.move(folder / "test", folder / "val")
    for damage in bombs(name, folder):
        trials.drive(damage, lambda: read(folder))
    trials.must_be_at_least(25)


def array_arguments():
    """Name, images and labels that are no data set."""
    pixels, labels = np.zeros((3, 4), np.float32), np.zeros(3, np.int64)
    for name, value in {
        "none": None,
        "a number": 3,
        "text": "abc",
        "a list of text": ["a", "b", "c"],
        "a table": {"a": 1},
        "a generator": (n for n in range(3)),
        "ragged": [[1], [2, 3], [4]],
        "objects": np.array([object()] * 3),
        "records": np.zeros(3, [("a", "i4")]),
        "complex": np.zeros((3, 4), complex),
        "dates": np.zeros((3, 4), "M8[D]"),
        "no axes": np.float32(1),
        "empty": np.zeros((0, 4), np.float32),
        "of no size": np.zeros((3, 0), np.float32),
        "doubles beyond floats": np.full((3, 4), 1e300),
        "a tensor with a gradient": torch.zeros(3, 4, requires_grad=True),
        "a tensor of bfloat16": torch.zeros(3, 4, dtype=torch.bfloat16),
        "a tensor without content": torch.zeros(3, 4, device="meta"),
        "a sparse tensor": torch.zeros(3, 4).to_sparse(),
        "a torch data set": torch.utils.data.TensorDataset(torch.zeros(3, 4), torch.zeros(3)),
        "a loader": torch.utils.data.DataLoader([1, 2, 3]),
        "a data set": sc.load_dataset("digits"),
        "nested": nested(),
    }.items():
        yield f"images: {name}", value, labels
        yield f"labels: {name}", pixels, value
        yield f"both: {name}", value, value
    for name, value in {
        "largest": np.full(3, 2**63 - 1),
        "beyond": np.full(3, 2**63, np.uint64),
        "a million million": [0, 1, 10**12],
        "long": [0, 1, 10**400],
        "negative": [0, -1, 2],
        "no number": [0.0, float("nan"), 1.0],
        "infinite": [0.0, float("inf"), 1.0],
        "halves": [0.5, 1.0, 2.0],
        "truth values": [True, False, True],
        "too few": [0, 1],
    }.items():
        yield f"labels: {name}", pixels, value


def test_arrays():
    trials = Trials()
    for damage, images, labels in array_arguments():
        trials.drive(damage, lambda images=images, labels=labels: sc.Dataset.from_arrays(images, labels))
        trials.drive(
            damage, lambda images=images, labels=labels: sc.Dataset("x", "test", images, labels, ("a", "b"))
        )
    for value in (torch.utils.data.TensorDataset(torch.zeros(3, 4), torch.zeros(3)), sc.load_dataset("digits")):
        trials.drive("alone", lambda value=value: sc.Dataset.from_arrays(value))
    pixels, labels = np.zeros((3, 4), np.float32), np.zeros(3, np.int64)
    for names in (5, "abc", b"abc", [1, 2, 3], [], ["\ud800"], ["x" * 10**6], ["a"] * 10**7, None, {"a": 1}):
        trials.drive(
            "class names", lambda names=names: sc.Dataset.from_arrays(pixels, labels, class_names=names)
        )
    trials.drive("name", lambda: sc.Dataset.from_arrays(pixels, labels, name=5))
    trials.drive("split", lambda: sc.Dataset.from_arrays(pixels, labels, split=None))
    trials.must_be_at_least(80)
