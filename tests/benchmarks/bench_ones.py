"""ONES beside schedulers that keep batch sizes: completion, execution and queueing, and tests of Table 4.

``pytest tests/benchmarks/bench_ones.py -s`` prints the tables: 60 jobs of `instances.workloads.ones` on 64 GPUs
at a light load, as the paper's mean completion times have it, and on 16 GPUs with the same arrivals, three
draws each. Optimus-like is `marginal`, which knows remaining work and decides at every event; scaling takes a
second for ONES, and a checkpoint 20 s for the others.
"""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.simulation import Policy, Replay, replay
from gsopt.studies.paired import signed_ranks
from heuristics.policies import marginal, tiresias
from heuristics.policies.ones.policy import ones
from instances.workloads import ones as jobs_of_ones
from tests.benchmarks.measures import once, report

pytestmark = pytest.mark.slow

JOBS, SEEDS = 60, range(1, 4)

SCALING, CHECKPOINT = Overhead(stop=1, resize=1), Overhead(stop=20, resize=20)

POLICIES: Mapping[str, tuple[Policy, Overhead]] = {
    "Tiresias": (tiresias, CHECKPOINT),
    "Optimus-like": (marginal, CHECKPOINT),
    "ONES": (partial(ones, most_generations=5), SCALING),
    "ONES, no scale-down": (partial(ones, most_generations=5, penalty="never"), SCALING),
    "ONES, as printed": (
        partial(ones, most_generations=5, penalty="compound", forced="new"),
        SCALING,
    ),
}


@cache
def runs(gpus: int, name: str) -> list[Replay]:
    """Run a policy on every draw."""
    policy, overhead = POLICIES[name]
    return [
        replay(
            Scenario(
                workload=jobs_of_ones(jobs=JOBS, gpus=gpus, load=12.8 / gpus, seed=seed),
                cluster=Cluster.plain(gpus),
                overheads={"": overhead},
            ),
            policy,
        )
        for seed in SEEDS
    ]


def mean(gpus: int, name: str, figure: str) -> float:
    """Return the mean of a figure over the draws."""
    return sum(float(getattr(run.metrics, figure)) for run in runs(gpus, name)) / len(SEEDS)


def jct(gpus: int, name: str) -> list[float]:
    """Return the completion times of all jobs of all draws."""
    return [time for run in runs(gpus, name) for time in run.jct]


@pytest.mark.parametrize("gpus", [64, 16])
def test_ones_beside_fixed_batches(benchmark: Any, gpus: int) -> None:
    """Where nobody is scaled down ONES is below both others, and the differences of pairs are no chance."""
    once(benchmark, lambda: [runs(gpus, name) for name in POLICIES])
    report(f"{gpus} GPUs: mean JCT, execution, queueing (s); p against ONES without scale-down")
    for name in POLICIES:
        figures = [mean(gpus, name, each) for each in ("mean_jct", "mean_execution", "mean_queueing")]
        tested = signed_ranks(jct(gpus, "ONES, no scale-down"), jct(gpus, name))
        line = " ".join(f"{max(each, 0):7.0f}" for each in figures)
        report(f"{name:25} {line}  two-sided {tested.two_sided:.1e}, less {tested.less:.1e}")
    for name in ("Tiresias", "Optimus-like"):
        tested = signed_ranks(jct(gpus, "ONES, no scale-down"), jct(gpus, name))
        assert tested.less < 1e-3 < tested.greater
        assert mean(gpus, "ONES, no scale-down", "mean_jct") < mean(gpus, name, "mean_jct")
    assert mean(gpus, "ONES, as printed", "mean_jct") > mean(gpus, "Tiresias", "mean_jct")
