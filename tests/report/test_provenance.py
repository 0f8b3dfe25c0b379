"""The page says how each model was trained, from the card that belongs to the weights that were certified."""

import pytest

import smoothcert as sc
from small_networks import save_denoised, save_network
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import load_model, save_ensemble
from smoothcert.report.page.provenance import provenance

WORDS = "architecture convnet, method gaussian, epochs 2, training images 1,097 of digits"


def save(folder, seed=0, **changes):
    trained = {"method": "macer", "training": {"epochs": 7}, "metrics": {"train_images": 64.0}}
    return save_network(folder, seed, **{**trained, **changes})


def told(folder):
    return provenance(folder, {"model": f"{load_model(folder)[1].digest}/fingerprint"})


def test_a_trained_model_names_architecture_method_epochs_and_images(model_folder):
    _, card = load_model(model_folder)
    images = len(sc.load_dataset("digits", "train"))
    assert (card.training["epochs"], card.metrics["train_images"]) == (2, images)
    assert told(model_folder) == WORDS.replace("1,097", f"{images:,}")


def test_what_a_card_does_not_say_is_not_made_up(tmp_path):
    save(tmp_path / "a", training={}, metrics={}, heads=3)
    assert told(tmp_path / "a") == (
        "architecture convnet with 3 heads, method macer, epochs not recorded, training images not recorded of digits"
    )


def test_an_ensemble_names_each_kind_of_member_once(tmp_path):
    folders = [save(tmp_path / f"m{seed}", seed) for seed in range(2)]
    folders.append(save(tmp_path / "m2", 2, method="smoothadv"))
    save_ensemble(folders, tmp_path / "e", rule="hard")
    same = "architecture convnet, method macer, epochs 7, training images 64 of digits"
    assert told(tmp_path / "e") == f"3 members, rule hard: 2 x ({same}); {same.replace('macer', 'smoothadv')}"
    network = save(tmp_path / "network", heads=3)
    save_ensemble([network], tmp_path / "heads", heads=[2, 0])
    assert told(tmp_path / "heads").startswith("2 heads of one network, rule soft: architecture convnet with")


def test_a_denoiser_names_its_classifier_and_itself_only_once(tmp_path):
    save(tmp_path / "a")
    save_denoised(tmp_path / "a", tmp_path / "d", method="denoiser-mse")
    words = told(tmp_path / "d")
    assert words.startswith("architecture dncnn, method denoiser-mse, epochs 7")
    assert words.endswith(
        "before a classifier (architecture convnet, method macer, epochs 7, training images 64 of digits)"
    )
    digest = load_model(tmp_path / "d")[1].digest
    path = tmp_path / "d" / "model.json"
    path.write_text(path.read_text().replace('"../a"', '"../d"'))  # a classifier that is itself
    assert provenance(tmp_path / "d", {"model": digest}).count("dncnn") == 2


def test_the_page_says_it_where_the_folder_is_known(model_folder, tmp_path, digits):
    run = sc.certify(
        sc.load_classifier(model_folder), digits, procedure=sc.FixedSample(n=100), seed=1,
        indices=[0, 1], workers=1, engine="torch",
    )  # fmt: skip
    page = tmp_path / "page.html"
    sc.write_report({"mine": run}, page, title="x", models={"mine": model_folder})
    made = page.read_text(encoding="utf-8").split("How it was made")[1]
    assert f"<td>{WORDS}</td>" in made
    sc.write_report({"mine": run, "other": run}, page, title="x", models={"mine": model_folder})
    assert f"<td>mine: {WORDS}</td>" in page.read_text(encoding="utf-8")
    sc.write_report({"mine": run}, page, title="x")
    assert "architecture" not in page.read_text(encoding="utf-8")
    page.unlink()
    other = save(tmp_path / "other")
    with pytest.raises(InvalidArgumentError, match=r"models names .*other for a run of another model"):
        sc.write_report({"mine": run}, page, title="x", models={"mine": other})
    with pytest.raises(CheckpointError, match="is not a model folder"):
        sc.write_report({"mine": run}, page, title="x", models={"mine": tmp_path})
    with pytest.raises(InvalidArgumentError, match="models"):
        sc.write_report({"mine": run}, page, title="x", models=[model_folder])
    assert not page.exists()
