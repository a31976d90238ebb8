"""The exact method: proofs for starts at events, brackets for starts at any time."""

from fractions import Fraction
from random import Random

import pytest

from formulations.sharing import exact
from gsopt.core.result import Status, StoppedBy
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from gsopt.testing import check_formulation
from instances.sharing import interfering_jobs
from instances.sharing.suites import between_events
from tests.effort import cases
from tests.exactness import sharing as oracle


def test_brute_force_is_proven() -> None:
    """The optima of tiny instances are those of trying everything."""
    assert check_formulation(exact, [oracle.draw(Random(seed)) for seed in range(100, 140)]) == 40


def test_jobs_of_the_same_size_are_told_apart() -> None:
    """Jobs of equal durations and GPUs, but unlike slowdowns, are no less proven than others."""
    for seed in range(cases(50)):
        random = Random(seed)
        names = ["a", "b", "c"]
        gpus = random.choice((1, 2, 2))
        jobs = [
            Job(name=n, release_date=random.choice((0, 1)), duration=4.5, gpus=g, model=n)
            for n, g in zip(names, (gpus, gpus, 1), strict=True)
        ]
        jobs[2] = jobs[2].model_copy(update={"duration": random.choice((2.0, 4.5))})
        table = {one: {other: random.choice((1.0, 1.5, 2.0, 3.0)) for other in names} for one in names}
        problem = Sharing(gpus=2, jobs=jobs, interference=table)
        result = exact(problem)

        assert result.status is Status.OPTIMAL
        assert result.objective == result.bound == oracle.optimum(problem)


def test_a_job_that_runs_is_not_taken_for_one_that_waits() -> None:
    """Of two jobs of the same size the one that minds its partner less goes first, which is 97 / 18 s."""
    slowdowns = {"a": {"b": 1.5, "c": 3.0}, "c": {"a": 2.0, "b": 1.5}}
    sizes = [("a", 0, 4.5, 2), ("b", 0, 4.5, 2), ("c", 1, 2, 1)]
    jobs = [Job(name=n, release_date=r, duration=d, gpus=g, model=n) for n, r, d, g in sizes]

    result = exact(Sharing(gpus=2, jobs=jobs, interference=slowdowns))
    assert (result.status, result.objective) == (Status.OPTIMAL, Fraction(97, 18))


def test_each_model_has_its_own_proof() -> None:
    """The optimum of starts at events, 26 s, is no bound where starts at any time reach 25 s."""
    at_events = exact(between_events())
    anywhere = exact(between_events(starts="any"))

    assert (at_events.status, at_events.objective) == (Status.OPTIMAL, Fraction(26 - 10, 4))
    assert at_events.message.startswith("Model E")
    assert anywhere.status is Status.OPTIMAL
    assert anywhere.message.startswith("Model C")
    assert anywhere.objective == Fraction(25 - 10, 4)


@pytest.mark.parametrize("gpus", [4, 8])
def test_eight_jobs_are_proven(gpus: int) -> None:
    """Eight jobs are proven at events; at any time there is a bracket, its bound within a third of that."""
    problem = interfering_jobs(jobs=8, gpus=gpus, seed=0)
    proven = exact(problem)
    bracketed = exact(problem.model_copy(update={"starts": "any"}))

    assert proven.status is Status.OPTIMAL
    assert bracketed.bound is not None
    assert bracketed.status is Status.FEASIBLE
    assert proven.objective == bracketed.objective
    assert proven.objective is not None
    assert proven.objective * Fraction(2, 3) <= bracketed.bound <= proven.objective


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_magnitudes(scale: float) -> None:
    """Run times of 17 digits at any magnitude, released at one moment of today, are proven to rounding."""
    release = 1.7e9 if scale >= 1 else 0.0
    jobs = [Job(name=str(i), release_date=release, duration=scale * (1 + i / 7), gpus=2) for i in range(4)]

    assert exact(Sharing(gpus=3, jobs=jobs, default_interference=1.3)).status is Status.OPTIMAL


def test_many_jobs_get_a_schedule_and_a_bound() -> None:
    """Where there are too many jobs for a search, shortest jobs first is known, and prices are the bound."""
    jobs = [Job(name=str(i), release_date=0, duration=1, gpus=1) for i in range(100)]
    proven = exact(Sharing(gpus=1, jobs=jobs, default_interference=2.0))
    bracketed = exact(Sharing(gpus=1, jobs=jobs, default_interference=1.5, starts="any"))

    assert (proven.status, proven.objective) == (Status.OPTIMAL, Fraction(101, 2))
    assert (bracketed.status, bracketed.objective) == (Status.FEASIBLE, Fraction(153, 4))
    assert bracketed.bound is not None
    assert 37 < bracketed.bound < Fraction(153, 4)


def test_without_time_there_is_a_schedule_and_a_bound() -> None:
    """A budget that has passed leaves a schedule and a bound all the same."""
    result = exact(interfering_jobs(jobs=8), time_limit=0.0)

    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert result.bound is not None
    assert result.bound > 0


def test_it_stops_when_asked() -> None:
    """A callback that returns True ends the search with the schedule that it was told of."""
    result = exact(interfering_jobs(jobs=6), on_incumbent=lambda found: found.objective is not None)

    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.INTERRUPT)
