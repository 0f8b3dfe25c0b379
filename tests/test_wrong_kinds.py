"""Arguments of the wrong kind in Python: one of our errors, which says what is needed and how to get it."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

import smoothcert as sc
from smoothcert.arguments import check_path
from smoothcert.errors import InvalidArgumentError, SmoothcertError

QUICK = sc.FixedSample(n0=64, n=64)
NET = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10)).eval()
LOADER = DataLoader(TensorDataset(torch.zeros(4, 1, 8, 8)))
SMOOTHED = sc.SmoothedClassifier(NET, sc.Gaussian(0.25), 10)
PAIR = sc.VotingEnsemble([NET, NET])
MIXTURE = sc.VotingEnsemble([NET, NET], "softmax")
HOLDOUT = {"rule": None, "weights": None, "fit": "sween", "images": 5, "draws": 1, "seed": 1}
ODD = (
    None,
    5,
    1.5,
    "x",
    b"x",
    [],
    [1],
    {},
    {"a": 1},
    object(),
    NET,
    torch.zeros(2),
    np.zeros(3),
    LOADER,
    SMOOTHED,
)
ODD += (float("nan"), True, int, "a\0b", 10**400, len)


@pytest.fixture(scope="module")
def data():
    return sc.load_dataset("digits")


@pytest.fixture(scope="module")
def run(data):
    return sc.certify(SMOOTHED, data, procedure=QUICK, indices=[0], seed=1, workers=1, engine="torch")


@pytest.mark.parametrize("given", [[(torch.zeros(1, 8, 8), 0)], np.zeros((4, 1, 8, 8)), "digits", None])
def test_data_that_are_no_data_set(given):
    sentence = r"dataset must be a smoothcert Dataset: load_dataset\(name\), Dataset.from_arrays\(images, labels\) or"
    with pytest.raises(InvalidArgumentError, match=sentence):
        sc.certify(SMOOTHED, given)
    with pytest.raises(InvalidArgumentError, match=sentence):
        sc.certify_panel(SMOOTHED, given, outs={"run": None})
    with pytest.raises(InvalidArgumentError, match=sentence):
        sc.attack_images(SMOOTHED, given, radii=[0.1], out="new")


@pytest.mark.parametrize("given", [NET, "model", None, PAIR])
def test_a_network_that_is_not_smoothed(given, data):
    for ask in (sc.certify, lambda *both: sc.attack_images(*both, radii=[0.1], out="new")):
        with pytest.raises(
            InvalidArgumentError, match=r"must be a SmoothedClassifier: SmoothedClassifier\(model"
        ):
            ask(given, data)


def test_a_list_of_runs_for_a_report(run, tmp_path):
    with pytest.raises(
        InvalidArgumentError, match=r'runs must be a table of runs by name, such as {"my run": run}'
    ):
        sc.write_report([run], tmp_path / "page.html", title="t")
    with pytest.raises(InvalidArgumentError, match=r"each of runs must be a Run: Run.open\(folder\)"):
        sc.write_report({"a": "runs/a"}, tmp_path / "page.html", title="t")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("indices", [[0.9], ["0"], "0", 5, [None], [[0]]])
def test_indices_that_are_no_whole_numbers_are_not_rounded(indices, data):
    with pytest.raises(InvalidArgumentError, match="indices must be a list of whole numbers"):
        sc.certify(SMOOTHED, data, procedure=QUICK, indices=indices, engine="torch")


@pytest.mark.parametrize("path", ["", "a\0b", 5, None, b"a", object()])
def test_what_is_no_path(path):
    with pytest.raises(InvalidArgumentError, match="out must be a path"):
        check_path("out", path)
    assert check_path("out", "a/b") == check_path("out", Path("a/b")) == Path("a/b")


def calls(data, run):
    """Each public function with arguments that work, or that fail by a name that is nowhere."""
    how = {"alpha": 0.001, "seed": 1, "workers": 1, "batch_size": 64}
    many = {
        "classifier": SMOOTHED,
        "dataset": data,
        "procedure": QUICK,
        "indices": [0],
        "engine": "torch",
        **how,
    }
    attack = {
        name: many[name]
        for name in ("classifier", "dataset", "indices", "engine", "alpha", "seed", "workers")
    }
    attack |= {"radii": [0.1], "method": "pgd", "steps": 1, "m": 1, "n": 64, "run": None, "out": "attack"}
    one = {"image": data.image(0), "index": 0, **how}
    return (
        (sc.certify, {**many, "out": None}),
        (sc.certify_panel, {**many, "outs": {"run": None}, "folders": None}),
        (sc.attack_images, attack),
        (SMOOTHED.certify, {**one, "procedure": QUICK}),
        (SMOOTHED.predict, {**one, "n": 64}),
        (sc.SmoothedClassifier, {"model": NET, "noise": sc.Gaussian(0.25), "num_classes": 10}),
        (
            sc.write_report,
            {"runs": {"a": run}, "path": "page.html", "notes": (), "attack": None, "dataset": None},
        ),
        (sc.audit, {"run": "nowhere"}),
        (sc.load_classifier, {"folder": "nowhere", "noise": None}),
        (sc.load_dataset, {"name": "digits", "data_dir": None}),
        (
            sc.save_ensemble,
            {"folders": ["nowhere"], "out": "new", "rule": "soft", "weights": None, "early_exit": None},
        ),
        (sc.train, {"config": "nowhere", "out": "new"}),
        (sc.fine_tune, {"config": "nowhere", "members": "nowhere", "out": "new"}),
        (sc.FixedSample, {"n0": 10, "n": 10, "runner_up": False}),
        (sc.Staged, {"radius": 0.1, "stages": (10, 20), "beta": 0.01, "n0": 10}),
        (
            sc.Sequential,
            {"radius": None, "radii": None, "max_samples": 10, "beta": 0.01, "n0": 10, "tolerance": 0.1},
        ),
        (sc.GroupSequential, {"radius": 0.1, "n": 10, "beta": 0.01, "n0": 10}),
        (sc.VotingEnsemble, {"members": [NET, NET], "rule": "soft", "weights": None}),
        (sc.ConsensusEnsemble, {"ensemble": PAIR, "k": 2}),
        (sc.Panel, {"ensembles": PAIR}),
        (sc.AdaptiveEnsemble, {"ensemble": MIXTURE, "threshold": 0.9, "alpha": 0.1}),
        (sc.Consensus, {"k": 2}),
        (sc.Adaptive, {"threshold": 0.9, "alpha": 0.1}),
        (sc.MultiHead, {"trunk": NET, "heads": [NET]}),
        (sc.load_model, {"folder": "nowhere"}),
        (
            sc.make_ensemble,
            {"folders": ["nowhere"], "out": "new", "early_exit": None, **HOLDOUT, "dataset": data},
        ),
    )


@pytest.mark.parametrize("number", range(26))
@pytest.mark.filterwarnings("ignore")
def test_nothing_but_our_errors_whatever_is_handed_in(number, data, run, monkeypatch, tmp_path):
    call, given = calls(data, run)[number]
    fixed = {"title": "t"} if call is sc.write_report else {}
    fixed |= {"resume": True} if call is sc.attack_images else {}
    monkeypatch.chdir(tmp_path)
    for name in given:
        for value in ODD:
            with contextlib.suppress(SmoothcertError):
                call(**{**given, name: value}, **fixed)
