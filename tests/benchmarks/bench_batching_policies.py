"""Batching: criteria of ONES solved to the optimum at every event, beside shortest remaining time with caps.

``pytest tests/benchmarks/bench_batching_policies.py -s`` prints the tables: mean and 95th percentile of the job
completion time relative to SRPT with caps, medians of five seeds of 150 jobs on 64 GPUs, known work, no
overheads; and the gap of the mean to the proven bound. Jobs are those of `instances.workloads.ones`, whose
batches may be up to 16 or 64 times that of one GPU, the same for all or drawn for each.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from statistics import median
from typing import Any, Literal, NamedTuple

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.bounds import MeanBound, mean_jct_bound
from gsopt.schedule.figures import Record
from gsopt.simulation import Policy, replay
from heuristics.policies import marginal
from heuristics.policies.ones.capped import capped
from heuristics.policies.ones.exact_batching import exact_batching
from instances.workloads import ones
from tests.benchmarks.measures import once, report

pytestmark = pytest.mark.slow

JOBS, GPUS, LOADS, SEEDS = 150, 64, (0.5, 0.9, 1.3), range(5)


class Jobs(NamedTuple):
    """How far jobs scale."""

    largest: int
    widths: Literal["equal", "drawn"]


BASE = "SRPT with caps"

POLICIES: Mapping[str, Policy] = {
    BASE: capped,
    "Eq 3": partial(exact_batching, criterion="sruf", forced="none"),
    "Eq 3, new jobs run": partial(exact_batching, criterion="sruf", forced="new"),
    "Eq 3, all jobs run": partial(exact_batching, criterion="sruf"),
    "rate": exact_batching,
    "sum of times": partial(exact_batching, criterion="sum_time"),
    "equal share": partial(capped, rule="share"),
    "FIFO at cap": partial(capped, rule="arrival"),
    "marginal, own batch": marginal,
}


@cache
def scenario(jobs: Jobs, load: float, seed: int) -> tuple[Scenario, MeanBound | None]:
    """Draw jobs that arrive at a load, with what is proven of them."""
    workload = ones(jobs=JOBS, gpus=GPUS, load=load, largest=jobs.largest, widths=jobs.widths, seed=seed)
    given = Scenario(workload=workload, cluster=Cluster.plain(GPUS))
    return given, mean_jct_bound(given, evaluations=20)


def runs(jobs: Jobs, load: float, policy: Policy) -> list[Record]:
    """Run a policy on every seed; a run that beats the bound raises."""
    given = (scenario(jobs, load, seed) for seed in SEEDS)
    return [replay(each, policy, bound=bound).metrics for each, bound in given]


def relative(key: str, runs: Sequence[Record], base: Sequence[Record]) -> float:
    """Return the median of a figure relative to the base, seed by seed."""
    return median(float(getattr(run, key) / getattr(other, key)) for run, other in zip(runs, base, strict=True))


#: Mean and 95th percentile relative to the base, and the gap, by policy and load.
Table = dict[tuple[str, float], tuple[float, float, float]]


def table(jobs: Jobs) -> Table:
    """Return mean and 95th percentile relative to the base, and the gap, by policy and load."""
    found = {}
    for load in LOADS:
        base = runs(jobs, load, POLICIES[BASE])
        for name, policy in POLICIES.items():
            own = runs(jobs, load, policy)
            gap = median(float(run.gap or 0) for run in own)
            found[name, load] = (relative("mean_jct", own, base), relative("p95_jct", own, base), gap)
    return found


def show(jobs: Jobs, found: Table) -> None:
    """Print the table."""
    report(f"up to {jobs.largest} GPUs, {jobs.widths}: mean/p95 JCT relative to {BASE}, gap to the bound")
    for name in POLICIES:
        cells = [f"{mean:.2f}/{p95:.2f} {gap:5.0%}" for mean, p95, gap in (found[name, load] for load in LOADS)]
        report(f"{name:20} | {' | '.join(cells)}")


def measured(benchmark: Any, jobs: Jobs) -> Table:
    """Return the table once, and print it."""
    found = once(benchmark, lambda: table(jobs))
    show(jobs, found)
    return found


@pytest.mark.parametrize("largest", [16, 64])
def test_criteria_beside_srpt_with_caps(benchmark: Any, largest: int) -> None:
    """Equation 3 as printed is SRPT with caps; letting all jobs run pays where jobs scale beyond their use."""
    found = measured(benchmark, Jobs(largest, "equal"))
    busy = {name: found[name, LOADS[-1]][0] for name in POLICIES}
    assert all(0.97 <= found["Eq 3", load][0] <= 1.03 for load in LOADS)
    assert busy["FIFO at cap"] > 1.5
    assert busy["marginal, own batch"] > busy["rate"]
    if largest == 16:
        assert busy["rate"] > 1
    else:
        assert busy["rate"] < busy["Eq 3, all jobs run"] < 0.95


def test_criteria_where_jobs_scale_differently(benchmark: Any) -> None:
    """Where caps are drawn Equation 3 is no better than SRPT with them, and letting all jobs run is."""
    found = measured(benchmark, Jobs(64, "drawn"))
    for load in LOADS:
        assert 0.97 <= found["Eq 3", load][0] <= 1.06
        assert found["rate", load][0] < found["Eq 3, all jobs run", load][0] < 0.95
        assert found["equal share", load][0] < 0.95
        assert found["FIFO at cap", load][0] > 5
