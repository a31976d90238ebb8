"""Orders of starts and ends: the optimum of few jobs that start at any time."""

from fractions import Fraction

import pytest

from formulations.sharing import exact, orders
from gsopt.errors import Unsupported
from gsopt.job import Job
from gsopt.problems.sharing import Sharing
from gsopt.result import Status
from instances.sharing import interfering_jobs
from instances.sharing.suites import between_events


def test_a_start_between_events_is_found() -> None:
    """The four jobs that end at 26 s together with starts at events end at 25 s, and no sooner."""
    result = orders(between_events(starts="any"))

    assert result.status is Status.OPTIMAL
    assert result.objective is not None
    assert abs(Fraction(result.objective) - Fraction(25 - 10, 4)) <= between_events().resolution(
        result.objective
    )
    assert result.message.startswith("Model C")


@pytest.mark.parametrize("seed", range(3))
def test_any_time_is_no_worse_than_events(seed: int) -> None:
    """Whoever may start at any time may start at events; few instances gain by more."""
    anywhere = interfering_jobs(jobs=3, gpus=2, seed=seed, starts="any")
    at_events = anywhere.model_copy(update={"starts": "events"})
    free, bound_to_events = orders(anywhere), exact(at_events)

    assert free.status is bound_to_events.status is Status.OPTIMAL
    assert free.objective is not None
    assert bound_to_events.objective is not None
    assert free.objective <= bound_to_events.objective + at_events.resolution(bound_to_events.objective)


@pytest.mark.parametrize("slowdown", [1.0, 1.5, 2.0, 3.0])
def test_two_jobs_are_best_at_an_end_point(slowdown: float) -> None:
    """Two jobs that are there from the beginning share at once, or one waits for the end of the other."""
    for durations in ((1, 1), (4, 1), (3, 2)):
        jobs = [Job(name=str(p), release_date=0, duration=p, gpus=1) for p in durations]
        jobs[1] = jobs[1].model_copy(update={"name": "second"})
        result = orders(Sharing(gpus=1, jobs=jobs, default_interference=slowdown, starts="any"))
        long, short = map(Fraction, durations)
        slow = Fraction(slowdown)
        together = (
            2 * slow * short + long - short
        )  # the short one ends first, having let the long one do as much
        in_turn = 2 * short + long

        assert result.status is Status.OPTIMAL
        assert result.objective == min(together, in_turn) / 2


def test_a_partner_on_any_gpu_counts() -> None:
    """A wide job is as slow as its partner on either GPU makes it: 2/3 done beside b, it ends after 10/3 s."""
    jobs = [Job(name=n, release_date=0, duration=2, gpus=g, model=n) for n, g in [("a", 1), ("b", 1), ("w", 2)]]
    for slow in "ab":
        result = orders(Sharing(gpus=2, jobs=jobs, interference={"w": {slow: 3.0}}, starts="any"))
        assert result.status is Status.OPTIMAL
        assert result.objective is not None
        assert float(result.objective) == pytest.approx(22 / 9)


def test_memory_keeps_jobs_apart() -> None:
    """Jobs that need more memory together than a GPU has take turns, which takes longer."""
    given = [("a", 0, 3, 2), ("b", 0, 3, 2), ("c", 0.5, 4, 1)]
    jobs = [Job(name=n, release_date=r, duration=d, gpus=1, memory=m) for n, r, d, m in given]
    problem = Sharing(gpus=1, jobs=jobs, memory=3, default_interference=1.3, starts="any")

    assert orders(problem).objective == Fraction(323, 60)
    assert orders(problem.model_copy(update={"memory": 4})).objective == Fraction(76, 15)


def test_what_it_does_not_handle_is_said() -> None:
    """Starts at events, and more than four jobs, are refused."""
    with pytest.raises(Unsupported, match="exact proves these"):
        orders(between_events())
    with pytest.raises(Unsupported, match="5 jobs: at most 4"):
        orders(interfering_jobs(jobs=5, starts="any"))
