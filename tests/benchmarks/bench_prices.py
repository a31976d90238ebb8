"""What the bound by prices proves, and in which processor time: workloads of the papers, and tiny ones.

The values are those of the best schedules that are known. A bound above one of them would be wrong.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import product
from random import Random
from time import process_time
from typing import Any, NamedTuple

import pytest
from rich.console import Console

from formulations.scheduling import event_orders
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule.bounds.prices import PriceBound, price_bound
from gsopt.simulation import replay
from heuristics import policies
from instances.scheduling import elastic_jobs
from tests.benchmarks.measures import ares_scenario, once, philly_scenario, timed
from tests.strategies.scheduling import tiny

pytestmark = pytest.mark.slow

#: Tiny instances of each kind, and how far rounding may bring a bound above an optimum that a solver gives.
TINY, ROUNDING = 1_000, 1e-6


class Row(NamedTuple):
    """A workload on its cluster, the best mean job completion time known, and what is demanded of the bound.

    Without a value, it is that of the best policy. The bound may take some evaluations, after which the gap,
    (value - bound) / value, may be no larger.
    """

    name: str
    scenario: Callable[[], Scenario]
    value: float | None
    gap: float
    evaluations: int


def _generated(jobs: int, gpus: int, seed: int) -> Callable[[], Scenario]:
    return lambda: elastic_jobs(jobs=jobs, gpus=gpus, load=1.2, seed=seed).scenario


ROWS = [
    Row("elastic_jobs(100, 64)", _generated(100, 64, 1), 818.5, 0.04, 900),
    Row("elastic_jobs(320, 64)", _generated(320, 64, 1), 1_677.7, 0.04, 900),
    Row("elastic_jobs(100, 16)", _generated(100, 16, 2), 2_567.5, 0.10, 900),
    Row("Sia Philly 1, one halving", partial(ares_scenario, "philly"), 1_439.1, 0.01, 900),
    Row("Sia newTrace 1, one halving", partial(ares_scenario, "newtrace"), 2_650.0, 0.05, 900),
    Row("Philly day 50, 128 GPUs", partial(philly_scenario, 128, 50), 13_619, 0.01, 900),
    Row("Philly day 30, 512 GPUs", partial(philly_scenario, 512, 30), None, 0.01, 1_800),
    Row("Philly, 512 GPUs", partial(philly_scenario, 512), None, 0.03, 600),
    Row("Philly, 256 GPUs", partial(philly_scenario, 256), None, 0.15, 600),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_gaps(benchmark: Any, row: Row) -> None:
    """The bound is as near to the best schedule known as demanded, after as many prices as are allowed."""
    scenario = row.scenario()
    value = row.value
    if value is None:
        value = min(replay(scenario, policy).metrics.mean_jct for policy in (policies.srsf, policies.srtf))
    price_bound(scenario, evaluations=1)  # loads and compiles the kernel
    begin = process_time()
    found = once(benchmark, lambda: price_bound(scenario, evaluations=row.evaluations))
    seconds = process_time() - begin
    gap = (value - found.mean_jct) / value
    _say(row.name, len(scenario.workload.jobs), value, found, gap, seconds)
    assert 0 <= gap <= row.gap


def test_a_rigid_day_without_compiled_kernels(benchmark: Any) -> None:
    """Some 1,500 rigid jobs are within 2 % by numpy alone in a few times the time of one simulation."""
    scenario = philly_scenario(128, 50)
    _, simulated = timed(lambda: replay(scenario, policies.srsf))
    begin = process_time()
    found = once(benchmark, lambda: price_bound(scenario, evaluations=60, compiled=False))
    seconds = process_time() - begin
    gap = (13_619 - found.mean_jct) / 13_619
    _say("Philly day 50, numpy", len(scenario.workload.jobs), 13_619, found, gap, seconds)
    assert 0 <= gap <= 0.02
    assert seconds / simulated <= 5  # processor seconds of one run


def test_no_bound_is_above_the_optimum_of_all_event_orders(benchmark: Any) -> None:
    """On tiny instances, rigid and elastic, no prices, random or improved, prove more than the optimum."""
    ratios = once(benchmark, lambda: [_ratio_to_event_orders(seed) for seed in range(TINY)])
    Console().print(f"{len(ratios)} tiny instances: bound over optimum {min(ratios):.3f} to {max(ratios):.6f}")
    assert max(ratios) <= 1 + ROUNDING


def test_no_bound_is_above_the_best_slotted_schedule(benchmark: Any) -> None:
    """Nor with weights and changes of capacity, on instances whose slotted schedules are all tried."""
    ratios = once(benchmark, lambda: [_ratio_to_slots(Random(seed)) for seed in range(TINY)])
    Console().print(
        f"{len(ratios)} slotted instances: bound over optimum {min(ratios):.3f} to {max(ratios):.6f}"
    )
    assert max(ratios) <= 1
    assert sum(ratios) / len(ratios) > 0.8


def _ratio_to_event_orders(seed: int) -> float:
    problem = tiny(seed, jobs=(2, 3))
    optimum = event_orders(problem).objective
    assert optimum is not None
    return max(bound.mean_jct for bound in _bounds(Random(seed), problem.scenario, None)) / float(optimum)


def _ratio_to_slots(random: Random) -> float:
    gpus = random.randint(1, 4)
    jobs = [
        Job(
            name=str(number),
            release_date=random.randint(0, 3),
            duration=random.randint(1, 4),
            gpus=(demand := random.randint(1, gpus)),
            menu=[(demand, 1.0), *((count, 2.0) for count in range(demand + 1, gpus + 1))][:2],
        )
        for number in range(random.randint(2, 4))
    ]
    workload = Workload(jobs=jobs)
    weights = [random.choice([1.0, 1.0, 2.0, 0.5]) for _ in jobs]
    low, high = sorted(random.sample(range(1, 9), 2))
    changes = [CapacityChange(time=low, gpus=random.randint(0, gpus)), CapacityChange(time=high, gpus=gpus)]
    scenario = Scenario(workload=workload, cluster=Cluster.plain(gpus), capacity_changes=changes)
    capacity = {time: changes[0].gpus if low <= time < high else gpus for time in range(100)}
    best = _best_slotted(workload.jobs, weights, capacity)
    waited = sum(weight * job.release_date for weight, job in zip(weights, workload.jobs, strict=True))
    return max(bound.total_jct for bound in _bounds(random, scenario, weights)) / (best - waited)


def _best_slotted(jobs: Sequence[Job], weights: list[float], capacity: dict[int, int]) -> float:
    """Try every schedule in which each job holds its GPUs for whole seconds."""

    @cache
    def least(time: int, left: tuple[int, ...]) -> float:
        if not any(left):
            return 0.0
        choices = [
            [(0, 0), *((count, int(job.speed(count))) for count in job.counts)]
            if work and job.release_date <= time
            else [(0, 0)]
            for job, work in zip(jobs, left, strict=True)
        ]
        costs = []
        for choice in product(*choices):
            if sum(count for count, _ in choice) <= capacity[time]:
                rest = tuple(max(work - speed, 0) for work, (_, speed) in zip(left, choice, strict=True))
                done = sum(w for w, old, new in zip(weights, left, rest, strict=True) if old and not new)
                if rest != left or time < 12:
                    costs.append(done * (time + 1) + least(time + 1, rest))
        return min(costs)

    return least(0, tuple(int(job.duration) for job in jobs))


def _bounds(random: Random, scenario: Scenario, weights: list[float] | None) -> list[PriceBound]:
    """Return bounds by a few evaluations and by random prices on random cells."""
    few = price_bound(scenario, weights=weights, evaluations=15)
    end = few.times[-1] * 1.5
    times = tuple(sorted({0.0, end, *(random.uniform(0, end) for _ in range(6))}))
    prices = tuple(random.choice([0.0, random.uniform(0, 2)]) for _ in times[1:])
    wild = PriceBound(**{**vars(few), "times": times, "prices": prices})
    return [few, price_bound(scenario, weights=weights, evaluations=1, start=wild)]


def _say(name: str, jobs: int, value: float, found: PriceBound, gap: float, seconds: float) -> None:
    Console().print(
        f"{name}, {jobs:,} jobs: value {value:,.1f}, bound {found.mean_jct:,.1f}, gap {gap:.2%}, "
        f"{found.evaluations} evaluations, {len(found.prices)} cells, {seconds:.1f} s"
    )
