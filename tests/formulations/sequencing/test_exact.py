"""The default method of sequencing."""

from random import Random
from typing import Any

import pytest

from formulations.sequencing import exact, paths
from gsopt.core.result import Result, Status, StoppedBy
from gsopt.problems.sequencing import Machine, Sequencing
from heuristics.sequencing import earliest_end
from instances.sequencing import unit_jobs
from instances.suites import changed
from tests.effort import cases
from tests.strategies.sequencing import alike, committed, small


@pytest.mark.parametrize("problem", committed(), ids=lambda problem: problem.name)
def test_proves_every_small_instance(problem: Any) -> None:
    """On every committed small instance value and bound are what enumeration found."""
    result = exact(problem)
    assert result.status is Status.OPTIMAL
    assert result.objective == result.bound
    assert float(result.objective or 0) == problem.about.objective


@pytest.mark.parametrize("problem", committed("production"), ids=lambda problem: problem.name)
def test_proves_what_a_cluster_has(problem: Any) -> None:
    """A hundred and sixty jobs on sixty-four GPUs are proven in doubles, with what is on record."""
    result = exact(problem)
    assert (result.status, result.message) == (Status.OPTIMAL, "assignment")
    assert float(result.objective or 0) == problem.about.objective


def test_the_message_says_which_technique_it_was() -> None:
    """A job alone needs none, few digits need the prices, and what doubles cannot tell apart the paths."""
    assert exact(small("one-job")).message == "shortest first"
    assert exact(unit_jobs(jobs=30, seed=1)).message == "assignment"
    assert exact(indistinct(3)).message == "augmenting paths"


def indistinct(seed: int) -> Sequencing:
    """Return jobs that differ by less than doubles of their sums can tell."""
    random = Random(seed)
    problem = unit_jobs(jobs=12, gpus=1, types=3, seed=seed)
    jobs = [
        job.model_copy(update={"seconds": {k: 1e6 + random.randint(0, 9) * 2**-33 for k in job.seconds}})
        for job in problem.jobs
    ]
    return changed(problem, jobs=jobs)


def test_both_techniques_agree() -> None:
    """The assignment with its proof and the paths have one value, also where seconds are nearly equal."""
    for seed in range(cases(16)):
        drawn = unit_jobs(jobs=15, gpus=2, busy=0.5, speedup=1 + seed % 3, seed=seed)
        for problem in (drawn, indistinct(seed)):
            first, second = exact(problem), paths(problem)
            assert first.status is second.status is Status.OPTIMAL
            assert first.objective == second.objective


def test_on_machines_that_are_alike_the_shortest_come_first() -> None:
    """On machines of one type that are all free, shortest first is the optimum."""
    for seed in range(cases(16)):
        problem = unit_jobs(jobs=20, gpus=1 + seed % 6, types=1, seed=seed)
        assert exact(problem).objective == earliest_end(problem).objective


def test_longer_jobs_give_no_smaller_total() -> None:
    """Machines that are free later, and one machine fewer, make no total smaller."""
    for seed in range(cases(8)):
        problem = unit_jobs(jobs=9, gpus=2, types=2, busy=0.5, seed=seed)
        best = exact(problem).objective
        assert best is not None
        later = [
            Machine(name=each.name, gpu_type=each.gpu_type, available=each.available + 5)
            for each in problem.machines
        ]
        for harder in (changed(problem, machines=later), changed(problem, machines=problem.machines[1:])):
            found = exact(harder).objective
            assert found is not None
            assert found >= best


def test_out_of_time_there_are_the_shortest_first() -> None:
    """Without any time the shortest jobs first come back, with the bound as if every job were alone."""
    problem = unit_jobs(jobs=40, seed=2)
    result = exact(problem, time_limit=0.0)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert result.objective == earliest_end(problem).objective
    assert result.bound is not None


def test_callers_hear_of_better_orders_and_may_stop() -> None:
    """Each better solution is told; True ends the method with it."""
    problem, heard = unit_jobs(jobs=40, seed=3), list[Result[Any]]()
    best = exact(problem, on_incumbent=heard.append)
    assert [result.objective for result in heard] == [earliest_end(problem).objective, best.objective]
    stopped = exact(problem, on_incumbent=lambda _result: True)
    assert (stopped.stopped_by, stopped.objective) == (StoppedBy.INTERRUPT, heard[0].objective)


def test_a_start_is_never_lost() -> None:
    """An optimum that is given comes back, also without time."""
    problem = unit_jobs(jobs=20, seed=3)
    best = exact(problem)
    assert exact(problem, start=best.solution, time_limit=0.0).objective == best.objective


def test_many_jobs_on_one_machine() -> None:
    """More jobs than positions that are looked at first are all run."""
    result = exact(alike(8, 7, 6, 5, 4, 3, 2, 1, available=2.0))
    assert result.status is Status.OPTIMAL
    assert result.objective == 8 * 2 + sum(k * each for k, each in enumerate(range(8, 0, -1), start=1))
