"""Ensembles: several classifiers -> one classifier."""

from smoothcert.ensembles.adaptive import AdaptiveEnsemble
from smoothcert.ensembles.consensus import ConsensusEnsemble
from smoothcert.ensembles.early_exit import EarlyExitEnsemble
from smoothcert.ensembles.model_digest import model_digest
from smoothcert.ensembles.panel import Panel
from smoothcert.ensembles.passes import Priced, counted, exits_early, whole_parts
from smoothcert.ensembles.rules import UNWEIGHTED_RULES, VOTING_RULES
from smoothcert.ensembles.trunked import TrunkedEnsemble, chosen_heads
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.ensembles.weights.esbrs import EsbrsFit, fit_esbrs, solve_esbrs
from smoothcert.ensembles.weights.fit_weights import FITTED_RULES, IMAGES, WEIGHT_FITS, Holdout, OnProgress
from smoothcert.ensembles.weights.holdout import HoldoutUse, common_holdout, refuse_overlap
from smoothcert.ensembles.weights.margin_bounds import failure_bound, mixing_helps, success_bound
from smoothcert.ensembles.weights.margins import MarginMoments, Perturbation, margin_moments
from smoothcert.ensembles.weights.member_outputs import member_outputs, order_by_noisy_accuracy
from smoothcert.ensembles.weights.per_input import PerInputClaim, PerInputEsbrs
from smoothcert.ensembles.weights.simplex import minimise_quadratic
from smoothcert.ensembles.weights.sween import SWEEN_SOLVERS, SweenFit, fit_sween

__all__ = [
    "FITTED_RULES",
    "IMAGES",
    "SWEEN_SOLVERS",
    "UNWEIGHTED_RULES",
    "VOTING_RULES",
    "WEIGHT_FITS",
    "AdaptiveEnsemble",
    "ConsensusEnsemble",
    "EarlyExitEnsemble",
    "EsbrsFit",
    "Holdout",
    "HoldoutUse",
    "MarginMoments",
    "OnProgress",
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
    "margin_moments",
    "member_outputs",
    "minimise_quadratic",
    "mixing_helps",
    "model_digest",
    "order_by_noisy_accuracy",
    "refuse_overlap",
    "solve_esbrs",
    "success_bound",
    "whole_parts",
]
