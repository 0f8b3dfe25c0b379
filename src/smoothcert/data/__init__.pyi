from .arrays import MOST_CLASSES, checked_names
from .augment import AUGMENTATIONS, Augmentation, augmented_batch, crop_flip
from .dataset import Dataset
from .decoding import close_decoders
from .guesses import is_channels_last, range_fix, shape_fix
from .idx import read_idx
from .loading import DATASETS, find_source, load_dataset
from .pictures import PictureFiles
from .pil_images import is_pil_image, pil_pixels
from .source import DataSource, Request
from .splits import held_out, holdout_size
from .subsets import check_indices, parse_subset, select_indices
from .torch_data import TorchData, is_torch_data

__all__ = [
    "AUGMENTATIONS",
    "DATASETS",
    "MOST_CLASSES",
    "Augmentation",
    "DataSource",
    "Dataset",
    "PictureFiles",
    "Request",
    "TorchData",
    "augmented_batch",
    "check_indices",
    "checked_names",
    "close_decoders",
    "crop_flip",
    "find_source",
    "held_out",
    "holdout_size",
    "is_channels_last",
    "is_pil_image",
    "is_torch_data",
    "load_dataset",
    "parse_subset",
    "pil_pixels",
    "range_fix",
    "read_idx",
    "select_indices",
    "shape_fix",
]
