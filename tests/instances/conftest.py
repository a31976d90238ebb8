"""Fixtures of the tests of instances."""

from datetime import datetime
from pathlib import Path

import pytest

from instances import data_folder
from instances.traces import itp, philly
from instances.traces.reading import Reading


@pytest.fixture(scope="session")
def traces() -> Path:
    """Return the folder of public traces, or skip the test."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA names no folder of public traces")
    return folder


@pytest.fixture(scope="session")
def whole_philly(traces: Path) -> Reading:
    """Read all of the Philly trace, once for all tests."""
    return philly(traces)


@pytest.fixture(scope="session")
def late_philly(traces: Path) -> Reading:
    """Read the Philly trace from October on, once for all tests."""
    begin, end = datetime(2017, 10, 1), datetime(2018, 1, 1)  # noqa: DTZ001 - the trace has no time zone
    return philly(traces, dates=(begin, end))


@pytest.fixture(scope="session")
def whole_itp(traces: Path) -> Reading:
    """Read all of the ITP trace, once for all tests."""
    return itp(traces)
