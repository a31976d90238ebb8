"""Admitting: the cheapest jobs to stop for a gang, and the smallest change that helps, against all choices."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.problems.placement import Resources
from gsopt.scenario.cluster import Cluster, Machine, Rack
from gsopt.snapshots import Change, Gang, Node, Part, Request, Snapshot, Where, admit, defragment, why
from gsopt.snapshots.admitting import admission_of
from gsopt.testing import brute_force
from tests.effort import cases
from tests.unwrap import unwrap


def node(name: str, gpus: int = 4, used: int = 0, closed: str = "") -> Node:
    """Return a node with GPUs, some of which pods outside of gangs use."""
    return Node(name=name, gpus=gpus, capacity=Resources(gpu=gpus), used=Resources(gpu=used), closed=closed)


def gang(name: str, *pods: tuple[str, int], **more: Any) -> Gang:
    """Return a gang with pods on nodes; a pod without a node waits."""
    parts = [
        Part(name=f"{name.rpartition('/')[2]}-{index}", node=on, needs=Resources(gpu=gpus), gpus=gpus)
        for index, (on, gpus) in enumerate(pods)
    ]
    return Gang(name=name, parts=parts, **more)


def cluster(nodes: Sequence[Node], racks: int = 1) -> Cluster:
    """Return the nodes in racks of equal size."""
    size = -(-len(nodes) // racks)
    groups = [nodes[start : start + size] for start in range(0, len(nodes), size)]
    return Cluster(
        racks=[
            Rack(name=f"r{index}", machines=[Machine(name=each.name, gpus=each.gpus) for each in group])
            for index, group in enumerate(groups)
        ]
    )


def snapshot(nodes: Sequence[Node], gangs: Sequence[Gang], racks: int = 1, **more: Any) -> Snapshot:
    """Return a snapshot in which nodes use what their gangs need, and what they used before."""
    held = {each.name: each.used.gpu for each in nodes}
    for some in gangs:
        for part in some.standing:
            held[part.node] += part.needs.gpu
    used = [each.model_copy(update={"used": Resources(gpu=held[each.name])}) for each in nodes]
    return Snapshot(nodes=used, gangs=gangs, network=cluster(nodes, racks), **more)


def drawn(seed: int) -> tuple[Snapshot, Request]:
    """Draw a tiny cluster with running gangs, and a gang that asks for room."""
    random = Random(seed)
    nodes = [
        node(f"n{index}", random.choice([2, 4]), closed=random.choice(["", "", "", "is cordoned"]))
        for index in range(random.randint(2, 4))
    ]
    free = {each.name: each.gpus for each in nodes}
    gangs = []
    for index in range(random.randint(1, 4)):
        pods = []
        for _ in range(random.randint(1, 2)):
            able = [name for name, left in free.items() if left]
            if able:
                name = random.choice(able)
                gpus = random.randint(1, free[name])
                free[name] -= gpus
                pods.append((name, gpus))
        if pods:
            kept = random.choice(["", "", "", "has a budget of 0"])
            gangs.append(gang(f"ns/g{index}", *pods, priority=random.randint(0, 3), kept=kept))
    size = f"{random.randint(1, 3)}x{random.randint(1, 4)}"
    within = random.choice(["", "rack", "machine"])
    return snapshot(nodes, gangs, random.randint(1, 2)), Request(size, within, priority=random.randint(0, 4))


@pytest.mark.parametrize("seed", range(cases(500)))
def test_admission_against_all_choices(seed: int) -> None:
    """The stopped jobs cost as little as in the best of all choices; without one, it is proven that none is."""
    given, request = drawn(seed)
    move_cost = Random(seed).choice([None, 0.5])
    found = admit(given, request, move_cost=move_cost)
    best = brute_force(admission_of(given, request.pending(given), move_cost=move_cost))
    if best is None:
        assert found.possible is False
    else:
        assert found.result.objective == found.result.bound == best[0]
        assert all(not each.kept and each.priority < unwrap(request.priority) for each in found.evicted)


def applied(given: Snapshot, request: Request, change: Change) -> tuple[Snapshot, Request]:
    """Apply a change to a cluster or to a request."""
    if change.kind == "level":
        return given, Request(request.gang, change.names[0], priority=request.priority)
    if change.kind == "workers":
        count, gpus = map(int, request.gang.split("x"))
        return given, Request(f"{count - change.size}x{gpus}", request.within, priority=request.priority)
    if change.kind == "nodes":
        opened = [
            each.model_copy(update={"closed": ""}) if each.name in change.names else each
            for each in given.nodes
        ]
        return given.model_copy(update={"nodes": tuple(opened)}), request
    left = [each for each in given.gangs if each.name not in change.names]
    nodes = [
        each.model_copy(
            update={
                "used": Resources(
                    gpu=sum(part.needs.gpu for some in left for part in some.standing if part.node == each.name)
                )
            }
        )
        for each in given.nodes
    ]
    return given.model_copy(update={"nodes": tuple(nodes), "gangs": tuple(left)}), request


@pytest.mark.parametrize("seed", range(cases(500)))
def test_changes_admit_the_gang_when_they_are_applied(seed: int) -> None:
    """A change that helps lets the gang in once it is applied, and no smaller one of its kind does."""
    given, request = drawn(seed)
    found = why(given, request)
    if found.fits:
        assert admit(given, request).result.objective == 0
        return
    for change in found.helpful:
        assert change.least
        after, asked = applied(given, request, change)
        if change.kind != "moves":  # where moved gangs go to is decided together
            assert why(after, asked).fits, change
        if change.kind == "workers" and change.size > 1:
            after, asked = applied(given, request, Change("workers", True, change.size - 1))
            assert not why(after, asked).fits
    kinds = {change.kind: change for change in found.changes}
    by_hand: dict[str, dict[str, Any]] = {
        "moves": {"move_cost": 1.0, "evict": False},
        "evictions": {},
    }
    for kind, options in by_hand.items():
        best = brute_force(admission_of(given, request.pending(given), **options))
        assert kinds[kind].helps is (best is not None)
        if best is not None:
            assert kinds[kind].size == best[0]
    assert found.hopeless is not bool(found.helpful)


def test_the_fewest_closed_nodes_are_opened() -> None:
    """Of several closed nodes, the fewest whose free GPUs suffice are opened."""
    nodes = [node("n0", 4, closed="is cordoned"), node("n1", 8, closed="is cordoned"), node("n2", 4, used=4)]
    found = why(snapshot(nodes, []), "2x4")
    (change,) = [each for each in found.changes if each.kind == "nodes"]
    assert (change.size, change.names, change.least) == (1, ("n1",), True)


def test_defragmenting_moves_and_evicts_nothing() -> None:
    """A node becomes free by moving the smaller of two gangs; if there is no room for it, that is proven."""
    nodes = [node("n0"), node("n1"), node("n2", used=2)]
    gangs = [gang("ns/a", ("n0", 2)), gang("ns/b", ("n1", 2), kept="has a budget of 0")]
    found = defragment(snapshot(nodes, gangs), 1)
    assert ([each.name for each in found.moved], found.evicted, found.nodes) == (["ns/a"], (), ("n0",))
    assert found.moves == {"ns/a": {"n1": 2}} or sum(found.moves["ns/a"].values()) == 1
    assert defragment(snapshot(nodes, gangs), 3).possible is False
    assert defragment(snapshot(nodes, gangs), 1, protect=["ns/a", "ns/b"]).possible in (True, False)


def test_what_is_kept_does_not_move() -> None:
    """Neither a disruption budget nor a protected gang allows a move, and `why` proposes none."""
    nodes = [node("n0"), node("n1")]
    free = snapshot(nodes, [gang("ns/a", ("n0", 2)), gang("ns/b", ("n1", 2))])
    kept = snapshot(
        nodes,
        [gang(f"ns/{name}", (on, 2), kept="has a budget of 0") for name, on in (("a", "n0"), ("b", "n1"))],
    )
    assert defragment(free, 1).possible
    assert defragment(kept, 1).possible is False
    assert defragment(free, 1, protect=["ns/a", "ns/b"]).possible is False
    assert [each.name for each in defragment(free, 1, protect=["ns/a"]).moved] == ["ns/b"]
    assert admit(kept, "1x4", move_cost=0.1).possible is False
    assert admit(free, "1x4", move_cost=0.1, protect=["ns/a", "ns/b"]).possible is False
    helps = [{change.kind: change.helps for change in why(each, "1x4").changes} for each in (free, kept)]
    assert [kinds["moves"] for kinds in helps] == [True, False]


def test_moved_gangs_stay_where_they_may_run() -> None:
    """A running gang that may run only on some nodes is not moved to others."""
    nodes = [node("n0"), node("n1"), node("n2", used=2)]
    bound = gang("ns/a", ("n0", 2))
    parts = [part.model_copy(update={"where": "left"}) for part in bound.parts]
    gangs = [bound.model_copy(update={"parts": parts}), gang("ns/b", ("n1", 4))]
    for allowed, possible in ((["n0", "n2"], True), (["n0", "n1"], False)):
        given = snapshot(nodes, gangs, places=[Where(name="left", nodes=allowed)])
        assert defragment(given, 1).possible is possible


def test_each_freed_node_counts_once() -> None:
    """Four free GPUs on each of two nodes are not eight on one."""
    nodes = [node("n0", 8), node("n1", 8), node("n2", 8, used=6)]
    empty = snapshot(nodes, [])
    assert defragment(empty, 2, gpus=4).places == {"n0": 1, "n1": 1}
    assert defragment(empty, 3, gpus=4).possible is False


def test_waiting_gangs_are_admitted_by_name() -> None:
    """A waiting gang keeps its priority and the nodes that it may use."""
    nodes = [node("n0"), node("n1")]
    waits = Gang(
        name="ns/w",
        priority=5,
        parts=[Part(name="w-0", count=1, needs=Resources(gpu=4), where="left")],
    )
    gangs = [gang("ns/a", ("n0", 1), priority=1), gang("ns/b", ("n1", 1), priority=1), waits]
    found = admit(snapshot(nodes, gangs, places=[Where(name="left", nodes=["n0"])]), "ns/w")
    assert ([each.name for each in found.evicted], found.places) == (["ns/a"], {"n0": 1})


def test_costs_and_slices() -> None:
    """The cost is that of the evicted jobs, and slices stay within their level."""
    nodes = [node(f"n{index}") for index in range(4)]
    gangs = [gang(f"ns/{index}", (f"n{index}", 4), priority=index) for index in range(4)]
    given = snapshot(nodes, gangs, racks=2)
    found = admit(given, Request("2x4", slices="2:rack"), cost="priority")
    assert ([each.name for each in found.evicted], found.result.objective) == (["ns/0", "ns/1"], 3)
    spread = admit(given, Request("2x4", slices="1:machine"), cost="jobs", protect=["ns/1"])
    assert len(spread.evicted) == 2
    assert "ns/1" not in [each.name for each in spread.evicted]


def test_priorities_count_from_the_lowest_that_may_be_evicted() -> None:
    """A gang without GPUs on a node with GPUs may be evicted, and costs least if its priority is the lowest."""
    cpus = Gang(name="ns/c", priority=-3, parts=[Part(name="c-0", node="n0", needs=Resources(cpu=3))])
    given = snapshot([node("n0")], [cpus, gang("ns/g", ("n0", 8), priority=5)])
    found = admit(given, Request("1x8", priority=9), cost="priority")

    assert {each.name: each.cost for each in found.problem.running} == {"ns/c": 1, "ns/g": 9}
    assert ([each.name for each in found.evicted], found.result.objective) == (["ns/g"], 9)


def test_commands_of_both_schedulers() -> None:
    """Pods are deleted in their namespace, jobs are requeued or cancelled, and any name is one word."""
    hostile = "a b;c"
    nodes = [node("n0"), node("n1")]
    gangs = [gang("ns/a", ("n0", 4)), gang(f"n s/{hostile}", ("n1", 4))]
    found = admit(snapshot(nodes, gangs), "2x4")
    assert found.commands == (
        "kubectl delete pod --namespace ns -- a-0",
        "kubectl delete pod --namespace 'n s' -- 'a b;c-0'",
    )
    jobs = [gang("7", ("n0", 4)), gang("8_1", ("n1", 4), requeues=False)]
    slurm = admit(snapshot(nodes, jobs, source="slurm"), "2x4")
    assert slurm.commands == ("scontrol requeue 7", "scancel 8_1")


@pytest.mark.parametrize(
    ("request_", "options", "message"),
    [
        (Request("16by8"), {}, "gang: '16by8': must be the name of a waiting gang, or a number of workers"),
        (Request("0x8"), {}, "gang: '0x8': must be"),
        (Request("2x1", within="row"), {}, "within: 'row': must be one of machine, rack, network"),
        (Request("2x1", slices="rack:2"), {}, "slices: 'rack:2': must be a number of workers and a level"),
        (Request("2x1", slices="2:row"), {}, "slices: 'row': must be one of"),
        (Request("3x1", slices="2:rack"), {}, "must divide the 3 workers"),
        (Request("2x1"), {"cost": "money"}, "cost: 'money': must be one of jobs, gpu-hours, priority"),
        (Request("2x1"), {"move_cost": -1}, "move_cost: -1: must be between 0 and 1,000"),
        (Request("2x1"), {"protect": ["ns/x"]}, "protect: 'ns/x': must be the name of a running gang"),
        (Request("2x1"), {"time_limit": "soon"}, "time_limit: 'soon'"),
    ],
)
def test_wrong_requests_are_refused(request_: Request, options: dict[str, Any], message: str) -> None:
    """A request that makes no sense is refused in one line that says what must be."""
    given = snapshot([node("n0"), node("n1")], [gang("ns/a", ("n0", 1))])
    with pytest.raises(InvalidInput, match=message) as caught:
        admit(given, request_, **options)
    assert "\n" not in str(caught.value)


def test_nodes_in_use_beyond_their_capacity() -> None:
    """A node on which more is in use than it has now keeps its gangs, and takes no others."""
    crowded = Node(name="n0", gpus=2, capacity=Resources(gpu=2), used=Resources(gpu=4))
    given = Snapshot(
        nodes=[crowded, node("n1")],
        gangs=[gang("ns/a", ("n0", 4))],
        network=cluster([node("n0", 2), node("n1")]),
    )
    assert admit(given, "1x4").nodes == ("n1",)
