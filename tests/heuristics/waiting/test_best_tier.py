"""List scheduling by tier: what waits, and what takes GPUs far apart."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.testing import check_heuristic
from heuristics.waiting import best_tier
from tests.exactness import waiting as oracle


def three_jobs() -> Waiting:
    """Return three jobs of 3 GPUs that two machines of 5 GPUs in two racks hold only across racks together."""
    jobs = [
        Job(name=name, release_date=0, duration=seconds, gpus=3, model="alexnet")
        for name, seconds in [("a", 30), ("b", 10), ("c", 20)]
    ]
    return Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=5), jobs=jobs)


@pytest.mark.parametrize("options", [{}, {"order": "release"}, {"order": "smallest"}, {"wait": False}])
def test_tiny_instances_are_solved(options: dict[str, Any]) -> None:
    """On tiny instances every list is a schedule, and none beats the optimum."""
    assert check_heuristic(best_tier, [oracle.draw(Random(seed)) for seed in range(12)], **options) == 12


def test_the_shortest_first_and_each_on_a_machine() -> None:
    """B and c start at once, a when b ends: 10.2, 20.4 and 10.2 + 30.6 s."""
    result = best_tier(three_jobs())

    assert result.solution is not None
    assert [(run.job, run.start) for run in result.solution.runs] == [("b", 0), ("c", 0), ("a", 10.2)]
    assert result.objective == (Fraction("10.2") + Fraction("20.4") + Fraction("40.8")) / 3


def test_without_waiting_the_last_runs_across_racks() -> None:
    """A takes the two GPUs that are left on each machine, and twice its time."""
    result = best_tier(three_jobs(), wait=False)

    assert result.objective == (Fraction("10.2") + Fraction("20.4") + 60) / 3


def test_by_release_the_earlier_in_the_problem_goes_first() -> None:
    """A and b start at once, c when b ends."""
    result = best_tier(three_jobs(), order="release")

    assert result.solution is not None
    assert [run.job for run in result.solution.runs] == ["a", "b", "c"]
    assert result.solution.runs[2].start == 10.2


def test_an_unknown_order_gets_one_line() -> None:
    """The message names the option, its value and the orders that there are."""
    unknown: Any = "longest"

    with pytest.raises(InvalidInput, match="order: 'longest': must be one of shortest, smallest, release"):
        best_tier(three_jobs(), order=unknown)


def test_what_ends_together_is_free_together() -> None:
    """Two jobs end at once: the job of two GPUs, first in the list, takes both, and not the next the first."""
    sizes = [("a", 1, 1), ("b", 1, 1), ("c", 2, 2), ("d", 5, 1)]
    jobs = [Job(name=name, release_date=0, duration=seconds, gpus=gpus) for name, seconds, gpus in sizes]
    result = best_tier(Waiting(cluster=Cluster.uniform(machines=1, gpus=2), jobs=jobs))

    assert result.solution is not None
    assert [(run.job, run.start) for run in result.solution.runs] == [("a", 0), ("b", 0), ("c", 1), ("d", 3)]
