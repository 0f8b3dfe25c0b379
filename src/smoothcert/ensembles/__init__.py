"""Ensembles: several classifiers -> one classifier."""

from smoothcert.ensembles.card import EnsembleCard
from smoothcert.ensembles.consensus import ConsensusEnsemble
from smoothcert.ensembles.digest import model_digest
from smoothcert.ensembles.folder import load_model, save_ensemble
from smoothcert.ensembles.padding import MIN_ROWS, padded
from smoothcert.ensembles.panel import Panel
from smoothcert.ensembles.passes import counted, exits_early, whole_parts
from smoothcert.ensembles.rules import VOTING_RULES
from smoothcert.ensembles.voting import VotingEnsemble

__all__ = [
    "MIN_ROWS",
    "VOTING_RULES",
    "ConsensusEnsemble",
    "EnsembleCard",
    "Panel",
    "VotingEnsemble",
    "counted",
    "exits_early",
    "load_model",
    "model_digest",
    "padded",
    "save_ensemble",
    "whole_parts",
]
