"""Tiresias: thresholds are met exactly, and starved jobs return."""

from math import inf, nan
from typing import Any

import pytest

from gsopt.errors import InvalidInput
from gsopt.job import Job, Workload
from gsopt.simulation import simulate
from heuristics.policies import tiresias
from tests.gsopt.simulation.scenarios import bundle


def _jobs(*sizes: tuple[float, float, int]) -> Workload:
    return bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=g) for i, (r, d, g) in enumerate(sizes))


@pytest.mark.parametrize(
    ("thresholds", "expected"),
    [
        ((), (10, 15)),  # one queue: first in, first out
        ((4,), (13, 7)),  # two GPUs reach 4 GPU-seconds at 2 s; the other runs until it has 4 at 4 s
        ((100,), (10, 15)),
    ],
)
def test_jobs_fall_at_the_exact_time(thresholds: tuple[float, ...], expected: tuple[float, ...]) -> None:
    """The first job falls to the second queue when its GPUs times seconds reach the threshold."""
    jobs = _jobs((0, 10, 2), (1, 5, 2))
    if thresholds == (4,):
        expected = (2 + 2 + 8, 15)  # both are then in the second queue, where the first released goes first
    assert simulate(jobs, tiresias, cluster=2, thresholds=thresholds).completion_times == expected


def test_three_queues() -> None:
    """A new job overtakes a job of the second queue, and that one a job of the third."""
    jobs = _jobs((0, 6, 1), (3, 3, 1), (6, 1, 1))
    run = simulate(jobs, tiresias, cluster=1, thresholds=[1, 3], exact=True)
    # 0-3 first job, then of the third queue; 3-6 second job completes as it would fall; 6-7 third; 7-10 first
    assert run.completion_times == (10, 6, 7)


def test_starved_jobs_are_promoted() -> None:
    """A job that has waited as long as it had run returns to the end of the first queue."""
    jobs = _jobs((0, 4, 1), (2, 1, 1), (2, 1, 1), (2, 1, 1), (2, 1, 1))
    without = simulate(jobs, tiresias, cluster=1, thresholds=[2], exact=True)
    promoted = simulate(jobs, tiresias, cluster=1, thresholds=[2], promote=1.0, exact=True)
    assert without.completion_times == (8, 3, 4, 5, 6)
    assert promoted.completion_times == (8, 3, 4, 5, 6)  # behind all that wait there


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"thresholds": [2, 1]}, "thresholds"),
        ({"thresholds": [1, 1]}, "thresholds"),
        ({"thresholds": [0, 1]}, "thresholds"),
        ({"thresholds": [1, nan]}, "thresholds"),
        ({"thresholds": [1, inf]}, "thresholds"),
        ({"thresholds": "12"}, "thresholds"),
        ({"promote": 0}, "promote"),
        ({"promote": -1.0}, "promote"),
        ({"promote": nan}, "promote"),
        ({"promote": inf}, "promote"),
    ],
)
def test_bad_options(options: dict[str, Any], field: str) -> None:
    """Options that are not positive and finite, and thresholds that do not rise, are refused."""
    with pytest.raises(InvalidInput) as error:
        simulate(_jobs((0, 1, 1)), tiresias, cluster=1, **options)
    assert error.value.field == field
