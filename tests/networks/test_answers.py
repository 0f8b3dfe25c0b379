"""Whatever a model returns, its logits are found by the answer's form, or it is refused by what it returned."""

from collections import OrderedDict, namedtuple
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from smoothcert.errors import ModelOutputError, UnsoundModelError
from smoothcert.networks import answer_of, as_logits, same_places

ROWS, CLASSES = 6, 3
TABLE = torch.randn(ROWS, CLASSES, generator=torch.Generator().manual_seed(0))
ARRAY = TABLE.numpy()
HIDDEN = (torch.zeros(ROWS, 4, 5), torch.zeros(ROWS, 4, 5))
Pair = namedtuple("Pair", ["logits", "aux_logits"])


class ByArray:
    def __array__(self, dtype=None, copy=None):
        return ARRAY


class ByDlpack:
    def __dlpack__(self, **how):
        return TABLE.__dlpack__(**how)

    def __dlpack_device__(self):
        return TABLE.__dlpack_device__()


def read_only():
    array = ARRAY.copy()
    array.flags.writeable = False
    return array


READABLE = {
    "tensor": TABLE,
    "array": ARRAY,
    "read-only array": read_only(),
    "big-endian array": ARRAY.astype(">f4"),
    "array backwards": ARRAY[::-1].copy()[::-1],
    "64 bits": ARRAY.astype(np.float64),
    "lists": ARRAY.tolist(),
    "tuples": tuple(map(tuple, ARRAY.tolist())),
    "array protocol": ByArray(),
    "dlpack": ByDlpack(),
    "table of pandas": pd.DataFrame(ARRAY),
    "unmasked": np.ma.MaskedArray(ARRAY, mask=False),
    "attribute": SimpleNamespace(logits=TABLE, loss=None),
    "attribute beside a table": SimpleNamespace(logits=TABLE, features=TABLE + 1),
    "named tuple": Pair(TABLE, TABLE + 1),
    "key": {"logits": ARRAY, "features": ARRAY + 1},
    "ordered key": OrderedDict(loss=torch.zeros(()), logits=TABLE),
    "only table of a dict": {"out": TABLE, "hidden": HIDDEN},
    "1-tuple": (TABLE,),
    "1-list": [ARRAY],
    "in a 1-tuple": ((TABLE,),),
    "hidden states behind": (TABLE, HIDDEN),
    "loss before": (torch.zeros(()), 0.5, None, TABLE),
    "object in a tuple": (SimpleNamespace(logits=TABLE, loss=None), HIDDEN),
    "object deep in a dict": {
        "a": [{"b": SimpleNamespace(logits=ARRAY)}],
        "loss": 0.5,
        "time": 3,
        "ok": True,
    },
    "named columns": pd.DataFrame(ARRAY, columns=["cat", "dog", "eel"]),
    "numbered columns": pd.DataFrame(ARRAY, columns=["0", "1", "2"]),
    "labels beside": (ARRAY.argmax(axis=1), np.array(["a"] * ROWS), ARRAY),
}


@pytest.mark.parametrize("name", READABLE)
def test_logits_are_found(name):
    found = as_logits(READABLE[name], ROWS)
    np.testing.assert_array_equal(found.numpy(), ARRAY)  # of float64 too, because float32 fits in it
    assert torch.equal(answer_of(lambda batch: READABLE[name], torch.zeros(ROWS, 2)), found)


class Opaque:
    pass


class RaisesOnReading:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array today")


REFUSED = {
    # Ways to certify what is no logits at all, if a part were chosen by guess.
    "two heads": ((TABLE, TABLE), r"tuple of \(Tensor of float32 and shape \(6, 3\), Tensor .*2 parts have"),
    "a score and features": (
        (TABLE[:, :1], TABLE[:, :2]),
        r"shape \(6, 1\), Tensor of float32 and shape \(6, 2\)",
    ),
    "features and logits": ((torch.zeros(ROWS, 9), TABLE), r"shape \(6, 9\).*2 parts have"),
    "whole numbers beside": ((TABLE, torch.ones(ROWS, CLASSES, dtype=torch.int64)), "2 parts have"),
    "a table inside another": ((TABLE, (TABLE + 1,)), "2 parts have"),
    "two keys": ({"out": TABLE, "aux": TABLE}, r"dict of \{'out': Tensor .*2 parts have"),
    "transposed": ((TABLE.T,), r"shape \(3, 6\).*no part has the shape \(6, classes\)"),
    "a list of classes": (list(TABLE.T), "list of .*no part has"),
    "a list of rows": (list(TABLE), "list of .*no part has"),
    "probabilities by output": ([ARRAY[:, :2], ARRAY[:, :2]], "2 parts have"),
    "an object beside a table": ({"a": SimpleNamespace(logits=TABLE), "aux": -TABLE}, "2 parts have"),
    "an object of deep logits beside a table": (
        (SimpleNamespace(logits=TABLE[:, None]), -TABLE),
        "2 parts have",
    ),
    "two objects": ([SimpleNamespace(logits=TABLE), SimpleNamespace(logits=-TABLE)], "2 parts have"),
    "an unknown part": ((Opaque(), TABLE), "has a part 0 of a tuple that cannot be read, Opaque"),
    "an unknown part behind": (
        {"aux": TABLE, "x": {"y": Opaque()}},
        "part 'y' of a dict that cannot be read",
    ),
    "a set": ((TABLE, {1, 2}), "cannot be read, set"),
    "a generator beside": ((TABLE, (row for row in TABLE)), "cannot be read, generator"),
    "a table of objects": ((ARRAY.astype(object), TABLE), "cannot be read, ndarray of object"),
    "logits unread": ((SimpleNamespace(logits="cat"), TABLE), "cannot be read, SimpleNamespace"),
    "too deep": ((TABLE, [[[[[[[[[[[-TABLE]]]]]]]]]]]), "cannot be read, list"),
    "columns in another order": (
        pd.DataFrame(ARRAY, columns=[1, 0, 2]),
        r"columns called \[1, 0, 2\], which are",
    ),
    "columns from 1": (pd.DataFrame(ARRAY, columns=[1, 2, 3]), "classes 0 to 2 in their order"),
    "columns by texts": ((pd.DataFrame(ARRAY, columns=["2", "1", "0"]),), "classes 0 to 2 in their order"),
    # Things that are no logits.
    "object": (Opaque(), "with Opaque, which is no array"),
    "none": (None, "with NoneType, which is no array"),
    "text": ("cat", "with str, which is no array"),
    "texts": (np.array([["a"] * CLASSES] * ROWS), "ndarray of <U1 and shape"),
    "number": (0.5, "with float"),
    "generator": ((row for row in TABLE), "with generator"),
    "empty": ((), r"tuple of \(\).*no part has"),
    "logits of a wrong kind": ({"logits": "cat"}, "a part `logits` that is no array but str"),
    "unreadable": (RaisesOnReading(), "RaisesOnReading, cannot be read as an array .*no array today"),
    "ragged": ([[1.0, 2.0], [1.0]], "cannot be read as an array"),
    "masked": (np.ma.MaskedArray(ARRAY, mask=ARRAY.max() == ARRAY), "has masked values"),
    "sparse": (TABLE.to_sparse(), "sparse"),
    "complex": (ARRAY.astype(np.complex64), "complex numbers"),
    "many parts": (tuple([TABLE] * 9), "and 3 more"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_logits_is_refused_by_what_it_is(name):
    answer, words = REFUSED[name]
    with pytest.raises(ModelOutputError, match=words) as caught:
        as_logits(answer, ROWS)
    assert "\n" not in str(caught.value)
    assert "raised" not in str(caught.value)  # nothing did


@pytest.mark.parametrize("rows", [3, 6, 16, 64])
def test_another_number_of_rows_never_chooses_another_part(rows):
    """A table that happens to have as many rows as the batch makes the answer ambiguous; it is never taken instead."""
    own, fixed = torch.zeros(rows, 7), torch.ones(16, CLASSES)
    if rows == 16:
        with pytest.raises(ModelOutputError, match="2 parts have"):
            as_logits((own, fixed), rows)
    else:
        assert as_logits((own, fixed), rows) is own


def test_narrow_numbers_widen_and_others_stay():
    assert as_logits((TABLE.bfloat16(),), ROWS).dtype == torch.float32
    assert as_logits({"logits": TABLE.double()}, ROWS).dtype == torch.float64
    assert as_logits([TABLE.to(torch.int64)], ROWS).dtype == torch.int64
    close = [[2.0**53, 2.0**53 + 2]] * ROWS  # which float32 would make equal
    assert as_logits(close, ROWS).argmax(dim=1).tolist() == [1] * ROWS


def test_logits_keep_their_gradient():
    batch = TABLE.clone().requires_grad_()
    answer = answer_of(lambda x: {"logits": 2 * x}, batch)
    (gradient,) = torch.autograd.grad(answer.sum(), batch)
    assert torch.equal(gradient, torch.full_like(TABLE, 2.0))


def test_logits_that_change_their_place_are_refused():
    answers = iter([(TABLE,), (TABLE,), TABLE])

    def changing(batch):
        return next(answers)

    with same_places({}):
        for _ in range(2):
            answer_of(changing, TABLE)
        with pytest.raises(
            UnsoundModelError, match="were part 0 of a tuple before and are the answer itself now"
        ):
            answer_of(changing, TABLE)
