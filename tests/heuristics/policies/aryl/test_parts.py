"""The parts of Aryl: machines, forms, workers, placement, the queue and the orchestrator."""

from collections.abc import Iterator, Sequence
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gsopt.core.method import NoSolution, heuristic
from gsopt.core.result import Result
from gsopt.evaluation.catalogue import find_method
from gsopt.problems.allocation import Allocation, AllocationSolution
from gsopt.problems.placement import Placed, Placement, PlacementSolution
from gsopt.problems.reclaiming import Reclaiming, ReclaimingSolution
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.job import Job, Mode
from gsopt.scenario.speed import Speed, linear_menu
from gsopt.simulation import simulate
from gsopt.simulation.policy import Action, Request, Resize, Start, State
from heuristics.policies.aryl.flexing import displace, flex, release
from heuristics.policies.aryl.forms import forms_of
from heuristics.policies.aryl.growth import growth
from heuristics.policies.aryl.knapsack import choose, left_over
from heuristics.policies.aryl.machines import Machines
from heuristics.policies.aryl.occupancy import Occupancy, RunningJob
from heuristics.policies.aryl.orchestrator import Orchestrator, reclaiming
from heuristics.policies.aryl.placing import place_base, place_flexible
from heuristics.policies.aryl.queue import Queue
from heuristics.policies.aryl.repacking import repack
from heuristics.policies.aryl.scheduler import FlexibleJob, Pool, SchedulerView, WaitingJob
from heuristics.policies.aryl.starting import start
from heuristics.policies.aryl.two_phase import TwoPhaseScheduler, steps_of
from tests.effort import cases
from tests.gsopt.simulation.scenarios import bundle
from tests.heuristics.policies.aryl.builders import either, form, job, occupancy, pools, running


def test_pools_by_type() -> None:
    """The machines of one type are the inference pool; without a type none is."""
    assert Machines(pools(1, 2), "T4").inference.tolist() == [False, True, True]
    assert not Machines(pools(1, 2), "").inference.any()
    assert not Machines(Cluster.uniform(machines=2, gpus=4), "").inference.any()


def test_suiting_by_type_and_memory() -> None:
    """A machine suits a job by its type and by its memory, of which it has any when that is unknown."""
    kinds = [("a", 8), ("a", None), ("b", 4)]
    machines = [Machine(name=str(n), gpus=2, gpu_type=k, memory=m) for n, (k, m) in enumerate(kinds)]
    found = Machines(Cluster(racks=[Rack(name="r", machines=machines)]), "b")
    assert found.suiting("a", 9).tolist() == [False, True, False]
    assert found.suiting("", 8).tolist() == [True, True, False]
    assert found.suiting("b", 0).tolist() == [False, False, True]
    assert (found.first, found.number_of["2"]) == ((0, 2, 4), 2)


@pytest.mark.parametrize(
    ("counts", "worker", "base"),
    [
        ([16], 8, 2),
        ([12], 6, 2),
        ([11], 1, 11),
        ([9], 3, 3),
        ([8, 16], 8, 1),
        ([8, 10, 16], 2, 4),
        ([4, 6], 2, 2),
        ([3], 3, 1),
    ],
)
def test_workers(counts: list[int], worker: int, base: int) -> None:
    """A worker has the largest divisor of all numbers of GPUs that is at most a machine's."""
    one = Job(name="a", release_date=0, duration=9, gpus=counts[0], menu=linear_menu(counts[0], counts))
    (form,) = forms_of(one, Machines(Cluster.uniform(machines=3, gpus=8), "T4"))
    assert (form.worker_gpus, form.base, form.base_gpus) == (worker, base, counts[0])
    assert form.is_elastic == (len(counts) > 1)


def test_workers_fit_every_machine() -> None:
    """The smallest machine that suits bounds a worker, and workers are smaller where they would not all fit."""
    sizes = [3, 3, 3]
    racks = [Rack(name="r", machines=[Machine(name=str(n), gpus=size) for n, size in enumerate(sizes)])]
    machines = Machines(Cluster(racks=racks), "")
    found = [forms_of(job("a", 0, 9, gpus, gpu_type=""), machines)[0].worker_gpus for gpus in (6, 8)]
    assert found == [3, 1]  # four workers of two GPUs find three machines of three
    racks = [Rack(name="r", machines=[Machine(name=str(size), gpus=size) for size in (8, 4)])]
    assert forms_of(job("a", 0, 9, 8, gpu_type=""), Machines(Cluster(racks=racks), ""))[0].worker_gpus == 4


def test_counts_beyond_the_machines_are_left_out() -> None:
    """Numbers of GPUs that no empty cluster could hold are not among the speeds."""
    (form,) = forms_of(job("a", 0, 9, 8, 32), Machines(pools(2, 0), "T4"))
    assert form.speeds == (1.0, 2.0)


def test_forms_by_preference() -> None:
    """Elastic jobs prefer the inference pool, others the training pool; without grouping all do."""
    machines = Machines(pools(2, 2), "T4")
    both = [either("a", 0, 9, 4, 8), either("b", 0, 9, 4)]
    assert [[form.pool for form in forms_of(each, machines)] for each in both] == [
        ["inference", "training"],
        ["training", "inference"],
    ]
    assert [form.pool for form in forms_of(both[0], machines, training_first=True)] == ["training", "inference"]


def test_mixed_forms_come_last() -> None:
    """A job of any type is mixed where the pools differ, and prefers a mode of its own for one of them."""
    any_type = job("a", 0, 9, 4, gpu_type="")
    own = any_type.model_copy(update={"modes": (Mode(name="own", gpu_type="T4", menu=[(4, 0.5)]),)})
    machines = Machines(pools(1, 1), "T4")
    assert [(form.pool, form.mode) for form in forms_of(own, machines)] == [("inference", "own"), ("mixed", "")]
    assert [form.pool for form in forms_of(any_type, Machines(pools(2, 0), "T4"))] == ["training"]


def test_the_first_mode_of_a_pool_counts() -> None:
    """Of several modes for a pool the first one in which the job fits is taken."""
    modes = [Mode(name="first", menu=[(2, 0.5)]), Mode(name="second", menu=[(1, 0.3)])]
    fitting, large = (job("a", 0, 9, gpus, modes=modes) for gpus in (1, 9))
    machines = Machines(pools(1, 0), "T4")
    assert [forms_of(each, machines)[0].mode for each in (fitting, large)] == ["", "first"]


def _with_gpus(given: Occupancy) -> Occupancy:
    """Let all GPUs be there and free."""
    total = int(given.machines.gpus.sum())
    state: Any = SimpleNamespace(
        servers=given.machines.names, capacity=total, free_gpus=lambda: tuple(range(total))
    )
    assert given.update(state)
    assert not given.update(state)
    return given


def test_room_and_idle() -> None:
    """Room is what base workers leave, and idle what flexible ones leave of that."""
    given = occupancy(2, 0)
    running(given, 0, form(given, "training", 2, 1, (1.0, 1.5, 2.0)), {0: 1}, {0: 1, 1: 1})
    assert (given.room.tolist(), given.idle.tolist()) == ([6, 8], [4, 6])
    given.end(0)
    assert (given.idle.tolist(), given.flexible_on(0), given.jobs, given.elastic) == ([8, 8], [], {}, {})


def test_commit_keeps_gpus_that_stay() -> None:
    """A job that grows keeps its GPUs, and one that shrinks keeps its first ones on every machine."""
    given = _with_gpus(occupancy(2, 0))
    one = running(given, 0, form(given, "training", 2, 1, (1.0, 1.5, 2.0)), {0: 1})
    assert list(given.commit()) == [Start(0, (0, 1))]
    given.put_flexible(one, 0, 1)
    given.put_flexible(one, 1, 1)
    assert list(given.commit()) == [Resize(0, (0, 1, 2, 3, 8, 9))]
    given.put_flexible(one, 0, -1)
    other = running(given, 1, form(given, "training", 2, 1, mode="m"), {0: 1})
    assert list(given.commit()) == [Resize(0, (0, 1, 8, 9)), Start(1, (2, 3), "m")]
    assert other.held == (2, 3)


def test_nothing_is_decided_where_nothing_changes() -> None:
    """A worker that is taken off and put back where it was is no change."""
    given = _with_gpus(occupancy(1, 0))
    one = running(given, 0, form(given, "training", 2, 1, (1.0, 1.5)), {0: 1}, {0: 1})
    assert len(list(given.commit())) == 1
    given.put_flexible(one, 0, -1)
    given.put_flexible(one, 0, 1)
    assert given.changed == [one]
    assert list(given.commit()) == []


def test_jobs_that_are_left_out() -> None:
    """Jobs that are about to lose everything are not told to go on."""
    given = _with_gpus(occupancy(1, 1))
    one = running(given, 0, form(given, "inference", 4, 1), {1: 1})
    assert list(given.commit(but=[0])) == []
    assert (given.base_on([1]), given.base_on([0])) == ([0], [])
    assert one.held == ()


def test_machines_come_and_go_beside_workers() -> None:
    """What is there is what is free and what workers hold."""
    given = _with_gpus(occupancy(2, 0))
    running(given, 0, form(given, "training", 2, 1, (1.0, 2.0)), {0: 1}, {0: 1})
    list(given.commit())
    state: Any = SimpleNamespace(servers=("v0",), capacity=8, free_gpus=lambda: (4, 5, 6, 7))
    assert given.update(state)
    assert (given.present.tolist(), given.room.tolist(), given.idle.tolist()) == ([8, 0], [6, 0], [4, 0])


def test_best_fit_of_base_workers() -> None:
    """Machines with base workers come first, the fullest first; then empty ones; then flexible ones."""
    given = occupancy(4, 0)
    running(given, 0, form(given, "training", 2, 3), {0: 1, 1: 2})
    running(given, 1, form(given, "training", 8, 0, (1.0, 2.0)), {}, {2: 1})
    wanted = form(given, "training", 2, 12)
    assert place_base(given, wanted, grouping=True) == {1: 2, 0: 3, 3: 4, 2: 3}
    assert place_base(given, form(given, "training", 2, 14), grouping=True) is None


def test_base_workers_without_grouping() -> None:
    """Idle GPUs come first, those beside others before empty machines; then flexible workers make way."""
    given = occupancy(3, 0)
    running(given, 0, form(given, "training", 2, 1, (1.0, 2.0)), {0: 1}, {0: 1})
    running(given, 1, form(given, "training", 6, 0, (1.0, 2.0)), {}, {2: 1})
    for workers, expected in [
        (1, {2: 1}),
        (3, {2: 1, 0: 2}),
        (8, {2: 1, 0: 3, 1: 4}),
        (11, {2: 4, 0: 3, 1: 4}),
    ]:
        assert place_base(given, form(given, "training", 2, workers), grouping=False) == expected


@pytest.mark.parametrize("grouping", [True, False])
def test_mixed_base_workers(grouping: bool) -> None:
    """The base workers of a mixed job take training machines first, and may be on both pools."""
    given = occupancy(1, 1)
    running(given, 0, form(given, "inference", 4, 1), {1: 1})
    assert place_base(given, form(given, "mixed", 4, 1), grouping=grouping) == {0: 1}
    assert place_base(given, form(given, "mixed", 4, 3), grouping=grouping) == {0: 2, 1: 1}


def test_flexible_workers_are_kept_apart() -> None:
    """On the inference pool flexible workers prefer their own machines, then empty ones, then others."""
    given = occupancy(0, 3)
    one = running(given, 0, form(given, "inference", 2, 1, (1.0,) * 20), {0: 1}, {1: 1})
    assert place_flexible(given, one, 3, grouping=True) == {1: 3}
    assert place_flexible(given, one, 8, grouping=True) == {1: 3, 2: 4, 0: 1}
    assert place_flexible(given, one, 8, grouping=False) == {0: 3, 1: 3, 2: 2}
    assert place_flexible(given, one, 99, grouping=True) == {0: 3, 1: 3, 2: 4}


def test_flexible_workers_on_the_training_pool() -> None:
    """There they fill what is occupied first, and stay away from the other pool."""
    given = occupancy(2, 1)
    one = running(given, 0, form(given, "training", 4, 1, (1.0, 2.0, 3.0, 4.0)), {1: 1})
    assert place_flexible(given, one, 9, grouping=True) == {1: 1, 0: 2}


def test_flexible_workers_stay_in_the_pool_that_counts() -> None:
    """A job whose base workers may be mixed has flexible ones only where they make it faster."""
    given = occupancy(1, 1)
    one = running(given, 0, form(given, "mixed", 4, 1, (1.0, 2.0, 3.0)), {0: 1})
    one.pool = "training"
    assert place_flexible(given, one, 2, grouping=True) == {0: 1}
    one.pool = "inference"
    assert place_flexible(given, one, 3, grouping=False) == {1: 2}


def test_flexible_workers_of_mixed_jobs() -> None:
    """They prefer inference machines; without grouping training machines."""
    given = occupancy(1, 1)
    one = running(given, 0, form(given, "mixed", 4, 1, (1.0, 2.0, 3.0, 4.0)), {0: 1})
    assert place_flexible(given, one, 3, grouping=True) == {1: 2, 0: 1}
    assert place_flexible(given, one, 2, grouping=False) == {0: 1, 1: 1}


def test_release_leaves_the_flexible_group_for_last() -> None:
    """Workers beside base workers go first, then those on the last machine."""
    given = occupancy(0, 4)
    one = running(given, 0, form(given, "inference", 2, 1, (1.0,) * 9), {1: 1}, {0: 1, 1: 2, 2: 1, 3: 2})
    for extra, left in [(5, {0: 1, 1: 1, 2: 1, 3: 2}), (3, {0: 1, 2: 1, 3: 1}), (1, {0: 1}), (0, {})]:
        release(given, one, extra)
        assert one.flexible == left


def test_the_job_with_the_highest_number_makes_way_first() -> None:
    """Where base workers take GPUs of several jobs, those of the last one go first."""
    given = occupancy(1, 0)
    early, late = (
        running(given, number, form(given, "training", 2, 0, (1.0, 2.0, 3.0)), {}, {0: 2}) for number in (0, 1)
    )
    given.put_base({0: 1}, 3)
    displace(given)
    assert (early.extra, late.extra, given.idle.tolist()) == (2, 0, [1])


def test_targets_are_reached_as_far_as_there_is_room() -> None:
    """Jobs shrink first; then those with larger workers grow; a number that is not allowed is never kept."""
    given = occupancy(1, 0, gpus=13)
    speeds = (1.0, 2.0, 0.0, 4.0)
    small = running(given, 0, form(given, "training", 1, 1, speeds), {0: 1})
    large = running(given, 1, form(given, "training", 4, 1, (1.0, 2.0)), {0: 1})
    full = running(given, 2, form(given, "training", 1, 1, speeds), {0: 1}, {0: 3})
    flex(given, {0: 3, 1: 1, 2: 2}, grouping=True)
    assert (small.extra, large.extra, full.extra) == (1, 1, 1)  # two are not allowed
    flex(given, {1: 1}, grouping=True)
    assert (small.extra, large.extra, full.extra) == (0, 1, 0)


def test_mixed_jobs_grow_last() -> None:
    """A mixed job takes what the others leave, however large its workers are."""
    given = occupancy(1, 1)
    mixed = running(given, 0, form(given, "mixed", 8, 0, (1.0, 2.0)), {})
    own = running(given, 1, form(given, "inference", 4, 0, (1.0, 2.0)), {})
    running(given, 2, form(given, "training", 4, 1), {0: 1})
    flex(given, {0: 1, 1: 1}, grouping=True)
    assert (mixed.extra, own.extra) == (0, 1)


def test_only_beside_own_workers() -> None:
    """A job may be kept to the machines on which it has workers."""
    given = occupancy(2, 0)
    one = running(given, 0, form(given, "training", 4, 1, (1.0, 2.0, 3.0)), {0: 1})
    flex(given, {0: 2}, grouping=True, own_only=True)
    assert one.flexible == {0: 1}


def test_who_does_not_fit_is_passed_over() -> None:
    """Jobs start in the given order as far as they fit, unless the first that does not blocks the others."""
    given = occupancy(1, 0)
    one = form(given, "training", 1, 1)
    forms = {number: [one._replace(worker_gpus=size)] for number, size in enumerate([4, 8, 1])}
    assert [each.job for each in start(given, [0, 1, 2], forms, blocks=False, grouping=True)] == [0, 2]
    given = occupancy(1, 0)
    assert [each.job for each in start(given, [0, 1, 2], forms, blocks=True, grouping=True)] == [0]


def test_forms_are_tried_in_turn() -> None:
    """A job starts in the first of its forms that fits."""
    given = occupancy(1, 1)
    both = [form(given, "inference", 8, 1, mode="m"), form(given, "training", 8, 1)]
    found = start(given, [0, 1, 2], dict.fromkeys(range(3), both), blocks=False, grouping=True)
    assert [(each.job, each.form.mode, each.base) for each in found] == [(0, "m", {1: 1}), (1, "", {0: 1})]


def test_the_largest_workers_are_placed_first() -> None:
    """A small job that was first in the order goes where the large one leaves room."""
    given = occupancy(2, 0)
    running(given, 9, form(given, "training", 4, 1), {1: 1})
    forms = {0: [form(given, "training", 1, 1)], 1: [form(given, "training", 4, 1)]}
    found = start(given, [0, 1], forms, blocks=False, grouping=True)
    assert {each.job: each.base for each in found} == {0: {0: 1}, 1: {1: 1}}
    assert given.base.tolist() == [1, 8]


def test_mixed_jobs_come_last() -> None:
    """A job that is always mixed is looked at after all others, unless jobs block each other."""
    for blocks, started in [(False, [1]), (True, [0])]:
        given = occupancy(1, 1)
        running(given, 9, form(given, "inference", 8, 1), {1: 1})
        forms = {0: [form(given, "mixed", 8, 1)], 1: [form(given, "training", 8, 1)]}
        assert [each.job for each in start(given, [0, 1], forms, blocks=blocks, grouping=True)] == started


def test_flexible_workers_make_way() -> None:
    """A job with flexible workers keeps an allowed number of them, on GPUs that nobody else has."""
    given = occupancy(1, 0)
    one = running(given, 0, form(given, "training", 2, 1, (1.0, 0.0, 2.0, 3.0)), {0: 1}, {0: 3})
    start(given, [1], {1: [form(given, "training", 2, 1)]}, blocks=False, grouping=True)
    assert (one.extra, given.idle.tolist()) == (2, [0])
    start(given, [2], {2: [form(given, "training", 2, 1)]}, blocks=False, grouping=True)
    assert (one.extra, given.idle.tolist()) == (0, [2])


@heuristic
def _last_server(problem: Placement) -> PlacementSolution | NoSolution:
    """Put every worker on the last server."""
    name = problem.servers[-1].name
    return PlacementSolution(placed=[Placed(name, n, line.count) for n, line in enumerate(problem.workers)])


@heuristic
def _gives_up(problem: Placement) -> PlacementSolution | NoSolution:
    return NoSolution(f"{len(problem.workers)}")


def test_what_is_new_is_placed_again() -> None:
    """New base and flexible workers go where the method says; what was there before stays."""
    given = occupancy(0, 3)
    old = running(given, 0, form(given, "inference", 2, 1, (1.0, 2.0, 3.0)), {0: 1}, {1: 1})
    old.gpus = {0: (0, 1), 1: (8, 9)}
    given.put_flexible(old, 1, 1)
    new = running(given, 1, form(given, "inference", 2, 1), {0: 1})
    problem = repack(given, _last_server, grouping=True)
    assert problem is not None
    assert [(line.job, line.kind, line.count) for line in problem.workers] == [
        ("0", "flexible", 1),
        ("1", "inelastic", 1),
    ]
    assert (old.flexible, new.base) == ({1: 1, 2: 1}, {2: 1})
    assert (given.base.tolist(), given.flexible.tolist()) == ([2, 0, 2], [0, 2, 2])


def test_servers_as_the_decision_knows_them() -> None:
    """Base workers count as used; a machine with flexible workers only is an empty one of its idle GPUs."""
    given = occupancy(1, 2)
    old = running(given, 0, form(given, "inference", 2, 1, (1.0, 2.0)), {1: 1}, {2: 1})
    old.gpus = {1: (8, 9), 2: (16, 17)}
    running(given, 1, form(given, "training", 4, 1), {0: 1})
    problem = repack(given, _gives_up, grouping=True)
    assert problem is not None
    assert [(s.pool, s.capacity.gpu, s.used.gpu) for s in problem.servers] == [
        ("training", 8, 0),
        ("inference", 8, 2),
        ("inference", 6, 0),
    ]
    assert problem.minimize == "preferences"


def test_workers_stay_in_their_pool() -> None:
    """No method puts a worker onto a machine that does not suit its job."""
    given = occupancy(1, 1)
    one = running(given, 0, form(given, "inference", 4, 1), {1: 1})
    exact = find_method("placement", "exact")
    problem = repack(given, exact, grouping=True)
    assert problem is not None
    assert problem.violations(PlacementSolution(placed=[Placed("v0", 0, 1)]))
    assert one.base == {1: 1}  # though an inelastic job would be better placed on the training pool


def test_without_a_solution_workers_stay() -> None:
    """Workers stay where they are if the method finds nothing, and nothing is asked where nothing is new."""
    given = occupancy(2, 0)
    one = running(given, 0, form(given, "training", 4, 1, (1.0, 2.0)), {1: 1}, {0: 1})
    repack(given, _gives_up, grouping=False)
    assert (one.base, one.flexible, given.idle.tolist()) == ({1: 1}, {0: 1}, [4, 4])
    one.gpus = {1: (8, 9, 10, 11), 0: (0, 1, 2, 3)}
    assert repack(given, _gives_up, grouping=False) is None


_GREEDY = find_method("reclaiming", "greedy")


def _three() -> Occupancy:
    """Return a machine with base workers, one with flexible ones, one with both, and one that is empty."""
    given = occupancy(1, 4)
    running(given, 0, form(given, "inference", 4, 2, (1.0, 1.5, 2.0, 2.5)), {1: 2}, {2: 1, 3: 1})
    running(given, 1, form(given, "inference", 4, 1), {3: 1})
    return given


def _request(servers: int, **fields: Any) -> Request:
    return Request(**{"deadline": 9, "servers": servers, "gpus": 0, "among": (), "gpu_type": "T4", **fields})


def test_empty_machines_first() -> None:
    """First go empty machines, then those with flexible workers only, then what the method chooses."""
    told: list[tuple[Reclaiming, Sequence[str]]] = []
    orchestrator = Orchestrator(_GREEDY, on_reclaim=lambda *each: told.append(each))
    for servers, expected in [(1, [4]), (2, [4, 2]), (3, [4, 2, 1]), (9, [4, 2, 1, 3])]:
        assert orchestrator.answer(_three(), _request(servers)) == expected
    assert [(len(problem.servers), problem.demand, tuple(servers)) for problem, servers in told] == [
        (2, 1, ("t0",)),
        (2, 2, ("t0", "t2")),
    ]


def test_flexible_workers_there_are_released() -> None:
    """A job that loses flexible workers keeps the largest allowed number of the others."""
    given = _three()
    given.jobs[0].speeds = (1.0, 0.0, 2.0, 2.5)
    Orchestrator(_GREEDY).answer(given, _request(2))
    assert (given.jobs[0].extra, given.flexible.tolist()) == (0, [0, 0, 0, 0, 0])


def test_among_and_type() -> None:
    """Only machines that are there, of the type or among the names that are given, are given up."""
    given = _three()
    given.present[4] = 0
    orchestrator = Orchestrator(_GREEDY)
    assert orchestrator.answer(given, _request(1)) == [2]
    assert orchestrator.answer(_three(), _request(1, among=("v0", "t0"), gpu_type="")) == [0]
    assert orchestrator.answer(_three(), _request(1, gpu_type="V100")) == [0]


def test_a_method_without_a_solution_gives_up_nothing() -> None:
    """What the method does not decide is left to the deadline."""

    @heuristic
    def gives_up(problem: Reclaiming) -> ReclaimingSolution | NoSolution:
        return NoSolution(f"{problem.demand}")

    assert Orchestrator(gives_up).answer(_three(), _request(3)) == [4, 2]


def test_the_decision() -> None:
    """The decision knows base and flexible workers on the machines, and how many servers lie elsewhere."""
    given = _three()
    running(given, 2, form(given, "mixed", 2, 2), {0: 1, 2: 1})
    problem = reclaiming(given, [1, 2, 3], 1)
    assert [(each.name, dict(each.workers), dict(each.flexible)) for each in problem.jobs] == [
        ("0", {"t0": 8}, {"t1": 4, "t2": 4}),
        ("1", {"t2": 4}, {}),
        ("2", {"t1": 2}, {}),
    ]
    assert [each.training_servers for each in problem.jobs] == [0, 0, 1]


def test_who_waits() -> None:
    """Jobs wait by number; those that have lost their GPUs from a later look on."""
    told: list[Any] = []

    class Watching:
        preemptive = False

        def decide(self, state: State) -> Iterator[Action]:
            queue = Queue(Machines(state.cluster, "T4"), training_first=False)
            queue.arrive(state, [0, 2, 1])
            told.append([(each.job, each.time, each.gpus) for each in queue.waiting])
            told.append(queue.waiting[1].elastic)
            queue.start([2, 0])
            queue.rest([2])
            told.append(([each.job for each in queue.waiting], len(queue), queue.rests))
            queue.wake(state)
            told.append(([each.job for each in queue.waiting], queue.rests))
            yield from map(Start, state.arrived)

    jobs = [job("a", 0, 9, 4), job("b", 0, 6, 4, menu=[(2, 0.5), (4, 1.0)]), job("c", 0, 3, 1)]

    def watching(state: State) -> Watching:
        del state
        return Watching()

    simulate(bundle(jobs), watching, cluster=pools(2, 0), bound=False)
    assert told[0] == [(0, 9.0, 4), (1, 12.0, 2), (2, 3.0, 1)]
    assert (told[1].base, told[1].most, told[1].extra, told[1].speeds) == (1, 2, 0, (0.5, 1.0))
    assert told[2:4] == [([1], 2, True), ([1, 2], False)]


def _reach(own: int, lent: int, mixed: float, base: dict[int, int], **fields: Any) -> Any:
    told: list[Any] = []

    class Asking:
        preemptive = False

        def decide(self, state: State) -> Iterator[Action]:
            if state.arrived:
                machines = Machines(state.cluster, "T4")
                form = forms_of(state.jobs[0], machines)[0]
                told.append(
                    growth(state, RunningJob(0, form, base, pool=form.pool, speeds=form.speeds), machines)
                )
                yield Start(0)

    def asking(state: State) -> Asking:
        del state
        return Asking()

    one = job("a", 0, 9, 4, 12, **{"gpu_type": "", **fields})
    speed = Speed(gpu_types={"T4": 2.0}, mixed=mixed)
    simulate(bundle([one]), asking, cluster=pools(own, lent, 4), speed=speed, bound=False)
    return told[0]


@pytest.mark.parametrize(
    ("own", "lent", "mixed", "base", "pool", "speeds"),
    [
        (3, 2, 1.0, {0: 1}, "mixed", (1.0, 1.5, 2.0)),  # four more GPUs at half the speed each
        (1, 2, 1.0, {0: 1}, "inference", (1.0, 1.5, 2.0)),
        (3, 2, 2.5, {0: 1}, "training", (1.0, 2.0, 3.0)),
        (1, 2, 1.6, {0: 1}, "inference", (1.0, 0.0, 1.25)),  # one worker would slow the job down
        (1, 1, 2.5, {0: 1}, "training", (1.0,)),
        (1, 3, 1.0, {2: 1}, "mixed", (1.0, 2.0, 3.0)),  # base workers on T4 GPUs
    ],
)
def test_pools_and_speeds(
    own: int, lent: int, mixed: float, base: dict[int, int], pool: str, speeds: tuple[float, ...]
) -> None:
    """A pool counts where workers there make the job faster, and speeds are those of the GPUs it would get."""
    found = _reach(own, lent, mixed, base)
    assert found[0] == pool
    assert found[1] == pytest.approx(speeds)


def test_other_jobs_keep_their_menus() -> None:
    """A job of one type has the speeds of its menu in its pool."""
    assert _reach(3, 1, 9.0, {0: 1}, gpu_type="V100") == ("training", (1.0, 2.0, 3.0))


def _places(sizes: tuple[int, ...], rooms: list[int]) -> bool:
    """Check whether items can be placed, by trying every machine for each."""
    if not sizes:
        return True
    return any(
        _places(sizes[1:], [room - sizes[0] * (number == machine) for number, room in enumerate(rooms)])
        for machine in range(len(rooms))
        if rooms[machine] >= sizes[0]
    )


@settings(max_examples=cases(300), deadline=None)
@given(
    items=st.lists(st.tuples(st.sampled_from([1, 2, 4]), st.integers(-1, 9)), max_size=7),
    rooms=st.lists(st.integers(0, 6), min_size=1, max_size=3),
)
def test_the_best_that_can_be_placed(items: list[tuple[int, int]], rooms: list[int]) -> None:
    """No other choice that can be placed is worth more."""
    sizes = np.array([size for size, _ in items], dtype=np.int64)
    gains = np.array([gain for _, gain in items], dtype=np.float64)
    chosen = choose(sizes, gains, np.array(rooms))
    assert _places(tuple(sorted(sizes[chosen].tolist(), reverse=True)), rooms)
    best = max(
        sum(gain for (_, gain), taken in zip(items, choice, strict=True) if taken)
        for choice in product([False, True], repeat=len(items))
        if _places(
            tuple(sorted((s for (s, _), t in zip(items, choice, strict=True) if t), reverse=True)), rooms
        )
    )
    assert gains[chosen].sum() == pytest.approx(best)


def test_the_first_of_equals() -> None:
    """Of items of one size and gain the first are chosen."""
    chosen = choose(np.full(5, 2), np.full(5, 1.0), np.array([4]))
    assert chosen.tolist() == [True, True, False, False, False]


def test_what_is_left() -> None:
    """Items fill the fullest machines that hold them, the largest items first."""
    assert left_over(np.array([8, 4, 5]), np.array([4, 4, 1])).tolist() == [8, 0, 0]
    assert left_over(np.array([3]), np.array([], dtype=np.int64)).tolist() == [3]


@pytest.mark.parametrize(
    ("speeds", "extras", "alike"),
    [
        ((1.0,), (), True),
        ((1.0, 1.0), (), True),
        ((1.0, 2.0, 3.0), (1, 2), True),
        ((1.0, 1.1, 2.0), (1, 2), False),
        ((1.0, 2.0, 1.5, 2.0), (1,), True),
        ((1.0, 0.0, 2.0), (2,), False),
        ((2.0, 1.0, 3.0), (1, 2), False),
    ],
)
def test_steps(speeds: tuple[float, ...], extras: tuple[int, ...], alike: bool) -> None:
    """Steps lead to the fastest number; they are alike where each is one worker and saves no more."""
    steps = steps_of(speeds)
    assert (steps.extras, steps.are_alike, len(steps.shares)) == (extras, alike, len(extras))
    assert sum(steps.shares) == pytest.approx(1 - speeds[0] / max(speeds))


_EXACT = find_method("allocation", "exact")


def _job(
    number: int, time: float, most: int, size: int = 1, pool: Pool = "training", extra: int = 0, base: int = 2
) -> FlexibleJob:
    speeds = tuple(float(base + each) for each in range(most - base + 1))
    return FlexibleJob(number, time, size, base, most, extra, pool, speeds)


def _snapshot(
    *jobs: FlexibleJob, waiting: tuple[WaitingJob, ...] = (), **rooms: tuple[int, ...]
) -> SchedulerView:
    idle = {pool: sum(rooms.get(pool, ())) for pool in ("training", "inference")}
    return SchedulerView(
        0.0, waiting, jobs, idle, pending=bool(waiting), room={pool: rooms.get(pool, ()) for pool in idle}
    )


def _refuses(problem: Allocation) -> Result[AllocationSolution]:
    raise AssertionError(problem)


def test_the_shortest_first() -> None:
    """Jobs are ordered by their time; of equal ones the first goes first."""
    waiting = tuple(WaitingJob(number, 0.0, time, 1) for number, time in enumerate([5.0, 3.0, 5.0, 1.0]))
    assert TwoPhaseScheduler(_EXACT).order(_snapshot(waiting=waiting)) == [3, 1, 0, 2]


def test_what_can_be_placed() -> None:
    """On arrays a worker is given only where a machine has room for it; a method counts GPUs in all."""
    jobs = _job(0, 150.0, 3, size=2), _job(1, 60.0, 3)
    assert TwoPhaseScheduler(_refuses).extras(_snapshot(*jobs, training=(1, 1))) == {1: 1}
    assert TwoPhaseScheduler(_EXACT, knapsack=_EXACT).extras(_snapshot(*jobs, training=(1, 1))) == {0: 1}


def test_pools_are_apart_and_mixed_jobs_last() -> None:
    """Each pool is divided among its own jobs; jobs of both pools get what is left of either."""
    jobs = _job(0, 100.0, 4, pool="mixed"), _job(1, 9.0, 3), _job(2, 8.0, 3, pool="inference")
    two_phase = TwoPhaseScheduler(_refuses)
    assert two_phase.extras(_snapshot(*jobs, training=(1,), inference=(2,))) == {0: 1, 1: 1, 2: 1}
    assert two_phase.extras(_snapshot(*jobs, training=(2,), inference=(2,))) == {0: 2, 1: 1, 2: 1}


def test_machines_that_are_not_known() -> None:
    """Without the machines' rooms all idle GPUs of a pool, and those of its flexible workers, count as one."""
    jobs = _job(0, 150.0, 3, extra=1), _job(1, 60.0, 6)
    given = SchedulerView(0.0, (), jobs, {"training": 3, "inference": 0}, pending=False)
    assert TwoPhaseScheduler(_refuses).extras(given) == {0: 1, 1: 3}


def test_one_knapsack_over_normalised_gpus() -> None:
    """Three GPUs of the inference pool count as one, for all jobs together."""
    jobs = _job(0, 150.0, 3), _job(1, 60.0, 6, pool="inference")
    two_phase = TwoPhaseScheduler(_EXACT, normalised=3.0)
    assert two_phase.extras(_snapshot(*jobs, training=(1,), inference=(8,))) == {0: 1, 1: 2}


def test_without_a_solution_nobody_gets_any() -> None:
    """A method that finds nothing leaves all jobs with their base workers."""

    def gives_up(problem: Allocation) -> Result[AllocationSolution]:
        return Result.judged(problem, method="none", runtime=0.0, solution=None)

    jobs = _job(0, 150.0, 3), _job(1, 60.0, 6)
    assert TwoPhaseScheduler(gives_up, knapsack=gives_up).extras(_snapshot(*jobs, training=(4,))) == {}


@st.composite
def _elastic(draw: st.DrawFn, number: int) -> FlexibleJob:
    base = draw(st.integers(1, 3))
    gains = draw(st.lists(st.integers(-2, 6), max_size=4))
    speeds = [4.0]
    for gain in gains:
        speeds.append(max(speeds[-1] + gain / 4, 0.5))
    time = float(draw(st.integers(1, 50)))
    size = draw(st.sampled_from([1, 2, 3]))
    return FlexibleJob(number, time, size, base, base + len(gains), 0, "training", tuple(speeds))


@settings(max_examples=cases(100), deadline=None)
@given(jobs=st.lists(st.integers(), min_size=1, max_size=4), data=st.data(), gpus=st.integers(0, 9))
def test_the_arrays_agree_with_the_exact_method(jobs: list[int], data: st.DataObject, gpus: int) -> None:
    """On one machine the arrays, or the fallback where they cannot, save as much as the exact method."""
    drawn = [data.draw(_elastic(number)) for number in range(len(jobs))]
    snapshot = _snapshot(*drawn, training=(gpus,) if gpus else ())
    saved = [
        sum(job.time - job.time_with(extras[job.job]) for job in drawn if job.job in extras)
        for extras in (
            TwoPhaseScheduler(_EXACT, knapsack=knapsack).extras(snapshot) for knapsack in (None, _EXACT)
        )
    ]
    assert saved[0] == pytest.approx(saved[1])
