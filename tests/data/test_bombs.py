"""Small data files that would be gigabytes in memory are refused by name, before they are unpacked."""

import gzip
import os
import struct
import zlib

import numpy as np
import pytest

import smoothcert as sc
from made_up import idx
from smoothcert.data import npz, parse_subset, read_idx
from smoothcert.data.files import checked_labels
from smoothcert.data.picture import RANDOM_CROP_NUMBERS, decode_picture
from smoothcert.data.safe_pickle import read_pickle
from smoothcert.errors import DataError, InvalidArgumentError


def png(width, height):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    start = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width + 1) * height)) if width * height < 10**6 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", start) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "size, message",
    [
        ((20_000, 1), "20000 x 1 pixels, a side over 100 times"),
        ((1, 20_000), "a side over 100 times"),
        ((8_200, 8_200), "67,108,864 is the most"),
        ((100_000, 100_000), "cannot decode the picture"),
    ],
)
@pytest.mark.parametrize("numbers", [None, [0.5] * RANDOM_CROP_NUMBERS])
def test_pictures_that_would_fill_the_memory(tmp_path, size, message, numbers):
    (tmp_path / "a.png").write_bytes(png(*size))
    with pytest.raises(DataError, match=message):
        decode_picture(tmp_path / "a.png", numbers)


def test_long_pictures_are_still_decoded(tmp_path):
    (tmp_path / "a.png").write_bytes(png(200, 2))
    assert decode_picture(tmp_path / "a.png").shape == (3, 224, 224)


def test_only_formats_of_pictures_are_opened(tmp_path):
    (tmp_path / "a.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n")
    with pytest.raises(DataError, match="cannot identify image file"):
        decode_picture(tmp_path / "a.png")


def test_a_pipe_is_no_picture(tmp_path):
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(DataError, match="no regular file but a pipe"):
        decode_picture(tmp_path / "a.png")


@pytest.mark.parametrize(
    "content, message",
    [
        (struct.pack(">BBBB3I", 0, 0, 8, 3, 2**31, 28, 28), "claims the shape"),
        (idx(np.zeros((2, 3), np.uint8)) + bytes(2**26), "too long"),
        (struct.pack(">BBBB9I", 0, 0, 8, 9, *[1] * 9), "no idx file"),
        (struct.pack(">BBBB", 0, 0, 8, 0), "it has no shape"),
    ],
)
def test_idx_files_are_unpacked_as_far_as_they_claim(tmp_path, content, message):
    (tmp_path / "a.gz").write_bytes(gzip.compress(content))
    with pytest.raises(DataError, match=message):
        read_idx(tmp_path / "a.gz")


@pytest.mark.parametrize(
    "content, message",
    [
        (b"\x80\x02}r" + struct.pack("<I", 2**32 - 1) + b".", "keeps a value at place 4294967295"),
        (b"\x80\x02}p4000000000\n.", "keeps a value at place 4000000000"),
        (
            b"\x80\x02c_codecs\nencode\nq\x00X\x00\x10\x00\x00" + b"x" * 4096 + b"q\x01\x85q\x02]("
            b"" + b"h\x00h\x02R" * 9 + b"e.",
            "encodes one text again and again",
        ),
    ],
)
def test_pickles_that_ask_for_gigabytes(tmp_path, content, message):
    (tmp_path / "batch").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_pickle(tmp_path / "batch")


def bomb(path, images):
    """Write an archive whose images are zeros, packed to next to nothing."""
    np.savez_compressed(
        path, images=np.zeros(images, dtype=np.uint8), labels=np.zeros(images[0], dtype=np.int64)
    )
    return path


def test_an_archive_of_zeros_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(npz, "MOST_DATA_BYTES", 2**20)
    path = bomb(tmp_path / "bomb.npz", (1_000, 1, 64, 64))
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(npz, "_read", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(
        DataError, match=r"would take 4,10\d,\d{3} in memory, .* write it again with numpy.savez,"
    ):
        sc.load_dataset(path)


def test_archives_that_say_little_are_read_no_further(tmp_path):
    """What the directory of the archive says is believed in neither direction."""
    path = bomb(tmp_path / "bomb.npz", (1_000, 1, 64, 64))
    content = path.read_bytes()
    size = struct.pack("<I", 4_096_000 + 128)
    assert size in content
    path.write_bytes(content.replace(size, struct.pack("<I", 1_000)))
    with pytest.raises(DataError, match=r"array images of .* cannot be read"):
        sc.load_dataset(path)


def test_archives_that_are_packed_as_images_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(npz, "MOST_DATA_BYTES", 2**10)
    images = np.random.default_rng(0).integers(0, 2, (50, 1, 16, 16), dtype=np.uint8) * 255
    np.savez_compressed(tmp_path / "a.npz", images=images, labels=np.arange(50) % 10)
    assert (np.asarray(sc.load_dataset(tmp_path / "a.npz").images) == images).all()
    bomb(tmp_path / "zeros.npz", (50, 1, 16, 16))
    with np.load(tmp_path / "zeros.npz") as arrays:
        np.savez(tmp_path / "zeros.npz", **arrays)  # as the message says
    assert len(sc.load_dataset(tmp_path / "zeros.npz")) == 50


def test_labels_in_labels_are_not_laid_out(tmp_path):
    found = [1] * 1_000
    for _ in range(4):
        found = [found] * 1_000
    for labels in (found, {1}, "x", [True], [10**400], [0.5], [None]):
        with pytest.raises(DataError, match="no list of integers"):
            checked_labels(labels, tmp_path, count=1, num_classes=10)


@pytest.mark.parametrize("text", ["every({})", "first({})", "0:{}", "{}", "0:5:{}"])
def test_numbers_of_thousands_of_digits_are_no_subset(text):
    with pytest.raises(InvalidArgumentError, match="must look like") as caught:
        parse_subset(text.format("9" * 5_000), 10)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "content",
    [b"\x80\x02})" + b"2\x86" * 60 + b"K\x01s.", b"\x80\x02})" + b"\x85" * 2_000_000 + b"K\x01s."],
    ids=["wide", "deep"],
)
def test_tuples_in_tuples_as_a_key_are_refused_before_they_are_hashed(content, tmp_path):
    """The one takes time that doubles with each of its levels, the other more stack than there is."""
    (tmp_path / "data_batch_1").write_bytes(content)
    with pytest.raises(DataError, match="more than 24 tuples"):
        read_pickle(tmp_path / "data_batch_1")
