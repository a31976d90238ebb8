"""Another clock, unit, order, name or company changes nothing that is proven."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from random import Random

import pytest

from formulations.sharing import exact, orders, slots
from gsopt.core.numbers.grid import decimal
from gsopt.core.result import Result, Status
from gsopt.evaluation.catalogue import heuristics
from gsopt.problems.sharing import Sharing, SharingSolution
from gsopt.scenario.job import Job
from tests.effort import cases

FAR = 1e9


def drawn(seed: int) -> Sharing:
    """Draw up to four jobs whose dates and seconds have few digits."""
    random = Random(seed)
    names = "abcd"[: random.randint(2, 4)]
    gpus = random.randint(1, 3)
    jobs = [
        Job(
            name=name,
            release_date=random.choice((0, 0, random.randint(0, 20) / 4)),
            duration=random.randint(1, 30) / 2,
            gpus=random.randint(1, gpus),
            model=name,
        )
        for name in names
    ]
    table = {one: {other: round(random.uniform(1, 3), 2) for other in names} for one in names}
    return Sharing(gpus=gpus, jobs=jobs, interference=table, share_limit=random.choice((1, 2, 2)))


def timed(problem: Sharing, scale: float, later: float) -> Sharing:
    """Return the same jobs in another unit of time, and later."""
    unit = decimal(scale)
    jobs = [
        job.model_copy(
            update={
                "release_date": float(decimal(job.release_date) * unit + decimal(later)),
                "duration": float(decimal(job.duration) * unit),
            }
        )
        for job in problem.jobs
    ]
    return problem.model_copy(update={"jobs": tuple(jobs)})


def joined(problem: Sharing, jobs: Sequence[Job]) -> Sharing:
    """Return a problem with more jobs."""
    return problem.model_copy(update={"jobs": (*problem.jobs, *jobs)})


def renamed(problem: Sharing) -> Sharing:
    """Return the same jobs with other names, the last first."""
    jobs = [job.model_copy(update={"name": f"job {index}"}) for index, job in enumerate(problem.jobs)]
    return problem.model_copy(update={"jobs": tuple(reversed(jobs))})


def moved(problem: Sharing) -> Iterator[tuple[Sharing, Callable[[Fraction], Fraction]]]:
    """Return what makes no difference, and what becomes of the value."""
    count, far = len(problem.jobs), Job(name="far", release_date=FAR, duration=10, gpus=1)
    yield timed(problem, 1.0, 1.7e9), lambda value: value
    yield timed(problem, 1e-6, 0.0), lambda value: value / 10**6
    yield timed(problem, 1e6, 0.0), lambda value: value * 10**6
    yield renamed(problem), lambda value: value
    company = lambda value: (value * count + 10) / (count + 1)  # noqa: E731
    yield joined(problem, [far]), company
    yield joined(timed(problem, 1.0, FAR), [far.model_copy(update={"release_date": 0.0})]), company


@pytest.mark.parametrize("method", [exact, orders], ids=["exact", "orders"])
def test_proofs_follow(method: Callable[[Sharing], Result[SharingSolution]]) -> None:
    """Value and bound are the same but for what was done to the jobs, and each is proven."""
    for seed in range(cases(30)):
        starts = "any" if method is orders else "events"
        problem = drawn(seed).model_copy(update={"starts": starts})
        known = method(problem)
        assert known.status is Status.OPTIMAL
        for other, value in moved(problem):
            found = method(other)
            assert found.status is Status.OPTIMAL
            assert found.objective == found.bound == value(Fraction(known.objective or 0))


@pytest.mark.parametrize("name", heuristics("sharing"))
def test_policies_follow(name: str) -> None:
    """A policy finds the same schedule on another clock and in another company, named in another order."""
    method = heuristics("sharing")[name]
    for seed in range(cases(30)):
        problem = drawn(seed)
        known = method(problem)
        for other, value in moved(problem):
            if other.jobs[0].name == problem.jobs[0].name:  # the order of names decides ties
                assert method(other).objective == value(Fraction(known.objective or 0))


def test_plans_in_slots_follow() -> None:
    """CP-SAT's plan is as good on another clock, and the bound is the same."""
    problem = drawn(5)
    known = slots(problem)
    later = slots(timed(problem, 1.0, 1.7e9))

    assert (later.objective, later.bound) == (known.objective, known.bound)


@pytest.mark.parametrize("far", [1e6, 1e7, 1e8, 1e9])
def test_a_job_years_later_hides_nothing(far: float) -> None:
    """Two jobs that change places for a tenth of a second are in the best order, whatever comes years later."""
    jobs = [Job(name=n, release_date=0, duration=d, gpus=1) for n, d in [("a", 10.1), ("b", 10.0)]]
    jobs += [Job(name=f"far{i}", release_date=far + 100 * i, duration=10.0, gpus=1) for i in range(4)]
    result = exact(Sharing(gpus=1, jobs=jobs, share_limit=1))

    assert (result.status, result.objective) == (Status.OPTIMAL, Fraction(10 * 5 + 20 * 1, 6) + Fraction(1, 60))
