"""An equal part of the GPUs for everybody."""

from heuristics.shares import isolated
from tests.strategies.shares import alike


def test_large_jobs_run_less() -> None:
    """Of four GPUs two jobs have two each: the one that needs four runs half of the time."""
    solution = isolated(alike({}, {"gpus": 4}, gpus=4)).solution
    assert solution is not None
    assert solution.shares == {"a": {"v100": 1.0}, "b": {"v100": 0.5}}


def test_finish_times_in_isolated_shares_are_one() -> None:
    """Whoever has always had its isolated shares, and keeps them, is as far as it is compared with."""
    problem = alike({"steps": 30.0}, {"steps": 50.0, "age": 7.0, "isolated": 7.0}, criterion="finish_time")
    assert isolated(problem).objective == 1
