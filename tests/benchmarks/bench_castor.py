"""Sharing GPUs: policies of Castor beside shortest job first, what they take and what they give, in one run.

``pytest tests/benchmarks/bench_castor.py -s`` prints the tables. Jobs are drawn: 240 on 16 machines of 8 GPUs,
with log-normal times, the demands of traces, and slowdowns of pairs between 1.05 and 2.2.
"""

from collections.abc import Mapping
from functools import cache, partial
from random import Random
from statistics import fmean

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.simulation import Policy, replay
from heuristics.policies import best_pairs, restricted_sharing, sjf, sjf_bsbf, sjf_ffs, ssf
from tests.benchmarks.measures import report, timed

pytestmark = pytest.mark.slow

JOBS, MACHINES, GPUS = 240, 16, 8

#: GPU time that arrives per GPU time that there is; in the last case all jobs come at once.
LOADS = (0.8, 1.2, 2.0, None)

SEEDS = range(3)

POLICIES: Mapping[str, Policy] = {
    "SSF": ssf,
    "SJF-FFS": sjf_ffs,
    "SJF-BSBF": sjf_bsbf,
    "free GPUs first": partial(sjf_bsbf, free_first=True),
    "by the printed sign": partial(sjf_bsbf, rule="sign"),
    "Case 1 shares": partial(sjf_bsbf, rule="cases"),
    "strict": partial(sjf_bsbf, skip=False),
    "best pairs": best_pairs,
    "best pairs, or several": partial(best_pairs, several=True),
    "restricted": restricted_sharing,
    "restricted, 8 GPUs": partial(restricted_sharing, largest=8),
}


@cache
def scenario(load: float | None, seed: int) -> Scenario:
    """Draw jobs that arrive at a load."""
    random = Random(seed)
    models = [f"model {index}" for index in range(6)]
    slowdowns = {a: {b: random.uniform(1.05, 2.2) for b in models} for a in models}
    jobs, now = [], 0.0
    for index in range(JOBS):
        gpus, seconds = random.choice([1, 1, 1, 2, 4, 8, 8, 16, 32]), random.lognormvariate(7, 1.2)
        jobs.append(
            Job(name=f"j{index}", release_date=now, duration=seconds, gpus=gpus, model=random.choice(models))
        )
        if load is not None:
            now += random.expovariate(1) * seconds * gpus / (MACHINES * GPUS * load)
    cluster = Cluster.uniform(machines=MACHINES, gpus=GPUS)
    return Scenario.of(Workload(jobs=jobs), cluster, speed=Speed(interference=slowdowns), share_limit=2)


def run(policy: Policy, load: float | None, seed: int) -> tuple[float, float]:
    """Return mean job completion time, and processor seconds."""
    given = scenario(load, seed)
    run, seconds = timed(lambda: replay(given, policy))
    metrics = run.metrics
    assert metrics.completed == metrics.jobs
    return float(metrics.mean_jct or 0), seconds


@pytest.mark.parametrize("load", LOADS)
def test_policies_relative_to_shortest_job_first(load: float | None) -> None:
    """A look at pairs helps, and one at all together helps more as jobs come over time."""
    report(f"\nload {load or 'at once'}: mean JCT and processor seconds relative to SJF, most seconds")
    plain = [run(sjf, load, seed) for seed in SEEDS]
    means = {}
    for name, policy in POLICIES.items():
        runs = [run(policy, load, seed) for seed in SEEDS]
        means[name] = fmean(jct / base for (jct, _), (base, _) in zip(runs, plain, strict=True))
        times = fmean(seconds / base for (_, seconds), (_, base) in zip(runs, plain, strict=True))
        most = max(seconds for _, seconds in runs)
        report(f"{name:22s} {means[name]:6.3f} {times:7.1f} {most:6.3f} s")
    assert means["SJF-BSBF"] <= means["SJF-FFS"]
    assert load is None or means["best pairs"] <= means["SJF-BSBF"]
