"""Marks of tests that need what a machine may lack."""

import importlib.util
import shutil

import pytest

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "c++", "clang++"))), reason="compiling needs a C++ compiler"
)
needs_art = pytest.mark.skipif(importlib.util.find_spec("art") is None, reason="ART is not installed")
needs_openvino = pytest.mark.skipif(
    importlib.util.find_spec("openvino") is None, reason="OpenVINO is not installed"
)
needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
