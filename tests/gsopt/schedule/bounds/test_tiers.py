"""What no placement spares a job."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from gsopt.core.numbers.grid import decimal
from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed, TierPenalty
from gsopt.schedule.bounds import mean_jct_bound, on_best_tiers
from gsopt.schedule.bounds.prices import price_bound
from gsopt.simulation import replay
from heuristics.policies import dally, fifo_skipping, srsf
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle, tree_scenarios

RACKS = Cluster.uniform(racks=2, machines=2, gpus=4)
PENALTY = TierPenalty(machine=0.25, rack=0.5, network=3.0)


def scenario(*jobs: Job, penalty: TierPenalty = PENALTY) -> Scenario:
    """Put jobs of the model m on two racks of two machines of four GPUs."""
    return Scenario(workload=bundle(jobs), cluster=RACKS, speed=Speed(tiers={"m": penalty}))


@pytest.mark.parametrize(
    ("gpus", "slowdown"), [(1, 1.0), (2, 1.25), (4, 1.25), (5, 1.5), (8, 1.5), (9, 4.0), (16, 4.0)]
)
def test_a_job_has_the_best_tier_that_its_gpus_can_have(gpus: int, slowdown: float) -> None:
    """A job is as slow as on the innermost tier that has so many GPUs; a single GPU has no tier."""
    (job,) = on_best_tiers(
        scenario(Job(name="a", release_date=3, duration=8, gpus=gpus, model="m"))
    ).workload.jobs

    assert (job.duration, job.release_date, job.gpus) == (8 * slowdown, 3, gpus)


def test_a_wider_tier_may_be_the_cheaper_one() -> None:
    """Where a wider tier costs less than an inner one, GPUs that fit a machine may be taken from two."""
    odd = TierPenalty(machine=0.5, rack=0.25, network=3.0)
    (job,) = on_best_tiers(
        scenario(Job(name="a", release_date=0, duration=8, gpus=2, model="m"), penalty=odd)
    ).workload.jobs

    assert job.duration == 10


def test_menus_and_modes_keep_their_speeds_relative_to_the_work() -> None:
    """On every number of GPUs and in every mode the work takes as long as on its best tier."""
    job = Job(
        name="a",
        release_date=0,
        duration=8,
        gpus=4,
        model="m",
        menu=[(1, 0.25), (4, 1.0), (16, 2.0), (32, 2.5)],
        modes=[Mode(name="half", menu=[(8, 0.75)])],
    )
    (freed,) = on_best_tiers(scenario(job)).workload.jobs
    seconds = {count: freed.duration / speed for count, speed in freed.menu}

    assert seconds == {1: 8 / 0.25, 4: 8 * 1.25, 16: 8 * 4 / 2, 32: 8 / 2.5}
    assert freed.duration / freed.modes[0].menu[0][1] == pytest.approx(8 * 1.5 / 0.75)
    assert (4, 1.0) in freed.menu


def test_nothing_changes_where_no_tier_counts() -> None:
    """Plain clusters, other models and scenarios without penalties are given back as they are."""
    other = scenario(Job(name="a", release_date=0, duration=8, gpus=4, model="n"))
    plain = Scenario(
        workload=bundle([Job(name="a", release_date=0, duration=8, gpus=4, model="vgg11")]),
        cluster=Cluster.plain(8),
        speed=Speed(tiers=TIER_PENALTIES),
    )

    assert on_best_tiers(other) is other
    assert on_best_tiers(plain) is plain
    twice = on_best_tiers(scenario(Job(name="a", release_date=0, duration=8, gpus=4, model="m")))
    assert on_best_tiers(twice) is twice


def test_bounds_count_the_tier_that_nobody_is_spared() -> None:
    """One job on all GPUs takes four times its duration, and both bounds say so."""
    alone = scenario(Job(name="a", release_date=0, duration=8, gpus=16, model="m"))
    bound = mean_jct_bound(alone)

    assert bound is not None
    assert bound.mean_jct == pytest.approx(32)
    assert price_bound(alone, evaluations=50).mean_jct == pytest.approx(32, rel=0.02)
    assert replay(alone, fifo_skipping).metrics.mean_jct == 32


@settings(max_examples=cases(60))
@given(given_scenario=tree_scenarios())
def test_no_policy_beats_the_bound(given_scenario: Scenario) -> None:
    """The bound is below what policies achieve wherever jobs are placed."""
    tiered = given_scenario.model_copy(
        update={"speed": given_scenario.speed.model_copy(update={"tiers": {"": PENALTY}})}
    )
    bound = mean_jct_bound(tiered)
    for policy in (fifo_skipping, srsf, dally):
        found = replay(tiered, policy, exact=True)
        if bound is not None and None not in found.completion_times:
            assert bound.mean_jct <= float(Fraction(found.metrics.mean_jct)) * (1 + SPAN_ERROR)


def test_no_job_is_slower_for_rounding() -> None:
    """Of seconds and speeds that doubles cannot say, the freed job has the next that make it no slower."""
    for part in range(1, 40):
        network = part / 7
        job = Job(
            name="a", release_date=0, duration=part / 11, gpus=9, model="m", menu=[(9, 1.0), (4, 1 / part)]
        )
        given = scenario(job, penalty=TierPenalty(machine=0.25, rack=0.5, network=max(network, 0.5)))
        freed = on_best_tiers(given).workload.jobs[0]
        slower = 1 + decimal(max(network, 0.5))
        speed = decimal(1 / part) * slower / Fraction(5, 4)
        assert 0 <= decimal(job.duration) * slower - decimal(freed.duration) < Fraction(1, 10**14)
        assert 0 <= decimal(dict(freed.menu)[4]) - speed < Fraction(1, 10**14)
        assert dict(freed.menu)[9] == 1
