"""Fashion-MNIST: pictures of clothes, from idx files."""

from __future__ import annotations

from smoothcert.data.idx import IdxFiles

_CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)

FASHION_MNIST = IdxFiles(_CLASSES, "https://github.com/zalandoresearch/fashion-mnist").source(
    "pictures of clothes"
)
