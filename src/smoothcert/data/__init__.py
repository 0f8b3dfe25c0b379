"""Data: files -> `Dataset`, with splits, subsets, augmentation and a digest."""

from smoothcert.data.dataset import Dataset
from smoothcert.data.loading import DATASETS, DataSource, load_dataset  # isort: split

from smoothcert.data import cifar, class_folders, svhn  # register their members when imported
from smoothcert.data.augment import AUGMENTATIONS, Augmentation, augmented_batch, crop_flip
from smoothcert.data.decoding import close_decoders
from smoothcert.data.digits import DIGITS
from smoothcert.data.idx import read_idx
from smoothcert.data.pictures import PictureFiles
from smoothcert.data.subsets import parse_subset, select_indices

__all__ = [
    "AUGMENTATIONS",
    "DATASETS",
    "DIGITS",
    "Augmentation",
    "DataSource",
    "Dataset",
    "PictureFiles",
    "augmented_batch",
    "cifar",
    "class_folders",
    "close_decoders",
    "crop_flip",
    "load_dataset",
    "parse_subset",
    "read_idx",
    "select_indices",
    "svhn",
]
