"""What tests of snapshots share: public files, where they are."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def public() -> Path:
    """Return the folder of public snapshots, or skip the test where the data are not there."""
    named = os.environ.get("GSOPT_DATA", "")
    folder = Path(named, "cluster-snapshots")
    if not named or not folder.is_dir():
        pytest.skip("GSOPT_DATA is unset or has no cluster-snapshots")
    return folder
