"""The two phases."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.result import Result
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.allocation import Allocation, AllocationSolution
from heuristics.policies.aryl.epoch import Elastic, Epoch, Pool, Waiting
from heuristics.policies.aryl.two_phase import TwoPhase
from tests.effort import cases

_EXACT = find_method("allocation", "exact")


def _job(
    number: int, time: float, most: int, size: int = 1, pool: Pool = "training", extra: int = 0, base: int = 2
) -> Elastic:
    speeds = tuple(float(base + each) for each in range(most - base + 1))
    return Elastic(number, time, size, base, most, extra, pool, speeds)


def _epoch(*jobs: Elastic, waiting: tuple[Waiting, ...] = (), **rooms: tuple[int, ...]) -> Epoch:
    idle = {pool: sum(rooms.get(pool, ())) for pool in ("training", "inference")}
    return Epoch(
        0.0, waiting, jobs, idle, pending=bool(waiting), room={pool: rooms.get(pool, ()) for pool in idle}
    )


def _refuses(problem: Allocation) -> Result[AllocationSolution]:
    raise AssertionError(problem)


def test_the_shortest_first() -> None:
    """Jobs are ordered by their time; of equal ones the first goes first."""
    waiting = tuple(Waiting(number, 0.0, time, 1) for number, time in enumerate([5.0, 3.0, 5.0, 1.0]))
    assert TwoPhase(_EXACT).order(_epoch(waiting=waiting)) == [3, 1, 0, 2]


@pytest.mark.parametrize("knapsack", [None, _EXACT])
def test_figure_6(knapsack: Any) -> None:
    """With two GPUs for a worker of A and one for one of B, A gets one worker and B two."""
    jobs = _job(0, 150.0, 3, size=2), _job(1, 60.0, 6)
    assert TwoPhase(_EXACT, knapsack=knapsack).extras(_epoch(*jobs, training=(4,))) == {0: 1, 1: 2}


def test_what_can_be_placed() -> None:
    """On arrays a worker is given only where a machine has room for it; a method counts GPUs in all."""
    jobs = _job(0, 150.0, 3, size=2), _job(1, 60.0, 3)
    assert TwoPhase(_refuses).extras(_epoch(*jobs, training=(1, 1))) == {1: 1}
    assert TwoPhase(_EXACT, knapsack=_EXACT).extras(_epoch(*jobs, training=(1, 1))) == {0: 1}


def test_pools_are_apart_and_mixed_jobs_last() -> None:
    """Each pool is divided among its own jobs; jobs of both pools get what is left of either."""
    jobs = _job(0, 100.0, 4, pool="mixed"), _job(1, 9.0, 3), _job(2, 8.0, 3, pool="inference")
    two_phase = TwoPhase(_refuses)
    assert two_phase.extras(_epoch(*jobs, training=(1,), inference=(2,))) == {0: 1, 1: 1, 2: 1}
    assert two_phase.extras(_epoch(*jobs, training=(2,), inference=(2,))) == {0: 2, 1: 1, 2: 1}


def test_machines_that_are_not_known() -> None:
    """Without the machines' rooms all idle GPUs of a pool, and those of its flexible workers, count as one."""
    jobs = _job(0, 150.0, 3, extra=1), _job(1, 60.0, 6)
    given = Epoch(0.0, (), jobs, {"training": 3, "inference": 0}, pending=False)
    assert TwoPhase(_refuses).extras(given) == {0: 1, 1: 3}


def test_all_the_work() -> None:
    """Where all work counts a job is worth what it was when it was first seen to wait."""
    jobs = _job(0, 10.0, 3), _job(1, 60.0, 3)
    waiting = (Waiting(0, 0.0, 100.0, 2),)
    for work, expected in [("remaining", {1: 1}), ("full", {0: 1})]:
        two_phase = TwoPhase(_EXACT, work=work)  # type: ignore[arg-type]
        two_phase.order(_epoch(waiting=waiting))
        assert two_phase.extras(_epoch(*jobs, training=(1,))) == expected


def test_one_knapsack_over_normalised_gpus() -> None:
    """Three GPUs of the inference pool count as one, for all jobs together."""
    jobs = _job(0, 150.0, 3), _job(1, 60.0, 6, pool="inference")
    two_phase = TwoPhase(_EXACT, normalised=3.0)
    assert two_phase.extras(_epoch(*jobs, training=(1,), inference=(8,))) == {0: 1, 1: 2}


def test_without_a_solution_nobody_gets_any() -> None:
    """A method that finds nothing leaves all jobs with their base workers."""

    def gives_up(problem: Allocation) -> Result[AllocationSolution]:
        return Result.judged(problem, method="none", runtime=0.0, solution=None)

    jobs = _job(0, 150.0, 3), _job(1, 60.0, 6)
    assert TwoPhase(gives_up, knapsack=gives_up).extras(_epoch(*jobs, training=(4,))) == {}


@st.composite
def _elastic(draw: st.DrawFn, number: int) -> Elastic:
    base = draw(st.integers(1, 3))
    gains = draw(st.lists(st.integers(-2, 6), max_size=4))
    speeds = [4.0]
    for gain in gains:
        speeds.append(max(speeds[-1] + gain / 4, 0.5))
    time = float(draw(st.integers(1, 50)))
    size = draw(st.sampled_from([1, 2, 3]))
    return Elastic(number, time, size, base, base + len(gains), 0, "training", tuple(speeds))


@settings(max_examples=cases(100), deadline=None)
@given(jobs=st.lists(st.integers(), min_size=1, max_size=4), data=st.data(), gpus=st.integers(0, 9))
def test_the_arrays_agree_with_the_exact_method(jobs: list[int], data: st.DataObject, gpus: int) -> None:
    """On one machine the arrays, or the fallback where they cannot, save as much as the exact method."""
    drawn = [data.draw(_elastic(number)) for number in range(len(jobs))]
    epoch = _epoch(*drawn, training=(gpus,) if gpus else ())
    saved = [
        sum(job.time - job.time_with(extras[job.job]) for job in drawn if job.job in extras)
        for extras in (TwoPhase(_EXACT, knapsack=knapsack).extras(epoch) for knapsack in (None, _EXACT))
    ]
    assert saved[0] == pytest.approx(saved[1])
