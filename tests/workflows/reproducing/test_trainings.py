"""Trainings of a table: their seeds, and bfloat16 only on processors that have it, never against what was begun."""

from pathlib import Path

import pytest

import smoothcert as sc
from smoothcert.engines import Processor
from smoothcert.errors import CheckpointError
from smoothcert.folders import read_card
from smoothcert.training import FLOAT32, launching
from smoothcert.workflows.reproducing.library import load_table
from smoothcert.workflows.reproducing.model_places import ModelPlaces
from smoothcert.workflows.reproducing.plan import make_plan
from smoothcert.workflows.reproducing.trainings import train_all

BFLOAT16 = "bf16-mixed"


@pytest.fixture
def networks(tiny, here, tmp_path, monkeypatch):
    """A function that trains the table's network on a processor with or without bfloat16; returns its precision."""
    table = Path(tiny)
    asked = "training: {epochs: 2, max_train_images: 400,"
    text = table.read_text()
    assert asked in text
    table.write_text(text.replace(asked, f"{asked} precision: {BFLOAT16},"))
    plan, places = make_plan(load_table(tiny), "minutes", only=["gaussian"]), ModelPlaces(tmp_path / "out")

    def train_on(has: bool) -> str:
        monkeypatch.setattr(launching, "this_processor", lambda: Processor(None, has))
        train_all(plan.trainings, places, at_once=1, say=lambda line: None)
        return str(read_card(places.of(plan.trainings[0])).training["precision"])

    train_on.places, train_on.trained = places, here
    train_on.folder, train_on.config = places.of(plan.trainings[0]), plan.trainings[0].config
    return train_on


@pytest.mark.parametrize(("has", "precision"), [(True, BFLOAT16), (None, BFLOAT16), (False, FLOAT32)])
def test_bfloat16_is_used_where_it_saves_time_and_kept_elsewhere(networks, has, precision):
    assert networks.config.precision == BFLOAT16
    assert networks(has) == precision
    assert networks(not has) == precision  # a kept network is that of the table on any machine
    assert networks.trained == ["gaussian-0"]


@pytest.mark.parametrize(("begun", "has"), [(FLOAT32, True), (BFLOAT16, False)])
def test_what_was_begun_on_another_machine_goes_on_in_its_precision(networks, begun, has):
    def stop(metrics: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sc.train(networks.config.changed(precision=begun), networks.folder, on_epoch=stop)
    assert networks(has) == begun


def test_a_table_in_float32_refuses_a_network_in_bfloat16(networks, tiny):
    assert networks(True) == BFLOAT16
    table = Path(tiny)
    table.write_text(table.read_text().replace(f" precision: {BFLOAT16},", ""))
    plan = make_plan(load_table(tiny), "minutes", only=["gaussian"])
    with pytest.raises(CheckpointError, match="precision"):
        train_all(plan.trainings, networks.places, at_once=1, say=lambda line: None)


def test_members_have_seeds_of_their_own_from_the_first_seed_on(tiny):
    table = Path(tiny)
    table.write_text(
        table.read_text().replace("recipe: digits-gaussian", "recipe: digits-gaussian, first_seed: 5")
    )
    trainings = make_plan(load_table(tiny), "hours", only=["soft", "stability"]).trainings
    seeds = {one.name: one.config.seed for one in trainings}
    assert seeds == {"gaussian-0": 5, "gaussian-1": 6, "stability-0": 0}
