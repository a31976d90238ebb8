"""The supply: machines that fail, leave, return and are reclaimed, and GPUs of plain clusters."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule import Vacated
from gsopt.schedule.judge import judge
from gsopt.simulation import Action, IllegalDecision, Policy, Replay, Start, State, Vacate, Wake, replay
from heuristics.policies import fifo
from tests.gsopt.simulation.recorded import schedule_of, verdict_of
from tests.gsopt.simulation.scripts import doing, scripted, workload

_RACKS = Cluster.uniform(racks=2, machines=2, gpus=2)
A, B, C, D = (machine.name for machine in _RACKS.machines)


def run(
    jobs: Workload, policy: Policy, events: Sequence[Any], cluster: Cluster = _RACKS, **fields: Any
) -> Replay:
    """Record a run in fractions that the judge finds legal."""
    scenario = Scenario(workload=jobs, cluster=cluster, events=events, **fields)
    done = replay(scenario, policy, record=True, exact=True)
    verdict = judge(schedule_of(done), scenario, exact=True, complete=False)
    assert (verdict.violations, verdict.completion_times) == ((), done.completion_times)
    assert verdict.utilisation == pytest.approx(done.metrics.utilisation)
    return done


def vacated(done: Replay) -> tuple[Vacated, ...]:
    """Return the machines that were given up."""
    return schedule_of(done).vacated


@pytest.mark.parametrize(("lost", "completion"), [(0.0, 6), (1.5, 7.5), (99.0, 8)])
def test_a_failure_evicts_and_may_cost_work(lost: float, completion: float) -> None:
    """A job keeps its progress but for what is lost, at most all of it, and goes on after the return."""
    events = [Leave(time=2, servers=[B], lost_work=lost), Return(time=4, servers=[B])]
    done = run(workload((0, 4, 8)), fifo, events)
    assert done.completion_times == (completion,)
    assert done.metrics.preemptions == 1


def test_a_job_goes_on_elsewhere_at_once() -> None:
    """A policy that starts a job elsewhere in the instant of a failure has resized it."""
    done = run(workload((0, 4, 2)), fifo, [Leave(time=2, servers=[A], lost_work=1.0)])
    assert (done.completion_times, done.metrics.preemptions) == ((5,), 0)


def test_a_promise_not_to_preempt_is_not_broken_by_a_failure() -> None:
    """A policy that is not preemptive may decide anything else while evicted jobs wait."""
    policy = scripted([Start(0, (0, 1))], [Start(1, (2,))], [Start(0)], preemptive=False)
    done = run(workload((0, 4, 2), (0, 4, 1)), policy, [Leave(time=2, servers=[A])])
    assert done.completion_times == (8, 6)


def test_what_the_state_shows() -> None:
    """Machines that are there, and requests that are open with what is still owed."""
    seen: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        if state.requests and state.now == 1:
            yield Vacate([B])
        seen.append((float(state.now), state.servers, state.capacity, state.requests))
        yield from map(Start, state.arrived)

    events = [
        Reclaim(time=1, deadline=4, servers=2),
        Reclaim(time=1, deadline=3, servers=1, among=[C]),
        Leave(time=2, servers=[D]),
        Return(time=5, servers=[B, D]),
    ]
    run(workload((0, 9, 1)), doing(decide), events)
    first, second = (4, 1, 0, (), ""), (3, 1, 0, (C,), "")
    assert seen[:6] == [
        (0, (A, B, C, D), 8, ()),
        (1, (A, C, D), 6, (second, first)),
        (2, (A, C), 4, (second, first)),
        (3, (A,), 2, (first,)),
        (4, (), 0, ()),
        (5, (B, D), 4, ()),
    ]


def test_a_machine_answers_the_earliest_deadline() -> None:
    """Of the requests that may take it; a request that is met asks for nothing and is no event."""
    seen: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        seen.append(float(state.now))
        return [Vacate([C, B])] if state.now == 1 else map(Start, state.arrived)

    events = [Reclaim(time=1, deadline=4, servers=1), Reclaim(time=1, deadline=3, servers=1, among=[B, D])]
    done = run(workload((0, 9, 1)), doing(decide), events)
    assert vacated(done) == (Vacated(1, C), Vacated(1, B))
    assert seen == [0, 1, 9]


def test_at_the_deadline_the_cheapest_machines_go() -> None:
    """Those whose jobs hold the fewest GPUs, counted anew after each; the first of equals."""
    jobs = workload((0, 9, 3), (0, 9, 1), (0, 9, 2))
    start = [Start(0, (0, 2, 4)), Start(1, (3,)), Start(2, (6, 7))]
    done = run(jobs, scripted(start, [], [], [Start(2)]), [Reclaim(time=1, deadline=2, servers=3)])
    assert [each.server for each in vacated(done)] == [D, A, C]
    assert done.completion_times == (None, 9, 16)
    jobs = workload((0, 9, 3), (0, 9, 1), (0, 9, 3))
    start = [Start(0, (0, 1, 2)), Start(1, (3,)), Start(2, (4, 5, 6))]
    done = run(jobs, scripted(start), [Reclaim(time=1, deadline=2, servers=2)])
    assert [each.server for each in vacated(done)] == [A, B]  # once the first job is gone, one GPU is held on B
    idle = run(workload((0, 9, 1)), fifo, [Reclaim(time=1, deadline=2, servers=2)])
    assert [each.server for each in vacated(idle)] == [B, C]


def test_a_request_after_the_last_completion_is_met() -> None:
    """Whether jobs are left or not, machines go at the deadline, or all that there are."""
    assert vacated(run(workload((0, 1, 1)), fifo, [Reclaim(time=2, deadline=3, servers=1)])) == (Vacated(3, A),)
    events = [Leave(time=0, servers=[A, B, C]), Reclaim(time=2, deadline=3, servers=2)]
    assert vacated(run(workload((0, 1, 1)), fifo, events)) == (Vacated(3, D),)


def test_vacated_jobs_stand_among_the_evicted() -> None:
    """So a policy that gives machines up can hand the rest of the decision to any other."""

    class Answering:
        preemptive = False

        def __init__(self, state: State) -> None:
            self._inner = fifo(state)

        def decide(self, state: State) -> Iterable[Action]:
            for request in state.requests:
                yield Vacate(state.servers[: request.servers])
            yield from self._inner.decide(state)

    done = run(workload((0, 4, 2), (0, 4, 2)), Answering, [Reclaim(time=1, deadline=9, servers=1)])
    assert vacated(done) == (Vacated(1, A),)
    assert (done.completion_times, done.metrics.preemptions) == ((4, 4), 0)


#: A machine of one type between two of another, two GPUs each.
_TYPES = Cluster(
    racks=[
        Rack(
            name="rack",
            machines=[
                Machine(name=name, gpus=2, gpu_type=kind)
                for name, kind in [("a", "T4"), ("b", "V100"), ("c", "T4")]
            ],
        )
    ]
)


def test_a_loan_brings_the_first_machines_that_are_away() -> None:
    """In the order of the cluster, of its type or its names, whether they left or were given up; or all."""
    events = [
        Leave(time=0, servers=["a", "b", "c"]),
        Loan(time=0, servers=1, gpu_type="V100"),
        Loan(time=1, servers=1, gpu_type="T4"),
        Loan(time=2, servers=2, gpu_type="T4"),
        Reclaim(time=3, deadline=4, servers=1, gpu_type="T4"),
        Reclaim(time=4, deadline=5, servers=1, among=["c"]),
        Loan(time=6, servers=1, among=["c"]),
        Loan(time=7, servers=3),
    ]
    seen: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        seen.append((float(state.now), state.servers))
        yield from map(Start, state.arrived)

    done = run(workload((0, 9, 1)), doing(decide), events, _TYPES)
    assert seen[:6] == [
        (0, ("b",)),
        (1, ("a", "b")),
        (2, ("a", "b", "c")),
        (3, ("a", "b", "c")),
        (4, ("b", "c")),
        (5, ("b",)),
    ]
    assert seen[6:8] == [(6, ("b", "c")), (7, ("a", "b", "c"))]
    assert vacated(done) == (Vacated(4, "a"), Vacated(5, "c"))


def test_machines_of_a_type_are_asked_for() -> None:
    """A policy sees which type, and gives up no other; at the deadline no other is taken."""
    asked: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        asked.append([request.gpu_type for request in state.requests])
        yield from map(Start, state.arrived)

    events = [Reclaim(time=1, deadline=2, servers=1, gpu_type="V100")]
    done = run(workload((0, 9, 1)), doing(decide), events, _TYPES)
    assert (asked[1], vacated(done)) == (["V100"], (Vacated(2, "b"),))
    with pytest.raises(IllegalDecision, match="nobody asks for 'a'"):
        run(workload((0, 9, 1)), scripted([], [Vacate(["a"])]), events, _TYPES)


def test_a_machine_that_leaves_may_be_lent_at_once() -> None:
    """Its jobs are evicted all the same, and lose what is lost."""
    events = [Leave(time=2, servers=["a"], lost_work=1.0), Loan(time=2, servers=1)]
    waiting = scripted([Start(0, (0, 1))], [], [Start(0, (0, 1))], preemptive=False)
    changes = [CapacityChange(time=3, gpus=6)]
    done = run(workload((0, 4, 2)), waiting, events, _TYPES, capacity_changes=changes)
    assert (done.completion_times, done.metrics.preemptions) == ((6,), 1)
    again = scripted([Start(0, (0, 1))], [Start(0, (0, 1))])
    assert run(workload((0, 4, 2)), again, events, _TYPES).completion_times == (5,)


@pytest.mark.parametrize(
    ("servers", "rule"),
    [
        ([A], "nobody asks"),
        ([B, B], "must be available"),
        ([B, C, D], "nobody asks"),
        (["x"], "must be available"),
    ],
)
def test_only_what_is_asked_for_is_given_up(servers: list[str], rule: str) -> None:
    """Machines of no open request, more than are owed, unknown and absent ones are refused."""
    events = [Reclaim(time=0, deadline=9, servers=2, among=[B, C, D])]
    with pytest.raises(IllegalDecision, match=rule):
        run(workload((0, 4, 2)), scripted([Vacate(servers)]), events)


def test_a_machine_that_was_given_up_takes_no_job() -> None:
    """Neither in the decision that gives it up nor later."""
    events = [Reclaim(time=0, deadline=9, servers=1)]
    with pytest.raises(IllegalDecision, match="GPU 1 must be available"):
        run(workload((0, 4, 1)), scripted([Vacate([A]), Start(0, (1,))]), events)


def test_gpus_of_a_plain_cluster() -> None:
    """At the deadline they go, and with them the jobs started last that do not fit any more."""
    events = [Reclaim(time=1, deadline=3, gpus=2), Return(time=5, gpus=1)]
    jobs = workload((0, 9, 1), (0, 9, 1), (0, 9, 1))
    seen: list[Any] = []

    def decide(state: State) -> Iterable[Action]:
        seen.append((float(state.now), state.capacity, state.servers, state.requests))
        return map(Start, (state.arrived + state.evicted)[: state.free])

    done = run(jobs, doing(decide), events, Cluster.plain(4))
    assert seen[:3] == [(0, 4, (), ()), (1, 4, (), ((3, 0, 2, (), ""),)), (3, 2, (), ())]
    assert done.completion_times == (9, 9, None)
    assert done.metrics.preemptions == 1
    fixed = run(jobs, fifo, events, Cluster.plain(4))
    assert fixed.completion_times == (9, 9, 11)
    with pytest.raises(IllegalDecision, match="leaving them free"):
        run(jobs, scripted([Vacate(["x"])]), events, Cluster.plain(4))


def test_no_gpus_at_all() -> None:
    """The capacity may fall to nothing; what runs waits until it is back."""
    changes = [CapacityChange(time=1, gpus=0), CapacityChange(time=3, gpus=2)]
    for cluster in (Cluster.plain(2), Cluster.uniform(machines=2, gpus=1)):
        done = run(workload((0, 2, 2)), fifo, [], cluster, capacity_changes=changes)
        assert done.completion_times == (4,)


def test_late_clocks_and_rounds() -> None:
    """Seconds since 1970 and rounds change nothing about who is taken."""
    shift = 1.7e9
    request = Reclaim(time=shift + 1, deadline=shift + 2.5, servers=1)
    events = (request, Return(time=shift + 9, servers=[A]))
    scenario = Scenario(workload=workload((shift, 20, 8)), cluster=_RACKS, events=events)
    done = replay(scenario, fifo, round_length=4.0, record=True)
    verdict_of(done)
    assert vacated(done) == (Vacated(shift + 2.5, A),)
    assert done.completion_times == (shift + 12 + 17.5,)


def test_waking_before_a_deadline() -> None:
    """A policy may give machines up until just before the deadline, when the engine takes them."""
    events = [Reclaim(time=1, deadline=3, servers=1, among=[D])]
    policy = scripted([Start(0, (6, 7))], [Wake(2.5)], [Vacate([D]), Start(0, (0, 1))])
    done = run(workload((0, 4, 2)), policy, events)
    assert (vacated(done), done.completion_times) == ((Vacated(2.5, D),), (4,))
