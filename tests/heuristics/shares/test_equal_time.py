"""The same time for everybody."""

from heuristics.shares import equal_time
from tests.strategies.shares import alike


def test_everybody_runs_alike() -> None:
    """On four GPUs, jobs that ask for five run four fifths of the time."""
    solution = equal_time(alike({}, {"gpus": 4}, gpus=4)).solution
    assert solution is not None
    assert solution.shares == {"a": {"v100": 0.8}, "b": {"v100": 0.8}}


def test_nobody_runs_more_than_always() -> None:
    """Where there are GPUs to spare all run all the time."""
    solution = equal_time(alike({}, {}, gpus=8)).solution
    assert solution is not None
    assert solution.shares["a"] == {"v100": 1.0}
