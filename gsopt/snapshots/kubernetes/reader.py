"""Kubernetes: a reader of snapshots from the output of ``kubectl get -o json`` or ``-o yaml``."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gsopt.core.errors import InvalidInput
from gsopt.problems.placement import Resources
from gsopt.snapshots.documents import MOST_OBJECTS, objects, read_documents
from gsopt.snapshots.field import Field
from gsopt.snapshots.kubernetes.budgets import read_budgets
from gsopt.snapshots.kubernetes.census import Census, gangs_of
from gsopt.snapshots.kubernetes.nodes import Site, read_sites
from gsopt.snapshots.kubernetes.places import KubernetesPlaces
from gsopt.snapshots.kubernetes.pods import PodReader
from gsopt.snapshots.network import network_of
from gsopt.snapshots.node import Node
from gsopt.snapshots.snapshot import Snapshot
from gsopt.snapshots.valid import validly

_READ = ("Node", "Pod", "PodDisruptionBudget")


def read(
    *paths: str | Path,
    levels: Mapping[str, str] | None = None,
    gpu_resources: Sequence[str] = (),
    time: float | None = None,
    notes: list[str] | None = None,
) -> Snapshot:
    """Read a snapshot of a Kubernetes cluster.

    The files contain nodes and, optionally, pods and disruption budgets, in any order, as printed by ``kubectl
    get nodes -o json`` or ``kubectl get pods,pdb --all-namespaces -o yaml``.

    - **GPUs** include similar accelerators of any vendor. A node's GPUs include those that are divided into
      slices (MIG) or shares; the slices and shares are also separate resources. Time-sliced GPUs count once,
      whereas the node's resources contain the replicas.
    - **Gangs** consist of the pods of one PodGroup, JobSet, LeaderWorkerSet group or Job, of one job of
      Kubeflow, Volcano or Ray, or of another owner. A pod without an owner, or owned only by a ReplicaSet, a
      StatefulSet or the like, is a gang of its own. Pods of a DaemonSet and static pods belong to no gang.
    - **Kept nodes** must not be given back: those that are cordoned, not ready or in the control plane, those
      with an annotation that forbids removing them, and those with a gang that must not be evicted. A gang must
      not be evicted if one of its running pods has an annotation that forbids it, a disruption budget that
      allows no eviction, or several disruption budgets.

    Parameters
    ----------
    paths
        The files.
    levels
        Node labels, keyed by the network level that they state, outermost first. If None, labels in common use
        are read, such as ``topology.kubernetes.io/zone``.
    gpu_resources
        Names of additional resources that represent whole GPUs.
    time
        Time at which the files were written, as a Unix timestamp; None for the latest time that they state.
    notes
        List to which lines are appended, for example about ignored objects, pods and requirements.

    Raises
    ------
    InvalidInput
        A file cannot be read or is not output of kubectl, there are no nodes, a pod or node occurs twice, or a
        label in `levels` is not on any node.

    Examples
    --------
    >>> import json
    >>> from tempfile import TemporaryDirectory
    >>> node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"amd.com/gpu": "8"}}}
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "nodes.json").write_text(json.dumps({"kind": "List", "items": [node]}))
    ...     snapshot = read(f"{folder}/nodes.json")
    >>> snapshot.cluster.gpus
    8
    """
    documents = [document for path in paths for document in read_documents(path)]
    return snapshot_of(documents, levels=levels, gpu_resources=gpu_resources, time=time, notes=notes)


def snapshot_of(
    documents: list[Field],
    *,
    levels: Mapping[str, str] | None = None,
    gpu_resources: Sequence[str] = (),
    time: float | None = None,
    notes: list[str] | None = None,
) -> Snapshot:
    """Read a snapshot of a Kubernetes cluster from documents, as in `read`."""
    said = [] if notes is None else notes
    of = _by_kind(objects(documents), said)
    if not of["Node"]:
        source = documents[0].source if documents else ""
        raise InvalidInput("", "", "must have nodes beside pods: kubectl get nodes -o json", source=source)
    with validly(of["Node"][0].source):
        sites = read_sites(of["Node"], levels, gpu_resources, said)
    reader = PodReader(
        sites, read_budgets(of["PodDisruptionBudget"], said), KubernetesPlaces(sites), gpu_resources
    )
    census = Census(reader)
    for pod in of["Pod"]:
        census.count(pod)
    said += census.notes
    written = max((each for each in map(_latest, [*of["Node"], *of["Pod"]]) if each), default=None)
    with validly((of["Pod"] or of["Node"])[0].source):
        return Snapshot(
            source="kubernetes",
            time=written if time is None else time,
            nodes=[_node(site, census.used.get(site.name, {})) for site in sites.values()],
            gangs=gangs_of(census.members),
            places=reader.places.found,
            network=network_of([site.stand for site in sites.values() if site.gpus]),
            budgets={each.name: each.allowed for found in reader.budgets.values() for each in found},
            leaving=census.leaving,
        )


def _by_kind(found: Iterable[Field], notes: list[str]) -> dict[str, list[Field]]:
    """Group objects by kind, and append a note on each kind that is ignored."""
    of: dict[str, list[Field]] = {kind: [] for kind in _READ}
    others: Counter[str] = Counter()
    for each in found:
        kind = each["kind"].name()
        if kind in of:
            of[kind].append(each)
            if len(of[kind]) > MOST_OBJECTS:
                each.refuse(f"must be at most {MOST_OBJECTS:,} of kind {kind}")
        else:
            others[kind] += 1
    notes += (f"kind {kind}, which is ignored: {number:,}" for kind, number in others.items())
    return of


def _node(site: Site, used: Mapping[str, int]) -> Node:
    return Node(
        name=site.name,
        gpus=site.gpus,
        gpu_type=site.gpu_type,
        capacity=site.capacity,
        used=Resources(**{resource: amount for resource, amount in used.items() if amount}),
        labels=site.labels,
        kept=site.kept,
        closed=site.closed,
    )


def _latest(each: Field) -> float | None:
    """Return the latest time in an object, or None if it states none."""
    status, metadata = each["status"], each["metadata"]
    times = [metadata["creationTimestamp"].time(), status["startTime"].time()]
    for condition in status["conditions"]:
        times += [condition["lastHeartbeatTime"].time(), condition["lastTransitionTime"].time()]
    return max((time for time in times if time is not None), default=None)
