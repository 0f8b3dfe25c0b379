from .early_exit import EARLY_EXITS, EarlyExit, check_early_exit, early_exit_from
from .early_exit_ensemble import Ask, EarlyExitEnsemble
from .exits.adaptive import Adaptive, AdaptiveEnsemble
from .exits.consensus import Consensus, ConsensusEnsemble
from .panel import Panel, panel_of
from .trunked import TrunkedEnsemble, chosen_heads
from .voting import VotingEnsemble, members_of
from .voting_rule import VOTING_RULES, VotingRule, showing_faults
from .weights.esbrs import EsbrsFit, fit_esbrs, solve_esbrs
from .weights.fit_weights import WEIGHT_FITS, Holdout, OnProgress, WeightFit
from .weights.holdout import HoldoutUse, common_holdout, refuse_other_holdout, refuse_overlap
from .weights.margin_bounds import failure_bound, mixing_helps, success_bound
from .weights.margins import MarginMoments, Perturbation, margin_moments
from .weights.member_outputs import member_outputs, order_by_noisy_accuracy
from .weights.per_input import PerInputClaim, PerInputEsbrs
from .weights.simplex import minimise_quadratic
from .weights.sween import SWEEN_SOLVERS, SweenFit, fit_sween

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
    "check_early_exit",
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
    "refuse_other_holdout",
    "refuse_overlap",
    "showing_faults",
    "solve_esbrs",
    "success_bound",
]
