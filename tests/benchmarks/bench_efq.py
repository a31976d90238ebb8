"""Speed of elastic policies, fair queuing first: whole traces, and the time of one decision by cluster size.

The Philly trace has rigid jobs. Here each gets a menu of linear speed up to 4 times its demand, which is the
most favourable curve and makes a policy resize most; demands are capped to the cluster. Recording is off.
"""

from collections.abc import Callable, Iterable
from functools import cache
from statistics import quantiles
from time import perf_counter
from typing import Any

import pytest

from gsopt.scenario.job import Job, Workload
from gsopt.scenario.speed import linear_menu
from gsopt.schedule.bounds import mean_busy_time_bound, position_bound, srpt_bound
from gsopt.schedule.fairness import fair_finish_times, gps_finish_times
from gsopt.simulation import Action, Decider, Policy, State, simulate
from heuristics.policies import efq, elastic_las, elastic_srtf, marginal, marginal_attained
from instances.traces import philly
from instances.traces.ares import scaled
from instances.workloads import poisson
from instances.workloads.distributions import PHILLY
from tests.benchmarks.measures import data, once, report, tabulate, timed

pytestmark = pytest.mark.slow

PHILLY_JOBS, GENERATED_JOBS, GPUS = 80_000, 100_000, 512

#: Jobs per CPU second, of whole replays by policy and of bounds: a quarter to a fifth of what is usual.
LEAST_RATE = {
    "efq": 1_500,
    "elastic_srtf": 300,
    "elastic_las": 300,
    "marginal": 1_000,
    "marginal_attained": 1_000,
}
LEAST_BOUND_RATE = 10_000

#: Milliseconds that three of four decisions may take (Ares, Figure 11, on 2,048 GPUs).
MOST_MILLISECONDS = 60


def _elastic(jobs: Iterable[Job], gpus: int) -> tuple[Job, ...]:
    """Let rigid jobs grow to up to 4 times their demand at linear speed."""
    return tuple(
        job.model_copy(
            update={"menu": linear_menu(job.gpus, [k for k in (job.gpus << i for i in range(3)) if k <= gpus])}
        )
        for job in jobs
    )


@cache
def _philly() -> Workload:
    jobs = philly(data("philly/sia/philly.csv.gz"), max_gpus=GPUS, cap=True).workload.jobs[-PHILLY_JOBS:]
    return Workload(name="philly", jobs=_elastic(jobs, GPUS))


@cache
def _generated() -> Workload:
    return Workload(jobs=_elastic(poisson(jobs=GENERATED_JOBS, gpus=GPUS).jobs, GPUS))


@pytest.mark.parametrize(
    "policy", [efq, elastic_srtf, elastic_las, marginal, marginal_attained], ids=lambda policy: policy.__name__
)
@pytest.mark.parametrize("workload", [_philly, _generated], ids=["philly", "generated"])
def test_replay(benchmark: Any, policy: Policy, workload: Callable[[], Workload]) -> None:
    """A whole replay without bounds runs at the rate of its policy at least."""
    jobs = workload()
    run, seconds = once(benchmark, lambda: timed(lambda: simulate(jobs, policy, cluster=GPUS, bound=False)))
    count, figures = len(jobs.jobs), run.metrics
    speed = f"{count:,} jobs in {seconds:.1f} CPU s, {count / seconds:,.0f} jobs/s"
    changes = f"{figures.preemptions:,} preemptions, {figures.resizes:,} resizes"
    report(f"{figures.policy} on {GPUS} GPUs: {speed}; {changes}")
    assert figures.completed == count
    assert count / seconds >= LEAST_RATE[figures.policy]


@pytest.mark.parametrize(
    "bound",
    [srpt_bound, position_bound, mean_busy_time_bound, gps_finish_times, fair_finish_times],
    ids=lambda bound: bound.__name__,
)
def test_bounds(benchmark: Any, bound: Callable[[Workload, int], Any]) -> None:
    """The scalable bounds and the fluid references pass over the generated jobs in seconds."""
    jobs = _generated()
    found, seconds = benchmark.pedantic(timed, args=(lambda: bound(jobs, GPUS),), rounds=3, iterations=1)
    assert found
    assert GENERATED_JOBS / seconds >= LEAST_BOUND_RATE


def watched(policy: Policy, seconds: list[float]) -> Policy:
    """Note how long each decision of a policy takes, without the simulator."""

    class Timed:
        preemptive = True

        def __init__(self, state: State) -> None:
            self._decider = policy(state)

        def decide(self, state: State) -> Iterable[Action]:
            begin = perf_counter()
            actions = list(self._decider.decide(state))
            seconds.append(perf_counter() - begin)
            return actions

    def make(state: State) -> Decider:
        return Timed(state)

    return make


def _hold_decisions(
    benchmark: Any, policy: Policy, workload: Callable[[int], Workload], **options: Any
) -> None:
    """Print how long decisions take by cluster; three of four must take less than the paper says."""

    def table() -> list[list[str]]:
        rows = []
        for gpus in (64, 128, 256, 512, 1024, 2048):
            seconds: list[float] = []
            jobs = workload(gpus)
            simulate(jobs, watched(policy, seconds), cluster=gpus, bound=False, **options)
            figures = [1000 * value for value in (*quantiles(seconds, n=4), max(seconds))]
            assert figures[2] < MOST_MILLISECONDS
            counts = (gpus, len(jobs.jobs), len(seconds))
            rows.append([*(f"{count:,}" for count in counts), *(f"{value:.3f}" for value in figures)])
        return rows

    head = ("GPUs", "jobs", "decisions", "p25", "median", "p75", "max (ms)")
    tabulate(getattr(policy, "__name__", ""), head, once(benchmark, table))


def test_decisions_on_helios(benchmark: Any) -> None:
    """Three of four decisions in rounds of a minute on Helios jobs take less than Ares says (section 5.6)."""
    folder = data("sia")
    _hold_decisions(benchmark, efq, lambda gpus: scaled(folder, gpus=gpus, halvings=1), round_length=60)


@pytest.mark.parametrize("load", [0.9, None], ids=["steady", "overloaded"])
@pytest.mark.parametrize("policy", [efq, elastic_srtf], ids=lambda policy: policy.__name__)
def test_decisions(benchmark: Any, policy: Policy, load: float | None) -> None:
    """Three of four decisions take less than the paper says; arrivals in proportion, 640 an hour on 2,048 GPUs.

    At that rate jobs shaped like Philly's overload the cluster; a load of 0.9 stands for shorter jobs.
    """

    def drawn(gpus: int) -> Workload:
        given = load or 640 / 2048 / 3600 * PHILLY.mean_gpu_seconds(gpus)
        return Workload(jobs=_elastic(poisson(jobs=4 * gpus, gpus=gpus, load=given).jobs, gpus))

    _hold_decisions(benchmark, policy, drawn)
