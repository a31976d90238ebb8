"""Fixtures of the tests of instances."""

from pathlib import Path

import pytest

from instances import data_folder


@pytest.fixture
def traces() -> Path:
    """Give the folder of public traces, or skip the test."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA names no folder of public traces")
    return folder
