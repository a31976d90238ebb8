"""Marginal gains, equal shares and the shortest job first, by hand."""

import pytest

from formulations.batching import dp
from gsopt.batching import BatchingJob, StepTime
from gsopt.method import Method
from gsopt.problems.batching import Batches, Batching
from gsopt.result import Result
from heuristics.batching import equal_share, marginal, srpt
from heuristics.batching.menus import nearest, shortest_first, started
from instances.batching import elastic_jobs
from tests.strategies.batching import CRITERIA

MODEL = StepTime(fixed=0, per_sample=1)


def job(name: str, cap: int, remaining: float, min_gpus: int = 1) -> BatchingJob:
    """Give a job whose speed is its GPUs, up to a cap."""
    return BatchingJob(
        name=name, batch_limit=cap, local_limit=1, throughput=MODEL, remaining=remaining, min_gpus=min_gpus
    )


def gpus_of(result: Result[Batches]) -> dict[str, int]:
    """Give the GPUs of each running job."""
    assert result.solution is not None
    return {name: grant.gpus for name, grant in result.solution.running.items()}


JOBS = (job("long", 6, 100), job("short", 2, 10), job("middle", 6, 40))


@pytest.mark.parametrize(
    ("method", "given"),
    [
        # 1 each; then 40 - 20 s of the middle one, 100 - 50 of the long one first, 20 - 13 and so on
        (marginal, {"long": 4, "short": 1, "middle": 2}),
        (equal_share, {"long": 2, "short": 2, "middle": 3}),
        (srpt, {"long": 1, "short": 2, "middle": 4}),
    ],
)
def test_seven_gpus_by_hand(method: Method, given: dict[str, int]) -> None:
    """Three jobs of linear speed divide seven GPUs: by time gained, evenly, or the shortest first."""
    assert gpus_of(method(Batching(gpus=7, jobs=JOBS, criterion="sum_time"))) == given


@pytest.mark.parametrize("method", [marginal, equal_share, srpt])
def test_fewer_gpus_than_jobs_go_to_the_shortest(method: Method) -> None:
    """On two GPUs the two shortest jobs have one each."""
    assert gpus_of(method(Batching(gpus=2, jobs=JOBS))) == {"short": 1, "middle": 1}


def test_marginal_gains_are_optimal_where_each_is_less() -> None:
    """With linear speeds, where each further GPU saves less time, marginal gains are optimal."""
    for gpus in range(3, 15):
        problem = Batching(gpus=gpus, jobs=JOBS, criterion="sum_time")
        assert marginal(problem).objective == dp(problem).objective


def test_marginal_gains_come_close() -> None:
    """On 64 GPUs and 60 jobs marginal gains are within three per cent of the optimum by every criterion."""
    for criterion in CRITERIA:
        problem = elastic_jobs(gpus=64, jobs=60, criterion=criterion, seed=1)
        best, found = dp(problem).objective, marginal(problem).objective
        assert best is not None
        assert found is not None
        assert abs(float(found / best) - 1) < 0.03


def test_gaps_of_menus_are_made_up_for() -> None:
    """With doublings the nearest division that uses all nine GPUs takes from one job what the other needs."""
    problem = Batching(gpus=9, jobs=[job("a", 9, 5), job("b", 9, 5)], menu="doublings")
    assert sorted(nearest(problem, [4, 4])) == [1, 8]
    for method in (marginal, equal_share, srpt):
        assert sum(gpus_of(method(problem)).values()) == 9


def test_orders_and_beginnings_by_hand() -> None:
    """Jobs are ordered by their time on their fewest GPUs, and only those begin that must run."""
    problem = Batching(gpus=2, jobs=[*JOBS, job("wide", 4, 20, min_gpus=4)])
    assert shortest_first(Batching(gpus=4, jobs=problem.jobs)) == [3, 1, 2, 0]
    assert started(problem) == [0, 1, 1, 0]
