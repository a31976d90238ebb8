"""Scenarios refuse what cannot be run, in one line."""

from inspect import signature
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.evaluation.judge import judge
from gsopt.evaluation.policies import compare_policies
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.cluster import Cluster, Machine, Rack, Switch
from gsopt.scenario.events import Event, Leave, Reclaim, Return
from gsopt.scenario.job import Job, Mode, Phase, Workload
from gsopt.scenario.scenario import RELAUNCH_OVERHEADS, CapacityChange, Overhead, Physics, Scenario
from gsopt.scenario.speed import TIER_PENALTIES, Speed, TierPenalty
from gsopt.scenario.training import Training
from gsopt.simulation import Decider, State, simulate
from heuristics.policies import fifo
from tests.gsopt.simulation.adaptive import APPLICATION, typed
from tests.refusals import refused


def _workload(**fields: Any) -> Workload:
    return Workload(jobs=(Job(name="a", release_date=0, duration=1, **{"gpus": 2, **fields}),))


_TYPED = Cluster(racks=(Rack(name="r", machines=(Machine(name="m", gpus=4, gpu_type="old"),)),))


_SMALL = Cluster(racks=(Rack(name="r", machines=(Machine(name="m", gpus=4, gpu_type="old", memory=10),)),))
_UNTYPED = Cluster.uniform(machines=1, gpus=4)
_FASTER = {name: {"speed": Speed(gpu_types={name: 2.0})} for name in ("new", "old")}
_MEASURED: dict[str, Any] = {"applications": {"cnn": APPLICATION}}
_APART: dict[str, Any] = {"applications": {"cnn": typed()}}
_TWO_TYPES = Cluster(
    racks=[Rack(name="r", machines=[Machine(name=name, gpus=4, gpu_type=name) for name in ("old", "new")])]
)
_ADAPTIVE: dict[str, Any] = {"model": "cnn", "batch_size": 4}


def _mode(gpus: int, **fields: Any) -> Mode:
    return Mode(name="m", menu=[(gpus, 0.5)], **fields)


def _capacities(*gpus: int) -> dict[str, Any]:
    return {"capacity_changes": [CapacityChange(time=1, gpus=each) for each in gpus]}


@pytest.mark.parametrize(
    ("fields", "cluster", "physics", "message"),
    [
        ({}, 1, {}, "scenario: workload.jobs[0].gpus: 2: must fit the 1 GPUs of the cluster"),
        ({"gpu_type": "new"}, _TYPED, {}, "must fit the 0 new GPUs"),
        ({}, 4, {"share_limit": 2}, "must be 1 in a plain cluster"),
        ({}, 4, {"share_limit": 0}, "share_limit"),
        ({}, _TYPED, _FASTER["new"], "speed.gpu_types: 'new': must be a"),
        ({}, _UNTYPED, _FASTER["new"], "cluster: it has none"),
        ({}, _TYPED, _FASTER["old"], None),
        ({}, 4, _FASTER["new"], None),
        ({}, 4, _capacities(5), "at most the 4 GPUs"),
        ({}, 4, _capacities(3, 4), "must rise"),
        ({}, 4, _capacities(0), None),
        ({}, _TYPED, {"events": [Leave(time=1, servers=["r"])]}, "events[0].servers: 'r': must be a"),
        ({}, _TYPED, {"events": [Leave(time=1, servers=["m"])]}, None),
        ({"memory": 11}, _SMALL, {}, "must fit the 0 GPUs with enough memory of the cluster"),
        ({"memory": 10}, _SMALL, {}, None),
        ({"memory": 11}, 4, {}, None),
        ({"memory": 11, "modes": [_mode(2, memory=9)]}, _SMALL, {}, None),
        ({"memory": 11, "modes": [_mode(5, memory=9)]}, _SMALL, {}, "must fit the 4 GPUs"),
        ({"memory": 11, "modes": [_mode(2)]}, _SMALL, {}, "with enough memory"),
        ({"gpu_type": "new", "modes": [_mode(1)]}, _SMALL, {}, "must fit the 0 new GPUs"),
        ({"gpu_type": "new", "modes": [_mode(2, gpu_type="old")]}, _SMALL, {}, None),
        ({"gpu_type": "new", "modes": [_mode(2, gpu_type="")]}, _SMALL, {}, None),
        ({"modes": [_mode(9, gpu_type="new")]}, _SMALL, {}, None),
        ({"gpu_type": "new", "modes": [_mode(5, gpu_type="old")]}, _SMALL, {}, "must fit the 4 old GPUs of"),
        ({"modes": [_mode(1, gpu_type="old")]}, 4, {}, "jobs[0].modes[0].gpu_type: 'old': must be empty in a"),
        ({"modes": [_mode(1, gpu_type="")]}, 4, {}, None),
        ({"menu": ((1, 0.5), (2, 1.0))}, 1, {}, None),
        ({"modes": [_mode(1)]}, 1, {}, None),
        (_ADAPTIVE, _TYPED, _MEASURED, None),
        (_ADAPTIVE, 4, _MEASURED, "applications: 'cnn': must be empty in a plain cluster"),
        (_ADAPTIVE, _TYPED, _APART, None),
        (
            _ADAPTIVE,
            _UNTYPED,
            _APART,
            "cluster: 'machine 0.0': must have a gpu_type, as the application of cnn",
        ),
        (
            _ADAPTIVE,
            _TWO_TYPES,
            _APART | {"speed": Speed(gpu_types={"new": 2.0})},
            "speed.gpu_types: 'new': must be no type on which the application of cnn was measured",
        ),
        (_ADAPTIVE, _TWO_TYPES, _APART | _FASTER["old"], None),
        (_ADAPTIVE | {"gpus": 5}, _TWO_TYPES, _MEASURED, None),
        (
            _ADAPTIVE | {"gpus": 5},
            _TWO_TYPES,
            _APART,
            "workload.jobs[0].gpus: 5: must fit the 4 GPUs of the cluster that are of one type",
        ),
        ({}, 4, {"restarts": "machines"}, "restarts: 'machines': must be 'change' in a plain cluster"),
        ({}, 4, {"restarts": "never"}, "restarts"),
        (
            _ADAPTIVE,
            _TYPED,
            _MEASURED | {"speed": Speed(tiers={"cnn": TIER_PENALTIES["vgg11"]})},
            "speed.tiers: 'cnn': must not have a model with an application",
        ),
        ({"model": "cnn"}, _TYPED, _MEASURED, "workload.jobs[0].batch_size: None: must be given"),
        (_ADAPTIVE | {"batch_size": 17}, _TYPED, _MEASURED, "workload.jobs[0].batch_size: 17: must be at"),
        (_ADAPTIVE | {"phases": [Phase(until=1)]}, _TYPED, _MEASURED, "jobs[0].phases"),
        (_ADAPTIVE | {"training": Training(epoch=1, samples=2)}, _TYPED, _MEASURED, "jobs[0].training"),
        ({"modes": [Mode(name="tuned", menu=[(2, 1.0)], tunes=True)]}, _TYPED, _MEASURED, ".tunes: True: must"),
        (_ADAPTIVE | {"modes": [Mode(name="tuned", menu=[(2, 1.0)], tunes=True)]}, _TYPED, _MEASURED, None),
    ],
)
def test_scenarios(
    fields: dict[str, Any], cluster: Cluster | int, physics: dict[str, Any], message: str | None
) -> None:
    """A scenario that breaks a rule is refused with field, value and rule; any other comes back from JSON.

    Each job fits in one of its modes, and one of an application has a batch within its limits and nothing that
    the application has itself.
    """
    if message is None:
        scenario = Scenario.of(_workload(**fields), cluster, **physics)
        assert Scenario.model_validate_json(scenario.model_dump_json()) == scenario
        return
    with refused(message):
        Scenario.of(_workload(**fields), cluster, **physics)


@pytest.mark.parametrize(
    ("events", "changes", "message"),
    [
        ([Reclaim(time=0, deadline=9, gpus=5)], [], "events[0].gpus: 5: must be at most the 4 GPUs that are"),
        ([Reclaim(time=0, deadline=9, gpus=3)], [(9, 2)], "must be at most the 2 GPUs that are available at 9"),
        ([Reclaim(time=0, deadline=9, gpus=3)], [(8, 0), (9, 4)], None),
        ([Reclaim(time=0, deadline=9, gpus=2), Reclaim(time=1, deadline=8, gpus=3)], [], "events[0].gpus: 2"),
        ([Return(time=0, gpus=1)], [], "events[0].gpus: 1: must be at most the 0 GPUs given up by 0"),
        ([Reclaim(time=0, deadline=9, gpus=2), Return(time=9, gpus=2)], [], "given up by 9"),
        ([Reclaim(time=0, deadline=9, gpus=2), Return(time=10, gpus=2)], [], None),
        ([Reclaim(time=0, deadline=9, gpus=2), Return(time=10, gpus=2)], [(9.5, 1)], None),
    ],
)
def test_gpus_that_are_given_up_are_there(
    events: list[Event], changes: list[tuple[float, int]], message: str | None
) -> None:
    """In a plain cluster no more GPUs are given up than there are, and no more return than were."""
    drops = [CapacityChange(time=time, gpus=gpus) for time, gpus in changes]
    if message is None:
        assert Scenario.of(_workload(), 4, capacity_changes=drops, events=events).events == tuple(events)
        return
    with refused(message):
        Scenario.of(_workload(), 4, capacity_changes=drops, events=events)


def test_json_there_and_back() -> None:
    """A scenario survives its JSON, the kinds of its events included."""
    events = (
        Leave(time=1, servers=["m"]),
        Return(time=2, servers=["m"]),
        Reclaim(time=2, deadline=3, servers=1),
    )
    scenario = Scenario(workload=_workload(), cluster=_SMALL, events=events)
    assert Scenario.model_validate_json(scenario.model_dump_json()) == scenario
    assert Scenario.model_validate_json(scenario.model_dump_json(exclude_defaults=True)) == scenario


@pytest.mark.parametrize("length", [0.0, -1.0, float("inf"), float("nan")])
def test_bad_round_lengths(length: float) -> None:
    """A round takes a positive number of seconds."""
    with pytest.raises(InvalidInput, match="round_length"):
        simulate(_workload(), fifo, cluster=4, round_length=length)


@pytest.mark.parametrize(
    ("given", "options", "line"),
    [
        (_workload(), {}, "cluster: is required: the GPUs, or their number"),
        (_workload(), {"cluster": 0}, "scenario: plain_gpus: 0: must be a positive number"),
        (
            _workload(),
            {"cluster": 4, "overhead": 1},
            "overhead: 1: is not a field of a scenario; the fields are",
        ),
        (_workload(), {"cluster": 4, "workload": 7}, "workload: 7: is not a field of a scenario"),
        (Scenario.of(_workload(), 4), {"cluster": 4}, "cluster: 4: belongs to a workload"),
        (Scenario.of(_workload(), 4), {"share_limit": 1}, "share_limit: 1: belongs to a workload"),
        ([], {"cluster": 4}, "given: a list: must be a workload or a scenario"),
    ],
)
def test_what_is_given_makes_one_scenario(given: Any, options: dict[str, Any], line: str) -> None:
    """A workload needs a cluster and may have any physics, a scenario has both; all else is refused."""
    with refused(line, start=line):
        Scenario.of(given, **options)


_PHYSICS: dict[str, Any] = {
    "speed": Speed(tiers={"m": TIER_PENALTIES["bert-large"]}),
    "overheads": Overhead(start=1),
    "share_limit": 2,
    "capacity_changes": [CapacityChange(time=9, gpus=2)],
    "events": [Leave(time=8, servers=["m"])],
    "applications": {"cnn": APPLICATION},
    "agents": Agents(interval=30),
    "restarts": "machines",
    "checkpoint_interval": 600.0,
    "clock_start": 0.0,
}


def test_a_field_of_the_physics_is_written_once() -> None:
    """Whatever runs a workload takes every field by name, and none of their signatures repeats one."""
    assert _PHYSICS.keys() == Physics.model_fields.keys()
    scenario = Scenario.of(_workload(), _TYPED, **_PHYSICS)
    run = simulate(_workload(), fifo, cluster=_TYPED, record=True, **_PHYSICS)
    assert run == simulate(scenario, fifo, record=True)
    assert run.scenario == scenario
    assert all(getattr(scenario, name) != getattr(Scenario.of(_workload(), _TYPED), name) for name in _PHYSICS)
    compared = compare_policies(_workload(), [fifo], cluster=_TYPED, **_PHYSICS)
    assert list(compared) == list(compare_policies(scenario, [fifo])) == [run.metrics]
    judged = judge(run.schedule, _workload(), cluster=_TYPED, **_PHYSICS)
    assert judged.legal
    assert judged == judge(run.schedule, scenario)
    for function in (simulate, compare_policies, judge):
        assert not Physics.model_fields.keys() & signature(function).parameters.keys()


def test_options() -> None:
    """None is as if it were not given; what neither physics nor the policy knows is refused."""
    scenario = Scenario.of(_workload(), 4)
    nothing = dict.fromkeys(Physics.model_fields)
    assert Scenario.of(_workload(), 4, **nothing) == scenario
    assert Scenario.of(scenario, **nothing) is scenario
    with pytest.raises(
        InvalidInput, match=r"^overhead: 1: is neither a field of a scenario nor an option of fifo$"
    ):
        simulate(_workload(), fifo, cluster=4, overhead=1)

    def any_options(state: State, **options: Any) -> Decider:
        assert options == {"overhead": 1}
        return fifo(state)

    assert simulate(_workload(), any_options, cluster=4, overhead=1).completion_times == (1,)


def test_overheads_by_model() -> None:
    """The empty name stands for all other models; published overheads are those of relaunching."""
    scenario = Scenario.of(_workload(), 4, overheads={"": Overhead(start=1), "m": Overhead(start=2)})
    job = scenario.workload.jobs[0]
    assert scenario.overhead(job).start == 1
    assert scenario.overhead(job.model_copy(update={"model": "m"})).start == 2
    assert Scenario.of(_workload(), 4).overhead(job) == Overhead()
    assert Scenario.of(_workload(), 4, overheads=Overhead(start=3)).overhead(job).start == 3
    assert all(each.start == 0 and each.stop == each.resize for each in RELAUNCH_OVERHEADS.values())
    for paper, sia in [("resnet50", "imagenet"), ("resnet18", "cifar10"), ("neumf", "ncf")]:
        assert RELAUNCH_OVERHEADS[paper] == RELAUNCH_OVERHEADS[sia]
    scenario = Scenario.of(_workload(), 4, overheads=RELAUNCH_OVERHEADS)
    job = scenario.workload.jobs[0].model_copy(update={"model": "bert"})
    assert scenario.overhead(job) == Overhead(stop=73, resize=73)


def test_penalties_are_for_levels_of_the_cluster() -> None:
    """A level that the cluster does not have is a slip, but for machine, rack and network."""
    pod = Switch(name="p", level="pod", machines=[Machine(name="m", gpus=4)])
    network = Cluster(network=Switch(name="top", level="top", switches=[pod]))
    speed = Speed(tiers={"m": TierPenalty(machine=0, rack=0, network=1, pod=0.5)})
    for cluster in (network, Cluster.plain(4)):
        assert Scenario.of(_workload(), cluster, speed=speed).speed == speed
    with pytest.raises(
        InvalidInput, match=r"speed\.tiers\['m'\]: 'pod': must be for a level of the cluster: machine"
    ):
        Scenario.of(_workload(), Cluster.uniform(machines=1, gpus=4), speed=speed)
