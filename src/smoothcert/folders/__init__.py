"""Folders: files of a model <-> a classifier; cards, weights, ensembles."""

from smoothcert.folders.agreement import check_agreement
from smoothcert.folders.build import make_ensemble
from smoothcert.folders.build_prefixes import make_prefixes, prefix_name
from smoothcert.folders.checkpoint import CARD_FILE, load_checkpoint, read_card, save_checkpoint
from smoothcert.folders.code_entry import CodeEntry
from smoothcert.folders.denoised_folder import classifier_card, denoise, denoised_entry
from smoothcert.folders.ensemble_card import MOST_MEMBERS, EnsembleCard
from smoothcert.folders.ensemble_folder import load_model, read_any_card, save_ensemble
from smoothcert.folders.member_folders import gather_members
from smoothcert.folders.membership import ENSEMBLE_FILE, is_ensemble, refuse_labyrinth
from smoothcert.folders.model_card import LEFT_OUT, ModelCard, drop_unset, first_fault, read_record
from smoothcert.folders.module_source import Modules, ModuleSource, NoModules, module_source
from smoothcert.folders.own.facts import Facts
from smoothcert.folders.own.factory_name import FactoryName, allowed, check_factories
from smoothcert.folders.own.importing import import_model
from smoothcert.folders.own.own_model import OwnModel, is_own, load_own, refuse_no_model
from smoothcert.folders.own.permitted import modules_of
from smoothcert.folders.trained_on import trained_on
from smoothcert.folders.weights_file import WeightsFile, open_weights

__all__ = [
    "CARD_FILE",
    "ENSEMBLE_FILE",
    "LEFT_OUT",
    "MOST_MEMBERS",
    "CodeEntry",
    "EnsembleCard",
    "FactoryName",
    "Facts",
    "ModelCard",
    "ModuleSource",
    "Modules",
    "NoModules",
    "OwnModel",
    "WeightsFile",
    "allowed",
    "check_agreement",
    "check_factories",
    "classifier_card",
    "denoise",
    "denoised_entry",
    "drop_unset",
    "first_fault",
    "gather_members",
    "import_model",
    "is_ensemble",
    "is_own",
    "load_checkpoint",
    "load_model",
    "load_own",
    "make_ensemble",
    "make_prefixes",
    "module_source",
    "modules_of",
    "open_weights",
    "prefix_name",
    "read_any_card",
    "read_card",
    "read_record",
    "refuse_labyrinth",
    "refuse_no_model",
    "save_checkpoint",
    "save_ensemble",
    "trained_on",
]
