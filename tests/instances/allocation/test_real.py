"""Instances from the public traces."""

from pathlib import Path

import pytest

from formulations.allocation import dp, exact
from instances import data_folder
from instances.allocation import from_data


def test_nothing_without_the_trace(tmp_path: Path) -> None:
    """A folder without the trace gives no instances."""
    assert list(from_data(tmp_path)) == []


def test_snapshots_of_the_trace() -> None:
    """Two instances per cluster, jobs in both, names apart, and the default method equals the full table."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GSOPT_DATA is unset or names no folder")
    problems = list(from_data(folder))
    assert len(problems) == 12
    assert len({problem.name for problem in problems}) == 12
    assert all(len(problem.jobs) >= 20 and problem.remaining > 0 for problem in problems)
    for problem in problems:
        assert float(exact(problem).objective or 0) == pytest.approx(
            float(dp(problem).objective or 0), rel=1e-12
        )
