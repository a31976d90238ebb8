"""Ownership: the gang that each pod belongs to, determined from labels, annotations and owners."""

from typing import NamedTuple

from gsopt.snapshots.field import Field

#: Labels or annotations that state the pod group of a pod. Schedulers place pod groups as a whole.
_POD_GROUPS = (
    "scheduling.x-k8s.io/pod-group",
    "pod-group.scheduling.sigs.k8s.io",
    "pod-group.scheduling.sigs.k8s.io/name",
    "scheduling.k8s.io/group-name",
    "kueue.x-k8s.io/pod-group-name",
    "pod-group-name",
)

#: Systems that run jobs, each with the label that states the job of a pod, in order of precedence.
_JOBS = (
    ("JobSet", "jobset.sigs.k8s.io/jobset-name"),
    ("Kubeflow", "training.kubeflow.org/job-name"),
    ("Kubeflow", "pytorch-job-name"),
    ("Kubeflow", "tf-job-name"),
    ("Kubeflow", "mpi-job-name"),
    ("Volcano", "volcano.sh/job-name"),
    ("RayCluster", "ray.io/cluster"),
)
_LEADER, _LEADER_GROUP = "leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"

#: Kinds of owners whose pods are independent: a lost pod is replaced while the others keep running.
_REPLICATED = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet", "Deployment", "CloneSet"})

#: Kinds of owners whose pods belong to their node. The mirror of a static pod is owned by the node itself.
_OF_NODES = frozenset({"DaemonSet", "Node"})
_MIRROR = "kubernetes.io/config.mirror"


class Owner(NamedTuple):
    """The owner of a gang's pods: the object that groups or controls them, or a pod itself."""

    kind: str
    namespace: str
    name: str


def is_daemon(pod: Field) -> bool:
    """Check whether a pod is tied to its node, as part of a DaemonSet or as the mirror of a static pod."""
    metadata = pod["metadata"]
    return _MIRROR in metadata["annotations"].mapping() or _controller(metadata)["kind"].text() in _OF_NODES


def is_replaced(pod: Field) -> bool:
    """Check whether some controller replaces the pod if it is lost."""
    return bool(_controller(pod["metadata"]))


def owner_of(pod: Field) -> Owner:
    """Return the owner that identifies the gang of a pod.

    The owner is the pod group, if the pod's ``workloadRef``, or a label or annotation of some scheduler, states
    one. If there is no pod group, the owner is the JobSet, LeaderWorkerSet group (one leader with its workers),
    or Kubeflow, Volcano or Ray job that a label states. If no label states one, the owner is the object that
    controls the pod or, if none does, the first of its owners. A pod without an owner, or whose owner is a
    ReplicaSet, a StatefulSet or the like, is instead a gang of its own.
    """
    metadata = pod["metadata"]
    space = metadata["namespace"].name() if metadata["namespace"] else "default"
    labels, annotations = metadata["labels"], metadata["annotations"]
    if workload := pod["spec"]["workloadRef"]:
        parts = (workload[key].scalar() for key in ("name", "podGroup", "podGroupReplicaKey"))
        return Owner("Workload", space, "/".join(part for part in parts if part))
    for key in _POD_GROUPS:
        if found := labels[key] or annotations[key]:
            return Owner("PodGroup", space, found.name())
    if leader := labels[_LEADER]:
        index = labels[_LEADER_GROUP].scalar()
        return Owner("LeaderWorkerSet", space, f"{leader.name()}-{index}" if index else leader.name())
    for kind, key in _JOBS:
        if found := labels[key]:
            return Owner(kind, space, found.name())
    return _by_controller(metadata, space)


def _by_controller(metadata: Field, space: str) -> Owner:
    controller = _controller(metadata)
    kind = controller["kind"].name() if controller["kind"] else ""
    if kind and kind not in _REPLICATED:
        return Owner(kind, space, controller["name"].name())
    return Owner(kind or "Pod", space, metadata["name"].name())


def _controller(metadata: Field) -> Field:
    """Return the owner that controls a pod, or else its first owner; an empty field if it has no owner."""
    owners = list(metadata["ownerReferences"])
    controlling = (owner for owner in owners if owner["controller"].truth())
    return next(controlling, owners[0] if owners else Field(metadata.source, None))
