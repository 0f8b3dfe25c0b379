"""Costs of models: sizes against the weights' files, times against the cards, speed against the runs."""

import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file

import smoothcert as sc
from small_networks import save_denoised, save_network
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import load_model, save_ensemble
from smoothcert.networks import describe_model
from smoothcert.report import Summary, model_costs, model_table, read_folders
from smoothcert.report.paper.cost_columns import with_unit
from smoothcert.report.paper.costs import drawn_together

EPOCHS = 4.0


def trained(folder, seed=0, seconds=10.0, **changes):
    metrics = {"seconds": seconds, "epoch": EPOCHS, "peak_memory_mb": 100.0 + seed}
    return save_network(folder, seed, **{"metrics": metrics, **changes})


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Two networks, their ensemble, and one of three heads."""
    home = tmp_path_factory.mktemp("models")
    members = [trained(home / f"m{seed}", seed, 10.0 + seed) for seed in range(2)]
    save_ensemble(members, home / "pair")
    trained(home / "heads", 5, 30.0, heads=3)
    return home


def certified(folder, seed=1, n=64, first=4):
    run = sc.certify(
        sc.load_classifier(folder),
        sc.load_dataset("digits"),
        indices=range(first),
        procedure=sc.FixedSample(n0=16, n=n),
        seed=seed,
        workers=1,
        engine="torch",
    )
    return Summary.of_run(run, f"run of {folder.name}")


@pytest.fixture(scope="module")
def runs(home):
    return [certified(home / name) for name in ("m0", "pair", "heads")]


def column(table, heading):
    place = table.columns.index(heading)
    return [row[place].text for row in table.rows]


def test_sizes_are_those_of_the_weights_and_work_that_of_the_listing(home):
    single, pair, heads = model_costs([home / name for name in ("m0", "pair", "heads")])
    tensors = load_file(home / "m0" / "model.safetensors")
    statistics = [name for name in tensors if "running_" in name or "num_batches" in name]
    size = {name: values.size for name, values in tensors.items()}
    buffers = {name for name, _ in load_model(home / "m0")[0].named_buffers()}
    assert single.parameters == sum(size.values()) - sum(size[name] for name in size if name in buffers)
    assert (
        single.weight_bytes >= sum(values.nbytes for values in tensors.values()) > 4 * single.parameters - 1
    )
    assert all(name in buffers for name in statistics)
    assert pair.parameters == 2 * single.parameters
    listed = describe_model("convnet")
    assert listed.input_shape == (1, 8, 8)
    assert (single.parameters, single.multiply_adds) == (listed.parameters, listed.multiply_adds)
    assert pair.multiply_adds == 2 * single.multiply_adds
    assert heads.multiply_adds == describe_model("convnet", heads=3).multiply_adds
    assert [cost.is_single for cost in (single, pair, heads)] == [True, False, False]
    assert [len(cost.folder.networks) for cost in (single, pair, heads)] == [1, 2, 1]
    assert [cost.folder.heads for cost in (single, pair, heads)] == [1, 1, 3]


def test_training_is_what_the_cards_tell_added_up(home, tmp_path):
    single, pair, heads = read_folders([home / name for name in ("m0", "pair", "heads")]).values()
    assert [one.seconds for one in (single, pair, heads)] == [10.0, 21.0, 30.0]
    assert pair.seconds_per_epoch == 21.0 / EPOCHS
    assert pair.peak_memory_mb == 101.0
    untold = save_network(tmp_path / "untold", 7)
    save_ensemble([home / "m0", untold], tmp_path / "mixed")
    (mixed,) = read_folders([tmp_path / "mixed"]).values()
    assert mixed.seconds is mixed.seconds_per_epoch is mixed.peak_memory_mb is None
    denoised = tmp_path / "denoised"
    save_denoised(home / "m0", denoised, metrics={"seconds": 5.0, "epoch": 1.0})
    (both,) = read_folders([denoised]).values()
    assert both.seconds == 15.0


def test_members_trained_together_count_once_and_it_is_told(tmp_path):
    together = {"training": {"members": ["a", "b"], "seed": 3}}
    members = [trained(tmp_path / f"m{seed}", seed, 50.0, **together) for seed in range(2)]
    save_ensemble(members, tmp_path / "e")
    (cost,) = model_costs([tmp_path / "e"])
    assert cost.folder.seconds == 50.0
    assert any("was fine-tuned" in note for note in model_table([], [tmp_path / "e"]).notes)


def test_speed_is_that_of_the_runs_of_the_same_weights(home, runs):
    single, other, pair = model_costs([home / "m0", home / "m1", home / "pair"], runs)
    assert [len(cost.runs) for cost in (single, other, pair)] == [1, 0, 1]
    columns = runs[0].run.columns
    votes, seconds = sum(columns["samples"]), sum(columns["seconds"])
    assert votes == 4 * 80
    assert single.votes_per_second == pytest.approx(votes / seconds)
    assert single.seconds_per_image == pytest.approx(seconds / 4)
    assert other.votes_per_second is other.acr is None
    assert pair.acr == runs[1].acr


def test_the_table_gives_factors_of_the_single_network(home, runs):
    table = model_table(runs, [home / name for name in ("pair", "m0", "heads")])
    assert column(table, "× parameters")[:2] == ["2.00", "1.00"]
    assert column(table, "× mult-adds")[0] == "2.00"
    assert column(table, "× training") == ["2.10", "1.00", "3.00"]
    record = table.records[0]
    assert record["training_seconds_factor"] == 2.1
    assert record["worker_seconds_per_image_factor"] == pytest.approx(
        (runs[1].seconds / runs[1].images) / (runs[0].seconds / runs[0].images)
    )
    assert "relative to the single network, run of m0." in " ".join(table.notes)
    assert column(table, "model") == ["run of pair", "run of m0", "run of heads"]
    alone = model_table(runs, [home / "pair", home / "heads"])
    assert not any(heading.startswith("×") for heading in alone.columns)


def test_early_exits_show_the_evaluations_that_were_counted(home, runs, tmp_path):
    save_ensemble([home / "m0", home / "m1"], tmp_path / "early", early_exit=sc.Consensus(k=1))
    early = certified(tmp_path / "early")
    table = model_table([*runs, early], [home / "m0", tmp_path / "early"])
    columns = early.run.columns
    by_hand = sum(columns["evaluations"]) / sum(columns["samples"])
    assert column(table, "passes")[:2] == ["1.00", f"{by_hand:.2f}"]
    assert "passes" not in model_table(runs, [home / "m0", home / "pair"]).columns


def test_runs_under_other_settings_are_not_mixed_in(home, runs):
    longer = certified(home / "m0", seed=2, n=128)
    costs = model_costs([home / "m0", home / "pair"], [longer, *runs])
    assert [one.name for one in costs[0].runs] == ["run of m0"]
    assert costs[0].others == (longer,)
    notes = " ".join(model_table([longer, *runs], [home / "m0", home / "pair"]).notes)
    assert "not counted, because others have no run under their settings" in notes


def test_runs_of_one_panel_have_no_speed_of_their_own(home, runs):
    members = [load_model(home / f"m{seed}")[0] for seed in range(2)]
    panel = sc.Panel([sc.VotingEnsemble(members)], ["a", "b", "both"]).eval()
    classifier = sc.SmoothedClassifier(panel, sc.Gaussian(0.25), 10)
    images = sc.load_dataset("digits")
    made = sc.certify_panel(
        classifier,
        images,
        outs=dict.fromkeys(panel.names),
        indices=range(3),
        procedure=sc.FixedSample(n0=16, n=64),
        seed=1,
        workers=1,
    )
    summaries = [Summary.of_run(run, name) for name, run in made.items()]
    assert {one.name for one in drawn_together(summaries)} == {"a", "b", "both"}
    assert drawn_together(runs) == []
    table = model_table(summaries, [home / "m0", home / "m1"])
    assert "votes/s" not in table.columns
    assert any("same forward passes" in note for note in table.notes)
    assert len(column(table, "ACR")) == 2


def test_what_cannot_be_counted_is_told_and_exchanged_members_are_refused(home, tmp_path, monkeypatch):
    with pytest.raises(InvalidArgumentError, match="at least one model folder"):
        model_table([], [])
    members = [trained(tmp_path / f"m{seed}", seed) for seed in range(2)]
    save_ensemble(members, tmp_path / "e")
    weights = tmp_path / "m1" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    table = model_table([], [tmp_path / "e", home / "m0"])
    assert column(table, "parameters")[0] == "–"
    assert any("size not counted" in note for note in table.notes)
    card = tmp_path / "m1" / "model.json"
    card.write_text((tmp_path / "m0" / "model.json").read_text())
    with pytest.raises(InvalidArgumentError, match=r"member \.\./m1 of .* has changed"):
        read_folders([tmp_path / "e"])


def test_folders_are_found_where_runs_say_they_were_if_the_weights_are_the_runs(tmp_path):
    folder = trained(tmp_path / "m", 3, 12.0)
    classifier, images = sc.load_classifier(folder), sc.load_dataset("digits")
    procedure = sc.FixedSample(n0=16, n=64)
    sc.certify(classifier, images, indices=[0], procedure=procedure, seed=1, workers=1, out=tmp_path / "run")
    (cost,) = model_costs([], [Summary.of_path(tmp_path / "run")])
    assert (cost.folder.seconds, cost.folder.path.name, len(cost.runs)) == (12.0, "m", 1)
    shutil.rmtree(folder)
    trained(tmp_path / "m", 4)  # another model at the same place
    assert model_costs([], [Summary.of_path(tmp_path / "run")]) == []


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"), (999, "999"), (999.6, "1k"), (4258, "4.26k"), (99_960, "100k"), (999_999, "1M"), (1_730_000, "1.73M"),
        (255_270_000, "255M"), (4.122e9, "4.12G"), (1.5e12, "1,500G"),
    ],
)  # fmt: skip
def test_numbers_have_three_digits_and_a_unit(value, text):
    assert with_unit(value) == text


def test_one_folder_given_twice_is_one_row(home):
    assert len(model_costs([home / "m0", str(home / "m0")])) == 1
    assert np.isfinite(model_costs([home / "m0"])[0].folder.seconds)
