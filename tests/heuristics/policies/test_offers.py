"""Policies of offers: break-even waits as long as it could gain, skewed models wait for ever, others never."""

from math import inf
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import CapacityChange, Overhead, Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed, TierPenalty
from gsopt.simulation import Policy, simulate
from gsopt.testing import check_policy
from heuristics.policies import break_even, skew_consolidation
from heuristics.policies.skew_consolidation import SKEWED
from tests.gsopt.simulation.scenarios import bundle
from tests.heuristics.policies.shared import pieces

SPEED = Speed(tiers={"cnn": TierPenalty(machine=0.5, rack=1.0, network=2.5)})


#: Two racks of one machine of three GPUs: a third pair of GPUs is split.
RACKS = Cluster.uniform(racks=2, machines=1, gpus=3)


def made(*sizes: tuple[float, float, int], model: str = "cnn") -> Workload:
    """Make jobs of (release date, duration, GPUs), the last one of a model."""
    return bundle(
        Job(name=f"j{i}", release_date=r, duration=d, gpus=g, model=model if i == len(sizes) - 1 else "")
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
    starts = [each.start for each in pieces(run) if each.job == "j2"]
    # after 7 s at a speed of 1/3.5 there are 8 s left, so that 16 s are waited for, and so on
    assert starts[:3] == pytest.approx([21, 44, 63])


SIZES = [(0, 5, 2), (0, 9, 4), (1, 6, 3), (1, 2, 1), (2, 8, 5), (9, 3, 2), (9, 7, 6)]


@pytest.mark.parametrize(
    ("policy", "model", "options"),
    [
        (break_even, "cnn", {"lease": 4}),
        (break_even, "cnn", {"clock": "starvation", "lease": None}),
        (skew_consolidation, "vgg11", {"lease": 3, "thresholds": [4, 20]}),
    ],
)
def test_check(policy: Policy, model: str, options: dict[str, Any]) -> None:
    """Every replay is legal, repeatable and within the bound."""
    workload = bundle(job.model_copy(update={"model": model}) for job in made(*SIZES).jobs)
    speed = Speed(tiers={**TIER_PENALTIES, **SPEED.tiers})
    calm = Scenario(workload=workload, cluster=Cluster.uniform(racks=2, machines=2, gpus=2), speed=speed)
    changes = (CapacityChange(time=3, gpus=3), CapacityChange(time=12, gpus=8))
    rough = calm.model_copy(
        update={"capacity_changes": changes, "overheads": {"": Overhead(start=0.5, stop=1)}}
    )
    plain = Scenario(workload=workload, cluster=Cluster.plain(8))
    assert check_policy(policy, [calm, rough, plain], **options) == 6


@pytest.mark.parametrize(
    ("policy", "option", "value"),
    [
        *[(break_even, option, value) for option, value in (("clock", ""), ("lease", -1), ("lease", inf))],
        (break_even, "order", "x"),
        (skew_consolidation, "thresholds", [2, 1]),
        (skew_consolidation, "lease", 0),
        (skew_consolidation, "placement", "x"),
    ],
)
def test_bad_options(policy: Policy, option: str, value: Any) -> None:
    """An option out of its range is refused in one line that names it."""
    with pytest.raises(InvalidInput, match=f"^{option}: "):
        simulate(made((0, 1, 1)), policy, cluster=RACKS, **{option: value})


RACKS = Cluster.uniform(racks=2, machines=1, gpus=3)


@pytest.mark.parametrize("model", TIER_PENALTIES)
def test_only_skewed_models_wait(model: str) -> None:
    """Of the models of Table I those of high skew wait for a machine, the others take the network."""
    run = simulate(made((0, 90, 2), (0, 50, 2), (0, 1, 2), model=model), skew_consolidation, cluster=RACKS)
    assert run.start_times[2] == (50 if model in SKEWED else 0)


def test_which_models_are_skewed_is_an_option() -> None:
    """Others may be consolidated instead; a job that fits no machine does not wait for one."""
    jobs = made((0, 90, 2), (0, 50, 2), (0, 1, 2), model="vgg11")
    assert simulate(jobs, skew_consolidation, cluster=RACKS, skewed=["bert-large"]).start_times[2] == 0
    assert simulate(made((0, 9, 4), model="vgg11"), skew_consolidation, cluster=RACKS).start_times == (0,)


def test_who_has_had_more_service_comes_later() -> None:
    """When a lease ends, a job beyond a threshold makes room for one in a higher queue, and for no other."""
    one = Cluster.uniform(machines=1, gpus=1)
    jobs = made((0, 8, 1), (1, 3, 1))
    fallen = simulate(jobs, skew_consolidation, cluster=one, lease=2, thresholds=[2])
    assert fallen.start_times == (0, 2)
    assert fallen.completion_times == (10, 11)  # when both have fallen the older one goes first again
    assert simulate(jobs, skew_consolidation, cluster=one, lease=2).start_times == (0, 8)
