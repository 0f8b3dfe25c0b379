"""Files that are no files, are too large, or hold JSON that nobody wrote."""

import os
from pathlib import Path

import pytest

from smoothcert.errors import FormatError, StoreError
from smoothcert.reading import parse_json, read_bytes, read_text


def test_a_regular_file_and_a_link_to_it_are_read(tmp_path):
    (tmp_path / "a").write_text("ä")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert read_text(tmp_path / "a", StoreError) == read_text(tmp_path / "b", StoreError) == "ä"


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, kind in ((tmp_path, "folder"), (tmp_path / "pipe", "pipe"), (Path("/dev/zero"), "device")):
        with pytest.raises(FormatError, match=f"no regular file but a {kind}"):
            read_bytes(path, FormatError)
    for path in (tmp_path / "none", Path("a\0b")):
        with pytest.raises(StoreError, match="cannot read"):
            read_bytes(path, StoreError)


def test_a_file_over_the_limit_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert read_bytes(tmp_path / "a", StoreError, most=5) == b"12345"
    with pytest.raises(StoreError, match="larger than the 4 bytes"):
        read_bytes(tmp_path / "a", StoreError, most=4)
    with pytest.raises(StoreError, match="larger than"):  # a file of the kernel says that it has no bytes
        read_bytes(Path("/proc/self/status"), StoreError, most=10)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StoreError, match="not text"):
        read_text(tmp_path / "a", StoreError)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "NaN",
        "[Infinity]",
        "[-Infinity]",
        "[1e400]",
        "-1e999",
        "9" * 5_000,
        "[" * 100_000,
        "[" * 65 + "]" * 65,
        "",
        "'a'",
    ],
    ids=lambda text: text[:12] or "empty",
)
def test_json_that_nobody_wrote_is_refused(text):
    with pytest.raises(FormatError, match=r"^card\.json is no JSON"):
        parse_json(text, "card.json", FormatError)


def test_json_is_read():
    assert parse_json('{"a": [1, 2.5, null, "x"]}', "card.json", FormatError) == {"a": [1, 2.5, None, "x"]}
