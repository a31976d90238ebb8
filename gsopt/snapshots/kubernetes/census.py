"""Census: all pods of a cluster, counted and grouped into gangs."""

from collections import Counter
from collections.abc import Mapping, Sequence

from gsopt.snapshots.field import LONGEST_NAME, Field
from gsopt.snapshots.gang import Gang, Part
from gsopt.snapshots.kubernetes.ownership import Owner, is_daemon
from gsopt.snapshots.kubernetes.pods import DAEMON, LEAVING, Pod, PodReader
from gsopt.snapshots.kubernetes.selection import unread
from gsopt.snapshots.valid import validly

#: Maximum lengths, in characters, of a name that must be shortened and of the kind that is appended to it.
_CUT, _LONGEST_KIND = 160, 30


class Census:
    """A collector of the resources used on each node, the pods of each gang, and pods being deleted."""

    def __init__(self, reader: PodReader) -> None:
        self._reader = reader
        self._fates: Counter[str] = Counter()
        self._unread: Counter[str] = Counter()
        self._seen: set[tuple[str, str]] = set()
        self.used: dict[str, dict[str, int]] = {}
        self.members: dict[Owner, list[Pod]] = {}
        self.leaving: list[Part] = []

    @property
    def notes(self) -> list[str]:
        """Notes on the pods that belong to no gang, and on requirements that are ignored."""
        told = "pods that wait and ask for {}, which is ignored: {:,}"
        return [
            *(f"pods {fate}: {number:,}" for fate, number in self._fates.items() if fate),
            *(told.format(asked, number) for asked, number in self._unread.items()),
        ]

    def count(self, pod: Field) -> None:
        """Add one pod.

        Raise `InvalidInput` if the pod occurs twice in the files.
        """
        name = (pod["metadata"]["namespace"].text(), pod["metadata"]["name"].name())
        if name in self._seen:
            pod["metadata"]["name"].refuse("must not occur twice in the files")
        self._seen.add(name)
        with validly(pod.source):
            fate = self._reader.fate(pod)
            self._fates[fate] += 1
            if not fate:
                self._take(pod)
            elif fate in (LEAVING, DAEMON) and (node := pod["spec"]["nodeName"].text()):
                self._hold(node, self._reader.used(pod).named)
                if not is_daemon(pod):
                    self.leaving.append(self._reader.leftover(pod))

    def _take(self, pod: Field) -> None:
        """Add a pod that belongs to a gang."""
        found = self._reader.read(pod)
        self.members.setdefault(found.owner, []).append(found)
        if found.part.node:
            self._hold(found.part.node, found.part.needs.named)
        else:
            self._unread.update(unread(pod["spec"]))

    def _hold(self, node: str, amounts: Mapping[str, int]) -> None:
        on = self.used.setdefault(node, {})
        for resource, amount in amounts.items():
            on[resource] = on.get(resource, 0) + amount


def gangs_of(members: Mapping[Owner, Sequence[Pod]]) -> list[Gang]:
    """Create the gangs from their pods, each with a unique name."""
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
    """Return a variant of the name that is neither taken nor too long, and mark it as taken."""
    found = name if len(name) <= LONGEST_NAME else f"{name[:_CUT]}~"
    found = found if found not in taken else f"{found[:_CUT]} ({kind[:_LONGEST_KIND]})"
    number = 1
    while found in taken or len(found) > LONGEST_NAME:
        number += 1
        found = f"{name[:_CUT]}~{number}"
    taken.add(found)
    return found
