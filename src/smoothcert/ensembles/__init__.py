"""Ensembles: several classifiers -> one classifier."""

from smoothcert.ensembles.adaptive import AdaptiveEnsemble
from smoothcert.ensembles.card import AdaptiveEntry, EnsembleCard
from smoothcert.ensembles.consensus import ConsensusEnsemble
from smoothcert.ensembles.digest import model_digest
from smoothcert.ensembles.early_exit import EarlyExitEnsemble
from smoothcert.ensembles.folder import load_model, save_ensemble
from smoothcert.ensembles.holdout import HoldoutUse, refuse_overlap
from smoothcert.ensembles.padding import MIN_ROWS, padded
from smoothcert.ensembles.panel import Panel
from smoothcert.ensembles.passes import counted, exits_early, whole_parts
from smoothcert.ensembles.rules import UNWEIGHTED_RULES, VOTING_RULES
from smoothcert.ensembles.voting import VotingEnsemble

__all__ = [
    "MIN_ROWS",
    "UNWEIGHTED_RULES",
    "VOTING_RULES",
    "AdaptiveEnsemble",
    "AdaptiveEntry",
    "ConsensusEnsemble",
    "EarlyExitEnsemble",
    "EnsembleCard",
    "HoldoutUse",
    "Panel",
    "VotingEnsemble",
    "counted",
    "exits_early",
    "load_model",
    "model_digest",
    "padded",
    "refuse_overlap",
    "save_ensemble",
    "whole_parts",
]
