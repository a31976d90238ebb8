"""Preemptive policies where overheads are longer than the time between events, in racks and in rounds."""

import pytest

from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.scenario.speed import linear_menu
from gsopt.simulation import IllegalDecision, Policy, simulate
from gsopt.testing import check_policy
from heuristics.policies import (
    efq,
    elastic_las,
    elastic_srtf,
    las,
    marginal,
    marginal_attained,
    srsf,
    srtf,
    tiresias,
)
from tests.gsopt.simulation.scenarios import SPEED, bundle

LONG = Overhead(start=3.0, stop=2.0, resize=4.0)
PREEMPTIVE = [efq, elastic_las, elastic_srtf, las, marginal, marginal_attained, srsf, srtf, tiresias]
each_policy = pytest.mark.parametrize("policy", PREEMPTIVE, ids=lambda policy: policy.__name__)

#: Every second a shorter job comes, so that each stops the one before it.
_STAIRS = bundle(
    Job(name=str(date), release_date=date, duration=20 - date, gpus=1 + date % 3, model="cnn")
    for date in range(12)
)
_ELASTIC = bundle(
    Job(name=str(date), release_date=date, duration=20 - date, gpus=1, menu=linear_menu(1, [1, 2, 4]))
    for date in range(12)
)


def test_overheads_are_not_part_of_the_key() -> None:
    """A newcomer stops a job that has not got on; one that is shorter by what is left to do alone does not."""
    sizes = [(0, 10), (1, 4), (6, 3)]
    jobs = bundle(Job(name=f"j{i}", release_date=r, duration=d, gpus=1) for i, (r, d) in enumerate(sizes))
    run = simulate(jobs, srtf, cluster=1, overheads=Overhead(start=3.0), exact=True)
    # the second starts at 1, gets on from 4, has 2 s left at 6 and ends at 8; then the third, then the first
    assert run.completion_times == (27, 8, 14)
    assert run.metrics.preemptions == 1


@each_policy
def test_every_job_completes(policy: Policy) -> None:
    """Without a quantum decisions are taken at events only, so every run ends, and the judge agrees with it."""
    racks = Cluster.uniform(racks=2, machines=2, gpus=2)
    scenarios = [
        Scenario(workload=_STAIRS, cluster=Cluster.plain(4), overheads={"": LONG}),
        Scenario(workload=_STAIRS, cluster=racks, overheads={"": LONG}, speed=SPEED),
        Scenario(workload=_ELASTIC, cluster=racks, overheads={"": LONG}),
    ]
    assert check_policy(policy, scenarios) == 6


@pytest.mark.parametrize(
    "policy", [efq, elastic_srtf, marginal, srsf, srtf, tiresias], ids=lambda policy: policy.__name__
)
def test_in_rounds_shorter_than_the_overheads(policy: Policy) -> None:
    """Keys that do not rise as a job runs never make jobs take turns, so every job completes."""
    scenario = Scenario(workload=_ELASTIC, cluster=Cluster.plain(4), overheads={"": LONG})
    assert check_policy(policy, [scenario], round_length=1.0) == 2


@pytest.mark.parametrize("policy", [elastic_las, las], ids=lambda policy: policy.__name__)
def test_turns_shorter_than_the_overheads(policy: Policy) -> None:
    """Least attained service takes turns every round; where they are shorter than a start, the run is ended."""
    jobs = bundle(Job(name=name, release_date=0, duration=5, gpus=1) for name in "ab")
    with pytest.raises(IllegalDecision, match="longer than their overheads"):
        simulate(jobs, policy, cluster=1, overheads=LONG, round_length=1.0)
    run = simulate(jobs, policy, cluster=1, overheads=LONG, round_length=20.0)
    assert run.metrics.completed == 2
