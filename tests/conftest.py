"""What tests of several folders share: one small trained model, and the bytes of runs."""

import os

import pytest
from hypothesis import settings

import smoothcert as sc
from browser import started
from outside import Outside

# The same examples every time, and no clock: HYPOTHESIS_PROFILE=explore looks at others, and at many more.
settings.register_profile("laws", derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=1_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "laws"))


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory):
    """A convnet on the digits after two epochs: sure of some images, in doubt about others."""
    folder = tmp_path_factory.mktemp("models") / "convnet"
    sc.train({"epochs": 2, "seed": 5, "batch_size": 256}, folder)
    return folder


@pytest.fixture(scope="session")
def classifier(model_folder):
    return sc.load_classifier(model_folder)


@pytest.fixture(scope="session")
def digits():
    return sc.load_dataset("digits")


@pytest.fixture
def outside(tmp_path_factory, monkeypatch):
    """Installs members as other packages would bring them."""
    packages = Outside(tmp_path_factory.mktemp("packages"), monkeypatch)
    yield packages
    packages.remove()


@pytest.fixture(scope="session")
def browser():
    """A real browser; tests that need one are skipped where there is none."""
    with started() as running:
        yield running
