"""What the exact methods of waiting prove in which time, and how far policies are from the offline optimum."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from math import inf
from statistics import fmean, median
from time import perf_counter
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from formulations.waiting import exact, intervals, time_indexed
from formulations.waiting.best import BestRuns
from formulations.waiting.instance import SlottedInstance
from formulations.waiting.listing import search_lists
from formulations.waiting.time_indexed import solve_relaxation
from gsopt.core.budget import Budget
from gsopt.core.result import Result, Status
from gsopt.evaluation.solve import best_of_heuristics
from gsopt.problems.waiting import Waiting, WaitingSolution
from heuristics.waiting import best_tier, break_even, dally, fifo_skipping
from instances.waiting import tier_jobs
from tests.benchmarks.measures import once, tabulate, timed
from tests.unwrap import unwrap

pytestmark = pytest.mark.slow

Policy = Callable[[Waiting], Result[WaitingSolution]]

#: Seconds for each instance, and instances of each kind in the table of policies.
LIMIT, INSTANCES = 60.0, 25

#: Waits for a machine and for a rack, in seconds: as 12 and 24 hours are to jobs of half a day.
DELAYS = (12.0, 24.0)

POLICIES: Mapping[str, Policy] = {
    "no wait": partial(dally, timers="none"),
    "manual 12/24": partial(dally, timers="manual", delays=DELAYS),
    "manual 12/24, offer clock": partial(dally, timers="manual", delays=DELAYS, clock="offer"),
    "tuned": partial(dally, timers="auto", delays=DELAYS),
    "fully consolidated": partial(dally, timers="consolidated"),
    "break-even": break_even,
    "break-even, starvation clock": partial(break_even, clock="starvation"),
    "first in, first out, skipping": fifo_skipping,
    "best tier, shortest first": best_tier,
}


@pytest.mark.benchmark(group="waiting: proofs on 2 racks of 2 machines of 4 GPUs")
@pytest.mark.parametrize(("minimize", "jobs"), [("makespan", 10), ("mean_jct", 10), ("mean_jct", 12)])
@pytest.mark.parametrize("powers_of_two", [True, False], ids=["powers of two", "any demand"])
def test_proofs(benchmark: BenchmarkFixture, minimize: Any, jobs: int, powers_of_two: bool) -> None:
    """Each method's share of proofs and its times; makespans are all proven, means where demands divide."""
    problems = [
        tier_jobs(jobs=jobs, minimize=minimize, powers_of_two=powers_of_two, seed=seed) for seed in range(5)
    ]
    shown = []
    rows = once(
        benchmark,
        lambda: {
            method.__name__: [
                timed(partial(method, problem, time_limit=LIMIT), clock=perf_counter) for problem in problems
            ]
            for method in (exact, time_indexed, intervals)
        },
    )
    for name, row in rows.items():
        times = [seconds for _, seconds in row]
        proven = sum(result.status is Status.OPTIMAL for result, _ in row)
        gap = max(result.gap or 0.0 for result, _ in row)
        shown.append((name, f"{proven}/5", f"{median(times):.1f}", f"{max(times):.1f}", f"{100 * gap:.1f} %"))
    tabulate("", ("method", "proven", "median (s)", "worst (s)", "largest gap"), shown)

    for results in zip(*rows.values(), strict=True):
        proven_values = {result.objective for result, _ in results if result.status is Status.OPTIMAL}
        assert len(proven_values) <= 1
    proofs = sum(result.status is Status.OPTIMAL for result, _ in rows["exact"])
    assert proofs >= (len(problems) if minimize == "makespan" else 4 if powers_of_two else 0)


@pytest.mark.benchmark(group="waiting: schedules that need a move, with HiGHS alone")
def test_conflicts(benchmark: BenchmarkFixture) -> None:
    """Ruling out what needs a move makes the relaxation exact: 21 s become 127 / 6 s."""
    best = BestRuns(SlottedInstance.of(tier_jobs(jobs=6, seed=0)), Budget(), "relaxation")
    search_lists(best)
    once(benchmark, partial(solve_relaxation, best, conflicts=inf))

    assert best.value == best.bound == Fraction(127, 6)


@pytest.mark.benchmark(group="waiting: policies against the offline optimum, 8 jobs on 16 GPUs")
@pytest.mark.parametrize("minimize", ["makespan", "mean_jct"])
@pytest.mark.parametrize("arrivals", ["batch", "poisson"])
def test_policies(benchmark: BenchmarkFixture, arrivals: Any, minimize: Any) -> None:
    """Mean and largest ratio of each policy's value to the optimum, or to the best found where that is open."""
    problems = [
        tier_jobs(jobs=8, arrivals=arrivals, minimize=minimize, powers_of_two=True, seed=seed)
        for seed in range(INSTANCES)
    ]

    def optimum(problem: Waiting) -> Result[WaitingSolution]:
        start = best_of_heuristics(problem, Budget())
        return exact(problem, budget=Budget(time_limit=LIMIT, start=start))

    best = once(benchmark, lambda: list(map(optimum, problems)))
    proven = sum(result.status is Status.OPTIMAL for result in best)
    ratios = {
        name: [_ratio(policy(p), b) for p, b in zip(problems, best, strict=True)]
        for name, policy in POLICIES.items()
    }
    rows = [(name, f"{fmean(own):.3f}", f"{max(own):.2f}") for name, own in ratios.items()]
    tabulate("", (f"{arrivals}, {minimize}: {proven}/{INSTANCES} proven", "mean", "largest"), rows)

    assert all(ratio >= 1 for own in ratios.values() for ratio in own)
    assert proven >= INSTANCES - 2
    assert fmean(ratios["break-even"]) < fmean(ratios["no wait"])


def _ratio(found: Result[WaitingSolution], best: Result[WaitingSolution]) -> float:
    return float(unwrap(found.objective) / unwrap(best.objective))
