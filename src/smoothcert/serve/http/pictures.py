"""Pictures in and out: PNG and JPEG of exactly the model's size, and noisy copies to look at."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.noise import NoiseLaw
from smoothcert.serve.http.errors import HttpError

_FORMATS = ("PNG", "JPEG")
_MODES = {1: "L", 3: "RGB"}
MOST_COPIES = 16


def decode_upload(content: bytes, input_shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return a picture as uint8 of the model's shape; refuse others before anything is unpacked.

    Not resized, turned or cropped: the certificate is about the pixels that were sent.

    Args:
        content: of a PNG or JPEG file.
        input_shape: (1, height, width) or (3, height, width).
    """
    if len(input_shape) != 3 or input_shape[0] not in _MODES:
        raise HttpError(
            422, "invalid", f"the model takes {list(input_shape)}, which is no picture: send JSON"
        )
    channels, height, width = input_shape
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd EXIF blocks: the pixels are what they are
            with Image.open(io.BytesIO(content), formats=_FORMATS) as file:
                if file.size != (width, height):
                    status, code = (
                        (413, "too_large") if _larger(file.size, width, height) else (422, "invalid")
                    )
                    size = f"{file.size[0]} x {file.size[1]}"
                    raise HttpError(
                        status, code, f"the picture is {size} pixels, and the model takes {width} x {height}"
                    )
                picture = _in_mode(file, _MODES[channels])
    except HttpError:
        raise
    except Exception as error:  # Pillow raises many kinds for damaged files
        raise HttpError(400, "malformed", "the image is no PNG or JPEG that decodes") from error
    pixels = np.array(picture, dtype=np.uint8)
    return pixels[None] if pixels.ndim == 2 else np.ascontiguousarray(pixels.transpose(2, 0, 1))


def _larger(size: tuple[int, int], width: int, height: int) -> bool:
    return size[0] > width or size[1] > height


def _in_mode(file: Any, mode: str) -> Any:
    """Return a picture as grey or RGB; only grey in RGB's clothes, and palettes, are converted."""
    if file.mode == mode:
        file.load()
        return file
    if mode == "RGB" and file.mode in ("L", "P", "1"):
        return file.convert("RGB")
    if mode == "L" and file.mode in ("P", "RGB", "1"):
        rgb = file.convert("RGB")
        red, green, blue = rgb.split()
        if red.tobytes() == green.tobytes() == blue.tobytes():
            return red
    raise HttpError(
        422,
        "invalid",
        f"the picture is of mode {file.mode}, and the model takes {mode}: what it would become is a choice; convert it",
    )


def encode_png(image: torch.Tensor) -> bytes:
    """Return an image (1 or 3, height, width) as PNG, values outside [0, 1] cut off: to be looked at."""
    from PIL import Image

    if image.dim() != 3 or image.shape[0] not in _MODES:
        raise HttpError(422, "invalid", f"images of shape {list(image.shape)} are no pictures")
    pixels = (image.clamp(0, 1) * 255).round().to(torch.uint8).numpy()
    picture = Image.fromarray(pixels[0] if len(pixels) == 1 else pixels.transpose(1, 2, 0))
    content = io.BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


def noisy_strip(image: torch.Tensor, noise: NoiseLaw, copies: int) -> bytes:
    """Return noisy copies side by side as PNG; their noise is fresh and no vote has it.

    Args:
        image: the clean image.
        noise: law of the noise.
        copies: how many.
    """
    generator = torch.Generator()
    generator.seed()  # from the operating system
    out = torch.empty((copies, *image.shape))
    noise.perturb(image, out, generator)
    return encode_png(torch.cat(list(out), dim=-1))
