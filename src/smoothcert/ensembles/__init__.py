"""Ensembles: several classifiers -> one classifier."""

from smoothcert.ensembles.early_exit import EARLY_EXITS, EarlyExit, early_exit_from
from smoothcert.ensembles.early_exit_ensemble import Ask, EarlyExitEnsemble
from smoothcert.ensembles.exits.adaptive import Adaptive, AdaptiveEnsemble
from smoothcert.ensembles.exits.consensus import Consensus, ConsensusEnsemble
from smoothcert.ensembles.panel import Panel, panel_of
from smoothcert.ensembles.trunked import TrunkedEnsemble, chosen_heads
from smoothcert.ensembles.voting import VotingEnsemble, members_of
from smoothcert.ensembles.voting_rule import VOTING_RULES, VotingRule, showing_faults
from smoothcert.ensembles.weights.esbrs import EsbrsFit, fit_esbrs, solve_esbrs
from smoothcert.ensembles.weights.fit_weights import WEIGHT_FITS, Holdout, OnProgress, WeightFit
from smoothcert.ensembles.weights.holdout import HoldoutUse, common_holdout, refuse_overlap
from smoothcert.ensembles.weights.margin_bounds import failure_bound, mixing_helps, success_bound
from smoothcert.ensembles.weights.margins import MarginMoments, Perturbation, margin_moments
from smoothcert.ensembles.weights.member_outputs import member_outputs, order_by_noisy_accuracy
from smoothcert.ensembles.weights.per_input import PerInputClaim, PerInputEsbrs
from smoothcert.ensembles.weights.simplex import minimise_quadratic
from smoothcert.ensembles.weights.sween import SWEEN_SOLVERS, SweenFit, fit_sween

__all__ = [
    "EARLY_EXITS",
    "SWEEN_SOLVERS",
    "VOTING_RULES",
    "WEIGHT_FITS",
    "Adaptive",
    "AdaptiveEnsemble",
    "Ask",
    "Consensus",
    "ConsensusEnsemble",
    "EarlyExit",
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
    "SweenFit",
    "TrunkedEnsemble",
    "VotingEnsemble",
    "VotingRule",
    "WeightFit",
    "chosen_heads",
    "common_holdout",
    "early_exit_from",
    "failure_bound",
    "fit_esbrs",
    "fit_sween",
    "margin_moments",
    "member_outputs",
    "members_of",
    "minimise_quadratic",
    "mixing_helps",
    "order_by_noisy_accuracy",
    "panel_of",
    "refuse_overlap",
    "showing_faults",
    "solve_esbrs",
    "success_bound",
]
