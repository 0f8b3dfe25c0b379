"""The ends of a run as pictures: easiest, hardest, abstained and wrong images, each with noisy copies of it."""

from __future__ import annotations

import io
from base64 import b64encode
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw, noise_from
from smoothcert.report.extremes import extremes
from smoothcert.report.page.page_tables import html_text
from smoothcert.rounding import floor_digits
from smoothcert.seeding import generator_for
from smoothcert.store import Run

if TYPE_CHECKING:
    import torch

_IMAGES = 16
_COPIES = 2
_WIDEST = 96  # pixels of a picture on the page; larger images are shown smaller


def gallery(run: Run, dataset: Dataset) -> str:
    """Return HTML of a few images of a run: not a sample of it, but its ends, the most extreme first.

    The noisy copies are drawn for the page and clipped to what a screen can show; they are none of the run's votes.

    Args:
        run: whose certificates to show.
        dataset: where its images come from; another data set is refused.
    """
    if dataset.digest != run.manifest["dataset"]["digest"]:
        raise InvalidArgumentError(
            f"the run is about {run.manifest['dataset']['name']}, not about the given {dataset.name} "
            f"({dataset.split}): their digests differ; give the data set that was certified"
        )
    noise = noise_from(dict(run.manifest["noise"])).for_shape(dataset.input_shape)
    groups = [
        f"<section><h3>{html_text(title)}</h3><div class='cards'>"
        + "".join(_card(run, dataset, noise, place) for place in places)
        + "</div></section>"
        for row in extremes(run, _IMAGES)
        for title, places in row.items()
    ]
    return f'<div class="gallery">{"".join(groups)}</div>'


def _card(run: Run, dataset: Dataset, noise: NoiseLaw, place: int) -> str:
    results, names = run.results, dataset.class_names
    index, label, said = (int(column[place]) for column in (results.index, results.label, results.predicted))
    image = dataset.image(index)
    pictures = [_picture(image.numpy(), f"image {index}")]
    pictures += [_picture(copy, f"image {index} under noise") for copy in _noisy(image, noise, index)]
    if said < 0:
        end = f"abstained after {run.columns['samples'][place]:,} votes"
    else:
        end = f"certified {names[said]}, radius {floor_digits(results.radius[place], 3)}"
    return (
        f'<figure class="card" data-label="{label}" data-predicted="{said}">{"".join(pictures)}'
        f"<figcaption>image {index}: {html_text(names[label])}<br>{html_text(end)}</figcaption></figure>"
    )


def _noisy(image: torch.Tensor, noise: NoiseLaw, index: int) -> NDArray[np.float32]:
    out = image.new_empty((_COPIES, *image.shape))
    noise.perturb(image, out, generator_for(0, index, "gallery"))
    copies: NDArray[np.float32] = out.numpy()
    return copies


def _picture(pixels: NDArray[np.float32], text: str) -> str:
    """Return an image as an element that holds it."""
    from PIL import Image

    if pixels.ndim == 3 and pixels.shape[0] in (1, 3):
        pixels = np.moveaxis(pixels, 0, 2) if pixels.shape[0] == 3 else pixels[0]
    elif pixels.ndim != 2:  # a vector: one row of grey cells
        pixels = pixels.reshape(1, -1)
    picture = Image.fromarray(np.round(255 * np.clip(pixels, 0, 1)).astype(np.uint8))
    picture.thumbnail((_WIDEST, _WIDEST))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return (
        f'<img alt="{html_text(text)}" src="data:image/png;base64,{b64encode(buffer.getvalue()).decode()}">'
    )
