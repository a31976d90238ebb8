"""GPU-seconds in cells are those that are there."""

from fractions import Fraction

import numpy as np
import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.bounds.prices.supply import GpuSupply
from tests.gsopt.simulation.scenarios import bundle

EDGES = np.array([0.0, 2.0, 4.0, 10.0])


def _one(date: float = 0.0, gpu_type: str = "") -> Job:
    return Job(name=f"{date} {gpu_type}", release_date=date, duration=1, gpus=1, gpu_type=gpu_type)


def test_machines_that_leave_are_away_until_they_return() -> None:
    """Two GPUs of six are away from 3 s to 5 s, on a clock that begins at the first release date."""
    cluster = Cluster.uniform(machines=3, gpus=2)
    events: list[Event] = [Leave(time=13, servers=["machine 0.1"]), Return(time=15, servers=["machine 0.1"])]
    given = Scenario(workload=bundle([_one(10.0)]), cluster=cluster, events=events)
    assert GpuSupply.of(given).gpu_seconds(EDGES).tolist() == [[12, 10, 34]]


def test_what_is_asked_for_goes_at_the_deadline() -> None:
    """Which machine answers a request is decided later, but that one does is known; plain GPUs go."""
    racks, plain = Cluster.uniform(machines=2, gpus=2), Cluster.plain(4)
    asked: list[Event] = [Reclaim(time=0, deadline=4, servers=1)]
    gone: list[Event] = [Reclaim(time=0, deadline=4, gpus=2), Return(time=7, gpus=1)]
    for cluster, events, last in ((racks, asked, 12), (plain, gone, 15)):
        given = Scenario(workload=bundle([_one()]), cluster=cluster, events=events)
        assert GpuSupply.of(given).gpu_seconds(EDGES).tolist() == [[8, 8, last]]


def test_types_have_what_is_there_of_them() -> None:
    """Of a type to which jobs are tied there are as many GPUs as have not left."""
    machines = [Machine(name="a", gpus=1, gpu_type="fast"), Machine(name="b", gpus=3, gpu_type="slow")]
    given = Scenario(
        workload=bundle([_one(), _one(1.0, "fast")]),
        cluster=Cluster(racks=[Rack(name="r", machines=machines)]),
        events=[Leave(time=3, servers=["a"])],
    )
    assert GpuSupply.of(given).gpu_seconds(EDGES).tolist() == [[8, 7, 18], [2, 1, 0]]


def test_slower_types_are_counted_by_what_they_are_worth() -> None:
    """Three GPUs that are three times slower, are worth one; two of them are lent from 4 s on."""
    machines = [Machine(name=name, gpus=1, gpu_type=kind) for name, kind in zip("abcd", "vttt", strict=True)]
    given = Scenario(
        workload=bundle([_one(), _one(1.0, "t")]),
        cluster=Cluster(racks=[Rack(name="r", machines=machines)]),
        speed=Speed(gpu_types={"t": 3.0}),
        events=[Leave(time=0, servers=["b", "c", "d"]), Loan(time=4, servers=2, gpu_type="t")],
    )
    assert GpuSupply.of(given).gpu_seconds(EDGES) == pytest.approx(np.array([[2, 2, 10], [0, 0, 4]]))


def test_changes_before_the_first_release_date_count() -> None:
    """What has changed before the clock begins is how it begins."""
    changes = [CapacityChange(time=1, gpus=0), CapacityChange(time=5, gpus=3), CapacityChange(time=13, gpus=4)]
    given = Scenario(workload=bundle([_one(9.0)]), cluster=Cluster.plain(4), capacity_changes=changes)
    assert GpuSupply.of(given).gpu_seconds(EDGES).tolist() == [[6, 6, 24]]


def test_shared_gpus_count_for_every_job() -> None:
    """Where two jobs may share a GPU there are twice as many, of each type too."""
    machines = [Machine(name="a", gpus=1, gpu_type="fast"), Machine(name="b", gpus=3, gpu_type="slow")]
    given = Scenario(
        workload=bundle([_one(), _one(1.0, "fast")]),
        cluster=Cluster(racks=[Rack(name="r", machines=machines)]),
        share_limit=2,
    )
    assert GpuSupply.of(given).gpu_seconds(EDGES) == pytest.approx(np.array([[16, 16, 48], [4, 4, 12]]))


@pytest.mark.parametrize(("before", "after"), [(8, 2), (2, 8)])
def test_changes_at_times_that_doubles_cannot_say_take_nothing_away(before: int, after: int) -> None:
    """Between the doubles around 999,999,999.7 s there is as much as before or after, whichever is more."""
    job = Job(name="a", release_date=0.3, duration=1, gpus=1)
    changes = [CapacityChange(time=0, gpus=before), CapacityChange(time=1e9, gpus=after)]
    given = Scenario(workload=bundle([job]), cluster=Cluster.plain(8), capacity_changes=changes)
    supply = GpuSupply.of(given)
    _, low, high = supply.times.tolist()

    assert Fraction(low) < Fraction("999999999.7") < Fraction(high)
    assert supply.gpus.tolist() == [[before, 8, after]]
