"""Certified gaps of many jobs: schedules from lists of segments above, prices of GPU time below.

The traces are read from the folder that GSOPT_DATA names; without it their rows are left out, saying so.
"""

from collections.abc import Callable, Iterator
from functools import partial
from statistics import fmean
from time import perf_counter, process_time
from typing import NamedTuple

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import gsopt
from formulations.scheduling import exact
from formulations.scheduling.annealing import Annealing, timetable
from formulations.scheduling.instance import Instance
from formulations.scheduling.listing import serve_list
from formulations.scheduling.segments import Segments
from gsopt.evaluation.catalogue import demo_workload, heuristics
from gsopt.evaluation.solve import solve
from gsopt.problems.scheduling import Scheduling
from instances.scheduling import elastic_jobs
from instances.scheduling.from_workload import from_workload
from instances.traces.ares import GPUS, ares
from tests.benchmarks.measures import data, once, tabulate
from tests.unwrap import unwrap

pytestmark = pytest.mark.slow

#: Seconds for value and bound together, and for the policies' sake.
LIMIT, SHORT = 60.0, 1.0

#: Part by which a schedule may be worse than the one it starts from: what rounding the replay of it comes to.
ROUNDING = 1e-9

#: How far processor seconds may be beyond a limit.
BEYOND = 0.5


class Case(NamedTuple):
    """A problem, and the gap that must be proven of it."""

    make: Callable[[], Scheduling]
    gap: float


def _traced(trace: str) -> Scheduling:
    reading = ares(data(), trace=trace, number=1, halvings=1)
    return from_workload(reading.workload, gpus=GPUS)


def _philly_day() -> Scheduling:
    data()
    workload, gpus = demo_workload()
    return from_workload(workload, gpus=gpus)


CASES = {
    "100 jobs, 64 GPUs": Case(partial(elastic_jobs, jobs=100, gpus=64, load=1.2, seed=1), 0.04),
    "320 jobs, 64 GPUs": Case(partial(elastic_jobs, jobs=320, gpus=64, load=1.2, seed=1), 0.04),
    "100 jobs, 16 GPUs": Case(partial(elastic_jobs, jobs=100, gpus=16, load=1.2, seed=2), 0.10),
    "Sia's Philly, one halving": Case(partial(_traced, "philly"), 0.01),
    "newTrace, one halving": Case(partial(_traced, "newtrace"), 0.05),
    "a day of Philly, rigid": Case(_philly_day, 0.01),
}


@pytest.mark.benchmark(group="scheduling: certified gaps")
@pytest.mark.parametrize("name", CASES)
def test_certified_gaps(benchmark: BenchmarkFixture, name: str) -> None:
    """In a minute, value and bound together, the gap is what is demanded."""
    case = CASES[name]
    problem = case.make()
    gsopt.warm_up()
    spent = process_time()
    result = once(benchmark, lambda: exact(problem, time_limit=LIMIT))
    spent = process_time() - spent
    tabulate(
        f"scheduling: {name}, {LIMIT:g} s",
        ("jobs", "value", "bound", "gap %", "processor seconds"),
        [
            (
                str(len(problem.jobs)),
                f"{float(unwrap(result.objective)):,.1f}",
                f"{float(result.bound or 0):,.1f}",
                f"{100 * unwrap(result.gap):.2f}",
                f"{spent:.1f}",
            )
        ],
    )

    assert unwrap(result.gap) <= case.gap
    assert spent <= LIMIT + BEYOND


def _workloads() -> Iterator[Scheduling]:
    """Draw 50 workloads of 50 to 500 jobs, every fourth one rigid."""
    for seed in range(50):
        problem = elastic_jobs(
            jobs=50 + 9 * seed,
            gpus=(16, 32, 64)[seed % 3],
            load=(0.7, 1.2, 2.0, 0.9, 1.5)[seed % 5],
            scaling="linear" if seed % 7 == 3 else "concave",
            seed=seed,
        )
        if seed % 4 == 1:
            jobs = tuple(
                job.model_copy(update={"rates": {job.demand: job.rates[job.demand]}}) for job in problem.jobs
            )
            problem = problem.model_copy(update={"jobs": jobs})
        yield problem


@pytest.mark.benchmark(group="scheduling: many jobs and the policies")
def test_no_policy_is_better(benchmark: BenchmarkFixture) -> None:
    """On fifty workloads no shipped policy is better than the default method, by itself or from their start."""
    gsopt.warm_up()
    rows = once(benchmark, lambda: list(map(_held_against_policies, _workloads())))
    tabulate(
        f"scheduling: fifty workloads of 50 to 500 jobs, {SHORT:g} s",
        ("", "mean"),
        [
            (
                "best policy above exact alone, %",
                f"{100 * fmean(row.best / row.alone - 1 for row in rows):.1f}",
            ),
            ("best policy above solve, %", f"{100 * fmean(row.best / row.started - 1 for row in rows):.1f}"),
            ("gap of solve, %", f"{100 * fmean(row.gap for row in rows):.1f}"),
            ("workloads on which exact alone is worse", str(sum(row.alone > row.best for row in rows))),
            ("most processor seconds", f"{max(row.spent for row in rows):.2f}"),
        ],
    )

    assert all(row.started <= row.best * (1 + ROUNDING) for row in rows)
    assert all(row.alone <= row.best * (1 + ROUNDING) for row in rows)
    assert max(row.spent for row in rows) <= SHORT + BEYOND


class Held(NamedTuple):
    """Values of a workload: of the best policy, of `exact` alone, and of `gsopt.solve`, with its gap."""

    best: float
    alone: float
    started: float
    gap: float
    spent: float


def _held_against_policies(problem: Scheduling) -> Held:
    best = min(float(policy(problem).objective or 0) for policy in heuristics("scheduling").values())
    alone = exact(problem, time_limit=SHORT)
    spent = process_time()
    started = solve(problem, exact, time_limit=SHORT)
    spent = process_time() - spent
    return Held(best, float(alone.objective or 0), float(started.objective or 0), started.gap or 0.0, spent)


@pytest.mark.benchmark(group="scheduling: kernels of lists")
def test_kernels_agree_with_the_naive_schedule(benchmark: BenchmarkFixture) -> None:
    """On two thousand instances the annealed list costs what the schedule made without kernels does."""

    def differences() -> list[float]:
        found = []
        for seed in range(2_000):
            gpus, load = (4, 8, 16, 64)[seed % 4], (0.2, 0.7, 1.5)[seed % 3]
            instance = Instance.of(elastic_jobs(jobs=5 + seed % 40, gpus=gpus, load=load, seed=seed))
            segments, search = Segments.of(instance), Annealing(instance, seed=seed)
            search.improve(300)
            naive = serve_list(instance, segments, search.names.tolist())
            assert timetable(instance, segments, search.names) == naive
            found.append(abs(search.cost / naive.total - 1))
        return found

    assert max(once(benchmark, differences)) <= 1e-9


@pytest.mark.benchmark(group="scheduling: rate of annealing")
def test_steps_in_a_second(benchmark: BenchmarkFixture) -> None:
    """Of 100 jobs on 64 GPUs twenty thousand lists, at least, are tried in a processor second."""
    instance = Instance.of(elastic_jobs(jobs=100, gpus=64, load=1.2, seed=1))
    search = Annealing(instance)
    search.improve(10)
    spent, begin = process_time(), perf_counter()
    once(benchmark, partial(search.improve, 50_000))
    spent, seconds = process_time() - spent, perf_counter() - begin
    tabulate(
        "scheduling: annealing of 100 jobs",
        ("steps in a processor second", "in a second"),
        [(f"{50_000 / spent:,.0f}", f"{50_000 / seconds:,.0f}")],
    )

    assert spent <= 2.5
