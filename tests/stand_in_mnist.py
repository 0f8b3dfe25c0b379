"""Files in MNIST's format with scikit-learn's digits in them, enlarged: for machines that have no MNIST."""

import gzip
import struct

import numpy as np
from sklearn.datasets import load_digits

_TEST = 300


def write_stand_in(folder):
    """Write the four files into a folder: 1,497 training images and 300 test images of 28x28 pixels."""
    folder.mkdir(parents=True)
    digits = load_digits()
    large = np.kron(digits.images, np.ones((3, 3)))  # 24x24
    images = np.pad(np.round(255 * large / 16).astype(np.uint8), ((0, 0), (2, 2), (2, 2)))
    for name, part in (("train", slice(_TEST, None)), ("t10k", slice(None, _TEST))):
        _write(folder / f"{name}-images-idx3-ubyte.gz", images[part])
        _write(folder / f"{name}-labels-idx1-ubyte.gz", digits.target[part].astype(np.uint8))


def _write(path, array):
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    path.write_bytes(gzip.compress(header + array.tobytes(), mtime=0))
