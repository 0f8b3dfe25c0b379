from .agreement import check_agreement
from .build import make_ensemble
from .build_prefixes import make_prefixes, prefix_name
from .checkpoint import CARD_FILE, load_checkpoint, read_card, save_checkpoint
from .checkpoints import FAMILIES, Family, import_checkpoint
from .denoised_folder import classifier_card, denoise, denoised_entry
from .ensemble_card import MOST_MEMBERS, EnsembleCard
from .ensemble_folder import load_model, read_any_card, save_ensemble
from .member_folders import gather_members
from .membership import ENSEMBLE_FILE, is_ensemble, refuse_labyrinth
from .model_card import LEFT_OUT, ModelCard, drop_unset, first_fault, read_record
from .trained_on import trained_on
from .weights_file import WeightsFile, open_weights

__all__ = [
    "CARD_FILE",
    "ENSEMBLE_FILE",
    "FAMILIES",
    "LEFT_OUT",
    "MOST_MEMBERS",
    "EnsembleCard",
    "Family",
    "ModelCard",
    "WeightsFile",
    "check_agreement",
    "classifier_card",
    "denoise",
    "denoised_entry",
    "drop_unset",
    "first_fault",
    "gather_members",
    "import_checkpoint",
    "is_ensemble",
    "load_checkpoint",
    "load_model",
    "make_ensemble",
    "make_prefixes",
    "open_weights",
    "prefix_name",
    "read_any_card",
    "read_card",
    "read_record",
    "refuse_labyrinth",
    "save_checkpoint",
    "save_ensemble",
    "trained_on",
]
