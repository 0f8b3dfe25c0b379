"""A thousand uploads that are none: refused each, by a server that neither falls nor swells."""

import io
import json
import os
import random
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from PIL import Image
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
UPLOADS = 1_000
MOST_GROWTH = 48 * 2**20


def resident():
    """Return the memory of this process, in which the server runs."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def chunk(kind, content):
    crc = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", crc)


def bomb(width, height, rows=4_000_000):
    """Return a PNG that says it is large, with zeros that would unpack to megabytes."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b"")


def picture(kind):
    content = io.BytesIO()
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8) * 3).save(content, kind)
    return content.getvalue()


def damaged(draws):
    """Return the bytes of a file that is no picture of the model's."""
    good = picture(draws.choice(["PNG", "JPEG"]))
    kind = draws.randrange(6)
    if kind == 0:  # cut short, before the last of the pixels
        return good[: draws.randrange(len(good) - 40)]
    if kind == 1:
        return draws.randbytes(draws.randrange(2_000))
    if kind == 2:
        return bomb(draws.choice([8, 9, 30_000, 2**31 - 1]), draws.choice([9, 50_000, 2**31 - 1]))
    if kind == 3:
        return picture(draws.choice(["GIF", "BMP", "TIFF", "WEBP"]))
    if kind == 4:
        return b"%!PS-Adobe-3.0 EPSF-3.0\n" + draws.randbytes(100)
    return good[:8] + draws.randbytes(40) + good[48:]


def numbers(draws):
    """Return JSON that is no image of the model's."""
    body = draws.choice(
        [
            {"image": [[[float("nan")] * 8] * 8]},
            {"image": [[[float("inf")] * 8] * 8]},
            {"image": [[[-0.1] * 8] * 8]},
            {"image": [[["0.5"] * 8] * 8]},
            {"image": [[[None] * 8] * 8]},
            {"image": [[[0.1] * 8] * draws.randrange(8)]},
            {"image": [[0.1] * draws.randrange(3_000)]},
            {"image": {"0": 1}},
            {"image": draws.randrange(10**9)},
            {"image": "\ud800"},
        ]
    )
    text = json.dumps(body).encode()
    return text[: draws.randrange(len(text))] if draws.random() < 0.3 else text


@pytest.mark.slow
def test_a_thousand_malformed_uploads_get_a_refusal_and_no_memory(running):
    draws, statuses, start = random.Random(4), set(), None
    paths = ("/v1/predict", "/v1/certify", "/v1/certify/stream", "/v1/noisy")
    for number in range(UPLOADS):
        path = draws.choice(paths)
        if draws.random() < 0.6:
            answer = running.client.post(path, files={"image": ("x.png", damaged(draws))})
        else:
            answer = running.client.post(
                path, content=numbers(draws), headers={"content-type": "application/json"}
            )
        statuses.add(answer.status_code)
        assert 400 <= answer.status_code < 500, answer.text
        assert "Traceback" not in answer.text
        if number == 200:  # caches are warm
            start = resident()
    assert {400, 413, 422} <= statuses
    large = running.client.post("/v1/certify", content=bytes(50_000_000))
    assert large.status_code == 413
    assert resident() - start < MOST_GROWTH
    assert running.votes() == 0
    assert not (running.folder.folder / "certificates").exists()


EXAMPLES = settings(
    max_examples=12,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.mark.slow
def test_nothing_that_the_schema_allows_is_a_fault_of_the_server(running):
    schema = schemathesis.openapi.from_url(f"{running.url}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    asked = {}
    for operation in operations:

        @EXAMPLES
        @given(case=operation.as_strategy())
        def ask(case):
            answer = case.call(base_url=running.url, timeout=60)
            asked.setdefault(case.operation.label, set()).add(answer.status_code)
            case.validate_response(answer, checks=CHECKS)

        ask()
    assert len(asked) == len(operations) >= 12
    assert all(status < 500 for statuses in asked.values() for status in statuses)
