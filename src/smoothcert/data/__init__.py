"""Data: files -> `Dataset`, with splits, subsets, augmentation and a digest."""

from smoothcert.data.arrays import MOST_CLASSES, checked_names
from smoothcert.data.augment import AUGMENTATIONS, Augmentation, augmented_batch, crop_flip
from smoothcert.data.dataset import Dataset
from smoothcert.data.decoding import close_decoders
from smoothcert.data.idx import read_idx
from smoothcert.data.loading import DATASETS, load_dataset
from smoothcert.data.pictures import PictureFiles
from smoothcert.data.source import DataSource, Request
from smoothcert.data.splits import held_out, holdout_size
from smoothcert.data.subsets import check_indices, parse_subset, select_indices

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
