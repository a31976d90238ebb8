"""Orders of starts and ends: the optimum of few jobs that start at any time."""

from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest

from formulations.sharing import exact, orders
from formulations.sharing.best import Best, IndependentPart, Parts
from formulations.sharing.listing import in_turn
from formulations.sharing.orders import Orders, Prefix
from gsopt.core.budget import Budget
from gsopt.core.errors import Unsupported
from gsopt.core.numbers.grid import Exact
from gsopt.core.result import Status
from gsopt.problems.sharing import Sharing
from gsopt.scenario.job import Job
from instances.sharing import interfering_jobs
from instances.sharing.suites import between_events
from tests.exactness import sharing as oracle


def test_a_start_between_events_is_found() -> None:
    """The four jobs that end at 26 s together with starts at events end at 25 s, and no sooner."""
    result = orders(between_events(starts="any"))

    assert result.status is Status.OPTIMAL
    assert result.objective == Fraction(25 - 10, 4)
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
    assert free.objective <= bound_to_events.objective


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
        assert result.objective == Fraction(22, 9)


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
    with pytest.raises(Unsupported, match="5 jobs that may meet: at most 4"):
        orders(interfering_jobs(jobs=5, starts="any"))


def every_order(search: Orders, prefix: Prefix) -> Iterator[Exact]:
    """Return the least sum of job completion times of every order that begins with a prefix."""
    if len(prefix.ended) == search.count:
        found = search.least(prefix)
        if found is not None:
            yield found[0]
        return
    for longer in search.longer(prefix):
        yield from every_order(search, longer)


@pytest.mark.parametrize("seed", range(4))
def test_no_order_that_is_left_out_is_better(seed: int) -> None:
    """The optimum is the least of all complete orders."""
    problem = oracle.drawn(Random(seed), 2 + seed % 2, 1 + seed % 2).model_copy(update={"starts": "any"})
    best = Best(problem, Budget(), "orders")
    best.take(in_turn(problem))
    search = Orders(IndependentPart(Parts(best), problem, best.known))
    empty = Prefix((frozenset(),) * problem.gpus, {}, {}, {}, {})

    result = orders(problem)
    assert result.objective == result.bound == min(every_order(search, empty)) / len(problem.jobs)


def test_far_jobs_change_no_proof() -> None:
    """Four jobs that may start at any time are proven as well with a fifth one three years later."""
    near = between_events(starts="any")
    far = Job(name="far", release_date=1e8, duration=10, gpus=1)
    result = orders(near.model_copy(update={"jobs": (*near.jobs, far)}))

    assert (result.status, result.objective) == (Status.OPTIMAL, Fraction(25 - 10 + 10, 5))
