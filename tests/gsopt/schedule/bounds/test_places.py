"""Bounds with places: fewer machines and racks, and the best network tiers."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings

from formulations.sharing import orders
from gsopt.core.numbers.grid import decimal
from gsopt.core.numbers.tolerances import SPAN_ERROR
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Mode, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed, TierPenalty
from gsopt.schedule.bounds import mean_jct_bound, on_best_tiers
from gsopt.schedule.bounds.places import places
from gsopt.schedule.bounds.prices import price_bound
from gsopt.simulation import replay
from heuristics.policies import dally, fifo_skipping, srsf
from instances.sharing import interfering_jobs
from tests.effort import cases
from tests.exactness import sharing as oracle
from tests.gsopt.simulation.scenarios import bundle, tree_scenarios


def draw(random: Random, share_limit: int) -> Scenario:
    """Draw jobs of models of which some have no slowdowns of their own, and some are there twice."""
    models = [str(number) for number in range(random.randint(1, 4))]
    levels = [1.0, 1.0, 1.5, 2.0, 4.0, random.uniform(1, 3)]
    jobs = [
        Job(
            name=str(number),
            release_date=0,
            duration=random.randint(1, 9),
            gpus=1,
            model=random.choice([*models, "unknown"]),
        )
        for number in range(random.randint(2, 5))
    ]
    slowdowns = {one: {other: random.choice(levels) for other in models} for one in models}
    return Scenario(
        workload=Workload(jobs=jobs),
        cluster=Cluster.uniform(machines=1, gpus=2),
        speed=Speed(interference=slowdowns, default_interference=random.choice(levels)),
        share_limit=share_limit,
    )


def sums(scenario: Scenario) -> Iterator[Fraction]:
    """Yield, exactly, what the jobs on a GPU take up at their speeds, for all that may be there together."""
    jobs, taken = scenario.workload.jobs, [Fraction(place) for place in places(scenario)]
    for size in range(1, scenario.share_limit + 1):
        for beside in combinations(range(len(jobs)), size):
            total = Fraction(0)
            for own in beside:
                slow = [scenario.speed.interference_of(jobs[own], jobs[k]) for k in beside if k != own]
                total += taken[own] / Fraction(max([1.0, *slow]))
            yield total


@pytest.mark.parametrize("share_limit", [1, 2, 3, 4])
def test_no_jobs_take_up_more_than_a_gpu(share_limit: int) -> None:
    """Whichever jobs share a GPU, at the speeds that they have there their places are no more than it has."""
    for seed in range(cases(100)):
        scenario = draw(Random(seed), share_limit)
        assert max(sums(scenario)) <= share_limit
        assert all(1 - 1e-12 <= place <= 2 for place in places(scenario))


def test_places_by_hand() -> None:
    """Slowdowns of 1 leave a place each; of 2 and more a GPU each; a job that is alone has what it demands."""
    taken = []
    for slowdown, limit in ((1.0, 2), (2.0, 2), (4.0, 2), (4.0, 1)):
        jobs = [Job(name=n, release_date=0, duration=2, gpus=1) for n in "ab"]
        cluster, speed = Cluster.uniform(machines=1, gpus=1), Speed(default_interference=slowdown)
        workload = Workload(jobs=jobs)
        taken.append(places(Scenario(workload=workload, cluster=cluster, speed=speed, share_limit=limit)))

    assert taken == [[1.0, 1.0], pytest.approx([2, 2]), pytest.approx([2, 2]), [1.0, 1.0]]


def test_no_schedule_with_starts_at_events_is_below_the_bounds() -> None:
    """Neither prices nor formulas are above the optimum of trying everything."""
    for seed in range(cases(60)):
        problem = oracle.draw(Random(seed))
        best = float(oracle.optimum(problem))
        formulas = mean_jct_bound(problem.scenario, evaluations=0)
        assert formulas is not None
        assert formulas.mean_jct <= best * (1 + 1e-9)
        assert price_bound(problem.scenario, evaluations=20).mean_jct <= best * (1 + 1e-9)


def test_no_schedule_with_starts_at_any_time_is_below_the_bounds() -> None:
    """Neither prices nor formulas are above the optimum of all orders of starts and ends."""
    for seed in range(cases(10)):
        problem = interfering_jobs(jobs=3, gpus=2, most=3.0, load=3.0, seed=seed, starts="any")
        best = orders(problem).objective
        assert best is not None
        assert price_bound(problem.scenario, evaluations=20).mean_jct <= float(best) * (1 + 1e-9)


def test_slowdowns_raise_the_bound() -> None:
    """The bound grows with the slowdowns, to that of GPUs which nobody shares where they are 2."""
    workload = interfering_jobs(jobs=20, gpus=4, load=3.0, seed=1).workload
    cluster = Cluster.uniform(machines=1, gpus=4)
    found = [
        price_bound(
            Scenario(
                workload=workload,
                cluster=cluster,
                speed=Speed(default_interference=slowdown),
                share_limit=limit,
            ),
            evaluations=60,
        ).mean_jct
        for slowdown, limit in ((1.0, 2), (1.3, 2), (1.7, 2), (2.0, 2), (1.0, 1))
    ]

    assert found[:4] == sorted(found[:4])
    assert found[0] * 1.2 < found[3]
    assert found[3] == pytest.approx(found[4], rel=1e-3)  # the searches differ by rounding


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
