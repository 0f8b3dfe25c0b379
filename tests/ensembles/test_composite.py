"""What composite classifiers say about themselves, against what was stored when others said it."""

import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.certificates.identity import ensemble_records
from smoothcert.engines import build_engine
from smoothcert.ensembles import TrunkedEnsemble
from smoothcert.networks import DnCNN, counted, evaluations_of, model_digest, surrogate_of, whole_parts

DIGESTS = {
    "soft": "f2a7c609e0f714420f17a2697ff6e800f18cadaa086c33682557190da6446046",
    "max-margin": "745ebe4d475a2eaaf80e4cc89e01d0ce23db0cad02f58526189dcc4093554e8f",
    "weighted": "6f1073a91295ddbb645234e10651a6d64b8aa05c175ebc4bcff5cc589b50ece0",
    "consensus": "013191225cee6ad45a4166c3abfc2e07bf30e7ed77f72e8a9a6489772875aad8",
    "adaptive": "b07d2e930d7189ac7a17b3e9dd96724038904744320c87f56d4c36fa4a2cec5a",
    "heads": "cfca34929b7d09bbfd753cc9bac72517f4bec0614e8fcecce1b1aa195f0bfec9",
    "trunk": "c244face274fb9d0e74d65a093cae36dfc3aa2ce7b4e5f5701ed83672452641d",
    "trunk-consensus": "ba4e78b3ad843efd31fea677fe4017592e634146af1231b11f2b299bf9c5abb7",
    "denoised": "34953b6a48eb0aba8755f030edb06c5da2f047ce99418116090dcb51e1a94aee",
    "nested": "52f58a56742411ef07414f02a937cf58ae9b800b1188e84701be4d325c323f78",
    "panel": "40b47fcf3373c0350438ce5a5901a367898d34be88f6988930f52d5e98304c16",
}


def network(number, inputs=12, outputs=3):
    """A linear network whose weights are written out, so that its digest depends on no generator."""
    layer = nn.Linear(inputs, outputs)
    places = torch.arange(inputs * outputs).reshape(outputs, inputs)
    with torch.no_grad():
        layer.weight.copy_(((places * 7 + 13 * number) % 11 - 5) / 8)
        layer.bias.copy_(torch.arange(outputs) * 0.125 * number)
    return nn.Sequential(nn.Flatten(), layer)


def denoiser():
    model = DnCNN(1, 3, 4)
    with torch.no_grad():
        for weights in model.parameters():
            weights.copy_(torch.arange(weights.numel()).reshape(weights.shape) % 5 / 10 - 0.2)
    return model


MEMBERS, TRUNK, HEADS = [network(n) for n in range(4)], network(9, 12, 12), [network(n) for n in range(3)]


def composites():
    soft, consensus = (
        sc.VotingEnsemble(MEMBERS),
        sc.ConsensusEnsemble(sc.VotingEnsemble(MEMBERS, "hard", [1, 2, 3, 4])),
    )
    made = {
        "soft": soft,
        "max-margin": sc.VotingEnsemble(MEMBERS, "max-margin"),
        "weighted": sc.VotingEnsemble(MEMBERS, "soft", [1, -2, 3, 0.5]),
        "consensus": consensus,
        "adaptive": sc.AdaptiveEnsemble(sc.VotingEnsemble(MEMBERS, "softmax", [1, 0, 3, 0.5]), 0.5, 0.2),
        "heads": sc.MultiHead(TRUNK, HEADS),
        "trunk": TrunkedEnsemble(TRUNK, sc.VotingEnsemble(HEADS, "hard")),
        "trunk-consensus": TrunkedEnsemble(TRUNK, sc.ConsensusEnsemble(sc.VotingEnsemble(HEADS))),
        "denoised": sc.Denoised(denoiser(), network(1)),
        "nested": sc.VotingEnsemble([consensus, soft, MEMBERS[0]]),
        "panel": sc.Panel(soft),
    }
    return {name: model.eval() for name, model in made.items()}


@pytest.mark.parametrize("name", DIGESTS)
def test_digests_are_the_stored_ones(name):
    assert model_digest(composites()[name]) == DIGESTS[name]


@pytest.mark.parametrize("name", DIGESTS)
def test_parts_run_one_by_one_answer_like_the_whole(name):
    model, batch = composites()[name], torch.rand(40, 1, 3, 4, generator=torch.Generator().manual_seed(5))
    parts = {part for part, _ in whole_parts(model, batch[0])}

    def run(part, rows):
        assert part in parts
        return part(rows)

    with torch.no_grad():
        logits, evaluations = counted(model, batch, run)
        assert torch.equal(logits, model(batch))
    assert evaluations.shape == logits.shape[:-1]
    assert int(evaluations.max()) <= max(torch.tensor(model.evaluations_per_vote).reshape(-1).tolist())


def test_records_say_how_members_vote():
    made = composites()
    (consensus,), (adaptive,), (heads,) = (
        ensemble_records(made[n]) for n in ("consensus", "adaptive", "heads")
    )
    members = consensus.pop("members")
    assert consensus == {
        "kind": "ConsensusEnsemble",
        "rule": "hard",
        "evaluations_per_vote": 4,
        "early_exit": {"kind": "consensus", "k": 2},
        "first_evaluations": 2,
    }
    assert adaptive["members"] == members
    assert adaptive["early_exit"] == {"kind": "adaptive", "threshold": 0.5, "alpha": 0.2}
    assert adaptive["evaluations_per_vote"] == 3  # one has no weight
    assert (heads["kind"], heads["rule"], len(heads["members"])) == ("MultiHead", "soft", 3)
    assert [record is None for record in ensemble_records(made["panel"])] == [True] * 4 + [False]
    assert ensemble_records(made["denoised"]) == ensemble_records(MEMBERS[0]) == (None,)


def test_an_attribute_of_a_users_model_is_its_own():
    model = network(0)
    model.evaluations_per_vote = 7
    assert evaluations_of(model) == 1
    assert sc.VotingEnsemble([model, MEMBERS[0]]).evaluations_per_vote == 2


def slope(model, image):
    image = image.clone().requires_grad_()
    logits = surrogate_of(model)(image)
    (logits[:, 0] - logits[:, 1]).sum().backward()
    return float(image.grad.abs().sum())


@pytest.mark.parametrize(
    "model",
    [
        sc.VotingEnsemble(MEMBERS, "hard"),
        TrunkedEnsemble(TRUNK, sc.VotingEnsemble(HEADS, "hard")),
        TrunkedEnsemble(TRUNK, sc.ConsensusEnsemble(sc.VotingEnsemble(HEADS, "hard"))),
        sc.VotingEnsemble(
            [sc.ConsensusEnsemble(sc.VotingEnsemble(MEMBERS, "hard")), MEMBERS[0]], weights=[1, 0]
        ),
        sc.Denoised(denoiser(), sc.VotingEnsemble(MEMBERS, "hard")),
    ],
    ids=["hard", "heads", "consensus of heads", "nested", "denoised"],
)
def test_a_surrogate_has_a_gradient_wherever_jumps_are_hidden(model):
    assert not any(isinstance(part, sc.ConsensusEnsemble) for part in surrogate_of(model.eval()).modules())
    assert not any(getattr(part, "rule", None) == "hard" for part in surrogate_of(model).modules())
    assert slope(model, torch.rand(3, 1, 3, 4, generator=torch.Generator().manual_seed(1))) > 0


@pytest.mark.parametrize("name", ["soft", "max-margin", "heads", "denoised"])
def test_what_has_a_gradient_is_its_own_surrogate(name):
    model = composites()[name]
    assert surrogate_of(model) is model


class OwnExit(sc.ConsensusEnsemble):
    """An early exit whose code is not this package's."""


def test_an_exit_of_ones_own_is_run_by_one_thread_at_a_time():
    image = torch.rand(1, 3, 4, generator=torch.Generator().manual_seed(1))
    shared = {}
    for kind in (sc.ConsensusEnsemble, OwnExit):
        engine = build_engine("torch", kind(sc.VotingEnsemble(MEMBERS).eval()).eval(), 3, image)
        assert engine.exits_early
        shared[kind] = engine.shareable
    assert shared == {sc.ConsensusEnsemble: True, OwnExit: False}
