"""Steps along the hulls, and their proof by a price."""

from itertools import pairwise

import numpy as np

from formulations.batching import dp, greedy
from formulations.batching.beginning import begin
from formulations.batching.case import Case
from formulations.batching.greedy import hull, walk_hulls
from gsopt.core.budget import Budget
from gsopt.core.problem import Sense
from gsopt.core.result import Status, StoppedBy
from gsopt.performance.batching import BatchingJob, Rate, Tabulated
from gsopt.problems.batching import Batching
from instances.batching import elastic_jobs
from tests.effort import cases
from tests.exactness import batching as oracle
from tests.strategies.batching import CRITERIA, tiny


def test_what_is_called_optimal_is() -> None:
    """On 500 instances with hard numbers bounds hold and proven values are optima, which most are."""
    proven, tried = 0, cases(500)
    for seed in range(tried):
        problem = tiny(seed)
        result, best = greedy(problem), oracle.optimum(problem)
        assert best is not None
        assert result.bound is not None
        assert not problem.sense.better(best, result.bound), seed
        assert (result.status is Status.OPTIMAL) == (result.objective == result.bound), seed
        assert result.status is not Status.OPTIMAL or result.objective == best, seed
        proven += result.status is Status.OPTIMAL
    assert proven > tried * 0.8


def test_convex_costs_are_proven() -> None:
    """Where each further GPU gains less than the one before the steps alone are the proof, at any number."""
    rates = {1: 100.0, 2: 180.0, 3: 240.0, 4: 280.0, 5: 300.0}
    table = Tabulated(rates=[Rate(batch_size=64, gpus=c, samples_per_second=x) for c, x in rates.items()])
    jobs = [
        BatchingJob(name=f"j{k}", batch_limit=64, local_limit=64, throughput=table, remaining=1e4 * (k + 1))
        for k in range(5)
    ]
    for gpus in range(1, 26):
        problem = Batching(gpus=gpus, jobs=jobs, criterion="rate", caps="batch", forced="none")
        result = greedy(problem)
        assert (result.status, result.message) == (Status.OPTIMAL, "greedy"), gpus
        assert result.objective == dp(problem).objective


def test_a_step_that_is_too_long_leaves_a_gap() -> None:
    """One job wants two GPUs or none: with three for two such jobs there is a bound, and no proof."""
    table = Tabulated(
        rates=[
            Rate(batch_size=64, gpus=1, samples_per_second=1.0),
            Rate(batch_size=64, gpus=2, samples_per_second=100.0),
        ]
    )
    jobs = [
        BatchingJob(name=name, batch_limit=64, local_limit=64, throughput=table, remaining=1e4) for name in "ab"
    ]
    problem = Batching(gpus=3, jobs=jobs, criterion="rate", forced="none", caps="batch")
    result = greedy(problem)
    assert (result.status, result.message) == (Status.FEASIBLE, "greedy, not proven")
    assert result.objective == dp(problem).objective
    assert problem.sense is Sense.MAXIMIZE


def test_large_clusters_are_nearly_solved() -> None:
    """On 256 GPUs and 200 jobs the gap is below a per cent, by every criterion with all jobs running."""
    for criterion in CRITERIA:
        result = greedy(elastic_jobs(gpus=256, jobs=200, criterion=criterion, seed=2))
        assert result.gap is not None
        assert result.gap < 0.01


def test_hulls_are_convex_and_below() -> None:
    """Slopes rise, the steps lead from the fewest to the most GPUs, and no cost lies below."""
    random = np.random.default_rng(3)
    for _ in range(cases(200)):
        row = random.normal(size=random.integers(1, 12))
        row[random.random(row.size) < 0.3] = np.inf
        allowed = np.flatnonzero(row < np.inf)
        if not allowed.size:
            continue
        steps = list(hull(row, 0))
        assert all(first.slope < last.slope for first, last in pairwise(steps))
        corner, height = int(allowed[0]), float(row[allowed[0]])
        for step in steps:
            places = np.arange(corner, corner + step.gpus + 1)
            assert (row[places] >= height + step.slope * (places - corner) - 1e-9).all()
            corner, height = corner + step.gpus, float(row[corner + step.gpus])
        assert corner == allowed[-1]


def test_without_time_what_is_known_is_kept() -> None:
    """Where time is over before all hulls are known the first division stays, with its bound."""
    case, late = Case.of(elastic_jobs(gpus=64, jobs=60, seed=1)), Budget(time_limit=0.0)
    first, _ = begin(case, Budget(), "greedy")
    found = walk_hulls(case, late, first)
    assert (found.solution, found.bound, found.stopped_by) == (
        first.solution,
        first.bound,
        StoppedBy.TIME_LIMIT,
    )
