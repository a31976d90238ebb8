"""Break-even: a job waits as long as the offered tier would cost it, and no longer."""

from math import inf
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import Speed, TierPenalty
from gsopt.simulation import simulate
from gsopt.testing import check_policy
from heuristics.policies import break_even
from tests.gsopt.simulation.scenarios import bundle

#: Two racks of one machine of three GPUs: a third pair of GPUs is split.
RACKS = Cluster.uniform(racks=2, machines=1, gpus=3)

SPEED = Speed(tiers={"cnn": TierPenalty(machine=0.5, rack=1.0, network=2.5)})


def made(*sizes: tuple[float, float, int]) -> Workload:
    """Make jobs of (release date, duration, GPUs), the last one of a model that suffers from the network."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=g, model="cnn" if i == len(sizes) - 1 else "")
        for i, (r, d, g) in enumerate(sizes)
    )


def starts(workload: Workload, **options: Any) -> tuple[Any, ...]:
    """Simulate without leases and give when jobs start."""
    return simulate(workload, break_even, cluster=RACKS, speed=SPEED, lease=None, **options).start_times


@pytest.mark.parametrize(
    ("freed", "start"),
    [
        (30, 20),  # the network costs 10 (2.5 - 0.5) = 20 s more, so it waits no longer
        (20.5, 20),
        (19.5, 19.5),
        (5, 5),
    ],
)
def test_a_job_waits_as_long_as_it_could_gain(freed: float, start: float) -> None:
    """It accepts the network when it has waited for what a machine would save, unless one is free before."""
    assert starts(made((0, 100, 2), (0, freed, 2), (0, 10, 2)))[2] == start


@pytest.mark.parametrize("machine_is_free_after", [0.5, 5, 19, 20, 21, 40, 90])
def test_it_loses_at_most_twice_as_much_as_if_it_knew(machine_is_free_after: float) -> None:
    """Whatever the wait for a machine, its time beyond that on a free machine is at most twice the least."""
    jobs = made((0, 100, 2), (0, machine_is_free_after, 2), (0, 10, 2))
    run = simulate(jobs, break_even, cluster=RACKS, speed=SPEED, lease=None)
    lost = run.completion_times[2] - 10 * 1.5
    assert 0 < lost <= 2 * min(machine_is_free_after, 10 * (2.5 - 0.5))


def test_who_gains_nothing_does_not_wait() -> None:
    """A job without penalty, or of which the network is the best tier, takes it at once."""
    assert starts(made((0, 100, 2), (0, 100, 2), (0, 9, 2), (50, 1, 1)))[2] == 0
    assert starts(made((0, 30, 4))) == (0,)


@pytest.mark.parametrize(("clock", "start"), [("offer", 50), ("starvation", 30)])
def test_clocks(clock: str, start: float) -> None:
    """With the offer clock the time in which nothing was free is no reason to give up."""
    assert starts(made((0, 30, 6), (0, 100, 2), (0, 100, 2), (0, 10, 2)), clock=clock)[3] == start


def test_what_is_left_counts() -> None:
    """After a lease a job waits for as long as the rest of its work would suffer."""
    jobs = made((0, 300, 2), (0, 300, 2), (1, 10, 2))
    run = simulate(
        jobs, break_even, cluster=RACKS, speed=SPEED, lease=7, renew="never", order="fifo", record=True
    )
    assert run.schedule is not None
    starts = [each.start for each in run.schedule.segments if each.job == "j2"]
    # after 7 s at a speed of 1/3.5 there are 8 s left, so that 16 s are waited for, and so on
    assert starts[:3] == pytest.approx([21, 44, 63])


def test_check() -> None:
    """Every replay is legal, repeatable and within the bound."""
    sizes = [(0, 5, 2), (0, 9, 4), (1, 6, 3), (1, 2, 1), (2, 8, 5), (9, 3, 2), (9, 7, 6)]
    workload = bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=g, model="cnn") for i, (r, d, g) in enumerate(sizes)
    )
    calm = Scenario(workload=workload, cluster=Cluster.uniform(racks=2, machines=2, gpus=2), speed=SPEED)
    changes = (CapacityChange(time=3, gpus=3), CapacityChange(time=12, gpus=8))
    rough = calm.model_copy(
        update={"capacity_changes": changes, "overheads": {"": Overhead(start=0.5, stop=1)}}
    )
    plain = Scenario(workload=workload, cluster=Cluster.plain(8))
    assert check_policy(break_even, [calm, rough, plain], lease=4) == 6
    assert check_policy(break_even, [calm, rough], clock="starvation", lease=None) == 4


@pytest.mark.parametrize(("option", "value"), [("clock", ""), ("lease", -1), ("lease", inf), ("order", "x")])
def test_bad_options(option: str, value: Any) -> None:
    """An option out of its range is refused in one line that names it."""
    with pytest.raises(InvalidInput, match=f"^{option}: "):
        simulate(made((0, 1, 1)), break_even, cluster=RACKS, **{option: value})
