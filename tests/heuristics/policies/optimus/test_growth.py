"""Growth: the race is as good as the best division exactly where each step saves less."""

from random import Random

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.method import NoSolution
from gsopt.evaluation.catalogue import find_method
from gsopt.scenario.job import Job
from gsopt.simulation.parts.pool import Count
from heuristics.policies.optimus.candidates import Candidate
from heuristics.policies.optimus.granting import Grants
from heuristics.policies.optimus.rules import by_method, by_steps
from tests.effort import cases

ITEM = Job(name="a", release_date=0, duration=1, gpus=1)


def candidate(number: int, left: list[float]) -> Candidate:
    """Make a job that has so much left on 1, 2, ... GPUs."""
    return Candidate(number, ITEM, tuple(range(1, len(left) + 1)), tuple(left))


def grants_of(gpus: int) -> Grants:
    """Make grants of so many GPUs."""
    pool = Count()
    pool.give_back(gpus)
    return Grants(pool, {})


def total(jobs: list[Candidate], grants: Grants) -> float:
    """Sum the times that are left."""
    return sum(float(job.left[grants.rung(job)]) for job in jobs)


def best(jobs: list[Candidate], gpus: int) -> float:
    """Find the least sum of the times left by a table over the GPUs."""
    table = {0: 0.0}
    for job in jobs:
        wider: dict[int, float] = {}
        for used, value in table.items():
            for count, left in zip(job.counts, job.left, strict=True):
                if used + count <= gpus:
                    wider[used + count] = min(value + left, wider.get(used + count, value + left))
        table = wider
    return min(table.values())


def drawn(random: Random, *, convex: bool) -> list[Candidate]:
    """Draw jobs of whole times left; convex ones save less with each GPU."""
    jobs = []
    for number in range(random.randint(1, 5)):
        saved = [random.randint(0 if convex else -9, 40) for _ in range(random.randint(0, 5))]
        if convex:
            saved.sort(reverse=True)
        left = [300.0]
        for each in saved:
            left.append(left[-1] - each)
        jobs.append(candidate(number, left))
    return jobs


def test_the_race_is_optimal_where_each_step_saves_less() -> None:
    """The exact division is the best there is, and the race finds none better, and one as good if convex."""
    for seed in range(cases(500)):
        random, convex = Random(seed), seed % 2 == 0
        jobs = drawn(random, convex=convex)
        gpus = len(jobs) + random.randint(0, 10)
        race, exact = grants_of(gpus), grants_of(gpus)
        by_steps(jobs, race)
        by_method(jobs, exact, find_method("allocation", "exact"))
        assert total(jobs, exact) == best(jobs, gpus) <= total(jobs, race), seed
        assert not convex or total(jobs, race) == best(jobs, gpus), seed


def test_the_race_may_lose() -> None:
    """Where the second step saves more than the first, the race gives the GPUs to another job."""
    jobs = [candidate(0, [10, 9, 1]), candidate(1, [10, 8, 7])]
    race, exact = grants_of(4), grants_of(4)
    by_steps(jobs, race)
    by_method(jobs, exact, find_method("allocation", "exact"))
    assert (total(jobs, race), total(jobs, exact)) == (17, 11)


def test_no_jobs_and_no_solution() -> None:
    """Nobody asks for nothing; a method without a solution is refused."""
    by_method([], grants_of(2), find_method("allocation", "exact"))
    jobs = [candidate(0, [10, 9])]
    with pytest.raises(InvalidInput, match="must find a solution at every event"):
        by_method(jobs, grants_of(2), lambda _: NoSolution("none"))


@pytest.mark.parametrize(("shortest_first", "served"), [(False, {0: 1}), (True, {1: 1})])
def test_who_gets_the_fewest_gpus_where_they_are_scarce(shortest_first: bool, served: dict[int, int]) -> None:
    """The first job does, or the shortest one."""
    grants = grants_of(1)
    jobs = [candidate(0, [10, 9]), candidate(1, [8, 7])]
    by_method(jobs, grants, find_method("allocation", "exact"), shortest_first=shortest_first)
    assert grants.holdings == served
