"""Array pickles of every protocol are read; a pickle that would run something is refused and runs nothing."""

import os
import pickle

import numpy as np
import pytest

from smoothcert.data.safe_pickle import read_pickle
from smoothcert.errors import DataError

ARRAY = np.arange(12, dtype=np.uint8).reshape(3, 4)


class Calls:
    """Pickles as a call of anything."""

    def __init__(self, function, *args):
        self.parts = function, args

    def __reduce__(self):
        return self.parts


class Builds:
    """Pickles as a call of a harmless function whose result, or which itself, is then given a state."""

    def __init__(self, function, args, state):
        self.parts = function, args, state

    def __reduce__(self):
        return self.parts


def read(tmp_path, content):
    (tmp_path / "batch").write_bytes(content)
    return read_pickle(tmp_path / "batch")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize(
    "array",
    [
        ARRAY,
        np.asfortranarray(ARRAY),
        ARRAY[::2],
        ARRAY.astype(">i8"),
        ARRAY.astype(np.float32),
        np.zeros((0, 4), np.uint8),
    ],
    ids=["c", "fortran", "strided", "big-endian", "float", "empty"],
)
def test_arrays_of_every_protocol_are_read(tmp_path, protocol, array):
    found = read(tmp_path, pickle.dumps({"data": array, b"labels": [1, 2], "x": {"y": b"z"}}, protocol))
    np.testing.assert_array_equal(found["data"], array)
    assert found["data"].dtype == array.dtype
    assert (found["labels"], found["x"]) == ([1, 2], {"y": b"z"})


def test_a_pickle_of_python_2_and_numpy_1_is_read(tmp_path):
    # Written out by opcode: such files name numpy.core and keep text as bytes.
    content = (
        b"\x80\x02}q\x01(U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
        b"(K\x01K\x02K\x03\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
        b"K\x00tb\x89U\x06\x00\x01\x02\x03\x04\x05tbU\x06labels](K\x07K\x08eu."
    )
    found = read(tmp_path, content)
    np.testing.assert_array_equal(found["data"], [[0, 1, 2], [3, 4, 5]])
    assert found["labels"] == [7, 8]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("hidden", ["value", "list", "object array", "record", "state"])
@pytest.mark.parametrize("how", ["os.system", "eval", "open"])
def test_malicious_pickles_run_nothing(tmp_path, protocol, hidden, how):
    marker = tmp_path / "marker"
    call = {
        "os.system": Calls(os.system, f"touch {marker}"),
        "eval": Calls(eval, f"open({str(marker)!r}, 'w').close()"),
        "open": Calls(open, str(marker), "w"),
    }[how]
    holder = np.empty(2, dtype=object)
    holder[0] = call
    content = {
        "value": call,
        "list": [1, [call]],
        "object array": holder,
        "record": np.array([(1, call)], dtype=[("a", "i4"), ("b", "O")]),
        "state": Builds(np.dtype, ("u1",), call),
    }[hidden]
    raw = pickle.dumps({"data": content, "labels": [1]}, protocol)
    refusal = "it holds an array of records" if hidden == "record" else r"it names \S+, which has no place"
    with pytest.raises(DataError, match=f"batch is not read: {refusal}"):
        read(tmp_path, raw)
    assert not marker.exists()
    if how == "eval" and hidden != "state":  # the same pickle does run where nothing stops it
        pickle.loads(raw)
        assert marker.exists()


@pytest.mark.parametrize(
    "content, message",
    [
        ({"data": np.array([None, None])}, "not plain bytes"),
        ({"data": np.array(["a", "b"])}, "array of type 'U1'"),
        ({"data": np.zeros(2, dtype=[("a", "i4"), ("b", "u1")])}, "records"),
        ({"data": np.uint8}, "it names numpy.uint8"),
        ({"data": np.ndarray}, "a function or a type"),
        ({"data": np.dtype("u1")}, "a function or a type"),
        ({3: [1]}, "int where a name belongs"),
        ([1, 2], "no dictionary but list"),
        ({"data": Builds(np.dtype, ("u1",), (3, "?", None, None, None, -1, -1, 0))}, "a function or a type"),
    ],
)
def test_what_is_no_array_of_numbers_is_refused(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, pickle.dumps(content, protocol=4))


def test_a_shape_that_its_bytes_do_not_fill_is_refused(tmp_path):
    lying = pickle.dumps({"data": ARRAY}, protocol=3).replace(b"K\x03K\x04\x86", b"K\x03K\x05\x86")
    with pytest.raises(DataError, match=r"12 bytes for an array of shape \(3, 5\)"):
        read(tmp_path, lying)


def test_the_readers_own_stand_ins_cannot_be_changed(tmp_path):
    change = b"\x80\x02}U\x01xc_codecs\nencode\n}U\x08__code__K\x01sbs."
    with pytest.raises(DataError, match="tries to change a function"):
        read(tmp_path, change)


@pytest.mark.parametrize("keep", [0, 1, 20, -1])
def test_cut_short_pickles_are_named(tmp_path, keep):
    with pytest.raises(DataError, match="batch is cut short or no pickle"):
        read(tmp_path, pickle.dumps({"data": ARRAY}, protocol=4)[:keep])
