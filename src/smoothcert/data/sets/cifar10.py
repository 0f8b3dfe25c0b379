"""CIFAR-10: 32x32 colour pictures in ten classes."""

from __future__ import annotations

from smoothcert.data.cifar import CifarBatches

_CLASSES = "airplane automobile bird cat deer dog frog horse ship truck"

CIFAR10 = CifarBatches(
    folders=("cifar-10-batches-py", "cifar-10-batches-bin"),
    train=tuple(f"data_batch_{number}" for number in range(1, 6)),
    test="test_batch",
    labels="labels",
    label_bytes=1,
    class_names=tuple(_CLASSES.split()),
).source()
