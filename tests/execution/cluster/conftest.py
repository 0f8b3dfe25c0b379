"""One Ray cluster of this machine for all tests: starting one takes seconds."""

import pytest

import smoothcert as sc


@pytest.fixture(scope="session")
def ray():
    with sc.RayExecution(workers=2, patience=15.0) as execution:
        yield execution
