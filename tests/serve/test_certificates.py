"""What is told is kept, can be audited, and is the same however often it is asked for."""

import threading
from copy import copy
from dataclasses import replace

import pytest
import torch

import smoothcert as sc
from serving import FIXED, served
from smoothcert.errors import UnsoundModelError
from smoothcert.sampling import Sampler
from smoothcert.serve.limits import Limits
from smoothcert.store import Run
from smoothcert.workflows import Trust

STREAM = {"n": 3_000, "tolerance": 0.001}


def run_of(service, name):
    return service.folder.run_folder(name)


def offline(service, model, told, image):
    """Certify the image again as anybody with the run folder could."""
    manifest = Run.open(run_of(service, told["certificate"])).manifest
    about = {key: value for key, value in manifest["procedure"].items() if key != "name"}
    procedure = {"fixed": sc.FixedSample, "sequential": sc.Sequential}[manifest["procedure"]["name"]](**about)
    return model.classifier.certify(
        torch.tensor(image), procedure, alpha=manifest["alpha"], seed=int(manifest["seed"]), engine="torch"
    )


def assert_same(told, certificate):
    assert told["radius"] == certificate.radius
    assert told["p_lower"] == certificate.p_lower
    assert told["class"] == certificate.predicted
    assert told["samples"] == certificate.samples
    assert told["outcome"] == certificate.outcome.name
    last = {tally.phase: tally.counts.votes.tolist() for tally in certificate.tallies}
    assert told["votes"] == last


def test_a_certificate_is_the_offline_one_of_its_seed_and_passes_an_audit(running, model, images):
    told = running.certify(images[0]).json()
    assert (told["status"], told["repeated"], told["model"]) == ("finished", False, "digits")
    assert_same(told, offline(running, model, told, images[0]))
    assert sc.audit(run_of(running, told["certificate"]), fraction=1, seed=1).trust is Trust.TRUSTED
    again = running.client.get(f"/v1/certificates/{told['certificate']}").json()
    assert again == {**told, "repeated": True}


def test_a_repeated_question_draws_no_vote_also_after_a_restart(running, model, images, tmp_path):
    first = running.certify(images[1]).json()
    drawn = running.votes()
    assert running.certify(images[1]).json() == {**first, "repeated": True}
    assert running.votes() == drawn
    other = running.certify(images[1], alpha=0.01).json()
    assert other["certificate"] != first["certificate"]
    assert other["votes"] != first["votes"]  # fresh noise: nobody may choose alpha after the votes


def test_after_a_restart_the_certificate_is_still_the_answer(model, images, tmp_path):
    with served({"digits": model}, tmp_path / "store") as one:
        first = one.certify(images[1]).json()
        predicted = one.predict(images[1], n=100).json()
    with served({"digits": model}, tmp_path / "store") as two:
        assert two.certify(images[1]).json() == {**first, "repeated": True}
        assert two.votes() == 0
        assert two.predict(images[1], n=100).json() == predicted
    with served({"digits": model}, tmp_path / "elsewhere") as three:
        assert three.predict(images[1], n=100).json()["votes"] != predicted["votes"]  # another secret


def test_equal_questions_at_the_same_time_are_drawn_once(running, images):
    told = []
    threads = [
        threading.Thread(target=lambda: told.append(running.certify(images[2]).json())) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer["certificate"] for answer in told}) == 1
    assert [answer["repeated"] for answer in told].count(False) == 1
    assert running.votes() == told[0]["samples"] == FIXED["n0"] + FIXED["n"]


def test_no_seed_leaves_the_server(running, images):
    told = running.certify(images[0])
    seed = Run.open(run_of(running, told.json()["certificate"])).manifest["seed"]
    told_too = running.client.get(f"/v1/certificates/{told.json()['certificate']}")
    stream = str(running.stream(images[0], **STREAM))
    for text in (told.text, told_too.text, stream, running.client.get("/v1/models").text):
        assert seed not in text
        assert "seed" not in text


def test_forgotten_images_leave_only_their_digest(model, images, tmp_path):
    with served({"digits": model}, tmp_path / "store", forget_images=True) as service:
        told = service.certify(images[0]).json()
        report = sc.audit(run_of(service, told["certificate"]))
        assert report.trust is Trust.UNDECIDED, report.line
        assert not list((tmp_path / "store").rglob("*.npz"))
        brought = sc.Dataset.from_arrays(
            torch.tensor(images[0]).numpy()[None],
            [10],
            name="x",
            class_names=[*model.class_names, "not known"],
        )
        named = sc.Dataset(
            f"{told['image']}.npz", "test", brought.images, brought.labels, brought.class_names
        )
        assert sc.audit(run_of(service, told["certificate"]), dataset=named).trust is Trust.TRUSTED


def test_streamed_radii_never_decrease_and_end_as_the_offline_certificate(running, model, images):
    for image in images[:3]:
        names, events = zip(*running.stream(image, **STREAM), strict=True)
        assert names[0] == "begin"
        assert names[-1] == "end"
        assert set(names[1:-1]) == {"look"}
        radii = [event["radius"] for event in events[1:]]
        assert radii == sorted(radii)
        assert [event["samples"] for event in events[1:]] == sorted(event["samples"] for event in events[1:])
        assert events[-1]["status"] == "finished"
        assert_same(events[-1], offline(running, model, events[-1], image))


@pytest.mark.parametrize("stop_after", [2, 3, 7, 12])
def test_stopping_at_any_event_leaves_a_certificate_that_passes_an_audit(
    running, model, growing, pace, stop_after
):
    pace.hold(stop_after + 1)  # one batch chooses the class, each of the next brings a look
    events = running.stream(growing, stop_after=stop_after, **STREAM)
    name, seen = events[0][1]["certificate"], events[-1][1]
    running.wait_until_left(name)
    pace.free()
    kept = running.client.get(f"/v1/certificates/{name}").json()
    assert kept["status"] == "stopped"
    assert kept["radius"] >= seen["radius"]
    assert kept["samples"] >= seen["samples"]
    report = sc.audit(run_of(running, name), fraction=1, seed=2)
    assert report.trust is Trust.TRUSTED, report.line
    assert any("stopped" in note for note in report.notes)
    # Asked again it continues the same votes, and ends where a stream that nobody left would have.
    before = running.votes()
    again = running.stream(growing, **STREAM)
    assert again[0][1]["repeated"]
    radii = [kept["radius"], *(event["radius"] for _, event in again[1:])]
    assert radii == sorted(radii)
    assert again[-1][1]["certificate"] == name
    assert_same(again[-1][1], offline(running, model, again[-1][1], growing))
    assert running.votes() - before < again[-1][1]["samples"]  # those before the stop were not drawn again
    assert sc.audit(run_of(running, name), fraction=1, seed=2).trust is Trust.TRUSTED


def test_a_time_limit_keeps_the_votes_and_asking_again_goes_on(model, images, tmp_path, pace):
    limits = Limits(seconds=0.1)
    long = {"name": "fixed", "n0": 100, "n": 60_000}
    with served({"digits": model}, tmp_path / "store", limits=limits) as service:
        pace.hold(3)
        first = service.certify(images[0], long)
        pace.free()
        assert first.status_code == 503
        assert first.json()["error"]["code"] == "time_limit"
        assert first.headers["retry-after"]
    with served({"digits": model}, tmp_path / "store") as service:
        told = service.certify(images[0], long).json()
        assert told["samples"] == 60_100
        assert service.votes() < 60_100
        assert_same(told, offline(service, model, told, images[0]))


def test_a_model_that_fails_a_check_leaves_no_certificate_behind(running, images, pace, growing, monkeypatch):
    """Neither the one under way nor those told before: nothing that it was asked rests on a fixed function."""

    def fail(self, chunks):
        raise UnsoundModelError("it changed its mind")

    before = running.certify(images[0]).json()["certificate"]
    assert running.client.get(f"/v1/certificates/{before}").status_code == 200
    pace.hold(20)
    seen = []
    for event, data in running.events({"image": growing, **STREAM}):
        seen.append((event, data))
        if event == "look":
            monkeypatch.setattr(Sampler, "draw", fail)
            pace.free()
    assert seen[-1][0] == "error"
    (under_way,) = {data["certificate"] for event, data in seen if event == "begin"}
    for name in (before, under_way):
        assert running.client.get(f"/v1/certificates/{name}").status_code == 404
        assert not run_of(running, name).exists()
    assert running.client.get("/readyz").status_code == 503


def other_zeros(image):
    """The same image with another spelling of its zeros."""
    return [other_zeros(one) for one in image] if isinstance(image, list) else (-0.0 if image == 0 else image)


@pytest.mark.parametrize(
    "one, other",
    [
        ({"name": "group", "radius": 1, "n": 500}, {"name": "group", "radius": 1.0, "n": 500}),
        (
            {"name": "sequential", "radii": [0, 1], "n": 500},
            {"name": "sequential", "radii": [-0.0, 1.0], "n": 500},
        ),
    ],
)
def test_a_number_spelled_otherwise_is_no_new_question(running, images, one, other):
    """Or whoever spells it in many ways would draw until one succeeds."""
    told = running.certify(images[0], one).json()
    again = running.certify(other_zeros(images[0]), other).json()
    assert again == {**told, "repeated": True}


def test_votes_of_two_engines_are_not_mixed_in_a_certificate(model, digits):
    procedure = sc.FixedSample(n0=64, n=640)
    certifications = {
        engine: model.classifier.certification(
            procedure, alpha=0.01, seed=1, engine=engine, example=digits.image(0)
        )
        for engine in ("torch", "eager")
    }
    state = certifications["torch"].save(certifications["torch"].sampling(0, digits.image(0)))
    assert certifications["torch"].may_continue(state)
    assert not certifications["eager"].may_continue(state)


def test_a_certificate_has_the_class_names_of_the_model_that_is_asked(model, images, tmp_path):
    with served({"digits": model}, tmp_path / "served") as service:
        told = service.certify(images[0]).json()
    renamed = replace(model, name="renamed", classifier=copy(model.classifier))
    renamed.classifier.class_names = tuple(f"not {name}" for name in model.class_names)
    with served({"renamed": renamed}, tmp_path / "served") as service:
        again = service.certify(images[0]).json()
    assert again["repeated"]
    assert again["class_name"] == f"not {told['class_name']}"
