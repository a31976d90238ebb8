"""Record: the proven bound never stands above the figure that it bounds."""

from math import nextafter

import pytest

from gsopt.core.errors import Contradiction
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.schedule.judge import judge
from gsopt.simulation import replay
from heuristics.policies import fifo, sjf_ffs
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle

_SCENARIO = Scenario(
    workload=bundle([Job(name="a", release_date=0, duration=9362.15, gpus=1)]), cluster=Cluster.plain(1)
)


def test_a_bound_above_the_mean_by_rounding_is_the_mean() -> None:
    """A bound that exceeds the mean job completion time by float rounding only is printed equal to it."""
    figures = replay(_SCENARIO, fifo, bound=nextafter(9362.15, 1e9)).metrics
    assert (figures.mean_jct, figures.lower_bound, figures.gap) == (9362.15, 9362.15, 0)


def test_a_bound_above_the_mean_is_a_contradiction() -> None:
    """A bound that exceeds the mean job completion time by more than rounding is an error."""
    with pytest.raises(Contradiction, match="better than the bound"):
        replay(_SCENARIO, fifo, bound=9363)


@pytest.mark.parametrize("jobs", [1, 10, 1000])
def test_the_clock_of_today_beats_no_bound(jobs: int) -> None:
    """Completions count from the first release, so dates of today contradict no bound; shorter jobs do."""
    each = [Job(name=f"j{i}", release_date=1.7e9, duration=0.1, gpus=1) for i in range(jobs)]
    scenario = Scenario(workload=bundle(each), cluster=Cluster.plain(1))
    bound = mean_jct_bound(scenario)
    assert bound is not None
    figures = replay(scenario, fifo, bound=bound).metrics
    assert figures.mean_jct == pytest.approx(0.05 * (jobs + 1), rel=1e-12)
    assert figures.gap == pytest.approx(0, abs=1e-5)
    with pytest.raises(Contradiction, match="better than the bound"):
        replay(scenario, fifo, bound=bound.mean_jct + 2.0**-21 * (jobs + 1))


def test_fairness_figures() -> None:
    """Of two equal jobs in turn on one GPU the first is early and the second as late as under the fluid."""
    jobs = bundle([Job(name=name, release_date=0, duration=2, gpus=1) for name in "ab"])
    figures = replay(Scenario(workload=jobs, cluster=Cluster.plain(1)), fifo).metrics
    assert (figures.unfair_fraction, figures.worst_fairness, figures.preemptions_per_job) == (0, 1, 0)
    late = bundle([Job(name=name, release_date=0, duration=d, gpus=1) for name, d in [("a", 3), ("b", 1)]])
    figures = replay(Scenario(workload=late, cluster=Cluster.plain(1)), fifo).metrics
    assert (figures.unfair_fraction, figures.worst_fairness) == (0.5, 2)


def test_no_figures_without_completions() -> None:
    """Where no job completes there are no figures of fairness."""
    empty = Scenario(workload=bundle(()), cluster=Cluster.plain(1))
    figures = replay(empty, fifo).metrics
    found = (figures.unfair_fraction, figures.worst_fairness, figures.preemptions_per_job, figures.resizes)
    assert found == (None, None, None, 0)


def test_communication_is_what_the_tier_costs() -> None:
    """Of 6 s on the network at a penalty of 1, after 1 s to start, 5 s go to half into communication."""
    job = Job(name="a", release_date=0, duration=2.5, gpus=2, model="m")
    cluster = Cluster.uniform(racks=2, machines=1, gpus=1)
    speed = Speed(tiers={"m": TierPenalty(machine=0.1, rack=0.5, network=1)})
    scenario = Scenario(workload=bundle([job]), cluster=cluster, speed=speed, overheads={"": Overhead(start=1)})
    done = replay(scenario, fifo, record=True)

    assert done.completion_times == (6,)
    assert done.metrics.mean_communication == 2.5
    assert judge(schedule_of(done), scenario).mean_communication == 2.5


def test_a_plain_cluster_has_no_communication() -> None:
    """Without tiers nobody waits for the network."""
    assert replay(_SCENARIO, fifo).metrics.mean_communication == 0


def test_sharing_is_the_gpu_time_of_several_jobs() -> None:
    """A job on one of two held GPUs shares 2 s of their 8 s; where one GPU is free it shares nothing."""
    jobs = bundle([Job(name=n, release_date=0, duration=d, gpus=g) for n, d, g in [("a", 2, 1), ("b", 4, 2)]])
    two, three = (
        Scenario(workload=jobs, cluster=Cluster.uniform(machines=1, gpus=gpus), share_limit=2)
        for gpus in (2, 3)
    )
    done = replay(two, sjf_ffs, record=True)

    assert done.metrics.sharing == 0.25
    assert judge(schedule_of(done), two).sharing == 0.25
    assert replay(three, sjf_ffs).metrics.sharing == 0
