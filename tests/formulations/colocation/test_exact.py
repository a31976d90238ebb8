"""The default method."""

from typing import Any

import pytest

from formulations.colocation import exact
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.testing import check_formulation
from instances.colocation import full_cluster
from tests.exactness import colocation as oracle
from tests.strategies.colocation import committed, tiny


def test_proves_the_optimum_of_every_small_instance() -> None:
    """On every committed small instance the optimum is proven that enumeration finds."""
    assert check_formulation(exact, committed()) == len(committed())


def test_proves_the_optimum_of_hard_numbers() -> None:
    """On 200 instances with numbers that are hard on floats the optimum is that of the oracle."""
    for seed in range(200):
        problem = tiny(seed)
        result = exact(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem)), seed


def test_nothing_to_decide_needs_no_solver() -> None:
    """Where nobody competes the bound of the beginning is the value."""
    result = exact(full_cluster(running=1, pending=1, seed=3))
    assert (result.status, result.message, result.solver) == (Status.OPTIMAL, "greedy", "")


def test_digits_beyond_doubles_are_left_to_the_matching() -> None:
    """Where savings differ in digits that doubles do not have, the matching finds and proves the optimum."""
    messages = []
    for seed in (87, 1247, 1458):  # ties of the last bit
        problem = tiny(seed)
        result = exact(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem)), seed
        messages.append(result.message)
    assert "matching" in messages


def test_out_of_time_there_are_pairs() -> None:
    """Without any time the pairs are returned that are known so far."""
    result = exact(full_cluster(running=40, pending=40, seed=1), time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)


def test_the_asked_gap_is_enough() -> None:
    """With a gap that the first pairs meet no solver is asked."""
    result = exact(full_cluster(running=20, pending=20, seed=1), gap=0.9)
    assert (result.stopped_by, result.solver) == (StoppedBy.GAP, "")


def test_callers_hear_of_the_first_pairs_and_may_stop() -> None:
    """The first pairs are told before any solver starts; True ends it."""
    problem = full_cluster(running=20, pending=20, seed=1)
    heard: list[Result[Any]] = []
    exact(problem, on_incumbent=heard.append)
    assert [result.method for result in heard] == ["exact"]
    stopped = exact(problem, on_incumbent=lambda _result: True)
    assert (stopped.stopped_by, stopped.objective) == (StoppedBy.INTERRUPT, heard[0].objective)


def test_a_start_is_never_lost() -> None:
    """An optimum that is given comes back, also without time."""
    problem = full_cluster(running=20, pending=20, seed=2)
    best = exact(problem)
    again = exact(problem, start=best.solution, time_limit=0.0)
    assert again.objective == best.objective


@pytest.mark.parametrize("epoch", [0.0, 1.7e9])
def test_long_jobs_are_decided_exactly(epoch: float) -> None:
    """Seconds that add up with 1.7e9 are decided as exactly as small ones."""
    problem = full_cluster(running=12, pending=12, seed=4)
    moved = problem.model_copy(
        update={"running": [job.model_copy(update={"seconds": job.seconds + epoch}) for job in problem.running]}
    )
    result = exact(moved)
    assert (result.status, result.objective) == (Status.OPTIMAL, result.bound)
