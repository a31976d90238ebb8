"""Lists: every job ends as early as those placed before it allow, and the search makes schedules no worse."""

from fractions import Fraction
from random import Random

import pytest

from formulations.waiting.best import Best
from formulations.waiting.instance import SlottedInstance
from formulations.waiting.listing import FreeProfile, place_all, search_lists
from gsopt.core.budget import Budget
from gsopt.problems.waiting import Waiting
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from instances.waiting import tier_jobs
from tests.exactness import waiting as oracle


def test_a_job_waits_where_that_ends_sooner() -> None:
    """Where each machine has one GPU left for 10 s, two GPUs of ResNet-18 wait: far apart 5 s are 143."""
    jobs = [
        Job(name=name, release_date=0, duration=seconds, gpus=gpus, model="resnet18")
        for name, seconds, gpus in [("a", 10, 2), ("b", 10, 2), ("c", 5, 2)]
    ]
    instance = SlottedInstance.of(Waiting(cluster=Cluster.uniform(racks=2, machines=1, gpus=3), jobs=jobs))
    profile = FreeProfile(instance)
    placed = [profile.place(job) for job in range(3)]

    assert [choice.start * instance.slot for choice in placed] == [0, 0, Fraction("10.7")]
    assert [choice.counts for choice in placed[:2]] == [{0: 2}, {1: 2}]


@pytest.mark.parametrize("seed", range(6))
def test_what_lists_say_is_what_the_judge_finds(seed: int) -> None:
    """Every order's schedule is legal, and its value no more than the sum of its slots says."""
    problem = tier_jobs(jobs=9, seed=seed)
    instance = SlottedInstance.of(problem)
    order = Random(seed).sample(range(9), 9)
    choices = place_all(instance, order, [seed % 3] * 9)
    assert choices is not None
    ends = [choice.start + instance.length(job, choice.place) for job, choice in enumerate(choices)]
    solution = instance.solution(choices)

    assert problem.violations(solution) == []
    assert problem.objective(solution) <= Fraction(sum(ends)) / 9


def test_the_search_finds_most_optima_of_tiny_instances() -> None:
    """Of 30 tiny instances the lists find the optimum of at least 25, and beat none."""
    found = 0
    for seed in range(30):
        problem = oracle.draw(Random(seed))
        best = Best(SlottedInstance.of(problem), Budget(), "test")
        search_lists(best)
        optimum = oracle.optimum(problem)
        assert best.value is not None
        assert best.value >= optimum - problem.resolution(optimum)
        found += best.value - optimum <= problem.resolution(optimum)
    assert found >= 25


def test_without_time_there_is_one_list() -> None:
    """The first list is finished, however late it is; a further one is not begun."""
    instance = SlottedInstance.of(tier_jobs(jobs=30, seed=0))
    best = Best(instance, Budget(time_limit=0.0), "test")
    search_lists(best)

    assert best.solution is not None
    assert place_all(instance, range(30), [2] * 30, Budget(time_limit=0.0)) is None
