"""Votes of one classifier never end up in the certificate of another, whoever resumes what."""

import pytest
import torch

import smoothcert as sc
from smoothcert.errors import StoreError
from smoothcert.execution import runner
from smoothcert.store.database import RunDatabase
from store.content import votes_in
from truth import CENTRE, HalfSpace

LONG = sc.FixedSample(n=20_000)


DATASET = sc.Dataset.from_arrays(torch.full((1, 3), 0.5).numpy(), [1])


def panel(*edges, weights=None):
    ensemble = sc.VotingEnsemble([HalfSpace(CENTRE - edge) for edge in edges], weights=weights).eval()
    return sc.SmoothedClassifier(sc.Panel(ensemble).eval(), sc.Gaussian(0.25), 2)


def certify_panel(classifier, outs, **how):
    options = {"procedure": LONG, "seed": 3, "workers": 1, "batch_size": 64, "resume": True, **how}
    return sc.certify_panel(classifier, DATASET, outs=outs, **options)


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """A panel of A (certain) and B, stopped after partial counts were stored."""

    class StoppedError(Exception):
        pass

    def save_then_stop(self, states, save=RunDatabase.save_unfinished):
        save(self, states)
        if states and max(map(votes_in, states.values())) > 5_000:
            raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(runner, "SAVE_SECONDS", 0.0)
        patch.setattr(RunDatabase, "save_unfinished", save_then_stop)
        with pytest.raises(StoppedError):
            certify_panel(panel(0.2, 0.2), {name: tmp_path / name for name in ("a", "b", "both")})
    return tmp_path


def alone(edge):
    classifier = sc.SmoothedClassifier(HalfSpace(CENTRE - edge).eval(), sc.Gaussian(0.25), 2)
    return classifier.certify(DATASET.image(0), LONG, seed=3, workers=1)


def test_a_changed_member_does_not_inherit_votes(interrupted):
    """Undecidable C takes B's place: with B's votes it would be certified far beyond its radius of zero."""
    outs = {"a": interrupted / "a", "c": interrupted / "c", "both": interrupted / "new"}
    runs = certify_panel(panel(0.2, 0.5), outs)
    assert runs["c"].final_counts[0] == alone(0.5).counts
    assert runs["a"].final_counts[0] == alone(0.2).counts


def test_one_member_of_an_interrupted_panel_can_go_on_alone(interrupted):
    classifier = sc.SmoothedClassifier(HalfSpace(CENTRE - 0.2).eval(), sc.Gaussian(0.25), 2)
    run = sc.certify(
        classifier, DATASET, procedure=LONG, seed=3, out=interrupted / "a", resume=True, workers=1
    )
    assert run.final_counts[0] == alone(0.2).counts


def test_the_same_panel_continues_from_its_partial_counts(interrupted):
    runs = certify_panel(panel(0.2, 0.2), {name: interrupted / name for name in ("a", "b", "both")})
    assert runs["b"].final_counts[0] == alone(0.2).counts


class Opaque:
    """Class 1 beyond an edge that only a running generator knows: nobody can see that it was exchanged."""

    def __init__(self, edge):
        self.edges = _endless(edge)

    def __call__(self, batch):
        score = batch.reshape(len(batch), -1)[:, 0] - next(self.edges)
        return torch.stack([-score, score], dim=1)


def _endless(edge):
    while True:
        yield edge


def predict(batch):
    return NETWORK(batch)


NETWORK = HalfSpace(CENTRE - 0.2).eval()


def stop_and_go_on(first, then, folder, monkeypatch):
    """Interrupt a run of one classifier, go on with another, and return the run."""

    class StoppedError(Exception):
        pass

    def save_then_stop(self, states, save=RunDatabase.save_unfinished):
        save(self, states)
        if states:
            raise StoppedError

    how = {"procedure": LONG, "seed": 3, "workers": 1, "batch_size": 64, "out": folder, "resume": True}
    with monkeypatch.context() as patch:
        patch.setattr(runner, "SAVE_SECONDS", 0.0)
        patch.setattr(RunDatabase, "save_unfinished", save_then_stop)
        with pytest.raises(StoppedError):
            sc.certify(sc.SmoothedClassifier(first(), sc.Gaussian(0.25), 2), DATASET, **how)
    return sc.certify(sc.SmoothedClassifier(then(), sc.Gaussian(0.25), 2), DATASET, **how)


def test_where_identity_is_not_settled_unfinished_images_are_drawn_anew(tmp_path, monkeypatch):
    run = stop_and_go_on(lambda: Opaque(0.2), lambda: Opaque(0.5), tmp_path / "run", monkeypatch)
    assert run.final_counts[0] == alone(0.5).counts
    assert run.manifest["model"].endswith("/unsettled")


def test_an_exchanged_global_network_is_another_model(tmp_path, monkeypatch):
    def exchanged():
        monkeypatch.setitem(globals(), "NETWORK", HalfSpace(CENTRE - 0.5).eval())
        return predict

    with pytest.raises(StoreError, match="model was"):
        stop_and_go_on(lambda: predict, exchanged, tmp_path / "run", monkeypatch)
