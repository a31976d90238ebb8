"""The dynamic programme and its proof in exact numbers."""

import sys

import numpy as np
import pytest

from formulations.batching import dp, milp
from formulations.batching.beginning import begin
from formulations.batching.case import Case
from formulations.batching.dp import fill, filled_table
from gsopt.core.budget import Budget
from gsopt.core.enumeration import brute_force
from gsopt.core.numbers.tolerances import SUM
from gsopt.core.result import Status, StoppedBy
from gsopt.performance.batching import BatchingJob, StepTime
from gsopt.problems.batching import Batching
from instances.batching import elastic_jobs
from tests.effort import cases
from tests.exactness import batching as oracle
from tests.processes import PATIENCE
from tests.strategies.batching import CRITERIA, drawn_costs, tiny


def test_proves_the_optimum_of_hard_numbers() -> None:
    """On 1,000 instances with numbers that are hard on floats the optimum is proven that the oracle finds."""
    for seed in range(cases(1000)):
        problem = tiny(seed)
        result = dp(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem)), seed


def test_judging_every_decision_finds_nothing_better() -> None:
    """On instances of few options the optimum is that of brute force by the judge."""
    checked = 0
    for seed in range(cases(300)):
        problem = tiny(5000 + seed)
        if sum(len(counts) for counts in problem.counts) <= 5:
            found = brute_force(problem)
            assert found is not None
            assert dp(problem).objective == found[0], seed
            checked += 1
    assert checked > cases(300) / 4


def test_an_integer_program_finds_the_same() -> None:
    """On 12 GPUs and 6 jobs HiGHS finds the same exact number, and proves it where numbers allow it."""
    for criterion in CRITERIA[:2]:
        problem = elastic_jobs(gpus=12, jobs=6, criterion=criterion, reconfiguration=0.001, seed=3)
        mine, other = dp(problem), milp(problem)
        assert mine.status is Status.OPTIMAL
        assert mine.objective == other.objective, criterion
        assert other.gap is not None
        assert other.gap < SUM
        assert (other.status is Status.OPTIMAL) == (criterion != "rate")  # whose costs have no step


def test_equal_jobs_are_proven() -> None:
    """Of thirty jobs that are alike any may have more GPUs than others; the value is proven."""
    model = StepTime(fixed=0.01, per_sample=0.001)
    jobs = [
        BatchingJob(name=f"j{k}", batch_limit=500, local_limit=100, throughput=model, remaining=1e5)
        for k in range(30)
    ]
    result = dp(Batching(gpus=77, jobs=jobs, criterion="rate"))
    assert (result.status, result.message) == (Status.OPTIMAL, "dp")


def test_last_digits_are_told_apart() -> None:
    """Of two jobs that differ in the last digit of doubles the better one has the only GPU."""
    model = StepTime(fixed=1, per_sample=1)
    left = (1e14, 1e14 + 2**-6)
    jobs = [
        BatchingJob(name=f"j{k}", batch_limit=1, local_limit=1, throughput=model, remaining=each)
        for k, each in enumerate(left)
    ]
    for order, better in ((jobs, "j0"), (jobs[::-1], "j0")):
        result = dp(Batching(gpus=1, jobs=order, criterion="rate", forced="none"))
        assert result.solution is not None
        assert list(result.solution.running) == [better]
        assert result.status is Status.OPTIMAL


def test_without_time_what_is_known_is_kept() -> None:
    """Where time is over before the tables are full the first division stays, with its bound."""
    problem = elastic_jobs(gpus=64, jobs=60, seed=1)
    case, late = Case.of(problem), Budget(time_limit=0.0)
    first, ended = begin(case, Budget(), "dp")
    assert not ended
    found = fill(case, late, first)
    assert (found.solution, found.bound) == (first.solution, first.bound)
    assert (found.status, found.stopped_by) == (Status.FEASIBLE, StoppedBy.TIME_LIMIT)
    assert filled_table(np.zeros((1, 1)), 1, late) is None


def test_a_table_filled_in_parts_is_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a time limit a job's row is filled part by part, and the same in the end."""
    monkeypatch.setattr(sys.modules["formulations.batching.dp"], "_CHUNK", 40)
    for seed in range(20):
        costs, gpus = drawn_costs(np.random.default_rng(seed))
        whole, parts = (filled_table(costs, gpus, Budget(time_limit=limit)) for limit in (None, PATIENCE))
        assert whole is not None
        assert parts is not None
        assert np.array_equal(whole, parts), seed
