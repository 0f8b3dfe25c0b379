"""Damaged cards, weights and other files: every reader must answer with a named error, at once and within memory.

Every field is removed, retyped and made huge; bytes are flipped, files cut short, and pipes, folders, devices, links to
themselves and files of gigabytes put in their place. What a reader still takes is what it can use.
"""

import json
import os
import struct

from fuzz.driver import check_readers

RAW = "@@"  # stands for text that json.dumps would not write
VALUES = {
    "text": "x",
    "null": None,
    "yes": True,
    "negative": -1,
    "zero": 0,
    "large": 10**12,
    "huge": 10**400,
    "half": 0.5,
    "overflow": 1e308,
    "list": [[[[]]]],
    "table": {"self": {"a": 1}},
    "long text": "x" * 10**6,
    "null character": "a\0b",
    "not a character": "\ud800",
    "nan": f"{RAW}NaN",
    "infinity": f"{RAW}-Infinity",
    "digits": RAW + "9" * 5_000,
    "deep": RAW + "[" * 50_000 + "]" * 50_000,
}


def failure_of(read):
    """What is wrong with a reader's answer; None if it took the file or refused it by a named error."""
    try:
        check_readers([("", read)])
    except AssertionError as error:
        return str(error)
    return None


class Trials:
    """Damages driven through readers, and what went wrong."""

    def __init__(self):
        self.count, self.wrong = 0, []

    def drive(self, damage, *readers):
        self.count += 1
        for number, read in enumerate(readers):
            if failure := failure_of(read):
                self.wrong.append(f"{damage} (reader {number}): {failure}")

    def must_be_at_least(self, count):
        assert not self.wrong, f"{len(self.wrong)} of {self.count}:\n" + "\n".join(self.wrong[:60])
        assert self.count >= count, f"only {self.count} trials"


def places(document, path=()):
    """Paths of all fields of a JSON document, of lists the first entry only."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield (*path, key)
            yield from places(value, (*path, key))
    elif isinstance(document, list) and document:
        yield (*path, 0)
        yield from places(document[0], (*path, 0))


def changed(document, path, change):
    """A copy of a document with one field removed (`change` is KeyError) or replaced."""
    copy = json.loads(json.dumps(document))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    if change is KeyError:
        del inner[path[-1]]
    else:
        inner[path[-1]] = change
    return copy


def written(document):
    """JSON as text, with what no JSON writer would write."""
    text = json.dumps(document)
    while (start := text.find(f'"{RAW}')) >= 0:
        end = text.index('"', start + 1)
        text = text[:start] + text[start + len(RAW) + 1 : end] + text[end + 1 :]
    return text


def damaged_documents(document, rng, *, few=()):
    """Name and content of documents with one field wrong each; inner fields get some changes, those of `few` two."""
    for path in places(document):
        changes = list(VALUES.items())
        if len(path) > 1:
            changes = rng.sample(changes, 2 if path[0] in few else 8)
        for name, value in [("removed", KeyError), *changes]:
            yield f"{'.'.join(map(str, path))} {name}", changed(document, path, value)
    for name in ("self", "surprise", ""):
        yield f"unknown field {name!r}", {**document, name: 1}


def flipped(content, rng):
    """The same bytes with one to four of them changed."""
    raw = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


def other_things(path, rng, *, cuts=4, flips=8):
    """Put something else at the place of a file, one after the other; the file is back at the end."""
    content = path.read_bytes()

    def put(name, make):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
        make()
        return f"{path.name}: {name}"

    yield put("gone", lambda: None)
    yield put("a pipe", lambda: os.mkfifo(path))
    yield put("a folder", path.mkdir)
    yield put("an endless device", lambda: path.symlink_to("/dev/zero"))
    yield put("a link to itself", lambda: path.symlink_to(path))
    yield put("three empty gigabytes", lambda: (path.touch(), os.truncate(path, 3 * 2**30)))
    yield put("empty", path.touch)
    for place in sorted({0, 1, *(rng.randrange(len(content)) for _ in range(cuts))}):
        yield put(f"cut after {place}", lambda place=place: path.write_bytes(content[:place]))
    for number in range(flips):
        yield put(f"flipped {number}", lambda: path.write_bytes(flipped(content, rng)))
    yield put("repeated", lambda: path.write_bytes(content * 2))
    put("as it was", lambda: path.write_bytes(content))


def safetensors_parts(content):
    """Header and data of a safetensors file."""
    size = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def safetensors(header, data):
    """A safetensors file with any header, of the length that it has."""
    text = written(header).encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(text)) + text + data


def absurd_weights(content):
    """Name and content of weights files whose headers claim what is not there."""
    header, data = safetensors_parts(content)
    name = next(key for key in header if key != "__metadata__")
    for size in (0, 1, 2**32, 2**63, 2**64 - 1):
        yield f"header of {size} bytes", struct.pack("<Q", size) + content[8:]
    for field, value in (
        ("dtype", "F8"),
        ("dtype", "I64"),
        ("dtype", "x" * 10**5),
        ("dtype", 5),
        ("shape", [2**62, 2**62]),
        ("shape", [2**31]),
        ("shape", [-1]),
        ("shape", "x"),
        ("shape", [1] * 2_000),
        ("shape", [0.5]),
        ("data_offsets", [0, 2**63]),
        ("data_offsets", [5, 2]),
        ("data_offsets", None),
        ("data_offsets", [0]),
    ):
        yield f"{field} {value!r:.30}", safetensors({**header, name: {**header[name], field: value}}, data)
    yield "no tensors", safetensors({}, b"")
    yield "a list", safetensors([header], data)
    yield "deep", safetensors(f"{RAW}{'[' * 10**5}", data)
    yield "metadata of numbers", safetensors({**header, "__metadata__": {"state": 5}}, data)
    yield "no metadata", safetensors({key: header[key] for key in header if key != "__metadata__"}, data)
