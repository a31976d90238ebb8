"""The default method of shares."""

from typing import Any

import pytest

from formulations.shares import exact, one_type, water_filling
from gsopt.core.result import Result, Status, StoppedBy
from instances.shares import typed_jobs
from tests.effort import cases
from tests.exactness import shares as oracle
from tests.strategies.shares import committed, small, tiny


@pytest.mark.parametrize("problem", committed(), ids=lambda problem: problem.name)
def test_proves_every_small_instance(problem: Any) -> None:
    """On every committed small instance value and bound lie around the optimum of the oracle."""
    result, best = exact(problem), oracle.optimum(problem)
    least, most = best if isinstance(best, tuple) else (best, best)
    assert result.status is Status.OPTIMAL
    assert result.bound is not None
    assert result.objective is not None
    low, high = min(result.bound, result.objective), max(result.bound, result.objective)
    assert low <= most
    assert high >= least


def test_proves_the_optimum_of_hard_numbers() -> None:
    """With numbers hard on floats every optimum is proven, and is that of the oracle to a billionth."""
    for seed in range(cases(200)):
        problem = tiny(seed)
        result, best = exact(problem), oracle.optimum(problem)
        near = best[0] if isinstance(best, tuple) else best
        assert result.status is Status.OPTIMAL, seed
        assert float(result.objective or 0) == pytest.approx(float(near), rel=2e-9, abs=0), seed


def test_the_message_says_which_technique_it_was() -> None:
    """One type needs no solver; several need linear programs; a job alone nothing."""
    assert exact(typed_jobs(types=1, seed=1)).message == "closed form"
    found = exact(typed_jobs(types=2, seed=1))
    assert (found.message, found.solver) == ("linear programs", "highs")
    assert exact(small("one-job")).message in {"isolated shares", "linear programs"}


def test_fast_gpus_go_to_whom_they_help() -> None:
    """By hand: b is on the fast GPU for 6/7 of the time and does 10/7 steps per second, and so does a."""
    result = exact(small("fast-gpus-to-whom-they-help"))
    assert result.objective == pytest.approx(0.7)
    assert result.solution is not None
    assert result.solution.shares["b"].get("v100", 0) == pytest.approx(6 / 7)


@pytest.mark.parametrize("criterion", ["max_min", "finish_time", "makespan", "fifo"])
def test_as_many_jobs_as_a_cluster_has_are_proven(criterion: Any) -> None:
    """A hundred and sixty jobs on sixty-three GPUs of three types are proven to far more than a billionth."""
    problem = next(
        each for each in committed("production") if each.criterion == criterion and len(each.jobs) == 160
    )
    result = exact(problem)
    assert result.status is Status.OPTIMAL
    assert result.gap is not None
    assert result.gap < 1e-11


def test_out_of_time_there_are_isolated_shares() -> None:
    """Without any time the isolated shares come back, with the bound as if every job were alone."""
    problem = typed_jobs(jobs=40, seed=2)
    result = exact(problem, time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert result.solution == problem.fitted(problem.isolated_shares)
    assert result.bound is not None


def test_the_asked_gap_is_enough() -> None:
    """With a gap that the isolated shares meet no solver is asked."""
    result = exact(typed_jobs(jobs=3, seed=1), gap=10.0)
    assert (result.stopped_by, result.solver) == (StoppedBy.GAP, "")


def test_callers_hear_of_better_shares_and_may_stop() -> None:
    """Each better solution is told; True ends the method with it."""
    problem, heard = typed_jobs(jobs=20, criterion="finish_time", seed=3), list[Result[Any]]()
    best = exact(problem, on_incumbent=heard.append)
    values = [result.objective for result in heard]
    assert len(values) >= 2
    assert values == sorted(values, reverse=True)  # type: ignore[type-var]
    assert values[-1] == best.objective
    stopped = exact(problem, on_incumbent=lambda _result: True)
    assert (stopped.stopped_by, stopped.objective) == (StoppedBy.INTERRUPT, values[0])


def test_a_start_is_never_lost() -> None:
    """An optimum that is given comes back, also without time."""
    problem = typed_jobs(jobs=20, criterion="makespan", seed=3)
    best = exact(problem)
    assert exact(problem, start=best.solution, time_limit=0.0).objective == best.objective


def test_two_techniques_agree_on_one_type() -> None:
    """Closed forms and linear programs have one value."""
    for seed in range(cases(20)):
        problem = typed_jobs(jobs=9, types=1, seed=seed)
        first, second = one_type(problem), water_filling(problem)
        assert first.status is second.status is Status.OPTIMAL
        assert first.objective == pytest.approx(second.objective, rel=2e-9)
