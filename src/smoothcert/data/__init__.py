"""Data: files -> `Dataset`, with splits, subsets and a digest."""

from smoothcert.data.dataset import Dataset
from smoothcert.data.digits import DIGITS
from smoothcert.data.idx import read_idx
from smoothcert.data.loading import DATASETS, DataSource, load_dataset
from smoothcert.data.subsets import select_indices

__all__ = ["DATASETS", "DIGITS", "DataSource", "Dataset", "load_dataset", "read_idx", "select_indices"]
