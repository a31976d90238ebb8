"""What GPUs of several types are worth is what jobs on them make of it."""

from itertools import combinations

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Workload
from gsopt.scenario.scenario import Scenario
from gsopt.scenario.speed import Speed
from gsopt.schedule.bounds.capability import Capabilities, capability

MACHINES = (
    Machine(name="fast", gpus=2, gpu_type="V100", memory=32),
    Machine(name="slow", gpus=3, gpu_type="T4", memory=16),
    Machine(name="other", gpus=1, gpu_type="", memory=64),
)

GIVEN = Scenario(
    workload=Workload(jobs=[]),
    cluster=Cluster(racks=[Rack(name="r", machines=MACHINES)]),
    speed=Speed(gpu_types={"T4": 4.0, "V100": 2.0}, mixed=1.5),
)


@pytest.mark.parametrize("count", range(1, 7))
def test_no_gpus_are_worth_more(count: int) -> None:
    """No choice of so many GPUs makes a job faster than what they are worth at most, and one is as fast."""
    job = Job(name="a", release_date=0, duration=60, gpus=count)
    kinds = [machine.gpu_type for machine in MACHINES for _ in range(machine.gpus)]
    speed = GIVEN.speed.model_copy(update={"mixed": 1.0})
    rates = [
        speed.rate(job, count, types={kind: chosen.count(kind) for kind in chosen})
        for chosen in combinations(kinds, count)
    ]
    assert max(rates) == pytest.approx((Capabilities(GIVEN).of(count) or 0) / count)


def test_types_and_memory_leave_fewer() -> None:
    """A type leaves its own GPUs only, and memory those that have it."""
    most = Capabilities(GIVEN)
    assert (most.of(3, "T4"), most.of(4, "T4"), most.of(2, "V100")) == (0.75, None, 1.0)
    assert (most.of(1, memory=33), most.of(2, memory=33), most.of(3, memory=32)) == (1.0, None, 2.0)
    assert (capability(GIVEN, "T4"), capability(GIVEN, "")) == (0.25, 1.0)
