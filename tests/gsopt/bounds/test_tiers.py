"""Bounds count the slowdown of tiers that no placement avoids, and no more."""

from random import Random

import pytest

from formulations.waiting import intervals
from gsopt.bounds import at_best_tiers, mean_jct_bound
from gsopt.bounds.prices import price_bound
from gsopt.cluster import Cluster
from gsopt.job import Job, Mode
from gsopt.scenario import Scenario
from gsopt.simulation import replay
from gsopt.speed import TIER_PENALTIES, Speed
from heuristics.policies import fifo, srtf
from instances.waiting import tier_jobs
from tests.gsopt.simulation.scenarios import bundle

RACKS = Cluster.uniform(racks=2, machines=2, gpus=4)


def scenario(*jobs: Job, cluster: Cluster = RACKS) -> Scenario:
    """Give jobs with the penalties of Table I."""
    return Scenario(workload=bundle(jobs), cluster=cluster, speed=Speed(tiers=TIER_PENALTIES))


@pytest.mark.parametrize(("gpus", "slowdown"), [(1, 1.0), (4, 1.02), (5, 1.13), (8, 1.13), (9, 2.0)])
def test_a_job_alone_takes_its_best_tier(gpus: int, slowdown: float) -> None:
    """AlexNet on a machine, in a rack and across racks, by the number of GPUs that a group has at all."""
    alone = scenario(Job(name="a", release_date=3, duration=100, gpus=gpus, model="alexnet"))
    bound = mean_jct_bound(alone)

    assert bound is not None
    assert bound.mean_jct == pytest.approx(100 * slowdown, rel=1e-12)
    assert bound.mean_jct <= replay(alone, fifo).metrics.mean_jct
    assert price_bound(alone, evaluations=20).mean_jct == pytest.approx(100 * slowdown, rel=1e-6)


def test_every_count_has_its_own_tier() -> None:
    """The speeds of menus and modes are those on each count's tier, relative to that on the demanded GPUs."""
    job = Job(
        name="a",
        release_date=0,
        duration=100,
        gpus=4,
        menu=[(1, 0.3), (4, 1.0), (8, 1.6)],
        modes=[Mode(name="m", menu=[(16, 2.0), (32, 3.0)])],
        model="alexnet",
    )
    [slowed] = at_best_tiers(scenario(job)).workload.jobs

    assert slowed.duration == pytest.approx(102)
    assert dict(slowed.menu) == pytest.approx({1: 0.3 * 1.02, 4: 1.0, 8: 1.6 * 1.02 / 1.13})
    assert dict(slowed.modes[0].menu) == pytest.approx({16: 2.0 * 1.02 / 2, 32: 3.0 * 1.02})  # 32 are not there


def test_what_has_no_tiers_stays_as_it_is() -> None:
    """Without penalties, of an unknown model or in a plain cluster nothing changes, nor when done twice."""
    known = Job(name="a", release_date=0, duration=100, gpus=8, model="alexnet")
    plain, none = (
        scenario(known, cluster=Cluster.plain(16)),
        scenario(known).model_copy(update={"speed": Speed()}),
    )

    assert at_best_tiers(plain) is plain
    assert at_best_tiers(none) is none
    assert at_best_tiers(scenario(known.model_copy(update={"model": "?"}))).workload.jobs[0].duration == 100
    once = at_best_tiers(scenario(known))
    assert at_best_tiers(once) == once


def test_no_policy_beats_the_bound() -> None:
    """On 20 random workloads with tiers no policy's mean is below the bound, which is above that without."""
    higher = 0
    for seed in range(20):
        random = Random(seed)
        jobs = [
            Job(
                name=str(index),
                release_date=random.randint(0, 20),
                duration=random.uniform(1, 30),
                gpus=random.choice((1, 2, 4, 5, 8, 16)),
                model=random.choice(sorted(TIER_PENALTIES)),
            )
            for index in range(random.randint(1, 12))
        ]
        given = scenario(*jobs)
        bound, without = mean_jct_bound(given), mean_jct_bound(given.model_copy(update={"speed": Speed()}))
        assert bound is not None
        assert without is not None
        higher += bound.mean_jct > 1.01 * without.mean_jct
        for policy in (fifo, srtf):
            assert replay(given, policy).metrics.mean_jct >= bound.mean_jct * (1 - 1e-9), seed
    assert higher > 12


def test_prices_are_no_better_than_the_offline_optimum() -> None:
    """The bound by prices with tiers is at most the optimum without preemption, and more than half of it."""
    for seed in range(3, 5):
        problem = tier_jobs(jobs=5, seed=seed)
        optimum = intervals(problem).objective
        assert optimum is not None
        bound = price_bound(problem.scenario, evaluations=100).mean_jct
        assert 0.5 * float(optimum) < bound <= float(optimum) * (1 + 1e-9)
