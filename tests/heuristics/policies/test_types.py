"""Policies on clusters of several types of GPU, on which adaptive jobs run on one type at a time."""

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.adaptive.agents import Agents
from gsopt.scenario.adaptive.application import Application
from gsopt.scenario.adaptive.course import Course
from gsopt.scenario.adaptive.projection import projected_goodput
from gsopt.scenario.adaptive.trainee import Trainee
from gsopt.scenario.adaptive.view import TraineeView
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job
from gsopt.scenario.scenario import Overhead, Scenario
from gsopt.simulation import Assign, Policy, Replay, State, Wake, simulate
from gsopt.testing import check_policy
from heuristics.policies import marginal, marginal_attained
from heuristics.policies.gavel import gavel
from heuristics.policies.marginal.typed import KnownTypedCourse, Worth
from heuristics.policies.pollux import pollux
from heuristics.policies.pollux.nodes import Nodes
from heuristics.policies.sia import sia
from tests.effort import cases
from tests.gsopt.simulation.adaptive import APPLICATION, adaptive, typed, typed_scenario
from tests.gsopt.simulation.recorded import schedule_of
from tests.gsopt.simulation.scenarios import bundle
from tests.gsopt.simulation.scripts import doing

POLICIES: Mapping[str, Policy] = {
    "sia": partial(sia, interval=1, restart_time=0.5),
    "course": marginal,
    "epochs": partial(marginal, knows="epochs"),
    "ageless": partial(marginal, ageing=None, charge=0),
    "unknown": marginal_attained,
    "pollux": partial(pollux, blind=True, exact=True, interval=1, restart_time=0.5),
    "gavel": partial(gavel, rounds="port", interval=3),
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("seed", range(cases(40)))
def test_every_run_is_legal(policy: Policy, seed: int) -> None:
    """Whatever the jobs and the physics, all complete, and the judge finds what the simulator booked."""
    assert check_policy(policy, [typed_scenario(Random(seed))], exact=False) == 1


def _cluster(*machines: tuple[str, int]) -> Cluster:
    nodes = [Machine(name=f"m{n}", gpus=gpus, gpu_type=name) for n, (name, gpus) in enumerate(machines)]
    return Cluster(racks=[Rack(name="r", machines=nodes)])


def _job(name: str, model: str = "cnn") -> Job:
    job = Job(name=name, release_date=0, duration=9, gpus=1, menu=[(1, 1.0), (2, 1.0), (4, 1.0)])
    return adaptive(job, 16).model_copy(update={"model": model})


def _scenario(cluster: Cluster, *jobs: Job, **applications: Application) -> Scenario:
    return Scenario.of(
        bundle(jobs),
        cluster,
        applications={"cnn": typed(), **applications},
        agents=Agents(interval=1),
        overheads=Overhead(start=0.5, resize=0.5),
    )


def _types(run: Replay, cluster: Cluster, job: str) -> list[str]:
    """Return the types on which a job has run, one for each segment."""
    return [
        cluster.machines[cluster.machine_of[each.placement[0]]].gpu_type
        for each in schedule_of(run).segments
        if each.job == job
    ]


@pytest.mark.parametrize("name", ["course", "epochs", "unknown"])
def test_fast_gpus_go_to_whom_they_help(name: str) -> None:
    """Of two jobs the one that is faster on one type runs there, and the other on the other type."""
    alike = typed()
    own = {"placements": alike.placements}
    slow = {name: each.model_copy(update=own) for name, each in alike.gpu_types.items()}
    scenario = _scenario(
        _cluster(("old", 1), ("new", 1)),
        _job("a", "same"),
        _job("b"),
        same=alike.model_copy(update={"name": "same", "gpu_types": slow}),
    )
    run = simulate(scenario, POLICIES[name], record=True, bound=False)
    assert (_types(run, scenario.cluster, "a")[0], _types(run, scenario.cluster, "b")[0]) == ("old", "new")


def test_what_is_left_of_a_known_course() -> None:
    """Seconds of the work ahead are those of the remaining epochs in every way; the area is the least worth."""
    scenario, found = _scenario(_cluster(("old", 2), ("new", 2)), _job("a")), list[Any]()

    def look(state: State) -> Any:
        if not state.completed:
            outlook = KnownTypedCourse(state)
            outlook.add(state, 0)
            found.append((state.trainee(0), outlook.left(state, 0, None), outlook.worth))
            yield Assign({0: ((0,), "adaptive")})
            if state.now < 1:
                yield Wake(2)

    simulate(scenario, doing(look), bound=False)
    _, left, worth = found[0]
    course = Course(scenario.applications["cnn"], scenario.agents, None)
    for gpu_type, count in [("old", 1), ("old", 2), ("new", 1), ("new", 2)]:
        speeds = course.on(gpu_type).highest_speeds_on((count,), None)
        seconds = sum(12.0 / speed for speed in speeds)
        assert left.seconds[gpu_type, count] == pytest.approx(seconds)
    areas = []
    for epoch in range(3):
        ways = [
            worth.of(way) * 12.0 / course.on(way[0]).highest_speeds_on((way[1],), None)[epoch]
            for way in left.seconds
        ]
        areas.append(min(ways))
    assert left.area == pytest.approx(sum(areas))
    assert found[-1][1].area < left.area


def test_worth_is_the_mean_speed() -> None:
    """A GPU is worth the geometric mean of its speeds for the jobs that run on all types."""
    worth = Worth(["old", "new"])
    assert worth.of(("new", 3)) == 3
    for speeds in ({"old": 1.0, "new": 4.0}, {"old": 2.0, "new": 2.0}, {"old": 5.0}, {}):
        worth.see(speeds)
    assert worth.of(("old", 3)) == 3
    assert worth.of(("new", 1)) == pytest.approx(2)


def test_untried_types_are_projected() -> None:
    """On a type that a job has not tried it expects its goodput on another one, scaled."""
    given = typed()
    trainee = Trainee(given, Agents(interval=1, whole_seconds=False), None, 0.0)
    view = TraineeView(trainee)
    assert projected_goodput(view, "new", [1], [1]) is None
    trainee.place((1,), 0.0, 0.0, gpu_type="old")
    trainee.advance(1.5)
    old = projected_goodput(view, "old", [1, 1], [1, 2])
    assert old.tolist() == view.goodput([1, 1], [1, 2], "old").goodput.tolist()  # type: ignore[union-attr]
    ratio = given.on("new").single_speed / given.single_speed
    assert ratio == pytest.approx((12 / (0.4 * 0.46)) / (16 / 0.58))
    assert projected_goodput(view, "new", [1, 1], [1, 2]) == pytest.approx(old * ratio)
    assert projected_goodput(view, "new", 1, 2, most_batch=4) < projected_goodput(view, "new", 1, 2)
    trainee.place((1,), 2.0, 2.0, gpu_type="new")
    trainee.advance(3.5)
    assert projected_goodput(view, "new", 1, 1) == view.goodput(1, 1, "new").goodput  # type: ignore[union-attr]
    assert view.worked_on == ("old", "new")


def test_blind_pollux_divides_nodes_that_are_alike() -> None:
    """Large machines count as several nodes, and a job keeps the GPUs of the type of which it has most."""
    scenario, seen = _scenario(_cluster(("old", 2), ("new", 4)), _job("a"), _job("b")), list[Nodes]()

    def look(state: State) -> Any:
        seen.append(Nodes(state, 2))
        if not state.completed:
            yield Assign({0: ((0,), "adaptive"), 1: ((1,), "adaptive")})

    simulate(scenario, doing(look), bound=False)
    nodes = seen[0]
    assert nodes.sizes == [2, 2, 2]
    for vector, kept in [((1, 1, 1), (0, 1, 1)), ((2, 0, 1), (2, 0, 0)), ((1, 1, 0), (0, 1, 0)), ((), ())]:
        assert nodes.of_one_type(vector) == kept
    with pytest.raises(InvalidInput, match="cluster: GPUs of 2 kinds: must be alike"):
        simulate(scenario, pollux, bound=False)


def test_sia_knows_how_fast_single_gpus_are() -> None:
    """Sia's job tries a single GPU of any type, and then has more of that on which it expects to be fastest."""
    scenario = _scenario(_cluster(("old", 2), ("new", 2)), _job("a"))
    run = simulate(scenario, partial(sia, interval=1, restart_time=0), record=True, bound=False)
    types = _types(run, scenario.cluster, "a")
    assert types[-1] == "new"
    assert np.mean([each == "new" for each in types]) >= 0.5
    assert APPLICATION.single_speed == pytest.approx(16 / 0.58)
