"""Kubernetes: a snapshot from what ``kubectl get -o json`` or ``-o yaml`` prints."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gsopt.errors import InvalidInput
from gsopt.problems.placement import Resources
from gsopt.snapshots.documents import MOST_OBJECTS, objects, read_documents
from gsopt.snapshots.field import LONGEST_NAME, Field
from gsopt.snapshots.gang import Gang
from gsopt.snapshots.kubernetes.budgets import read_budgets
from gsopt.snapshots.kubernetes.nodes import Site, read_sites
from gsopt.snapshots.kubernetes.ownership import Owner
from gsopt.snapshots.kubernetes.places import Places
from gsopt.snapshots.kubernetes.pods import DAEMON, LEAVING, Pod, Reader
from gsopt.snapshots.network import network_of
from gsopt.snapshots.node import Node
from gsopt.snapshots.snapshot import Snapshot
from gsopt.snapshots.valid import validly

#: Characters that are left of a long name, and of its kind behind it.
_CUT, _LONGEST_KIND = 160, 30

_READ = ("Node", "Pod", "PodDisruptionBudget")


def read(
    *paths: str | Path,
    levels: Mapping[str, str] | None = None,
    gpu_resources: Sequence[str] = (),
    time: float | None = None,
    notes: list[str] | None = None,
) -> Snapshot:
    """Read a cluster of Kubernetes.

    The files hold nodes, pods and disruption budgets in any order, one kind or several in each, as
    ``kubectl get nodes -o json`` or ``kubectl get pods,pdb --all-namespaces -o yaml`` prints them.

    - **GPUs** are resources named so by any vendor. Slices (MIG) and shares stay resources of their own names,
      beside the number of GPUs that a machine has; where GPUs are shared by turns, a turn is no GPU.
    - **Gangs** are pods of one PodGroup, JobSet, group of a LeaderWorkerSet, job of Kubeflow, Volcano or Ray,
      Job or other owner; pods of a ReplicaSet or StatefulSet stand for themselves, and those of a DaemonSet
      belong to their node.
    - **Kept** are nodes that are cordoned, not ready or of the control plane, and those with a gang that must
      not be evicted: by an annotation, or a disruption budget that allows none.

    Parameters
    ----------
    paths
        The files.
    levels
        Labels of nodes by the name of the level that they tell, the outermost first; those in common use, such
        as ``topology.kubernetes.io/zone``, when None.
    gpu_resources
        Names of resources that stand for whole GPUs, beyond those that are known.
    time
        When the files were written, in seconds since 1970; the latest time in them when None.
    notes
        Takes a line for everything that was left out or not read.

    Raises
    ------
    InvalidInput
        A file cannot be read or is none of these; one line names file, field, value and rule.

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
    """Read a cluster of Kubernetes from documents, as `read` does from files."""
    said = [] if notes is None else notes
    of = _by_kind(objects(documents), said)
    if not of["Node"]:
        source = documents[0].source if documents else ""
        raise InvalidInput(source, "", "", "must have nodes beside pods: kubectl get nodes -o json")
    with validly(of["Node"][0].source):
        sites = read_sites(of["Node"], levels, gpu_resources, said)
    reader = Reader(sites, read_budgets(of["PodDisruptionBudget"], said), Places(sites), gpu_resources)
    used, gangs = _read_pods(of["Pod"], reader, said)
    written = max((each for each in map(_latest, [*of["Node"], *of["Pod"]]) if each), default=None)
    with validly((of["Pod"] or of["Node"])[0].source):
        return Snapshot(
            source="kubernetes",
            time=written if time is None else time,
            nodes=[_node(site, used.get(site.name, {})) for site in sites.values()],
            gangs=gangs,
            places=reader.places.found,
            network=network_of([site.stand for site in sites.values() if site.gpus]),
            budgets={each.name: each.allowed for found in reader.budgets.values() for each in found},
        )


def _by_kind(found: Iterable[Field], notes: list[str]) -> dict[str, list[Field]]:
    """Sort objects by their kind, and note which are not read."""
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
    notes += (f"kind {kind}, which is not read: {number:,}" for kind, number in others.items())
    return of


def _read_pods(
    pods: Sequence[Field], reader: Reader, notes: list[str]
) -> tuple[dict[str, dict[str, int]], list[Gang]]:
    """Give what is used of each node, and the gangs; each pod stands in the files once."""
    used: dict[str, dict[str, int]] = {}
    fates: Counter[str] = Counter()
    members: dict[Owner, list[Pod]] = {}
    seen: set[tuple[str, str]] = set()
    for pod in pods:
        name = (pod["metadata"]["namespace"].text(), pod["metadata"]["name"].name())
        if name in seen:
            pod["metadata"]["name"].refuse("must not stand in the files twice")
        seen.add(name)
        with validly(pod.source):
            fate = reader.fate(pod)
            fates[fate] += 1
            held = fate in ("", LEAVING, DAEMON) and pod["spec"]["nodeName"].text()
            found = None if fate else reader.read(pod)
            needs = found.part.needs if found else reader.used(pod) if held else None
        if found:
            members.setdefault(found.owner, []).append(found)
        if held and needs:
            on = used.setdefault(held, {})
            for resource, amount in needs.named.items():
                on[resource] = on.get(resource, 0) + amount
    notes.extend(f"pods {fate}: {number:,}" for fate, number in fates.items() if fate)
    with validly(pods[0].source if pods else ""):
        return used, _gangs(members)


def _gangs(members: Mapping[Owner, Sequence[Pod]]) -> list[Gang]:
    """Make the gangs, each with a name that no other has."""
    taken: set[str] = set()
    found = []
    for owner, pods in members.items():
        name = _free(f"{owner.namespace}/{owner.name}", owner.kind, taken)
        kept = next((f"pod {pod.part.name} {pod.kept}" for pod in pods if pod.kept), "")
        found.append(
            Gang(
                name=name,
                kind=owner.kind,
                parts=[pod.part for pod in pods],
                priority=max(pod.priority for pod in pods),
                kept=kept,
                requeues=any(pod.part.replaced for pod in pods),
            )
        )
    return found


def _free(name: str, kind: str, taken: set[str]) -> str:
    """Give a name that nothing has yet, and that is not too long."""
    found = name if len(name) <= LONGEST_NAME else f"{name[:_CUT]}~"
    found = found if found not in taken else f"{found[:_CUT]} ({kind[:_LONGEST_KIND]})"
    number = 1
    while found in taken or len(found) > LONGEST_NAME:
        number += 1
        found = f"{name[:_CUT]}~{number}"
    taken.add(found)
    return found


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
    """Give the latest time that stands in an object."""
    status, metadata = each["status"], each["metadata"]
    times = [metadata["creationTimestamp"].time(), status["startTime"].time()]
    for condition in status["conditions"]:
        times += [condition["lastHeartbeatTime"].time(), condition["lastTransitionTime"].time()]
    return max((time for time in times if time is not None), default=None)
