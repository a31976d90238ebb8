"""Closed forms for one type of GPU."""

from fractions import Fraction

import pytest

from formulations.shares import one_type
from gsopt.core.errors import Unsupported
from gsopt.core.result import Status
from gsopt.problems.shares import Shares
from instances.shares import typed_jobs
from tests.strategies.shares import alike, small

BY_HAND: dict[str, tuple[Shares, Fraction | int]] = {
    "the water level": (alike({"weight": 3.0}, {}, gpus=1), Fraction(1, 4)),
    "a job that always runs": (alike({}, {"gpus": 2}, gpus=8), 1),
    "all GPUs until the end": (alike({"steps": 30.0}, {"steps": 50.0}, criterion="makespan"), 80),
    "the longest job": (alike({"steps": 30.0}, {"steps": 50.0}, gpus=8, criterion="makespan"), 50),
    "whoever counts most for each GPU": (
        alike({"gpus": 4}, {}, {}, gpus=4, criterion="fifo"),
        3 + Fraction(3, 2),
    ),
}


@pytest.mark.parametrize(("problem", "value"), BY_HAND.values(), ids=BY_HAND.keys())
def test_levels_by_hand(problem: Shares, value: Fraction | int) -> None:
    """Each closed form gives the level that is worked out by hand, and proves exactly that."""
    result = one_type(problem)
    assert result.status is Status.OPTIMAL
    assert result.bound == value
    assert result.objective == pytest.approx(float(value), rel=1e-14)


def test_the_root_of_finish_times() -> None:
    """Two jobs of 100 s, one of which has waited for 100 s, share a GPU.

    Alone each would take 200 s. At the level r they need 1 / (2 r - 1) and 1 / (2 r) of the time: together 1
    where 4 r r - 6 r + 1 = 0.
    """
    result = one_type(alike({"steps": 100.0, "age": 100.0}, {"steps": 100.0}, criterion="finish_time"))
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx((6 + 20**0.5) / 8, rel=1e-13)


def test_nothing_is_left_over() -> None:
    """Unless a job runs all the time, all GPUs are used, to the fifteenth digit; both happen."""
    full = 0
    for seed in range(10):
        problem = typed_jobs(jobs=8, types=1, criterion="finish_time", seed=seed)
        solution = one_type(problem).solution
        assert solution is not None
        always = max(own["v100"] for own in solution.shares.values()) > 1 - 1e-14
        used_up = problem.measures(solution)["idle_gpus"] < 1e-12
        assert always or used_up
        full += used_up
    assert 0 < full < 10


def test_several_types_are_refused() -> None:
    """Where types differ there is no closed form."""
    with pytest.raises(Unsupported, match="one_type divides GPUs of one type, there are 2"):
        one_type(small("one-job"))
