"""The heuristics of shares."""

from typing import get_args

import pytest

from formulations.shares import exact
from gsopt.core.errors import InvalidInput
from gsopt.core.method import Method
from gsopt.core.result import Status
from gsopt.evaluation.catalogue import heuristics
from gsopt.problems.shares import Criterion, Shares, TypedJob
from heuristics.shares import equal_time, isolated, progressive_filling, queue
from instances.shares import typed_jobs
from tests.heuristics.results import solved
from tests.strategies.shares import alike, committed, small


def test_everybody_runs_alike() -> None:
    """On four GPUs, jobs that ask for five run four fifths of the time."""
    solution = solved(equal_time(alike({}, {"gpus": 4}, gpus=4)))
    assert solution.shares == {"a": {"v100": 0.8}, "b": {"v100": 0.8}}


def test_nobody_runs_more_than_always() -> None:
    """Where there are GPUs to spare all run all the time."""
    solution = solved(equal_time(alike({}, {}, gpus=8)))
    assert solution.shares["a"] == {"v100": 1.0}


def test_large_jobs_run_less() -> None:
    """Of four GPUs two jobs have two each: the one that needs four runs half of the time."""
    solution = solved(isolated(alike({}, {"gpus": 4}, gpus=4)))
    assert solution.shares == {"a": {"v100": 1.0}, "b": {"v100": 0.5}}


def test_finish_times_in_isolated_shares_are_one() -> None:
    """Whoever has always had its isolated shares, and keeps them, is as far as it is compared with."""
    problem = alike({"steps": 30.0}, {"steps": 50.0, "age": 7.0, "isolated": 7.0}, criterion="finish_time")
    assert isolated(problem).objective == 1


def test_the_first_that_does_not_fit_holds_up_all() -> None:
    """The third job would fit, but the second, which does not, comes first."""
    solution = solved(queue(alike({"gpus": 2}, {"gpus": 3}, {}, gpus=4, criterion="fifo")))
    assert set(solution.shares) == {"a"}


def test_the_fastest_type_with_room_is_taken() -> None:
    """The first job takes the fast GPU, the second what is left."""
    solution = solved(queue(small("runs-on-one-type-only")))
    assert solution.shares == {"a": {"v100": 1.0}, "b": {"k80": 1.0}}


def test_without_an_end_there_is_no_solution() -> None:
    """Where completion counts and somebody waits there is no solution; where all fit there is."""
    waiting = queue(alike({}, {}, gpus=1, criterion="makespan"))
    assert (waiting.status, waiting.message) == (Status.UNKNOWN, "jobs that wait would never end")
    assert queue(alike({}, {}, gpus=2, criterion="makespan")).objective == 1


def test_levels_rise_together() -> None:
    """On one type levels end within a part of each other, and the water level is met."""
    result = progressive_filling(alike({"weight": 3.0}, {}, gpus=1), parts=1000)
    assert float(result.objective or 0) == pytest.approx(0.25, rel=0.01)


@pytest.mark.parametrize("criterion", get_args(Criterion))
def test_it_is_better_than_isolated_shares_and_worse_than_the_best(criterion: Criterion) -> None:
    """Over ten instances it is on average between isolated shares and the optimum."""
    found = [0.0, 0.0, 0.0]
    for seed in range(10):
        problem = typed_jobs(jobs=12, criterion=criterion, seed=seed)
        best = float(exact(problem).objective or 0)
        for place, method in enumerate((isolated, progressive_filling)):
            found[place] += abs(float(method(problem).objective or 0) / best - 1)
    assert found[1] < found[0]


def test_parts_are_checked() -> None:
    """There is at least one part and no more than ten thousand."""
    for parts in (0, 10_001):
        with pytest.raises(InvalidInput, match=f"parts: {parts}: must be between 1 and 10,000"):
            progressive_filling(alike({}), parts=parts)


def test_a_job_without_time_is_no_solution_where_times_count() -> None:
    """GPUs that are gone before all jobs have some are no solution by completion times, and one by rates."""
    jobs = [TypedJob(name=f"j{each}", throughputs={"v100": 1.0}, steps=9.0) for each in range(150)]
    problem = Shares(gpus={"v100": 1}, jobs=jobs, criterion="makespan")
    assert progressive_filling(problem).message == "jobs without time would never end"
    assert progressive_filling(problem.model_copy(update={"criterion": "max_min"})).objective == 0


HEURISTICS = heuristics("shares")


@pytest.mark.parametrize("method", HEURISTICS.values(), ids=HEURISTICS.keys())
def test_divides_time_on_every_small_instance(method: Method) -> None:
    """Every heuristic finds shares that break no rule, and none that are better than the proven bound."""
    for problem in committed():
        found, bound = method(problem), exact(problem).bound
        assert bound is not None
        if found.objective is not None:
            assert not problem.sense.better(found.objective, bound), problem.name


def test_the_fastest_come_first() -> None:
    """A short time limit leaves out the searches that take the longest."""
    assert list(HEURISTICS)[-2:] == ["progressive_filling", "pop"]
