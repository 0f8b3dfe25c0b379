"""Damaged data files, files that claim or unpack to gigabytes, and arrays that are no data."""

import gzip
import pickle
import random
import shutil
import struct
import zlib

import numpy as np
import pytest
import torch

import smoothcert as sc
from fuzz.file_damage import Trials, failure_of, other_things
from made_up import FORMATS, idx, write_made_up

pytestmark = pytest.mark.slow


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
                {"data": np.zeros((4, 3072), np.uint8), "labels": nested(), "fine_labels": nested()},
                protocol=2,
            ),
            "long labels": pickle.dumps(
                {"data": np.zeros((1, 3072), np.uint8), "labels": [2**70_000], "fine_labels": [2**63]},
                protocol=2,
            ),
            "odd labels": pickle.dumps(
                {"data": np.zeros((1, 3072), np.uint8), "labels": {1}, "fine_labels": "x"}, protocol=2
            ),
            "odd images": pickle.dumps(
                {"data": np.zeros((0, 3072), np.uint8), "labels": [], "fine_labels": []}, protocol=2
            ),
            "images without axes": pickle.dumps(
                {"data": np.uint8(3), "labels": [], "fine_labels": []}, protocol=2
            ),
            "deep": b"\x80\x02" + b"]" * 10**5 + b"a" * (10**5 - 1) + b".",
        }.items():
            path.write_bytes(content)
            yield kind
    if name == "svhn":
        yield from svhn_bombs(folder / "test_32x32.mat")
    if name in ("imagenet", "folder"):
        yield from picture_bombs(next((folder / ("val" if name == "imagenet" else "test")).rglob("*.png")))


def nested():
    """A list of lists of lists, a hundred each, of one and the same hundred: 10^12 numbers."""
    found = [1] * 100
    for _ in range(5):
        found = [found] * 100
    return found


def svhn_bombs(path):
    content = path.read_bytes()
    zeros = zlib.compress(bytes(2**24))
    head = content[:128]
    for kind, wrong in {
        "zlib bomb": head + struct.pack("<II", 15, len(zeros)) + zeros,
        "claims": head + struct.pack("<II", 14, 2**32 - 8) + content[136:],
        "packed claims": head + packed(struct.pack("<II", 14, 2**31)),
        "long axes": content.replace(
            struct.pack("<4i", 32, 32, 3, 10), struct.pack("<4i", 2**30, 2**30, 2**30, 2)
        ),
        "negative axes": content.replace(
            struct.pack("<4i", 32, 32, 3, 10), struct.pack("<4i", -32, -32, 3, 10)
        ),
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
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", start)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


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
        places = {"test", "test_batch", "test.bin", "test_batch.bin", "test_32x32.mat", "val", "made-up.npz"}
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        wanted = [
            path for path in files if "t10k" in path.name or places & set(path.relative_to(folder).parts)
        ]
        assert wanted
        for path in wanted[:2]:
            for damage in other_things(path, rng, cuts=8, flips=12):
                trials.drive(damage, read)
    shutil.rmtree(tmp_path / "data-False")
    write_made_up(tmp_path / "data-False", name, train=20, test=4)
    folder = tmp_path / "data-False"
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
    for value in (
        torch.utils.data.TensorDataset(torch.zeros(3, 4), torch.zeros(3)),
        sc.load_dataset("digits"),
    ):
        trials.drive("alone", lambda value=value: sc.Dataset.from_arrays(value))
    pixels, labels = np.zeros((3, 4), np.float32), np.zeros(3, np.int64)
    for names in (5, "abc", b"abc", [1, 2, 3], [], ["\ud800"], ["x" * 10**6], ["a"] * 10**7, None, {"a": 1}):
        trials.drive(
            "class names", lambda names=names: sc.Dataset.from_arrays(pixels, labels, class_names=names)
        )
    trials.drive("name", lambda: sc.Dataset.from_arrays(pixels, labels, name=5))
    trials.drive("split", lambda: sc.Dataset.from_arrays(pixels, labels, split=None))
    trials.must_be_at_least(80)
