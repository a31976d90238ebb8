"""Plans in slots: what CP-SAT finds, what comes of it without slots, and that it is never a bound."""

from fractions import Fraction
from random import Random

import pytest

import gsopt
from formulations.sharing import exact, slots
from formulations.sharing.best import Best
from formulations.sharing.listing import shortest_first, take_lists
from gsopt.core.budget import Budget
from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.result import Status, StoppedBy
from heuristics import sharing as policies
from instances.sharing import interfering_jobs
from instances.sharing.suites import between_events
from tests.effort import cases
from tests.exactness import sharing as oracle


def test_it_is_between_the_optimum_and_the_best_policy() -> None:
    """With starts at events no plan is below the optimum, nor is one worse than any policy."""
    for seed in range(cases(15)):
        problem = interfering_jobs(jobs=4, gpus=2, seed=seed)
        found, proven = gsopt.solve(problem, method=slots), exact(problem)
        every = [getattr(policies, name)(problem).objective for name in policies.__all__]
        assert found.objective is not None
        assert proven.objective is not None
        assert found.bound is not None
        assert proven.objective <= found.objective <= min(value for value in every if value is not None)
        assert found.bound <= proven.objective


def test_a_start_between_events_is_kept_where_it_is_legal() -> None:
    """The plan of 25 s in all is a schedule for starts at any time; with starts at events it is one of 26 s."""
    anywhere, at_events = slots(between_events(starts="any"), most=10), slots(between_events(), most=10)

    assert anywhere.objective == Fraction(25 - 10, 4)
    assert anywhere.message == "Model C: starts at any time; slots of 1 s: 3.75 is optimal"
    assert at_events.objective == Fraction(26 - 10, 4)
    assert at_events.message.startswith("Model E: starts at arrivals and ends; slots of 1 s: ")


@pytest.mark.parametrize("most", [1, 5])
def test_rounding_is_no_part_of_the_schedule(most: int) -> None:
    """Plans on long slots are followed on the clock, and are never worse than the best list."""
    problem = interfering_jobs(jobs=4, gpus=2, seed=0)
    best = Best(problem, Budget(), "lists")
    take_lists(best)
    result = slots(problem, most=most)

    assert result.objective is not None
    assert result.objective <= best.known_value
    assert result.bound is not None
    assert result.bound <= result.objective


def test_no_time_and_no_patience() -> None:
    """Without time, and when told to stop, the best list is returned with the bound of areas."""
    problem = interfering_jobs(jobs=8, gpus=4, seed=1)
    late = slots(problem, time_limit=0.0)
    stopped = slots(problem, on_incumbent=lambda found: found.objective is not None)

    assert (late.status, late.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert (stopped.status, stopped.stopped_by) == (Status.FEASIBLE, StoppedBy.INTERRUPT)
    assert late.bound is not None
    assert late.bound > 0


def test_what_it_does_not_handle_is_said() -> None:
    """No slots, and more jobs than the model is for, are refused."""
    with pytest.raises(InvalidInput, match="most: 0: must be at least 1"):
        slots(between_events(), most=0)
    with pytest.raises(Unsupported, match="41 jobs on 1 GPUs: at most 40"):
        slots(interfering_jobs(jobs=41, gpus=1))


def test_lists_are_schedules() -> None:
    """What starts shortest first keeps every rule, and alone no GPU has two users."""
    for seed in range(cases(100)):
        problem = oracle.draw(Random(seed))
        alone, shared = (shortest_first(problem, partners) for partners in (0, 1))
        assert problem.model_copy(update={"share_limit": 1}).violations(alone) == []
        assert problem.violations(shared) == []
        best = Best(problem, Budget(), "lists")
        take_lists(best)
        assert best.value is not None
        assert best.value <= min(problem.objective(alone), problem.objective(shared))
