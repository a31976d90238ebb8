"""Scenarios refuse what cannot be run, in one line."""

from typing import Any

import pytest

from gsopt.cluster import Cluster, Machine, Rack
from gsopt.errors import InvalidInput
from gsopt.job import Job, Workload
from gsopt.scenario import RELAUNCH_OVERHEADS, CapacityChange, Overhead
from gsopt.simulation import scenario_of, simulate
from heuristics.policies import fifo


def _workload(**fields: Any) -> Workload:
    return Workload(jobs=(Job(name="a", release_date=0, duration=1, gpus=2, **fields),))


_TYPED = Cluster(racks=(Rack(name="r", machines=(Machine(name="m", gpus=4, gpu_type="old"),)),))


@pytest.mark.parametrize(
    ("workload", "cluster", "options", "message"),
    [
        (_workload(), 1, {}, "scenario: workload.jobs[0].gpus: 2: must fit the 1 GPUs of the cluster"),
        (_workload(gpu_type="new"), _TYPED, {}, "must fit the 0 new GPUs"),
        (_workload(), 4, {"share_limit": 2}, "must be 1 in a plain cluster"),
        (_workload(), 4, {"share_limit": 0}, "share_limit"),
        (_workload(), 4, {"capacity_changes": [CapacityChange(time=1, gpus=5)]}, "at most the 4 GPUs"),
        (
            _workload(),
            4,
            {"capacity_changes": [CapacityChange(time=1, gpus=3), CapacityChange(time=1, gpus=4)]},
            "must rise",
        ),
    ],
)
def test_bad_scenarios(
    workload: Workload, cluster: Cluster | int, options: dict[str, Any], message: str
) -> None:
    """What breaks a rule is named with field, value and rule."""
    with pytest.raises(InvalidInput) as error:
        scenario_of(workload, cluster, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("length", [0.0, -1.0, float("inf"), float("nan")])
def test_bad_round_lengths(length: float) -> None:
    """A round takes a positive number of seconds."""
    with pytest.raises(InvalidInput, match="round_length"):
        simulate(_workload(), fifo, cluster=4, round_length=length)


def test_overheads_by_model() -> None:
    """The entry under the empty name is that of every model without one."""
    scenario = scenario_of(_workload(), 4, overhead={"": Overhead(start=1), "m": Overhead(start=2)})
    job = scenario.workload.jobs[0]
    assert scenario.overhead(job).start == 1
    assert scenario.overhead(job.model_copy(update={"model": "m"})).start == 2
    assert scenario_of(_workload(), 4).overhead(job) == Overhead()


def test_published_overheads_are_those_of_relaunching() -> None:
    """A first launch is free, a stop and a resize cost the same, and both names of a model are there."""
    assert all(each.start == 0 and each.stop == each.resize for each in RELAUNCH_OVERHEADS.values())
    for paper, sia in [("resnet50", "imagenet"), ("resnet18", "cifar10"), ("neumf", "ncf")]:
        assert RELAUNCH_OVERHEADS[paper] == RELAUNCH_OVERHEADS[sia]
    scenario = scenario_of(_workload(), 4, overhead=RELAUNCH_OVERHEADS)
    job = scenario.workload.jobs[0].model_copy(update={"model": "bert"})
    assert scenario.overhead(job) == Overhead(stop=73, resize=73)
