"""Demand: what is read from jobs."""

from fractions import Fraction
from math import ulp

import numpy as np
import pytest

from gsopt.core.numbers.grid import decimal
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.bounds.prices.demand import Demand, types_of
from gsopt.schedule.bounds.work import area, height
from tests.gsopt.simulation.scenarios import bundle


def test_area_and_height_are_those_of_the_formulas() -> None:
    """Without modes and phases the least GPU-seconds and seconds are those that other bounds use."""
    menu = [(1, 0.7), (2, 1.0), (3, 1.6), (4, 1.7), (8, 2.5)]
    jobs = [
        Job(name="a", release_date=3, duration=60, gpus=2, menu=menu),
        Job(name="b", release_date=5, duration=7, gpus=3),
    ]
    demand = Demand.of(Scenario(workload=bundle(jobs), cluster=Cluster.plain(8)), [2.0, 1.0])
    assert np.allclose(demand.area, [float(area(job)) for job in jobs], rtol=1e-12)
    assert np.allclose(demand.height, [float(height(job)) for job in jobs], rtol=1e-12)
    assert (demand.release.tolist(), demand.weight.tolist()) == ([0.0, 2.0], [2.0, 1.0])
    assert (demand.gpus_in_all.tolist(), demand.most_steps, demand.is_rigid) == ([8.0, 3.0], 3, False)


def test_modes_of_types_are_points_of_one_hull() -> None:
    """Three GPUs that are three times slower are worth one; at triple speed there, they make a job as fast."""
    machines = [Machine(name=name, gpus=6, gpu_type=name) for name in ("v", "t")]
    triple = Mode(name="t", menu=[(3, 3.0)], gpu_type="t")
    plain = Mode(name="t", menu=[(1, 1.0)], gpu_type="t")
    jobs = [
        Job(name="either", release_date=0, duration=1, gpus=1, gpu_type="v", modes=[triple]),
        Job(name="slower", release_date=0, duration=1, gpus=1, gpu_type="v", modes=[plain]),
        Job(name="tied", release_date=0, duration=1, gpus=2, gpu_type="t", modes=[plain]),
        Job(name="any", release_date=0, duration=1, gpus=9),
    ]
    given = Scenario(
        workload=bundle(jobs),
        cluster=Cluster(racks=[Rack(name="r", machines=machines)]),
        speed=Speed(gpu_types={"t": 3.0}),
    )
    demand = Demand.of(given)
    assert types_of(given) == ["t"]
    assert demand.kind.tolist() == [0, 0, 1, 0]
    assert demand.gpus == pytest.approx([1, 1, 1 / 3, 7])
    assert demand.height == pytest.approx([1, 1, 3, 9 / 7])


def test_a_job_of_linear_speed_has_one_step() -> None:
    """Steps of one efficiency are joined, whatever rounding makes of them, and others are not."""
    menu = [(count, count / 7) for count in range(1, 31)]
    linear = Job(name="a", release_date=0, duration=1, gpus=7, menu=menu)
    bent = Job(name="b", release_date=0, duration=1, gpus=7, menu=[*menu[:20], (30, 29.99 / 7)])
    demand = Demand.of(Scenario(workload=bundle([linear, bent]), cluster=Cluster.plain(30)))
    assert demand.gpus.tolist() == [30, 20, 10]
    assert demand.speed == pytest.approx([30 / 7, 20 / 7, 9.99 / 7])


def test_times_count_in_a_unit_of_the_data() -> None:
    """Multiples of a unit are counted exactly, whatever the clock; rounding moves other dates by their slip."""
    for dates, unit in [
        ((0.3, 1e9), "0.1"),
        ((1.7e9, 1.7e9 + 0.3), "0.1"),
        ((0.0, 1e12), "1"),
        ((7e-9, 0.1, 5e5), "1e-9"),
        ((1e-9, 1 / 3, 1e9), None),
    ]:
        jobs = bundle(Job(name=str(date), release_date=date, duration=1, gpus=1) for date in dates)
        demand = Demand.of(Scenario(workload=jobs, cluster=Cluster.plain(1)))
        if unit is not None:
            assert demand.unit == Fraction(unit)
            assert not demand.slip.any()
        for date, low, slip in zip(dates, demand.release.tolist(), demand.slip.tolist(), strict=True):
            after = (decimal(date) - decimal(dates[0])) / Fraction(demand.unit)
            assert Fraction(low) <= after
            assert float(after - Fraction(low)) == slip <= ulp(low)


def test_only_types_that_limit_anything_count() -> None:
    """A type that all GPUs have is no type, and jobs are numbered by theirs."""
    one = Cluster(racks=[Rack(name="r", machines=[Machine(name="m", gpus=4, gpu_type="x")])])
    machines = [Machine(name="m", gpus=4, gpu_type="x"), Machine(name="n", gpus=4, gpu_type="y")]
    both = Cluster(racks=[Rack(name="r", machines=machines)])
    job = Job(name="a", release_date=0, duration=1, gpus=1, gpu_type="x")
    any_type = Job(name="b", release_date=0, duration=1, gpus=1)
    for cluster, types, kinds in ((one, [], [0, 0]), (both, ["x"], [1, 0])):
        given = Scenario(workload=bundle([job, any_type]), cluster=cluster)
        assert types_of(given) == types
        assert Demand.of(given).kind.tolist() == kinds
