"""Names of certificates in a file: all of them, in their order, and nothing left behind."""

import sys

from smoothcert.serve.keeping.kept_names import KeptNames


def test_names_come_back_however_many_there_are(tmp_path):
    names, kept = [f"{number:032x}" for number in range(10_000)], KeptNames(tmp_path)
    for number, name in enumerate(names):
        kept.add(name)
        if number % 1_000 == 0:  # reading in between loses no place
            assert list(kept) == names[: number + 1]
    assert list(kept) == names
    kept.close()
    assert list(tmp_path.iterdir()) == []


def test_memory_does_not_grow_with_them(tmp_path):
    kept = KeptNames(tmp_path)
    before = sum(sys.getsizeof(value) for value in vars(kept).values())
    for number in range(1_000):
        kept.add(f"{number:032x}")
    assert sum(sys.getsizeof(value) for value in vars(kept).values()) == before
    kept.close()
