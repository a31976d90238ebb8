"""The machines that are there at most are never fewer than some schedule leaves there."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.scenario.events import Event, Leave, Loan, Reclaim, Return
from gsopt.scenario.job import Workload
from gsopt.scenario.scenario import CapacityChange, Scenario
from gsopt.schedule import Vacated
from gsopt.schedule.bounds.stock import most_there
from gsopt.schedule.presence import Presence
from tests.effort import cases


def _scenario(
    events: Sequence[Event], sizes: str = "2A 2A 2A", changes: Sequence[CapacityChange] = ()
) -> Scenario:
    """Put machines, each written as its GPUs and their type, into a rack."""
    machines = [
        Machine(name=f"m{number}", gpus=int(text[0]), gpu_type=text[1:])
        for number, text in enumerate(sizes.split())
    ]
    cluster = Cluster(racks=[Rack(name="r", machines=machines)])
    return Scenario(workload=Workload(jobs=[]), cluster=cluster, events=events, capacity_changes=changes)


def _draw(random: Random) -> Scenario:
    """Draw a few machines and what happens to them, until that is possible."""
    while True:
        sizes = [f"{random.randint(1, 3)}{random.choice('AB')}" for _ in range(random.randint(1, 4))]
        times = sorted(random.choices(range(9), k=random.randint(1, 5)))
        changes = sorted(random.sample(range(9), random.choice((0, 0, 1, 2))))
        total = sum(int(size[0]) for size in sizes)
        try:
            return _scenario(
                [_draw_event(random, time, sizes) for time in times],
                " ".join(sizes),
                [CapacityChange(time=time, gpus=random.randint(0, total)) for time in changes],
            )
        except ValueError:  # impossible, such as a machine that returns and is there
            continue


def _draw_event(random: Random, time: int, sizes: Sequence[str]) -> Event:
    kind = random.choice(("leave", "return", "loan", "reclaim", "reclaim"))
    names = [f"m{number}" for number in range(len(sizes))]
    some = random.sample(names, random.randint(1, len(names)))
    if kind == "leave":
        return Leave(time=time, servers=some)
    if kind == "return":
        return Return(time=time, servers=some)
    meant = random.choice(("named", "named", "A", "B", ""))
    most = [name for name, size in zip(names, sizes, strict=True) if meant in size]
    among = some if meant == "named" else []
    fields: dict[str, Any] = {
        "time": time,
        "servers": random.randint(1, len(among or most) or 1),
        "among": among,
        "gpu_type": "" if among else meant,
    }
    return Loan(**fields) if kind == "loan" else Reclaim(deadline=time + random.choice((1, 2, 5)), **fields)


def _given_up(random: Random, scenario: Scenario) -> Iterator[Presence]:
    """Vacate machines at random, in ways that meet all requests."""
    types = {machine.name: machine.gpu_type for machine in scenario.cluster.machines}
    requests = [event for event in scenario.events if isinstance(event, Reclaim)]
    for _ in range(40):
        vacated = [
            Vacated(random.choice((request.time, request.time + 0.5, request.deadline)), name)
            for request in requests
            for name in random.sample(list(types), random.randint(0, request.servers or 0))
            if request.takes(name, types[name])
        ]
        presence = Presence(scenario, sorted(vacated, key=lambda each: each.time), float)
        if not presence.found:
            yield presence


def _there(scenario: Scenario, presence: Presence) -> Iterator[tuple[float, list[float]]]:
    """Yield the GPUs that are there from each time on, in all and of each type."""
    gpus_of = scenario.cluster.gpus_of
    away: set[range] = set()
    for step in presence.steps:
        away = (away | set(step.gone)) - set(step.back)
        left = {
            name: sum(gpu < step.limit for gpu in gpus) for name, gpus in gpus_of.items() if gpus not in away
        }
        of = {
            kind: sum(left.get(each.name, 0) for each in scenario.cluster.machines if each.gpu_type == kind)
            for kind in "AB"
        }
        yield step.time, [step.gpus, of["A"], of["B"]]


def _most(scenario: Scenario) -> list[tuple[float, list[float]]]:
    kinds = [machine.gpu_type for machine in scenario.cluster.machines]
    worths = np.array([[1.0] * len(kinds), *([kind == each for kind in kinds] for each in "AB")], dtype=float)
    return [(time, worth.tolist()) for time, worth in most_there(scenario, worths)]


@pytest.mark.parametrize("seed", range(cases(100)))
def test_nobody_leaves_more_there(seed: int) -> None:
    """Whichever machines are given up for random requests, and when, no more GPUs are there, of no type."""
    random = Random(seed)
    scenario = _draw(random)
    most = _most(scenario)
    for presence in _given_up(random, scenario):
        for time, there in _there(scenario, presence):
            bound = [worth for date, worth in most if date <= time][-1:] or [[np.inf] * 3]
            assert all(count <= limit for count, limit in zip(there, bound[0], strict=True))


def _gpus(events: Sequence[Event], sizes: str = "2A 2A 2A") -> list[tuple[float, list[float]]]:
    return _most(_scenario(events, sizes))


def test_changes_of_capacity_cut_machines_off() -> None:
    """Of GPUs beyond the capacity none is there, and those of a machine that is cut in two in part."""
    changes = [CapacityChange(time=1, gpus=3), CapacityChange(time=2, gpus=0)]
    assert _most(_scenario([], "2A 2B", changes)) == [(1, [3, 2, 1]), (2, [0, 0, 0])]


def test_the_smallest_machines_may_be_given_up() -> None:
    """Of machines of 1, 2 and 3 GPUs two are asked for: 3 GPUs at most are left."""
    assert _gpus([Reclaim(time=0, deadline=4, servers=2)], "1A 3A 2B") == [(0, [6, 4, 2]), (4, [3, 3, 2])]


def test_requests_of_one_type_count_for_it() -> None:
    """A request for machines of one type takes GPUs of it; one for any may take those of the other."""
    typed = Reclaim(time=0, deadline=4, servers=1, among=["m0", "m1"])
    anyone = Reclaim(time=5, deadline=6, servers=1)
    assert _gpus([typed, anyone], "1A 1A 1B") == [
        (0, [3, 2, 1]),
        (4, [2, 1, 1]),
        (5, [2, 1, 1]),
        (6, [1, 1, 1]),
    ]


def test_machines_that_are_away_meet_requests() -> None:
    """Where all that may be given up are away, a request asks for nothing more."""
    events = [Reclaim(time=time, deadline=time + 1, servers=1, among=["m0"]) for time in (0, 2)]
    assert [there for _, (there, *_) in _gpus(events)] == [6, 4, 4, 4]


def test_who_returns_before_the_deadline_has_been_given_up() -> None:
    """A machine that is given up at once and returns has met the request: all are there after the deadline."""
    events: list[Event] = [Reclaim(time=0, deadline=4, servers=1), Return(time=2, servers=["m0"])]
    assert [there for _, (there, *_) in _gpus(events)] == [6, 6, 6]


def test_who_leaves_may_have_been_given_up() -> None:
    """A machine that leaves under an open request may be the one that has been given up; else two are away."""
    events: list[Event] = [Reclaim(time=0, deadline=4, servers=1), Leave(time=2, servers=["m0"])]
    assert [there for _, (there, *_) in _gpus(events)] == [6, 4, 4]


def test_lent_machines_are_there_until_they_are_reclaimed() -> None:
    """Of three machines that are away two are lent, and one of these goes again; which one, nobody knows."""
    events: list[Event] = [
        Leave(time=0, servers=["m1", "m2", "m3"]),
        Loan(time=1, servers=2, gpu_type="B"),
        Reclaim(time=2, deadline=3, servers=1, gpu_type="B"),
    ]
    assert _gpus(events, "1A 1B 2B 3B") == [(0, [1, 1, 0]), (1, [6, 1, 5]), (2, [6, 1, 5]), (3, [4, 1, 3])]


def test_loans_bring_no_more_than_are_away() -> None:
    """A loan of all machines of a type brings those that have gone, and the others stay."""
    events: list[Event] = [Leave(time=0, servers=["m1"]), Loan(time=1, servers=2, gpu_type="A")]
    assert _gpus(events, "1A 1A 1B") == [(0, [2, 1, 1]), (1, [3, 2, 1])]


def test_a_loan_under_an_open_request_does_not_meet_it() -> None:
    """A machine that is given up at once, and lent again, has met the request: both are there afterwards."""
    events: list[Event] = [
        Reclaim(time=0, deadline=4, servers=1, gpu_type="A"),
        Loan(time=2, servers=1, gpu_type="A"),
    ]
    assert [there for _, (there, *_) in _gpus(events, "1A 1A 1B")] == [3, 3, 3]


def test_loans_come_before_deadlines_of_their_instant() -> None:
    """A request that is owed more than are there takes the machines that are lent at its deadline, too."""
    events: list[Event] = [
        Leave(time=0, servers=["m1", "m2"]),
        Reclaim(time=1, deadline=4, servers=3),
        Loan(time=4, servers=2),
    ]
    assert [there for _, (there, *_) in _gpus(events)] == [2, 2, 0]


def test_who_returns_may_be_given_up_again() -> None:
    """A machine that is given up, returns, is given up again and fails has met a request for two alone."""
    events: list[Event] = [
        Reclaim(time=0, deadline=4, servers=2),
        Return(time=1, servers=["m0"]),
        Leave(time=2, servers=["m0"]),
    ]
    scenario = _scenario(events, "2A 2A")
    assert not Presence(scenario, [Vacated(0.5, "m0"), Vacated(1.5, "m0")], float).found
    assert [there for _, (there, *_) in _most(scenario)] == [4, 4, 2, 2]
