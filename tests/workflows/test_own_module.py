"""A module trained by `fit`: certified, stored, audited with the module in hand, and joined to an ensemble."""

import numpy as np
import pytest
from torch import nn

import smoothcert as sc
from smoothcert.errors import ModuleNeededError

NOISE = sc.Gaussian(0.25)
QUICK = sc.FixedSample(n0=32, n=200)


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(16, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 3)
        )

    def forward(self, batch):
        return self.layers(batch)


def rows(count, split, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, count)
    images = rng.integers(0, 60, (count, 1, 4, 4), dtype=np.uint8)
    images[np.arange(count), 0, labels] = 255
    return sc.Dataset.from_arrays(images, labels, split=split)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Two trained folders, and a run of the first."""
    home = tmp_path_factory.mktemp("own")
    for seed in (0, 1):
        classifier = sc.fit(
            Own,
            rows(200, "train", 0),
            noise=NOISE,
            epochs=8,
            seed=seed,
            out=home / f"m{seed}",
            mean=[0.3],
            std=[0.4],
        )
        if seed == 0:
            sc.certify(classifier, rows(6, "test", 1), procedure=QUICK, seed=3, out=home / "run")
    return home


def test_the_run_is_that_of_the_folder_read_again(home, tmp_path):
    run = sc.Run.open(home / "run")
    assert run.certified_accuracy([0.0])[0] > 0.5
    loaded = sc.load_classifier(home / "m0", module=Own())
    again = sc.certify(loaded, rows(6, "test", 1), procedure=QUICK, seed=3, out=tmp_path / "run")
    assert list(again.to_frame().radius) == list(run.to_frame().radius)
    assert again.manifest["model"] == run.manifest["model"]


def test_an_audit_is_given_the_module_and_runs_none_by_itself(home):
    test = rows(6, "test", 1)
    alone = sc.audit(home / "run", dataset=test)
    assert not alone.findings
    assert any("was given in Python" in note for note in alone.notes)
    report = sc.audit(home / "run", model=sc.load_classifier(home / "m0", module=Own()), dataset=test)
    assert not report.findings
    other = sc.audit(home / "run", model=sc.load_classifier(home / "m1", module=Own()), dataset=test)
    assert ["is not the one that was certified" in str(one) for one in other.findings] == [True]


def test_folders_of_fit_join_an_ensemble_that_certifies(home, tmp_path):
    places = [home / "m0", home / "m1"]
    with pytest.raises(ModuleNeededError, match="no folder runs by itself"):
        sc.save_ensemble(places, tmp_path / "both")
    sc.save_ensemble(places, tmp_path / "both", module=Own())
    with pytest.raises(ModuleNeededError, match="cannot load its member"):
        sc.load_classifier(tmp_path / "both")
    classifier = sc.load_classifier(tmp_path / "both", module=Own())
    run = sc.certify(classifier, rows(6, "test", 1), procedure=QUICK, seed=3)
    assert run.certified_accuracy([0.0])[0] > 0.5
