"""Gandiva: anything is accepted, turns are taken, and jobs move together."""

from math import nan
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import Replay, simulate
from gsopt.testing import check_policy
from heuristics.policies import gandiva
from tests.gsopt.simulation.scenarios import bundle

RACKS = Cluster.uniform(racks=2, machines=1, gpus=3)

SPEED = Speed(tiers={"cnn": TierPenalty(machine=0.0, rack=0.5, network=1.0)})


def made(*sizes: tuple[float, float, int]) -> Workload:
    """Make jobs of (release date, duration, GPUs) of one model."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=g, model="cnn") for i, (r, d, g) in enumerate(sizes)
    )


def pieces(run: Replay, job: str) -> list[tuple[float, tuple[int, ...]]]:
    """Return when a job was where."""
    assert run.schedule is not None
    return [(each.start, each.placement) for each in run.schedule.segments if each.job == job]


def test_a_job_moves_when_closer_gpus_are_free() -> None:
    """It runs at half its speed over two racks for 4 s, and then on a machine."""
    run = simulate(made((0, 4, 2), (0, 9, 2), (0, 5, 2)), gandiva, cluster=RACKS, speed=SPEED, record=True)
    assert pieces(run, "j2") == [(0, (2, 5)), (4, (0, 1))]
    assert run.completion_times == (4, 9, 7)


@pytest.mark.parametrize(("placement", "gpus"), [("best", (6, 7)), ("first", (0, 1))])
def test_placement(placement: str, gpus: tuple[int, ...]) -> None:
    """A job that comes has the tightest machine, or the first one."""
    jobs, machines = made((0, 1, 4), (0, 9, 2), (1, 1, 2)), Cluster.uniform(machines=2, gpus=4)
    run = simulate(jobs, gandiva, cluster=machines, record=True, placement=placement)
    assert pieces(run, "j2") == [(1, gpus)]


def test_a_job_may_move_onto_gpus_of_its_own() -> None:
    """What it holds counts as free for it: one more GPU beside one of its own is enough."""
    jobs = made((0, 9, 1), (0, 2, 1), (0, 9, 2), (0, 5, 2))
    machines = Cluster.uniform(racks=1, machines=2, gpus=3)
    run = simulate(jobs, gandiva, cluster=machines, speed=SPEED, record=True)
    assert pieces(run, "j3") == [(0, (2, 5)), (2, (1, 2))]


def test_a_job_moves_when_gpus_come_back() -> None:
    """Machines that return are as good as GPUs that jobs leave."""
    changes = [CapacityChange(time=0, gpus=4), CapacityChange(time=5, gpus=6)]
    jobs = made((0, 9, 2), (0, 9, 2))
    run = simulate(jobs, gandiva, cluster=RACKS, speed=SPEED, record=True, capacity_changes=changes)
    assert pieces(run, "j1") == [(0, (2, 3)), (5, (3, 4))]


def test_waiting_jobs_come_before_those_that_would_move() -> None:
    """GPUs that become free go to who waits, however far apart others run."""
    run = simulate(
        made((0, 4, 2), (0, 9, 2), (0, 5, 2), (1, 3, 2)), gandiva, cluster=RACKS, speed=SPEED, record=True
    )
    assert run.start_times[3] == 4
    assert [start for start, _ in pieces(run, "j2")] == [0, 7]


def test_jobs_take_turns() -> None:
    """When a lease ends, who has waited longer comes first; without leases nobody is stopped."""
    jobs = made((0, 4, 6), (1, 4, 6))
    turns = simulate(jobs, gandiva, cluster=RACKS, lease=2)
    assert turns.completion_times == (6, 8)
    assert turns.metrics.preemptions == 2
    assert simulate(jobs, gandiva, cluster=RACKS, lease=None).metrics.preemptions == 0


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound."""
    workload = made((0, 5, 2), (0, 9, 4), (1, 6, 3), (1, 2, 1), (2, 8, 5), (9, 3, 2), (9, 7, 6))
    calm = Scenario(workload=workload, cluster=Cluster.uniform(racks=2, machines=2, gpus=2), speed=SPEED)
    changes = (CapacityChange(time=3, gpus=3), CapacityChange(time=12, gpus=8))
    overheads = {"": Overhead(start=0.5, stop=1, resize=0.25)}
    rough = calm.model_copy(update={"capacity_changes": changes, "overheads": overheads})
    assert check_policy(gandiva, [calm, rough], lease=3) == 4
    assert check_policy(gandiva, [calm, rough], lease=None, placement="first") == 4


@pytest.mark.parametrize(("option", "value"), [("lease", 0), ("lease", nan), ("placement", "tight")])
def test_bad_options(option: str, value: Any) -> None:
    """An option out of its range is refused in one line that names it."""
    with pytest.raises(InvalidInput, match=f"^{option}: "):
        simulate(made((0, 1, 1)), gandiva, cluster=RACKS, **{option: value})
