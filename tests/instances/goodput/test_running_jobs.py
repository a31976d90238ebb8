"""Running jobs on nodes."""

from itertools import pairwise
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.goodput import GoodputSolution
from instances.goodput import running_jobs


def test_a_seed_gives_one_instance() -> None:
    """The same seed draws the same jobs, and another one others."""
    assert running_jobs(seed=3) == running_jobs(seed=3)
    assert running_jobs(seed=3).jobs != running_jobs(seed=4).jobs


def test_what_runs_keeps_to_the_rules() -> None:
    """What jobs have breaks no rule, is within the asked parts, and some jobs stand on several nodes."""
    wide = 0
    for seed in range(20):
        problem = running_jobs(nodes=4, jobs=10, running=0.5, busy=0.75, seed=seed)
        held = {job.name: job.current for job in problem.jobs if job.current}
        assert problem.violations(GoodputSolution(gpus=held)) == []
        assert len(held) <= 5
        assert sum(map(sum, held.values())) <= 12
        wide += sum(sum(map(bool, current)) > 1 for current in held.values())
    assert wide > 5


def test_speed_ups_grow_by_less_and_less_and_are_no_better_on_more_nodes() -> None:
    """On one node each further GPU adds less; on several as many GPUs are no faster."""
    for job in running_jobs(nodes=4, jobs=10, seed=1).jobs:
        rows = [list(row) for row in job.speedups]
        steps = [after - before for before, after in zip([0.0, *rows[0]], rows[0], strict=False)]
        assert all(later <= step * 1.001 for step, later in pairwise(steps))
        for nodes, row in enumerate(rows[1:], start=2):
            on_one = rows[0][nodes - 1 :]
            assert all(several <= single for single, several in zip(on_one, row, strict=False))


def test_no_job_has_more_than_twice_its_gpus() -> None:
    """The limit is twice what a job has, one GPU for new ones, and at most the asked one."""
    for job in running_jobs(jobs=20, most_gpus=5, seed=2).jobs:
        assert job.max_gpus == min(max(2 * sum(job.current), 1), 5)
        assert len(job.speedups[0]) <= job.max_gpus


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nodes": -1}, "nodes: -1: must be at least 0"),
        ({"jobs": -1}, "jobs: -1: must be at least 0"),
        ({"gpus_per_node": 0}, "gpus_per_node: 0: must be at least 1"),
        ({"busy": 1.5}, "busy: 1.5: must be between 0 and 1"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    """Each argument is named with its value and rule."""
    with pytest.raises(InvalidInput, match=message):
        running_jobs(**arguments)


def test_nothing_gives_nothing() -> None:
    """No jobs and no nodes are an instance too."""
    assert running_jobs(nodes=0, jobs=0).headline() == {"jobs": 0, "nodes": 0, "gpus": 0}
    assert running_jobs(nodes=0, jobs=2).total == 0
