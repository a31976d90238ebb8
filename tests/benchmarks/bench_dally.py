"""Waiting for closer GPUs: the job lists of Dally on racks of 8 machines of 8 GPUs, all policies in one run.

``pytest tests/benchmarks/bench_dally.py -s`` prints the tables. Processor seconds are those of a 500-job list.
"""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed
from gsopt.simulation import Policy, replay
from heuristics.policies import break_even, dally, fifo_skipping, gandiva, skew_consolidation
from instances.traces import dally as job_list
from tests.benchmarks.measures import data, report, timed

pytestmark = pytest.mark.slow

HOUR = 3600.0
RACKS = (2, 4, 8)
LEASES = (None, 8 * HOUR)

#: Share of the GPUs that Poisson arrivals keep busy if nothing were lost to the network, and their seeds.
LOAD, SEEDS = 0.9, (0, 1, 2)

#: Times as long as list scheduling that a run may take; migration, which asks job by job, takes most.
MOST_TIMES = 50

POLICIES: Mapping[str, Policy] = {
    "no wait": partial(dally, timers="none"),
    "12 h, 24 h": partial(dally, timers="manual"),
    "consolidated": partial(dally, timers="consolidated"),
    "tuned": dally,
    "tuned, offers": partial(dally, clock="offer"),
    "break-even": break_even,
    "skew": skew_consolidation,
    "Gandiva": gandiva,
}


@cache
def workload(jobs: str, racks: int, seed: int) -> Workload:
    """Return the batch, or the Poisson list with arrivals drawn for so many racks."""
    drawn: dict[str, Any] = {} if jobs == "batch" else {"load": LOAD, "gpus": 64 * racks, "seed": seed}
    return job_list(data("dally_artistsim"), jobs=jobs, **drawn).workload


def run(jobs: str, racks: int, seed: int, policy: Policy, lease: float | None) -> tuple[float, float]:
    """Return mean job completion time in hours, and processor seconds."""
    scenario = Scenario(
        workload=workload(jobs, racks, seed),
        cluster=Cluster.uniform(racks=racks, machines=8, gpus=8),
        speed=Speed(tiers=TIER_PENALTIES),
    )
    chosen = policy if policy is fifo_skipping else partial(policy, lease=lease)
    run, seconds = timed(lambda: replay(scenario, chosen))
    assert run.metrics.completed == run.metrics.jobs
    return float(run.metrics.mean_jct or 0) / HOUR, seconds


@pytest.mark.parametrize("lease", LEASES)
@pytest.mark.parametrize("jobs", ["batch", "poisson"])
def test_mean_jct_relative_to_the_tuned_timers(jobs: str, lease: float | None) -> None:
    """Break-even waiting is never worse than tuned timers, by either clock, on any cluster and arrivals."""
    report(f"\n{jobs}, leases {lease}: mean JCT (h) of tuned timers, then of each policy relative to it")
    for racks in RACKS:
        for seed in SEEDS if jobs == "poisson" else (0,):
            hours = {name: run(jobs, racks, seed, policy, lease)[0] for name, policy in POLICIES.items()}
            tuned = hours["tuned"]
            ratios = "  ".join(f"{name} {each / tuned:.3f}" for name, each in hours.items() if name != "tuned")
            report(f"{racks} racks, seed {seed}: {tuned:7.2f} h; {ratios}")
            assert hours["break-even"] <= min(tuned, hours["tuned, offers"])


@pytest.mark.parametrize("lease", LEASES)
def test_speed_relative_to_list_scheduling(lease: float | None) -> None:
    """Each policy takes a small multiple of the time of list scheduling on 500 jobs and 8 racks."""
    _, plain = run("batch", 8, 0, fifo_skipping, lease)
    report(f"\nleases {lease}: processor seconds, and relative to list scheduling ({plain:.3f} s)")
    for name, policy in POLICIES.items():
        _, seconds = run("batch", 8, 0, policy, lease)
        report(f"{name:14s} {seconds:6.3f} s  {seconds / plain:5.1f}")
        assert seconds <= MOST_TIMES * plain
