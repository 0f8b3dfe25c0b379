"""The reader of .mat files agrees with SciPy's, and believes no file that claims more than it has."""

import struct
import zlib

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from smoothcert.data.mat import read_mat
from smoothcert.errors import DataError

MOST = 2**24
RNG = np.random.default_rng(0)
ARRAYS = {
    "X": RNG.integers(0, 256, (32, 32, 3, 5), dtype=np.uint8),
    "y": np.array([[1], [10], [3], [4], [5]], np.uint8),
    "a_longer_name_than_eight": RNG.standard_normal((2, 3)),
    "signed": np.array([[-5, 2**40]]),
    "single": RNG.standard_normal((4, 1)).astype(np.float32),
    "empty": np.zeros((0, 3)),
}


@pytest.mark.parametrize("compressed", [False, True])
def test_agrees_with_scipy(tmp_path, compressed):
    path = tmp_path / "a.mat"
    savemat(
        path, {**ARRAYS, "cell": np.array([1, "a"], object), "table": {"a": 1}}, do_compression=compressed
    )
    found, wanted = read_mat(path, most=MOST), loadmat(path)
    assert set(found) == set(ARRAYS)
    for name, array in found.items():
        np.testing.assert_array_equal(array, wanted[name])
        assert array.dtype == wanted[name].dtype


def element(kind, body):
    return struct.pack("<II", kind, len(body)) + body + bytes(-len(body) % 8)


def matrix(shape, data, claim=None):
    body = element(6, struct.pack("<II", 9, 0)) + element(5, struct.pack(f"<{len(shape)}i", *shape))
    body += element(1, b"X") + struct.pack("<II", 2, len(data) if claim is None else claim) + data
    return struct.pack("<II", 14, len(body)) + body


def packed(raw):
    raw = zlib.compress(raw)
    return struct.pack("<II", 15, len(raw)) + raw


@pytest.mark.parametrize(
    "content, message",
    [
        (matrix((2**30, 2**30), bytes(8)), "has 8 bytes"),
        (matrix((-2, -4), bytes(8)), "shape"),
        (matrix((2, 4), bytes(8), claim=2**32 - 8), "claims 4294967288 bytes"),
        (struct.pack("<II", 14, 2**32 - 8), "claims 4294967288 bytes"),
        (packed(struct.pack("<II", 14, 2**31)), "a variable claims 2,147,483,648 bytes"),
        (packed(struct.pack("<II", 14, 2**20)), "compressed variable is cut short"),
        (struct.pack("<II", 15, 8) + b"nonsense", "damaged"),
        (matrix((1,) * 9, b"x"), "shape"),
        (b"abc", "cut short"),
    ],
)
def test_claims_are_not_believed(tmp_path, content, message):
    path = tmp_path / "a.mat"
    path.write_bytes(b" " * 124 + b"\x00\x01IM" + content)
    with pytest.raises(DataError, match=message):
        read_mat(path, most=MOST)


def test_unpacks_no_further_than_the_variable_goes(tmp_path):
    path = tmp_path / "a.mat"
    path.write_bytes(b" " * 124 + b"\x00\x01IM" + packed(matrix((2, 4), bytes(8)) + bytes(2**24)))
    assert read_mat(path, most=2**16)["X"].shape == (2, 4)
