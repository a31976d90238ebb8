"""Packing: what of that which waits has room, where, and why the rest has none."""

from collections import Counter
from functools import partial
from itertools import product
from random import Random

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.result import Result, StoppedBy
from gsopt.problems.placement import Resources
from gsopt.snapshots import Gang, Node, Pack, Part, Snapshot, Where, pack
from gsopt.snapshots.placer import GangPlacer, rows_of
from tests.effort import cases
from tests.unwrap import unwrap


def _node(name: str, gpus: int = 8, used: int = 0, **more: int) -> Node:
    return Node(name=name, gpus=gpus, capacity=Resources(gpu=gpus, **more), used=Resources(gpu=used))


def _waits(name: str, *gpus: int, where: str = "", priority: int = 0, copies: int = 1) -> Gang:
    parts = [Part(needs=Resources(gpu=each), where=where) for each in gpus]
    return Gang(name=name, parts=parts, priority=priority, copies=copies)


def _asks(**needs: int) -> Gang:
    return Gang(name="a", parts=[Part(needs=Resources(**needs))])


def _hold(snapshot: Snapshot, found: Pack) -> Counter[str]:
    """Check that no node is overfull and parts stand where they may; give how many parts of each gang do."""
    free = {node.name: node.capacity.gpu - node.used.gpu for node in snapshot.nodes}
    where = {each.name: each.nodes for each in snapshot.places}
    gangs = {gang.name: gang for gang in snapshot.gangs}
    placed: Counter[str] = Counter()
    for spot in found.spots:
        part = next(each for each in gangs[spot.gang].parts if each.name == spot.part)
        free[spot.node] -= part.needs.gpu * spot.number
        assert not part.where or spot.node in where[part.where]
        placed[spot.gang] += spot.number
    assert min(free.values()) >= 0
    return placed


def _drawn(name: str, random: Random) -> Gang:
    parts = [
        Part(name=f"p{part}", needs=Resources(gpu=random.randint(1, 3)), where=random.choice(("", "some")))
        for part in range(random.randint(1, 2))
    ]
    return Gang(name=name, priority=random.randint(0, 2), parts=parts)


def test_any_cluster_against_all_ways() -> None:
    """All fits just where some way of placing all parts does, and what is placed by priority is whole gangs."""
    random = Random()
    for _ in range(cases(60)):
        names = ["n0", "n1", "n2"]
        nodes = [_node(name, 4, random.randint(0, 3)) for name in names]
        places = [Where(name="some", nodes=random.sample(names, 2))]
        gangs = [_drawn(f"g{number}", random) for number in range(random.randint(1, 3))]
        snapshot = Snapshot(nodes=nodes, gangs=gangs, places=places)
        found = pack(snapshot)
        placed = _hold(snapshot, found)
        assert found.fits == _some_way(snapshot)
        assert found.proven
        for gang in gangs:
            assert placed[gang.name] == (0 if gang.name in (found.missing or {}) else len(gang.parts))
        assert found.placed == len(gangs) - len(found.missing or {})


def _some_way(snapshot: Snapshot) -> bool:
    """Try all ways of placing all parts."""
    parts = [part for gang in snapshot.gangs for part in gang.parts]
    where = {each.name: each.nodes for each in snapshot.places}
    for way in product([node.name for node in snapshot.nodes], repeat=len(parts)):
        free = {node.name: node.capacity.gpu - node.used.gpu for node in snapshot.nodes}
        for part, name in zip(parts, way, strict=True):
            free[name] -= part.needs.gpu if not part.where or name in where[part.where] else 100
        if min(free.values()) >= 0:
            return True
    return False


def test_priority_comes_first() -> None:
    """Gangs are taken by priority, then in their order, whole or not at all; a later one may still fit."""
    high, wide = _waits("high", 4, 4, priority=9), _waits("wide", 8, 8, priority=5)
    gangs = [_waits("low", 4), high, wide, _waits("last", 2)]
    found = pack(Snapshot(nodes=[_node("n1"), _node("n2", used=6)], gangs=gangs))
    assert {spot.gang: spot.node for spot in found.spots} == {"high": "n1", "last": "n2"}
    assert found.missing == {
        "wide": "needs 8 GPUs on a node, and none has more than 0 GPUs free",
        "low": "needs 4 GPUs on a node, and none has more than 0 GPUs free",
    }
    assert found.more == ("n1", 3, True, 2)


#: One more port than there is room for, asked for beside as many GPUs as ports.
_PORTS = [Gang(name=name, parts=[Part(needs=Resources(gpu=1, port=5))]) for name in ("a", "b")]
_PAIR = Gang(name="a", parts=[Part(needs=Resources(gpu=4)), Part(needs=Resources(gpu=3), where="some")])


@pytest.mark.parametrize(
    ("nodes", "gangs", "placed"),
    [
        # a gang whose second part has no room leaves the room of its first to another
        ([_node("n1", 4)], [_waits("pair", 4, 4, priority=1), _waits("one", 4)], ["one"]),
        # that one part of a gang has no room says nothing of others that are like its smaller parts
        ([_node("n1")], [_waits("a", 9, 1, priority=1), _waits("b", 1)], ["b"]),
        # a node that holds more than it admits now has nothing free, and others are not touched by it
        ([_node("full", 4, used=9), _node("n1", 4)], [_waits("a", 4), _waits("b", 1)], ["a"]),
        # parts that may stand on few nodes have as much room there as others
        ([_node("n1"), _node("n2")], [_waits("a", 3, 3, 2, where="some")], ["a"]),
        # of what nodes have as many as GPUs, parts may ask for another number
        ([Node(name="n1", gpus=8, capacity=Resources(gpu=8, port=8))], _PORTS, ["a"]),
        # each of its parts has room, and not both
        ([_node("n1", 4), _node("n2", 3)], [_PAIR], []),
    ],
)
def test_who_has_room(nodes: list[Node], gangs: list[Gang], placed: list[str]) -> None:
    """The gangs that have room are placed, and it is proven that the others have none."""
    found = pack(Snapshot(nodes=nodes, gangs=gangs, places=[Where(name="some", nodes=["n1"])]))
    assert sorted({spot.gang for spot in found.spots}) == placed
    assert sorted(found.missing or {}) == [gang.name for gang in gangs if gang.name not in placed]
    assert found.fits == (not found.missing)
    assert found.proven


def test_copies_are_taken_one_by_one() -> None:
    """As many tasks of an array are placed as there is room for, and the others are counted as missing."""
    found = pack(Snapshot(nodes=[_node("n1"), _node("n2")], gangs=[_waits("array", 3, copies=7)]))
    assert (found.waiting, found.placed, found.copies) == (7, 4, {"array": 3})
    assert sum(spot.number for spot in found.spots) == 4
    assert unwrap(found.more).number == 2


@pytest.mark.parametrize(
    ("gang", "reason"),
    [
        (_waits("a", 16), "needs 16 GPUs on a node, and none has more than 8 GPUs"),
        (_waits("a", 8), "needs 8 GPUs on a node, and none has more than 5 GPUs free"),
        (_waits("a", 1, where="nowhere"), "may run on no open node: nothing has it"),
        (_waits("a", 8, where="one"), "needs 8 GPUs on a node, and none has more than 4 GPUs free"),
        (_waits("a", 5, 5), "has no room for all of its 2 parts at once"),
        (_asks(gpu=5, cpu=9000), "needs more on a node than any has free of all at once"),
        (_asks(cpu=64500), "needs 64.5 CPUs on a node, and none has more than 64 CPUs"),
        (_asks(memory=2048), "needs 2,048 MiB on a node, and none has more than 1,024 MiB"),
        (_asks(mig=2), "needs 2 mig on a node, and none has more than 0 mig"),
    ],
)
def test_reasons(gang: Gang, reason: str) -> None:
    """It is said what is missing: the place, as much on any node, as much free, or all of it at once."""
    nodes = [
        Node(name="n1", capacity=Resources(gpu=8, cpu=64000, memory=1024), used=Resources(gpu=4)),
        Node(name="n2", capacity=Resources(gpu=8, cpu=8000, memory=1024), used=Resources(gpu=3)),
        Node(name="n3", capacity=Resources(gpu=80, cpu=640000), closed="is cordoned"),
    ]
    places = [Where(name="nowhere", reason="nothing has it"), Where(name="one", nodes=["n1"])]
    found = pack(Snapshot(nodes=nodes, gangs=[gang], places=places))
    assert not found.fits
    assert found.proven
    assert (found.missing or {})["a"].startswith(reason)


def test_nothing_to_place_and_nowhere_to() -> None:
    """Where nothing waits all fits; where every node is closed nothing does, which is no search."""
    running = Gang(name="r", parts=[Part(node="n1", gpus=1)])
    assert pack(Snapshot(nodes=[_node("n1")], gangs=[running])).as_dict()["fits"]
    closed = Node(name="n1", gpus=8, capacity=Resources(gpu=8), closed="is cordoned")
    found = pack(Snapshot(nodes=[closed], gangs=[_waits("a", 1, copies=3)]))
    assert (found.fits, found.proven, found.placed, found.waiting) == (False, True, 0, 3)
    with pytest.raises(InvalidInput, match="nodes: must be nodes of which at least one is open"):
        found.snapshot.placement()


def test_too_many_parts_to_place() -> None:
    """Tasks of an array that are too many for a decision are rejected in one line."""
    array = Gang(name="a", parts=[Part(count=2, needs=Resources(gpu=1))], copies=10**6)
    with pytest.raises(InvalidInput, match="count: 2000000: "):
        pack(Snapshot(nodes=[_node("n1")], gangs=[array]))


def test_what_is_the_same_as_gpus_is_told_once() -> None:
    """GPUs of one vendor are no further resource of the decision; of two they are."""

    def resources(**other: int) -> tuple[str, ...]:
        capacity = Resources(**{"gpu": 8, "nvidia.com/gpu": 8})
        nodes = [Node(name="n1", gpus=8, capacity=capacity)]
        nodes += [Node(name="n2", gpus=8, capacity=Resources(**other))] if other else []
        waits = Gang(name="a", parts=[Part(needs=Resources(**{"gpu": 2, "nvidia.com/gpu": 2}))])
        return Snapshot(nodes=nodes, gangs=[waits]).placement().resources

    assert resources() == ("gpu", "cpu", "memory")
    assert resources(**{"gpu": 8, "amd.com/gpu": 8}) == ("gpu", "cpu", "memory", "nvidia.com/gpu")


def test_a_gang_is_placed_wherever_all_of_it_has_room() -> None:
    """Where its first part takes the room of its second, a gang is placed otherwise."""
    nodes = [_node("n1", 4), _node("n2", 8)]
    parts = [Part(name="p", needs=Resources(gpu=4)), Part(name="q", needs=Resources(gpu=3), where="some")]
    gangs = [Gang(name="a", parts=parts, copies=2, priority=1), _waits("large", 9)]
    found = pack(Snapshot(nodes=nodes, gangs=gangs, places=[Where(name="some", nodes=["n1"])]))
    assert {(spot.part, spot.node, spot.number) for spot in found.spots} == {("p", "n2", 1), ("q", "n1", 1)}
    assert found.copies == {"a": 1, "large": 1}
    assert (found.missing or {})["a"] == "needs 3 GPUs on a node, and none has more than 1 GPU free"


def test_room_that_no_time_is_left_to_find() -> None:
    """Where the time is over before it is known whether a gang has room, nothing is claimed of that."""
    places = [Where(name="some", nodes=["n1"])]
    problem = Snapshot(nodes=[_node("n1", 4), _node("n2", 8)], gangs=[_PAIR], places=places).placement()
    late = partial(Result.judged, method="late", runtime=0.0, stopped_by=StoppedBy.TIME_LIMIT)
    placer = GangPlacer(problem, late)
    assert placer.take(rows_of([_PAIR])) == 0
    assert placer.unsure == {"a"}
    assert placer.placed == []


def test_nodes_that_are_missing_are_like_one_that_holds_most() -> None:
    """Nodes that hold most of what has no room are what is missing, though others are more common."""
    nodes = [_node("s1", 4, 4), _node("s2", 4, 4), _node("large", 8, 8)]
    found = pack(Snapshot(nodes=nodes, gangs=[_waits("a", 6), _waits("b", 3)]))
    assert found.more == ("large", 2, True, 2)


def test_what_waits_for_nothing_is_refused() -> None:
    """A waiting part that needs no resources gives one line."""
    with pytest.raises(InvalidInput, match="must"):
        pack(Snapshot(nodes=[_node("n1")], gangs=[_asks()]))


def test_what_is_not_proven() -> None:
    """Where the search ends before it is known whether all have room, neither is claimed to be proven."""
    snapshot = Snapshot(nodes=[_node("n1")], gangs=[_waits("a", 9)])
    problem = snapshot.placement()
    late = Result.judged(problem, method="late", runtime=0.0, stopped_by=StoppedBy.TIME_LIMIT)
    assert not Pack(snapshot, problem, late, missing={"a": "has no room"}).proven
    assert pack(snapshot).proven
