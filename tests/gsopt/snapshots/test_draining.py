"""Draining: the nodes to return, what rules would have cost, and what is said of both."""

import json
import subprocess
from collections.abc import Sequence
from itertools import combinations
from random import Random
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.core.result import Status
from gsopt.problems.placement import Resources
from gsopt.snapshots import Gang, Node, Part, Snapshot, drain
from gsopt.snapshots.commands import quoted
from tests.effort import cases
from tests.refusals import assert_refused
from tests.unwrap import unwrap

_HOSTILE = (
    *("it's", 'a"b', "a\nb", "$(touch /tmp/x)", "-rf", "`id`", "a;b", "a\\nb", "\x1b[2J", "é\t'\n", "*", "#x"),
)


def _nodes(*names: str) -> list[Node]:
    return [Node(name=name, gpus=8, capacity=Resources(gpu=8)) for name in names]


def _gang(name: str, *nodes: str, gpus: float = 4, budgets: Sequence[str] = (), **more: Any) -> Gang:
    parts = [Part(name=f"{name}-{node}", node=node, gpus=gpus, budgets=budgets) for node in nodes]
    return Gang(name=name, parts=parts, **more)


def test_rules_that_look_at_nodes_alone() -> None:
    """Taking the least utilized nodes one by one ends two gangs of two nodes, where one would do."""
    gangs = [_gang("a", "a1", "a2", gpus=4), _gang("b", "b1", gpus=1), _gang("c", "c1", gpus=2)]
    found = drain(Snapshot(nodes=_nodes("b1", "c1", "a1", "a2"), gangs=gangs), 2)
    assert found.servers == ("a1", "a2")
    assert [gang.name for gang in found.preempted] == ["a"]
    assert found.rules == {"least utilized first": 2, "fewest jobs first": 2}
    result = unwrap(found.result)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 1, 1)


@pytest.mark.parametrize(("started", "hours"), [(0.0, 16.0), (3600.0, 8.0), (9000.0, 0.0), (None, 0.0)])
def test_any_known_start_counts(started: float | None, hours: float) -> None:
    """A part that started at time 0 has run since then; one whose start is unknown costs nothing."""
    gang = Gang(name="a", parts=[Part(node="n1", gpus=8, started=started)])
    (job,) = Snapshot(nodes=_nodes("n1"), gangs=[gang], time=7200.0).reclaiming(1, cost="gpu-hours").jobs
    assert job.cost == hours


def test_costs() -> None:
    """Hours count the GPUs of every part since its own start, and priorities what is above the lowest."""
    early, late = Part(node="n1", gpus=8, started=7200.0), Part(node="n2", gpus=0.5, started=3600.0)
    parts = [early, late, Part(node="n2", gpus=1)]
    gangs = [Gang(name="a", parts=parts, priority=-5), _gang("b", "n3", priority=10)]
    snapshot = Snapshot(time=10800.0, nodes=_nodes("n1", "n2", "n3"), gangs=gangs)
    assert [job.cost for job in snapshot.reclaiming(1, cost="gpu-hours").jobs] == [9.0, 0.0]
    assert [job.cost for job in snapshot.reclaiming(1, cost="priority").jobs] == [1.0, 16.0]
    assert drain(snapshot, 1, cost="gpu-hours").servers == ("n3",)
    assert drain(snapshot, 2, cost="priority").servers == ("n1", "n2")
    assert_refused("cost: 'money': must be one of jobs, gpu-hours, priority", drain, snapshot, 1, cost="money")


def test_any_cluster_against_all_choices() -> None:
    """The choice costs as little as the best of all, counted here from the gangs, and the rules no less."""
    random = Random()
    for _ in range(cases(40)):
        names = [f"n{number}" for number in range(random.randint(2, 7))]
        gangs = [
            _gang(f"g{number}", *random.sample(names, random.randint(1, min(3, len(names)))), gpus=1)
            for number in range(random.randint(0, 7))
        ]
        servers = random.randint(0, len(names))
        found = drain(Snapshot(nodes=_nodes(*names), gangs=gangs), servers)
        best = min(
            sum(not set(chosen).isdisjoint(gang.nodes) for gang in gangs)
            for chosen in combinations(names, servers)
        )
        assert unwrap(found.result).objective == best == len(found.preempted)
        assert all(value >= best for value in found.rules.values())


def test_what_stands_in_parts_of_gpus() -> None:
    """Parts of GPUs, and parts without any, end their gang; a gang that has none at all is no loss."""
    gangs = [
        Gang(name="shares", parts=[Part(node="n1", gpus=0.5), Part(node="n2", gpus=0.0)]),
        *(_gang(f"half {number}", "n3", gpus=0.5) for number in range(12)),
        Gang(name="web", parts=[Part(node="n4")]),
    ]
    snapshot = Snapshot(nodes=_nodes("n1", "n2", "n3", "n4"), gangs=gangs)
    problem = snapshot.reclaiming(1)
    assert problem.jobs[0].workers == {"n1": 1, "n2": 1}
    assert [server.gpus for server in problem.servers] == [8, 8, 12, 8]
    assert drain(snapshot, 1).servers == ("n4",)
    assert drain(snapshot, 3).rules["fewest jobs first"] == 1
    assert [gang.name for gang in drain(snapshot, 3).preempted] == ["shares"]


def test_parts_that_stand_for_several() -> None:
    """A part with a count uses the GPUs of all pods for which it stands."""
    gang = Gang(name="a", parts=[Part(node="n1", count=2, gpus=3, started=3600.0)])
    assert (gang.gpus, gang.nodes) == (6.0, ("n1",))
    (job,) = Snapshot(nodes=_nodes("n1"), gangs=[gang], time=7200.0).reclaiming(1, cost="gpu-hours").jobs
    assert (job.workers, job.cost) == ({"n1": 6}, 6.0)


def test_too_few_nodes() -> None:
    """Where fewer nodes may be returned than are asked for, there is no choice, and it is said why."""
    nodes = [*_nodes("n1", "n2"), Node(name="n3", gpus=8, kept="is cordoned"), Node(name="cpu")]
    snapshot = Snapshot(nodes=nodes, gangs=[_gang("a", "n1", kept="has the annotation x")])
    found = drain(snapshot, 2)
    assert (found.result, found.servers, found.commands, found.returnable) == (None, (), (), 1)
    assert found.kept == {"n1": "a: has the annotation x", "n3": "is cordoned"}
    assert json.loads(json.dumps(found.as_dict()))["status"] == "infeasible"
    assert drain(snapshot, 0).servers == ()
    for servers in (2, -1, True):
        assert_refused("at most the 1 nodes with GPUs that may be returned", snapshot.reclaiming, servers)
    for wrong in ("1", -1, True):
        assert_refused(r"servers: .*: must be a number of at least 0", drain, snapshot, wrong)
    assert_refused("cost: 'x': must be one of jobs, gpu-hours, priority", drain, snapshot, 2, cost="x")


def test_none_of_none() -> None:
    """Where no node may be returned and none is asked for, there is nothing to decide and nothing is lost."""
    found = drain(Snapshot(nodes=[Node(name="n1", gpus=8, kept="is cordoned")], gangs=[]), 0)
    assert found.possible
    found_as = found.as_dict()
    assert [found_as[key] for key in ("status", "objective", "bound", "commands")] == ["optimal", 0, 0, []]


def test_only_among_some() -> None:
    """Only nodes with the labels are returned, which some node must have."""
    nodes = [
        Node(name=f"n{number}", gpus=8, labels={"pool": pool}) for number, pool in enumerate(("own", "loan"))
    ]
    snapshot = Snapshot(nodes=nodes, gangs=[_gang("a", "n1")])
    assert drain(snapshot, 1).servers == ("n0",)
    assert drain(snapshot, 1, among=["pool=loan"]).servers == ("n1",)
    assert drain(snapshot, 2, among=["pool=loan"]).returnable == 1
    assert drain(snapshot, 1, among=["pool=loan", "pool=own"]).returnable == 0
    with pytest.raises(InvalidInput, match="among: 'pool=lent': must be a label, as key or key=value, of some"):
        drain(snapshot, 1, among=["pool=lent"])


def test_commands_of_kubernetes() -> None:
    """All nodes are cordoned before one is drained, and what a drain deletes is said before it."""
    parts = [
        Part(name="a-0", node="n1", gpus=1, scratch=True, budgets=["ml/c"]),
        Part(name="a-1", node="n2", gpus=1, replaced=False, budgets=["ml/b"]),
        Part(name="a-2", node="n2", gpus=1, replaced=False, budgets=["ml/b"]),
    ]
    snapshot = Snapshot(
        nodes=_nodes("n1", "n2"), gangs=[Gang(name="a", parts=parts)], budgets={"ml/b": 1, "ml/c": 1}
    )
    found = drain(snapshot, 2)
    assert found.commands == (
        "kubectl cordon -- n1",
        "kubectl cordon -- n2",
        "kubectl drain --ignore-daemonsets --delete-emptydir-data -- n1",
        "# nothing replaces pod a-1 and 1 more, which --force deletes:",
        "kubectl drain --ignore-daemonsets --force -- n2",
    )
    assert found.waits == {"ml/b": (2, 1)}


def test_commands_of_slurm() -> None:
    """Nodes are drained as one list before jobs are requeued, or cancelled where they do not begin again."""
    gangs = [_gang("12", "n1"), _gang("13_4", "n2", requeues=False)]
    snapshot = Snapshot(source="slurm", nodes=_nodes("n1", "n2"), gangs=gangs)
    assert drain(snapshot, 2).commands == (
        "scontrol update 'NodeName=n[1-2]' State=DRAIN 'Reason=returned by gsopt'",
        "scontrol requeue 12",
        "scancel 13_4",
    )


def test_any_name_is_one_word_of_a_shell() -> None:
    """A shell hears every name as it is, as one word, on one line of the printed command."""
    random = Random()
    alphabet = [*"ab -'\"\\$`\n\t;&|<>(){}[]*?~#!%", "é", "\x1b", "\u2028"]
    names = [*_HOSTILE, *("".join(random.choices(alphabet, k=8)) for _ in range(cases(100)))]
    lines = [f"printf '%s\\0' {quoted(name)}" for name in names]
    assert all(line.isprintable() for line in lines)
    heard = subprocess.run(["/bin/bash", "-c", "\n".join(lines)], capture_output=True, check=True).stdout
    assert heard.decode().split("\0")[:-1] == names


def test_commands_with_hostile_names() -> None:
    """Printed commands run as one each, with the names as they are, whatever is in them."""
    names = [name for name in _HOSTILE if name.isprintable()]
    nodes = [Node(name=name, gpus=8) for name in names]
    gangs = [Gang(name=name, parts=[Part(name=name, node=name, gpus=1, replaced=False)]) for name in names]
    commands = drain(Snapshot(nodes=nodes, gangs=gangs), len(names)).commands
    script = 'kubectl() { printf "%s\\0" "${@: -1}"; }\n' + "\n".join(commands)
    heard = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=True)
    assert heard.stderr == b""
    assert sorted(heard.stdout.decode().split("\0")[:-1]) == sorted([*names, *names])


def test_budgets_of_nodes_that_stay() -> None:
    """What is evicted of a budget is on the nodes that are returned; as many as it allows need not wait."""
    nodes = ("n1", "n2", "n2", "n3", "n3")
    counted = [_gang(name, node, budgets=["x"]) for name, node in zip("abcde", nodes, strict=True)]
    for servers, allowed, waits in ((1, 1, {}), (2, 3, {}), (2, 2, {"x": (3, 2)})):
        snapshot = Snapshot(nodes=_nodes("n1", "n2", "n3"), gangs=counted, budgets={"x": allowed})
        assert drain(snapshot, servers).waits == waits


def test_what_starts_after_the_files_were_written() -> None:
    """What began later than the time of the files, by another clock, has lost nothing yet."""
    gangs = [Gang(name="a", parts=[Part(node="n1", gpus=8, started=7200.0)])]
    found = drain(Snapshot(nodes=_nodes("n1"), gangs=gangs, time=3600.0), 1, cost="gpu-hours")
    assert found.as_dict()["objective"] == 0
