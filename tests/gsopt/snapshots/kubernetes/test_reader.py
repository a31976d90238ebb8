"""Snapshots of Kubernetes, from what kubectl prints."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from gsopt.core.errors import InvalidInput
from gsopt.core.result import Status
from gsopt.snapshots import Snapshot, drain, kubernetes, pack, why
from tests.gsopt.snapshots.objects import Object, budget, node, pod, write
from tests.refusals import assert_refused
from tests.unwrap import unwrap

_GPU = "nvidia.com/gpu"


def _read(folder: Path, *objects: Object, **options: Any) -> Snapshot:
    return kubernetes.read(write(folder / "all.json", objects), **options)


def test_the_derived_cluster_reads_as_its_files_count(public: Path) -> None:
    """Nodes, GPUs, racks and pods are as many as the files hold, and 100 nodes are returned with proof."""
    folder = public / "k8s-derived-openb"
    nodes = json.loads((folder / "nodes.json").read_text())["items"]
    pods = json.loads((folder / "pods.json").read_text())["items"]
    snapshot = kubernetes.read(folder / "pods.json", folder / "nodes.json", notes=(notes := list[str]()))
    assert notes == []
    assert len(snapshot.nodes) == len(nodes) == 1213
    assert snapshot.cluster.gpus == sum(int(each["status"]["allocatable"]["nvidia.com/gpu"]) for each in nodes)
    for level, label in (("rack", "topology.kubernetes.io/rack"), ("zone", "topology.kubernetes.io/zone")):
        assert len(snapshot.cluster.groups[level]) == len({each["metadata"]["labels"][label] for each in nodes})
    for gangs, there in ((snapshot.running, True), (snapshot.pending, False)):
        chosen = [each for each in pods if bool(each["spec"].get("nodeName")) == there]
        asked = [each["spec"]["containers"][0]["resources"]["requests"] for each in chosen]
        parts = [part for gang in gangs for part in gang.parts]
        assert len(parts) == len(chosen) > 0
        assert sum(part.gpus for part in parts) == sum(int(each["nvidia.com/gpu"]) for each in asked)
        assert sum(part.needs.cpu for part in parts) == sum(int(each["cpu"].rstrip("m")) for each in asked)
        assert sum(part.needs.memory for part in parts) == sum(
            int(each["memory"].rstrip("Mi")) for each in asked
        )
    on_nodes = sum(part.needs.gpu for gang in snapshot.running for part in gang.parts)
    assert sum(each.used.gpu for each in snapshot.nodes) == on_nodes == 3294
    drained = drain(snapshot, 100)
    idle = {each.name for each in snapshot.nodes} - {name for gang in snapshot.running for name in gang.nodes}
    result = unwrap(drained.result)
    assert (result.status, result.objective) == (Status.OPTIMAL, 0)
    assert set(drained.servers) <= idle
    worse = drain(snapshot, len(idle) + 100, cost="gpu-hours")
    assert unwrap(worse.result).status is Status.OPTIMAL
    assert all(unwrap(unwrap(worse.result).objective) <= value for value in worse.rules.values())


def test_the_openb_nodes_read_as_their_table_counts(public: Path) -> None:
    """Nodes as YAML have the GPUs, types, CPUs and memory of the table beside them, and pods their shares."""
    folder = public / "k8s-openb"
    rows = [line.split(",") for line in (folder / "openb_node_list_gpu_node.csv").read_text().split()[1:]]
    files = [folder / name for name in ("openb_node_list_gpu_node.yaml", "gpu-pod-00.yaml", "gpu-pod-01.yaml")]
    snapshot = kubernetes.read(*files, notes=(notes := list[str]()))
    read = {each.name: each for each in snapshot.nodes}
    assert len(rows) == len(read) == 1213
    for name, cpu, memory, gpus, model in rows:
        found = read[name]
        capacity = (found.capacity.gpu, found.capacity.cpu, found.capacity.memory)
        assert (found.gpus, found.gpu_type, capacity) == (int(gpus), model, (int(gpus), int(cpu), int(memory)))
    (note,) = notes
    assert note.startswith("nodes with alibabacloud.com/gpu-milli, shares of GPUs, which are added up by node")
    assert note.endswith(": 1,213")
    half, none = snapshot.pending
    assert [part.gpus for gang in (half, none) for part in gang.parts] == [0.5, 0]
    needs = {"gpu": 0, "cpu": 4000, "memory": 9216, "alibabacloud.com/gpu-milli": 500, "pods": 1}
    assert half.parts[0].needs.named == needs
    master = kubernetes.read(folder / "pai-node-00.yaml")
    assert (master.cluster.gpus, master.kept()) == (2, {"pai-node-00": "belongs to the control plane"})


def test_yaml_is_json(tmp_path: Path) -> None:
    """What kubectl prints as YAML gives the same snapshot as its JSON, one document or several."""
    objects = [
        node("n1", labels={"a": "true"}, spec={"unschedulable": True}),
        pod("p", "n1", priority=7, volumes=[{"emptyDir": {}}]),
        pod("q", gpus=2, nodeSelector={"a": "true"}),
    ]
    read = _read(tmp_path, *objects)
    (tmp_path / "list.yaml").write_text(yaml.safe_dump({"kind": "List", "items": objects}))
    (tmp_path / "many.yml").write_text(yaml.safe_dump_all(objects))
    assert kubernetes.read(tmp_path / "list.yaml") == read
    assert kubernetes.read(tmp_path / "many.yml") == read
    assert read.nodes[0].closed == "is cordoned"
    assert read.gangs[0].parts[0].scratch


@pytest.mark.parametrize(
    ("resources", "labels", "gpus", "capacity"),
    [
        ({"amd.com/gpu": "4"}, {}, 4, {"gpu": 4, "amd.com/gpu": 4}),
        ({"gpu.intel.com/i915": 2}, {}, 2, {"gpu": 2, "gpu.intel.com/i915": 2}),
        ({"habana.ai/gaudi": "8"}, {}, 8, {"gpu": 8, "habana.ai/gaudi": 8}),
        ({"nvidia.com/mig-1g.5gb": "14"}, {}, 2, {"nvidia.com/mig-1g.5gb": 14}),
        ({_GPU: "2", "nvidia.com/mig-3g.20gb": "4"}, {}, 4, {"gpu": 2, _GPU: 2, "nvidia.com/mig-3g.20gb": 4}),
        ({_GPU: "32"}, {f"{_GPU}.replicas": "4"}, 8, {"gpu": 32, _GPU: 32}),
        ({f"{_GPU}.shared": "32"}, {f"{_GPU}.replicas": "4"}, 8, {f"{_GPU}.shared": 32}),
        ({f"{_GPU}.shared": "32"}, {f"{_GPU}.count": "8"}, 8, {f"{_GPU}.shared": 32}),
        ({"koordinator.sh/gpu-core": "800"}, {}, 8, {"koordinator.sh/gpu-core": 800}),
        ({"example.com/wonder": "3"}, {}, 3, {"gpu": 3, "example.com/wonder": 3}),
        ({"cpu": "1"}, {f"{_GPU}.count": "8"}, 0, {"cpu": 1000}),
    ],
)
def test_gpus_of_any_vendor(
    resources: dict[str, Any], labels: dict[str, str], gpus: int, capacity: dict[str, int], tmp_path: Path
) -> None:
    """GPUs are counted once whatever they are called, and slices and turns keep their names."""
    object_ = node("n1", labels=labels) | {"status": {"allocatable": resources}}
    (found,) = _read(tmp_path, object_, gpu_resources=["example.com/wonder"]).nodes
    assert found.gpus == gpus
    assert {name: amount for name, amount in found.capacity.named.items() if amount} == capacity


def test_parts_of_gpus_are_held(tmp_path: Path) -> None:
    """A pod holds sevenths by its slices and parts by turns, which GPU-hours count."""
    objects = [
        node("cut", 0, resources={"nvidia.com/mig-2g.10gb": "3"}),
        node("turns", 32, labels={"nvidia.com/gpu.replicas": "4"}),
        node("some", 0, labels={"nvidia.com/gpu.count": "8"}, resources={"nvidia.com/gpu.shared": "16"}),
        pod("sliced", "cut", 0, limits={"nvidia.com/mig-2g.10gb": 1}),
        pod("turn", "turns"),
        pod("shared", "some", 0, limits={"nvidia.com/gpu.shared": 1}),
    ]
    read = _read(tmp_path, *objects, notes=(notes := list[str]()))
    assert [gang.gpus for gang in read.gangs] == [float(Fraction(2, 7)), 0.25, 0.5]
    assert notes == [
        "nodes whose GPUs are shared by turns, 4 on each at most, which placements count: 2",
        "nodes with nvidia.com/mig-2g.10gb, slices of GPUs, which are placed by that name: 1",
        "nodes with nvidia.com/gpu.shared, turns on GPUs, which are placed by that name: 1",
    ]


_JOBSET = {"jobset.sigs.k8s.io/jobset-name": "set"}
_LEADER = {"leaderworkerset.sigs.k8s.io/name": "lws", "leaderworkerset.sigs.k8s.io/group-index": "1"}


@pytest.mark.parametrize(
    ("given", "name", "kind"),
    [
        ({"labels": {"scheduling.x-k8s.io/pod-group": "g"}, "owner": "Job/j"}, "ml/g", "PodGroup"),
        ({"annotations": {"scheduling.k8s.io/group-name": "g"}}, "ml/g", "PodGroup"),
        ({"workloadRef": {"name": "w", "podGroup": "g"}}, "ml/w/g", "Workload"),
        ({"labels": _JOBSET, "owner": "Job/set-workers-0"}, "ml/set", "JobSet"),
        ({"labels": _LEADER, "owner": "StatefulSet/lws-1"}, "ml/lws-1", "LeaderWorkerSet"),
        ({"labels": {"training.kubeflow.org/job-name": "k"}, "owner": "PyTorchJob/k"}, "ml/k", "Kubeflow"),
        ({"owner": "Job/j"}, "ml/j", "Job"),
        ({"owner": "SomebodysTraining/t"}, "ml/t", "SomebodysTraining"),
    ],
)
def test_gangs(given: dict[str, Any], name: str, kind: str, tmp_path: Path) -> None:
    """Pods of one group or owner are one gang, which is preempted once."""
    read = _read(tmp_path, node("n1"), node("n2"), pod("a", "n1", 4, **given), pod("b", "n2", 4, **given))
    (gang,) = read.gangs
    assert (gang.name, gang.kind, gang.gpus, gang.nodes) == (name, kind, 8.0, ("n1", "n2"))
    (job,) = read.reclaiming(1).jobs
    assert job.workers == {"n1": 4, "n2": 4}


@pytest.mark.parametrize("owner", ["ReplicaSet/r", "StatefulSet/s", ""])
def test_pods_that_stand_for_themselves(owner: str, tmp_path: Path) -> None:
    """Replicas and pods of nobody are each a gang of their own; only replicas are replaced."""
    read = _read(tmp_path, node("n1"), pod("a", "n1", owner=owner), pod("b", "n1", owner=owner))
    assert [gang.name for gang in read.gangs] == ["ml/a", "ml/b"]
    assert {part.replaced for gang in read.gangs for part in gang.parts} == {bool(owner)}


def test_groups_of_one_name(tmp_path: Path) -> None:
    """A job and a pod of one name are two gangs, with two names, and long names are cut."""
    pods = [pod("a", "n1", owner="Job/b"), pod("b", "n1"), pod("c", "n1", owner=f"Job/{'x' * 200}")]
    read = _read(tmp_path, node("n1"), *pods)
    assert [gang.name for gang in read.gangs][:2] == ["ml/b", "ml/b (Pod)"]
    assert len(read.gangs[2].name) <= 200


def test_a_gang_of_pods_that_differ(tmp_path: Path) -> None:
    """A gang has the highest priority of its pods, and begins again where a controller replaces one of them."""
    group = {"scheduling.x-k8s.io/pod-group": "g"}
    pods = [
        pod("a", "n1", labels=group, priority=1),
        pod("b", "n1", labels=group, priority=5, owner="Job/b"),
        pod("c", "n1", labels=group, priority=3),
    ]
    (gang,) = _read(tmp_path, node("n1"), *pods).gangs
    assert (gang.priority, gang.requeues) == (5, True)


def test_the_owner_that_controls_counts(tmp_path: Path) -> None:
    """Of owners the controller tells the gang; a pod of its node is no job; a node has what it allocates."""
    owned = pod("a", "n1", owner="Job/a")
    owned["metadata"]["ownerReferences"].insert(0, {"kind": "ReplicaSet", "name": "r"})
    found = node("n1", 7)
    found["status"]["capacity"] = {_GPU: "8"}  # of which it allocates seven
    read = _read(tmp_path, found, owned, pod("static", "n1", owner="Node/n1"))
    assert read.nodes[0].gpus == 7
    assert [(gang.kind, gang.name) for gang in read.gangs] == [("Job", "ml/a")]


def test_what_is_no_job(tmp_path: Path) -> None:
    """Pods over, of their node, being deleted, gated or elsewhere are noted; some hold what they have."""
    objects = [
        pod("over", "n1", phase="Succeeded"),
        pod("failed", "n1", phase="Failed"),
        pod("leaving", "n1", 2, deleted=True),
        pod("mirror", "n1", 1, annotations={"kubernetes.io/config.mirror": "x"}),
        pod("gated", schedulingGates=[{"name": "wait"}]),
        pod("absent", "gone"),
        pod("daemon", "n1", owner="DaemonSet/d"),
        {"kind": "Service", "metadata": {"name": "s"}},
    ]
    read = _read(tmp_path, node("n1"), *objects, notes=(notes := list[str]()))
    assert read.gangs == ()
    assert read.nodes[0].used.gpu == 4
    assert sorted(notes) == [
        "kind Service, which is ignored: 1",
        "pods behind scheduling gates, and not placed: 1",
        "pods being deleted, which hold their resources and are not a loss: 1",
        "pods completed, and not counted: 2",
        "pods on nodes that no file has, and not counted: 1",
        "pods tied to their nodes, which are not jobs: 2",
    ]


def test_kept_nodes(tmp_path: Path) -> None:
    """Nodes that are closed, of the control plane, or hold what must not be evicted are not returned."""
    read = _read(
        tmp_path,
        node("cordoned", spec={"unschedulable": True}),
        node("unready", ready="Unknown"),
        node("stays", annotations={"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}),
        node("control", labels={"node-role.kubernetes.io/control-plane": ""}),
        *(node(name) for name in ("a", "b", "c", "d", "e")),
        pod("x-0", "a", owner="Job/x", annotations={"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}),
        pod("x-1", "b", owner="Job/x"),
        pod("y", "c", 0, labels={"app": "y"}),
        pod("z", "d", labels={"app": "z"}, annotations={"karpenter.sh/do-not-disrupt": "true"}),
        pod("w", "e", labels={"app": "w"}),
        budget("none", 0, app="y"),
        budget("one", 1, app="w"),
    )
    evict = "ml/x: pod x-0 has the annotation cluster-autoscaler.kubernetes.io/safe-to-evict"
    assert read.kept() == {
        "cordoned": "is cordoned",
        "unready": "is not ready",
        "stays": "has the annotation cluster-autoscaler.kubernetes.io/scale-down-disabled",
        "control": "belongs to the control plane",
        "a": evict,
        "b": evict,
        "c": "ml/y: pod y the disruption budget ml/none allows no eviction",
        "d": "ml/z: pod z has the annotation karpenter.sh/do-not-disrupt",
    }
    assert read.budgets == {"ml/none": 0, "ml/one": 1}


def test_levels_of_the_network(tmp_path: Path) -> None:
    """Labels of regions, zones and racks make the network, and other labels do where they are told."""
    places = [("eu", "a", "r1"), ("eu", "a", "r2"), ("us", "a", "r1")]
    labels = [
        {"topology.kubernetes.io/region": region, "topology.kubernetes.io/zone": zone, "example.com/row": row}
        for region, zone, row in places
    ]
    nodes = [node(f"n{number}", labels=each) for number, each in enumerate(labels)]
    found = _read(tmp_path, *nodes).cluster
    told = _read(tmp_path, *nodes, levels={"row": "example.com/row"}).cluster
    counts = [{level: len(each.groups[level]) for level in each.levels} for each in (found, told)]
    assert counts[0] == {"machine": 3, "zone": 2, "region": 2, "network": 1}
    assert counts[1] == {"machine": 3, "row": 2, "network": 1}
    rule = r"levels\.row: 'no': must be a label of some node"
    assert_refused(rule, _read, tmp_path, *nodes, levels={"row": "no"})
    bare = _read(tmp_path, node("n1"), node("n2"))
    assert bare.cluster.levels == ("machine", "network")
    with pytest.raises(InvalidInput, match="at least one has GPUs"):
        _ = _read(tmp_path, node("n1", 0)).cluster


def test_a_pod_may_tell_its_whole(tmp_path: Path) -> None:
    """What a pod asks for as a whole counts instead of what its containers do, and is counted in millis."""
    whole = pod("whole", gpus=0, resources={"requests": {"cpu": "8500m"}}, initContainers=[{"name": "i"}])
    brief = pod("brief", gpus=0, overhead={"cpu": "250m"})
    read = _read(tmp_path, node("n1"), whole, brief)
    assert [gang.parts[0].needs.cpu for gang in read.gangs] == [8500, 1250]


def test_where_pods_may_stand(tmp_path: Path) -> None:
    """Selectors and taints say on which nodes a pod may stand, closed ones included, each set of nodes once."""
    taint = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    cordoned = {"taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}
    nodes = [
        node("n1", labels={"gpu": "a"}),
        node("n2", labels={"gpu": "a"}, spec=taint),
        node("n3"),
        node("n4", labels={"gpu": "a"}, spec={"unschedulable": True, **cordoned}),
    ]
    tolerant = {"tolerations": [{"key": "gpu", "operator": "Exists"}]}
    asked: list[dict[str, Any]] = [{}, tolerant, {"nodeSelector": {"gpu": "a"}}, {"nodeSelector": {"gpu": "a"}}]
    pods = [pod(f"p{number}", **each) for number, each in enumerate([*asked, {"nodeSelector": {"gpu": "b"}}])]
    read = _read(tmp_path, *nodes, *pods)
    places = {where.name: where.nodes for where in read.places} | {"": ("n1", "n2", "n3", "n4")}
    found = [places[gang.parts[0].where] for gang in read.gangs]
    assert found == [("n1", "n3", "n4"), ("n1", "n2", "n3", "n4"), ("n1", "n4"), ("n1", "n4"), ()]
    running = _read(tmp_path, *nodes, pod("r", "n4", nodeSelector={"gpu": "a"}))
    assert [where.nodes for where in running.places] == [("n1", "n4")]
    assert running.gangs[0].parts[0].where == running.places[0].name
    assert len(read.places) == 3
    assert {where.reason for where in read.places} == {"tolerates their taints", "gpu=a", "gpu=b"}


@pytest.mark.parametrize("asked", [{}, {"nodeSelector": {"gpu": "a"}}])
def test_opening_a_node_helps_a_pod_that_may_run_there(tmp_path: Path, asked: dict[str, Any]) -> None:
    """A cordoned node would help a pod that selects its label, and one that selects nothing."""
    cordoned = {"unschedulable": True, "taints": [{"key": "node.kubernetes.io/unschedulable"}]}
    nodes = [
        node("n1", labels={"gpu": "a"}),
        node("n2", labels={"gpu": "a"}, spec=cordoned),
        node("n3", labels={"gpu": "b"}),
        node("n4", labels={"gpu": "b"}, spec=cordoned),
    ]
    pods = [pod("x", "n1", gpus=8), pod("y", "n3", gpus=8), pod("p", gpus=8, **asked)]
    changes = {each.kind: each for each in why(_read(tmp_path, *nodes, *pods), "ml/p").changes}
    assert changes["nodes"].helps
    assert set(changes["nodes"].names) <= ({"n2"} if asked else {"n2", "n4"})


def test_gpus_of_one_vendor_are_none_of_another(tmp_path: Path) -> None:
    """A pod has room only where the GPUs are that it asks for by name."""
    amd, asks = node("amd", 0, resources={"amd.com/gpu": "8"}), pod("a", gpus=0, limits={"amd.com/gpu": "4"})
    objects = [node("nvidia"), pod("b", gpus=8)]
    spots = pack(_read(tmp_path, amd, asks, *objects)).spots
    assert {(spot.part, spot.node) for spot in spots} == {("a", "amd"), ("b", "nvidia")}
    missing = pack(_read(tmp_path, asks, *objects)).missing
    assert missing == {"ml/a": "needs 4 amd.com/gpu on a node, and none has more than 0 amd.com/gpu"}


def test_budgets_that_forbid(tmp_path: Path) -> None:
    """Two budgets of one pod forbid its eviction, as Kubernetes has it; none does before it has begun.

    Names in the reason may be as long as Kubernetes lets them be.
    """
    budgets = [budget("one", 1, app="a"), budget("two", 1, app="a"), budget("none", 0, app="b")]
    starting = pod("b", "n2", labels={"app": "b"}, phase="Pending")
    read = _read(tmp_path, node("n1"), node("n2"), pod("a", "n1", labels={"app": "a"}), starting, *budgets)
    assert read.kept() == {"n1": "ml/a: pod a the disruption budgets ml/one and ml/two both count it"}
    assert drain(read, 1).waits == {}
    held = pod("p" * 200, "n1", labels={"app": "a"})
    read = _read(tmp_path, node("n1"), held, budget("b" * 200, 1, app="a"), budget("c" * 200, 1, app="a"))
    assert len(read.kept()) == 1


def test_what_drains_need_for_pods_that_leave(tmp_path: Path) -> None:
    """A node is drained of pods that are being deleted too, with the options that they need."""
    files = [{"name": "v", "emptyDir": {}}]
    pods = [
        pod("alone", "n1", deleted=True),
        pod("b", "n2", owner="Job/b", volumes=files, deleted=True),
        pod("d", "n3", owner="DaemonSet/d", volumes=files, deleted=True),
    ]
    read = _read(tmp_path, node("n1"), node("n2"), node("n3"), *pods)
    assert drain(read, 3).commands[3:] == (
        "# nothing replaces pod alone, which --force deletes:",
        "kubectl drain --ignore-daemonsets --force -- n1",
        "kubectl drain --ignore-daemonsets --delete-emptydir-data -- n2",
        "kubectl drain --ignore-daemonsets -- n3",
    )


def test_what_is_asked_and_not_looked_at(tmp_path: Path) -> None:
    """What waiting pods ask of nodes beyond selectors, affinity and taints is said."""
    near = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}
    spread = [{"topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
    soft = [{"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]
    claim = [{"name": "v", "persistentVolumeClaim": {"claimName": "v"}}]
    port = pod("port")
    port["spec"]["containers"][0]["ports"] = [{"containerPort": 80}, {"hostPort": 80}]
    pods = [
        pod("near", affinity={"podAffinity": near}),
        pod("far", affinity={"podAntiAffinity": near}),
        pod("spread", topologySpreadConstraints=spread),
        pod("soft", topologySpreadConstraints=soft, affinity={"podAffinity": {}}),
        pod("volume", volumes=claim),
        pod("own volume", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}]),
        pod("claims", resourceClaims=[{"name": "gpu"}]),
        port,
        pod("runs", "n1", topologySpreadConstraints=spread, volumes=claim),
    ]
    _read(tmp_path, node("n1"), *pods, notes=(notes := list[str]()))
    told = {"nearness to other pods": 2, "spread over the topology": 1, "volumes": 2, "ports of the node": 1}
    assert set(notes) == {
        f"pods that wait and ask for {asked}, which is ignored: {number}"
        for asked, number in {**told, "devices by resource claims": 1}.items()
    }


def test_whose_budgets_count(tmp_path: Path) -> None:
    """A budget counts pods of its namespace that it selects; one without a selector counts none."""
    elsewhere, nobody, everybody = budget("elsewhere", 0), budget("nobody", 0), budget("everybody", 0)
    elsewhere["metadata"]["namespace"] = "other"
    del nobody["spec"]["selector"]
    everybody["spec"]["selector"] = {}
    objects = [node("n1"), pod("a", "n1", labels={"app": "a"})]
    assert _read(tmp_path, *objects, elsewhere, nobody).kept() == {}
    assert list(_read(tmp_path, *objects, everybody).kept()) == ["n1"]
