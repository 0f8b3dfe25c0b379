"""Ensembles: several classifiers -> one classifier."""

from smoothcert.ensembles.adaptive import AdaptiveEnsemble
from smoothcert.ensembles.card import AdaptiveEntry, EnsembleCard
from smoothcert.ensembles.choosing import WEIGHT_FITS
from smoothcert.ensembles.consensus import ConsensusEnsemble
from smoothcert.ensembles.digest import model_digest
from smoothcert.ensembles.early_exit import EarlyExitEnsemble
from smoothcert.ensembles.esbrs import EsbrsFit, fit_esbrs, solve_esbrs
from smoothcert.ensembles.folder import load_model, read_any_card, save_ensemble
from smoothcert.ensembles.holdout import HoldoutUse, common_holdout, refuse_overlap
from smoothcert.ensembles.making import make_ensemble
from smoothcert.ensembles.margins import MarginMoments, Perturbation, margin_moments
from smoothcert.ensembles.mixing import failure_bound, mixing_helps, success_bound
from smoothcert.ensembles.outputs import member_outputs, order_by_noisy_accuracy
from smoothcert.ensembles.padding import MIN_ROWS, padded
from smoothcert.ensembles.panel import Panel
from smoothcert.ensembles.passes import Priced, counted, exits_early, whole_parts
from smoothcert.ensembles.per_input import PerInputClaim, PerInputEsbrs
from smoothcert.ensembles.prefixes import make_prefixes, prefix_name
from smoothcert.ensembles.rules import UNWEIGHTED_RULES, VOTING_RULES
from smoothcert.ensembles.simplex import minimise_quadratic
from smoothcert.ensembles.sween import SWEEN_SOLVERS, SweenFit, fit_sween
from smoothcert.ensembles.trained_on import trained_on
from smoothcert.ensembles.trunked import TrunkedEnsemble, chosen_heads
from smoothcert.ensembles.voting import VotingEnsemble

__all__ = [
    "MIN_ROWS",
    "SWEEN_SOLVERS",
    "UNWEIGHTED_RULES",
    "VOTING_RULES",
    "WEIGHT_FITS",
    "AdaptiveEnsemble",
    "AdaptiveEntry",
    "ConsensusEnsemble",
    "EarlyExitEnsemble",
    "EnsembleCard",
    "EsbrsFit",
    "HoldoutUse",
    "MarginMoments",
    "Panel",
    "PerInputClaim",
    "PerInputEsbrs",
    "Perturbation",
    "Priced",
    "SweenFit",
    "TrunkedEnsemble",
    "VotingEnsemble",
    "chosen_heads",
    "common_holdout",
    "counted",
    "exits_early",
    "failure_bound",
    "fit_esbrs",
    "fit_sween",
    "load_model",
    "make_ensemble",
    "make_prefixes",
    "margin_moments",
    "member_outputs",
    "minimise_quadratic",
    "mixing_helps",
    "model_digest",
    "order_by_noisy_accuracy",
    "padded",
    "prefix_name",
    "read_any_card",
    "refuse_overlap",
    "save_ensemble",
    "solve_esbrs",
    "success_bound",
    "trained_on",
    "whole_parts",
]
