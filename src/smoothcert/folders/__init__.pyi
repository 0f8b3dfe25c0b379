from .agreement import check_agreement
from .build import make_ensemble, resolved_rule
from .build_prefixes import make_prefixes, prefix_name
from .checkpoint import CARD_FILE, load_checkpoint, read_card, save_checkpoint
from .checkpoints import FAMILIES, Family, import_checkpoint
from .code_entry import CodeEntry
from .denoised_folder import classifier_card, denoise, denoised_entry
from .ensemble_card import EnsembleCard
from .ensemble_folder import load_model, read_any_card, save_ensemble
from .member_folders import gather_members
from .membership import ENSEMBLE_FILE, is_ensemble, refuse_labyrinth
from .model_card import ModelCard, read_record
from .module_source import Modules, ModuleSource, NoModules, module_source
from .own.argument_places import told_places
from .own.factory import run_factory
from .own.factory_name import FactoryName, allowed, check_factories
from .own.facts import Facts
from .own.importing import import_model
from .own.members import imported
from .own.onnx_file import read_graph
from .own.own_model import OwnModel, is_own, load_onnx, load_own, refuse_no_model
from .own.permitted import modules_of
from .own.probe_file import probe_content, probe_digest
from .own_network import copy_module
from .quantized_entry import Candidate, QuantizedEntry
from .records import LEFT_OUT, MOST_MEMBERS, drop_unset, first_fault
from .tensors import checked_state
from .trained_on import held_out_by, network_cards, trained_on
from .weights_file import WeightsFile, open_weights

__all__ = [
    "CARD_FILE",
    "ENSEMBLE_FILE",
    "FAMILIES",
    "LEFT_OUT",
    "MOST_MEMBERS",
    "Candidate",
    "CodeEntry",
    "EnsembleCard",
    "FactoryName",
    "Facts",
    "Family",
    "ModelCard",
    "ModuleSource",
    "Modules",
    "NoModules",
    "OwnModel",
    "QuantizedEntry",
    "WeightsFile",
    "allowed",
    "check_agreement",
    "check_factories",
    "checked_state",
    "classifier_card",
    "copy_module",
    "denoise",
    "denoised_entry",
    "drop_unset",
    "first_fault",
    "gather_members",
    "held_out_by",
    "import_checkpoint",
    "import_model",
    "imported",
    "is_ensemble",
    "is_own",
    "load_checkpoint",
    "load_model",
    "load_onnx",
    "load_own",
    "make_ensemble",
    "make_prefixes",
    "module_source",
    "modules_of",
    "network_cards",
    "open_weights",
    "prefix_name",
    "probe_content",
    "probe_digest",
    "read_any_card",
    "read_card",
    "read_graph",
    "read_record",
    "refuse_labyrinth",
    "refuse_no_model",
    "resolved_rule",
    "run_factory",
    "save_checkpoint",
    "save_ensemble",
    "told_places",
    "trained_on",
]
