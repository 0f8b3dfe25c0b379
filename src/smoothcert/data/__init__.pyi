from .arrays import MOST_CLASSES, checked_names
from .augment import AUGMENTATIONS, Augmentation, augmented_batch, crop_flip
from .dataset import Dataset
from .decoding import close_decoders
from .idx import read_idx
from .loading import DATASETS, load_dataset
from .pictures import PictureFiles
from .source import DataSource, Request
from .splits import held_out, holdout_size
from .subsets import check_indices, parse_subset, select_indices

__all__ = [
    "AUGMENTATIONS",
    "DATASETS",
    "MOST_CLASSES",
    "Augmentation",
    "DataSource",
    "Dataset",
    "PictureFiles",
    "Request",
    "augmented_batch",
    "check_indices",
    "checked_names",
    "close_decoders",
    "crop_flip",
    "held_out",
    "holdout_size",
    "load_dataset",
    "parse_subset",
    "read_idx",
    "select_indices",
]
