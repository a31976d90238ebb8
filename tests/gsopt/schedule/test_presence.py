"""What is there when is worked out from what was given and from the machines that were given up."""

from fractions import Fraction
from math import nextafter
from typing import Any

import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule import Vacated
from gsopt.schedule.presence import Presence

#: Four machines, a to d, of two GPUs each.
_RACKS = Cluster.uniform(racks=2, machines=2, gpus=2)
_A, _B, _C, _D = (machine.name for machine in _RACKS.machines)


#: Machines a to d of 1, 2, 4 and 8 GPUs, every other one of the same type.
_TYPES = Cluster(
    racks=[
        Rack(
            name="rack",
            machines=[
                Machine(name=name, gpus=2**place, gpu_type=("T4", "V100")[place % 2])
                for place, name in enumerate("abcd")
            ],
        )
    ]
)


def _presence(
    *events: Event,
    cluster: Cluster = _RACKS,
    changes: tuple[tuple[float, int], ...] = (),
    vacated: tuple[tuple[Any, str], ...] = (),
    number: Any = Fraction,
) -> Presence:
    capacities = tuple(CapacityChange(time=time, gpus=gpus) for time, gpus in changes)
    scenario = Scenario(workload=Workload(jobs=()), cluster=cluster, capacity_changes=capacities, events=events)
    return Presence(scenario, tuple(Vacated(*each) for each in vacated), number)


def _rows(presence: Presence) -> list[tuple[Any, int, int]]:
    return [(step.time, step.limit, step.gpus) for step in presence.steps]


def test_nothing_changes() -> None:
    """Without changes, events and machines given up there are no steps, and no rule is broken."""
    presence = _presence()
    assert (presence.steps, presence.found) == ([], [])


def test_machines_and_limits_together() -> None:
    """A GPU is there when its number is below the limit and its machine is there."""
    presence = _presence(
        Leave(time=1, servers=[_A, _D], lost_work=3), Return(time=4, servers=[_D, _A]), changes=((2, 5), (3, 8))
    )
    assert _rows(presence) == [(1, 8, 4), (2, 5, 3), (3, 8, 4), (4, 8, 8)]
    first, second, third, fourth = presence.steps
    assert (first.gone, first.lost) == ((range(2), range(6, 8)), ((range(2), 3), (range(6, 8), 3)))
    assert [step.fell for step in presence.steps] == [False, True, False, False]
    assert (second.gone, third.back, sorted(fourth.back, key=lambda gpus: gpus.start)) == (
        (),
        (),
        [*first.gone],
    )


def test_loans_bring_the_first_that_are_away() -> None:
    """Of their type or their names, whether they left or were given up; fewer where fewer are away."""
    presence = _presence(
        Leave(time=0, servers=["d", "b", "c"]),
        Reclaim(time=0, deadline=2, servers=1, gpu_type="T4"),
        Loan(time=3, servers=1, gpu_type="V100"),
        Loan(time=3, servers=1, gpu_type="T4"),
        Loan(time=4, servers=1, among=["d"]),
        Loan(time=5, servers=4),
        cluster=_TYPES,
        vacated=((1, "a"),),
    )
    assert presence.found == []
    assert _rows(presence) == [(0, 15, 1), (1, 15, 0), (2, 15, 0), (3, 15, 3), (4, 15, 11), (5, 15, 15)]
    assert [len(step.back) for step in presence.steps] == [0, 0, 0, 2, 1, 1]


def test_a_loan_sees_what_happened_before_it() -> None:
    """At an instant events go in their order, and what is given up goes after them."""
    goes, comes = Leave(time=1, servers=["a"], lost_work=2), Loan(time=1, servers=1, gpu_type="T4")
    first = _presence(goes, comes, cluster=_TYPES).steps[0]
    assert (first.gpus, first.gone, first.back) == (15, (range(1),), (range(1),))
    assert (first.lost, first.takes((0, 1)), first.takes((1, 2))) == (((range(1), 2),), True, False)
    assert _presence(comes, goes, cluster=_TYPES).steps[0].gpus == 14
    asked = Reclaim(time=0, deadline=1, servers=1, gpu_type="T4")
    last = _presence(asked, comes, cluster=_TYPES, vacated=((1, "a"),)).steps[-1]
    assert (last.gpus, last.gone, last.back) == (14, (range(1),), ())
    away = Leave(time=0, servers=["a"])
    back = _presence(away, comes, goes, cluster=_TYPES).steps[-1]
    assert (back.gpus, back.gone, back.back) == (14, (), ())


def test_gpus_of_a_plain_cluster_go_at_the_deadline() -> None:
    """They are there until then and come back on their own; a capacity change counts beside them, down to 0."""
    presence = _presence(
        Reclaim(time=0, deadline=2, gpus=3),
        Return(time=4, gpus=1),
        cluster=Cluster.plain(6),
        changes=((3, 4), (5, 1), (6, 6)),
    )
    assert _rows(presence) == [(0, 6, 6), (2, 3, 3), (3, 1, 1), (4, 2, 2), (5, 0, 0), (6, 4, 4)]
    assert [step.fell for step in presence.steps] == [False, True, True, False, True, False]


def test_a_fall_counts_though_a_rise_follows_at_once() -> None:
    """Jobs have to stop when the capacity falls, before GPUs return in the same instant."""
    presence = _presence(
        Reclaim(time=0, deadline=2, gpus=3), Return(time=4, gpus=3), cluster=Cluster.plain(6), changes=((4, 5),)
    )
    assert _rows(presence) == [(0, 6, 6), (2, 3, 3), (4, 5, 5)]
    assert [step.fell for step in presence.steps] == [False, True, True]


@pytest.mark.parametrize(
    ("events", "vacated", "rule"),
    [
        ([Reclaim(time=0, deadline=2, servers=2)], [(1, _A), (2, _B)], None),
        ([Reclaim(time=0, deadline=2, servers=2)], [(1, _A)], "at 2: events[0] is owed 1 more machines, and"),
        ([Reclaim(time=0, deadline=2, servers=1)], [(3, _A)], "at 2: events[0] is owed 1 more"),
        ([Reclaim(time=0, deadline=2, servers=1)], [(1, _A), (1, _B)], "is given up and no request takes it"),
        (
            [Reclaim(time=1, deadline=2, servers=1)],
            [(0, _A), (1, _B)],
            "at 0: machine 'machine 0.0' is given up",
        ),
        ([Reclaim(time=0, deadline=2, servers=2)], [(1, _A), (1, _A)], "is given up and not there"),
        ([Reclaim(time=0, deadline=2, servers=1, among=[_A])], [(1, _B), (1, _A)], "no request takes it"),
        ([Reclaim(time=0, deadline=2, servers=1, among=[_A])], [(1, "m")], "vacated[0]: 'm' is no machine"),
        ([], [(float("nan"), _A)], "vacated[0]: a machine is given up at a time"),
        ([Reclaim(time=0, deadline=2, servers=1, gpu_type="T4")], [(1, "a")], None),
        ([Reclaim(time=0, deadline=2, servers=1, gpu_type="T4")], [(1, "b")], "no request takes it"),
        (
            [Reclaim(time=0, deadline=2, servers=2, gpu_type="T4")],
            [(1, "c")],
            "at 2: events[0] is owed 1 more machines, and 'a' is there",
        ),
        (
            [Reclaim(time=0, deadline=2, servers=1, gpu_type="V100"), Leave(time=1, servers=["b", "d"])],
            [],
            None,
        ),
        # whatever has left is not there to be given up, and is not asked for
        ([Reclaim(time=0, deadline=2, servers=1, among=[_A]), Leave(time=1, servers=[_A])], [], None),
        (
            [Reclaim(time=0, deadline=2, servers=1, among=[_A]), Leave(time=1, servers=[_A])],
            [(1, _A)],
            "not there",
        ),
        # a machine that comes back at the deadline is there
        (
            [
                Leave(time=0, servers=[_A]),
                Reclaim(time=1, deadline=2, servers=1, among=[_A]),
                Return(time=2, servers=[_A]),
            ],
            [],
            "owed 1 more",
        ),
        # the most urgent request that takes a machine gets it, the first one of those that are as urgent
        (
            [Reclaim(time=0, deadline=4, servers=1), Reclaim(time=1, deadline=2, servers=1, among=[_A])],
            [(1, _A)],
            "at 4: events[0] is owed 1",
        ),
        (
            [Reclaim(time=0, deadline=4, servers=1), Reclaim(time=1, deadline=2, servers=1, among=[_A])],
            [(1, _B)],
            "at 2: events[1] is owed 1",
        ),
        (
            [Reclaim(time=0, deadline=4, servers=1, among=[_A, _B]), Reclaim(time=1, deadline=4, servers=1)],
            [(4, _B), (4, _C)],
            None,
        ),
        (
            [Reclaim(time=0, deadline=4, servers=1), Reclaim(time=1, deadline=4, servers=1, among=[_A, _B])],
            [(4, _B), (4, _C)],
            "no request takes it",
        ),
        # and once it is back it may be given up again
        (
            [
                Reclaim(time=0, deadline=2, servers=1, among=[_A]),
                Return(time=3, servers=[_A]),
                Reclaim(time=3, deadline=4, servers=1, among=[_A]),
            ],
            [(1, _A), (4, _A)],
            None,
        ),
    ],
)
def test_requests(events: list[Event], vacated: list[tuple[Any, str]], rule: str | None) -> None:
    """Machines are given up once, while they are there, on request and in time."""
    typed = any(isinstance(event, Reclaim) and event.gpu_type for event in events)
    found = _presence(*events, vacated=tuple(vacated), cluster=_TYPES if typed else _RACKS).found
    if rule is None:
        assert found == []
    else:
        assert rule in found[0]


def test_machines_given_up_are_away_until_they_return() -> None:
    """They go when they are given up, not at the deadline, and lose no work, though they would leave later."""
    presence = _presence(
        Reclaim(time=0, deadline=3, servers=1),
        Leave(time=4, servers=[_B], lost_work=1),
        Return(time=5, servers=[_A, _B]),
        vacated=((2, _B),),
    )
    assert _rows(presence) == [(0, 8, 8), (2, 8, 6), (3, 8, 6), (4, 8, 6), (5, 8, 8)]
    assert [step.gone for step in presence.steps] == [(), (range(2, 4),), (), (), ()]
    assert [step.lost for step in presence.steps] == [()] * 5


@pytest.mark.parametrize("late", [True, False])
def test_a_tick_beside_the_deadline_is_in_time(late: bool) -> None:
    """Floats cannot tell a few ticks; fractions can."""
    events = (Reclaim(time=1.7e9, deadline=1.7e9 + 60, servers=1),)
    time = 1.7e9 + 60 + 2.0**-20 if late else 1.7e9 - 2.0**-20
    assert _presence(*events, vacated=((time, _A),), number=float).found == []
    assert _presence(*events, vacated=((time, _A),)).found != []
    hour = time + 3600 if late else time - 3600
    assert _presence(*events, vacated=((hour, _A),), number=float).found != []


@pytest.mark.parametrize("given_up", [nextafter(2, 0), 2, nextafter(2, 3)])
def test_what_is_lent_at_a_deadline_comes_back(given_up: float) -> None:
    """A machine given up a tick before a deadline is lent again at that date, one given up at it is not."""
    presence = _presence(
        Reclaim(time=1, deadline=2, servers=1), Loan(time=2, servers=1), vacated=((given_up, _A),), number=float
    )
    assert presence.found == []
    assert presence.steps[-1].gpus == (8 if given_up < 2 else 6)


def test_a_tick_before_the_request_is_at_the_request() -> None:
    """What is given up a tick before it is asked for answers the request."""
    presence = _presence(Reclaim(time=1, deadline=2, servers=1), vacated=((nextafter(1, 0), _A),), number=float)
    assert presence.found == []


def test_who_had_to_stop() -> None:
    """Those on machines that go; all of them when the limit falls."""
    presence = _presence(Leave(time=1, servers=[_B]), changes=((2, 7), (3, 8)))
    takes = [[step.takes(placement) for placement in ((0, 1), (1, 2), ())] for step in presence.steps]
    assert takes == [[False, True, False], [True, True, True], [False, False, False]]
    assert [step.time for step in presence.around(2.5, 0.5)] == [2, 3]
    assert list(presence.around(2.5, 0.25)) == []
