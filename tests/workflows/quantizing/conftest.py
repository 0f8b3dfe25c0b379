"""Folders in int8 that the tests of quantisation share; none is changed by a test."""

import pytest
from tests.own_models import save_onnx

import smoothcert as sc

NOISE = sc.Gaussian(0.25)
SMALL = {"images": 60, "draws": 2, "seed": 1}


@pytest.fixture(scope="session")
def holdout():
    return sc.load_dataset("digits", "holdout")


@pytest.fixture(scope="session")
def onnx_folder(tmp_path_factory):
    """The nearest mean of digits in float32, of an ONNX file with a normalisation in front: quantised in no time."""
    base = tmp_path_factory.mktemp("nearest-mean")
    file = save_onnx(base / "net.onnx", mean=0.25, std=0.5)
    sc.import_model(file, base / "float32", noise=NOISE, mean=[0.25], std=[0.5])
    return base / "float32"


@pytest.fixture(scope="session")
def of_onnx(onnx_folder, holdout):
    """The same in int8, in the 7-bit range that no processor saturates."""
    folder = onnx_folder.parent / "int8"
    sc.quantize(onnx_folder, holdout, folder, seven_bits=True, **SMALL)
    return folder


@pytest.fixture(scope="session")
def int8_folder(model_folder, holdout, tmp_path_factory):
    """The trained convnet in int8."""
    folder = tmp_path_factory.mktemp("int8") / "convnet"
    sc.quantize(model_folder, holdout, folder, **SMALL)
    return folder
