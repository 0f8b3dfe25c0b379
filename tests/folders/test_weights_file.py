"""The header of a weights file is believed only as far as the file and the network bear it out."""

import json
import os
import struct

import pytest
import torch
from safetensors.torch import save

from smoothcert.errors import CheckpointError
from smoothcert.folders.weights_file import open_weights

TENSORS = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor(True)}


def put(path, header, data):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def test_reads_what_the_library_wrote(tmp_path):
    path = tmp_path / "w"
    path.write_bytes(save(TENSORS, {"note": "x"}))
    file = open_weights(path)
    assert file.entries == {"a": (torch.float32, (2, 3)), "b": (torch.bool, ())}
    assert file.metadata == {"note": "x"}
    assert file.size == path.stat().st_size
    assert all(torch.equal(value, TENSORS[name]) for name, value in file.tensors().items())


def entry(**changes):
    return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


@pytest.mark.parametrize(
    "header, message",
    [
        (entry(dtype="F3"), "unknown type 'F3'"),
        (entry(shape=[2**40, 2**40]), "its bytes do not fill"),
        (entry(shape=[-2]), r"has the shape \[-2\]"),
        (entry(shape=[2.0]), "has the shape"),
        (entry(shape=[True, 2]), "has the shape"),
        (entry(data_offsets=[8]), r"at \[8\]"),
        (entry(more=1), "is no entry of a tensor"),
        ({"__metadata__": {"a": 1}}, "metadata are no table of texts"),
        ([1], "header is no table"),
    ],
)
def test_headers_that_are_none(tmp_path, header, message):
    put(tmp_path / "w", header, bytes(8))
    with pytest.raises(CheckpointError, match=rf"w is cut short or damaged \(.*{message}.*\); do this"):
        open_weights(tmp_path / "w", fix="do this")


def test_what_the_header_claims_must_be_there(tmp_path):
    put(tmp_path / "w", entry(shape=[2**28], data_offsets=[0, 2**30]), bytes(8))
    with pytest.raises(CheckpointError, match="cut short or damaged"):
        open_weights(tmp_path / "w").tensors()
    put(tmp_path / "w", entry(), bytes(8))
    os.truncate(tmp_path / "w", 3 * 2**30)  # no gigabyte of it is read
    with pytest.raises(CheckpointError, match="larger than"):
        open_weights(tmp_path / "w").tensors()


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(CheckpointError, match="no regular file"):
            open_weights(path)
