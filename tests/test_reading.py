"""Files that are no files, are too large, or hold JSON that nobody wrote."""

import os
from pathlib import Path

import pytest

from smoothcert.errors import FormatError, StoreError
from smoothcert.reading import kind_of, parse_json, read_bytes, read_start, read_text


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


def test_the_start_of_a_file_of_any_size(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    os.truncate(tmp_path / "a", 2**33)
    assert read_start(tmp_path / "a", StoreError, 6) == b"12345\0"
    os.truncate(tmp_path / "a", 2)
    assert read_start(tmp_path / "a", StoreError, 6) == b"12"
    with pytest.raises(StoreError, match="a folder"):
        read_start(tmp_path, StoreError, 6)


def test_what_stands_at_a_path(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    names = {"a": "file", "pipe": "pipe", "loop": None, "x" * 5_000: None, "a\0b": None, "\ud800": None}
    assert {name: kind_of(tmp_path / name) for name in names} == names
    assert (kind_of(tmp_path), kind_of(Path("/dev/zero"))) == ("folder", "device")


def test_json_of_more_lists_than_fit_is_refused():
    for text in ("[" + "[]," * 1_000_001 + "1]", b"[" + b"{}," * 1_000_001 + b"1]"):
        with pytest.raises(FormatError, match="more than 1,000,000 lists and tables"):
            parse_json(text, "it", FormatError)
