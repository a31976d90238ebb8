"""Comparing methods on the command line."""

from pathlib import Path

import pytest

from gsopt.core.files import write
from tests.commands import gsopt
from tests.gsopt.problems.test_reclaiming import figure_5


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """Return the paper's example as a file."""
    path = tmp_path / "figure-5.json"
    write(figure_5(2), path)
    return path


def test_no_progress_without_terminal(instance: Path) -> None:
    """Nothing is drawn on standard error when it is no terminal."""
    assert gsopt("compare", instance).stderr == ""
