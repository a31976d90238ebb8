"""Batching: time of the exact division by size, what heuristics lose, and what the printed goal comes to."""

from collections.abc import Callable
from functools import partial
from statistics import mean, median
from typing import Any, Literal

import pytest

from formulations.batching import dp, greedy, milp
from formulations.batching.case import BatchingCase
from gsopt.core.numbers.tolerances import SUM
from gsopt.core.result import Status
from gsopt.performance.batching.split import least_costs, split
from gsopt.problems.batching import Batching
from heuristics.batching import equal_share, marginal, srpt
from instances.batching import elastic_jobs
from tests.benchmarks.measures import tabulate, timed
from tests.exactness import batching as oracle
from tests.strategies.batching import CRITERIA, tiny
from tests.unwrap import unwrap

#: GPUs and jobs.
SIZES = ((16, 20), (64, 60), (256, 200), (512, 500), (2048, 1000))

HEURISTICS: dict[str, Callable[..., Any]] = {
    "marginal": marginal,
    "equal share": equal_share,
    "srpt": srpt,
}


def test_seconds_by_size() -> None:
    """The table of a division takes a small part of the time of the integer program, at every size."""
    rows, ratios = [], []
    for gpus, jobs in SIZES:
        problem = elastic_jobs(gpus=gpus, jobs=jobs, seed=1)
        case, costs = timed(partial(BatchingCase.of, problem), 3)
        filled = partial(least_costs, case.costs, case.gpus)
        (_, plain), (_, compiled) = (timed(partial(filled, compiled=each), 3) for each in (False, True))
        (proof, proven), (_, walked) = (timed(partial(method, problem), 3) for method in (dp, greedy))
        assert proof.status is Status.OPTIMAL
        solver = None
        if jobs <= 200:  # beyond, the integer program takes minutes
            result = milp(problem, gap=SUM, time_limit=60.0)
            assert unwrap(result.objective) >= unwrap(proof.objective)
            solver = result.runtime
            ratios.append(solver / plain)
        row = (costs, plain, compiled, proven, walked, solver)
        rows.append((f"{gpus} x {jobs}", *("" if each is None else f"{1e3 * each:.1f}" for each in row)))
    head = ("GPUs x jobs", "costs", "numpy", "compiled", "with proof", "greedy", "HiGHS")
    tabulate("milliseconds of processor time, all jobs running, Equation 3", head, rows)
    assert min(ratios) > 20


@pytest.mark.parametrize("criterion", CRITERIA)
def test_what_heuristics_lose(criterion: Literal["sruf", "rate", "sum_time"]) -> None:
    """Marginal gains are the best of the simple rules by every criterion, and nobody beats the optimum."""
    forced: tuple[Literal["none", "all"], ...] = ("all",) if criterion == "sum_time" else ("none", "all")
    rows = []
    losses: dict[str, list[float]] = {name: [] for name in HEURISTICS}
    for gpus, jobs in SIZES[:3]:
        for who in forced:
            problems = [
                elastic_jobs(gpus=gpus, jobs=jobs, criterion=criterion, forced=who, seed=seed)
                for seed in range(5)
            ]
            found = {name: [_loss(each, method) for each in problems] for name, method in HEURISTICS.items()}
            cells = [f"{mean(loss):.1%} {max(loss):.1%}" for loss in found.values()]
            rows.append((f"{gpus} x {jobs}", who, *cells))
            for name, loss in found.items():
                losses[name] += loss
    head = ("GPUs x jobs", "forced", *HEURISTICS)
    tabulate(f"{criterion}: distance from the optimum, mean and largest of 5", head, rows)
    assert min(loss for each in losses.values() for loss in each) >= 0
    if criterion != "sruf":
        assert mean(losses["marginal"]) <= min(mean(losses["equal share"]), mean(losses["srpt"]))


def test_what_the_printed_goal_comes_to() -> None:
    """By Equations 3 and 4 a single job has all GPUs if its limit allows it; by the default caps a few have."""
    rows = []
    for gpus in (64, 256, 512):
        options: list[dict[str, Any]] = [
            {"forced": "none", "caps": "batch"},
            {"forced": "none"},
            {"forced": "all"},
        ]
        running = [
            median(_running(elastic_jobs(gpus=gpus, jobs=500, seed=seed, **option)) for seed in range(5))
            for option in options
        ]
        rows.append((str(gpus), *(f"{count:g}" for count in running)))
        assert running[0] <= 3  # where a limit is 512 samples, others join
        assert running[0] <= running[1] < gpus / 8 < running[2] <= gpus
    tabulate("running jobs of 500, median of 5", ("GPUs", "c <= R", "c <= ceil(R / b)", "all forced"), rows)


def test_thousands_of_instances_are_proven() -> None:
    """On 3,000 tiny instances with hard numbers the proven optimum is that of the oracle."""
    for seed in range(10_000, 13_000):
        problem = tiny(seed)
        result = dp(problem)
        assert (result.status, result.objective) == (Status.OPTIMAL, oracle.optimum(problem)), seed


def _loss(problem: Batching, method: Callable[..., Any]) -> float:
    best, found = unwrap(dp(problem).objective), method(problem).objective
    return abs(float(found / best) - 1)


def _running(problem: Batching) -> int:
    case = BatchingCase.of(problem)
    must = [job.name in problem.required for job in problem.jobs]
    return int((split(case.costs, problem.gpus, must=must) > 0).sum())
