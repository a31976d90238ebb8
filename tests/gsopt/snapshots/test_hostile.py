"""Hostile files: what is wrong is one line that names the file, and what is read can be used."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from gsopt.cli.exits import Exit
from gsopt.core.errors import InvalidInput
from gsopt.snapshots import Snapshot, read_snapshot
from tests.commands import gsopt as command
from tests.commands import refused
from tests.effort import cases
from tests.gsopt.snapshots import objects
from tests.gsopt.snapshots.slurm import objects as slurm

#: What may stand where something else should.
_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 1.5, 10**30, 1e308, "", "x" * 10_000, "a\nb", "\x1b[2J", "$(id)", "'; rm -rf / #", "٣"),
    *("1e99", "-5", "NaN", "0x10", "9" * 5000, [], {}, [[]], {"a": {}}, [None], ["\0"], {"": ""}),
    "2026-13-45T99:00Z",
)

_LONGEST_LINE = 1000


def _kubernetes() -> dict[str, Any]:
    """Return a cluster that has something of everything that is read."""
    terms = [{"matchExpressions": [{"key": "rank", "operator": "Gt", "values": ["1"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    affinity = {"nodeAffinity": required}
    tolerations = [{"key": "gpu", "operator": "Equal", "value": "x", "effect": "NoSchedule"}]
    group = {"scheduling.x-k8s.io/pod-group": "g"}
    spec = {"taints": [{"key": "gpu", "value": "x", "effect": "NoSchedule"}], "unschedulable": False}
    nodes = [objects.node(f"n{number}", labels={"rank": str(number)}, spec=spec) for number in range(3)]
    pods = [
        objects.pod("a", "n1", 4, owner="Job/a", labels=group, priority=3, volumes=[{"emptyDir": {}}]),
        objects.pod("b", "n2", 2, owner="ReplicaSet/b", labels={"app": "b"}, tolerations=tolerations),
        objects.pod("c", "", 8, nodeSelector={"rank": "1"}, affinity=affinity, initContainers=[{"name": "i"}]),
        objects.budget("b", 1, app="b"),
        _asking(objects.pod("d")),
        objects.pod("e", "n1", deleted=True),
    ]
    return {"apiVersion": "v1", "kind": "List", "items": nodes + pods}


def _asking(pod: dict[str, Any]) -> dict[str, Any]:
    """Let a pod ask for what is not looked at."""
    near = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}
    pod["spec"]["affinity"] = {"podAffinity": near, "podAntiAffinity": near}
    pod["spec"]["topologySpreadConstraints"] = [{"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
    pod["spec"]["volumes"] = [{"persistentVolumeClaim": {"claimName": "v"}}]
    pod["spec"]["resourceClaims"] = [{"name": "gpu"}]
    pod["spec"]["containers"][0]["ports"] = [{"hostPort": 80}]
    return pod


def _slurm() -> dict[str, Any]:
    """Return a cluster of Slurm that has something of everything that is read."""
    held = {"nodes": {"allocation": [{"cpus": {"count": 4}, "memory": {"allocated": 64}}]}}
    nodes = [
        slurm.node(f"n{number}", "gpu:a:4(S:0-1),gpu:b:4", active_features=["ib"], reservation="own")
        for number in range(3)
    ]
    jobs = [
        slurm.running(1, "n1", "gpu:a:4(IDX:0-3)", job_resources=held, het_job_id=slurm.wrapped(1)),
        slurm.running(2, "n[1-2]", tres_alloc_str="cpu=4,mem=1G,gres/gpu=2"),
        slurm.pending(
            3, tres_per_node="gres/gpu:2", features="ib", array_task_string="1-9%2", memory_per_cpu=7
        ),
        slurm.pending(4, tres_per_job="gres/gpu:a:2", excluded_nodes="n[0-1]"),
    ]
    partitions = [{"name": "gpu", "nodes": {"configured": "n[0-2]"}}]
    reservations = [
        {"name": "r", "node_list": "n0", "start_time": slurm.wrapped(1), "end_time": slurm.wrapped(9)}
    ]
    lists = {"nodes": nodes, "jobs": jobs, "partitions": partitions, "reservations": reservations}
    return {**lists, "last_update": slurm.wrapped(7200)}


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in data, as what holds it and its key there."""
    for key, value in list(data.items() if isinstance(data, dict) else enumerate(data)):
        yield data, key
        if isinstance(value, dict | list):
            yield from _places(value)


def _corrupted(data: Any, random: Random) -> None:
    """Change something in data, at any place."""
    holder, key = random.choice(list(_places(data)))
    kind = random.randrange(4)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder.append(holder[key])
    else:
        holder[key] = random.choice(_VALUES)


def _use(snapshot: Snapshot) -> None:
    """Use what was read in every way that needs no search."""
    kept = snapshot.kept()
    returnable = sum(node.gpus > 0 for node in snapshot.nodes) - len(kept)
    for cost in ("jobs", "gpu-hours", "priority"):
        for server in range(1, min(2, returnable) + 1):
            snapshot.reclaiming(server, cost=cost)
    if any(not node.closed for node in snapshot.nodes):
        snapshot.placement()
    again = type(snapshot).model_validate_json(snapshot.model_dump_json())
    assert again == snapshot


def _refusal(path: Path) -> str:
    """Read a file, and use what is read, or give the one line that refuses it, which names the file."""
    try:
        snapshot = read_snapshot(path)
    except InvalidInput as error:
        line = str(error)
    else:
        _use(snapshot)
        return ""
    assert line.startswith(f"{path}: ")
    assert line.isprintable()
    assert len(line) < _LONGEST_LINE
    return line


@pytest.mark.parametrize("whole", [_kubernetes, _slurm])
def test_corrupted_variants(whole: Callable[[], dict[str, Any]], tmp_path: Path) -> None:
    """Any change gives one line that names the file, or a snapshot of which all decisions can be made."""
    random, refused = Random(), 0
    number = cases(1000)
    for _ in range(number):
        data = whole()
        for _ in range(random.randint(1, 2)):
            _corrupted(data, random)
        path = tmp_path / "file.json"
        path.write_text(json.dumps(data))
        refused += bool(_refusal(path))
    assert number / 8 < refused < number


@pytest.mark.parametrize("whole", [_kubernetes, _slurm])
def test_cut_and_mangled_texts(whole: Callable[[], dict[str, Any]], tmp_path: Path) -> None:
    """A text that ends early, or in which bytes are others, gives one line or can be used."""
    random = Random()
    text = json.dumps(whole()).encode()
    path = tmp_path / "file.json"
    for _ in range(cases(200)):
        mangled = bytearray(text[: random.randint(1, len(text))] if random.random() < 0.5 else text)
        for _ in range(random.randint(0, 3)):
            mangled[random.randrange(len(mangled))] = random.randrange(256)
        path.write_bytes(mangled)
        _refusal(path)


_DEEP = "[" * 100_000

_TEXTS: dict[str, tuple[str, str]] = {
    "empty": ("", "must be a scheduler's JSON or YAML output, but is empty"),
    "scalar": ("hello", "must be a mapping"),
    "list": ("[]", "must be a JSON object"),
    "no kind": ('{"items": []}', "must be output of kubectl get -o json or yaml, with its kind"),
    "no nodes": ('{"kind": "List", "items": []}', "must have nodes beside pods"),
    "items": ('{"kind": "List", "items": 3}', "items: 3: must be a list"),
    "item": ('{"kind": "List", "items": [3]}', "items[0]: 3: must be a mapping"),
    "deep JSON": (f'{{"kind": "List", "items": {_DEEP}', "must be nested less deeply"),
    "deep enough": (f'{{"kind": "List", "items": [{"[" * 100 + "]" * 100}]}}', "must be nested less deeply"),
    "deep YAML": (f"kind: List\nitems: {_DEEP}", "must be nested less deeply"),
    "aliases": ("a: &a [x, x]\nb: &b [*a, *a]\nkind: List", "must not be an alias"),
    "tag": ("kind: !!python/object/apply:os.system [id]", "kind: ['id']: must be a string"),
    "double key": ('{"kind": "List", "kind": "List"}', "must not occur twice in one object"),
    "double key in YAML": ("kind: List\nkind: List", "must not occur twice in one mapping"),
    "NaN": ('{"kind": "List", "items": [NaN]}', "must be a finite number"),
    "unknown Slurm": ('{"meta": {}, "licenses": []}', "must be output of kubectl get"),
    "own": ('{"nodes": [], "gangs": []}', "nodes: []: value should have at least 1 item"),
    "own, elsewhere": (
        '{"nodes": [{"name": "n"}], "gangs": [{"name": "a", "parts": [{"node": "m"}]}]}',
        "gangs[0].parts: 'm': must be one of the nodes",
    ),
    "own, with an unknown budget": (
        '{"nodes": [{"name": "n"}], "gangs": [{"name": "a", "parts": [{"node": "n", "budgets": ["b"]}]}]}',
        "gangs[0].parts: 'b': must be one of the budgets",
    ),
    "own, with several nodes for Slurm": (
        '{"source": "slurm", "nodes": [{"name": "n[1-9]"}, {"name": "a,b"}], "gangs": []}',
        "nodes[0].name: 'n[1-9]': must be a name of letters, digits",
    ),
    "own, with several jobs for Slurm": (
        '{"source": "slurm", "nodes": [{"name": "n"}], "gangs": [{"name": "1,2", "parts": [{"node": "n"}]}]}',
        "gangs[0].name: '1,2': must be the number of a job",
    ),
}


@pytest.mark.parametrize("name", _TEXTS)
def test_texts_that_are_none(name: str, tmp_path: Path) -> None:
    """What is no snapshot at all is refused by the command in one line, with the exit code of bad input."""
    text, message = _TEXTS[name]
    path = tmp_path / "file"
    path.write_text(text)
    assert message in refused("drain", "--servers", "1", path)


def test_names_that_would_be_commands(tmp_path: Path) -> None:
    """Names with quotes reach the printed commands quoted, and names with control characters are refused."""
    path = objects.write(tmp_path / "file.json", [objects.node(name) for name in ("it's", "$(touch x)")])
    run = command("drain", "--servers", "2", path)
    assert run.returncode == Exit.SOLUTION
    assert [line for line in run.stdout.splitlines() if line.startswith("kubectl drain")] == [
        "kubectl drain --ignore-daemonsets -- 'it'\"'\"'s'",
        "kubectl drain --ignore-daemonsets -- '$(touch x)'",
    ]
    for name in ("a\nkubectl delete ns default", "\x1b[2J", "a\u2028b"):
        objects.write(path, [objects.node(name)])
        assert "items[0].metadata.name" in refused("drain", "--servers", "1", path)
