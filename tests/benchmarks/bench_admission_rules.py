"""What the preemption rules of schedulers evict beyond the optimum, by gangs, GPUs and GPU-hours."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import gsopt
import heuristics.admission
from formulations.admission import exact
from gsopt.core.result import Status
from gsopt.problems.admission import Admission, Running
from instances.admission import filled, restarts_elsewhere
from instances.admission.suites import production
from tests.benchmarks.measures import once, tabulate
from tests.unwrap import unwrap

MACHINES = 400
SEEDS = range(10)
RULES = {name: getattr(heuristics.admission, name) for name in heuristics.admission.__all__}

#: What is pending, by workload.
PENDING: dict[str, Mapping[str, Any]] = {
    "philly, 8 machines in a rack": {"workload": "philly", "workers": 8},
    "philly, 32 machines": {"workload": "philly", "workers": 32, "within": ""},
    "llm, 32 machines in a pod": {"workload": "llm", "workers": 32, "within": "pod"},
    "openb, 4 workers of 4 GPUs in a rack": {"workload": "openb", "workers": 4, "gpus": 4},
}

#: What an eviction may cost. The pending gang is also the same; only methods that regard costs see them.
COSTS: dict[str, Callable[[Running], Mapping[str, Any]]] = {
    "gangs": lambda _: {"cost": 1.0},
    "GPUs": lambda gang: {"cost": float(gang.gpus)},
    "GPU-hours": lambda _: {},
}


class Excess(NamedTuple):
    """What a rule evicts, and the least that must be, over the snapshots on which it finds a way."""

    rule: float
    least: float

    def __str__(self) -> str:
        return f"{self.rule / self.least:.2f}" if self.least else "-"


def _changed(problem: Admission, change: Callable[[Running], Mapping[str, Any]]) -> Admission:
    running = [gang.model_copy(update=change(gang)) for gang in problem.running]
    return Admission.model_validate({**dict(problem), "running": running})


def _like(problem: Admission) -> Admission:
    """Return a problem in which all gangs that may be evicted have the same priority."""
    pending = min(gang.priority for gang in problem.pending)
    return _changed(problem, lambda gang: {"priority": -1} if gang.priority < pending else {})


def _compare(snapshots: list[Admission]) -> tuple[dict[str, list[Excess]], dict[str, list[float]]]:
    """Return what each rule evicts by each cost beside the optimum, and the seconds that it takes."""
    totals: dict[str, list[Excess]] = {name: [] for name in RULES}
    seconds: dict[str, list[float]] = defaultdict(list)
    for cost in COSTS.values():
        sums = dict.fromkeys(RULES, (0.0, 0.0))
        for snapshot in snapshots:
            problem = _changed(snapshot, cost)
            least = exact(problem)
            assert least.status is Status.OPTIMAL
            for name, rule in RULES.items():
                begin = perf_counter()
                found = rule(problem)
                seconds[name].append(perf_counter() - begin)
                if found.objective is not None:
                    assert found.objective >= unwrap(least.objective)
                    own, others = sums[name]
                    sums[name] = own + float(found.objective), others + float(unwrap(least.objective))
        for name, (own, others) in sums.items():
            totals[name].append(Excess(own, others))
    return totals, seconds


@pytest.mark.slow
@pytest.mark.benchmark(group="admission: what rules evict")
@pytest.mark.parametrize("alike", [False, True], ids=["priorities", "one priority"])
@pytest.mark.parametrize("kind", PENDING)
def test_rules_beside_the_optimum(benchmark: BenchmarkFixture, kind: str, *, alike: bool) -> None:
    """No rule evicts less than the optimum; the table says how much more.

    The optimum minds priorities only in that no gang stops for one of the same priority. Rules that spare the
    higher of two lower priorities may therefore evict more on purpose, unless all gangs are alike.
    """
    snapshots = [filled(machines=MACHINES, seed=seed, **PENDING[kind]) for seed in SEEDS]
    if alike:
        snapshots = [_like(each) for each in snapshots]
    totals, seconds = once(benchmark, lambda: _compare(snapshots))

    tabulate(
        f"{kind}, {'one priority' if alike else 'priorities'}: evicted, as a multiple of the least",
        ["rule", "finds a way", *COSTS, "milliseconds"],
        [
            [
                name,
                f"{sum(rule(each).objective is not None for each in snapshots)} of {len(snapshots)}",
                *map(str, totals[name]),
                f"{1000 * median(seconds[name]):.1f}",
            ]
            for name, rule in RULES.items()
        ],
    )
    assert any(excess.rule > 2 * excess.least for row in totals.values() for excess in row)


@pytest.mark.benchmark(group="admission: what rules evict")
def test_production_suite(benchmark: BenchmarkFixture) -> None:
    """No rule costs less than the proven optimum of an instance; the table says how much more."""
    problems = [gsopt.load(each.name) for each in production()]
    found = once(
        benchmark,
        lambda: {name: [rule(problem).objective for problem in problems] for name, rule in RULES.items()},
    )

    least = [unwrap(unwrap(problem.about).objective) for problem in problems]
    tabulate(
        "production suite: cost as a multiple of the least",
        ["rule", *(problem.name.split("/")[-1] for problem in problems)],
        [
            [
                name,
                *(
                    "-" if cost is None else f"{cost / best:.2f}"
                    for cost, best in zip(costs, least, strict=True)
                ),
            ]
            for name, costs in found.items()
        ],
    )
    for costs in found.values():
        for cost, best in zip(costs, least, strict=True):
            assert cost is None or cost >= best - 1e-9


@pytest.mark.benchmark(group="admission: what rules evict")
def test_restarts_elsewhere(benchmark: BenchmarkFixture) -> None:
    """Rules that take the latest gang first restart 376 GPUs where 32 would do."""
    problem = restarts_elsewhere()
    found = once(benchmark, lambda: {name: rule(problem).objective for name, rule in RULES.items()})

    tabulate(
        "48 GPUs are needed",
        ["rule", "GPUs that restart"],
        [[name, str(gpus or "-")] for name, gpus in found.items()],
    )
    assert exact(problem).objective == 32
    assert found["kai"] == 376
