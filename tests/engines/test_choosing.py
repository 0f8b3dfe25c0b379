"""What "auto" takes: by no clock where a job is small or a network is below float32, else the fastest that agrees."""

import sys

import pytest
import torch
from tests.engines.twins import Twins
from tests.own_models import save_onnx
from torch import nn

import smoothcert as sc
from marks import needs_openvino
from smoothcert.engines import Choice, Workload, choose_engine, choosing, onnx_export
from smoothcert.engines.resolve import candidates, engine_rule
from smoothcert.folders.own.onnx_file import read_onnx
from smoothcert.networks import BFLOAT16, INT8, OnnxNetwork, Probe, QuantizedNetwork

NOISE = sc.Gaussian(0.25)
IMAGE = torch.rand(4096, generator=torch.Generator().manual_seed(0))
LONG, SHORT = 1_000_000, 100  # votes


def network():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4096, 3)).eval()


MODEL = network()


def chosen(votes=LONG, known=None):
    return choose_engine(Workload(MODEL, IMAGE, votes), 3, NOISE, known)


@pytest.fixture
def twins(monkeypatch):
    return Twins(monkeypatch).add("torch", 1e-3, setup=0.0)


@pytest.mark.parametrize(
    ("cost", "name"), [(2e-3, "torch"), (5e-4, "onnx"), (9.9e-4, "torch"), (5e-3, "torch")]
)
def test_the_fastest_is_taken_and_the_plain_one_where_the_gain_is_chance(twins, cost, name):
    choice, engine = twins.add("onnx", cost) and chosen()
    assert choice.name == engine.engine_name == name
    assert choice.costs == pytest.approx({"torch": 1e-3, "onnx": cost})
    assert not choice.refused


def test_the_reason_says_what_each_costs():
    choice = Choice("onnx", {"torch": 1.25e-3, "onnx": 4.71e-5}, {"openvino": "it has a hook"})
    assert choice.reason() == "47 µs per vote and core; torch 1.25 ms, openvino cannot run it (it has a hook)"
    assert Choice("torch").reason() == "no other is worth trying for so few votes"
    assert "no other is worth making" in Choice("torch", {"torch": 1e-3}).reason()


def test_one_that_disagrees_is_never_taken_however_fast(twins):
    choice, engine = twins.add("onnx", 1e-9, answer=lambda logits: logits.flip(1)) and chosen()
    assert choice.name == engine.engine_name == "torch"
    assert set(choice.costs) == {"torch"}
    assert "its logits differ from the model's" in choice.refused["onnx"]


def test_one_of_another_package_is_never_taken_however_fast(twins):
    twins.add("outside", 1e-9, setup=0.0).add("onnx", 5e-4)
    twins.members.foreign = ("outside",)
    assert chosen()[0].name == "onnx"
    assert "outside" not in twins.made
    assert engine_rule("auto", MODEL, IMAGE) == "torch"


def test_a_small_job_reads_no_clock_and_makes_nothing(twins):
    choice, engine = twins.add("onnx", 1e-9) and chosen(SHORT)
    assert (choice, engine) == (Choice("torch"), None)
    assert (twins.clock.reads, twins.made) == (0, [])


def test_a_job_that_is_long_by_its_operations_only_makes_no_rival(twins):
    """The plain engine turns out to be quick: what remains of the job would not win the making back."""
    twins.costs["torch"] = 1e-9
    choice, engine = twins.add("onnx", 1e-10, setup=0.01) and chosen()
    assert (choice.name, set(choice.costs), engine.engine_name) == ("torch", {"torch"}, "torch")
    assert twins.made == ["torch"]


def test_a_rival_that_takes_long_to_make_is_left_to_longer_jobs(twins):
    twins.add("onnx", 5e-4).add("openvino", 1e-4, setup=60.0)
    first, _ = chosen()  # 500 seconds by two cores, by the clock; by their operations a few
    assert (first.name, set(first.costs)) == ("onnx", {"torch", "onnx"})
    reads = twins.clock.reads
    assert chosen(SHORT, first) == (first, None)
    assert chosen(LONG // 2, first) == (first, None)
    assert twins.clock.reads == reads
    longer, engine = chosen(2 * LONG, first)
    assert longer.name == engine.engine_name == "openvino"
    assert set(longer.costs) == {"torch", "onnx", "openvino"}


def test_measuring_takes_a_small_part_of_the_votes(twins):
    """And where that is less than one pass of each engine, nothing is measured."""
    twins.add("onnx", 5e-4)
    few = 64 * 2 * 7 * 20  # seven passes of 64 rows on one of two cores are a twentieth of it
    assert chosen(few - 20 * 2 * 64)[0] == Choice("torch")
    assert twins.clock.reads == 0
    assert chosen(few)[0].name == "onnx"
    for votes in (few, 2 * few, LONG):
        twins.clock.now = 0.0
        chosen(votes)
        compared = (64 + 37) * 1.5e-3  # with the model, whatever the job
        assert twins.clock.now <= 0.05 * votes * 1e-3 / 2 + compared


def test_a_model_that_raises_is_left_to_the_probe(twins):
    class Twin(twins.members["torch"]):
        registered_name = "torch"

        def forward(self, batch):
            raise RuntimeError("out of order")

    twins.add("onnx", 1e-9)
    twins.members["torch"] = Twin
    model = nn.Sequential(nn.Linear(4096, 3)).eval()
    engine = Twin(model, 3, IMAGE)
    race = choosing._Race(Workload(model, IMAGE, LONG), 3, NOISE, "torch", {"onnx": 0.0}, {"torch": engine})
    assert race.with_plain_measured(Choice("torch")) == Choice("torch")


def test_what_the_plain_torch_engine_runs_by_itself_has_no_rivals():
    class Own(nn.Module):
        def forward(self, batch):
            return batch[:, :3]

    assert candidates(Workload(Own().eval(), IMAGE, LONG)) == {"torch": 0.0}
    assert candidates(Workload(lambda batch: batch[:, :3], IMAGE, LONG)) == {"callable": 0.0}
    assert candidates(Workload(nn.Linear(4096, 3, device="meta").eval(), IMAGE, LONG)) == {"torch": 0.0}


def test_openvino_is_no_candidate_where_it_is_not_installed(tmp_path, monkeypatch):
    file = OnnxNetwork(read_onnx(save_onnx(tmp_path / "net.onnx")))
    monkeypatch.setitem(sys.modules, "openvino", None)
    assert list(candidates(Workload(MODEL, IMAGE, LONG))) == ["torch", "onnx"]
    assert list(candidates(Workload(file, torch.zeros(1, 8, 8), LONG))) == ["onnx"]


@needs_openvino
def test_openvino_is_a_candidate_where_it_is_installed(tmp_path):
    file = OnnxNetwork(read_onnx(save_onnx(tmp_path / "net.onnx")))
    assert list(candidates(Workload(MODEL, IMAGE, LONG))) == ["torch", "onnx", "openvino"]
    assert list(candidates(Workload(file, torch.zeros(1, 8, 8), LONG))) == ["onnx", "openvino"]
    both = sc.VotingEnsemble([file, OnnxNetwork(file.graph)]).eval()  # which it cannot export
    assert list(candidates(Workload(both, torch.zeros(1, 8, 8), LONG))) == ["onnx"]


@pytest.mark.parametrize(
    ("precision", "runtime", "name"),
    [(INT8, "onnx", "onnx"), (INT8, "openvino", "openvino"), (BFLOAT16, "openvino", "openvino")],
)
def test_a_network_below_float32_says_itself_who_runs_it(tmp_path, monkeypatch, precision, runtime, name):
    """Engines round it at other places: measured, a prediction could come from another classifier."""
    graph = read_onnx(save_onnx(tmp_path / "net.onnx"))
    quantized = QuantizedNetwork(graph, precision, Probe(torch.empty(0)), runtime=runtime)
    monkeypatch.setattr(choosing, "seconds_per_vote", None)
    for model in (quantized, sc.VotingEnsemble([quantized, quantized]).eval()):
        choice = choose_engine(Workload(model, torch.zeros(1, 8, 8), 10**12), 10, NOISE)
        assert choice == (Choice(name), None)


def test_rivals_share_one_export(monkeypatch):
    made = []

    def counted(model, example, *, keep_nan):
        made.append(keep_nan)
        return bytes([len(made)])

    monkeypatch.setattr(onnx_export, "_exported", counted)
    exported = onnx_export.exported
    with onnx_export.each_exported_once():
        assert exported(MODEL, IMAGE) == exported(MODEL, IMAGE) == b"\x01"
        assert exported(MODEL, IMAGE, keep_nan=False) == b"\x02"
        assert exported(network(), IMAGE) == b"\x03"
    assert exported(MODEL, IMAGE) == b"\x04"


@pytest.mark.slow
def test_real_engines_are_measured_and_one_of_them_is_taken():
    classifier = sc.SmoothedClassifier(MODEL, NOISE, 3)
    choice = classifier.engine_choice(IMAGE, 10**10)
    assert {"torch", "onnx"} <= set(choice.costs)
    assert all(0 < cost < 1 for cost in choice.costs.values())
    assert choice.name in choice.costs
    certificate = classifier.certify(IMAGE, sc.FixedSample(n=300), seed=1, workers=1)
    assert certificate.engine == choice.name
