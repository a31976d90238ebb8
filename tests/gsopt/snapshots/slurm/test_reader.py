"""Snapshots of Slurm, from what its commands and slurmrestd print."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gsopt.core.errors import InvalidInput
from gsopt.snapshots import Gang, Snapshot, drain, read_snapshot, slurm
from tests.gsopt.snapshots.slurm.objects import Object, node, pending, running, wrapped, write
from tests.refusals import assert_refused

#: GPUs that each job has or asks for, by release, and of which type.
_FOUR, _SIX, _ONE = (
    {"gpu": 4, "gpu:h100": 4},
    {"gpu": 6, "gpu:h100": 2, "gpu:h200": 4},
    {"gpu": 1, "gpu:h100": 1},
)
_JOBS = {
    "slurmrestd-24.11-0.0.42": {
        "gres": _SIX,
        "multi-nodes": {"gpu": 12, "gpu:h100": 4, "gpu:h200": 8},
        "multi-types": {"gpu": 2, "gpu:h100": 1, "gpu:h200": 1},
        "pending": {"gpu": 6},
        "running": _SIX,
        "type": _ONE,
    },
    "slurmrestd-25.11-0.0.44": {
        "gres": _FOUR,
        "multi-nodes": {"gpu": 8, "gpu:h100": 8},
        "multi-types": _ONE,
        "pending": {"gpu": 4},
        "running": _FOUR,
        "type": _ONE,
    },
}
_TYPES = {"slurmrestd-24.11-0.0.42": {"h100+h200": 12}, "slurmrestd-25.11-0.0.44": {"h100": 8, "": 8}}
_STATES = {"RUNNING": "running", "PENDING": "pending"}


def _load(path: Path, key: str) -> list[Object]:
    entries: list[Object] = json.loads(path.read_text())[key]
    return entries


def _gpus(gangs: Sequence[Gang]) -> dict[str, int]:
    total: dict[str, int] = {}
    for gang in gangs:
        for part in gang.parts:
            for name, amount in part.needs.named.items():
                if name.startswith("gpu") and amount:
                    total[name] = total.get(name, 0) + amount * part.count
    return total


@pytest.mark.parametrize("release", _JOBS)
def test_a_release_reads_as_its_files_count(release: str, public: Path) -> None:
    """Nodes, GPUs, jobs by state, CPUs and partitions are those that the files of slurmrestd hold."""
    folder = public / release
    files = [folder / f"slurm-{kind}.json" for kind in ("jobs", "nodes", "partitions", "reservations")]
    snapshot = slurm.read(*files, notes=(notes := list[str]()))
    nodes, jobs = _load(files[1], "nodes"), _load(files[0], "jobs")
    assert [each.name for each in snapshot.nodes] == [each["name"] for each in nodes]
    assert [each.capacity.cpu for each in snapshot.nodes] == [1000 * each["cpus"] for each in nodes]
    assert [each.capacity.memory for each in snapshot.nodes] == [each["real_memory"] for each in nodes]
    assert dict(snapshot.gpus) == _TYPES[release]
    closed = {each["name"] for each in nodes if {"DOWN", "DRAIN"} & set(each["state"])}
    assert {each.name for each in snapshot.nodes if each.closed} == closed
    states = [each["job_state"][0] for each in jobs]
    held = sum(each["state_reason"] in {"BeginTime", "Dependency"} for each in jobs)
    assert len(snapshot.running) == states.count("RUNNING")
    assert len(snapshot.pending) == states.count("PENDING") - held
    over = sum(state not in _STATES for state in states)
    assert f"jobs completed, and not counted: {over}" in notes
    assert f"jobs held, or waiting for a time or for others, and not placed: {held}" in notes
    cpus = {str(each["job_id"]): each["cpus"]["number"] for each in jobs if each["job_state"] == ["RUNNING"]}
    assert {gang.name: sum(part.needs.cpu for part in gang.parts) // 1000 for gang in snapshot.running} == cpus


@pytest.mark.parametrize(
    ("release", "asked"), [(release, asked) for release in _JOBS for asked in _JOBS[release]]
)
def test_gpus_of_a_job(release: str, asked: str, public: Path, tmp_path: Path) -> None:
    """GPUs of a job are those of its details, or of its request, in whichever way they were asked for."""
    job = public / release / f"slurm-job-gpus-{asked}.json"
    (entry,) = _load(job, "jobs")
    if asked == "pending":
        assert "held" in " ".join(_notes(public / release / "slurm-nodes.json", job))
        job = write(tmp_path / "job.json", jobs=[{**entry, "state_reason": "Resources"}])
    snapshot = slurm.read(public / release / "slurm-nodes.json", job)
    (gang,) = snapshot.gangs
    assert gang.name == str(entry["job_id"])
    assert _gpus(snapshot.gangs) == _JOBS[release][asked]
    assert len(gang.nodes) == (0 if asked == "pending" else entry["node_count"]["number"])


def _notes(*paths: Path) -> list[str]:
    slurm.read(*paths, notes=(notes := list[str]()))
    return notes


@pytest.mark.parametrize("release", _JOBS)
def test_single_nodes(release: str, public: Path) -> None:
    """What a node has and what is used of it are as its one file says."""
    for path in sorted((public / release).glob("slurm-node-*.json")):
        (entry,) = _load(path, "nodes")
        (found,) = slurm.read(path).nodes
        amounts = [part.partition("(")[0].split(":")[-1] for part in entry["gres_used"].split(",")]
        assert found.name == entry["name"]
        assert found.used.gpu == sum(int(each) for each in amounts if each.isdigit())
        assert found.used.cpu == 1000 * entry["alloc_cpus"]
        assert (found.gpus > 0) == bool(entry["gres"])


def test_the_oldest_release(public: Path) -> None:
    """Plain numbers and states of release 21.08 are read; jobs on other nodes are noted."""
    folder = public / "slurm-cli-rivos"
    snapshot = slurm.read(folder / "sinfo_out.json", folder / "squeue_out.json", notes=(notes := list[str]()))
    nodes = _load(folder / "sinfo_out.json", "nodes")
    assert [each.name for each in snapshot.nodes] == [each["name"] for each in nodes]
    assert [each.used.cpu for each in snapshot.nodes] == [1000 * each["alloc_cpus"] for each in nodes]
    assert [each.closed for each in snapshot.nodes] == ["", "", "", "is in state DOWN"]
    assert notes == [
        "jobs on nodes that no file has, and not counted: 1",
        "jobs held, or waiting for a time or for others, and not placed: 1",
    ]
    with pytest.raises(InvalidInput, match="at least one has GPUs"):
        _ = snapshot.cluster
    for name in ("sdiag_2405.json", "squeue_fallback.txt", "sinfo_fallback.txt"):
        assert_refused(name, slurm.read, folder / name)


def _read(folder: Path, *, conf: str = "", notes: list[str] | None = None, **lists: Any) -> Snapshot:
    files = [write(folder / "all.json", **lists)]
    if conf:
        (folder / "topology.conf").write_text(conf)
        files.append(folder / "topology.conf")
    return read_snapshot(*files, notes=notes)


def test_sinfo_since_it_groups_nodes(tmp_path: Path) -> None:
    """Groups of nodes that are alike are nodes, each once, with all their partitions."""
    group = {
        "nodes": {"nodes": ["n1", "n2"]},
        "node": {"state": ["MIXED"]},
        "cpus": {"minimum": 64, "allocated": 7},
        "memory": {"minimum": 1024, "maximum": 1024},
        "gres": {"total": "gpu:a100:4", "used": "gpu:a100:3"},
        "partition": {"name": "gpu"},
        "features": {"active": "ib,nvme"},
    }
    alone = {**group, "nodes": {"nodes": ["n3"]}, "node": {"state": ["DOWN", "NOT_RESPONDING"]}}
    snapshot = _read(tmp_path, sinfo=[group, {**group, "partition": {"name": "long"}}, alone])
    found = [(each.name, each.gpus, each.used.gpu) for each in snapshot.nodes]
    assert found == [("n1", 4, 0), ("n2", 4, 0), ("n3", 4, 3)]
    assert set(snapshot.nodes[0].labels) == {"gpu", "long", "ib", "nvme"}
    assert snapshot.kept() == {"n3": "is in state DOWN+NOT_RESPONDING"}


def test_arrays_and_heterogeneous_jobs(tmp_path: Path) -> None:
    """Tasks of an array are jobs, those that wait are counted, and a heterogeneous job is one gang."""
    jobs = [
        running(11, "n1", "gpu:1", array_job_id=wrapped(10), array_task_id=wrapped(0)),
        running(12, "n1", "gpu:1", array_job_id=wrapped(10), array_task_id=wrapped(7)),
        pending(10, array_job_id=wrapped(10), array_task_string="8-19:2,30%4", tres_per_node="gres/gpu:1"),
        running(20, "n1", "gpu:2", het_job_id=wrapped(20), priority=wrapped(3)),
        running(21, "n2", "gpu:4", het_job_id=wrapped(20), priority=wrapped(9), requeue=False),
        running(22, "n1", "gpu:1", het_job_id=wrapped(20), priority=wrapped(5)),
    ]
    snapshot = _read(tmp_path, nodes=[node("n1"), node("n2")], jobs=jobs)
    gangs = [(gang.name, gang.gpus, gang.copies) for gang in snapshot.gangs]
    assert gangs == [("10_0", 1, 1), ("10_7", 1, 1), ("10", 0, 7), ("20", 7, 1)]
    assert snapshot.gangs[3].priority == 9  # the highest of its components
    found = drain(snapshot, 1)
    assert found.servers == ("n2",)
    assert found.commands[1:] == ("scancel 20",)


@pytest.mark.parametrize(
    ("asked", "count", "needs"),
    [
        ({"tres_per_node": "gres/gpu:h100:4", "node_count": wrapped(2)}, 2, {"gpu": 4, "gpu:h100": 4}),
        ({"tres_per_node": "gres:gpu:2"}, 1, {"gpu": 2}),
        ({"tres_per_job": "gres/gpu:6", "max_nodes": wrapped(1)}, 1, {"gpu": 6}),
        ({"tres_per_job": "gres/gpu:6"}, 6, {"gpu": 1}),
        ({"tres_per_job": "gres/gpu:6", "node_count": wrapped(4)}, 6, {"gpu": 1}),
        ({"tres_per_job": "gres/gpu:h100:6", "node_count": wrapped(3)}, 3, {"gpu": 2, "gpu:h100": 2}),
        ({"tres_per_task": "gres/gpu:1", "tasks": wrapped(16)}, 16, {"gpu": 1}),
        ({"tres_per_node": "gres/shard:4"}, 1, {"shard": 4}),
        ({"node_count": wrapped(3), "cpus": wrapped(12)}, 3, {}),
    ],
)
def test_what_a_job_waits_for(asked: Object, count: int, needs: dict[str, int], tmp_path: Path) -> None:
    """GPUs by node, task or job become parts that are alike, with their share of the CPUs."""
    (gang,) = _read(tmp_path, nodes=[node("n1")], jobs=[pending(1, **asked)]).gangs
    (part,) = gang.parts
    found = {name: amount for name, amount in part.needs.named.items() if amount and name != "cpu"}
    assert (part.count, found) == (count, needs)
    assert part.needs.cpu >= 1000


def test_where_jobs_may_start(tmp_path: Path) -> None:
    """Partitions, features, reservations that hold, and lists of nodes say where, as if all nodes were open."""
    nodes = [
        node("n1", partitions=["gpu", "long"], active_features=["ib"]),
        node("n2", partitions=["gpu"], active_features="ib,nvme"),
        node("n3", partitions=["gpu"], state="DRAINED"),
        node("n4", partitions=["other"]),
        node("n5", partitions=["gpu"]),
    ]
    reservations = [
        {"name": name, "node_list": node, "start_time": wrapped(start), "end_time": wrapped(end)}
        for name, node, start, end in (("now", "n5", 9, 9000), ("then", "n1", 8000, 9000), ("past", "n2", 0, 9))
    ]
    asked: list[tuple[Object, tuple[str, ...]]] = [
        ({}, ("n1", "n2", "n3")),
        ({"partition": "long,other"}, ("n1", "n4")),
        ({"features": "ib&nvme"}, ("n2",)),
        ({"features": "nvme|absent"}, ("n2",)),
        ({"resv_name": "now"}, ("n5",)),
        ({"required_nodes": "n[2-2]"}, ("n2",)),
        ({"excluded_nodes": "n2"}, ("n1", "n3")),
        ({"partition": "extra"}, ("n3", "n4")),
        ({"features": "[ib*2]"}, ("n1", "n2", "n3")),
        ({"required_nodes": "n2", "node_count": wrapped(2)}, ("n1", "n2", "n3")),  # of which one may be any
    ]
    jobs = [pending(number, **each) for number, (each, _) in enumerate(asked, start=1)]
    partitions = [{"name": "extra", "nodes": {"configured": "n[3-4]"}}]
    lists: Any = {"nodes": nodes, "jobs": jobs, "reservations": reservations, "partitions": partitions}
    snapshot = _read(tmp_path, notes=(notes := list[str]()), **lists)
    places = {where.name: where.nodes for where in snapshot.places}
    assert [places[gang.parts[0].where] for gang in snapshot.gangs] == [names for _, names in asked]
    stands = _read(tmp_path, **{**lists, "jobs": [running(1, "n1", "gpu:h100:8", partition="long,other")]})
    assert [where.nodes for where in stands.places] == [("n1", "n4")]
    assert stands.gangs[0].parts[0].where == stands.places[0].name
    assert snapshot.kept() == {"n3": "is in state DRAINED", "n5": "is in the reservation now"}
    assert notes == ["features joined by other than & alone or | alone, which are ignored"]


def test_what_is_asked_and_not_looked_at(tmp_path: Path) -> None:
    """What waiting jobs ask of nodes beyond partitions, features and lists of nodes is said."""
    jobs = [
        pending(1, shared=["none"], licenses="matlab:2"),
        pending(2, shared=["oversubscribe"], exclusive=["false"], contiguous=False, required_switches=0),
        pending(3, exclusive=["true"], contiguous=True, required_switches=1),
        pending(4, shared=["user"]),
        running(5, "n1", "gpu:1", shared=["none"]),
    ]
    _read(tmp_path, nodes=[node("n1")], jobs=jobs, notes=(notes := list[str]()))
    told = {"whole nodes": 3, "licences": 1, "nodes side by side": 1, "few switches": 1}
    assert set(notes) == {
        f"jobs that wait and ask for {what}, which is ignored: {number}" for what, number in told.items()
    }


def test_reservations_that_nodes_tell(tmp_path: Path) -> None:
    """What a node says of its reservation holds without a file of them, and beside such a file."""
    held = [node("n1", reservation="demo"), node("n4", reservation="now")]
    nodes = [held[0], node("n2", state=["IDLE", "RESERVED"]), node("n3"), held[1]]
    reservations = [{"name": "now", "node_list": "n3", "start_time": wrapped(0), "end_time": wrapped(9000)}]
    jobs = [pending(1), pending(2, resv_name="demo"), pending(3, resv_name="now")]
    snapshot = _read(tmp_path, nodes=[*nodes, node("n5")], jobs=jobs, reservations=reservations)
    names = {"n1": "demo", "n2": "without a name", "n3": "now", "n4": "now"}
    assert snapshot.kept() == {node: f"is in the reservation {name}" for node, name in names.items()}
    places = {where.name: where.nodes for where in snapshot.places}
    assert [places[gang.parts[0].where] for gang in snapshot.gangs] == [("n5",), ("n1",), ("n3", "n4")]


def test_the_network_is_that_of_topology_conf(tmp_path: Path) -> None:
    """A topology.conf beside the nodes gives the switches, with the GPUs and types that the nodes tell."""
    conf = "SwitchName=core Switches=s[1-2]\nSwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4],cpu1\n"
    nodes = [node("n1"), node("n2", "gpu:4"), node("n3", "gpu:a:1,gpu:b:2"), node("n9"), node("cpu1", "")]
    notes: list[str] = []
    cluster = _read(tmp_path, conf=conf, nodes=nodes, notes=notes).cluster
    assert cluster.levels == ("machine", "rack", "network")
    machines = [(machine.name, machine.gpus, machine.gpu_type) for machine in cluster.machines]
    assert machines == [("n1", 8, "h100"), ("n2", 4, ""), ("n3", 3, "a+b")]
    assert notes[1:] == [
        f"{tmp_path}/topology.conf: nodes with GPUs below no switch, left out of the network: 1",
        f"{tmp_path}/topology.conf: nodes without GPUs, left out of the network: 2",
    ]


def test_spread_evenly_without_details(tmp_path: Path) -> None:
    """Without details, GPUs of an allocation are spread over its nodes, and so are CPUs and memory."""
    tres = "cpu=12,mem=3G,node=3,billing=12,gres/gpu=8"
    nodes = [node(f"n{number}") for number in (1, 2, 3)]
    (gang,) = _read(tmp_path, nodes=nodes, jobs=[running(1, "n[1-3]", tres_alloc_str=tres)]).gangs
    assert [part.gpus for part in gang.parts] == [3, 3, 2]
    assert {(part.needs.cpu, part.needs.memory) for part in gang.parts} == {(4000, 1024)}


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([node("n1,n2")], r"nodes\[0\]\.name: 'n1,n2': must be a name of letters, digits and \. - _"),
        ([node("n[1-2]")], "must be a name of letters"),
        ([node("a b")], "must be a name of letters"),
        ([node("a\nb")], "must have no line breaks"),
        ([node("") | {"name": None}], r"nodes\[0\]\.name: None: must be a name"),
        ([node("n1", "gpu:a:b:3")], r"nodes\[0\]\.gres: 'gpu:a:b:3': must be generic resources"),
        ([node("n1", "gpu:9000000")], "must be at most 1,000,000 GPUs"),
        ([node("n1", cpus="x")], r"nodes\[0\]\.cpus: 'x': must be a whole number"),
        ([node("n1", cpus=-1)], r"nodes\[0\]\.cpus: -1: must be a number of CPUs"),
        ([node("n1", state=7)], r"nodes\[0\]\.state: 7: must be a string"),
        ([node("n1", partitions="gpu")], r"nodes\[0\]\.partitions: 'gpu': must be a list"),
        ([node("n1")] * 2, r"nodes\[1\]\.name: 'n1': must not occur twice in the files"),
        ([running(1, "n1")] * 2, r"jobs\[1\]\.job_id: 1: must not occur twice in the files"),
        ([running(1, "n[1-999999999]")], r"jobs\[0\]\.nodes: .*: must have at most 20,000 names"),
        ([running(1, "n[3-1]")], r"jobs\[0\]\.nodes: 'n\[3-1\]': must have ranges that do not fall"),
        ([running(1, "$(id)")], r"jobs\[0\]\.nodes: '\$\(id\)': must be names of letters"),
        ([running(0, "n1")], r"jobs\[0\]\.job_id: 0: must be the number of a job"),
        ([running(1, "n1", "gpu:1", "gpu:1")], "gres_detail: .*: must have as many entries as there are"),
        ([pending(1, array_task_string="5-1")], r"array_task_string: '5-1': must be tasks such as"),
        ([pending(1, array_task_string="1-999999999")], "must be at most 1,000,000 tasks"),
        ([pending(1, node_count=wrapped(10**7))], "must be at most 1,000,000 nodes, tasks or GPUs"),
        ([pending(1, memory_per_node=wrapped(10**12))], "must be from 0 to 1,000,000,000 in all"),
    ],
)
def test_bad_entries(entries: list[Object], message: str, tmp_path: Path) -> None:
    """Whatever is wrong with a node or a job is one line with its field and value."""
    jobs = entries if "job_id" in entries[0] else []
    assert_refused(message, _read, tmp_path, nodes=[node("n1")] if jobs else entries, jobs=jobs)


def test_files_that_do_not_fit(tmp_path: Path) -> None:
    """Jobs without nodes, two networks, and options of Kubernetes are refused."""
    assert_refused("must have nodes beside jobs", _read, tmp_path, jobs=[])
    files = [write(tmp_path / "all.json", nodes=[node("n1")]), tmp_path / "a.conf", tmp_path / "b.conf"]
    for conf in files[1:]:
        conf.write_text("SwitchName=s Nodes=n1")
    assert_refused("must not be a second topology", read_snapshot, *files)
    rule = "must not be given for Slurm"
    assert_refused(f"levels: .*: {rule}", read_snapshot, files[0], levels={"rack": "x"})
    assert_refused(f"gpu_resources: .*: {rule}", read_snapshot, files[0], gpu_resources=["x"])
    rule = "must be output of kubectl, not a topology"
    assert_refused(rule, read_snapshot, *files[:2], source="kubernetes")


@pytest.mark.parametrize(
    ("job", "note"),
    [
        ({"job_state": [state]}, "")
        for state in ("RUNNING", "CONFIGURING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "RESIZING", "STOPPED")
    ]
    + [
        ({"job_state": ["COMPLETED", "COMPLETING"]}, "ending, which hold their resources and are not a loss"),
        ({"job_state": ["NODE_FAIL"]}, "completed, and not counted"),
    ],
)
def test_states_of_jobs(job: Object, note: str, tmp_path: Path) -> None:
    """Whatever holds its nodes and goes on is a gang; what ends holds them and is no loss."""
    notes: list[str] = []
    snapshot = _read(tmp_path, nodes=[node("n1")], jobs=[running(1, "n1", "gpu:3", **job)], notes=notes)
    assert len(snapshot.running) == (not note)
    assert notes == ([f"jobs {note}: 1"] if note else [])
    assert snapshot.nodes[0].used.gpu == (0 if note.startswith("completed") else 3)


def test_jobs_that_are_held(tmp_path: Path) -> None:
    """A job that waits for a time, for others or for somebody's word is not placed."""
    held = [pending(1, state_reason="BeginTime"), pending(2, state_reason="Dependency"), pending(3, hold=True)]
    jobs = [*held, pending(4, hold=False)]
    snapshot = _read(tmp_path, nodes=[node("n1")], jobs=jobs, notes=(notes := list[str]()))
    assert [gang.name for gang in snapshot.pending] == ["4"]
    assert notes == ["jobs held, or waiting for a time or for others, and not placed: 3"]


@pytest.mark.parametrize(
    ("state", "kept", "closed"),
    [
        (["IDLE"], False, False),
        (["IDLE", "POWERED_DOWN"], True, False),
        (["IDLE", "INVALID_REG"], True, True),
        (["IDLE", "PLANNED"], False, False),
        (["MIXED", "COMPLETING"], False, False),
        (["IDLE", "DRAIN"], True, True),
        ("idle*", False, False),
    ],
)
def test_states_of_nodes(state: object, kept: bool, closed: bool, tmp_path: Path) -> None:
    """A node that is away is not returned but takes jobs, for which it wakes; a closed one does neither."""
    (found,) = _read(tmp_path, nodes=[node("n1", state=state)]).nodes
    assert (bool(found.kept), bool(found.closed)) == (kept, closed)


def test_what_slurm_keeps_for_itself(tmp_path: Path) -> None:
    """CPUs and memory that Slurm keeps on a node are nobody's, and memory by CPU is that of all CPUs."""
    nodes = [node("n1", cpus=64, effective_cpus=60, real_memory=1024, specialized_memory=24)]
    jobs = [pending(1, cpus=wrapped(4), memory_per_cpu=wrapped(100))]
    snapshot = _read(tmp_path, nodes=nodes, jobs=jobs)
    assert (snapshot.nodes[0].capacity.cpu, snapshot.nodes[0].capacity.memory) == (60_000, 1000)
    assert snapshot.gangs[0].parts[0].needs.memory == 400
