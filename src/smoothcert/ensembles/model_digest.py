"""The digest of a classifier of any depth: members, rule and weights all count."""

from __future__ import annotations

import hashlib
import json

from torch import nn

from smoothcert.ensembles.adaptive import AdaptiveEnsemble
from smoothcert.ensembles.consensus import ConsensusEnsemble
from smoothcert.ensembles.trunked import TrunkedEnsemble
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.networks import weights_digest


def model_digest(model: nn.Module) -> str:
    """Return the digest that a model's folder and its certificates carry.

    For an ensemble it covers the rule, which no tensor holds, beside shares and members in their order; for a
    consensus also how many must agree, for adaptive prediction its test, for heads the trunk that they share.
    """
    if isinstance(model, ConsensusEnsemble):
        consensus = ["consensus", model.k, model_digest(model.ensemble)]
        return hashlib.sha256(json.dumps(consensus).encode()).hexdigest()
    if isinstance(model, AdaptiveEnsemble):
        adaptive = ["adaptive", model.threshold, model.alpha, model_digest(model.ensemble)]
        return hashlib.sha256(json.dumps(adaptive).encode()).hexdigest()
    if isinstance(model, TrunkedEnsemble):
        trunked = ["trunk", weights_digest(model.trunk), model_digest(model.ensemble)]
        return hashlib.sha256(json.dumps(trunked).encode()).hexdigest()
    if not isinstance(model, VotingEnsemble):
        return weights_digest(model)
    parts = [model.rule, model.weights.tolist(), [model_digest(member) for member in model.members]]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
