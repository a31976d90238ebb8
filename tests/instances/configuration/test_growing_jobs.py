"""Jobs that may have twice what they have."""

from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.configuration import growing_jobs
from tests.strategies.configuration import chosen


def test_a_seed_gives_one_instance() -> None:
    """The same seed draws the same jobs, and another one others."""
    assert growing_jobs(seed=3) == growing_jobs(seed=3)
    assert growing_jobs(seed=3).jobs != growing_jobs(seed=4).jobs


def test_what_runs_keeps_to_the_rules() -> None:
    """What jobs have breaks no rule and is within the asked parts."""
    for seed in range(20):
        problem = growing_jobs(nodes=4, types=2, jobs=10, running=0.5, busy=0.75, seed=seed)
        held = {job.name: job.current for job in problem.jobs if job.current is not None}
        assert problem.violations(chosen(**held)) == []
        assert 0 < len(held) <= 5
        assert problem.measures(chosen(**held))["idle_gpus"] >= 8


def test_goodputs_are_relative_to_the_least_and_jobs_double_at_most() -> None:
    """The least goodput is 1; a job may have twice its GPUs, one where it has not run."""
    problem = growing_jobs(nodes=4, types=3, jobs=30, most_gpus=6, seed=2)
    for job in problem.jobs:
        known = {shape: goodput for shape, goodput in enumerate(job.goodputs) if goodput is not None}
        assert min(known.values()) == 1.0
        most = 1 if job.current is None else min(2 * problem.configurations[job.current].gpus, 6)
        assert max(problem.configurations[place].gpus for place in known) <= most
    assert all(set(job.goodputs) <= {1.0, None} for job in problem.jobs if job.current is None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nodes": 0}, "nodes: 0: must be at least 1"),
        ({"types": 0}, "types: 0: must be at least 1"),
        ({"jobs": -1}, "jobs: -1: must be at least 0"),
        ({"running": 1.5}, "running: 1.5: must be between 0 and 1"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    """Each argument is named with its value and rule."""
    with pytest.raises(InvalidInput, match=message):
        growing_jobs(**arguments)


def test_no_jobs_are_an_instance_too() -> None:
    """Without jobs there are only GPUs."""
    assert growing_jobs(jobs=0).headline() == {"jobs": 0, "gpus": 64, "types": 1, "configurations": 18}
