"""Data: files -> `Dataset`, with splits, subsets, augmentation and a digest."""

from smoothcert.data.arrays import MOST_CLASSES
from smoothcert.data.augment import AUGMENTATIONS, Augmentation, augmented_batch, crop_flip
from smoothcert.data.cifar import CIFAR10, CIFAR100
from smoothcert.data.class_folders import FOLDER, IMAGENET
from smoothcert.data.dataset import Dataset
from smoothcert.data.decoding import close_decoders
from smoothcert.data.digits import DIGITS
from smoothcert.data.idx import FASHION_MNIST, MNIST, read_idx
from smoothcert.data.loading import DATASETS, DataSource, load_dataset
from smoothcert.data.pictures import PictureFiles
from smoothcert.data.splits import held_out
from smoothcert.data.subsets import check_indices, parse_subset, select_indices
from smoothcert.data.svhn import SVHN

__all__ = [
    "AUGMENTATIONS",
    "CIFAR10",
    "CIFAR100",
    "DATASETS",
    "DIGITS",
    "FASHION_MNIST",
    "FOLDER",
    "IMAGENET",
    "MNIST",
    "MOST_CLASSES",
    "SVHN",
    "Augmentation",
    "DataSource",
    "Dataset",
    "PictureFiles",
    "augmented_batch",
    "check_indices",
    "close_decoders",
    "crop_flip",
    "held_out",
    "load_dataset",
    "parse_subset",
    "read_idx",
    "select_indices",
]
