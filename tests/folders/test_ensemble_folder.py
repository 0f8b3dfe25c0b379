"""An ensemble folder points to its members, moves with them, and notices when one has changed."""

import json
import shutil

import numpy as np
import pytest
import torch

import smoothcert as sc
from small_networks import save_network
from smoothcert.data import Dataset
from smoothcert.ensembles import (
    AdaptiveEnsemble,
    ConsensusEnsemble,
    HoldoutUse,
    VotingEnsemble,
    refuse_overlap,
)
from smoothcert.errors import CheckpointError, InvalidArgumentError, SmoothcertError
from smoothcert.folders import (
    load_checkpoint,
    load_model,
    read_any_card,
    save_ensemble,
)


def save_member(folder, seed, *, sigma=0.25, shape=(1, 8, 8), names=("a", "b", "c")):
    noise = {"name": "gaussian", "sigma": sigma}
    return save_network(folder, seed, noise=noise, input_shape=shape, class_names=names)


@pytest.fixture
def models(tmp_path):
    members = [save_member(tmp_path / "models" / f"member-{seed}", seed) for seed in range(3)]
    save_ensemble(members, tmp_path / "models" / "ensemble")
    return tmp_path / "models"


def images():
    return torch.rand(20, 1, 8, 8, generator=torch.Generator().manual_seed(6))


def test_loads_the_ensemble_that_was_saved(models):
    members = [load_checkpoint(models / f"member-{number}")[0] for number in range(3)]
    ensemble, card = load_model(models / "ensemble")
    assert torch.equal(ensemble(images()), VotingEnsemble(members)(images()))
    assert not any(module.training for module in ensemble.modules())
    assert not any(parameter.requires_grad for parameter in ensemble.parameters())
    assert (card.method, card.rule, card.weights) == ("ensemble", "soft", None)
    assert (card.num_classes, card.input_shape, card.class_names) == (3, (1, 8, 8), ("a", "b", "c"))
    assert card.noise == {"name": "gaussian", "sigma": 0.25}
    assert [member.path for member in card.members] == ["../member-0", "../member-1", "../member-2"]


def test_single_models_load_too(models):
    model, card = load_model(models / "member-1")
    again, same = load_checkpoint(models / "member-1")
    assert card == same
    assert torch.equal(model(images()), again(images()))


def test_moved_together_it_still_loads(models, tmp_path):
    before = load_model(models / "ensemble")
    shutil.move(models, tmp_path / "elsewhere")
    after = load_model(tmp_path / "elsewhere" / "ensemble")
    assert torch.equal(before[0](images()), after[0](images()))
    assert after[1] == before[1]


def test_relative_paths_do_not_depend_on_the_working_directory(models, tmp_path, monkeypatch):
    monkeypatch.chdir(models)
    card = save_ensemble(["member-0", "member-1"], "pair", weights=[1, 3])
    monkeypatch.chdir(tmp_path)
    assert load_model("models/pair")[1] == card


def test_digest_depends_on_rule_weights_and_members_in_order(models):
    folders = [models / f"member-{number}" for number in range(3)]
    digests = {
        load_model(models / "ensemble")[1].digest,
        save_ensemble(folders, models / "weighted", weights=[1, 2, 3]).digest,
        save_ensemble(folders[:2], models / "two").digest,
        save_ensemble(folders[::-1], models / "reversed").digest,
    }
    assert len(digests) == 4


def test_ensembles_nest(models):
    save_ensemble([models / "ensemble", models / "member-0"], models / "outer")
    outer, _ = load_model(models / "outer")
    assert outer.evaluations_per_vote == 4


def test_saving_again_is_fine_saving_another_is_not(models):
    folders = [models / f"member-{number}" for number in range(3)]
    save_ensemble(folders, models / "ensemble")
    with pytest.raises(CheckpointError, match="already holds another model"):
        save_ensemble(folders[:2], models / "ensemble")
    with pytest.raises(CheckpointError, match="already holds another model"):
        save_ensemble(folders[:2], models / "member-2")


@pytest.mark.parametrize(
    "other, message",
    [
        ({"sigma": 0.5}, "agree on noise: .*member-0 has .*0.25.*other has .*0.5"),
        ({"shape": (1, 9, 9)}, "agree on input_shape"),
        ({"names": ("a", "b")}, "agree on num_classes"),
        ({"names": ("a", "b", "d")}, "agree on class_names"),
    ],
)
def test_members_that_disagree_are_refused(models, other, message):
    save_member(models / "other", 9, **other)
    with pytest.raises(InvalidArgumentError, match=message):
        save_ensemble([models / "member-0", models / "other"], models / "mixed")
    assert not (models / "mixed").exists()


@pytest.mark.parametrize("rule, weights", [("loud", None), ("soft", [1.0])])
def test_bad_rule_or_weights_are_refused_before_writing(models, rule, weights):
    with pytest.raises(SmoothcertError):
        save_ensemble([models / "member-0", models / "member-1"], models / "bad", rule=rule, weights=weights)
    assert not (models / "bad").exists()


def test_no_members_are_refused(models):
    with pytest.raises(InvalidArgumentError, match="at least one"):
        save_ensemble([], models / "none")


def test_changed_member_is_named(models):
    shutil.rmtree(models / "member-1")
    save_member(models / "member-1", 99)
    with pytest.raises(CheckpointError, match=r"member \.\./member-1 of the ensemble .* has changed"):
        load_model(models / "ensemble")


def test_missing_member_is_named(models):
    shutil.rmtree(models / "member-2")
    with pytest.raises(CheckpointError, match=r"cannot load its member \.\./member-2: .*not a model folder"):
        load_model(models / "ensemble")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"weights": [1, 1, 2]}, "was changed: its digest does not match"),
        ({"rule": "loud"}, "damaged: unknown voting rule"),
        ({"weights": [1]}, "damaged: weights must hold one number per member"),
        ({"members": []}, "damaged: members must hold"),
        ({"members": [{"path": ".", "digest": "x"}]}, "is a member of itself"),
        ({"format": 1}, "damaged: format"),
    ],
)
def test_edited_json(models, change, message):
    path = models / "ensemble" / "ensemble.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CheckpointError, match=message):
        load_model(models / "ensemble")


def test_folder_that_is_both_is_refused(models):
    shutil.copy(models / "member-0" / "model.json", models / "ensemble")
    with pytest.raises(CheckpointError, match="holds both"):
        load_model(models / "ensemble")


def folders(models, count=3):
    return [models / f"member-{number}" for number in range(count)]


def test_consensus_and_adaptive_prediction_come_back(models):
    save_ensemble(
        folders(models), models / "consensus", rule="hard", weights=[1, 2, 3], early_exit=sc.Consensus(2)
    )
    consensus, card = load_model(models / "consensus")
    assert isinstance(consensus, ConsensusEnsemble)
    assert (consensus.k, consensus.ensemble.rule, card.early_exit) == (2, "hard", sc.Consensus(2))
    assert not any(module.training for module in consensus.modules())
    test = sc.Adaptive(threshold=0.9)
    save_ensemble(folders(models), models / "adaptive", rule="softmax", weights=[1, 2, 3], early_exit=test)
    adaptive, card = load_model(models / "adaptive")
    assert isinstance(adaptive, AdaptiveEnsemble)
    assert (adaptive.threshold, adaptive.alpha, adaptive.order, card.early_exit) == (
        0.9,
        0.05,
        (2, 1, 0),
        test,
    )
    plain = save_ensemble(folders(models), models / "plain", rule="hard", weights=[1, 2, 3])
    assert len({plain.digest, card.digest, load_model(models / "consensus")[1].digest}) == 3


def test_cards_are_read_without_weights(models):
    for name in ("ensemble", "member-1"):
        assert read_any_card(models / name) == load_model(models / name)[1]
    (models / "member-1" / "model.safetensors").unlink()
    assert read_any_card(models / "member-1").training == {"seed": 1}
    with pytest.raises(CheckpointError, match="not a model folder"):
        read_any_card(models)


def test_files_from_before_these_fields_still_load(models):
    path = models / "ensemble" / "ensemble.json"
    content = json.loads(path.read_text())
    for name in ("early_exit", "fitted"):
        del content[name]
    path.write_text(json.dumps(content))
    ensemble, card = load_model(models / "ensemble")
    assert isinstance(ensemble, VotingEnsemble)
    assert (card.early_exit, card.fitted) == (None, ())


@pytest.mark.parametrize(
    "rule, weights, options, message",
    [
        ("soft", None, {"early_exit": sc.Consensus(4)}, "from 1 to the 3 members of the ensemble, got 4"),
        ("soft", [0, 0, 1], {"early_exit": sc.Consensus(2)}, "the first 2 members have weight 0"),
        ("hard", [-1, 1, 1], {}, r"got \[-1, 1, 1\]"),
        ("softmax", [0, 0, 0], {}, "positive sum"),
        ("max-margin", [1, 2, 1], {}, "takes no weights"),
        ("soft", None, {"early_exit": sc.Adaptive()}, "of rule 'softmax', got 'soft'"),
    ],
)
def test_what_cannot_vote_is_refused_before_writing(models, rule, weights, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        save_ensemble(folders(models), models / "bad", rule=rule, weights=weights, **options)
    assert not (models / "bad").exists()


@pytest.mark.parametrize(
    "entry, message",
    [
        ({"kind": "consensus", "k": 3}, "was changed"),
        ({"kind": "consensus", "k": 9}, "damaged: k must be"),
        ({"kind": "consensus", "k": 0}, "damaged: early_exit: .*k must be an integer from 1 .*got 0"),
        ({"kind": "consensus", "k": 2.0}, "damaged: early_exit: .*k must be an integer"),
        ({"kind": "consensus", "k": 2, "l": 1}, "has the settings k, got"),
        ({"kind": "consensus"}, "has the settings k, got"),
        ({"k": 2}, "unknown early exit None; known: adaptive, consensus"),
        ({"kind": ["consensus"], "k": 2}, "unknown early exit"),
        ({"kind": "sleep"}, "unknown early exit 'sleep'; known: adaptive, consensus"),
        (2, "written as its kind and settings"),
        (None, "was changed"),
    ],
)
def test_edited_consensus_is_noticed(models, entry, message):
    save_ensemble(folders(models), models / "consensus", early_exit=sc.Consensus(2))
    path = models / "consensus" / "ensemble.json"
    card = json.loads(path.read_text())
    assert card["early_exit"] == {"kind": "consensus", "k": 2}
    path.write_text(json.dumps({**card, "early_exit": entry}))
    with pytest.raises(CheckpointError, match=message):
        load_model(models / "consensus")


def use(**changes):
    about = {"purpose": "sween", "dataset": "custom", "split": "holdout", "digest": "d", "images": 20}
    return HoldoutUse(**{**about, "draws": 10, "seed": 3, **changes})


def test_what_was_fitted_is_kept_also_through_nesting(models):
    save_ensemble(folders(models), models / "inner", rule="softmax", weights=[1, 2, 3], fitted=[use()])
    assert load_model(models / "inner")[1].fitted == (use(),)
    outer = save_ensemble(
        [models / "inner", models / "member-0"], models / "outer", fitted=[use(purpose="order")]
    )
    assert outer.fitted == (use(purpose="order"), use())


@pytest.mark.parametrize(
    "change", [{"noise": {"name": "gaussian", "sigma": 2.0}}, {"num_classes": 7}, {"class_names": ["x"]}]
)
def test_a_card_that_contradicts_its_members_is_refused(models, change):
    save_ensemble(folders(models), models / "edited")
    path = models / "edited" / "ensemble.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CheckpointError, match=f"was changed: it says {next(iter(change))}"):
        load_model(models / "edited")


def test_images_that_chose_the_weights_are_refused(models):
    pixels = np.random.default_rng(0).random((60, 4), dtype=np.float32)
    splits = {
        split: Dataset.from_arrays(pixels[part], np.zeros(30, dtype=np.int64), split=split)
        for split, part in {"holdout": slice(30), "test": slice(30, 60)}.items()
    }
    fitted = [use(digest=splits["holdout"].digest)]
    card = save_ensemble(folders(models), models / "fitted", rule="softmax", weights=[1, 2, 3], fitted=fitted)
    with pytest.raises(InvalidArgumentError, match=r"image 19 of custom \(holdout\) was among the 20 images"):
        refuse_overlap(card, splits["holdout"], [25, 19])
    refuse_overlap(card, splits["holdout"], [25, 20])  # not looked at
    refuse_overlap(card, splits["holdout"], [])
    with pytest.raises(InvalidArgumentError, match="image 19"):
        sc.certify(
            sc.load_classifier(models / "fitted"),
            splits["holdout"],
            indices=[25, 19],
            procedure=sc.FixedSample(n=64),
        )
    refuse_overlap(card, splits["test"], [0])
    for split in ("holdout", "train"):  # of another size: nobody can tell which images they were
        other = Dataset.from_arrays(pixels[5:30], np.zeros(25, dtype=np.int64), split=split)
        with pytest.raises(InvalidArgumentError, match="may hold some of the 20 images"):
            refuse_overlap(card, other, [24])
    renamed = card.model_copy(update={"fitted": (use(digest=splits["test"].digest, dataset="x"),)})
    with pytest.raises(InvalidArgumentError, match="certify other images"):
        refuse_overlap(renamed, splits["test"], [0])
    refuse_overlap(load_model(models / "member-0")[1], splits["holdout"], [0])
