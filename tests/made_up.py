"""Small made-up files in each data set's own format, for tests of readers and recipes."""

import gzip
import pickle
import struct
from pathlib import Path

import numpy as np

FORMATS = ("mnist", "fashion-mnist", "cifar10", "cifar100", "svhn", "imagenet", "folder", "npz")


def write_made_up(folder, name, train=40, test=10, *, binary=False, seed=0):
    """Write a data set of random images that `load_dataset(name, split, folder)` reads; return what it holds.

    Args:
        folder: folder to write into; made if it is not there.
        name: one of `FORMATS`.
        train: number of training images, of which a tenth becomes the hold-out; CIFAR-10 needs at least 5.
        test: number of test images.
        binary: whether CIFAR is written in its binary version.
        seed: of the images.

    Returns:
        For "train" and "test": images, uint8 (N, ...) in the file's order, and labels. For folders of pictures the
        images are the tiny pictures before resizing, (N, height, width, 3).
    """
    folder, rng = Path(folder), np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    shape, classes, write = {
        "mnist": ((28, 28), 10, _write_idx),
        "fashion-mnist": ((28, 28), 10, _write_idx),
        "cifar10": ((3, 32, 32), 10, _write_cifar10),
        "cifar100": ((3, 32, 32), 100, _write_cifar100),
        "svhn": ((3, 32, 32), 10, _write_svhn),
        "imagenet": ((9, 12, 3), 3, _write_pictures),
        "folder": ((9, 12, 3), 3, _write_pictures),
        "npz": ((3, 6, 7), 4, _write_npz),
    }[name]
    made = {}
    for split, count in (("train", train), ("test", test)):
        images = rng.integers(0, 256, (count, *shape), dtype=np.uint8)
        labels = (np.arange(count) * (classes - 1) // max(1, count - 1)) % classes
        made[split] = images, labels if write is _write_pictures else rng.permutation(labels)
    options = {"binary": binary} if name.startswith("cifar") else {}
    for split, (images, labels) in made.items():
        place = "val" if name == "imagenet" and split == "test" else split
        write(folder, place, images, labels, **options)
    return made


def idx(array):
    """Return the bytes of an idx file."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def _write_idx(folder, split, images, labels):
    stem = "train" if split == "train" else "t10k"
    (folder / f"{stem}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images), mtime=0))
    (folder / f"{stem}-labels-idx1-ubyte.gz").write_bytes(
        gzip.compress(idx(labels.astype(np.uint8)), mtime=0)
    )


def _write_npz(folder, split, images, labels):
    file = folder / "made-up.npz"
    before = dict(np.load(file)) if file.exists() else {}
    np.savez(file, **before, **{f"{split}_images": images, f"{split}_labels": labels})


def _write_cifar10(folder, split, images, labels, *, binary):
    folder = folder / ("cifar-10-batches-bin" if binary else "cifar-10-batches-py")
    folder.mkdir(exist_ok=True)
    names = [f"data_batch_{number}" for number in range(1, 6)] if split == "train" else ["test_batch"]
    for name, part in zip(names, np.array_split(np.arange(len(images)), len(names)), strict=True):
        rows, targets = images[part].reshape(len(part), -1), labels[part]
        if binary:
            content = np.column_stack([targets.astype(np.uint8), rows]).tobytes()
            (folder / f"{name}.bin").write_bytes(content)
        else:
            content = {b"data": rows, b"labels": targets.tolist(), b"batch_label": name.encode()}
            (folder / name).write_bytes(pickle.dumps(content, protocol=2))


def _write_cifar100(folder, split, images, labels, *, binary):
    folder = folder / ("cifar-100-binary" if binary else "cifar-100-python")
    folder.mkdir(exist_ok=True)
    rows, coarse = images.reshape(len(images), -1), labels // 5
    if binary:
        content = np.column_stack([coarse.astype(np.uint8), labels.astype(np.uint8), rows]).tobytes()
        (folder / f"{split}.bin").write_bytes(content)
    else:
        content = {"data": rows, "fine_labels": labels.tolist(), "coarse_labels": coarse.tolist()}
        (folder / split).write_bytes(pickle.dumps(content, protocol=2))


def _write_svhn(folder, split, images, labels):
    from scipy.io import savemat

    targets = np.where(labels == 0, 10, labels).astype(np.uint8)[:, None]
    savemat(folder / f"{split}_32x32.mat", {"X": images.transpose(2, 3, 1, 0), "y": targets})


def _write_pictures(folder, split, images, labels):
    from PIL import Image

    for number, (pixels, label) in enumerate(zip(images, labels, strict=True)):
        path = folder / split / f"n{label:04d}" / f"{split}_{number:05d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)
