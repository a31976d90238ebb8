"""The generator of elastic jobs."""

from itertools import pairwise
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from instances.allocation import elastic_jobs


def test_a_seed_gives_one_instance() -> None:
    """The same arguments give the same instance, another seed another one."""
    assert elastic_jobs(seed=7) == elastic_jobs(seed=7)
    assert elastic_jobs(seed=7).jobs != elastic_jobs(seed=8).jobs


@pytest.mark.parametrize(
    ("sizes", "allowed"), [("one", {1}), ("powers_of_two", {1, 2, 4, 8}), ("any", set(range(1, 9)))]
)
def test_sizes(sizes: Any, allowed: set[int]) -> None:
    """All sizes asked for occur, and no others."""
    assert {job.gpus_per_worker for job in elastic_jobs(jobs=300, sizes=sizes).jobs} == allowed


@pytest.mark.parametrize("scaling", ["proportional", "imperfect", "across_servers"])
def test_ranges_are_kept(scaling: Any) -> None:
    """Minimum and extra workers stay in their ranges, and running times between a minute and ten days."""
    problem = elastic_jobs(jobs=400, most_workers=3, most_extra=5, scaling=scaling, queued_share=1.0)
    assert {job.min_workers for job in problem.jobs} == {1, 2, 3}
    assert {job.max_extra for job in problem.jobs} == {1, 2, 3, 4, 5}
    assert all(60 <= (job.time_at_min or 0) <= 864_000 for job in problem.jobs)


def test_proportional_and_other_scaling_share_their_jobs() -> None:
    """The scaling changes what workers are worth and nothing else."""
    proportional, imperfect = elastic_jobs(seed=3), elastic_jobs(scaling="imperfect", seed=3)
    for one, other in zip(proportional.jobs, imperfect.jobs, strict=True):
        assert (one.min_workers, one.max_workers, one.gpus_per_worker) == (
            other.min_workers,
            other.max_workers,
            other.gpus_per_worker,
        )


def test_server_crossings_break_concavity() -> None:
    """Most jobs whose speed drops across servers have a worker that is worth more than the one before it."""

    def concave(values: list[float]) -> bool:
        gains = [after - before for before, after in pairwise(values)]
        return all(later <= earlier for earlier, later in pairwise(gains))

    jobs = elastic_jobs(scaling="across_servers", seed=1).jobs
    broken = [job for job in jobs if not concave([0.0, *(job.values or ())])]
    assert len(broken) > len(jobs) / 2


def test_queued_jobs_can_start() -> None:
    """The capacity holds the minimum workers of all queued jobs, and the asked number of GPUs beside them."""
    problem = elastic_jobs(jobs=50, capacity=77, queued_share=0.5, seed=2)
    assert 10 < sum(job.queued for job in problem.jobs) < 40
    assert (problem.remaining, problem.obstacle) == (77, "")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"jobs": -1}, "jobs"),
        ({"capacity": -1}, "capacity"),
        ({"most_workers": 0}, "most_workers"),
        ({"most_extra": 0}, "most_extra"),
        ({"sizes": "two"}, "sizes"),
        ({"scaling": "great"}, "scaling"),
        ({"queued_share": 1.5}, "queued_share"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments: dict[str, Any], field: str) -> None:
    """Every argument out of its range is refused in one line that names it."""
    with pytest.raises(InvalidInput) as caught:
        elastic_jobs(**arguments)
    assert caught.value.field == field
