"""Dividing: one rule for all jobs that are there, at every event."""

from collections.abc import Sequence

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.simulation import Decider, State, simulate
from gsopt.testing import check_policy
from heuristics.policies.ones.dividing import Dividing, Division
from tests.gsopt.simulation.scenarios import bundle

_LARGE = Mode(name="large", menu=[(2, 2.0)], batch_size=64)


def _job(name: str, release_date: float, duration: float) -> Job:
    menu = [(1, 1), (2, 1.5)]
    return Job(
        name=name,
        release_date=release_date,
        duration=duration,
        gpus=1,
        batch_size=32,
        menu=menu,
        modes=[_LARGE],
    )


def _first_two(division: Division) -> Sequence[int]:
    """Return the first job two GPUs, and whoever is next what is left."""
    chosen, free = [], division.gpus
    for _ in division.jobs:
        chosen.append(min(2, free))
        free -= chosen[-1]
    return chosen


def _policy(state: State) -> Decider:
    return Dividing(state, _first_two)


def test_a_division_shows_what_is_there() -> None:
    """A rule sees the jobs in the order of their arrival, with the work left, their ways and what they hold."""
    seen: list[Division] = []

    def watching(state: State) -> Decider:
        def rule(division: Division) -> Sequence[int]:
            seen.append(division)
            return _first_two(division)

        return Dividing(state, rule)

    run = simulate(bundle([_job("a", 0, 8), _job("b", 1, 2)]), watching, cluster=3)
    assert run.completion_times == (4, 3)
    first, second, third = seen
    assert (first.numbers, first.held.tolist(), first.started.tolist()) == ((0,), [0], [False])
    assert (second.numbers, second.held.tolist(), second.started.tolist()) == ((0, 1), [2, 0], [True, False])
    assert (second.left.tolist(), second.batches.tolist()) == ([6, 2], [64, 0])
    assert second.speeds.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert second.capped([1, 2]).tolist() == [[0, 1, 0], [0, 1, 2]]
    assert (third.numbers, third.held.tolist(), third.batches.tolist()) == ((0,), [2], [64])


def test_jobs_run_in_their_best_mode() -> None:
    """On two GPUs the large batch is faster, on one only the default mode runs."""
    run = simulate(bundle([_job("a", 0, 8), _job("b", 0, 8)]), _policy, cluster=3, record=True)
    assert run.schedule is not None
    held = [(each.job, each.start, each.end, each.gpus, each.mode) for each in run.schedule.segments]
    assert held == [("a", 0, 4, 2, "large"), ("b", 0, 4, 1, ""), ("b", 4, 6, 2, "large")]


def test_limits_keep_batches_small() -> None:
    """A job whose limit is below the large batch runs in its default mode, whatever it gets."""

    def limited(state: State) -> Decider:
        return Dividing(state, _first_two, limit=lambda job: 63 if job == 0 else None)

    run = simulate(bundle([_job("a", 0, 9), _job("b", 0, 9)]), limited, cluster=4)
    assert run.completion_times == (6, 4.5)


def test_capacity_that_comes_and_goes() -> None:
    """Jobs wait while no GPU is there and share what there is; simulator and judge agree."""
    changes = [CapacityChange(time=1, gpus=0), CapacityChange(time=3, gpus=1), CapacityChange(time=6, gpus=3)]
    jobs = bundle([_job("a", 0, 8), _job("b", 0, 8)])
    given = Scenario(workload=jobs, cluster=Cluster.plain(3), capacity_changes=tuple(changes))
    assert check_policy(_policy, [given]) == 2


def test_racks_of_equal_machines() -> None:
    """On machines that are alike GPUs are placed by number, and memory rules modes out."""
    racks = Cluster(racks=(Rack(name="r", machines=(Machine(name="m", gpus=3, memory=8),)),))
    job = Job(
        name="a", release_date=0, duration=9, gpus=1, memory=8, menu=[(1, 1), (2, 1.5)],
        modes=[Mode(name="large", menu=[(2, 2.0)], batch_size=64, memory=9)],
    )  # fmt: skip
    given = Scenario(workload=bundle([job]), cluster=racks)
    assert check_policy(_policy, [given]) == 2
    assert simulate(given, _policy).completion_times == (6,)


def test_several_kinds_are_refused() -> None:
    """A rule divides GPUs of one kind: others are refused in one line."""
    machines = [Machine(name=kind, gpus=1, gpu_type=kind) for kind in ("old", "new")]
    racks = Cluster(racks=(Rack(name="r", machines=tuple(machines)),))
    with pytest.raises(InvalidInput, match="GPUs of 2 kinds"):
        simulate(bundle([_job("a", 0, 8)]), _policy, cluster=racks)
