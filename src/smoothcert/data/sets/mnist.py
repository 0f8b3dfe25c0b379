"""MNIST: handwritten digits, from idx files."""

from __future__ import annotations

from smoothcert.data.idx import IdxFiles

MNIST = IdxFiles(tuple("0123456789"), "https://ossci-datasets.s3.amazonaws.com/mnist/").source(
    "handwritten digits"
)
