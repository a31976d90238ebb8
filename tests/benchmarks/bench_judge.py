"""Speed of the judge of schedules, on replays of 20,000 jobs."""

from random import Random
from time import process_time
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.schedule.judge import judge
from gsopt.simulation import Policy, replay
from heuristics.policies import srtf, tiresias
from tests.benchmarks.measures import once, report

pytestmark = pytest.mark.slow

JOBS = 20_000


def _workload() -> Workload:
    """Draw jobs of very different lengths that keep 256 GPUs busy."""
    random, now, jobs = Random(1), 0.0, []
    for index in range(JOBS):
        now += random.expovariate(1 / 30)
        gpus, duration = random.choice([1, 1, 1, 2, 4, 8, 8, 16]), random.lognormvariate(7, 1.5)
        jobs.append(Job(name=f"job {index}", release_date=now, duration=duration, gpus=gpus))
    return Workload(jobs=jobs)


@pytest.mark.parametrize(
    ("cluster", "policy", "least"),
    [(Cluster.plain(256), srtf, 20_000), (Cluster.uniform(racks=4, machines=8, gpus=8), tiresias, 10_000)],
    ids=["plain", "racks"],
)
def test_segments_per_second(benchmark: Any, cluster: Cluster, policy: Policy, least: int) -> None:
    """In a second of processor time more than so many segments are judged, and none of them is wrong."""
    scenario = Scenario(workload=_workload(), cluster=cluster)
    schedule = replay(scenario, policy, record=True).schedule
    assert schedule is not None

    def speed() -> float:
        begin = process_time()
        assert judge(schedule, scenario).violations == ()
        return len(schedule.segments) / (process_time() - begin)

    fastest = max(once(benchmark, speed), speed(), speed())
    report(f"{len(schedule.segments):,} segments, {fastest:,.0f} a second")
    assert fastest > least
