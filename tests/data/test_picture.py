"""Decoding: crops lie where the rule says, workers change nothing, and a damaged file is named."""

import math

import numpy as np
import pytest
from PIL import Image

from smoothcert.data import PictureFiles, close_decoders
from smoothcert.data import decoding as decoding_module
from smoothcert.data.decoding import decode_pictures
from smoothcert.data.picture import RANDOM_CROP_NUMBERS, decode_picture, random_box
from smoothcert.errors import DataError

RNG = np.random.default_rng(3)


def save(path, pixels, **options):
    Image.fromarray(pixels).save(path, **options)
    return path


@pytest.mark.parametrize("size", [(256, 400), (400, 256), (256, 256), (256, 257)], ids=str)
def test_centre_crop_of_a_picture_that_needs_no_resizing(tmp_path, size):
    pixels = RNG.integers(0, 256, (*size, 3), dtype=np.uint8)
    found = decode_picture(save(tmp_path / "a.png", pixels))
    top, left = round((size[0] - 224) / 2), round((size[1] - 224) / 2)
    np.testing.assert_array_equal(found, pixels[top : top + 224, left : left + 224].transpose(2, 0, 1))


@pytest.mark.parametrize("size", [(8, 8), (300, 900), (1, 5)], ids=str)
def test_shorter_side_is_resized(tmp_path, size):
    # A ramp across the picture: after resizing, its slope tells the scale and its middle the place of the crop.
    height, width = size
    ramp = np.broadcast_to(np.linspace(0, 255, width).astype(np.uint8)[None, :, None], (height, width, 3))
    found = decode_picture(save(tmp_path / "a.png", np.ascontiguousarray(ramp)))
    assert (found.shape, found.dtype) == ((3, 224, 224), np.uint8)
    line = found[0, 112].astype(float)
    assert line.mean() == pytest.approx(127.5, abs=3)
    slope = (line[140] - line[84]) / 56
    assert slope == pytest.approx(255 / (width - 1) / (256 / min(size)), rel=0.12)


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK", "1", "LA"])
def test_other_kinds_of_pictures_become_rgb(tmp_path, mode):
    path = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    Image.new("RGB", (20, 30), (255, 255, 255)).convert(mode).save(path)
    np.testing.assert_array_equal(decode_picture(path), np.full((3, 224, 224), 255))


def test_random_box_is_inside_and_of_the_right_size():
    for _ in range(300):
        width, height = RNG.integers(1, 600, 2).tolist()
        left, top, right, bottom = random_box(width, height, RNG.random(RANDOM_CROP_NUMBERS).tolist())
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
    boxes = np.array([random_box(500, 400, RNG.random(RANDOM_CROP_NUMBERS).tolist()) for _ in range(2000)])
    w, h = boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]
    assert 0.07 < (w * h / 200_000).min() < 0.1
    assert (w * h / 200_000).max() > 0.9
    assert 0.74 < (w / h).min() < 0.77
    assert 1.30 < (w / h).max() < 1.35
    assert (boxes[:, 0].min(), boxes[:, 2].max()) == (0, 500)


def test_a_picture_too_long_for_any_attempt_gives_its_centre():
    numbers = [1 - 2**-53] * RANDOM_CROP_NUMBERS
    assert random_box(1000, 90, numbers) == (440, 0, 560, 90)
    assert random_box(90, 1000, numbers) == (0, 440, 90, 560)


def test_random_crop_follows_its_numbers(tmp_path):
    pixels = RNG.integers(0, 256, (224, 448, 3), dtype=np.uint8)
    path = save(tmp_path / "a.png", pixels)
    # Half of the area at ratio 1 is 224x224: nothing is resized.
    numbers = [(0.5 - 0.08) / 0.92, 0.5] * 10 + [0.25, 0.9, 0.7]
    left = math.floor(0.25 * 225)
    expected = pixels[:, left : left + 224].transpose(2, 0, 1)
    np.testing.assert_array_equal(decode_picture(path, numbers), expected)
    numbers[-1] = 0.3
    np.testing.assert_array_equal(decode_picture(path, numbers), expected[:, :, ::-1])


def test_damaged_pictures_are_named(tmp_path):
    good = save(tmp_path / "good.jpg", RNG.integers(0, 256, (60, 60, 3), dtype=np.uint8)).read_bytes()
    for content in (good[: len(good) // 2], b"", b"no picture"):
        (tmp_path / "bad.jpg").write_bytes(content)
        with pytest.raises(DataError, match=r"cannot decode the picture \S+bad\.jpg: .*replace the file"):
            PictureFiles(tmp_path, ["good.jpg", "bad.jpg"]).decode([0, 1])
    with pytest.raises(DataError, match=r"lost\.jpg"):
        decode_picture(tmp_path / "lost.jpg")


@pytest.mark.slow
def test_workers_decode_the_same_pixels_and_name_damaged_files(tmp_path):
    paths = [
        save(tmp_path / f"{number}.png", RNG.integers(0, 256, (9, 7, 3), dtype=np.uint8))
        for number in range(20)
    ]
    numbers = RNG.random((20, RANDOM_CROP_NUMBERS))
    try:
        for crops in (None, numbers):
            alone = decode_pictures(paths, crops, workers=1)
            np.testing.assert_array_equal(decode_pictures(paths, crops, workers=2), alone)
        assert len(decoding_module._pools) == 1
        paths[13].write_bytes(b"")
        with pytest.raises(DataError, match=r"13\.png"):
            decode_pictures(paths, workers=2)
        for process in list(next(iter(decoding_module._pools.values()))._processes.values()):
            process.kill()
            process.join()
        with pytest.warns(RuntimeWarning, match="the processes that decode pictures died"):
            found = decode_pictures(paths[:13], workers=2)
        np.testing.assert_array_equal(found, decode_pictures(paths[:13], workers=1))
        np.testing.assert_array_equal(found, decode_pictures(paths[:13], workers=2))
        assert not decoding_module._pools  # dead workers are not tried a second time
    finally:
        close_decoders()


def test_few_pictures_are_decoded_here_and_many_elsewhere(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(decoding_module, "usable_cores", lambda: 3)
    monkeypatch.setattr(
        decoding_module,
        "_decoded",
        lambda paths, crops, count: (
            asked.append(count) or [np.full((3, 224, 224), place) for place in range(len(paths))]
        ),
    )
    files = PictureFiles(tmp_path, ["a.png"] * 17)
    assert files[np.arange(16)].shape == (16, 3, 224, 224)
    assert files[np.arange(17)][:, 0, 0, 0].tolist() == list(range(17))
    assert asked == [1, 3]
