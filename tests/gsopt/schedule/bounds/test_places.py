"""Places of GPUs that are shared: no pair earns more than there is, and no schedule is below the bound."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from formulations.sharing import orders
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.bounds import mean_jct_bound
from gsopt.schedule.bounds.places import places
from gsopt.schedule.bounds.prices import price_bound
from instances.sharing import interfering_jobs
from tests.effort import cases
from tests.exactness import sharing as oracle


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
    assert found[3] == pytest.approx(found[4])
