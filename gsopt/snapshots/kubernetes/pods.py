"""Pods: a reader of running and waiting Kubernetes pods."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from gsopt.problems.placement import Resources
from gsopt.snapshots.field import Field
from gsopt.snapshots.gang import MOST_PRIORITY, Part
from gsopt.snapshots.kubernetes.budgets import DisruptionBudget, budgets_of
from gsopt.snapshots.kubernetes.needs import counted, gpus_of, pod_needs
from gsopt.snapshots.kubernetes.nodes import Site
from gsopt.snapshots.kubernetes.ownership import Owner, is_daemon, is_replaced, owner_of
from gsopt.snapshots.kubernetes.places import KubernetesPlaces

#: Annotations that forbid evicting a pod, each with the value for which this is so.
_STAYS = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
    "karpenter.sh/do-not-evict": "true",
    "descheduler.alpha.kubernetes.io/prevent-eviction": "true",
}

_OVER = frozenset({"Succeeded", "Failed"})

#: Reasons why a pod belongs to no gang, worded as notes about all such pods.
OVER, ELSEWHERE, GATED, LEAVING, DAEMON = (
    "completed, and not counted",
    "on nodes that no file has, and not counted",
    "behind scheduling gates, and not placed",
    "being deleted, which hold their resources and are not a loss",
    "tied to their nodes, which are not jobs",
)


class Pod(NamedTuple):
    """A running or waiting pod that belongs to a gang."""

    owner: Owner
    part: Part  # the pod as a part of its gang
    priority: int
    kept: str  # why it must not be evicted; empty if it may be


class PodReader(NamedTuple):
    """A reader of pods, with the nodes, disruption budgets and places that it looks up."""

    sites: Mapping[str, Site]
    budgets: Mapping[str, Sequence[DisruptionBudget]]  # by namespace
    places: KubernetesPlaces
    others: Sequence[str]  # names of additional resources that are whole GPUs

    def fate(self, pod: Field) -> str:
        """Return the reason why a pod belongs to no gang, or an empty string if it belongs to one."""
        spec, metadata = pod["spec"], pod["metadata"]
        node = spec["nodeName"].text()
        if pod["status"]["phase"].text() in _OVER:
            return OVER
        if node and node not in self.sites:
            return ELSEWHERE
        if metadata["deletionTimestamp"]:
            return LEAVING
        if is_daemon(pod):
            return DAEMON
        return GATED if not node and list(spec["schedulingGates"]) else ""

    def used(self, pod: Field) -> Resources:
        """Return the resources that a pod uses or requests."""
        return counted(pod["spec"]["containers"], pod_needs(pod), self.others, needed=True)

    def leftover(self, pod: Field) -> Part:
        """Return a pod that is being deleted, with only the data needed to drain its node."""
        return Part(
            name=pod["metadata"]["name"].name(),
            node=pod["spec"]["nodeName"].text(),
            replaced=is_replaced(pod),
            scratch=_has_scratch(pod["spec"]),
        )

    def read(self, pod: Field) -> Pod:
        """Read a pod that belongs to a gang."""
        spec, metadata = pod["spec"], pod["metadata"]
        owner, node = owner_of(pod), spec["nodeName"].text()
        needs = pod_needs(pod)
        turns = self.sites[node].turns if node else Fraction(1)
        # One that has not begun to run is evicted whatever its budgets say.
        counts = node and pod["status"]["phase"].text() != "Pending"
        budgets = budgets_of(self.budgets, owner.namespace, metadata["labels"].texts()) if counts else []
        part = Part(
            name=metadata["name"].name(),
            node=node,
            needs=counted(spec["containers"], needs, self.others, needed=True),
            gpus=float(gpus_of(needs, self.others, turns)),
            started=started_of(pod),
            where=self.places.of(spec),
            replaced=is_replaced(pod),
            scratch=_has_scratch(spec),
            budgets=[budget.name for budget in budgets],
        )
        return Pod(
            owner,
            part,
            spec["priority"].whole(least=-MOST_PRIORITY, most=MOST_PRIORITY),
            _kept(metadata, budgets) if node else "",
        )


def started_of(pod: Field) -> float | None:
    """Return the Unix timestamp at which a pod started or, if this is unknown, was created."""
    start = pod["status"]["startTime"].time()
    return pod["metadata"]["creationTimestamp"].time() if start is None else start


def _has_scratch(spec: Field) -> bool:
    return any(volume["emptyDir"] for volume in spec["volumes"])


def _kept(metadata: Field, budgets: Sequence[DisruptionBudget]) -> str:
    annotations = metadata["annotations"]
    stays = next((key for key, value in _STAYS.items() if annotations[key].scalar() == value), "")
    if stays:
        return f"has the annotation {stays}"
    closed = next((budget.name for budget in budgets if not budget.allowed), "")
    if closed:
        return f"the disruption budget {closed} allows no eviction"
    if len(budgets) > 1:  # Kubernetes refuses to evict what several count
        return f"the disruption budgets {budgets[0].name} and {budgets[1].name} both count it"
    return ""
