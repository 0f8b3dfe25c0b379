"""Stored attacks: whatever a line holds, it is read as an attack or refused by name."""

import json
import os

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.errors import FormatError, SmoothcertError, StoreError
from smoothcert.report.tables.attack_table import attack_lines, attack_rows, attack_to_json
from smoothcert.store import read_attack
from smoothcert.store.attacked.attack_record import AttackRecord
from smoothcert.workflows import attack_images

FILE = "attack.jsonl"
VALUES = (
    "x",
    "",
    None,
    True,
    -1,
    0.5,
    10**30,
    [],
    [[[1]]],
    {"x": 1},
    float("nan"),
    float("inf"),
    "9" * 5_000,
)


class Plane(torch.nn.Module):
    def forward(self, batch):
        score = batch[:, 0] - 0.5
        return torch.stack([-score, score], dim=1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("attack")
    data = sc.Dataset.from_arrays(np.array([[0.9, 0.5], [0.6, 0.5]], dtype=np.float32), [1, 1])
    classifier = sc.SmoothedClassifier(Plane().eval(), sc.Gaussian(0.25), 2)
    run = sc.certify(classifier, data, procedure=sc.FixedSample(n=500), seed=1, workers=1)
    attack_images(
        classifier, data, radii=(0.1, 0.2), run=run, steps=2, m=2, n=100, seed=2, workers=1, out=out
    )
    return (out / FILE).read_text().splitlines()


def places(value, at=()):
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*at, key))


def replaced(value, at, new):
    if not at:
        return new
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[at[0]] = replaced(value[at[0]], at[1:], new)
    return changed


def read(folder):
    found = read_attack(folder)
    attack_rows(found)
    attack_lines(found)
    json.dumps(attack_to_json(found), allow_nan=False)
    return found


def test_every_value_is_checked(whole, tmp_path):
    tried = refused = 0
    for number in (0, 1):
        record = json.loads(whole[number])
        for at in places(record):
            for value in VALUES:
                lines = list(whole)
                lines[number] = json.dumps(replaced(record, at, value))
                (tmp_path / FILE).write_text("\n".join(lines) + "\n")
                tried += 1
                try:
                    read(tmp_path)
                except SmoothcertError as error:
                    refused += 1
                    said = str(error)
                    assert FILE in said
    assert 0.8 * tried < refused < tried


def test_what_is_no_record_is_refused(whole, tmp_path):
    for content in ("", "\n", "{}\n", "[1]\n", "\n".join(whole[1:]) + "\n"):
        (tmp_path / FILE).write_text(content)
        with pytest.raises(FormatError, match="is no record of an attack"):
            read(tmp_path)
    (tmp_path / FILE).unlink()
    os.mkfifo(tmp_path / FILE)
    with pytest.raises(StoreError, match="no regular file but a pipe"):
        read(tmp_path)


def test_an_attack_that_has_only_begun_has_no_figures(whole, tmp_path):
    (tmp_path / FILE).write_text(whole[0] + "\n")
    found = read(tmp_path)
    assert (len(found), found.accuracy([0]).tolist()) == (0, [0])


def test_a_second_attack_into_a_folder_is_refused(whole, tmp_path):
    with AttackRecord(tmp_path).hold(), pytest.raises(StoreError, match="another attack is at work"):  # noqa: SIM117
        with AttackRecord(tmp_path).hold():
            pass
