"""A service whose names hold markup, and its page."""

import copy
from dataclasses import replace

import pytest

from browser import opened
from served_page import EVIL
from serving import served
from smoothcert.data import Dataset


@pytest.fixture(scope="session")
def named(model):
    """The model, its classes called by names with markup."""
    samples, names = model.samples, tuple(f"{EVIL} {name}" for name in model.class_names)
    classifier = copy.copy(model.classifier)
    classifier.class_names = names
    told = Dataset(samples.name, samples.split, samples.images, samples.labels, names)
    return replace(model, classifier=classifier, samples=told)


@pytest.fixture(scope="session")
def service(named, tmp_path_factory):
    with served({"digits": named}, tmp_path_factory.mktemp("page") / "served") as running:
        yield running


@pytest.fixture
def shown(browser, service):
    """The page, just opened; in the end it has said nothing and asked nobody else."""
    with opened(browser, f"{service.url}/") as page:
        yield page
        assert page.told == []
        assert page.asked
        assert all(url.startswith((f"{service.url}/", "blob:")) for url in page.asked), page.asked
