"""The bound by prices is below every schedule, whatever the prices, and never falls with more time."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain, permutations, product
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gsopt.core.errors import InvalidInput, Unsupported
from gsopt.core.numbers.compiled import plain
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.bounds import mean_jct, mean_jct_bound, position_bound
from gsopt.schedule.bounds.prices import PriceBound, kernel, price_bound
from gsopt.schedule.bounds.prices.ascent import Ascent, Enough, Prices
from gsopt.schedule.bounds.prices.demand import Demand
from gsopt.schedule.bounds.prices.supply import GpuSupply
from gsopt.simulation import replay, simulate
from gsopt.simulation.parts.greedy import Greedy
from heuristics import policies
from tests.effort import cases
from tests.exactness import prices as oracle
from tests.gsopt.simulation.scenarios import bundle, rich_scenarios

calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def _rigid(random: Random, jobs: int, gpus: int) -> Workload:
    return bundle(
        Job(
            name=str(number),
            release_date=random.uniform(0, 3 * jobs / gpus),
            duration=random.lognormvariate(1, 1),
            gpus=random.choice([count for count in (1, 1, 2, 4) if count <= gpus]),
        )
        for number in range(jobs)
    )


@settings(calm, max_examples=cases(50))
@given(scenario=rich_scenarios(), data=st.data())
def test_no_policy_beats_it(scenario: Scenario, data: st.DataObject) -> None:
    """With modes, phases, types, memory, sharing, events and changes of capacity it is below every policy."""
    name = data.draw(st.sampled_from(policies.__all__))
    try:
        run = replay(scenario, getattr(policies, name))
    except Unsupported:  # it mixes no kinds of GPU, and a job needs several
        return
    if None not in run.completion_times:
        bound = price_bound(scenario, evaluations=data.draw(st.integers(1, 12)))
        formulas = mean_jct_bound(scenario, evaluations=0)
        assert formulas is not None
        assert max(bound.mean_jct, formulas.mean_jct) <= run.metrics.mean_jct * (1 + 1e-9)


def test_no_list_schedule_beats_it() -> None:
    """On small instances it is below the best of all preemptive priority orders, and not far."""
    random, ratios = Random(3), []
    for _ in range(cases(10, least=4)):
        gpus = random.randint(1, 3)
        jobs = _rigid(random, 4, gpus)

        def mean(order: tuple[int, ...], jobs: Workload = jobs, gpus: int = gpus) -> float:
            run = simulate(jobs, lambda state: Greedy(state, order.index), cluster=gpus, bound=False)
            return float(run.metrics.mean_jct)

        best = min(map(mean, permutations(range(4))))
        bound = price_bound(Scenario(workload=jobs, cluster=Cluster.plain(gpus)), evaluations=60).mean_jct
        assert bound <= best * (1 + 1e-12)
        ratios.append(bound / best)
    assert sum(ratios) / len(ratios) > 0.85


def test_a_longer_run_never_proves_less() -> None:
    """Every bound that is reported on the way is better than the one before, and so is that of a longer run."""
    scenario = Scenario(workload=_rigid(Random(5), 60, 8), cluster=Cluster.plain(8))
    reported: list[PriceBound] = []
    found = [price_bound(scenario, evaluations=number) for number in (1, 7, 40, 90)]
    last = price_bound(scenario, evaluations=90, on_progress=reported.append)
    assert [bound.mean_jct for bound in found] == sorted(bound.mean_jct for bound in found)
    values = [bound.total_jct for bound in reported]
    assert values == sorted(set(values))
    assert reported[-1].total_jct == last.total_jct == found[-1].total_jct
    assert found[-1].evaluations == 90
    assert len(found[-1].prices) > len(found[0].prices)


def test_it_goes_on_from_another() -> None:
    """A bound that starts from the prices of another is at least as good after one evaluation."""
    scenario = Scenario(workload=_rigid(Random(5), 60, 8), cluster=Cluster.plain(8))
    known = price_bound(scenario, evaluations=40)
    again = price_bound(scenario, evaluations=1, start=known)
    assert again.total_jct == known.total_jct
    assert price_bound(scenario, evaluations=20, start=known).total_jct > known.total_jct
    assert (again.times, again.prices) == (known.times, known.prices)


def test_it_is_much_better_than_formulas() -> None:
    """On a busy cluster the bound on waiting is more than twice that of the best formula for many jobs."""
    workload = _rigid(Random(8), 150, 8)
    scenario = Scenario(workload=workload, cluster=Cluster.plain(8))
    value = simulate(workload, policies.srsf, cluster=8, bound=False).metrics.mean_jct
    formula = mean_jct(position_bound(workload, 8), workload)
    found = price_bound(scenario, evaluations=100).mean_jct
    assert formula < found <= value
    assert value - found < (value - formula) / 2


@pytest.mark.parametrize("date", [1.7e9, 2.0**31])
def test_late_dates_cost_no_digits(date: float) -> None:
    """With all jobs at a later date the bound on the mean job completion time is the same but for a tick."""
    early = bundle(
        job.model_copy(update={"release_date": float(number)})
        for number, job in enumerate(_rigid(Random(1), 40, 4).jobs)
    )
    late = bundle(job.model_copy(update={"release_date": job.release_date + date}) for job in early.jobs)
    first, second = (
        price_bound(Scenario(workload=each, cluster=Cluster.plain(4)), evaluations=30) for each in (early, late)
    )
    assert first.total_jct == second.total_jct
    assert (second.origin, first.times) == (date, second.times)
    assert second.total_completion(late) == pytest.approx(first.total_completion(early) + 40 * date, rel=1e-12)


def test_what_rounding_moves_is_subtracted() -> None:
    """Release dates rounded to earlier ones lower the bound by as much, times the weight of the job."""
    jobs = bundle(Job(name=str(date), release_date=date, duration=1, gpus=1) for date in (0, 1, 2))
    scenario = Scenario(workload=jobs, cluster=Cluster.plain(2))
    demand = Demand.of(scenario, [1.0, 2.0, 4.0])
    rounded = replace(demand, slip=np.array([0.0, 0.25, 0.125]))
    values = [_first_value(each, GpuSupply.of(scenario)) for each in (demand, rounded)]
    assert 1 <= values[0] - values[1] < 1 + 1e-8


def _first_value(demand: Demand, supply: GpuSupply) -> float:
    ascent = Ascent(demand, supply, cells=40, compiled=False, on_evaluation=_stop)
    with suppress(Enough):
        ascent.climb()
    return ascent.best.value


def _stop(_: Prices) -> None:
    raise Enough


def _far_apart(random: Random) -> list[list[Job]]:
    """Draw jobs of three decades, of nanoseconds, seconds and days."""
    parts = []
    for number, (date, unit) in enumerate(((0.0, 1e-9), (1e6, 1.0), (2e9, 1e5))):
        menu = [(1, 1.0), (2, random.choice((1.5, 2.0)))]
        parts.append(
            [
                Job(
                    name=f"{number}.{k}",
                    release_date=date,
                    duration=unit * random.randint(1, 9),
                    gpus=1,
                    menu=menu,
                )
                for k in range(random.randint(1, 4))
            ]
        )
    return parts


@pytest.mark.parametrize("seed", range(5))
def test_jobs_far_away_cost_nothing(seed: int) -> None:
    """Parts that are decades apart have the bounds that they have alone, and prices that prove all of it."""
    parts = _far_apart(Random(seed))
    cluster = Cluster.plain(2)
    whole, *each = (
        Scenario(workload=Workload(jobs=jobs), cluster=cluster) for jobs in ([*chain(*parts)], *parts)
    )
    weights = [float(1 + k % 3) for k in range(len(whole.workload.jobs))]
    own = iter(weights)
    alone = [
        price_bound(part, weights=[next(own) for _ in part.workload.jobs], evaluations=8, compiled=False)
        for part in each
    ]
    heard: list[PriceBound] = []
    found = price_bound(whole, weights=weights, evaluations=8, compiled=False, on_progress=heard.append)

    assert found.total_jct == pytest.approx(sum(part.total_jct for part in alone), rel=1e-15)
    assert found.slopes == tuple(slope for part in alone for slope in part.slopes)
    assert (found.jobs, found.weight, found.origin) == (len(weights), sum(weights), 0.0)
    assert Fraction(found.total_jct) <= oracle.proven(whole, list(map(Fraction, weights)), found)
    assert heard[-1].total_jct == found.total_jct
    again = price_bound(whole, weights=weights, evaluations=1, compiled=False, start=found)
    assert again.total_jct == pytest.approx(found.total_jct, rel=1e-9)


@pytest.mark.parametrize("compiled", [False, True])
def test_magnitudes_in_one_part_prove_no_more(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs of nanoseconds beside jobs of years are bounded by no more than their prices prove in fractions."""
    monkeypatch.setattr(kernel, "evaluate_jobs", plain(kernel.evaluate_jobs))
    for seed in range(cases(12, least=4)):
        random = Random(seed)
        jobs = [
            Job(
                name=str(k),
                release_date=1.7e9 + random.choice((0.0, 0.1, 7.3)),
                duration=10.0 ** random.randint(-8, 8) * random.choice((1.0, 0.3, 7.7)),
                gpus=1,
                menu=[(1, 1.0), (3, random.choice((1.1, 3.0, 0.7 / 0.3)))],
            )
            for k in range(5)
        ]
        scenario = Scenario(
            workload=bundle(sorted(jobs, key=lambda job: job.release_date)), cluster=Cluster.plain(4)
        )
        found = price_bound(scenario, evaluations=6, compiled=compiled)
        assert Fraction(found.total_jct) <= oracle.proven(scenario, [Fraction(1)] * 5, found)


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_unit_of_time_does_not_matter(unit: float) -> None:
    """In another unit of time everything is the same, up to what rounding changes in the search."""
    one = _rigid(Random(2), 30, 4)
    other = bundle(
        job.model_copy(update={"release_date": job.release_date * unit, "duration": job.duration * unit})
        for job in one.jobs
    )
    first, second = (
        price_bound(Scenario(workload=each, cluster=Cluster.plain(4)), evaluations=25) for each in (one, other)
    )
    assert second.mean_jct == pytest.approx(first.mean_jct * unit, rel=1e-3)


def test_weights_count() -> None:
    """Of two jobs that cannot run together the one that weighs more goes first: 3 * 1 + 2, not 1 + 3 * 2."""
    jobs = bundle(Job(name=name, release_date=0, duration=1, gpus=1) for name in "ab")
    found = price_bound(Scenario(workload=jobs, cluster=Cluster.plain(1)), weights=[1, 3], evaluations=99)
    assert 4.9 < found.total_jct <= 5
    assert (found.weight, found.mean_jct) == (4, found.total_jct / 4)


def test_jobs_tied_to_a_type_wait_for_it() -> None:
    """Four jobs tied to two GPUs of eight wait for each other; the bound sees it by a price of that type."""
    kinds = ("fast", "slow", "slow", "slow")
    machines = [Machine(name=str(number), gpus=2, gpu_type=kind) for number, kind in enumerate(kinds)]
    jobs = bundle(Job(name=name, release_date=0, duration=1, gpus=2, gpu_type="fast") for name in "abcd")
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    found = price_bound(Scenario(workload=jobs, cluster=cluster), evaluations=99)
    assert 2.2 < found.mean_jct <= 2.5
    assert max(found.type_prices["fast"]) > 0.5


def test_slow_gpus_are_worth_what_they_do() -> None:
    """Three jobs for one fast GPU and three slow ones, worth another: 1 s, 1.5 s or so, and 2 s at the least.

    Tied to the slow ones each takes three seconds by itself.
    """
    machines = [Machine(name="v", gpus=1, gpu_type="v"), Machine(name="t", gpus=3, gpu_type="t")]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    for kind, least, most in (("", 1.1, 4 / 3), ("t", 2.99, 3)):
        jobs = bundle(Job(name=name, release_date=0, duration=1, gpus=1, gpu_type=kind) for name in "abc")
        given = Scenario(workload=jobs, cluster=cluster, speed=Speed(gpu_types={"t": 3.0}))
        assert least < price_bound(given, evaluations=99).mean_jct <= most


def test_the_capacity_is_that_of_the_time() -> None:
    """While no GPU is there no job runs, and half of the GPUs take twice the time."""
    jobs = bundle(Job(name=str(number), release_date=0, duration=1, gpus=1) for number in range(4))
    changes = [CapacityChange(time=0, gpus=0), CapacityChange(time=10, gpus=2)]
    given = Scenario(workload=jobs, cluster=Cluster.plain(4), capacity_changes=changes)
    assert 11.3 < price_bound(given, evaluations=99).mean_jct <= 11.5


def test_modes_phases_and_room_are_looked_at() -> None:
    """A job alone needs each phase's work at its least slowdown, on as many GPUs as there are."""
    mode = Mode(name="m", menu=[(2, 2.0), (4, 8.0)])
    phases = [Phase(until=0.5, slowdown=3.0), Phase(until=1, slowdown=2.0, modes={"m": 1.0})]
    job = Job(name="a", release_date=1, duration=8, gpus=1, modes=[mode], phases=phases)
    found = price_bound(Scenario(workload=bundle([job]), cluster=Cluster.plain(3)), evaluations=1)
    assert found.mean_jct == pytest.approx((4 * 3 + 4 * 1) / 2, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"weights": [1.0]}, "weights"),
        ({"weights": [1.0, 0.0]}, "weights[1]"),
        ({"weights": [float("nan"), 1.0]}, "weights[0]"),
        ({"cells": 3}, "cells"),
        ({"evaluations": 0}, "evaluations"),
        ({"seconds": -1.0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], field: str) -> None:
    """An option out of its range is named in one line."""
    jobs = bundle(Job(name=name, release_date=0, duration=1, gpus=1) for name in "ab")
    bad: dict[str, object] = options
    with pytest.raises(InvalidInput) as raised:
        price_bound(Scenario(workload=jobs, cluster=Cluster.plain(1)), **bad)  # type: ignore[arg-type]
    assert raised.value.field == field


def test_without_jobs_there_is_no_bound() -> None:
    """An empty workload is refused."""
    with pytest.raises(InvalidInput, match="must hold a job"):
        price_bound(Scenario(workload=bundle([]), cluster=Cluster.plain(1)))


def test_no_time_is_one_evaluation() -> None:
    """Without time the first prices are tried all the same, and with few jobs they are good ones."""
    jobs = bundle(Job(name=name, release_date=0, duration=1, gpus=1) for name in "ab")
    found = price_bound(Scenario(workload=jobs, cluster=Cluster.plain(1)), seconds=0)
    assert found.evaluations == 1
    assert found.mean_jct == pytest.approx(1.5)


def test_all_grids_give_bounds() -> None:
    """Whatever the prices and cells that a run begins with, the result is below the optimum of 1.5 s."""
    jobs = bundle(Job(name=name, release_date=7, duration=1, gpus=1) for name in "ab")
    scenario = Scenario(workload=jobs, cluster=Cluster.plain(1))
    known = price_bound(scenario, evaluations=1)
    for times, price in product([(0.0, 1.0), (0.0, 0.3, 0.9, 5.0), (0.0, 1e6)], [0.0, 1e-9, 0.5, 3.0, 1e9]):
        wild = PriceBound(
            **{**vars(known), "times": times, "prices": (price,) * (len(times) - 1), "total_jct": np.nan}
        )
        assert price_bound(scenario, start=wild, evaluations=1).mean_jct <= 1.5
