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


def test_changes_of_capacity_cut_machines_off() -> None:
    """Of GPUs beyond the capacity none is there, and those of a machine that is cut in two in part."""
    changes = [CapacityChange(time=1, gpus=3), CapacityChange(time=2, gpus=0)]
    assert _most(_scenario([], "2A 2B", changes)) == [(1, [3, 2, 1]), (2, [0, 0, 0])]


def _asked(time: float, deadline: float, servers: int = 1, **fields: Any) -> Reclaim:
    return Reclaim(time=time, deadline=deadline, servers=servers, **fields)


#: Machines, what happens to them, and the GPUs that are there at most from each time on, in all and by type.
_BY_HAND: dict[str, tuple[str, list[Event], list[tuple[float, list[float]]]]] = {
    "the smallest machines may be given up": ("1A 3A 2B", [_asked(0, 4, 2)], [(0, [6, 4, 2]), (4, [3, 3, 2])]),
    "requests of one type count for it, those of any type may take the other": (
        "1A 1A 1B",
        [_asked(0, 4, among=["m0", "m1"]), _asked(5, 6)],
        [(0, [3, 2, 1]), (4, [2, 1, 1]), (5, [2, 1, 1]), (6, [1, 1, 1])],
    ),
    "where all that may be given up are away a request asks for nothing more": (
        "2A 2A 2A",
        [_asked(0, 1, among=["m0"]), _asked(2, 3, among=["m0"])],
        [(0, [6, 6, 0]), (1, [4, 4, 0]), (2, [4, 4, 0]), (3, [4, 4, 0])],
    ),
    "who returns before the deadline has been given up": (
        "2A 2A 2A",
        [_asked(0, 4), Return(time=2, servers=["m0"])],
        [(0, [6, 6, 0]), (2, [6, 6, 0]), (4, [6, 6, 0])],
    ),
    "who leaves under an open request may have been given up": (
        "2A 2A 2A",
        [_asked(0, 4), Leave(time=2, servers=["m0"])],
        [(0, [6, 6, 0]), (2, [4, 4, 0]), (4, [4, 4, 0])],
    ),
    "of two machines that are lent one goes again, which nobody knows": (
        "1A 1B 2B 3B",
        [
            Leave(time=0, servers=["m1", "m2", "m3"]),
            Loan(time=1, servers=2, gpu_type="B"),
            _asked(2, 3, gpu_type="B"),
        ],
        [(0, [1, 1, 0]), (1, [6, 1, 5]), (2, [6, 1, 5]), (3, [4, 1, 3])],
    ),
    "loans bring no more than are away": (
        "1A 1A 1B",
        [Leave(time=0, servers=["m1"]), Loan(time=1, servers=2, gpu_type="A")],
        [(0, [2, 1, 1]), (1, [3, 2, 1])],
    ),
    "who is given up at once and lent again has met the request": (
        "1A 1A 1B",
        [_asked(0, 4, gpu_type="A"), Loan(time=2, servers=1, gpu_type="A")],
        [(0, [3, 2, 1]), (2, [3, 2, 1]), (4, [3, 2, 1])],
    ),
    "a request takes the machines that are lent at its deadline, too": (
        "2A 2A 2A",
        [Leave(time=0, servers=["m1", "m2"]), _asked(1, 4, 3), Loan(time=4, servers=2)],
        [(0, [2, 2, 0]), (1, [2, 2, 0]), (4, [0, 0, 0])],
    ),
}


@pytest.mark.parametrize(("sizes", "events", "most"), _BY_HAND.values(), ids=_BY_HAND.keys())
def test_by_hand(sizes: str, events: list[Event], most: list[tuple[float, list[float]]]) -> None:
    """No more GPUs are counted than some way of giving machines up leaves, and no fewer than the best."""
    assert _most(_scenario(events, sizes)) == most


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
