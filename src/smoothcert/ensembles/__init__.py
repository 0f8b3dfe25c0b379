"""Ensembles: several classifiers -> one classifier."""

from smoothcert.ensembles.card import EnsembleCard
from smoothcert.ensembles.digest import model_digest
from smoothcert.ensembles.folder import load_model, save_ensemble
from smoothcert.ensembles.panel import Panel
from smoothcert.ensembles.rules import VOTING_RULES
from smoothcert.ensembles.voting import VotingEnsemble

__all__ = [
    "VOTING_RULES",
    "EnsembleCard",
    "Panel",
    "VotingEnsemble",
    "load_model",
    "model_digest",
    "save_ensemble",
]
